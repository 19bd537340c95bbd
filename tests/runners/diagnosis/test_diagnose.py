"""`ragauge.diagnose`: the promised figures, and nothing that rows could hold makes it fall over."""

import json
import math
import random
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge import diagnose
from ragauge.contracts.diagnosis import LANGUAGES, DiagnosisReport
from ragauge.diagnosis.limits import SEVEN
from ragauge.errors import InputRejected, UsageError

NAN, INF = float("nan"), float("inf")


def rows(values, metric="faithfulness"):
    return [{"sample_id": f"s{place}", metric: value} for place, value in enumerate(values)]


def only(values, metric="faithfulness", **options):
    """What is said of one metric with these values."""
    (found,) = diagnose(rows(values, metric), [metric], **options).diagnoses
    return found


# The figures that were promised.


@pytest.mark.parametrize(
    ("metric", "values", "severity"),
    [
        ("faithfulness", [0.5], "warning"),
        ("faithfulness", [0.2, 0.8], "warning"),
        ("faithfulness", [0.7], "none"),
        ("faithfulness", [0.7] * 3, "none"),
        ("faithfulness", [0.1 + 0.6] * 7, "none"),
        ("faithfulness", [0.69], "warning"),
        ("faithfulness", [0.49], "critical"),
        ("context_precision", [0.6], "none"),
        ("context_precision", [0.4], "warning"),
        ("context_precision", [0.39], "critical"),
        ("noise_sensitivity", [0.3], "none"),
        ("noise_sensitivity", [0.1, 0.2, 0.6], "none"),
        ("noise_sensitivity", [0.31], "warning"),
        ("noise_sensitivity", [0.5], "warning"),
        ("noise_sensitivity", [0.51], "critical"),
        ("noise_sensitivity", [0.0], "none"),
    ],
)
def test_the_severity_of_a_mean(metric, values, severity):
    assert only(values, metric).severity == severity


@pytest.mark.parametrize("metric", SEVEN)
def test_every_judged_metric_is_held_against_its_thresholds(metric):
    found = only([SEVEN[metric].warning], metric)
    assert (found.limits, found.threshold, found.severity) == (SEVEN[metric], None, "none")


def test_the_threshold_that_was_hit_and_the_share_beyond_each():
    found = only([0.1, 0.4, 0.6, 0.7, 0.9])
    assert (found.value, found.threshold) == (pytest.approx(0.54), 0.7)
    assert (found.beyond_warning, found.beyond_critical) == (3, 2)
    assert [sample.id for sample in found.worst] == ["s0", "s1", "s2"]


def test_only_rows_beyond_the_threshold_are_among_the_worst_ties_by_id():
    values = {"b": 0.2, "a": 0.2, "c": 0.7, "d": 0.69, "e": 0.0}
    given = [{"id": id, "faithfulness": value} for id, value in values.items()]
    (found,) = diagnose(given, ["faithfulness"], top=9).diagnoses
    assert [sample.id for sample in found.worst] == ["e", "a", "b", "d"]


def test_a_worst_sample_comes_with_its_evidence():
    given = {
        "sample_id": "s1",
        "question": "Who?",
        "answer": "Rembrandt did.",
        "ground_truth": "Vermeer did.",
        "contexts": ["Vermeer did.", "Nobody else."],
        "retrieved_ids": ["p1", "p2"],
        "faithfulness": 0.1,
    }
    (sample,) = diagnose([given]).diagnoses[0].worst
    assert (sample.question, sample.answer, sample.reference) == (
        "Who?",
        "Rembrandt did.",
        "Vermeer did.",
    )
    assert [(one.id, one.text) for one in sample.contexts] == [
        ("p1", "Vermeer did."),
        ("p2", "Nobody else."),
    ]
    assert sample.retrieved_ids == ("p1", "p2")
    assert sample.where


# What stands where a score should.


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        (None, "null"),
        ("", "null"),
        (NAN, "NaN"),
        ("NaN", "NaN"),
        (INF, "infinite"),
        (-INF, "infinite"),
        (10**400, "infinite"),
        ("n/a", "text"),
        ("0.9 or so", "text"),
        ({}, "an object"),
        ([0.9], "a list"),
    ],
)
def test_what_is_no_number_is_counted_by_its_kind_and_never_scored(cell, kind):
    found = only([0.9, cell, cell])
    assert (found.n, found.of, found.invalid) == (1, 3, {kind: 2})
    assert found.value == 0.9


def test_a_row_without_the_field_counts_as_absent():
    (found,) = diagnose([{"id": "a", "faithfulness": 0.9}, {"id": "b", "answer": "x"}]).diagnoses
    assert (found.n, found.of, found.invalid) == (1, 2, {"absent": 1})


