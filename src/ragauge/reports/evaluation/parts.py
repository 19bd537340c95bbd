"""The tables, matrices and errors of a report, by the task it is of."""

from __future__ import annotations

from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalReport,
    LabelDetail,
    LinkDetail,
    RankingDetail,
)
from ragauge.reports.evaluation import answers, entities, labels, links, rankings, support
from ragauge.reports.evaluation.errors import Browser
from ragauge.reports.evaluation.labels import Matrix
from ragauge.reports.evaluation.support import ToldAnswer
from ragauge.reports.evaluation.tables import Table


def tables_of(report: EvalReport, *, drawn: bool = False) -> list[Table]:
    """The tables a task has of its own; without those whose numbers the form draws itself."""
    match report.detail:
        case EntityDetail() as detail:
            return list(entities.tables(report, detail))
        case LabelDetail() as detail:
            return list(labels.tables(report, detail))
        case LinkDetail() as detail:
            return list(links.tables(report, detail))
        case RankingDetail() as detail:
            by_query = () if drawn else rankings.by_query(report, detail)
            return [*rankings.tables(report, detail), *by_query]
        case AnswerDetail() as detail:
            return list(answers.tables(report, detail))


def matrices_of(report: EvalReport) -> list[Matrix]:
    return labels.matrices(report.detail) if isinstance(report.detail, LabelDetail) else []


def browser_of(report: EvalReport) -> Browser | None:
    """The errors to go through; None where the task keeps none, or there are none."""
    match report.detail:
        case EntityDetail() as detail:
            found = entities.browser(detail)
        case LinkDetail() as detail:
            found = links.browser(detail)
        case _:
            return None
    return found if found.total else None


def answers_of(report: EvalReport) -> list[ToldAnswer]:
    """The answers to read sentence by sentence; of other tasks there are none."""
    return support.answers(report.detail) if isinstance(report.detail, AnswerDetail) else []
