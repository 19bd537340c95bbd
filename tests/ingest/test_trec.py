"""TREC files as they come: clean ones in columns, odd ones line by line, with the same rows."""

import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ragauge.ingest.ranked import trec
from ragauge.ingest.ranked.ranking_rows import RankingRows, Role
from ragauge.ingest.ranked.rankings import read_rankings
from ragauge.ingest.ranked.trec import columnar, read_trec

RUN = b"q1 Q0 d2 1 9.5 tag\nq1 Q0 d1 2 8 tag\nq2 Q0 d1 1 -0.5e-3 tag\n"
RUN_ROWS = [("q1", "d2", 9.5, 1), ("q1", "d1", 8.0, 2), ("q2", "d1", -0.0005, 1)]
QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n"
QRELS_ROWS = [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d1", -1)]


def rows_of(content: bytes, role: Role = "run") -> list[tuple[object, ...]]:
    problems: list[str] = []
    read = read_trec("file", content, role, problems)
    assert not problems
    return told(read)


def told(read: RankingRows) -> list[tuple[object, ...]]:
    columns = [name for name in ("query", "document", "value", "rank") if name in read.frame]
    return read.frame.select(columns).rows()


def faults_of(content: bytes, role: Role) -> list[str]:
    problems: list[str] = []
    read_trec("file", content, role, problems)
    return problems


def test_clean_files_are_read_in_columns() -> None:
    run = columnar(RUN, trec.COLUMNS["run"], "run", exact=False)
    qrels = columnar(QRELS, trec.COLUMNS["qrels"], "qrels", exact=True)
    assert run is not None and qrels is not None
    assert run.select("query", "document", "value", "rank").rows() == RUN_ROWS
    assert qrels.rows() == QRELS_ROWS


@pytest.mark.parametrize(
    "odd",
    [
        RUN.replace(b" ", b"\t"),
        RUN.replace(b"Q0 ", b"Q0 \t  "),
        RUN.replace(b"\n", b"\r\n"),
        RUN.replace(b"\n", b" \n"),
        b"# a comment\n" + RUN,
        RUN.replace(b"\nq2", b"\n# between\nq2"),
        b"\n\n" + RUN + b"\n",
        b"  " + RUN,
        RUN.rstrip(b"\n"),
        RUN.replace(b" tag", b" tag of more words"),
        RUN.replace(b"9.5 tag", b"9.5 tag more"),
        RUN.replace(b" 8 ", b" +8.0 "),
    ],
)
def test_any_blanks_comments_and_further_columns_are_legal(odd: bytes) -> None:
    assert rows_of(odd) == RUN_ROWS


def test_a_rank_that_is_no_number_is_passed_over() -> None:
    assert rows_of(RUN.replace(b"d2 1", b"d2 first"))[0] == ("q1", "d2", 9.5, None)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"q1 Q0 d1 1 0.5\n", "file:1: columns: 5, not the 6 of a TREC run"),
        (b"q1 Q0 d1 1 0.5 \n", "file:1: columns: 5, not the 6 of a TREC run"),
        (b"q1  d1 1 0.5 tag\n", "file:1: columns: 5, not the 6 of a TREC run"),
        (b"q1 Q0 d1 1 much tag\n", 'file:1: score: "much" is not a finite number'),
        (b"q1 Q0 d1 1 nan tag\n", 'file:1: score: "nan" is not a finite number'),
        (b"q1 Q0 d1 1 inf tag\n", 'file:1: score: "inf" is not a finite number'),
        (b"q1 Q0 d1 1 1e999 tag\n", 'file:1: score: "1e999" is not a finite number'),
        (b"q1 Q0 d1 1 1_0 tag\n", 'file:1: score: "1_0" is not a finite number'),
        (b"q1 Q0 d\xff 1 0.5 tag\n", "file:1: document:"),
    ],
)
def test_a_bad_line_of_a_run_is_told(content: bytes, fault: str) -> None:
    problems = faults_of(content, "run")
    assert len(problems) == 1
    assert problems[0].startswith(fault)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"q1 0 d1\n", "file:1: columns: 3, not the 4 of TREC judgements"),
        (b"q1 0 d1 1 more\n", "file:1: columns: 5, not the 4 of TREC judgements"),
        (b"q1 0 d1 1.5\n", 'file:1: grade: "1.5" is not a whole number'),
        (b"q1 0 d1 yes\n", 'file:1: grade: "yes" is not a whole number'),
        (b"q1 0 d1 9999999999\n", 'file:1: grade: "9999999999" is out of range'),
        (b"q1 0 d1 99999999999999\n", 'file:1: grade: "99999999999999" is out of range'),
    ],
)
def test_a_bad_line_of_judgements_is_told(content: bytes, fault: str) -> None:
    problems = faults_of(content, "qrels")
    assert len(problems) == 1
    assert problems[0].startswith(fault)


