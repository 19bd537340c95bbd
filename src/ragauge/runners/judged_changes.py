"""Changes judged together: adjusted for how many there are, and put into a word."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.comparison import Compared, Correction, Outlook, level_of
from ragauge.contracts.history import RecordedMetric
from ragauge.contracts.metric import Better
from ragauge.runners.metric_change import Change
from ragauge.stats.decision import outlook
from ragauge.stats.flip_power import smallest_seen
from ragauge.stats.multiplicity import adjusted
from ragauge.stats.power import needed, needed_for_margin


def judged(
    family: Sequence[tuple[Change, Better, float | None]], correction: Correction, alpha: float
) -> list[Compared]:
    """The verdict on each change, with its direction and its margin, among all of the family."""
    # A test of units of which none differs can find nothing, whatever the correction: counted in,
    # it would only make the others blind (Tarone 1990).
    ps = [one.test.p if one.test and one.differs else None for one, _, _ in family]
    level = level_of(alpha, correction, len(ps) - ps.count(None))
    return [
        _compared(one, better, margin, one.p if p is None else p, alpha, level)
        for (one, better, margin), p in zip(family, adjusted(ps, correction), strict=True)
    ]


def not_comparable(
    before: RecordedMetric | None, after: RecordedMetric | None, margin: float | None, reason: str
) -> Compared:
    """A metric that cannot be compared, with what each run recorded of it."""
    known = after or before
    return Compared(
        verdict="not_comparable",
        better=known.better if known else "higher",
        before=before.value if before else None,
        after=after.value if after else None,
        change=None,
        ci=None,
        p=None,
        p_adjusted=None,
        n=0,
        n_zero=0,
        method="",
        seed=None,
        effect=None,
        margin=margin,
        sd=None,
        detectable=None,
        needed=None,
        reason=reason,
    )


def _compared(
    one: Change, better: Better, margin: float | None, p: float | None, alpha: float, level: float
) -> Compared:
    test, change = one.test, one.change
    verdict: Outlook = (
        "cannot_tell"
        if test is None and one.before is not None and one.after is not None
        else outlook(change, test.ci if test else None, p, better, margin, alpha)
    )
    return Compared(
        verdict=verdict,
        better=better,
        before=one.before,
        after=one.after,
        change=change,
        ci=test.ci if test else None,
        p=one.p,
        p_adjusted=p,
        n=one.n,
        n_zero=test.n_zero if test else 0,
        method=test.method if test else "",
        seed=test.seed if test else None,
        effect=test.effect if test else None,
        margin=margin,
        sd=one.sd,
        detectable=smallest_seen(one.sd, one.n, flips=one.flips, alpha=level) if one.sd else None,
        needed=_needed(one, better, margin, alpha, level) if verdict == "cannot_tell" else None,
        reason=one.reason,
    )


def _needed(
    one: Change, better: Better, margin: float | None, alpha: float, level: float
) -> int | None:
    """Units that would decide, if the change stayed what it is: its sign, or its margin.

    The margin is held against the interval, which no correction widens.
    """
    if not one.sd or one.change is None:
        return None
    if margin:
        gain = one.change if better == "higher" else -one.change
        return needed_for_margin(one.sd, margin, gain, alpha=alpha)
    return needed(one.sd, abs(one.change), alpha=level) if one.change else None
