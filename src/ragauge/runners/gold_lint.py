"""A gold set looked at: what it cannot measure, and what would mislead."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ragauge.citations.spans import covered
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

Place = tuple[str, str]
"""Where, and the message."""


class Check(Struct, frozen=True):
    """One thing lint looks for."""

    code: str
    severity: Severity
    find: Callable[[Sequence[Gold]], Iterator[Place]]


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
    checks = (*CHECKS, *SECTION_CHECKS) if sections else CHECKS
    anchors = _anchors(questions, chunks, window) if chunks is not None or window else None
    found = Findings()
    for where, code, message in _anchor_faults(anchors or (), window):
        found.add(Finding(code, where, message))
    for check in checks:
        for where, message in check.find(questions):
            found.add(Finding(check.code, where, message))
    summary = _summary(questions)
    return LintReport(
        **judged(
            found,
            {check.code: check.severity for check in checks} | dict.fromkeys(ANCHORED, "warning"),
            strict,
        ),
        coverage={
            "gold": len(questions),
            "answerable": summary.answerable,
            "unanswerable": summary.unanswerable,
        },
        summary=summary,
        locks={q.qid: constraint_lock(q.constraints) for q in questions if q.constraints}
        if locks
        else None,
        anchors=anchors,
    )


def _summary(questions: Sequence[Gold]) -> Summary:
    answerable = sum(question.answerable for question in questions)
    strata: dict[str, Counter[str]] = {}
    for question in questions:
        for key in question.strata:
            if (value := value_of(question, key)) is not None:
                strata.setdefault(key, Counter())[value] += 1
    return Summary(
        answerable=answerable,
        unanswerable=len(questions) - answerable,
        with_citations=sum(bool(question.gold_citations) for question in questions),
        with_paraphrases=sum(bool(question.paraphrases) for question in questions),
        with_constraints=sum(bool(question.constraints) for question in questions),
        strata={key: dict(sorted(values.items())) for key, values in sorted(strata.items())},
    )


def _duplicate_questions(questions: Sequence[Gold]) -> Iterator[Place]:
    first: dict[str, str] = {}
    for question in questions:
        other = first.setdefault(same_question(question.question), question.qid)
        if other != question.qid:
            yield (
                question.qid,
                f"asks word for word what {other} asks, so a trace without a qid fits neither; "
                "keep one of them",
            )


def _near_duplicates(questions: Sequence[Gold]) -> Iterator[Place]:
    first: dict[str, str] = {}
    exact: set[str] = set()
    for question in questions:
        text, words = same_question(question.question), canonical(question.question)
        if words and text not in exact:
            other = first.setdefault(words, question.qid)
            if other != question.qid:
                yield (
                    question.qid,
                    f"differs from {other} only in case, punctuation or blanks, so one answer "
                    "counts twice; ask something else, or move it to the paraphrases",
                )
        exact.add(text)


def _repeated_paraphrases(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        seen = {canonical(question.question): "the question"}
        for place, paraphrase in enumerate(question.paraphrases):
            name = f"paraphrases[{place}]"
            other = seen.setdefault(canonical(paraphrase), name)
            if other != name:
                yield question.qid, f"{name} repeats {other}, so it tests nothing; reword it"


def _empty_phrases(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        for phrase in question.sought:
            if not canonical(phrase):
                yield (
                    question.qid,
                    f'phrase "{phrase:.60}" has no letter or digit, so no claim can hold it; '
                    "write it in words",
                )


def _short_phrases(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        for phrase in question.sought:
            if 0 < _width(canonical(phrase)) < SHORT_PHRASE:
                yield (
                    question.qid,
                    f'phrase "{phrase:.60}" is found wherever it stands as a word, in many a '
                    "wrong answer too; add the words around it",
                )


def _width(text: str) -> int:
    """The columns a text takes: an ideograph says as much as two letters."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _repeated_phrases(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        seen: dict[str, str] = {}
        for place, phrase in enumerate(question.gold_claim_substr):
            name, words = f"gold_claim_substr[{place}]", canonical(phrase)
            other = seen.setdefault(words, name)
            if words and other != name:
                yield question.qid, f"{name} matches the same as {other}; drop one"


