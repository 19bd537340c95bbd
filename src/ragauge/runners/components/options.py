"""What every evaluation of a component can be asked, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ragauge.contracts.evaluation import Task
from ragauge.contracts.metric import Reads
from ragauge.contracts.report import Rule
from ragauge.errors import SHOWN, InputRejected
from ragauge.gates.presets import component_rules
from ragauge.gates.rules import MIN_COVERAGE
from ragauge.metrics.table import find
from ragauge.runners.observations import allowed_bad
from ragauge.runners.options import File

READS: dict[Task, Reads] = {
    "ner": "entities",
    "types": "labels",
    "linking": "links",
    "retrieval": "ranking",
    "qa": "answers",
    "answers": "answers",
}


class EvalOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every evaluation of a component can be asked; each task adds its own."""

    preset: str | None = None
    gates: str | None = None
    by: tuple[str, ...] = ()
    """The strata to show; all there are, where none is named."""
    strata: File | None = None
    """A table of strata by unit id, for formats that hold none."""
    intervals: bool = True
    max_bad: str = "0"
    input_format: str | None = None
    min_coverage: Annotated[float, Meta(ge=0, le=1)] = MIN_COVERAGE
    """Of the units that should have a value, the fraction a gate needs to decide."""

    @property
    def endpoint(self) -> str | None:
        """The URL of the judge that is called; only evaluations of answers can have one."""
        return None


def rules_for(task: Task, options: EvalOptions) -> tuple[Rule, ...]:
    """The gates of a task, before anything is read: a wrong rule is told at once."""
    return component_rules(
        task,
        options.preset,
        options.gates,
        lambda name: find(name, READS[task]),
        judged=options.endpoint is not None,
    )


def refuse(problems: Sequence[str]) -> None:
    """Raise InputRejected with what is wrong, where anything is."""
    if problems:
        raise InputRejected(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))


def refuse_bad(problems: Sequence[str], records: int, options: EvalOptions) -> None:
    """Raise InputRejected with what is wrong, where it is more than the user accepts."""
    if len(problems) > allowed_bad(options.max_bad)(records + len(problems)):
        refuse(problems)
