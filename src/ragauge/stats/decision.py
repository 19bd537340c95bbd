"""What the numbers of a comparison come to: better, worse, not worse, or cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.contracts.comparison import Outlook
    from ragauge.contracts.metric import Better
    from ragauge.stats.intervals import Interval

ALPHA = 0.05


def outlook(
    change: float | None,
    ci: Interval | None,
    p_adjusted: float | None,
    better: Better,
    margin: float | None = None,
    alpha: float = ALPHA,
    leans: int | None = None,
) -> Outlook:
    """The verdict on a change, after − before, of a metric that should go up or down.

    It is better or worse where the corrected probability lies under alpha. With a margin, the
    loss the user accepts, it is not worse where the whole interval of the mean lies inside the
    margin; that holds for a loss which is real but small, too. And it is worse only where the
    loss seen is greater than the margin: of a real one that is not, but might be, nothing can be
    told. `leans` is the way the test's own statistic points, where the change does not tell: a
    mean may rise while most that differ fell.

    >>> outlook(0.04, (0.01, 0.07), 0.003, "higher")
    'better'
    >>> outlook(-0.01, (-0.018, -0.002), 0.01, "higher", margin=0.02)
    'not_worse'
    >>> outlook(-0.01, (-0.05, 0.03), 0.6, "higher", margin=0.02)
    'cannot_tell'
    >>> outlook(-0.03, (-0.05, -0.01), 0.01, "higher", margin=0.04)
    'cannot_tell'
    """
    if change is None:
        return "not_comparable"
    beyond_noise = p_adjusted is not None and p_adjusted < alpha
    way = gain(leans if leans else change, better)
    if beyond_noise and way > 0:
        return "better"
    if margin is not None and ci is not None and worst(ci, better) > -margin:
        return "not_worse"
    accepted = bool(margin) and -gain(change, better) <= (margin or 0.0)
    return "worse" if beyond_noise and way < 0 and not accepted else "cannot_tell"


def gain(change: float, better: Better) -> float:
    """The change as a gain, a loss if negative."""
    return change if better == "higher" else -change


def worst(ci: Interval, better: Better) -> float:
    """The end of the interval that is the greatest loss, or the least gain, as a gain."""
    return gain(ci[0] if better == "higher" else ci[1], better)
