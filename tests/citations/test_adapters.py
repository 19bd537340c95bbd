"""Retrieved objects become payloads by their shape alone; no package of theirs is needed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.adapters import Projection, checked_offsets, project, project_all
from ragauge.citations.payload import read_payload
from ragauge.contracts.citation import Citation
from ragauge.errors import UsageError

DOCUMENT = "Keys are kept in the safe. The safe opens at nine. Loans last four weeks."
SENTENCE = "The safe opens at nine."
WHOLE = {
    "doc_id": "handbook",
    "section_id": "keys",
    "snippet_id": "hb-7",
    "source_url": "https://example.org/handbook",
    "offsets": {"start": 27, "end": 50, "unit": "char"},
    "tokens": 6,
    "index_hash": "faiss:2f7d9a",
    "embed_model": "bge:mean",
    "analyzer": "lowercase",
    "rev": "3b91f2a",
    "window": {"pre": 20, "post": 20},
    "page": 14,
    "score_raw": 0.84,
    "score_norm": 0.78,
    "rerank_score": 0.67,
    "k_pos": 18,
    "k_final": 3,
}


@dataclass
class LangChainDocument:
    page_content: Any
    metadata: Any = field(default_factory=dict)
    id: Any = None


@dataclass
class Node:
    text: Any
    start_char_idx: Any = None
    end_char_idx: Any = None
    metadata: Any = field(default_factory=dict)
    node_id: Any = "n1"
    ref_doc_id: Any = "handbook"


@dataclass
class NodeWithScore:
    node: Any
    score: Any = None


@dataclass
class HaystackDocument:
    id: Any
    content: Any
    meta: Any = field(default_factory=dict)
    score: Any = None


@dataclass
class SearchResult:
    record: Any
    score: Any = None


def missing(projection: Projection) -> set[str]:
    return {finding.code for finding in read_payload(projection.payload).findings}


@pytest.mark.parametrize(
    "carried",
    [
        LangChainDocument(SENTENCE, WHOLE),
        NodeWithScore(Node(SENTENCE, metadata=WHOLE)),
        HaystackDocument("h1", SENTENCE, WHOLE),
        SearchResult({**WHOLE, "text": SENTENCE}),
        msgspec.convert(WHOLE, Citation),
        WHOLE,
    ],
    ids=["langchain", "llamaindex", "haystack", "semantic-kernel", "payload", "mapping"],
)
def test_a_payload_in_the_metadata_comes_through_whole(carried):
    projection = project(carried)
    assert projection.payload == WHOLE
    assert projection.notes == ()
    assert read_payload(projection.payload).findings == []


@pytest.mark.parametrize(
    "bare",
    [
        LangChainDocument(SENTENCE),
        Node(SENTENCE, node_id=None, ref_doc_id=None),
        HaystackDocument(None, SENTENCE),
        SearchResult({"text": SENTENCE}),
        SimpleNamespace(name="Safe", value=SENTENCE, link=None),
    ],
    ids=["langchain", "llamaindex", "haystack", "semantic-kernel", "text-search"],
)
def test_what_an_object_does_not_tell_is_missing_and_never_made_up(bare):
    projection = project(bare)
    assert projection.payload == {}
    assert projection.text == SENTENCE
    assert missing(projection) == {
        f"missing_{name}"
        for name in (
            "doc_id",
            "section_id",
            "snippet_id",
            "source_url",
            "offsets",
            "tokens",
            "index_hash",
            "embed_model",
            "analyzer",
            "rev",
        )
    }


def test_a_langchain_document_with_its_score():
    document = LangChainDocument(
        SENTENCE, {"source": "https://example.org/handbook", "start_index": 27}, "c7"
    )
    projection = project((document, np.float32(0.5)))
    assert projection.payload == {
        "doc_id": "https://example.org/handbook",
        "snippet_id": "c7",
        "source_url": "https://example.org/handbook",
        "offsets": {"start": 27, "end": 50, "unit": "char"},
        "score_raw": 0.5,
    }
    assert type(projection.payload["score_raw"]) is float


def test_a_path_is_no_address():
    payload = project(LangChainDocument(SENTENCE, {"source": "docs/handbook.md"})).payload
    assert payload == {"doc_id": "docs/handbook.md"}


def test_a_chunk_that_the_langchain_splitter_did_not_find_has_no_offsets():
    projection = project(LangChainDocument(SENTENCE, {"start_index": -1}))
    assert "offsets" not in projection.payload
    assert projection.notes == ("offsets: what is given is no start and end, from 0; not used",)


def test_a_start_that_a_store_gave_back_as_a_float_is_a_whole_number():
    for start in (27.0, np.int64(27)):
        payload = project(LangChainDocument(SENTENCE, {"start_index": start})).payload
        assert payload["offsets"] == {"start": 27, "end": 50, "unit": "char"}


def test_a_llamaindex_node_with_its_score():
    node = Node(SENTENCE, 27, 50, {"page_label": "14", "url": "https://example.org/handbook"})
    assert project(NodeWithScore(node, 0.84)).payload == {
        "doc_id": "handbook",
        "snippet_id": "n1",
        "source_url": "https://example.org/handbook",
        "offsets": {"start": 27, "end": 50, "unit": "char"},
        "page": 14,
        "score_raw": 0.84,
    }


def test_a_roman_page_label_is_no_page_number():
    projection = project(Node(SENTENCE, metadata={"page_label": "iv"}))
    assert "page" not in projection.payload
    assert projection.notes == ("page: page_label is no number; left out",)


def test_the_sentence_window_of_llamaindex_is_not_the_window_of_the_payload():
    projection = project(Node(SENTENCE, metadata={"window": DOCUMENT}))
    assert "window" not in projection.payload


def test_a_reranker_that_kept_the_score_of_retrieval():
    node = NodeWithScore(Node(SENTENCE, metadata={"retrieval_score": 0.4}), 0.9)
    payload = project(node).payload
    assert (payload["score_raw"], payload["rerank_score"]) == (0.4, 0.9)


def test_a_haystack_document_of_a_splitter():
    meta = {"source_id": "handbook", "split_idx_start": 27, "page_number": 2, "split_id": 1}
    assert project(HaystackDocument("h1", SENTENCE, meta, 3.25)).payload == {
        "doc_id": "handbook",
        "snippet_id": "h1",
        "offsets": {"start": 27, "end": 50, "unit": "char"},
        "page": 2,
        "score_raw": 3.25,
    }


class Record:
    """A model of a vector store that is no dataclass: it is known by its definition."""

    __kernel_vectorstoremodel_definition__ = SimpleNamespace(key_name="number")

    def __init__(self, number: int, body: str) -> None:
        self.number, self.body, self.section_id = number, body, "keys"


def test_a_semantic_kernel_record_by_its_key():
    projection = project(SearchResult(Record(7, SENTENCE), 0.2), mapping={"text": "body"})
    assert projection.payload == {"section_id": "keys", "snippet_id": "7", "score_raw": 0.2}
    assert projection.text == SENTENCE


def test_a_text_search_result_tells_words_and_address_only():
    result = SimpleNamespace(name="Safe", value=SENTENCE, link="https://example.org/safe")
    assert project(result) == Projection({"source_url": "https://example.org/safe"}, SENTENCE)


def test_the_chunk_has_the_text_beside_the_payload():
    projection = project({"snippet_id": "hb-7", "text": SENTENCE})
    assert projection.chunk == {"snippet_id": "hb-7", "text": SENTENCE}
    assert project({"snippet_id": "hb-7"}).chunk == {"snippet_id": "hb-7"}


class TestOffsets:
    def test_those_that_hold_are_kept_without_a_word(self):
        projection = project(Node(SENTENCE, 27, 50), document=DOCUMENT)
        assert projection.payload["offsets"] == {"start": 27, "end": 50, "unit": "char"}
        assert projection.notes == ()

    def test_wrong_ones_are_put_right_where_there_is_one_place(self):
        projection = project(Node(SENTENCE, 20, 43), document={"handbook": DOCUMENT}.get)
        assert projection.payload["offsets"] == {"start": 27, "end": 50, "unit": "char"}
        assert projection.notes == (
            "offsets: the text is not at 20–43; it stands at 27–50, moved by +7",
        )

    def test_absent_ones_are_found(self):
        projection = project(LangChainDocument(SENTENCE), document=DOCUMENT)
        assert projection.payload["offsets"] == {"start": 27, "end": 50, "unit": "char"}
        assert projection.notes == ("offsets: the text comes without; it stands at 27–50",)

    def test_an_end_beyond_the_document_does_not_hold(self):
        projection = project(Node("four weeks.", 62, 99), document=DOCUMENT)
        assert projection.payload["offsets"] == {"start": 62, "end": 73, "unit": "char"}
        assert projection.notes == ("offsets: the text is not at 62–99; it stands at 62–73",)

    def test_a_text_in_several_places_has_none(self):
        projection = project(Node("safe", 0, 4), document=DOCUMENT)
        assert "missing_offsets" in missing(projection)
        assert projection.notes == (
            "offsets: the text is not at 0–4, and it stands in several places; left out",
        )

    def test_one_of_several_places_is_said_to_be_one(self):
        projection = project(Node("safe", 21, 25), document=DOCUMENT)
        assert projection.payload["offsets"]["start"] == 21
        assert projection.notes == ("offsets: 21–25 is one of several places with this text",)

    def test_a_text_that_is_not_in_the_document_has_none(self):
        projection = project(Node("The safe  opens", 27, 42), document=DOCUMENT)
        assert "offsets" not in projection.payload
        assert projection.notes == ("offsets: the text does not stand in the document; left out",)

    def test_without_the_document_they_are_as_long_as_the_text(self):
        projection = project(Node(SENTENCE, 27, 40))
        assert "offsets" not in projection.payload
        assert projection.notes == ("offsets: 27–40 is 13 long, the text 23; left out",)

    def test_without_a_text_there_are_none(self):
        projection = project(Node(None, 27, 50), document=DOCUMENT)
        assert "offsets" not in projection.payload
        assert projection.notes == ("offsets: there is no text to hold them against; left out",)

    def test_the_users_own_are_passed_on_as_they_are(self):
        own = {"start": 3, "end": 9, "unit": "token"}
        projection = project(Node(SENTENCE, 27, 50, {"offsets": own}), document=DOCUMENT)
        assert projection.payload["offsets"] == own

    def test_a_document_that_cannot_be_had_is_said(self):
        lost = project(Node(SENTENCE, 27, 50), document={}.get)
        assert lost.payload["offsets"]["start"] == 27
        assert lost.notes == ("document: the function gave nothing",)
        nameless = project(LangChainDocument(SENTENCE), document={}.get)
        assert nameless.notes == ("document: is found by doc_id, which is absent",)
        bytes_given = project(Node(SENTENCE, 27, 50), document=lambda doc_id: b"Keys")
        assert bytes_given.notes == ("document: a bytes is no text; not used",)

    @given(
        st.text("ab ", max_size=12),
        st.text("ab ", min_size=1, max_size=3),
        st.tuples(st.integers(-2, 12), st.integers(-2, 12)) | st.none(),
    )
    def test_with_a_document_they_are_right_or_absent(self, document, text, span):
        """The plain twin: every place tried in turn."""
        places = [start for start in range(len(document)) if document[start:].startswith(text)]
        notes: list[str] = []
        found = checked_offsets(span, text, document, notes)
        if span is not None and span[0] in places and span[1] == span[0] + len(text):
            assert found == {"start": span[0], "end": span[1], "unit": "char"}
        elif len(places) == 1:
            assert found == {"start": places[0], "end": places[0] + len(text), "unit": "char"}
            assert notes
        else:
            assert found is None and notes


META = {"chapter": "keys", "loc": {"tokens": 6}, "a.b": "dotted", "page": 13}


class TestMapping:
    def test_a_path_begins_in_the_metadata_or_at_the_object(self):
        document = HaystackDocument("h1", SENTENCE, META)
        mapping = {"section_id": "meta.chapter", "tokens": "loc.tokens", "rev": "a.b"}
        payload = project(document, mapping=mapping).payload
        assert (payload["section_id"], payload["tokens"], payload["rev"]) == ("keys", 6, "dotted")

    def test_a_function_gets_the_object(self):
        document = LangChainDocument(SENTENCE, META)
        mapping = {"page": lambda document: document.metadata["page"] + 1}
        assert project(document, mapping=mapping).payload["page"] == 14

    def test_a_function_of_a_scored_node_gets_the_node(self):
        mapping = {"tokens": lambda node: len(node.text.split())}
        assert project(NodeWithScore(Node(SENTENCE)), mapping=mapping).payload["tokens"] == 5

    def test_it_goes_before_what_the_object_says_itself(self):
        document = LangChainDocument(SENTENCE, {"rev": "old", "commit": "new"})
        assert project(document, mapping={"rev": "commit"}).payload["rev"] == "new"

    def test_where_it_leads_nowhere_the_field_is_absent(self):
        document = LangChainDocument(SENTENCE, {"rev": "old"})
        projection = project(document, mapping={"rev": "commit"}, constants={"rev": "live"})
        assert "rev" not in projection.payload
        assert projection.notes == ('rev: nothing stands at "commit"',)

    def test_a_function_that_fails_leaves_the_field_absent(self):
        mapping = {"page": lambda document: document.metadata["page"] + 1}
        projection = project(LangChainDocument(SENTENCE), mapping=mapping)
        assert projection.payload == {}
        assert projection.notes == ("page: KeyError: 'page'",)

    def test_every_unknown_name_is_told_with_the_nearest(self):
        with pytest.raises(UsageError) as caught:
            project(
                WHOLE,
                mapping={"sectoin_id": "chapter", "colour": "x", "rev": 7},
                constants={"index": "x", "score_raw": 1.0},
            )
        assert caught.value.problems[0] == (
            'mapping: "sectoin_id" is no field of the payload; did you mean "section_id"?'
        )
        assert caught.value.problems[1].startswith('mapping: "colour" is no field of the payload')
        assert caught.value.problems[2:] == (
            "mapping: rev is a int; give a path or a function",
            'constants: "index" is no field of the payload; did you mean "index_hash"?',
            'constants: "score_raw" is each chunk\'s own and no constant; give it in the mapping',
        )

    def test_an_unknown_name_is_told_even_where_nothing_was_retrieved(self):
        with pytest.raises(UsageError):
            project_all([], mapping={"sectoin_id": "chapter"})


class TestConstants:
    def test_they_fill_what_is_not_told(self):
        constants = {"index_hash": "faiss:2f7d9a", "rev": {"handbook": "3b91f2a"}.get}
        payload = project(Node(SENTENCE), constants=constants).payload
        assert (payload["index_hash"], payload["rev"]) == ("faiss:2f7d9a", "3b91f2a")

    def test_they_never_hide_what_the_chunk_says_itself(self):
        document = LangChainDocument(SENTENCE, {"index_hash": "stale"})
        assert project(document, constants={"index_hash": "live"}).payload == {
            "index_hash": "stale"
        }

    def test_what_a_chunk_says_but_cannot_be_read_is_not_replaced(self):
        document = LangChainDocument(SENTENCE, {"rev": dt.date(2024, 3, 1)})
        projection = project(document, constants={"rev": "live"})
        assert projection.payload == {}
        assert projection.notes == ("rev: a date is no plain value; left out",)

    def test_a_revision_by_document_needs_the_document(self):
        projection = project(LangChainDocument(SENTENCE), constants={"rev": {}.get})
        assert projection.notes == ("rev: is known by document, and doc_id is absent",)


class TestValues:
    @pytest.mark.parametrize("score", [float("nan"), np.float32("nan"), float("inf")])
    def test_a_score_that_is_no_number_is_absent(self, score):
        projection = project(HaystackDocument("h1", SENTENCE, score=score))
        assert "score_raw" not in projection.payload
        assert projection.notes == (f"score_raw: {float(score)} is no number to go by; left out",)

    @pytest.mark.parametrize(
        ("given_value", "kind"),
        [
            (dt.datetime(2024, 3, 1), "datetime"),
            (b"3b91f2a", "bytes"),
            ({"a"}, "set"),
            (np.zeros(3), "ndarray"),
        ],
    )
    def test_what_json_does_not_know_is_left_out(self, given_value, kind):
        projection = project({"rev": given_value})
        assert projection.payload == {}
        assert projection.notes == (f"rev: a {kind} is no plain value; left out",)

    def test_a_value_that_holds_itself_is_left_out(self):
        endless: list[Any] = []
        endless.append(endless)
        assert project({"rev": endless}).notes == ("rev: a list is no plain value; left out",)

    def test_plain_values_of_the_wrong_kind_are_left_for_the_validator_to_name(self):
        payload = project({**WHOLE, "tokens": "188", "score_norm": 3}).payload
        assert missing(Projection(payload)) == {"bad_type_tokens", "bad_type_score_norm"}

    def test_ids_become_text_and_counts_whole_numbers(self):
        id = UUID(int=7)
        payload = project({"snippet_id": id, "doc_id": 12, "tokens": 6.0, "page": 2.5}).payload
        assert payload == {"snippet_id": str(id), "doc_id": "12", "tokens": 6, "page": 2.5}

    def test_offsets_of_a_class_of_the_users_own(self):
        @dataclass
        class Span:
            start: int
            end: int

        assert project({"offsets": Span(27, np.int64(50))}).payload == {
            "offsets": {"start": 27, "end": 50}
        }

    def test_every_payload_can_be_written_as_json(self):
        document = LangChainDocument(
            SENTENCE, {"page": np.int32(3), "score_norm": np.float64(0.5), "tokens": np.uint8(6)}
        )
        assert msgspec.json.decode(msgspec.json.encode(project(document).payload)) == {
            "tokens": 6,
            "page": 3,
            "score_norm": 0.5,
        }


class TestLists:
    def test_the_place_in_the_list_is_k_pos(self):
        found = project_all([LangChainDocument("a"), LangChainDocument("b", {"k_pos": 7})])
        assert [one.payload["k_pos"] for one in found] == [1, 7]

    def test_in_a_reranked_list_it_is_k_final(self):
        found = project_all(
            [
                LangChainDocument("a", {"relevance_score": 0.9}),
                LangChainDocument("b", {"relevance_score": 0.1, "k_pos": 1}),
            ]
        )
        assert found[0].payload == {"rerank_score": 0.9, "k_final": 1}
        assert found[0].notes == ("k_pos: the list is reranked; its order is not the retriever's",)
        assert found[1].payload == {"rerank_score": 0.1, "k_pos": 1, "k_final": 2}
        assert found[1].notes == ()

    def test_score_norm_is_never_made_up(self):
        found = project_all([(LangChainDocument("a"), 0.9), (LangChainDocument("b"), 0.4)])
        assert [one.payload for one in found] == [
            {"score_raw": 0.9, "k_pos": 1},
            {"score_raw": 0.4, "k_pos": 2},
        ]

    def test_nothing_retrieved_is_nothing_projected(self):
        assert project_all([]) == ()


class Failing:
    """Every attribute of it fails."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name} today")


