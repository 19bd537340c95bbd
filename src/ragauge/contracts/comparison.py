"""Two runs beside each other: a verdict for each metric, and the questions that flipped."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.metric import Better
from ragauge.contracts.report import RunReport, Score, Verdict

COMPARISON_SCHEMA = "ragauge.comparison/1"
HISTORY_SCHEMA = "ragauge.history/1"

Outlook = Literal["better", "worse", "not_worse", "cannot_tell", "not_comparable", "not_tested"]
"""The last is of a metric that is told beside those the comparison is about."""
Correction = Literal["holm", "bh", "none"]
Way = Literal["mended", "broken"]


class Compared(Struct, frozen=True, kw_only=True):
    """A metric in two runs, on the units both have."""

    verdict: Outlook
    better: Better
    before: float | None
    after: float | None
    change: float | None
    """after − before, whichever is better; by Wilcoxon the Hodges–Lehmann centre."""
    ci: tuple[float, float] | None
    """At 100·(1 − alpha) %; in a slice at the level that holds for all slices together."""
    p: float | None
    p_adjusted: float | None
    """Corrected for the tests of the family; None where it is not in it."""
    n: int
    """Units that the change rests on: scored by a run at least, by both where values are paired."""
    n_zero: int
    """Of these, units that did not change."""
    method: str
    """The test, by name; empty where none was made."""
    seed: int | None
    effect: float | None
    """Standardised: Cohen's g for 0/1 scores, d_z otherwise."""
    margin: float | None
    """A loss the user accepts."""
    sd: float | None
    """Standard deviation of one unit's share in the change: what the power figures rest on."""
    detectable: float | None
    """The smallest difference that this n finds with 80 % power, among as many tests."""
    needed: int | None
    """Units it would take to decide, where it cannot be told: more than n."""
    tested: bool
    """Whether it is one of the tests that p is corrected for: where so few units differ that none
    of their outcomes would be significant, nothing can be found."""
    reason: str | None = None
    """What a reader should know: why not comparable, how few there are, how small the loss is."""
    statistic: float | None = None
    """Of the test in `method`, such as t; None where there is no test, or it is infinite."""
    significant: bool | None = None
    """Whether p_adjusted is below the report's alpha; None where there is no such p."""

    @property
    def flips(self) -> bool:
        """Whether its units are 0 or 1, and were tested as such."""
        return self.method.startswith("McNemar")

    @property
    def differs(self) -> bool:
        """Whether any unit does."""
        return self.n_zero < self.n

    @property
    def mean_change(self) -> float | None:
        """after − before, whatever the test's own change is of."""
        if self.change is None or self.before is None or self.after is None:
            return None
        return self.after - self.before


class ComparedSlice(Struct, frozen=True, kw_only=True):
    """A metric in two runs, on the units with one value of a stratum."""

    stratum: str
    value: str
    metric: str
    compared: Compared


class Side(Struct, frozen=True, kw_only=True):
    """What a question came to in one of the runs."""

    label: str | None
    claim: str | None
    cited: tuple[str, ...]
    why: str | None
    """What the variation of its answers goes with, where there were several."""


class Flip(Struct, frozen=True, kw_only=True):
    """A question that is right in one run only."""

    qid: str
    question: str | None
    way: Way
    was: Side
    now: Side


class ComparedRun(Struct, frozen=True, kw_only=True):
    """Enough of a run to know which it is."""

    id: str
    name: str
    recorded_at: str
    commit: str | None
    dirty: bool
    """Files differed from the commit."""
    branch: str | None
    tags: tuple[str, ...]
    labels: dict[str, str]
    passed: bool | None


class ComparisonCoverage(Struct, frozen=True, kw_only=True):
    """How many units the two runs share."""

    both: int
    only_before: int
    only_after: int
    changed_meaning: int
    """Units whose gold question is not the same in both; they are left out."""


class ComparisonReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge compare` says, versioned."""

    schema: str = COMPARISON_SCHEMA
    passed: bool | None = field(name="pass")
    """None without a gate, or without a run to compare with."""
    before: ComparedRun | None
    """None where there was no run to compare with and that was allowed."""
    after: ComparedRun
    metrics: dict[str, Score]
    """The change of each metric."""
    compared: dict[str, Compared]
    slices: tuple[ComparedSlice, ...]
    flips: tuple[Flip, ...]
    """Broken first, then mended, by qid; up to FLIPS_KEPT of each."""
    flip_counts: dict[Way, int]
    correction: Correction
    alpha: float
    coverage: ComparisonCoverage

    @property
    def measured(self) -> bool:
        return self.before is None or any(one.change is not None for one in self.compared.values())


FLIPS_KEPT = 1_000


class HistoryPoint(Struct, frozen=True, kw_only=True):
    """A metric in one run of a line of runs."""

    run: str
    recorded_at: str
    value: float | None
    ci: tuple[float, float] | None
    n: int
    passed: bool | None
    commit: str | None
    dirty: bool
    """Files differed from the commit."""
    labels: dict[str, str]
    gold_sha256: str | None
    version: int
    reason: str | None


class ChangePoint(Struct, frozen=True, kw_only=True):
    """A run from which on the level is another."""

    run: str
    at: int
    """Its place in the line, from 0."""
    before: float
    after: float
    p: float


class HistoryReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge history` says of a metric over runs, oldest first."""

    schema: str = HISTORY_SCHEMA
    passed: bool = field(name="pass", default=True)
    metric: str
    better: Better
    metrics: dict[str, Score]
    """The last value, under the metric's id."""
    gates: tuple[Verdict, ...] = ()
    points: tuple[HistoryPoint, ...]
    change_points: tuple[ChangePoint, ...]
    slope: float | None
    """A run."""
    slope_error: float | None
    variation: float | None
    """σ / μ over the runs; None where the mean is 0 or there are fewer than two."""
    coverage: dict[str, int]

    @property
    def cuts(self) -> list[int]:
        """The places from which on something else is measured: gold set, version or method."""
        found = {finding.where for finding in self.findings if finding.code == "line_cut"}
        return [at for at, point in enumerate(self.points) if point.run[:ID_SHOWN] in found]
