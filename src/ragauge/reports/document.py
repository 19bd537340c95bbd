"""A report as blocks, in order, before a format writes them.

Each kind of report has one module in `kinds` that turns a report into a `Document`; each format
has one writer in `formats`. A cell keeps its value next to its text, so that tables can be sorted
and exported. Foreign text (ids, names, answers, messages) is marked as such and escaped by the
writers alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from itertools import count as counting
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from msgspec import Struct, structs

from ragauge.contracts.report import Advice, Finding, Report, Score
from ragauge.contracts.report import Verdict as Gate
from ragauge.metrics.names import long_name
from ragauge.reports import phrasing
from ragauge.reports.phrasing import wording

if TYPE_CHECKING:
    from markupsafe import Markup

Tone = Literal["", "good", "bad", "warm", "soft", "dim", "strong", "plain"]
"""How a text or a bar is coloured; every format knows all of them."""
Target = tuple[Literal["question", "metric", "run", "tab", "code", "here"], str]
"""What a text is about, and its id: a page links to it, a file does not. `here` is an anchor in
the document itself."""


class Links(Protocol):
    """Addresses of what texts are about; None where there is no page for it."""

    def to(self, target: Target) -> str | None: ...


class Span(Struct, frozen=True):
    """A piece of a text."""

    text: str
    tone: Tone = ""
    foreign: bool = False
    marked: bool = False  # it differs from the text next to it, or holds the evidence
    to: Target | None = None
    href: str = ""  # an address that is known already; only pages link it


Inline = str | Sequence[Span]  # our own text, or pieces of which some are foreign


class Bar(Struct, frozen=True):
    """A fraction as a bar, with a mark where it should end if that is known."""

    fraction: float
    tone: Tone = "plain"
    mark: float | None = None
    kind: str = ""  # the class of a label or verdict that has its own colour on a page


class Range(Struct, frozen=True):
    """A value with its interval and its bound, as a dot on a line."""

    value: float | None
    ci: tuple[float, float] | None = None
    bound: float | None = None
    ends: tuple[float, float] = (0.0, 1.0)  # of the line; the same in all rows of a table

    def at(self, number: float) -> float:
        """Where a number is on the line: 0 at its start, 1 at its end."""
        return (number - self.ends[0]) / (self.ends[1] - self.ends[0])


class Square(Struct, frozen=True):
    """One of several outcomes in a row."""

    kind: str  # its class in the style sheet
    mark: str
    title: str  # shown when a reader points at it; may be foreign


class Cell(Struct, frozen=True):
    """A cell of a table: its text, and the value that it is sorted and exported by."""

    text: str
    value: Any = None
    tone: Tone = ""
    foreign: bool = False  # whether the text is not ours: a name, an id, a message
    to: Target | None = None
    badge: str = ""  # the class of the dot before it: a label or verdict that has a colour
    plot: Bar | Range | None = None
    squares: Sequence[Square] = ()  # what a page draws in place of the text
    href: str = ""  # an address that is known already, where `to` would have to be looked up
    hint: str = ""  # what there is no room for; a page shows it when you point at the cell
    drawn: Markup | None = None  # what a page shows in place of the text: tags, a sparkline
    short: str = ""  # what a terminal shows where its table has no room for the text


class Column(Struct, frozen=True):
    title: str
    right: bool = False  # numbers are aligned to the right
    spare: int = 0  # on a narrow page the highest number gives way first; 0 stays
    plot: bool = False  # holds bars or ranges: drawn where there is room, left out elsewhere
    begins: bool = False  # a group: a terminal too narrow for all columns cuts the table here
    foreign: bool = False  # whether the title is not ours
    prose: bool = False  # holds sentences, so that it gets more room on a page
    href: str = ""  # the address of a paged table sorted by this column
    key: str = ""  # its name in a download, where that is not its title
    order: Literal["", "ascending", "descending"] = ""  # how a paged table is sorted by it


class Row(Struct, frozen=True):
    cells: tuple[Cell, ...]
    note: Inline = ""  # what the row has no column for; a text in spans may be marked
    strong: bool = False
    inner: bool = False  # whether it belongs to the row above, which names a group
    chosen: bool = False  # whether the page is about this row


class Block(Struct, frozen=True, kw_only=True):
    part: str = ""  # the name by which the dashboard finds it; by default, the kind of block


class Titled(Block, frozen=True, kw_only=True):
    title: str = ""
    about: str = ""  # a foreign name that ends the title: a stratum, another run
    remark: str = ""
    after: str = ""  # a remark below it
    folded: bool = False  # whether a reader of Markdown or of a page has to open it


class Table(Titled, frozen=True, kw_only=True):
    """Rows under columns; each format shows as many rows as it has room for."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    shown: int | None = None  # rows in a terminal; Markdown shows more, and a page all of them
    total: int | None = None  # how many rows there are, where not all of them are here
    everything: str = ""  # where the others are: in the JSON report, by default
    paged: bool = False  # the rows are one page of a table that a server sorts
    below: bool = True  # columns that a page has no room for go below their rows
    name: str | None = ""  # of its download, where that is not the title; None for no download

    def data(self) -> tuple[list[str], list[list[Any]]]:
        """The values of the cells under the titles of their columns; an interval is two columns.

        >>> table([0.5], {"n": count, "95 % interval": lambda n: interval((n, 1.0))}).data()
        (['n', '95 % interval low', '95 % interval high'], [[0.5, 0.5, 1.0]])
        """
        titles: list[str] = []
        values: list[list[Any]] = [[] for _ in self.rows]
        for at, column in enumerate(self.columns):
            if not column.title:
                continue
            cells = [_exported(row.cells[at]) for row in self.rows]
            pair, name = any(isinstance(cell, tuple) for cell in cells), column.key or column.title
            titles += [f"{name} {end}" for end in ("low", "high")] if pair else [name]
            for row, cell in zip(values, cells, strict=True):
                row.extend((cell or (None, None)) if pair else [cell])
        return titles, values

    def cells_below(self, row: Row, places: Iterable[int] | None = None) -> list[str]:
        """The cells of a row that a narrow page puts below it, with their titles; all, or these."""
        spare = [at for at, column in enumerate(self.columns) if column.spare]
        cells = [(self.columns[at].title, row.cells[at].text) for at in sorted(places or spare)]
        return [f"{title} {text}".strip() for title, text in cells if text and self.below]


