"""What a reader is told of the numbers of answers: their scale, and what they are over."""

import re

import numpy as np
import pytest

from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find, reading
from ragauge.reports.evaluation.scales import is_pooled, share_of
from ragauge.reports.forms import render
from ragauge.runners.answers.calibrate_groundedness import calibrate_groundedness
from ragauge.runners.evaluation import why_absent
from tests.reports.evaluation.answered import answered, score
from tests.runners.labelled_answers import labelled


def bar_of(name, value):
    report = answered(metrics={name: score(value, 103, 103)}, gates=())
    lines = render(report, "text", width=120).splitlines()
    [line] = [line for line in lines if line.split()[:1] == [name.removeprefix("answers.")]]
    return line.count("█")


def test_the_lowest_mark_of_a_rubric_draws_no_bar():
    assert bar_of("answers.rubric", 1.0) == 0
    full = bar_of("answers.rubric", 5.0)
    assert full == bar_of("answers.token_f1", 1.0) > 10
    assert bar_of("answers.rubric", 3.0) == pytest.approx(full / 2, abs=1)


def test_a_bar_stays_on_its_scale():
    for id, metric in reading("answers").items():
        least, most = metric.bounds
        assert share_of(id, most) == 1
        assert share_of(id, least) == (None if least < 0 else 0)
        assert share_of(id, None) is None
    assert share_of("answers.of_a_plug_in", 0.25) == 0.25


def test_metrics_over_parts_of_answers_are_told_from_means():
    pooled = {id for id in reading("answers") if is_pooled(id)}
    assert pooled == {
        f"answers.{name}"
        for name in (
            *("number_agreement", "date_agreement", "factual_accuracy"),
            *("citation_precision", "citation_recall", "misattributed"),
        )
    }
    for form in ("text", "markdown", "html"):
        written = re.sub(r"\s+", " ", render(answered(), form)).replace("\\_", "_")
        assert "no mean of answers: citation_precision, number_agreement" in written


def test_nothing_to_score_without_a_reason_ends_there():
    metric = find("answers.number_agreement", "answers")
    none = np.zeros(1, dtype=np.int64)
    sums = Sums(metric, np.zeros((1, 2), dtype=np.int64), none, none + 1, {})
    assert why_absent(sums) == "nothing to score"


@pytest.fixture(scope="module")
def calibration():
    return calibrate_groundedness(labelled()).report


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_calibration_cuts_no_number(calibration, width):
    written = render(calibration, "text", width=width)
    assert "…" not in written
    assert max(map(len, written.splitlines())) <= width
    for one in calibration.scores:
        low, high = one.auroc_ci
        assert f"[{low:.3f}, {high:.3f}]" in written
        assert f"{one.ece:.3f}" in written
