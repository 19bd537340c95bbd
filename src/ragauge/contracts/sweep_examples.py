"""Reports of sweeps, judges and loads as they look, beside the examples of the other records."""

from __future__ import annotations

from ragauge.contracts.consistency import (
    ConsistencyCoverage,
    ConsistencyReport,
    Judge,
    LabelAgreement,
)
from ragauge.contracts.latency import Cell, LatencyCoverage, LatencyReport
from ragauge.contracts.run import Grid, QuestionPlan, SweepPlan
from ragauge.contracts.score import Score
from ragauge.contracts.sweep import SweepCoverage, SweepReport

_HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
_NONE = Score(value=0.0, n=1, of=1, ci=(0.0, 0.7935))
_UNKNOWN = Score(value=None, n=0, of=0, reason="no gold set")

SWEEP_PLAN = SweepPlan(
    fingerprint=_HASH,
    parts={"gold": _HASH, "grid": _HASH, "knobs": _HASH, "stopping": _HASH, "system": _HASH},
    grid=Grid(seeds=(0, 1), temperatures=(0.0,), jitters=("none", "order")),
    system={"kind": "http", "host": "localhost", "path": "/qa"},
    questions={"q1": QuestionPlan(runs=2, prompts=1, noop={"order": (0,)})},
)

SWEEP = SweepReport(
    passed=True,
    ended="complete",
    metrics={"sweep.error_rate": _NONE},
    gates=(),
    errors={},
    promise=None,
    prompts=1,
    noop={"order": 1},
    findings=(),
    finding_counts={},
    coverage=SweepCoverage(questions=1, planned=2, done=2, resumed=0, failed=0, saved=0, missing=0),
    out="runs.jsonl",
    identity={"command": "sweep"},
)

_JUDGE = Judge(file="a.jsonl", judged=1, labels={"VALID": 1}, abstain=_NONE)

CONSISTENCY = ConsistencyReport(
    passed=True,
    metrics={"consistency.agreement": Score(value=1.0, n=1, of=1, ci=(0.2065, 1.0))},
    gates=(),
    judges={"a": _JUDGE, "b": _JUDGE},
    confusion={"VALID": {"VALID": 1}},
    labels={"VALID": LabelAgreement(a=1, b=1, both=1, agreement=1.0)},
    final={"VALID": 1},
    disagreements=(),
    disagreement_count=0,
    findings=(),
    finding_counts={},
    coverage=ConsistencyCoverage(questions=1, both=1, only_a=0, only_b=0),
    identity={"command": "consistency"},
)

LATENCY = LatencyReport(
    passed=True,
    partial=False,
    metrics={"latency.p95_ms[base,5]": Score(value=212.5, n=1, of=1)},
    gates=(),
    baseline="base",
    knobs={"base": {"top_k": 5}},
    cells=(
        Cell(
            config="base",
            rate=5.0,
            planned=1,
            sent=1,
            answered=1,
            errors=0,
            error_kinds={},
            complete=True,
            p50_ms=212.5,
            p90_ms=212.5,
            p95_ms=212.5,
            p99_ms=212.5,
            unsure={"p99_ms": "100 answers would carry it"},
            tail_ratio=1.0,
            achieved_rate=None,
            precision=_UNKNOWN,
            under_refusal=_UNKNOWN,
            kept_up=None,
            growth=None,
            open_at_end=0,
            late_ms=0.4,
            reason="one answer has no rate",
        ),
    ),
    fronts=(),
    findings=(),
    finding_counts={},
    coverage=LatencyCoverage(
        cells=1, complete=1, planned=1, sent=1, answered=1, errors=0, gold=None, asked=1
    ),
    identity={"command": "latency"},
)
