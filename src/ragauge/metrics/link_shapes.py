"""The shapes of linking metrics, and the reasons they do not apply to a mention."""

from __future__ import annotations

from functools import partial

from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.metrics.declare import f1_of_sums, metric, scaled_mean

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
