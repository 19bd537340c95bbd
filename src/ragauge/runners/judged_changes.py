"""Changes judged together: adjusted for how many there are, and put into a word."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.comparison import Compared, Correction, Outlook
from ragauge.contracts.history import RecordedMetric
from ragauge.contracts.metric import Better
from ragauge.runners.metric_change import Change
from ragauge.stats.decision import outlook
from ragauge.stats.flip_power import fewest_to_find, fewest_to_rule_out, smallest_seen
from ragauge.stats.multiplicity import adjusted, level_of
from ragauge.stats.power import needed, needed_for_margin


class Levels(Struct, frozen=True, kw_only=True):
    """What the members of a family are held to."""

    alpha: float
    test: float
    """What a single test must reach, whatever the others come to."""
    interval: float
    """What the intervals leave open."""


def judged(
    family: Sequence[tuple[Change, Better, float | None]],
    correction: Correction,
    alpha: float,
    interval_alpha: float | None = None,
) -> list[Compared]:
    """The verdict on each change, with its direction and its margin, among all of the family.

    `interval_alpha` is what the intervals leave open, where that is not alpha.
    """
    # A test of units of which none differs can find nothing, whatever the correction: counted in,
    # it would only make the others blind (Tarone 1990).
    ps = [one.test.p if one.test and one.differs else None for one, _, _ in family]
    levels = Levels(
        alpha=alpha,
        test=level_of(alpha, correction, len(ps) - ps.count(None)),
        interval=alpha if interval_alpha is None else interval_alpha,
    )
    return [
        _compared(one, better, margin, one.p if p is None else p, levels)
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
    one: Change, better: Better, margin: float | None, p: float | None, levels: Levels
) -> Compared:
    test, change, sd = one.test, one.change, one.sd
    verdict = _verdict(one, better, margin, p, levels.alpha)
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
        sd=sd,
        detectable=smallest_seen(sd, one.n, flips=one.flips, alpha=levels.test) if sd else None,
        needed=_needed(one, better, margin, levels) if verdict == "cannot_tell" else None,
        reason=one.reason,
    )


def _verdict(
    one: Change, better: Better, margin: float | None, p: float | None, alpha: float
) -> Outlook:
    test = one.test
    if test is None:
        told = one.before is not None and one.after is not None
        return "cannot_tell" if told else "not_comparable"
    return outlook(one.change, test.ci, p, better, margin, alpha, test.leans)


def _needed(one: Change, better: Better, margin: float | None, levels: Levels) -> int | None:
    """Units that would decide, if the change stayed what it is: its sign, or its margin.

    More than there are, for these do not; and no fewer than a test that goes in steps can use.
    """
    if not one.sd or one.change is None or one.test is None:
        return None
    if margin:
        gain = one.change if better == "higher" else -one.change
        enough = needed_for_margin(one.sd, margin, gain, alpha=levels.interval)
        fewest = fewest_to_rule_out(one.n, margin, levels.interval) if one.flips else one.n + 1
    else:
        enough = needed(one.sd, abs(one.change), alpha=levels.test) if one.change else None
        fewest = fewest_to_find(one.n, one.n - one.test.n_zero, levels.test)
    return None if enough is None else max(enough, fewest)
