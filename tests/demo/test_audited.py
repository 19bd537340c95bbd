"""The reference pipeline passes its own audit, and each fault of citations fails at its depth."""

from __future__ import annotations

import json

import pytest

from ragauge.citations.validator import CitationValidator, Policy
from ragauge.contracts.audit import DEPTHS
from ragauge.contracts.system import Ask
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.ingest.manifest import read_manifest
from ragauge.store.documents import FolderDocuments
from ragauge.store.files import write_manifest

QUESTIONS = [json.loads(line)["question"] for line in GOLD.read_text("utf-8").splitlines()]
COMPARISON = "Did the Louvre or the Prado open to the public earlier?"
CAUGHT = {
    "invented_citations": ("marker", "not_retrieved"),
    "stale_payloads": ("payload", "mismatch_index_hash"),
    "drifted_offsets": ("text", "span_text_mismatch"),
}
"""The first depth that finds each fault, and the code it finds it with."""
UNSUPPORTED: dict[str, set[str]] = {
    "narrow_recall": set(),
    "no_rerank": set(),
    "noise_injected": set(),
    "hot_sampling": set(),
    "over_refusal": set(),
    "lax_refusal": set(),
    "ungrounded_generation": {"unsupported"},
    "padded_answers": {"misattributed"},
}
"""Faults of other things than citations, whose pointers hold: what is found only when claims are
compared with what they cite."""


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.of()


@pytest.fixture(scope="module")
def manifest(pipeline, tmp_path_factory):
    """The manifest as whoever audits has it: from a file the index build wrote."""
    file = tmp_path_factory.mktemp("index") / "manifest.json"
    write_manifest(file, pipeline.index.manifest)
    return read_manifest(str(file))


@pytest.fixture(scope="module")
def validators(manifest):
    documents = FolderDocuments(DOCUMENTS, manifest)
    return {depth: CitationValidator(manifest, Policy(depth=depth), documents) for depth in DEPTHS}


def audit(validator, reply):
    answer = {**reply["answer_json"], "segments": reply.get("segments", [])}
    return validator(answer, reply["retrieved"])


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("knobs", [{}, {"rerank": False}, {"knee": False}], ids=str)
def test_every_answer_holds_at_every_depth(pipeline, validators, depth, knobs):
    kinds = set()
    for question in QUESTIONS:
        reply = pipeline.answer(Ask(q=question, seed=1, temperature=0.5, knobs=knobs))
        made = audit(validators[depth], reply)
        assert made.ok, (question, made.findings)
        kinds.add(made.kind)
    assert kinds == {"answer", "refusal"}


def test_text_depth_really_compares(pipeline, validators):
    reply = pipeline.answer(Ask(q=COMPARISON))
    answer = {**reply["answer_json"], "segments": reply["segments"]}
    assert validators["text"].examine(answer, reply["retrieved"]).compared == 2


def test_a_comparison_cites_a_section_a_segment_and_would_not_pass_as_one(pipeline, validators):
    reply = pipeline.answer(Ask(q=COMPARISON))
    assert len(reply["segments"]) == len(reply["answer_json"]["citations"]) == 2
    assert audit(validators["text"], reply).ok
    in_one = validators["payload"](reply["answer_json"], reply["retrieved"])
    assert in_one.code == "cross_section_reuse"


@pytest.mark.parametrize("fault", CAUGHT)
def test_a_fault_is_caught_at_its_depth_and_not_before(pipeline, validators, fault):
    depth, code = CAUGHT[fault]
    answered = 0
    for question in QUESTIONS:
        reply = pipeline.answer(Ask(q=question, knobs={"faults": [f"{fault}=1"]}))
        made = {name: audit(validators[name], reply) for name in DEPTHS}
        if made["marker"].kind == "refusal":
            assert all(one.ok for one in made.values())
            continue
        answered += 1
        for name in DEPTHS[: DEPTHS.index(depth)]:
            assert made[name].ok, (question, made[name].findings)
        for name in DEPTHS[DEPTHS.index(depth) :]:
            assert code in {finding.code for finding in made[name].findings}, question
    assert answered > 30


@pytest.mark.parametrize("fault", UNSUPPORTED)
def test_the_pointers_of_other_faults_hold_and_support_what_they_can(pipeline, validators, fault):
    found = set()
    for question in QUESTIONS:
        ask = Ask(q=question, seed=1, temperature=0.5, knobs={"faults": [f"{fault}=1"]})
        reply = pipeline.answer(ask)
        for depth in ("marker", "payload", "text"):
            assert audit(validators[depth], reply).findings == ()
        found |= {finding.code for finding in audit(validators["support"], reply).findings}
    assert found == UNSUPPORTED[fault]


def test_an_answer_without_citations_is_found_at_once(pipeline, validators):
    reply = pipeline.answer(Ask(q=COMPARISON, knobs={"faults": ["uncited=1"]}))
    assert audit(validators["marker"], reply).code == "empty_citations"


def test_mixed_sections_are_found_as_what_they_are_and_nothing_else(pipeline, validators):
    struck = 0
    for question in QUESTIONS:
        reply = pipeline.answer(Ask(q=question, knobs={"faults": ["mixed_sections=1"]}))
        assert audit(validators["marker"], reply).ok
        found = {finding.code for finding in audit(validators["text"], reply).findings}
        assert found <= {"cross_section_reuse"}
        struck += bool(found)
    assert struck > 20


def test_how_far_offsets_drifted_is_told(pipeline, validators):
    reply = pipeline.answer(Ask(q=COMPARISON, knobs={"faults": ["drifted_offsets=1"]}))
    true = pipeline.answer(Ask(q=COMPARISON))["retrieved"][0]["offsets"]
    [first, _] = audit(validators["text"], reply).findings
    assert str(true["start"]) in str(first.expected)


def test_a_stale_revision_is_named_beside_the_hash(pipeline, validators):
    reply = pipeline.answer(Ask(q=COMPARISON, knobs={"faults": ["stale_payloads=1"]}))
    codes = {finding.code for finding in audit(validators["payload"], reply).findings}
    assert codes == {"mismatch_index_hash", "rev_mismatch"}
