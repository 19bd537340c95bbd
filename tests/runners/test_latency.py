"""Latency versus accuracy: an open loop over a real server, and what is made of its calls."""

import asyncio
import json
import statistics
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress

from ragauge.contracts.gold import Gold
from ragauge.contracts.latency import Guard, Load
from ragauge.contracts.metric import Facts, pattern_of
from ragauge.contracts.report import Score
from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.ingest.options import read_configurations
from ragauge.pipelines.http import HttpSystem
from ragauge.reports.figures.scatter import draw_scatter as plot
from ragauge.reports.rendering import render
from ragauge.runners.cells import Ended, Plan, Quality, cell_of, fronts, pareto, verdicts
from ragauge.runners.latency import arrival_times, latency, offered, planned_calls
from ragauge.runners.score import score
from ragauge.stats.trend import percentile, sample_needed, trend
from tests.runners.loaded_server import serving

close = pytest.approx

GOLD = [
    Gold(
        qid="q1",
        question="What is X?",
        answerable=True,
        gold_claim="X is a map.",
        gold_citations=("p1#1",),
    ),
    Gold(
        qid="q2",
        question="What is Y?",
        answerable=True,
        gold_claim="Y is a set.",
        gold_citations=("p2#1",),
    ),
    Gold(qid="q3", question="What is Z?", answerable=False),
]
REPLIES = {
    "What is X?": {"answer_json": {"claim": "X is a map.", "citations": ["p1#1"]}},
    "What is Y?": {"answer_json": {"claim": "Y is a set.", "citations": ["p9#9"]}},
    "What is Z?": {"answer": "not in context"},
}


@pytest.fixture
def server():
    with serving(REPLIES) as running:
        yield running


def measured(server, *, knobs, gold=GOLD, **options):
    load = Load(**{"rates": (20.0,), "duration_s": None, "requests": 6, "warmup": 0} | options)
    system = HttpSystem(server.url, concurrency=1000)
    return latency(system, load, gold=gold, knobs=knobs).report


# The open loop.


def test_a_queue_is_seen(server, tmp_path):
    """A server that takes 200 ms, one at a time, and is asked twenty times a second."""
    rows = tmp_path / "rows.jsonl"
    knobs = {"slow": {"wait_ms": 200, "alone": True}}
    load = Load(rates=(20.0,), duration_s=None, requests=16)
    system = HttpSystem(server.url, concurrency=1000)
    report = latency(system, load, gold=GOLD, knobs=knobs, out=str(rows)).report
    [cell] = report.cells
    waits = [row["latency_ms"] for row in map(json.loads, rows.read_text().splitlines())]
    first, last = statistics.median(waits[:2]), statistics.median(waits[-2:])
    assert last > 4 * first
    assert cell.p95_ms > 1500
    assert cell.kept_up is False
    assert cell.growth > 2
    assert cell.open_at_end >= 10
    assert cell.achieved_rate < 6
    assert report.finding_counts["fell_behind"] == 1
    assert max(asyncio.run(one_after_the_other(server, knobs["slow"], 4))) < cell.p95_ms / 3


async def one_after_the_other(server, knobs, times):
    """A closed loop on the same server, which never sees the queue."""
    system, waits = HttpSystem(server.url), []
    loop = asyncio.get_running_loop()
    for _ in range(times):
        start = loop.time()
        await system.ask(Ask(q="What is X?", knobs=knobs))
        waits.append((loop.time() - start) * 1000)
    await system.close()
    return waits


def test_a_server_at_its_ease_stays_as_fast_as_it_was(server):
    report = measured(server, knobs={"easy": {"wait_ms": 20}}, requests=16, rates=(8.0,))
    [cell] = report.cells
    assert cell.kept_up is True
    assert cell.answered == cell.sent == 16
    assert cell.p50_ms >= 20
    assert report.passed


