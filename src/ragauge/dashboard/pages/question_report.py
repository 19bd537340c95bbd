"""What a run's report says of one unit: its values, its errors, how its support was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import structs

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Groundedness
from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalAllReport,
    EvalReport,
    LabelDetail,
    LinkDetail,
    RankingDetail,
)
from ragauge.contracts.facts import Facts
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.stability import StabilityReport
from ragauge.dashboard.links import Links
from ragauge.dashboard.pages.question_trace import LONGEST_TEXT
from ragauge.metrics.table import table
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Cell, Column, Section, Span, Table, Text, names
from ragauge.reports.kinds.evaluation_errors import errors_table, unit_of
from ragauge.reports.kinds.evaluation_rankings import queries

SHOWN_APART = frozenset(
    ("claim", "cited", "error", "explained_by", "failed", "cells", "triage", "question", "broken")
)
"""Details that have a place of their own on the page."""
UNKNOWN = "it does not apply to this one"
NOT_KEPT = "not kept in the summary"
MOST_ERRORS = 100
"""Errors of a unit that are shown."""
MENTION = re.compile(r":\d+–\d+$")
"""What the key of a mention has after its document."""


def values(
    run: Run, row: UnitRow, report: Any, unit: str, facts: Facts | None, links: Links
) -> Table:
    """The metrics of the run in the order of their ids, those that do not apply with the reason.

    Where several tasks share a run, only those of the unit's own.
    """
    known, reasons = table(), _reasons(report, unit)
    families = {id.partition(".")[0] for id in row.values}
    every = sorted(run.record.metrics)

    def counts(id: str) -> Cell:
        metric, counts = known.get(id), row.counts.get(id, ())
        is_rate = metric is not None and metric.rate and len(counts) == 2
        return Cell(f"{counts[0]:,} of {counts[1]:,}" if is_rate else "", tone="dim")

    def meaning(id: str) -> Cell:
        summary = known[id].summary if id in known else ""
        better = f"{run.record.metrics[id].better.capitalize()} is better."
        return Cell(f"{summary} {better}".strip(), tone="dim")

    def reason(id: str) -> Cell:
        metric, given = known.get(id), reasons or {}
        words = given.get(id) or given.get(id.partition(".")[2], "")
        # A metric of another package is not called to make a page.
        is_own = metric is not None and metric.measure.__module__.startswith("ragauge.")
        if not words and metric and is_own and facts is not None and metric.reads == "facts":
            words = metric(facts).reason or ""
        if not words and row.values.get(id) is None:
            words = NOT_KEPT if reasons is None else UNKNOWN
        return names(words, "dim")

    return doc.table(
        [id for id in every if id.partition(".")[0] in families] or every,
        {
            "metric": lambda one: Cell(one, foreign=True, href=links.history(one) or ""),
            Column("value", right=True): lambda one: doc.number(row.values.get(one)),
            Column("counts", right=True, spare=1): counts,
            Column("meaning", spare=2, prose=True): meaning,
            Column("reason", prose=True): reason,
        },
        below=False,
        name="values",
    )


def _reasons(report: Any, unit: str) -> dict[str, str] | None:
    """Why numbers are absent; None where the report has others and the unit was cut."""
    report, unit = of_its_task(report, unit)
    if isinstance(report, StabilityReport):
        one = report.details.get(unit)
        return dict(one.reasons) if one else None
    if isinstance(report, EvalReport) and isinstance(report.detail, AnswerDetail):
        return next((dict(one.reasons) for one in report.detail.answers if one.id == unit), None)
    return {}


def details_of(row: UnitRow) -> list[tuple[str, str]]:
    """What else the row says, in words."""

    def words(value: Any) -> str:
        if isinstance(value, list | tuple):
            return ", ".join(filter(None, map(words, value)))
        if value is None or isinstance(value, str):
            return value or ""
        return msgspec.json.encode(value).decode()

    details = sorted(row.detail.items())
    return [(name, words(value)) for name, value in details if name not in SHOWN_APART]


def of_its_task(report: Any, unit: str) -> tuple[Any, str]:
    """Of a report on several tasks the one that the unit belongs to, and its id there."""
    if not isinstance(report, EvalAllReport):
        return report, unit
    task, _, id = unit.partition("/")
    return report.tasks.get(task), id


def errors(report: Any, unit: str, right: bool | None) -> Iterator[Block]:
    """The errors about the unit, of those that the report keeps."""
    report, unit = of_its_task(report, unit)
    blocks: list[Block] = []
    match detail := report.detail if isinstance(report, EvalReport) else None:
        case LabelDetail():
            for pair in detail.confusions:
                if unit in pair.examples:
                    words = f"{pair.predicted}; gold label: {pair.gold}"
                    blocks.append(Text([Span("Predicted label: "), *doc.theirs(words)]))
        case RankingDetail():
            kept = tuple(one for one in detail.queries if one.query == unit)
            made = queries(report, structs.replace(detail, queries=kept))
            blocks += [structs.replace(made, title="", remark="")] if kept else []
        case EntityDetail() | LinkDetail():
            # A mention is the unit, or in the document that is: `doc:12–20`.
            found = [
                one
                for one in detail.errors
                if unit in (unit_of(one), MENTION.sub("", unit_of(one)))
            ][:MOST_ERRORS]
            blocks += [structs.replace(errors_table(found), title="")] if found else []
        case _:
            return
    if not blocks and (right is not True or isinstance(detail, RankingDetail)):
        blocks = [Text("The summary of the report has no details of this one.", "soft")]
    if blocks:
        title = "Ranking" if isinstance(detail, RankingDetail) else "Errors"
        yield Section(title=title, blocks=blocks)


VALUE, GROUNDED = "answers.groundedness", "answers.grounded"
NEAR = 1e-6
"""Scores that differ by less are rounded differently."""
CUT = f"Only the first chunks, and {LONGEST_TEXT:,} characters of each, are compared here."
OTHERWISE = "The value computed here differs, so the sentences may not be what the run measured."


def kind_of(run: Run, unit: str, report: Any) -> AnswerKind | None:
    """What kind of text the run took the answer for; None where that is seen from the answer."""
    # Of a run of several tasks the options are those of the unit's own.
    identity: Any = run.record.identity
    tasks = identity.get("tasks")
    task = tasks.get(unit.partition("/")[0]) if isinstance(tasks, dict) else None
    options = (task if isinstance(task, dict) else identity).get("options")
    given = options.get("kind") if isinstance(options, dict) else None
    own, id = of_its_task(report, unit)
    if isinstance(own, EvalReport) and isinstance(own.detail, AnswerDetail):
        # A row may name its own kind.
        given = given or next((one.kind for one in own.detail.answers if one.id == id), None)
    return next((kind for kind in ANSWER_KINDS if kind == given), None)


def verdict(run: Run, row: UnitRow | None, found: Groundedness | None, *, is_cut: bool) -> str:
    """The groundedness that the run recorded; where it did not measure it, the one found here."""
    recorded = row.values.get(VALUE) if row else None
    grounded = row.values.get(GROUNDED) == 1 if row and GROUNDED in row.values else None
    note = CUT if is_cut else ""
    if recorded is not None:
        here = found.value if found else recorded
        note = note or ("" if here is not None and abs(here - recorded) <= NEAR else OTHERWISE)
        source, value = "Groundedness in the run", recorded
    elif found and found.value is not None and not note and VALUE not in run.record.metrics:
        source, value, grounded = "Groundedness", found.value, found.grounded
    else:
        return note
    word = "" if grounded is None else ", grounded" if grounded else ", not grounded"
    return f"{source}: {numbers.value(value)}{word}. {note}".strip()
