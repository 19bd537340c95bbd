"""The units of a run one by one: a form that chooses which, and a table that the server pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.listing import Address, Listed, listed, sorts
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import QUESTIONS, OpenedRun, TabView, label_kind, label_name
from ragauge.dashboard.rendering import drawn, render
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.dashboard.unit_list import LIST_FIELDS, list_fields, unit_query
from ragauge.reports.document import Cell, Column, Row, Table, Tone, number
from ragauge.reports.foreign import cut
from ragauge.reports.formats.html import written
from ragauge.reports.kinds import eval_all
from ragauge.reports.kinds import runs as story

if TYPE_CHECKING:
    from markupsafe import Markup

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
VALUES_OFFERED = 40
"""Of a stratum, the most frequent; others are reached through the pages of the gold set."""
ENDED: dict[bool | None, tuple[str, Tone]] = {
    True: ("right", "good"),
    False: ("wrong", "bad"),
    None: ("", "soft"),
}


def view(opened: OpenedRun) -> TabView:
    """A page of the units, with the form above it."""
    table = unit_table(opened, opened.asked)
    body = units_body(opened, table, opened.asked, QUESTIONS)
    return TabView(body=body, data={"questions": table.figures})


def units_body(opened: OpenedRun, table: UnitTable, asked: Asked, tab: str) -> Markup:
    """The form and the table, for any tab that has one."""
    address = opened.tab_address(tab)
    return render(
        "run_units.html",
        table=written([table.table(address)], sorting=opened.links.sorting),
        columns=table.columns,
        listed=table.listed,
        asked={name: asked.exact(name) for name in LIST_FIELDS},
        is_filtered=any(asked.text(name) for name in LIST_FIELDS if name != "sort"),
        labels=[
            (label, label_name(opened.kind, label), times)
            for label, times in opened.counts.labels.items()
        ],
        counts=opened.counts,
        strata=_strata(opened),
        metrics=sorted(opened.run.record.metrics),
        chosen=asked.texts("columns"),
        worst=WORST,
        right_means=right_means(opened.run.record.command),
        action=opened.links.run(opened.run.id, tab),
        address=address,
        links=opened.links,
    )


def _strata(opened: OpenedRun) -> dict[str, list[tuple[str, int]]]:
    """What questions can be filtered by, each value with its questions, the most frequent first."""
    sha256 = opened.run.record.gold_sha256
    known = opened.material.pages.strata(sha256) if sha256 else {}
    ranked = {
        name: sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:VALUES_OFFERED]
        for name, values in known.items()
    }
    return {name: values for name, values in sorted(ranked.items()) if len(values) > 1}


class ShownUnit(Struct, frozen=True):
    """A unit in the table."""

    row: UnitRow
    href: str | None
    question: str

    @property
    def said(self) -> str:
        """What was said, or why nothing was; details are as they were recorded, so of any kind."""
        given = (self.row.detail.get(name) for name in ("error", "claim", "answer"))
        return next((text for text in given if isinstance(text, str) and text), "")

    @property
    def cited(self) -> Sequence[str]:
        return _texts(self.row.detail.get("cited"))

    @property
    def fails(self) -> Sequence[str]:
        """Gates that it fails by itself."""
        return _texts(self.row.detail.get("failed"))


class UnitTable(Struct, frozen=True, kw_only=True):
    """A page of units, and the metrics that have a column."""

    kind: str
    """Of the run's report."""
    listed: Listed
    columns: Mapping[str, str]
    """The ids of the metrics, by the names to show."""
    rows: Sequence[ShownUnit]

    def table(self, address: Address) -> Table:
        """The page as it is shown, without columns that would be empty."""
        made = list(self._columns(address))
        return Table(
            paged=True,
            below=False,
            columns=[column for column, _ in made],
            rows=[Row(tuple(cells)) for cells in zip(*(cells for _, cells in made), strict=True)],
        )

    def _columns(self, address: Address) -> Iterator[tuple[Column, list[Cell]]]:
        here, rows = self.listed, self.rows
        yield (
            sorts("unit", "unit", here, address),
            [_text(one.row.unit, LONGEST_ID, href=one.href or "") for one in rows],
        )
        if any(one.question for one in rows):
            yield Column("question", prose=True), [_text(one.question) for one in rows]
        if any(one.row.label for one in rows):
            yield sorts("label", "label", here, address), [self._label(one.row) for one in rows]
        yield sorts("ended", "right", here, address), [_ended(one.row) for one in rows]
        if any(one.said for one in rows):
            yield (
                Column("said", spare=1, prose=True),
                [
                    _text(one.said, tone="bad" if one.row.detail.get("error") else "")
                    for one in rows
                ],
            )
        if any(one.cited for one in rows):
            yield Column("cited", spare=2), [_cited(one.cited) for one in rows]
        if any(one.fails for one in rows):
            fails = ([(text, text) for text in one.fails] for one in rows)
            yield Column("fails", spare=3), [Cell("", drawn=drawn("ids", one)) for one in fails]
        for id, name in self.columns.items():
            yield (
                sorts(name, id, here, address, right=True),
                [number(one.row.values.get(id)) for one in rows],
            )

    def _label(self, row: UnitRow) -> Cell:
        name = label_name(self.kind, row.label)
        return Cell(name, foreign=True, badge=label_kind(self.kind, row.label) if name else "")

    def figures(self) -> Figures:
        """The page as it is shown, a unit a row."""
        columns = ("unit", "question", "label", "right", "said", "cited", *self.columns)
        rows = (
            (
                one.row.unit,
                cut(one.question, LONGEST_TITLE),
                one.row.label,
                one.row.right,
                one.said,
                tuple(one.cited),
                *(one.row.values.get(id) for id in self.columns),
            )
            for one in self.rows
        )
        return Figures(columns, rows)


