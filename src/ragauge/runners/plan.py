"""The plan of a sweep: which runs a gold set and a grid come to."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from ragauge.contracts.gold import Gold
from ragauge.contracts.run import Grid, PlannedRun, QuestionPlan, Variation
from ragauge.errors import UsageError
from ragauge.text.jitters import jittered


def check_grid(grid: Grid) -> None:
    """Raise UsageError with all that is wrong with a grid."""
    problems = [
        f"{name}: {', '.join(map(str, twice))} stands twice; --repeats asks again"
        for name in ("seeds", "temperatures", "jitters", "paraphrases")
        if (twice := _twice(getattr(grid, name)))
    ]
    problems += [
        f"{name}: is empty"
        for name in ("seeds", "temperatures", "jitters", "paraphrases")
        if not getattr(grid, name)
    ]
    if not all(0 <= t < math.inf for t in grid.temperatures):
        problems.append("temperatures: expected finite numbers, 0 or more")
    if grid.repeats < 1:
        problems.append(f"repeats: expected 1 or more, got {grid.repeats}")
    for jitter in grid.jitters:
        try:
            jittered("", jitter, profile=grid.profile)
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)


def _twice(values: Sequence[Any]) -> list[Any]:
    return sorted({value for value in values if values.count(value) > 1})


def planned_runs(gold: Gold, grid: Grid) -> Iterator[PlannedRun]:
    """The runs of a question, in the grid's order."""
    prompts, _ = _prompts(gold, grid)
    for (paraphrase, jitter), text in prompts.items():
        for variation in _variations(grid, paraphrase, jitter):
            yield PlannedRun(gold.qid, variation, text)


def question_plan(gold: Gold, grid: Grid) -> QuestionPlan:
    """What the question's runs come to, and what of the grid is left out."""
    prompts, noop = _prompts(gold, grid)
    each = len(grid.seeds) * len(grid.temperatures) * grid.repeats
    worded = {place for place, _ in prompts}
    return QuestionPlan(
        runs=len(prompts) * each,
        prompts=len(set(prompts.values())),
        noop={jitter: tuple(places) for jitter, places in noop.items()},
        unworded=tuple(place for place in grid.paraphrases if place not in worded),
    )


def variations_of(plan: QuestionPlan, grid: Grid) -> Iterator[Variation]:
    """The variations of a question as its plan recorded them, in the grid's order."""
    for paraphrase, jitter in product(grid.paraphrases, grid.jitters):
        if paraphrase not in plan.unworded and paraphrase not in plan.noop.get(jitter, ()):
            yield from _variations(grid, paraphrase, jitter)


def columns_of(grid: Grid) -> tuple[Variation, ...]:
    """Every variation of the grid: the columns of the heat map."""
    return tuple(
        variation
        for paraphrase, jitter in product(grid.paraphrases, grid.jitters)
        for variation in _variations(grid, paraphrase, jitter)
    )


def shuffled(qid: str, variations: list[Variation]) -> list[Variation]:
    """The variations in an order that looks random and is always the same for the question.

    A sweep that may stop early must not see all of one jitter first.
    """
    return sorted(variations, key=lambda v: hashlib.sha256(f"{qid}#{v}".encode()).digest())


def _variations(grid: Grid, paraphrase: int, jitter: str) -> Iterator[Variation]:
    for temperature, seed, repeat in product(grid.temperatures, grid.seeds, range(grid.repeats)):
        yield Variation(paraphrase, jitter, temperature, seed, repeat)


def _prompts(gold: Gold, grid: Grid) -> tuple[dict[tuple[int, str], str], dict[str, list[int]]]:
    """Each distinct text to send, by wording and jitter; and the jitters that gave none.

    A jitter that leaves a wording as it is, or makes of it what another made already, would only
    repeat a run under another name.
    """
    prompts: dict[tuple[int, str], str] = {}
    noop: dict[str, list[int]] = {}
    sent: set[str] = set()
    wordings = (gold.question, *gold.paraphrases)
    language = gold.strata.get("language")
    for place, jitter in product(grid.paraphrases, grid.jitters):
        if place >= len(wordings):
            continue
        told = language if isinstance(language, str) else None
        text = jittered(wordings[place], jitter, language=told, profile=grid.profile)
        # Asked for without its plain form, a jitter that does nothing is still a no-op.
        plain = wordings[place] if jitter != "none" else None
        if text in sent or text == plain:
            noop.setdefault(jitter, []).append(place)
        else:
            prompts[place, jitter] = text
            sent.add(text)
    return prompts, noop
