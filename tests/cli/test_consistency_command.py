"""`ragauge consistency` as a user and a CI job meet it."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.cli.command import ragauge

A = ["VALID"] * 12 + ["REJECT"] * 6 + ["NOT_IN_CONTEXT"] * 2
B = ["VALID"] * 11 + ["REJECT"] * 7 + ["NOT_IN_CONTEXT"] * 2


def written(path, labels, **more):
    rows = [{"qid": f"q{n:02}", "label": label, **more} for n, label in enumerate(labels)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def judges(tmp_path):
    return written(tmp_path / "a.jsonl", A), written(tmp_path / "b.jsonl", B)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 0),
        (("--gates", "kappa>=0.95"), 1),
        (("--gates", "agreement>=0.99", "--gates", "kappa>=0.5"), 1),
        (("--gates", "agreement>=0.9@95"), 1),
        (("--gates", "kapa>=0.95"), 2),
        (("--gates", "kappa"), 2),
        (("--gates", ""), 2),
        (("--report", "report.xml"), 2),
        (("--format", "junit"), 2),
    ],
)
def test_exit_codes_tell_judges_apart_from_a_bad_command(judges, arguments, code):
    assert ragauge("consistency", *judges, *arguments).returncode == code


def test_wrong_labels_are_3_with_every_place_and_no_numbers(judges, tmp_path):
    a, b = judges
    a.write_text(a.read_text() + '{"qid": "q00", "label": "VALID"}\n')
    b.write_text(b.read_text() + '{"qid": "q99", "label": "FINE"}\n')
    done = ragauge("consistency", a, b)
    assert done.returncode == 3
    assert done.stdout == b""
    assert done.stderr.decode().splitlines() == [
        f'ragauge: {a}:21: qid: "q00" is at {a}:1 already; keep one',
        f'ragauge: {b}:21: label: "FINE" is none of VALID, NOT_IN_CONTEXT, REJECT, ABSTAIN',
    ]


def test_no_shared_question_is_3_and_says_so(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"qid": "q1", "label": "VALID"}')
    (tmp_path / "b.csv").write_text("qid,label\nq2,VALID\n")
    done = ragauge("consistency", tmp_path / "a.jsonl", tmp_path / "b.csv")
    assert done.returncode == 3
    assert b"no question was judged by both" in done.stdout


def test_one_judge_may_come_from_stdin(judges):
    a, b = judges
    done = ragauge("consistency", a, "-", "--format", "json", stdin=b.read_bytes())
    assert json.loads(done.stdout)["metrics"]["consistency.agreement"]["value"] == 0.95
    assert ragauge("consistency", a, a).returncode == 2


def test_disagreements_are_rows_that_no_spreadsheet_obeys(tmp_path):
    reason = '=HYPERLINK("x")\tand\na "lone mark'
    a = written(tmp_path / "a.jsonl", ["VALID", "VALID", "REJECT"], reason=reason)
    b = written(tmp_path / "b.jsonl", ["REJECT", "ABSTAIN", "REJECT"])
    out = tmp_path / "out.tsv"
    done = ragauge("consistency", a, b, "--disagreements", out, "--format", "tsv")
    assert done.stdout == out.read_bytes()
    assert done.stderr.decode() == f"wrote {out}\n"
    rows = list(csv.reader(io.StringIO(out.read_text(), newline=""), delimiter="\t"))
    assert rows[0] == ["qid", "label_a", "label_b", "final", "why", "reason_a", "reason_b"]
    assert [row[:4] for row in rows[1:]] == [
        ["q00", "VALID", "REJECT", "REJECT"],
        ["q01", "VALID", "ABSTAIN", "VALID"],
    ]
    assert {row[5] for row in rows[1:]} == {'\'=HYPERLINK("x") and a "lone mark'}
    assert len(out.read_text().splitlines()) == 3


def test_reports_are_written_in_their_forms(judges, tmp_path):
    names = [tmp_path / f"report{ending}" for ending in (".json", ".md", ".csv", ".txt")]
    flags = [part for name in names for part in ("--report", name)]
    done = ragauge("consistency", *judges, *flags, "--quiet")
    assert done.returncode == 0
    assert done.stderr == b""
    assert "| `VALID` | 11 |" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "report.csv").read_text().splitlines()[1].startswith("q11,VALID,REJECT")


def test_foreign_text_reaches_no_terminal_as_it_is(tmp_path):
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text('{"qid": "\\u001b[31mq", "label": "VALID", "reason": "::error::x"}')
    b.write_text('{"qid": "\\u001b[31mq", "label": "REJECT"}')
    for form in ("text", "markdown", "csv", "tsv"):
        done = ragauge("consistency", a, b, "--format", form)
        assert b"\x1b" not in done.stdout
        assert b"\\x1b[31mq" in done.stdout


def as_csv(rows):
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    return "\n".join(lines) + "\n"


BOTH = [
    {"qid": f"q{n:02}", "question": f"What is {n}?", "scholar": a, "auditor": b}
    for n, (a, b) in enumerate(zip(A, B, strict=True))
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("both.jsonl", "".join(json.dumps(row) + "\n" for row in BOTH)),
        ("both.json", json.dumps(BOTH)),
        ("both.csv", as_csv(BOTH)),
    ],
)
def test_one_file_may_hold_the_labels_of_both(judges, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    apart = json.loads(ragauge("consistency", *judges, "--format", "json").stdout)
    done = ragauge("consistency", path, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    same = ("metrics", "gates", "confusion", "final", "disagreement_count", "coverage", "identity")
    assert {key: found[key] for key in same} == {key: apart[key] for key in same}
    assert found["judges"]["a"]["file"] == f"{path} (scholar)"
    turned = ragauge("consistency", path, "--raters", "Auditor,scholar", "--format", "json")
    assert json.loads(turned.stdout)["judges"]["a"]["file"] == f"{path} (auditor)"


def test_a_rater_who_left_a_question_out_did_not_judge_it(tmp_path):
    rows = [{**BOTH[0], "auditor": None}, {**BOTH[1], "auditor": ""}, *BOTH[2:]]
    path = tmp_path / "both.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = ragauge("consistency", path, "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["coverage"] == {
        "questions": 20, "both": 18, "only_a": 2, "only_b": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "arguments", "code", "fact"),
    [
        ({"final": "VALID"}, (), 3, "3 columns hold labels: scholar, auditor, final; name two"),
        ({"auditor": "7"}, (), 3, "two raters are expected, and labels are in scholar; name two"),
        ({}, ("--raters", "scholar,editor"), 3, "no column is called editor; there are question"),
        ({}, ("--raters", "scholar"), 2, "name two columns"),
        ({"qid": "q00"}, (), 3, '"q00" is at'),
    ],
)
def test_a_file_that_does_not_tell_its_two_raters_is_refused(
    tmp_path, change, arguments, code, fact
):
    path = tmp_path / "both.jsonl"
    path.write_text("".join(json.dumps({**row, **change}) + "\n" for row in BOTH))
    done = ragauge("consistency", path, *arguments)
    assert done.returncode == code
    assert fact in done.stderr.decode()
    if "final" in change:
        chosen = ragauge("consistency", path, "--raters", "scholar,auditor")
        assert chosen.returncode == 0


def test_a_label_that_is_none_names_its_column(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text(as_csv([*BOTH[:-1], {**BOTH[-1], "auditor": "MAYBE"}]))
    done = ragauge("consistency", path)
    assert done.returncode == 3
    assert b'both.csv:21: auditor: "MAYBE" is none of VALID' in done.stderr
    path.write_text("name,scholar,auditor\nq1,VALID,VALID\n")
    assert b"names no column of a judgement (qid)" in ragauge("consistency", path).stderr
