"""Which factor goes with a question's variation: pairs of runs that differ in one factor alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from math import comb
from typing import Any, Literal

from msgspec.structs import astuple

from ragauge.contracts.run import FACTORS, Factor, QuestionRuns, RunFacts, Variation
from ragauge.contracts.stability import Explanation, FactorEffect

_PLACE = {name: place for place, name in enumerate(Variation.__struct_fields__)}

FEWEST_RUNS = 3
"""Of a level of a factor, to be named as the one that goes wrong."""

About = Literal["outcome", "citations", "wording"]

Same = Callable[[RunFacts], Hashable]

SAME: dict[About, Same] = {
    "outcome": lambda run: run.outcome,
    "citations": lambda run: (run.refused, run.cited),
    "wording": lambda run: (run.refused, run.claim),
}
"""What two runs agree in, from what matters most to what matters least."""


def same_output(run: RunFacts) -> Hashable:
    """All that a run said."""
    return run.refused, run.claim, run.cited


def effects(runs: Sequence[RunFacts], same: Same = SAME["outcome"]) -> dict[str, FactorEffect]:
    """Each factor's pairs of runs that differ in it alone, and how many of them disagree.

    >>> runs = [RunFacts(Variation(jitter=j, seed=s), False, j == "none", True, None)
    ...         for j in ("none", "ws") for s in (0, 1)]
    >>> found = effects(runs)
    >>> (found["jitter"].differ, found["jitter"].pairs), found["seed"].differ
    ((2, 2), 0)
    """
    varied = [astuple(run.variation) for run in runs]
    said = [same(run) for run in runs]
    return {factor: _effect_of(_PLACE[factor], varied, said) for factor in FACTORS}


def _effect_of(place: int, varied: list[tuple[Any, ...]], said: list[Hashable]) -> FactorEffect:
    """The effect of the factor at a place of the variations."""
    if len({variation[place] for variation in varied}) < 2:
        return effect(0, 0)
    alike: defaultdict[Any, list[Hashable]] = defaultdict(list)
    for variation, output in zip(varied, said, strict=True):
        alike[variation[:place] + variation[place + 1 :]].append(output)
    pairs = agree = 0
    for outputs in alike.values():
        pairs += comb(len(outputs), 2)
        agree += sum(comb(times, 2) for times in Counter(outputs).values())
    return effect(pairs, pairs - agree)


def effect(pairs: int, differ: int) -> FactorEffect:
    rate = round(differ / pairs, 4) if pairs else None
    return FactorEffect(pairs=pairs, differ=differ, rate=rate)


def explained(question: QuestionRuns) -> Explanation | None:
    """The factor that goes most with what varies; None where nothing varies.

    The outcome is looked at first; where it is the same in every run, the citations, then the
    wording.
    """
    for about, same in SAME.items():
        found = effects(question.runs, same)
        factor = max(FACTORS, key=lambda name: (found[name].rate or 0.0, -FACTORS.index(name)))
        if found[factor].differ:
            return Explanation(
                factor=factor,
                about=about,
                rate=found[factor].rate or 0.0,
                words=_words(question, factor, found[factor], about),
            )
    return None


def _words(question: QuestionRuns, factor: Factor, found: FactorEffect, about: About) -> str:
    what = {"outcome": "outcomes", "citations": "citations", "wording": "claims"}[about]
    pairs = (
        f"{found.differ:,} of {found.pairs:,} pairs of runs that differ in {factor} alone "
        f"have different {what}"
    )
    worst = _worst_level(question, factor) if about == "outcome" else None
    return f"{pairs}; {worst}" if worst else pairs


def _worst_level(question: QuestionRuns, factor: Factor) -> str | None:
    """The level of a factor with the smallest share of right runs, beside the others.

    None where no level stands out, or none has enough runs to say so.
    """
    right: Counter[Any] = Counter()
    runs: Counter[Any] = Counter()
    for run in question.runs:
        level = getattr(run.variation, factor)
        runs[level] += 1
        right[level] += question.right(run) and run.echoed is not False
    known = [level for level, times in runs.items() if times >= FEWEST_RUNS]
    if not known:
        return None
    low = min(known, key=lambda level: (right[level] / runs[level], str(level)))
    others, of = right.total() - right[low], runs.total() - runs[low]
    if not of or others / of == right[low] / runs[low]:
        return None
    told = f"is right in {right[low]:,} of {runs[low]:,}, the others in {others:,} of {of:,}"
    return f"{factor} {low} {told}"
