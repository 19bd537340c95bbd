"""What a reader is told of the numbers of answers: their scale, and what they are over."""

import re

import numpy as np
import pytest

from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find, reading
from ragauge.reports.kinds.evaluation_answers import is_pooled
from ragauge.reports.rendering import render
from ragauge.runners.answers.calibrate_groundedness import calibrate_groundedness
from ragauge.runners.evaluation import why_absent
from tests.reports.evaluation.answered import answered, score
from tests.runners.labelled_answers import labelled


def drawing_of(name, value):
    report = answered(metrics={name: score(value, 103, 103)}, gates=())
    lines = render(report, "text", width=120).splitlines()
    [line] = [line for line in lines if line.split()[:1] == [name.removeprefix("answers.")]]
    return line.count("●")


def test_what_is_not_between_0_and_1_is_not_drawn():
    assert drawing_of("answers.rubric", 1.0) == drawing_of("answers.rubric", 5.0) == 0
    assert drawing_of("answers.token_f1", 1.0) == 1


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
        assert "not a mean of answers: citation_precision, number_agreement" in written


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
