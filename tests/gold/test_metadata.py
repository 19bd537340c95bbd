"""A gold set may begin with a record about itself: kept, and never a question."""

import json

import pytest

from ragauge import audit, score, stability
from ragauge.contracts.gold import fingerprint
from ragauge.errors import InputRejected
from ragauge.ingest.gold import read_gold
from tests.cli.command import ragauge

ABOUT = {"name": "museums", "languages": ["en", "nl"], "refusal": "exact"}
QUESTIONS = [
    {"qid": "q1", "question": "When did it open?", "answerable": True, "gold_claim": "In 1885."},
    {"qid": "q2", "question": "Who painted it?", "answerable": False},
    {"qid": "q3", "question": "What did it cost?", "answerable": False},
]
SAID = {"q1": "It opened in 1885.", "q2": "The documents do not say.", "q3": "not in context"}


def written(path, records):
    if path.suffix == ".json":
        path.write_text(json.dumps(list(records)))
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def traces(tmp_path):
    lines = ({"qid": qid, "answer": said, "citations": []} for qid, said in SAID.items())
    return written(tmp_path / "traces.jsonl", lines)


def label(report, qid="q2"):
    return next(row.label for row in report.questions if row.qid == qid)


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.json"])
def test_the_metadata_is_read_and_is_no_question(tmp_path, name):
    gold = read_gold(str(written(tmp_path / name, [ABOUT, *QUESTIONS])))
    assert [question.qid for question in gold] == ["q1", "q2", "q3"]
    assert gold.metadata.name == "museums"
    assert gold.metadata.languages == ("en", "nl")
    bare = read_gold(str(written(tmp_path / "bare.jsonl", QUESTIONS)))
    assert bare.metadata is None
    assert fingerprint(bare) == fingerprint(gold)


def test_what_it_says_of_refusals_holds_unless_the_user_says_otherwise(tmp_path, traces):
    gold = written(tmp_path / "gold.jsonl", [ABOUT, *QUESTIONS])
    bare = written(tmp_path / "bare.jsonl", QUESTIONS)
    for preset in (None, "ship"):
        report = score(gold, traces, preset=preset).report
        assert label(report) == "HALLUCINATION"
        assert report.identity["options"]["refusal"] == "exact"
        assert label(score(bare, traces, preset=preset).report) == "REFUSAL_OK"
        assert label(score(gold, traces, preset=preset, refusal="auto").report) == "REFUSAL_OK"
    assert report.coverage.gold == 3
    runs = written(
        tmp_path / "runs.jsonl",
        [{"qid": "q2", "answer": SAID["q2"], "seed": seed} for seed in range(2)],
    )
    rates = [stability(file, runs).report.details["q2"].refusal_rate for file in (gold, bare)]
    assert rates == [0.0, 1.0]
    counts = [audit(traces, gold=str(file)).report.coverage.refusals for file in (gold, bare)]
    assert counts == [1, 2]


def test_it_may_name_the_refusal_tokens(tmp_path, traces):
    about = {"refusal": "exact", "refusal_tokens": ["The documents do not say."]}
    report = score(written(tmp_path / "gold.jsonl", [about, *QUESTIONS]), traces).report
    assert (label(report, "q2"), label(report, "q3")) == ("REFUSAL_OK", "HALLUCINATION")


WRONG = [
    ({"refusel": "exact"}, 'metadata has no such key; did you mean "refusal"?'),
    ({"name": "x", "owner": "y"}, "owner: a gold set's metadata has no such key; there are "),
    ({"refusal": "strict"}, "Invalid enum value 'strict' - at `$.refusal`"),
]


@pytest.mark.parametrize(("about", "fact"), WRONG)
def test_what_is_wrong_with_it_is_named(tmp_path, about, fact):
    gold = written(tmp_path / "gold.jsonl", [about, *QUESTIONS])
    with pytest.raises(InputRejected) as rejected:
        read_gold(str(gold))
    (problem,) = rejected.value.problems
    assert problem.startswith(f"{gold}:1: ")
    assert fact in problem


def test_only_the_first_record_can_be_metadata(tmp_path):
    gold = written(tmp_path / "gold.jsonl", [QUESTIONS[0], ABOUT])
    with pytest.raises(InputRejected, match="qid: missing"):
        read_gold(str(gold))


def test_it_is_kept_where_a_set_is_written_back(tmp_path):
    gold = written(tmp_path / "gold.jsonl", [ABOUT, *QUESTIONS])
    for arguments, files in (
        (("convert", gold, tmp_path / "out.json"), ["out.json"]),
        (("sample", gold, "-n", "2", "--out", tmp_path / "some.jsonl"), ["some.jsonl"]),
        (
            ("split", gold, "--into", tmp_path, "--shares", "2/1", "--names", "a,b"),
            ["a.jsonl", "b.jsonl"],
        ),
    ):
        done = ragauge("gold", *arguments)
        assert done.returncode == 0, done.stderr
        for file in files:
            assert read_gold(str(tmp_path / file)).metadata.refusal == "exact"


def test_a_table_has_no_place_for_it(tmp_path):
    gold = written(tmp_path / "gold.jsonl", [ABOUT, *QUESTIONS])
    done = ragauge("gold", "convert", gold, tmp_path / "out.csv")
    assert b"left behind" in b" ".join(done.stdout.split())


def test_eval_qa_reads_past_it(tmp_path, traces):
    gold = written(tmp_path / "gold.jsonl", [ABOUT, *QUESTIONS])
    done = ragauge("eval", "qa", gold, traces, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
