"""Broken and odd files: each is refused in exact words, or accepted for a reason."""

from __future__ import annotations

import gzip
import json
import resource
import zlib

import pytest
import zstandard

from ragauge import score
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest import lines

QUESTION = {
    "qid": "q1",
    "question": "What?",
    "answerable": True,
    "gold_claim": "night watch",
    "gold_citations": ["p1"],
}
GOOD = b'{"qid":"q1","answer":"The night watch. citations: [p1]"}'
MISSING = {
    "qid": "qid: missing; give each question an id of its own",
    "question": "question: missing; write what was asked",
    "answerable": "answerable: missing; write true or false",
}
TWICE = 'key "{}" appears 2 times in one object; keep one'
DEEP = "nested deeper than 64 levels"
CUT = "; the text is cut off"
NAME_EXPECTED = "not JSON: expecting property name enclosed in double quotes at column "
CONTROL = "not JSON: invalid control character at column 24"
DAMAGED = "the compressed data is damaged: "
SPAN = {"doc_id": "d", "section_id": "s", "start": 1, "end": 2}


def trace(**fields) -> bytes:
    return json.dumps({"qid": "q1", **fields}, ensure_ascii=False).encode()


def gold(*without, **fields) -> bytes:
    kept = {name: value for name, value in QUESTION.items() if name not in without}
    return json.dumps(kept | fields, ensure_ascii=False).encode()


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Scores a gold set and traces written to the current folder, so that messages are short."""
    monkeypatch.chdir(tmp_path)

    def run(traces: bytes = GOOD, gold_set: bytes | None = None, **options):
        (tmp_path / "gold").write_bytes(gold() if gold_set is None else gold_set)
        (tmp_path / "traces").write_bytes(traces)
        return score("gold", ["traces"], **options)

    return run


def problems(run, *arguments, **options) -> list[str]:
    with pytest.raises(InputRejected) as caught:
        run(*arguments, **options)
    return list(caught.value.problems)


# A place is written before each fact unless it brings its own: "2: fact" is line 2.
BAD_TRACES = {
    "cut in a string": (
        b'{"qid":"q1","answer":"the ni',
        f"not JSON: unterminated string starting at column 22{CUT}",
    ),
    "cut after a value": (
        b'{"qid":"q1","answer":"x"',
        f"not JSON: expecting ',' delimiter at column 25{CUT}",
    ),
    "byte order mark inside": (
        GOOD + b"\n\xef\xbb\xbf" + GOOD,
        "2: begins with a byte order mark, which only a file may; remove it",
    ),
    "key twice": (b'{"qid":"q1","answer":"a","answer":"b"}', TWICE.format("answer")),
    "key twice, nested": (
        b'{"qid":"q1","answer_json":{"claim":"a","claim":"b"}}',
        TWICE.format("claim"),
    ),
    "key twice, in a list": (b'{"qid":"q1","chunks":[{"id":"a","id":"b"}]}', TWICE.format("id")),
    "key twice, deep": (b'{"qid":"q1","x":[[{"y":{"z":1,"z":2}}]]}', TWICE.format("z")),
    "key twice, blank": (b'{"qid":"q1","qid" :"q1","answer":"x"}', TWICE.format("qid")),
    "key twice, tabs": (b'{"qid"\t:"q1","qid"\t:"q1","answer":"x"}', TWICE.format("qid")),
    "key twice, escaped": (b'{"qid":"q1","\\u0071id":"q1"}', TWICE.format("qid")),
    "key twice, made up for by an escaped colon": (
        b'{"qid":"q1","qid":"q1","answer":"\\u003a"}',
        TWICE.format("qid"),
    ),
    "long key twice": (
        b'{"' + b"k" * 99 + b'":1,"' + b"k" * 99 + b'":2}',
        TWICE.format("k" * 59 + "…"),
    ),
    **{
        name: (
            b'{"qid":"q1","latency_ms":%b}' % name.encode(),
            f"{name} is not a JSON number; write null where there is no value",
        )
        for name in ("NaN", "Infinity", "-Infinity")
    },
    "1e999": (b'{"qid":"q1","latency_ms":1e999}', "number 1e999 is out of range"),
    "5000 digits": (
        b'{"qid":"q1","seed":' + b"1" * 5000 + b"}",
        f"number {'1' * 39}… is out of range",
    ),
    "400 digits": (
        b'{"qid":"q1","ts":' + b"1" * 400 + b"}",
        "ts: the number is out of range",
    ),
    "lone surrogate": (
        b'{"qid":"q1","answer":"\\ud800"}',
        "lone surrogate \\ud800 in a string: half a character; remove it",
    ),
    "lone surrogate in a key": (
        b'{"qid":"q1","\\udc00":1}',
        "lone surrogate \\udc00 in a string: half a character; remove it",
    ),
    "65 arrays": (b"[" * 65 + b"]" * 65, DEEP),
    "an object and 64 arrays": (b'{"qid":"q1","x":' + b"[" * 64 + b"]" * 64 + b"}", DEEP),
    "65 objects": (b'{"x":' * 65 + b"1" + b"}" * 65, DEEP),
    "900 objects": (b'{"x":' * 900 + b"1" + b"}" * 900, DEEP),
    "100000 brackets": (b"[" * 100_000, DEEP),
    "qid a number": (b'{"qid":1.5}', "qid: expected text, got a number"),
    "qid and question missing": (
        b'{"qid":null}',
        "qid: missing, and there is no question to join by; add one of them",
    ),
    "qid empty": (b'{"qid":" "}', "qid: is empty"),
    "q_id a list": (b'{"q_id":["q1"]}', "q_id: expected text, got a list"),
    "q a number": (b'{"q":1}', "q: expected text, got a number"),
    "question an object": (b'{"question":{}}', "question: expected text, got an object"),
    "answer a number": (trace(answer=1), "answer: expected text, got a number"),
    "answer a list": (trace(answer=["x"]), "answer: expected text, got a list"),
    "answer a boolean": (trace(answer=True), "answer: expected text, got true or false"),
    "answer an object": (
        trace(answer={"claim": "x"}),
        "answer: expected text, got an object; fields belong in answer_json",
    ),
    "answer_json a list": (
        trace(answer_json=["x"]),
        "answer_json: expected an object with claim and citations, got a list",
    ),
    "citations an object": (
        trace(citations={"id": "p1"}),
        "citations: expected a list of ids, got an object",
    ),
    "citations nested": (
        trace(citations=[["p1"]]),
        "citations[0]: expected an id as text, got a list",
    ),
    "citations numbers": (
        trace(citations=["p1", 3.5]),
        "citations[1]: expected an id as text, got a number",
    ),
    "citations without id": (
        trace(citations=[{"page": 3}]),
        "citations[0]: has no id as text; give it an id or a snippet_id",
    ),
    "citation empty": (trace(citations=["p1", ""]), "citations[1]: is empty"),
    "citation null": (
        trace(citations=[None]),
        "citations[0]: expected an id as text, got null",
    ),
    "retrieved_ids text": (
        trace(retrieved_ids="p1"),
        "retrieved_ids: expected a list of ids, got text",
    ),
    "chunks an object": (
        trace(chunks={"id": "p1"}),
        "chunks: expected a list of chunks, got an object",
    ),
    "chunk without id": (
        trace(chunks=[{"id": "a"}, {"text": "b"}]),
        "chunks[1]: has no id as text; give it an id or a snippet_id",
    ),
    "retrieved not payloads": (
        trace(retrieved=["p1"]),
        "retrieved[0]: expected an object, got text",
    ),
    "every other field": (
        trace(
            attempt=1.5,
            error=3,
            jitter=1,
            labels=[],
            latency_ms="3",
            ok="true",
            paraphrase=1.5,
            question_sent=1,
            reason=[],
            run_id=7,
            schema_version="1",
            seed=True,
            segments={},
            stage_ms=[],
            status="failed",
            temperature="hot",
            ts=[],
            usage="x",
        ),
        "attempt: expected a whole number, got 1.5",
        "error: expected text, got a number",
        "jitter: expected text, got a number",
        "labels: expected an object, got a list",
        "latency_ms: expected a number, got text",
        'ok: expected true or false, got text "true"',
        "paraphrase: expected a whole number, got 1.5",
        "question_sent: expected text, got a number",
        "reason: expected text, got a list",
        "run_id: expected text, got a number",
        "schema_version: expected a whole number, got text",
        "seed: expected a whole number, got true or false",
        "segments: expected a list of objects, got an object",
        "stage_ms: expected an object, got a list",
        'status: expected "ok" or "error", got "failed"',
        "temperature: expected a number, got text",
        "ts: expected a number, got a list",
        "usage: expected an object, got text",
    ),
    "several faults in one line": (
        trace(
            answer=1,
            answer_json={"claim": 1, "citations": 5, "constraints_echo": [1]},
            citations={},
            retrieved_ids=3,
        ),
        "answer_json.claim: expected text, got a number",
        "answer_json.citations: expected a list of ids, got a number",
        "answer_json.constraints_echo[0]: expected text, got a number",
        "answer: expected text, got a number",
        "citations: expected a list of ids, got an object",
        "retrieved_ids: expected a list of ids, got a number",
    ),
    "a number": (b"17", "line: expected an object, got a number"),
    "an array": (b"[1]", "line: expected an object, got a number"),
    "not UTF-8": (
        b'{"qid":"q1","answer":"\xff"}',
        "not UTF-8 at byte 23 (0xff); save the file as UTF-8",
    ),
    "not UTF-8 in an unknown key": (
        b'{"qid":"q1","foo":{"bar":"\xe9"}}',
        "not UTF-8 at byte 27 (0xe9); save the file as UTF-8",
    ),
    "control character": (b'{"qid":"q1","answer":"a\x01b"}', CONTROL),
    "tab in a string": (b'{"qid":"q1","answer":"a\tb"}', CONTROL),
    "zeros in one line": (b'{"qid":"q1","answer":"a\0b"}\n' + GOOD, CONTROL),
    "single quotes": (b"{'qid':'q1'}", f"{NAME_EXPECTED}2"),
    "two objects": (
        b"{}" + GOOD,
        "not JSON: extra data at column 3; write one object a line",
    ),
    "Python's True": (b'{"qid":"q1","ok":True}', "not JSON: expecting value at column 18"),
    "right line numbers": (
        b"\n".join([GOOD, b"", b"{", b"\r", trace(answer=1)]),
        f"3: {NAME_EXPECTED}2{CUT}",
        "5: answer: expected text, got a number",
    ),
    "packed bad line": (gzip.compress(GOOD + b"\n{"), f"2: {NAME_EXPECTED}2{CUT}"),
}


@pytest.mark.parametrize("name", BAD_TRACES)
def test_each_fault_of_a_trace_has_its_words(given, name):
    content, *facts = BAD_TRACES[name]
    placed = [fact if fact[0].isdigit() and fact[1] == ":" else f"1: {fact}" for fact in facts]
    assert problems(given, content) == [f"traces:{fact}" for fact in placed]


def test_a_trailing_comma_is_placed(given):
    """The words are Python's, and changed in 3.13."""
    (fact,) = problems(given, b'{"qid":"q1",}')
    assert fact in (
        f"traces:1: {NAME_EXPECTED}13",
        "traces:1: not JSON: illegal trailing comma before end of object at column 12",
    )


