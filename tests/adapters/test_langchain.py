"""LangChain's own documents, splitters and store."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter, RecursiveCharacterTextSplitter

from ragauge.audit.adapters import project, project_all
from ragauge.audit.payload import read_payload
from tests.adapters.handbook import TEXT, assert_in_place, vector


class WordCounts(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector(text)


def split(**options) -> list[Document]:
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=60, chunk_overlap=0, add_start_index=True, **options
    )
    return splitter.create_documents([TEXT], [{"source": "https://example.org/handbook"}])


def searched(documents: list[Document], question: str, k: int = 3):
    store = InMemoryVectorStore(WordCounts())
    store.add_documents(documents, ids=[f"hb-{place}" for place in range(len(documents))])
    return store.similarity_search_with_score(question, k=k)


def test_what_a_store_finds_with_its_scores():
    found = searched(split(), "a late loan, a fee")
    projections = project_all(found, document=TEXT)
    assert [one.payload["k_pos"] for one in projections] == [1, 2, 3]
    for (document, score), one in zip(found, projections, strict=True):
        assert one.text == document.page_content
        assert one.payload["snippet_id"] == document.id
        assert one.payload["doc_id"] == one.payload["source_url"] == "https://example.org/handbook"
        assert one.payload["score_raw"] == score
        assert type(one.payload["score_raw"]) is float
    assert_in_place(projections)


def test_the_start_index_of_a_splitter_needs_no_document():
    projections = project_all(split())
    assert_in_place(projections)
    assert [one.notes for one in projections] == [()] * len(projections)


def test_a_document_by_itself_and_what_it_lacks():
    projection = project(Document(page_content="The safe opens at nine."))
    assert projection.payload == {}
    codes = {finding.code for finding in read_payload(projection.payload).findings}
    assert {"missing_doc_id", "missing_snippet_id", "missing_offsets", "missing_rev"} <= codes


def test_a_start_index_that_the_splitter_got_wrong_is_caught():
    """Overlap counted in words puts the search too far back: it finds the earlier copy."""
    text = "one two. one two. three four. one two. five six."
    splitter = CharacterTextSplitter(
        separator=". ",
        chunk_size=4,
        chunk_overlap=2,
        length_function=lambda piece: len(piece.split()),
        add_start_index=True,
    )
    documents = splitter.create_documents([text])
    wrong = [
        one
        for one in documents
        if not text[one.metadata["start_index"] :].startswith(one.page_content)
    ]
    projections = project_all(documents, document=text)
    assert len(documents) > 1
    for one in projections:
        if "offsets" in one.payload:
            assert_in_place([one], text)
    assert all(one.notes for one in project_all(wrong, document=text))


def test_a_chunk_that_the_splitter_lost_has_its_true_place():
    """A splitter that changes blanks does not find its own chunks again: start_index is -1."""
    text = "Keys are kept.\n\n\nThe safe\n\n\nopens at nine."
    splitter = CharacterTextSplitter(
        separator="\n\n\n", chunk_size=30, chunk_overlap=0, add_start_index=True
    )
    lost = [one for one in splitter.create_documents([text])]
    assert lost
    for one in project_all(lost, document=text):
        assert_in_place([one], text)
