"""The report every command ends with: scores, gates and their verdicts, findings, advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from msgspec import Meta, Struct, field

from ragauge.contracts.gold import Gold

if TYPE_CHECKING:
    from polars import DataFrame

    from ragauge.contracts.documents import FrozenDocument
    from ragauge.contracts.kept import KeptAnswer
    from ragauge.contracts.metric import Array, Better


Op = Literal[">=", "<=", ">", "<", "="]
Decision = Literal["pass", "fail", "not_evaluated", "not_applicable"]


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A demand on a metric, over the whole set or question by question."""

    metric: str
    op: Op
    bound: float
    confidence: float | None = None
    """Demand the interval at this level, in percent: its worse end must be inside."""
    per: Literal["set", "question"] = "set"
    at_least: tuple[int, int] | None = None
    """k of n: for a rule per question, the share of questions that must satisfy it."""
    over: float | None = None
    """The fraction of the units that must have a value; the run's where it is None."""
    where: dict[str, Any] = {}
    """Only the questions with these properties: answerable, or any stratum."""
    optional: bool = False
    """The user accepts that the metric may be absent: then it does not fail."""

    def __str__(self) -> str:
        text = f"{self.metric}{self.op}{self.bound:.12g}"
        if self.confidence is not None:
            text += f"@{self.confidence:g}"
        if self.per == "question":
            text += " per question"
        if self.at_least:
            text += " {} of {}".format(*self.at_least)
        if self.over is not None:
            text += f" over {self.over * 100:.12g}%"
        if self.where:
            pairs = (f"{key}={_word(value)}" for key, value in sorted(self.where.items()))
            text += f" where {' and '.join(pairs)}"
        return text + ("?" if self.optional else "")


class Verdict(Struct, frozen=True, kw_only=True):
    """A rule with the value it met: what a gate printed."""

    rule: str
    metric: str
    op: Op
    bound: float
    value: float | None
    n: int
    ci: tuple[float, float] | None
    verdict: Decision
    reason: str | None
    optional: bool = False

    @property
    def holds(self) -> bool:
        """Whether the gate lets the run through; what was not evaluated does not, by default."""
        if self.verdict == "not_evaluated":
            return self.optional
        return self.verdict != "fail"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


PLACES_KEPT = 100
"""A code's first places stand in the report; beyond that only its count grows."""


class Finding(Struct, frozen=True):
    code: str
    where: str
    message: str


class Findings:
    """Findings in the order they were met: a count and the first places of each code."""

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self.counts: dict[str, int] = {}
        self._kept: dict[str, list[Finding]] = {}
        for finding in findings:
            self.add(finding)

    def add(self, finding: Finding, times: int = 1) -> None:
        self.counts[finding.code] = self.counts.get(finding.code, 0) + times
        kept = self._kept.setdefault(finding.code, [])
        if len(kept) < PLACES_KEPT:
            kept.append(finding)

    def count(self, code: str, times: int) -> None:
        """Count what was met beyond the places that are kept."""
        if times:
            self.counts[code] = self.counts.get(code, 0) + times

    def kept(self) -> list[Finding]:
        return [finding for code in sorted(self._kept) for finding in self._kept[code]]


Count = Annotated[int, Meta(ge=0)]

ROWS_KEPT = 10_000
"""Per-question rows in a report; Parquet has them all."""


class Score(Struct, frozen=True, kw_only=True):
    """A metric over a set: a value, or None with a reason. `n` of `of` units were scored."""

    value: float | None
    n: Count
    of: Count
    ci: tuple[float, float] | None = None
    reason: str | None = None
    signature: str = ""


class Advice(Struct, frozen=True, kw_only=True):
    """A hypothesis about what is wrong, what to change, and the questions that show it."""

    id: str
    title: str
    evidence: str
    confirm: str
    action: str
    questions: tuple[str, ...]
    n: int | None = None
    """How many speak for it; None in reports of earlier versions."""


