"""JSON Schemas (draft 2020-12) of the published records, generated from their types."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.contracts.archive import (
    Cleaned,
    Exported,
    Imported,
    Removed,
    RunList,
    ShownRun,
    Tagged,
    Verified,
)
from ragauge.contracts.audit import AuditReport
from ragauge.contracts.calibration import CalibrationReport
from ragauge.contracts.citation import AuditableAnswer, Citation
from ragauge.contracts.comparison import ComparisonReport, HistoryReport
from ragauge.contracts.consistency import ConsistencyReport
from ragauge.contracts.diagnosis import DiagnosisReport, ScoreRow
from ragauge.contracts.drift import DriftReport
from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.gold import Gold
from ragauge.contracts.gold_parts import ConvertReport, PlanReport, SampleReport, SplitReport
from ragauge.contracts.gold_report import DiffReport, LintReport
from ragauge.contracts.history import RunRecord
from ragauge.contracts.latency import LatencyReport
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.run import SweepPlan
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.suite import SuiteReport
from ragauge.contracts.sweep import SweepReport
from ragauge.contracts.trace import Trace
from ragauge.contracts.trace_eval import TraceEvalReport

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RECORDS: dict[str, type] = {
    "answer-calibration-report": AnswerCalibrationReport,
    "audit-report": AuditReport,
    "auditable-answer": AuditableAnswer,
    "calibration-report": CalibrationReport,
    "citation": Citation,
    "comparison-report": ComparisonReport,
    "consistency-report": ConsistencyReport,
    "diagnosis-report": DiagnosisReport,
    "drift-report": DriftReport,
    "eval-all-report": EvalAllReport,
    "eval-report": EvalReport,
    "gold": Gold,
    "gold-agreement-report": AgreementReport,
    "gold-convert-report": ConvertReport,
    "gold-diff-report": DiffReport,
    "gold-lint-report": LintReport,
    "gold-plan-report": PlanReport,
    "gold-sample-report": SampleReport,
    "gold-split-report": SplitReport,
    "history-report": HistoryReport,
    "latency-report": LatencyReport,
    "manifest": Manifest,
    "run": RunRecord,
    "runs-export-report": Exported,
    "runs-gc-report": Cleaned,
    "runs-import-report": Imported,
    "runs-list-report": RunList,
    "runs-rm-report": Removed,
    "runs-show-report": ShownRun,
    "runs-tag-report": Tagged,
    "runs-verify-report": Verified,
    "score-report": ScoreReport,
    "score-row": ScoreRow,
    "stability-report": StabilityReport,
    "suite-report": SuiteReport,
    "sweep-plan": SweepPlan,
    "sweep-report": SweepReport,
    "trace": Trace,
    "trace-eval-report": TraceEvalReport,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a record, its parts under `$defs`, with examples that validate."""
    made: dict[str, Any] = msgspec.json.schema(RECORDS[name])
    title = made.pop("$ref").rsplit("/", 1)[-1]
    record = made["$defs"].pop(title)
    return {"$schema": DIALECT, **record, "$defs": made["$defs"], "examples": examples(name)}


def examples(name: str) -> list[Any]:
    """Records of this name as they look in JSON."""
    file = files("ragauge.contracts") / "examples" / f"{name}.json"
    found: list[Any] = msgspec.json.decode(file.read_bytes())
    return found
