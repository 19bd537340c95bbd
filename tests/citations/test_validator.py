"""The validator: what holds is ok, what does not is told whole, and nothing makes it fail."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragauge
from ragauge.citations.answer import parse_answer
from ragauge.citations.codes import rank_of, tip_of
from ragauge.citations.payload import read_payload
from ragauge.citations.validator import CitationValidator, Examination, Policy, holds_at
from ragauge.contracts.audit import AnswerAudit, ParsedAnswer
from ragauge.contracts.citation import Citation
from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from tests.citations.answers import ANSWER, FIXTURE, RETRIEVED, chunk, model_side

VALIDATOR = CitationValidator()
LIVE = Manifest(
    hash="qdrant:2f7d9a",
    text_preproc=FIXTURE["analyzer"],
    embedding=FIXTURE["embed_model"],
    doc_revs={"handbook_2024": FIXTURE["rev"]},
)


def codes(audit: AnswerAudit) -> list[str]:
    return [finding.code for finding in audit.findings]


def code(answer: Any, retrieved: Any = None, **policy: Any) -> str:
    return CitationValidator(policy=Policy(**policy))(answer, retrieved).code


# The fixture of the specification.


def test_the_payload_of_the_specification_is_ok():
    audit = VALIDATOR([FIXTURE])
    assert audit == AnswerAudit(code="ok", kind="answer")
    assert audit.ok
    assert VALIDATOR([read_payload(FIXTURE).citation]) == audit


def test_no_citations_are_empty_citations():
    audit = VALIDATOR([])
    assert (audit.code, audit.kind, audit.ok) == ("empty_citations", "uncited", False)
    assert codes(audit) == ["empty_citations"]


def test_what_the_model_writes_alone_misses_the_index_hash():
    audit = VALIDATOR([model_side(FIXTURE)])
    assert audit.code == "missing_index_hash"
    assert codes(audit) == [
        *(f"missing_{name}" for name in ("index_hash", "embed_model", "analyzer", "rev", "doc_id")),
        "missing_score",
        "missing_k_pos",
    ]


def test_joined_to_the_payload_it_is_ok():
    assert VALIDATOR([model_side(FIXTURE)], [FIXTURE]).ok
    assert VALIDATOR([FIXTURE["snippet_id"]], [FIXTURE]).ok


def test_it_is_there_to_be_imported():
    assert ragauge.CitationValidator is CitationValidator


# What an answer may be.


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        json.dumps(ANSWER),
        f"```json\n{json.dumps(ANSWER)}\n```",
        f"Here you are: {json.dumps(ANSWER)}",
        MappingProxyType(ANSWER),
        parse_answer(ANSWER),
        ANSWER["citations"],
        tuple(ANSWER["citations"]),
        ["c1", "c3"],
        [{"id": "c1"}, {"chunk_id": "c3"}],
        "citations: [c1, c3]\nclaim: Every year.",
        {**ANSWER, "ΔS": 0.2, "λ": "convergent"},
    ],
    ids=range(12),
)
@pytest.mark.parametrize("typed", [False, True], ids=["plain", "typed"])
def test_an_answer_may_be_text_an_object_or_a_list(answer, typed):
    retrieved = [read_payload(one).citation if typed else one for one in RETRIEVED]
    examined = VALIDATOR.examine(answer, retrieved)
    assert examined.audit == AnswerAudit(code="ok", kind="answer")
    assert examined.ids == ("c1", "c3")
    assert [one.snippet_id for one in examined.cited] == ["c1", "c3"]
    assert examined.complete


@pytest.mark.parametrize(
    ("reply", "policy", "kind", "found"),
    [
        ("not in context", {}, "refusal", "ok"),
        ("  Not in\ncontext ", {}, "refusal", "ok"),
        ('{"citations": [], "answer": "not in context"}', {}, "refusal", "ok"),
        ("“Not in context.”", {"refusal": "exact"}, "uncited", "empty_citations"),
        ("“Not in context.”", {"refusal": "near"}, "refusal", "ok"),
        ("“Not in context.”", {}, "refusal", "ok"),
        ("geen idee", {"refusal": "exact"}, "uncited", "empty_citations"),
        ("geen idee", {}, "refusal", "ok"),
        ("geen idee", {"refusal": "exact", "refusal_tokens": ("geen idee",)}, "refusal", "ok"),
        (
            "not in context",
            {"refusal": "exact", "refusal_tokens": ("geen idee",)},
            "uncited",
            "empty_citations",
        ),
        ('{"citations": [], "answer": ""}', {"refusal_tokens": ("",)}, "refusal", "ok"),
        ('{"citations": [], "answer": ""}', {}, "uncited", "empty_citations"),
        ("It does not say.", {"refusal": "near"}, "uncited", "empty_citations"),
        ("The documents do not say.", {"refusal": "free"}, "refusal", "ok"),
    ],
)
def test_a_refusal_needs_no_citation(reply, policy, kind, found):
    for depth in ("marker", "payload"):
        audit = CitationValidator(policy=Policy(depth=depth, **policy))(reply, RETRIEVED)
        assert (audit.kind, audit.code) == (kind, found)


def test_a_refusal_whose_segments_say_something_else_is_an_answer():
    parts = [{"text": "not in context", "citations": []}]
    reply = {"citations": [], "answer": "not in context", "segments": parts}
    assert VALIDATOR(reply, RETRIEVED).kind == "refusal"
    said = [*parts, {"text": "Every year.", "citations": []}]
    audit = VALIDATOR({**reply, "segments": said}, RETRIEVED)
    assert (audit.kind, audit.code) == ("uncited", "empty_citations")


@pytest.mark.parametrize(
    "reply",
    ['{"error": "no citation", "fix": "retrieve"}', {"error": "x", "field": "rev", "tip": "y"}],
    ids=str,
)
def test_an_error_the_model_reports_is_neither_answer_nor_refusal(reply):
    audit = VALIDATOR(reply, RETRIEVED)
    assert (audit.code, audit.kind) == ("model_reported_error", "error")


def test_json_that_breaks_off_is_told_with_its_place():
    audit = VALIDATOR('{"citations": ["c1"], "answer": "Every ye', RETRIEVED)
    assert (audit.code, audit.kind) == ("bad_json", "error")
    assert "cut off" in audit.findings[0].got


@pytest.mark.parametrize(
    ("answer", "retrieved", "found"),
    [
        (None, None, "bad_type_answer"),
        (7, None, "bad_type_answer"),
        (b'{"citations": []}', None, "bad_type_answer"),
        ({1, 2}, None, "bad_type_answer"),
        ((one for one in ["c1"]), None, "bad_type_answer"),
        (["c1"], 7, "bad_type_retrieved"),
        (["c1"], "c1", "bad_type_retrieved"),
        (["c1"], b"c1", "bad_type_retrieved"),
        (["c1"], {"c1": chunk(1)}, "bad_type_retrieved"),
        (["c1"], (one for one in RETRIEVED), "bad_type_retrieved"),
    ],
    ids=range(10),
)
def test_what_is_no_answer_is_told_as_such(answer, retrieved, found):
    audit = VALIDATOR(answer, retrieved)
    assert (audit.code, audit.kind) == (found, "error")
    assert audit.findings[0].expected


# Depths.


def test_the_first_depth_looks_at_ids_alone():
    marker = CitationValidator(policy=Policy(depth="marker"))
    assert marker(["c1"], ["c1"]).ok
    assert marker(["c1"], [{"snippet_id": "c1"}]).ok
    assert marker([{"snippet_id": "c1", "rev": 7}], RETRIEVED).ok
    assert marker('{"answer": "Every year.", "citations": ["c1"]}', RETRIEVED[::-1]).ok
    assert codes(marker(["c1", "c9"], RETRIEVED)) == ["not_retrieved"]
    assert marker(["c1"]).ok, "nobody knows what was retrieved"
    assert not marker.examine(["c1"], RETRIEVED).complete


@pytest.mark.parametrize(
    ("citation", "found"),
    [
        ({}, "missing_snippet_id"),
        ({"section_id": "keys"}, "missing_snippet_id"),
        ({"snippet_id": " "}, "missing_snippet_id"),
        ("", "missing_snippet_id"),
        ({"snippet_id": 7}, "bad_type_snippet_id"),
        (7, "bad_type_citation"),
        (None, "bad_type_citation"),
        ([], "bad_type_citation"),
    ],
    ids=str,
)
@pytest.mark.parametrize("retrieved", [None, RETRIEVED], ids=["untold", "told"])
def test_a_citation_that_names_nothing_fails_every_depth(citation, found, retrieved):
    for depth in ("marker", "payload"):
        examined = CitationValidator(policy=Policy(depth=depth)).examine(
            ["c1", citation] if retrieved else [FIXTURE, citation], retrieved
        )
        assert found in codes(examined.audit)
        assert not holds_at(examined.audit, "marker")
        assert not examined.complete


def test_depths_hold_each_on_its_own():
    unknown = VALIDATOR(["c1", "c9"], RETRIEVED)
    assert not holds_at(unknown, "marker") and holds_at(unknown, "payload")
    stale = VALIDATOR(["c1"], [chunk(1, rev=None)])
    assert holds_at(stale, "marker") and not holds_at(stale, "payload")


@pytest.mark.parametrize("manifest", [{"hash": "2f7d9a"}, "index.json"])
def test_a_manifest_is_one_that_was_read(manifest):
    with pytest.raises(UsageError, match="expected a Manifest"):
        CitationValidator(manifest)


def test_the_last_depth_needs_documents():
    with pytest.raises(UsageError, match="give the frozen ones"):
        CitationValidator(policy=Policy(depth="text"))


# Joining.


def test_of_what_was_not_retrieved_no_more_is_said_than_that():
    for citation in ("c9", model_side(chunk(9))):
        audit = VALIDATOR([model_side(chunk(1)), citation], RETRIEVED)
        assert [(one.code, one.item) for one in audit.findings] == [("not_retrieved", 1)]


def test_a_whole_payload_that_was_not_retrieved_is_read_by_itself():
    audit = VALIDATOR([chunk(9, rev=None)], RETRIEVED)
    assert codes(audit) == ["missing_rev", "not_retrieved"]


def test_of_retrieved_ids_no_payload_is_known():
    audit = VALIDATOR([model_side(chunk(1))], ["c1", "c2"])
    assert audit.code == "missing_index_hash"
    assert holds_at(audit, "marker")


def test_every_citation_has_its_own_findings():
    broken = [chunk(1, rev=None), chunk(2), chunk(3, rev=None, k_pos=None)]
    found = VALIDATOR(["c1", "c2", "c3"], broken).findings
    assert [(one.code, one.item) for one in found] == [
        ("missing_rev", 0),
        ("missing_rev", 2),
        ("missing_k_pos", 2),
    ]
    assert all(one.tip == tip_of(one.code) for one in found)


def test_one_fault_does_not_hide_another():
    """Also rules over several citations, and the live index, look at what can be read."""
    retrieved = [
        chunk(1, rev=None, analyzer="other", section_id="keys"),
        chunk(2, embed_model=None, section_id="access", index_hash="old"),
    ]
    audit = CitationValidator(LIVE)(["c1", "c2", "c2"], retrieved)
    assert sorted(set(codes(audit)), key=rank_of) == [
        "missing_embed_model",
        "missing_rev",
        "cross_section_reuse",
        "mismatch_index_hash",
        "analyzer_mismatch",
        "duplicate_citation",
    ]


# The live index.


def test_a_payload_of_the_live_index_is_ok():
    assert CitationValidator(LIVE)(ANSWER, RETRIEVED).ok


@pytest.mark.parametrize("hash", ["2f7d9a", "faiss:2f7d9a", "store:v2:2f7d9a"])
@pytest.mark.parametrize("live", ["2f7d9a", "qdrant:2f7d9a"])
def test_the_name_of_a_store_is_no_part_of_the_hash(hash, live):
    validator = CitationValidator(Manifest(hash=live))
    assert validator(["c1"], [chunk(1, index_hash=hash)]).ok


def test_what_a_manifest_does_not_tell_is_not_compared():
    other = chunk(1, index_hash="x", analyzer="x", embed_model="x", rev="x")
    told = {
        "mismatch_index_hash": Manifest(hash="2f7d9a"),
        "mismatch_embed_model": Manifest(embedding="bge-large-en-v1.5:mean"),
        "analyzer_mismatch": Manifest(text_preproc="lowercase+ascii_fold"),
        "rev_mismatch": Manifest(doc_revs={"handbook_2024": "3b91f2a"}),
    }
    for found, manifest in told.items():
        assert codes(CitationValidator(manifest)(["c1"], [other])) == [found]
    assert codes(CitationValidator(LIVE)(["c1"], [other])) == list(told)
    objects = Manifest(text_preproc={"lower": True}, embedding={"name": "bge"})
    assert CitationValidator(objects)(["c1"], [other]).ok


def test_the_manifest_may_write_an_accent_as_its_own_character():
    live = Manifest(doc_revs={"cafe\u0301": "r1"})
    known = [chunk(1, doc_id="caf\u00e9", rev="r1")]
    assert CitationValidator(live)(["c1"], known).ok
    assert codes(CitationValidator(live)(["c1"], [{**known[0], "rev": "r2"}])) == ["rev_mismatch"]


def test_a_document_the_index_does_not_have_is_another_revision():
    audit = CitationValidator(LIVE)(["c1"], [chunk(1, doc_id="faq")])
    assert codes(audit) == ["rev_mismatch"]
    assert "faq" in audit.findings[0].expected


# Sections and segments.

ACCESS = chunk(2, section_id="access")
TWO_SECTIONS = [chunk(1, section_id="keys"), ACCESS]


def pairs(*written: tuple[str, str]) -> frozenset[frozenset[str]]:
    return frozenset(map(frozenset, written))


@pytest.mark.parametrize(
    ("allowed", "found"),
    [
        (frozenset(), "cross_section_reuse"),
        (pairs(("keys", "access")), "ok"),
        (pairs(("handbook_2024#keys", "access")), "ok"),
        (pairs(("faq#keys", "access")), "cross_section_reuse"),
        (pairs(("keys", "safe")), "cross_section_reuse"),
        (None, "ok"),
    ],
    ids=["none", "sections", "of a document", "of another", "another pair", "all"],
)
def test_one_section_a_segment_unless_the_pair_is_whitelisted(allowed, found):
    assert code(["c1", "c2"], TWO_SECTIONS, allow_cross_section=allowed) == found


def segmented(*segments: list[Any], citations: Any = ()) -> dict[str, Any]:
    parts = [{"text": f"Part {n}.", "citations": cited} for n, cited in enumerate(segments)]
    return {"citations": list(citations), "answer": "Both.", "segments": parts}


def test_each_segment_has_its_section():
    assert code(segmented(["c1"], ["c2"]), TWO_SECTIONS) == "ok"
    audit = VALIDATOR(segmented(["c1"], ["c1", "c2"]), TWO_SECTIONS)
    assert [(one.code, one.segment, one.item) for one in audit.findings] == [
        ("cross_section_reuse", 1, None)
    ]


def test_a_segment_without_a_citation_is_named():
    audit = VALIDATOR(segmented(["c1"], []), TWO_SECTIONS)
    assert [(one.code, one.segment) for one in audit.findings] == [("empty_citations", 1)]


def test_the_same_span_again_in_another_segment_is_no_repetition():
    assert code(segmented(["c1"], ["c1"]), TWO_SECTIONS) == "ok"
    audit = VALIDATOR(segmented(["c2"], ["c1", "c1"]), TWO_SECTIONS)
    assert [(one.code, one.segment, one.item) for one in audit.findings] == [
        ("duplicate_citation", 1, 1)
    ]


def test_segments_need_not_follow_the_scores():
    assert code(segmented(["c2"], ["c1"]), TWO_SECTIONS) == "ok"
    assert code(segmented([ACCESS], [chunk(1, section_id="keys")])) == "ok"
    assert code(segmented([chunk(2), chunk(1)])) == "bad_order"


def test_what_no_segment_cites_is_the_answers_own():
    audit = VALIDATOR(segmented(["c1"], citations=["c1", "c9", {"section_id": "x"}]), TWO_SECTIONS)
    assert [(one.code, one.segment, one.item) for one in audit.findings if one.item] == [
        *((f"missing_{name}", None, 2) for name in ("index_hash", "embed_model", "analyzer")),
        *((f"missing_{name}", None, 2) for name in ("rev", "doc_id", "offsets", "snippet_id")),
        *((f"missing_{name}", None, 2) for name in ("source_url", "tokens", "score", "k_pos")),
        ("not_retrieved", None, 1),
    ]


def test_a_segment_may_name_by_its_id_what_the_answer_describes():
    """Without anything retrieved, the answer's own list is where the payloads are."""
    whole = [chunk(1, section_id="keys"), ACCESS]
    examined = VALIDATOR.examine(segmented(["c1"], ["c2"], citations=whole))
    assert examined.audit.ok
    assert examined.ids == ("c1", "c2")
    lost = segmented(["c1"], ["c2"], citations=[whole[0], chunk(2, rev=None)])
    found = VALIDATOR(lost).findings
    assert [(one.code, one.segment, one.item) for one in found] == [("missing_rev", 1, 0)]


