"""What the templates of the score page ask for; each part is made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragauge.contracts.report import Advice, Score
from ragauge.contracts.score import Change, Comparison, QuestionRow, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.foreign import cut
from ragauge.reports.page_view import PageView
from ragauge.reports.score import story

QUESTIONS_SHOWN = 200
LONGEST = 1_000
"""Characters of a claim: a longer one is cut."""

KINDS = {
    "OK": "ok",
    "REFUSAL_OK": "refusal_ok",
    "HALLUCINATION": "hallucination",
    "ANS_NO_HIT": "no_hit",
    "OVER_REFUSAL": "over_refusal",
    "REFUSAL_MALFORMED": "malformed",
    "ERROR": "error",
    "MISSING": "missing",
}
"""How each label is drawn; any other is drawn as one."""


class View(PageView[ScoreReport]):
    """A score report, as the page tells it."""

    kind = "score"
    parts = (
        "verdict",
        "bounds",
        "advice",
        "slices",
        "wrong",
        "baseline",
        "metrics",
        "findings",
        "coverage",
    )

    def __init__(self, report: ScoreReport) -> None:
        super().__init__(report)
        self.names = story.metric_names(report)

    @property
    def headline(self) -> tuple[str, str]:
        return story.verdict_words(self.report)

    @property
    def shares(self) -> list[tuple[str, str, int]]:
        """The labels that occur: how each is drawn, its name, and its questions."""
        return [
            (KINDS.get(label, "other"), label, times)
            for label, times in story.labels_in_order(self.report)
        ]

    @property
    def refusals(self) -> str | None:
        return story.refusal_words(self.report)

    @property
    def bounds(self) -> list[tuple[Verdict, str, str, str, str]]:
        return envelope.bounds(self.report.gates, self.report.metrics, self.names)

    @property
    def interval_title(self) -> str:
        return envelope.interval_title(self.report.gates)

    @property
    def metrics_title(self) -> str:
        return "Other metrics" if self.report.gates else "Metrics"

    @property
    def metrics(self) -> list[tuple[str, str, Score]]:
        return [(self.names[id], "", score) for id, score in story.other_metrics(self.report)]

    @property
    def slices(self) -> list[story.Slice]:
        return story.slices(self.report)

    @property
    def advice(self) -> Sequence[Advice]:
        return self.report.advice

    @property
    def wrong(self) -> list[tuple[QuestionRow, str]]:
        """Questions that went wrong, with how each label is drawn."""
        rows = story.wrong_questions(self.report, QUESTIONS_SHOWN)
        return [(row, KINDS.get(row.label, "other")) for row in rows]

    @property
    def left_out(self) -> int:
        """Questions that went wrong and are not shown."""
        return len(story.wrong_questions(self.report)) - len(self.wrong)

    @property
    def baseline(self) -> Comparison | None:
        return self.report.baseline

    @property
    def baseline_words(self) -> str:
        compared = self.report.baseline
        return story.baseline_words(self.report, compared) if compared else ""

    @property
    def changes(self) -> list[tuple[str, Change, str]]:
        """Each metric that both runs have: its name, its change, and whether it is better."""
        compared = self.report.baseline.metrics if self.report.baseline else {}
        return [
            (self.names[id], change, story.direction(id, change)) for id, change in compared.items()
        ]

    @property
    def changed_labels(self) -> list[Any]:
        compared = self.report.baseline
        return story.changed_labels(compared)[:QUESTIONS_SHOWN] if compared else []

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report.coverage)

    @staticmethod
    def said(row: QuestionRow) -> str:
        """What was claimed, or why there is no claim."""
        return cut(row.claim or row.reason or "", LONGEST)
