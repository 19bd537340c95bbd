"""All kinds of reports, in one table: the type, its published record, and the forms it comes in."""

from __future__ import annotations

from typing import NamedTuple

from ragauge.contracts import archive as runs
from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.contracts.audit import AuditReport
from ragauge.contracts.calibration import CalibrationReport
from ragauge.contracts.comparison import ComparisonReport, HistoryReport
from ragauge.contracts.consistency import ConsistencyReport
from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.contracts.drift import DriftReport
from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.gold_parts import ConvertReport, PlanReport, SampleReport, SplitReport
from ragauge.contracts.gold_report import DiffReport, LintReport
from ragauge.contracts.inspection import InspectionReport
from ragauge.contracts.latency import LatencyReport
from ragauge.contracts.report import Report
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.suite import SuiteReport
from ragauge.contracts.sweep import SweepReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.contracts.trace_score import TraceScoreReport

FORMS = ("text", "json", "markdown", "junit", "github", "csv", "html")
"""What the reports of scores, stability and comparisons come in."""
ALL_FORMS = (*FORMS, "sarif")
"""What there is; only findings with a place in a file can be SARIF."""
_TABLES = ("text", "json", "markdown", "csv")
_TEXTS = ("text", "json", "markdown")


class Kind(NamedTuple):
    """A kind of report."""

    type: type[Report]
    record: str
    """What `ragauge schema` calls it."""
    folder: str
    """Where in reports its forms are."""
    forms: tuple[str, ...]

    @property
    def schema(self) -> str:
        """What its JSON names in `schema`, the first field of every report."""
        return str(self.type.__struct_defaults__[0])

    @property
    def command(self) -> str:
        """The command that makes it, such as `gold lint`."""
        return self.record.removesuffix("-report").replace("-", " ")


KINDS: dict[type, Kind] = {
    kind.type: kind
    for kind in (
        Kind(ScoreReport, "score-report", "score", FORMS),
        Kind(TraceScoreReport, "score-traces-report", "trace_score", _TABLES),
        Kind(InspectionReport, "inspect-report", "inspection", _TEXTS),
        Kind(StabilityReport, "stability-report", "stability", FORMS),
        Kind(ConsistencyReport, "consistency-report", "consistency", _TABLES),
        Kind(LatencyReport, "latency-report", "latency", _TABLES),
        Kind(ComparisonReport, "comparison-report", "comparison", FORMS),
        Kind(HistoryReport, "history-report", "history", _TABLES),
        Kind(SuiteReport, "suite-report", "suite", (*_TEXTS, "junit", "github")),
        Kind(AgreementReport, "gold-agreement-report", "agreement", _TABLES),
        Kind(AuditReport, "audit-report", "audit", (*_TEXTS, "junit", "github", "html", "sarif")),
        Kind(TraceEvalReport, "trace-eval-report", "trace_eval", (*_TEXTS, "junit", "html")),
        Kind(CalibrationReport, "calibration-report", "calibration", _TEXTS),
        Kind(AnswerCalibrationReport, "answer-calibration-report", "calibration", _TEXTS),
        Kind(DriftReport, "drift-report", "drift", _TEXTS),
        Kind(EvalReport, "eval-report", "evaluation", (*_TEXTS, "junit", "csv", "html")),
        Kind(EvalAllReport, "eval-all-report", "eval_all", (*_TEXTS, "junit", "html")),
        Kind(DiagnosisReport, "diagnosis-report", "diagnosis", FORMS),
        Kind(LintReport, "gold-lint-report", "gold", _TEXTS),
        Kind(DiffReport, "gold-diff-report", "gold", _TEXTS),
        Kind(SplitReport, "gold-split-report", "gold", _TEXTS),
        Kind(SampleReport, "gold-sample-report", "gold", _TEXTS),
        Kind(ConvertReport, "gold-convert-report", "gold", _TEXTS),
        Kind(PlanReport, "gold-plan-report", "gold", _TEXTS),
        Kind(SweepReport, "sweep-report", "sweep", _TEXTS),
        Kind(runs.Exported, "runs-export-report", "runs", _TEXTS),
        Kind(runs.Cleaned, "runs-gc-report", "runs", _TEXTS),
        Kind(runs.Imported, "runs-import-report", "runs", _TEXTS),
        Kind(runs.RunList, "runs-list-report", "runs", _TEXTS),
        Kind(runs.Removed, "runs-rm-report", "runs", _TEXTS),
        Kind(runs.ShownRun, "runs-show-report", "runs", _TEXTS),
        Kind(runs.Tagged, "runs-tag-report", "runs", _TEXTS),
        Kind(runs.Verified, "runs-verify-report", "runs", _TEXTS),
    )
}
SHOWN = {
    one.schema: one for one in KINDS.values() if one.folder not in ("runs", "sweep", "inspection")
}
"""By schema, the kinds that a history can keep."""
