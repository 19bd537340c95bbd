"""The examples of docs/how-to/serving.md run with the packages they are written for."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from haystack import Document as HaystackDocument
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from langchain_core.documents import Document as LangChainDocument
from langchain_core.language_models import FakeListChatModel
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.node_parser import SentenceSplitter
from msgspec import structs
from semantic_kernel.connectors.in_memory import InMemoryCollection

from ragauge.contracts.manifest import Manifest
from tests.adapters import test_langchain, test_llamaindex, test_semantic_kernel
from tests.adapters.handbook import DOC_ID, TEXT, TEXTS, vector

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serving.md"
BLOCKS = re.findall(r"^```py\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
SENTENCE = "The fee is paid before the next loan."
LIVE = Manifest(
    hash="2f7d9a", embedding="word-counts", text_preproc="lowercase", doc_revs={DOC_ID: "3b91f2a"}
)
WRITTEN = {
    "section_id": "loans",
    "source_url": "https://example.org/handbook#loans",
    "tokens": 8,
}
"""What the chunks were given when they were cut."""


def block_with(word: str) -> str:
    (block,) = [block for block in BLOCKS if word in block]
    return block


def run_block(word: str, **given: Any) -> dict[str, Any]:
    """What the block defines; it may await, as in a notebook."""
    names = {"__name__": "serving", "live": LIVE, "built": LIVE, "texts": TEXTS, **given}
    code = compile(block_with(word), PAGE.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    awaited = eval(code, names)
    if inspect.iscoroutine(awaited):
        asyncio.run(awaited)
    return names


def reply(id: str) -> str:
    return json.dumps({"citations": [{"snippet_id": id}], "answer": SENTENCE})


def test_every_block_is_run():
    assert len(BLOCKS) == 4


def langchain(*replies: str, built: Manifest = LIVE) -> dict[str, Any]:
    store = InMemoryVectorStore(test_langchain.WordCounts())
    start = TEXT.index(SENTENCE)
    chunk = {"source": DOC_ID, "start_index": start, **WRITTEN}
    store.add_documents([LangChainDocument(SENTENCE, metadata=chunk)], ids=["hb-1"])
    model = FakeListChatModel(responses=list(replies))
    return run_block("langchain_core", store=store, model=model, built=built)


def test_the_chain_ships_an_answer_that_holds():
    assert langchain(reply("hb-1"))["chain"].invoke("When is the fee paid?") == reply("hb-1")


def test_the_chain_ships_a_refusal():
    assert langchain("not in context")["chain"].invoke("Who?") == "not in context"


def test_the_chain_fails_where_the_citation_does_not_hold():
    names = langchain(reply("hb-9"))
    with pytest.raises(names["NotShipped"], match="not_retrieved"):
        names["chain"].invoke("When is the fee paid?")


def test_the_chain_fails_where_the_store_is_not_the_live_index():
    older = structs.replace(LIVE, hash="0ld", doc_revs={DOC_ID: "0000000"})
    names = langchain(reply("hb-1"), built=older)
    with pytest.raises(names["NotShipped"], match="mismatch_index_hash"):
        names["chain"].invoke("When is the fee paid?")


class Scripted(CustomLLM):
    """A model that says what it is told to."""

    said: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=self.said)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


def llamaindex(id: str) -> dict[str, Any]:
    splitter = SentenceSplitter(
        chunk_size=60,
        chunk_overlap=0,
        include_metadata=True,
        id_func=lambda place, _: f"hb-{place}",
    )
    document = Document(text=TEXT, id_=DOC_ID, metadata=WRITTEN)
    index = VectorStoreIndex(
        splitter.get_nodes_from_documents([document]), embed_model=test_llamaindex.WordCounts()
    )
    engine = index.as_query_engine(llm=Scripted(said=reply(id)), similarity_top_k=2)
    return run_block("llama_index", engine=engine)


def test_the_query_engine_ships_an_answer_that_holds():
    assert str(llamaindex("hb-1")["checked"].query("When is the fee paid?")) == reply("hb-1")


def test_the_query_engine_fails_where_the_citation_does_not_hold():
    names = llamaindex("hb-99")
    with pytest.raises(names["NotShipped"], match="not_retrieved"):
        names["checked"].query("When is the fee paid?")


def test_documents_of_a_haystack_retriever():
    store = InMemoryDocumentStore()
    whole = HaystackDocument(id=DOC_ID, content=TEXT)
    splitter = DocumentSplitter(split_by="passage", split_length=1)
    store.write_documents(splitter.run(documents=[whole])["documents"])
    names = run_block("retriever.run", retriever=InMemoryBM25Retriever(store), question="fee loan")
    best = names["retrieved"][0]
    assert SENTENCE in best["text"]
    assert TEXT[best["offsets"]["start"] : best["offsets"]["end"]] == best["text"]


def test_records_of_a_semantic_kernel_collection():
    kind = test_semantic_kernel.ChunkDataclass
    collection = InMemoryCollection(record_type=kind, collection_name="handbook")

    async def fill() -> None:
        await collection.ensure_collection_exists()
        await collection.upsert([kind(**test_semantic_kernel.fields(1))])

    asyncio.run(fill())
    names = run_block("collection.search", collection=collection, vector=vector("fee"))
    (chunk,) = names["retrieved"]
    assert (chunk["snippet_id"], chunk["text"]) == ("hb-1", SENTENCE)