@pytest.mark.parametrize("values", [[1.7e308] * 3, [-1.7e308] * 3, [1.7e308, -1.7e308]])
def test_huge_numbers_are_numbers_where_a_metric_may_have_them(values):
    found = only(values, "tone")
    assert found.value == pytest.approx(values[0] if len(set(values)) == 1 else 0.0)
    beside = only([0.5, *values])
    assert (beside.value, beside.invalid) == (0.5, {"out_of_range": len(values)})


def test_a_metric_with_no_valid_value_is_said_aloud_and_does_not_pass():
    given = [{"id": "a", "faithfulness": None, "context_recall": 0.9}]
    report = diagnose(given)
    (silent,) = [one for one in report.diagnoses if one.metric == "faithfulness"]
    assert (silent.severity, silent.value, silent.n, silent.of) == ("not_evaluable", None, 0, 1)
    assert silent.reason
    assert not report.passed
    assert diagnose(given, ["context_recall"]).passed


def test_where_nothing_has_a_value_the_input_is_rejected():
    with pytest.raises(InputRejected, match="no sample has a valid value of faithfulness"):
        diagnose(rows([None, "n/a"]))
    with pytest.raises(InputRejected, match="of context_recall"):
        diagnose(rows([0.9]), ["context_recall"])
    with pytest.raises(InputRejected, match="no metric at all"):
        diagnose(rows([0.9]), [])


def test_an_unknown_metric_is_listed_as_having_no_rule():
    report = diagnose([{"id": "a", "tone": 0.0, "faithfulness": 0.9}])
    (found,) = [one for one in report.diagnoses if one.metric == "tone"]
    assert (found.severity, found.limits, found.threshold) == ("no_rule", None, None)
    assert found.reason
    assert report.passed


