"""The plan of a sweep: which runs a gold set and a grid come to."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.options import Adaptive, SweepOptions
from ragauge.contracts.report import Rule
from ragauge.contracts.run import PLAN_SCHEMA, Grid, PlannedRun, QuestionPlan, SweepPlan, Variation
from ragauge.errors import UsageError
from ragauge.gates.stability import rules_of
from ragauge.ingest.lines import STDIN
from ragauge.jitters import jittered
from ragauge.metrics.table import find
from ragauge.stats.exact import ALPHA

_CHANGED = {
    "gold": "the gold set",
    "grid": "the grid of seeds, temperatures, jitters and paraphrases",
    "system": "the system under test",
    "knobs": "the knobs",
    "stopping": "the rule for stopping early",
    "prompts": "the rewordings",
    "limit": "--limit",
}
ANOTHER = "give another --out, or --restart to set these runs aside"


def check_grid(grid: Grid) -> None:
    """Raise UsageError with all that is wrong with a grid."""
    names = ("seeds", "temperatures", "jitters", "paraphrases")
    lists = {name: getattr(grid, name) for name in names}
    problems = [
        f"{name}: {', '.join(map(str, twice))} stands twice; --repeats asks again"
        for name, values in lists.items()
        if (twice := sorted({value for value in values if values.count(value) > 1}))
    ]
    problems += [f"{name}: is empty" for name, values in lists.items() if not values]
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


def sweep_plan(gold: list[Gold], system: dict[str, Any], options: SweepOptions) -> SweepPlan:
    """What a sweep sets out to do; raises UsageError where that makes no sense."""
    rules = stopping_rules(options)
    grid, adaptive = options.grid, options.adaptive
    asked = gold[: options.limit]
    questions = {question.qid: question_plan(question, grid) for question in asked}
    if not any(question.runs for question in questions.values()):
        raise UsageError(
            "nothing to ask: no question has the wordings asked for; the gold set may lack "
            "paraphrases, or no jitter asked for changes anything"
        )
    parts = {
        "gold": fingerprint(gold),
        "grid": _hash(grid),
        "system": _hash(system),
        "knobs": _hash(options.knobs),
        "stopping": _hash([adaptive, *map(str, rules)] if adaptive else []),
        "prompts": _hash([[run.question_sent for run in planned_runs(q, grid)] for q in asked]),
    }
    limit = len(asked) if len(asked) < len(gold) else None
    if limit is not None:
        parts["limit"] = _hash(limit)
    return SweepPlan(
        fingerprint=_hash(parts),
        parts=parts,
        grid=grid,
        system=system,
        knobs=options.knobs,
        adaptive=adaptive,
        rules=tuple(map(str, rules)) if adaptive else (),
        alpha=ALPHA if adaptive == "anytime" else None,
        questions=questions,
        limit=limit,
    )


def stopping_rules(options: SweepOptions) -> tuple[Rule, ...]:
    """The gates a question is judged by while its runs come in."""
    return rules_of(options.profile, options.gates, lambda name: find(name, "runs"))


def _hash(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def plan_path(out: Path) -> Path:
    """Where a journal's plan stands: beside it."""
    return out.with_name(out.name + ".plan.json")


def read_plan(out: Path, remedy: str) -> SweepPlan:
    """The plan of a journal; raises UsageError with what is wrong and the remedy."""
    path = plan_path(out)
    try:
        plan = msgspec.json.decode(path.read_bytes(), type=SweepPlan)
    except (OSError, msgspec.MsgspecError) as error:
        fact = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"{out}: holds runs, but its plan {path.name} cannot be read ({fact}); {remedy}"
        ) from error
    if plan.schema != PLAN_SCHEMA:
        raise UsageError(f"{path}: is a {plan.schema}, not a {PLAN_SCHEMA}; {remedy}")
    return plan


def refuse_another(out: Path, plan: SweepPlan) -> None:
    """Raise UsageError where a journal holds the runs of another sweep than this plan's."""
    before = read_plan(out, ANOTHER)
    if before.fingerprint == plan.fingerprint:
        return
    changed = [
        _CHANGED.get(part, part)
        for part in sorted(plan.parts.keys() | before.parts.keys())
        if before.parts.get(part) != plan.parts.get(part)
    ]
    raise UsageError(
        f"{out}: holds runs of another sweep: changed since: "
        f"{', '.join(changed) or 'what its plan says of itself'}; {ANOTHER}"
    )


class Planned(Struct, frozen=True):
    """What sweeps planned for a question."""

    variations: tuple[Variation, ...]
    """In the order the runs were to be made."""
    noop: tuple[str, ...]


class Plans:
    """The plans of one or more journals, taken together."""

    def __init__(self, plans: Sequence[SweepPlan]) -> None:
        self.each = plans
        modes = {plan.adaptive for plan in plans}
        self.adaptive: Adaptive | None = modes.pop() if len(modes) == 1 else None
        """How runs were left out; only where all the sweeps did it alike."""
        self.alpha = max((plan.alpha or ALPHA for plan in plans), default=ALPHA)

    @classmethod
    def beside(cls, names: Sequence[str]) -> Plans:
        """The plans that stand beside these journals."""
        remedy = "mend it, or move it away and score the runs without a plan"
        journals = [Path(name) for name in names if name != STDIN]
        there = [journal for journal in journals if plan_path(journal).is_file()]
        return cls([read_plan(journal, remedy) for journal in there])

    @property
    def limit(self) -> int | None:
        """Only the first so many questions were to be asked; None where all were."""
        limits = [plan.limit for plan in self.each]
        known = [limit for limit in limits if limit is not None]
        return max(known) if known and len(known) == len(limits) else None

    def __bool__(self) -> bool:
        return bool(self.each)

    def columns(self) -> tuple[Variation, ...]:
        return tuple(dict.fromkeys(v for plan in self.each for v in columns_of(plan.grid)))

    def planned(self, qid: str) -> Planned | None:
        """What was planned for a question; None where no plan knows it."""
        plans = [plan for plan in self.each if qid in plan.questions]
        if not plans:
            return None
        variations = list(
            dict.fromkeys(
                v for plan in plans for v in variations_of(plan.questions[qid], plan.grid)
            )
        )
        noop = dict.fromkeys(jitter for plan in plans for jitter in plan.questions[qid].noop)
        ordered = shuffled(qid, variations) if self.adaptive else variations
        return Planned(tuple(ordered), tuple(noop))
