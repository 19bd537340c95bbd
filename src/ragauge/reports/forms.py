"""The forms a report comes in, and the way from a file name to one of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ragauge.contracts.kinds import ALL_FORMS, KINDS, Kind
from ragauge.contracts.report import Report
from ragauge.errors import UsageError

DOCUMENTS = frozenset(
    (
        *("drift", "consistency", "agreement", "calibration", "answer_calibration", "history"),
        *("latency", "suite", "score", "audit", "trace_eval", "stability", "comparison"),
        *("gold", "runs", "sweep", "diagnosis", "evaluation", "eval_all"),
    )
)
"""Kinds that have one module in `kinds`, from which every format is written."""

_FORM_OF_ENDING = {
    ".json": "json",
    ".md": "markdown",
    ".xml": "junit",
    ".csv": "csv",
    ".html": "html",
    ".txt": "text",
    ".sarif": "sarif",
}


def render(
    report: Report, form: str, *, color: bool = False, width: int = 100, brief: bool = False
) -> str:
    """The report in one of the forms its kind has; only `text` has color and a width.

    A `brief` text says the most important, where its kind has a short version.

    CSV ends its lines with CR LF: write what comes back as bytes, not through a text file that
    translates line ends.
    """
    kind = KINDS[type(report)]
    _demand(kind, form)
    match form:
        case "json":
            from ragauge.reports import json

            return json.render(report)
        case _ if kind.folder in DOCUMENTS:
            return _written(
                import_module(f"ragauge.reports.kinds.{kind.folder}"),
                report,
                form,
                color,
                width,
                brief,
            )
        case "html":
            from ragauge.reports import html

            return html.page(report)
        case "text":
            text = _module(kind, "console").render(report, color=color, width=width)
        case _:
            text = _module(kind, form).render(report)
    return str(text)


def _written(module: Any, report: Report, form: str, color: bool, width: int, brief: bool) -> str:
    """What a kind of report says, by the writer of the form."""
    match form:
        case "text":
            from ragauge.reports.formats import text

            make = getattr(module, "brief", module.document) if brief else module.document
            return text.render(make(report), color=color, width=width)
        case "csv":
            from ragauge.reports import spreadsheet

            return spreadsheet.written(*module.table(report))
        case "junit":
            from ragauge.reports.formats import junit

            return junit.render(module.cases(report))
        case "github":
            from ragauge.reports.formats import github

            return github.render(module.notes(report))
        case "sarif":
            from ragauge.reports.formats import sarif

            return sarif.render(module.results(report))
        case _:
            writer = import_module(f"ragauge.reports.formats.{form}")
            return str(writer.render(module.document(report)))


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
        name = kind.folder.replace("_", "-")
        has, article = ", ".join(kind.forms), "an" if name[0] in "aeiou" else "a"
        raise UsageError(f'{article} {name} report has no form "{form}"; it has {has}')


def _module(kind: Kind, name: str) -> Any:
    return import_module(f"ragauge.reports.{kind.folder}.{name}")
