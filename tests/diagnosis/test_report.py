"""The diagnosis as a whole: what is listed, in which order, and whether it passes."""

import msgspec
import pytest
from msgspec import structs

from ragauge import diagnose
from ragauge.contracts.diagnosis import (
    LANGUAGES,
    DiagnosisReport,
    Intervention,
    Replay,
    ScoreRow,
    Threshold,
)
from ragauge.contracts.report import Advice, Findings, Score
from ragauge.diagnosis.cases import Case, Material, Measured
from ragauge.diagnosis.catalogue import catalogue, symptoms
from ragauge.diagnosis.limits import RANKED, SEVEN, mean
from ragauge.diagnosis.own_rules import ONLY_HERE
from ragauge.diagnosis.report import CAUSES, DiagnosisSettings, build_report, low_samples
from ragauge.diagnosis.texts import texts
from ragauge.errors import UsageError


def measured(values, limits=SEVEN["faithfulness"], **told):
    value = mean(values) if values else None
    return Measured(
        score=Score(value=value, n=len(values), of=len(values)),
        better=limits.better if limits else None,
        limits=limits,
        **told,
    )


def material(scores, cases=(), metrics=None, **told):
    """Samples with these scores, by metric; the first is `a`, the next `b`."""
    ids = "abcdefghijklmnop"[: max(map(len, scores.values()), default=0)]
    rows = [
        ScoreRow(
            id=id, values={name: given[at] for name, given in scores.items() if at < len(given)}
        )
        for at, id in enumerate(ids)
    ]
    known = {name: measured(given, SEVEN.get(name)) for name, given in scores.items()}
    return Material(
        samples=rows,
        metrics={**known, **(metrics or {})},
        cases=cases,
        findings=Findings(),
        coverage={"samples": len(rows)},
        identity={"command": "diagnose"},
        **told,
    )


def case(id, *shown, **signs):
    return Case(
        id=id,
        sample=id,
        looked_for=frozenset(symptoms()),
        symptoms=frozenset(shown),
        signs=signs,
    )


def told(of, **how):
    return build_report(of, DiagnosisSettings(**how))


def severities(report):
    return {one.metric: one.severity for one in report.diagnoses}


# Metrics.


def test_the_worst_metrics_come_first_then_the_name_decides():
    scores = {
        "tone": [0.1],
        "faithfulness": [0.9],
        "context_recall": [0.6],
        "semantic_similarity": [0.2],
        "answer_relevancy": [0.1],
        "context_precision": [],
    }
    report = told(material(scores))
    assert [(one.metric, one.severity) for one in report.diagnoses] == [
        ("answer_relevancy", "critical"),
        ("semantic_similarity", "critical"),
        ("context_recall", "warning"),
        ("context_precision", "not_evaluable"),
        ("faithfulness", "none"),
        ("tone", "no_rule"),
    ]
    assert list(dict.fromkeys(one.severity for one in report.diagnoses)) == list(RANKED)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_has_no_value_and_what_has_no_rule_say_so(language):
    scores = {"faithfulness": [], "tone": [0.1], "context_recall": [0.1]}
    report = told(material(scores), language=language)
    reasons = {one.metric: one.reason for one in report.diagnoses}
    assert reasons == {
        "faithfulness": texts(language).metrics.no_valid_value,
        "tone": texts(language).metrics.no_rule,
        "context_recall": None,
    }


def test_the_word_of_a_gate_counts_before_the_thresholds():
    low = measured([0.1], severity="none")
    fine = measured([0.9], severity="critical")
    report = told(material({}, metrics={"faithfulness": low, "context_recall": fine}))
    assert severities(report) == {"faithfulness": "none", "context_recall": "critical"}


def test_the_worst_samples_are_those_beyond_the_threshold_worst_first_ties_by_id():
    of = material({"faithfulness": [0.7, 0.2, 0.6, 0.1, 0.2, 0.9]})
    (one,) = told(of, top=3).diagnoses
    assert [(sample.id, sample.value) for sample in one.worst] == [
        ("d", 0.1),
        ("b", 0.2),
        ("e", 0.2),
    ]
    assert (one.beyond_warning, one.beyond_critical) == (4, 3)
    shuffled = structs.replace(of, samples=list(of.samples)[::-1])
    assert told(shuffled, top=3).diagnoses == (one,)


