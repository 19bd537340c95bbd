"""What a run's report says of one unit: its values, its errors, how its support was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Groundedness
from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalAllReport,
    EvalReport,
    LabelDetail,
    LinkDetail,
    RankingDetail,
    ShownSpan,
)
from ragauge.contracts.facts import Facts
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.stability import StabilityReport
from ragauge.dashboard.pages.question_trace import LONGEST_TEXT
from ragauge.metrics.table import table

SHOWN_APART = frozenset(
    ("claim", "cited", "error", "explained_by", "failed", "cells", "triage", "question", "broken")
)
"""Details that have a place of their own on the page."""
UNKNOWN = "it does not apply to this one"
NOT_KEPT = "not kept in the summary"


class UnitValue(Struct, frozen=True, kw_only=True):
    """A metric of the unit."""

    id: str
    value: float | None
    counts: str
    meaning: str
    reason: str
    better: str


def values_of(
    run: Run, row: UnitRow, report: Any, unit: str, facts: Facts | None
) -> list[UnitValue]:
    """The metrics of the run in the order of their ids, those that do not apply with the reason.

    Where several tasks share a run, only those of the unit's own.
    """
    known, told = table(), _reasons(report, unit)
    absent = UNKNOWN if told is not None else NOT_KEPT
    families = {id.partition(".")[0] for id in row.values}
    every = sorted(run.record.metrics)
    found = []
    for id in [id for id in every if id.partition(".")[0] in families] or every:
        metric, value, counts = known.get(id), row.values.get(id), row.counts.get(id, ())
        reason = (told or {}).get(id) or (told or {}).get(id.partition(".")[2], "")
        # A metric of another package is not called to make a page.
        is_own = metric is not None and metric.measure.__module__.startswith("ragauge.")
        if not reason and metric and is_own and facts is not None and metric.reads == "facts":
            reason = metric(facts).reason or ""
        is_rate = metric is not None and metric.rate and len(counts) == 2
        one = UnitValue(
            id=id,
            value=value,
            counts=f"{counts[0]:,} of {counts[1]:,}" if is_rate else "",
            meaning=metric.summary if metric else "",
            reason=reason or (absent if value is None else ""),
            better=run.record.metrics[id].better,
        )
        found.append(one)
    return found


def _reasons(report: Any, unit: str) -> dict[str, str] | None:
    """Why numbers are absent; None where the report tells of others and the unit was cut."""
    report, unit = of_its_task(report, unit)
    if isinstance(report, StabilityReport):
        one = report.details.get(unit)
        return dict(one.reasons) if one else None
    if isinstance(report, EvalReport) and isinstance(report.detail, AnswerDetail):
        return next((dict(one.reasons) for one in report.detail.answers if one.id == unit), None)
    return {}


def details_of(row: UnitRow) -> list[tuple[str, str]]:
    """What else the row says, in words."""
    told = ((name, _words(value)) for name, value in sorted(row.detail.items()))
    return [(name, words) for name, words in told if words and name not in SHOWN_APART]


def _words(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_words, value)))
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


MOST_ERRORS = 100
"""Errors of a unit that are shown."""


class UnitError(Struct, frozen=True, kw_only=True):
    """Something wrong with the unit."""

    kind: str
    before: str = ""
    gold: str = ""
    predicted: str = ""
    after: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    where: str = ""


def of_its_task(report: Any, unit: str) -> tuple[Any, str]:
    """Of a report on several tasks the one that the unit belongs to, and its id there."""
    if not isinstance(report, EvalAllReport):
        return report, unit
    task, _, id = unit.partition("/")
    return report.tasks.get(task), id


def errors_of(report: Any, unit: str) -> list[UnitError]:
    """The errors about the unit, of those that the report keeps."""
    report, unit = of_its_task(report, unit)
    errors = _errors(report.detail, unit) if isinstance(report, EvalReport) else ()
    return list(errors)[:MOST_ERRORS]


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


def _errors(detail: Any, unit: str) -> Iterator[UnitError]:
    match detail:
        case EntityDetail():
            for entity in detail.errors:
                if entity.document == unit:
                    yield UnitError(
                        kind=entity.kind.replace("_", " "),
                        before=entity.before,
                        gold=_span(entity.gold),
                        predicted=_span(entity.predicted),
                        after=entity.after,
                        where=entity.where,
                    )
        case LinkDetail():
            for link in detail.errors:
                # A mention is the unit, or in the document that is: `doc:12–20`.
                document, _, span = link.key.rpartition(":")
                if link.key == unit or (document == unit and "–" in span):
                    rank = "" if link.rank is None else str(link.rank)
                    facts = (("rank", rank), ("context", link.context or ""))
                    yield UnitError(
                        kind=link.kind.replace("_", " "),
                        gold=", ".join(link.gold),
                        predicted=", ".join(link.predicted),
                        facts=(("mention", link.mention), *(one for one in facts if one[1])),
                        where=link.where,
                    )
        case LabelDetail():
            for one in detail.confusions:
                if unit in one.examples:
                    kind = "taken for another"
                    yield UnitError(kind=kind, gold=one.gold, predicted=one.predicted)
        case RankingDetail():
            for query in detail.queries:
                if query.query == unit:
                    first = query.first_relevant
                    ranking = (
                        ("retrieved", f"{query.retrieved:,}"),
                        ("relevant", f"{query.relevant:,}"),
                        ("relevant among the retrieved", f"{query.relevant_retrieved:,}"),
                        ("rank of the first relevant", "none" if first is None else str(first)),
                    )
                    yield UnitError(kind="ranking", facts=ranking)


def _span(span: ShownSpan | None) -> str:
    if span is None:
        return ""
    return f"{span.text or ''} [{span.type} {span.start}–{span.end}]".strip()


VALUE, GROUNDED = "answers.groundedness", "answers.grounded"
NEAR = 1e-6
"""Scores that differ by less are rounded differently."""

CALIBRATED = (
    "The run was made with a calibration of its own, which is not at hand here: its threshold is "
    "another, and the sentences are measured without it."
)
CUT = (
    f"Of a chunk the first {LONGEST_TEXT:,} characters are looked at, or not every chunk is: what "
    "the rest supports is not seen here."
)
OTHERWISE = (
    "Measured here the answer comes to another number, so the sentences may not be what the run "
    "saw."
)
UNMEASURED = "The run measured groundedness and has none of this answer: its values say why."


class Measured(Struct, frozen=True, kw_only=True):
    """What a run says of an answer's support; nothing of its own where it did not measure it."""

    kind: AnswerKind | None = None
    """What kind of text the answer was taken for; None where that is seen from it."""
    calibrated: bool = False
    asked: bool = False
    """Groundedness is among the run's metrics."""
    value: float | None = None
    grounded: bool | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """What the answer comes to as a whole."""

    value: float | None = None
    grounded: bool | None = None
    threshold: float | None = None
    recorded: bool = False
    """The number is the run's own."""
    note: str = ""
    """Why there is no verdict of the page's own."""


