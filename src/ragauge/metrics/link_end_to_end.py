"""Linking end to end: links on the places a system found by itself.

Strong asks for the exact place of a gold mention, weak for an overlap; both for the right id. NIL
is no link.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.metrics.link_shapes import (
    NO_LINK,
    NO_PLACE,
    NOT_IN_GOLD,
    NOT_LINKED,
    f1_of_mentions,
    not_in_kb,
    of_mention,
    outcome,
)


@of_mention("linking.strong_precision", needs=("linked", "in_kb", "nil", "right", "exact"))
def strong_precision(mention: LinkedMention) -> Row | Absent:
    """Links on the exact place of a gold mention with the right id, over links predicted.

    A link where gold marks nothing is wrong. NIL is no link: this is the end-to-end view.
    """
    return Row((int(_strong(mention)), 1)) if mention.linked else NOT_LINKED


@of_mention("linking.strong_recall", needs=("linked", "in_kb", "nil", "right", "exact"))
def strong_recall(mention: LinkedMention) -> Row | Absent:
    """In-KB gold mentions linked right on their exact place, over all in-KB gold mentions."""
    return Row((int(_strong(mention)), 1)) if mention.in_kb else not_in_kb(mention)


@f1_of_mentions("linking.strong_f1", needs=("linked", "in_kb", "nil", "right", "exact"))
def strong_f1(mention: LinkedMention) -> Row | Absent:
    """F1 of links end to end: exact place and right id, over all documents together."""
    if not (mention.linked or mention.in_kb):
        return NO_LINK
    return Row(outcome(_strong(mention), mention.linked, mention.in_kb))


@of_mention("linking.weak_precision", needs=("placed", "linked", "weak_predicted"))
def weak_precision(mention: LinkedMention) -> Row | Absent:
    """Links that overlap a gold mention of their own with the same id, over links predicted."""
    if not mention.placed:
        return NO_PLACE
    return Row((int(mention.weak_predicted), 1)) if mention.linked else NOT_LINKED


@of_mention("linking.weak_recall", needs=("placed", "in_kb", "nil", "weak_gold"))
def weak_recall(mention: LinkedMention) -> Row | Absent:
    """In-KB gold mentions that overlap a link of their own with the same id, over all of them."""
    if not mention.placed:
        return NO_PLACE
    return Row((int(mention.weak_gold), 1)) if mention.in_kb else not_in_kb(mention)


@f1_of_mentions(
    "linking.weak_f1", needs=("placed", "linked", "in_kb", "weak_gold", "weak_predicted")
)
def weak_f1(mention: LinkedMention) -> Row | Absent:
    """F1 of links end to end where an overlap is place enough, one prediction to one mention."""
    if not mention.placed:
        return NO_PLACE
    if not (mention.linked or mention.in_kb):
        return NO_LINK
    spurious = mention.linked and not mention.weak_predicted
    missed = mention.in_kb and not mention.weak_gold
    return Row((int(mention.weak_gold), int(spurious), int(missed)))


@f1_of_mentions("linking.mention_f1", needs=("placed", "in_gold", "answered", "exact"))
def mention_f1(mention: LinkedMention) -> Row | Absent:
    """F1 of finding the mentions at their exact places, whatever they are linked to."""
    if not mention.placed:
        return NO_PLACE
    both = mention.in_gold and mention.answered and mention.exact
    return Row(outcome(both, mention.answered, mention.in_gold))


def hipe_at(k: int) -> tuple[Metric, Metric, Metric]:
    """The metrics `linking.hipe_precision@k`, `hipe_recall@k` and `hipe_f1@k`."""
    more = (
        "HIPE's fuzzy regime at this cut-off: a prediction is paired with the gold mention at its "
        "place, else with the first one it overlaps; it is correct if the gold id is among its "
        f"{'first alternative' if k == 1 else f'first {k} alternatives'}. NIL is an id like any "
        "other."
    )

    @of_mention(f"linking.hipe_precision@{k}", needs=(*_HIPE, "linked", "said_nil"))
    def precision(mention: LinkedMention) -> Row | Absent:
        if not mention.placed:
            return NO_PLACE
        return Row((int(_within(mention.hipe_predicted_rank, k)), 1)) if _says(mention) else NO_LINK

    @of_mention(f"linking.hipe_recall@{k}", needs=(*_HIPE, "in_gold"))
    def recall(mention: LinkedMention) -> Row | Absent:
        if not mention.in_gold:
            return NOT_IN_GOLD
        return Row((int(_within(mention.hipe_rank, k)), 1)) if mention.placed else NO_PLACE

    @f1_of_mentions(f"linking.hipe_f1@{k}", needs=(*_HIPE, "in_gold", "linked", "said_nil"))
    def f1(mention: LinkedMention) -> Row | Absent:
        if not mention.placed:
            return NO_PLACE
        if not (mention.in_gold or _says(mention)):
            return NO_LINK
        found = mention.in_gold and _within(mention.hipe_rank, k)
        spurious = _says(mention) and not _within(mention.hipe_predicted_rank, k)
        return Row((int(found), int(spurious), int(mention.in_gold and not found)))

    told = {
        precision: "Predictions with the id of the gold mention they are paired with, over all.",
        recall: "Gold mentions whose id their paired prediction names, over all.",
        f1: f"Balance (F1) of `hipe_precision@{k}` and `hipe_recall@{k}`.",
    }
    made = (structs.replace(one, doc=f"{doc}\n\n{more}") for one, doc in told.items())
    return next(made), next(made), next(made)


_HIPE = ("placed", "hipe_rank", "hipe_predicted_rank")


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _says(mention: LinkedMention) -> bool:
    """Whether a prediction names an id, or NIL."""
    return mention.linked or mention.said_nil


def _strong(mention: LinkedMention) -> bool:
    return mention.in_kb and mention.right and mention.exact


END_TO_END: Sequence[Metric] = (
    strong_precision,
    strong_recall,
    strong_f1,
    weak_precision,
    weak_recall,
    weak_f1,
    mention_f1,
)
