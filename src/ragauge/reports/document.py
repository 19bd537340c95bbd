"""A report as blocks: what it says, in order, before any format writes it down.

Each kind of report has one module in `kinds` that turns a report into a `Document`; each format
has one writer in `formats`. A cell keeps its value next to its text, so that tables can be sorted
and exported. Foreign text (ids, names, answers, messages) is marked as such and escaped by the
writers alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from itertools import count as counting
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, overload

from msgspec import Struct, structs

from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Advice, Score
from ragauge.contracts.verdict import Verdict as Gate
from ragauge.errors import UsageError
from ragauge.reports import envelope, numbers
from ragauge.reports.words import wording

if TYPE_CHECKING:
    from markupsafe import Markup

Tone = Literal["", "good", "bad", "warm", "soft", "dim", "strong", "plain"]
"""How a text or a bar is coloured; every format knows all of them."""
Target = tuple[Literal["question", "metric", "tab", "code", "here"], str]
"""What a text is about, and its id: a page links it, a file does not. `here` is an anchor of the
document itself."""


class Links(Protocol):
    """Addresses of what a text is about; None where there is no page of it."""

    def to(self, target: Target) -> str | None: ...


class NoLinks:
    """A report on its own, as in a file."""

    def to(self, target: Target) -> None:
        return None


class Span(Struct, frozen=True):
    """A piece of a text."""

    text: str
    tone: Tone = ""
    foreign: bool = False
    marked: bool = False
    """Whether it stands out: what differs from the text next to it, or carries the evidence."""
    to: Target | None = None
    href: str = ""
    """An address that is known already; only pages link it."""


Words = str | Sequence[Span]
"""A text of ours, or pieces of which some are somebody else's."""


class Bar(Struct, frozen=True):
    """A fraction as a bar, with a mark where it should end if that is known."""

    fraction: float
    tone: Tone = "plain"
    mark: float | None = None
    kind: str = ""
    """The class of a label or a verdict that has a colour of its own on a page."""


class Range(Struct, frozen=True):
    """A value with its interval and its bound, as a dot on a line."""

    value: float | None
    ci: tuple[float, float] | None = None
    bound: float | None = None
    ends: tuple[float, float] = (0.0, 1.0)
    """Of the line; the same in all rows of a table."""

    def at(self, number: float) -> float:
        """The place of a number: 0 where the line begins, 1 where it ends."""
        return (number - self.ends[0]) / (self.ends[1] - self.ends[0])


class Square(Struct, frozen=True):
    """One of several outcomes in a row."""

    kind: str
    """Its class in the style sheet."""
    mark: str
    title: str
    """What a reader sees who points at it; may be foreign."""


class Cell(Struct, frozen=True):
    """A cell of a table: its text, and the value that it is sorted and exported by."""

    text: str
    value: Any = None
    tone: Tone = ""
    foreign: bool = False
    """Whether the text is somebody else's: a name, an id, a message."""
    to: Target | None = None
    badge: str = ""
    """The class of the dot before it: a label or a verdict that has a colour of its own."""
    plot: Bar | Range | None = None
    squares: Sequence[Square] = ()
    """What a page draws in place of the text."""
    href: str = ""
    """An address that is known already, where `to` would have to be looked up."""
    hint: str = ""
    """What there is no room for; a page shows it to who points at the cell."""
    drawn: Markup | None = None
    """What a page shows in place of the text: tags, a sparkline, a text with marks."""
    short: str = ""
    """What a terminal shows in place of the text where its table has no room for that."""


class Column(Struct, frozen=True):
    title: str
    right: bool = False
    """Numbers are aligned to the right."""
    spare: int = 0
    """Where the page is too narrow, columns with the highest number give way first; 0 stays."""
    plot: bool = False
    """Holds bars or ranges: drawn where there is room, left out elsewhere."""
    begins: bool = False
    """Begins a group: a terminal too narrow for all columns cuts the table here."""
    foreign: bool = False
    """Whether the title is somebody else's."""
    prose: bool = False
    """Holds sentences, so that it gets more room on a page."""
    href: str = ""
    """The address of a paged table in the order of this column."""
    key: str = ""
    """What it is called in a download, where that is not its title."""
    order: Literal["", "ascending", "descending"] = ""
    """The order that a paged table is in, by this column."""


class Row(Struct, frozen=True):
    cells: tuple[Cell, ...]
    note: Words = ""
    """What the row has no column for; a text in spans may be marked."""
    strong: bool = False
    inner: bool = False
    """Whether it belongs to the row above that names a group."""
    chosen: bool = False
    """Whether it is the one that the page is about."""


