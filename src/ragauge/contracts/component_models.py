"""What a model under evaluation offers: any of these methods, each for one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ragauge.contracts.evaluation import Task

METHODS: dict[Task, str] = {
    "ner": "extract_entities",
    "types": "classify",
    "linking": "link",
    "retrieval": "retrieve",
    "qa": "answer",
}
"""The method a model has for each task."""


@runtime_checkable
class ExtractsEntities(Protocol):
    def extract_entities(self, text: str) -> Sequence[Any]:
        """Entities as objects or mappings with `start`, `end` and `type`."""
        ...


@runtime_checkable
class Classifies(Protocol):
    def classify(self, text: str) -> Any:
        """A label; or a mapping with `label` and, where there are some, `secondary_types`."""
        ...


@runtime_checkable
class Links(Protocol):
    def link(self, mention: str, context: str) -> Sequence[Any] | None:
        """Candidates, the likeliest first: ids, or mappings with `id` and `score`.

        In place of `id` a mapping may have `ids`, by knowledge base. None, and an empty list, is
        NIL.
        """
        ...


@runtime_checkable
class Retrieves(Protocol):
    def retrieve(self, query: str, k: int) -> Sequence[Any]:
        """Documents in rank order: ids, or mappings with `id`, `score` and perhaps `source`.

        `source` is who brought the document: a name, or a list of names where several did.
        Documents beyond the first k are left out, and told.
        """
        ...


@runtime_checkable
class Answers(Protocol):
    def answer(self, question: str) -> Any:
        """The answer as text, or a mapping with `answer` and `contexts`."""
        ...


@runtime_checkable
class Indexes(Protocol):
    def index(self, documents: Mapping[str, str]) -> None:
        """Make documents ready for `retrieve`, by id; called once, before the first query."""
        ...
