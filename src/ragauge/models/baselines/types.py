"""A custodian's type: by the words of its description, or by a zero-shot classifier."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ragauge.errors import UsageError
from ragauge.text.visible import one_line

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
        self._patterns = {
            label: re.compile(
                "|".join(re.escape(word.casefold()).replace(r"\*", ".*") for word in listed)
            )
            for label, listed in table.items()
        }

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


@cache
def _bundled() -> dict[str, list[str]]:
    return tomllib.loads(files(__package__).joinpath(TABLE).read_text("utf-8"))


SHOWN = 200
"""Characters of an error that are shown."""
DESCRIPTIONS = {
    "G": "art gallery",
    "L": "library",
    "A": "archive",
    "M": "museum",
    "O": "government institution",
    "R": "research centre",
    "C": "company",
    "B": "botanical garden or zoo",
    "E": "school or university",
    "S": "collecting society",
    "F": "monument or building",
    "I": "group that keeps a craft or custom alive",
    "P": "personal collection",
    "H": "church or monastery",
    "D": "digital platform",
    "N": "non-governmental organisation",
    "T": "heritage of taste and smell",
}
"""The labels as a classifier is asked about them."""


class ZeroShotTypes:
    """Gives the label whose description a natural-language-inference model finds most likely."""

    def __init__(self, model: str, descriptions: Mapping[str, str] | None = None) -> None:
        self._labels = {words: label for label, words in (descriptions or DESCRIPTIONS).items()}
        self._classifier = _loaded(model)

    def classify(self, text: str) -> str:
        said = self._classifier(text, candidate_labels=list(self._labels))
        return self._labels[said["labels"][0]]


def _loaded(model: str) -> Any:
    try:
        transformers = importlib.import_module("transformers")
    except ImportError:
        raise UsageError(
            "zero-shot types need the packages transformers and torch; install them with "
            "`pip install transformers torch`"
        ) from None
    try:
        return transformers.pipeline("zero-shot-classification", model=model)
    except Exception as error:
        fact = one_line(f"{type(error).__name__}: {error}", SHOWN)
        raise UsageError(
            f'transformers cannot load the model "{model}": {fact}; name a folder with the model, '
            "or a model of the Hugging Face hub that can be downloaded, and install torch"
        ) from None
