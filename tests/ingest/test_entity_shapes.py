"""Entities in the JSON of other tools: spaCy, doccano, Hugging Face."""

import json

import pytest

from ragauge.ingest.annotated.entity_files import entities_of, read_entities
from ragauge.ingest.annotated.entity_reading import ReadingOptions
from tests.ingest.annotated import entities_in

TEXT = "Het Rijksmuseum in Ede"
TOKENS = TEXT.split()
FOUND = [(4, 15, "ORG"), (19, 22, "LOC")]


def read(*records, **options):
    problems = []
    found = entities_of(records, ReadingOptions(**options), problems=problems)
    spans = [
        [(one.start, one.end, one.type) for one in document.entities]
        for document in found.documents
    ]
    return spans, problems, found


@pytest.mark.parametrize(
    "fields",
    [
        {"entities": [[4, 15, "ORG"], [19, 22, "LOC"]]},
        {"entities": [(4, 15, "ORG"), (19, 22, "LOC")]},
        {"label": [[4, 15, "ORG"], [19, 22, "LOC"]]},
        {"labels": [[4, 15, "ORG"], [19, 22, "LOC"]]},
        {"entities": [{"start": 4, "end": 15, "entity_group": "ORG"}, [19, 22, "LOC"]]},
        {
            "entities": [
                {"start": 4, "end": 15, "entity": "ORG"},
                {"start": 19, "end": 22, "tag": "LOC"},
            ]
        },
        {
            "entities": [
                {"id": 7, "start_offset": 4, "end_offset": 15, "label": "ORG"},
                {"id": 8, "start_offset": 19, "end_offset": 22, "label": "LOC"},
            ]
        },
        {"tokens": TOKENS, "ner_tags": ["O", "B-ORG", "O", "B-LOC"]},
        {"tokens": TOKENS, "ner_tags": ["O", "S-ORG", "O", "S-LOC"]},
        {"tokens": TOKENS, "entities": [[1, 2, "ORG"], [3, 4, "LOC"]]},
    ],
)
def test_shapes_that_say_the_same(fields):
    assert read({"id": "d", "text": TEXT, **fields})[:2] == ([FOUND], [])


def test_tags_make_a_text_of_their_tokens(tmp_path):
    file = tmp_path / "tags.jsonl"
    file.write_text(json.dumps({"id": 1, "tokens": TOKENS, "ner_tags": ["O", "B-X", "I-X", "O"]}))
    problems = []
    (document,) = read_entities(file, problems=problems).documents
    assert (problems, document.id, document.text) == ([], "1", TEXT)
    assert [one.text for one in document.entities] == ["Rijksmuseum in"]


def test_tags_out_of_order_are_told_and_strict_leaves_them_out(tmp_path):
    record = {"id": "d", "tokens": TOKENS, "ner_tags": ["O", "I-ORG", "O", "B-LOC"]}
    spans, problems, found = read(record)
    assert (spans, problems) == ([FOUND], [])
    assert [one.code for one in found.findings] == ["broken_tags"]
    file = tmp_path / "tags.jsonl"
    file.write_text(json.dumps(record))
    (document,) = entities_in(file, problems, scheme="strict").documents
    assert [one.type for one in document.entities] == ["LOC"]


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"entities": [[4, 15]]}, "entities[0]: expected start, end and type, got a list of 2"),
        ({"entities": ["ORG"]}, "entities[0]: expected an object, or [start, end, type], got text"),
        ({"entities": [[4, 15, 7]]}, "entities[0].type: expected text, got a number"),
        ({"tokens": TOKENS, "ner_tags": [0, 3, 0, 5]}, "write their names, no numbers"),
        ({"tokens": TOKENS, "ner_tags": ["O"]}, "ner_tags: there are 1, and 4 tokens"),
        ({"ner_tags": ["O"]}, "ner_tags: there are 1, and 0 tokens"),
        ({"tokens": TOKENS, "ner_tags": ["O", "X", "O", "O"]}, 'ner_tags[1]: tag "X" is not O'),
    ],
)
def test_a_shape_that_is_not_right_is_told(fields, fact):
    spans, problems, _ = read({"id": "d", "text": TEXT, **fields})
    assert spans == [] and len(problems) == 1 and fact in problems[0]


def test_a_label_of_the_document_is_no_entity():
    spans, problems, _ = read({"id": "d", "text": TEXT, "label": "positive", "entities": []})
    assert (spans, problems) == ([[]], [])
    assert "entities: missing" in read({"id": "d", "text": TEXT, "label": "positive"})[1][0]


@pytest.mark.parametrize("input_format", [None, "iob2"])
@pytest.mark.parametrize("column", [9, 1, 0])
def test_a_column_that_is_not_there_is_told_once(tmp_path, column, input_format):
    file = tmp_path / "tags.txt"
    file.write_text("Het DET O\nRijksmuseum NOUN B-ORG\n")
    problems = []
    entities_in(file, problems, input_format, column=column)
    assert problems == [f"{file}: column {column}: there are 3, and the first is the token"]
