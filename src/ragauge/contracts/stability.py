"""What `ragauge stability` says of a sweep: totals, and each question's verdict with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from ragauge.contracts.report import Advice, RunReport, Score, Verdict
from ragauge.contracts.run import Factor, Variation

STABILITY_SCHEMA = "ragauge.stability/1"

Stability = Literal["stable_pass", "flaky", "stable_fail", "incomplete", "not_evaluated"]
STABILITIES: tuple[Stability, ...] = (
    "stable_pass",
    "flaky",
    "stable_fail",
    "incomplete",
    "not_evaluated",
)
"""`not_evaluated` is a question with one run: there is nothing to compare it with."""

CELLS = {
    "+": "right",
    "c": "claim wrong",
    "h": "citations wrong",
    "x": "claim and citations wrong",
    "r": "refused, though answerable",
    "a": "answered, though unanswerable",
    "k": "constraints not echoed",
    "!": "failed",
    "?": "missing",
    "=": "left out: it was decided without",
    ".": "no run: not planned, or the prompt is another run's",
}
"""The outcome of a run as one letter: a question's row of the heat map is a text of these."""
CORRECT = "+"
SKIPPED = frozenset("=.")  # no run of the question's own: neither correct nor incorrect


def right_of(cells: Sequence[str]) -> tuple[int, int]:
    """How many runs are correct, of how many.

    >>> right_of("++c=.")
    (2, 3)
    """
    return cells.count(CORRECT), sum(letter not in SKIPPED for letter in cells)


Retrieval = Literal["same", "changes", "unrelated", "unknown"]
"""Whether the retrieved ids can explain why runs of a question differ.

`same`: every run retrieved the same ids in the same order. `changes`: runs that retrieved other ids
disagree more often than runs that retrieved the same. `unrelated`: they do not. `unknown`: some run
does not report its retrieved ids.
"""


class FactorEffect(Struct, frozen=True, kw_only=True):
    """How often runs that differ in one factor alone disagree."""

    pairs: int
    differ: int
    rate: float | None
    """differ / pairs; None where no two runs differ in this factor alone."""


class Explanation(Struct, frozen=True, kw_only=True):
    """The factor that goes with a question's variation."""

    factor: Factor
    about: Literal["outcome", "citations", "wording"]
    """What varies: the outcome; or, where that is the same, the citations or the wording."""
    rate: float
    """Its rate of disagreement; the highest, unless the runs at the lowest temperature all agree:
    then the factor is the temperature."""
    words: str
    """A sentence, such as `jitter: 6 of 10 pairs differ; syn is right in 0 of 5 runs, …`."""


class Shown(Struct, frozen=True, kw_only=True):
    """A run of a question that is worth a look."""

    run_id: str
    variation: Variation
    cell: str
    question_sent: str | None
    claim: str
    cited: tuple[str, ...]
    error: str | None = None


class QuestionStability(Struct, frozen=True, kw_only=True):
    """One question over all its runs. Numbers are rounded to four places; None has a reason."""

    verdict: Stability
    answerable: bool
    planned: int
    runs: int
    """Runs that brought an answer or a refusal."""
    errors: int
    missing: int
    saved: int
    """Planned runs that were not needed: the verdict was certain without them."""
    acr: float | None
    cghc: float | None
    success: float | None
    css: float | None
    css_all: float | None
    css_pairwise: float | None
    ned50: float | None
    agreement: float | None
    rcr: float | None
    refusal_rate: float | None
    scu_cons: float | None
    iaa: float | None
    error_rate: float | None
    ci: dict[str, tuple[float, float]]
    """Wilson intervals at 95 % of the rates."""
    reasons: dict[str, str]
    """Why a number is None."""
    failed: tuple[str, ...]
    """The gates this question fails, each with its value: `acr 0.75 < 0.95`."""
    factors: dict[str, FactorEffect]
    explained_by: Explanation | None
    prompts: int
    """Distinct texts that were sent."""
    noop: tuple[str, ...]
    """Jitters that changed nothing here and were not run."""
    question: str
    examples: tuple[Shown, ...]
    """The commonest outcome first, then one run of each other outcome."""
    retrieval: Retrieval | None = None
    """Whether retrieval can explain what varies; None with fewer than two finished runs."""

    @property
    def blamed(self) -> Factor | None:
        """The factor that explains why it is not stable; None where it is, or nothing does."""
        told = self.explained_by
        return told.factor if told and self.verdict != "stable_pass" else None


class StabilityCoverage(Struct, frozen=True, kw_only=True):
    """How much of what should have been run was."""

    gold: int
    questions: int
    """Gold questions with at least one run."""
    planned: int
    runs: int
    errors: int
    missing: int
    saved: int
    unknown: int
    """Runs of questions the gold set does not have."""
    surplus: int
    """Lines of a run that a later line of the same run replaced."""
    rejected: int
    single: int = 0
    """Questions with one planned run, which are not evaluated."""
    unread_columns: tuple[str, ...] | UnsetType = UNSET
    """Columns of the gold set and the traces that nothing reads; left out where there are none."""


class OverQuestions(Struct, frozen=True, kw_only=True):
    """What is counted over all questions: a report with its list of them cut still knows it."""

    noops: dict[str, int]
    """Jitters that changed nothing, by how many questions."""
    prompts: tuple[int, int, int]
    """Distinct texts a question was asked in: the fewest, the lower median, the most."""
    blamed: dict[str, int]
    """Factors, by how many of the questions that are not stable they explain."""

    @classmethod
    def of(
        cls, prompts: Iterable[int], noops: Iterable[str], blamed: Iterable[str]
    ) -> OverQuestions:
        """The counts of what each question has: its prompts, its idle jitters, its factor."""
        asked = sorted(prompts) or [0]
        return cls(
            noops=dict(sorted(Counter(noops).items())),
            prompts=(asked[0], asked[(len(asked) - 1) // 2], asked[-1]),
            blamed=dict(sorted(Counter(blamed).items())),
        )


class StabilityReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge stability` says, versioned."""

    schema: str = STABILITY_SCHEMA
    passed: bool = field(name="pass")
    profile: Literal["ours", "reference"]
    metrics: dict[str, Score]
    """Means over questions, by metric id."""
    gates: tuple[Verdict, ...] | dict[str, float]  # type: ignore[assignment]
    """The verdicts; under the reference profile the brief's plain object."""
    verdicts: tuple[Verdict, ...]
    """The stable share first, then each rule with the share of questions that satisfy it."""
    totals: dict[str, int]
    """answerable, unanswerable, pass, fail, and each verdict."""
    details: dict[str, QuestionStability]
    columns: tuple[Variation, ...]
    """The runs of the grid, in the order of the heat map."""
    cells: dict[str, str]
    """Each question's row of the heat map: one letter of CELLS a column."""
    factors: dict[str, FactorEffect]
    """Over all questions."""
    coverage: StabilityCoverage
    advice: tuple[Advice, ...]
    over_questions: OverQuestions | None = None
    """None in reports of earlier versions: then the list is all there is to count."""

    def counted(self) -> OverQuestions:
        """What is counted over the questions, also those that a summary has cut."""
        known = self.details.values()
        return self.over_questions or OverQuestions.of(
            (one.prompts for one in known),
            (jitter for one in known for jitter in one.noop),
            (factor for one in known if (factor := one.blamed)),
        )

    @property
    def measured(self) -> bool:
        return bool(self.coverage.runs)
