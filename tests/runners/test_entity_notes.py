"""Findings on two sides that were joined: strange ids, pooled layers, types gold does not have."""

from ragauge.runners.components.evaluate_ner import evaluate_ner


def span(start, end, type="ORG", **more):
    return {"start": start, "end": end, "type": type, **more}


def told(gold, predicted, **options):
    """The messages of a report's findings, by code."""
    report = evaluate_ner(gold, predicted, intervals=False, **options).report
    found = {}
    for finding in report.findings:
        found.setdefault(finding.code, []).append(finding.message)
    return found


def test_layers_in_one_number_are_named():
    gold = [{"id": "d", "entities": [span(0, 5, layer="coarse"), span(0, 9, layer="nested")]}]
    (message,) = told(gold, gold)["layers_pooled"]
    assert '2 layers: "coarse", "nested"; choose one with --layer' in message
    assert told(gold, gold, layer="coarse") == {}


def test_the_layers_of_a_hipe_table_are_named(tmp_path):
    gold = tmp_path / "gold.tsv"
    rows = ("TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-NESTED", "Berlin\tB-loc\tB-org\t_")
    gold.write_text("\n".join(rows) + "\n")
    (message,) = told(gold, gold)["layers_pooled"]
    assert '2 layers: "NE-COARSE-LIT", "NE-COARSE-METO"' in message


def test_a_type_that_only_predictions_have_is_told_once_with_the_nearest():
    gold = [{"id": "d", "entities": [span(0, 5, "GRP.HER.MUS"), span(6, 9, "TOP")]}]
    said = [span(0, 5, "MUSEUM"), span(6, 9, "MUSEUM"), span(10, 12, "xyz"), span(6, 9, "TOP")]
    assert told(gold, [{"id": "d", "entities": said}])["type_not_in_gold"] == [
        'gold has no "MUSEUM", which is predicted 2 times; the nearest is "GRP.HER.MUS"',
        'gold has no "xyz", which is predicted once',
    ]
    declared = told(gold, [{"id": "d", "entities": said}], types=("MUSEUM", "xyz"))
    assert "type_not_in_gold" not in declared


def test_no_type_is_strange_where_gold_has_none():
    assert told([{"id": "d", "entities": []}], [{"id": "d", "entities": [span(0, 5)]}]) == {}


def test_no_document_in_common_shows_the_ids_of_both():
    gold = [{"id": id, "entities": [span(0, 5)]} for id in ("nl-4", "nl-1", "nl-3", "nl-2")]
    found = told(gold, [{"id": "4.txt", "entities": [span(0, 5)]}])
    assert found["no_document_in_common"] == [
        'gold has "nl-1", "nl-2", "nl-3", …, the predictions "4.txt"; '
        "give a document the same id in both"
    ]
    assert "no_document_in_common" not in told(gold, gold[:1])
    assert "no_document_in_common" not in told(gold, [])
