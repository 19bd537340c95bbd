"""Which tabs a run has: by the kind of its report, and by what is in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport
from ragauge.dashboard.pages import (
    run_components,
    run_diagnosis,
    run_heat,
    run_overview,
    run_quality,
    run_questions,
    run_traceability,
)
from ragauge.dashboard.pages.opened_run import QUESTIONS, OpenedRun, TabView
from ragauge.reports.kinds import eval_all

OVERVIEW = "overview"
UNITS = {
    "ner": "Documents",
    "types": "Items",
    "linking": "Mentions",
}
"""What the units of a task are called; of other runs they are questions."""


class Tab(Struct, frozen=True):
    """A part of a run's page."""

    name: str
    title: str
    view: Callable[[OpenedRun], TabView]
    count: int | None = None

    @property
    def address(self) -> str:
        """Its name in an address; the overview needs none."""
        return "" if self.name == OVERVIEW else self.name


def tabs(opened: OpenedRun) -> list[Tab]:
    """The tabs of a run, in the order a reader goes through them."""
    found = [Tab(OVERVIEW, "Overview", run_overview.view), *_of_its_kind(opened)]
    if opened.run.record.units:
        found.append(Tab(QUESTIONS, _units(opened), run_questions.view, opened.run.record.units))
    if opened.report is not None:
        found.append(Tab("diagnosis", "Diagnosis", run_diagnosis.view))
    return found


def _of_its_kind(opened: OpenedRun) -> list[Tab]:
    match opened.kind:
        case "score":
            return [Tab("quality", "Quality", run_quality.view)]
        case "stability":
            return [Tab("heatmap", "Heat map", run_heat.view)]
        case "audit" | "trace_eval":
            return [Tab("traceability", "Traceability", run_traceability.view)]
        case "evaluation":
            return _of_an_evaluation(opened.report)
        case "eval_all":
            return [
                Tab(name, eval_all.title(name), partial(run_components.task_view, task=name))
                for name, _ in eval_all.tasks(opened.report)
            ]
        case _:
            return []


def _of_an_evaluation(report: EvalReport) -> list[Tab]:
    found = [Tab("components", "Components", run_components.view)]
    errors = run_components.errors_total(report)
    if errors:
        found.append(Tab("errors", "Errors", run_components.errors_view, errors))
    if run_components.has_answers(report):
        found.append(Tab("support", "Support", run_components.answers_view))
    return found


def _units(opened: OpenedRun) -> str:
    if opened.kind == "eval_all":
        return "Units"
    task = getattr(opened.report, "task", "")
    return UNITS.get(task, "Questions")
