"""The questions of a run for the one file: which have a view, and the table of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, get_args

from msgspec import Struct, structs

from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import LONGEST_PAGE, Paged, Rightness, UnitQuery
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.dashboard.rendering import render

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragauge.dashboard.pages.opened_run import OpenedRun
    from ragauge.dashboard.pages.run_questions import UnitTable

WORST: tuple[Rightness, ...] = ("wrong", "untold", "right")
assert set(WORST) == set(get_args(Rightness))


class Units(Struct, frozen=True):
    """The table of questions, and how many it leaves out."""

    body: Markup
    shown: int
    total: int
    figures: Mapping[str, Callable[[], Figures]] = {}

    def told(self) -> Markup:
        return render("report_file_units.html", shown=self.shown, total=self.total)


def first_units(material: Material, run: Run, most: int) -> Paged[UnitRow]:
    """The first units of a run, those that went wrong before all others."""
    found: list[UnitRow] = []
    total = 0
    for right in WORST:
        start = 0
        while True:
            limit = max(1, min(LONGEST_PAGE, most - len(found)))
            page = material.pages.units(run, UnitQuery(right=right, start=start, limit=limit))
            found += page.rows[: most - len(found)]
            start += len(page.rows)
            if not page.rows or len(found) >= most or start >= page.total:
                total += page.total
                break
    return Paged(rows=tuple(found), total=total, start=0)


def listed_units(opened: OpenedRun, most: int) -> Units:
    """The units as the run's page lists them, up to so many in one table."""
    from ragauge.dashboard.pages.opened_run import QUESTIONS
    from ragauge.dashboard.pages.run_questions import units_body

    table = _whole_table(opened, most)
    body = units_body(opened, table, opened.asked, QUESTIONS)
    return Units(body, len(table.rows), table.listed.total, {"questions": table.figures})


def _whole_table(opened: OpenedRun, most: int) -> UnitTable:
    from ragauge.dashboard.pages.run_questions import (
        MOST_COLUMNS,
        gated_metrics,
        metrics_shown,
        unit_table,
    )

    # A reader of the file cannot choose columns: all that a gate speaks of are there.
    wanted = dict.fromkeys([*metrics_shown(opened), *gated_metrics(opened.run)])
    columns = [("columns", id) for id in wanted][:MOST_COLUMNS]

    def page(start: int) -> UnitTable:
        limit = max(1, min(LONGEST_PAGE, most - start))
        fields = (("start", str(start)), ("rows", str(limit)), *columns)
        return unit_table(opened, Asked(fields, opened.asked.path))

    table = page(0)
    rows = list(table.rows)
    while len(rows) < min(most, table.listed.total) and (more := page(len(rows)).rows):
        rows += more
    listed = structs.replace(table.listed, rows=[one.row for one in rows], size=len(rows))
    return structs.replace(table, rows=rows, listed=listed)
