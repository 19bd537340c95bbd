"""The forms a report comes in, and the way from a file name to one of them."""

from __future__ import annotations

from pathlib import Path

from ragauge.contracts.score import ScoreReport
from ragauge.errors import UsageError

FORMS = ("text", "json", "markdown", "junit", "github", "csv")

_FORM_OF_ENDING = {
    ".json": "json",
    ".md": "markdown",
    ".xml": "junit",
    ".csv": "csv",
    ".txt": "text",
}


def render(report: ScoreReport, form: str, *, color: bool = False, width: int = 100) -> str:
    """The report in one of FORMS; only `text` has color and a width.

    CSV ends its lines with CR LF: write what comes back as bytes, not through a text file that
    translates line ends.
    """
    match form:
        case "text":
            from ragauge.reports import console

            return console.render(report, color=color, width=width)
        case "json":
            from ragauge.reports import json

            return json.render(report)
        case "markdown":
            from ragauge.reports import markdown

            return markdown.render(report)
        case "junit":
            from ragauge.reports import junit

            return junit.render(report)
        case "github":
            from ragauge.reports import github

            return github.render(report)
        case "csv":
            from ragauge.reports import csv

            return csv.render(report)
        case _:
            raise UsageError(f'there is no report form "{form}"; there are {", ".join(FORMS)}')


def form_of(path: Path) -> str:
    """The form a file's ending asks for.

    >>> form_of(Path("out/report.MD"))
    'markdown'
    """
    form = _FORM_OF_ENDING.get(path.suffix.lower())
    if form is None:
        endings = ", ".join(_FORM_OF_ENDING)
        raise UsageError(f'{path}: no report form has the ending "{path.suffix}"; known: {endings}')
    return form
