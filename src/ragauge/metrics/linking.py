"""Linking: whether a mention was given the right id, or NIL where it is in no knowledge base.

A unit is a mention of gold, or one that was only predicted; a document's mentions are summed, so
that intervals resample documents. Hits and reciprocal ranks are over the gold mentions that are in
a knowledge base: what was not predicted counts as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from inspect import cleandoc

from msgspec import structs

from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import (
    SCALE,
    Absent,
    Metric,
    NotApplicable,
    Row,
    f1_of_sums,
    metric,
    scaled_mean,
)
from ragauge.contracts.options import DEFAULT_RANKS

NOT_IN_GOLD = NotApplicable("not in gold")
IN_NO_KB = NotApplicable("NIL in gold")
NOT_ANSWERED = Absent("no prediction")
NO_TABLE = Absent("no table of equivalents")
NOT_NIL = NotApplicable("NIL in neither")
NIL_NOT_SAID = NotApplicable("NIL not answered")
IN_KB = NotApplicable("not NIL in gold")
NO_LINK = NotApplicable("no link in either")
NOT_LINKED = NotApplicable("not linked")
NO_PLACE = Absent("no place in a text")
NO_CROSSWALK = Absent("no crosswalk")
ONE_ID = NotApplicable("no two ids that the crosswalk can compare")

of_mention = partial(
    metric, version=1, better="higher", bounds=(0, 1), unit="mention", reads="links"
)
"""A metric of a mention: by default a share of them."""
mean_of_mentions = partial(of_mention, columns=("value", "of"), finish=scaled_mean)


f1_of_mentions = partial(of_mention, columns=("tp", "fp", "fn"), finish=f1_of_sums)
"""One whose value over a set is the F1 of what was counted."""


def not_in_kb(mention: LinkedMention) -> Absent:
    """Why a metric of in-KB mentions does not apply."""
    return IN_NO_KB if mention.nil else NOT_IN_GOLD


def outcome(both: bool, predicted: bool, gold: bool) -> tuple[int, int, int]:
    """True positive, false positive, false negative: a wrong link can be both of the latter."""
    return int(both), int(predicted and not both), int(gold and not both)


@of_mention("linking.strong_precision", needs=("linked", "in_kb", "nil", "right", "exact"))
def strong_precision(mention: LinkedMention) -> Row | Absent:
    """Links on the exact place of a gold mention with the correct id, over links predicted.

    A link where gold marks nothing is wrong. NIL is no link: this is the end-to-end view.
    """
    return Row((int(_strong(mention)), 1)) if mention.linked else NOT_LINKED


@of_mention("linking.strong_recall", needs=("linked", "in_kb", "nil", "right", "exact"))
def strong_recall(mention: LinkedMention) -> Row | Absent:
    """In-KB gold mentions linked correctly at their exact place, over all in-KB gold mentions."""
    return Row((int(_strong(mention)), 1)) if mention.in_kb else not_in_kb(mention)


@f1_of_mentions("linking.strong_f1", needs=("linked", "in_kb", "nil", "right", "exact"))
def strong_f1(mention: LinkedMention) -> Row | Absent:
    """F1 of links end to end: exact place and correct id, over all documents together."""
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
    *(strong_precision, strong_recall, strong_f1, weak_precision, weak_recall, weak_f1, mention_f1),
)


HIPE_RANKS = (1, 3, 5)


def hits_at(k: int) -> Metric:
    """The metric `linking.hits@k`."""

    @of_mention(f"linking.hits@{k}", needs=("in_kb", "nil", "rank"))
    def hits(mention: LinkedMention) -> Row | Absent:
        return _hit(mention, mention.rank, k)

    among = "in first place" if k == 1 else f"among the first {k}"
    doc = f"""In-KB mentions with a correct candidate {among}, over all in-KB mentions.

    A mention without a prediction is a miss. Candidates rank by score where each has one (ties by
    id, descending), else as they are listed; one that is named again takes up no rank. Where the
    answer is NIL, that has the first rank.
    """
    return structs.replace(hits, doc=cleandoc(doc))


def from_name(name: str) -> Metric | None:
    """The metric of this name with a rank of its own, such as linking.hits@3.

    >>> from_name("hits@3").id, from_name("hits@0")
    ('linking.hits@3', None)
    """
    match = re.fullmatch(r"(?:linking\.)?(hits|hipe_\w+)@([1-9][0-9]*)", name, re.ASCII)
    if not match:
        return None
    made = (hits_at(int(match[2])),) if match[1] == "hits" else hipe_at(int(match[2]))
    return next((one for one in made if one.id == f"linking.{match[1]}@{match[2]}"), None)


@of_mention("linking.hits@1_relaxed", needs=("in_kb", "nil", "relaxed_rank", "relaxed"))
def hits_at_1_relaxed(mention: LinkedMention) -> Row | Absent:
    """In-KB mentions whose first candidate is correct or equivalent, over all in-KB mentions.

    What is equivalent (redirects, merged items, related ids) a table tells; without one this is
    absent.
    """
    if not mention.relaxed:
        return NO_TABLE
    return _hit(mention, mention.relaxed_rank, 1)


@mean_of_mentions("linking.mrr", needs=("in_kb", "nil", "rank"))
def mrr(mention: LinkedMention) -> Row | Absent:
    """Mean of 1 / rank of the first correct candidate over all in-KB mentions, 0 if there is none.

    A mention without a prediction counts as 0, as with `trec_eval -c`.

    >>> mrr(LinkedMention(in_gold=True, answered=True, rank=2)).counts[0] / SCALE
    0.5
    """
    return _reciprocal(mention, mention.rank)


@mean_of_mentions("linking.mrr_answered", needs=("in_kb", "nil", "rank", "answered"))
def mrr_answered(mention: LinkedMention) -> Row | Absent:
    """Mean of 1 / rank of the first correct candidate over the in-KB mentions with a prediction.

    It rises when a system answers less: read it beside `linking.coverage`.
    """
    return _reciprocal(mention, mention.rank) if mention.answered else NOT_ANSWERED


@mean_of_mentions("linking.mrr_relaxed", needs=("in_kb", "nil", "relaxed_rank", "relaxed"))
def mrr_relaxed(mention: LinkedMention) -> Row | Absent:
    """Mean of 1 / rank of the first correct or equivalent candidate over all in-KB mentions."""
    return _reciprocal(mention, mention.relaxed_rank) if mention.relaxed else NO_TABLE


@of_mention("linking.nil_precision", needs=("in_gold", "nil", "said_nil"))
def nil_precision(mention: LinkedMention) -> Row | Absent:
    """Gold mentions that are NIL, over those that the system says are NIL."""
    if not mention.in_gold:
        return NOT_IN_GOLD
    return Row((int(mention.nil), 1)) if mention.said_nil else NIL_NOT_SAID


@of_mention("linking.nil_recall", needs=("in_gold", "nil", "said_nil"))
def nil_recall(mention: LinkedMention) -> Row | Absent:
    """Mentions that the system says are NIL, over those that are NIL in gold.

    No prediction is no NIL.
    """
    if not mention.in_gold:
        return NOT_IN_GOLD
    return Row((int(mention.said_nil), 1)) if mention.nil else IN_KB


@f1_of_mentions("linking.nil_f1", needs=("in_gold", "nil", "said_nil"))
def nil_f1(mention: LinkedMention) -> Row | Absent:
    """F1 of finding the mentions that are in no knowledge base, joined mention by mention.

    >>> nil_f1(LinkedMention(in_gold=True, nil=True, answered=False))
    Row(counts=(0, 0, 1), reason=None)
    """
    if not mention.in_gold:
        return NOT_IN_GOLD
    if not (mention.nil or mention.said_nil):
        return NOT_NIL
    return Row(outcome(mention.nil and mention.said_nil, mention.said_nil, mention.nil))


@of_mention("linking.accuracy", needs=("in_gold", "right"))
def accuracy(mention: LinkedMention) -> Row | Absent:
    """Gold mentions that are answered correctly, over all of them; NIL is an answer like any other.

    >>> accuracy(LinkedMention(in_gold=True, nil=True, answered=True, said_nil=True))
    Row(counts=(1, 1), reason=None)
    """
    return Row((int(mention.right), 1)) if mention.in_gold else NOT_IN_GOLD


@of_mention("linking.consistency", needs=("crosswalk", "pairs", "linked"))
def consistency(mention: LinkedMention) -> Row | Absent:
    """Linked entities whose ids in different knowledge bases belong together, over those checkable.

    A crosswalk tells what belongs together; of several ids in one knowledge base one must fit.
    Where nothing can be checked it is absent, not 1.
    """
    if not mention.linked:
        return NOT_LINKED
    if not mention.crosswalk:
        return NO_CROSSWALK
    return Row((int(all(mention.pairs.values())), 1)) if mention.pairs else ONE_ID


@of_mention("linking.consistency_coverage", needs=("crosswalk", "pairs", "linked"))
def consistency_coverage(mention: LinkedMention) -> Row | Absent:
    """Linked entities with two ids or more that the crosswalk can compare, over all of them."""
    if not mention.linked:
        return NOT_LINKED
    return Row((int(bool(mention.pairs)), 1)) if mention.crosswalk else NO_CROSSWALK


@of_mention("linking.coverage", needs=("in_gold", "answered"))
def coverage(mention: LinkedMention) -> Row | Absent:
    """Gold mentions with a prediction, NIL or not, over all of them."""
    return Row((int(mention.answered), 1)) if mention.in_gold else NOT_IN_GOLD


def _hit(mention: LinkedMention, rank: int | None, k: int) -> Row | Absent:
    if not mention.in_kb:
        return not_in_kb(mention)
    return Row((int(rank is not None and rank <= k), 1))


def _reciprocal(mention: LinkedMention, rank: int | None) -> Row | Absent:
    if not mention.in_kb:
        return not_in_kb(mention)
    return Row((round(SCALE / rank) if rank else 0, 1))


HIPE: Sequence[Metric] = tuple(one for k in HIPE_RANKS for one in hipe_at(k))
"""What HIPE's scorer counts: measured for HIPE files, and where a gate names it."""
METRICS: Sequence[Metric] = (
    *(hits_at(k) for k in DEFAULT_RANKS),
    *(hits_at_1_relaxed, mrr, mrr_answered, mrr_relaxed, nil_precision, nil_recall, nil_f1),
    *(accuracy,),
    *END_TO_END,
    *HIPE,
    *(consistency, consistency_coverage, coverage),
)
