"""What "right" means of a unit: each command has its own word for it."""

from __future__ import annotations

from ragauge.contracts.history import UnitRow

MEANS = {
    "score": "cites a gold id, or refuses where it should",
    "stability": "stable and right",
    "audit": "no code",
    "trace-eval": "its runs agree, without a code, and each answer cites the gold",
    "eval ner": "every entity found as it is, and no other",
    "eval types": "the type is the gold type, or one that is also accepted",
    "eval linking": "every mention linked right, and no other",
    "eval retrieval": "a relevant document among the first 10",
    "eval qa": "the answer holds a reference answer; where there is none, it is grounded",
    "eval answers": "the answer is grounded; if not measured, it contains a reference answer",
    "eval all": "without a fault, as its own task counts them",
}
DOUBT = "cites the gold, but does not say a gold phrase"
"""What is said beside a unit that counts as right though its claim is not what the gold wants."""

CONTAINMENT, STRICT = "quality.claim_containment", "quality.precision_strict"


def right_means(command: str) -> str:
    """What a unit of this command's runs has done where it is called right.

    >>> right_means("score")
    'cites a gold id, or refuses where it should'
    """
    return MEANS.get(command, "as the run itself says")


def doubt(row: UnitRow) -> str:
    """What stands against calling the unit right; nothing where nothing does.

    Scoring calls an answer right by what it cites. Whether it also says what the gold wants is a
    number of its own.
    """
    told = row.values.get(CONTAINMENT, row.values.get(STRICT))
    return DOUBT if row.right and told == 0 else ""