@pytest.mark.parametrize(("top", "shown"), [(0, 0), (1, 1), (4, 4), (99, 4)])
def test_no_more_samples_are_shown_than_asked_for(top, shown):
    of = material({"faithfulness": [0.7, 0.2, 0.6, 0.1, 0.2, 0.9]})
    (one,) = told(of, top=top).diagnoses
    assert (len(one.worst), one.beyond_warning) == (shown, 4)


def test_of_a_metric_that_is_better_when_lower_the_highest_are_the_worst():
    of = material({"noise_sensitivity": [0.3, 0.9, 0.4]})
    (one,) = told(of).diagnoses
    assert [sample.id for sample in one.worst] == ["b", "c"]


def test_a_sample_shows_its_symptoms():
    of = material({"faithfulness": [0.1, 0.2]}, [case("a", "padded", "invented"), case("b")])
    (one,) = told(of).diagnoses
    assert [sample.symptoms for sample in one.worst] == [("invented", "padded"), ()]


# What is asked for.


def test_only_the_metrics_that_are_asked_for_are_told():
    of = material({"faithfulness": [0.1], "context_recall": [0.1]})
    assert severities(told(of, metrics=("context_recall",))) == {"context_recall": "critical"}


def test_what_is_asked_for_and_nobody_has_is_told_as_absent():
    of = material({"faithfulness": [0.9, 0.9]})
    report = told(of, metrics=("faithfulness", "context_recall", "tone"))
    absent = [one for one in report.diagnoses if one.metric != "faithfulness"]
    assert [(one.severity, one.n, one.of, one.invalid) for one in absent] == [
        ("not_evaluable", 0, 2, {"absent": 2})
    ] * 2
    assert not report.passed


def test_a_metric_is_found_by_its_plain_name():
    of = material({}, metrics={"answers.lexical_faithfulness": measured([0.1])})
    report = told(of, metrics=("faithfulness",))
    assert severities(report) == {"answers.lexical_faithfulness": "critical"}


def test_a_metric_under_its_own_name_comes_before_one_under_a_judges():
    kept = {"faithfulness": measured([0.9]), "answers.faithfulness": measured([0.1])}
    of = material({}, metrics=kept)
    assert severities(told(of, metrics=("faithfulness",))) == {"faithfulness": "none"}


def test_of_two_judges_the_first_by_name_is_meant():
    kept = {
        "answers.lexical_faithfulness": measured([0.1]),
        "answers.faithfulness": measured([0.9]),
    }
    of = material({}, metrics=kept)
    assert severities(told(of, metrics=("faithfulness",))) == {"answers.faithfulness": "none"}


# Whether it passes.


@pytest.mark.parametrize(
    ("value", "fail_on", "passed"),
    [
        (0.9, "warning", True),
        (0.6, "warning", False),
        (0.6, "critical", True),
        (0.4, "critical", False),
        (0.4, "warning", False),
        (0.4, "never", True),
    ],
)
def test_a_diagnosis_fails_from_the_severity_on_that_is_asked_for(value, fail_on, passed):
    assert told(material({"faithfulness": [value]}), fail_on=fail_on).passed is passed


@pytest.mark.parametrize(
    ("fail_on", "passed"), [("warning", False), ("critical", False), ("never", True)]
)
def test_what_could_not_be_evaluated_does_not_pass(fail_on, passed):
    of = material({"faithfulness": [], "context_recall": [0.9]})
    assert told(of, fail_on=fail_on).passed is passed


def test_a_metric_without_a_rule_is_no_failure_but_nothing_passes_by_it_alone():
    assert told(material({"tone": [0.0], "faithfulness": [0.9]}), fail_on="warning").passed
    assert not told(material({"tone": [0.0]})).passed
    assert told(material({"tone": [0.0]}), fail_on="never").passed


# Causes.


def test_causes_stand_by_how_much_speaks_for_them_struck_out_ones_last():
    of = material({"faithfulness": [0.1] * 8}, [case(id, "invented") for id in "abcdefgh"])
    order = ["likely", "possible", "untested", "struck_out"]
    places = [order.index(cause.standing) for cause in told(of).causes]
    assert places == sorted(places)
    assert {"likely", "struck_out"} <= {order[place] for place in places}


