"""The page of one gold set: its strata, how runs cover them, and its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from msgspec import Struct, structs

from ragauge.contracts.gold import ANSWERABLE, Gold, value_of
from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.contracts.paging import Ended, GoldSet, PagedHistory, QuestionQuery, UnitCounts
from ragauge.dashboard import parts
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, Listed, addresses, listed, sorts
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Page
from ragauge.dashboard.parts import Field
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.rightness import right_means
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Bar, Block, Cell, Column, Range, Span, Table, Text
from ragauge.reports.foreign import cut
from ragauge.reports.kinds.runs import when
from ragauge.reports.numbers import count, counted
from ragauge.stats.intervals import wilson
from ragauge.text.visible import visible

Sort = Literal["place", "qid", "question", "answerable"]

LAST = 10
"""Runs whose coverage is shown, and whose outcomes are next to each question."""
SHORTEST = 4
"""Characters of a hash that name a set, where no other begins so."""
NEAR = 5
SORTS: tuple[Sort, ...] = get_args(Sort)
IS_ANSWERABLE = {"yes": True, "no": False}
THIN = 5
"""Units that are correct or incorrect; fewer say next to nothing."""
VALUES_SHOWN = 24
"""Of a stratum; the download has all."""
LONGEST_QUESTION, LONGEST_ID = 240, 40
"""Characters of a question and of an id in the list; the question's page has all."""
STEP = 12
"""From a square to the next."""

Covered = tuple[Run, UnitCounts]
"""A run, and how its units ended."""


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold set of this hash; raises Missing where no run was measured with it."""
    pages = material.pages
    gold = _set(material, asked.needed("sha256"))
    runs = pages.runs_of_gold(gold.sha256, LAST)
    covered = [(run, pages.counts(run)) for run in runs]
    units_of = command_of_units(pages, gold.sha256, runs)
    chosen = _chosen(asked, covered)
    each, short = "unit" if units_of else "question", gold.sha256[:ID_SHOWN]

    answerable = f"{count(gold.answerable)} answerable"
    what = units_of or f"{answerable}, {count(gold.questions - gold.answerable)} unanswerable"
    used = f"{counted(gold.runs, 'run')}, from {when(gold.first)} to {when(gold.last)} UTC."
    cut_off = f"The last {len(runs)} of {count(gold.runs)} runs. " if len(runs) < gold.runs else ""
    coverage = _coverage_table(covered, gold, chosen, links)
    return Page(
        title=f"Gold set {short}",
        here="gold",
        blocks=[
            parts.header(
                [Span("Gold set "), Span(short, foreign=True)],
                [Span(f"{counted(gold.questions, each)}: {what}. {used}", foreign=True)],
                [Span(gold.sha256, foreign=True)],
            ),
            parts.section(
                "Coverage by the last runs",
                Text(f"{cut_off}A run that leaves {each}s out says nothing about them.", "dim"),
                coverage,
            ),
            parts.section(
                "Strata",
                *_strata(pages, gold, chosen, each, links),
                anchor="strata",
            ),
            parts.section(
                f"{each.capitalize()}s",
                *_questions(pages, gold, runs, each, asked, links),
                anchor="questions",
            ),
        ],
        links=links,
        crumbs=(("Runs", links.runs()), ("Gold", links.gold()), (short, None)),
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
    any unit whether it is correct."""
    wanted = asked.optional("run")
    if wanted is None:
        return next((run for run, counts in covered if counts.right + counts.wrong), None)
    for run, _ in covered:
        if run.id == wanted:
            return run
    raise Missing(f"run {wanted[:ID_SHOWN]}: is none of the last {LAST} measured with this set")


def _query(asked: Asked) -> QuestionQuery:
    wanted, down = asked.order("place")
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
        named = drawn("named", links.run(run.id), record.name, aside)
        return Cell(record.name, f"{record.name} {run.id}", drawn=named)

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

    return doc.table(
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
        chosen=lambda one: one[0] is chosen,
        name="coverage",
    )


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
        """The fraction of units that are correct; None where no run says."""
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


