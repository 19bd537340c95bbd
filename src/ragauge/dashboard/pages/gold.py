"""The pages of gold sets: which there are, and of each its strata, its runs and its questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct, structs

from ragauge.contracts.gold import ANSWERABLE, Gold, value_of
from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.contracts.paging import (
    GoldSet,
    OutcomeCounts,
    Paged,
    PagedHistory,
    QuestionQuery,
    UnitCounts,
)
from ragauge.dashboard import parts
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page
from ragauge.dashboard.parts import Field, draw_macro, listed, sorts
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import correct_means
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Column, Range, Span, Square, Table, Text
from ragauge.reports.kinds.runs import when
from ragauge.reports.phrasing import count, pluralize
from ragauge.stats.intervals import wilson
from ragauge.text.natural import natural
from ragauge.text.visible import cut, visible

Sort = Literal["place", "qid", "question", "answerable"]

SORTS: tuple[Sort, ...] = get_args(Sort)
IS_ANSWERABLE = {"yes": True, "no": False}
LAST = 10  # runs whose coverage is shown, and whose outcomes are next to each question
SHORTEST, NEAR = 4, 5  # characters of a hash that name a set; hashes shown that begin so
THIN = 5  # units that are correct or incorrect; fewer say next to nothing
VALUES_SHOWN = 200  # of a stratum; more would be slow to open
LONGEST_QUESTION, LONGEST_ID = 240, 40  # in the list; the question's page has all
OUTCOMES = {
    "right": ("right", "✓", "correct"),
    "wrong": ("both", "✗", "incorrect"),
    "untold": ("none", "?", "not known"),
    "": ("missing", "", "not"),
}
"""How a unit ended: its square, and its word."""


def sets(material: Material, links: Links, query: Query) -> Page:
    """The gold sets that runs were measured with, the one used last first."""
    pages, every = material.pages, material.pages.gold_sets()
    here = every[query.start : query.start + query.limit]
    found = Paged(rows=tuple(here), total=len(every), start=query.start)
    paged = listed(found, query, "-last", links.gold() or "")
    runs = {one.sha256: pages.runs_of_gold(one.sha256, 1) for one in here}
    units_of = {id: _command_of_units(pages, id, newest) for id, newest in runs.items()}

    def questions(one: GoldSet) -> Cell:
        command = units_of[one.sha256]
        units = f"{pluralize(one.questions, 'sample')} of {command}"
        return Cell(units, one.questions, foreign=True) if command else doc.count(one.questions)

    def last_run(one: GoldSet) -> Cell:
        run = next(iter(runs[one.sha256]))
        name = f"{run.record.name} {run.record.command}"
        return Cell(name, foreign=True, href=links.run(run.id) or "")

    shown: Block
    if not every:
        about = "A gold set appears here with the first recorded run that was measured with it."
        code = "ragauge score gold.jsonl traces.jsonl --record"
        shown = parts.empty("No gold sets yet", about, code)
    else:
        table = doc.table(
            here,
            {
                "set": lambda one: Cell(
                    one.sha256[:ID_SHOWN], one.sha256, href=links.gold(one.sha256) or ""
                ),
                Column("questions", right=True): questions,
                Column("answerable", right=True, spare=3): lambda one: doc.count(
                    None if units_of[one.sha256] else one.answerable
                ),
                Column("runs", right=True, spare=2): lambda one: doc.count(one.runs),
                Column("first used (UTC)", spare=1): lambda one: Cell(when(one.first), one.first),
                Column("last used (UTC)", spare=1): lambda one: Cell(when(one.last), one.last),
                "last run": last_run,
            },
            name="sets",
        )
        shown = parts.results("", paged, "gold set", links.gold(), table)
    about = (
        "The sets of questions that runs were measured with, the one used last first. A set is "
        "known by the hash of what its questions mean, whatever file they came from."
    )
    return Page(
        title="Gold sets",
        here="gold",
        blocks=[parts.header("Gold sets", about), shown],
        links=links,
        crumbs=(("Runs", links.runs()), ("Gold", None)),
    )


def _command_of_units(pages: PagedHistory, sha256: str, runs: Sequence[Run]) -> str | None:
    """The command whose units the set has in place of questions; None where it has questions."""
    first = pages.questions(sha256, QuestionQuery(limit=1)).rows
    if not (runs and first):
        return None
    command = runs[0].record.command
    # The gold of a type is a word, so that only the command says that it is a unit.
    as_id = command.startswith("eval ") and first[0].question == first[0].qid
    return command if first[0].is_unit or as_id else None


def page(material: Material, links: Links, query: Query) -> Page:
    """The gold set of this hash; raises Missing where no run was measured with it."""
    pages = material.pages
    gold = _set(material, query.needed("sha256"))
    runs = pages.runs_of_gold(gold.sha256, LAST)
    counts = {run.id: pages.counts(run) for run in runs}
    units_of, wanted = _command_of_units(pages, gold.sha256, runs), query.optional("run")
    if wanted and wanted not in counts:
        raise Missing(f"run {wanted[:ID_SHOWN]}: is none of the last {LAST} measured with this set")
    # The newest run that says of any unit whether it is correct, unless the address names one.
    known = (run for run in runs if counts[run.id].right + counts[run.id].wrong)
    chosen = next((run for run in known if not wanted or run.id == wanted), None)
    each, short = "sample" if units_of else "question", gold.sha256[:ID_SHOWN]
    answerable = f"{count(gold.answerable)} answerable"
    what = units_of or f"{answerable}, {count(gold.questions - gold.answerable)} unanswerable"
    used = f"{pluralize(gold.runs, 'run')}, from {when(gold.first)} to {when(gold.last)} UTC."
    cut_off = f"The last {len(runs)} of {count(gold.runs)} runs. " if len(runs) < gold.runs else ""
    strata = _strata(pages, gold, chosen, each, links)
    questions = _questions(pages, gold, runs, each, query, links)
    return Page(
        title=f"Gold set {short}",
        here="gold",
        blocks=[
            parts.header(
                [Span("Gold set "), Span(short, foreign=True)],
                [Span(f"{pluralize(gold.questions, each)}: {what}. {used}", foreign=True)],
                [Span(gold.sha256, foreign=True)],
            ),
            parts.section(
                "Coverage by the last runs",
                Text(f"{cut_off}A run that leaves {each}s out says nothing about them.", "dim"),
                _coverage(runs, counts, gold, chosen, links),
            ),
            parts.section("Strata", *strata, anchor="strata"),
            parts.section(f"{each.capitalize()}s", *questions, anchor="questions"),
        ],
        links=links,
        crumbs=(("Runs", links.runs()), ("Gold", links.gold()), (short, None)),
    )


def _set(material: Material, named: str) -> GoldSet:
    """The set of this hash, or of the only hash that begins so; raises Missing with what is."""
    shown, beginning = f'gold set "{visible(named[:64])}"', named.strip().lower()
    if len(beginning) < SHORTEST:
        raise Missing(f"{shown}: a set is named by {SHORTEST} characters of its hash at least")
    found = [one for one in material.pages.gold_sets() if one.sha256.startswith(beginning)]
    if not found:
        raise Missing(
            f"{shown}: no run of this history was measured with a set whose hash begins so; its "
            "runs may have been removed"
        )
    if len(found) > 1:
        hashes = ", ".join(one.sha256[:ID_SHOWN] for one in found[:NEAR])
        raise Missing(f"{shown}: is the beginning of several hashes: {hashes}; write more")
    return found[0]


def _coverage(
    runs: Sequence[Run],
    counts: Mapping[str, UnitCounts],
    gold: GoldSet,
    chosen: Run | None,
    links: Links,
) -> Table:
    def name(run: Run) -> Cell:
        words = f"{run.record.name} {run.record.command} {run.shown}"
        href = links.run(run.id) or ""
        return Cell(words, f"{run.record.name} {run.id}", foreign=True, href=href)

    def units(run: Run) -> Cell:
        given, all_of = counts[run.id].units, gold.questions
        return Cell(phrasing.n_of(given, all_of), given, "bad" if given < all_of else "")

    def strata(run: Run) -> Cell:
        if run is chosen or not counts[run.id].right + counts[run.id].wrong:
            return Cell("shown below") if run is chosen else Cell("not known", tone="dim")
        return Cell("show", href=links.gold(gold.sha256, run=run.id) or "")

    return doc.table(
        runs,
        {
            "run": name,
            Column("recorded (UTC)", spare=1): lambda run: Cell(
                when(run.record.recorded_at), run.record.recorded_at
            ),
            Column("samples", right=True, spare=2): units,
            "correct": lambda run: doc.count(counts[run.id].right),
            "incorrect": lambda run: doc.count(counts[run.id].wrong),
            Column("not known", right=True, spare=3): lambda run: doc.count(
                counts[run.id].untold, "dim"
            ),
            "strata": strata,
        },
        chosen=lambda run: run is chosen,
        name="coverage",
    )


class Value(Struct, frozen=True):
    """A value of a stratum, as a run met it."""

    stratum: str
    value: str
    place: int  # among the values of the stratum, of which the most frequent is first
    questions: int
    ended: OutcomeCounts

    @property
    def correct(self) -> float | None:
        """The fraction of units that are correct; None where the run does not say."""
        return self.ended.right / self.ended.judged if self.ended.judged else None

    @property
    def ci(self) -> tuple[float, float] | None:
        return None if self.correct is None else wilson(self.correct, self.ended.judged)


def _strata(
    pages: PagedHistory, gold: GoldSet, run: Run | None, each: str, links: Links
) -> Iterator[Block]:
    """The values of strata with how many are correct in one run; without a run only counts."""
    met = pages.rightness(run) if run else {}
    values = [
        Value(stratum, value, place, times, met.get(stratum, {}).get(value, OutcomeCounts(0, 0, 0)))
        for stratum, given in pages.strata(gold.sha256).items()
        if each == "question" or stratum != ANSWERABLE
        for place, (value, times) in enumerate(
            sorted(given.items(), key=lambda pair: (-pair[1], natural(pair[0])))
        )
    ]
    if not values:
        yield Text(f"The {each}s of this set have no strata.", "dim")
        return
    columns: dict[str | Column, Callable[[Value], Cell]] = {
        "stratum": lambda one: Cell(cut(one.stratum, 32), one.stratum, "dim", foreign=True),
        "value": lambda one: Cell(
            cut(one.value, 40),
            one.value,
            foreign=True,
            href=_with_value(links, gold, one.stratum, one.value) or "",
        ),
        Column(f"{each}s", right=True, spare=3): lambda one: doc.count(one.questions),
    }
    if run:
        counts = pages.counts(run)
        known = counts.right + counts.wrong
        fraction = counts.right / known

        def remark(one: Value) -> Cell:
            if one.ended.judged < THIN:
                return Cell("thin", badge="warned")
            is_weak = one.ci and one.ci[1] < fraction
            return Cell("weak", badge="fail") if is_weak else Cell("")

        columns |= {
            Column("correct", right=True): lambda one: doc.number(one.correct),
            Column("fraction correct", plot=True): lambda one: Cell(
                "", one.correct, plot=Range(one.correct, one.ci, fraction)
            ),
            Column("95 % interval", right=True, spare=1): lambda one: doc.interval(one.ci),
            Column("n", right=True, spare=2): lambda one: doc.count(one.ended.judged, "dim"),
            "remark": remark,
        }
        name, href = f"{run.record.name} {run.shown}", links.run(run.id) or ""
        found = f"{phrasing.value(fraction)} {phrasing.interval(wilson(fraction, known))}"
        about = (
            f": {found} over all {pluralize(known, 'sample')}; the upright line below. "
            f"Correct means: {correct_means(run.record.command)}. Intervals are Wilson's, at 95 %. "
            f"thin: fewer than {THIN} samples are known to be correct or incorrect. "
            "weak: the complete interval is "
            "below the fraction of the set."
        )
        of = [Span("The fraction correct in "), Span(name, foreign=True, href=href), Span(about)]
        yield Text(of)
    else:
        words = f"None of the last runs says which samples are correct: only {each}s are counted."
        yield Text(words, "dim")
    yield doc.table(
        [one for one in values if one.place < VALUES_SHOWN],
        columns,
        name="strata",
        total=len(values),
        everything=f"only the {VALUES_SHOWN} most frequent of a stratum are shown",
    )


def _with_value(links: Links, gold: GoldSet, stratum: str, value: str) -> str | None:
    """The address of the set's questions with this value."""
    href = links.gold(gold.sha256, stratum=stratum, value=value)
    return f"{href}#questions" if href and "#" not in href else href