def test_causes_that_account_for_nothing_are_told_where_a_low_metric_raises_them():
    low, fine = (material({"faithfulness": [v]}, [case("a")]) for v in (0.1, 0.9))
    raised = told(low).causes
    assert raised
    assert {cause.standing for cause in raised} == {"struck_out"}
    assert all(cause.metrics == ("faithfulness",) and cause.why for cause in raised)
    assert told(fine).causes == ()


def test_a_metric_names_the_causes_of_its_own_samples():
    of = material({"faithfulness": [0.7, 0.1]}, [case("a", "uncited"), case("b", "invented")])
    named = told(of).diagnoses[0].causes
    assert "cause.ungrounded" in named
    assert "cause.cites_nothing" not in named


def test_where_the_catalogue_names_no_cause_that_is_there_the_likely_ones_go_with_a_metric():
    stale = [case(id, "stale") for id in "abcd"]
    both = [case(id, "stale", "invented") for id in "abcd"]
    named = [
        told(material({"faithfulness": [0.1] * 4}, cases)).diagnoses[0].causes
        for cases in (stale, both)
    ]
    assert named[0] == ("cause.stale_index",)
    assert "cause.ungrounded" in named[1]
    assert "cause.stale_index" not in named[1]


def test_a_cause_that_accounts_for_a_part_of_a_sample_is_told():
    of = material({"faithfulness": [0.9] * 4}, [case("a", "missed")])
    explained = {cause.id: cause.explains for cause in told(of).causes}
    assert 0 < explained["cause.retrieval_misses"] < 1


def test_a_metric_that_is_fine_names_no_cause():
    of = material({"faithfulness": [0.9] * 3 + [0.1]}, [case("d", "invented")])
    (one,) = told(of).diagnoses
    assert (one.severity, one.causes) == ("none", ())
    assert [sample.id for sample in one.worst] == ["d"]


def test_no_more_causes_are_named_for_a_metric_than_a_reader_can_weigh():
    every = [case("a", *symptoms())]
    (one,) = told(material({"faithfulness": [0.1]}, every)).diagnoses
    assert 0 < len(one.causes) <= CAUSES


def test_symptoms_are_counted_by_sample_and_not_by_run():
    runs = [structs.replace(case(f"a{n}", "missed"), sample="a") for n in range(3)]
    of = material({"faithfulness": [0.1, 0.1]}, [*runs, case("b", "missed", "stale")])
    assert list(told(of).symptoms.items()) == [("missed", 2), ("stale", 1)]
    alike = material({"faithfulness": [0.1]}, [case("a", "uncited", "stale", "missed")])
    assert list(told(alike).symptoms) == ["missed", "stale", "uncited"]


# Advice of a recorded run.

SPOKEN = next(entry for entry in catalogue() if entry.family == "stability")


def advice(entry=SPOKEN, questions=("a",), n=None):
    return Advice(
        id=entry.id,
        title=entry.title,
        evidence=entry.evidence.format(n=len(questions)),
        confirm=entry.confirm,
        action=entry.action,
        questions=questions,
        n=n,
    )


def advised(*spoken, cases=None):
    limits = Threshold(better="higher", warning=0.95, critical=None)
    kept = {SPOKEN.metrics[0]: measured([0.1], limits)}
    of = material({"faithfulness": [0.9] * 16}, cases, metrics=kept)
    return told(structs.replace(of, advice=spoken))


def test_the_advice_of_a_run_stands_in_where_no_single_answer_is_told():
    (cause,) = advised(advice(questions=("a", "b"), n=9)).causes
    assert (cause.id, cause.explains, cause.standing) == (SPOKEN.id, 9, "likely")
    assert cause.evidence[0].text == SPOKEN.evidence.format(n=9)
    assert cause.samples == ("a", "b")
    assert SPOKEN.metrics[0] in cause.metrics


def test_one_unit_of_many_makes_advice_possible_and_no_more():
    assert advised(advice()).causes[0].standing == "possible"


def test_advice_of_an_earlier_version_is_counted_by_its_questions():
    assert advised(advice(questions=tuple("abcde"))).causes[0].explains == 5


