"""`ragauge gold agreement` as annotators and a CI job meet it."""

import csv
import io
import json
import math
import re
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragauge.contracts.annotation import TypedSpan
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.rendering import render
from ragauge.runners.annotators import Options
from ragauge.runners.gold_agreement import agreement
from tests.cli.command import ragauge

close = pytest.approx
TYPES = ("archive", "library", "museum")
LEVELS = ("low", "middle", "high")
ENVELOPE = {"schema", "pass", "metrics", "gates", "findings", "finding_counts", "coverage"}


def written(folder, *annotators, field="label"):
    """A file for each annotator: labels by item, None where one has none."""
    names = []
    for number, labels in enumerate(annotators):
        name = folder / f"{number}.jsonl"
        rows = [{"id": f"h{n:03}", field: label} for n, label in enumerate(labels)]
        name.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        names.append(str(name))
    return names


def labelled(annotators, items, keep=0.8, labels=TYPES, missing=0.0, seed=0):
    """Annotators who mostly see the same."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, items)
    said = np.where(
        rng.random((annotators, items)) < keep, truth, rng.choice(labels, (annotators, items))
    ).astype(object)
    said[rng.random(said.shape) < missing] = None
    return said.tolist()


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_two_annotators_have_the_numbers_of_the_other_packages(tmp_path, weights):
    a, b = labelled(2, 80, labels=LEVELS)
    report = agreement(
        written(tmp_path, a, b), options=Options(level="ordinal", weights=weights, order=LEVELS)
    ).report
    scores = report.metrics
    assert scores["agreement.percent"].value == sum(map(str.__eq__, a, b)) / 80
    assert scores["agreement.kappa"].value == close(cohen_kappa_score(a, b))
    if weights != "none":
        theirs = cohen_kappa_score(a, b, labels=LEVELS, weights=weights)
        assert scores["agreement.kappa_weighted"].value == close(theirs)
        assert report.pairs[0].kappa_weighted == close(theirs)
    assert ("agreement.kappa_weighted" in scores) == (weights != "none")
    codes = [[LEVELS.index(label) for label in labels] for labels in (a, b)]
    theirs = krippendorff.alpha(reliability_data=codes, level_of_measurement="ordinal")
    assert scores["agreement.alpha"].value == close(theirs)
    for score in scores.values():
        assert score.ci[0] <= score.value <= score.ci[1]
        assert score.signature.startswith("agreement.")


def test_more_annotators_are_compared_pair_by_pair(tmp_path):
    said = labelled(4, 60, missing=0.15)
    report = agreement(written(tmp_path, *said)).report
    expected = []
    for pair, (one, other) in zip(report.pairs, combinations(said, 2), strict=True):
        both = [(a, b) for a, b in zip(one, other, strict=True) if a and b]
        assert pair.n == len(both)
        assert pair.percent == close(sum(a == b for a, b in both) / len(both))
        expected.append(cohen_kappa_score(*zip(*both, strict=True)))
        assert pair.kappa == close(expected[-1])
    kappa = report.metrics["agreement.kappa"]
    assert kappa.value == close(np.mean(expected))
    assert "pairs:6" in kappa.signature
    percent = report.metrics["agreement.percent"].value
    assert percent == close(np.mean([pair.percent for pair in report.pairs]))
    codes = [[TYPES.index(one) if one else math.nan for one in labels] for labels in said]
    theirs = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
    assert report.metrics["agreement.alpha"].value == close(theirs)
    given_by = [sum(label is not None for label in item) for item in zip(*said, strict=True)]
    assert report.coverage.all == given_by.count(4)
    assert report.coverage.some == given_by.count(3) + given_by.count(2)
    assert report.coverage.one == given_by.count(1)
    assert report.finding_counts["annotated_by_some"] == sum(0 < n < 4 for n in given_by)


def test_numbers_are_measured(tmp_path):
    a, b = [0.1, 0.5, 3, 2.25], ["0.1", "0.75", "3.0", "2.25"]
    report = agreement(written(tmp_path, a, b), options=Options(level="interval")).report
    theirs = krippendorff.alpha(
        reliability_data=[a, list(map(float, b))], level_of_measurement="interval"
    )
    assert report.metrics["agreement.alpha"].value == close(theirs)
    assert [one.labels for one in report.disagreements] == [{"A": "0.5", "B": "0.75"}]
    assert report.gates[0].rule == "agreement.alpha>0.85"
    assert report.labels == {}


def test_a_number_is_the_same_label_however_it_is_written(tmp_path):
    a, b = written(tmp_path, [1, True, " x "], [1.0, "true", "x"])
    assert agreement([a, b]).report.metrics["agreement.percent"].value == 1
    assert agreement([a, b]).report.metrics["agreement.kappa"].value == 1


def test_every_form_of_file_says_the_same(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"qid": 1, "label": "x"}\n\n{"qid": "2", "label": "y"}\n')
    (tmp_path / "a.json").write_text('[{"id": "2", "label": "y"}, {"id": "1", "label": "x"}]')
    (tmp_path / "a.csv").write_text("\ufeffID,Label,note\r\n1,x,\r\n2,y,ok\r\n")
    (tmp_path / "a.tsv").write_text("qid\tlabel\n2\ty\n1\tx\n")
    names = [str(tmp_path / f"a.{ending}") for ending in ("jsonl", "json", "csv", "tsv")]
    report = agreement(names).report
    assert report.metrics["agreement.kappa"].value == 1
    assert len({*report.identity["annotations_sha256"].values()}) == 1
    assert report.passed


def test_a_field_may_lie_within_others(tmp_path):
    for name in ("a", "b"):
        entry = {"id": "h1", "type_classification": {"primary_type": "GRP.HER.MUS"}}
        (tmp_path / name).write_text(json.dumps(entry))
    report = agreement(
        [str(tmp_path / "a"), str(tmp_path / "b")], field="type_classification.primary_type"
    ).report
    assert report.labels.keys() == {"GRP.HER.MUS"}


spans = st.frozensets(
    st.builds(
        lambda start, size, named: TypedSpan(start, start + size, named),
        st.integers(0, 3),
        st.integers(1, 2),
        st.sampled_from(("TOP", "TMP")),
    ),
    max_size=3,
)


@given(
    st.lists(st.lists(st.none() | spans, min_size=3, max_size=3), min_size=1, max_size=6).filter(
        lambda items: all(any(one is not None for one in said) for said in zip(*items, strict=True))
    )
)
def test_span_f1_is_the_plain_one_of_each_pair(tmp_path_factory, items):
    folder = tmp_path_factory.mktemp("spans")
    said = list(zip(*items, strict=True))
    plain = [
        [None if one is None else [to_json(span) for span in one] for one in labels]
        for labels in said
    ]
    report = agreement(written(folder, *plain, field="spans")).report
    expected = []
    for pair, (one, other) in zip(report.pairs, combinations(said, 2), strict=True):
        both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
        hits = sum(len(a & b) for a, b in both)
        # F1 of one annotator against the other as gold, by way of precision and recall.
        first, second = (sum(len(pair[side]) for pair in both) for side in (0, 1))
        precision, recall = hits / first if first else 0, hits / second if second else 0
        either = precision + recall
        value = None if not first + second else 2 * precision * recall / either if either else 0
        assert pair.span_f1 == (None if value is None else close(value))
        expected += [] if value is None else [value]
    score = report.metrics["agreement.span_f1"]
    if expected:
        assert score.value == close(np.mean(expected))
        assert score.ci[0] - 1e-9 <= score.value <= score.ci[1] + 1e-9
    else:
        assert (score.value, score.ci) == (None, None)
        assert score.reason in ("nobody marked a span", "no item was annotated by two")
    assert report.metrics["agreement.token_kappa"].value is None


def to_json(span):
    return {"start": span.start, "end": span.end, "type": span.type}


def test_spans_that_not_all_have_are_shown_by_annotator(tmp_path):
    museum, year = TypedSpan(4, 25, "GRP.HER.MUS"), TypedSpan(60, 64, "TMP")
    wrong = TypedSpan(58, 62, "TMP")
    names = written(
        tmp_path,
        [[to_json(museum), to_json(year)]],
        [[to_json(museum), {"start": 58, "end": 62, "label": "TMP"}]],
        field="ner_annotations",
    )
    report = agreement(names).report
    assert report.disagreements[0].spans == {"A": (year,), "B": (wrong,)}
    assert report.labels["TMP"].agreement == 0
    assert report.labels["GRP.HER.MUS"].agreement == 1
    assert report.gates[0].rule == "agreement.span_f1>=0.85"
    assert not report.passed


def test_offsets_into_different_texts_are_told(tmp_path):
    for name, text in (("a", "Het Rijksmuseum"), ("b", "Het  Rijksmuseum")):
        entry = {"id": "h1", "text": text, "spans": [{"start": 4, "end": 15, "type": "TOP"}]}
        (tmp_path / name).write_text(json.dumps(entry))
    report = agreement([str(tmp_path / "a"), str(tmp_path / "b")]).report
    assert report.finding_counts == {"texts_differ": 1}


def test_a_slip_of_the_pen_is_told(tmp_path):
    report = agreement(written(tmp_path, ["museum", "archive"], ["Museum", "archive"])).report
    assert report.finding_counts == {"labels_alike": 1}


def test_a_pair_that_has_no_kappa_is_told(tmp_path):
    same = ["x", "x", "x", None]
    report = agreement(written(tmp_path, same, same, ["x", "y", "x", "y"])).report
    assert report.finding_counts["pair_without_kappa"] == 1
    assert report.pairs[0].kappa is None
    assert report.metrics["agreement.kappa"].value == 0
    assert "|pairs:2/3|" in report.metrics["agreement.kappa"].signature


ONE_LABEL, BOTH = ["x", "x", "x", "x"], ["x", "x", "x", "y"]


@pytest.mark.parametrize("gates", [None, "kappa>=0.1"])
def test_a_mean_over_some_pairs_is_not_judged(tmp_path, gates):
    report = agreement(written(tmp_path, ONE_LABEL, ONE_LABEL, BOTH), gates=gates).report
    gate = next(gate for gate in report.gates if gate.metric == "agreement.kappa")
    assert (gate.verdict, gate.value) == ("not_evaluated", 0)
    assert gate.reason == (
        "a mean of 2 of 3 pairs, for A and B have none; gate on alpha, which takes all at once"
    )
    assert not report.passed


def test_what_all_annotators_have_is_judged_beside_a_pair_without_kappa(tmp_path):
    names = written(tmp_path, ONE_LABEL, ONE_LABEL, BOTH)
    report = agreement(names, gates="percent>=0.5,alpha>=-0.99,kappa>=0.1?").report
    verdicts = {gate.metric: gate.verdict for gate in report.gates}
    assert verdicts == {
        "agreement.coverage": "pass",
        "agreement.percent": "pass",
        "agreement.alpha": "pass",
        "agreement.kappa": "not_evaluated",
    }
    assert report.passed


def test_a_pair_that_marked_no_span_keeps_the_mean_from_being_judged(tmp_path):
    span = [{"start": 0, "end": 2, "type": "TOP"}]
    report = agreement(
        written(tmp_path, [[]], [[]], [span], field="spans"), gates="span_f1>=0.1"
    ).report
    assert report.metrics["agreement.span_f1"].value == 0
    assert "|pairs:2/3|" in report.metrics["agreement.span_f1"].signature
    gate = next(gate for gate in report.gates if gate.metric == "agreement.span_f1")
    assert gate.verdict == "not_evaluated"
    assert gate.reason == "a mean of 2 of 3 pairs, for A and B have none"
    [found] = report.findings
    assert (found.code, found.where) == ("pair_without_f1", "A and B")
    assert found.message == "left out of the mean F1: nobody marked a span"


def test_one_label_throughout_is_absent_and_does_not_pass(tmp_path):
    report = agreement(written(tmp_path, ["x", "x"], ["x", "x"])).report
    for id in ("agreement.kappa", "agreement.alpha"):
        assert report.metrics[id].value is None
        assert "throughout" in report.metrics[id].reason
    assert report.gates[0].verdict == "not_evaluated"
    assert not report.passed


def test_files_without_a_single_label_say_so(tmp_path):
    report = agreement(written(tmp_path, [None], [None])).report
    assert report.coverage.items == 0
    assert report.finding_counts == {"annotated_by_nobody": 1}
    assert {score.value for score in report.metrics.values()} == {None}
    assert all(score.reason for score in report.metrics.values())
    assert not report.passed


def test_labels_that_are_no_categories_have_no_kappa(tmp_path):
    texts = [f"text {n}" for n in range(600)]
    report = agreement(written(tmp_path, texts, texts)).report
    assert "600 different labels" in report.metrics["agreement.kappa"].reason
    assert report.metrics["agreement.percent"].value == 1
    assert report.metrics["agreement.alpha"].value == 1


@pytest.mark.parametrize(
    ("gates", "rules"),
    [
        (None, {"agreement.kappa>0.85", "agreement.coverage=1"}),
        ("alpha>=0.8", {"agreement.coverage=1", "agreement.alpha>=0.8"}),
        ("kappa>0.6@90", {"agreement.coverage=1", "agreement.kappa>0.6@90"}),
        ("coverage=1", {"agreement.kappa>0.85", "agreement.coverage=1"}),
    ],
)
def test_the_users_gates_come_before_the_defaults(tmp_path, gates, rules):
    report = agreement(written(tmp_path, *labelled(2, 50)), gates=gates).report
    assert {gate.rule for gate in report.gates} == {*report.identity["gates"]} == rules


def test_weights_gate_the_weighted_kappa(tmp_path):
    options = Options(weights="linear", order=LEVELS)
    report = agreement(written(tmp_path, *labelled(2, 30, labels=LEVELS)), options=options).report
    assert report.level == "ordinal"
    assert report.gates[0].rule == "agreement.kappa_weighted>0.85"


USAGE = {
    "one file": ({"names": 1}, "two annotators or more"),
    "a file twice": ({"names": [0, 0]}, "is named twice"),
    "words without order": ({"options": Options(level="ordinal")}, "say it, lowest first"),
    "weights without order": ({"options": Options(weights="linear")}, "--order low,middle,high"),
    "weights at nominal level": (
        {"options": Options(level="nominal", weights="linear")},
        "nominal labels have no order",
    ),
    "order of numbers": (
        {"options": Options(level="interval", order=LEVELS)},
        "interval labels are numbers",
    ),
    "order with a twin": ({"options": Options(order=("low", "low"))}, 'names "low" twice'),
    "unknown metric": ({"gates": "kapa>1"}, 'did you mean "kappa"'),
    "metric of spans": ({"gates": "span_f1>0.5"}, "these files hold labels"),
    "no weights": ({"gates": "kappa_weighted>0.5"}, "--weights linear or quadratic"),
    "gate on questions": ({"gates": "kappa>0.5 per question"}, "over the whole set"),
}


@pytest.mark.parametrize(("asked", "words"), USAGE.values(), ids=USAGE)
def test_what_cannot_be_asked_is_refused_with_the_remedy(tmp_path, asked, words):
    names = written(tmp_path, *labelled(2, 5, labels=LEVELS))
    match asked.pop("names", None):
        case int(first):
            names = names[:first]
        case [*places]:
            names = [names[place] for place in places]
    with pytest.raises(UsageError, match=words):
        agreement(names, **asked)


def test_spans_have_no_level(tmp_path):
    names = written(tmp_path, [[]], [[]], field="spans")
    with pytest.raises(UsageError, match="drop those options"):
        agreement(names, options=Options(level="ordinal"))
    with pytest.raises(UsageError, match="these files hold spans; gate on span_f1"):
        agreement(names, gates="kappa>0.5")


REJECTED = {
    "no id": ('{"label": "x"}', "1: id: missing; name the item by id or qid"),
    "empty id": ('{"id": " ", "label": "x"}', "1: id: is empty"),
    "no object": ("{}\n3\n", "2: record: expected an object, got a number"),
    "object": ('{"id": "1", "label": {}}', "1: label: expected text, a number or true or false"),
    "twice": (
        '{"id": "1", "label": "x"}\n{"id": "1", "label": "x"}',
        '2: id: "1" was annotated already at',
    ),
    "nothing": ("\n", "the file has only empty lines"),
    "no item": ("[]", "holds no annotation"),
    "other field": ('{"id": "1", "type": "x"}', 'the field label; there is "id", "type"'),
    "no id column": ("label\nx\n", "1: no column is called id or qid"),
    "two columns": ("id,label,Label\n1,x,y\n", '1: 2 columns are called "Label"; keep one'),
    "cells": ("id,label\n1\n", "2: cells: 1, but the header has 2"),
    "list among labels": ('{"id": "1", "label": []}', "1: label: expected text"),
}


@pytest.mark.parametrize(("content", "words"), REJECTED.values(), ids=REJECTED)
def test_bad_files_are_rejected_with_their_places(tmp_path, content, words):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text('{"id": "1", "label": "x"}')
    bad.write_text(content)
    with pytest.raises(InputRejected) as rejected:
        agreement([str(good), str(bad)])
    assert words in str(rejected.value)


BAD_SPANS = {
    "no list": ('"TOP"', "expected a list of spans, got text"),
    "no object": ("[3]", "spans[0]: expected an object"),
    "no end": ('[{"start": 1, "type": "TOP"}]', "spans[0].end: expected a whole number, got null"),
    "backwards": ('[{"start": 3, "end": 3, "type": "TOP"}]', "spans[0]: goes from 3 to 3"),
    "no type": ('[{"start": 1, "end": 3}]', "spans[0].type: expected text, got null"),
    "past the end": ('[{"start": 1, "end": 9, "type": "TOP"}]', "past the text of 5 characters"),
    "twice": (
        '[{"start": 1, "end": 3, "type": "TOP"}, {"start": 1, "end": 3, "type": "TOP"}]',
        "spans[1]: 1 to 3 TOP is there already",
    ),
}


@pytest.mark.parametrize(("value", "words"), BAD_SPANS.values(), ids=BAD_SPANS)
def test_bad_spans_are_rejected_with_their_places(tmp_path, value, words):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text('{"id": "1", "spans": []}')
    bad.write_text(f'{{"id": "1", "text": "texts", "spans": {value}}}')
    with pytest.raises(InputRejected) as rejected:
        agreement([str(good), str(bad)])
    assert f"{bad}:1: spans" in str(rejected.value)
    assert words in str(rejected.value)


def test_words_at_interval_level_and_labels_beyond_the_order_are_rejected(tmp_path):
    names = written(tmp_path, [1, "many"], [1, 2])
    with pytest.raises(InputRejected, match=r':2: "many" is no number'):
        agreement(names, options=Options(level="interval"))
    with pytest.raises(InputRejected, match=r':2: "many" is not among --order 1,2'):
        agreement(names, options=Options(order=("1", "2")))


@pytest.fixture
def files(tmp_path):
    a, b = labelled(2, 40, keep=1.0)
    return written(tmp_path, a, [*b[:-1], next(one for one in TYPES if one != b[-1])])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 0),
        (("--gates", "kappa>0.99"), 1),
        (("--gates", "kappa>0.99?"), 1),
        (("--gates", "percent>=0.9@95"), 1),
        (("--weights", "cubic"), 2),
        (("--level", "ordinal"), 2),
        (("--order", "archive,library"), 3),
        (("--field", "type"), 3),
    ],
)
def test_exit_codes(files, arguments, code):
    done = ragauge("gold", "agreement", *files, *arguments)
    assert done.returncode == code, done.stderr
    assert bool(done.stdout) == (code < 2)
    assert bool(done.stderr) == (code > 1)


def test_nothing_shared_is_3_and_says_so(tmp_path):
    (tmp_path / "a").write_text('{"id": "1", "label": "x"}')
    (tmp_path / "b").write_text('{"id": "2", "label": "x"}')
    done = ragauge("gold", "agreement", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 3
    assert done.stdout.decode().startswith("FAIL  no item was annotated by two")


def test_the_report_has_the_common_shape_and_the_same_bytes(files):
    done = ragauge("gold", "agreement", *files, "--format", "json")
    report = json.loads(done.stdout)
    assert report.keys() >= ENVELOPE
    assert list(report) == sorted(report)
    assert report["schema"] == "ragauge.gold-agreement/1"
    assert report["pass"] is True
    for score in report["metrics"].values():
        assert score.keys() == {"value", "n", "of", "ci", "reason", "signature"}
    assert {"metric", "op", "bound", "value", "n", "verdict", "reason"} <= report["gates"][0].keys()
    assert ragauge("gold", "agreement", *files, "--format", "json").stdout == done.stdout
    piped = ragauge("gold", "agreement", files[0], "-", stdin=Path(files[1]).read_bytes())
    assert piped.returncode == 0


def test_the_text_says_how_far_they_agree_and_where_not(files):
    # A page that is wide enough for the path of any temporary folder.
    text = ragauge("gold", "agreement", *files, COLUMNS="400").stdout.decode()
    assert text.startswith("PASS  2 annotators agree on 39 of 40 items\n")
    assert f"A is {files[0]}: 40 items" in text
    assert re.search(r"^  kappa +0\.9", text, re.MULTILINE)
    assert any(line.startswith("  h039  ") for line in text.splitlines())
    assert "Coverage  40 of 40 items annotated by all" in text


def test_a_report_is_written_in_the_form_of_its_ending(files, tmp_path):
    names = [tmp_path / f"agreement.{ending}" for ending in ("json", "md", "csv", "txt")]
    asked = [word for name in names for word in ("--report", str(name))]
    done = ragauge("gold", "agreement", *files, *asked)
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [f"wrote {name}" for name in names]
    as_json, markdown, rows, text = (name.read_text("utf-8") for name in names)
    assert json.loads(as_json)["schema"] == "ragauge.gold-agreement/1"
    assert markdown.startswith("## Ragauge agreement: PASS\n\n2 annotators agree on 39 of 40 items")
    assert "| `kappa` | 0.9" in markdown
    [row] = csv.DictReader(io.StringIO(rows, newline=""))
    assert list(row) == ["id", "A", "B", "where_A", "where_B"]
    assert row["id"] == "h039"
    assert row["A"] != row["B"]
    assert row["where_A"] == f"{files[0]}:40"
    assert text.startswith("PASS  2 annotators agree on 39 of 40 items")
    quiet = ragauge("gold", "agreement", *files, "--report", names[0], "--quiet")
    assert quiet.stderr == b""


@pytest.mark.parametrize("form", ["text", "json", "markdown", "csv"])
def test_stdout_gets_the_form_that_is_asked_for(files, form):
    done = ragauge("gold", "agreement", *files, "--format", form, COLUMNS="100")
    assert done.returncode == 0
    assert done.stdout.decode() == render(agreement(files).report, form)


def test_a_form_it_does_not_have_is_refused_before_any_work(files, tmp_path):
    done = ragauge("gold", "agreement", *files, "--report", tmp_path / "page.html")
    assert done.returncode == 2
    assert b'an agreement report has no form "html"' in done.stderr
    assert done.stdout == b""


def test_what_annotators_did_not_say_is_an_empty_cell(tmp_path):
    span = {"start": 0, "end": 2, "type": "=TOP"}
    report = agreement(written(tmp_path, [[span]], [[]], [None], field="spans")).report
    [row] = csv.DictReader(io.StringIO(render(report, "csv"), newline=""))
    assert (row["A"], row["B"], row["C"]) == ("0–2 =TOP", "", "not annotated")
    assert row["where_C"] == ""


def test_markdown_obeys_nobody(tmp_path):
    hostile = "@team `x` | <b> ##vso[task.setvariable]"
    report = agreement(written(tmp_path, [hostile, "y"], ["y", "y"])).report
    markdown = render(report, "markdown")
    fenced = "``@team `x` \\| <b> \\x23#vso[task.setvariable]``"
    assert markdown.count(fenced) == markdown.count("@team") == 2


def test_foreign_text_reaches_no_terminal_as_it_is(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text('{"id": "\\u001b[31mq", "label": "\\u001b[1mx"}')
    b.write_text('{"id": "\\u001b[31mq", "label": "::error::y"}')
    done = ragauge("gold", "agreement", a, b)
    assert b"\x1b" not in done.stdout
    assert b"\\x1b[31mq" in done.stdout
    assert b" ::error" not in done.stdout


def test_help_holds_an_example():
    assert b"ragauge gold agreement anna.jsonl" in ragauge("gold", "agreement", "-h").stdout


def test_the_entities_of_the_published_sentence(tmp_path):
    """One sentence, two readings of it: two of three spans against two of four, F1 .5714."""
    read = {
        "a": [("M", 4, 25), ("ID", 33, 40), ("TMP", 60, 62)],
        "b": [("M", 4, 25), ("ID", 33, 40), ("TMP", 60, 64), ("TOP", 98, 109)],
    }
    names = []
    for name, spans in read.items():
        marked = [{"type": type, "start": start, "end": end} for type, start, end in spans]
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps({"id": "nl-rm", "ner_annotations": marked}) + "\n")
        names.append(str(path))
    found = agreement(names).report.metrics["agreement.span_f1"]
    assert round(found.value, 4) == 0.5714