class Report(Struct, frozen=True, kw_only=True):
    """What every kind of report has; a kind adds its own fields and says what it covers."""

    schema: str
    passed: bool | None = field(name="pass")
    """None where no gate says anything of quality; see `gates.decide.passed`."""
    metrics: dict[str, Score]
    gates: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    finding_counts: dict[str, int]
    coverage: Any
    """How much of what should have been measured was."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What became of each gate."""
        return self.gates

    @property
    def measured(self) -> bool:
        """Whether there was anything to measure."""
        return True

    def __getitem__(self, metric: str) -> Score:
        """The score of a metric, by its id or its short name: `report["precision_cited"]`."""
        score: Score = _results().score_of(self, metric)
        return score

    def __repr__(self) -> str:
        return str(_results().summary_line(self))

    def _repr_html_(self) -> str:
        return str(_results().html(self))

    def assert_passed(self) -> None:
        """Raise AssertionError with each gate that failed or was not evaluated.

        A report without a gate on quality has not passed either.
        """
        _results().require_pass(self)

    def to_markdown(self) -> str:
        """The report as `--report FILE.md` writes it."""
        return str(_results().markdown(self))

    def save(self, path: str | Path) -> Path:
        """Write the report in the form that the file's ending names, such as `.html`."""
        saved: Path = _results().save(self, path)
        return saved

    def to_polars(self) -> DataFrame:
        """A polars frame with a row for each metric."""
        frame: DataFrame = _results().metrics_frame(self)
        return frame

    def to_pandas(self) -> Any:
        """The same as a pandas frame; raises UsageError if pandas is not installed."""
        return _results().to_pandas(self.to_polars())


def _results() -> Any:
    # What a report looks like is known two layers up, and contracts import nothing, so that every
    # room can rest on them. This is the one place that reaches up, and only when it is called.
    return import_module("ragauge.reports.results")


class RunReport(Report, frozen=True, kw_only=True):
    """The report of a run that others can be compared with."""

    identity: dict[str, Any]
    """What makes the run comparable: options, metric versions, the hash of its gold set."""


Kind = TypeVar("Kind", bound=Report)


class Measured(Struct, frozen=True, kw_only=True):
    """A metric over the units of a run: a value a unit, and what it is made of."""

    version: int
    better: Better
    values: Array
    """NaN where the metric does not apply to the unit."""
    counts: Array
    """(units, columns), integers."""
    total: Literal["sums", "mean"]
    """How the set's value comes from its units: `finish` of the sums, or the mean of values."""


class UnitRows(Struct, frozen=True, kw_only=True):
    """Columns with one value a unit, in the order of the gold set."""

    ids: Sequence[str]
    labels: Sequence[str | None]
    right: Sequence[bool | None]
    """None where the run does not tell."""
    details: dict[str, Sequence[Any]]
    """For a reader: triage, the claim, what it cites."""
    measured: dict[str, Measured]


class Outcome(Struct, Generic[Kind], frozen=True, kw_only=True):
    """All a runner hands over; reports, history and dashboard take nothing else."""

    report: Kind
    units: UnitRows
    gold: Sequence[Gold]
    """What it was measured with; a recorded run can be sliced and read without the file."""
    record_rows: str | None
    """The Parquet file with one row a trace, where one was asked for."""
    identity: dict[str, Any]
    """What makes this run comparable: options, metric versions, gold hash."""
    answers: Callable[[], Iterable[tuple[str, KeptAnswer]]] | None = None
    """Gives the answers by the id of their unit; called only where the run is recorded, so that
    nothing is read twice otherwise. None where there are none, or they cannot be had again."""
    documents: Callable[[], Iterable[FrozenDocument]] | None = None
    """Gives the frozen documents that answers and gold point into, each once."""

    def __getitem__(self, metric: str) -> Score:
        """The score of a metric, by its id or its short name: `outcome["precision_cited"]`."""
        return self.report[metric]

    def __repr__(self) -> str:
        return repr(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def assert_passed(self) -> None:
        """Raise AssertionError with each gate that failed or was not evaluated."""
        self.report.assert_passed()

    def to_markdown(self) -> str:
        """The report as `--report FILE.md` writes it."""
        return self.report.to_markdown()

    def save(self, path: str | Path) -> Path:
        """Write the report in the form that the file's ending names, such as `.html`."""
        return self.report.save(path)

    def to_polars(self) -> DataFrame:
        """A polars frame with a row for each unit, such as a question."""
        frame: DataFrame = _results().units_frame(self.units)
        return frame

    def to_pandas(self) -> Any:
        """The same as a pandas frame; raises UsageError if pandas is not installed."""
        return _results().to_pandas(self.to_polars())
