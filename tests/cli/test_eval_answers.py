"""`ragauge eval answers` and `ragauge eval qa` as a user runs them."""

import json
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest
from jsonschema import Draft202012Validator

from ragauge.contracts.schemas import schema
from ragauge.grounding.model import shipped
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.models.judge_server import chatting
from tests.models.test_endpoint_embedder import embeddings
from tests.runners.test_judged_answers import agreeable

ROWS = [
    {
        "id": name,
        "user_input": "When did it open?",
        "response": answer,
        "retrieved_contexts": ["The museum opened in 1800."],
        "reference": "In 1800.",
    }
    for name, answer in (("b", "It opened in 1801."), ("a", "It opened in 1800."))
]

ROUGE = "rouge1(tokenizer=rouge155,stemmer=porter)"


@pytest.fixture
def rows(tmp_path):
    return written(tmp_path / "rows.jsonl", *ROWS)


def written(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def report(*arguments, code=0):
    done = ragauge("eval", *arguments, "--format", "json")
    assert done.returncode == code, done.stderr.decode()
    return json.loads(done.stdout)


def test_rows_in_a_report_and_scores_out(rows, tmp_path):
    out = tmp_path / "scores.jsonl"
    found = report("answers", rows, "--out", out)
    Draft202012Validator(schema("eval-report")).validate(found)
    assert found["task"] == "answers" and found["pass"] is None  # no quality gate
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["b", "a"]
    assert [line["scores"]["containment"]["value"] for line in lines] == [0.0, 1.0]
    assert [*lines[0]["scores"]] == sorted(lines[0]["scores"])
    grounds = [line["scores"]["groundedness"] for line in lines]
    assert grounds[0]["value"] < grounds[1]["value"]
    assert [one["grounded"] for one in grounds] == [False, True]
    assert grounds[0]["unsupported_numbers"] == ["1801"]
    assert grounds[1]["sentences"][0]["evidence"] == {"chunk": "1", "start": 0, "end": 26}


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "html"])
def test_every_form_is_written(rows, form):
    done = ragauge("eval", "answers", rows, "--format", form)
    assert done.returncode == 0, done.stderr.decode()
    assert b"token_recall" in done.stdout.replace(b"\\_", b"_")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_the_report_says_what_the_scores_meant_to_people(rows, form):
    done = ragauge("eval", "answers", rows, "--format", form)
    shown = re.sub(r"<[^>]*>|[\s|*\\]", "", done.stdout.decode())
    assert "Whatthesescoresmeanttopeople" in shown
    highest = shipped().kinds["qa"].bands[-1]
    assert f"0.8to1.0QA1{100 * highest.share:.1f}%{highest.answers}" in shown


def test_a_row_without_a_question_is_told_which_kind_was_assumed(tmp_path):
    row = {"id": "a", "answer": "It opened in 1800.", "contexts": ["The museum opened in 1800."]}
    out = tmp_path / "scores.jsonl"
    found = report("answers", written(tmp_path / "rows.jsonl", row), "--out", out)
    assumed = [one["message"] for one in found["findings"] if one["code"] == "kind_assumed"]
    assert assumed == [
        "a: no question: taken as an answer to a question, "
        "because the answer has fewer than 40 words"
    ]
    grounds = json.loads(out.read_text())["scores"]["groundedness"]
    assert grounds["assumed"] in assumed[0]
    assert grounds["band"]["low"] <= grounds["value"] <= grounds["band"]["high"]
    assert grounds["band"]["answers"] >= grounds["band"]["grounded"] > 0


def test_what_is_not_read_and_what_is_absent_everywhere_is_said(tmp_path):
    row = {"id": "a", "question": "When?", "answer": "In 1800.", "context_list": ["So."]}
    found = report("answers", written(tmp_path / "rows.jsonl", row, row | {"id": "b"}))
    Draft202012Validator(schema("eval-report")).validate(found)
    assert found["coverage"]["unread_columns"] == ["context_list"]
    first, second, third = found["findings"]
    assert first["message"].startswith("no row has contexts (or retrieved_contexts")
    assert second["message"].startswith("no row has references (or reference")
    assert third["message"].startswith("columns not read: context_list")


def test_columns_are_mapped(rows, tmp_path):
    own = [
        {
            "key": row["id"],
            "said": {"q": row["user_input"], "a": row["response"]},
            "docs": row["retrieved_contexts"],
        }
        for row in ROWS
    ]
    columns = ("question=said.q", "id=key", "answer=said.a", "contexts=docs")
    mapped = [part for one in columns for part in ("--map", one)]
    found = report("answers", written(tmp_path / "own.jsonl", *own), *mapped)
    usual = report("answers", rows)
    assert "unread_columns" not in found["coverage"]
    grounds = "answers.groundedness"
    assert found["metrics"][grounds]["value"] == usual["metrics"][grounds]["value"] > 0
    gold = written(
        tmp_path / "gold.jsonl",
        *({"id": row["id"], "question": "When?", "right": "In 1800."} for row in ROWS),
    )
    joined = report("qa", gold, tmp_path / "own.jsonl", *mapped, "--map", "references=right")
    assert joined["metrics"]["answers.containment"]["value"] == 0.5


