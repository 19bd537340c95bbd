"""The bundled annotated sentences, and the baselines as one model to evaluate on them.

Grades of the bundled judgements: 3 answers the question, 2 tells part of it, 1 is of the same
document or near to the matter, 0 was looked at and does not help.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ragauge.contracts.system import Ask
from ragauge.demo import DOCUMENTS, HERITAGE
from ragauge.demo.chunks import read_documents
from ragauge.demo.pipeline import Pipeline
from ragauge.ingest.linked.knowledge_base import KnownEntity, known_entities
from ragauge.models.baselines.entities import GazetteerEntities, JoinedEntities, RegexEntities
from ragauge.models.baselines.links import ExactLinks, FuzzyLinks
from ragauge.models.baselines.retrieval import BM25Retrieval, EmbeddingRetrieval, FusedRetrieval
from ragauge.models.baselines.types import KeywordTypes

ANNOTATED = HERITAGE / "annotated.jsonl"
KNOWLEDGE_BASE = HERITAGE / "knowledge_base.jsonl"
CROSSWALK = HERITAGE / "crosswalk.tsv"
QRELS = HERITAGE / "qrels.txt"


def sections() -> dict[str, str]:
    """The text of each section of the bundled documents, with the title above it, by its id."""
    return {
        chunk.id: f"{chunk.title}\n{chunk.text}"
        for document in read_documents(DOCUMENTS)
        for chunk in document.chunks
    }


class BundledBaselines:
    """The baselines on the bundled files, and the reference pipeline that answers questions.

    Each is made when it is first asked.
    """

    def extract_entities(self, text: str) -> Any:
        return self._entities.extract_entities(text)

    def classify(self, text: str) -> str:
        return self._types.classify(text)

    def link(self, mention: str, context: str) -> Any:
        return self._links.link(mention, context)

    def retrieve(self, query: str, k: int) -> Any:
        return self._retrieval.retrieve(query, k)

    def answer(self, question: str) -> dict[str, Any]:
        """What the reference pipeline says, and the chunks it was shown."""
        reply = self._pipeline.answer(Ask(q=question))
        contexts = [{"id": one["snippet_id"], "text": one["text"]} for one in reply["retrieved"]]
        return {"answer": reply["answer_json"]["claim"], "contexts": contexts}

    @cached_property
    def _known(self) -> tuple[KnownEntity, ...]:
        return known_entities(str(KNOWLEDGE_BASE))

    @cached_property
    def _entities(self) -> JoinedEntities:
        return JoinedEntities(GazetteerEntities(self._known), RegexEntities())

    @cached_property
    def _types(self) -> KeywordTypes:
        return KeywordTypes()

    @cached_property
    def _links(self) -> FuzzyLinks:
        return FuzzyLinks(self._known)

    @cached_property
    def _retrieval(self) -> FusedRetrieval:
        documents = sections()
        return FusedRetrieval(BM25Retrieval(documents), EmbeddingRetrieval(documents))

    @cached_property
    def _pipeline(self) -> Pipeline:
        return Pipeline.of()


MODEL = BundledBaselines()


def __getattr__(name: str) -> Any:
    """The baselines one by one, as in `--model ragauge.demo.components:BM25`."""
    made = _ALONE.get(name)
    if made is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return made()


_ALONE: dict[str, Callable[[], Any]] = {
    "GAZETTEER": lambda: GazetteerEntities(known_entities(str(KNOWLEDGE_BASE))),
    "REGEX": RegexEntities,
    "KEYWORDS": KeywordTypes,
    "EXACT": lambda: ExactLinks(known_entities(str(KNOWLEDGE_BASE))),
    "FUZZY": lambda: FuzzyLinks(known_entities(str(KNOWLEDGE_BASE))),
    "BM25": lambda: BM25Retrieval(sections()),
    "NGRAM": lambda: EmbeddingRetrieval(sections()),
    "MINILM": lambda: EmbeddingRetrieval(sections(), "minilm"),
}