def test_what_the_answer_says_of_a_citation_that_a_segment_describes_is_read_too():
    said = {**model_side(TWO_SECTIONS[0]), "rev": "older"}
    answer = segmented([model_side(TWO_SECTIONS[0])], ["c2"], citations=[said, "c2"])
    examined = VALIDATOR.examine(answer, TWO_SECTIONS)
    found = examined.audit.findings
    assert [(one.code, one.segment, one.item) for one in found] == [("rev_mismatch", None, 0)]
    assert examined.ids == ("c1", "c2"), "counted once"
    same = segmented([model_side(ACCESS)], citations=[model_side(ACCESS)])
    assert VALIDATOR.examine(same, TWO_SECTIONS).ids == ("c2",)


# Units, order, and what is to be logged.


def test_one_answer_has_one_unit_and_so_has_a_run():
    tokens = chunk(2, offsets={"token_start": 4, "token_end": 9})
    assert code(["c1", "c2"], [chunk(1), tokens]) == "mixed_units"
    assert code(["c2"], [chunk(1), tokens]) == "ok", "only what is cited counts"
    assert code(["c2"], [chunk(1), tokens], unit="char") == "mixed_units"
    assert code(["c1"], [chunk(1), tokens], unit="char") == "ok"
    assert code(segmented(["c1"], ["c2"]), [chunk(1), tokens]) == "mixed_units"