# What may be asked.


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"top": -1}, "--top -1"),
        ({"top": "3"}, "expected a number of samples"),
        ({"top": 1.5}, "expected a number of samples"),
        ({"metrics": "faithfulness"}, "expected a list of names"),
        ({"metrics": [1]}, "expected a list of names"),
        ({"lang": "nl"}, "lang"),
        ({"fail_on": "always"}, "--fail-on"),
        ({"colour": "red"}, "colour"),
        ({"form": "xml"}, "xml"),
        ({"knobs": {"temprature": "t"}}, 'did you mean "temperature"'),
        ({"knobs": {"temperature": True}}, "temperature"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_in_words(options, fact):
    with pytest.raises(UsageError, match=fact):
        diagnose(rows([0.1]), **options)


def test_a_metric_named_twice_is_told_once():
    assert len(diagnose(rows([0.1]), ["faithfulness", "faithfulness"]).diagnoses) == 1


def test_rows_may_be_a_file_dicts_or_a_frame(tmp_path):
    import polars

    given = rows([0.1, 0.9])
    file = tmp_path / "scores.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in given))
    expected = diagnose(given).diagnoses[0]
    for source in (file, str(file), polars.DataFrame(given), iter(given), tuple(given)):
        found = diagnose(source).diagnoses[0]
        assert (found.severity, found.value, found.n) == (expected.severity, expected.value, 2)


def test_knobs_are_renamed_and_hidden():
    def knobs(**called):
        causes = diagnose(rows([0.1], "context_recall"), knobs=called).causes
        return {action.knob for cause in causes for action in cause.actions}

    assert "recall_top_k" in knobs()
    assert "retriever.k" in knobs(recall_top_k="retriever.k")
    for hidden in (None, False, ""):
        assert not {"recall_top_k", "", None} & (knobs(recall_top_k=hidden) - {None})


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_causes_of_each_judged_metric_can_be_told_from_scores_alone(language):
    for metric, limits in SEVEN.items():
        value = 0.0 if limits.better == "higher" else 1.0
        report = diagnose(rows([value] * 4, metric), lang=language)
        assert report.language == language
        assert report.diagnoses[0].severity == "critical"
        assert all(cause.actions and cause.title for cause in report.causes)


# The address of every claim.

verdicts = st.booleans()


@st.composite
def judged_rows(draw):
    """Rows with claims that another tool has judged, every verdict known."""
    found = []
    for place in range(draw(st.integers(1, 4))):
        chunks = draw(st.integers(1, 3))

        def claim(chunks=chunks):
            by = draw(st.lists(verdicts, min_size=chunks, max_size=chunks))
            return {"text": "It is.", "chunks": by, "other": draw(verdicts)}

        told = {
            side: [claim() for _ in range(draw(st.integers(1, 4)))]
            for side in ("answer", "reference")
        }
        found.append(
            {
                "sample_id": f"s{place}",
                "answer": "It is.",
                "contexts": ["text"] * chunks,
                "faithfulness": draw(st.floats(0, 1)),
                "claims": told,
            }
        )
    return found


def plain_addresses(row):
    """Where each claim of an answer comes from, said once more."""
    told, chunks = row["claims"], range(len(row["contexts"]))
    relevant = [any(claim["chunks"][at] for claim in told["reference"]) for at in chunks]
    for claim in told["answer"]:
        if claim["other"]:
            yield "grounded" if any(claim["chunks"]) else "self_knowledge"
        elif not any(claim["chunks"]):
            yield "invented"
        else:
            misled = any(claim["chunks"][at] and relevant[at] for at in chunks)
            yield "misled_by_relevant" if misled else "misled_by_noise"


@given(judged_rows())
def test_the_identities_of_claims_hold_for_the_addresses_of_a_report(given_rows):
    found = diagnose(given_rows).addresses
    answer = [claim for row in given_rows for claim in row["claims"]["answer"]]
    reference = [claim for row in given_rows for claim in row["claims"]["reference"]]
    assert (found.samples, found.source) == (len(given_rows), "imported")

    def share(*names):
        return Fraction(sum(found.answer.get(name, 0) for name in names), len(answer))

    faithful = Fraction(sum(any(claim["chunks"]) for claim in answer), len(answer))
    precision = Fraction(sum(claim["other"] for claim in answer), len(answer))
    misled = share("misled_by_relevant", "misled_by_noise")
    assert share("grounded") + misled == faithful
    assert faithful + share("self_knowledge") + share("invented") == 1
    assert misled + share("invented") == 1 - precision
    assert sum(found.reference.values()) == len(reference)
    assert found.reference.get("said", 0) == sum(claim["other"] for claim in reference)
    plain = [address for row in given_rows for address in plain_addresses(row)]
    assert found.answer == {name: plain.count(name) for name in set(plain)}


def test_a_claim_without_a_verdict_is_unjudged_and_in_no_other_count():
    claims = {"answer": [{"text": "It is.", "chunks": [None], "other": True}], "reference": []}
    row = {"id": "a", "answer": "It is.", "contexts": ["x"], "faithfulness": 0.1, "claims": claims}
    assert diagnose([row]).addresses.answer == {"unjudged": 1}


def test_claims_are_taken_apart_by_words_unless_that_is_not_wanted():
    row = {
        "id": "a",
        "question": "When did it open?",
        "answer": "The museum opened in 1885.",
        "ground_truth": "The museum opened in 1885.",
        "contexts": ["The museum opened in 1885."],
        "faithfulness": 0.9,
    }
    assert diagnose([row]).addresses.answer == {"grounded": 1}
    assert diagnose([row], claims=False).addresses is None


# Whatever rows hold.

plain_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
texts = st.sampled_from(("", " ", "not in context", "Vermeer did.", "12", "nan")) | plain_texts
cells = (
    st.floats(0, 1)
    | st.floats()
    | st.integers(-(10**400), 10**400)
    | st.none()
    | st.booleans()
    | texts
    | st.sampled_from((NAN, INF, -INF, 1e308, -1e308, "n/a", "0.5", "0,5", {}, [], [0.5], {"a": 1}))
)
junk = st.none() | texts | st.floats() | st.booleans() | st.lists(texts, max_size=3) | st.just({})
METRICS = (*SEVEN, "tone", "answers.lexical_faithfulness", "Faithfulness (ragas)")
FIELDS = {
    "question": texts,
    "answer": texts,
    "ground_truth": texts,
    "contexts": st.lists(texts, max_size=3),
    "retrieved_ids": st.lists(st.sampled_from(("p1", "p2", "p3")), max_size=3),
    "gold_ids": st.lists(st.sampled_from(("p1", "p2")), max_size=2),
    "cited": st.lists(st.sampled_from(("p1", "p9")), max_size=2),
    "answerable": st.booleans(),
    "strata": st.dictionaries(st.sampled_from(("country", "tier")), texts, max_size=2),
    "country": texts,
}
names = st.none() | st.lists(st.sampled_from((*METRICS, "absent")), min_size=1, max_size=4)


@st.composite
def some_rows(draw, fields=FIELDS, most=6):
    """Rows with ids of their own, and any of the fields and metrics."""
    found = []
    for place in range(draw(st.integers(1, most))):
        row = {"sample_id": f"s{place}"}
        for name in draw(st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=6)):
            row[name] = draw(fields[name])
        for name in draw(st.lists(st.sampled_from(METRICS), unique=True, max_size=4)):
            row[name] = draw(cells)
        found.append(row)
    return found


