"""The forms of a calibration show what it says, whatever a gold set has for text."""

from __future__ import annotations

import msgspec
import pytest
from markdown_it import MarkdownIt

from ragauge.contracts.calibration import CalibrationReport
from ragauge.contracts.report import Finding
from ragauge.contracts.schemas import schema
from ragauge.reports.rendering import render
from ragauge.runners.calibrate import calibrate_deltas
from tests.reports.payloads import PAYLOADS
from tests.runners.calibrated import corpus, swap


@pytest.fixture
def files(tmp_path):
    return corpus(tmp_path)


def calibrated(files):
    return calibrate_deltas(files[0], embedder="ngram", docs=files[1]).report


def test_the_text_draws_both_samples_and_names_the_threshold(files):
    report = calibrated(files)
    lines = render(report, "text").splitlines()
    at = report.thresholds[0].threshold
    assert lines[0].startswith(f"PASS  ngram:v1:1024 separates anchors from decoys at ΔS {at:.3f}")
    anchors = next(line for line in lines if line.startswith("  anchors  "))
    decoys = next(line for line in lines if line.startswith("  decoys  "))
    assert anchors.index("●") < decoys.index("●")


@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_is_wider_than_the_page(files, width):
    swap(files[0], 5)
    for line in render(calibrated(files), "text", width=width).splitlines():
        assert len(line) <= width


def test_the_example_has_every_form():
    [example] = schema("calibration-report")["examples"]
    report = msgspec.convert(example, CalibrationReport)
    for form in ("text", "json", "markdown"):
        assert "ngram:v1:1024" in render(report, form)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_foreign_text_stays_text(payload):
    written = {form: render(hostile(payload), form) for form in ("text", "markdown")}
    for text in written.values():
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
        text.encode()
    assert parts_of(written["markdown"]) == parts_of(render(hostile("plain"), "markdown"))


def hostile(text):
    """A report with the text wherever a gold set, a folder or an embedder brings one."""
    [example] = schema("calibration-report")["examples"]
    report = msgspec.convert(example, CalibrationReport)
    [pair] = report.pairs
    return msgspec.structs.replace(
        report,
        embedder=text,
        pairs=(msgspec.structs.replace(pair, qid=text, question=text, gap=-0.1),),
        findings=(Finding("odd_decoy", text, text),),
        finding_counts={"odd_decoy": 1},
    )


def parts_of(written):
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(written)
    children = [child.type for token in tokens for child in token.children or ()]
    words = ("text", "text_special", "code_inline")
    return [token.type for token in tokens], [kind for kind in children if kind not in words]
