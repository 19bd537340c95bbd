"""One row a disagreement, for a spreadsheet."""

from __future__ import annotations

from ragauge.contracts.annotation import AgreementReport, ItemDisagreement
from ragauge.reports import spreadsheet
from ragauge.reports.agreement.story import said
from ragauge.reports.numbers import ABSENT


def render(report: AgreementReport) -> str:
    """What each annotator said of an item, and where, under the annotator's letter.

    Of spans also the item's own F1; what is over tokens is of the whole set, not of an item.
    """
    letters = tuple(report.annotators)
    scores = () if report.kind == "labels" else ("span_f1", "span_f1_partial")
    columns = ("id", *letters, *scores, *(f"where_{letter}" for letter in letters))
    rows = (
        [
            one.id,
            *(_said(one, letter) for letter in letters),
            *(one.scores.get(name) for name in scores),
            *(one.where.get(letter) for letter in letters),
        ]
        for one in report.disagreements
    )
    return spreadsheet.written(columns, rows)


def _said(one: ItemDisagreement, letter: str) -> str | None:
    text = said(one, letter)
    return None if text == ABSENT else text