def told(given_rows, metrics=None, **options):
    """The report; None where the input is refused in words, which is all it may end in."""
    try:
        return diagnose(given_rows, metrics, **options)
    except (InputRejected, UsageError):
        return None


def numbers_in(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list):
        return [number for branch in tree for number in numbers_in(branch)]
    return [tree] if isinstance(tree, float) else []


@given(st.data())
def test_any_mixture_is_diagnosed_or_refused_in_words(data):
    wild = {name: good | junk for name, good in FIELDS.items()}
    given_rows = data.draw(some_rows(wild))
    report = told(given_rows, data.draw(names), top=3)
    assert report is None or report.diagnoses


@given(some_rows(), names, st.sampled_from(LANGUAGES))
def test_every_report_adds_up_and_can_be_written(given_rows, metrics, language):
    report = told(given_rows, metrics, top=3, lang=language)
    if report is None:
        return
    for one in report.diagnoses:
        assert one.n + sum(one.invalid.values()) == one.of == len(given_rows)
        assert 0 <= one.beyond_critical <= one.beyond_warning <= one.n
        assert len(one.worst) == min(3, one.beyond_warning)
        assert (one.value is None) == (one.n == 0)
    written = msgspec.json.encode(report)
    assert all(map(math.isfinite, numbers_in(msgspec.to_builtins(report))))
    assert json.loads(written, parse_constant=pytest.fail) == msgspec.json.decode(written)
    assert msgspec.json.decode(written, type=DiagnosisReport) == report


@given(some_rows(), names)
def test_the_same_rows_give_the_same_bytes(given_rows, metrics):
    first, second = told(given_rows, metrics), told(given_rows, metrics)
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


def without_places(report):
    """The report but for where in the input something stands."""
    tree = msgspec.to_builtins(report)
    for one in tree["diagnoses"]:
        for sample in one["worst"]:
            sample["where"] = ""
    findings = [(one["code"], one["message"]) for one in tree["findings"]]
    return {**tree, "findings": sorted(findings)}


@given(some_rows(), names, st.integers(0, 50))
def test_the_order_of_rows_is_no_matter(given_rows, metrics, seed):
    shuffled = random.Random(seed).sample(given_rows, len(given_rows))
    first, second = told(given_rows, metrics), told(shuffled, metrics)
    assert (first is None) == (second is None)
    if first is not None:
        assert without_places(second) == without_places(first)


# A plain twin of the severity.

MEANT = {
    **{text: float(text) for text in ("0.5", "1", "0", ".25", "7e-1")},
    "0,5": 0.5,
    "true": 1.0,
    **dict.fromkeys(("n/a", "", "none", "NaN", "inf", "-inf", "0.5 or so")),
}
meant = (
    st.sampled_from(sorted(MEANT)).map(lambda text: (text, MEANT[text]))
    | st.booleans().map(lambda flag: (flag, float(flag)))
    | st.floats(0, 1).map(lambda number: (number, number))
    | st.sampled_from((0.3, 0.4, 0.5, 0.6, 0.7)).map(lambda number: (number, number))
    | st.sampled_from((None, NAN, INF, -INF)).map(lambda cell: (cell, None))
)
"""Cells, each with the number it stands for."""


def plain_severity(values, limits):
    """None where floats cannot decide it."""
    if not values:
        return "not_evaluable"
    value = sum(map(Fraction, values)) / len(values)
    worse = {"higher": -1, "lower": 1}[limits.better]
    for name, bound in (("critical", limits.critical), ("warning", limits.warning)):
        past = worse * (value - Fraction(bound)) - Fraction(1, 10**9)
        if abs(past) < Fraction(1, 10**14):
            return None
        if past > 0:
            return name
    return "none"


@given(st.sampled_from(sorted(SEVEN)), st.lists(meant, min_size=1, max_size=8))
def test_severity_agrees_with_a_plain_twin(metric, pairs):
    given_rows = [{"id": f"s{n}", metric: cell, "tone": 1.0} for n, (cell, _) in enumerate(pairs)]
    values = [value for _, value in pairs if value is not None]
    told = diagnose(given_rows, min_coverage=0).diagnoses
    found = next(one for one in told if one.metric == metric)
    expected = plain_severity(values, SEVEN[metric])
    assert expected is None or found.severity == expected
    assert (found.n, found.of) == (len(values), len(pairs))
    if values:
        assert found.value == pytest.approx(math.fsum(values) / len(values), abs=1e-12)
