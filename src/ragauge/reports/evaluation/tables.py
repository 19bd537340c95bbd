"""A table as it is told; each form writes it down in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ragauge.reports import numbers

Measured = Mapping[str, float | None]

RATES = frozenset(
    {"precision", "recall", "f1", "accuracy", "share", "ratio", "prediction", "hits", "mrr"}
)
"""A column with one of these words in its name holds rates, and else counts."""
COLUMN_ORDER = (
    "items",
    "support",
    "gold",
    "predicted",
    "correct",
    "incorrect",
    "partial",
    "missed",
    "spurious",
    "tp",
    "fp",
    "fn",
    "precision",
    "recall",
    "f1",
)
"""Columns whose names begin with these words stand in this order; others after them, by name."""
SHORT = {"precision": "P", "recall": "R", "f1": "F1", "nil": "NIL"}
_PARTS = re.compile(r"[_.@]")


class Cell(Struct, frozen=True):
    """What stands in a row under a column."""

    text: str
    foreign: bool = False
    tone: str = ""
    """good, bad or soft, where it is more than a number."""
    href: str | None = None
    """Where it leads, where the table is mounted among pages."""


class Row(Struct, frozen=True):
    cells: tuple[Cell, ...]
    share: float | None = None
    """What the bar beside the row shows."""
    mark: float | None = None
    """Where on the bar's scale it ought to end, where somebody knows."""
    note: str = ""
    strong: bool = False
    tone: str = ""
    """good, bad or plain: the bar's colour, where not its length decides on it."""
    inner: bool = False
    """Whether it belongs to the row above that names a group."""


class Table(Struct, frozen=True, kw_only=True):
    """Rows under heads, with bars beside them where a row has a share."""

    title: str
    name: str = ""
    """What the title is about, where it is not ours: a stratum, a layer, another run."""
    about: str = ""
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    right: frozenset[int] = frozenset()
    """The columns of numbers."""
    bar: str = ""
    """What the bars show; nothing where there are none."""
    whole: bool = False
    """Whether the bars are shares of a whole, and not the quality of something."""
    more: str = ""
    """What is not among the rows."""
    breaks: frozenset[int] = frozenset()
    """Columns that begin a group: a page too narrow for all parts the table there."""
    spare: tuple[int, ...] = ()
    """Columns that stand below their rows where the page is narrow, the first one first."""

    def below(self, row: Row, columns: Iterable[int]) -> str:
        """What of a row stands in these columns, as a line below it."""
        told = [(self.heads[place], row.cells[place].text) for place in sorted(columns)]
        return ", ".join(f"{head} {text}" for head, text in told if text)


def named(text: str) -> Cell:
    """A name that is not ours."""
    return Cell(text, foreign=True)


def number(value: float | None) -> Cell:
    return Cell(numbers.value(value))


def counted(times: int) -> Cell:
    return Cell(numbers.count(times), tone="" if times else "soft")


def numeric(heads: Sequence[str], texts: int = 1) -> frozenset[int]:
    """The columns behind the first few, all of which hold numbers."""
    return frozenset(range(texts, len(heads)))


def columns_of(rows: Iterable[Measured]) -> list[str]:
    """The names of all that was measured, counts before rates.

    >>> columns_of([{"f1_partial": 1.0, "f1_strict": 1.0, "recall_strict": 1.0, "tp": 1}])
    ['tp', 'recall_strict', 'f1_strict', 'f1_partial']
    """
    names = {name for row in rows for name in row}
    return sorted(names, key=lambda name: (_place(name), name))


def measured(name: str, value: float | None) -> Cell:
    """A count or a rate, as the column's name tells.

    >>> measured("support", 12.0).text, measured("f1_strict", 1.0).text
    ('12', '1.000')
    """
    if value is None:
        return Cell(numbers.ABSENT, tone="soft")
    if is_rate(name) or value != int(value):
        return number(value)
    return counted(int(value))


def per_type(
    title: str,
    about: str,
    first: str,
    found: Mapping[str, Measured],
    order: Sequence[str] | None = None,
) -> Table:
    """What was measured of each type or label, with bars; the most frequent first, else as told."""
    columns = columns_of(found.values())
    drawn = rate_drawn(columns)

    def weight(type: str) -> tuple[float, str]:
        return -(found[type].get(columns[0]) or 0.0), type

    heads = (first, *map(column_name, columns))
    rows = tuple(
        Row(
            (named(type), *(measured(name, found[type].get(name)) for name in columns)),
            share=found[type].get(drawn) if drawn else None,
        )
        for type in (sorted(found, key=weight) if order is None else order)
    )
    return Table(
        title=title,
        about=about,
        heads=heads,
        rows=rows,
        right=numeric(heads),
        bar=column_name(drawn) if drawn else "",
        breaks=_groups(columns),
    )


def tally(
    title: str,
    heads: tuple[str, ...],
    times: Sequence[tuple[Cell, int]],
    *,
    about: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """How often each is met, with bars; also as shares of all, where there is a head for them."""
    total, most = sum(each for _, each in times), max((each for _, each in times), default=0) or 1
    shared = len(heads) > 2
    rows = []
    for place, (name, each) in enumerate(times):
        of_all = [Cell(numbers.share(each, total), tone="soft")] if shared else []
        note = notes[place] if notes else ""
        rows.append(Row((name, counted(each), *of_all), share=each / most, note=note))
    return Table(
        title=title,
        about=about,
        heads=heads,
        rows=tuple(rows),
        right=numeric(heads),
        bar=heads[1],
        whole=True,
    )


def column_name(name: str) -> str:
    """
    >>> column_name("f1_strict"), column_name("support"), column_name("hits@1")
    ('F1 strict', 'support', 'hits@1')
    """
    return " ".join(SHORT.get(word, word) for word in name.split("_"))


def is_rate(name: str) -> bool:
    """
    >>> is_rate("f1_strict"), is_rate("hits@1"), is_rate("strict.tp")
    (True, True, False)
    """
    return not RATES.isdisjoint(_PARTS.split(name))


def rate_drawn(names: Iterable[str]) -> str | None:
    """The column whose bar is drawn: F1 before all else.

    >>> rate_drawn(["support", "recall", "f1_partial", "f1_strict"])
    'f1_strict'
    """
    names = list(names)
    ranked = ("f1_strict", "strict_f1", "f1", *sorted(name for name in names if is_rate(name)))
    return next((name for name in ranked if name in names), None)


def _groups(names: Sequence[str]) -> frozenset[int]:
    """The columns behind the first that begin the counts, the rates, and the partial ones."""
    kinds = [_place(name)[:2] for name in names]
    return frozenset(
        place for place, kind in enumerate(kinds, 1) if place == 1 or kind != kinds[place - 2]
    )


def _place(name: str) -> tuple[bool, bool, int]:
    """Counts before rates, and of these the partial ones last; then as the words are ordered."""
    words = _PARTS.split(name)
    known = [COLUMN_ORDER.index(word) for word in words if word in COLUMN_ORDER]
    rate = is_rate(name)
    if rate and "partial" in words:
        known.remove(COLUMN_ORDER.index("partial"))
    later = "partial" in words or "prediction" in words
    return rate, rate and later, min(known, default=len(COLUMN_ORDER))