def test_advice_goes_with_its_metrics():
    one = next(d for d in advised(advice()).diagnoses if d.metric == SPOKEN.metrics[0])
    assert one.causes == (SPOKEN.id,)


def test_advice_is_counted_among_the_units_that_went_wrong_where_that_is_known():
    limits = Threshold(better="higher", warning=0.95, critical=None)
    of = material({"faithfulness": [0.9] * 16}, None, {SPOKEN.metrics[0]: measured([0.1], limits)})
    for wrong, expected in ((None, 16), (4, 4), (1, 2)):
        spoken = structs.replace(of, advice=[advice(questions=("a", "b"))], wrong=wrong)
        (cause,) = told(spoken).causes
        assert (cause.explains, cause.of) == (2, expected)


def test_advice_of_an_entry_that_is_no_more_is_left_out():
    gone = structs.replace(advice(), id="stability.of_long_ago")
    assert [cause.id for cause in advised(gone, advice()).causes] == [SPOKEN.id]


def test_what_a_low_metric_raises_comes_before_what_more_units_show_besides():
    other = next(
        entry
        for entry in catalogue()
        if entry.family == "stability" and SPOKEN.metrics[0] not in entry.metrics
    )
    first, second = advised(advice(other, tuple("abcdefgh")), advice(questions=("a", "b"))).causes
    assert (first.id, first.explains) == (SPOKEN.id, 2)
    assert (second.id, second.explains, second.standing) == (other.id, 8, "possible")


def test_beside_ranked_causes_only_what_they_cannot_tell_is_taken_from_advice():
    entries = {entry.id: entry for entry in catalogue()}
    assert set(entries) >= ONLY_HERE
    kept = [advice(entries[id]) for id in sorted(ONLY_HERE)]
    report = advised(advice(), *kept, cases=[case("a", "missed")])
    ids = {cause.id for cause in report.causes}
    assert ids >= ONLY_HERE
    assert SPOKEN.id not in ids


def test_where_all_scores_are_fine_no_cause_is_claimed():
    """Somebody has judged the answers, and found them good: what words see is possible at most."""
    cases = [case(id, "invented") for id in "abcdefgh"]
    of = material({"faithfulness": [0.9] * 8}, cases)
    claimed, doubted = told(of).causes, told(structs.replace(of, by_scores=True)).causes
    assert claimed[0].standing == "likely"
    assert {cause.standing for cause in doubted} <= {"possible", "untested"}
    low = structs.replace(material({"faithfulness": [0.1] * 8}, cases), by_scores=True)
    assert told(low).causes[0].standing == "likely"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_gate_that_asks_it_of_every_question_may_fail_though_the_mean_is_fine(language):
    fine = {"faithfulness": measured([0.9], severity="critical")}
    low = {"faithfulness": measured([0.1], severity="critical")}
    reasons = [
        told(material({}, metrics=one), language=language).diagnoses[0].reason
        for one in (fine, low)
    ]
    assert reasons == [texts(language).metrics.each, None]


@pytest.mark.parametrize("name", ["faithfullness", "context_recal", "noise-sensitivity"])
def test_a_metric_that_is_misspelt_is_refused_with_the_nearest_name(name):
    with pytest.raises(UsageError, match="did you mean"):
        told(material({"faithfulness": [0.9]}), metrics=("faithfulness", name))


# Where it is worse.


def sliced(values, **told):
    """The slices of samples in two countries, each with these values."""
    rows = [
        ScoreRow(id=f"{country}{n:02}", values={"faithfulness": value})
        for country, given in values.items()
        for n, value in enumerate(given)
    ]
    features = {
        row.id: {"country": row.id[:2], "answer_length": row.id[:1], "half": str(n % 2)}
        for n, row in enumerate(rows)
    }
    known = [row.values["faithfulness"] for row in rows]
    of = material({}, metrics={"faithfulness": measured(known)})
    found = structs.replace(of, samples=rows, features=features)
    return build_report(found, DiagnosisSettings(**told)).slices


def test_a_slice_where_a_metric_is_low_is_named():
    (found,) = sliced({"NL": [0.1] * 20, "BE": [0.9] * 20})
    assert (found.metric, found.conditions) == ("faithfulness", {"country": "NL"})
    assert (found.n, found.beyond, found.beyond_all) == (20, 20, 20)
    assert found.text.startswith("faithfulness is critical only for country=NL")


