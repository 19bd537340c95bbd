"""The log line: whatever an entry holds is on one line, and comes back from it."""

from __future__ import annotations

import json
import re
import zoneinfo
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragauge.citations.log_line import FIELDS, entries_of, entry, format_line, parse_line
from ragauge.contracts.citation import Citation, Offsets, Window
from ragauge.contracts.serving_log import MOST, LogEntry
from ragauge.errors import InputRejected

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "serving-log.md"
NOON = datetime(2025, 8, 28, 12, tzinfo=UTC)
LINE = (
    "ts=2025-08-28T09:30:00Z qid=q0007 seg=1 deltaS=0.41 lambda=convergent k=20 store=faiss "
    "index_hash=2f7d9a embed=bge-large-en-v1.5:mean analyzer=lowercase+ascii_fold "
    "citations=[hb24-sec-keys-0007,hb24-sec-keys-0008] scores=[0.78,0.5] kpos=[18,2] "
    "kfinal=[3,null] section_id=policies/security/keys rev=3b91f2a"
)
ENTRY = LogEntry(
    ts=datetime(2025, 8, 28, 9, 30, tzinfo=UTC),
    qid="q0007",
    seg=1,
    deltaS=0.41,
    lambda_state="convergent",
    k=20,
    store="faiss",
    index_hash="2f7d9a",
    embed_model="bge-large-en-v1.5:mean",
    analyzer="lowercase+ascii_fold",
    citations=("hb24-sec-keys-0007", "hb24-sec-keys-0008"),
    scores=(0.78, 0.5),
    kpos=(18, 2),
    kfinal=(3, None),
    section_id="policies/security/keys",
    rev="3b91f2a",
)
PAYLOAD = Citation(
    doc_id="handbook_2024",
    section_id="policies/security/keys",
    snippet_id="hb24-sec-keys-0007",
    source_url="https://example.org/handbook#security-keys",
    offsets=Offsets(2310, 2688),
    tokens=188,
    index_hash="faiss:2f7d9a",
    embed_model="bge-large-en-v1.5:mean",
    analyzer="lowercase+ascii_fold",
    rev="3b91f2a",
    score_raw=0.8421,
    score_norm=0.78,
    k_pos=18,
    k_final=3,
)

AWKWARD = ["", "null", "None", "NULL", "a b", "a,b", "[a]", '"', "'", "\\", "a=b", "rev=x", "\n"]
AWKWARD += [
    "\r\n",
    "\x85",
    "\u2028",
    "\u2029",
    "\x1c",
    "\0",
    "\u202e",
    "👩‍👩‍👧",
    "é",
    "\\u0041",
    "]",
    "-",
    "NA",
    "n/a",
    "→",
    "<>",
]
texts = st.text() | st.sampled_from(AWKWARD)
counts = st.integers(0, MOST)
numbers = st.floats(allow_nan=False, allow_infinity=False)
zones = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=zones | st.timezones())


@st.composite
def entries(draw):
    cited = draw(st.lists(texts, max_size=4))
    listed = {
        name: draw(st.lists(st.none() | of, min_size=len(cited), max_size=len(cited)))
        for name, of in {"scores": numbers, "kpos": counts, "kfinal": counts}.items()
    }
    named = ["lambda_state", "store", "index_hash", "embed_model", "analyzer", "section_id", "rev"]
    return LogEntry(
        ts=draw(moments),
        qid=draw(texts),
        seg=draw(st.integers(1, MOST)),
        deltaS=draw(st.none() | numbers),
        k=draw(st.none() | counts),
        citations=cited,
        **listed,
        **{name: draw(st.none() | texts) for name in named},
    )


def refused(line: str) -> list[str]:
    with pytest.raises(InputRejected) as error:
        parse_line(line)
    return list(error.value.problems)


def test_a_line_is_as_the_spec_shows_it():
    assert format_line(ENTRY) == LINE
    assert parse_line(LINE) == ENTRY
    keys = "ts qid seg deltaS lambda k store index_hash embed analyzer citations scores kpos kfinal"
    assert re.findall(r"(\w+)=", LINE) == [*keys.split(), "section_id", "rev"] == list(FIELDS)


