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
    loss the user accepts, it is not worse where the whole interval lies inside the margin; that
    holds for a loss which is real but small, too. `leans` is the way the test's own statistic
    points, where the change does not tell: a median may be 0 while all that differ fell.

    >>> outlook(0.04, (0.01, 0.07), 0.003, "higher")
    'better'
    >>> outlook(-0.01, (-0.018, -0.002), 0.01, "higher", margin=0.02)
    'not_worse'
    >>> outlook(-0.01, (-0.05, 0.03), 0.6, "higher", margin=0.02)
    'cannot_tell'
    """
    if change is None:
        return "not_comparable"
    way = leans if leans else change
    gain = way if better == "higher" else -way
    beyond_noise = p_adjusted is not None and p_adjusted < alpha
    if beyond_noise and gain > 0:
        return "better"
    if margin is not None and ci is not None and _worst(ci, better) > -margin:
        return "not_worse"
    return "worse" if beyond_noise and gain < 0 else "cannot_tell"


def _worst(ci: Interval, better: Better) -> float:
    """The end of the interval that is the greatest loss, or the least gain."""
    low, high = ci
    return low if better == "higher" else -high