def test_the_retrieved_list_keeps_the_order_law():
    assert code(["c1"], [chunk(2), chunk(1)]) == "bad_order"
    assert code(["c2", "c1"], RETRIEVED) == "ok", "the model may cite in any order"
    assert code([chunk(2), chunk(1)]) == "bad_order", "nothing else is known of the list"
    assert code(["c1"], [chunk(1), "c2", chunk(3)]) == "ok", "of an id no score is known"


def test_a_reranked_list_stands_in_another_order():
    found = [chunk(n, k_final=k, rerank_score=1 - k / 10) for n, k in ((3, 1), (1, 2), (2, 3))]
    assert code(["c3"], found) == "ok"
    bare = [{k: v for k, v in one.items() if k != "rerank_score"} for one in found]
    assert code(["c3"], bare) == "ok"
    assert code(["c3"], [chunk(3, k_pos=1), chunk(1, k_pos=3), chunk(2)]) == "bad_order"


def test_where_there_is_a_place_after_reranking_every_citation_logs_it():
    some = [chunk(1, k_final=1), chunk(2), chunk(3)]
    assert code(["c1"], some) == "ok"
    assert code(["c2"], some) == "missing_k_final"
    assert code(["c2"], [chunk(1), chunk(2)]) == "ok"
    assert code([chunk(1, k_final=1), chunk(2)]) == "missing_k_final"
    assert code([chunk(1, k_final=1), chunk(2, k_final=2)]) == "ok"


