"""What a model returns for a query: its sources, and no more documents than were asked for."""

import pytest

from ragauge.contracts.finding import Findings
from ragauge.runners.components.model_calls import fields_of, first_k


class Hit:
    def __init__(self, id, source):
        self.id, self.source = id, source


@pytest.mark.parametrize(
    ("source", "told"),
    [("bm25", ["bm25"]), (["y", "x", "y"], ["x", "y"]), (("x",), ["x"]), ({"y", "x"}, ["x", "y"])],
)
def test_a_document_names_one_source_or_several(source, told):
    wanted = {"results": [{"id": "a", "source": told}]}
    assert fields_of("retrieval", [{"id": "a", "source": source}], "q") == wanted
    assert fields_of("retrieval", [Hit("a", source)], "q") == wanted


@pytest.mark.parametrize("source", [None, "", []])
def test_a_document_without_a_source_names_none(source):
    returned = [{"id": "a", "source": source}]
    assert fields_of("retrieval", returned, "q") == {"results": [{"id": "a"}]}


def test_documents_beyond_k_are_left_out_and_told():
    returned = fields_of("retrieval", [f"d{number}" for number in range(500)], "who?")
    findings = Findings()
    kept = first_k(returned, 20, "q1", findings)
    assert [one["id"] for one in kept["results"]] == [f"d{number}" for number in range(20)]
    assert findings.counts == {"more_than_k": 1}
    (told,) = findings.kept()
    assert (told.where, told.message) == (
        "q1",
        "retrieve: returned 500 documents for k = 20; the first 20 count",
    )


def test_scores_say_which_documents_come_first():
    scores = {"a": 1.0, "b": 3.0, "c": 1.0, "d": 2.0}
    returned = [{"id": id, "score": score} for id, score in scores.items()]
    kept = first_k({"results": returned}, 3, "q1", Findings())
    assert [one["id"] for one in kept["results"]] == ["b", "c", "d"]


def test_a_document_that_stands_there_twice_is_one_of_k():
    returned = {"results": [{"id": "a"}, {"id": "b"}, {"id": "a"}, {"id": "c"}]}
    findings = Findings()
    assert first_k(returned, 3, "q1", findings) == returned
    assert findings.counts == {}
    kept = first_k(returned, 2, "q1", findings)
    assert [one["id"] for one in kept["results"]] == ["a", "b", "a"]
    assert findings.counts == {"more_than_k": 1}
