"""Files that are broken, and numbers that are none: place, fact, remedy, and all of it at once."""

import gzip
import json

import pytest

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.scored.scored_file import read_scores

GOOD = '{"id": "a", "answer": "x", "faithfulness": 0.5}'


@pytest.fixture
def saved(tmp_path):
    def save(content, name="s.jsonl"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return save


def problems_of(file, **options):
    with pytest.raises(InputRejected) as error:
        read_scores(file, **options)
    return [problem.removeprefix(str(file)) for problem in error.value.problems]


def test_bare_tokens_are_read_in_score_columns(saved):
    file = saved(
        '{"id": "a", "faithfulness": NaN, "tone": 0.5}\n'
        '{"id": "b", "faithfulness": Infinity, "tone": -Infinity}\n'
        '{"id": "c", "faithfulness": 1e999, "tone": ' + "9" * 400 + "}\n"
        '{"id": "NaN", "answer": "NaN, Infinity", "faithfulness": 1, "tone": 2}\n'
    )
    rows = read_scores(file).rows
    assert [row.invalid for row in rows] == [
        {"faithfulness": "NaN"},
        {"faithfulness": "infinite", "tone": "infinite"},
        {"faithfulness": "infinite", "tone": "infinite"},
        {},
    ]
    assert rows[3].id == "NaN" and rows[3].answer == "NaN, Infinity"


def test_bare_tokens_anywhere_else_are_mistakes(saved):
    file = saved(
        '{"id": "a", "answer": NaN, "contexts": ["x", Infinity], "query": 1, "faithfulness": NaN}\n'
        + GOOD
        + '\n{"id": "b", "strata": {"country": NaN}, "faithfulness": 1}\n'
        '{"id": "c", "topic": "x", "faithfulness": 1}\n'
        '{"id": "d", "topic": NaN, "faithfulness": 1}\n'
    )
    remedy = "is not a JSON number; write null where there is no value"
    assert problems_of(file) == [
        f":1: answer: NaN {remedy}",
        f":1: contexts[1]: Infinity {remedy}",
        ":1: query: expected text, got a number",
        f":3: strata.country: NaN {remedy}",
        f":5: topic: NaN {remedy}",
    ]
    scored = read_scores(file, max_bad="3")
    assert [row.id for row in scored.rows] == ["a", "c"] and scored.rejected == 3
    assert scored.findings.counts["bad_line"] == 5
    first = next(one for one in scored.findings.kept() if one.code == "bad_line")
    assert first.where == f"{file}:1" and first.message == f"answer: NaN {remedy}"


def test_a_column_of_nothing_but_bare_tokens_is_empty_and_no_mistake(saved):
    file = saved('{"id": "a", "zeal": NaN, "tone": 1}\n{"id": "b", "zeal": null, "tone": 1}\n')
    scored = read_scores(file)
    assert scored.metrics == ("tone",) and scored.findings.counts == {"empty_field": 1}


def test_other_faults_of_a_line_with_tokens_are_still_found_at_their_column(saved):
    lines = [
        '{"id": "a", "faithfulness": NaN, "faithfulness": 1}',
        '{"id": "a", "faithfulness": NaN, "tone" 1}',
        '{"id": "a", "faithfulness": -Infinity, "answer": "x}',
        '{"id": "a", "faithfulness": NaN, "answer": "\\ud800"}',
        '{"id": "a", "faithfulness": NaNs}',
        GOOD,
    ]
    found = problems_of(saved("\n".join(lines)))
    assert found[0] == ':1: key "faithfulness" appears 2 times in one object; keep one'
    assert found[1] == ":2: not JSON: expecting ':' delimiter at column 41"
    assert found[2].startswith(":3: not JSON: unterminated string starting at column 50")
    assert "lone surrogate" in found[3] and found[4].startswith(":5: ")
    assert len(found) == 5


def test_a_text_that_is_a_mark_itself_stays_what_it_is(saved):
    file = saved('{"id": "\ue000", "answer": "\\uE001", "faithfulness": NaN}\n', "private.jsonl")
    row = read_scores(file).rows[0]
    assert (row.id, row.answer, row.invalid) == ("\ue000", "\ue001", {"faithfulness": "NaN"})


def test_every_fault_is_told_with_its_place(saved):
    file = saved(
        GOOD + '\n\n{"id": "b", "answer": 7, "contexts": 8, "faithfulness": 1}\nnull\n{"id": "c"\n'
    )
    found = problems_of(file)
    assert found == [
        ":3: answer: expected text, got a number",
        ":3: contexts: expected a list, got a number",
        ":4: record: expected an object, got null",
        ":5: not JSON: expecting ',' delimiter at column 11; the text is cut off",
    ]


def test_some_faults_may_be_let_pass(saved):
    file = saved("\n".join([GOOD, "{", *[GOOD] * 8]))
    assert len(problems_of(file)) == 1
    assert problems_of(file, max_bad="9%")
    for allowed in ("1", "10%", "100%"):
        scored = read_scores(file, max_bad=allowed)
        assert len(scored.rows) == 9 and scored.rejected == 1
    with pytest.raises(UsageError, match='--max-bad "a few" is neither a count'):
        read_scores(file, max_bad="a few")


def test_nothing_is_left_of_a_file_of_faults_alone(saved):
    found = problems_of(saved('{"id"\n{"id": 1\n'), max_bad="100%")
    assert len(found) == 3 and "holds no score row; write one a line" in found[2]
    assert problems_of(saved('{"id": "a", "answer": 1, "faithfulness": 1}'), max_bad="100%")


def test_faults_of_one_sort_are_one_with_a_count(saved):
    found = problems_of(saved('{"id"\n' * 150 + GOOD))
    assert len(found) == 1 and "(and 149 more like this: " in found[0]


@pytest.mark.parametrize(
    ("content", "name", "fact"),
    [
        ("", "a.jsonl", "the file is empty"),
        ("[]", "a.json", "holds no score row"),
        ("\n\n", "a.csv", "the file has only empty lines"),
        ("id\n", "b.csv", "holds no score row"),
    ],
)
def test_an_empty_file_is_refused(saved, content, name, fact):
    assert fact in problems_of(saved(content, name))[0]


def test_a_file_without_scores_is_refused_with_what_it_has(saved):
    fact = problems_of(saved('{"id": "a", "answer": "x", "topic": "y"}'))[0]
    assert fact.startswith(
        ': no field is a score; there is "id", "answer", "topic"; name scores by'
    )
    assert "faithfulness" in fact
    assert "no row has a field" in problems_of(saved("{}"))[0]


def test_tables_that_do_not_fit_are_told(saved):
    twice = saved("id,tone,tone\na,1,2\n", "twice.csv")
    assert problems_of(twice)[0] == ':1: 2 columns are called "tone"; keep one'
    uneven = saved("id,tone\na,1\nb\nc,2,3\n", "uneven.csv")
    assert problems_of(uneven) == [
        ":3: cells: 1, but the header has 2",
        ":4: cells: 3, but the header has 2",
    ]
    columns = saved(json.dumps({"id": ["a", "b"], "faithfulness": [1]}), "columns.json")
    assert "columns: " in problems_of(columns)[0]
    with pytest.raises(InputRejected, match="is not UTF-8"):
        read_scores(saved(b"id,tone\na,\xff\n", "latin.csv"))


def test_lists_in_cells_that_cannot_be_read_are_told(saved):
    file = saved("id,contexts,gold_ids,tone\na,\"['x', 'y\",[p1,1\n", "lists.csv")
    found = problems_of(file)
    assert found[0].startswith(":2: contexts: begins as a list and cannot be read as one")
    file = saved('{"id": "a", "retrieved_ids": [{"x": 1}], "tone": 1}')
    assert problems_of(file) == [
        ":1: retrieved_ids[0]: expected the id of a passage, got an object"
    ]
    file = saved('{"id": "a", "strata": "NL", "tone": 1}')
    assert problems_of(file) == [":1: strata: expected an object, got text"]


def test_strata_in_a_cell_are_json(saved):
    file = saved('id,strata,tone\na,"{""country"": ""NL""}",1\n', "strata.csv")
    assert read_scores(file).rows[0].strata == {"country": "NL"}


def test_a_broken_or_missing_file_is_refused(saved, tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_scores(tmp_path / "none.jsonl")
    with pytest.raises(InputRejected, match="the compressed data is damaged"):
        read_scores(saved(gzip.compress(GOOD.encode() * 50)[:-20], "cut.jsonl.gz"))
    with pytest.raises(InputRejected, match="cannot be read as Parquet"):
        read_scores(saved("x", "bad.parquet"))
    with pytest.raises(InputRejected, match="not JSON"):
        read_scores(saved('{\n "rows": [\n', "cut.json"))
