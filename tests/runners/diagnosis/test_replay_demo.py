"""Replays of the reference pipeline: what a fault spoils is repaired by what undoes it."""

import subprocess
import threading
from functools import cache

import pytest
from msgspec import structs

from ragauge.contracts.run import PlannedRun, Variation
from ragauge.demo import GOLD
from ragauge.demo.knobs import Knobs
from ragauge.demo.pipeline import Pipeline
from ragauge.diagnosis.cases import ObservedTrace
from ragauge.ingest.gold import read_gold
from ragauge.ingest.traces import read_trace
from ragauge.metrics.facts import Reader, Reading
from ragauge.pipelines.http import HttpSystem
from ragauge.runners.calling import ask_of
from ragauge.runners.diagnosis.replay_plan import Failing
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE
from tests.demo.test_serve import Served
from tests.runners.diagnosis.replaying import encoded, replayed, row

HOT = 0.7
TOP_K = {"top_k": 5}
READER = Reader(Reading())


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "replay.jsonl"


@cache
def pipeline(*faults):
    return Pipeline.of(knobs=Knobs(faults=faults))


@cache
def wrong(*faults):
    """The questions that the pipeline gets wrong with faults and right without, as they went."""
    sound = {one.id for one, right in asked() if right}
    return [one for one, right in asked(*faults) if not right and one.id in sound]


@cache
def asked(*faults):
    """Every question of the gold set as it was asked, and whether the answer was right."""
    return [
        _one(gold, pipeline(*faults), Variation(temperature=HOT)) for gold in read_gold(str(GOLD))
    ]


def _one(gold, system, variation):
    ask = ask_of(PlannedRun(gold.qid, variation, gold.question), {}, gold.constraints)
    trace = read_trace({**system.answer(ask), "qid": gold.qid})
    facts = READER.facts(READER.key(gold), trace)
    failing = Failing(
        id=gold.qid,
        gold=gold,
        question_sent=gold.question,
        variation=variation,
        retrieved_ids=trace.retrieved_ids,
    )
    return failing, ObservedTrace(id=gold.qid, gold=gold, facts=facts, variation=variation).right


UNDONE = {
    "paraphrase_sensitivity": "gold_in",
    "narrow_recall": "gold_in",
    "no_rerank": "gold_in",
    "noise_injected": "noise_out",
    "hot_sampling": "temperature_0",
}


@pytest.mark.parametrize("fault", UNDONE)
def test_what_undoes_the_fault_repairs_all_and_nothing_else_does(journal, fault):
    failing = wrong(f"{fault}=1")
    assert len(failing) > 10
    result = replayed(failing, pipeline(f"{fault}=1"), journal, knobs=TOP_K)
    undone = row(result, UNDONE[fault])
    assert undone.repaired == undone.asked == len(failing)
    others = [one for one in result.interventions if one is not undone]
    assert all(3 * one.repaired < one.asked for one in others)
    assert row(result, "again").repaired == 0
    assert {one.reason for one in result.interventions} == {None}


def test_a_pool_that_is_narrow_is_widened_by_a_greater_top_k(journal):
    result = replayed(wrong("narrow_recall=1"), pipeline("narrow_recall=1"), journal, knobs=TOP_K)
    wider = row(result, "top_k_doubled")
    assert wider.effective == wider.asked
    assert wider.repaired > 0


def test_what_no_change_undoes_is_repaired_by_none(journal):
    failing = wrong("ungrounded_generation=1")
    result = replayed(failing, pipeline("ungrounded_generation=1"), journal, budget=60)
    assert 10 <= result.chosen < len(failing)
    assert result.repaired_by == {}


def test_gold_that_the_index_does_not_hold_cannot_be_put_in(journal):
    lost = [
        structs.replace(one, gold=structs.replace(one.gold, gold_citations=("burnt#down",)))
        for one in wrong("noise_injected=1")
    ]
    one = row(replayed(lost, pipeline("noise_injected=1"), journal), "gold_in")
    assert (one.asked, one.failed) == (3, 3)
    assert one.reason.startswith(
        "the system rejects the parameter put_in: bad_request: knob put_in: no chunk 'burnt#down'"
    )


# Over real HTTP.


@pytest.fixture(scope="module")
def served():
    """The URL of a served pipeline that noise spoils."""
    with subprocess.Popen(
        [RAGAUGE, "demo", "serve", "--port", "0", "--fault", "noise_injected=1"],
        stderr=subprocess.PIPE,
        env=QUIET_ENVIRONMENT,
        text=True,
    ) as process:
        # A server that says nothing must not keep the tests waiting for ever.
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        try:
            demo = Served(process)
            demo.wait_until_ready()
            yield f"{demo.url}/qa"
        finally:
            watchdog.cancel()
            process.kill()


def test_a_served_pipeline_comes_to_the_same(served, tmp_path):
    failing = wrong("noise_injected=1")
    here = replayed(failing, pipeline("noise_injected=1"), tmp_path / "here")
    there = replayed(failing, HttpSystem(served), tmp_path / "there")
    assert there.system["kind"] == "http"
    assert encoded(structs.replace(there, system={})) == encoded(structs.replace(here, system={}))
    again = replayed(failing, HttpSystem(served), tmp_path / "there")
    assert again.resumed == again.calls == there.calls


def test_a_knob_that_a_server_does_not_know_is_refused_in_its_words(served, journal):
    failing = wrong("noise_injected=1")
    result = replayed(failing, HttpSystem(served), journal, knob_names={"put_in": "extra"})
    one = row(result, "gold_in")
    assert (one.asked, one.failed) == (3, 3)
    assert one.reason.startswith("the system rejects the parameter extra: http_400: Bad Request: ")
    assert "no knob 'extra'" in one.reason
    assert row(result, "noise_out").repaired == len(failing)
