"""The true cause is named: the reference pipeline spoilt on purpose, on two sets of documents.

`benchmarks/diagnosis.py` does the same at all strengths and over many draws.
"""

from functools import cache

import pytest

from benchmarks.spoilt import CAUSES, handbook, heritage
from ragauge.contracts.run import Grid
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.faults import FAULTS
from ragauge.demo.pipeline import Pipeline
from ragauge.diagnosis.catalogue import rules
from ragauge.diagnosis.ranking import rank
from ragauge.runners.diagnosis.diagnose import diagnose_traces
from ragauge.runners.sweep import sweep
from ragauge.store.files import write_manifest

CORPORA = {"heritage": cache(heritage), "handbook": cache(handbook)}
DRAW = 7
"""None of those that the rules were written with."""
STRENGTH = 0.5

pytestmark = pytest.mark.slow


def ranked(corpus, *faults, draw=DRAW):
    return rank(CORPORA[corpus]().cases([f"{fault}={STRENGTH}" for fault in faults], draw))


def named(corpus, *faults, draw=DRAW):
    return [one.rule.id for one in ranked(corpus, *faults, draw=draw)]


def test_every_fault_that_spoils_answers_is_tried():
    assert set(FAULTS) - set(CAUSES) == {"slow"}
    assert set(CAUSES.values()) <= set(rules())
    assert len(CAUSES) >= 10


@pytest.mark.parametrize(("corpus", "first"), [("heritage", 1), ("handbook", 3)])
def test_the_true_cause_is_among_the_first(corpus, first):
    """First of all on one set, and among three on documents nobody looked at."""
    found = {fault: named(corpus, fault)[:first] for fault in CAUSES}
    assert {fault: ids for fault, ids in found.items() if CAUSES[fault] not in ids} == {}


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_sound_pipeline_has_no_likely_cause(corpus):
    for draw in range(1, 5):
        found = ranked(corpus, draw=draw)
        assert [one.rule.id for one in found if one.standing == "likely"] == []
        assert any(one.explains for one in found), "its few errors are seen all the same"


@pytest.mark.parametrize(
    "pair",
    [("narrow_recall", "chatty_refusals"), ("wrong_citations", "dropped_constraints")],
)
def test_two_faults_at_once_are_both_among_the_first_three(pair):
    assert {CAUSES[fault] for fault in pair} <= set(named("heritage", *pair)[:3])


def test_what_does_not_hold_is_struck_out():
    """The pipeline reranks, and its questions are found under other seeds as they were."""
    found = {one.rule.id: one for one in ranked("heritage", "narrow_recall")}
    assert found["cause.no_reranking"].standing == "struck_out"
    assert found["cause.calls_fail"].standing == "struck_out"


def test_the_diagnosis_claims_nothing_of_the_demo_without_a_fault(tmp_path):
    pipeline, runs, manifest = Pipeline.of(), tmp_path / "runs.jsonl", tmp_path / "manifest.json"
    write_manifest(manifest, pipeline.index.manifest)
    sweep(GOLD, pipeline, runs, grid=Grid(seeds=(0, 1), jitters=("none", "syn")))
    found = diagnose_traces(runs, GOLD, manifest=str(manifest), docs=str(DOCUMENTS))
    assert [one.id for one in found.causes if one.standing == "likely"] == []