def _exported(cell: Cell) -> Any:
    if cell.value is not None:
        return cell.value
    return None if cell.text in ("", phrasing.ABSENT) else cell.text


class Data(Block, frozen=True):
    """Rows that can be downloaded from a page: the data of a picture, or all rows of a table."""

    name: str
    columns: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]

    def data(self) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        return self.columns, self.rows()


class Place(Struct, frozen=True):
    """Where blocks are written as HTML: a page of its own, or one of many parts of a file."""

    prefix: str = ""  # of its ids
    step: int = 0  # how many levels its headings are lower
    served: bool = True  # whether a server answers forms and pages through tables
    names: Mapping[str, str] = {}  # ids that links from outside call by another name

    def id(self, name: str) -> str:
        own = f"{self.prefix}-{name}" if self.prefix else name
        return self.names.get(name, own)

    def level(self, heading: int) -> int:
        return min(6, heading + self.step)


class Html(Block, frozen=True):
    """A part of a page that no other format has, drawn for the place where it is written."""

    draw: Callable[[Place], Markup]


class Verdict(Block, frozen=True):
    """The word and the sentence that a report begins with, and what it is about."""

    word: str
    text: str
    notes: Sequence[str] = ()  # names and files, a line each
    meaning: Sequence[str] = ()  # our own sentences
    tone: Tone = ""  # of the word; chosen by its meaning where there is none
    one_line: bool = False  # a terminal cuts the text at the page's edge: it ends in a path
    level: int = 1  # of its heading on a page


