"""Reports in their formats, and which format a file's extension means."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.contracts.kinds import ALL_FORMS, KINDS, Kind
from ragauge.contracts.report import Report
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.reports.document import Document

ENDINGS = {
    ".json": "json",
    ".md": "markdown",
    ".xml": "junit",
    ".csv": "csv",
    ".html": "html",
    ".txt": "text",
    ".sarif": "sarif",
}
"""The format that each file extension means."""


def render(
    report: Report, form: str, *, color: bool = False, width: int = 100, brief: bool = False
) -> str:
    """The report in one of the formats of its kind; only `text` has color and a width.

    A `brief` text is the short version, where its kind has one.

    CSV lines end in CR LF: write them as bytes, not to a text file that translates line ends.
    """
    kind = KINDS[type(report)]
    _check_format(kind, form)
    if form == "json":
        from ragauge.reports import json

        return json.render(report)
    module = _module(kind)
    if form == "csv":
        from ragauge.store.rows import written

        return written(*module.table(report))
    writer = import_module(f"ragauge.reports.formats.{form}")
    match form:
        case "text":
            make = getattr(module, "brief", module.document) if brief else module.document
            return str(writer.render(make(report), color=color, width=width))
        case "junit":
            return str(writer.render(module.cases(report), report.passed))
        case "github":
            document = module.document(report)
            return str(writer.render(document, module.cases(report), report.passed))
        case "sarif":
            return str(writer.render(module.results(report)))
    return str(writer.render(module.document(report)))


def format_of(path: Path, report: type | None = None) -> str:
    """The format of a file's extension; for a kind of report, one that it has.

    >>> format_of(Path("out/report.MD"))
    'markdown'
    """
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        known = f"known: {', '.join(ENDINGS)}"
        raise UsageError(f'{path}: no report form has the ending "{path.suffix}"; {known}')
    if report is not None:
        _check_format(KINDS[report], form)
    return form


def _check_format(kind: Kind, form: str) -> None:
    if form not in ALL_FORMS:
        raise UsageError(f'there is no report form "{form}"; there are {", ".join(ALL_FORMS)}')
    if form not in kind.forms:
        name = kind.folder.replace("_", "-")
        has, article = ", ".join(kind.forms), "an" if name[0] in "aeiou" else "a"
        raise UsageError(f'{article} {name} report has no form "{form}"; it has {has}')


def document_of(report: Report) -> Document:
    """A report as blocks."""
    document: Document = _module(KINDS[type(report)]).document(report)
    return document


def _module(kind: Kind) -> Any:
    """The module that turns a kind of report into blocks."""
    return import_module(f"ragauge.reports.kinds.{kind.folder}")
