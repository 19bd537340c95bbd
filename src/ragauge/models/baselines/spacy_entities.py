"""Entities found by a spaCy pipeline, where spaCy is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ragauge.errors import UsageError
from ragauge.models.baselines.spans import FoundSpan

TYPES = {
    "GPE": "TOP",
    "LOC": "TOP",
    "FAC": "TOP",
    "DATE": "TMP",
    "TIME": "TMP",
}
"""What spaCy calls them, and what heritage gold does; whatever is not listed is left out."""


class SpacyEntities:
    """Finds entities with a pipeline by its name, such as `nl_core_news_sm`.

    An organisation may be a museum or a bank: which of your types an `ORG` is, `types` must say.
    """

    def __init__(self, pipeline: str, types: Mapping[str, str] | None = None) -> None:
        self._types = dict(TYPES if types is None else types)
        self._pipeline = _loaded(pipeline)

    def extract_entities(self, text: str) -> list[FoundSpan]:
        return [
            FoundSpan(one.start_char, one.end_char, self._types[one.label_])
            for one in self._pipeline(text).ents
            if one.label_ in self._types
        ]


def _loaded(pipeline: str) -> Any:
    try:
        spacy = importlib.import_module("spacy")
    except ImportError:
        raise UsageError(
            "entities by spaCy need the package spacy; install it with `pip install spacy`"
        ) from None
    try:
        return spacy.load(pipeline)
    except OSError:
        raise UsageError(
            f'spaCy has no pipeline "{pipeline}"; install it with '
            f"`python -m spacy download {pipeline}`"
        ) from None