@given(entries())
def test_what_is_written_is_read_back(entry):
    line = format_line(entry)
    assert line.splitlines() == [line]
    assert parse_line(line) == entry
    assert parse_line(f"  {line}\n") == entry
    assert line.isprintable()


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_texts_come_back_as_they_were(text):
    entry = msgspec.structs.replace(
        ENTRY, qid=text, rev=text, citations=(text, text), lambda_state=text
    )
    assert parse_line(format_line(entry)) == entry


@given(
    st.text() | st.lists(st.sampled_from([*AWKWARD, *(f"{key}=" for key in FIELDS)])).map("".join)
)
@example('qid="\\ud800"')
@example("seg=" + "9" * 5000)
@example("deltaS=1e999")
@example("ts=0001-01-01T00:00:00+14:00")
@example('qid="\\q"')
@example("citations=[,]")
def test_any_other_text_is_refused_with_its_column(text):
    for problem in refused(text):
        assert re.match(r"column \d+: .+", problem)


@given(st.data())
def test_a_line_with_a_part_replaced_is_read_or_refused_with_its_column(data):
    start = data.draw(st.integers(0, len(LINE)))
    end = data.draw(st.integers(start, min(start + 12, len(LINE))))
    line = LINE[:start] + data.draw(st.text(max_size=6) | st.sampled_from(AWKWARD)) + LINE[end:]
    try:
        entry, problems = parse_line(line), []
    except InputRejected as error:
        entry, problems = None, error.problems
    assert all(re.match(r"column \d+: .+", problem) for problem in problems)
    assert entry is None or parse_line(format_line(entry)) == entry


def test_a_line_as_a_person_writes_it_is_read():
    by_hand = LINE.replace("ts=2025-08-28T09:30:00Z", "ts=2025-08-28")
    by_hand = by_hand.replace("scores=[0.78,0.5]", "scores=[ .78, 5e-1 ]")
    by_hand = by_hand.replace("null]", "None ]").replace(" k=20", "\tk=20  ")
    midnight = datetime(2025, 8, 28, tzinfo=UTC)
    assert parse_line(by_hand) == msgspec.structs.replace(ENTRY, ts=midnight)


BRIEF = (
    "ts=2025-08-28T09:30:00 qid=q0007 seg=s1 deltaS=0.41 lambda=→ k=20 store=faiss "
    "index_hash=2f7d9a embed=bge-large-en-v1.5:mean analyzer=lowercase+ascii_fold "
    "citations=[hb24-sec-keys-0007, hb24-sec-keys-0008] scores=[0.78,0.5] kpos=[18,2] "
    "kfinal=[3,-] section_id=policies/security/keys rev=3b91f2a"
)


def test_the_briefs_own_line_is_read_and_written_in_our_form():
    assert parse_line(BRIEF) == ENTRY
    assert format_line(parse_line(BRIEF)) == LINE
    other = BRIEF.replace("deltaS=", "ΔS=").replace("lambda=", "λ=").replace("kpos=", "k_pos=")
    assert parse_line(other) == ENTRY


@pytest.mark.parametrize(
    ("symbol", "state"),
    [("→", "convergent"), ("←", "divergent"), ("<>", "recursive"), ("×", "chaotic")],
)
def test_a_symbol_of_lambda_is_its_state_and_in_quotes_a_text(symbol, state):
    assert parse_line(BRIEF.replace("→", symbol)).lambda_state == state
    assert parse_line(BRIEF.replace("→", f'"{symbol}"')).lambda_state == symbol


@pytest.mark.parametrize("nothing", ["", "-", "NA", "n/a", "null", "None"])
def test_what_is_not_known_may_be_written_in_several_ways(nothing):
    line = LINE.replace("deltaS=0.41", f"deltaS={nothing}").replace(" k=20", f" k={nothing}")
    line = line.replace("=convergent", f"={nothing}").replace("rev=3b91f2a", f"rev={nothing}")
    line = line.replace("scores=[0.78,0.5]", f"scores={nothing}")
    assert parse_line(line) == msgspec.structs.replace(
        ENTRY, deltaS=None, k=None, lambda_state=None, rev=None, scores=(None, None)
    )
    refusal = re.sub(r"(citations|scores|kpos|kfinal)=\S+", rf"\1={nothing}", LINE)
    assert parse_line(refusal).citations == ()