def test_a_call_is_sent_at_its_time_whether_or_not_others_returned():
    """Ten calls, none of which is answered before the last was sent."""
    started = []

    async def run():
        everyone = asyncio.Event()

        async def ask(number):
            started.append(number)
            if len(started) == 10:
                everyone.set()
            await everyone.wait()

        ended = []
        open_at_end = await offered(ask, [number / 200 for number in range(10)], 30, ended.append)
        return open_at_end, ended

    open_at_end, ended = asyncio.run(run())
    assert started == list(range(10))
    assert open_at_end == 9
    assert len(ended) == 10


def test_latency_counts_from_the_intended_arrival():
    """The loop is held up for longer than three arrivals: those calls were not fast."""

    async def run():
        async def ask(number):
            if number == 0:
                time.sleep(0.3)

        ended = []
        await offered(ask, [0.0, 0.05, 0.1], 30, ended.append)
        return ended

    held, second, third = asyncio.run(run())
    assert second.latency_ms >= 245
    assert third.latency_ms >= 195
    assert second.sent_s - second.arrival_s >= 0.245
    assert held.sent_s < second.sent_s


def test_failures_of_any_kind_become_records():
    async def run():
        async def ask(number):
            if number == 0:
                raise CallFailed("http_500", "no")
            if number == 1:
                raise ValueError("odd")
            await asyncio.Event().wait()

        ended = []
        await offered(ask, [0, 0, 0], 0.05, ended.append)
        return sorted(ended, key=lambda call: call.number)

    kinds = [call.failure.kind for call in asyncio.run(run())]
    assert kinds == ["http_500", "ValueError", "timeout"]


@pytest.mark.parametrize("arrivals", ["even", "poisson"])
def test_arrivals_are_the_same_every_time(arrivals):
    times = arrival_times(50, duration_s=20, arrivals=arrivals, seed=3)
    assert times == arrival_times(50, duration_s=20, arrivals=arrivals, seed=3)
    assert times[0] == 0
    assert times == sorted(times)
    assert times[-1] < 20
    assert len(times) == close(1000, rel=0.1)
    assert len(arrival_times(50, requests=7, arrivals=arrivals)) == 7
    assert arrival_times(0.01, duration_s=1, arrivals=arrivals) == [0]


def test_poisson_gaps_are_exponential_and_follow_the_seed():
    times = arrival_times(10, requests=20_000, arrivals="poisson", seed=1)
    gaps = np.diff(times)
    assert gaps.mean() == close(0.1, rel=0.03)
    assert gaps.std() == close(0.1, rel=0.03)
    assert times != arrival_times(10, requests=20_000, arrivals="poisson", seed=2)


# What is asked, and what is made of the answers.


def test_knobs_reach_the_server_and_questions_are_asked_in_turn(server):
    knobs = {"small": {"k": 5}, "large": {"k": 40, "rerank": {"depth": 3}}}
    report = measured(server, knobs=knobs, requests=4, rates=(50.0, 100.0))
    assert [(cell.config, cell.rate) for cell in report.cells] == [
        ("small", 50), ("large", 50), ("small", 100), ("large", 100),
    ]  # fmt: skip
    one_cell = ["What is X?", "What is Y?", "What is Z?", "What is X?"]
    for config, start in (("small", 0), ("large", 4), ("small", 8), ("large", 12)):
        asked = server.asked[start : start + 4]
        assert [body["knobs"] for body in asked] == [knobs[config]] * 4
        assert sorted(body["q"] for body in asked) == sorted(one_cell)
    assert report.coverage.sent == report.coverage.answered == len(server.asked) == 16
    assert planned_calls(Load(rates=(50.0, 100.0), requests=4), knobs) == 16


def test_calls_that_warm_up_are_not_measured(server):
    report = measured(server, knobs={"a": {}, "b": {}}, requests=3, warmup=2)
    assert len(server.asked) == 2 * 2 + 2 * 3
    assert report.coverage.sent == 6


