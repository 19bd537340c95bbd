"""LangChain's own documents, splitters and store."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter, RecursiveCharacterTextSplitter

from ragauge.citations.adapters import project, project_all
from ragauge.citations.payload import read_payload
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


def test_a_chunk_that_the_splitter_lost_has_its_true_place():
    """Lengths in words and places in characters: the search for a chunk begins behind it."""
    splitter = CharacterTextSplitter(
        separator=" ",
        chunk_size=6,
        chunk_overlap=3,
        length_function=lambda piece: len(piece.split()),
        add_start_index=True,
    )
    text = "Keys are kept. The safe opens. Loans are short. Visitors wait here."
    documents = splitter.create_documents([text])
    lost = [one for one in documents if one.metadata["start_index"] == -1]
    assert lost, "LangChain has mended its start_index: look for another true case"
    assert all("offsets" not in one.payload for one in project_all(lost))
    assert_in_place(project_all(documents, document=text), text)


def test_a_chunk_that_is_not_the_documents_text_has_no_place():
    """A separator that is a pattern is written between the pieces as the pattern."""
    splitter = CharacterTextSplitter(
        separator=r"\s+",
        is_separator_regex=True,
        chunk_size=30,
        chunk_overlap=0,
        add_start_index=True,
    )
    text = "Keys are kept.\n\n\nThe safe   opens."
    changed = [one for one in splitter.create_documents([text]) if "\\s+" in one.page_content]
    assert changed, "LangChain joins with the words' own blanks now: look for another true case"
    for one in project_all(changed, document=text):
        assert "offsets" not in one.payload
        assert one.notes[-1] == "offsets: the text does not stand in the document; left out"
