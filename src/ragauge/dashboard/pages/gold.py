"""The page of gold sets: which there are, and what was measured with each."""

from __future__ import annotations

from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.paging import GoldSet, Paged
from ragauge.dashboard import parts
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import addresses, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.gold_set import command_of_units
from ragauge.dashboard.rendering import drawn
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Cell, Column
from ragauge.reports.kinds.runs import when

ABOUT = (
    "The sets of questions that runs were measured with, the one used last first. A set is known "
    "by the hash of what its questions mean, whatever file they came from."
)


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold sets that runs were measured with, the one used last first."""
    pages, sets = material.pages, material.pages.gold_sets()
    here = sets[asked.start : asked.start + asked.limit]
    address = addresses(asked, links.gold() or "")
    paged = listed(Paged(rows=tuple(here), total=len(sets), start=asked.start), asked, "-last")
    runs = {one.sha256: pages.runs_of_gold(one.sha256, 1) for one in here}
    # The command whose units a set has in place of questions; None where it has questions.
    units_of = {id: command_of_units(pages, id, newest) for id, newest in runs.items()}

    def name(one: GoldSet) -> Cell:
        short = one.sha256[:ID_SHOWN]
        return Cell(
            short, one.sha256, drawn=drawn("named", links.gold(one.sha256), short, "", True)
        )

    def questions(one: GoldSet) -> Cell:
        if command := units_of[one.sha256]:
            units = f"{numbers.counted(one.questions, 'unit')} of {command}"
            return Cell(units, one.questions, foreign=True)
        return doc.count(one.questions)

    def answerable(one: GoldSet, *, yes: bool) -> Cell:
        return doc.count(
            None
            if units_of[one.sha256]
            else one.answerable
            if yes
            else one.questions - one.answerable
        )

    def fraction(one: GoldSet) -> Cell:
        if units_of[one.sha256]:
            return Cell("")
        part = one.answerable / one.questions if one.questions else 0
        return Cell("", part, plot=doc.Bar(part))

    def last_run(one: GoldSet) -> Cell:
        for run in runs[one.sha256]:
            named = (links.run(run.id), run.record.name, run.record.command)
            return Cell(run.record.name, drawn=drawn("named", *named))
        return Cell("")

    shown: list[doc.Block]
    if not sets:
        about = "A gold set appears here with the first recorded run that was measured with it."
        code = "ragauge score gold.jsonl traces.jsonl --record"
        shown = [parts.empty("No gold sets yet", about, code)]
    elif not here:
        first = doc.Span("Show the first of them", href=address(start=None))
        there = f"There are {numbers.counted(len(sets), 'gold set')}. "
        shown = [parts.empty("There is no such page", [doc.Span(there), first])]
    else:
        table = doc.table(
            here,
            {
                "set": name,
                Column("questions", right=True): questions,
                Column("answerable", right=True): lambda one: answerable(one, yes=True),
                Column("unanswerable", right=True): lambda one: answerable(one, yes=False),
                Column("answerable of all", plot=True): fraction,
                Column("runs", right=True): lambda one: doc.count(one.runs),
                Column("first used (UTC)", spare=1): lambda one: Cell(when(one.first), one.first),
                "last used (UTC)": lambda one: Cell(when(one.last), one.last),
                "last run": last_run,
            },
            below=False,
            name="sets",
        )
        shown = [table, parts.pager(paged, address)]
    return Page(
        title="Gold sets",
        here="gold",
        blocks=[parts.header("Gold sets", ABOUT), *shown],
        links=links,
        crumbs=(("Runs", links.runs()), ("Gold", None)),
    )
