"""What the templates of the page of all components ask for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.eval_all import story
from ragauge.reports.evaluation import view as one_task
from ragauge.reports.evaluation.tables import Table
from ragauge.reports.page_view import PageView


class TaskShown(Struct, frozen=True):
    """A task with all that its own page has."""

    name: str
    title: str
    view: one_task.View


class View(PageView[EvalAllReport]):
    """The evaluation of all components, as the page tells it."""

    kind = "eval all"
    parts = (
        "verdict",
        "eval_summary",
        "bounds",
        "metrics",
        "eval_tasks",
        "findings",
        "coverage",
    )
    shares: Sequence[tuple[str, str, int]] = ()
    metrics_title = "Other numbers"

    @property
    def headline(self) -> tuple[str, str]:
        return story.verdict_words(self.report)

    @property
    def beside(self) -> str:
        return story.model_words(self.report)

    @property
    def summary(self) -> list[Table]:
        """The numbers, and the tasks that could not be finished."""
        numbers = story.summary(self.report)
        if any(row.mark is not None for row in numbers.rows):
            numbers = structs.replace(numbers, about="the mark on a bar is the bound of its gate")
        tables = (numbers, story.failures(self.report))
        return [table for table in tables if table is not None]

    @property
    def tasks(self) -> list[TaskShown]:
        return [
            TaskShown(name, story.title(name), one_task.View(one))
            for name, one in story.tasks(self.report)
        ]

    @property
    def bounds(self) -> list[tuple[Verdict, str, str, str, str]]:
        names = story.metric_names(self.report)
        return envelope.bounds(story.gates_told(self.report), self.report.metrics, names)

    @property
    def interval_title(self) -> str:
        return envelope.interval_title(self.report.gates)

    @property
    def metrics(self) -> list[tuple[str, str, Score]]:
        return [(id, "", score) for id, score in story.other_metrics(self.report)]

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report)
