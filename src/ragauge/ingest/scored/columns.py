"""What the columns of a file are, seen over all its rows: scores, strata, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from typing import Any, Literal

from ragauge.contracts.gold import stratum_text
from ragauge.ingest.answered.marks import STRATA
from ragauge.ingest.answered.records import MISSING
from ragauge.ingest.scored.cells import EMPTY, is_verdict, score_of
from ragauge.ingest.scored.names import is_metric, is_surely_metric

Role = Literal["score", "stratum", "extra", "empty"]

MOST_VALUES = 50
"""A stratum has no more values than this …"""
LONGEST_VALUE = 60
"""… none of them longer than this …"""
FEW_ROWS = 10
"""… and in a file of more rows than these each value is there twice on average."""
_VERDICTS = frozenset(("pass", "passed", "success", "correct", "is_correct", "right", "hit"))
"""Columns of true and false that judge the answer; any other tells samples apart."""
_COUNTED = frozenset(
    (
        *("index", "level_0", "row", "order", "seed", "run", "attempt", "k"),
        *("top_k", "temperature", "ts", "timestamp", "date", "year", "tokens", "cost", "latency"),
        *("kind", *STRATA),
    )
)
_COUNTED_ENDINGS = ("_id", "_idx", "_index", "_ms", "_seconds", "_tokens", "_cost", "_usd", "_at")
"""Numbers that measure no answer."""


def columns_seen(
    rows: Iterable[Mapping[str, Any]], *, may_be_scores: bool = True
) -> dict[str, Column]:
    """The columns of rows by name, in the order they are met, with what was seen in them."""
    columns: dict[str, Column] = {}
    for row in rows:
        for name, value in row.items():
            if name not in columns:
                columns[name] = Column(name, may_be_scores)
            columns[name].see(value)
    return columns


class Column:
    """What was seen in one column, and so what it is.

    It is a score where it has a metric's name, or holds numbers at least as often as words; what is
    no score and has few different values is a stratum.
    """

    def __init__(self, name: str, may_be_score: bool) -> None:
        self._name, self._may_be_score = name, may_be_score
        self.filled = 0
        self._numbers = self._verdicts = self._words = 0
        self._values: set[str] = set()
        self._is_sliceable = True

    def see(self, value: Any) -> None:
        found = score_of(value)
        if found in EMPTY:
            return
        self.filled += 1
        if is_verdict(value):
            self._verdicts += 1
        elif isinstance(found, float):
            self._numbers += 1
        else:
            self._words += 1
        text = stratum_of(value)
        if text is None or len(text) > LONGEST_VALUE:
            self._is_sliceable = False
        elif len(self._values) <= MOST_VALUES:
            self._values.add(text)

    @cached_property
    def role(self) -> Role:
        """To be asked once all is seen."""
        if self._may_be_score and self._is_score():
            return "score"
        if not self.filled:
            return "empty"
        return "stratum" if self._is_stratum() else "extra"

    def _is_score(self) -> bool:
        plain = self._name.strip().casefold()
        if is_surely_metric(self._name):
            return True
        if plain in _COUNTED or plain.endswith(_COUNTED_ENDINGS):
            return False
        if is_metric(self._name) or (plain in _VERDICTS and self._verdicts):
            return self._words <= self._numbers + self._verdicts
        return 0 < self._numbers >= self._words

    def _is_stratum(self) -> bool:
        values = len(self._values)
        repeated = self.filled <= FEW_ROWS or 2 * values <= self.filled
        return self._is_sliceable and values <= MOST_VALUES and repeated


def stratum_of(value: Any) -> str | None:
    """A cell as the value of a stratum; None where it is empty or no single value.

    >>> stratum_of("NL"), stratum_of(2), stratum_of(True), stratum_of("nan"), stratum_of(["NL"])
    ('NL', '2', 'true', None, None)
    """
    if isinstance(value, str):
        text = value.strip()
        return None if text in MISSING else text
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()
    if isinstance(value, date):
        return str(value)
    plain = isinstance(value, bool | int | float) and score_of(value) not in EMPTY
    return stratum_text(value) if plain else None