def test_keys_may_stand_in_any_order():
    parts = re.split(r" (?=\w+=)", LINE)
    assert parse_line(" ".join(reversed(parts))) == ENTRY


def test_a_time_with_an_offset_is_kept_in_utc():
    summer = LINE.replace("09:30:00Z", "11:30:00+02:00")
    assert parse_line(summer) == ENTRY
    assert format_line(parse_line(summer)) == LINE
    twice = datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Amsterdam"))
    logged = LogEntry(ts=twice, qid="q", seg=1)
    assert parse_line(format_line(logged)) == logged


def test_absent_and_the_word_null_are_told_apart():
    entry = msgspec.structs.replace(ENTRY, rev="null", section_id=None)
    assert format_line(entry).endswith('section_id=null rev="null"')
    assert parse_line(format_line(entry)) == entry


def test_all_that_is_wrong_with_a_line_is_told_at_once():
    line = LINE.replace("qid=q0007 ", "").replace("k=20", "k=many k=3 colour=red")
    line = line.replace("kpos=[18,2]", "kpos=[18]").replace("rev=3b91f2a", "rev=[")
    problems = refused(line)
    columns = [int(re.match(r"column (\d+)", problem)[1]) for problem in problems]
    assert columns == sorted(columns)
    facts = ['"many" is not a whole number', "k stands in column", "colour is no key"]
    facts += ["kpos: has 1 and citations 2", "no closing quote", "qid: missing"]
    assert len(problems) == len(facts)
    for problem, fact in zip(problems, facts, strict=True):
        assert fact in problem
    assert problems[0].startswith(f"column {line.index('many') + 1}: ")


