"""LlamaIndex's own parsers, index and postprocessors; its offsets are not always right."""

from __future__ import annotations

from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import (
    MarkdownNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
)
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.schema import ImageNode, Node, NodeWithScore, TextNode

from ragauge.citations.adapters import project, project_all
from tests.adapters.handbook import DOC_ID, TEXT, TEXTS, assert_in_place, vector


class WordCounts(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


def handbook() -> Document:
    return Document(text=TEXT, id_=DOC_ID, metadata={"url": "https://example.org/handbook"})


def sentences(documents: list[Any], size: int = 30) -> list[Any]:
    splitter = SentenceSplitter(chunk_size=size, chunk_overlap=0, include_metadata=False)
    return splitter.get_nodes_from_documents(documents)


def test_what_a_retriever_finds():
    index = VectorStoreIndex(sentences([handbook()]), embed_model=WordCounts())
    found = index.as_retriever(similarity_top_k=3).retrieve("a late loan, a fee")
    projections = project_all(found, document=TEXTS.get)
    assert [one.payload["k_pos"] for one in projections] == [1, 2, 3]
    for node, one in zip(found, projections, strict=True):
        assert one.payload["doc_id"] == DOC_ID
        assert one.payload["snippet_id"] == node.node_id
        assert one.payload["score_raw"] == node.score
        assert one.text == node.node.text
    assert_in_place(projections)


def test_metadata_of_the_document_reach_the_payload():
    (first, *_) = SentenceSplitter().get_nodes_from_documents([handbook()])
    assert project(first).payload["source_url"] == "https://example.org/handbook"


def test_offsets_of_chained_parsers_are_wrong_and_put_right():
    """The second parser counts from the section's start, and names the document."""
    sections = MarkdownNodeParser().get_nodes_from_documents([handbook()])
    nodes = sentences(sections)
    assert {node.ref_doc_id for node in nodes} == {DOC_ID}
    wrong = [
        node
        for node in nodes
        if node.start_char_idx is not None
        and TEXT[node.start_char_idx : node.end_char_idx] != node.text
    ]
    assert wrong, "LlamaIndex has mended its offsets: look for another true case"
    for one in project_all(wrong, document=TEXTS.get):
        assert_in_place([one])
        (note,) = one.notes
        assert note.startswith("offsets: the text is not at ")
        assert "moved by +" in note


def test_offsets_of_chained_parsers_that_are_absent_are_found():
    nodes = sentences(MarkdownNodeParser().get_nodes_from_documents([handbook()]))
    absent = [node for node in nodes if node.start_char_idx is None]
    assert absent
    assert_in_place(project_all(absent, document=TEXTS.get))


def test_a_replaced_text_is_longer_than_its_offsets():
    """The postprocessor puts a window in the place of a sentence, and leaves its offsets."""
    nodes = SentenceWindowNodeParser(window_size=1).get_nodes_from_documents([handbook()])
    replace = MetadataReplacementPostProcessor(target_metadata_key="window")
    shown = replace.postprocess_nodes([NodeWithScore(node=node, score=0.5) for node in nodes])
    for one in project_all(shown):
        assert "offsets" not in one.payload
        assert "window" not in one.payload
        assert one.notes[0].startswith("offsets: ") and one.notes[0].endswith("left out")


def test_a_sentence_that_stands_twice_is_said_to():
    text = "Keys are kept in the safe. Visitors wait. Keys are kept in the safe. So be it."
    nodes = SentenceWindowNodeParser().get_nodes_from_documents([Document(text=text)])
    projections = project_all(nodes, document=text)
    assert_in_place(projections, text)
    assert [bool(one.notes) for one in projections] == [True, False, True, False]
    assert projections[2].notes == ("offsets: 42–69 is one of several places with this text",)


def test_nodes_of_other_kinds():
    assert project(NodeWithScore(node=Node(id_="n1"), score=None)).payload == {"snippet_id": "n1"}
    image = project(ImageNode(id_="i1", image_url="https://example.org/key.png"))
    assert image.payload == {"snippet_id": "i1"}
    new_style = Node(id_="n2", text_resource={"text": "The safe opens at nine."})
    projection = project(new_style, document=TEXT)
    assert projection.text == "The safe opens at nine."
    assert_in_place([projection])


def test_a_bare_node_makes_nothing_up():
    projection = project(TextNode(text="The safe opens at nine.", id_="n1"))
    assert projection.payload == {"snippet_id": "n1"}