def _questions(
    pages: PagedHistory, gold: GoldSet, runs: Sequence[Run], each: str, query: Query, links: Links
) -> Iterator[Block]:
    """The questions that the address selects, with the outcome of each in the last runs."""
    wanted, down = query.order("place")
    sort = next((one for one in SORTS if one == wanted), None)
    if sort is None:
        raise BadAddress(f'sort: "{wanted[:40]}" is none of {", ".join(SORTS)}')
    answerable = query.choice("answerable", tuple(IS_ANSWERABLE))
    filters = QuestionQuery(
        words=query.text("q"),
        answerable=IS_ANSWERABLE[answerable] if answerable else None,
        stratum=query.exact("stratum") or None,
        value=query.exact("value") or None,
        sort=sort,
        descending=down,
        start=query.start,
        limit=query.limit,
    )
    found, here = pages.questions(gold.sha256, filters), links.gold(gold.sha256)
    paged = listed(found, query, "place", here or "", "questions")
    given = {name: query.text(name) for name in ("q", "answerable", "stratum", "value")}
    hint = "id" if each == "sample" else "id or words"
    fields = [
        Field("q", given["q"], "Search", hint, kind="search"),
        Field("run", query.text("run")),
        Field("sort", paged.order if paged.order != "place" else ""),
    ]
    if each == "question":
        choices = (("", "all"), ("yes", "answerable"), ("no", "unanswerable"))
        fields.append(parts.select("answerable", answerable or "", "Answerable", choices))
    if given["stratum"] and given["value"]:
        fields += [Field(name, given[name], name.capitalize()) for name in ("stratum", "value")]
    clear = f"{here}#questions" if any(given.values()) else None
    yield parts.form(here, *fields, replaces="question-list", clear=clear)
    ended = pages.ends(runs, [one.qid for one in found.rows])

    def id(one: Gold) -> Cell:
        newest = next((run.id for run in runs if one.qid in ended[run.id]), None)
        href = links.question(newest, one.qid) if newest else None
        return Cell(cut(one.qid, LONGEST_ID), one.qid, foreign=True, href=href or "")

    def strata(one: Gold) -> Cell:
        given = ((stratum, value_of(one, stratum)) for stratum in sorted(one.strata))
        known = [(stratum, value) for stratum, value in given if value is not None]
        tags = [(*pair, _with_value(links, gold, *pair)) for pair in known]
        text = " ".join(f"{stratum}={value}" for stratum, value in known)
        return Cell(text, drawn=draw_macro("tags", tags))

    def outcomes(one: Gold) -> Cell:
        squares = []
        for run in reversed(runs):
            kind, mark, word = OUTCOMES[ended[run.id].get(one.qid, "")]
            about = f"{word} in {run.record.name}, {when(run.record.recorded_at)}"
            squares.append(Square(kind, mark, about))
        return Cell(" ".join(square.mark for square in squares), squares=squares)

    def incorrect(one: Gold) -> Cell:
        endings = [ended[run.id][one.qid] for run in runs if one.qid in ended[run.id]]
        times = endings.count("wrong")
        return Cell(phrasing.n_of(times, len(endings)), times, "bad" if times else "soft")

    columns: dict[str | Column, Callable[[Gold], Cell]] = {sorts("id", "qid", paged): id}
    if each == "question":
        head = structs.replace(sorts("question", "question", paged), prose=True)
        columns[head] = lambda one: Cell(
            cut(one.question, LONGEST_QUESTION), one.question, foreign=True
        )
        columns[sorts("answerable", "answerable", paged)] = lambda one: Cell(
            "yes" if one.answerable else "no", one.answerable, hint="answerable"
        )
    columns |= {
        Column("strata", spare=1): strata,
        "last runs": outcomes,
        Column("incorrect", right=True): incorrect,
    }
    words = Text(
        f"Squares: the last {pluralize(len(runs), 'run')}, the newest on the right.", "dim"
    )
    table = doc.table(found.rows, columns, paged=True, below=False, name="questions")
    shown = (words, parts.carded(table))
    yield parts.results("question-list", paged, each, f"{here}#questions", *shown)
