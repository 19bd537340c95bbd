"""Labelled items from every form there is, and from files that are broken."""

import gzip
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import RagaugeError, UsageError
from ragauge.ingest.labelled_items import read_labelled

PREDICTED = {"a": "M", "b": "L"}


def read(gold, predicted=PREDICTED, **how):
    problems = []
    return read_labelled(gold, predicted, problems, **how), problems


def clean(gold, predicted=PREDICTED, **how):
    found, problems = read(gold, predicted, **how)
    assert problems == []
    return found


def gold_of(gold, **how):
    return {id: (item.label, item.secondary) for id, item in clean(gold, **how).gold.items()}


def labels_of(items):
    return {id: item.label for id, item in items.items()}


def written(tmp_path, content, name="gold.tsv"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(file)


EXPECTED = {"a": ("M", ("L", "A")), "b": ("L", ())}


@pytest.mark.parametrize("cell", ["L;A", "L | A", "L, A", '["L", "A"]'])
def test_a_table_with_secondary_types(tmp_path, cell):
    file = written(tmp_path, f"id\ttext\tgold_type\tsecondary_types\na\tx\tM\t{cell}\nb\ty\tL\t\n")
    assert gold_of(file) == EXPECTED


@pytest.mark.parametrize(
    "content",
    [
        "id,label\na,M\nb,L\n",
        "\ufeffID;Label\r\na;M\r\n\r\nb;L\r\n",
        '"qid"\t"gold_label"\n"a"\t"M"\nb\tL',
        gzip.compress(b"id,type\na,M\nb,L\n", mtime=0),
        '{"id": "a", "label": "M"}\n{"id": "b", "label": "L"}\n',
        '{"qid": "a", "gold_type": "M"}\n\n{"id": "b", "gold_type": "L"}',
        '[{"id": "a", "type": "M"}, {"id": "b", "type": "L"}]',
        '{"a": "M", "b": "L"}',
        '{\n  "a": "M",\n  "b": {"label": "L", "secondary_types": []}\n}\n',
    ],
)
def test_the_forms_of_a_file(tmp_path, content):
    assert labels_of(clean(written(tmp_path, content)).gold) == {"a": "M", "b": "L"}


def test_heritage_entries(tmp_path):
    entries = [
        {
            "id": "a",
            "text": "Het museum",
            "type_classification": {"primary_type": "M", "secondary_types": ["L", "A"]},
            "strata": {"country": "NL"},
        },
        {"id": "b", "text": "De bibliotheek", "type_classification": {"primary_type": "L"}},
        {"id": "c", "text": "Iets", "qa_pairs": []},
    ]
    lines = "\n".join(map(json.dumps, entries))
    found = clean(written(tmp_path, lines, "entries.jsonl"))
    assert {id: (one.label, one.secondary) for id, one in found.gold.items()} == {
        **EXPECTED,
        "c": (None, ()),
    }
    assert found.gold["a"].strata == {"country": "NL"}


def test_one_entry_is_an_entry_and_no_mapping(tmp_path):
    entry = {"id": "a", "text": "x", "type_classification": {"primary_type": "M"}}
    assert labels_of(clean(written(tmp_path, json.dumps(entry, indent=2))).gold) == {"a": "M"}


def test_records_mappings_and_frames_say_the_same():
    records = [
        {"id": "a", "gold_type": "M", "secondary_types": ["L", "A"]},
        {"id": "b", "gold_type": "L", "secondary_types": None},
    ]
    frame = pl.DataFrame(records)
    assert gold_of(records) == gold_of(frame) == EXPECTED
    assert gold_of({"a": {"label": "M", "secondary_types": "L|A"}, "b": "L"}) == EXPECTED


@pytest.mark.parametrize(
    "name", ["predicted_type", "prediction", "pred_type", "predicted", "label", "type"]
)
def test_the_names_of_a_prediction(name):
    found = clean({"a": "M"}, [{"id": "a", name: "L", "gold_type": "M"}])
    assert labels_of(found.predicted) == {"a": "L"}


def test_one_table_may_hold_both_sides(tmp_path):
    file = written(tmp_path, "id,gold_type,predicted_type\na,M,L\nb,L,\n")
    found = clean(file, file)
    assert labels_of(found.gold) == {"a": "M", "b": "L"}
    assert labels_of(found.predicted) == {"a": "L", "b": None}


def test_a_field_may_be_named_on_either_side():
    gold = [{"id": "a", "truth": {"kind": "M"}, "label": "wrong"}]
    found = clean(gold, [{"id": "a", "guess": "L"}], field="truth.kind", predicted_field="guess")
    assert labels_of(found.gold) == {"a": "M"} and labels_of(found.predicted) == {"a": "L"}


def test_numbers_and_booleans_are_labels_and_whole_numbers_are_ids():
    found = clean([{"id": 1, "label": 3}, {"id": 2, "label": True}], {"1": 3.0, "2": "true"})
    assert labels_of(found.gold) == labels_of(found.predicted) == {"1": "3", "2": "true"}


def test_either_unicode_form_and_blanks_around_mean_the_same():
    found = clean({"muse\u0301e": " cafe\u0301 "}, {" mus\u00e9e": "caf\u00e9"})
    assert labels_of(found.gold) == labels_of(found.predicted) == {"mus\u00e9e": "caf\u00e9"}


def test_d4_texts_are_the_key_where_there_are_no_ids(tmp_path):
    rows = ["text\tgold_type\tsecondary_types", "Het muse\u0301um\tM\t", "De bieb\tL\t"]
    gold = written(tmp_path, "\n".join(rows))
    found = clean(gold, [{"text": " Het mus\u00e9um", "label": "M", "id": "7"}])
    assert found.key == "text"
    assert set(found.predicted) <= set(found.gold)


def test_d4_a_text_that_stands_twice_is_no_key(tmp_path):
    gold = written(tmp_path, "text\tgold_type\nx\tM\ny\tL\nx\tM\n")
    found, problems = read(gold, [{"text": "x", "label": "M"}])
    assert problems == [f'{gold}:4: text: "x" is at {gold}:2 already; give the items ids']
    assert found.duplicates == 1


def test_d4_nothing_is_joined_by_position(tmp_path):
    gold = written(tmp_path, "gold_type\nM\nL\n")
    never = "no record has an id or a text; gold and prediction are never joined by position"
    assert read(gold, [{"label": "M"}])[1] == [f"{gold}: {never}", f"predicted: {never}"]
    assert read(["M", "L"], ["M", "L"])[1] == [
        f"{side}: item {place}: record: expected an object, got text"
        for side in ("gold", "predicted")
        for place in (1, 2)
    ]


def test_ids_on_one_side_and_texts_on_the_other_do_not_meet():
    _, problems = read([{"id": "a", "label": "M"}], [{"text": "x", "label": "M"}])
    assert problems == ["gold and predicted: one has ids and the other texts; give both the same"]


def test_an_item_that_stands_twice_is_a_problem_with_both_places(tmp_path):
    gold = written(tmp_path, "id,label\na,M\nb,L\na,L\n")
    found, problems = read(gold)
    assert problems == [f'{gold}:4: id: "a" is at {gold}:2 already; keep one']
    assert labels_of(found.gold) == {"a": "M", "b": "L"}
    again = written(tmp_path, '{"a": "M",\n "a": "L"}', "twice.json")
    assert read(again)[1] == [f'{again}: key "a" appears 2 times in one object; keep one']


def test_all_that_is_wrong_with_records_is_told():
    gold = [
        {"id": "a", "label": "M"},
        {"id": "", "label": None, "secondary_types": [3], "text": 4, "strata": []},
        {"label": ["M"], "secondary_types": "[M"},
        {"id": 1.5, "label": {}, "secondary_types": 3},
        "M",
    ]
    assert read(gold)[1] == [
        "gold: item 5: record: expected an object, got text",
        "gold: item 2: label: missing; gold says what is right",
        "gold: item 2: id: is empty",
        "gold: item 2: secondary_types[0]: expected text, got a number",
        "gold: item 2: text: expected text, got a number",
        "gold: item 2: strata: expected an object, got a list",
        "gold: item 3: id: missing; other records have one",
        "gold: item 3: label: expected text, a number or true or false, got a list",
        "gold: item 3: secondary_types: is not a list: not JSON: expecting value at column 2",
        "gold: item 4: id: expected text, got a number",
        "gold: item 4: label: expected text, a number or true or false, got an object",
        "gold: item 4: secondary_types: expected a list of texts, got a number",
    ]


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("id,label\na,M,x\nb,L\n", ":2: cells: 3, but the header has 2"),
        ("id,label,label\na,M,x\n", ':1: 2 columns are called "label"; keep one'),
        ('id\tlabel\na\t"M\nb\tL\n', ":2: not a row of cells"),
        (b"id,label\na,M\nb,\xff\n", ":3: is not UTF-8 text; save the table as UTF-8"),
        ('{"id": "a", "label": "M"}\n{"id": "b", "label":\n', ":2: "),
        ('[{"id": "a", "label": "M"}, ', ":1: "),
        ('{"a": "M",\n "b": \n', ": "),
        ("id,colour\na,red\n", ": no record has gold_type or gold_label or label"),
    ],
)
def test_broken_files_are_told_with_their_place(tmp_path, content, fact):
    file = written(tmp_path, content)
    _, problems = read(file)
    assert any(problem.startswith(f"{file}{fact}") for problem in problems)


