"""The line over recorded runs: order, change points within what is comparable, slope."""

import numpy as np
import pytest
from scipy import stats

from ragauge.contracts.options import HistoryOptions
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.rendering import render
from ragauge.runners.run_history import run_history
from ragauge.stats.change_points import shifts
from tests.runners.recorded import HITS, PRECISION, questions, record

N = 40


def runs_of(history, rights, start=0, **facts):
    """A run for each number of right answers of forty."""
    return [
        record(
            history,
            {HITS: [1.0] * right + [0.0] * (N - right)},
            minute=start + place,
            **facts,
        )
        for place, right in enumerate(rights)
    ]


FALLING = [36, 37, 36, 35, 36, 37, 28, 27, 28, 29, 28, 27]


def test_the_line_is_oldest_first_with_intervals_and_change_points(history):
    runs = runs_of(history, FALLING)
    report = run_history(history, "citation_hit_rate")
    assert [point.run for point in report.points] == [run.id for run in runs]
    assert [point.value for point in report.points] == [right / N for right in FALLING]
    assert all(point.ci[0] < point.value < point.ci[1] for point in report.points)
    [change] = report.change_points
    [twin] = shifts([right / N for right in FALLING])
    assert (change.at, change.run) == (6, runs[6].id)
    assert (change.before, change.after, change.p) == (twin.before, twin.after, twin.p)
    assert change.before == pytest.approx(np.mean(FALLING[:6]) / N)
    assert report.metrics[HITS].value == 27 / N


def test_slope_and_variation_agree_with_scipy_and_numpy(history):
    runs_of(history, FALLING)
    report = run_history(history, HITS)
    values = np.array(FALLING) / N
    fitted = stats.linregress(np.arange(len(values)), values)
    assert report.slope == pytest.approx(fitted.slope)
    assert report.slope_error == pytest.approx(fitted.stderr)
    assert report.variation == pytest.approx(values.std(ddof=1) / values.mean())


def test_no_change_is_claimed_across_another_gold_set_or_version(history):
    runs_of(history, FALLING[:6])
    runs_of(history, FALLING[6:9], 6, gold=questions(N, constraints=("So.",)))
    runs_of(history, FALLING[9:], 9, gold=questions(N, constraints=("So.",)), versions={HITS: 2})
    report = run_history(history, HITS)
    assert report.change_points == ()
    assert report.finding_counts == {"line_cut": 2}
    first, second = report.findings
    assert "the gold set is another" in first.message
    assert "the metric is version 2" in second.message
    assert report.coverage["segments"] == 3
    assert report.coverage["in_last_segment"] == 3
    assert report.slope == pytest.approx(-1 / N)


def test_the_line_goes_on_where_a_gold_set_is_only_edited(history):
    runs_of(history, FALLING[:6])
    runs_of(history, FALLING[6:], 6, gold=questions(N, paraphrases=("So?",)))
    report = run_history(history, HITS)
    assert report.finding_counts == {"gold_edited": 1}
    assert report.coverage["segments"] == 1
    assert [change.at for change in report.change_points] == [6]


def test_a_run_made_on_changed_files_is_marked(history):
    runs_of(history, [30])
    runs_of(history, [30], 1, dirty=True)
    report = run_history(history, HITS)
    assert [point.dirty for point in report.points] == [False, True]
    written = render(report, "text")
    assert "  0000000*\n" in written
    assert "* files differed from the commit" in written


def test_another_canon_cuts_the_line_too(history):
    runs_of(history, [30, 30])
    runs_of(history, [30], 5, how="canon:reference|refusal:exact|each:question")
    [finding] = run_history(history, HITS).findings
    assert "canon:reference" in finding.message


def test_a_run_without_a_value_is_a_gap_with_a_reason(history):
    runs_of(history, FALLING[:6])
    record(history, {HITS: [None] * N}, minute=6)
    runs_of(history, FALLING[6:], 7)
    report = run_history(history, HITS)
    assert report.points[6].value is None
    assert report.points[6].reason == "nothing to score"
    assert [change.at for change in report.change_points] == [7]
    assert report.coverage["valued"] == 12


def test_only_the_last_and_only_what_matches(history):
    runs_of(history, FALLING, labels={"model": "a"})
    runs_of(history, [40], 50, labels={"model": "b"}, branch="side")
    assert len(run_history(history, HITS, HistoryOptions(last=4)).points) == 4
    assert len(run_history(history, HITS, HistoryOptions(labels={"model": "a"})).points) == 12
    assert len(run_history(history, HITS, HistoryOptions(branch="side")).points) == 1
    assert run_history(history, HITS, HistoryOptions(last=4)).coverage["older"] == 1
    assert run_history(history, HITS, HistoryOptions(last=13)).coverage["older"] == 0


