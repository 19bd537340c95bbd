"""What people said of an answer, as one word: good or bad."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from ragauge.errors import UsageError
from ragauge.ingest.fields import BadField, kind, quoted

FIELDS = {
    "label": True,
    "grounded": True,
    "attributable": True,
    "supported": True,
    "faithful": True,
    "hallucinated": False,
    "hallucination": False,
}
"""Fields that hold a label, in the order they are looked for, and whether `true` is good there."""
HALF = 0.5
"""A label from 0 to 1 is good from here on."""
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_BOUND = re.compile(r"\s*(>=|<=|>|<|=)\s*(-?\d+(?:\.\d+)?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


class Good(Struct, frozen=True):
    """Which labels are good: a bound on a number, or words."""

    written: str
    op: str | None = None
    bound: float = 0.0
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, written: str) -> Good:
        """Raises UsageError where it says nothing.

        >>> Good.of(">=3.5").holds(4), Good.of("yes,partly").holds("Partly")
        (True, True)
        """
        bound = _BOUND.match(written)
        if bound:
            return cls(written, bound[1], float(bound[2]))
        words = frozenset(word.strip().casefold() for word in written.split(",")) - {""}
        if not words or any(written.lstrip().startswith(sign) for sign in "<>="):
            raise UsageError(
                f"--good {quoted(written)}: is neither a bound such as '>=3.5' nor words such as "
                "'yes,partly'"
            )
        return cls(written, words=words)

    def holds(self, value: Any) -> bool:
        """Raises ValueError where the value is no number, and a number is asked for."""
        if self.op is None:
            return _word(value) in self.words
        return _COMPARE[self.op](_number(value), self.bound)


class Labelling(Struct, frozen=True, kw_only=True):
    """Where the label of a row stands, and when it is good."""

    field: str
    """A name, or names joined by dots."""
    good: Good | None = None

    @property
    def told(self) -> str:
        """In words, for the report's identity."""
        if self.good is not None:
            return f"{self.field}: good is {self.good.written}"
        return f"{self.field}: good is {'true' if FIELDS.get(self.field, True) else 'false'}"

    def of(self, record: Mapping[str, Any]) -> bool | None:
        """Whether people called the answer good; None where nobody says. Raises BadField."""
        value = field_of(record, self.field)
        if value is None or value == "" or value == []:
            return None
        if self.good is not None:
            return self._by_rule(value, self.good)
        said = self._plain(value)
        return said if FIELDS.get(self.field, True) else not said

    def _by_rule(self, value: Any, good: Good) -> bool:
        try:
            return good.holds(_mean(value) if good.op is not None else value)
        except ValueError:
            fact = f"{_shown(value)} is no number, and good is {good.written}"
            raise BadField(self.field, f"{fact}; give --good the word that is good") from None

    def _plain(self, value: Any) -> bool:
        if isinstance(value, str) and value.strip().casefold() in _WORDS:
            return _WORDS[value.strip().casefold()]
        try:
            number = _mean(value)
        except ValueError:
            fact = f"{_shown(value)} is neither true or false nor a number from 0 to 1"
            raise BadField(self.field, f"{fact}; say with --good which word is good") from None
        if not 0 <= number <= 1:
            fact = f"{number:g} is not from 0 to 1"
            raise BadField(self.field, f"{fact}; say with --good from where on it is good: '>=3'")
        return number >= HALF


def labelling_for(
    records: Iterable[Mapping[str, Any]], field: str | None, good: str | None
) -> Labelling | None:
    """How the rows are labelled; None where no row has the field, or any field that is known."""
    rule = None if good is None else Good.of(good)
    names = list(FIELDS) if field is None else [field]
    there = list(records)
    for name in names:
        if any(field_of(record, name) is not None for record in there):
            return Labelling(field=name, good=rule)
    return None


def field_of(record: Mapping[str, Any], path: str) -> Any:
    """What stands under a name, or under names joined by dots; None where nothing does.

    >>> field_of({"human": {"faithfulness": [3, 4]}}, "human.faithfulness")
    [3, 4]
    """
    if path in record:
        return record[path]
    held: Any = record
    for name in path.split("."):
        if not isinstance(held, Mapping) or name not in held:
            return None
        held = held[name]
    return held


def _mean(value: Any) -> float:
    """A number, or the mean of those that several people gave."""
    if isinstance(value, list | tuple):
        return sum(map(_number, value)) / len(value)
    return _number(value)


def _number(value: Any) -> float:
    if isinstance(value, str):
        return float(value)
    if not isinstance(value, int | float):
        raise ValueError(value)
    return float(value)


def _word(value: Any) -> str:
    return str(value).strip().casefold()


def _shown(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else kind(value)
