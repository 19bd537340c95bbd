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
from ragauge.dashboard.rendering import render

NEWEST = "-last"
FIGURES = ("sha256", "questions", "answerable", "unanswerable", "runs", "first", "last")


class SetRow(Struct, frozen=True):
    """A gold set in the list, with the run it was last used by."""

    set: GoldSet
    newest: Run | None
    href: str | None


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
        figures={"sets": lambda: figures(here)},
    )


def figures(sets: Sequence[GoldSet]) -> Figures:
    return Figures(
        FIGURES,
        [
            (
                one.sha256,
                one.questions,
                one.answerable,
                one.questions - one.answerable,
                one.runs,
                one.first,
                one.last,
            )
            for one in sets
        ],
    )


def _row(material: Material, links: Links, one: GoldSet) -> SetRow:
    newest = material.pages.runs_of_gold(one.sha256, 1)
    return SetRow(one, newest[0] if newest else None, links.gold(one.sha256))