class Table(Struct, frozen=True, kw_only=True):
    """Rows under columns; a long table is cut as far as a format has room."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    title: str = ""
    about: str = ""
    """Somebody else's name that ends the title: a stratum, another run."""
    remark: str = ""
    part: str = ""
    shown: int | None = None
    """Rows in a terminal; Markdown shows `SHOWN_MORE` times as many, and a page all of them."""
    total: int | None = None
    """How many rows there are, where not all of them are here."""
    everything: str = ""
    """Where the others are: in the JSON report, unless it says."""
    folded: bool = False
    """Whether a reader of Markdown or of a page has to open it."""
    paged: bool = False
    """Whether the rows are a page of more that a server keeps, which sorts all of them."""
    below: bool = True
    """Whether columns that a page has no room for go below their rows, or are left out."""
    after: str = ""
    """A remark below it."""
    name: str | None = ""
    """Of the file that a reader of a page can download, where it is not that of the title; None
    where there is none."""

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


def _exported(cell: Cell) -> Any:
    if cell.value is not None:
        return cell.value
    return None if cell.text in ("", numbers.ABSENT) else cell.text


class Data(Struct, frozen=True):
    """Rows that a reader of a page can download: the data of a picture, or all rows of a table."""

    name: str
    columns: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]
    part: str = ""

    def data(self) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        return self.columns, self.rows()


class Place(Struct, frozen=True):
    """Where blocks are written as HTML: a page of its own, or one of many parts of a file."""

    prefix: str = ""
    """What its ids begin with."""
    step: int = 0
    """How many levels its headings are lower."""
    served: bool = True
    """Whether a server answers forms and pages through tables."""
    names: Mapping[str, str] = {}
    """Ids that are known by another name from outside."""

    def id(self, name: str) -> str:
        own = f"{self.prefix}-{name}" if self.prefix else name
        return self.names.get(name, own)

    def level(self, heading: int) -> int:
        return min(6, heading + self.step)


class Html(Struct, frozen=True):
    """A part of a page that no other format has, drawn for the place it is written at."""

    draw: Callable[[Place], Markup]
    part: str = ""


class Verdict(Struct, frozen=True):
    """The word and the sentence a report begins with, and what it is about."""

    word: str
    text: str
    notes: Sequence[str] = ()
    """Names and files, a line each."""
    meaning: Sequence[str] = ()
    """Sentences of ours."""
    tone: Tone = ""
    """Of the word; by its meaning where there is none."""
    one_line: bool = False
    """Whether a terminal cuts the text where the page ends: it ends in a path."""
    level: int = 1
    """Of its heading on a page."""
    part: str = "verdict"


class Bars(Struct, frozen=True, kw_only=True):
    """Counts that make up a total: a stacked bar on a page, a bar each in a terminal."""

    title: str
    heads: tuple[str, str] = ("label", "questions")
    bars: Sequence[tuple[str, str, int, Tone]]
    """For each its class in the style sheet, its name, its count, and its tone in a terminal."""
    remark: str = ""
    after: str = ""
    part: str = ""

    def table(self, fraction: str) -> Table:
        total, most = (of([times for *_, times, _ in self.bars]) for of in (sum, max))
        name, times = self.heads
        return table(
            self.bars,
            {
                name: lambda bar: names(bar[1]),
                "plot": lambda bar: plot(Bar(bar[2] / most, bar[3])),
                times: lambda bar: count(bar[2]),
                fraction: lambda bar: share(bar[2], total),
            },
            title=self.title,
            remark=self.remark,
            after=self.after,
        )


class Text(Struct, frozen=True):
    """A paragraph; `foreign` where it holds somebody else's words."""

    text: Words
    tone: Tone = ""
    foreign: bool = False
    part: str = ""


class Heading(Struct, frozen=True):
    title: str
    remark: str = ""
    part: str = ""


class Section(Struct, frozen=True, kw_only=True):
    """Blocks under a title; a section in a section is one level below it."""

    title: str
    about: str = ""
    """Somebody else's name that ends the title."""
    remark: str = ""
    blocks: Sequence[Block]
    folded: bool = False
    """Whether a reader of Markdown or of a page has to open it."""
    anchor: str = ""
    """What links to it are called."""
    lang: str = ""
    """The language it is in, where that is not the one of its page."""
    part: str = ""


class Only(Struct, frozen=True):
    """Blocks that some formats write and others do not."""

    forms: frozenset[str]
    blocks: Sequence[Block]
    part: str = ""


class Facts(Struct, frozen=True):
    """Labels with their texts; a text that is empty is left out."""

    facts: Sequence[tuple[str, Words]]
    part: str = ""


