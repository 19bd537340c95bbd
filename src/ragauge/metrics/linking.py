"""Linking: whether a mention was given the right id, or NIL where it is in no knowledge base.

A unit is a mention of gold, or one that was only predicted; a document's mentions are summed, so
that intervals resample documents. Hits and reciprocal ranks are over the gold mentions that are in
a knowledge base: what was not predicted counts as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import cleandoc

from msgspec import structs

from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import SCALE, Absent, Metric, Row
from ragauge.metrics.link_end_to_end import END_TO_END, hipe_at
from ragauge.metrics.link_shapes import (
    IN_KB,
    NIL_NOT_SAID,
    NO_CROSSWALK,
    NO_TABLE,
    NOT_ANSWERED,
    NOT_IN_GOLD,
    NOT_LINKED,
    NOT_NIL,
    ONE_ID,
    f1_of_mentions,
    mean_of_mentions,
    not_in_kb,
    of_mention,
    outcome,
)

DEFAULT_RANKS = (1, 5, 10)
HIPE_RANKS = (1, 3, 5)


def hits_at(k: int) -> Metric:
    """The metric `linking.hits@k`."""

    @of_mention(f"linking.hits@{k}", needs=("in_kb", "nil", "rank"))
    def hits(mention: LinkedMention) -> Row | Absent:
        return _hit(mention, mention.rank, k)

    doc = f"""In-KB mentions with a right candidate {_among(k)}, over all in-KB mentions.

    A mention without a prediction is a miss. Candidates rank by score where each has one (ties by
    id, descending), else as they are listed; one that is named again takes up no rank. Where the
    answer is NIL, that has the first rank.
    """
    return _told(hits, doc)


def named(name: str) -> Metric | None:
    """The metric of this name with a rank of its own, such as linking.hits@3.

    >>> named("hits@3").id, named("hits@0")
    ('linking.hits@3', None)
    """
    match = re.fullmatch(r"(?:linking\.)?(hits|hipe_\w+)@([1-9][0-9]*)", name, re.ASCII)
    if not match:
        return None
    made = (hits_at(int(match[2])),) if match[1] == "hits" else hipe_at(int(match[2]))
    return next((one for one in made if one.id == f"linking.{match[1]}@{match[2]}"), None)


@of_mention("linking.hits@1_relaxed", needs=("in_kb", "nil", "relaxed_rank", "relaxed"))
def hits_at_1_relaxed(mention: LinkedMention) -> Row | Absent:
    """In-KB mentions whose first candidate is right or equivalent, over all in-KB mentions.

    What is equivalent (redirects, merged items, related ids) a table tells; without one this is
    absent.
    """
    if not mention.relaxed:
        return NO_TABLE
    return _hit(mention, mention.relaxed_rank, 1)


@mean_of_mentions("linking.mrr", needs=("in_kb", "nil", "rank"))
def mrr(mention: LinkedMention) -> Row | Absent:
    """Mean of 1 / rank of the first right candidate over all in-KB mentions, 0 where there is none.

    A mention without a prediction counts as 0, as with `trec_eval -c`.

    >>> mrr(LinkedMention(in_gold=True, answered=True, rank=2)).counts[0] / SCALE
    0.5
    """
    return _reciprocal(mention, mention.rank)


@mean_of_mentions("linking.mrr_answered", needs=("in_kb", "nil", "rank", "answered"))
def mrr_answered(mention: LinkedMention) -> Row | Absent:
    """Mean of 1 / rank of the first right candidate over the in-KB mentions with a prediction.

    It rises when a system answers less: read it beside `linking.coverage`.
    """
    return _reciprocal(mention, mention.rank) if mention.answered else NOT_ANSWERED


@mean_of_mentions("linking.mrr_relaxed", needs=("in_kb", "nil", "relaxed_rank", "relaxed"))
def mrr_relaxed(mention: LinkedMention) -> Row | Absent:
    """Mean of 1 / rank of the first right or equivalent candidate over all in-KB mentions."""
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
    """Gold mentions that are answered right, over all of them; NIL is an answer like any other.

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


def _among(k: int) -> str:
    return "in first place" if k == 1 else f"among the first {k}"


def _told(entry: Metric, doc: str) -> Metric:
    return structs.replace(entry, doc=cleandoc(doc))


HIPE: Sequence[Metric] = tuple(one for k in HIPE_RANKS for one in hipe_at(k))
"""What HIPE's scorer counts: measured for HIPE files, and where a gate names it."""
METRICS: Sequence[Metric] = (
    *(hits_at(k) for k in DEFAULT_RANKS),
    hits_at_1_relaxed,
    mrr,
    mrr_answered,
    mrr_relaxed,
    nil_precision,
    nil_recall,
    nil_f1,
    accuracy,
    *END_TO_END,
    *HIPE,
    consistency,
    consistency_coverage,
    coverage,
)