def verdict_tone(word: str) -> Tone:
    return "good" if word == "PASS" else "bad" if word in ("FAIL", "REGRESSED") else "soft"


class Bars(Titled, frozen=True, kw_only=True):
    """Counts that make up a total: a stacked bar on a page, elsewhere a table with a bar each."""

    heads: tuple[str, str, str] = ("label", "questions", "fraction")
    bars: Sequence[tuple[str, str, int, Tone]]
    """For each, its class in the style sheet, its name, its count, and its tone in a terminal."""

    def table(self) -> Table:
        total, most = (of([times for *_, times, _ in self.bars]) for of in (sum, max))
        name, times, fraction = self.heads
        return table(
            self.bars,
            {
                name: lambda bar: names(bar[1]),
                "plot": lambda bar: plot(Bar(bar[2] / most, bar[3])),
                times: lambda bar: count(bar[2]),
                fraction: lambda bar: percent(bar[2], total),
            },
            title=self.title,
            remark=self.remark,
            after=self.after,
        )


class Text(Block, frozen=True):
    """A paragraph."""

    text: Inline
    tone: Tone = ""


class Section(Titled, frozen=True, kw_only=True):
    """Blocks under a title; a section in a section is one level below it."""

    blocks: Sequence[Block]
    anchor: str = ""  # the name that links to it use
    lang: str = ""  # its language, where that is not the language of its page


class Only(Block, frozen=True):
    """Blocks that some formats write and others do not."""

    forms: frozenset[str]
    blocks: Sequence[Block]


class Facts(Block, frozen=True):
    """Texts, each with a label if it has one; empty texts are left out."""

    facts: Sequence[tuple[str, Inline]]


class Card(Struct, frozen=True):
    """One of several things that are compared."""

    title: Inline
    facts: Sequence[tuple[str, Inline]]
    mark: tuple[str, str] | None = None  # the letter of a run in a heat map, and its class


class Cards(Block, frozen=True):
    """Things side by side where there is room; differences are marked in their texts."""

    cards: Sequence[Card]


class Item(Struct, frozen=True, kw_only=True):
    """One of many: a line that a reader can open."""

    name: str  # foreign: the id of a question, an answer, a sample
    badge: tuple[str, str, Tone] = ("", "", "")
    """Its class in the style sheet, its text, and its tone in a terminal."""
    about: str = ""  # foreign: the question
    aside: str = ""
    blocks: Sequence[Block]
    opened: bool = False
    to: Target | None = None
    anchor: str = ""


class Items(Titled, frozen=True, kw_only=True):
    """Many items of one kind; a terminal shows the first ones, a page all of them, closed."""

    items: Sequence[Item]
    shown: int = 10
    total: int | None = None
    everything: str = ""  # where the others are: on the page, by default


def number_of(block: Table | Items) -> int:
    """How many rows or items there are in total; some of them may not be in the block."""
    here = block.rows if isinstance(block, Table) else block.items
    return len(here) if block.total is None else block.total


class Figure(Titled, frozen=True, kw_only=True):
    """A picture in characters, as wide as there is room; a page may have a better one."""

    drawn: Callable[[int], Sequence[Inline]]
    page: Callable[[Links], Markup] | None = None


class Findings(Block, frozen=True):
    """Each code with its count and its first places."""

    by_code: Sequence[tuple[str, int, Sequence[Finding]]]
    everything: str = ""  # where the others are, if they are kept


def part_of(block: Block) -> str:
    return block.part or type(block).__name__.lower()


class Document(Struct, frozen=True):
    name: str  # the kind of report, as its title says it
    blocks: Sequence[Block]
    language: str = "en"

    def part(self, *names: str) -> list[Block]:
        """The blocks with these names, in the order of the names."""
        return [block for name in names for block in self.blocks if part_of(block) == name]


