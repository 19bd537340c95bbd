"""One row a question, for a spreadsheet (RFC 4180)."""

from __future__ import annotations

import csv
import io

from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.reports.foreign import writable
from ragauge.text.visible import visible

COLUMNS = QuestionRow.__struct_fields__
"""The fields of a question, in their order in the record."""

# A spreadsheet takes such a cell for a formula; the full-width ones too, in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def render(report: ScoreReport) -> str:
    """The questions with a header line; lines end with CR LF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in report.questions:
        writer.writerow([cell(getattr(row, column)) for column in COLUMNS])
    return out.getvalue()


def cell(content: object) -> str:
    """A field as a cell: nothing for None, a list joined by blanks, a formula defused.

    >>> cell(True), cell(None), cell(("p1#1", "p2#4")), cell("=1+1")
    ('true', '', 'p1#1 p2#4', "'=1+1")
    """
    match content:
        case None:
            return ""
        case bool():
            return "true" if content else "false"
        case int():
            return str(content)
        case tuple():
            content = " ".join(str(one) for one in content)
    text = str(content)
    safe = visible(writable(text))
    return f"'{safe}" if text.startswith(_FORMULA) else safe
