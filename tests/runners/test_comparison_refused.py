"""Runs that cannot be compared are refused in words; what still can be is said."""

import pytest
from msgspec import structs

from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.table import find
from ragauge.runners.compare import compare
from tests.runners.recorded import HITS, ones, questions, record, two

OVER, COMPLIANCE = "quality.over_refusal", "quality.compliance"


def test_other_gold_sets_are_refused_and_compared_on_what_means_the_same(history):
    gold = questions(40)
    other = [
        structs.replace(one, gold_citations=("elsewhere",)) if place < 5 else one
        for place, one in enumerate(gold)
    ]
    other[9] = structs.replace(other[9], strata={"country": "FR"})
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(40, range(6))}, gold=other, minute=1)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    assert "the gold sets differ" in str(refused.value)
    words = "35 questions mean the same in both: `ragauge compare` with --allow gold"
    assert words in str(refused.value)
    report = compare(history, "latest", "latest", allow=("gold",))
    assert (report.coverage.both, report.coverage.changed_meaning) == (35, 5)
    assert report.compared[HITS].change == pytest.approx(-1 / 35)
    assert report.finding_counts["other_gold"] == 1


def test_a_gold_set_edited_beside_its_meaning_is_compared(history):
    gold = questions(40)
    edited = [structs.replace(one, strata={"country": "FR"}, paraphrases=("So?",)) for one in gold]
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(40, range(8))}, gold=edited, minute=1)
    report = compare(history, "latest", "latest")
    assert (report.coverage.both, report.compared[HITS].verdict) == (40, "worse")
    [finding] = report.findings
    assert finding.code == "other_gold"
    assert "all 40 questions are there and mean what they did" in finding.message


@pytest.mark.parametrize("change", ["added", "removed", "weighed"])
def test_other_questions_or_weights_are_refused(history, change):
    gold = questions(40)
    others = {
        "added": [*gold, structs.replace(gold[0], qid="q999")],
        "removed": gold[:-1],
        "weighed": [structs.replace(one, weight=2.0) for one in gold],
    }[change]
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(len(others))}, gold=others, minute=1)
    with pytest.raises(InputRejected, match="the gold sets differ"):
        compare(history, "latest", "latest")
    assert compare(history, "latest", "latest", allow=("gold",)).compared[HITS].n >= 39


def test_a_baseline_made_on_changed_files_is_said(history):
    record(history, {HITS: ones(40)}, minute=0, dirty=True)
    record(history, {HITS: ones(40)}, minute=1)
    report = compare(history, "latest", "latest")
    assert (report.before.dirty, report.after.dirty) == (True, False)
    assert report.finding_counts == {"dirty_baseline": 1}
    record(history, {HITS: ones(40)}, minute=2, dirty=True)
    after = compare(history, history.find("latest").id, "latest", metrics=(HITS,))
    assert after.after.dirty


def test_other_versions_and_ways_are_refused_by_name(history):
    both = {HITS: ones(20), COMPLIANCE: ones(20)}
    today = {COMPLIANCE: find(COMPLIANCE).version}
    old = record(history, both, versions=today, minute=0).shown
    record(history, both, versions={HITS: 2, **today}, minute=1)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    assert str(refused.value).splitlines() == [
        f"{HITS}: not comparable, it is version 1 before and 2 after",
        f"the metrics changed since run {old}: `ragauge runs rescore {old}` scores its kept "
        "answers again with the versions of today",
        f"comparable are {COMPLIANCE}: `ragauge compare` with --allow versions compares these",
    ]
    report = compare(history, "latest", "latest", allow=("versions",))
    assert report.compared[HITS].verdict == "not_comparable"
    assert report.compared[COMPLIANCE].change == 0
    assert report.finding_counts == {"not_comparable": 1}
    assert list(compare(history, "latest", "latest", metrics=("compliance",)).compared) == [
        COMPLIANCE
    ]


def test_a_rescore_is_named_only_where_the_command_can_do_it(history):
    both = {HITS: ones(20), COMPLIANCE: ones(20)}
    for minute, version in enumerate((1, 2)):
        record(history, both, versions={HITS: version}, command="eval ner", minute=minute)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest", metrics=(HITS, COMPLIANCE))
    words = str(refused.value)
    assert f"{HITS}: not comparable, it is version 1 before and 2 after" in words
    assert "run `ragauge eval ner` again on its files, with --record" in words
    assert "rescore" not in words


def test_another_canon_is_another_number(history):
    record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, how="canon:reference|refusal:exact|each:question", minute=1)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    first, last = str(refused.value).splitlines()
    assert first.endswith("it was made as canon:unicode before and canon:reference after")
    assert last == "no metric is left to compare: score one of the runs again, as the other was"
    report = compare(history, "latest", "latest", allow=("versions",))
    assert report.compared[HITS].verdict == "not_comparable"


def test_all_that_differs_is_said_at_once(history):
    record(history, {HITS: ones(20)}, minute=0)
    record(
        history,
        {HITS: ones(20)},
        gold=questions(20, paraphrases=("So?",), constraints=("Say so.",)),
        versions={HITS: 3},
        minute=1,
    )
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    assert len(refused.value.problems) == 4
    assert "0 questions mean the same" in str(refused.value)
    with pytest.raises(InputRejected, match=r"share no unit.*20 changed their meaning"):
        compare(history, "latest", "latest", allow=("gold", "versions"))


def test_runs_of_two_commands_are_never_compared(history):
    first = record(history, {HITS: ones(20)}, minute=0, command="eval")
    record(history, {HITS: ones(20)}, minute=1)
    with pytest.raises(InputRejected, match=r"a run of `eval` and .* one of `score`"):
        compare(history, first.id, "latest", allow=("gold", "versions"))


def test_mcnemar_of_graded_scores_is_refused(history):
    counts = {COMPLIANCE: [(1, 2)] * 20}
    for minute in (0, 1):
        record(history, {HITS: ones(20), COMPLIANCE: [0.5] * 20}, counts=counts, minute=minute)
    with pytest.raises(UsageError, match=f"scores of 0 and 1, and {COMPLIANCE} have others"):
        compare(history, "latest", "latest", method="mcnemar")


@pytest.mark.parametrize("margin", ["-0.1", "much", "hits=x", "nan", "compliance=0.1"])
def test_margins_that_cannot_be_read_are_refused(history, margin):
    with pytest.raises(UsageError, match="--margin"):
        two(history, ones(20), ones(20), margins=(margin,))


def test_unknown_options_are_refused_in_words(history):
    with pytest.raises(UsageError, match="compare:"):
        two(history, ones(20), ones(20), correction="bonferroni")