def test_gates_decide_the_exit_code(rows):
    assert ragauge("eval", "answers", rows, "--gates", "token_recall>=0.9").returncode == 1
    assert ragauge("eval", "answers", rows, "--gates", "token_recall>=0.4").returncode == 0


def test_metrics_are_named_with_commas(rows):
    found = report("answers", rows, "--metrics", f"token_f1, chrf,{ROUGE},")
    assert set(found["metrics"]) == {
        "answers.coverage",
        "answers.token_f1",
        "answers.chrf",
        f"answers.{ROUGE}",
    }


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (("--metrics", "faithfulness"), b"a judge is needed"),
        (("--metrics", ""), b"--metrics: names nothing"),
        (("--out", "scores.txt"), b'the ending ".txt"'),
        (("--out", "rows.jsonl"), b"would be overwritten"),
        (("--rate", "5/s"), b"--rate: belongs to --judge URL"),
    ],
)
def test_what_cannot_be_done_as_asked_ends_in_words(rows, arguments, fact):
    done = ragauge("eval", "answers", rows.name, *arguments, cwd=rows.parent)
    assert done.returncode == 2
    assert fact in done.stderr
    assert done.stdout == b""


def test_bad_lines_end_in_words(tmp_path):
    bad = tmp_path / "rows.jsonl"
    bad.write_text('{"id": "a", "answer": 3}\n{"id": "b", "answer": "x"\n')
    done = ragauge("eval", "answers", bad)
    assert done.returncode == 3
    assert b"rows.jsonl:1: answer: expected text" in done.stderr
    assert b"rows.jsonl:2: not JSON" in done.stderr


def test_rows_without_anything_to_measure_end_with_3(tmp_path):
    only = written(tmp_path / "rows.jsonl", {"id": "a", "answer": None})
    assert ragauge("eval", "answers", only).returncode == 3


def test_a_judge_is_announced_asked_once_and_remembered(rows, tmp_path):
    with chatting(agreeable) as server:
        arguments = (
            *("eval", "answers", rows, "--judge", server.at("v1"), "--judge-model", "small"),
            *("--judge-key-env", "THE_KEY", "--store", tmp_path / "store"),
            *("--metrics", "faithfulness", "--out", tmp_path / "scores.jsonl"),
        )
        first = ragauge(*arguments, THE_KEY="canary-7f3a")
        asked = len(server.requests)
        again = ragauge(*arguments, THE_KEY="canary-7f3a")
        assert len(server.requests) == asked == 4
        assert server.requests[0].headers["authorization"] == "Bearer canary-7f3a"
    assert first.returncode == again.returncode == 0, first.stderr.decode()
    assert b"judge: at most 4 calls" in first.stderr
    assert b"judge: at most 0 calls" in again.stderr
    assert b"4 replies are known already" in again.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    told = [first.stdout, first.stderr, *(path.read_bytes() for path in files)]
    assert len(files) >= 3
    assert not any(b"canary-7f3a" in content for content in told)


def test_a_seed_and_a_rubric_reach_the_judge(rows, tmp_path):
    rubric = tmp_path / "rubric.md"
    rubric.write_text("5: it rhymes.\n", "utf-8")
    with chatting(agreeable) as server:
        done = ragauge(
            *("eval", "answers", rows, "--judge", server.at("v1"), "--judge-model", "small"),
            *("--metrics", "rubric", "--seed", 7, "--rubric", rubric, "--format", "json"),
            *("--store", tmp_path / "store"),
        )
        assert done.returncode == 0, done.stderr.decode()
        assert {body["seed"] for body in server.bodies} == {7}
        assert all("it rhymes" in body["messages"][0]["content"] for body in server.bodies)
    signature = json.loads(done.stdout)["metrics"]["answers.rubric"]["signature"]
    assert "rubric/1 rubric:" in signature and "|seed:7|" in signature


def test_a_rubric_that_cannot_be_read_ends_in_words(rows, tmp_path):
    missing = ragauge("eval", "answers", rows, "--rubric", tmp_path / "none.md")
    assert missing.returncode == 2
    assert b"none.md: cannot be read: No such file" in missing.stderr
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    bad = ragauge("eval", "answers", rows, "--rubric", tmp_path / "bad.md")
    assert bad.returncode == 2
    assert b"bad.md: is not UTF-8 text" in bad.stderr


def test_an_endpoint_is_asked_for_a_vector_once(rows, tmp_path):
    with chatting(lambda asked: embeddings(asked.body["input"])) as server:
        arguments = (
            *("eval", "answers", rows, "--embedder", f"{server.at('v1')}#small"),
            *("--store", tmp_path / "store", "--metrics", "relevance", "--format", "json"),
        )
        first, asked = ragauge(*arguments), len(server.requests)
        again = ragauge(*arguments)
        assert first.returncode == 0, first.stderr.decode()
        assert len(server.requests) == asked > 0
    assert first.stdout == again.stdout


