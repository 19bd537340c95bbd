"""What the templates of the stability page ask for; each part is made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from ragauge.contracts.report import Advice, Score
from ragauge.contracts.stability import FactorEffect, QuestionStability, Shown, StabilityReport
from ragauge.errors import UsageError
from ragauge.reports import numbers
from ragauge.reports.page_view import PageView, marked_beside
from ragauge.reports.stability import story
from ragauge.reports.stability.drawing import CLASSES, draw
from ragauge.reports.stability.gates import Gate, gates_of
from ragauge.reports.stability.heat import right_of
from ragauge.reports.stability.heat_shapes import Drawing
from ragauge.reports.stability.runs import Marked, outcome, variation_words

QUESTIONS_SHOWN = 200
"""A page with more would be slow to scroll."""


class Run(Struct, frozen=True):
    """A run as it is shown beside another, with what differs marked."""

    cell: str
    kind: str
    outcome: str
    variation: str
    run_id: str
    asked: Marked
    said: Marked
    failed: bool
    cited: tuple[tuple[str, bool], ...]


class Number(Struct, frozen=True):
    name: str
    meaning: str
    value: float | None
    ci: tuple[float, float] | None
    reason: str


class Question(Struct, frozen=True):
    """A question with all that is known of it."""

    rank: int
    """Its place among all questions, the worst first, and its address on the page."""
    qid: str
    verdict: str
    verdict_name: str
    right: str
    one: QuestionStability
    numbers: tuple[Number, ...]
    factors: tuple[tuple[str, FactorEffect], ...]
    runs: tuple[Run, ...]


class View(PageView[StabilityReport]):
    """A stability report, as the page tells it."""

    kind = "stability"
    parts = (
        "verdict",
        "heatmap",
        "gates",
        "questions",
        "question",
        "factors",
        "advice",
        "metrics",
        "findings",
        "coverage",
    )
    metrics_title = "Means over questions"

    def chosen(self, qid: str | None = None) -> dict[str, Any]:
        """What a template is given besides the view: the question that was asked for."""
        if qid is None:
            return {}
        if qid not in self.report.details:
            raise UsageError(f'the report has no question "{qid}"')
        return {"question": self._question(qid)}

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The questions, the worst first, with their ranks."""
        return {qid: rank for rank, qid in enumerate(story.ranked(self.report), 1)}

    @cached_property
    def shown(self) -> dict[str, int]:
        """The questions that the page shows, with their ranks."""
        return {qid: self.ranks[qid] for qid in story.most_telling(self.report, QUESTIONS_SHOWN)}

    @property
    def headline(self) -> tuple[str, str]:
        return story.verdict_words(self.report)

    @property
    def beside(self) -> str:
        return story.cost_words(self.report.coverage)

    @property
    def shares(self) -> list[tuple[str, str, int]]:
        """The verdicts that occur: how each is drawn, its name, and its questions."""
        return [
            (verdict, story.verdict_name(verdict), times)
            for verdict, times in story.verdict_counts(self.report)
        ]

    @property
    def gates(self) -> list[Gate]:
        return gates_of(self.report)

    @property
    def metrics(self) -> list[tuple[str, str, Score]]:
        means = story.means(self.report)
        return [(name, story.meaning(name), score) for name, score in means]

    @cached_property
    def heatmap(self) -> Drawing | None:
        drawable = self.report.cells and self.report.columns
        return draw(self.report, self.shown) if drawable else None

    @property
    def heatmap_words(self) -> str:
        """The heat map in a sentence, for who cannot see it."""
        runs = numbers.counted(len(self.report.columns), "run")
        questions = numbers.counted(len(self.report.details), "question")
        return f"Heat map of {questions} by {runs}: {self.words}"

    @cached_property
    def questions(self) -> list[Question]:
        """The most telling of them; `left_out` says how many there are besides."""
        return [self._question(qid) for qid in self.shown]

    @cached_property
    def opened(self) -> int | None:
        """The rank of the question that stands open: the worst with two runs to compare."""
        details = self.report.details
        bad = [qid for qid in self.shown if details[qid].verdict not in story.NOT_UNSTABLE]
        telling = [qid for qid in bad if len(details[qid].examples) > 1]
        return next((self.ranks[qid] for qid in telling or bad), None)

    @property
    def left_out(self) -> int:
        return len(self.ranks) - len(self.shown) + story.left_out(self.report)

    @property
    def factors(self) -> list[tuple[str, FactorEffect]]:
        return story.factor_effects(self.report.factors)

    @property
    def noops(self) -> list[tuple[str, int]]:
        return story.noops(self.report)

    @property
    def prompts(self) -> str:
        return story.prompts_words(self.report)

    @property
    def advice(self) -> Sequence[Advice]:
        return self.report.advice

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report.coverage)

    @property
    def next_steps(self) -> list[str]:
        return list(story.next_steps(self.report))

    def _question(self, qid: str) -> Question:
        one = self.report.details[qid]
        return Question(
            rank=self.ranks[qid],
            qid=qid,
            verdict=one.verdict,
            verdict_name=story.verdict_name(one.verdict),
            right=numbers.n_of(*right_of(self.report.cells[qid])),
            one=one,
            numbers=tuple(
                Number(
                    name,
                    story.meaning_in_details(name, self.report.profile),
                    getattr(one, name),
                    one.ci.get(name),
                    one.reasons.get(name, ""),
                )
                for name in story.NUMBERS
            ),
            factors=tuple(story.factor_effects(one.factors)),
            runs=self._runs(one),
        )

    def _runs(self, one: QuestionStability) -> tuple[Run, ...]:
        """The runs worth a look: the first beside the second, each other beside the first."""
        shown = one.examples
        others = [shown[min(1, len(shown) - 1)], *(shown[:1] * (len(shown) - 1))] if shown else []
        return tuple(self._run(run, other) for run, other in zip(shown, others, strict=True))

    def _run(self, run: Shown, other: Shown) -> Run:
        return Run(
            cell=run.cell,
            kind=CLASSES.get(run.cell, "some"),
            outcome=outcome(run.cell),
            variation=variation_words(run.variation, self.report.columns),
            run_id=run.run_id,
            asked=marked_beside(run.question_sent or "", other.question_sent or ""),
            said=marked_beside(run.error or run.claim, other.error or other.claim),
            failed=run.error is not None,
            cited=tuple((id, id not in other.cited and run is not other) for id in run.cited),
        )
