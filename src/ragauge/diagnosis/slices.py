"""Slices: the parts of the samples where a metric is worse than elsewhere.

Every part with one or two conditions is tested: `country=NL`, or that together with
`question_type=temporal`. A part is claimed by Fisher's exact test, one-sided, corrected for all
tested parts. With two conditions it has to be worse than everything else, and worse than the rest
of either; its p is the largest of the three, so that both conditions are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.diagnosis import Slice
from ragauge.contracts.metric import Better
from ragauge.diagnosis.features import Feature, searchable_features
from ragauge.diagnosis.limits import mean
from ragauge.stats.decision import holm, that_could_find
from ragauge.stats.exact import counted_level, fisher_log_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.intp]
    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

SHOWN = 5
ALPHA = 0.05
DEPTHS = (1, 2)
"""Conditions of a part. Each depth has its own part of alpha: pairs are so many that, corrected
together with them, a single condition would hardly ever be found."""
FEWEST = 5
"""Samples that a part must have, and the rest …"""
ONE_IN = 50
"""… and a part must be at least this fraction of all samples (one in 50)."""
SAME = 0.9
"""Slices whose wrong samples overlap this much (Jaccard) are considered the same."""
WORST_PART = 4
"""If no threshold separates the samples, the worst quarter counts as wrong."""
_LEAST_P = 1e-300
"""The smallest p: no p is 0."""
_DIGITS = 6
"""Digits in which the logarithms of p are compared: equal chances may differ in the last few."""

Conditions = tuple[tuple[int, int], ...]
"""The place of a feature, and that of one of its values: one or two of these."""


class Part(Struct, frozen=True, kw_only=True):
    """The samples that meet one or two conditions."""

    conditions: Conditions
    n: int
    wrong: int
    log_p: float
    p: float
    """After correction."""


class Samples(Struct, frozen=True):
    """What is searched: the features, and which samples went wrong."""

    features: tuple[Feature, ...]
    wrong: Flags

    def meeting(self, part: Part) -> Flags:
        """Which samples meet a part's conditions."""
        conditions = [self.features[feature].places == value for feature, value in part.conditions]
        met: Flags = np.logical_and.reduce(conditions)
        return met

    def named(self, part: Part) -> dict[str, str]:
        """A part's conditions by name."""
        conditions = ((self.features[feature], value) for feature, value in part.conditions)
        return {feature.name: feature.values[value] for feature, value in conditions}

    def by_strength(self, parts: Sequence[Part]) -> list[Part]:
        """The strongest first: by p, by the excess of wrong samples, then by name."""
        of, wrong = len(self.wrong), int(self.wrong.sum())

        def strength(part: Part) -> tuple[object, ...]:
            short_of = part.n * wrong - part.wrong * of
            return round(part.log_p, _DIGITS), short_of, tuple(self.named(part).items())

        return sorted(parts, key=strength)

    def only_wrong(self) -> Samples:
        """Only the samples that went wrong."""
        kept = (Feature(one.name, one.values, one.places[self.wrong]) for one in self.features)
        return Samples(tuple(kept), self.wrong[self.wrong])


def worst_slices(
    metric: str,
    values: Sequence[float],
    beyond: Sequence[bool] | None,
    better: Better,
    features: Sequence[Mapping[str, str]],
    *,
    alpha: float = ALPHA,
    shown: int = SHOWN,
) -> tuple[Slice, ...]:
    """The slices where more samples are beyond the threshold than elsewhere, the strongest first.

    Values, flags and features are of the same samples, those with a valid value, in any order.
    If `beyond` is None, or true for all or for none, the threshold separates nothing: then the
    samples with the worst quarter of the values count as wrong. Without a threshold a slice has 0
    of 0 beyond. Its text is left empty. If samples differ only by chance, the probability that any
    slice is claimed is at most alpha.
    """
    numbers = np.asarray(values, dtype=np.float64)
    flags = np.zeros(len(numbers), np.bool_) if beyond is None else np.asarray(beyond, np.bool_)
    if not len(numbers) == len(flags) == len(features):
        raise ValueError(
            f"{len(numbers)} values, {len(flags)} flags and the features of {len(features)} "
            "samples: give all three of the same samples"
        )
    if not np.isfinite(numbers).all():
        raise ValueError("every value must be a finite number: leave out absent ones")
    samples = Samples(searchable_features(features), _gone_wrong(numbers, flags, better))
    claimed = [part for depth in DEPTHS for part in _claimed(samples, depth, alpha)]
    chosen = _distinct(_still_worse(claimed, samples, alpha), samples, shown)
    found = []
    for part in chosen:
        met = samples.meeting(part)
        found.append(
            Slice(
                metric=metric,
                conditions=samples.named(part),
                n=part.n,
                beyond=int(flags[met].sum()),
                beyond_all=int(flags.sum()),
                value=mean(numbers[met].tolist()),
                elsewhere=mean(numbers[~met].tolist()),
                p=part.p,
                text="",
            )
        )
    return tuple(found)


def only_here(found: Slice) -> bool:
    """Whether some samples of a slice are beyond the threshold, and none elsewhere."""
    return 0 < found.beyond == found.beyond_all


