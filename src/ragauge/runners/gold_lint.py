"""A gold set looked at: what it cannot measure, and what would mislead."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from ragauge.citations.spans import covered_length
from ragauge.contracts.gold import Chunk, Gold, constraint_lock, value_of
from ragauge.contracts.gold_report import AnchorChunks, LintReport, Severity, Summary, judged
from ragauge.contracts.report import Finding, Findings
from ragauge.text.agreement import NEGATIONS
from ragauge.text.canonical import canonical, composed, phrases, same_question
from ragauge.text.stems import stem
from ragauge.text.words import words

SET = "gold set"
"""The place of a finding that no single question causes."""
LEAST_QUESTIONS = 10
UNANSWERABLE_PERCENT = (10, 60)
PER_SECTION = (3, 5)
SHORT_PHRASE = 3
"""Below this width a phrase says too little, even where it must match a whole word."""
SEVERITIES: dict[str, Severity] = {
    "duplicate_question": "error",
    "near_duplicate_question": "warning",
    "repeated_paraphrase": "warning",
    "empty_phrase": "error",
    "short_phrase": "warning",
    "repeated_phrase": "warning",
    "leaked_phrase": "warning",
    "no_gold_citations": "warning",
    "unanswerable_with_gold": "error",
    "opposed_constraints": "warning",
    "none_answerable": "error",
    "none_unanswerable": "error",
    "few_questions": "warning",
    "unanswerable_share": "warning",
    "partial_stratum": "warning",
    "thin_section": "warning",
    "crowded_section": "warning",
    "split_anchor": "warning",
    "uncovered_anchor": "warning",
    "long_anchor": "warning",
}


def lint(
    questions: Sequence[Gold],
    *,
    sections: bool = False,
    strict: bool = False,
    locks: bool = False,
    chunks: Sequence[Chunk] | None = None,
    window: tuple[int, int] | None = None,
) -> LintReport:
    """What is wrong with a gold set, and what it holds.

    With `sections`, also whether each section has the questions that traceability needs. With
    `strict`, a warning fails the set as an error does. With `locks`, also the constraint lock of
    each question that has constraints. With `chunks`, or a `window` of a length and a stride, also
    whether each gold span is inside one chunk.
    """
    anchors = _anchors(questions, chunks, window) if chunks is not None or window else None
    found = Findings(
        chain(
            _anchor_faults(anchors or (), window),
            _asked_twice(questions),
            *map(_faults, questions),
            *map(_opposed_constraints, questions),
            _faults_of_set(questions),
            _section_faults(questions) if sections else (),
        )
    )
    answerable = sum(question.answerable for question in questions)
    strata: dict[str, Counter[str]] = {}
    for question in questions:
        for key in question.strata:
            if (value := value_of(question, key)) is not None:
                strata.setdefault(key, Counter())[value] += 1
    summary = Summary(
        answerable=answerable,
        unanswerable=len(questions) - answerable,
        with_citations=sum(bool(question.gold_citations) for question in questions),
        with_paraphrases=sum(bool(question.paraphrases) for question in questions),
        with_constraints=sum(bool(question.constraints) for question in questions),
        strata={key: dict(sorted(values.items())) for key, values in sorted(strata.items())},
    )
    return LintReport(
        **judged(
            found,
            [code for code, severity in SEVERITIES.items() if severity == "error"],
            {
                "gold": len(questions),
                "answerable": summary.answerable,
                "unanswerable": summary.unanswerable,
            },
            [questions],
            strict=strict,
        ),
        summary=summary,
        locks={q.qid: constraint_lock(q.constraints) for q in questions if q.constraints}
        if locks
        else None,
        anchors=anchors,
    )


def _asked_twice(questions: Sequence[Gold]) -> Iterator[Finding]:
    """Questions that another one asks already, to the letter or nearly."""
    exact: dict[str, str] = {}
    near: dict[str, str] = {}
    for question in questions:
        text, words = same_question(question.question), canonical(question.question)
        if words and text not in exact:
            other = near.setdefault(words, question.qid)
            if other != question.qid:
                yield Finding(
                    "near_duplicate_question",
                    question.qid,
                    f"differs from {other} only in case, punctuation or blanks, so one answer "
                    "counts twice; ask something else, or move it to the paraphrases",
                )
        other = exact.setdefault(text, question.qid)
        if other != question.qid:
            yield Finding(
                "duplicate_question",
                question.qid,
                f"asks word for word what {other} asks, so a trace without a qid fits neither; "
                "keep one of them",
            )


def _faults(question: Gold) -> Iterator[Finding]:
    """What is wrong with one question, whatever the others are."""
    qid = question.qid
    seen = {canonical(question.question): "the question"}
    for place, paraphrase in enumerate(question.paraphrases):
        name = f"paraphrases[{place}]"
        other = seen.setdefault(canonical(paraphrase), name)
        if other != name:
            message = f"{name} repeats {other}, so it tests nothing; reword it"
            yield Finding("repeated_paraphrase", qid, message)
    for phrase in question.sought:
        words = canonical(phrase)
        # The columns a text takes: an ideograph says as much as two letters.
        width = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in words)
        if not words:
            yield Finding(
                "empty_phrase",
                qid,
                f'phrase "{phrase:.60}" has no letter or digit, so no claim can hold it; '
                "write it in words",
            )
        elif width < SHORT_PHRASE:
            yield Finding(
                "short_phrase",
                qid,
                f'phrase "{phrase:.60}" is found wherever it stands as a word, in many a '
                "wrong answer too; add the words around it",
            )
    seen = {}
    for place, phrase in enumerate(question.gold_claim_substr):
        name, words = f"gold_claim_substr[{place}]", canonical(phrase)
        other = seen.setdefault(words, name)
        if words and other != name:
            yield Finding("repeated_phrase", qid, f"{name} matches the same as {other}; drop one")
    for phrase in question.phrases if question.answerable else ():
        sought = phrases((phrase,), "unicode")
        if sought and sought.found_in(question.question):
            yield Finding(
                "leaked_phrase",
                qid,
                f'the question holds its own phrase "{phrase:.60}", so echoing the question '
                "passes; choose words that only a right answer has",
            )
    if question.answerable and not question.gold_citations:
        message = "has no gold citations, so no hit can be told; name the chunks that answer it"
        yield Finding("no_gold_citations", qid, message)
    given = [name for name in ("gold_claim_substr", "gold_citations") if getattr(question, name)]
    if given and not question.answerable:
        yield Finding(
            "unanswerable_with_gold",
            qid,
            f"is unanswerable, yet has {' and '.join(given)}; empty what it has, "
            "or set answerable to true",
        )


def _faults_of_set(questions: Sequence[Gold]) -> Iterator[Finding]:
    """What is wrong with all questions together."""
    count = len(questions)
    refusable = sum(not question.answerable for question in questions)
    if refusable == count:
        message = "no question is answerable, so precision cannot be measured; add some that are"
        yield Finding("none_answerable", SET, message)
    if not refusable:
        yield Finding(
            "none_unanswerable",
            SET,
            "every question is answerable, so refusals cannot be measured; "
            "add some that the corpus does not answer",
        )
    if count < LEAST_QUESTIONS:
        yield Finding(
            "few_questions",
            SET,
            f"has {_counted(count, 'question')}, too few to tell systems apart; "
            "10 to 30 a corpus are the least",
        )
    if 0 < refusable < count:
        least, most = UNANSWERABLE_PERCENT
        share, message = f"{refusable} of {count} questions are unanswerable", ""
        if refusable * 100 < least * count:
            message = f"{share}, under {least} %, too few to measure refusals; add some"
        elif refusable * 100 > most * count:
            message = f"{share}, over {most} %, too many to measure answers; add answerable ones"
        if message:
            yield Finding("unanswerable_share", SET, message)
    for key in sorted({key for question in questions for key in question.strata}):
        without = [question.qid for question in questions if value_of(question, key) is None]
        if 0 < len(without) < count:
            yield Finding(
                "partial_stratum",
                f"strata.{key}",
                f"is missing on {len(without)} of {count} questions ({without[0]} first), "
                "which leaves them out of its slices; give it to all",
            )


_OPPOSITES = {
    stem(opposite): stem(word)
    for word, opposite in (
        *(("accept", "reject"), ("accept", "refuse"), ("allow", "forbid"), ("allow", "prohibit")),
        *(("allow", "disallow"), ("include", "exclude"), ("enable", "disable")),
        *(("required", "optional"), ("increase", "decrease"), ("before", "after")),
        *(("valid", "invalid"), ("true", "false"), ("open", "closed"), ("public", "private")),
        ("with", "without"),
    )
}
_STRENGTH, _COUNTED, _NUMBERED = (
    frozenset(listed.split())
    for listed in (
        # Words that say how strictly a constraint holds, or nothing; ca is what is left of can't.
        """
        a an the is are be was were do does did always ever must shall should will would may might
        can could ca wo sha
        """,
        "one two three four five six seven eight nine ten eleven twelve",
        # The number after one of these is a name: section 3 is not section 4.
        """
        annex appendix article chapter chunk clause document figure item level line note page
        paragraph part question rule section step table version volume
        """,
    )
)


def _opposed_constraints(question: Gold) -> Iterator[Finding]:
    """Constraints of one question that differ only in a negation, an opposite word or a number.

    It knows English opposites and the negations of five languages, and no grammar: what it finds
    may be fine.
    """
    first: dict[tuple[str, ...], tuple[int, bool, list[str]]] = {}
    for place, constraint in enumerate(question.constraints):
        subject: list[str] = []
        numbers: list[str] = []
        denied, turned, before = False, False, ""
        for word in words(re.sub("n['’]t\\b", " not", constraint)):
            root = stem(word)
            turned ^= root in _OPPOSITES
            if word in NEGATIONS:
                denied = True
            elif (word.isdigit() or word in _COUNTED) and before not in _NUMBERED:
                numbers.append(word)
            elif word not in _STRENGTH:
                subject.append(_OPPOSITES.get(root, root))
            before = word
        at, held, counts = first.setdefault(tuple(subject), (place, denied != turned, numbers))
        opposite = held != (denied != turned)
        recounted = counts != numbers
        # A number that only one of them has is a detail, and no contradiction.
        if subject and opposite != recounted and (opposite or (counts and numbers)):
            yield Finding(
                "opposed_constraints",
                question.qid,
                f"constraints[{place}] may contradict constraints[{at}]: "
                f'"{constraint:.80}" and "{question.constraints[at]:.80}"; '
                "keep one, or reword them",
            )


def _anchors(
    questions: Sequence[Gold], chunks: Sequence[Chunk] | None, window: tuple[int, int] | None
) -> tuple[AnchorChunks, ...]:
    """The anchor of each question, else its target section, with the chunks that cover it."""
    by_document: dict[str, list[Chunk]] = {}
    for chunk in sorted({*(chunks or ())}, key=lambda one: (one.start, one.end, one.id)):
        by_document.setdefault(composed(chunk.doc_id), []).append(chunk)
    found = []
    for question in questions:
        span = question.anchor or question.target_section
        if span is None or span.start >= span.end:
            continue
        there = [
            chunk
            for chunk in by_document.get(composed(span.doc_id), ())
            if chunk.start < span.end
            and span.start < chunk.end
            and (chunk.rev is None or span.rev is None or chunk.rev == span.rev)
        ]
        inside = [one.id for one in there if one.start <= span.start and span.end <= one.end]
        covering = ((one.start, one.end) for one in there)
        known = chunks is not None
        cut = None
        if window is not None:
            length, stride = window
            cut = span.start // stride * stride + length < span.end
        found.append(
            AnchorChunks(
                qid=question.qid,
                span="anchor" if question.anchor else "target_section",
                doc_id=span.doc_id,
                start=span.start,
                end=span.end,
                chunks=tuple(one.id for one in there) if known else None,
                inside=inside[0] if inside else None,
                covered=covered_length(covering, (span.start, span.end)) if known else None,
                cut=cut,
            )
        )
    return tuple(found)


def _anchor_faults(
    anchors: Sequence[AnchorChunks], window: tuple[int, int] | None
) -> Iterator[Finding]:
    for one in anchors:
        size = one.end - one.start
        name = f"its {one.span} has {size:,} characters"
        if one.chunks == ():
            message = f"{name}, and no chunk has any of them; index it"
            yield Finding("uncovered_anchor", one.qid, message)
        elif one.chunks and one.inside is None:
            within = f"{one.covered:,} of them are in {_counted(len(one.chunks), 'chunk')}"
            message = f"{name}, and no chunk has them all: {within}; use a larger overlap"
            yield Finding("split_anchor", one.qid, message)
        # A window begins at every stride, so it can begin stride - 1 characters before a span.
        if window is not None and size > window[0] - window[1] + 1:
            place = "; at its place they do" if one.cut else ""
            yield Finding(
                "long_anchor",
                one.qid,
                f"{name}, more than the overlap of {max(0, window[0] - window[1]):,}, so windows "
                f"of {window[0]:,} every {window[1]:,} can cut it{place}",
            )


def _section_faults(questions: Sequence[Gold]) -> Iterator[Finding]:
    """Sections with too few or too many questions that aim at them.

    A question aims at its target section, else at each of its gold citations.
    """
    counts: Counter[str] = Counter()
    for question in questions:
        target = question.target_section
        counts.update(
            {f"{target.doc_id}#{target.section_id}"} if target else {*question.gold_citations}
        )
    least, most = PER_SECTION
    for section, count in sorted(counts.items()):
        if count < least:
            yield Finding(
                "thin_section",
                section,
                f"has {_counted(count, 'question')}; traceability takes {least} to {most} "
                f"a section: add {least - count}",
            )
        elif count > most:
            yield Finding(
                "crowded_section",
                section,
                f"has {count} questions and outweighs the others; traceability takes "
                f"{least} to {most} a section: ask about other sections",
            )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
