"""Two judges' labels, from their files to the report."""

import json

import pytest

from ragauge.contracts.consistency import LABELS
from ragauge.errors import InputRejected, UsageError
from ragauge.runners.consistency import adjudicated, consistency


@pytest.fixture
def judges(tmp_path):
    """Writes two files of labels and returns their names."""

    def written(a, b, reasons=None):
        names = []
        for name, labels in (("a.jsonl", a), ("b.jsonl", b)):
            rows = [
                {"qid": qid, "label": label} | ({"reason": reasons[qid]} if reasons else {})
                for qid, label in labels.items()
            ]
            path = tmp_path / name
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            names.append(str(path))
        return names

    return written


def labels(*given):
    return {f"q{number}": label for number, label in enumerate(given, 1)}


def report_of(names, **options):
    return consistency(*names, **options).report


def test_agreement_kappa_and_abstentions_are_counted_over_the_shared_questions(judges):
    a = labels(*["VALID"] * 12, *["REJECT"] * 6, "ABSTAIN", "NOT_IN_CONTEXT")
    b = labels(*["VALID"] * 11, *["REJECT"] * 7, "ABSTAIN", "NOT_IN_CONTEXT")
    report = report_of(judges(a, b))
    agreement, kappa, abstain = (
        report.metrics[f"consistency.{name}"] for name in ("agreement", "kappa", "abstain")
    )
    assert (agreement.value, agreement.n, agreement.of) == (19 / 20, 20, 20)
    chance = (12 * 11 + 6 * 7 + 1 + 1) / 400
    assert kappa.value == pytest.approx((0.95 - chance) / (1 - chance))
    assert (abstain.value, abstain.n, abstain.of) == (2 / 40, 40, 40)
    assert [gate.verdict for gate in report.gates] == ["pass", "pass", "fail", "pass"]
    assert not report.passed
    assert report.confusion["VALID"] == {
        "VALID": 11, "NOT_IN_CONTEXT": 0, "REJECT": 1, "ABSTAIN": 0,
    }  # fmt: skip
    assert report.labels["REJECT"].agreement == 12 / 13
    assert report.judges["a"].labels["VALID"] == 12
    assert report.judges["a"].abstain.value == 1 / 20
    assert report.final == {"VALID": 11, "NOT_IN_CONTEXT": 1, "REJECT": 7, "ABSTAIN": 1}


def test_a_question_only_one_judged_is_a_finding_and_fails_the_coverage(judges):
    a = labels("VALID", "REJECT", "VALID")
    b = {**labels("VALID", "REJECT"), "extra": "VALID"}
    names = judges(a, b)
    report = report_of(names)
    assert report.metrics["consistency.agreement"].value == 1
    assert (report.coverage.questions, report.coverage.both) == (4, 2)
    assert (report.coverage.only_a, report.coverage.only_b) == (1, 1)
    assert report.finding_counts == {"judged_once": 2}
    assert {finding.where for finding in report.findings} == {f"{names[0]}:3", f"{names[1]}:3"}
    assert not report.passed
    assert report_of(names, gates="coverage>=0.5").passed


@pytest.mark.parametrize(("gates", "passed"), [(None, False), ("kappa>=0.75?", True)])
def test_one_label_throughout_leaves_kappa_absent_and_the_gate_unevaluated(judges, gates, passed):
    everywhere = labels(*["VALID"] * 5)
    report = report_of(judges(everywhere, everywhere), gates=gates)
    score = report.metrics["consistency.kappa"]
    assert (score.value, score.n) == (None, 5)
    assert "VALID throughout" in score.reason
    [gate] = [gate for gate in report.gates if gate.metric == "consistency.kappa"]
    assert gate.verdict == "not_evaluated"
    assert report.passed is passed


def test_no_shared_question_gives_no_number_and_no_pass(judges):
    report = report_of(judges({"q1": "VALID"}, {"q2": "VALID"}))
    assert report.metrics["consistency.agreement"].value is None
    assert report.metrics["consistency.kappa"].reason == "no question was judged by both"
    assert not report.passed


@pytest.mark.parametrize(
    ("a", "b", "final", "why"),
    [
        ("VALID", "REJECT", "REJECT", "B is stricter: REJECT over VALID"),
        ("REJECT", "NOT_IN_CONTEXT", "REJECT", "A is stricter: REJECT over NOT_IN_CONTEXT"),
        ("NOT_IN_CONTEXT", "VALID", "NOT_IN_CONTEXT", "A is stricter: NOT_IN_CONTEXT over VALID"),
        ("ABSTAIN", "VALID", "VALID", "A abstained: the label of B stands"),
        ("REJECT", "ABSTAIN", "REJECT", "B abstained: the label of A stands"),
    ],
)
def test_the_stricter_label_is_final_and_an_abstention_never_is(judges, a, b, final, why):
    names = judges({"q1": a}, {"q1": b}, reasons={"q1": "because"})
    [one] = consistency(*names).disagreements
    assert (one.final, one.why) == (final, why)
    assert (one.label_a, one.label_b, one.reason_a, one.reason_b) == (a, b, "because", "because")
    assert (one.where_a, one.where_b) == (f"{names[0]}:1", f"{names[1]}:1")


def test_who_judges_first_does_not_change_the_final_label():
    for a in LABELS:
        for b in LABELS:
            assert adjudicated(a, b)[0] == adjudicated(b, a)[0]
            assert (adjudicated(a, b)[0] == "ABSTAIN") == (a == b == "ABSTAIN")


def test_the_order_of_lines_changes_nothing(judges):
    a, b = labels("VALID", "REJECT", "ABSTAIN"), labels("REJECT", "REJECT", "VALID")
    there = report_of(judges(a, b))
    back = report_of(judges(dict(reversed(a.items())), dict(reversed(b.items()))))
    assert there.metrics == back.metrics
    assert there.identity == back.identity
    assert [one.qid for one in back.disagreements] == ["q1", "q3"]


