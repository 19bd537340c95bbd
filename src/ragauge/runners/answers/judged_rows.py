"""A judge's scores of labelled answers: from the rows, from a file of scores, or by asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail
from ragauge.contracts.finding import Finding
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answered.records import placed_records
from ragauge.ingest.answered.shapes import own_id
from ragauge.ingest.fields import BadField, expected, number, quoted
from ragauge.ingest.records import SHOWN
from ragauge.metrics.table import find, reading
from ragauge.runners.answers.evaluation import ReadAnswers, outcome_of_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.labelled import POSITION, Labelled, LabelledRows
from ragauge.runners.answers.labelling import field_of
from ragauge.runners.answers.makers import UNNAMED, makers_of
from ragauge.runners.answers.options import JUDGED, LEXICAL, AnswerOptions, check_options
from ragauge.runners.options import chosen_options

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source

DEFAULT_METRIC = "faithfulness"
FAMILY = "answers."
NO_SCORE = "the judge gave no score"
UNKNOWN = "the file of scores has no row of this id"
COVERAGE = "coverage"
"""Stands in every file of scores, and is no score of a judge."""
_PREFIX = "lexical_"


class Said(Struct, frozen=True):
    """What a judge said of one answer."""

    value: float | None
    reason: str | None = None
    """Why there is no value."""


class JudgedRows(Struct, frozen=True, kw_only=True):
    """The scores of labelled rows, in their order, and whose they are."""

    said: Sequence[Said]
    metric: str
    """Without its family."""
    judge: str


def asked_scores(
    labelled: LabelledRows, metric: str | None, asking: Asking, given: Mapping[str, Any]
) -> JudgedRows:
    """The scores that a judge gives when it is asked, through the evaluation of answers."""
    name = (metric or DEFAULT_METRIC).removeprefix(FAMILY)
    if given["judge"] == LEXICAL and not name.startswith(_PREFIX):
        name = f"{_PREFIX}{name}"
    told = {key: value for key, value in given.items() if value is not None}
    told |= {"metrics": (name,), "intervals": False}
    options = chosen_options(AnswerOptions, "eval answers", told)
    check_options("answers", options)
    read = ReadAnswers(
        task="answers",
        rows=[one.row for one in labelled.rows],
        given=[one.row.id for one in labelled.rows],
        findings=labelled.findings,
        problems=(),
        coverage={},
    )
    outcome = outcome_of_answers(read, options, asking)
    detail = outcome.report.detail
    judge = detail.judge if isinstance(detail, AnswerDetail) else None
    maker, *_ = makers_of(find(name, "answers"), judge, options)
    values = [one.scores[name] for one in outcome.scores]
    said = [Said(value["value"], value["reason"] or NO_SCORE) for value in values]
    return JudgedRows(said=said, metric=name, judge=maker)


def own_scores(
    labelled: LabelledRows, field: str | None, metric: str | None, judge: str | None
) -> JudgedRows:
    """The scores that stand in the rows themselves: in a field, or under `scores`."""
    problems: list[str] = []
    if field is not None:
        if not any(field_of(one.record, field) is not None for one in labelled.rows):
            raise InputRejected(f"{labelled.name}: no row has {quoted(field)}, the judge's score")
        found = [_held(field_of(one.record, field)) for one in labelled.rows]
        name = (metric or field.rpartition(".")[2]).removeprefix(FAMILY)
    else:
        name = _metric_of([one.record for one in labelled.rows], metric, labelled.name)
        found = [_score_of(one.record, name) for one in labelled.rows]
    said = [
        _checked(held, one.row.where, field or f"scores.{name}", problems)
        for one, held in zip(labelled.rows, found, strict=True)
    ]
    _refuse(problems)
    return JudgedRows(said=said, metric=name, judge=_judge(name, judge, labelled))


def joined_scores(
    labelled: LabelledRows, scores: Source, metric: str | None, judge: str | None
) -> JudgedRows:
    """The scores of a file, such as `ragauge eval answers --out` writes, joined by id."""
    problems: list[str] = []
    placed = list(placed_records(scores, problems, None, "scores"))
    there = [record for _, record in placed if isinstance(record, Mapping)]
    told = str(scores) if not isinstance(scores, list | tuple) else "scores"
    name = _metric_of(there, metric, told)
    by_id: dict[tuple[str, str | None], Said] = {}
    for place, record in placed:
        id = own_id(record)
        if id is None:
            problems.append(f"{place}: id: missing; a score is joined to its answer by it")
            continue
        key = (str(id), _position(record))
        if key in by_id:
            problems.append(f"{place}: id: {quoted(str(id))} stands twice; keep one")
        by_id[key] = _checked(_score_of(record, name), place, f"scores.{name}", problems)
    _refuse(problems)
    said = [_joined(one, by_id) for one in labelled.rows]
    return JudgedRows(said=said, metric=name, judge=_judge(name, judge, labelled))


def _judge(metric: str, named: str | None, labelled: LabelledRows) -> str:
    """Whose scores these are; a metric that needs no endpoint is the sentence supporter's."""
    known = reading("answers").get(f"{FAMILY}{metric}")
    if named is None and known is not None and not known.needs & JUDGED:
        return LEXICAL
    if named is None:
        fact = "the judge has no name; give --judge-model, so that its later reports show this"
        labelled.findings.add(Finding("unnamed_judge", labelled.name, fact))
    return named or UNNAMED


