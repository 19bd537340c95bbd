"""A custodian's type by the words of its description."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

TABLE = "keyword_types.toml"
UNKNOWN = "U"
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class KeywordTypes:
    """Gives the type whose words a text has most of; the first word found counts twice.

    A sentence mostly begins with what it is about. Where two types have the same score, the one
    that comes first in the table is given; a text with none of the words is of type U.

    >>> KeywordTypes().classify("Die Staatsbibliothek tauscht mit dem Pergamonmuseum.")
    'L'
    """

    def __init__(self, words: Mapping[str, Sequence[str]] | None = None) -> None:
        table = _bundled() if words is None else words
        self._patterns = {label: _pattern(listed) for label, listed in table.items()}

    def classify(self, text: str) -> str:
        scores = self.scores(text)
        return max(scores, key=lambda label: scores[label]) if any(scores.values()) else UNKNOWN

    def scores(self, text: str) -> dict[str, int]:
        """How much speaks for each type, in the order of the table."""
        scores = dict.fromkeys(self._patterns, 0)
        first = True
        for word in dict.fromkeys(word.casefold() for word in _WORD.findall(text)):
            meant = [label for label, pattern in self._patterns.items() if pattern.fullmatch(word)]
            for label in meant:
                scores[label] += 2 if first else 1
            first = first and not meant
        return scores


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word.casefold()).replace(r"\*", ".*") for word in words))


@cache
def _bundled() -> dict[str, list[str]]:
    return tomllib.loads(files(__package__).joinpath(TABLE).read_text("utf-8"))
