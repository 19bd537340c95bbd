"""A data set of gold links as its own prediction."""

import json

import pytest

from ragauge.runners.components.evaluate_linking import evaluate_linking

GOLD = [
    {"id": "a", "mention": "A", "gold_wikidata": "Q1", "gold_viaf": "11"},
    {"id": "b", "mention": "B", "gold_wikidata": None, "gold_viaf": None},
]


def test_a_file_against_itself_is_right_and_says_so(tmp_path):
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(map(json.dumps, GOLD)))
    report = evaluate_linking(file, file).report
    names = ("accuracy", "hits@1", "nil_f1", "coverage")
    assert [report.metrics[f"linking.{name}"].value for name in names] == [1.0] * 4
    assert report.finding_counts == {"gold_as_prediction": 2}


@pytest.mark.parametrize(
    "said", [{"wikidata_id": "Q9"}, {"candidates": ["Q9"]}, {"prediction": "Q9"}, {"nil": True}]
)
def test_gold_beside_a_prediction_is_never_taken_for_it(said):
    report = evaluate_linking(GOLD[:1], [{**GOLD[0], **said}]).report
    assert report.metrics["linking.accuracy"].value == 0.0
    assert "gold_as_prediction" not in report.finding_counts