def _joined(one: Labelled, by_id: Mapping[tuple[str, str | None], Said]) -> Said:
    found = by_id.get((one.given, _position(one.record))) or by_id.get((one.given, None))
    return found or Said(None, UNKNOWN)


def _position(record: Mapping[str, Any]) -> str | None:
    value = record.get(POSITION)
    return None if value is None else str(value)


def _metric_of(records: Sequence[Mapping[str, Any]], metric: str | None, name: str) -> str:
    """The metric to calibrate: the one that is named, or the only one there is."""
    there = sorted({key for record in records for key in _scores(record)} - {COVERAGE})
    if metric is not None:
        short = metric.removeprefix(FAMILY)
        if short not in there and not any(short in record for record in records):
            known = f"there is {', '.join(map(quoted, there[:12]))}" if there else "there is none"
            raise InputRejected(f"{name}: no row has a score of {quoted(short)}; {known}")
        return short
    if not there:
        raise InputRejected(
            f"{name}: no row has `scores`; name their field with --score, a file of scores with "
            "--scores, or a judge to ask with --judge"
        )
    if len(there) > 1:
        raise UsageError(f"{name}: has scores of {', '.join(there[:12])}; say which with --metric")
    return there[0]


def _scores(record: Mapping[str, Any]) -> Mapping[str, Any]:
    held = record.get("scores")
    return held if isinstance(held, Mapping) else {}


def _score_of(record: Mapping[str, Any], name: str) -> tuple[Any, str | None]:
    held = _scores(record).get(name)
    return _held(record.get(name) if held is None else held)


def _held(found: Any) -> tuple[Any, str | None]:
    """A value and its reason: a score is a number, or an object that has them."""
    if isinstance(found, Mapping):
        reason = found.get("reason")
        return found.get("value"), reason if isinstance(reason, str) else None
    return found, None


def _checked(held: tuple[Any, str | None], place: str, field: str, problems: list[str]) -> Said:
    value, reason = held
    if value is None or value == "":
        return Said(None, reason or NO_SCORE)
    try:
        if isinstance(value, str):
            value = _written(value, field)
        return Said(float(value) if isinstance(value, bool) else float(number(value, field)))
    except BadField as fault:
        problems.append(f"{place}: {fault}")
        return Said(None, NO_SCORE)


def _written(cell: str, field: str) -> float:
    """A number as a table holds it."""
    try:
        return float(cell)
    except ValueError:
        raise BadField(field, f"{expected('a number', cell)} {quoted(cell)}") from None


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise InputRejected(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))