def test_no_more_runs_are_read_than_the_line_needs(history):
    runs_of(history, [30] * 40)
    runs_of(history, [20] * 30, 40, name="smoke")
    read = []

    class Watched:
        def runs(self, which):
            read.append(len(found := history.runs(which)))
            return found

    line = run_history(Watched(), HITS, HistoryOptions(last=3))
    assert (len(line.points), read) == (3, [8])
    read.clear()
    record(history, {PRECISION: [1.0] * N}, minute=99)
    longer = run_history(Watched(), HITS, HistoryOptions(last=20, name="nightly"))
    assert (len(longer.points), max(read)) == (20, 41)


def test_a_metric_of_old_runs_only_is_found(history):
    runs_of(history, [30])
    for minute in range(1, 30):
        record(history, {PRECISION: [1.0] * N}, minute=minute)
    assert len(run_history(history, HITS, HistoryOptions(last=2)).points) == 1


def test_runs_of_other_names_are_left_out_and_said(history):
    runs_of(history, [30, 31])
    runs_of(history, [10], 20, name="smoke")
    runs_of(history, [32], 30)
    report = run_history(history, HITS)
    assert [point.value for point in report.points] == [30 / N, 31 / N, 32 / N]
    assert report.finding_counts == {"other_runs": 1}
    assert len(run_history(history, HITS, HistoryOptions(name="smoke")).points) == 1


def test_runs_that_lack_the_metric_are_no_points(history):
    runs_of(history, [30, 31])
    record(history, {PRECISION: [1.0] * N}, minute=9)
    assert len(run_history(history, HITS).points) == 2


def test_nothing_recorded_and_no_such_metric_are_said(history):
    with pytest.raises(InputRejected, match="no recorded run matches"):
        run_history(history, HITS)
    runs_of(history, [30])
    with pytest.raises(UsageError, match='did you mean "citation_hit_rate"'):
        run_history(history, "citation_hitrate")


def gates_of(history, gate, **options):
    report = run_history(history, HITS, HistoryOptions(gate=gate, **options))
    return report, {one.metric: one for one in report.gates}


def test_a_line_can_be_gated_on_variation_slope_and_change_points(history):
    runs_of(history, FALLING)
    report, gates = gates_of(history, "cv<=0.05, slope>=-0.01@95, no-change-point")
    assert not report.passed
    assert {name: one.verdict for name, one in gates.items()} == {
        "history.cv": "fail",
        "history.slope": "fail",
        "history.change_points": "fail",
    }
    values = np.array(FALLING) / N
    fitted = stats.linregress(np.arange(len(values)), values)
    reach = fitted.stderr * stats.t.ppf(0.975, len(values) - 2)
    assert gates["history.cv"].value == pytest.approx(values.std(ddof=1) / values.mean())
    assert gates["history.slope"].ci == pytest.approx((fitted.slope - reach, fitted.slope + reach))
    assert gates["history.change_points"].value == 1
    report, gates = gates_of(history, "cv<=0.2,slope>=-0.05,change_points<=1")
    assert report.passed
    assert [one.verdict for one in gates.values()] == ["pass"] * 3


def test_a_gate_on_a_line_with_too_few_runs_is_not_evaluated(history):
    runs_of(history, FALLING[:9])
    report, gates = gates_of(history, "cv<=0.05,slope>=-1,no-change-point")
    assert not report.passed
    change = gates["history.change_points"]
    assert (change.verdict, change.n) == ("not_evaluated", 9)
    assert change.reason == "needs 10 comparable runs in a row; there are 9"
    assert gates["history.slope"].verdict == "pass"
    report, gates = gates_of(history, "cv<=1,slope>=-1", last=2)
    assert {one.reason for one in gates.values()} == {
        "needs 3 comparable runs in a row; there are 2"
    }
    assert gates_of(history, "cv<=1?", last=2)[0].passed
    record(history, {HITS: [None] * N}, minute=30)
    report, gates = gates_of(history, "cv<=1")
    assert gates["history.cv"].reason == "the newest run has no value: nothing to score"


def test_a_change_point_before_the_line_was_cut_does_not_fail_the_gate(history):
    runs_of(history, FALLING)
    runs_of(history, [30] * 10, 20, gold=questions(N, constraints=("So.",)))
    report, gates = gates_of(history, "no-change-point")
    assert len(report.change_points) == 1
    assert (gates["history.change_points"].value, report.passed) == (0, True)


@pytest.mark.parametrize(
    ("gate", "fact"),
    [
        ("precision_cited>=0.8", "write cv<=0.05, slope>=0 or no-change-point"),
        ("cv<=0.05@95", "only slope has an interval"),
        ("slope>=0 where country=NL", "a line of runs has no questions"),
        ("", "cannot be read"),
    ],
)
def test_a_gate_that_a_line_cannot_have_is_refused(history, gate, fact):
    runs_of(history, [30])
    with pytest.raises(UsageError, match=fact):
        gates_of(history, gate)


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json"])
def test_every_form_shows_the_gates_of_a_line(history, form):
    runs_of(history, FALLING)
    written = render(gates_of(history, "cv<=0.05,slope>=-1")[0], form)
    assert "cv" in written
    assert "fail" in written.lower()
    assert "slope" in written
