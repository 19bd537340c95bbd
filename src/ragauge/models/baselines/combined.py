"""Several models as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.component_models import METHODS, ExtractsEntities, Retrieves
from ragauge.errors import UsageError
from ragauge.models.baselines.spans import FoundSpan, without_overlaps

RRF = 60
"""What reciprocal rank fusion puts to a rank, so that the first few do not decide alone."""


class CombinedModel:
    """A model that has the methods of its parts, and no others.

    >>> from ragauge.models.baselines.keyword_types import KeywordTypes
    >>> CombinedModel(KeywordTypes()).classify("A library")
    'L'
    """

    def __init__(self, *parts: Any) -> None:
        for part in parts:
            for method in METHODS.values():
                given = getattr(part, method, None)
                if not callable(given):
                    continue
                if hasattr(self, method):
                    raise UsageError(f"two parts of the model have {method}; keep one")
                setattr(self, method, given)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no part of the model has {name}")


class JoinedEntities:
    """What several models find; of two entities that overlap that of the model named first."""

    def __init__(self, *parts: ExtractsEntities) -> None:
        self._parts = parts

    def extract_entities(self, text: str) -> list[FoundSpan]:
        return without_overlaps(*(part.extract_entities(text) for part in self._parts))


class FusedRetrieval:
    """Rankings joined by reciprocal rank fusion; a document's sources are all that found it.

    The order is the ranking: what the fusion adds up says nothing of its own. Ties break by id;
    sources stand in the order of the parts.
    """

    def __init__(self, *parts: Retrieves) -> None:
        self._parts = parts

    def index(self, documents: Mapping[str, str]) -> None:
        """Make documents ready in every part."""
        for part in self._parts:
            part.index(documents)  # type: ignore[attr-defined]

    def retrieve(self, query: str, k: int) -> Sequence[dict[str, Any]]:
        scores: dict[str, float] = {}
        sources: dict[str, dict[str, None]] = {}
        for part in self._parts:
            for rank, one in enumerate(part.retrieve(query, k), 1):
                scores[one["id"]] = scores.get(one["id"], 0.0) + 1 / (RRF + rank)
                names = [one["source"]] if isinstance(one["source"], str) else one["source"]
                sources.setdefault(one["id"], {}).update(dict.fromkeys(names))
        order = sorted(scores, key=lambda one: (-scores[one], one))[:k]
        return [{"id": id, "source": [*sources[id]]} for id in order]
