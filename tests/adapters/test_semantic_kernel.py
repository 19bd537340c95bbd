"""Semantic Kernel's own results, with records of every kind that its collections take.

Annotations are not postponed here: a model of a vector store is made from them.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from semantic_kernel.connectors.in_memory import InMemoryCollection
from semantic_kernel.data.text_search import TextSearchResult
from semantic_kernel.data.vector import (
    VectorSearchResult,
    VectorStoreCollectionDefinition,
    VectorStoreField,
    vectorstoremodel,
)

from ragauge.citations.adapters import project, project_all
from tests.adapters.handbook import DOC_ID, TEXT, TEXTS, WORDS, assert_in_place, vector

SIZE = len(WORDS)


@vectorstoremodel
@dataclass
class ChunkDataclass:
    key: Annotated[str, VectorStoreField("key")]
    doc_id: Annotated[str, VectorStoreField("data")]
    section_id: Annotated[str, VectorStoreField("data")]
    body: Annotated[str, VectorStoreField("data")]
    vector: Annotated[list[float] | None, VectorStoreField("vector", dimensions=SIZE)] = None


@vectorstoremodel
class ChunkModel(BaseModel):
    key: Annotated[str, VectorStoreField("key")]
    doc_id: Annotated[str, VectorStoreField("data")]
    section_id: Annotated[str, VectorStoreField("data")]
    body: Annotated[str, VectorStoreField("data")]
    vector: Annotated[list[float] | None, VectorStoreField("vector", dimensions=SIZE)] = None


BODIES = ("A loan lasts four weeks.", "The fee is paid before the next loan.", "Visitors wait")


async def searched(record_type: Any, records: list[Any], **options: Any) -> list[Any]:
    async with InMemoryCollection(
        record_type=record_type, collection_name="handbook", **options
    ) as collection:
        await collection.ensure_collection_exists()
        await collection.upsert(records)
        found = await collection.search(vector=vector("fee loan"), vector_property_name="vector")
        return [result async for result in found.results]


def fields(place: int) -> dict[str, Any]:
    body = BODIES[place]
    return {
        "key": f"hb-{place}",
        "doc_id": DOC_ID,
        "section_id": "loans",
        "body": body,
        "vector": vector(body),
    }


@pytest.mark.parametrize("kind", [ChunkDataclass, ChunkModel])
def test_what_a_collection_finds(kind):
    records = [kind(**fields(place)) for place in range(len(BODIES))]
    found = asyncio.run(searched(kind, records))
    projections = project_all(found, mapping={"text": "body"}, document=TEXTS.get)
    assert len(found) == len(BODIES)
    for place, (result, one) in enumerate(zip(found, projections, strict=True), 1):
        assert isinstance(result, VectorSearchResult)
        assert one.payload == {
            "doc_id": DOC_ID,
            "section_id": "loans",
            "snippet_id": result.record.key,
            "offsets": one.payload["offsets"],
            "score_raw": result.score,
            "k_pos": place,
        }
    assert projections[0].text == BODIES[1]
    assert_in_place(projections)


def test_a_record_that_is_a_mapping():
    names = ("doc_id", "section_id", "body")
    definition = VectorStoreCollectionDefinition(
        fields=[
            VectorStoreField("key", name="key", type="str"),
            *(VectorStoreField("data", name=name, type="str") for name in names),
            VectorStoreField("vector", name="vector", type="float", dimensions=SIZE),
        ]
    )
    found = asyncio.run(searched(dict, [fields(0)], definition=definition))
    mapping = {"snippet_id": "key", "text": "body"}
    (projection,) = project_all(found, mapping=mapping, document=TEXT)
    assert projection.payload["snippet_id"] == "hb-0"
    assert_in_place([projection])


def test_a_result_of_a_text_search():
    result = TextSearchResult(
        name="Safe", value="The safe opens at nine.", link="https://example.org/handbook#safe"
    )
    projection = project(result, document=TEXT)
    assert projection.payload["source_url"] == "https://example.org/handbook#safe"
    assert set(projection.payload) == {"source_url", "offsets"}
    assert_in_place([projection])
