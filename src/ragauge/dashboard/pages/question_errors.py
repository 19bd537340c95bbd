"""What a report says is wrong with a unit that is no question: a document, an item, a mention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ragauge.contracts.evaluation import (
    EntityDetail,
    EntityError,
    EvalAllReport,
    EvalReport,
    LabelDetail,
    LinkDetail,
    LinkError,
    RankingDetail,
    ShownSpan,
)

MOST = 100
"""Errors of a unit that are shown."""

Facts = tuple[tuple[str, str], ...]


class UnitError(Struct, frozen=True, kw_only=True):
    """Something wrong with the unit."""

    kind: str
    before: str = ""
    gold: str = ""
    predicted: str = ""
    after: str = ""
    facts: Facts = ()
    where: str = ""


def errors_of(report: Any, unit: str) -> tuple[UnitError, ...]:
    """The errors about the unit, of those that the report keeps."""
    report, unit = of_its_task(report, unit)
    if not isinstance(report, EvalReport):
        return ()
    return tuple(_of(report.detail, unit))[:MOST]


def of_its_task(report: Any, unit: str) -> tuple[Any, str]:
    """Of a report on several tasks the one that the unit belongs to, and its id there."""
    if not isinstance(report, EvalAllReport):
        return report, unit
    task, _, id = unit.partition("/")
    return next((each for name, each in report.tasks.items() if name == task), None), id


def are_cut(report: Any, unit: str, right: bool | None) -> bool:
    """Whether the unit may have errors, and the report keeps those of others alone."""
    report, unit = of_its_task(report, unit)
    if not isinstance(report, EvalReport) or errors_of(report, unit):
        return False
    match report.detail:
        case RankingDetail():
            return True
        case (
            EntityDetail(error_counts=counts, errors=kept)
            | LinkDetail(error_counts=counts, errors=kept)
        ):
            return right is not True and sum(counts.values()) > len(kept)
        case LabelDetail(errors=errors, confusions=confusions):
            named = sum(len(one.examples) for one in confusions)
            return right is not True and errors > named
    return False


def _of(detail: Any, unit: str) -> Iterator[UnitError]:
    match detail:
        case EntityDetail():
            yield from (_entity(one) for one in detail.errors if one.document == unit)
        case LinkDetail():
            yield from (_link(one) for one in detail.errors if _about(one.key, unit))
        case LabelDetail():
            for one in detail.confusions:
                if unit in one.examples:
                    yield UnitError(
                        kind="taken for another", gold=one.gold, predicted=one.predicted
                    )
        case RankingDetail():
            for query in detail.queries:
                if query.query == unit:
                    yield UnitError(kind="ranking", facts=_ranking(query))


def _about(key: str, unit: str) -> bool:
    """Whether a mention is the unit, or stands in the document that is: `doc:12–20`."""
    document, _, span = key.rpartition(":")
    return key == unit or (document == unit and "–" in span)


def _entity(one: EntityError) -> UnitError:
    return UnitError(
        kind=one.kind.replace("_", " "),
        before=one.before,
        gold=_span(one.gold),
        predicted=_span(one.predicted),
        after=one.after,
        where=one.where,
    )


def _span(span: ShownSpan | None) -> str:
    if span is None:
        return ""
    return f"{span.text or ''} [{span.type} {span.start}–{span.end}]".strip()


def _link(one: LinkError) -> UnitError:
    rank = () if one.rank is None else (("rank", str(one.rank)),)
    context = (("context", one.context),) if one.context else ()
    return UnitError(
        kind=one.kind.replace("_", " "),
        gold=", ".join(one.gold),
        predicted=", ".join(one.predicted),
        facts=(("mention", one.mention), *rank, *context),
        where=one.where,
    )


def _ranking(query: Any) -> Facts:
    first = "none" if query.first_relevant is None else str(query.first_relevant)
    return (
        ("retrieved", f"{query.retrieved:,}"),
        ("relevant", f"{query.relevant:,}"),
        ("relevant among the retrieved", f"{query.relevant_retrieved:,}"),
        ("rank of the first relevant", first),
    )
