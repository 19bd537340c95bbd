"""What a drawn heat map is made of: its rows, cells and headings, each with its place."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.stability import Stability


class Asked(Struct, frozen=True):
    """A question as it goes into the heat map."""

    qid: str
    rank: int
    verdict: Stability
    cells: str
    """One letter a column."""
    factor: str = ""
    """What flips it, where somebody knows."""


class Heading(Struct, frozen=True):
    x: float
    y: float
    label: str
    centred: bool


class Cell(Struct, frozen=True):
    x: float
    kind: str
    wrong: float | None
    """The share of merged runs that are not right; None where a cell is one run."""
    title: str


class Row(Struct, frozen=True):
    """A question, or the verdict that the questions below it have."""

    y: float
    verdict: str
    qid: str = ""
    rank: int = 0
    cells: tuple[Cell, ...] = ()
    letters: tuple[tuple[str, str, str], ...] = ()
    """The letters of each kind: the kind, where they stand, and the letters."""
    right: str = ""
    factor: str = ""


class Drawing(Struct, frozen=True):
    columns: int
    cell_width: int
    right: float
    """Where it stands how many runs of a row are right."""
    flips: float | None
    """Where it stands what flips a row; None where nothing is known of any."""
    width: int
    height: int
    head_height: int
    factors: tuple[tuple[float, str], ...]
    """The name of each line of headings, beside it."""
    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]
    legend: tuple[tuple[str, str, str], ...]
    """Letters that occur, how they are drawn, and what they mean."""
    notes: tuple[str, ...]
    table_heads: tuple[str, ...]
    table: tuple[tuple[str, str, tuple[str, ...]], ...]
    """The same for who cannot see: a question, its verdict, and its letters group by group."""
