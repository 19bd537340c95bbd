"""Start and end that count tokens, where only gold has the tokens."""

import json

import polars as pl
import pytest

from ragauge.errors import InputRejected
from ragauge.runners.components.evaluate_ner import evaluate_ner
from tests.components.shared_data import shared

TOKENS = ["Het", "Rijksmuseum", "Amsterdam", "werd", "opgericht"]


def span(start, end, type="ORG", **more):
    return {"start": start, "end": end, "type": type, **more}


GOLD = [{"doc_id": "d", "tokens": TOKENS, "entities": [span(1, 3), span(4, 5, "TMP")]}]
PREDICTED = [{"doc_id": "d", "entities": [span(1, 3), span(3, 4, "TMP")]}]


def f1(gold, predicted, **options):
    report = evaluate_ner(gold, predicted, intervals=False, **options).report
    return report.metrics["entities.f1_strict"].value


def test_offsets_tokens_count_the_tokens_of_gold():
    assert f1(GOLD, PREDICTED, offsets="tokens") == 0.5
    assert f1(GOLD, [{**GOLD[0], "tokens": None}], offsets="tokens") == 1.0


def test_what_does_not_show_what_it_counts_is_refused():
    with pytest.raises(InputRejected, match=r"gold counts tokens here.*--offsets tokens"):
        f1(GOLD, PREDICTED)


def test_the_remedy_is_told_once_and_what_is_refused_is_missed():
    gold = [{**GOLD[0], "doc_id": id} for id in "abc"]
    said = [{**PREDICTED[0], "doc_id": id} for id in "ab"]
    whole = {**GOLD[0], "doc_id": "c"}
    with pytest.raises(InputRejected) as caught:
        f1(gold, [*said, whole])
    assert ["--offsets" in problem for problem in caught.value.problems] == [True, False]
    report = evaluate_ner(gold, [*said, whole], intervals=False, max_bad="2").report
    assert report.metrics["entities.recall_strict"].value == pytest.approx(1 / 3)
    assert report.coverage["rejected"] == 2


def test_a_text_or_surfaces_show_that_characters_are_counted():
    surfaces = [{"id": "d", "entities": [span(4, 25, text="Rijksmuseum Amsterdam")]}]
    text = [{"id": "d", "text": " ".join(TOKENS), "entities": [span(4, 25)]}]
    assert f1(GOLD, surfaces) == f1(GOLD, text) == pytest.approx(2 / 3)


def test_characters_are_characters_on_both_sides_where_that_is_said():
    gold = [{"doc_id": "d", "tokens": TOKENS, "entities": [span(4, 25)]}]
    assert f1(gold, [{"id": "d", "entities": [span(4, 25)]}], offsets="characters") == 1.0


def test_frames_and_tables_count_the_tokens_of_gold(tmp_path):
    frame = pl.DataFrame({"doc": ["d", "d"], "start": [1, 3], "end": [3, 4], "type": ["ORG", "X"]})
    assert f1(GOLD, frame, offsets="tokens") == 0.5
    table = tmp_path / "spans.tsv"
    table.write_text("d\t1\t3\tORG\nd\t3\t4\tX\n")
    assert f1(GOLD, table, offsets="tokens") == 0.5
    for unsaid in (frame, table):
        with pytest.raises(InputRejected, match="gold counts tokens here"):
            f1(GOLD, unsaid)


@pytest.mark.parametrize("name", ["doc", "doc_id", "document"])
def test_a_frame_may_call_its_documents_by_any_of_these(name):
    frame = pl.DataFrame({name: ["d"], "start": [1], "end": [3], "type": ["ORG"]})
    assert f1(frame, frame) == 1.0


def test_sides_without_any_text_count_the_same():
    frame = pl.DataFrame({"doc": ["d"], "start": [1], "end": [3], "type": ["ORG"]})
    assert f1(frame, frame, offsets="tokens") == 1.0


def test_a_token_that_gold_does_not_have_is_told():
    beyond = [{"doc_id": "d", "entities": [span(1, 9)]}]
    with pytest.raises(InputRejected, match="goes to token 9, and gold has 5 tokens there"):
        f1(GOLD, beyond, offsets="tokens")


def test_tokens_that_nobody_has_are_told_on_each_side():
    text = {"id": "d", "text": " ".join(TOKENS), "entities": [span(4, 25)]}
    with pytest.raises(InputRejected, match="are to count tokens, and there are none; give tokens"):
        f1([text], [text], offsets="tokens")


def test_surfaces_are_checked_where_the_tokens_stand():
    wrong = [{"doc_id": "d", "entities": [span(1, 3, text="Het Rijksmuseum")]}]
    report = evaluate_ner(GOLD, wrong, intervals=False, offsets="tokens").report
    assert report.finding_counts["misplaced_span"] == 1


def test_a_text_that_differs_from_golds_has_other_tokens():
    other = [{"doc_id": "d", "text": "Het  Rijksmuseum", "entities": [span(1, 2)]}]
    with pytest.raises(InputRejected, match="those of another text"):
        f1(GOLD, other, offsets="tokens")


def test_a_corpus_against_itself_without_its_tokens():
    with shared("mhercl/mhercl.jsonl").open(encoding="utf-8") as file:
        gold = [json.loads(line) for line in file]
    told = [{"doc_id": one["doc_id"], "entities": one["entities"]} for one in gold]
    assert f1(gold, told, offsets="tokens") == 1.0