class Points(Struct, frozen=True):
    """A list of sentences."""

    points: Sequence[Words]
    mark: str = "-"
    """What each begins with in a terminal."""
    part: str = ""


class Card(Struct, frozen=True):
    """A thing among others that it is compared with."""

    title: Words
    facts: Sequence[tuple[str, Words]]
    mark: tuple[str, str] | None = None
    """The letter of a run in a heat map, and its class."""


class Cards(Struct, frozen=True):
    """Things side by side where there is room; what differs is marked in their texts."""

    cards: Sequence[Card]
    part: str = ""


class Item(Struct, frozen=True, kw_only=True):
    """One of many: a line that opens."""

    name: str
    """Somebody else's: the id of a question, an answer, a sample."""
    badge: tuple[str, str, Tone] = ("", "", "")
    """Its class in the style sheet, its text, and its tone in a terminal."""
    about: str = ""
    """Somebody else's: the question."""
    aside: str = ""
    blocks: Sequence[Block]
    opened: bool = False
    to: Target | None = None
    anchor: str = ""


class Items(Struct, frozen=True, kw_only=True):
    """Many of a kind; a terminal shows the first, a page all of them, to be opened."""

    items: Sequence[Item]
    title: str = ""
    remark: str = ""
    shown: int = 10
    total: int | None = None
    everything: str = ""
    """Where the others are: on the page, unless it says."""
    folded: bool = False
    """Whether a reader of Markdown has to open them."""
    part: str = ""


class Figure(Struct, frozen=True):
    """A picture: in characters as wide as the page allows, as SVG on a page."""

    drawn: Callable[[int], Sequence[Words]]
    title: str = ""
    remark: str = ""
    svg: Callable[[Links], Markup] | None = None
    tones: Sequence[Tone] = ()
    """Of the first lines."""
    part: str = ""


class Findings(Struct, frozen=True):
    """Each code with its count and its first places."""

    by_code: Sequence[tuple[str, int, Sequence[Finding]]]
    everything: str = ""
    """Where the others are, if they are kept."""
    part: str = "findings"


class Advices(Struct, frozen=True):
    given: Sequence[Advice]
    part: str = "advice"


class Steps(Struct, frozen=True):
    """What to do next, a command or a sentence each."""

    steps: Sequence[str]
    part: str = "next"


class Coverage(Struct, frozen=True):
    text: str
    identity: Mapping[str, Any] = {}
    """What makes the run comparable; on a page it can be opened."""
    part: str = "coverage"


Block = (
    Verdict
    | Text
    | Heading
    | Section
    | Table
    | Bars
    | Facts
    | Points
    | Cards
    | Items
    | Figure
    | Findings
    | Advices
    | Steps
    | Coverage
    | Only
    | Data
    | Html
)


class Document(Struct, frozen=True):
    name: str
    """The kind of report, as its title says it."""
    blocks: Sequence[Block]
    language: str = "en"
    title: str = ""
    """Of a page; made from the name and the verdict where there is none."""

    def part(self, *names: str) -> list[Block]:
        """The blocks with these names, in the order of the names."""
        return [block for name in names for block in self.blocks if block.part == name]


def in_form(blocks: Iterable[Block], form: str) -> Iterator[Block]:
    """The blocks that a format writes."""
    for block in blocks:
        if not isinstance(block, Only):
            yield block
        elif form in block.forms:
            yield from in_form(block.blocks, form)


def downloads(blocks: Iterable[Block]) -> dict[str, Table | Data]:
    """The tables and data of a page, also those inside other blocks, by the names of their files.

    A table without a name has that of its title; where that is taken it gets a number.
    """

    def walk(blocks: Iterable[Block], heading: str) -> Iterator[tuple[str, Table | Data]]:
        for block in blocks:
            match block:
                case Data():
                    yield "", block
                case Table() if block.name is not None:
                    yield f"{block.title or heading} {block.about}", block
                case Section():
                    yield from walk(block.blocks, block.title or heading)
                case Only():
                    yield from walk(block.blocks if "html" in block.forms else (), heading)
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
    return Only(frozenset({"html"}), blocks, part)


def in_text(*blocks: Block) -> Only:
    return Only(frozenset({"text"}), blocks)


Member = TypeVar("Member")


