"""A recorded run holds what its report says, and enough to compute it again."""

import json
import subprocess

import msgspec
import numpy as np
import polars as pl
import pytest

from ragauge import score, stability
from ragauge.contracts.history import RECORDS, REPORT, RunFilter, canonical
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.metrics.table import find
from ragauge.runners.git_state import git_state
from ragauge.runners.recording import record
from ragauge.stats.bootstrap import mean_interval


@pytest.fixture
def outcome(parity, tmp_path):
    return score(*parity, out=tmp_path / "rows.parquet", keep_answers=True)


@pytest.fixture
def repeated(parity, tmp_path):
    """Each question twice: q1 answered right once, wrong once."""
    gold, traces = parity
    again = traces.read_text().replace("[p1#1]", "[p9#9]", 1)
    runs = tmp_path / "runs.jsonl"
    runs.write_text(traces.read_text() + again)
    return stability(gold, runs, out=str(tmp_path / "runs.parquet"))


def test_the_numbers_are_the_reports(history, outcome):
    run = record(outcome, history, name="nightly", labels={"model": "small"})
    [found] = history.runs(RunFilter(name="nightly"))
    assert found == run
    kept = found.record
    assert (kept.command, kept.passed, kept.labels) == ("score", None, {"model": "small"})
    assert kept.gold_sha256 == outcome.identity["gold_sha256"]
    for id, metric in outcome.report.metrics.items():
        same = {name: getattr(kept.metrics[id], name) for name in metric.__struct_fields__}
        assert msgspec.convert(same, type(metric)) == metric
        assert (kept.metrics[id].version, kept.metrics[id].better) == (
            find(id).version,
            find(id).better,
        )


def test_every_number_can_be_computed_again_from_the_units(history, outcome):
    run = record(outcome, history)
    rows = list(history.units(run.id))
    for id, metric in run.record.metrics.items():
        counts = [row.counts[id] for row in rows if id in row.counts]
        again = float(find(id).finish(np.array(counts).sum(axis=0))) if counts else None
        assert again == metric.value, id


def test_a_mean_is_the_mean_of_the_units(history, repeated):
    run = record(repeated, history)
    rows = list(history.units(run.id))
    for id, metric in run.record.metrics.items():
        values = [row.values[id] for row in rows if id in row.values]
        assert metric.value == (pytest.approx(np.mean(values)) if values else None), id
        assert metric.n == len(values)


def test_an_interval_is_a_bootstrap_for_a_mean_and_wilsons_for_a_rate(history, repeated):
    run = record(repeated, history)
    rows = list(history.units(run.id))
    metrics = run.record.metrics
    resampled = {id: metric for id, metric in metrics.items() if "|ci:" in metric.signature}
    assert resampled
    assert not any(find(id).rate for id in resampled)
    for id, metric in resampled.items():
        made = mean_interval([row.values[id] for row in rows if id in row.values])
        how = f"|ci:percentile bootstrap,{made.method},seed:0,draws:10000"
        assert (metric.ci, metric.signature.endswith(how)) == (made.ci, True)


def test_answers_are_kept_right_ones_too_and_change_no_report(history, outcome, parity):
    assert score(*parity).report == outcome.report
    rows = {row.unit: row for row in history.units(record(outcome, history).id)}
    assert rows["q1"].right
    assert rows["q1"].detail["claim"] == "X is a constrained mapping."
    assert tuple(rows["q1"].detail["cited"]) == ("p1#1",)
    assert not rows["q2"].right
    assert rows["q2"].label == "ANS_NO_HIT"


def test_the_last_answer_is_the_one_kept(history, parity):
    gold, traces = parity
    first, *rest = traces.read_text().splitlines()
    wrong = json.loads(first) | {"answer": "- claim: Nobody knows.\n- citations: [p7#1]"}
    for order in ([first, json.dumps(wrong)], [json.dumps(wrong), first]):
        traces.write_text("\n".join([*order, *rest]))
        found = score(gold, traces, keep_answers=True).units
        last = json.loads(order[-1])["answer"]
        assert found.details["claim"][0] in last
        assert found.right[0] == (order[-1] == first)