def test_either_score_will_do():
    assert code(["c1"], [chunk(1, score_norm=None, score_raw=3.5)]) == "ok"
    assert code(["c1"], [chunk(1, score_norm=None)]) == "missing_score"
    for bad in ({"score_norm": "high"}, {"score_norm": None, "score_raw": "high"}):
        audit = VALIDATOR(["c1"], [chunk(1, **bad)])
        assert [one.partition("_")[0] for one in codes(audit)] == ["bad"], "not missing as well"


# Cite first.


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"citations": ["c1"], "answer": "Every year."}', "ok"),
        ('{"answer": "Every year.", "citations": ["c1"]}', "cite_after_answer"),
        ('{"answer": "Every year [c1].", "citations": ["c1"]}', "ok"),
        ("citations: [c1]\nclaim: Every year.", "ok"),
        ("- claim: Every year.\n- citations: [c1]", "cite_after_answer"),
        ("Every year [c1].\ncitations: [c1]", "ok"),
    ],
)
def test_citations_only_after_the_answer_are_refused_in_raw_text(reply, found):
    assert code(reply, RETRIEVED) == found
    assert code(reply, RETRIEVED, cite_first=False) == "ok"
    assert code(reply, RETRIEVED, depth="marker") == "ok"


def test_the_order_of_decoded_keys_says_nothing():
    late = {"answer": "Every year.", "citations": ["c1"]}
    assert code(late, RETRIEVED) == "ok"
    assert code({**late, "extra": 1}, RETRIEVED) == "ok"


