"""A set in another form is the same set: nothing lost, nothing taken for something else."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.gold import Gold, Span, fingerprint
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.gold import read_gold, record_of
from ragauge.ingest.gold_forms import FORMULA, read_any
from ragauge.runners.gold_convert import convert, encoded
from tests.cli.command import ragauge

HERITAGE = Path(__file__).resolve().parents[2] / "src/ragauge/demo/heritage/gold.jsonl"
ENTRY = {
    "id": "nl-rm",
    "text": "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800.",
    "ner_annotations": [{"text": "1800", "type": "TMP", "start": 58, "end": 62}],
    "type_classification": {"primary_type": "GRP.HER.MUS", "secondary_types": []},
    "entity_linking": {"Rijksmuseum": {"wikidata_id": "Q190804"}},
    "qa_pairs": [
        {"question": "Wanneer?", "answer": "1800", "answer_type": "temporal"},
        {"question": "Waar?", "answer": "Amsterdam", "supporting_facts": ["f1"], "hard": True},
    ],
    "strata": {"country": "NL"},
    "curator": "A",
}
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": "The Normans gave their name to Normandy.",
                    "qas": [
                        {
                            "id": "56dd",
                            "question": "To what did they give a name?",
                            "is_impossible": False,
                            "answers": [
                                {"text": "Normandy", "answer_start": 31},
                                {"text": "Normandy", "answer_start": 31},
                                {"text": "name", "answer_start": 3},
                            ],
                        },
                        {
                            "id": "5ad3",
                            "question": "Who gave them theirs?",
                            "is_impossible": True,
                            "answers": [],
                            "plausible_answers": [{"text": "Normans", "answer_start": 4}],
                        },
                    ],
                },
                {"context": "Nothing is asked here.", "qas": []},
            ],
        }
    ],
}

# What a cell may be taken for: formulas, JSON, lists, numbers, nothing at all, several lines.
CELLS = [
    "=1+1",
    "+31",
    "-",
    "@x",
    "a|b",
    "[x]",
    '"',
    '"a"',
    "1",
    "true",
    "null",
    "007",
    "a;b",
    "'",
    "＝1",
    "{}",
    "é",
]
TRICKY = st.one_of(
    st.sampled_from(
        [*CELLS, "a\tb", "two\nlines", "\r", "x\r\ny", "\0", " blank ", '["a"]', "a,b"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
FILLED = TRICKY.filter(str.strip)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TRICKY,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TRICKY, inner, max_size=2),
    max_leaves=4,
)
SCALARS = st.none() | st.booleans() | st.integers() | TRICKY
KEYS = TRICKY | st.sampled_from(
    ["note", "Note", "Question", "extra", "q", "gold_ids", "answers", "id"]
)
SPANS = st.none() | st.builds(Span, TRICKY, TRICKY, st.integers(0, 9), st.integers(10, 20))
LISTS = st.lists(FILLED, max_size=3).map(tuple)
RESERVED = set(Gold.__struct_fields__) - {"extra"}
QUESTIONS = st.lists(
    st.builds(
        Gold,
        qid=FILLED,
        question=FILLED,
        answerable=st.booleans(),
        gold_claim_substr=st.lists(FILLED, min_size=1, max_size=3).map(tuple),
        gold_claim=st.none() | FILLED,
        gold_answer=st.none() | FILLED,
        gold_citations=LISTS,
        constraints=LISTS,
        paraphrases=LISTS,
        target_section=SPANS,
        anchor=SPANS,
        strata=st.dictionaries(TRICKY, SCALARS, max_size=3),
        weight=st.none() | st.floats(0.5, 9).filter(lambda weight: weight != 1),
        extra=st.dictionaries(KEYS.filter(lambda key: key not in RESERVED), VALUES, max_size=3),
    ),
    unique_by=lambda question: question.qid,
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "tsv"])
@given(QUESTIONS)
def test_every_form_reads_back_as_the_same_set(tmp_path, form, questions):
    questions = [gold_as_read(question) for question in questions]
    file = tmp_path / f"gold.{form}"
    file.write_bytes(encoded(questions, form))
    taken, _, findings = read_any(str(file))
    assert taken == questions
    assert not findings.counts
    assert fingerprint(taken) == fingerprint(questions)  # 1 is not true, 0.0 not -0.0


def gold_as_read(question):
    """What our reader makes of a question: a null it knows the name of is no field."""
    return read_gold([json.loads(json.dumps(record_of(question)))])[0]


@given(QUESTIONS)
def test_no_cell_of_a_table_is_a_formula(questions):
    rows = list(csv.reader(io.StringIO(encoded(questions, "csv").decode(), newline="")))
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(FORMULA) or isinstance(json.loads(cell), int | float)


def test_the_whole_way_round_leaves_the_bundled_set_as_it_was(tmp_path):
    for source, target in [(HERITAGE, "a.csv"), ("a.csv", "b.tsv"), ("b.tsv", "c.json")]:
        assert ragauge("gold", "convert", source, target, cwd=tmp_path).returncode == 0
    report = convert(str(tmp_path / "c.json"), tmp_path / "d.jsonl")
    gold = read_gold(str(HERITAGE))
    assert read_gold(str(tmp_path / "d.jsonl")) == gold
    assert report.gold == fingerprint(gold)


def written(tmp_path, content, name="in.json"):
    file = tmp_path / name
    file.write_text(content if type(content) is str else json.dumps(content), encoding="utf-8")
    return str(file)


TABLES = {
    "comma": "qid,question,answerable,gold_claim\n1,Why?,TRUE,So.\n",
    "semicolon": "qid;question;answerable;gold_claim\n1;Why?;true;So.\n",
    "tab and CRLF": "qid\tquestion\tanswerable\tgold_claim\r\n1\tWhy?\tyes\tSo.\r\n",
    "names of others, any case": "ID,User_Input,Answerable,gold_claim\n1,Why?,1,So.\n".replace(
        "ID", "id"
    ),
    "byte order mark": "\ufeffqid,question,answerable,gold_claim\n1,Why?,true,So.\n",
}


@pytest.mark.parametrize("content", TABLES.values(), ids=TABLES)
def test_tables_of_every_kind(tmp_path, content):
    [question] = read_any(written(tmp_path, content, "t.csv"))[0]
    assert question == Gold(qid="1", question="Why?", answerable=True, gold_claim="So.")


def test_cells_of_a_table(tmp_path):
    content = (
        "qid,question,answerable,gold_claim_substr,gold_citations,strata.year,strata.code,note,n\n"
        'q1,"Two\nlines?",no,,"[""a|b"", ""c""]",1850,007,plain text,5\n'
        "q2,Why?,yes,one | two,p1#1,,,,\n"
    )
    first, second = read_any(written(tmp_path, content, "t.csv"))[0]
    assert first.question == "Two\nlines?"
    assert first.gold_citations == ("a|b", "c")
    assert first.strata == {"year": 1850, "code": "007"}
    assert first.extra == {"note": "plain text", "n": 5}
    assert (second.gold_claim_substr, second.gold_citations) == (("one", "two"), ("p1#1",))
    assert (second.strata, second.extra) == ({}, {})


def test_squad(tmp_path):
    source = written(tmp_path, json.dumps(SQUAD, indent=1))
    report = convert(source, tmp_path / "out.jsonl")
    first, second = read_gold(str(tmp_path / "out.jsonl"))
    assert (report.read, first.qid, first.answerable) == ("SQuAD", "56dd", True)
    assert first.gold_claim_substr == ("Normandy", "name")
    assert first.extra["context"].startswith("The Normans")
    assert first.extra["answers"] == SQUAD["data"][0]["paragraphs"][0]["qas"][0]["answers"]
    assert (second.answerable, second.phrases) == (False, ())
    assert second.extra["plausible_answers"][0]["text"] == "Normans"
    assert report.finding_counts == {"misplaced_answer": 1, "not_carried": 2}
    told = [finding.message for finding in report.findings]
    assert any('"version"' in message for message in told)
    assert any("a paragraph without questions" in message for message in told)


def test_heritage_entries(tmp_path):
    report = convert(written(tmp_path, ENTRY, "e.jsonl"), tmp_path / "out.jsonl")
    first, second = read_gold(str(tmp_path / "out.jsonl"))
    assert (first.qid, second.qid) == ("nl-rm#1", "nl-rm#2")
    assert (first.gold_answer, first.answerable) == ("1800", True)
    assert first.strata == {"country": "NL", "question_type": "temporal"}
    assert second.extra == {
        "curator": "A",
        "hard": True,
        "supporting_facts": ["f1"],
        "text": ENTRY["text"],
    }
    assert report.finding_counts == {"misplaced_span": 1, "not_carried": 1}
    assert "ner_annotations (1), type_classification (1), entity_linking (1)" in next(
        one.message for one in report.findings if one.code == "not_carried"
    )


DATASETS = {
    "ragas": [{"user_input": "Why?", "reference": "So.", "reference_contexts": ["c"]}],
    "deepeval": [{"input": "Why?", "expected_output": "So.", "context": ["c"]}],
    "deepeval in an object": {"goldens": [{"input": "Why?", "expected_output": "So."}]},
    "older ragas": [{"question": "Why?", "ground_truth": "So."}],
}


@pytest.mark.parametrize("content", DATASETS.values(), ids=DATASETS)
def test_sets_that_do_not_say_what_is_answerable(tmp_path, content):
    source = written(tmp_path, content)
    with pytest.raises(InputRejected, match="--answerable true"):
        read_any(source)
    [question], _, findings = read_any(source, answerable=True)
    assert (question.qid, question.question, question.gold_answer) == ("q1", "Why?", "So.")
    assert findings.counts == {"made_qid": 1}


def test_what_a_question_says_itself_stands(tmp_path):
    lines = [
        {"qid": "a", "q": "Why?", "answerable": False},
        {"qid": "b", "q": "How?", "gold_claim": "So."},
    ]
    questions, *_ = read_any(written(tmp_path, lines), answerable=True)
    assert [question.answerable for question in questions] == [False, True]


def test_the_older_array_form(tmp_path, parity):
    gold, _ = parity
    convert(str(gold), tmp_path / "out.csv")
    assert read_any(str(tmp_path / "out.csv"))[0] == read_gold(str(gold))


REJECTED = {
    "two columns alike": ("qid,question,question\n1,a,b\n", "2 columns are called"),
    "no question column": ("qid,asked\n1,a\n", "no column is called question"),
    "cells missing": ("qid,question,answerable\n1,a\n", ":2: cells: 2, but the header has 3"),
    "not true or false": (
        "qid,question,answerable\n1,a,perhaps\n",
        'answerable: expected true or false, got "perhaps"',
    ),
    "qid twice": (
        "qid,question,answerable\n1,a,no\n1,b,no\n",
        ':3: qid: "1" is at ',
    ),
    "bad quotes": ('qid,question,answerable\n1,"a"b,no\n', "not a row of cells"),
    "half an object": ('{"data":\n[', "the text is cut off"),
    "nothing": ("", "the file is empty"),
    "SQuAD of another shape": ('{"data": [{"paragraphs": 5}]}', "paragraphs: expected a list"),
    "entry without a text": ('{"id": "a", "qa_pairs": []}', "text: missing"),
}


@pytest.mark.parametrize(("content", "fact"), REJECTED.values(), ids=REJECTED)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path, content, fact):
    source = written(tmp_path, content, "in.txt")
    done = ragauge("gold", "convert", source, tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (3, b"")
    assert fact in done.stderr.decode()
    assert f"{source}" in done.stderr.decode()
    assert not (tmp_path / "out.jsonl").exists()


def test_unknown_endings_and_other_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"known: \.jsonl, \.json, \.csv, \.tsv"):
        convert(str(HERITAGE), tmp_path / "gold.xlsx")
    (tmp_path / "gold.csv").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"):
        convert(str(HERITAGE), tmp_path / "gold.csv")
    assert (tmp_path / "gold.csv").read_text() == "mine"
    assert convert(str(HERITAGE), tmp_path / "gold.csv", force=True).passed


def test_a_long_cell_is_read(tmp_path):
    """Python's own limit of 128 KiB a cell is below what a context may take."""
    long = "word " * 100_000
    questions = [Gold(qid="a", question="Why?", answerable=False, extra={"context": long})]
    (tmp_path / "t.csv").write_bytes(encoded(questions, "csv"))
    assert read_any(str(tmp_path / "t.csv"))[0] == questions


def test_the_report_is_the_common_one(tmp_path):
    words = ("gold", "convert", "-", "out.csv", "--format", "json")
    report = json.loads(ragauge(*words, stdin=HERITAGE.read_bytes(), cwd=tmp_path).stdout)
    assert report["schema"] == "ragauge.gold-convert/1"
    assert report.keys() >= {"pass", "metrics", "gates", "findings", "finding_counts", "coverage"}
    assert (report["pass"], report["coverage"]["gold"], report["extra"]) == (True, 80, {})
