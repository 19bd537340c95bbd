"""The forms a report comes in, and the way from a file name to one of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

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
from ragauge.contracts.gold_report import DiffReport, GoldReport, LintReport
from ragauge.contracts.latency import LatencyReport
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.suite import SuiteReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.errors import UsageError

Report = (
    ScoreReport
    | StabilityReport
    | ConsistencyReport
    | LatencyReport
    | ComparisonReport
    | HistoryReport
    | SuiteReport
    | AgreementReport
    | CalibrationReport
    | AnswerCalibrationReport
    | GoldReport
    | AuditReport
    | TraceEvalReport
    | DriftReport
    | EvalReport
    | EvalAllReport
    | DiagnosisReport
)

FORMS = ("text", "json", "markdown", "junit", "github", "csv", "html")
"""What the reports of scores, stability and comparisons come in."""
ALL_FORMS = (*FORMS, "sarif")
"""What there is; only findings with a place in a file can be SARIF."""


class Kind(NamedTuple):
    """A kind of report: the folder its forms are in, and the forms it has."""

    folder: str
    forms: tuple[str, ...]


KINDS: dict[type, Kind] = {
    ScoreReport: Kind("score", FORMS),
    StabilityReport: Kind("stability", FORMS),
    ConsistencyReport: Kind("consistency", ("text", "json", "markdown", "csv")),
    LatencyReport: Kind("latency", ("text", "json", "markdown", "csv")),
    ComparisonReport: Kind("comparison", FORMS),
    HistoryReport: Kind("history", ("text", "json", "markdown", "csv")),
    SuiteReport: Kind("suite", ("text", "json", "markdown", "junit", "github")),
    AgreementReport: Kind("agreement", ("text", "json", "markdown", "csv")),
    AuditReport: Kind("audit", tuple(form for form in ALL_FORMS if form != "csv")),
    TraceEvalReport: Kind("trace_eval", ("text", "json", "markdown", "junit", "html")),
    CalibrationReport: Kind("calibration", ("text", "json", "markdown")),
    AnswerCalibrationReport: Kind("answer_calibration", ("text", "json", "markdown")),
    DriftReport: Kind("drift", ("text", "json", "markdown")),
    EvalReport: Kind("evaluation", tuple(form for form in FORMS if form != "github")),
    EvalAllReport: Kind("eval_all", ("text", "json", "markdown", "junit", "html")),
    DiagnosisReport: Kind("diagnosis", FORMS),
    **dict.fromkeys(
        (LintReport, DiffReport, SplitReport, SampleReport, ConvertReport, PlanReport),
        Kind("gold", ("text", "json")),
    ),
}

DOCUMENTS = frozenset(
    (
        *("drift", "consistency", "agreement", "calibration", "answer_calibration", "history"),
        *("latency", "suite"),
    )
)
"""Kinds that are documents: text, Markdown and CSV are written from their blocks and rows."""

_FORM_OF_ENDING = {
    ".json": "json",
    ".md": "markdown",
    ".xml": "junit",
    ".csv": "csv",
    ".html": "html",
    ".txt": "text",
    ".sarif": "sarif",
}


def render(report: Report, form: str, *, color: bool = False, width: int = 100) -> str:
    """The report in one of the forms its kind has; only `text` has color and a width.

    CSV ends its lines with CR LF: write what comes back as bytes, not through a text file that
    translates line ends.
    """
    kind = KINDS[type(report)]
    _demand(kind, form)
    match form:
        case "json":
            from ragauge.reports import json

            return json.render(report)
        case "html":
            from ragauge.reports import html

            return html.page(report)
        case "text" | "markdown" | "csv" if kind.folder in DOCUMENTS:
            from ragauge.reports import spreadsheet
            from ragauge.reports.formats import markdown
            from ragauge.reports.formats import text as terminal

            module = import_module(f"ragauge.reports.kinds.{kind.folder}")
            if form == "text":
                text = terminal.render(module.document(report), color=color, width=width)
            elif form == "markdown":
                text = markdown.render(module.document(report))
            else:
                text = spreadsheet.written(*module.table(report))
        case "text":
            text = _module(kind, "console").render(report, color=color, width=width)
        case _:
            text = _module(kind, form).render(report)
    return str(text)


def form_of(path: Path, report: type | None = None) -> str:
    """The form a file's ending asks for; where the kind of report is told, one that it has.

    >>> form_of(Path("out/report.MD"))
    'markdown'
    """
    form = _FORM_OF_ENDING.get(path.suffix.lower())
    if form is None:
        endings = ", ".join(_FORM_OF_ENDING)
        raise UsageError(f'{path}: no report form has the ending "{path.suffix}"; known: {endings}')
    if report is not None:
        _demand(KINDS[report], form)
    return form


def _demand(kind: Kind, form: str) -> None:
    if form not in ALL_FORMS:
        raise UsageError(f'there is no report form "{form}"; there are {", ".join(ALL_FORMS)}')
    if form not in kind.forms:
        has, article = ", ".join(kind.forms), "an" if kind.folder[0] in "aeiou" else "a"
        name = kind.folder.replace("_", "-")
        raise UsageError(f'{article} {name} report has no form "{form}"; it has {has}')


def _module(kind: Kind, name: str) -> Any:
    return import_module(f"ragauge.reports.{kind.folder}.{name}")