def _gone_wrong(values: Floats, beyond: Flags, better: Better) -> Flags:
    """The samples beyond the threshold; if it separates nothing, the worst quarter.

    With equal values it may be more than a quarter, or less if it would be all samples. Ranks are
    not used: with many equal values the normal tail of a rank sum is far too small.
    """
    if not len(values) or (beyond.any() and not beyond.all()):
        return beyond
    badness = -values if better == "higher" else values
    cut = np.sort(badness)[-math.ceil(len(values) / WORST_PART)]
    worst: Flags = badness >= cut
    return badness > cut if worst.all() else worst


def _claimed(samples: Samples, depth: int, alpha: float) -> Iterator[Part]:
    """The parts with this many conditions that are worse than everything they are compared with.

    Parts too small to be significant are not counted (Tarone), and Holm corrects for the others.
    """
    level = alpha / len(DEPTHS)
    cells = [
        _cells(samples, chosen) for chosen in combinations(range(len(samples.features)), depth)
    ]
    if not cells:
        return
    conditions = [one for made, _ in cells for one in made]
    n, wrong, *around = np.concatenate([table for _, table in cells]).T
    references = list(zip(around[::2], around[1::2], strict=True))
    log_p = np.max([fisher_log_p(wrong, n, all_wrong, of) for of, all_wrong in references], axis=0)
    # From the margins of all samples, which do not depend on where the wrong ones are.
    of, all_wrong = references[0]
    least = np.exp(fisher_log_p(np.minimum(n, all_wrong), n, all_wrong, of))
    ps = np.maximum(np.exp(log_p), _LEAST_P).tolist()
    counted = that_could_find(ps, least.tolist(), counted_level(least, level))
    for at, p in enumerate(holm(counted)):
        if p is not None and p <= level:
            yield Part(
                conditions=conditions[at],
                n=int(n[at]),
                wrong=int(wrong[at]),
                log_p=float(log_p[at]),
                p=p * len(DEPTHS),
            )


def _cells(samples: Samples, chosen: tuple[int, ...]) -> tuple[list[Conditions], Counts]:
    """The parts by the values of these features that have enough samples.

    A row of the table has a part's samples and its wrong ones, then the same two numbers for all
    samples and, with two conditions, for those that meet the first and the second.
    """
    of = len(samples.wrong)
    columns = [samples.features[at] for at in chosen]
    shape = tuple(len(one.values) + 1 for one in columns)
    joint = np.ravel_multi_index(tuple(one.places for one in columns), shape)
    n, wrong = (
        np.bincount(places, minlength=math.prod(shape)).reshape(shape)
        for places in (joint, joint[samples.wrong])
    )
    with_values = tuple(slice(size - 1) for size in shape)
    enough = (n >= max(FEWEST, math.ceil(of / ONE_IN))) & (n <= of - FEWEST)
    places = np.nonzero(enough[with_values])
    totals = [n, wrong, n.sum(), wrong.sum()]
    if len(shape) > 1:
        totals += [one.sum(axis=axis, keepdims=True) for axis in (1, 0) for one in (n, wrong)]
    table = np.stack([np.broadcast_to(one, shape)[places] for one in totals], axis=1)
    values = zip(*(place.tolist() for place in places), strict=True)
    return [tuple(zip(chosen, each, strict=True)) for each in values], table


def _still_worse(claimed: Sequence[Part], samples: Samples, alpha: float) -> list[Part]:
    """The parts, without those that are worse only because of the claimed pairs within them.

    Without the pairs, the rest of such a part is no longer worse than the samples outside it, by
    Fisher's test at alpha; not corrected, because the part itself has been found already.
    """
    within: dict[Conditions, list[Part]] = {}
    for part in claimed:
        for one in part.conditions if len(part.conditions) > 1 else ():
            within.setdefault((one,), []).append(part)
    return [
        part
        for part in claimed
        if part.conditions not in within
        or _log_p_without(part, within[part.conditions], samples) <= math.log(alpha)
    ]


def _log_p_without(part: Part, pairs: Sequence[Part], samples: Samples) -> float:
    """The log p that a part without the pairs is worse than the samples outside it."""
    inside = samples.meeting(part)
    outside = ~inside
    for pair in pairs:
        inside &= ~samples.meeting(pair)
    either = inside | outside
    counted = (inside & samples.wrong, inside, either & samples.wrong, either)
    return float(fisher_log_p(*(int(one.sum()) for one in counted)))


def _distinct(parts: Sequence[Part], samples: Samples, shown: int) -> list[Part]:
    """The strongest parts, one of each group with nearly the same wrong samples.

    It is the part with the fewest samples; among those of about the same size, the one with the
    fewest conditions, then the first by name.
    """
    wrong = samples.only_wrong()
    left, chosen = samples.by_strength(parts), list[Part]()
    while left and len(chosen) < shown:
        alike = _alike(left[0], left, wrong)
        fewest = min(part.n for part in alike)
        few = [part for part in alike if part.n * SAME <= fewest]
        best = min(few, key=lambda part: (len(part.conditions), *samples.named(part).items()))
        chosen.append(best)
        gone = {*alike, *_alike(best, left, wrong)}
        left = [part for part in left if part not in gone]
    return samples.by_strength(chosen)


def _alike(part: Part, others: Sequence[Part], wrong: Samples) -> list[Part]:
    """The others whose wrong samples are nearly the same as the part's."""
    own = wrong.meeting(part)
    shared = [(other, int((own & wrong.meeting(other)).sum())) for other in others]
    return [other for other, both in shared if both >= SAME * (part.wrong + other.wrong - both)]