def test_every_bad_line_is_told_and_the_others_are_read() -> None:
    problems: list[str] = []
    content = b"q1 0 d1 1\nq1 0 d2\n# fine\nq1 0 d3 x\nq1 0 d4 2\n"
    read = read_trec("qrels.txt", content, "qrels", problems)
    assert [problem.split(": ")[0] for problem in problems] == ["qrels.txt:2", "qrels.txt:4"]
    assert told(read) == [("q1", "d1", 1), ("q1", "d4", 2)]
    assert [read.where(row) for row in range(2)] == ["qrels.txt:1", "qrels.txt:5"]


def test_a_line_that_is_too_long_and_one_too_short_do_not_make_up_for_each_other() -> None:
    content = b"q1 0 d1 1 x\nq1 0 d2\nq1 0 d3 1\n"
    assert len(faults_of(content, "qrels")) == 2
    run = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 1 2.0 t x\nq1 Q0 d3 1 2.0\n"
    assert faults_of(run, "run") == [
        "file:3: columns: 5, not the 6 of a TREC run: query Q0 document rank score tag"
    ]


@pytest.mark.parametrize("tag", ["t", "run1", "inf", "1e5", "5."])
@pytest.mark.parametrize(
    "short", ["q1 Q0 d2 1 2.0", "q1 Q0 d2 2.0 {tag}", "q1 Q0 d2 1 {tag}", "q1 Q0 d2 1 2.0{tag}"]
)
def test_a_short_line_is_found_whatever_the_tag_ends_with(tag: str, short: str) -> None:
    lines = [f"q1 Q0 d1 1 3.5 {tag}", short.format(tag=tag), f"q1 Q0 d3 3 0.5 {tag} {tag}"]
    content = "".join(line + "\n" for line in lines).encode()
    problems = faults_of(content, "run")
    assert [problem.split(":")[1] for problem in problems] == ["2"]


def test_packed_files_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    for name, content in {
        "run.gz": gzip.compress(RUN),
        "run.zst": zstandard.ZstdCompressor().compress(RUN),
        "run.txt": b"\xef\xbb\xbf" + RUN,
    }.items():
        (tmp_path / name).write_bytes(content)
        problems: list[str] = []
        assert told(read_rankings(tmp_path / name, "run", problems)) == RUN_ROWS
        assert not problems


ids = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1)
blanks = st.sampled_from([" ", "\t", "  ", " \t"])
scores = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(ids, ids, scores), min_size=1), blanks)
def test_the_two_readers_agree(rows: list[tuple[str, str, float]], blank: str) -> None:
    rows = [row for row in rows if not row[0].startswith("#")]
    cells = ([query, "Q0", document, "1", repr(score), "t"] for query, document, score in rows)
    content = "".join(blank.join(line) + "\n" for line in cells).encode()
    careful = trec._line_by_line("file", content, "run", [], 1)
    assert told(read_trec("file", content, "run", [])) == told(careful)
    assert [row[:3] for row in told(careful)] == rows
