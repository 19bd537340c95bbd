"""Haystack's own splitters, store and retriever."""

from __future__ import annotations

import pytest
from haystack import Document
from haystack.components.preprocessors import DocumentSplitter, RecursiveDocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from ragauge.citations.adapters import project, project_all
from tests.adapters.handbook import DOC_ID, TEXT, TEXTS, assert_in_place

SPLITTERS = {
    "words": DocumentSplitter(split_by="word", split_length=12, split_overlap=3),
    "passages": DocumentSplitter(split_by="passage", split_length=1),
    "pages": DocumentSplitter(split_by="page", split_length=1),
    "recursive": RecursiveDocumentSplitter(split_length=12, split_unit="word", separators=["\n\n"]),
}


def split(name: str, text: str = TEXT) -> list[Document]:
    whole = Document(id=DOC_ID, content=text, meta={"url": "https://example.org/handbook"})
    return SPLITTERS[name].run(documents=[whole])["documents"]


def test_what_a_retriever_finds():
    store = InMemoryDocumentStore()
    store.write_documents(split("words"))
    found = InMemoryBM25Retriever(store, top_k=3).run(query="late loan fee")["documents"]
    projections = project_all(found, document=TEXTS.get)
    assert len(found) > 1
    for place, (document, one) in enumerate(zip(found, projections, strict=True), 1):
        assert one.payload == {
            "doc_id": DOC_ID,
            "snippet_id": document.id,
            "source_url": "https://example.org/handbook",
            "offsets": one.payload["offsets"],
            "page": 1,
            "score_raw": document.score,
            "k_pos": place,
        }
    assert_in_place(projections)


@pytest.mark.parametrize("name", SPLITTERS)
def test_the_start_of_every_split_holds(name):
    projections = project_all(split(name), document=TEXT)
    assert_in_place(projections)
    assert not any("moved" in note for one in projections for note in one.notes)


def test_pages_are_counted():
    documents = split("pages", "Keys are kept in the safe.\fThe safe opens at nine.")
    assert [project(one).payload["page"] for one in documents] == [1, 2]


def test_a_document_that_was_not_split_has_an_id_and_no_more():
    document = Document(content="The safe opens at nine.")
    assert project(document).payload == {"snippet_id": document.id}


def test_a_document_without_text():
    projection = project(Document(id="i1", meta={"split_idx_start": 3}))
    assert projection.payload == {"snippet_id": "i1"}
    assert projection.text is None
    assert projection.notes == ("offsets: there is no text to hold them against; left out",)
