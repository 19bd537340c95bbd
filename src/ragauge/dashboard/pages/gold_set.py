"""The page of one gold set: its strata, how runs cover them, and its questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from ragauge.reports import numbers
from ragauge.reports.document import (
    Bar,
    Cell,
    Column,
    Range,
    Row,
    Table,
    columns,
    count,
    interval,
    names,
    number,
)
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


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold set of this hash; raises Missing where no run was measured with it."""
    pages = material.pages
    gold = _set(material, asked.needed("sha256"))
    query = _query(asked)
    runs = pages.runs_of_gold(gold.sha256, LAST)
    covered = [Covered(run, pages.counts(run)) for run in runs]
    units_of = command_of_units(pages, gold.sha256, runs)
    each = "unit" if units_of else "question"
    told = strata(pages, gold.sha256, _chosen(asked, runs, covered), are_units=units_of is not None)
    found = pages.questions(gold.sha256, query)
    here, address = listed(found, asked, IN_FILE), addresses(asked, links.gold(gold.sha256) or "")
    rows = question_rows(pages, links, found.rows, runs)
    tables = (
        _coverage_table(covered, gold, told.run, links),
        told.table(gold, each, links),
        _question_table(rows, here, address, links, gold, len(runs), are_units=bool(units_of)),
    )
    body = render(
        "gold_set.html",
        gold=gold,
        units_of=units_of,
        each=each,
        covered=len(covered),
        strata=told,
        right_means=right_means(told.run.record.command) if told.run else "",
        runs=len(runs),
        tables=[written([table], sorting=links.sorting) for table in tables],
        listed=here,
        asked={name: asked.text(name) for name in FILTERS},
        address=address,
        links=links,
    )
    shown = gold.sha256[:ID_SHOWN]
    return Page(
        title=f"Gold set {shown}",
        here="gold",
        body=body,
        crumbs=(("Runs", links.runs()), ("Gold", links.gold()), (shown, None)),
        figures={
            "coverage": lambda: _coverage_figures(covered, gold.questions),
            "strata": told.figures,
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


def _chosen(asked: Asked, runs: Sequence[Run], covered: Sequence[Covered]) -> Run | None:
    """The run that strata are shown for: the one the address names, else the newest that says of
    any unit whether it is right."""
    wanted = asked.optional("run")
    if wanted is None:
        return next((one.run for one in covered if one.says), None)
    for run in runs:
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


# Coverage by runs


class Covered(Struct, frozen=True):
    """A run, and how its units ended."""

    run: Run
    counts: UnitCounts

    @property
    def says(self) -> bool:
        """Whether it says of any unit whether it is right."""
        return bool(self.counts.right + self.counts.wrong)


def _coverage_table(
    covered: Sequence[Covered], gold: GoldSet, chosen: Run | None, links: Links
) -> Table:
    return Table(
        columns=columns(
            *("run", "recorded (UTC)", "units", "covered", "right", "wrong", "untold", "strata"),
            right=("units", "right", "wrong", "untold"),
            plots=("covered",),
        ),
        rows=[
            _coverage_row(one, gold, chosen is not None and chosen.id == one.run.id, links)
            for one in covered
        ],
    )


def _coverage_row(one: Covered, gold: GoldSet, is_chosen: bool, links: Links) -> Row:
    run, record, counts = one.run, one.run.record, one.counts
    aside = f"{record.command} {run.shown}"
    if is_chosen:
        strata = Cell("shown below")
    elif one.says:
        strata = Cell("show", href=links.gold(gold.sha256, run=run.id) or "")
    else:
        strata = Cell("not told", tone="dim")
    return Row(
        (
            Cell(record.name, drawn=drawn("named", links.run(run.id), record.name, aside)),
            Cell(when(record.recorded_at), record.recorded_at),
            Cell(
                numbers.n_of(counts.units, gold.questions),
                counts.units,
                "bad" if counts.units < gold.questions else "",
            ),
            Cell("", plot=Bar(counts.units / gold.questions if gold.questions else 0)),
            count(counts.right),
            count(counts.wrong),
            count(counts.untold, "dim"),
            strata,
        ),
        chosen=is_chosen,
    )


def _coverage_figures(covered: Sequence[Covered], questions: int) -> Figures:
    rows = [
        (
            one.run.id,
            one.run.record.name,
            one.run.record.recorded_at,
            one.counts.units,
            questions,
            one.counts.right,
            one.counts.wrong,
            one.counts.untold,
        )
        for one in covered
    ]
    return Figures(COVERAGE, rows)


# Strata


class Share(Struct, frozen=True):
    """The share of units that are right; None where no run says."""

    ended: Ended

    @property
    def value(self) -> float | None:
        return self.ended.right / self.ended.told if self.ended.told else None

    @property
    def ci(self) -> tuple[float, float] | None:
        return None if self.value is None else wilson(self.value, self.ended.told)


class ValueRow(Struct, frozen=True):
    """A value of a stratum."""

    value: str
    questions: int
    share: Share
    whole: Share
    """That of the whole set."""

    @property
    def is_weak(self) -> bool:
        """Whether its whole interval lies under the share right of the set."""
        ci = None if self.is_thin else self.share.ci
        return ci is not None and self.whole.value is not None and ci[1] < self.whole.value

    @property
    def is_thin(self) -> bool:
        return self.share.ended.told < THIN


class Stratum(Struct, frozen=True):
    """A stratum with its values, those with the most questions first."""

    name: str
    rows: tuple[ValueRow, ...]

    @property
    def shown(self) -> tuple[ValueRow, ...]:
        return self.rows[:VALUES_SHOWN]


class Strata(Struct, frozen=True):
    """The strata of a gold set, as one of its runs met them."""

    run: Run | None
    whole: Share
    strata: tuple[Stratum, ...]

    @property
    def thin(self) -> int:
        """Values shown that are."""
        return sum(row.is_thin for one in self.strata for row in one.shown)

    @property
    def weak(self) -> int:
        return sum(row.is_weak for one in self.strata for row in one.shown)

    def figures(self) -> Figures:
        rows = [
            (
                one.name,
                row.value,
                row.questions,
                row.share.ended.right,
                row.share.ended.wrong,
                row.share.ended.untold,
                row.share.value,
                *(row.share.ci or (None, None)),
            )
            for one in self.strata
            for row in one.rows
        ]
        return Figures(STRATA, rows)

    def table(self, gold: GoldSet, each: str, links: Links) -> Table:
        told = ("right", "share right", "95 % interval", "n", "remark") if self.run else ()
        return Table(
            below=False,
            columns=[
                *(Column("stratum"), Column("value"), Column(f"{each}s", right=True)),
                Column("of the set", plot=True),
                *(
                    Column(
                        title,
                        right=title in ("right", "95 % interval", "n"),
                        spare=int(title == "95 % interval"),
                        plot=title == "share right",
                    )
                    for title in told
                ),
            ],
            rows=[
                Row(tuple(self._cells(one.name, row, gold, links)))
                for one in self.strata
                for row in one.shown
            ],
        )

    def _cells(self, stratum: str, row: ValueRow, gold: GoldSet, links: Links) -> Iterator[Cell]:
        href = links.gold(gold.sha256, stratum=stratum, value=row.value)
        of_set = row.questions / gold.questions if gold.questions else 0
        yield names(cut(stratum, 32), "dim")
        yield Cell(cut(row.value, 40), foreign=True, href=f"{href}#questions" if href else "")
        yield count(row.questions)
        yield Cell("", row.questions, plot=Bar(of_set))
        if self.run:
            share = row.share
            yield number(share.value, tone="dim" if row.is_thin else "")
            yield Cell("", share.value, plot=Range(share.value, share.ci, self.whole.value))
            yield interval(share.ci)
            yield count(share.ended.told, "dim")
            remark = "thin" if row.is_thin else "weak" if row.is_weak else ""
            yield Cell(remark, badge={"thin": "warned", "weak": "fail"}.get(remark, ""))


def strata(pages: PagedHistory, sha256: str, run: Run | None, *, are_units: bool = False) -> Strata:
    """Each stratum of the set, with the share right in this run; units are not answerable."""
    met = pages.rightness(run) if run else {}
    whole = Share(_sum(met.get(ANSWERABLE, {})))
    told = (
        Stratum(name, tuple(_rows(values, met.get(name, {}), whole)))
        for name, values in pages.strata(sha256).items()
        if not (are_units and name == ANSWERABLE)
    )
    return Strata(run, whole, tuple(told))


def _rows(values: Mapping[str, int], met: Mapping[str, Ended], whole: Share) -> Iterator[ValueRow]:
    for value, questions in sorted(values.items(), key=lambda pair: (-pair[1], pair[0])):
        yield ValueRow(value, questions, Share(met.get(value, Ended(0, 0, 0))), whole)


def _sum(met: Mapping[str, Ended]) -> Ended:
    """All units of questions of the set: each question is answerable or is not."""
    every = list(met.values())
    return Ended(
        sum(one.right for one in every),
        sum(one.wrong for one in every),
        sum(one.untold for one in every),
    )


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


def question_rows(
    pages: PagedHistory, links: Links, questions: Sequence[Gold], runs: Sequence[Run]
) -> list[QuestionRow]:
    """The rows of these questions over these runs, which come newest first."""
    ended = pages.ends(runs, [one.qid for one in questions])
    return [
        QuestionRow(
            gold=one,
            href=_newest(links, one, runs, ended),
            strata=tuple(_strata(one)),
            squares=tuple(_squares(one, runs, ended)),
        )
        for one in questions
    ]


def _newest(
    links: Links, one: Gold, runs: Sequence[Run], ended: dict[str, dict[str, Rightness]]
) -> str | None:
    having = (run for run in runs if one.qid in ended[run.id])
    run = next(having, None)
    return links.question(run.id, one.qid) if run else None


def _strata(one: Gold) -> Iterator[tuple[str, str]]:
    for stratum in sorted(one.strata):
        value = value_of(one, stratum)
        if value is not None:
            yield stratum, value


def _squares(
    one: Gold, runs: Sequence[Run], ended: dict[str, dict[str, Rightness]]
) -> Iterator[Square]:
    for place, run in enumerate(reversed(runs)):
        way = ended[run.id].get(one.qid)
        if way:
            title = f"{way} in {run.record.name}, {when(run.record.recorded_at)}"
            yield Square(place * STEP, way, title)


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
    def strata(row: QuestionRow) -> Iterator[tuple[str, str, str | None]]:
        for stratum, value in row.strata:
            href = links.gold(gold.sha256, stratum=stratum, value=value)
            yield stratum, value, f"{href}#questions" if href else None

    def cells(row: QuestionRow) -> Iterator[Cell]:
        wrong = row.count("wrong")
        yield Cell(cut(row.gold.qid, LONGEST_ID), foreign=True, href=row.href or "")
        if not are_units:
            yield names(cut(row.gold.question, LONGEST_QUESTION))
            yield Cell("yes" if row.gold.answerable else "no")
        yield Cell("", drawn=drawn("tags", list(strata(row))))
        yield Cell("", drawn=drawn("squares", row, runs))
        yield Cell(numbers.n_of(wrong, len(row.squares)), wrong, "bad" if wrong else "soft")

    asked = [
        structs.replace(sorts("question", "question", here, address), prose=True),
        sorts("answerable", "answerable", here, address),
    ]
    return Table(
        paged=True,
        below=False,
        columns=[
            sorts("id", "qid", here, address),
            *([] if are_units else asked),
            *(Column("strata", spare=1), Column("last runs"), Column("wrong", right=True)),
        ],
        rows=[Row(tuple(cells(row))) for row in rows],
    )
