"""Entities found by a spaCy pipeline, where spaCy is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ragauge.errors import UsageError
from ragauge.models.baselines.entities import FoundSpan
from ragauge.text.visible import one_line

SHOWN = 200
"""Characters of an error that are shown."""
TYPES = {
    "GPE": "TOP",
    "LOC": "TOP",
    "FAC": "TOP",
    "DATE": "TMP",
    "TIME": "TMP",
}
"""What spaCy calls them, and what heritage gold does."""
GENERAL = (
    *("PERSON", "PER", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART"),
    *("LAW", "LANGUAGE", "DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"),
    "MISC",
)
"""The labels of spaCy's own pipelines; any other label is of a pipeline somebody trained."""


class SpacyEntities:
    """Finds entities with a pipeline: an installed one by its name, or a folder it was saved to.

    With `types`, a label that is not listed is left out. Without, places and dates have heritage
    types, the other general labels are left out (an `ORG` may be a museum or a bank), and the
    labels of a pipeline of your own stay as they are.
    """

    def __init__(self, pipeline: str, types: Mapping[str, str] | None = None) -> None:
        self._types = dict(TYPES if types is None else types)
        self._own = types is None
        self._pipeline = _loaded(pipeline)

    def extract_entities(self, text: str) -> list[FoundSpan]:
        found = ((one, self._type(one.label_)) for one in self._pipeline(text).ents)
        return [FoundSpan(one.start_char, one.end_char, kind) for one, kind in found if kind]

    def _type(self, label: str) -> str | None:
        return self._types.get(label) or (label if self._own and label not in GENERAL else None)


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
            f'spaCy has no pipeline "{pipeline}", and it is no folder of a saved one; install it '
            f"with `python -m spacy download {pipeline}`, or name the folder"
        ) from None
    except Exception as error:
        fact = one_line(f"{type(error).__name__}: {error}", SHOWN)
        raise UsageError(f'spaCy cannot load the pipeline "{pipeline}": {fact}') from None
