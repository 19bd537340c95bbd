"""Real historical texts (MHERCL), with predictions made from their gold by a fixed rule."""

import json

import pytest

from ragauge.runners.components.evaluate_ner import evaluate_ner
from tests.components.shared_data import shared


@pytest.fixture(scope="module")
def gold_lines():
    with shared("mhercl/mhercl.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def predicted_from(gold):
    """Every third entity moved, every fourth renamed, every fifth lost; some made up."""
    made = []
    for place, document in enumerate(gold):
        entities, size = [], len(document["tokens"])
        for nth, one in enumerate(document["entities"], place):
            start, end, type = one["start"], one["end"], one["type"]
            if nth % 5 == 4:
                continue
            if nth % 3 == 2 and end < size:
                end += 1
            if nth % 4 == 3:
                type = "work" if type == "person" else "person"
            entities.append({"start": start, "end": end, "type": type})
        if place % 7 == 0:
            entities.append({"start": size - 1, "end": size, "type": "place"})
        made.append({**document, "entities": entities})
    return made


def keys(documents):
    return {
        (document["doc_id"], one["start"], one["end"], one["type"])
        for document in documents
        for one in document["entities"]
    }


def test_strict_counts_are_those_of_sets(gold_lines, tmp_path):
    predicted = predicted_from(gold_lines)
    files = []
    for name, documents in (("gold", gold_lines), ("predicted", predicted)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in documents), encoding="utf-8")
        files.append(path)
    report = evaluate_ner(*files, intervals=False).report
    gold, found = keys(gold_lines), keys(predicted)
    told = {name: score.value for name, score in report.metrics.items()}
    assert len(gold) > 1000
    assert told["entities.strict.tp"] == len(gold & found)
    assert told["entities.strict.fp"] == len(found - gold)
    assert told["entities.strict.fn"] == len(gold - found)
    assert report.coverage["gold_entities"] == len(gold)
    for schema in report.detail.schemas.values():
        assert schema.correct + schema.incorrect + schema.partial + schema.missed == len(gold)
        assert schema.correct + schema.incorrect + schema.partial + schema.spurious == len(found)
    assert told["entities.f1_partial"] > told["entities.f1_strict"]
    assert sum(row["tp"] for row in report.per_type.values()) == len(gold & found)
    assert sum(row["gold"] for row in report.per_type.values()) == len(gold)


def test_gold_against_itself_is_perfect_in_every_metric(gold_lines):
    report = evaluate_ner(gold_lines, gold_lines, intervals=False).report
    for name, score in report.metrics.items():
        if name.endswith((".fp", ".fn")):
            assert score.value == 0, name
        elif not name.endswith(".tp"):
            assert score.value == 1, name
    assert report.detail.errors == ()
    assert report.passed is None, "there is no gate on quality"
