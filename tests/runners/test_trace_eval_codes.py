"""Codes before knobs: what a trace evaluation says of citations that do not hold."""

from __future__ import annotations

import msgspec
import pytest

from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.gates.presets import WITH_GOLD
from ragauge.runners.trace_eval import trace_eval
from ragauge.runners.trace_eval_report import MATCH_TARGET
from tests.runners.traced_system import (
    ALL_STATES,
    question,
    report_of,
    value,
    write_handbook,
)

# Codes before knobs.


def drifted(ask, said):
    """The offsets of what is retrieved are three characters off, under one seed."""
    if ask.seed:
        for chunk in said.get("retrieved", ()):
            chunk["offsets"]["start"] += 3
            chunk["offsets"]["end"] += 3
    return said


def test_below_the_target_codes_come_first_and_no_knob_is_advised(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    script = {"steady": ["a<ab"] * 6, "lost": ALL_STATES["lost"]}
    broken = report_of(tmp_path, script, change=drifted, docs=docs, manifest=manifest)
    assert value(broken, "match_rate") == 4 / 12
    assert broken.codes_first
    assert [(one.code, one.answers, one.findings) for one in broken.codes] == [
        ("span_text_mismatch", 6, 6)
    ]
    assert [one.id for one in broken.advice] == ["traceability.does_not_hold"]
    mended = report_of(tmp_path, script, out="mended.jsonl", docs=docs, manifest=manifest)
    assert value(mended, "match_rate") == 8 / 12
    assert (mended.codes, mended.codes_first) == ((), False)
    assert {one.id for one in mended.advice} == {
        "traceability.retrieval_varies",
        "traceability.shown_not_cited",
        "traceability.target_cut",
    }


def test_codes_beside_a_match_rate_that_is_reached_withhold_nothing(tmp_path):
    script = {f"q{n}": ["a<ab"] * 6 for n in range(4)} | {"spoilt": ["<ab"] + ["a<ab"] * 5}
    report = report_of(tmp_path, script)
    assert value(report, "match_rate") == 29 / 30 >= MATCH_TARGET
    assert not report.codes_first
    assert [one.code for one in report.codes] == ["empty_citations"]
    assert {one.id for one in report.advice} == {
        "traceability.answers_vary",
        "traceability.does_not_hold",
    }


def test_codes_come_first_where_nobody_can_tell_the_match_rate(tmp_path):
    bare = {name: v for name, v in question("q").items() if name != "gold_citations"}
    report = report_of(tmp_path, {"q": ["a<ab"] * 5 + ["d<ab"]}, questions=[bare])
    assert value(report, "match_rate") is None
    assert report.codes_first
    assert [one.code for one in report.codes] == ["not_retrieved"]


def test_the_target_is_that_of_the_gate():
    assert f"traceability.match_rate >= {MATCH_TARGET}" == WITH_GOLD


def test_a_finding_names_its_run(tmp_path):
    docs, manifest = write_handbook(tmp_path)
    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, change=drifted, docs=docs, manifest=manifest)
    assert [(one.code, one.where, one.qid) for one in report.findings] == [
        ("span_text_mismatch", f"q#seed=1;t=0.2;j=none;p={wording}", "q") for wording in range(3)
    ]


def test_offsets_of_one_evaluation_are_all_in_one_unit(tmp_path):
    """Each answer is in one unit, and yet the two do not go together."""

    def in_tokens(ask, said):
        for chunk in said["retrieved"] if ask.q.startswith("other") else ():
            chunk["offsets"] = {"start": 0, "end": 12, "unit": "token"}
        return said

    script = {"first": ["a<ab"] * 6, "other": ["a<ab"] * 6}
    report = report_of(tmp_path, script, change=in_tokens)
    assert {one.qid: set(one.codes) for one in report.questions} == {
        "first": set(),
        "other": {"mixed_units"},
    }


def test_citations_given_as_objects_are_audited_as_they_were_given(tmp_path):
    """The journal keeps more of them than their ids."""

    def pointing(ask, said):
        url = "https://example.org/elsewhere" if ask.seed else "https://example.org/handbook#keys"
        said["answer_json"]["citations"] = [{"snippet_id": "a", "source_url": url}]
        return said

    report = report_of(tmp_path, {"q": ["a<ab"] * 6}, change=pointing)
    assert report.questions[0].codes == {"mismatch_source_url": 3}


# The bundled pipeline, whole and with its faults.

FAULTS = {
    "stale_payloads": {"mismatch_index_hash", "rev_mismatch", "missing_document"},
    "drifted_offsets": {"span_text_mismatch"},
    "invented_citations": {"not_retrieved"},
    "wrong_citations": {"not_retrieved", "misattributed", "span_text_mismatch"},
}


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline.of()


@pytest.fixture(scope="module")
def few_questions(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "gold.jsonl"
    path.write_text("".join(GOLD.read_text("utf-8").splitlines(keepends=True)[:12]))
    return path


def asked_demo(folder, pipeline, gold, *faults):
    manifest = folder / "manifest.json"
    manifest.write_bytes(msgspec.json.encode(pipeline.index.manifest))
    found = trace_eval(
        gold,
        pipeline,
        folder / "runs.jsonl",
        docs=DOCUMENTS,
        manifest=manifest,
        asking={"knobs": {"faults": [f"{fault}=1" for fault in faults]}},
    )
    return found.outcome.report


def test_the_citations_of_the_demo_hold_at_every_depth(tmp_path, pipeline, few_questions):
    report = asked_demo(tmp_path, pipeline, few_questions)
    assert value(report, "valid") == value(report, "match_rate") == value(report, "text") == 1
    assert report.codes == ()


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_the_demo_is_found_by_its_codes(tmp_path, pipeline, few_questions, fault):
    report = asked_demo(tmp_path, pipeline, few_questions, fault)
    found = {one.code for one in report.codes}
    assert found & FAULTS[fault]
    assert found <= FAULTS[fault]
    assert report.codes_first
    assert [one.id for one in report.advice] == ["traceability.does_not_hold"]
    assert value(report, "match_rate") < MATCH_TARGET


def test_retrieval_that_changes_with_the_seed_is_located_there(tmp_path, pipeline, few_questions):
    report = asked_demo(tmp_path, pipeline, few_questions, "unstable_retrieval")
    broken = [one.broken for one in report.questions]
    assert broken.count("retrieval") > broken.count("after retrieval")
    assert report.advice[0].id == "traceability.retrieval_varies"
