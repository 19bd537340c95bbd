"""The same files give the same bytes, whoever reads them."""

from __future__ import annotations

import random

import pytest

from benchmarks.generate import generate
from ragauge.ingest import lines
from ragauge.reports.rendering import render
from ragauge.runners.score import score

FEW, MANY = 40, 1_500


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    generate(MANY, FEW, folder / "gold.jsonl", folder / "traces.jsonl")
    return folder / "gold.jsonl", folder / "traces.jsonl"


def report_bytes(files, **options) -> str:
    gold, traces = files
    return render(score(gold, [traces], preset="ship", **options).report, "json")


@pytest.mark.parametrize("each", ["question", "trace"])
def test_neither_workers_nor_blocks_change_a_byte(generated, each, monkeypatch):
    whole = report_bytes(generated, each=each)
    monkeypatch.setattr(lines, "BLOCK", 100_000)
    assert report_bytes(generated, each=each) == whole
    assert report_bytes(generated, each=each, workers=3) == whole


def test_the_order_of_traces_does_not_change_a_number(generated, tmp_path):
    gold, traces = generated
    shuffled = traces.read_bytes().splitlines(keepends=True)
    random.Random(7).shuffle(shuffled)
    (tmp_path / "shuffled.jsonl").write_bytes(b"".join(shuffled))
    was = score(gold, [traces], each="trace").report
    now = score(gold, [tmp_path / "shuffled.jsonl"], each="trace").report
    assert now.metrics == was.metrics
    assert now.labels == was.labels


def test_the_question_rows_give_every_number_again(generated):
    """What a baseline relies on: a report's rows hold all its built-in metrics."""
    from ragauge.metrics.sums import sums_of
    from ragauge.metrics.table import reading
    from ragauge.runners.baseline import _groups
    from ragauge.runners.evaluation import scored

    report = score(*generated).report
    groups = _groups(report.questions, [row.qid for row in report.questions])
    for id, metric in reading("facts").items():
        again = scored(sums_of(metric, groups), "")
        assert (again.value, again.n, again.ci) == (
            report.metrics[id].value,
            report.metrics[id].n,
            report.metrics[id].ci,
        )
