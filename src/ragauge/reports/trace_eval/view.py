"""What the templates of the trace evaluation's page ask for."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from ragauge.contracts.audit import LambdaState
from ragauge.contracts.trace_eval import TracedQuestion, TracedRun, TraceEvalReport
from ragauge.reports.audit.audited_view import AuditedView
from ragauge.reports.comment import sentence
from ragauge.reports.trace_eval import story

QUESTIONS_SHOWN = 200
"""A page with more would be slow to scroll."""
STEP = 18
"""From one run's square to the next."""
SHADES = 4

DRAWN = {
    "matched": "right",
    "unmatched": "cited",
    "code": "both",
    "uncited": "claim",
    "refusal": "refused",
    "error": "failed",
}
"""How each outcome of a run is drawn: as the heat map draws what is like it."""


class Square(Struct, frozen=True):
    """A run of a question, as it is drawn."""

    x: int
    kind: str
    title: str


class Row(Struct, frozen=True):
    """A question with its runs."""

    one: TracedQuestion
    retrieval: str
    answer: str
    matched: str
    codes: list[tuple[str, int]]
    unsure: bool
    squares: tuple[Square, ...]

    @property
    def width(self) -> int:
        return STEP * len(self.squares)


class View(AuditedView[TraceEvalReport]):
    """A trace evaluation, as the page tells it."""

    kind = "trace-eval"
    parts = (
        "verdict",
        "bounds",
        "audit_codes",
        "trace_eval_states",
        "trace_eval_at_k",
        "trace_eval_questions",
        "advice",
        "metrics",
        "findings",
        "coverage",
    )

    @property
    def headline(self) -> tuple[str, str]:
        return story.verdict_words(self.report)

    @property
    def beside(self) -> str:
        return story.recipe_words(self.report.recipe, self.report.coverage)

    @property
    def shares(self) -> list[tuple[str, str, int]]:
        """The states of answers: how each is drawn, its name, and its questions."""
        return [(one.state, one.state, one.answer) for one in self.states if one.answer]

    @property
    def codes_first(self) -> bool:
        return self.report.codes_first

    @property
    def codes_words(self) -> str:
        why = story.codes_words(self.report)
        return sentence(why) if why else "What was found, the worst first, each with the next step."

    @cached_property
    def states(self) -> list[story.States]:
        return story.states(self.report)

    @property
    def meanings(self) -> dict[LambdaState, str]:
        return story.MEANINGS

    @property
    def most(self) -> int:
        """The questions of the most frequent state: what a whole bar is."""
        return max(max(one.retrieval, one.answer) for one in self.states)

    @property
    def matrix(self) -> tuple[list[str], list[tuple[str, list[tuple[int, int]]]]]:
        """The states of answers; for each of retrieval the questions in both, with a shade."""
        columns, rows = story.matrix(self.report)
        most = max((times for _, counts in rows for times in counts), default=1)
        shaded = [
            (state, [(times, -(-SHADES * times // most)) for times in counts])
            for state, counts in rows
        ]
        return columns, shaded

    @property
    def at_k(self) -> list[list[str]]:
        return story.at_k(self.report)

    @property
    def k_heads(self) -> list[tuple[str, str]]:
        """The titles of the k sweep, the numbers to the right."""
        return [(name, "n" if place else "") for place, name in enumerate(story.K_HEADS)]

    @property
    def k_words(self) -> str:
        return story.k_words(self.report)

    @cached_property
    def questions(self) -> list[Row]:
        return [_row(one) for one in story.ranked(self.report)[:QUESTIONS_SHOWN]]

    @property
    def left_out(self) -> int:
        return len(self.report.questions) - len(self.questions)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """How the outcomes that occur are drawn, and what they are."""
        seen = story.outcomes_seen([row.one for row in self.questions])
        return [(DRAWN[name], story.OUTCOMES[name]) for name in seen]

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report)


def _row(one: TracedQuestion) -> Row:
    return Row(
        one,
        story.state_word(one.retrieval),
        story.state_word(one.answer),
        story.matched_words(one),
        story.wrong_codes(one),
        story.unsure(one),
        tuple(_square(place, run) for place, run in enumerate(one.runs)),
    )


def _square(place: int, run: TracedRun) -> Square:
    name = story.outcome(run)
    told = run.error or (run.code if name in ("code", "uncited") else " ".join(run.cited))
    words = f"{run.run_id}: {story.OUTCOMES[name]}"
    return Square(STEP * place, DRAWN[name], f"{words}: {told}" if told else words)