# Ids in other spellings.


def test_blanks_around_an_id_and_forms_of_an_accent_make_no_difference():
    retrieved = [chunk(1, snippet_id="caf\u00e9 1"), chunk(2, snippet_id="c2 ")]
    examined = VALIDATOR.examine(["cafe\u0301 1", " c2"], retrieved)
    assert examined.audit.ok
    assert examined.ids == ("caf\u00e9 1", "c2 "), "as they were retrieved"


def test_a_payload_may_have_an_id_of_its_store_besides():
    retrieved = [{**chunk(1), "id": "6f1c"}, {**chunk(2), "id": "7a2d"}]
    assert code(["c1", "c2"], retrieved) == "ok"
    assert code(["6f1c"], retrieved) == "not_retrieved"


# The quick way and the full way.


class Thorough(CitationValidator):
    """A validator that sees nothing at once."""

    def _clean(self, *_: Any) -> Examination | None:
        return None


field_values = st.sampled_from(
    [
        *(None, "", "c1", "c2", " c1", "other", 7, 0.5, True, -1, [], {}, [1, 2], [2, 1]),
        *(0.9, 0.8, 0.7, 1, 2, 3, float("nan"), "caf\u00e9", "cafe\u0301", {"start": 1, "end": 2}),
        *({"token_start": 1, "token_end": 5}, {"start": 1, "end": 5, "unit": "token"}, ["x"]),
    ]
)
changes = st.dictionaries(
    st.sampled_from([*FIXTURE, "id", "text", "quote", "colour"]), field_values, max_size=2
)
unchanged = st.just({})
chunks = st.builds(lambda n, c: chunk(n, **c), st.integers(1, 3), unchanged | unchanged | changes)
retrieved_lists = (
    st.none()
    | st.just(RETRIEVED)
    | st.lists(chunks | st.sampled_from(["c1", "c2", 7, None]), max_size=4)
)
citations = st.lists(
    st.one_of(
        st.sampled_from(["c1", "c2", "c3", "c9", " c1", "", 7, None]),
        st.builds(
            lambda n, c: {**model_side(chunk(n)), **c}, st.integers(1, 3), unchanged | changes
        ),
        chunks,
        st.builds(lambda n: read_payload(chunk(n)).citation, st.integers(1, 3)),
    ),
    max_size=3,
)
answers = st.one_of(
    citations,
    st.builds(lambda c: {"citations": c, "answer": "Every year."}, citations),
    st.builds(
        lambda c, parts: segmented(*parts, citations=c), citations, st.lists(citations, max_size=2)
    ),
    st.builds(
        lambda c, first: ParsedAnswer(answer="So.", citations=c, cites_first=first),
        citations,
        st.sampled_from([None, True, False]),
    ),
)
policies = st.builds(
    Policy,
    allow_cross_section=st.sampled_from([None, frozenset()]),
    unit=st.sampled_from([None, "char", "token"]),
    cite_first=st.booleans(),
)


