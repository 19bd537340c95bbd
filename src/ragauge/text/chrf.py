"""chrF: what an answer and a reference have in common in runs of characters."""

from __future__ import annotations

from ragauge.text.character_runs import shared_runs

BETA = 2
"""Recall weighs twice as much as precision."""


def chrf(reference: str, answer: str) -> float:
    """The F of common runs of one to six characters without blanks, recall counting twice, 0 to 1.

    chrF2 as sacrebleu computes it for one sentence, but for its scale of 0 to 100: precision and
    recall are averaged over the lengths of which both texts have runs. Needs no words, so that it
    is the measure for scripts and inflections that words do badly with. A text of blanks has
    nothing in common with any.

    >>> round(chrf("The Night Watch", "Night Watch"), 4), chrf("夜巡", "夜巡")
    (0.7504, 1.0)
    """
    wanted, given = "".join(reference.split()), "".join(answer.split())
    shared = shared_runs(wanted, given)
    precision = sum(count / (len(given) - at) for at, count in enumerate(shared))
    recall = sum(count / (len(wanted) - at) for at, count in enumerate(shared))
    if not precision:
        return 0.0
    precision, recall = precision / len(shared), recall / len(shared)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
