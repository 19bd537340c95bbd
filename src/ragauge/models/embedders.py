"""Embedders by name."""

from __future__ import annotations

from pathlib import Path

from ragauge.contracts.embedder import Embedder
from ragauge.errors import UsageError

NAMES = ("ngram", "minilm")


def embedder(name: str) -> Embedder:
    """The embedder of that name: `ngram`, `minilm`, or `minilm:/path` with its weights there.

    `http://host:port/v1#model` is a model at an OpenAI-compatible endpoint, whose key is in the
    environment variable RAGAUGE_EMBEDDER_KEY if it wants one.

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
    if kind in ("http", "https"):
        from ragauge.models.endpoint_embedder import EndpointEmbedder

        url, _, model = name.partition("#")
        if model:
            return EndpointEmbedder(url, model)
        raise UsageError(
            "an embedder at an endpoint is written with its model, as http://host:port/v1#model"
        )
    raise UsageError(
        f'embedder "{name}" is not known; there are ngram, minilm, minilm:/path and '
        "http://host:port/v1#model"
    )