@given(
    answer=answers,
    retrieved=retrieved_lists,
    policy=policies,
    manifest=st.sampled_from([None, LIVE]),
)
def test_the_fast_path_agrees_with_the_full_check(answer, retrieved, policy, manifest):
    quick = CitationValidator(manifest, policy).examine(answer, retrieved)
    full = Thorough(manifest, policy).examine(answer, retrieved)
    assert quick == full
    found = quick.audit
    assert found.code == (found.findings[0].code if found.findings else "ok")
    ranks = [rank_of(one.code) for one in found.findings]
    assert ranks == sorted(ranks)
    assert len(quick.cited) == len(quick.ids) or not quick.complete


@pytest.mark.parametrize(
    ("answer", "retrieved"),
    [
        (ANSWER, RETRIEVED),
        ([FIXTURE], None),
        (["c1", "c2"], RETRIEVED),
        (segmented(["c1"], ["c2"]), RETRIEVED),
        ({**ANSWER, "citations": [{**ANSWER["citations"][0], "quote": "Keys"}]}, RETRIEVED),
    ],
    ids=["object", "list", "ids", "segments", "quote"],
)
def test_answers_that_hold_go_the_quick_way(monkeypatch, answer, retrieved):
    """The two ways agree, so only one that cannot look closely shows which is taken."""
    monkeypatch.setattr("ragauge.citations.validator.Checking", None)
    assert VALIDATOR(answer, retrieved).ok


