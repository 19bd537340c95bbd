"""Rows as other tools leave them: lists in cells, columns in place of rows, strange fields."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.report import Findings
from ragauge.errors import InputRejected
from ragauge.ingest.answers import read_answers
from ragauge.ingest.fields import BadField
from ragauge.ingest.written_lists import written_list

TWO = ["The building's old.", 'Pierre "Cuypers" designed it.']


def read(source):
    problems, findings = [], Findings()
    return read_answers(source, problems, findings), problems, findings


def contexts_of(value):
    answered, problems, _ = read([{"answer": "a", "contexts": value}])
    assert problems == []
    return [context.text for context in answered.rows[0].contexts]


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(TWO),
        str(TWO),
        str(np.array(TWO, dtype=object)),
        repr(np.array(TWO, dtype=object)),
        "['The building\\'s old.'\n 'Pierre \"Cuypers\" designed it.']",
        str([{"id": "p", "text": TWO[0]}, {"text": TWO[1]}]),
    ],
)
def test_a_list_in_a_cell_is_that_list(written):
    assert contexts_of(written) == TWO


@given(st.lists(st.text(max_size=12), max_size=4))
def test_what_python_and_numpy_write_is_read_back(texts):
    assert written_list(str(texts), "contexts") == texts
    array = np.array(texts, dtype=object)
    with np.printoptions(linewidth=20):
        assert written_list(str(array), "contexts") == texts


@pytest.mark.parametrize(
    "text",
    [
        "[1] The museum opened in 1800. [2] It moved.",
        "[[Rijksmuseum]] is a museum.",
        "{{Infobox museum}} The museum.",
        "{'name': 'Cafe', 'city': 'Ede'}",
        '{"name": "Cafe", "city": "Ede"}',
        "The list ['a', 'b'] stands inside.",
    ],
)
def test_text_and_records_that_hold_no_passage_stay_one_text(text):
    assert contexts_of(text) == [text]


def test_an_object_with_a_text_is_a_passage():
    answered, _, _ = read([{"answer": "a", "contexts": '{"id": "p7", "text": "Of old."}'}])
    assert [(one.id, one.text) for one in answered.rows[0].contexts] == [("p7", "Of old.")]


@pytest.mark.parametrize(
    "cell",
    ["['The building', 'Pierre Cu", "['a' ... 'z']", "['a', b]", "[a, b]", '{"text": "cut o'],
)
def test_what_begins_as_a_list_and_is_none_is_a_bad_line(cell, tmp_path):
    with pytest.raises(BadField, match="cannot be read as one"):
        written_list(cell, "contexts")
    file = tmp_path / "rows.csv"
    quoted = cell.replace('"', '""')
    file.write_text(f'id,answer,contexts\nx,a,"{quoted}"\ny,b,fine\n')
    answered, problems, _ = read(str(file))
    assert [row.id for row in answered.rows] == ["y"]
    [problem] = problems
    assert problem.startswith(f"{file}:2: contexts: begins as ")
    assert problem.endswith('write a JSON list of texts, such as ["one", "two"]')


def test_numbers_in_a_list_are_told_as_such():
    _, problems, _ = read([{"answer": "a", "contexts": "[1, 2]"}])
    assert "contexts[0]: expected text" in problems[0]


@pytest.mark.parametrize("cell", ["[c1, c2]", "['c1', 'c2']", '["c1", "c2"]', "c1, c2", "c1 c2"])
def test_ids_in_a_cell_are_taken_apart(cell):
    answered, problems, _ = read([{"answer": "a", "cited": cell}])
    assert (problems, answered.rows[0].cited) == ([], ("c1", "c2"))


@pytest.mark.parametrize("missing", ["nan", "NaN", ""])
def test_what_pandas_writes_for_a_missing_cell_is_missing(tmp_path, missing):
    file = tmp_path / "rows.csv"
    file.write_text(f"id,answer,reference,contexts\nx,a,{missing},{missing}\ny,{missing},r,c\n")
    answered, problems, findings = read(str(file))
    assert problems == []
    first, second = answered.rows
    assert (first.references, first.contexts, second.answer) == ((), None, None)
    assert findings.counts == {"no_answer": 1}


def test_a_missing_number_of_a_frame_is_missing():
    row = {"id": "x", "answer": "a", "reference": float("nan"), "contexts": float("nan")}
    answered, problems, _ = read([row])
    assert (problems, answered.rows[0].contexts, answered.rows[0].references) == ([], None, ())


RECORDS = [
    {"question": "Who?", "answer": "Cuypers.", "contexts": ["one", "two"]},
    {"question": "When?", "answer": "In 1885.", "contexts": ["three"]},
]
COLUMNS = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        {name: dict(zip("01", cells, strict=True)) for name, cells in COLUMNS.items()},
        {
            "columns": list(COLUMNS),
            "index": [0, 1],
            "data": [list(record.values()) for record in RECORDS],
        },
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_columns_are_rows(tmp_path, table, indent):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(table, indent=indent))
    for source in (str(file), table):
        answered, problems, _ = read(source)
        assert problems == []
        assert [row.id for row in answered.rows] == ["1", "2"]
        assert [(row.question, row.answer) for row in answered.rows] == [
            ("Who?", "Cuypers."),
            ("When?", "In 1885."),
        ]
        assert [len(row.contexts) for row in answered.rows] == [2, 1]


@pytest.mark.parametrize(
    ("table", "fact"),
    [
        ({"answer": ["a", "b"], "question": ["q"]}, "have 1 and 2 cells"),
        ({"answer": ["a", "b"], "question": "q"}, '"question" is not a list of cells'),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(table, fact):
    with pytest.raises(InputRejected, match=fact):
        read(table)


def test_an_evaluation_of_deepeval_is_its_results(tmp_path):
    result = {
        "name": "test_case_0",
        "success": True,
        "metrics_data": [],
        "conversational": False,
        "input": "Who?",
        "actual_output": "Cuypers.",
        "retrieval_context": ["Cuypers designed it."],
    }
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"test_results": [result], "confident_link": None}))
    answered, problems, _ = read(str(file))
    assert problems == []
    assert [row.answer for row in answered.rows] == ["Cuypers."]


def test_samples_of_several_turns_are_called_that():
    turns = [{"content": "hi", "type": "human"}, {"content": "hello", "type": "ai"}]
    _, problems, _ = read([{"user_input": turns, "reference": "x"}])
    assert len(problems) == 1
    assert "user_input: is a conversation of several turns; one answer a row" in problems[0]


def test_two_answers_in_a_row_that_differ_are_a_finding():
    rows = [
        {"id": "x", "answer": "a", "response": "b"},
        {"id": "y", "answer": "a", "response": "a "},
        {"id": "z", "answer": "a", "response": None},
    ]
    answered, _, findings = read(rows)
    assert [row.answer for row in answered.rows] == ["a", "a", "a"]
    assert findings.counts == {"rival_answers": 1}
    assert "answer and response" in findings.kept()[0].message


def test_a_number_as_reference_is_told_to_be_text():
    _, problems, _ = read([{"answer": "a", "reference": 1800}])
    assert problems[0].endswith("reference: expected text, got a number; write it in quotes")


@pytest.mark.parametrize("name", ["documents", "passages", "chunks", "source_documents"])
def test_contexts_under_other_names(name):
    answered, problems, _ = read([{"answer": "a", name: [{"page_content": "one"}, "two"]}])
    assert problems == []
    assert [context.text for context in answered.rows[0].contexts] == ["one", "two"]


def test_lines_that_are_left_out_keep_their_place(tmp_path):
    file = tmp_path / "rows.jsonl"
    lines = ['{"id": "a", "answer": 7}', "{", '{"answer": "x"}', '{"id": "a", "answer": "y"}', "{"]
    file.write_text("\n\n".join(lines))
    answered, problems, findings = read(str(file))
    assert [row.id for row in answered.rows] == ["3", "a#2"]
    assert [(place, one.unit, one.given) for place, one in sorted(answered.rejected.items())] == [
        (0, "a", "a"),
        (1, "2", None),
        (4, "5", None),
    ]
    assert answered.rejected[0].facts == ("answer: expected text, got a number",)
    assert "not JSON" in answered.rejected[1].facts[0]
    assert len(problems) == 3
    assert findings.counts == {"made_id": 1, "duplicate_id": 1}


def test_rows_of_a_table_that_are_left_out_keep_their_place(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("id,answer\nx,a\ny,b,c\nz,d\n")
    answered, problems, _ = read(str(file))
    assert [row.id for row in answered.rows] == ["x", "z"]
    assert [*answered.rejected] == [1]
    assert problems == [f"{file}:3: cells: 3, but the header has 2"]