def _no_gold_citations(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        if question.answerable and not question.gold_citations:
            yield (
                question.qid,
                "has no gold citations, so no hit can be told; name the chunks that answer it",
            )


def _contradictions(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        given = [
            name for name in ("gold_claim_substr", "gold_citations") if getattr(question, name)
        ]
        if given and not question.answerable:
            yield (
                question.qid,
                f"is unanswerable, yet has {' and '.join(given)}; empty what it has, "
                "or set answerable to true",
            )


def _none_answerable(questions: Sequence[Gold]) -> Iterator[Place]:
    if not any(question.answerable for question in questions):
        yield SET, "no question is answerable, so precision cannot be measured; add some that are"


def _none_unanswerable(questions: Sequence[Gold]) -> Iterator[Place]:
    if all(question.answerable for question in questions):
        yield (
            SET,
            "every question is answerable, so refusals cannot be measured; "
            "add some that the corpus does not answer",
        )


def _few_questions(questions: Sequence[Gold]) -> Iterator[Place]:
    if len(questions) < LEAST_QUESTIONS:
        yield (
            SET,
            f"has {_counted(len(questions), 'question')}, too few to tell systems apart; "
            "10 to 30 a corpus are the least",
        )


def _unbalanced(questions: Sequence[Gold]) -> Iterator[Place]:
    refusable = sum(not question.answerable for question in questions)
    if not 0 < refusable < len(questions):
        return
    least, most = UNANSWERABLE_PERCENT
    share = f"{refusable} of {len(questions)} questions are unanswerable"
    if refusable * 100 < least * len(questions):
        yield SET, f"{share}, under {least} %, too few to measure refusals; add some"
    if refusable * 100 > most * len(questions):
        yield SET, f"{share}, over {most} %, too many to measure answers; add answerable ones"


def _partial_strata(questions: Sequence[Gold]) -> Iterator[Place]:
    for key in sorted({key for question in questions for key in question.strata}):
        without = [question.qid for question in questions if value_of(question, key) is None]
        if 0 < len(without) < len(questions):
            yield (
                f"strata.{key}",
                f"is missing on {len(without)} of {len(questions)} questions ({without[0]} first), "
                "which leaves them out of its slices; give it to all",
            )


def _leaks(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        for phrase in question.phrases if question.answerable else ():
            sought = phrases((phrase,), "unicode")
            if sought and sought.found_in(question.question):
                yield (
                    question.qid,
                    f'the question holds its own phrase "{phrase:.60}", so echoing the question '
                    "passes; choose words that only a right answer has",
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
_STRENGTH = """
    a an the is are be was were do does did always ever must shall should will would may might can
    could ca wo sha
"""
"""Words that say how strictly a constraint holds, or nothing; ca is what is left of can't."""
_COUNTED = "one two three four five six seven eight nine ten eleven twelve"
_NUMBERED = """
    annex appendix article chapter chunk clause document figure item level line note page
    paragraph part question rule section step table version volume
"""
"""The number after one of these is a name: section 3 is not section 4."""


def _opposed_constraints(questions: Sequence[Gold]) -> Iterator[Place]:
    """Constraints of one question that differ only in a negation, an opposite word or a number.

    It knows English opposites and the negations of five languages, and no grammar: what it finds
    may be fine.
    """
    strength, counted, numbered = (
        frozenset(listed.split()) for listed in (_STRENGTH, _COUNTED, _NUMBERED)
    )
    for question in questions:
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
                elif (word.isdigit() or word in counted) and before not in numbered:
                    numbers.append(word)
                elif word not in strength:
                    subject.append(_OPPOSITES.get(root, root))
                before = word
            told = place, denied != turned, numbers
            at, held, counts = first.setdefault(tuple(subject), told)
            opposite = held != told[1] and counts == numbers
            recounted = held == told[1] and counts != numbers and counts and numbers
            if subject and (opposite or recounted):
                yield (
                    question.qid,
                    f"constraints[{place}] may contradict constraints[{at}]: "
                    f'"{constraint:.80}" and "{question.constraints[at]:.80}"; '
                    "keep one, or reword them",
                )


ANCHORED = ("split_anchor", "uncovered_anchor", "long_anchor")


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
                covered=covered(covering, (span.start, span.end)) if known else None,
                cut=cut,
            )
        )
    return tuple(found)


def _anchor_faults(
    anchors: Sequence[AnchorChunks], window: tuple[int, int] | None
) -> Iterator[tuple[str, str, str]]:
    for one in anchors:
        size = one.end - one.start
        name = f"its {one.span} has {size:,} characters"
        if one.chunks == ():
            yield one.qid, "uncovered_anchor", f"{name}, and no chunk has any of them; index it"
        elif one.chunks and one.inside is None:
            within = f"{one.covered:,} of them are in {_counted(len(one.chunks), 'chunk')}"
            yield (
                one.qid,
                "split_anchor",
                f"{name}, and no chunk has them all: {within}; use a larger overlap",
            )
        # A window begins at every stride, so it can begin stride - 1 characters before a span.
        if window is not None and size > window[0] - window[1] + 1:
            place = "; at its place they do" if one.cut else ""
            yield (
                one.qid,
                "long_anchor",
                f"{name}, more than the overlap of {max(0, window[0] - window[1]):,}, so windows "
                f"of {window[0]:,} every {window[1]:,} can cut it{place}",
            )


def _thin_sections(questions: Sequence[Gold]) -> Iterator[Place]:
    least, most = PER_SECTION
    for section, count in _questions_by_section(questions):
        if count < least:
            yield (
                section,
                f"has {_counted(count, 'question')}; traceability takes {least} to {most} "
                f"a section: add {least - count}",
            )


def _crowded_sections(questions: Sequence[Gold]) -> Iterator[Place]:
    least, most = PER_SECTION
    for section, count in _questions_by_section(questions):
        if count > most:
            yield (
                section,
                f"has {count} questions and outweighs the others; traceability takes "
                f"{least} to {most} a section: ask about other sections",
            )


def _questions_by_section(questions: Sequence[Gold]) -> list[tuple[str, int]]:
    """How many questions aim at each section: the target's, else each gold citation's."""
    counts: Counter[str] = Counter()
    for question in questions:
        target = question.target_section
        counts.update(
            {f"{target.doc_id}#{target.section_id}"} if target else {*question.gold_citations}
        )
    return sorted(counts.items())


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


CHECKS = (
    Check("duplicate_question", "error", _duplicate_questions),
    Check("near_duplicate_question", "warning", _near_duplicates),
    Check("repeated_paraphrase", "warning", _repeated_paraphrases),
    Check("empty_phrase", "error", _empty_phrases),
    Check("short_phrase", "warning", _short_phrases),
    Check("repeated_phrase", "warning", _repeated_phrases),
    Check("leaked_phrase", "warning", _leaks),
    Check("no_gold_citations", "warning", _no_gold_citations),
    Check("unanswerable_with_gold", "error", _contradictions),
    Check("opposed_constraints", "warning", _opposed_constraints),
    Check("none_answerable", "error", _none_answerable),
    Check("none_unanswerable", "error", _none_unanswerable),
    Check("few_questions", "warning", _few_questions),
    Check("unanswerable_share", "warning", _unbalanced),
    Check("partial_stratum", "warning", _partial_strata),
)
SECTION_CHECKS = (
    Check("thin_section", "warning", _thin_sections),
    Check("crowded_section", "warning", _crowded_sections),
)