def kept(store):
    """How many replies a store holds."""
    with closing(sqlite3.connect(store / "history.sqlite")) as database:
        return database.execute("SELECT count(*) FROM judge_replies").fetchone()[0]


def test_a_kill_loses_no_reply(rows, tmp_path):
    arguments = (
        *("eval", "answers", rows, "--judge-model", "small", "--concurrency", 1),
        *("--store", tmp_path / "store", "--metrics", "faithfulness", "--judge"),
    )

    async def never(call):
        await call.server.released.wait()

    with chatting(lambda asked: never if asked.number == 4 else agreeable(asked)) as server:
        command = [RAGAUGE, *map(str, arguments), server.at("v1")]
        process = subprocess.Popen(
            command, env=QUIET_ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            server.wait_until(lambda server: len(server.requests) == 4)
            while kept(tmp_path / "store") < 3:
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        resumed = ragauge(*arguments, server.at("v1"))
        assert resumed.returncode == 0, resumed.stderr.decode()
        assert sorted(server.by_user.values()) == [1, 1, 1, 2]


def test_a_spent_budget_ends_with_3_and_the_rest_is_told(rows, tmp_path):
    with chatting(agreeable) as server:
        done = ragauge(
            *("eval", "answers", rows, "--judge", server.at("v1"), "--judge-model", "small"),
            *("--budget", "calls=2", "--store", tmp_path / "store", "--format", "json"),
            *("--metrics", "faithfulness,token_f1"),
        )
        assert len(server.requests) == 2
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert found["metrics"]["answers.token_f1"]["n"] == 2
    assert found["metrics"]["answers.faithfulness"]["n"] == 1
    assert not found["pass"]


def test_questions_of_gold_are_evaluated_by_type(tmp_path):
    gold = written(
        tmp_path / "gold.jsonl",
        {"qid": "q1", "question": "When?", "answerable": True, "gold_answer": "1800"}
        | {"strata": {"question_type": "temporal"}},
        {"qid": "q2", "question": "Who?", "answerable": True, "gold_answer": "Louis"}
        | {"strata": {"question_type": "factual"}},
    )
    answers = written(
        tmp_path / "answers.jsonl",
        {"qid": "q1", "answer": "In 1800."},
        {"question": "Who?", "answer": "Nobody knows."},
    )
    found = report("qa", gold, answers, "--by", "question_type")
    by = found["per_stratum"]["question_type"]
    assert by["temporal"]["answers.token_recall"]["value"] == 1.0
    assert by["factual"]["answers.token_recall"]["value"] == 0.0
    done = ragauge("eval", "qa", gold, written(answers, {"qid": "q1", "answer": "In 1800."}))
    assert done.returncode == 1
    assert b"missing_prediction" in done.stdout


def test_listed_claims_are_looked_up_and_counted(tmp_path):
    claims = [
        {"claim": "It opened in 1800", "verifiable": True},
        {"claim": "It is in Paris", "verifiable": True},
        {"claim": "It is worth a visit", "verifiable": False},
    ]
    row = {"id": "a", "question": "When did it open?", "answer": "In 1800.", "facts": ["in 1800"]}
    rows = written(tmp_path / "rows.jsonl", row | {"claims": claims}, row | {"id": "b"})
    out = tmp_path / "out.jsonl"
    found = report("answers", rows, "--out", out)
    assert found["detail"]["factual_claims"] == {"correct": 2, "incorrect": 1, "unverifiable": 1}
    assert found["metrics"]["answers.factual_accuracy"]["value"] == pytest.approx(2 / 3)
    assert found["metrics"]["answers.factual_accuracy"]["signature"].split("|")[1] == "v2"
    first = json.loads(out.read_text().splitlines()[0])["scores"]["factual_accuracy"]
    assert (first["value"], first["correct"], first["incorrect"], first["unverifiable"]) == (
        *(0.5, 1, 1, 1),
    )
    assert [one["verdict"] for one in first["claims"]] == ["correct", "incorrect", "unverifiable"]
    told = ragauge("eval", "answers", rows).stdout.decode()
    assert "claims: 2 correct, 1 incorrect, 1 unverifiable" in told
    gold = written(
        tmp_path / "gold.jsonl",
        {"qid": "a", "question": "When did it open?", "gold_answer": "1800", "facts": ["in 1800"]},
    )
    answered = written(tmp_path / "answered.jsonl", {"qid": "a", "answer": "x", "claims": claims})
    found = report("qa", gold, answered)
    assert found["metrics"]["answers.factual_accuracy"]["value"] == 0.5


def test_a_claim_without_text_or_with_a_doubtful_mark_is_a_bad_line(tmp_path):
    claims = [{"verifiable": True}, {"claim": "x", "verifiable": "no"}]
    for claim, field in zip(claims, ("claims[0].claim", "claims[0].verifiable"), strict=True):
        rows = written(tmp_path / "rows.jsonl", {"id": "a", "answer": "x", "claims": [claim]})
        done = ragauge("eval", "answers", rows)
        assert done.returncode == 3
        assert f":1: {field}: expected" in done.stderr.decode()
