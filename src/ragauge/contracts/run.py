"""A run: one question asked once, under one variation of what should not matter."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.gold import Refusal

Factor = Literal["seed", "temperature", "jitter", "paraphrase", "repeat"]
FACTORS: tuple[Factor, ...] = ("seed", "temperature", "jitter", "paraphrase", "repeat")

PLAN_SCHEMA = "ragauge.sweep-plan/1"

ORIGINAL = 0
"""The paraphrase number of the question as the gold set words it."""


class Variation(Struct, frozen=True, order=True):
    """What a run varies. Two runs that differ in nothing else should not differ at all."""

    paraphrase: int = ORIGINAL
    jitter: str = "none"
    temperature: float = 0.0
    seed: int = 0
    repeat: int = 0

    def __str__(self) -> str:
        text = f"seed={self.seed};t={exact(self.temperature)};j={self.jitter};p={self.paraphrase}"
        return f"{text};r={self.repeat}" if self.repeat else text


def exact(temperature: float) -> str:
    """The shortest way to write the number that loses nothing: two must not look alike.

    >>> exact(0.0), exact(0.2), exact(0.1 + 0.2)
    ('0', '0.2', '0.30000000000000004')
    """
    short = f"{temperature:g}"
    return short if float(short) == temperature else repr(temperature)


class PlannedRun(Struct, frozen=True):
    """A run before it is made."""

    qid: str
    variation: Variation
    question_sent: str

    @property
    def run_id(self) -> str:
        """
        >>> PlannedRun("q1", Variation(seed=3, temperature=0.2, jitter="ws"), "Why ?").run_id
        'q1#seed=3;t=0.2;j=ws;p=0'
        """
        return f"{self.qid}#{self.variation}"


class Grid(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The variations a sweep asks for; a question's runs are their product."""

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    temperatures: tuple[float, ...] = (0.0, 0.2)
    jitters: tuple[str, ...] = ("none", "ws", "punct", "syn", "order")
    paraphrases: tuple[int, ...] = (ORIGINAL,)
    """Numbers of the wordings to ask: 0 is the question, 1 its first paraphrase."""
    repeats: int = 1
    profile: Literal["ours", "reference"] = "ours"
    """Whose jitters."""


class QuestionPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a question's runs differ from the full grid, and why."""

    runs: int
    prompts: int
    """Distinct texts that are sent."""
    noop: dict[str, tuple[int, ...]] = {}
    """Jitters that gave no text of their own, with the wordings they left as they were."""
    unworded: tuple[int, ...] = ()
    """Paraphrases asked for that the gold set does not have."""


class SweepPlan(Struct, frozen=True, kw_only=True):
    """What a sweep set out to do: kept beside its journal, so that what is missing is known."""

    schema: str = PLAN_SCHEMA
    fingerprint: str
    """Changes with the gold set, the grid, the system or the request: then it is another sweep."""
    parts: dict[str, str]
    """The fingerprint's parts, so that it can be said which one changed."""
    grid: Grid
    system: dict[str, Any]
    knobs: dict[str, Any] = {}
    """Sent with every call."""
    adaptive: Literal["exact", "anytime"] | None = None
    rules: tuple[str, ...] = ()
    """The gates an adaptive sweep stops by: other gates would have needed other runs."""
    alpha: float | None = None
    questions: dict[str, QuestionPlan]
    limit: int | None = None
    """Only the first so many questions of the gold set are asked."""


class RunFacts(Struct, frozen=True):
    """What one finished run came to, beside the gold: all that stability is measured from."""

    variation: Variation
    refused: bool
    claim_right: bool
    """C: an answer that holds a gold phrase."""
    citations_right: bool
    """H: a gold id cited and none beyond what was retrieved; none at all where gold has none."""
    echoed: bool | None
    """An answer's locked constraints came back exactly; None where there are none."""
    claim: str = ""
    """In canonical form; empty where it refused."""
    cited: frozenset[str] = frozenset()
    said: str = ""
    """The claim as it was written; empty where it refused."""
    refusal: Refusal = "none"
    """How it refused, whatever counts as a refusal."""
    retrieved: tuple[str, ...] | None = None
    """The ids it retrieved, in their order; None where the run does not report them."""

    @property
    def outcome(self) -> tuple[bool, bool, bool, bool | None]:
        """What must not change from run to run."""
        return self.refused, self.claim_right, self.citations_right, self.echoed


class QuestionRuns(Struct, frozen=True):
    """A question with its finished runs: the unit that stability is measured on."""

    answerable: bool
    constrained: bool
    """The gold set locks sentences that each answer must echo."""
    runs: tuple[RunFacts, ...]
    planned: int
    failed: int = 0
    question: str = ""

    @property
    def answered(self) -> list[RunFacts]:
        return [run for run in self.runs if not run.refused]

    def right(self, run: RunFacts) -> bool:
        """The claim and the citations are right; of an unanswerable question, it was refused."""
        if not self.answerable:
            return run.refused
        return run.claim_right and run.citations_right
