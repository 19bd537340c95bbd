"""One row a question, for a spreadsheet."""

from __future__ import annotations

from ragauge.contracts.score import QuestionRow, ScoreReport
from ragauge.reports import spreadsheet

COLUMNS = QuestionRow.__struct_fields__
"""The fields of a question, in their order in the record."""


def render(report: ScoreReport) -> str:
    """The questions with a header line; lines end with CR LF."""
    rows = ([getattr(row, column) for column in COLUMNS] for row in report.questions)
    return spreadsheet.written(COLUMNS, rows)
