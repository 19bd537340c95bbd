"""Gold sets looked after: what a set cannot measure, and whether it still means what it meant."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import Gold
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Verdict
from ragauge.text.canonical import canonical, phrases, same_question

LINT_SCHEMA = "ragauge.gold-lint/1"
DIFF_SCHEMA = "ragauge.gold-diff/1"

SET = "gold set"
"""The place of a finding that no single question causes."""
LEAST_QUESTIONS = 10
UNANSWERABLE_PERCENT = (10, 60)
PER_SECTION = (3, 5)
SHORT_PHRASE = 3
"""Below this width a phrase says too little, even where it must match a whole word."""

Severity = Literal["error", "warning"]
Place = tuple[str, str]
"""Where, and the message."""


class GoldFinding(Finding, frozen=True):
    """A finding about a gold set: an error fails it, a warning is worth a look."""

    severity: Severity


class Check(Struct, frozen=True):
    """One thing lint looks for."""

    code: str
    severity: Severity
    find: Callable[[Sequence[Gold]], Iterator[Place]]


class Summary(Struct, frozen=True, kw_only=True):
    """What a gold set holds."""

    answerable: int
    unanswerable: int
    with_citations: int
    with_paraphrases: int
    with_constraints: int
    strata: dict[str, dict[str, int]]
    """For each stratum, how many questions have each value."""


class LintReport(Struct, frozen=True, kw_only=True):
    """What `ragauge gold lint` says, versioned."""

    schema: str = LINT_SCHEMA
    passed: bool = field(name="pass")
    metrics: dict[str, Score] = {}
    gates: tuple[Verdict, ...] = ()
    findings: tuple[GoldFinding, ...]
    finding_counts: dict[str, int]
    coverage: dict[str, int]
    errors: int
    warnings: int
    summary: Summary


class Revision(Struct, frozen=True):
    """A question that is not what it was, and the fields that differ."""

    qid: str
    fields: tuple[str, ...]


class DiffReport(Struct, frozen=True, kw_only=True):
    """What `ragauge gold diff` says, versioned."""

    schema: str = DIFF_SCHEMA
    passed: bool = field(name="pass")
    metrics: dict[str, Score] = {}
    gates: tuple[Verdict, ...] = ()
    findings: tuple[GoldFinding, ...]
    finding_counts: dict[str, int]
    coverage: dict[str, int]
    errors: int
    warnings: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Revision, ...]
    """Questions that mean something else now."""
    edited: tuple[Revision, ...]
    """Questions that were edited and still mean the same."""


def lint(questions: Sequence[Gold], *, sections: bool = False, strict: bool = False) -> LintReport:
    """What is wrong with a gold set, and what it holds.

    With `sections`, also whether each section has the questions that traceability needs. With
    `strict`, a warning fails the set as an error does.
    """
    checks = (*CHECKS, *SECTION_CHECKS) if sections else CHECKS
    found = Findings()
    for check in checks:
        for where, message in check.find(questions):
            found.add(Finding(check.code, where, message))
    summary = _summary(questions)
    return LintReport(
        **_judged(found, {check.code: check.severity for check in checks}, strict),
        coverage={
            "gold": len(questions),
            "answerable": summary.answerable,
            "unanswerable": summary.unanswerable,
        },
        summary=summary,
    )


def diff(old: Sequence[Gold], new: Sequence[Gold], *, allow_removed: bool = False) -> DiffReport:
    """Whether every question of the old set still stands in the new one, with its old meaning.

    A set that runs were scored with is frozen: it may grow, and its questions may be edited
    where no answer's verdict depends on it. Everything is in the order of the qids.
    """
    before, after = _by_qid(old), _by_qid(new)
    removed = tuple(qid for qid in before if qid not in after)
    both = [(question, after[qid]) for qid, question in before.items() if qid in after]
    changed = {was.qid: meaning for was, now in both if (meaning := _meaning_changed(was, now))}
    revisions = [Revision(was.qid, fields) for was, now in both if (fields := _differing(was, now))]
    found = Findings()
    for finding in _changes(changed, {*before, *after}):
        found.add(finding)
    for finding in _removals(removed, before, after, allow_removed):
        found.add(finding)
    severities: dict[str, Severity] = {
        "meaning_changed": "error",
        "question_removed": "warning" if allow_removed else "error",
    }
    return DiffReport(
        **_judged(found, severities),
        coverage={"gold": len(new), "old": len(old), "same": len(both) - len(revisions)},
        added=tuple(qid for qid in after if qid not in before),
        removed=removed,
        changed=tuple(revision for revision in revisions if revision.qid in changed),
        edited=tuple(revision for revision in revisions if revision.qid not in changed),
    )


def _judged(
    found: Findings, severities: Mapping[str, Severity], strict: bool = False
) -> dict[str, Any]:
    """The part of a report that its findings decide."""
    counts = dict(sorted(found.counts.items()))
    errors = sum(count for code, count in counts.items() if severities[code] == "error")
    warnings = sum(counts.values()) - errors
    return {
        "passed": not (errors or (strict and warnings)),
        "findings": tuple(
            GoldFinding(one.code, one.where, one.message, severities[one.code])
            for one in found.kept()
        ),
        "finding_counts": counts,
        "errors": errors,
        "warnings": warnings,
    }


def _summary(questions: Sequence[Gold]) -> Summary:
    answerable = sum(question.answerable for question in questions)
    strata: dict[str, Counter[str]] = {}
    for question in questions:
        for key, value in question.strata.items():
            if value is not None:
                strata.setdefault(key, Counter())[str(value)] += 1
    return Summary(
        answerable=answerable,
        unanswerable=len(questions) - answerable,
        with_citations=sum(bool(question.gold_citations) for question in questions),
        with_paraphrases=sum(bool(question.paraphrases) for question in questions),
        with_constraints=sum(bool(question.constraints) for question in questions),
        strata={key: dict(sorted(values.items())) for key, values in sorted(strata.items())},
    )


def _sought(question: Gold) -> tuple[str, ...]:
    """The phrases a claim is searched for.

    The reference wording of an unanswerable question is not among them: many sets write the
    refusal there.
    """
    return question.phrases if question.answerable else question.gold_claim_substr


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
        for phrase in _sought(question):
            if not canonical(phrase):
                yield (
                    question.qid,
                    f'phrase "{phrase:.60}" has no letter or digit, so no claim can hold it; '
                    "write it in words",
                )


def _short_phrases(questions: Sequence[Gold]) -> Iterator[Place]:
    for question in questions:
        for phrase in _sought(question):
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
                f"is unanswerable, yet has {_listed(given)}; empty what it has, "
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
        without = [question.qid for question in questions if question.strata.get(key) is None]
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


MEANING: dict[str, Callable[[Gold], object]] = {
    "question": lambda gold: same_question(gold.question),
    "answerable": lambda gold: gold.answerable,
    "gold phrases": lambda gold: frozenset(_sought(gold)),
    "gold citations": lambda gold: frozenset(gold.gold_citations),
    "constraints": lambda gold: sorted(sentence.strip() for sentence in gold.constraints),
}
"""What a verdict depends on, in the form in which two questions have it in common."""
SPANS = ("target_section", "anchor", "decoy")


def _by_qid(questions: Sequence[Gold]) -> dict[str, Gold]:
    return {question.qid: question for question in sorted(questions, key=lambda one: one.qid)}


def _meaning_changed(was: Gold, now: Gold) -> list[str]:
    """What of the meaning is not as it was; a span may be added, for it changes no old number."""
    spans = [name for name in SPANS if getattr(was, name) not in (None, getattr(now, name))]
    return [name for name, of in MEANING.items() if of(was) != of(now)] + spans


def _differing(was: Gold, now: Gold) -> tuple[str, ...]:
    return tuple(
        name for name in Gold.__struct_fields__ if getattr(was, name) != getattr(now, name)
    )


def _changes(changed: Mapping[str, list[str]], taken: set[str]) -> Iterator[Finding]:
    """A finding for each changed meaning, with a new qid nobody has."""
    for qid, meaning in changed.items():
        clone = _clone(qid, taken)
        taken.add(clone)
        message = f"changed its {_listed(meaning)}; clone it under a new qid, e.g. {clone}"
        yield Finding("meaning_changed", qid, message)


def _removals(
    removed: Iterable[str], before: Mapping[str, Gold], after: Mapping[str, Gold], allowed: bool
) -> Iterator[Finding]:
    asking = {same_question(question.question): qid for qid, question in after.items()}
    for qid in removed:
        heir = asking.get(same_question(before[qid].question))
        remedy = f"if {heir} takes its place," if heir else "put it back, or"
        message = (
            f"was removed, as allowed; {heir or 'nothing'} asks the same now"
            if allowed
            else f"was removed, and the set is frozen; {remedy} pass --allow-removed"
        )
        yield Finding("question_removed", qid, message)


def _clone(qid: str, taken: set[str]) -> str:
    """The next free version of a qid.

    >>> _clone("h012", {"h012"}), _clone("h012-v2", {"h012", "h012-v2", "h012-v3"})
    ('h012-v2', 'h012-v4')
    """
    versioned = re.fullmatch(r"(.+)-v([0-9]{1,9})", qid, re.DOTALL)
    stem, version = (versioned[1], int(versioned[2]) + 1) if versioned else (qid, 2)
    while f"{stem}-v{version}" in taken:
        version += 1
    return f"{stem}-v{version}"


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["question", "answerable", "constraints"])
    'question, answerable and constraints'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
