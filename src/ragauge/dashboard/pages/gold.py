"""The page of gold sets: which there are, and what was measured with each."""

from __future__ import annotations

from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.paging import GoldSet, Paged
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import addresses, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.gold_set import command_of_units
from ragauge.dashboard.rendering import drawn, render
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Cell, Column
from ragauge.reports.formats.html import written
from ragauge.reports.kinds.runs import when

NEWEST = "-last"
FIGURES = (
    *("sha256", "questions", "answerable", "unanswerable", "runs", "first", "last"),
    "units_of",
)


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold sets that runs were measured with, the one used last first."""
    pages, sets = material.pages, material.pages.gold_sets()
    here = sets[asked.start : asked.start + asked.limit]
    runs = {one.sha256: pages.runs_of_gold(one.sha256, 1) for one in here}
    # The command whose units a set has in place of questions; None where it has questions.
    units_of = {id: command_of_units(pages, id, newest) for id, newest in runs.items()}

    def name(one: GoldSet) -> Cell:
        short = one.sha256[:ID_SHOWN]
        return Cell(short, drawn=drawn("named", links.gold(one.sha256), short, "", True))

    def questions(one: GoldSet) -> Cell:
        if command := units_of[one.sha256]:
            units = f"{numbers.counted(one.questions, 'unit')} of {command}"
            return Cell(units, one.questions, foreign=True)
        return doc.count(one.questions)

    def answers(one: GoldSet) -> tuple[int, int] | tuple[None, None]:
        """How many are answerable and how many are not."""
        if units_of[one.sha256]:
            return None, None
        return one.answerable, one.questions - one.answerable

    def share(one: GoldSet) -> Cell:
        if units_of[one.sha256]:
            return Cell("")
        part = one.answerable / one.questions if one.questions else 0
        return Cell("", part, plot=Bar(part))

    def last_run(one: GoldSet) -> Cell:
        for run in runs[one.sha256]:
            named = (links.run(run.id), run.record.name, run.record.command)
            return Cell(run.record.name, drawn=drawn("named", *named))
        return Cell("")

    table = doc.table(
        here,
        {
            "set": name,
            Column("questions", right=True): questions,
            Column("answerable", right=True): lambda one: doc.count(answers(one)[0]),
            Column("unanswerable", right=True): lambda one: doc.count(answers(one)[1]),
            Column("answerable of all", plot=True): share,
            Column("runs", right=True): lambda one: doc.count(one.runs),
            Column("first used (UTC)", spare=1): lambda one: Cell(when(one.first), one.first),
            "last used (UTC)": lambda one: Cell(when(one.last), one.last),
            "last run": last_run,
        },
        below=False,
    )
    figures = [
        (one.sha256, one.questions, *answers(one), one.runs, one.first, one.last, command)
        for one, command in zip(here, units_of.values(), strict=True)
    ]
    body = render(
        "gold.html",
        table=written([table], sorting=links.sorting),
        listed=listed(Paged(rows=tuple(here), total=len(sets), start=asked.start), asked, NEWEST),
        address=addresses(asked, links.gold() or ""),
        links=links,
    )
    return Page(
        title="Gold sets",
        here="gold",
        body=body,
        crumbs=(("Runs", links.runs()), ("Gold", None)),
        figures={"sets": lambda: Figures(FIGURES, figures)},
    )
