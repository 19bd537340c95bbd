"""The verdict on a comparison: better, worse, not worse, or cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.contracts.comparison import Correction, Outlook
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

    It is better or worse if the corrected probability is below alpha. With a margin, the loss the
    user accepts, it is not worse if the complete interval of the mean is inside the margin, even
    if a small loss is real. And it is worse only if the measured loss exceeds the margin: if only
    the interval does, the verdict is uncertain. `leans` is the direction of the test's own
    statistic, which may differ: a mean may rise while most of the units that differ fell.

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


Probabilities = Sequence[float | None]


def holm(ps: Probabilities) -> list[float | None]:
    """Each probability at the level of the whole family (Holm 1979).

    Rejecting those at most alpha makes any false rejection at most alpha likely, however the tests
    depend on each other. None means no test: it stays None and is not counted.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ranked = _ranked(ps)
    adjusted, highest = list(ps), 0.0
    for done, (p, place) in enumerate(ranked):
        highest = max(highest, min(1.0, (len(ranked) - done) * p))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(ps: Probabilities) -> list[float | None]:
    """Each probability as a false discovery rate (Benjamini, Hochberg).

    Of those at most alpha, on average at most that fraction is false, for tests that are
    independent or positively dependent. None stays None and is not counted.

    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    [0.03, None, 0.04, 0.04]
    """
    ranked = _ranked(ps)
    adjusted, lowest = list(ps), 1.0
    for rank, (p, place) in reversed(list(enumerate(ranked, 1))):
        lowest = min(lowest, p * (len(ranked) / rank))
        adjusted[place] = lowest
    return adjusted


def that_could_find(ps: Probabilities, least: Probabilities, alpha: float) -> list[float | None]:
    """The probabilities of the tests that could find anything; the others are None.

    A test whose clearest outcome, `least`, is not below alpha can find nothing, whatever the
    correction: counted in, it would only make the others blind (Tarone 1990). How clear an outcome
    may be follows from how many units differ, not from which way they went. None is unknown.

    >>> that_could_find([0.25, 0.03, 0.01], [0.25, 0.03, None], 0.05)
    [None, 0.03, 0.01]
    """
    return [
        None if clearest is not None and clearest >= alpha else p
        for p, clearest in zip(ps, least, strict=True)
    ]


def adjusted(ps: Probabilities, correction: Correction) -> list[float | None]:
    """The probabilities under the requested correction."""
    return CORRECTIONS[correction](ps)


def level_of(alpha: float, correction: Correction, tests: int) -> float:
    """The level that one of several tests must reach, whatever the results of the others.

    Holm and Benjamini–Hochberg require at most this of any test, and less of most.

    >>> level_of(0.05, "holm", 5), level_of(0.05, "none", 5)
    (0.01, 0.05)
    """
    return alpha if correction == "none" else alpha / max(1, tests)


def _ranked(ps: Probabilities) -> list[tuple[float, int]]:
    """The smallest first, each with its place."""
    ranked = [(p, place) for place, p in enumerate(ps) if p is not None]
    invalid = [p for p, _ in ranked if not 0 <= p <= 1]
    if invalid:
        raise ValueError(f"probabilities lie from 0 to 1, not {invalid}")
    return sorted(ranked)


CORRECTIONS: Mapping[Correction, Callable[[Probabilities], list[float | None]]] = MappingProxyType(
    {"holm": holm, "bh": benjamini_hochberg, "none": list}
)