def test_the_rest_of_a_broken_file_is_read(tmp_path):
    found, problems = read(written(tmp_path, "id,label\na,M\nb\nc,L\n"))
    assert len(problems) == 1 and labels_of(found.gold) == {"a": "M", "c": "L"}
    assert found.records == 2 + len(PREDICTED)


def test_a_label_field_nobody_has_names_those_there_are():
    assert read([{"id": "a", "colour": "M"}], field="kind")[1] == [
        'gold: no record has kind; there is "id", "colour": name the right one with --field',
        'predicted: no record has kind; there is "label", "id": name the right one with --field',
    ]


def test_predictions_may_say_nothing():
    found = clean({"a": "M"}, [{"id": "a", "prediction": None}])
    assert labels_of(found.predicted) == {"a": None}


def test_a_form_that_is_given_is_kept_to(tmp_path):
    line = written(tmp_path, '{"a": "M", "b": "L"}')
    assert labels_of(clean(line, form="json").gold) == {"a": "M", "b": "L"}
    never = "no record has an id or a text; gold and prediction are never joined by position"
    assert read(line, form="jsonl")[1] == [f"{line}: {never}"]
    table = written(tmp_path, "{kind},id,label\nx,a,M\n", "odd.csv")
    assert labels_of(clean(table, form="csv").gold) == {"a": "M"}
    assert read(table, form="json")[1]
    with pytest.raises(UsageError, match='format "xml" is none of json, jsonl, csv, tsv'):
        read(table, form="xml")


def test_files_without_items_hold_nothing_and_are_no_problem(tmp_path):
    for content in ("id,label\n", "[]"):
        assert clean(written(tmp_path, content), []).gold == {}
    empty = written(tmp_path, "")
    assert read(empty)[1] == [f"{empty}: the file is empty; write one JSON object a line"]


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\n\tid label1', max_size=60))
def test_no_file_whatever_ends_in_a_traceback(tmp_path_factory, content):
    file = written(tmp_path_factory.mktemp("any"), content)
    try:
        found, problems = read(file)
    except RagaugeError as error:
        found, problems = None, error.problems
    assert all(type(problem) is str for problem in problems)
    assert problems or found.records >= len(PREDICTED)
