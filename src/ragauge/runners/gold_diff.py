"""Two versions of a gold set: whether the new one still means what the old one meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ragauge.contracts.gold import Gold
from ragauge.contracts.gold_report import DiffReport, Revision, Severity, judged
from ragauge.contracts.report import Finding, Findings
from ragauge.text.canonical import same_question

MEANING: dict[str, Callable[[Gold], object]] = {
    "question": lambda gold: same_question(gold.question),
    "answerable": lambda gold: gold.answerable,
    "gold phrases": lambda gold: frozenset(gold.sought),
    "gold citations": lambda gold: frozenset(gold.gold_citations),
    "constraints": lambda gold: sorted(sentence.strip() for sentence in gold.constraints),
}
"""What a verdict depends on, in the form in which two questions have it in common."""
SPANS = ("target_section", "anchor", "decoy")


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
        **judged(found, severities),
        coverage={"gold": len(new), "old": len(old), "same": len(both) - len(revisions)},
        added=tuple(qid for qid in after if qid not in before),
        removed=removed,
        changed=tuple(revision for revision in revisions if revision.qid in changed),
        edited=tuple(revision for revision in revisions if revision.qid not in changed),
    )


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
