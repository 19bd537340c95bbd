"""The forms that the report of a calibration of answers comes in."""

from __future__ import annotations

from pathlib import Path

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.errors import UsageError

ENDINGS = {".txt": "text", ".json": "json", ".md": "markdown"}
FORMS = tuple(ENDINGS.values())


def form_of(path: Path) -> str:
    """The form a file's ending asks for.

    >>> form_of(Path("out/calibration.MD"))
    'markdown'
    """
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        known = ", ".join(ENDINGS)
        raise UsageError(f'{path}: no report of a calibration ends in "{path.suffix}"; {known} do')
    return form


def render(
    report: AnswerCalibrationReport, form: str, *, color: bool = False, width: int = 100
) -> str:
    """The report in one of the forms; only `text` has color and a width."""
    match form:
        case "json":
            from ragauge.reports import json

            return json.render(report)
        case "markdown":
            from ragauge.reports.answer_calibration import markdown

            return markdown.render(report)
        case _:
            from ragauge.reports.answer_calibration import console

            return console.render(report, color=color, width=width)