def _strata(
    pages: PagedHistory, gold: GoldSet, run: Run | None, each: str, links: Links
) -> Iterator[Block]:
    """The values of strata with how many are correct in one run; without a run only counts."""
    total, values = _values(pages, gold.sha256, run, are_units=each == "unit")
    if not values:
        yield Text(f"The {each}s of this set have no strata.", "dim")
        return
    shown = [one for one in values if one.place < VALUES_SHOWN]
    if run and total.share is not None:
        remarks = Counter(one.remark for one in shown)
        found = f"{numbers.value(total.share)} {numbers.interval(total.ci)}"
        few = f" {counted(remarks['thin'], 'value')} {'is' if remarks['thin'] == 1 else 'are'} thin"
        yield Text(
            [
                Span("The fraction right in "),
                Span(f"{run.record.name} {run.shown}", foreign=True, href=links.run(run.id) or ""),
                Span(f": {found} over all {counted(total.ended.told, 'unit')}"),
                Span(f"; the upright line below. Right means: {right_means(run.record.command)}. "),
                Span(
                    f"Intervals are Wilson's, at 95 %. thin: fewer than {THIN} units ended right "
                    "or wrong, which says next to nothing. weak: the complete interval lies under "
                    "the fraction of the set.",
                    "soft",
                ),
                Span(
                    f"{few}, {remarks['weak']} weak." if remarks["thin"] or remarks["weak"] else ""
                ),
            ]
        )
    else:
        words = f"None of the last runs says which units are right, so only {each}s are counted."
        yield Text(words, "dim")

    def name(one: Value) -> Cell:
        href = _of_stratum(links, gold, one.stratum, one.value) or ""
        return Cell(cut(one.value, 40), one.value, foreign=True, href=href)

    columns: dict[str | Column, Callable[[Value], Cell]] = {
        "stratum": lambda one: Cell(cut(one.stratum, 32), one.stratum, "dim", foreign=True),
        "value": name,
        Column(f"{each}s", right=True): lambda one: doc.count(one.questions),
        Column("of the set", plot=True): lambda one: Cell(
            "", one.questions, plot=Bar(one.questions / gold.questions if gold.questions else 0)
        ),
    }
    if run:
        badges = {"thin": "warned", "weak": "fail"}
        columns |= {
            Column("right", right=True): lambda one: doc.number(
                one.share, tone="dim" if one.remark == "thin" else ""
            ),
            Column("fraction right", plot=True): lambda one: Cell(
                "", one.share, plot=Range(one.share, one.ci, total.share)
            ),
            Column("95 % interval", right=True, spare=1): lambda one: doc.interval(one.ci),
            Column("n", right=True): lambda one: doc.count(one.ended.told, "dim"),
            "remark": lambda one: Cell(one.remark, badge=badges.get(one.remark, "")),
        }
    yield doc.table(shown, columns, below=False, name=None)
    left_out = Counter(one.stratum for one in values if one.place >= VALUES_SHOWN)
    for stratum, times in left_out.items():
        words = (
            f" has {counted(times, 'other value')} with fewer {each}s each; the download has all."
        )
        yield Text([Span(stratum, foreign=True), Span(words, "soft")])
    heads, rows = doc.table(values, columns).data()
    yield doc.Data("strata", heads, lambda: rows)


def _of_stratum(links: Links, gold: GoldSet, stratum: str, value: str) -> str | None:
    """Where the questions of the set with this value are."""
    href = links.gold(gold.sha256, stratum=stratum, value=value)
    return f"{href}#questions" if href and "#" not in href else href


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