def test_a_slice_of_a_metric_that_is_fine_is_named_where_it_is_not():
    (found,) = sliced({"NL": [0.1] * 10, "BE": [0.9] * 90})
    assert found.conditions == {"country": "NL"}
    assert sliced({"NL": [0.69] * 10 + [1.0] * 10, "BE": [0.9] * 90}) == ()


def test_what_comes_out_of_the_pipeline_is_no_slice():
    names = {
        name for one in sliced({"NL": [0.1] * 20, "BE": [0.9] * 20}) for name in one.conditions
    }
    assert names == {"country"}


def test_where_nothing_is_low_there_is_no_slice():
    assert sliced({"NL": [0.9] * 20, "BE": [0.9] * 20}) == ()


# What it does not know.


@pytest.mark.parametrize("language", LANGUAGES)
def test_low_samples_that_show_nothing_are_counted(language):
    of = material({"faithfulness": [0.1, 0.2, 0.3]}, [case("a", "invented"), case("b"), case("c")])
    say = texts(language).unknown
    few = say["few_samples"].format(n=3)
    assert told(of, language=language).unknown == (say["unexplained"].format(n=2, of=3), few)
    all_explained = [case(id, "invented") for id in "abc"]
    assert told(structs.replace(of, cases=all_explained), language=language).unknown == (few,)
    assert told(structs.replace(of, cases=None), language=language).unknown == (few,)


@pytest.mark.parametrize(("low", "said"), [(2, True), (29, True), (30, False)])
def test_that_the_low_samples_are_few_is_said(low, said):
    rows = [{"id": f"{n}", "faithfulness": 0.1 if n else 0.9} for n in range(low + 1)]
    few = texts("en").unknown["few_samples"].format(n=low)
    assert (few in diagnose(rows).unknown) is said
    assert not any("of them are low" in text for text in diagnose(rows[:1]).unknown)


def replay():
    again = Intervention(
        name="again",
        asked=1,
        repaired=0,
        effective=None,
        failed=0,
        impossible=0,
        samples=(),
        reason=None,
    )
    return Replay(
        system={}, of=1, chosen=1, calls=1, resumed=0, interventions=(again,), repaired_by={}
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_known_is_said_and_a_replay_is_known_where_it_was_made(language):
    of = material({"faithfulness": [0.9]}, unknown=("no_contexts", "no_replay"))
    say = texts(language).unknown
    how = DiagnosisSettings(language=language)
    assert build_report(of, how).unknown == (say["no_contexts"], say["no_replay"])
    assert build_report(of, how, replay()).unknown == (say["no_contexts"],)


def test_the_report_tells_how_it_was_made():
    report = told(material({"faithfulness": [0.1]}), language="zh", fail_on="never")
    assert report.language == "zh"
    assert report.identity == {"command": "diagnose", "language": "zh", "fail_on": "never"}
    assert report.coverage == {"samples": 1}


def test_the_languages_differ_in_words_alone():
    of = material({"faithfulness": [0.1] * 4}, [case(id, "invented") for id in "abcd"])
    english, chinese = (told(of, language=language) for language in LANGUAGES)
    assert [cause.id for cause in english.causes] == [cause.id for cause in chinese.causes]
    assert [cause.explains for cause in english.causes] == [c.explains for c in chinese.causes]
    assert english.diagnoses == chinese.diagnoses
    assert english.causes[0].title != chinese.causes[0].title


def test_a_feature_with_too_many_values_is_a_finding():
    of = material({"faithfulness": [0.1]})
    features = {f"s{n}": {"name": str(n)} for n in range(60)}
    report = told(structs.replace(of, features=features))
    assert report.finding_counts == {"too_fine": 1}


def test_the_samples_of_low_metrics_are_those_that_a_replay_asks_again():
    scores = {"faithfulness": [0.1, 0.9, 0.2], "context_recall": [0.9, 0.4, 0.9]}
    assert [row.id for row in low_samples(material(scores), DiagnosisSettings())] == ["a", "c"]


def test_a_report_can_be_read_back():
    report = told(material({"faithfulness": [0.1]}, [case("a", "invented")]))
    written = msgspec.json.encode(report)
    assert msgspec.json.decode(written, type=DiagnosisReport) == report
