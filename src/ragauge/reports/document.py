"""A report as blocks: what it says, in order, before any format writes it down.

Each kind of report has one function that turns a report into a `Document`; each format has one
writer. A cell keeps its value next to its text, so that tables can be sorted and exported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Advice, Score
from ragauge.contracts.verdict import Verdict as Gate
from ragauge.reports import envelope, numbers

Tone = Literal["", "good", "bad", "soft", "dim", "strong"]


class Cell(Struct, frozen=True):
    """A cell of a table: its text, and the value that it is sorted and exported by."""

    text: str
    value: Any = None
    tone: Tone = ""
    foreign: bool = False
    """Whether the text is somebody else's: a name, an id, a message."""


class Column(Struct, frozen=True):
    title: str
    right: bool = False
    """Numbers are aligned to the right."""
    spare: int = 0
    """Where the page is too narrow, columns with the highest number give way first; 0 stays."""


class Row(Struct, frozen=True):
    cells: tuple[Cell, ...]
    note: str = ""
    """What the row has no column for."""


class Table(Struct, frozen=True, kw_only=True):
    """Rows under columns; a long table is cut as far as a format has room."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    title: str = ""
    remark: str = ""
    shown: int | None = None
    """Rows in a terminal; Markdown shows `SHOWN_MORE` times as many."""
    total: int | None = None
    """How many rows there are, where not all of them are here."""
    everything: str = "see --format json"
    """Where the others are."""
    folded: bool = False
    """Whether a reader of Markdown has to open it."""
    below: bool = True
    """Whether columns that a page has no room for go below their rows, or are left out."""


class Verdict(Struct, frozen=True):
    """The word and the sentence a report begins with, and what it is about."""

    word: str
    text: str
    notes: Sequence[str] = ()
    """Names and files, a line each."""
    meaning: Sequence[str] = ()
    """Sentences of ours."""


class Text(Struct, frozen=True):
    """A paragraph; `foreign` where it holds somebody else's words."""

    text: str
    tone: Tone = ""
    foreign: bool = False


class Heading(Struct, frozen=True):
    title: str
    remark: str = ""


class Figure(Struct, frozen=True):
    """A picture in characters, drawn as wide as the page allows."""

    drawn: Callable[[int], Sequence[str]]
    title: str = ""
    remark: str = ""
    tones: Sequence[Tone] = ()
    """Of the first lines."""


class Findings(Struct, frozen=True):
    """Each code with its count and its first places."""

    by_code: Sequence[tuple[str, int, Sequence[Finding]]]


class Advices(Struct, frozen=True):
    given: Sequence[Advice]


class Steps(Struct, frozen=True):
    """What to do next, a command or a sentence each."""

    steps: Sequence[str]


class Coverage(Struct, frozen=True):
    text: str


Block = Verdict | Text | Heading | Table | Figure | Findings | Advices | Steps | Coverage


class Document(Struct, frozen=True):
    name: str
    """The kind of report, as its title says it."""
    blocks: Sequence[Block]


def names(text: str, tone: Tone = "") -> Cell:
    """A cell with somebody else's words."""
    return Cell(text, text, tone, foreign=True)


def number(value: float | None, text: str | None = None, tone: Tone = "") -> Cell:
    """A cell with a number, three decimals unless it has a text."""
    return Cell(numbers.value(value) if text is None else text, value, tone)


def count(value: int | None, tone: Tone = "") -> Cell:
    return Cell(numbers.ABSENT if value is None else numbers.count(value), value, tone)


def columns(*titles: str, right: Iterable[str] = (), spare: Sequence[str] = ()) -> list[Column]:
    """Columns by their titles; `spare` gives way in its order where the page is narrow."""
    numeric = {*right}
    ranks = {title: len(spare) - place for place, title in enumerate(spare)}
    return [Column(title, title in numeric, ranks.get(title, 0)) for title in titles]


def rows(cells: Iterable[Sequence[Cell]], notes: Iterable[str] = ()) -> list[Row]:
    """Rows of cells, each with its note where there are notes."""
    given = list(notes)
    return [Row(tuple(row), given[place] if given else "") for place, row in enumerate(cells)]


def gates(
    given: Sequence[Gate],
    metrics: Mapping[str, Score],
    shown_names: Mapping[str, str],
    *,
    title: str = "Gates",
    value: Callable[[Gate], str] | None = None,
    demand: Callable[[Gate], str] = numbers.bound,
) -> Iterable[Table]:
    """The table of gates, the same in every kind of report."""
    if not given:
        return
    yield Table(
        title=title,
        columns=columns(
            *("metric", "value", envelope.interval_title(given), "scored", "bound", "verdict"),
            right=("value", "scored"),
        ),
        rows=[
            Row(
                (
                    names(shown_names[gate.metric], "" if gate.holds else "strong"),
                    number(
                        gate.value,
                        value(gate) if value else numbers.value_beside(gate.value, gate.bound),
                    ),
                    Cell(numbers.interval(gate.ci), gate.ci, "dim"),
                    Cell(numbers.n_of(gate.n, envelope.scored_of(metrics, gate)), gate.n, "dim"),
                    Cell(demand(gate), gate.bound, foreign=True),
                    gate_word(gate),
                ),
                envelope.gate_note(gate),
            )
            for gate in given
        ],
    )


def gate_word(gate: Gate) -> Cell:
    tone: Tone = "bad" if not gate.holds else "good" if gate.verdict == "pass" else "soft"
    return Cell(envelope.gate_word(gate), gate.verdict, tone)


def scores(
    told: Mapping[str, Score],
    shown_names: Mapping[str, str],
    *,
    title: str,
    unit: str = "scored",
    silent: Iterable[str] = (),
) -> Table:
    """The table of metrics; those in `silent` keep their reason to themselves."""
    quiet = {*silent}
    return Table(
        title=title,
        columns=columns("metric", "value", "95 % interval", unit, right=("value", unit)),
        rows=[
            Row(
                (
                    names(shown_names[id]),
                    number(score.value),
                    Cell(numbers.interval(score.ci), score.ci, "dim"),
                    Cell(numbers.n_of(score.n, score.of), score.n, "dim"),
                ),
                "" if id in quiet else score.reason or "",
            )
            for id, score in told.items()
        ],
    )


def findings(report: Any) -> Findings:
    return Findings(envelope.findings_by_code(report.findings, report.finding_counts))
