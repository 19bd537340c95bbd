"""The plans beside journals: which runs there should be, where sweeps left word of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from ragauge.contracts.run import PLAN_SCHEMA, SweepPlan, Variation
from ragauge.errors import UsageError
from ragauge.ingest.lines import STDIN
from ragauge.runners.judge import Adaptive
from ragauge.runners.plan import columns_of, shuffled, variations_of
from ragauge.stats.exact import ALPHA


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
        variations = list(dict.fromkeys(v for plan in plans for v in _variations(plan, qid)))
        noop = dict.fromkeys(jitter for plan in plans for jitter in plan.questions[qid].noop)
        ordered = shuffled(qid, variations) if self.adaptive else variations
        return Planned(tuple(ordered), tuple(noop))


def _variations(plan: SweepPlan, qid: str) -> Iterator[Variation]:
    return variations_of(plan.questions[qid], plan.grid)
