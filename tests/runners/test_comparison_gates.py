"""Gates on a comparison, and the run it is held against."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ragauge.contracts.history import NewRun
from ragauge.contracts.report import Rule
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.rules import satisfies
from ragauge.reports.rendering import render
from ragauge.runners.compare import compare
from ragauge.store.history import open_history
from tests.runners.recorded import HITS, PRECISION, ones, questions, record, two

OVER, COMPLIANCE = "quality.over_refusal", "quality.compliance"


def gate_of(history, before, after, **options):
    report = two(history, before, after, **options)
    [gate] = report.gates
    return report, gate


def test_no_regression_fails_what_is_worse_and_passes_what_cannot_be_told(history):
    report, gate = gate_of(history, ones(60), ones(60, range(9)), gate="no-regression")
    assert (report.passed, gate.verdict) == (False, "fail")
    assert gate.rule == f"{HITS}>=0 no-regression"
    assert gate.value == pytest.approx(-9 / 60)
    report, gate = gate_of(history, ones(60), ones(60, range(2)), gate="no-regression")
    assert (report.passed, gate.verdict) == (True, "pass")
    assert gate.reason.startswith("cannot tell; with n = 60 a loss of 0.")
    report, gate = gate_of(history, ones(60, range(9)), ones(60), gate="no-regression")
    assert (report.passed, gate.reason) == (True, None)


def test_no_regression_lets_a_loss_inside_the_margin_pass(history):
    before, after = ones(60), ones(60, range(9))
    report, gate = gate_of(history, before, after, gate="no-regression", margins=("0.2",))
    assert (report.compared[HITS].verdict, gate.verdict) == ("cannot_tell", "pass")
    assert gate.reason == "a loss, but whether it is beyond the margin cannot be told"
    assert (gate.value, gate.bound) == (pytest.approx(-9 / 60), -0.2)


COUNTS = st.integers(0, 30)


@given(COUNTS, COUNTS, st.sampled_from([None, 0.02, 0.1, 0.3]), st.sampled_from([HITS, OVER]))
@pytest.mark.parametrize("gate", ["no-regression", "not-worse"])
def test_value_and_bound_of_a_gate_give_its_verdict(tmp_path_factory, gate, fell, rose, margin, id):
    if gate == "not-worse" and margin is None:
        return
    history = open_history(str(tmp_path_factory.mktemp("gates") / "store"))
    options = {"gate": gate, "margins": () if margin is None else (str(margin),)}
    before = [1.0] * fell + [0.0] * rose + [1.0] * 60
    after = [0.0] * fell + [1.0] * rose + [1.0] * 60
    report = two(history, before, after, id, **options)
    [found] = report.gates
    rule = Rule(metric=id, op=found.op, bound=found.bound)
    assert (found.verdict == "pass") == satisfies(rule, found.value)
    assert (found.verdict == "fail") >= (report.compared[id].verdict == "worse")
    if gate == "no-regression":
        assert (found.verdict == "fail") == (report.compared[id].verdict == "worse")
    history.close()


def test_where_ranks_and_means_part_the_gate_is_not_evaluated(history):
    """Most fell a little and few rose by much: worse by ranks, and the mean rose."""
    before, after = [0.5] * 30 + [0.05] * 3, [0.49] * 30 + [0.95] * 3
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    report = compare(history, "latest", "latest", method="wilcoxon", gate="no-regression")
    assert report.compared["acme.tone"].verdict == "worse"
    [found] = report.gates
    assert (found.verdict, found.value) == ("not_evaluated", None)
    assert "by ranks it is worse, while the mean did not fall" in found.reason


def test_not_worse_demands_proof(history):
    before, after = ones(80, range(6)), ones(80, range(3, 12))
    options = {"gate": "not-worse", "margins": ("0.06",)}
    report, gate = gate_of(history, before, after, **options)
    assert (report.passed, gate.verdict) == (False, "fail")
    assert "a loss beyond the margin is not ruled out: the interval reaches -0." in gate.reason
    assert gate.reason.endswith("more")
    assert (gate.op, gate.bound, gate.value) == (">", -0.06, report.compared[HITS].ci[0])
    report, gate = gate_of(history, ones(400), ones(400), **options)
    assert (report.passed, gate.verdict) == (True, "pass")


def test_not_worse_needs_a_margin_for_everything_it_gates(history):
    with pytest.raises(UsageError, match=f"needs a margin above 0 for {HITS}"):
        two(history, ones(20), ones(20), gate="not-worse", margins=("citation_hit_rate=0",))


def test_not_worse_is_on_the_metrics_with_a_margin(history):
    for minute in (0, 1):
        record(history, {HITS: ones(400), PRECISION: ones(400)}, minute=minute)
    options = {"gate": "not-worse", "margins": ("citation_hit_rate=0.05",)}
    report = compare(history, "latest", "latest", **options)
    assert [gate.metric for gate in report.gates] == [HITS]
    assert report.passed
    assert report.finding_counts == {"no_margin": 1}
    with pytest.raises(UsageError, match="needs a margin above 0: say --margin"):
        compare(history, "latest", "latest", gate="not-worse")


def test_a_metric_neither_run_could_score_stops_nothing_unless_it_is_named(history):
    both = {HITS: ones(20), PRECISION: [None] * 20}
    for minute in (0, 1):
        record(history, both, minute=minute)
    report = compare(history, "latest", "latest", gate="no-regression")
    assert {gate.metric: gate.verdict for gate in report.gates} == {
        HITS: "pass",
        PRECISION: "not_applicable",
    }
    assert report.passed
    named = compare(history, "latest", "latest", gate="no-regression", metrics=("precision_cited",))
    assert [gate.verdict for gate in named.gates] == ["not_evaluated"]
    assert not named.passed


def test_a_gate_passes_only_where_something_was_evaluated(history):
    for minute in (0, 1):
        record(history, {PRECISION: [None] * 20}, minute=minute)
    report = compare(history, "latest", "latest", gate="no-regression")
    assert [gate.verdict for gate in report.gates] == ["not_applicable"]
    assert not report.passed
    assert render(report, "text").startswith("FAIL  no-regression has nothing to judge")
    assert compare(history, "latest", "latest").passed is None
    run = record(history, {HITS: ones(20)}, minute=3)
    unmeasured = structs.replace(run.record, metrics={}, name="unmeasured")
    units = list(history.units(run.id))
    kept = history.record(NewRun(record=unmeasured, units=units, gold=questions(20), files={}))
    bare = compare(history, kept.id, run.id, gate="no-regression")
    assert (bare.gates, bare.passed) == ((), False)
    assert render(bare, "text").startswith("FAIL  no metric is in both runs")


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.parametrize("gate", ["no-regression", "not-worse"])
def test_a_change_that_the_test_cannot_judge_does_not_pass(history, method, gate):
    """All hundred fall from 1 to 0: they have no spread for these tests to judge by."""
    options = {"method": method, "gate": gate, "margins": ("0.02",)}
    report, verdict = gate_of(history, ones(100), [0.0] * 100, **options)
    assert report.compared[HITS].p is None
    assert not report.passed
    assert verdict.verdict == ("not_evaluated" if gate == "no-regression" else "fail")
    assert "all 100 pairs differ by the same" in verdict.reason
    assert not two(history, ones(100), [0.0] * 100, gate="no-regression").passed


def test_reasons_reach_the_gates(history):
    """Two of sixty differ, and one unit was scored in a single run."""
    before, after = ones(60), [*ones(60, range(2))[:-1], None]
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    [gate] = compare(history, "latest", "latest", gate="no-regression").gates
    assert gate.reason.startswith("cannot tell; with n = 59 a loss of 0.")
    assert "only two of 59 pairs differ" in gate.reason
    assert "1 units that only one run scored are left out" in gate.reason


def test_a_metric_that_is_not_comparable_fails_the_gate(history):
    record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, versions={HITS: 2}, minute=1)
    report = compare(history, "latest", "latest", gate="no-regression", allow=("versions",))
    assert [gate.verdict for gate in report.gates] == ["not_evaluated"]
    assert not report.passed


def test_the_baseline_is_the_last_green_run_of_the_branch_before_the_run(history):
    green = record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, minute=1, passed=False)
    record(history, {HITS: ones(20)}, minute=2, name="other")
    record(history, {HITS: ones(20)}, minute=3, branch="side")
    after = record(history, {HITS: ones(20)}, minute=4, branch="side")
    record(history, {HITS: ones(20)}, minute=5)
    report = compare(history, "green@main", after.id)
    assert (report.before.id, report.after.id) == (green.id, after.id)
    assert report.before.branch == "main"


def test_a_first_run_has_no_baseline(history):
    record(history, {HITS: ones(20)}, branch="side")
    with pytest.raises(InputRejected, match="--allow no-baseline"):
        compare(history, "green@main", "latest", gate="no-regression")
    report = compare(history, "green@main", "latest", gate="no-regression", allow=("no-baseline",))
    assert report.passed is None
    assert report.before is None
    assert report.finding_counts == {"no_baseline": 1}
    for form in ("text", "json", "markdown", "junit", "github", "csv", "html"):
        assert render(report, form)


@pytest.mark.parametrize("reference", ["green@mian", "latest@mian", "green"])
def test_a_baseline_that_no_earlier_run_is_was_not_allowed(history, reference):
    """A branch misspelt, or none green: the allowance is for first runs."""
    record(history, {HITS: ones(20)}, minute=0, passed=False)
    record(history, {HITS: ones(20)}, minute=1, passed=False, branch="side")
    record(history, {HITS: ones(20)}, minute=2, name="other")
    record(history, {HITS: ones(20)}, minute=3, passed=False)
    last = history.find("latest")
    for allow in ((), ("no-baseline",)):
        with pytest.raises(InputRejected) as refused:
            compare(history, reference, last.id, allow=allow)
        assert "is not the first run of score 'nightly'" in str(refused.value)
        assert "earlier ones are on main (0 passed), side (0 passed)" in str(refused.value)
        assert "--allow no-baseline" not in str(refused.value)


def test_a_name_that_is_no_run_is_a_usage_error_even_where_no_baseline_is_allowed(history):
    record(history, {HITS: ones(20)})
    for names in (("v9", "latest"), ("latest", "v9")):
        with pytest.raises(UsageError, match="v9: names no run"):
            compare(history, *names, allow=("no-baseline",))