# Foreign objects.


class Hostile:
    """Fails in whatever way it is asked."""

    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("hostile")

    __eq__ = __hash__ = __str__ = __repr__ = __len__ = __iter__ = __getitem__ = _fail  # type: ignore[assignment]
    __lt__ = __bool__ = __getattr__ = keys = items = get = _fail


class HostileDict(dict[Any, Any]):
    """A dict in name."""

    def _fail(self, *_: Any) -> Any:
        raise KeyError("hostile")

    get = items = keys = values = __getitem__ = __iter__ = __contains__ = _fail  # type: ignore[assignment]


class HostileText(str):
    def strip(self, *_: Any) -> str:
        raise MemoryError("hostile")


def recursive() -> list[Any]:
    made: list[Any] = ["c1"]
    made.append(made)
    return made


def deep() -> list[Any]:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return made


FOREIGN = {
    "hostile": Hostile(),
    "hostile dict": HostileDict(snippet_id="c1"),
    "hostile text": HostileText("c1"),
    "recursive": recursive(),
    "deep": deep(),
    "generator": (one for one in "c1"),
    "huge": 10**5000,
    "nan": float("nan"),
    "bytes": b"\xff\xfe",
    "surrogate": "\ud800",
    "type": int,
    "set": {1, 2},
    "range": range(3),
    "bytearray": bytearray(b"c1"),
    "object of lists": {"citations": recursive(), "answer": recursive()},
    "object of hostility": {"citations": [Hostile()], "answer": Hostile()},
    "keys of all kinds": {1: 2, None: 3, (1,): [], "citations": {"a": HostileDict()}},
}
PLACES = {
    "the answer": lambda one: (one, RETRIEVED),
    "a citation": lambda one: (["c1", one], RETRIEVED),
    "a citation alone": lambda one: ([one], None),
    "citations": lambda one: ({"citations": one, "answer": "So."}, RETRIEVED),
    "the text": lambda one: ({"citations": ["c1"], "answer": one}, RETRIEVED),
    "segments": lambda one: ({"answer": "So.", "segments": one}, RETRIEVED),
    "a segment": lambda one: (segmented(["c1"], [one]), RETRIEVED),
    "retrieved": lambda one: (["c1"], one),
    "a chunk": lambda one: (["c1"], [chunk(1), one]),
    "a chunk cited": lambda one: (["c1"], [{**chunk(1), "rev": one}]),
    "offsets": lambda one: (["c1"], [chunk(1, offsets=one)]),
    "a score": lambda one: (["c1"], [chunk(1), chunk(2, score_norm=one)]),
    "an id": lambda one: ([{"snippet_id": one}], RETRIEVED),
    "a field": lambda one: ([{"snippet_id": "c1", "rev": one, "window": one}], RETRIEVED),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_object_makes_it_fail(place):
    for foreign, depth in product(FOREIGN.values(), ("marker", "payload")):
        answer, retrieved = PLACES[place](foreign)
        audit = CitationValidator(LIVE, Policy(depth=depth))(answer, retrieved)
        assert isinstance(audit, AnswerAudit)
        for finding in audit.findings:
            json.dumps([finding.got, finding.expected, finding.field], allow_nan=False).encode()
            assert tip_of(finding.code)


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["c1", "not in context", "citations: [c1]", '{"citations": ["c1"]', 1e300]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=3)
            | st.sampled_from([*FIXTURE, "id", "citations", "answer", "segments", "text", "error"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(answer=json_like, retrieved=json_like)
def test_nothing_that_json_can_say_makes_it_fail(answer, retrieved):
    audit = VALIDATOR(answer, retrieved)
    assert audit.ok == (not audit.findings)
    assert Thorough()(answer, retrieved) == audit


def test_many_threads_may_share_one_validator():
    cases = [
        (ANSWER, RETRIEVED),
        (json.dumps(ANSWER), RETRIEVED),
        (["c1", "c9"], RETRIEVED),
        ([model_side(FIXTURE)], None),
        ("not in context", None),
        (segmented(["c1"], ["c2"]), TWO_SECTIONS),
        (["c1", "c2"], TWO_SECTIONS),
        (7, 7),
    ] * 50
    validator = CitationValidator(LIVE)
    alone = [validator.examine(*case) for case in cases]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda case: validator.examine(*case), cases))
    assert together == alone


def test_what_is_given_is_left_as_it_was():
    answer, retrieved = json.loads(json.dumps(ANSWER)), json.loads(json.dumps(RETRIEVED))
    for depth in ("marker", "payload"):
        CitationValidator(LIVE, Policy(depth=depth))(answer, retrieved)
        Thorough(LIVE)(answer, retrieved)
    assert (answer, retrieved) == (ANSWER, RETRIEVED)
    assert isinstance(VALIDATOR.examine(answer, retrieved).cited[0], Citation)
