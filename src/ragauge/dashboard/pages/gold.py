"""The page of gold sets: which there are, and what was measured with each."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.contracts.paging import GoldSet, Paged
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import addresses, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.gold_set import command_of_units
from ragauge.dashboard.rendering import drawn, render
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Cell, Column, Row, Table, count
from ragauge.reports.formats.html import written
from ragauge.reports.kinds.runs import when

NEWEST = "-last"
COLUMNS = (
    Column("set"),
    Column("questions", right=True),
    Column("answerable", right=True),
    Column("unanswerable", right=True),
    Column("answerable of all", plot=True),
    Column("runs", right=True),
    Column("first used (UTC)", spare=1),
    Column("last used (UTC)"),
    Column("last run"),
)
FIGURES = (
    *("sha256", "questions", "answerable", "unanswerable", "runs", "first", "last"),
    "units_of",
)


class SetRow(Struct, frozen=True):
    """A gold set in the list, with the run it was last used by."""

    set: GoldSet
    newest: Run | None
    units_of: str | None
    """The command whose units it has in place of questions; None where it has questions."""

    def cells(self, links: Links) -> Iterator[Cell]:
        one, newest = self.set, self.newest
        href, short = links.gold(one.sha256), one.sha256[:ID_SHOWN]
        yield Cell(short, drawn=drawn("named", href, short, "", True))
        if self.units_of:
            units = f"{numbers.counted(one.questions, 'unit')} of {self.units_of}"
            yield Cell(units, one.questions, foreign=True)
            yield from (count(None), count(None), Cell(""))
        else:
            yield count(one.questions)
            yield count(one.answerable)
            yield count(one.questions - one.answerable)
            share = one.answerable / one.questions if one.questions else 0
            yield Cell("", share, plot=Bar(share))
        yield count(one.runs)
        yield Cell(when(one.first), one.first)
        yield Cell(when(one.last), one.last)
        if newest is None:
            yield Cell("")
        else:
            named = (links.run(newest.id), newest.record.name, newest.record.command)
            yield Cell(newest.record.name, drawn=drawn("named", *named))

    def figures(self) -> list[object]:
        one = self.set
        answers = (one.answerable, one.questions - one.answerable)
        told = (None, None) if self.units_of else answers
        return [one.sha256, one.questions, *told, one.runs, one.first, one.last, self.units_of]


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold sets that runs were measured with, the one used last first."""
    sets = material.pages.gold_sets()
    rows = []
    for one in sets[asked.start : asked.start + asked.limit]:
        runs = material.pages.runs_of_gold(one.sha256, 1)
        units_of = command_of_units(material.pages, one.sha256, runs)
        rows.append(SetRow(one, runs[0] if runs else None, units_of))
    table = Table(columns=COLUMNS, rows=[Row(tuple(row.cells(links))) for row in rows], below=False)
    body = render(
        "gold.html",
        table=written([table], sorting=links.sorting),
        listed=listed(Paged(rows=tuple(rows), total=len(sets), start=asked.start), asked, NEWEST),
        address=addresses(asked, links.gold() or ""),
        links=links,
    )
    return Page(
        title="Gold sets",
        here="gold",
        body=body,
        crumbs=(("Runs", links.runs()), ("Gold", None)),
        figures={"sets": lambda: Figures(FIGURES, [row.figures() for row in rows])},
    )
