"""One row a type, a label, a query, a mistaken link or an answer, for a spreadsheet."""

from __future__ import annotations

from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalReport,
    LabelDetail,
    LinkDetail,
    LinkError,
    QueryRow,
    RankingDetail,
)
from ragauge.reports import spreadsheet
from ragauge.reports.evaluation.families import FAMILY
from ragauge.reports.evaluation.labels import in_order
from ragauge.reports.evaluation.tables import columns_of

OF_A_QUERY = tuple(name for name in QueryRow.__struct_fields__ if name != "values")
OF_AN_ANSWER = ("id", "kind", "right", "question", "answer")
OF_A_LINK = LinkError.__struct_fields__


def render(report: EvalReport) -> str:
    """The rows with a header line; lines end with CR LF."""
    match report.detail:
        case RankingDetail() as detail:
            return _queries(detail)
        case LinkDetail() as detail:
            return _links(detail)
        case EntityDetail():
            return _types(report, "type", sorted(report.per_type))
        case LabelDetail() as detail:
            return _types(report, "label", in_order(report, detail))
        case AnswerDetail() as detail:
            return _answers(detail)


def _types(report: EvalReport, first: str, order: list[str]) -> str:
    columns = columns_of(report.per_type.values())
    rows = ((type, *(report.per_type[type].get(name) for name in columns)) for type in order)
    return spreadsheet.written((first, *columns), rows)


def _queries(detail: RankingDetail) -> str:
    metrics = sorted({name for row in detail.queries for name in row.values})
    rows = (
        (*(getattr(row, name) for name in OF_A_QUERY), *(row.values.get(name) for name in metrics))
        for row in detail.queries
    )
    return spreadsheet.written((*OF_A_QUERY, *metrics), rows)


def _links(detail: LinkDetail) -> str:
    rows = ([getattr(error, name) for name in OF_A_LINK] for error in detail.errors)
    return spreadsheet.written(OF_A_LINK, rows)


def _answers(detail: AnswerDetail) -> str:
    """A row an answer: each metric's value, then why it has that value or none."""
    metrics = sorted({id for one in detail.answers for id in one.values})
    names = [id.removeprefix(FAMILY) for id in metrics]
    rows = (
        (
            *(getattr(one, name) for name in OF_AN_ANSWER),
            *(one.values.get(id) for id in metrics),
            *(one.reasons.get(id) for id in metrics),
            ", ".join(one.unsupported) or None,
        )
        for one in detail.answers
    )
    reasons = (f"{name}_reason" for name in names)
    return spreadsheet.written((*OF_AN_ANSWER, *names, *reasons, "not_in_contexts"), rows)