@pytest.mark.parametrize(
    ("old", "new", "at", "fact"),
    [
        ("seg=1", "seg=0", "seg=", "segments count from 1"),
        ("seg=1", "seg=null", "seg=", "segments count from 1"),
        ("deltaS=0.41", "deltaS=nan", "nan", '"nan" is not a number; write one, or null'),
        ("deltaS=0.41", "deltaS=1e999", "deltaS", "is not finite; write null"),
        ("k=20", "k=-1", "-1", "is not a whole number"),
        ("k=20", "k=9999999999", "k=", "is outside 0 to 2,147,483,647"),
        ("2025-08-28T09:30:00Z", "yesterday", "yesterday", '"yesterday" is not a time'),
        ("qid=q0007", "qid=null", "qid", "None is no text"),
        ("qid=q0007", "qid=", " seg=1", "no value; write one"),
        ("qid=q0007", 'qid="q0007', '"q0007', "no closing quote or bracket"),
        ("qid=q0007", 'qid="q"0007', '"q"', "no closing quote or bracket"),
        ("qid=q0007", "qid=what is it", "is it", "is has no key; quote texts that have blanks"),
        ("qid=q0007", "qid='q0007'", "'q", "is in single quotes; use double ones"),
        ("qid=q0007", r'qid="\q"', r'"\q', "is no JSON text"),
        ("qid=q0007", "qid=[q0007]", "[q0007]", "is not one value"),
        ("kpos=[18,2]", "kpos=18", "18 kf", "is not a list"),
        ("kpos=[18,2]", "kpos=[18 2]", "18 2", "such as"),
        ("kpos=[18,2]", "kpos=[18,]", "] kfinal", "such as"),
        ("kpos=[18,2]", "kpos=[18,2", "[18,2 ", "no closing quote or bracket"),
        ("kpos=[18,2]", "kpos=[18,two]", "two", '"two" is not a whole number'),
        ("0008]", "0008,null]", "citations", "[2] None is no text"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_column_and_a_remedy(old, new, at, fact):
    line = LINE.replace(old, new)
    problem = refused(line)[0]
    assert problem.startswith(f"column {line.index(at) + 1}: ") and fact in problem


def test_two_lines_are_not_one():
    for end in ("\n", "\r\n", "\u2028", "\x85"):
        assert "one line at a time" in refused(f"{LINE}{end}{LINE}")[0]


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"scores": (0.5,)}, "scores: has 1 and citations 2; write one for each citation, null"),
        ({"kpos": ()}, "kpos: has 0 and citations 2"),
        ({"kfinal": (1, 2, 3)}, "kfinal: has 3 and citations 2"),
        ({"scores": None}, "scores: is NoneType, not a list"),
        ({"citations": "ab"}, "citations: is str, not a list"),
        ({"citations": ("a", None)}, "citations: [1] None is no text"),
        ({"scores": (0.5, float("nan"))}, "scores: [1] is not finite; write null"),
        ({"scores": (0.5, 10**400)}, "scores: [1] is not finite"),
        ({"scores": (0.5, True)}, "scores: [1] True is no number"),
        ({"kpos": (1, 1.0)}, "kpos: [1] 1.0 is no whole number"),
        ({"seg": 0}, "seg: is no whole number from 1"),
        ({"k": 2**31}, "k: is outside 0 to 2,147,483,647"),
        ({"deltaS": float("inf")}, "deltaS: is not finite"),
        ({"qid": 7}, "qid: 7 is no text"),
        ({"rev": "\ud800"}, "rev: '\\ud800' has half a character"),
        ({"ts": datetime(2025, 8, 28)}, "ts: 2025-08-28T00:00:00 has no zone"),
        ({"ts": "2025-08-28"}, "ts: '2025-08-28' is no time"),
        (
            {"ts": datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))},
            "ts: 0001-01-01T00:00:00+02:00 is outside the years",
        ),
    ],
)  # fmt: skip
def test_an_entry_that_could_not_be_written_is_refused_when_it_is_made(fields, fact):
    with pytest.raises(InputRejected) as error:
        msgspec.structs.replace(ENTRY, **fields)
    problem = error.value.problems[-1]
    assert problem.startswith("log entry ") and fact in problem


def test_all_faults_of_an_entry_are_told_at_once():
    with pytest.raises(InputRejected) as error:
        LogEntry(ts=NOON, qid=None, seg=-1, citations=["c1"])
    assert len(error.value.problems) == 5


def test_numbers_of_an_array_library_are_taken_as_plain_ones():
    logged = LogEntry(
        ts=NOON,
        qid="q",
        seg=np.int64(1),
        citations=["c1", "c2"],
        scores=[np.float32(0.5), 1],
        kpos=[np.int32(3), 4],
        kfinal=[None, None],
    )
    assert logged.scores == (0.5, 1.0)
    assert {type(score) for score in logged.scores} == {float}
    assert parse_line(format_line(logged)) == logged


def test_an_answer_becomes_an_entry_for_each_segment():
    other = msgspec.structs.replace(
        PAYLOAD, snippet_id="hb24-sec-keys-0008", section_id="policies/doors", k_final=None
    )
    first, second = entries_of(
        "q0007", [[PAYLOAD], [PAYLOAD, other]], ts=NOON, k=20, deltaS=0.41, lambda_state="chaotic"
    )
    assert format_line(first) == (
        "ts=2025-08-28T12:00:00Z qid=q0007 seg=1 deltaS=0.41 lambda=chaotic k=20 store=faiss "
        "index_hash=2f7d9a embed=bge-large-en-v1.5:mean analyzer=lowercase+ascii_fold "
        "citations=[hb24-sec-keys-0007] scores=[0.78] kpos=[18] kfinal=[3] "
        "section_id=policies/security/keys rev=3b91f2a"
    )
    assert (second.seg, second.section_id, second.rev) == (2, None, "3b91f2a")
    assert second.kfinal == (3, None)


