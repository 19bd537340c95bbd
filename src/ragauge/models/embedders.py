"""Embedders by name."""

from __future__ import annotations

from pathlib import Path

from ragauge.contracts.embedder import Embedder
from ragauge.errors import UsageError

NAMES = ("ngram", "minilm")


def embedder(name: str) -> Embedder:
    """The embedder of that name: `ngram`, `minilm`, or `minilm:/path` with its weights there.

    >>> embedder("ngram").id
    'ngram:v1:1024'
    """
    kind, _, place = name.partition(":")
    if name == "ngram":
        from ragauge.models.ngram import NgramEmbedder

        return NgramEmbedder()
    if kind == "minilm" and name != "minilm:":
        from ragauge.models.minilm import MiniLMEmbedder

        return MiniLMEmbedder(Path(place).expanduser() if place else None)
    raise UsageError(f'embedder "{name}" is not known; there are ngram, minilm and minilm:/path')
