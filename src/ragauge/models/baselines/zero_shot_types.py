"""Types by a zero-shot classifier, where transformers is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ragauge.errors import UsageError
from ragauge.text.visible import one_line

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