def in_format(blocks: Iterable[Block], form: str) -> Iterator[Block]:
    """The blocks that a format writes."""
    for block in blocks:
        match block:
            case Only():
                yield from in_format(block.blocks, form) if form in block.forms else ()
            case Bars() if form != "html":
                yield from [block.table()] if block.bars else ()
            case _:
                yield block


def downloads(blocks: Iterable[Block]) -> dict[str, Table | Data]:
    """The tables and data of a page, also those inside other blocks, by the names of their files.

    A table without a name has that of its title; where that is taken it gets a number.
    """

    def walk(blocks: Iterable[Block], heading: str) -> Iterator[tuple[str, Table | Data]]:
        for block in in_format(blocks, "html"):
            match block:
                case Data():
                    yield "", block
                case Table() if block.name is not None:
                    yield f"{block.title or heading} {block.about}", block
                case Section():
                    yield from walk(block.blocks, block.title or heading)
                case Items():
                    yield from walk((inner for one in block.items for inner in one.blocks), "")

    given = list(walk(blocks, ""))
    found = {block.name: block for _, block in given if block.name}
    for title, block in given:
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        if not block.name and name:
            numbered = (f"{name}-{number}" for number in counting(2))
            free = next(one for one in chain([name], numbered) if one not in found)
            found[free] = block
    return found


def on_pages(*blocks: Block, part: str = "") -> Only:
    return Only(frozenset({"html"}), blocks, part=part)


Member = TypeVar("Member")


class Lazy(Sequence[Member]):
    """A sequence that is computed when it is first read: not where only other parts are shown."""

    def __init__(self, make: Callable[[], Sequence[Member]]) -> None:
        self._get = cache(make)

    def __getitem__(self, place: Any) -> Any:
        return self._get()[place]

    def __len__(self) -> int:
        return len(self._get())


def listed(*parts: str | int | bool | None, sep: str = ", ") -> str:
    """The parts in one line, without those that are zero, empty or absent.

    >>> listed("80 questions", 0 and "0 errors", None, "2 missing")
    '80 questions, 2 missing'
    """
    return sep.join(part for part in parts if part and isinstance(part, str))


def plain(given: Inline) -> str:
    """The text without its tones."""
    return given if isinstance(given, str) else "".join(span.text for span in given)


def spans(given: Inline) -> Sequence[Span]:
    return [Span(given)] if isinstance(given, str) else given


def foreign(text: str | None) -> Sequence[Span]:
    """A text as a foreign span; no span for an empty text."""
    return [Span(text, foreign=True)] if text else []


def marked(pieces: Iterable[tuple[str, bool]], between: str = "") -> Sequence[Span]:
    """Foreign text in pieces, each with whether it is marked."""
    found = [Span(piece, foreign=True, marked=is_marked) for piece, is_marked in pieces]
    return joined(found, between) if between else found


def joined(given: Iterable[Span], sign: str) -> list[Span]:
    """The spans with a sign between them."""
    return [piece for span in given for piece in (Span(sign), span)][1:]


def names(text: str, tone: Tone = "", to: Target | None = None) -> Cell:
    """A cell with foreign text."""
    return Cell(text, text, tone, foreign=True, to=to)


def number(value: float | None, text: str | None = None, tone: Tone = "") -> Cell:
    """A cell with a number, with three decimals unless a text is given."""
    return Cell(phrasing.value(value) if text is None else text, value, tone)


def count(value: int | None, tone: Tone = "") -> Cell:
    return Cell(phrasing.ABSENT if value is None else phrasing.count(value), value, tone)


def n_of(n: int, of: int) -> Cell:
    """A cell such as `47 of 1,080`; absent where there is nothing to count."""
    return Cell(phrasing.n_of(n, of), n) if of else Cell(phrasing.ABSENT)


def percent(part: int, whole: int) -> Cell:
    return Cell(phrasing.percent(part, whole), part / whole if whole else None, "dim")