class FailingMetadata(dict):
    def items(self):
        raise RuntimeError("closed")


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        "hb-7",
        b"",
        object(),
        [],
        (1, 2),
        [LangChainDocument("a"), LangChainDocument("b")],
        Failing(),
        MagicMock(),
        LangChainDocument,
        LangChainDocument(None, None, object()),
        LangChainDocument(7, "no metadata"),
        LangChainDocument("a", FailingMetadata(rev="x")),
        NodeWithScore(None),
        NodeWithScore(Failing(), object()),
        Node(object(), "a", object()),
        HaystackDocument([], {}, []),
        SearchResult(None),
        SearchResult(7, "high"),
        {1: 2},
    ],
    ids=lambda odd: type(odd).__name__,
)
def test_an_odd_object_gives_a_note_or_an_empty_payload_and_never_raises(odd):
    projection = project(odd, document=DOCUMENT, mapping={"page": "metadata.page"})
    assert projection.notes
    msgspec.json.encode(projection.payload)
    assert project_all([odd])[0].payload["k_pos"] == 1


def test_what_is_no_retrieved_object_is_said():
    assert project("hb-7") == Projection({}, None, ("a str is no retrieved object",))


def test_a_property_that_fails_is_said():
    projection = project(NodeWithScore(Failing(), 0.5))
    assert projection.payload == {"score_raw": 0.5}
    assert "text: RuntimeError: no text today" in projection.notes


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
METADATA = st.dictionaries(
    st.sampled_from([*WHOLE, "source", "start_index", "split_idx_start", "page_label", "url"]),
    ANYTHING,
)


@given(METADATA, ANYTHING, st.sampled_from(["langchain", "node", "haystack", "record"]))
def test_whatever_stands_in_an_object_the_payload_is_json_with_known_fields(given_, odd, shape):
    shapes = {
        "langchain": (LangChainDocument(odd, given_, odd), odd),
        "node": NodeWithScore(Node(odd, odd, odd, given_, odd, odd), odd),
        "haystack": HaystackDocument(odd, odd, given_, odd),
        "record": SearchResult(given_, odd),
    }
    projection = project(shapes[shape], document=DOCUMENT)
    assert set(projection.payload) <= set(WHOLE)
    assert None not in projection.payload.values()
    assert list(projection.payload) == [name for name in WHOLE if name in projection.payload]
    msgspec.json.encode(projection.payload)
