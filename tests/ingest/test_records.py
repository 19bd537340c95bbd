"""Records of any source: the same rows, whatever form they come in."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.report import Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest import records as records_module
from ragauge.ingest.fields import Field, Shape, an_id, boolean, mapping, number, text, value_at
from ragauge.ingest.lines import decode
from ragauge.ingest.records import FORMS, Records, Row, columns_for

NOTE = Shape(
    name="note",
    doc="What somebody wrote about an item.",
    wrappers=("notes", "rows"),
    keyed="text",
    fields=(
        Field("id", an_id, "The item.", aliases=("item_id",), missing="missing; name the item"),
        Field("text", text, "What was written.", aliases=("note", "meta.note")),
        Field("score", number, "From 0 to 1."),
        Field("open", boolean, "Whether it is open."),
        Field("strata", mapping, "What it is sliced by.", many=True),
    ),
)
ROWS = [
    {"id": "a", "text": "one", "score": 0.5, "open": True},
    {"id": "b", "text": "two; and, more", "score": 1.0, "open": False},
    {"id": "c", "text": 'said "three"\non two lines', "score": 0.25, "open": True},
]


def read(source, **options) -> tuple[list[Row], list[str]]:
    problems: list[str] = []
    return list(Records(source, NOTE, problems, **options).each()), problems


def values(source, **options) -> list[dict[str, object]]:
    rows, problems = read(source, **options)
    assert problems == []
    return [row.values for row in rows]


def as_lines() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def as_table(separator: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow([" ID ", "Text", "SCORE", "open"])
    writer.writerows([row["id"], row["text"], row["score"], row["open"]] for row in ROWS)
    return out.getvalue().encode()


def in_columns() -> dict[str, list[object]]:
    return {name: [row[name] for row in ROWS] for name in ROWS[0]}


def by_column_and_row() -> dict[str, dict[str, object]]:
    return {name: {str(at): row[name] for at, row in enumerate(ROWS)} for name in ROWS[0]}


CONTENTS = {
    "lines": as_lines(),
    "lines of a Windows program": as_lines().replace(b"\n", b"\r\n"),
    "lines after a mark": b"\xef\xbb\xbf" + as_lines(),
    "UTF-16": as_lines().decode().encode("utf-16"),
    "an array": json.dumps(ROWS).encode(),
    "an array over lines": json.dumps(ROWS, indent=2).encode(),
    "an object that holds rows": json.dumps({"version": 1, "notes": ROWS}).encode(),
    "columns": json.dumps(in_columns()).encode(),
    "columns by row": json.dumps(by_column_and_row()).encode(),
    "columns apart": json.dumps(
        {"columns": [*ROWS[0]], "index": [0, 1, 2], "data": [[*row.values()] for row in ROWS]}
    ).encode(),
    "CSV": as_table(","),
    "CSV with semicolons": as_table(";"),
    "TSV": as_table("\t"),
    "gzip": gzip.compress(as_lines()),
    "zstd": zstandard.compress(as_lines()),
    "packed UTF-16": gzip.compress(as_table(",").decode().encode("utf-16")),
}


@pytest.mark.parametrize("form", CONTENTS)
def test_every_form_of_a_file_gives_the_same_records(form, tmp_path):
    path = tmp_path / "notes"
    path.write_bytes(CONTENTS[form])
    assert values(path) == values(str(path)) == ROWS


def saved_by_hugging_face(folder: Path) -> Path:
    folder.mkdir()
    frame = pl.DataFrame(ROWS)
    names = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    for name, part in zip(names, (frame[:2], frame[2:]), strict=True):
        part.write_ipc_stream(folder / name)
    files = [{"filename": name} for name in names]
    (folder / "state.json").write_text(json.dumps({"_data_files": files}))
    return folder


def test_frames_in_files_and_at_hand_give_the_same_records(tmp_path):
    frame = pl.DataFrame(ROWS)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.feather")
    frame.write_ipc_stream(tmp_path / "a.arrows")
    saved = saved_by_hugging_face(tmp_path / "saved")
    for path in (tmp_path / "a.parquet", tmp_path / "a.feather", tmp_path / "a.arrows", saved):
        assert values(path) == ROWS
    assert values(frame) == values(ROWS) == values(iter(ROWS)) == values(in_columns()) == ROWS


def test_a_folder_of_splits_names_them(tmp_path):
    saved_by_hugging_face(tmp_path / "train")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train"]}')
    with pytest.raises(InputRejected, match=r"holds several splits; name one of them: .*train"):
        read(tmp_path)
    with pytest.raises(InputRejected, match="is a folder; name the files in it"):
        read(tmp_path.parent)


def test_one_object_is_one_record_or_records_by_id(tmp_path):
    path = tmp_path / "notes.json"
    path.write_text('{"id": 7, "text": "one"}')
    assert values(path) == values({"id": 7, "text": "one"}) == [{"id": "7", "text": "one"}]
    path.write_text('{\n  "a": "one",\n  "b": {"text": "two"}\n}')
    assert values(path) == [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]
    assert values({"a": "one"}) == [{"id": "a", "text": "one"}]


def test_names_of_fields_may_have_any_case_and_spaces():
    assert values([{" Item-ID": "a", "Note ": "one"}]) == [{"id": "a", "text": "one"}]
    assert values([{"id": "a", "meta": {"note": "one"}}]) == [{"id": "a", "text": "one"}]
    # The name itself goes before an alias, an alias with a value before one without.
    assert values([{"item_id": "b", "id": "a", "text": None, "note": "one"}]) == [
        {"id": "a", "text": "one"}
    ]


def test_strata_are_an_object_or_columns_of_a_table(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("id,strata.language,strata.country\na,nl,\nb,en,GB\n")
    assert values(path) == [
        {"id": "a", "strata": {"language": "nl"}},
        {"id": "b", "strata": {"language": "en", "country": "GB"}},
    ]
    assert values([{"id": "a", "strata": {"language": "nl"}}]) == [
        {"id": "a", "strata": {"language": "nl"}}
    ]


def test_columns_say_where_a_source_has_a_field():
    nested = [{"k": "a", "out": {"said": "one", "parts": [{"said": "two"}]}}]
    assert values(nested, columns={"id": "k", "text": "out.said"}) == [{"id": "a", "text": "one"}]
    _, problems = read(nested, columns={"id": "k", "text": "out.parts[*].said"})
    assert problems == ["records: item 1: out.parts[*].said: expected text, got a list"]


def test_a_column_that_is_not_there_is_a_problem_that_lists_those_there_are():
    _, problems = read([{"id": "a", "body": "one"}], columns={"text": "boddy"})
    assert problems == ['records: text: no note has "boddy"; there is "id", "body"']
    with pytest.raises(UsageError, match="there is no txt; did you mean text"):
        read([{"id": "a"}], columns={"txt": "body"})


def test_columns_are_meant_of_the_first_source_that_has_the_field():
    item = Shape(
        name="item", fields=(Field("id", an_id, "Its id."), Field("kind", text, "Its kind."))
    )
    given = {"id": "a", "kind": "b", "items.id": "c"}
    assert columns_for(given, notes=NOTE, items=item) == {
        "notes": {"id": "a"},
        "items": {"kind": "b", "id": "c"},
    }
    with pytest.raises(UsageError, match="there is no sort"):
        columns_for({"sort": "a"}, notes=NOTE, items=item)


def test_columns_that_nothing_reads_are_said_once_with_what_was_perhaps_meant():
    findings = Findings()
    records = Records([{"id": "a", "scor": 1, "zzz": 2, "strata.x": "y"}] * 3, NOTE, [])
    assert len(list(records.each())) == 3
    assert records.note_unread(findings) == ("scor", "zzz")
    (finding,) = findings.kept()
    assert (finding.code, finding.where) == ("unread_columns", "records")
    assert finding.message == "columns not read: scor (did you mean score?), zzz"


def test_a_field_that_no_record_has_is_said_once_and_first():
    _, problems = read([{"name": "a", "text": 1}, {"name": "b", "text": "x"}])
    assert problems == [
        'records: no note has id or item_id; there is "name", "text": name it with --map id=COLUMN',
        "records: item 1: text: expected text, got a number",
    ]


def test_a_table_without_a_needed_column_is_refused_before_its_rows(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("name,text\na,one\nb,two\n")
    _, problems = read(path)
    assert problems == [
        f'{path}:1: no column is called id or item_id; there is "name", "text": '
        "name it with --map id=COLUMN"
    ]
    path.write_text("just a sentence\nand another\n")
    assert "the first line names no column of a note" in read(path)[1][0]


def test_everything_wrong_has_its_place(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"id": "a", "score": "x"}\n{"id": ""}\n\n[1]\n{"id": "b"\n{"id": true}\n')
    rows, problems = read(path)
    assert rows == []
    assert [one.removeprefix(str(path)) for one in problems] == [
        ":1: score: expected a number, got text",
        ":2: id: is empty",
        ":4: record: expected an object, got a list",
        ":5: not JSON: expecting ',' delimiter at column 11; the text is cut off",
        ":6: id: expected text, got true or false",
    ]
    records = Records(path, NOTE, [])
    assert [row.place for row in records.rows()] == [f"{path}:{n}" for n in (1, 2, 6)]
    assert sorted(records.unreadable) == [2, 3]


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file has only empty lines"),
        (b"[]", "holds no note"),
        (b'{"notes": []}', "holds no note"),
    ],
)
def test_nothing_is_said_to_be_nothing(content, fact, tmp_path):
    path = tmp_path / "notes"
    path.write_bytes(content)
    assert read(path) == ([], [f"{path}: {fact}; write one JSON object a line"])


def test_tables_are_refused_in_words(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("id,text,ID \na,b,c\n")
    assert read(path)[1] == [f'{path}:1: 2 columns are called "ID"; keep one']
    path.write_text("id,text\na\nb,c\n")
    rows, problems = read(path)
    assert ([row["id"] for row in rows], problems) == (
        ["b"],
        [f"{path}:2: cells: 1, but the header has 2"],
    )
    path.write_text("id,open,score\na,maybe,high\n")
    assert read(path)[1] == [
        f'{path}:2: score: expected a number, got "high"',
        f'{path}:2: open: expected true or false, got "maybe"',
    ]
    assert read({"id": ["a"], "text": ["x", "y"]})[1] == [
        'records: columns: "id", "text" have 1 and 2 cells; give each one cell a row'
    ]


def test_a_form_that_is_said_is_taken_at_its_word(tmp_path):
    path = tmp_path / "notes"
    path.write_bytes(as_table(","))
    assert values(path, form="csv") == ROWS
    assert "is not JSON, as --input-format jsonl says" in read(path, form="jsonl")[1][0]
    with pytest.raises(UsageError, match=f'format "xml" is none of {", ".join(FORMS)}'):
        read(path, form="xml")


KEYS = st.sampled_from(["id", "text", "score", "other"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=4), min_size=2, max_size=5))
def test_lines_and_arrays_agree_on_what_is_right_and_what_is_wrong(records):
    lines = "\n".join(map(json.dumps, records)).encode()
    array = json.dumps(records).encode()
    of_lines, wrong_lines = read(lines, form="jsonl")
    of_array, wrong_array = read(array, form="json")
    assert [row.values for row in of_lines] == [row.values for row in of_array]
    assert len(wrong_lines) == len(wrong_array)


@given(JSON, st.text("abid.[*]", max_size=8))
def test_a_path_never_fails(value, path):
    found = value_at(value, path)
    assert found is None or isinstance(value, dict | list)


RAW = st.sampled_from(
    (
        *('{"id":"a","text":"b"}', '{"text":"d","id":1}', '{"id":"a","text":null} ', "{}", ""),
        *('{"id":"a","id":"b"}', '{"id":"\\u003a","id":"x"}', '{"id":"a:b","text":["c"]}'),
        *('{"id":1}{"id":2}', '{"id":', "3}", "  ", "[1]", '{"id":{"b":{}}}', '{"id":NaN}'),
        *('{"i d":"a"}', '{"":1}', '{"\\n":1}', '{"id":"\\ud800"}'),
    )
)


def line_by_line(line):
    return decode(line)


@given(
    st.lists(RAW, min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from((1, 20, 1 << 20)),
)
def test_lines_that_are_decoded_together_are_those_decoded_one_by_one(lines, end, closed, part):
    content = (end.join(lines) + end * closed).encode()
    with mock.patch.object(records_module, "TOGETHER", part):
        _check_together(content)


def counts_of(records):
    """How often each set of keys was met, in whatever order a record has them."""
    counts = Counter()
    for keys, times in records.keys.items():
        counts[frozenset(keys)] += times
    return counts


def _check_together(content):
    one_by_one, together = [], []
    records = Records(content, NOTE, one_by_one, form="jsonl", decode=line_by_line)
    expected = list(records.objects())
    for read in (
        lambda found: list(found.objects()),
        lambda found: list(zip(*found.all_objects(), strict=True)),
    ):
        together = []
        found = Records(content, NOTE, together, form="jsonl")
        assert read(found) == expected
        assert (together, found.seen) == (one_by_one, records.seen)
        assert counts_of(found) == counts_of(records)


def test_very_many_texts_by_id_are_records_in_columns():
    texts = {f"i{number}": "one" for number in range(200)} | {"text": "x"}
    problems = []
    records = Records(texts, NOTE, problems)
    places, objects = records.all_objects()
    assert (places[0], objects[0]) == ('records: "i0"', {"text": "one", "id": "i0"})
    assert (places[-1], objects[-1]) == ('records: "text"', {"text": "x", "id": "text"})
    assert [row["id"] for row in Records(texts, NOTE, problems).each()] == [*texts]
    assert problems == []
