"""What every evaluation of a component can be asked, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.evaluation import Task
from ragauge.contracts.metric import Reads
from ragauge.contracts.options import EvalOptions
from ragauge.contracts.report import Rule
from ragauge.gates.presets import component_rules
from ragauge.ingest.fields import allowed_bad, refuse
from ragauge.metrics.table import find

READS: dict[Task, Reads] = {
    "ner": "entities",
    "types": "labels",
    "linking": "links",
    "retrieval": "ranking",
    "qa": "answers",
    "answers": "answers",
}


def rules_for(task: Task, options: EvalOptions) -> tuple[Rule, ...]:
    """The gates of a task, before anything is read: a wrong rule is told at once."""
    return component_rules(
        task,
        options.preset,
        options.gates,
        lambda name: find(name, READS[task]),
        judged=options.endpoint is not None,
    )


def refuse_bad(problems: Sequence[str], records: int, options: EvalOptions) -> None:
    """Raise InputRejected with what is wrong, where it is more than the user accepts."""
    if len(problems) > allowed_bad(options.max_bad)(records + len(problems)):
        refuse(problems)