class Deferred(Sequence[Member], Generic[Member]):
    """A sequence that is made when it is first read: who shows other parts does not pay for it."""

    def __init__(self, make: Callable[[], Sequence[Member]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Sequence[Member]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> Member: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Member]: ...
    def __getitem__(self, place: int | slice) -> Member | Sequence[Member]:
        return self._made[place]

    def __len__(self) -> int:
        return len(self._made)


def listed(*parts: str | int | bool | None, sep: str = ", ") -> str:
    """The parts that say something, in one line: what is zero or absent is left out.

    >>> listed("80 questions", 0 and "0 errors", None, "2 missing")
    '80 questions, 2 missing'
    """
    return sep.join(part for part in parts if part and isinstance(part, str))


def plain(words: Words) -> str:
    """The text without its tones."""
    return words if isinstance(words, str) else "".join(span.text for span in words)


def spans(words: Words) -> Sequence[Span]:
    return [Span(words)] if isinstance(words, str) else words


def theirs(text: str | None) -> Sequence[Span]:
    """Somebody else's words; nothing for none."""
    return [Span(text, foreign=True)] if text else []


def names(text: str, tone: Tone = "", to: Target | None = None) -> Cell:
    """A cell with somebody else's words."""
    return Cell(text, text, tone, foreign=True, to=to)


def number(value: float | None, text: str | None = None, tone: Tone = "") -> Cell:
    """A cell with a number, three decimals unless it has a text."""
    return Cell(numbers.value(value) if text is None else text, value, tone)


def count(value: int | None, tone: Tone = "") -> Cell:
    return Cell(numbers.ABSENT if value is None else numbers.count(value), value, tone)


def n_of(n: int, of: int) -> Cell:
    """So many of so many; absent where there is nothing to count."""
    return Cell(numbers.n_of(n, of), n) if of else Cell(numbers.ABSENT)


def share(part: int, whole: int) -> Cell:
    return Cell(numbers.share(part, whole), part / whole if whole else None, "dim")


def interval(ci: tuple[float, float] | None) -> Cell:
    return Cell(numbers.interval(ci), ci, "dim")


def signed(value: float | None) -> Cell:
    """A cell with a change."""
    return Cell(numbers.signed(value), value)


def signed_interval(ci: tuple[float, float] | None) -> Cell:
    return Cell(numbers.signed_interval(ci), ci, "dim")


def plot(drawn: Bar | Range | None) -> Cell:
    """A cell that is only drawn."""
    return Cell("", plot=drawn)


def columns(
    *titles: str,
    right: Iterable[str] = (),
    spare: Sequence[str] = (),
    plots: Iterable[str] = (),
) -> list[Column]:
    """Columns by their titles; `spare` gives way in its order where the page is narrow."""
    numeric, drawn = {*right}, {*plots}
    ranks = {title: len(spare) - place for place, title in enumerate(spare)}
    return [
        Column(
            "" if title in drawn else title, title in numeric, ranks.get(title, 0), title in drawn
        )
        for title in titles
    ]


def filled(table: Table, always: Sequence[str] = ()) -> Table:
    """The table without the columns that no row has anything in, unless they are there always."""
    kept = [
        at
        for at, column in enumerate(table.columns)
        if column.title in always
        or any(
            row.cells[at].text not in ("", numbers.ABSENT) or row.cells[at].plot
            for row in table.rows
        )
    ]
    return structs.replace(
        table,
        columns=[table.columns[at] for at in kept],
        rows=[
            structs.replace(row, cells=tuple(row.cells[at] for at in kept)) for row in table.rows
        ],
    )


def rows(cells: Iterable[Sequence[Cell]], notes: Iterable[str] = ()) -> list[Row]:
    """Rows of cells, each with its note where there are notes."""
    given = list(notes)
    return [Row(tuple(row), given[place] if given else "") for place, row in enumerate(cells)]


Thing = TypeVar("Thing")
FEW = 5
"""A value over fewer units is chance: it is shown, and marked."""


def table(
    things: Iterable[Thing],
    columns: Mapping[str | Column, Callable[[Thing], Cell]],
    *,
    note: Callable[[Thing], Words] | None = None,
    strong: Callable[[Thing], bool] | None = None,
    chosen: Callable[[Thing], bool] | None = None,
    **about: Any,
) -> Table:
    """A table of things: each column with the function that makes its cell of a thing.

    A title stands for a column of that title: numbers are aligned to the right, where a narrow
    terminal can cut the table, and cells that are only drawn make a column of plots. `about` are
    the other fields of the table.

    >>> made = table([1, 2], {"n": count, Column("name", spare=1): lambda n: names(f"q{n}")})
    >>> [column.right for column in made.columns], made.rows[1].cells[1].text
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


def gates(
    given: Sequence[Gate],
    metrics: Mapping[str, Score],
    shown_names: Mapping[str, str],
    *,
    title: str | None = None,
    remark: str = "",
    value: Callable[[Gate], str] | None = None,
    demand: Callable[[Gate], str] = numbers.bound,
    language: str = "en",
) -> Iterable[Table]:
    """The table of gates, the same in every kind of report."""
    if not given:
        return
    say = wording(language)
    ends = say.interval_95 if envelope.at_95(given) else say.interval
    yield Table(
        title=say.gates if title is None else title,
        remark=remark,
        part="gates",
        columns=columns(
            *(say.metric, say.value, "plot", ends, say.scored, say.bound, say.verdict),
            right=(say.value, say.scored),
            plots=("plot",),
            spare=(say.scored, ends),
        ),
        rows=[
            Row(
                (
                    Cell(
                        shown_names[gate.metric],
                        gate.metric,
                        "" if gate.holds else "strong",
                        foreign=True,
                        to=("metric", gate.metric),
                    ),
                    number(
                        gate.value,
                        value(gate) if value else numbers.value_beside(gate.value, gate.bound),
                    ),
                    plot(None if value else Range(gate.value, gate.ci, gate.bound)),
                    interval(gate.ci),
                    Cell(say.n_of(gate.n, envelope.scored_of(metrics, gate)), gate.n, "dim"),
                    Cell(demand(gate), gate.bound, foreign=True),
                    gate_word(gate, language),
                ),
                envelope.gate_note(gate),
                strong=not gate.holds,
            )
            for gate in given
        ],
    )


def gate_word(gate: Gate, language: str = "en") -> Cell:
    tone: Tone = "bad" if not gate.holds else "good" if gate.verdict == "pass" else "soft"
    word = wording(language).gate_verdicts[gate.verdict]
    return Cell(word if gate.holds else word.upper(), gate.verdict, tone)


def scores(
    given: Mapping[str, Score],
    shown_names: Mapping[str, str],
    *,
    title: str,
    remark: str = "",
    unit: str = "",
    silent: Iterable[str] = (),
    meanings: Mapping[str, str] | None = None,
    language: str = "en",
) -> Table:
    """The table of metrics; those in `silent` keep their reason to themselves."""
    from ragauge.metrics.table import find

    def drawn(id: str, score: Score) -> Range | None:
        """Its place between 0 and 1; the marks of a rubric and a ratio have another scale."""
        with suppress(UsageError):  # a report outlives the plug-in that made its numbers
            if find(id).bounds[1] != 1:
                return None
        return Range(score.value, score.ci)

    quiet, say = {*silent}, wording(language)
    unit = unit or say.scored
    # Without a title: on a narrow page the meaning is a note below its metric.
    meaning = [""] if meanings else []
    return Table(
        title=title,
        remark=remark,
        part="metrics",
        name=None,
        columns=columns(
            *(say.metric, *meaning, say.value, "plot", say.interval_95, unit),
            right=(say.value, unit),
            plots=("plot",),
            spare=(*meaning, unit, say.interval_95),
        ),
        rows=[
            Row(
                (
                    Cell(shown_names[id], id, foreign=True, to=("metric", id)),
                    *([Cell(meanings.get(id, ""), tone="dim")] if meanings else []),
                    number(score.value),
                    plot(drawn(id, score)),
                    interval(score.ci),
                    Cell(say.n_of(score.n, score.of), score.n, "dim"),
                ),
                "" if id in quiet else score.reason or "",
            )
            for id, score in given.items()
        ],
    )


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
        return Cell(numbers.n_of(n, of if n < of else None), n, "dim")

    def scored(id: str) -> Callable[[str], Cell]:
        def cell(value: str) -> Cell:
            score = by[value].get(id)
            if score is None or score.value is None:
                return Cell(numbers.ABSENT, tone="dim")
            few = score.n < FEW
            return number(score.value, numbers.value(score.value) + "*" * few, "dim" if few else "")

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
    return Findings(envelope.findings_by_code(report.findings, report.finding_counts))


def glossary(
    ids: Iterable[str], shown_names: Mapping[str, str], *, short: Iterable[str] = ()
) -> Iterator[Block]:
    """What each metric of a report means, in one sentence; in a terminal only those in `short`.

    Nothing is said of metrics whose plug-in is gone.
    """
    from ragauge.metrics.table import find

    entries: dict[str, tuple[str, Words]] = {}
    for id in ids:
        with suppress(UsageError):
            entries[id] = (shown_names[id], find(id).summary)
    few = [entries[id] for id in short if id in entries]
    given = list(entries.values())
    for kept, forms in ((few or given, {"text"}), (given, {"markdown", "html"})):
        if kept:
            meaning = Section(title="What the metrics mean", blocks=[Facts(kept)], folded=True)
            yield Only(frozenset(forms), [meaning], "glossary")