def test_precision_and_under_refusal_are_the_metrics_of_a_score(server, tmp_path):
    """The rows are traces: scored by themselves, each of them counted, they give the same."""
    rows, gold = tmp_path / "rows.jsonl", tmp_path / "gold.jsonl"
    load = Load(rates=(50.0,), duration_s=None, requests=10)
    report = latency(HttpSystem(server.url), load, gold=GOLD, out=str(rows)).report
    [cell] = report.cells
    gold.write_text("".join(json.dumps(_written(one)) + "\n" for one in GOLD))
    scored = score(gold, rows, each="trace").report.metrics
    for name, found in (
        ("quality.precision_cited", cell.precision),
        ("quality.under_refusal", cell.under_refusal),
    ):
        assert (found.value, found.n, found.of) == (
            scored[name].value, scored[name].n, scored[name].of,
        )  # fmt: skip
        assert found.ci == close(scored[name].ci)
    assert cell.precision.value == 4 / 7
    assert report.metrics["quality.precision_cited[default,50]"] == cell.precision


def _written(gold):
    return {
        "qid": gold.qid,
        "question": gold.question,
        "answerable": gold.answerable,
        "gold_claim": gold.gold_claim,
        "gold_citations": list(gold.gold_citations),
    }


def test_rows_say_what_was_asked_of_whom_and_when(server, tmp_path):
    rows = tmp_path / "rows.jsonl"
    load = Load(rates=(50.0,), duration_s=None, requests=2, warmup=0)
    knobs = {"good": {}, "bad": {"status": 503}}
    latency(HttpSystem(server.url), load, gold=GOLD, knobs=knobs, out=str(rows))
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["labels"]["config"], row["qid"]) for row in found] == [
        ("good", "q1"), ("good", "q2"), ("bad", "q1"), ("bad", "q2"),
    ]  # fmt: skip
    assert [row["labels"]["arrival_ms"] for row in found[:2]] == [0, 20]
    assert found[2]["status"] == "error"
    assert found[2]["error"].startswith("http_503: ")


def test_failed_calls_count_against_and_a_cell_of_them_has_no_numbers(server):
    knobs = {
        "base": {},
        "down": {"status": 503},
        "odd": {"reply": {"answer": 7}},
        "empty": {"reply": {"answer": " "}},
        "stuck": {"hang": True},
    }
    report = measured(server, knobs=knobs, timeout_s=0.3)
    kinds = {cell.config: cell.error_kinds for cell in report.cells}
    assert kinds == {
        "base": {},
        "down": {"http_503": 6},
        "odd": {"bad_reply": 6},
        "empty": {"empty_answer": 6},
        "stuck": {"timeout": 6},
    }
    down = report.cells[1]
    assert down.p50_ms is down.p95_ms is down.tail_ratio is down.precision.value is None
    assert down.reason == "every call failed: http_503 (6)"
    gates = {gate.metric: gate for gate in report.gates}
    assert gates["latency.errors[base,20]"].verdict == "pass"
    assert gates["latency.errors[down,20]"].verdict == "fail"
    assert gates["latency.p95_increase[down,20]"].verdict == "not_evaluated"
    assert not report.passed
    assert report.finding_counts["call_failed"] == 24
    assert report.fronts[0].left_out.keys() == {"down", "odd", "empty", "stuck"}