def test_csv_tsv_an_array_and_lines_are_the_same_judgements(judges, tmp_path):
    a, b = judges(labels("VALID", "NOT_IN_CONTEXT"), labels("VALID", "REJECT"))
    forms = {
        "b.csv": '\ufeffqid,Label,note,reason\r\nq1,valid,x,"so, and\nso"\r\n\r\nq2,Reject,,\r\n',
        "b.tsv": "label\tqid\nVALID\tq1\nREJECT\tq2\n",
        "b.json": '[{"qid": "q1", "label": "VALID"}, {"qid": "q2", "label": "REJECT", "x": 1}]',
    }
    expected = report_of((a, b))
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content.encode())
        found = report_of((a, str(tmp_path / name)))
        assert found.metrics == expected.metrics
        assert found.identity == expected.identity
    [one] = consistency(a, str(tmp_path / "b.csv")).disagreements
    assert one.where_b == f"{tmp_path / 'b.csv'}:5"


@pytest.mark.parametrize("label", ["not in context", "Not-In-Context", " NOT_in  context "])
def test_labels_are_read_in_any_case_with_dash_or_blank(judges, label):
    report = report_of(judges({"q1": label}, {"q1": "NOT_IN_CONTEXT"}))
    assert report.judges["a"].labels["NOT_IN_CONTEXT"] == 1


def test_everything_wrong_with_both_files_is_said_at_once(tmp_path):
    a, b, c = (tmp_path / name for name in ("a.jsonl", "b.csv", "c.jsonl"))
    a.write_text(
        '{"qid": "q1", "label": "MAYBE"}\n{"label": "VALID"}\n{"qid": "q1", "label": "VALID"}\n'
        '{"qid": "q1", "label": "REJECT"}\n{broken\n7\n{"qid": 3, "label": null, "reason": []}\n'
    )
    b.write_text("qid,label\nq1,\nq2\n ,VALID\n")
    with pytest.raises(InputRejected) as caught:
        consistency(str(a), str(b))
    assert caught.value.problems == (
        f'{a}:1: label: "MAYBE" is none of VALID, NOT_IN_CONTEXT, REJECT, ABSTAIN',
        f"{a}:2: qid: missing; name the question that was judged",
        f'{a}:4: qid: "q1" is at {a}:3 already; keep one',
        f"{a}:5: not JSON: expecting property name enclosed in double quotes at column 2",
        f"{a}:6: record: expected an object, got a number",
        f"{a}:7: label: missing; write one of VALID, NOT_IN_CONTEXT, REJECT, ABSTAIN",
        f"{a}:7: reason: expected text, got a list",
        f"{b}:2: label: missing; write one of VALID, NOT_IN_CONTEXT, REJECT, ABSTAIN",
        f"{b}:3: cells: 1, but the header has 2",
        f"{b}:4: qid: missing; name the question that was judged",
    )
    c.write_text("\n")
    with pytest.raises(InputRejected, match=r"c\.jsonl: the file has only empty lines"):
        consistency(str(c), str(a))


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"qid,verdict\nq1,VALID\n", ":1: no column is called label"),
        (b"qid,label,label\nq1,VALID,VALID\n", ':1: 2 columns are called "label"; keep one'),
        (b'qid,label\nq1,"VALID\n', ":2: not a row of cells: unexpected end of data"),
        (b"qid,label\nq1,VALID\nq\xff,VALID\n", ":3: is not UTF-8 text"),
        (b"qid,label\n", ": holds no judgement"),
        (b"[1", ":1: not JSON"),
    ],
)
def test_a_file_that_is_no_table_of_labels_says_why(tmp_path, judges, content, fact):
    good, _ = judges({"q1": "VALID"}, {"q1": "VALID"})
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    with pytest.raises(InputRejected) as caught:
        consistency(good, str(bad))
    [problem] = caught.value.problems
    assert problem.startswith(f"{bad}{fact}")


@pytest.mark.parametrize(
    ("gates", "fact"),
    [
        ("agrement>=0.9", 'did you mean "agreement"?'),
        ("precision_cited>=0.9", "there are agreement, kappa, abstain, coverage"),
        ("kappa>=0.7 per question", "over the whole set"),
        ("kappa>=0.7 where country=NL", "over the whole set"),
        ("kappa", "cannot be read"),
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused(judges, gates, fact):
    with pytest.raises(UsageError) as caught:
        consistency(*judges({"q1": "VALID"}, {"q1": "VALID"}), gates=gates)
    assert fact in str(caught.value)


def test_a_gate_on_the_interval_asks_for_more_questions(judges):
    half = ["VALID", "REJECT"]
    few, many = labels(*half * 5), labels(*half * 100)
    assert not report_of(judges(few, few), gates="kappa>=0.75@95").passed
    assert report_of(judges(many, many), gates="kappa>=0.75@95").passed


def test_a_judge_is_not_compared_with_itself(judges):
    a, _ = judges({"q1": "VALID"}, {"q1": "VALID"})
    with pytest.raises(UsageError, match="both the same file"):
        consistency(a, a)
    with pytest.raises(UsageError, match="both standard input"):
        consistency("-", "-")


def test_more_disagreements_than_a_report_holds_are_counted_and_all_there(judges, monkeypatch):
    monkeypatch.setattr("ragauge.runners.consistency.ROWS_KEPT", 2)
    a, b = labels(*["VALID"] * 5), labels(*["REJECT"] * 5)
    outcome = consistency(*judges(a, b))
    assert len(outcome.report.disagreements) == 2
    assert outcome.report.disagreement_count == len(outcome.disagreements) == 5
