"""Two versions of a gold set: whether the new one still means what the old one meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ragauge.contracts.gold import Gold
from ragauge.contracts.gold_report import DiffReport, Revision, judged
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
    before, after = (
        {question.qid: question for question in sorted(questions, key=lambda one: one.qid)}
        for questions in (old, new)
    )
    found = Findings()
    taken = {*before, *after}
    changed: list[Revision] = []
    edited: list[Revision] = []
    for qid, was in before.items():
        now = after.get(qid)
        if now is None or was == now:
            continue
        fields = tuple(
            name for name in Gold.__struct_fields__ if getattr(was, name) != getattr(now, name)
        )
        # A span may be added, for it changes no old number.
        spans = [name for name in SPANS if getattr(was, name) not in (None, getattr(now, name))]
        meaning = [name for name, of in MEANING.items() if of(was) != of(now)] + spans
        (changed if meaning else edited).append(Revision(qid, fields))
        if meaning:
            clone = _clone(qid, taken)
            taken.add(clone)
            listed = " and ".join(filter(None, [", ".join(meaning[:-1]), meaning[-1]]))
            message = f"changed its {listed}; clone it under a new qid, e.g. {clone}"
            found.add(Finding("meaning_changed", qid, message))
    removed = tuple(qid for qid in before if qid not in after)
    asking = {same_question(question.question): qid for qid, question in after.items()}
    for qid in removed:
        heir = asking.get(same_question(before[qid].question))
        message = f"was removed, as allowed; {heir or 'nothing'} asks the same now"
        if not allow_removed:
            remedy = f"if {heir} takes its place," if heir else "put it back, or"
            message = f"was removed, and the set is frozen; {remedy} pass --allow-removed"
        found.add(Finding("question_removed", qid, message))
    both = len(before) - len(removed)
    return DiffReport(
        **judged(
            found,
            ("meaning_changed",) if allow_removed else ("meaning_changed", "question_removed"),
            {"gold": len(new), "old": len(old), "same": both - len(changed) - len(edited)},
            [old, new],
        ),
        added=tuple(qid for qid in after if qid not in before),
        removed=removed,
        changed=tuple(changed),
        edited=tuple(edited),
    )


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
