"""Changes judged together: adjusted for how many there are, and put into a word."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from ragauge.contracts.comparison import Compared, Correction, Outlook
from ragauge.contracts.history import RecordedMetric
from ragauge.contracts.metric import Better
from ragauge.runners.metric_change import Change
from ragauge.stats.decision import adjusted, gain, level_of, outlook, that_could_find
from ragauge.stats.differences import Paired
from ragauge.stats.intervals import Interval
from ragauge.stats.power import (
    fewest_to_find,
    fewest_to_rule_out,
    needed,
    needed_for_margin,
    smallest_seen,
)

BEYOND = "a loss, but whether it is beyond the margin cannot be told"


class Judging(Struct, frozen=True, kw_only=True):
    """What a member of a family is judged by."""

    better: Better
    margin: float | None
    p: float | None
    """Corrected."""
    tested: bool
    alpha: float
    level: float
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
    least = [one.test.least_p if one.test else None for one, _, _ in family]
    ps = that_could_find([one.p for one, _, _ in family], least, alpha)
    tests = len(ps) - ps.count(None)
    return [
        _compared(
            one,
            Judging(
                better=better,
                margin=margin,
                p=one.p if p is None else p,
                tested=p is not None,
                alpha=alpha,
                # One that could find something would be a test more.
                level=level_of(alpha, correction, tests + (p is None)),
                interval=alpha if interval_alpha is None else interval_alpha,
            ),
        )
        for (one, better, margin), p in zip(family, adjusted(ps, correction), strict=True)
    ]


def beside(one: Change, better: Better) -> Compared:
    """A change that is told and not judged: it is in no family, and blinds no test of one."""
    return _told(one, "not_tested", better)


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
        tested=False,
        reason=reason,
    )


def _compared(one: Change, by: Judging) -> Compared:
    verdict, sd = _verdict(one, by), one.sd
    # With so small a p, a margin is all that kept the change from being called worse.
    loss = verdict == "cannot_tell" and by.margin and by.p is not None and by.p < by.alpha
    return structs.replace(
        _told(one, verdict, by.better),
        p_adjusted=by.p,
        significant=None if by.p is None else by.p < by.alpha,
        margin=by.margin,
        detectable=smallest_seen(sd, one.n, flips=one.flips, alpha=by.level) if sd else None,
        needed=_needed(one, by) if verdict == "cannot_tell" else None,
        tested=by.tested,
        reason="; ".join(filter(None, (BEYOND if loss else None, one.reason))) or None,
    )


def _told(one: Change, verdict: Outlook, better: Better) -> Compared:
    """What a change came to, before it is held against others."""
    test = one.test
    return Compared(
        verdict=verdict,
        better=better,
        before=one.before,
        after=one.after,
        change=one.change,
        ci=test.ci if test else None,
        p=one.p,
        p_adjusted=None,
        n=one.n,
        n_zero=test.n_zero if test else 0,
        method=test.method if test else "",
        seed=test.seed if test else None,
        effect=test.effect if test else None,
        margin=None,
        sd=one.sd,
        detectable=None,
        needed=None,
        tested=False,
        reason=one.reason,
        statistic=test.statistic if test else None,
    )


def _verdict(one: Change, by: Judging) -> Outlook:
    test = one.test
    if test is None or one.before is None or one.after is None:
        told = one.before is not None and one.after is not None
        return "cannot_tell" if told else "not_comparable"
    change = one.after - one.before
    return outlook(change, _of_mean(test), by.p, by.better, by.margin, by.alpha, test.leans)


def _of_mean(test: Paired) -> Interval | None:
    """The interval of the mean change, which the margin is a loss of; a median's is none."""
    return test.ci if test.ci_of == "mean" else None


def _needed(one: Change, by: Judging) -> int | None:
    """Units for the nearest decision that there would be, if the change stayed what it is.

    More than there are, for these do not decide; and no fewer than a test that goes in steps can
    use.
    """
    return min(filter(None, (_to_find(one, by), _to_rule_out(one, by))), default=None)


def _to_find(one: Change, by: Judging) -> int | None:
    """Units that would show a gain, or a loss greater than the margin."""
    if not one.sd or not one.change or one.test is None:
        return None
    way = gain(one.change, by.better)
    if way < 0 and by.margin and -way <= by.margin:
        return None
    enough = needed(one.sd, abs(one.change), alpha=by.level)
    fewest = fewest_to_find(one.n, one.n - one.test.n_zero, by.level)
    return None if enough is None else max(enough, fewest)


def _to_rule_out(one: Change, by: Judging) -> int | None:
    """Units that would show a change to be no loss past the margin."""
    if not by.margin or one.change is None or one.test is None or one.test.ci_of != "mean":
        return None
    fewest = fewest_to_rule_out(one.n, by.margin, by.interval) if one.flips else one.n + 1
    if one.flips and not one.differs:
        return fewest
    way = gain(one.change, by.better)
    enough = needed_for_margin(one.sd, by.margin, way, alpha=by.interval) if one.sd else None
    return None if enough is None else max(enough, fewest)