def interval(ci: tuple[float, float] | None) -> Cell:
    return Cell(phrasing.interval(ci), ci, "dim")


def signed(value: float | None, tone: Tone = "") -> Cell:
    """A cell with a change."""
    return Cell(phrasing.signed(value), value, tone)


def signed_interval(ci: tuple[float, float] | None) -> Cell:
    return Cell(phrasing.signed_interval(ci), ci, "dim")


def plot(drawn: Bar | Range | None) -> Cell:
    """A cell that is only drawn."""
    return Cell("", plot=drawn)


def select_columns(table: Table, places: Sequence[int]) -> Table:
    """The table with only the columns at these places."""
    return structs.replace(
        table,
        columns=[table.columns[at] for at in places],
        rows=[
            structs.replace(row, cells=tuple(row.cells[at] for at in places)) for row in table.rows
        ],
    )


def without_empty_columns(table: Table, always: Sequence[str] = ()) -> Table:
    """The table without its empty columns, except those in `always`."""

    def there(at: int) -> bool:
        cells = [row.cells[at] for row in table.rows]
        known = any(cell.text not in ("", phrasing.ABSENT) or cell.plot for cell in cells)
        return known or table.columns[at].title in always

    return select_columns(table, [at for at in range(len(table.columns)) if there(at)])


Thing = TypeVar("Thing")
FEW = 5  # a value over fewer units is due to chance: it is shown with a mark


def table(
    things: Iterable[Thing],
    columns: Mapping[str | Column, Callable[[Thing], Cell]],
    *,
    note: Callable[[Thing], Inline] | None = None,
    strong: Callable[[Thing], bool] | None = None,
    chosen: Callable[[Thing], bool] | None = None,
    **about: Any,
) -> Table:
    """A table of things: each column with the function that makes its cell of a thing.

    A column may be given by its title: numbers are aligned to the right, and a narrow terminal can
    cut the table there; cells that are only drawn make a column of plots. `about` has the other
    fields of the table.

    >>> two = table([1, 2], {"n": count, Column("name", spare=1): lambda n: names(f"q{n}")})
    >>> [column.right for column in two.columns], two.rows[1].cells[1].text
    ([True, False], 'q2')
    """
    rows = [
        Row(
            tuple(cell(thing) for cell in columns.values()),
            note(thing) if note else "",
            strong(thing) if strong else False,
            chosen=chosen(thing) if chosen else False,
        )
        for thing in things
    ]
    heads = [
        _column(column, [row.cells[at] for row in rows]) if isinstance(column, str) else column
        for at, column in enumerate(columns)
    ]
    return Table(columns=heads, rows=rows, **about)


def _column(title: str, cells: Sequence[Cell]) -> Column:
    known = [cell for cell in cells if cell.value is not None]
    plots = any(cell.plot for cell in cells) and not any(cell.text for cell in cells)
    numeric = (type(cell.value) in (int, float) for cell in known)
    right = bool(known) and all(numeric)
    return Column(title, right=right, plot=plots, begins=right)


def metric(id: str, shown: str, tone: Tone = "", language: str = "en") -> Cell:
    """A cell with the name of a metric, and the long name of an abbreviation where it fits."""
    name = long_name(id, shown) if language == "en" else shown
    return Cell(name, id, tone, foreign=True, to=("metric", id), short=shown)