def test_the_report_is_kept_whole(history, outcome, repeated):
    for one, kind in ((outcome, ScoreReport), (repeated, StabilityReport)):
        run = record(one, history)
        with history.file(run, REPORT) as path:
            again = msgspec.json.decode(path.read_bytes(), type=kind)
        assert canonical(again) == canonical(one.report)


def test_every_trace_and_every_run_has_its_row(history, outcome, repeated):
    run = record(outcome, history)
    with history.file(run, RECORDS) as path:
        assert pl.read_parquet(path)["qid"].to_list() == ["q1", "q2", "q3", "q4"]
    run = record(repeated, history)
    with history.file(run, RECORDS) as path:
        rows = pl.read_parquet(path)
    assert rows["qid"].to_list() == [f"q{n}" for n in (1, 1, 2, 2, 3, 3, 4, 4)]
    cells = "".join(rows["cell"].to_list())
    assert cells == "".join(repeated.report.cells[f"q{n}"] for n in (1, 2, 3, 4))
    assert rows["cited"].to_list()[:2] == [["p1#1"], ["p9#9"]]
    assert rows.filter(qid="q3")["refused"].all()


def test_the_gold_set_is_kept_once(history, outcome):
    first, second = record(outcome, history), record(outcome, history, name="again")
    assert first.id != second.id
    assert history.gold(outcome.identity["gold_sha256"]) == list(outcome.gold)


def test_gates_and_workers_are_no_other_configuration_but_options_are(history, parity):
    def configuration(**options):
        return record(score(*parity, **options), history).record.configuration_sha256

    plain = configuration()
    assert configuration(gates="coverage>=0.5", workers=2) == plain
    assert configuration(refusal="near") != plain


def test_the_commit_is_the_work_trees(tmp_path):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True)

    assert git_state(tmp_path, {}) is None
    git("init", "-b", "trunk")
    assert git_state(tmp_path, {}) is None, "nothing is committed yet"
    (tmp_path / "prompt.txt").write_text("one")
    git("add", ".")
    git("commit", "-m", "one")
    clean = git_state(tmp_path, {})
    assert (clean.branch, clean.dirty, len(clean.commit)) == ("trunk", False, 40)
    (tmp_path / "prompt.txt").write_text("two")
    assert git_state(tmp_path, {}).dirty
    git("checkout", "-q", "--detach")
    assert git_state(tmp_path, {}).branch is None
    for environment, branch in BUILT.items():
        assert git_state(tmp_path, dict(environment)).branch == branch, environment
    git("checkout", "-q", "trunk")
    built = {"GITHUB_REF_NAME": "main"}
    assert git_state(tmp_path, built).branch == "trunk", "git knows better"
    assert git_state(tmp_path / "..", built) is None


BUILT = {
    (("GITHUB_REF_NAME", "main"), ("GITHUB_HEAD_REF", "")): "main",
    (("GITHUB_REF_NAME", "12/merge"), ("GITHUB_HEAD_REF", "topic/a")): "topic/a",
    (("GITHUB_REF_NAME", "v1.4"), ("GITHUB_REF_TYPE", "tag")): None,
    (("CI_COMMIT_REF_NAME", "main"),): "main",
    (("CI_COMMIT_REF_NAME", "v1.4"), ("CI_COMMIT_TAG", "v1.4")): None,
    (("BUILD_SOURCEBRANCH", "refs/heads/topic/a"), ("BUILD_SOURCEBRANCHNAME", "a")): "topic/a",
    (("BUILD_SOURCEBRANCH", "refs/tags/v1"),): None,
    (
        ("BUILD_SOURCEBRANCH", "refs/pull/3/merge"),
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/topic"),
    ): "topic",
    (("BRANCH_NAME", "PR-3"), ("CHANGE_BRANCH", "topic")): "topic",
    (("BRANCH_NAME", "main"),): "main",
    (("TRAVIS_BRANCH", "main"), ("TRAVIS_PULL_REQUEST_BRANCH", "topic")): "topic",
}
"""What CI servers set, and the branch that is built; of a pull request, never its target."""
