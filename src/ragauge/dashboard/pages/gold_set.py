"""The page of one gold set: its strata, how runs cover them, and its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from msgspec import Struct, structs

from ragauge.contracts.gold import ANSWERABLE, Gold, value_of
from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.contracts.paging import (
    Ended,
    GoldSet,
    PagedHistory,
    QuestionQuery,
    Rightness,
    UnitCounts,
)
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, Listed, addresses, listed, sorts
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.rendering import drawn, render
from ragauge.dashboard.rightness import right_means
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Cell, Column, Range, Table, names
from ragauge.reports.foreign import cut
from ragauge.reports.formats.html import written
from ragauge.reports.kinds.runs import when
from ragauge.stats.intervals import wilson
from ragauge.text.visible import visible

Sort = Literal["place", "qid", "question", "answerable"]

LAST = 10
"""Runs whose coverage is shown, and whose ends stand beside each question."""
SHORTEST = 4
"""Characters of a hash that name a set, where no other begins so."""
NEAR = 5
IN_FILE = "place"
SORTS: tuple[Sort, ...] = get_args(Sort)
IS_ANSWERABLE = {"yes": True, "no": False}
FILTERS = ("q", "answerable", "stratum", "value", "run")
THIN = 5
"""Units that ended right or wrong; fewer say next to nothing."""
VALUES_SHOWN = 24
"""Of a stratum; the figures have all."""
LONGEST_QUESTION = 240
"""Characters of a question in the list; its page has all."""
LONGEST_ID = 40
STEP = 12
"""From a square to the next."""
COVERAGE = ("run", "name", "recorded_at", "units", "questions", "right", "wrong", "untold")
STRATA = ("stratum", "value", "questions", "right", "wrong", "untold", "share", "low", "high")
QUESTIONS = ("qid", "question", "answerable", "strata", "runs", "right", "wrong", "untold")

Covered = tuple[Run, UnitCounts]
"""A run, and how its units ended."""


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold set of this hash; raises Missing where no run was measured with it."""
    pages = material.pages
    gold = _set(material, asked.needed("sha256"))
    query = _query(asked)
    runs = pages.runs_of_gold(gold.sha256, LAST)
    covered = [(run, pages.counts(run)) for run in runs]
    units_of = command_of_units(pages, gold.sha256, runs)
    each = "unit" if units_of else "question"
    chosen = _chosen(asked, covered)
    whole, values = _values(pages, gold.sha256, chosen, are_units=units_of is not None)
    shown = [one for one in values if one.place < VALUES_SHOWN]
    found = pages.questions(gold.sha256, query)
    here, address = listed(found, asked, IN_FILE), addresses(asked, links.gold(gold.sha256) or "")
    rows = _question_rows(pages, links, found.rows, runs)
    tables = (
        _coverage_table(covered, gold, chosen, links),
        _strata_table(shown, gold, whole if chosen else None, each, links),
        _question_table(rows, here, address, links, gold, len(runs), are_units=bool(units_of)),
    )
    body = render(
        "gold_set.html",
        gold=gold,
        units_of=units_of,
        each=each,
        runs=len(runs),
        run=chosen,
        whole=whole,
        has_strata=bool(values),
        remarks=Counter(one.remark for one in shown),
        left_out=Counter(one.stratum for one in values if one.place >= VALUES_SHOWN),
        right_means=right_means(chosen.record.command) if chosen else "",
        tables=[written([table], sorting=links.sorting) for table in tables],
        listed=here,
        asked={name: asked.text(name) for name in FILTERS},
        address=address,
        links=links,
    )
    coverage = [
        (
            *(run.id, run.record.name, run.record.recorded_at, counts.units, gold.questions),
            *(counts.right, counts.wrong, counts.untold),
        )
        for run, counts in covered
    ]
    strata = [
        (
            *(one.stratum, one.value, one.questions, *structs.astuple(one.ended), one.share),
            *(one.ci or (None, None)),
        )
        for one in values
    ]
    short = gold.sha256[:ID_SHOWN]
    return Page(
        title=f"Gold set {short}",
        here="gold",
        drawn=body,
        crumbs=(("Runs", links.runs()), ("Gold", links.gold()), (short, None)),
        data={
            "coverage": lambda: Figures(COVERAGE, coverage),
            "strata": lambda: Figures(STRATA, strata),
            "questions": lambda: Figures(QUESTIONS, [row.figures() for row in rows]),
        },
    )


