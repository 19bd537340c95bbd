"""Citation support: markers, offsets, what supports what, and a plain twin for the restriction."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.answers import Context
from ragauge.grounding import Passages
from ragauge.grounding.cited import (
    NO_CITATION,
    SUPPORTED,
    Supporter,
    citation_support,
    excerpt,
)
from ragauge.grounding.groundedness import NO_ANSWER, NO_CLAIM, NO_CONTEXT
from ragauge.grounding.markers import cited_in
from tests.components.shared_data import shared

MUSEUM = (
    "The museum opened in Amsterdam in 1808. King Louis founded it.",
    "Pierre Cuypers designed the present building. It was finished in 1885.",
    "Visitors may take photographs without flash in every room.",
)


def supporting(answer, contexts=MUSEUM, **more):
    """For each sentence the cited ids that support it, and the id that would instead."""
    found = citation_support(answer, contexts, **more)
    return [
        (
            [chunk.chunk for chunk in one.cited if chunk.supports],
            one.elsewhere.chunk if one.elsewhere else None,
        )
        for one in found.sentences
    ]


def test_a_sentence_is_held_against_what_it_cites_alone():
    answer = "It opened in Amsterdam in 1808 [1]. Cuypers designed the building [1][3]. So? [2]"
    assert supporting(answer) == [(["1"], None), ([], "2"), ([], None)]


def test_a_citation_beside_the_one_that_supports_is_told_apart():
    found = citation_support("Pierre Cuypers designed the present building [2, 3].", MUSEUM)
    [one] = found.sentences
    assert [(chunk.chunk, chunk.supports) for chunk in one.cited] == [("2", True), ("3", False)]
    assert one.supported and not one.misattributed
    assert one.cited[0].score >= SUPPORTED > one.cited[1].score


def test_two_contexts_that_support_only_together_both_support():
    both = ["The museum opened in 1808.", "Pierre Cuypers was the architect of the facade."]
    answer = "The museum opened in 1808 and Pierre Cuypers was the architect of the facade [1][2]."
    found = citation_support(answer, both)
    [one] = found.sentences
    alone = [chunk.score for chunk in one.cited]
    assert one.supported and one.score > max(alone)
    assert [chunk.supports for chunk in one.cited] == [True, True]
    three = citation_support(answer.replace("[2]", "[2][3]"), [*both, MUSEUM[2]])
    assert [chunk.supports for chunk in three.sentences[0].cited] == [True, True, False]


def test_evidence_and_sentences_have_exact_offsets():
    answer = "  It opened in 1808 [1]. \n- Cuypers designed it. [2]\n"
    found = citation_support(answer, MUSEUM)
    for one in found.sentences:
        assert answer[one.start : one.end] == one.text
    assert [one.text[-3:] for one in found.sentences] == ["1].", "[2]"]
    evidence = found.sentences[1].cited[0].evidence
    assert MUSEUM[1][evidence.start : evidence.end].startswith("Pierre Cuypers designed")


def test_ids_are_markers_where_a_context_has_them():
    contexts = [Context("p1#1", MUSEUM[0]), Context("p1#2", MUSEUM[1])]
    assert supporting("It opened in 1808 [p1#1]. [sic] Cuypers designed it [p1#1].", contexts) == [
        (["p1#1"], None),
        ([], "p1#2"),
    ]


def test_a_marker_that_names_no_context_supports_nothing():
    found = citation_support("It opened in Amsterdam in 1808 [7].", MUSEUM)
    [one] = found.sentences
    assert [(chunk.chunk, chunk.score, chunk.supports) for chunk in one.cited] == [
        ("7", None, False)
    ]
    assert one.misattributed and one.elsewhere.chunk == "1"


def test_chinese_is_read_alike():
    contexts = ["博物馆于1808年在阿姆斯特丹开放。", "皮埃尔·库贝设计了现在的建筑。"]
    answer = "博物馆于1808年开放。[1]皮埃尔·库贝设计了建筑【1】。"
    found = citation_support(answer, contexts)
    assert [(one.supported, one.misattributed) for one in found.sentences] == [
        (True, False),
        (False, True),
    ]
    assert [answer[one.start : one.end] for one in found.sentences] == [
        "博物馆于1808年开放。[1]",
        "皮埃尔·库贝设计了建筑【1】。",
    ]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("[1]", ["1"]),
        ("[1, 3]", ["1", "3"]),
        ("[1;3]", ["1", "3"]),
        ("[1-3]", ["1", "2", "3"]),
        ("[2–3]", ["2", "3"]),
        ("[1][3]", ["1", "3"]),
        ("【3†source】", ["3"]),
        ("[p1-3]", ["p1-3"]),
        ("[1808]", []),
        ("[sic]", []),
        ("[1](https://example.org)", []),
        ("[]", []),
    ],
)
def test_markers(written, names):
    text = f"It opened {written} in May."
    found = cited_in(text, ["p1-3"])
    assert [name for one in found.markers for name in one.names] == names
    assert len(found.plain) == len(text)
    for one in found.markers:
        assert text[one.start] in "[【" and text[one.end - 1] in "]】"


def test_a_marker_that_opens_a_line_belongs_to_what_follows():
    answer = "[1] It opened in 1808.\n[2] Cuypers designed the building."
    assert supporting(answer) == [(["1"], None), (["2"], None)]


def test_a_list_counts_for_sentences_without_a_marker():
    answer = "It opened in Amsterdam in 1808. Cuypers designed the building [2]."
    found = citation_support(answer, MUSEUM, cited=["1", "2", "3"])
    first, second = found.sentences
    assert [chunk.chunk for chunk in first.cited] == ["1", "3"], "a marker names 2"
    assert (first.marked, second.marked) == (False, True)
    assert [(chunk.chunk, chunk.supports) for chunk in found.listed] == [("1", True), ("3", False)]


def test_a_list_in_the_text_is_read_and_claims_nothing():
    found = citation_support("It opened in 1808.\nSources: [1]", MUSEUM)
    assert [one.text for one in found.sentences] == ["It opened in 1808."]
    assert [chunk.supports for chunk in found.listed] == [True]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("Yes.", False),
        ("Shall I tell you more about the building?", False),
        ("The documents do not say when it closed.", False),
        ("It was finished in 1885.", True),
    ],
)
def test_only_what_claims_something_needs_a_citation(answer, claims):
    found = citation_support(f"The museum opened in 1808 [1]. {answer}", MUSEUM)
    assert [one.claims for one in found.sentences[1:]] == [claims]


@pytest.mark.parametrize(
    ("answer", "contexts", "reason"),
    [
        (" ", MUSEUM, NO_ANSWER),
        ("It opened [1].", [], NO_CONTEXT),
        ("It opened in 1808.", MUSEUM, NO_CITATION),
        ("Yes [1].", MUSEUM, NO_CLAIM),
    ],
)
def test_what_cannot_be_measured_says_why(answer, contexts, reason):
    assert citation_support(answer, contexts).reason == reason


def test_contexts_that_were_analysed_serve_as_well():
    answer = "It opened in 1808 [1]. Cuypers designed it [3]."
    assert citation_support(answer, Passages(MUSEUM)) == citation_support(answer, MUSEUM)


def test_the_order_of_a_list_and_repeated_markers_change_nothing():
    answer = "It opened in 1808. Cuypers designed it."
    found = [citation_support(answer, MUSEUM, cited=cited) for cited in ("12", "21", "1221")]
    assert len({one.sentences[0].score for one in found}) == 1
    again = citation_support("It opened in 1808 [1][1].", MUSEUM)
    assert len(again.sentences[0].cited) == 1


def fresh(whole, kept):
    """The plain twin: the chosen contexts analysed by themselves."""
    return Passages([whole.chunks[chunk] for chunk in kept], whole.question, whole.language)


def everything_of(part):
    return (
        part.chunks,
        part.lines,
        part.where,
        part.bigrams,
        part.prefixes,
        part.record,
        part.supply,
        part.in_question,
    )


NAMES = ("museum", "opened", "Cuypers", "OutdoorSeating", "not", "It")
WORDS = st.sampled_from([*NAMES, "1808", "12,000", "。馆", ".", "\n"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=4)


@given(TEXTS, st.data())
def test_an_excerpt_is_what_a_fresh_analysis_is(texts, data):
    whole = Passages(texts, "When did it open?", "en")
    kept = tuple(sorted(data.draw(st.sets(st.sampled_from(range(len(texts))), min_size=1))))
    assert everything_of(excerpt(whole, kept)) == everything_of(fresh(whole, kept))


def test_a_record_among_the_contexts_is_restricted_too():
    record = "\n".join(
        f"{name}: {value}"
        for name, value in {
            "name": "Bistro",
            "OutdoorSeating": "False",
            "wifi": "no",
            "city": "Ede",
            "takeout": "True",
            "stars": "4",
        }.items()
    )
    whole = Passages([record, MUSEUM[0]], language="en")
    assert excerpt(whole, (0,)).record == fresh(whole, (0,)).record is not None
    assert excerpt(whole, (1,)).record is None


def test_on_real_answers_the_restricted_score_is_that_of_a_fresh_analysis():
    lines = shared("expertqa_citations/answers.jsonl").read_text("utf-8").split("\n")
    compared = 0
    for row in map(json.loads, lines[:12]):
        contexts = [Context(str(one["n"]), one["text"]) for one in row["references"]]
        whole = Passages(contexts, row["question"])
        answer = cited_in(row["answer"], whole.numbered).plain
        supporter = Supporter(answer, whole, "qa")
        for chunk in range(len(contexts)):
            plain = Supporter(answer, fresh(whole, (chunk,)), "qa")
            for stretch in supporter.stretches:
                assert supporter.support(stretch, (chunk,)) == plain.support(stretch, (0,))
                compared += 1
    assert compared > 100
