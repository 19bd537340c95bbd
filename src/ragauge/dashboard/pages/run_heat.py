"""The heat map of a sweep, question by run: a page of questions, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import Struct, structs

from ragauge.contracts.history import UnitRow
from ragauge.contracts.paging import UnitQuery
from ragauge.contracts.run import FACTORS
from ragauge.contracts.stability import STABILITIES, Stability, StabilityReport
from ragauge.dashboard.listing import Listed
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView, ToRun
from ragauge.dashboard.rendering import render
from ragauge.dashboard.unit_list import unit_query
from ragauge.reports import numbers
from ragauge.reports.figures.heat_map import HeatMap, HeatRow, right_of, verdict_name
from ragauge.reports.kinds import stability

TAB = "heatmap"
RIGHT_RUNS = "stability.success"
"""The metric by which a question is worse than another of the same verdict."""
FIELDS = ("q", "label", "stratum")


class HeatPage(Struct, frozen=True, kw_only=True):
    """The questions of a page, as they are drawn, and those of which no letters are known."""

    rows: Sequence[UnitRow]
    drawn: Sequence[HeatRow]
    total: int


def view(opened: OpenedRun) -> TabView:
    """A page of the heat map, with the verdicts to choose from and what varies below it."""
    report: StabilityReport = opened.report
    asked = opened.asked
    label = asked.choice("label", STABILITIES)
    found = _page(opened, report, label)
    listed = Listed(found.rows, found.total, asked.start, asked.limit, "")
    fragments, to = opened.fragments, _Rows(opened, found.rows)
    drawing = HeatMap(columns=report.columns, rows=found.drawn, about=_words(report, found))
    body = render(
        "run_heat.html",
        drawing=drawing.svg(to) if found.drawn else "",
        undrawn=len(found.rows) - len(found.drawn),
        listed=listed,
        verdicts=[(one, verdict_name(one), n) for one, n in stability.verdict_counts(report)],
        reasons=[row for row in found.rows if isinstance(row.detail.get("explained_by"), str)],
        asked={name: asked.exact(name) for name in FIELDS},
        is_filtered=any(asked.text(name) for name in FIELDS),
        to=to,
        action=opened.links.run(opened.run.id, TAB),
        address=opened.tab_address(TAB),
        factors=fragments.part("factors") if fragments else "",
        links=opened.links,
    )
    figures = {
        "heatmap": lambda: _figures(report, found),
        "factors": lambda: _factor_figures(report),
    }
    return TabView(body=body, data=figures)


class _Rows(ToRun):
    """From a row to its question, among those of the same verdict, the worst first."""

    def __init__(self, opened: OpenedRun, rows: Sequence[UnitRow]) -> None:
        super().__init__(opened)
        given = {name: value for name in ("q", "stratum") if (value := opened.asked.exact(name))}
        order = {"sort": _order(opened)}
        self._lists = {
            row.unit: order | given | ({"label": row.label} if row.label else {}) for row in rows
        }

    def question(self, qid: str) -> str | None:
        opened = self._opened
        return opened.links.question(opened.run.id, qid, **self._lists.get(qid, {}))


def _order(opened: OpenedRun) -> str:
    return RIGHT_RUNS if RIGHT_RUNS in opened.run.record.metrics else "place"


def _page(opened: OpenedRun, report: StabilityReport, label: str | None) -> HeatPage:
    query = structs.replace(unit_query(opened.asked), sort=_order(opened), descending=False)
    # Words are looked for in all questions at once: once a verdict would take four times as long.
    all_at_once = label is not None or query.words
    rows, total = _worst_first(opened, query, (label,) if all_at_once else stability.WORST_FIRST)
    rows.sort(key=_by_verdict)
    letters = [(row, _letters(row, report)) for row in rows]
    drawn = [
        HeatRow(
            row.unit,
            query.start + place,
            cast("Stability", row.label),  # `_letters` has looked
            cells,
            _factor(row),
        )
        for place, (row, cells) in enumerate(letters, 1)
        if cells is not None
    ]
    return HeatPage(rows=rows, drawn=drawn, total=total)


def _worst_first(
    opened: OpenedRun, query: UnitQuery, labels: Sequence[str | None]
) -> tuple[list[UnitRow], int]:
    """A page of questions, verdict after verdict, each from its worst question on."""
    rows: list[UnitRow] = []
    total = 0
    for label in labels:
        wanted = structs.replace(
            query,
            label=label,
            start=max(0, query.start - total),
            limit=max(1, query.limit - len(rows)),
        )
        found = opened.material.pages.units(opened.run, wanted)
        rows += found.rows[: query.limit - len(rows)]
        total += found.total
    return rows, total


def _by_verdict(row: UnitRow) -> int:
    """Rows of a page stand together by verdict; those of none that we know come last."""
    names: Sequence[str | None] = stability.WORST_FIRST
    return names.index(row.label) if row.label in names else len(names)


def _letters(row: UnitRow, report: StabilityReport) -> str | None:
    """The letters of a question's runs; of an older run those that its summary has."""
    cells = row.detail.get("cells") or report.cells.get(row.unit)
    known = isinstance(cells, str) and len(cells) == len(report.columns)
    return cells if known and row.label in STABILITIES else None


def _factor(row: UnitRow) -> str:
    """The factor that flips a question, as its explanation names it; empty where there is none."""
    words = row.detail.get("explained_by")
    told = words if isinstance(words, str) else ""
    return next((factor for factor in FACTORS if f"differ in {factor} alone" in told), "")


def _words(report: StabilityReport, found: HeatPage) -> str:
    """The heat map in a sentence, for who cannot see it."""
    questions = numbers.counted(len(found.drawn), "question")
    runs = numbers.counted(len(report.columns), "run")
    return f"Heat map of {questions} by {runs}; the table below it has the same letters"


def _figures(report: StabilityReport, found: HeatPage) -> Figures:
    heads = [str(column) for column in report.columns]
    return Figures(
        ("question", "verdict", "flips_with", "right", "of", *heads), _figure_rows(found)
    )


def _figure_rows(found: HeatPage) -> Iterator[tuple[object, ...]]:
    for one in found.drawn:
        yield (one.qid, one.verdict, one.factor, *right_of(one.cells), *one.cells)


def _factor_figures(report: StabilityReport) -> Figures:
    rows = [
        (name, one.pairs, one.differ, one.rate)
        for name, one in stability.factor_effects(report.factors)
    ]
    return Figures(("factor", "pairs", "differ", "rate"), rows)