def test_what_payloads_do_not_agree_on_is_absent_and_not_the_first_ones():
    for name in ("section_id", "rev", "embed_model", "analyzer", "index_hash"):
        other = msgspec.structs.replace(PAYLOAD, **{name: "another"})
        both = entry("q", 1, [PAYLOAD, other], ts=NOON, k=2)
        assert getattr(both, name) is None
        assert both == msgspec.structs.replace(
            entry("q", 1, [PAYLOAD, PAYLOAD], ts=NOON, k=2), **{name: None}
        )


def test_the_store_comes_from_the_hash_unless_it_is_named():
    bare = msgspec.structs.replace(PAYLOAD, index_hash="2f7d9a")
    elsewhere = msgspec.structs.replace(PAYLOAD, index_hash="qdrant:2f7d9a")

    def found(*payloads, store=None):
        made = entry("q", 1, payloads, ts=NOON, k=None, store=store)
        return made.store, made.index_hash

    assert found(PAYLOAD) == ("faiss", "2f7d9a")
    assert found(bare) == (None, "2f7d9a")
    assert found(PAYLOAD, bare) == ("faiss", "2f7d9a")
    assert found(PAYLOAD, elsewhere) == (None, "2f7d9a")
    assert found(PAYLOAD, store="pgvector") == ("pgvector", "2f7d9a")
    assert found() == (None, None)


def test_scores_of_one_entry_are_of_one_kind():
    raw = msgspec.structs.replace(PAYLOAD, score_norm=None)
    assert entry("q", 1, [PAYLOAD, PAYLOAD], ts=NOON, k=2).scores == (0.78, 0.78)
    assert entry("q", 1, [PAYLOAD, raw], ts=NOON, k=2).scores == (0.8421, 0.8421)
    neither = msgspec.structs.replace(raw, score_raw=None)
    norm = msgspec.structs.replace(PAYLOAD, score_raw=None)
    assert entry("q", 1, [norm, neither], ts=NOON, k=2).scores == (0.78, None)


def test_a_payload_that_is_not_whole_is_logged_as_far_as_it_goes():
    whole = json.loads(msgspec.json.encode(PAYLOAD))
    assert entry("q", 1, [whole], ts=NOON, k=1) == entry("q", 1, [PAYLOAD], ts=NOON, k=1)
    broken = whole | {"rev": " ", "k_pos": "18", "score_norm": 7.0, "section_id": None}
    logged = entry("q", 1, [broken, "c9", {"text": "no id"}], ts=NOON, k=1)
    assert logged.citations == ("hb24-sec-keys-0007", "c9", "")
    assert (logged.scores, logged.kpos) == ((0.8421, None, None), (None, None, None))
    assert (logged.rev, logged.section_id, logged.index_hash) == (None, None, None)


def test_a_refusal_is_logged_without_citations():
    logged = entry("q", 1, [], ts=NOON, k=5)
    assert logged == LogEntry(ts=NOON, qid="q", seg=1, k=5)


def test_the_page_shows_lines_that_are_so():
    """The example and the keys of the documentation, read by the parser."""
    page = PAGE.read_text("utf-8")
    shown = re.findall(r"^ts=\S+.*$", page, re.MULTILINE)
    assert shown
    for line in shown:
        assert format_line(parse_line(line)) == line
    assert re.findall(r"^\| `(\w+)` \|", page.partition("## The table")[0], re.MULTILINE) == [
        *FIELDS
    ]


def test_the_record_for_semantic_kernel_has_the_names_of_the_payload():
    block = re.search(r"```csharp\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    records = dict(re.findall(r"record (\w+)[^{(]*[{(](.*?)\n[})]", block, re.DOTALL))
    names = {
        name: re.findall(r'JsonPropertyName\("(\w+)"\)', body) for name, body in records.items()
    }
    kinds = {"Citation": Citation, "Offsets": Offsets, "Window": Window}
    assert names == {name: [*kind.__struct_fields__] for name, kind in kinds.items()}
    assert len(names["Citation"]) == 17
    required = [field.name for field in msgspec.structs.fields(Citation) if field.required]
    body = records["Citation"]
    found = re.findall(r'JsonPropertyName\("(\w+)"\).*?public required ', body)
    assert found == required
