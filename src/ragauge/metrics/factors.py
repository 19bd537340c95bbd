"""Which factor explains a question's variation, from pairs of runs that differ in one factor."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from math import comb
from typing import Any, Literal

from msgspec.structs import astuple

from ragauge.contracts.run import FACTORS, Factor, QuestionRuns, RunFacts, Variation
from ragauge.contracts.stability import Explanation, FactorEffect, Retrieval

_PLACE = {name: place for place, name in enumerate(Variation.__struct_fields__)}

FEWEST_RUNS = 3
"""Runs that a level of a factor needs to be named as the worst."""

RETRIEVED_THE_SAME = "every run retrieved the same ids, so the cause comes after retrieval"

About = Literal["outcome", "citations", "wording"]

Same = Callable[[RunFacts], Hashable]

SAME: dict[About, Same] = {
    "outcome": lambda run: run.outcome,
    "citations": lambda run: (run.refused, run.cited),
    "wording": lambda run: (run.refused, run.claim),
}
"""What two runs can agree in, the most important first."""


def same_output(run: RunFacts) -> Hashable:
    """Everything that a run said."""
    return run.refused, run.claim, run.cited


def effects(runs: Sequence[RunFacts], same: Same = SAME["outcome"]) -> dict[str, FactorEffect]:
    """Each factor's pairs of runs that differ only in it, and how many of them disagree.

    >>> runs = [RunFacts(Variation(jitter=j, seed=s), False, j == "none", True, None)
    ...         for j in ("none", "ws") for s in (0, 1)]
    >>> found = effects(runs)
    >>> (found["jitter"].differ, found["jitter"].pairs), found["seed"].differ
    ((2, 2), 0)
    """
    varied = [astuple(run.variation) for run in runs]
    results = [same(run) for run in runs]
    found: dict[str, FactorEffect] = {}
    for factor in FACTORS:
        place, pairs, agree = _PLACE[factor], 0, 0
        by_rest: defaultdict[Any, list[Hashable]] = defaultdict(list)
        if len({variation[place] for variation in varied}) > 1:
            for variation, output in zip(varied, results, strict=True):
                by_rest[variation[:place] + variation[place + 1 :]].append(output)
        for outputs in by_rest.values():
            pairs += comb(len(outputs), 2)
            agree += sum(comb(times, 2) for times in Counter(outputs).values())
        found[factor] = effect(pairs, pairs - agree)
    return found


def effect(pairs: int, differ: int) -> FactorEffect:
    rate = round(differ / pairs, 4) if pairs else None
    return FactorEffect(pairs=pairs, differ=differ, rate=rate)


def explain(question: QuestionRuns) -> Explanation | None:
    """The factor that best explains what varies; None if nothing varies.

    The outcome is compared first; if it is the same in every run, the citations, then the wording.
    A question that is stable at the lowest temperature and not above it is explained by the
    temperature: a single deviating run above it gives seed and temperature the same rate.
    """
    for about, same in SAME.items():
        found = effects(question.runs, same)
        factor = max(FACTORS, key=lambda name: (found[name].rate or 0.0, -FACTORS.index(name)))
        steady = _stable_when_cold(question.runs, same)
        if steady:
            factor = "temperature"
        if steady or found[factor].differ:
            what = {"outcome": "outcomes", "citations": "citations", "wording": "claims"}[about]
            of = found[factor]
            sentences = (
                f"{of.differ:,} of {of.pairs:,} pairs of runs that differ in {factor} alone "
                f"have different {what}"
                if of.pairs
                else None,
                _worst_level(question, factor) if about == "outcome" else None,
                steady,
                RETRIEVED_THE_SAME if retrieval_of(question.runs, same) == "same" else None,
            )
            return Explanation(
                factor=factor,
                about=about,
                rate=found[factor].rate or 0.0,
                words="; ".join(filter(None, sentences)),
            )
    return None


def retrieval_of(runs: Sequence[RunFacts], same: Same = SAME["outcome"]) -> Retrieval | None:
    """Whether the retrieved ids can explain why runs differ; None for fewer than two runs.

    >>> def run(seed, right, *ids):
    ...     return RunFacts(Variation(seed=seed), False, right, right, None, retrieved=ids)
    >>> retrieval_of([run(0, True, "p1", "p2"), run(1, False, "p1", "p2")])
    'same'
    >>> retrieval_of([run(0, True, "p1", "p2"), run(1, True, "p1", "p2"), run(2, False, "p3")])
    'changes'
    >>> retrieval_of([run(0, True, "p1"), run(1, False, "p1"), run(2, True, "p2")])
    'unrelated'
    """
    if len(runs) < 2:
        return None
    if any(run.retrieved is None for run in runs):
        return "unknown"
    by_ids: defaultdict[Any, Counter[Hashable]] = defaultdict(Counter)
    for run in runs:
        by_ids[run.retrieved][same(run)] += 1
    if len(by_ids) == 1:
        return "same"
    everyone = sum(by_ids.values(), Counter[Hashable]())
    pairs, differ = _pairs_of(everyone)
    within = [_pairs_of(outputs) for outputs in by_ids.values()]
    pairs_within, differ_within = sum(p for p, _ in within), sum(d for _, d in within)
    if not pairs_within:
        return "changes"
    across = (differ - differ_within) / (pairs - pairs_within)
    return "changes" if across > differ_within / pairs_within else "unrelated"


def _pairs_of(outputs: Counter[Hashable]) -> tuple[int, int]:
    """Pairs of runs, and how many of them differ."""
    pairs = comb(outputs.total(), 2)
    return pairs, pairs - sum(comb(times, 2) for times in outputs.values())


def _stable_when_cold(runs: Sequence[RunFacts], same: Same) -> str | None:
    """A sentence that runs agree at the lowest temperature only; None if they do not."""
    low = min((run.variation.temperature for run in runs), default=0.0)
    cold = [same(run) for run in runs if run.variation.temperature == low]
    warm = [same(run) for run in runs if run.variation.temperature > low]
    if len(cold) < 2 or len(set(cold)) > 1 or not set(warm) - set(cold):
        return None
    other = sum(one != cold[0] for one in warm)
    return (
        f"all {len(cold):,} runs at temperature {low:g} agree, and {other:,} of {len(warm):,} runs "
        "above it differ from them"
    )


def _worst_level(question: QuestionRuns, factor: Factor) -> str | None:
    """A sentence about the level with the smallest fraction of correct runs, and the others.

    None if no level stands out, or none has enough runs.
    """
    correct: Counter[Any] = Counter()
    runs: Counter[Any] = Counter()
    for run in question.runs:
        level = getattr(run.variation, factor)
        runs[level] += 1
        correct[level] += question.right(run) and run.echoed is not False
    known = [level for level, times in runs.items() if times >= FEWEST_RUNS]
    if not known:
        return None
    low = min(known, key=lambda level: (correct[level] / runs[level], str(level)))
    others, of = correct.total() - correct[low], runs.total() - runs[low]
    if not of or others / of == correct[low] / runs[low]:
        return None
    comparison = (
        f"is right in {correct[low]:,} of {runs[low]:,}, the others in {others:,} of {of:,}"
    )
    return f"{factor} {low} {comparison}"
