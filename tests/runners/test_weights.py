"""A sample's scores are its population's, once its questions say how many they stand for."""

import json

import numpy as np
import pytest
from msgspec import structs

from ragauge import score, stability
from ragauge.contracts.metric import Absent, Metric, ratio
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find
from ragauge.runners.evaluation import scored
from ragauge.stats.intervals import mean_of_shares, weighted_share, wilson


def files(folder, rows):
    """A gold set of (weight, right) and the traces of a system that is right where it says so."""
    gold, traces = folder / "gold.jsonl", folder / "traces.jsonl"
    with gold.open("w") as questions, traces.open("w") as answers:
        for number, (weight, right) in enumerate(rows):
            qid = f"q{number}"
            question = {
                "qid": qid,
                "question": f"What is {number}?",
                "answerable": True,
                "gold_claim_substr": ["yes"],
                "gold_citations": ["c"],
                "weight": weight,
            }
            answer = {"claim": "yes" if right else "no", "citations": ["c" if right else "d"]}
            trace = {"qid": qid, "retrieved_ids": ["c", "d"], "answer_json": answer}
            questions.write(json.dumps(question) + "\n")
            answers.write(json.dumps(trace) + "\n")
    return gold, traces


def test_each_question_counts_as_many_times_as_it_stands_for(tmp_path):
    gold, traces = files(tmp_path, [(30, True), (10, False), (10, False)])
    found = score(gold, traces).report.metrics["quality.precision_cited"]
    assert found.value == pytest.approx(30 / 50)
    assert (found.n, found.of) == (3, 3)
    assert "|weighted|" in found.signature


def test_weights_of_one_change_no_byte(tmp_path):
    gold, traces = files(tmp_path, [(1, True), (1.0, False)])
    weighted = score(gold, traces).report
    bare = gold.read_text().replace(', "weight": 1.0', "").replace(', "weight": 1', "")
    assert "weight" not in bare
    gold.write_text(bare)
    assert score(gold, traces).report == weighted


def test_a_sweep_is_weighted_too(tmp_path):
    gold, traces = files(tmp_path, [(30, True), (10, False), (10, False)])
    found = stability(gold, [traces, traces]).report.metrics["stability.acr"]
    assert found.value == pytest.approx(30 / 50)
    assert "|weighted|" in found.signature


def test_a_weight_that_is_none_has_words(tmp_path):
    gold, traces = files(tmp_path, [(1, True)])
    for bad in ("0", "-2", "true", '"3"', "1e999"):
        gold.write_text(gold.read_text().partition('"weight"')[0] + f'"weight": {bad}}}\n')
        with pytest.raises(Exception, match=r"gold\.jsonl:1: .*"):
            score(gold, traces)


def test_equal_weights_are_none():
    yes, of = np.array([1, 0, 1, 1]), np.ones(4, dtype=np.int64)
    assert weighted_share(yes, of, np.full(4, 2.5)) == pytest.approx(wilson(0.75, 3), abs=1e-12)
    shares = np.array([0.2, 0.9, 1.0, 0.4])
    assert mean_of_shares(shares, weights=np.full(4, 2.5)) == pytest.approx(mean_of_shares(shares))


def test_the_weighted_interval_covers_the_population():
    """Equal allocation from two unequal strata, drawn often: the interval holds the truth."""
    generator = np.random.default_rng(5)
    sizes, rates, drawn = (9_000, 1_000), (0.9, 0.3), 60
    truth = np.average(rates, weights=sizes)
    weights = np.repeat([size / drawn for size in sizes], drawn)
    of = np.ones(2 * drawn, dtype=np.int64)
    covered = 0
    for _ in range(1_000):
        yes = (generator.random(2 * drawn) < np.repeat(rates, drawn)).astype(np.int64)
        low, high = weighted_share(yes, of, weights)
        covered += low <= truth <= high
    assert 930 <= covered <= 985


def test_clusters_that_do_not_vary_count_once_each():
    """Each question is half right: there is no variance to be worth anything by."""
    yes, of = np.array([1, 1, 1]), np.array([2, 2, 2])
    weights = np.array([1.0, 2.0, 3.0])
    assert weighted_share(yes, of, weights) == pytest.approx(wilson(0.5, 36 / 14))


def test_a_metric_that_is_no_rate_is_weighted_where_it_applies():
    metric = Metric(
        id="acme.length",
        version=1,
        better="higher",
        bounds=(0, None),
        unit="question",
        columns=("length", "of"),
        needs=frozenset(),
        measure=lambda facts: Absent("never called"),
        finish=ratio,
        rate=False,
        doc="",
    )
    rows = np.array([[4, 1], [0, 0], [10, 1], [6, 1]])
    sums = Sums(metric, rows, rows[:, 1], np.ones(4, dtype=np.int64), {"refused": 1})
    found = scored(sums, "acme", weights=np.array([1.0, 50.0, 2.0, 1.0]))
    assert found.value == pytest.approx((4 + 20 + 6) / 4)
    assert found.ci[0] < found.value < found.ci[1]


def test_questions_that_do_not_vary_have_no_interval_by_resampling():
    rows = np.array([[5, 1], [5, 1]])
    metric = structs.replace(find("stability.css"), finish=ratio, bounds=(0, None))
    sums = Sums(metric, rows, rows[:, 1], np.ones(2, dtype=np.int64), {})
    found = scored(sums, "acme")
    assert (found.value, found.ci) == (5.0, None)
    assert "|ci:none,all 2 rows are equal" in found.signature