def gates(
    given: Sequence[Gate],
    metrics: Mapping[str, Score],
    shown_names: Mapping[str, str],
    *,
    title: str | None = None,
    remark: str = "",
    value: Callable[[Gate], str] | None = None,
    demand: Callable[[Gate], str] = phrasing.bound,
    language: str = "en",
) -> Iterable[Table]:
    """The table of gates, the same in every kind of report; none without gates."""
    say = wording(language)

    def name(gate: Gate) -> Cell:
        tone: Tone = "" if gate.holds else "strong"
        return metric(gate.metric, shown_names[gate.metric], tone, language)

    def found(gate: Gate) -> Cell:
        close = value(gate) if value else phrasing.value_against(gate.value, gate.bound)
        return number(gate.value, close)

    def scored(gate: Gate) -> Cell:
        """The number of units and their total, unless the gate is about a part of the set."""
        score, rest = metrics.get(gate.metric), phrasing.restriction(gate)
        narrowed = rest.startswith("per question") or "where " in rest
        of = None if score is None or narrowed else score.of
        return Cell(say.n_of(gate.n, of), gate.n, "dim")

    # The bounds name the level of an interval where it is not this one.
    at_95 = all(phrasing.confidence(gate) in ("", " @95") for gate in given)
    columns: dict[str | Column, Callable[[Gate], Cell]] = {
        say.metric: name,
        Column(say.value, right=True): found,
        Column("", plot=True): lambda gate: plot(
            None if value else Range(gate.value, gate.ci, gate.bound)
        ),
        Column(say.interval_95 if at_95 else say.interval, spare=1): lambda gate: interval(gate.ci),
        Column(say.scored, right=True, spare=2): scored,
        Column(say.bound): lambda gate: Cell(demand(gate), gate.bound, foreign=True),
        say.verdict: lambda gate: gate_word(gate, language),
    }
    if given:
        yield table(
            given,
            columns,
            note=phrasing.gate_note,
            strong=lambda gate: not gate.holds,
            title=say.gates if title is None else title,
            remark=remark,
            part="gates",
        )


def gate_word(gate: Gate, language: str = "en") -> Cell:
    tone: Tone = "bad" if not gate.holds else "good" if gate.verdict == "pass" else "soft"
    return Cell(phrasing.gate_word(gate, language), gate.verdict, tone)


def scores(
    given: Mapping[str, Score],
    shown_names: Mapping[str, str],
    *,
    title: str,
    remark: str = "",
    unit: str = "",
    silent: Iterable[str] = (),
    language: str = "en",
) -> Table:
    """The table of metrics; the reasons of those in `silent` are not shown."""
    from ragauge.metrics.table import known

    def drawn(one: str) -> Range | None:
        """Its place between 0 and 1; the marks of a rubric and a ratio have another scale."""
        found = known(one)
        return None if found and found.bounds[1] != 1 else Range(given[one].value, given[one].ci)

    quiet, say = {*silent}, wording(language)
    columns: dict[str | Column, Callable[[str], Cell]] = {
        say.metric: lambda one: metric(one, shown_names[one], "", language),
        Column(say.value, right=True): lambda one: number(given[one].value),
        Column("", plot=True): lambda one: plot(drawn(one)),
        Column(say.interval_95, spare=1): lambda one: interval(given[one].ci),
        Column(unit or say.scored, right=True, spare=2): lambda one: Cell(
            say.n_of(given[one].n, given[one].of), given[one].n, "dim"
        ),
    }
    return table(
        given,
        columns,
        note=lambda one: "" if one in quiet else given[one].reason or "",
        title=title,
        remark=remark,
        part="metrics",
        name=None,
    )


def other_scores(report: Report, shown_names: Mapping[str, str]) -> Iterator[Table]:
    """The table of the metrics that have no gate; none where all have one."""
    gated = {gate.metric for gate in report.gates}
    given = {id: score for id, score in report.metrics.items() if id not in gated}
    if given:
        yield scores(given, shown_names, title="Other metrics" if gated else "Metrics")