def test_one_question_without_gold_is_measured_for_speed_alone(server):
    load = Load(rates=(50.0,), duration_s=None, requests=12, warmup=0)
    system = HttpSystem(server.url)
    knobs = {"a": {}, "b": {}}
    guard = Guard(max_p95_increase=1000)
    report = latency(system, load, question="What is X?", knobs=knobs, guard=guard).report
    assert report.cells[0].precision.value is None
    assert "no gold set" in report.cells[0].precision.reason
    assert report.fronts == ()
    decided = {gate.metric: gate.verdict for gate in report.gates}
    assert decided["latency.precision_drop[b,50]"] == "not_applicable"
    assert report.passed
    assert " 50/s " in render(report, "text")


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"gold": GOLD, "question": "What is X?"}, "not both"),
        ({}, "give a gold set, or one question"),
        ({"gold": GOLD, "guard": Guard(baseline="b")}, 'baseline "b" is no configuration'),
        ({"gold": GOLD, "out": "no/such/folder/rows.jsonl"}, "cannot be written"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_a_call(server, options, fact):
    with pytest.raises(UsageError, match=fact):
        latency(HttpSystem(server.url), Load(rates=(1.0,), requests=1), **options)
    assert server.asked == []


# Made-up cells.


def ended(arrival_s, latency_ms, error=None, hit=True):
    facts = Facts(True, answered=True, hit=hit) if error is None else Facts(True, "error")
    return Ended(
        question=0,
        arrival_s=arrival_s,
        sent_s=arrival_s,
        ended_s=arrival_s + latency_ms / 1000,
        pattern=pattern_of(facts),
        error=error,
    )


def cell(config, latencies, *, rate=10.0, hits=None, errors=0, complete=True):
    calls = [
        ended(place / rate, wait, hit=hits is None or place < hits)
        for place, wait in enumerate(latencies)
    ]
    calls += [ended(0.0, 10.0, error="http_500") for _ in range(errors)]
    plan = Plan(config=config, rate=rate, times=tuple(range(len(calls))))
    quality = Quality(questions=1, reading="", gold=True)
    end = 0 if complete else None
    return cell_of(plan, calls, quality, sent=len(calls), open_at_end=end)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.integers(0, 100))
def test_percentiles_are_numpys(values, percent):
    ordered = sorted(values)
    assert percentile(ordered, percent) == close(np.percentile(ordered, percent), rel=1e-9)


def test_percentiles_of_few_answers_are_shown_and_marked():
    few, many = cell("few", range(1, 13)), cell("many", range(1, 101))
    assert few.p99_ms == close(np.percentile(range(1, 13), 99))
    assert few.unsure == {
        "p95_ms": "over 12 answers, where 20 are needed",
        "p99_ms": "over 12 answers, where 100 are needed",
    }
    assert many.unsure == {}
    assert many.tail_ratio == close(99.01 / 50.5, abs=1e-3)
    assert [sample_needed(percent) for percent in (50, 90, 95, 99)] == [2, 10, 20, 100]
    assert cell("none", []).unsure == {}


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(-50, 50)), min_size=3, max_size=20))
def test_the_trend_is_the_least_squares_line(points):
    at, values = zip(*points, strict=True)
    found = trend(at, values)
    if np.ptp(at) < 1e-3:
        return
    assert found.slope == close(np.polyfit(at, values, 1)[0], abs=1e-6, rel=1e-6)


def test_the_error_of_a_trend_is_the_textbooks():
    at, values = [0, 1, 2, 3, 5, 8], [1.0, 1.5, 1.1, 2.2, 2.9, 3.0]
    theirs = linregress(at, values)
    assert trend(at, values).slope == close(theirs.slope)
    assert trend(at, values).error == close(theirs.stderr)
    assert trend([1, 1, 1], [1, 2, 3]) is trend([1, 2], [1, 2]) is None


def test_growing_latency_is_told_from_noise():
    rng = np.random.default_rng(20)
    noise = rng.exponential(300, 100)
    assert cell("noisy", noise).kept_up is True
    growing = cell("growing", noise + 100 * np.arange(100))
    assert growing.kept_up is False
    assert growing.growth == close(1.0, abs=0.1)
    assert cell("few", [100, 5000]).kept_up is None
    waiting = [ended(place / 10, 50 + 60 * place, error="timeout") for place in range(20)]
    plan = Plan(config="late", rate=10, times=(0.0,) * 20)
    quality = Quality(questions=1, reading="", gold=True)
    assert cell_of(plan, waiting, quality, sent=20, open_at_end=19).kept_up is False


def beaten(point, points):
    """By the definition: some other is no worse in both, and better in one."""
    return any(other != point and other[0] <= point[0] and other[1] >= point[1] for other in points)


@given(
    st.dictionaries(
        st.text(max_size=3), st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8
    )
)
def test_the_front_is_what_nothing_beats(points):
    front = pareto(points)
    everyone = points.values()
    assert set(front) == {name for name in points if not beaten(points[name], everyone)}
    assert [points[name][0] for name in front] == sorted(points[name][0] for name in front)


