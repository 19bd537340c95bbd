"""What "correct" means of a unit: each command has its own word for it."""

from __future__ import annotations

from ragauge.contracts.history import UnitRow
from ragauge.reports import document as doc

MEANS = {
    "score": "cites a gold id, or refuses where it should",
    "stability": "stable and correct",
    "audit": "no code",
    "trace-eval": "its runs agree, without a code, and each answer cites the gold",
    "eval ner": "every entity found as it is, and no other",
    "eval types": "the type is the gold type, or one that is also accepted",
    "eval linking": "every mention linked correctly, and no other",
    "eval retrieval": "a relevant document among the first 10",
    "eval qa": "the answer holds a reference answer; where there is none, it is grounded",
    "eval answers": "the answer is grounded; if not measured, it contains a reference answer",
    "eval all": "without an error, as its own task counts them",
}
DOUBT = "cites the gold, but does not contain a gold phrase"
"""A remark on a unit that counts as correct though its claim is not what the gold expects."""

CONTAINMENT, STRICT = "quality.claim_containment", "quality.precision_strict"


def right_means(command: str) -> str:
    """What a unit of this command's runs has done where it is called correct.

    >>> right_means("score")
    'cites a gold id, or refuses where it should'
    """
    return MEANS.get(command, "as the run itself defines it")


def doubt(row: UnitRow) -> str:
    """Why a unit that counts as correct may not be; nothing where nothing speaks against it.

    Scoring calls an answer correct by what it cites. Whether it also says what the gold expects is
    a number of its own.
    """
    contained = row.values.get(CONTAINMENT, row.values.get(STRICT))
    return DOUBT if row.right and contained == 0 else ""


def outcome(row: UnitRow) -> tuple[str, str, doc.Tone]:
    """The label of a unit and whether it is correct, in words; a badge and a tone for it."""
    label = "" if (row.label or "").lower() in ("right", "wrong") else row.label
    word = {True: "correct", False: "incorrect", None: "not scored"}[row.right]
    badge: tuple[str, doc.Tone] = ("fail", "bad") if row.right is False else ("unchanged", "soft")
    badge = ("pass", "good") if row.right and not doubt(row) else badge
    return doc.listed(label, word, doubt(row)), *badge
