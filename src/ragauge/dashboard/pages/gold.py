"""The page of gold sets: which there are, and what was measured with each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.history import Run
from ragauge.contracts.paging import GoldSet, Paged
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import addresses, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.gold_questions import command_of_units
from ragauge.dashboard.rendering import render

NEWEST = "-last"
FIGURES = (
    *("sha256", "questions", "answerable", "unanswerable", "runs", "first", "last"),
    "units_of",
)


class SetRow(Struct, frozen=True):
    """A gold set in the list, with the run it was last used by."""

    set: GoldSet
    newest: Run | None
    href: str | None
    units_of: str | None
    """The command whose units stand in the place of questions; None where it has questions."""


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold sets that runs were measured with, the one used last first."""
    sets = material.pages.gold_sets()
    here = sets[asked.start : asked.start + asked.limit]
    rows = [_row(material, links, one) for one in here]
    body = render(
        "gold.html",
        listed=listed(Paged(rows=tuple(rows), total=len(sets), start=asked.start), asked, NEWEST),
        address=addresses(asked, links.gold() or ""),
        links=links,
    )
    crumbs = (("Runs", links.runs()), ("Gold", None))
    return Page(
        title="Gold sets",
        here="gold",
        body=body,
        crumbs=crumbs,
        figures={"sets": lambda: figures(rows)},
    )


def figures(rows: Sequence[SetRow]) -> Figures:
    return Figures(FIGURES, [_figures(row) for row in rows])


def _row(material: Material, links: Links, one: GoldSet) -> SetRow:
    runs = material.pages.runs_of_gold(one.sha256, 1)
    units_of = command_of_units(material.pages, one.sha256, runs)
    return SetRow(one, runs[0] if runs else None, links.gold(one.sha256), units_of)


def _figures(row: SetRow) -> list[object]:
    one = row.set
    answers = (one.answerable, one.questions - one.answerable)
    told = (None, None) if row.units_of else answers
    return [one.sha256, one.questions, *told, one.runs, one.first, one.last, row.units_of]
