"""The units of a run as a table that the server pages: found, filtered, sorted by any column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import UnitQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.listing import Listed, listed
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.label_drawing import label_kind, label_name
from ragauge.dashboard.pages.opened_run import OpenedRun
from ragauge.dashboard.rightness import doubt
from ragauge.dashboard.unit_list import list_fields, unit_query
from ragauge.reports.foreign import cut
from ragauge.reports.kinds import eval_all
from ragauge.reports.kinds import runs as story

WORST = "right"
"""The order unless another is asked for: what went wrong first, then as it was recorded."""
SORTS = ("place", "unit", "label", "right")
CHOSEN = 3
"""Metrics that have a column unless others are chosen."""
MOST_COLUMNS = 12
LONGEST, LONGEST_ID = 200, 40
"""Characters of a text and of an id in a cell; pointing at it shows more."""
LONGEST_TITLE = 2_000
IDS_SHOWN = 6


class Text(Struct, frozen=True):
    """A foreign text in a cell, and as much of it as pointing at it shows."""

    short: str
    title: str = ""
    """Empty where the cell has all of it."""

    def __bool__(self) -> bool:
        return bool(self.short)


class ShownUnit(Struct, frozen=True, kw_only=True):
    """A unit in the table."""

    row: UnitRow
    href: str | None
    unit: Text
    question: Text
    kind: str
    """How its label is drawn."""
    label: str
    right: str
    doubt: str
    """Why what is right may yet be wrong."""
    said: Text
    failed: bool
    """What it said is an error."""
    cited: tuple[Text, ...]
    more_cited: int
    fails: tuple[str, ...]
    """Gates that it fails by itself."""
    values: tuple[float | None, ...]


class UnitTable(Struct, frozen=True, kw_only=True):
    """A page of units, and what stands over it."""

    query: UnitQuery
    listed: Listed
    columns: Mapping[str, str]
    """The ids of the metrics that have a column, by the names to show."""
    rows: Sequence[ShownUnit]

    def has(self, name: str) -> bool:
        """Whether some row of this page has anything under a column."""
        return any(getattr(row, name) for row in self.rows)

    def figures(self) -> Figures:
        """The page as it is shown, a unit a row."""
        columns = ("unit", "question", "label", "right", "said", "cited", *self.columns)
        rows = (
            (
                one.row.unit,
                one.question.title or one.question.short,
                one.row.label,
                one.row.right,
                _said(one.row.detail),
                tuple(_texts(one.row.detail.get("cited"))),
                *one.values,
            )
            for one in self.rows
        )
        return Figures(columns, rows)


def unit_table(opened: OpenedRun, asked: Asked) -> UnitTable:
    """The units that the address asks for, each with the way to its own page."""
    columns = _columns(opened, asked)
    query = unit_query(asked, WORST)
    if query.sort not in SORTS and query.sort not in opened.run.record.metrics:
        known = ", ".join((*SORTS, *sorted(opened.run.record.metrics)))
        raise BadAddress(f'sort: "{query.sort[:80]}" is none of {known}')
    found = opened.material.pages.units(opened.run, query)
    fields = {"sort": WORST} | list_fields(asked)
    gold = _gold(opened, [row.unit for row in found.rows])
    return UnitTable(
        query=query,
        listed=listed(found, asked, WORST),
        columns=columns,
        rows=[_shown(opened, row, gold.get(row.unit), columns, fields) for row in found.rows],
    )


def metrics_shown(opened: OpenedRun) -> list[str]:
    """The metrics that have a column unless others are chosen: those of gates first.

    Of several tasks in one run it is the numbers of the summary: a unit has those of its own.
    """
    if isinstance(opened.report, EvalAllReport) and (told := _summary(opened.report)):
        return told
    wanted = [*gated_metrics(opened.run), *story.headlines([opened.run])]
    return list(dict.fromkeys(wanted))[:CHOSEN]


def gated_metrics(run: Run) -> list[str]:
    """The metrics that a gate speaks of, those of gates that do not hold first."""
    gates = sorted(run.record.gates, key=lambda gate: gate.holds)
    return list(dict.fromkeys(one.metric for one in gates if one.metric in run.record.metrics))


def _summary(report: EvalAllReport) -> list[str]:
    wanted = (one.metric for _, one in eval_all.ranked(report))
    return [id for id in dict.fromkeys(wanted) if id in report.metrics][:MOST_COLUMNS]


def question_text(opened: OpenedRun, unit: str) -> str:
    """What was asked; empty where the gold set does not tell, or holds only the unit's id."""
    return _asked(_gold(opened, [unit]).get(unit))


def _gold(opened: OpenedRun, units: Sequence[str]) -> dict[str, Gold]:
    sha256 = opened.run.record.gold_sha256
    return opened.material.pages.questions_with(sha256, units) if sha256 and units else {}


def _asked(gold: Gold | None) -> str:
    return gold.question if gold is not None and gold.question != gold.qid else ""


def _columns(opened: OpenedRun, asked: Asked) -> dict[str, str]:
    wanted = asked.texts("columns")
    unknown = [id for id in wanted if id not in opened.run.record.metrics]
    if unknown:
        raise BadAddress(f'columns: this run has no metric "{unknown[0][:80]}"')
    if len(wanted) > MOST_COLUMNS:
        raise BadAddress(f"columns: {len(wanted)} are asked for, and there is room for 12")
    return story.short_names(dict.fromkeys(wanted) or metrics_shown(opened))


def _shown(
    opened: OpenedRun,
    row: UnitRow,
    gold: Gold | None,
    columns: Iterable[str],
    fields: Mapping[str, str],
) -> ShownUnit:
    cited = tuple(_texts(row.detail.get("cited")))
    return ShownUnit(
        row=row,
        href=opened.links.question(opened.run.id, row.unit, **fields),
        unit=_text(row.unit, LONGEST_ID),
        question=_text(_asked(gold)),
        kind=label_kind(opened.kind, row.label),
        label=label_name(opened.kind, row.label),
        right={True: "right", False: "wrong", None: ""}[row.right],
        doubt=doubt(row),
        said=_text(_said(row.detail)),
        failed=bool(row.detail.get("error")),
        cited=tuple(_text(id, LONGEST_ID) for id in cited[:IDS_SHOWN]),
        more_cited=max(0, len(cited) - IDS_SHOWN),
        fails=tuple(_texts(row.detail.get("failed"))),
        values=tuple(row.values.get(id) for id in columns),
    )


def _text(text: str, most: int = LONGEST) -> Text:
    short = cut(text, most)
    return Text(short, "" if short == text else cut(text, LONGEST_TITLE))


def _said(detail: Mapping[str, Any]) -> str:
    """What was said, or why nothing was; details are as they were recorded, so of any kind."""
    for name in ("error", "claim", "answer"):
        if isinstance(text := detail.get(name), str) and text:
            return text
    return ""


def _texts(given: Any) -> Sequence[str]:
    return [str(one) for one in given] if isinstance(given, list | tuple) else ()