ZST = zstandard.compress(GOOD * 50)
BAD_FILES = {
    "empty": (b"", "nothing to score: no traces; the file is empty"),
    "only blank lines": (
        b"\n \r\n\n",
        "nothing to score: no traces; the file has only empty lines",
    ),
    "only a byte order mark": (b"\xef\xbb\xbf", "nothing to score: no traces"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0", "is binary, not JSON text"),
    "UTF-16, no mark": (
        '{"qid":"q1"}'.encode("utf-16-be"),
        "is UTF-16 text without a byte order mark; save it as UTF-8",
    ),
    "UTF-16, damaged": (
        '{"qid":"q1"}'.encode("utf-16")[:-1],
        "is damaged UTF-16 text: 'utf-16-le' codec can't decode byte 0x7d in position 0: "
        "truncated data; save it as UTF-8",
    ),
    "a damaged Parquet file": (
        b"PAR1\x15\x04",
        "cannot be read as Parquet: parquet: File out of specification: A Parquet file must "
        "contain a header and footer with at least 12 bytes",
    ),
    "packed Parquet": (gzip.compress(b"PAR1\x15"), "is a Parquet file, not JSON text"),
    "database": (b"SQLite format 3\0", "is a database, not JSON text"),
    "zip": (
        b"PK\x03\x04rest",
        "is a zip archive; unpack it, or pack it with gzip or zstd",
    ),
    "bzip2": (b"BZh91AY", "is packed with bzip2; unpack it, or pack it with gzip or zstd"),
    "xz": (b"\xfd7zXZ\0\0", "is packed with xz; unpack it, or pack it with gzip or zstd"),
    "bad gzip": (b"\x1f\x8bnonsense", DAMAGED + "unknown compression method"),
    "cut gzip": (gzip.compress(GOOD * 50)[:-9], DAMAGED + "it ends too early"),
    "gzip checksum": (
        gzip.compress(GOOD)[:-8] + b"12345678",
        DAMAGED + "incorrect data check",
    ),
    "garbage after gzip": (gzip.compress(GOOD) + b"more", DAMAGED + "other bytes follow its end"),
    "cut zstd": (ZST[:-5], DAMAGED + "it ends too early"),
    "garbage after zstd": (ZST + b"garbage", DAMAGED + "other bytes follow its end"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_each_unreadable_file_has_its_words(given, name):
    content, fact = BAD_FILES[name]
    assert problems(given, content) == [f"traces: {fact}"]


BAD_GOLD = {
    "cut": (b'{"qid":"q', f":1: not JSON: unterminated string starting at column 8{CUT}"),
    "key twice": (b'{"qid":"q1","qid":"q2"}', ":1: " + TWICE.format("qid")),
    "qid missing": (gold("qid"), f":1: {MISSING['qid']}"),
    "qid null": (gold(qid=None), f":1: {MISSING['qid']}"),
    "question missing": (gold("question"), f":1: {MISSING['question']}"),
    "answerable missing": (gold("answerable"), f":1: {MISSING['answerable']}"),
    "all missing": (
        b"{}",
        *[f":1: {MISSING[name]}" for name in ("qid", "question")],
    ),
    "nearly all missing": (
        b'{"answerable":true}',
        *[f":1: {MISSING[name]}" for name in ("qid", "question")],
    ),
    "qid a fraction": (gold(qid=1.5), ":1: qid: expected text, got a number"),
    "qid empty": (gold(qid=""), ":1: qid: is empty"),
    "question blank": (gold(question="\t"), ":1: question: is empty"),
    "alias a number": (gold("question", q=1), ":1: q: expected text, got a number"),
    "answerable text": (
        gold(answerable="false"),
        ':1: answerable: expected true or false, got text "false"',
    ),
    "answerable 0": (gold(answerable=0), ":1: answerable: expected true or false, got a number"),
    "phrases text": (
        gold(gold_claim_substr='the "night" watch'),
        ":1: gold_claim_substr: expected a list of texts, got text; "
        'write ["the \\"night\\" watch"]',
    ),
    "phrase a number": (
        gold(gold_claim_substr=[1]),
        ":1: gold_claim_substr[0]: expected text, got a number",
    ),
    "phrase empty": (gold(gold_claim_substr=["x", " "]), ":1: gold_claim_substr[1]: is empty"),
    "claim a list": (gold(gold_claim=["x"]), ":1: gold_claim: expected text, got a list"),
    "alias an object": (gold(reference={}), ":1: reference: expected text, got an object"),
    "citations text": (
        gold(gold_citations="p1"),
        ":1: gold_citations: expected a list of texts, got text",
    ),
    "alias with a number": (
        gold("gold_citations", gold_ids=[1.5]),
        ":1: gold_ids[0]: expected text, got a number",
    ),
    "constraints text": (
        gold(constraints="x"),
        ":1: constraints: expected a list of texts, got text",
    ),
    "paraphrase null": (gold(paraphrases=[None]), ":1: paraphrases[0]: expected text, got null"),
    "span incomplete": (gold(anchor={"doc_id": "d"}), ":1: anchor.section_id: missing"),
    "span not whole": (
        gold(anchor={**SPAN, "start": 1.5}),
        ":1: anchor.start: expected a whole number, got 1.5",
    ),
    "span empty": (gold(decoy={**SPAN, "start": 2}), ":1: decoy: start 2 is not before end 2"),
    "span negative": (
        gold(target_section={**SPAN, "start": -1}),
        ":1: target_section.start: -1 is below zero",
    ),
    "stratum an object": (
        gold(strata={"a": {}}),
        ":1: strata.a: expected text, a number or a boolean, got an object",
    ),
    "qid twice": (
        gold() + b"\n\n" + gold(),
        ':3: qid: "q1" is at gold:1 already; keep one',
    ),
    "qid twice in an array": (
        b"[" + gold() + b"," + gold() + b"]",
        ': item 2: qid: "q1" is at gold: item 1 already; keep one',
    ),
    "array with bad members": (
        b"[" + gold() + b",17," + gold(qid=0.5) + b"]",
        ": item 2: record: expected an object, got a number",
        ": item 3: qid: expected text, got a number",
    ),
    "array cut": (
        b"[\n" + gold() + b",\n",
        f": not JSON: expecting value at line 3, column 1{CUT}",
    ),
    "empty": (b"", ": the file is empty; write one JSON object a line"),
    "only blank lines": (b"\n\n", ": the file has only empty lines; write one JSON object a line"),
    "empty array": (b"[]", ": holds no gold question; write one JSON object a line"),
    "a number": (
        b"3",
        ":1: the first line names no column of a gold question (qid, question, answerable, "
        "gold_claim_substr, gold_claim, gold_answer, gold_citations, constraints, paraphrases, "
        'target_section, anchor, decoy); there is "3": name them with --map FIELD=COLUMN',
    ),
    "several faults": (
        b'{"qid":[],"question":"","answerable":"no","gold_citations":3}',
        ":1: qid: expected text, got a list",
        ":1: question: is empty",
        ':1: answerable: expected true or false, got text "no"',
        ":1: gold_citations: expected a list of texts, got a number",
    ),
}


@pytest.mark.parametrize("name", BAD_GOLD)
def test_each_fault_of_a_gold_set_has_its_words(given, name):
    content, *facts = BAD_GOLD[name]
    assert problems(given, gold_set=content) == [f"gold{fact}" for fact in facts]


ACCEPTED = {
    "byte order mark": (b"\xef\xbb\xbf" + GOOD, "OK"),
    "CRLF": (b"\r\n" + GOOD + b"\r\n\r\n", "OK"),
    "blank lines": (b"\n\n" + GOOD + b"\n \n", "OK"),
    "no final newline": (GOOD, "OK"),
    "line separators that are text": (
        '{"qid":"q1","answer":"The night watch\u2028\u0085. citations: [p1]"}'.encode(),
        "OK",
    ),
    "blanks around colons": (b'{"qid" : "q1" , "answer"\t:"night watch; citations: [p1]"}', "OK"),
    "escaped colon": (b'{"qid":"q1","answer":"night watch; citations\\u003A [p1]"}', "OK"),
    "64 levels": (GOOD[:-1] + b',"x":' + b"[" * 63 + b"]" * 63 + b"}", "OK"),
    "64 levels of objects": (GOOD[:-1] + b',"x":' + b'{"x":' * 62 + b"{}" + b"}" * 63, "OK"),
    "300 shallow brackets": (GOOD[:-1] + b',"x":[' + b"[]," * 300 + b'"[[:"]}', "OK"),
    "surrogate pair": (GOOD[:-1] + b',"x":"\\ud83d\\ude00"}', "OK"),
    "gzip members": (gzip.compress(b"\n") + gzip.compress(GOOD), "OK"),
    "gzip padded with zeros": (gzip.compress(GOOD) + b"\0" * 5000, "OK"),
    "zstd frames": (zstandard.compress(b"\n") + zstandard.compress(GOOD), "OK"),
    "citations as text": (trace(answer="night watch", citations="p1; 'p2'"), "OK"),
    "citations as objects": (trace(answer="night watch", citations=[{"snippet_id": "p1"}]), "OK"),
    "answer null": (trace(answer=None), "ERROR"),
    "answer empty": (trace(answer=" "), "ERROR"),
    "answer absent": (trace(), "ERROR"),
    "answer_json null": (trace(answer_json=None), "ERROR"),
    "claim null": (trace(answer_json={"claim": None, "citations": []}), "ERROR"),
    "answer_json as text": (
        trace(answer_json='{"claim": "night watch", "citations": ["p1"]}'),
        "OK",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_odd_but_good_traces_are_scored(given, name):
    content, label = ACCEPTED[name]
    report = given(content).report
    assert (report.labels, report.coverage.rejected) == ({label: 1}, 0)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_an_overlong_line_is_one_bad_line_and_the_next_keep_their_numbers(given, pack):
    overlong = b'{"qid":"q1","answer":"' + b"x" * (20 << 20) + b'"}'
    content = pack(b"\n".join([GOOD, overlong, GOOD, b"{", b""]))
    assert problems(given, content) == [
        "traces:2: the line is longer than 16 MiB",
        f"traces:4: {NAME_EXPECTED}2{CUT}",
    ]


def test_an_overlong_line_of_gold_is_named(given):
    overlong = gold(question="x" * (17 << 20))
    assert problems(given, gold_set=gold() + b"\n" + overlong) == [
        "gold:2: the line is longer than 16 MiB"
    ]
    assert problems(given, gold_set=b"[" + overlong + b"]") == [
        "gold: the line is longer than 16 MiB; write one record a line"
    ]


def test_a_decompression_bomb_is_refused_in_constant_memory(given):
    packer = zlib.compressobj(9, wbits=31)
    letters = b"a" * (1 << 20)
    bomb = b"".join(packer.compress(letters) for _ in range(320)) + packer.flush()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert problems(given, bomb) == [
        "traces: expands more than 200 times, like a decompression bomb; "
        "unpack it yourself and name the plain file"
    ]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 160 << 10  # KiB: half of what it expands to


def test_line_numbers_are_right_in_later_blocks(given, monkeypatch):
    content = b"\n".join([GOOD, b""] * 40 + [b"{"] + [GOOD] * 9 + [b"17"])
    for block in (1, 64, 500):
        monkeypatch.setattr(lines, "BLOCK", block)
        for packed in (content, gzip.compress(content)):
            assert [p.split(" ")[0] for p in problems(given, packed)] == [
                "traces:81:",
                "traces:91:",
            ]


def test_bad_lines_of_one_sort_are_one_problem_and_the_rest_counted(given):
    with pytest.raises(InputRejected) as caught:
        given(b"17\n" * 250)
    fact = "line: expected an object, got a number"
    assert str(caught.value) == (
        f"traces:1: {fact} (and 99 more like this: traces:2, traces:3, …)\nand 150 more"
    )
    with pytest.raises(InputRejected) as caught:
        given(gold_set=b"{}\n" * 250)
    problem = caught.value.problems[0]
    assert problem.startswith("gold: no gold question has qid or id or question_id or q_id; ")


def test_bad_lines_within_the_allowance_are_counted_and_the_rest_scored(given):
    report = given(b"17\n" + GOOD, max_bad="1").report
    assert (report.coverage.rejected, report.labels) == (1, {"OK": 1})
    assert [f.where for f in report.findings if f.code == "bad_line"] == ["traces:1"]


def test_unknown_questions_are_named(given):
    assert problems(given, b'{"qid":"q9","answer":"x"}') == [
        "traces: nothing to score: none of the 1 traces belongs to a gold question",
        'traces:1: qid "q9" is not in the gold set',
    ]


def test_missing_files_and_folders(given, tmp_path):
    given()
    for arguments in (("gold", ["none"]), ("none", ["traces"])):
        with pytest.raises(UsageError, match=r"^none: no such file$"):
            score(*arguments)
    (tmp_path / "folder").mkdir()
    for arguments in (("gold", ["folder"]), ("folder", ["traces"])):
        with pytest.raises(InputRejected, match=r"^folder: is a folder; name the files in it$"):
            score(*arguments)
    assert lines.size_of("none") is None
