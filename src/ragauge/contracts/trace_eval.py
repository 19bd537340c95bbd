"""What `ragauge trace-eval` says: the recipe's runs, audited, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from ragauge.contracts.audit import AuditFinding, CodeCount, Kind, LambdaState
from ragauge.contracts.report import Advice, RunReport, Score

TRACE_EVAL_SCHEMA = "ragauge.trace-eval/1"

Broken = Literal["retrieval", "after retrieval"]
"""Where a question's runs part: already in what is retrieved, or only in what is made of it."""


class Recipe(Struct, frozen=True, kw_only=True):
    """How every question is asked."""

    wordings: int = 3
    seeds: tuple[int, ...] = (0, 1)
    temperature: float = 0.2
    """Above 0, or a seed changes nothing in most systems."""


class TracedRun(Struct, frozen=True, kw_only=True):
    """One run of a question, as its audit saw it."""

    run_id: str
    kind: Kind
    code: str
    cited: tuple[str, ...]
    matched: bool | None
    coverage: float | None
    error: str | None = None


class TracedQuestion(Struct, frozen=True, kw_only=True):
    """A question over its runs."""

    qid: str
    question: str
    answerable: bool
    retrieval: LambdaState | None
    answer: LambdaState | None
    broken: Broken | None
    matched: int
    answered: int
    """Runs with an answer; of an answerable question, those whose match can be told."""
    coverage: float | None
    codes: dict[str, int]
    """How many of its runs have each code as their worst."""
    runs: tuple[TracedRun, ...]


class TraceEvalCoverage(Struct, frozen=True, kw_only=True):
    """What became of the planned runs."""

    questions: int
    planned: int
    runs: int
    failed: int
    missing: int
    short: int
    """Questions with too few wordings for the recipe: their λ is incomplete."""


class StatesTogether(Struct, frozen=True, kw_only=True):
    """How many questions are in one state of retrieval and one of answers."""

    retrieval: LambdaState | None
    answer: LambdaState | None
    questions: int


class OverQuestions(Struct, frozen=True, kw_only=True):
    """What is counted over all questions: a report with its list of them cut still knows it."""

    matched: int
    """Runs that match, of those that answered a question that has an answer."""
    answered: int
    together: tuple[StatesTogether, ...]

    @classmethod
    def of(cls, questions: Sequence[TracedQuestion]) -> OverQuestions:
        """The counts of these questions."""
        states = Counter((one.retrieval, one.answer) for one in questions)
        answerable = [one for one in questions if one.answerable]
        return cls(
            matched=sum(one.matched for one in answerable),
            answered=sum(one.answered for one in answerable),
            together=tuple(
                StatesTogether(retrieval=retrieval, answer=answer, questions=times)
                for (retrieval, answer), times in sorted(states.items(), key=str)
            ),
        )


class AtK(Struct, frozen=True, kw_only=True):
    """What the first k retrieved chunks would bring, over all legs of retrieval or from one."""

    k: int
    leg: str | None
    """None is all of them together."""
    chunks: float | None
    """How many chunks there are, on average: less than k where fewer were retrieved."""
    coverage: Score
    gold_recall: Score
    """Of the gold ids, those among the chunks."""
    deltaS: Score
    """Of the question and the joined chunks."""


class TraceEvalReport(RunReport, frozen=True, kw_only=True):
    """The end of a trace evaluation, versioned."""

    schema: str = TRACE_EVAL_SCHEMA
    passed: bool = field(name="pass")
    recipe: Recipe
    codes: tuple[CodeCount, ...]
    codes_first: bool
    """The match rate does not reach its target: mend the codes before any knob is turned."""
    states: dict[str, dict[str, int]]
    """`retrieval` and `answer`: how many questions are in each state of λ."""
    questions: tuple[TracedQuestion, ...]
    findings: tuple[AuditFinding, ...]
    coverage: TraceEvalCoverage
    advice: tuple[Advice, ...]
    over_questions: OverQuestions | None = None
    """None in reports of earlier versions: then the list is all there is to count."""
    at_k: tuple[AtK, ...] = ()
    """For each cut-off that was requested, all legs together, then each alone."""
    out: str

    def counted(self) -> OverQuestions:
        """What is counted over the questions, also those that a summary has cut."""
        return self.over_questions or OverQuestions.of(self.questions)

    @property
    def measured(self) -> bool:
        return bool(self.coverage.runs)