def measured_by(run: Run, row: UnitRow | None, report: Any) -> Measured:
    """The options that the run measured the unit's answer with, and the numbers it recorded."""
    values: Mapping[str, float] = row.values if row else {}
    unit = row.unit if row else ""
    # Of a run of several tasks the options are those of the unit's own.
    identity: Any = run.record.identity
    tasks = identity.get("tasks")
    task = tasks.get(unit.partition("/")[0]) if isinstance(tasks, dict) else None
    options = (task if isinstance(task, dict) else identity).get("options")
    options = options if isinstance(options, dict) else {}
    kind = next((kind for kind in ANSWER_KINDS if kind == options.get("kind")), None)
    own, id = of_its_task(report, unit)
    if kind is None and isinstance(own, EvalReport) and isinstance(own.detail, AnswerDetail):
        # A row may name its own kind.
        kind = next((one.kind for one in own.detail.answers if one.id == id), None)
    grounded = values.get(GROUNDED)
    return Measured(
        kind=kind,
        calibrated=bool(options.get("calibration")),
        asked=VALUE in run.record.metrics,
        value=values.get(VALUE),
        grounded=None if grounded is None else grounded == 1,
    )


def verdict(measured: Measured, found: Groundedness | None, *, is_cut: bool) -> Verdict:
    """The record's verdict where there is one, else what was found for the page, if it may be."""
    note = CALIBRATED if measured.calibrated else CUT if is_cut else ""
    if measured.value is not None:
        here = found.value if found else measured.value
        is_near = here is not None and abs(here - measured.value) <= NEAR
        note = note or ("" if is_near else OTHERWISE)
        return Verdict(
            value=measured.value,
            grounded=measured.grounded,
            threshold=found.threshold if found and not note else None,
            recorded=True,
            note=note,
        )
    note = note or (UNMEASURED if measured.asked else "")
    if note or found is None:
        return Verdict(note=note)
    return Verdict(value=found.value, grounded=found.grounded, threshold=found.threshold)
