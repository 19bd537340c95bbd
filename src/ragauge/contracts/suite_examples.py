"""A suite's report as it looks, for its schema."""

from __future__ import annotations

from ragauge.contracts.score import Score
from ragauge.contracts.suite import SuiteCoverage, SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict

_METRIC = "answers/quality.precision_cited"
_HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"

SUITE = SuiteReport(
    passed=False,
    suite="all",
    exit_code=3,
    metrics={_METRIC: Score(value=1.0, n=1, of=1, ci=(0.2065, 1.0))},
    gates=(
        Verdict(
            rule=f"{_METRIC}>=0.8",
            metric=_METRIC,
            op=">=",
            bound=0.8,
            value=1.0,
            n=1,
            ci=(0.2065, 1.0),
            verdict="pass",
            reason=None,
        ),
    ),
    tasks=(
        TaskReport(
            name="answers",
            kind="score",
            dataset="mine",
            status="passed",
            exit_code=0,
            run=_HASH,
            coverage={"gold": 1, "scored": 1},
        ),
        TaskReport(
            name="repeats",
            kind="stability",
            dataset="mine",
            status="error",
            exit_code=3,
            run=None,
            problems=("the error budget is spent: 2 of 18 calls failed",),
        ),
    ),
    findings=(),
    finding_counts={},
    coverage=SuiteCoverage(tasks=2, passed=1, failed=0, error=1, skipped=0),
    identity={"command": "run", "ragauge": "0.1.0", "file": "ragauge.toml", "inputs": _HASH},
)