def _set(material: Material, named: str) -> GoldSet:
    """The set of this hash, or of the only hash that begins so; raises Missing with what is."""
    shown = visible(named[:64])
    beginning = named.strip().lower()
    if len(beginning) < SHORTEST:
        raise Missing(
            f'gold set "{shown}": a set is named by {SHORTEST} characters of its hash at least'
        )
    found = [one for one in material.pages.gold_sets() if one.sha256.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    if found:
        hashes = ", ".join(one.sha256[:ID_SHOWN] for one in found[:NEAR])
        more = " and more" if len(found) > NEAR else ""
        raise Missing(
            f'gold set "{shown}": is the beginning of several hashes: {hashes}{more}; write more '
            "of it"
        )
    raise Missing(
        f'gold set "{shown}": no run of this history was measured with a set whose hash begins so; '
        "its runs may have been removed"
    )


def _chosen(asked: Asked, covered: Sequence[Covered]) -> Run | None:
    """The run that strata are shown for: the one the address names, else the newest that says of
    any unit whether it is right."""
    wanted = asked.optional("run")
    if wanted is None:
        return next((run for run, counts in covered if counts.right + counts.wrong), None)
    for run, _ in covered:
        if run.id == wanted:
            return run
    raise Missing(f"run {wanted[:ID_SHOWN]}: is none of the last {LAST} measured with this set")


def _query(asked: Asked) -> QuestionQuery:
    wanted, down = asked.order(IN_FILE)
    sort = next((one for one in SORTS if one == wanted), None)
    if sort is None:
        raise BadAddress(f'sort: "{wanted[:40]}" is none of {", ".join(SORTS)}')
    answerable = asked.choice("answerable", tuple(IS_ANSWERABLE))
    return QuestionQuery(
        words=asked.text("q"),
        answerable=IS_ANSWERABLE[answerable] if answerable else None,
        stratum=asked.exact("stratum") or None,
        value=asked.exact("value") or None,
        sort=sort,
        descending=down,
        start=asked.start,
        limit=asked.limit,
    )


def _coverage_table(
    covered: Sequence[Covered], gold: GoldSet, chosen: Run | None, links: Links
) -> Table:
    def name(one: Covered) -> Cell:
        run, record = one[0], one[0].record
        aside = f"{record.command} {run.shown}"
        return Cell(record.name, drawn=drawn("named", links.run(run.id), record.name, aside))

    def units(one: Covered) -> Cell:
        given, all_of = one[1].units, gold.questions
        return Cell(numbers.n_of(given, all_of), given, "bad" if given < all_of else "")

    def strata(one: Covered) -> Cell:
        run, counts = one
        if run is chosen:
            return Cell("shown below")
        if counts.right + counts.wrong:
            return Cell("show", href=links.gold(gold.sha256, run=run.id) or "")
        return Cell("not told", tone="dim")

    table = doc.table(
        covered,
        {
            "run": name,
            "recorded (UTC)": lambda one: Cell(
                when(one[0].record.recorded_at), one[0].record.recorded_at
            ),
            "units": units,
            Column("", plot=True): lambda one: doc.plot(
                Bar(one[1].units / gold.questions if gold.questions else 0)
            ),
            "right": lambda one: doc.count(one[1].right),
            "wrong": lambda one: doc.count(one[1].wrong),
            "untold": lambda one: doc.count(one[1].untold, "dim"),
            "strata": strata,
        },
    )
    rows = [
        structs.replace(row, chosen=run is chosen)
        for row, (run, _) in zip(table.rows, covered, strict=True)
    ]
    return structs.replace(table, rows=rows)


# Strata


class Value(Struct, frozen=True, kw_only=True):
    """A value of a stratum, or all of the set, as one of the runs met it."""

    stratum: str = ""
    value: str = ""
    place: int = 0
    """Among the values of the stratum, of which that with the most questions is first."""
    questions: int = 0
    ended: Ended = Ended(0, 0, 0)
    set_share: float | None = None

    @property
    def share(self) -> float | None:
        """The share of units that are right; None where no run says."""
        return self.ended.right / self.ended.told if self.ended.told else None

    @property
    def ci(self) -> tuple[float, float] | None:
        return None if self.share is None else wilson(self.share, self.ended.told)

    @property
    def remark(self) -> str:
        """`weak` where the complete interval lies under the share right of the set."""
        if self.ended.told < THIN:
            return "thin"
        is_weak = self.ci and self.set_share is not None and self.ci[1] < self.set_share
        return "weak" if is_weak else ""


def _values(
    pages: PagedHistory, sha256: str, run: Run | None, *, are_units: bool
) -> tuple[Value, list[Value]]:
    """All units of the set, and the values of each stratum; units are not answerable."""
    met = pages.rightness(run) if run else {}
    # Each question is answerable or is not: these are all.
    ways = [structs.astuple(ended) for ended in met.get(ANSWERABLE, {}).values()]
    whole = Value(ended=Ended(*map(sum, zip((0, 0, 0), *ways, strict=True))))
    values = [
        Value(
            stratum=stratum,
            value=value,
            place=place,
            questions=questions,
            ended=met.get(stratum, {}).get(value, Ended(0, 0, 0)),
            set_share=whole.share,
        )
        for stratum, given in pages.strata(sha256).items()
        if not (are_units and stratum == ANSWERABLE)
        for place, (value, questions) in enumerate(
            sorted(given.items(), key=lambda pair: (-pair[1], pair[0]))
        )
    ]
    return whole, values


def _strata_table(
    values: Sequence[Value], gold: GoldSet, whole: Value | None, each: str, links: Links
) -> Table:
    """The values of strata; without a run only how many questions have each."""

    def name(one: Value) -> Cell:
        href = _of_stratum(links, gold, one.stratum, one.value) or ""
        return Cell(cut(one.value, 40), foreign=True, href=href)

    def of_set(one: Value) -> Cell:
        fraction = one.questions / gold.questions if gold.questions else 0
        return Cell("", one.questions, plot=Bar(fraction))

    columns: dict[str | Column, Callable[[Value], Cell]] = {
        "stratum": lambda one: names(cut(one.stratum, 32), "dim"),
        "value": name,
        Column(f"{each}s", right=True): lambda one: doc.count(one.questions),
        Column("of the set", plot=True): of_set,
    }
    if whole is not None:
        bound, badges = whole.share, {"thin": "warned", "weak": "fail"}
        columns |= {
            Column("right", right=True): lambda one: doc.number(
                one.share, tone="dim" if one.remark == "thin" else ""
            ),
            Column("share right", plot=True): lambda one: Cell(
                "", one.share, plot=Range(one.share, one.ci, bound)
            ),
            Column("95 % interval", right=True, spare=1): lambda one: doc.interval(one.ci),
            Column("n", right=True): lambda one: doc.count(one.ended.told, "dim"),
            "remark": lambda one: Cell(one.remark, badge=badges.get(one.remark, "")),
        }
    return doc.table(values, columns, below=False)


def _of_stratum(links: Links, gold: GoldSet, stratum: str, value: str) -> str | None:
    """Where the questions of the set with this value are."""
    href = links.gold(gold.sha256, stratum=stratum, value=value)
    return f"{href}#questions" if href else None


# Questions


class Square(Struct, frozen=True):
    """How a question ended in one run."""

    x: int
    way: Rightness
    title: str


class QuestionRow(Struct, frozen=True, kw_only=True):
    """A question in the list."""

    gold: Gold
    href: str | None
    """Its page in the newest run that has it."""
    strata: tuple[tuple[str, str], ...]
    squares: tuple[Square, ...]
    """The oldest run first; a run that does not have the question leaves its place empty."""

    def count(self, way: Rightness) -> int:
        return sum(square.way == way for square in self.squares)

    def figures(self) -> list[object]:
        strata = tuple(f"{stratum}={value}" for stratum, value in self.strata)
        ways = (self.count("right"), self.count("wrong"), self.count("untold"))
        asked = (None, None) if self.gold.is_unit else (self.gold.question, self.gold.answerable)
        return [self.gold.qid, *asked, strata, len(self.squares), *ways]

    @property
    def words(self) -> str:
        """What the squares say."""
        if not self.squares:
            return "in none of the last runs"
        ways = ", ".join(square.way for square in self.squares)
        return f"wrong in {self.count('wrong')} of {len(self.squares)} runs, oldest first: {ways}"


def command_of_units(pages: PagedHistory, sha256: str, runs: Sequence[Run]) -> str | None:
    """The command that the set's units are of, by its runs; None where it has questions.

    The first tells for all: a set is made of the questions of a file or of a component's units.
    """
    first = pages.questions(sha256, QuestionQuery(limit=1)).rows
    if not (runs and first):
        return None
    command = runs[0].record.command
    # What gold says of a type is kept in words, so that nothing but the command tells it.
    is_unit = first[0].is_unit or (
        command.startswith("eval ") and first[0].question == first[0].qid
    )
    return command if is_unit else None


def _question_rows(
    pages: PagedHistory, links: Links, questions: Sequence[Gold], runs: Sequence[Run]
) -> list[QuestionRow]:
    """The rows of these questions over these runs, which come newest first."""
    ended = pages.ends(runs, [one.qid for one in questions])
    rows = []
    for one in questions:
        having = [
            (place, run, way)
            for place, run in enumerate(reversed(runs))
            if (way := ended[run.id].get(one.qid))
        ]
        values = ((stratum, value_of(one, stratum)) for stratum in sorted(one.strata))
        rows.append(
            QuestionRow(
                gold=one,
                href=links.question(having[-1][1].id, one.qid) if having else None,
                strata=tuple((key, value) for key, value in values if value is not None),
                squares=tuple(
                    Square(
                        place * STEP,
                        way,
                        f"{way} in {run.record.name}, {when(run.record.recorded_at)}",
                    )
                    for place, run, way in having
                ),
            )
        )
    return rows


def _question_table(
    rows: Sequence[QuestionRow],
    here: Listed,
    address: Address,
    links: Links,
    gold: GoldSet,
    runs: int,
    *,
    are_units: bool,
) -> Table:
    def strata(row: QuestionRow) -> Cell:
        tags = [(*pair, _of_stratum(links, gold, *pair)) for pair in row.strata]
        return Cell("", drawn=drawn("tags", tags))

    def wrong(row: QuestionRow) -> Cell:
        times = row.count("wrong")
        return Cell(numbers.n_of(times, len(row.squares)), times, "bad" if times else "soft")

    question = structs.replace(sorts("question", "question", here, address), prose=True)
    asked: dict[str | Column, Callable[[QuestionRow], Cell]] = {
        question: lambda row: names(cut(row.gold.question, LONGEST_QUESTION)),
        sorts("answerable", "answerable", here, address): lambda row: Cell(
            "yes" if row.gold.answerable else "no"
        ),
    }
    return doc.table(
        rows,
        {
            sorts("id", "qid", here, address): lambda row: Cell(
                cut(row.gold.qid, LONGEST_ID), foreign=True, href=row.href or ""
            ),
            **({} if are_units else asked),
            Column("strata", spare=1): strata,
            "last runs": lambda row: Cell("", drawn=drawn("squares", row, runs)),
            Column("wrong", right=True): wrong,
        },
        paged=True,
        below=False,
    )