def _questions(
    pages: PagedHistory, gold: GoldSet, runs: Sequence[Run], each: str, asked: Asked, links: Links
) -> Iterator[Block]:
    """The questions that the address asks for, with the outcome of each in the last runs."""
    found, here = pages.questions(gold.sha256, _query(asked)), links.gold(gold.sha256)
    paged, address = listed(found, asked, "place"), addresses(asked, here or "")
    given = {name: asked.text(name) for name in ("q", "answerable", "stratum", "value")}
    filtered = any(given.values())
    fields = [
        Field(
            title="Search",
            name="q",
            value=given["q"],
            kind="search",
            hint="id" if each == "unit" else "id or words",
        ),
        Field(name="run", value=asked.text("run")),
        Field(name="sort", value=paged.order if paged.order != "place" else ""),
    ]
    if each == "question":
        choices = (("", "all"), ("yes", "answerable"), ("no", "unanswerable"))
        fields.append(
            Field(
                title="Answerable",
                name="answerable",
                value=given["answerable"],
                kind="select",
                options=choices,
            )
        )
    if given["stratum"] and given["value"]:
        fields += [
            Field(title=name.capitalize(), name=name, value=given[name])
            for name in ("stratum", "value")
        ]
    clear = f"{here}#questions" if filtered else None
    yield parts.form(here, *fields, replaces="question-list", clear=clear)
    inside: list[Block]
    if found.rows:
        last = counted(len(runs), "run")
        squares = f"Squares: the last {last}, the newest on the right; low where right, tall where "
        inside = [
            Text(f"{squares}wrong.", "dim"),
            _question_table(pages, gold, runs, each, found.rows, paged, address, links),
            parts.pager(paged, address),
        ]
    elif found.total:
        first = Span("Show the first of them", href=f"{address(start=None)}#questions")
        about = f"{counted(found.total, each)} match. "
        inside = [parts.empty("There is no such page", [Span(about), first])]
    else:
        every = Span("show them all", href=f"{here}#questions")
        about = f"The set has {counted(gold.questions, each)}; "
        inside = [parts.empty(f"No {each} matches", [Span(about), every, Span(".")])]
    yield doc.Section(title="", blocks=inside, anchor="question-list")


def _question_table(
    pages: PagedHistory,
    gold: GoldSet,
    runs: Sequence[Run],
    each: str,
    questions: Sequence[Gold],
    paged: Listed,
    address: Address,
    links: Links,
) -> Table:
    """A row for each question; a run that does not have it leaves its square empty."""
    ended = pages.ends(runs, [one.qid for one in questions])
    ways = {
        one.qid: [
            (place * STEP, run, way)
            for place, run in enumerate(reversed(runs))
            if (way := ended[run.id].get(one.qid))
        ]
        for one in questions
    }

    def id(one: Gold) -> Cell:
        newest = ways[one.qid][-1:]
        href = links.question(newest[0][1].id, one.qid) if newest else None
        return Cell(cut(one.qid, LONGEST_ID), one.qid, foreign=True, href=href or "")

    def strata(one: Gold) -> Cell:
        given = ((stratum, value_of(one, stratum)) for stratum in sorted(one.strata))
        known = [(stratum, value) for stratum, value in given if value is not None]
        tags = [(*pair, _of_stratum(links, gold, *pair)) for pair in known]
        text = " ".join(f"{stratum}={value}" for stratum, value in known)
        return Cell(text, drawn=drawn("tags", tags))

    def squares(one: Gold) -> Cell:
        met = ways[one.qid]
        if not met:
            return Cell("in none of the last runs", tone="soft")
        words = ", ".join(way for _, _, way in met)
        said = f"wrong in {wrong(one).value} of {len(met)} runs, oldest first: {words}"
        shown = [
            (x, way, f"{way} in {run.record.name}, {when(run.record.recorded_at)}")
            for x, run, way in met
        ]
        return Cell(words, drawn=drawn("squares", shown, said, STEP * len(runs)))

    def wrong(one: Gold) -> Cell:
        times = sum(way == "wrong" for _, _, way in ways[one.qid])
        return Cell(numbers.n_of(times, len(ways[one.qid])), times, "bad" if times else "soft")

    columns: dict[str | Column, Callable[[Gold], Cell]] = {sorts("id", "qid", paged, address): id}
    if each == "question":
        question = structs.replace(sorts("question", "question", paged, address), prose=True)
        columns[question] = lambda one: Cell(
            cut(one.question, LONGEST_QUESTION), one.question, foreign=True
        )
        columns[sorts("answerable", "answerable", paged, address)] = lambda one: Cell(
            "yes" if one.answerable else "no", one.answerable
        )
    columns |= {
        Column("strata", spare=1): strata,
        "last runs": squares,
        Column("wrong", right=True): wrong,
    }
    return doc.table(questions, columns, paged=True, below=False, name="questions")