def test_fronts_leave_out_what_failed():
    cells = [
        cell("fast", [10] * 20, hits=10),
        cell("good", [50] * 20, hits=18),
        cell("worse", [60] * 20, hits=18),
        cell("failing", [5] * 20, hits=20, errors=1),
        cell("gone", [], errors=20),
    ]
    [front] = fronts(cells, Guard())
    assert front.configs == ("fast", "good")
    assert front.left_out == {
        "failing": "1 of 21 calls failed",
        "gone": "every call failed: http_500 (20)",
    }
    [allowing] = fronts(cells, Guard(max_errors=0.05))
    assert allowing.configs == ("failing",)


@pytest.mark.parametrize(
    ("p95", "hits", "slower", "worse"),
    [
        (114, 90, "pass", "pass"),
        (115, 90, "pass", "pass"),
        (116, 90, "fail", "pass"),
        (100, 88, "pass", "pass"),
        (100, 87, "pass", "fail"),
        (50, 100, "pass", "pass"),
        (200, 10, "fail", "fail"),
    ],
)
def test_the_guard_stops_what_is_slower_or_less_precise_than_allowed(p95, hits, slower, worse):
    cells = [cell("base", [100] * 100, hits=90), cell("new", [p95] * 100, hits=hits)]
    gates = {gate.metric: gate for gate in verdicts(cells, "base", Guard())}
    assert gates["latency.p95_increase[new,10]"].verdict == slower
    assert gates["latency.precision_drop[new,10]"].verdict == worse
    assert "latency.p95_increase[base,10]" not in gates


def test_the_guard_says_which_and_by_how_much():
    cells = [cell("base", [100] * 100, hits=90), cell("new", [137] * 100, hits=80)]
    _, _, slower, worse = verdicts(cells, "base", Guard())
    assert slower.reason == "P95 137 ms against 100 ms: +37.0 %"
    assert worse.reason == "precision 0.800 against 0.900: -10.0 points"
    assert slower.value == close(0.37)
    allowed = verdicts(cells, "base", Guard(max_p95_increase=0.4, max_precision_drop=0.1))
    assert all(gate.holds for gate in allowed)
    turned = verdicts(cells, "new", Guard())
    assert all(gate.holds for gate in turned)


def test_what_was_interrupted_is_not_judged():
    cells = [cell("base", [100] * 20), cell("new", [900] * 5, complete=False)]
    gates = {gate.metric: gate.verdict for gate in verdicts(cells, "base", Guard())}
    assert gates["latency.p95_increase[new,10]"] == "not_evaluated"
    assert gates["latency.errors[new,10]"] == "not_evaluated"
    assert gates["latency.errors[base,10]"] == "pass"


def test_two_configurations_at_one_place_are_both_drawn():
    cells = [cell(name, [10] * 20) for name in ("one", "two")]
    drawing = "".join(plot(cells, {"one": "A", "two": "B"}, ("one", "two"), 60))
    assert "A" in drawing and "B" in drawing


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("[]", "expected an object such as"),
        ('{"k": 5}', '"k": expected an object of knobs, got a number'),
        ('{"": {}}', "has no name"),
        ('{"a": {}, "a": {}}', 'key "a" appears 2 times'),
        ("{", "not JSON"),
    ],
)
def test_knobs_that_are_no_configurations_are_refused(tmp_path, content, fact):
    path = tmp_path / "knobs.json"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        read_configurations(str(path))
    assert fact in str(caught.value)


def test_knobs_keep_the_order_of_their_file(tmp_path):
    path = tmp_path / "knobs.json"
    path.write_text('{"z": {"k": 1}, "a": {}}')
    assert list(read_configurations(str(path)).items()) == [("z", {"k": 1}), ("a", {})]


def test_scores_of_nothing_have_reasons():
    empty = cell("none", [])
    assert empty.precision == Score(
        value=None, n=0, of=0, reason="no call ended", signature=empty.precision.signature
    )
    assert empty.reason == "interrupted before it began"
