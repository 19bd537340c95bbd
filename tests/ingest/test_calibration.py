"""A calibration that was kept is read as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json

import pytest

from ragauge.contracts.calibration import calibration_of, no_gate
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.calibration import read_calibration
from ragauge.reports.rendering import render
from ragauge.runners.calibrate import calibrate_deltas
from tests.runners.calibrated import corpus, swap


@pytest.fixture
def files(tmp_path):
    return corpus(tmp_path)


def calibrated(files):
    return calibrate_deltas(files[0], embedder="ngram", docs=files[1]).report


@pytest.fixture
def kept(files, tmp_path):
    path = tmp_path / "calibration.json"
    path.write_text(render(calibrated(files), "json"), encoding="utf-8")
    return path


def test_it_says_what_the_report_said(kept, files):
    report = calibrated(files)
    found = read_calibration(str(kept), "ngram:v1:1024")
    assert found == calibration_of(report)
    assert found.usable
    assert no_gate(found) is None
    assert found.threshold == report.thresholds[0].threshold


def test_another_embedders_is_refused_with_both_names(kept):
    with pytest.raises(UsageError, match=r'"ngram:v1:1024".*"minilm:x".*calibrate this one'):
        read_calibration(str(kept), "minilm:x")


def test_an_unusable_one_is_read_and_says_why(files, tmp_path):
    swap(files[0])
    path = tmp_path / "bad.json"
    path.write_text(render(calibrated(files), "json"), encoding="utf-8")
    found = read_calibration(str(path))
    assert not found.usable
    assert (found.threshold, found.auc) == (None, 0.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": "ragauge.score/1"}, 'has schema "ragauge.score/1"'),
        ({"schema": None}, "is no calibration"),
        ({"metrics": {}}, "has no calibration.auc"),
        ({"identity": {}}, "which gold set"),
        ({"embedder": 3}, r"is no calibration .*embedder"),
    ],
)
def test_what_is_no_calibration_is_rejected_in_words(kept, changes, said):
    kept.write_text(json.dumps(json.loads(kept.read_text()) | changes))
    with pytest.raises(InputRejected, match=said):
        read_calibration(str(kept))


def test_one_that_passes_without_a_number_was_altered(kept):
    report = json.loads(kept.read_text())
    report["metrics"]["calibration.auc"]["value"] = 0.7
    kept.write_text(json.dumps(report))
    with pytest.raises(InputRejected, match=r"passes without an AUC.*it was altered"):
        read_calibration(str(kept))


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b'"x"', b"[" * 99_999])
def test_no_content_makes_it_stumble(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputRejected):
        read_calibration(str(path))
