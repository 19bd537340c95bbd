"""Metrics are found by their id or by their short name, and what is not found is told."""

import pytest

from ragauge.errors import UsageError
from ragauge.gates.rules import parse_rules
from ragauge.metrics.names import LONG_NAMES, long_name, metric_id, short_name, typed_name
from ragauge.metrics.table import find, table

IDS = ("quality.errors", "stability.errors", "quality.coverage")


def found(name):
    return metric_id(name, IDS, unknown=f'no run has "{name}"', listed="they have three")


def test_an_id_or_a_short_name_of_one_family_stands_for_a_metric():
    assert found("stability.errors") == "stability.errors"
    assert found("coverage") == "quality.coverage"
    assert short_name("quality.coverage") == "coverage"
    assert short_name("coverage") == "coverage"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("errors", 'metric "errors" is ambiguous: quality.errors, stability.errors'),
        ("coverge", 'no run has "coverge"; did you mean "coverage"?'),
        ("quality.covrage", 'no run has "quality.covrage"; did you mean "quality.coverage"?'),
        ("zzz", 'no run has "zzz"; they have three'),
    ],
)
def test_what_stands_for_no_metric_or_for_several_is_refused(name, words):
    with pytest.raises(UsageError) as refused:
        found(name)
    assert str(refused.value) == words


def test_long_names_can_be_typed_wherever_a_metric_is_named():
    for entry in table().values():
        typed = typed_name(entry.id)
        if typed:
            family = entry.id.partition(".")[0]
            assert find(typed).id == find(f"{family}.{typed}").id == entry.id
            assert metric_id(typed, [entry.id], unknown="", listed="") == entry.id
    rule = parse_rules("answer_consistency>=0.9", lambda name: find(name, "runs"))[0]
    assert str(rule) == "stability.acr>=0.9"
    assert find("normalised_discounted_cumulative_gain@7").id == "retrieval.ndcg@7"
    with pytest.raises(UsageError, match="there is no metric"):
        find("quality.answer_consistency")


def test_long_names_are_of_metrics_that_exist():
    known = {metric.id.partition("@")[0] for metric in table().values()}
    assert set(LONG_NAMES) <= known
    assert long_name("stability.acr", "stability.acr") == "Answer consistency (stability.acr)"