def _text(text: str, most: int = LONGEST, *, href: str = "", tone: Tone = "") -> Cell:
    short = cut(text, most)
    hint = "" if short == text else cut(text, LONGEST_TITLE)
    return Cell(short, tone=tone, foreign=True, href=href, hint=hint)


def _ended(row: UnitRow) -> Cell:
    word, tone = ENDED[row.right]
    return Cell(word, row.right, tone, drawn=drawn("ended", word, doubt(row)))


def _cited(ids: Sequence[str]) -> Cell:
    shown = [(cut(id, LONGEST_ID), cut(id, LONGEST_TITLE)) for id in ids[:IDS_SHOWN]]
    more = max(0, len(ids) - IDS_SHOWN)
    return Cell(" ".join(short for short, _ in shown), drawn=drawn("ids", shown, more))


def _texts(given: Any) -> Sequence[str]:
    return [str(one) for one in given] if isinstance(given, list | tuple) else ()


def unit_table(opened: OpenedRun, asked: Asked) -> UnitTable:
    """The units that the address asks for, each with the way to its own page."""
    known = opened.run.record.metrics
    wanted = asked.texts("columns")
    if unknown := [id for id in wanted if id not in known]:
        raise BadAddress(f'columns: this run has no metric "{unknown[0][:80]}"')
    if len(wanted) > MOST_COLUMNS:
        raise BadAddress(f"columns: {len(wanted)} are asked for, and there is room for 12")
    query = unit_query(asked, WORST)
    if query.sort not in SORTS and query.sort not in known:
        there = ", ".join((*SORTS, *sorted(known)))
        raise BadAddress(f'sort: "{query.sort[:80]}" is none of {there}')
    found = opened.material.pages.units(opened.run, query)
    fields = {"sort": WORST} | list_fields(asked)
    gold = _gold(opened, [row.unit for row in found.rows])
    return UnitTable(
        kind=opened.kind,
        listed=listed(found, asked, WORST),
        columns=story.short_names(dict.fromkeys(wanted) or metrics_shown(opened)),
        rows=[
            ShownUnit(
                row,
                opened.links.question(opened.run.id, row.unit, **fields),
                _asked(gold.get(row.unit)),
            )
            for row in found.rows
        ],
    )


def metrics_shown(opened: OpenedRun) -> list[str]:
    """The metrics that have a column unless others are chosen: those of gates first.

    Of several tasks in one run it is the numbers of the summary: a unit has those of its own.
    """
    if isinstance(opened.report, EvalAllReport):
        wanted = dict.fromkeys(one.metric for _, one in eval_all.ranked(opened.report))
        if told := [id for id in wanted if id in opened.report.metrics]:
            return told[:MOST_COLUMNS]
    gated = gated_metrics(opened.run)
    return list(dict.fromkeys([*gated, *story.headlines([opened.run])]))[:CHOSEN]


def gated_metrics(run: Run) -> list[str]:
    """The metrics that a gate speaks of, those of gates that do not hold first."""
    gates = sorted(run.record.gates, key=lambda gate: gate.holds)
    return list(dict.fromkeys(one.metric for one in gates if one.metric in run.record.metrics))


def question_text(opened: OpenedRun, unit: str) -> str:
    """What was asked; empty where the gold set does not tell, or holds only the unit's id."""
    return _asked(_gold(opened, [unit]).get(unit))


def _gold(opened: OpenedRun, units: Sequence[str]) -> dict[str, Gold]:
    sha256 = opened.run.record.gold_sha256
    return opened.material.pages.questions_with(sha256, units) if sha256 and units else {}


def _asked(gold: Gold | None) -> str:
    return gold.question if gold is not None and gold.question != gold.qid else ""
