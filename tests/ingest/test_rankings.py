"""Judgements and runs in every form: told by their content, read, written and read again."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.ranked.ranking_rows import RankingRows, Role
from ragauge.ingest.ranked.ranking_writing import WRITTEN_RANKINGS, by_query, written_rankings
from ragauge.ingest.ranked.rankings import form_of, read_content, read_rankings

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": -1, "ü/3": 3}}
RUN = {"q1": {"d2": 9.5, "d1": 8.25}, "q2": {"ü/3": 0.1}}
BEIR = b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\nq2\t\xc3\xbc/3\t3\n"


def read(content: bytes, role: Role, form: str | None = None) -> RankingRows:
    problems: list[str] = []
    rows = read_content("file", content, role, problems, form)
    assert not problems
    return rows


def faults(content: bytes, role: Role) -> list[str]:
    problems: list[str] = []
    read_content("file", content, role, problems)
    return problems


@pytest.mark.parametrize("form", WRITTEN_RANKINGS)
def test_judgements_come_back_as_they_were_written(form: str) -> None:
    assert by_query(read(written_rankings(QRELS, "qrels", form), "qrels")) == QRELS


@pytest.mark.parametrize("form", ["trec", "ranx", "jsonl"])
def test_a_run_comes_back_as_it_was_written(form: str) -> None:
    assert by_query(read(written_rankings(RUN, "run", form), "run")) == RUN


def test_a_list_of_documents_is_written_in_its_order() -> None:
    rows = read(written_rankings({"q1": ["d9", "d1"]}, "run", "trec"), "run")
    assert by_query(rows) == {"q1": {"d9": 2.0, "d1": 1.0}}
    assert read(written_rankings({"q1": ["d9", "d1"]}, "run", "jsonl"), "run").frame[
        "rank"
    ].to_list() == [1, 2]


@pytest.mark.parametrize("form", ["trec", "ranx", "jsonl"])
def test_results_without_scores_keep_their_order_in_every_form(form: str) -> None:
    ranked = {"q1": ["d9", "d1", "d5"], "q2": {"d1": 1.5}}
    again = by_query(read(written_rankings(ranked, "run", "jsonl"), "run"))
    assert again == ranked
    found = by_query(read(written_rankings(again, "run", form), "run"))["q1"]
    assert sorted(found, key=found.get if isinstance(found, dict) else found.index) == (
        ["d5", "d1", "d9"] if isinstance(found, dict) else ranked["q1"]
    )


def test_of_equal_documents_the_best_is_written() -> None:
    rows = read(b"q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 1.0 t\n", "run")
    assert by_query(rows) == {"q1": {"d1": 2.0}}


def test_an_id_with_a_blank_is_not_written_to_a_trec_file() -> None:
    with pytest.raises(InputRejected, match='"d 1": is empty or holds a blank'):
        written_rankings({"q1": {"d 1": 1.0}}, "run", "trec")


@pytest.mark.parametrize(
    ("content", "role", "form"),
    [
        (b"q1 0 d1 2\n", "qrels", "trec"),
        (b"# judged\nq1\t0\td1\t2\n", "qrels", "trec"),
        (b"q1 Q0 d1 1 2.5 tag\n", "run", "trec"),
        (BEIR, "qrels", "tsv"),
        (b"query,document,score\nq1,d1,2\n", "run", "tsv"),
        (b'{"q1": {"d1": 2}}', "qrels", "ranx"),
        (b'{\n "q1": {\n  "d1": 2}}', "qrels", "ranx"),
        (b'{"query": {"d1": 2}}', "qrels", "ranx"),
        (b'{"query": "q1", "judgements": {}}', "qrels", "jsonl"),
        (b'{"query": "q1", "judgements": {}}\n{"query": "q2"}', "qrels", "jsonl"),
        (b'[{"query": "q1", "results": ["d1"]}]', "run", "json"),
    ],
)
def test_the_form_is_told_by_the_content(content: bytes, role: Role, form: str) -> None:
    assert form_of(content, role) == form


def test_a_form_can_be_forced_and_must_exist() -> None:
    assert form_of(b'{"query": "q1"}', "run", "ranx") == "ranx"
    with pytest.raises(UsageError, match="there are trec, beir, ranx, tsv, json, jsonl"):
        form_of(b"", "run", "xml")


def test_beir_judgements_are_read() -> None:
    assert by_query(read(BEIR, "qrels")) == QRELS
    assert by_query(read(BEIR.replace(b"\n", b"\r\n"), "qrels", "beir")) == QRELS
    assert read(BEIR, "qrels").where(0) == "file:2"


def test_tables_may_have_rank_source_quotes_and_other_columns() -> None:
    content = b'note,Query,document,score,rank,source\n,q1,"d,1",2.5,1,bm25\nx,q1,d2,1,2,\n'
    rows = read(content, "run").frame
    assert rows.select("query", "document", "value", "rank", "source").rows() == [
        ("q1", "d,1", 2.5, 1, ["bm25"]),
        ("q1", "d2", 1.0, 2, None),
    ]
    plain = read(b"query\tdocument\tscore\tsource\nq1\td1\t2.5\tbm25\n", "run").frame
    assert plain["source"].to_list() == [["bm25"]]


def test_a_table_without_scores_is_in_the_order_of_its_ranks() -> None:
    rows = read(b"query,document,rank\nq1,d1,2\nq1,d2,1\n", "run").frame
    assert rows.select("value", "rank").rows() == [(None, 2), (None, 1)]


def test_records_hold_a_query_or_a_document_and_strata() -> None:
    lines = [
        {"query": "q1", "judgements": {"d1": 2}, "strata": {"language": "nl"}},
        {"query": "q1", "document": "d2", "grade": 0},
    ]
    rows = read("\n".join(map(json.dumps, lines)).encode(), "qrels")
    assert by_query(rows) == {"q1": {"d1": 2, "d2": 0}}
    assert rows.strata == {"q1": {"language": "nl"}}


def test_results_are_ids_or_records_and_the_list_is_the_ranking() -> None:
    record = {"query": "q1", "results": ["d3", {"id": "d1", "score": 1.5, "source": "bm25"}, 7]}
    rows = read(json.dumps(record).encode(), "run").frame
    assert rows.select("document", "value", "rank", "source").rows() == [
        ("d3", None, 1, None),
        ("d1", 1.5, 2, ["bm25"]),
        ("7", None, 3, None),
    ]


def test_a_result_names_one_source_or_several() -> None:
    given: list[Any] = ["bm25", ["bm25", "dense"], [], "", None]
    results = [{"id": f"d{number}", "source": source} for number, source in enumerate(given)]
    rows = read(json.dumps({"query": "q1", "results": results}).encode(), "run").frame
    assert rows["source"].to_list() == [["bm25"], ["bm25", "dense"], None, None, None]
    assert rows["document"].to_list() == ["d0", "d1", "d2", "d3", "d4"]


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        (3, "results[0]: source: expected text, got a number"),
        (["bm25", 3], "results[0]: source[1]: expected text, got a number"),
        ({"name": "bm25"}, "results[0]: source: expected text, got an object"),
    ],
)
def test_a_source_that_is_no_text_is_a_fault(source: Any, fact: str) -> None:
    record = {"query": "q1", "results": [{"id": "d1", "source": source}]}
    problems: list[str] = []
    read_content("file", json.dumps(record).encode(), "run", problems)
    assert problems == [f"file:1: {fact}"]


@pytest.mark.parametrize(
    ("content", "role", "fault"),
    [
        (b"", "qrels", "file: holds no judgement; write TREC lines"),
        (b"# only\n", "run", "file: holds no result; write TREC lines"),
        (b"query,document\nq1,d1\n", "qrels", "file:2: grade: missing"),
        (b"query,document,score,score\nq,d,1,1\n", "run", 'file:1: 2 columns are called "score"'),
        (b"query,document,grade\nq1,d1\n", "qrels", "file:2: cells: 2, but the header has 3"),
        (b"query,document,grade\n,d1,1\n", "qrels", "file:2: query: missing"),
        (b"query,document,grade\nq1, ,1\n", "qrels", "file:2: judgements: missing"),
        (b"query,document,grade\nq1,d1,\n", "qrels", "file:2: grade: missing; write 0, 1, 2 or 3"),
        (b"query\tdocument\tscore\nq1\td1\tinf\n", "run", 'file:2: score: "inf" is not a finite'),
        (b'{"q1": {"d1": 1.5}}', "qrels", 'file: "q1": judgements.d1: grade: expected a whole'),
        (b'{"q1": 3}', "qrels", 'file: "q1": judgements: expected an object or a list'),
        (b'{"q1": {"d1": "x"}}', "run", 'file: "q1": results.d1: score: expected a number'),
        (b'{"q1": {"d1": NaN}}', "run", "file: "),
        (b'{"query": "q1"}', "run", "file:1: results: missing"),
        (b'{"query": "", "results": []}', "run", "file:1: query: is empty"),
        (b'{"query": "q1", "results": [{"score": 1}]}', "run", "file:1: results[0]: document:"),
        (b'{"query": "q1", "results": "d1"}', "run", "file:1: results: expected an object or"),
        (b'{"query": "q1", "results": [\n', "run", "file"),
        (b'[{"query": "q1", "judgements": {"d1": true}}]', "qrels", "file: item 1: judgements.d1"),
        (
            b'{"query": "q1", "results": ["a"]}\n{"query": "q1", "results": ["b"]}',
            "run",
            'file:2: results: "q1" has a list at file:1 already; keep one',
        ),
        (b"[3]", "qrels", "file: item 1: record: expected an object"),
        (b'{"q1": {"d1": 1, "d1": 2}}', "qrels", "file: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(content: bytes, role: Role, fault: str) -> None:
    problems = faults(content, role)
    assert len(problems) == 1
    assert problems[0].startswith(fault)


def test_every_bad_record_is_told() -> None:
    content = b'{"query": "q1", "results": [{"id": 1.5}, "d1", {"id": "d2", "score": "x"}]}\n{}'
    assert [fault.split(": ")[:2] for fault in faults(content, "run")] == [
        ["file:1", "results[0]"],
        ["file:1", "results[2]"],
        ["file:2", "query"],
    ]


def test_a_mapping_a_frame_and_records_are_the_same() -> None:
    problems: list[str] = []
    frame = pl.DataFrame(
        [
            (query, document, grade)
            for query, judged in QRELS.items()
            for document, grade in judged.items()
        ],
        schema=["query", "document", "grade"],
        orient="row",
    )
    records = [{"query": query, "judgements": judged} for query, judged in QRELS.items()]
    for given in (QRELS, frame, records, frame.rename({"query": "query-id", "grade": "score"})):
        assert by_query(read_rankings(given, "qrels", problems)) == QRELS
    assert not problems


def test_numpy_numbers_of_a_program_are_numbers() -> None:
    problems: list[str] = []
    given = {"q1": {"d1": np.int64(2)}}
    assert by_query(read_rankings(given, "qrels", problems)) == {"q1": {"d1": 2}}
    run = {"q1": {"d1": np.float32(0.5)}}
    assert by_query(read_rankings(run, "run", problems)) == {"q1": {"d1": 0.5}}
    assert not problems


def test_bad_rows_of_a_frame_are_told_and_left_out() -> None:
    problems: list[str] = []
    frame = pl.DataFrame(
        {
            "query": ["q1", None, "q1", "q1"],
            "document": ["d1", "d2", " ", "d4"],
            "score": [1.0, 2.0, 3.0, float("nan")],
        }
    )
    rows = read_rankings(frame, "run", problems)
    assert [problem.split(": ")[:3] for problem in problems] == [
        ["run", "row 2", "query"],
        ["run", "row 3", "document"],
        ["run", "row 4", "score"],
    ]
    assert rows.frame["document"].to_list() == ["d1"]
    graded = pl.DataFrame({"query": ["q1", "q1"], "document": ["d1", "d2"], "grade": [0.5, 1.0]})
    problems.clear()
    rows = read_rankings(graded, "qrels", problems)
    assert problems == ["qrels: row 1: grade: expected a whole number, got 0.5"]
    assert (rows.where(0), rows.frame["value"].to_list()) == ("qrels: row 2", [1])


def test_a_frame_without_its_columns_is_told_so() -> None:
    problems: list[str] = []
    read_rankings(pl.DataFrame({"query": ["q1"], "id": ["d1"]}), "qrels", problems)
    assert problems == ["qrels: row 1: grade: missing; write 0, 1, 2 or 3"]


def test_a_frame_may_hold_strata() -> None:
    frame = pl.DataFrame(
        {
            "query": ["q1", "q2"],
            "document": ["d1", "d1"],
            "grade": [1, 1],
            "strata": [{"language": "nl"}, {"language": None}],
        }
    )
    assert read_rankings(frame, "qrels", []).strata == {"q1": {"language": "nl"}, "q2": {}}


def test_a_gold_set_and_its_traces_are_judgements_and_a_run(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    gold.write_text('{"qid": "q1", "question": "?", "gold_citations": ["p1#1", "p2#1"]}\n')
    traces.write_text('{"qid": "q1", "retrieved_ids": ["p9#1", "p2#1"], "answer": "-"}\n')
    problems = []
    judged = read_rankings(gold, "qrels", problems)
    ranked = read_rankings(traces, "run", problems)
    assert problems == []
    assert judged.frame["value"].to_list() == [1, 1]
    assert ranked.frame["document"].to_list() == ["p9#1", "p2#1"]


@pytest.mark.parametrize(
    "header", ["qid,docid,score", "query-id,corpus-id,score", "topic,pid,score"]
)
def test_columns_go_by_the_names_that_are_about(header, tmp_path):
    run = tmp_path / "run.csv"
    run.write_text(f"{header}\nq1,d1,0.5\n")
    problems = []
    assert read_rankings(run, "run", problems).frame["document"].to_list() == ["d1"]
    assert problems == []
