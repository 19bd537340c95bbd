"""Which units and metrics of two runs are compared, and how much each unit counts."""

import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from ragauge import score, stability
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.table import find
from ragauge.runners.compare import compare
from ragauge.runners.recording import record as recorded
from tests.runners.recorded import HITS, PRECISION, START, ones, questions, record
from tests.runners.test_weights import files

OVER, COMPLIANCE = "quality.over_refusal", "quality.compliance"


def weighted_runs(tmp_path, history, measure):
    """Two runs of a system over a sample of sixty, recorded as `ragauge score --record` would."""
    rng = np.random.default_rng(4)
    weights = rng.choice([1.5, 10 / 3, 30], 60).tolist()
    found = []
    for minute, chance in enumerate((0.9, 0.6)):
        right = (rng.random(60) < chance).tolist()
        gold, traces = files(tmp_path, list(zip(weights, right, strict=True)))
        made = START + timedelta(minutes=minute)
        found.append(recorded(measure(gold, traces), history, name="s", recorded_at=made))
    return found


def twice(gold, traces):
    """The stability of a system that answers every question twice, under two seeds."""
    lines = [json.loads(line) for line in Path(traces).read_text().splitlines()]
    runs = [{**line, "seed": seed} for line in lines for seed in (0, 1)]
    Path(traces).write_text("".join(json.dumps(run) + "\n" for run in runs))
    return stability(gold, traces)


@pytest.mark.parametrize("measure", [score, twice])
def test_a_sample_is_compared_as_what_it_stands_for(tmp_path, history, measure):
    before, after = weighted_runs(tmp_path, history, measure)
    report = compare(history, before.id, after.id)
    told = {id: one for id, one in report.compared.items() if one.change is not None}
    assert len(told) > 3
    for id, one in told.items():
        assert "weighted" in after.record.metrics[id].signature
        assert one.before == pytest.approx(before.record.metrics[id].value, abs=1e-12)
        assert one.after == pytest.approx(after.record.metrics[id].value, abs=1e-12)
        assert one.n <= 60
    assert "weights_unused" not in report.finding_counts


def test_a_heavy_question_counts_as_often_as_it_stands_for(history):
    """Forty light questions are mended and ten heavy ones break: the population lost."""
    gold = [
        structs.replace(one, weight=50.0 if p < 10 else 1.0) for p, one in enumerate(questions(60))
    ]
    before, after = ones(60, range(10, 50)), ones(60, range(10))
    how = "canon:unicode|refusal:exact|each:question|weighted"
    for minute, values in enumerate((before, after)):
        record(history, {HITS: values}, gold=gold, how=how, minute=minute)
    one = compare(history, "latest", "latest").compared[HITS]
    assert one.before == pytest.approx(510 / 550)
    assert one.after == pytest.approx(50 / 550)
    assert one.n == 60
    assert one.change < 0 and one.effect < 0
    plain = [structs.replace(question, weight=None) for question in gold]
    for minute, values in enumerate((before, after)):
        record(history, {HITS: values}, gold=plain, minute=10 + minute)
    assert compare(history, "latest", "latest").compared[HITS].change > 0


def test_tests_that_know_no_weights_are_refused(tmp_path, history):
    before, after = weighted_runs(tmp_path, history, score)
    with pytest.raises(UsageError, match=r"--method t knows no weights.*leave the method out"):
        compare(history, before.id, after.id, method="t")


def test_a_metric_absent_in_a_run_has_its_reason(history):
    both = {HITS: ones(20), PRECISION: [None] * 20, COMPLIANCE: [None] * 20}
    record(history, both, minute=0)
    record(history, {**both, PRECISION: ones(20)}, minute=1)
    found = compare(history, "latest", "latest").compared
    assert found[PRECISION].verdict == "not_comparable"
    assert found[PRECISION].reason == "nothing to score in the run before"
    assert (found[PRECISION].before, found[PRECISION].after) == (None, 1.0)
    assert found[COMPLIANCE].reason == "nothing to score in either run"


def test_a_metric_of_a_missing_plug_in_is_compared_by_its_mean(history):
    record(history, {"acme.tone": [0.2] * 30}, counts={"acme.tone": [(1, 5)] * 30}, minute=0)
    record(history, {"acme.tone": [0.4] * 30}, counts={"acme.tone": [(2, 5)] * 30}, minute=1)
    report = compare(history, "latest", "latest")
    assert report.compared["acme.tone"].change == pytest.approx(0.2)
    [finding] = report.findings
    assert finding.code == "metric_not_installed"
    assert "plug-in" in finding.message


def test_a_metric_of_another_version_than_the_installed_is_compared_by_its_mean(history):
    other = find(HITS).version + 1
    for minute in (0, 1):
        record(history, {HITS: ones(20)}, versions={HITS: other}, minute=minute)
    report = compare(history, "latest", "latest")
    assert f"was recorded as version {other}" in report.findings[0].message


def test_metrics_are_named_in_full_or_without_their_family(history):
    both = {HITS: ones(20), COMPLIANCE: ones(20)}
    record(history, both, minute=0)
    record(history, both, minute=1)
    for name in (HITS, "citation_hit_rate"):
        assert list(compare(history, "latest", "latest", metrics=(name,)).compared) == [HITS]
    with pytest.raises(UsageError, match='did you mean "citation_hit_rate"') as found:
        compare(history, "latest", "latest", metrics=("citation_hits_rate", "zzz"))
    assert len(found.value.problems) == 2


def test_a_metric_only_one_run_has_is_not_comparable(history):
    record(history, {HITS: ones(20), COMPLIANCE: ones(20)}, minute=0)
    record(history, {HITS: ones(20), OVER: [0.0] * 20}, minute=1)
    report = compare(history, "latest", "latest", gate="no-regression", metrics=("all",))
    assert report.compared[COMPLIANCE].reason == "the run after does not have it"
    assert OVER not in report.compared
    assert report.finding_counts == {"new_metric": 1, "not_comparable": 1}
    assert not report.passed


def test_units_of_one_run_only_are_counted_and_left_out(history):
    gold = questions(40)
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(30)}, gold=gold[:30], minute=1)
    with pytest.raises(InputRejected, match="30 questions mean the same in both"):
        compare(history, "latest", "latest")
    coverage = compare(history, "latest", "latest", allow=("gold",)).coverage
    assert (coverage.both, coverage.only_before, coverage.only_after) == (30, 10, 0)