def slices(
    stratum: str,
    by: Mapping[str, Mapping[str, Score]],
    shown_names: Mapping[str, str],
    ids: Iterable[str],
    *,
    shown: int,
    remark: str = "",
    everything: str = "",
) -> Table:
    """Metrics by the values of a stratum, the most frequent first.

    Values over few units come last; a terminal shows them where there are no others.
    """
    measured = {
        value: max([one.n for one in scores.values() if one.value is not None], default=0)
        for value, scores in by.items()
    }
    sizes = {value: max(one.of for one in scores.values()) for value, scores in by.items()}
    values = sorted(by, key=lambda value: (measured[value] < FEW, -sizes[value], value))
    many = sum(each >= FEW for each in measured.values())

    def size(value: str) -> Cell:
        n, of = measured[value], sizes[value]
        return Cell(phrasing.n_of(n, of if n < of else None), n, "dim")

    def scored(id: str) -> Callable[[str], Cell]:
        def cell(value: str) -> Cell:
            score = by[value].get(id)
            if score is None or score.value is None:
                return Cell(phrasing.ABSENT, tone="dim")
            few = score.n < FEW
            return number(
                score.value, phrasing.value(score.value) + "*" * few, "dim" if few else ""
            )

        return cell

    cells: dict[str | Column, Callable[[str], Cell]] = {"value": names, "n": size}
    for id in ids:
        cells[Column(shown_names[id], right=True, begins=True, foreign=True)] = scored(id)
    starred = any(0 < one.n < FEW for scores in by.values() for one in scores.values())
    return table(
        values,
        cells,
        title="By",
        about=stratum,
        remark=remark,
        part="slices",
        shown=min(shown, many or shown),
        everything=everything,
        after=f"* over fewer than {FEW} samples" if starred else "",
    )


def findings(report: Any) -> Findings:
    return Findings(phrasing.findings_by_code(report.findings, report.finding_counts))


def advice(given: Sequence[Advice]) -> Iterator[Section]:
    """A section for each hypothesis about what is wrong; nothing without any."""
    say = wording("en")

    def hypothesis(number: int, one: Advice) -> Section:
        samples = (Span(qid, foreign=True, to=("question", qid)) for qid in one.questions)
        facts: list[tuple[str, Inline]] = [("", one.evidence), (say.confirm, one.confirm)]
        facts += [(say.change, one.action), (say.see, joined(samples, " "))]
        return Section(title=f"{number}. {one.title}", blocks=[Facts(facts)])

    if given:
        inside = [hypothesis(number, one) for number, one in enumerate(given, 1)]
        yield Section(title=say.advice, remark=say.advice_about, blocks=inside, part="advice")


def steps(given: Iterable[str], language: str = "en") -> Iterator[Section]:
    """What to do next, a command or a sentence each; nothing where there is nothing to do."""
    facts = [("", [Span(step, foreign=not step.endswith("."))]) for step in given]
    if facts:
        yield Section(title=wording(language).next, blocks=[Facts(facts)], part="next")


def coverage(text: str, identity: Mapping[str, Any] | None = None, language: str = "en") -> Section:
    """How much was measured; on a page also what makes the run comparable, folded."""
    say = wording(language)
    known = [(name, foreign(value)) for name, value in phrasing.identity_items(identity or {})]
    details = Section(title=say.run_details, blocks=[Facts(known)], folded=True)
    inside = [on_pages(details)] if known else []
    return Section(title=say.coverage, remark=text, blocks=inside, part="coverage")


def glossary(
    ids: Iterable[str], shown_names: Mapping[str, str], *, short: Iterable[str] = ()
) -> Iterator[Block]:
    """What each metric of a report means, in one sentence; in a terminal only those in `short`.

    Metrics whose plug-in is gone are left out.
    """
    from ragauge.metrics.table import known

    found = {id: known(id) for id in ids}
    entries = {id: (shown_names[id], one.summary) for id, one in found.items() if one}
    few = [entries[id] for id in short if id in entries]
    given = list(entries.values())
    for kept, forms in ((few or given, {"text"}), (given, {"markdown", "html"})):
        if kept:
            meaning = Section(title="What the metrics mean", blocks=[Facts(kept)], folded=True)
            yield Only(frozenset(forms), [meaning], part="glossary")
