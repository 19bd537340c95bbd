"""The rows of the specification that a document alone can show."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.entities import MATCHINGS, Entity
from ragauge.contracts.metric import Absent, NotApplicable, Row
from ragauge.metrics.entities import METRICS, NO_TOKENS, NOTHING, entity_metrics
from ragauge.metrics.entity_matching import tokens_of
from tests.metrics.entity_twin import document_facts, token_counts

BY_ID = {metric.id: metric for metric in METRICS}
COUNTS = ("entities.coverage", "entities.over_prediction")
"""Metrics that do not depend on what 0 / 0 is taken for."""


def entity(start, end, type="ORG", **more):
    return Entity(start=start, end=end, type=type, **more)


def facts(gold, predicted, **how):
    types = sorted({one.type for one in (*gold, *(predicted or ()))})
    return document_facts(gold, predicted, types=types, **how)


def value(id, *documents, empty="null"):
    """A metric over documents, from their summed rows; None where none can be scored."""
    metric, _ = entity_metrics(empty)[f"entities.{id}"]
    rows = [row.counts for row in map(metric, documents) if not isinstance(row, Absent)]
    return float(metric.finish(np.array(rows).sum(axis=0))) if rows else None


def test_the_fixture_of_the_specification():
    gold = [entity(4, 25, "M"), entity(33, 40, "ID"), entity(60, 64, "TMP"), entity(98, 109, "TOP")]
    predicted = [*gold[:2], entity(60, 62, "TMP")]
    found = facts(gold, predicted)
    for name, wanted in {"strict": (0.6667, 0.5, 0.5714), "partial": (1.0, 0.75, 0.8571)}.items():
        told = [round(value(f"{rate}_{name}", found), 4) for rate in ("precision", "recall", "f1")]
        assert tuple(told) == wanted


def test_a1_tokens_stand_where_they_are_whatever_the_blanks():
    text = " The  Rijks\tmuseum\n\nopens  in 1885"
    place = text.index("1885")
    found = facts([entity(place, place + 4)], [entity(place, place + 4)], tokens=tokens_of(text))
    assert found.tokens == (1, 0, 0)
    assert value("token_f1", found) == 1.0


def test_a2_a_token_belongs_to_a_span_it_overlaps():
    museum, tokens = [entity(1, 12)], tokens_of("(Rijksmuseum)")
    assert facts(museum, museum, tokens=tokens).tokens == (1, 0, 0)
    assert facts(museum, museum, tokens=tokens, token_rule="brief").tokens == (0, 0, 0)


def test_a3_a_token_holds_a_set_of_types_in_each_layer():
    text = "University of Amsterdam"
    nested = [entity(0, 23, "ORG"), entity(14, 23, "TOP")]
    tokens = tokens_of(text)
    for gold in (nested, nested[::-1]):
        for predicted in (nested, nested[::-1]):
            found = token_counts(gold, predicted, tokens)
            assert found == {"ORG": [3, 0, 0], "TOP": [1, 0, 0]}
    layers = [entity(0, 10, layer="literal")], [entity(0, 10, layer="metonymic")]
    assert token_counts(*layers, tokens) == {"ORG": [0, 1, 1]}


def test_a4_nothing_to_find_and_nothing_found_has_no_value():
    found = facts([], [], tokens=())
    for id, metric in BY_ID.items():
        row = metric(found)
        if id == "entities.coverage" or id.endswith((".tp", ".fp", ".fn")):
            assert not isinstance(row, Absent)
        else:
            assert row == NotApplicable(NOTHING), id


@pytest.mark.parametrize(("empty", "wanted"), [("gerbil", 1.0), ("zero", 0.0)])
def test_a4_nothing_at_all_can_be_one_or_zero(empty, wanted):
    found = facts([], [], tokens=(), empty=empty)
    for id in entity_metrics(empty):
        if id not in COUNTS and not id.endswith((".tp", ".fp", ".fn")):
            assert value(id.removeprefix("entities."), found, empty=empty) == wanted, id


@pytest.mark.parametrize("empty", ["gerbil", "zero"])
def test_a4_a_system_that_finds_nothing_is_never_praised(empty):
    found = facts([entity(0, 4)], [], tokens=((0, 4),), empty=empty)
    for id in ("precision_strict", "f1_strict", "token_precision", "f1_strict_macro"):
        assert value(id, found, empty=empty) == 0.0, id
    assert value("precision_strict", facts([entity(0, 4)], [])) is None


def test_a6_means_over_gold_types_and_over_the_union():
    gold = [entity(0, 4, "A"), entity(5, 9, "B")]
    found = facts(gold, [entity(0, 4, "A"), entity(5, 9, "B"), entity(10, 12, "C")])
    assert value("f1_strict_macro", found) == 1.0
    assert value("f1_strict_macro_union", found) == pytest.approx(2 / 3)
    assert value("f1_strict", found) == pytest.approx(0.8)


def test_a6_the_mean_over_documents_is_not_the_micro_average():
    one = facts([entity(0, 4)], [entity(0, 4)])
    other = facts([entity(0, 4), entity(5, 9), entity(10, 14)], [])
    assert value("f1_strict_doc", one, other, facts([], [])) == pytest.approx(0.5)
    assert value("f1_strict", one, other, facts([], [])) == pytest.approx(0.4)


def test_a7_counts_are_summed_over_documents_before_they_are_divided():
    documents = [facts([entity(0, 4)], [entity(0, 4)]), facts([entity(0, 4)], [entity(2, 6)])]
    assert value("strict.tp", *documents) == 1
    assert value("f1_strict", *documents) == 0.5
    assert value("f1_partial", *documents) == 1.0
    assert value("f1_semeval_partial", *documents) == 0.75


def test_b5_four_schemas_and_the_headline_is_ent_type():
    gold = [entity(0, 100), entity(200, 210), entity(300, 310), entity(400, 410)]
    predicted = [
        entity(99, 120),
        entity(200, 210, "TOP"),
        entity(305, 320, "TOP"),
        entity(400, 410),
    ]
    found = facts(gold, predicted)
    told = {
        name: tuple(
            getattr(getattr(found, name), field) for field in ("correct", "incorrect", "partial")
        )
        for name in ("strict", "exact", "semeval_partial", "ent_type")
    }
    assert told == {
        "strict": (1, 3, 0),
        "exact": (2, 2, 0),
        "semeval_partial": (2, 0, 2),
        "ent_type": (2, 2, 0),
    }
    assert value("f1_partial", found) == 0.5
    assert value("f1_semeval_partial", found) == 0.75


def test_b6_ends_are_exclusive():
    found = facts([entity(0, 5)], [entity(5, 9)])
    assert (found.ent_type.missed, found.ent_type.spurious) == (1, 1)


def test_b9_types_are_counted_apart_and_a_wrong_one_counts_against_both():
    gold, predicted = [entity(0, 4, "A"), entity(5, 9, "B")], [entity(0, 4, "B"), entity(5, 9, "B")]
    found = facts(gold, predicted)
    assert found.strict_types == (0, 0, 1, 1, 1, 0)
    assert found.partial_types == found.strict_types


def test_b9_layers_are_matched_apart():
    gold, predicted = [entity(0, 4, layer="literal")], [entity(0, 4, layer="nested")]
    assert facts(gold, predicted).strict.correct == 0
    assert facts(gold, gold).strict.correct == 1


def test_a_document_without_a_record_is_missed_and_not_covered():
    found = facts([entity(0, 4)], None)
    assert value("coverage", found) == 0.0
    assert value("recall_strict", found) == 0.0
    assert value("coverage", facts([entity(0, 4)], [])) == 1.0


def test_without_tokens_token_metrics_are_absent_and_say_so():
    assert BY_ID["entities.token_f1"](facts([entity(0, 4)], [])) == Absent(NO_TOKENS)


def test_an_entity_given_twice_counts_once():
    twice = [entity(0, 4), entity(0, 4)]
    found = facts(twice, twice)
    assert (found.strict.gold, found.strict.predicted, found.strict.correct) == (1, 1, 1)


spans = st.lists(
    st.builds(
        lambda start, size, kind: entity(start, start + size, kind),
        st.integers(0, 20),
        st.integers(1, 9),
        st.sampled_from("AB"),
    ),
    max_size=6,
)


@given(spans, spans, st.sampled_from(MATCHINGS))
def test_b3_partial_is_never_below_strict(gold, predicted, matching):
    found = facts(gold, predicted, matching=matching)
    if matching != "nervaluate":
        assert found.ent_type.correct >= found.strict.correct
        assert found.exact.correct >= found.strict.correct
        assert (value("f1_partial", found) or 0) >= (value("f1_strict", found) or 0)
    for schema in ("strict", "exact", "semeval_partial", "ent_type"):
        met = getattr(found, schema)
        assert (met.gold, met.predicted) == (found.strict.gold, found.strict.predicted)


def test_values_are_plain_and_json_safe():
    found = facts([entity(0, 4)], [entity(0, 4)], tokens=((0, 4),))
    rows = {id: metric(found).counts for id, metric in BY_ID.items()}
    assert json.loads(json.dumps(rows, allow_nan=False))["entities.f1_strict"] == [1, 0, 0]


def test_over_prediction_is_predicted_over_gold():
    metric, _ = entity_metrics()["entities.over_prediction"]
    one = facts([entity(0, 1, "A")], [entity(0, 1, "A"), entity(2, 3, "B"), entity(4, 5, "B")])
    assert metric(one) == Row((3, 1))
    spurious = facts([], [entity(0, 1, "A")])
    assert metric(spurious) == Row((1, 0))
    assert metric.finish(np.array([[3, 1], [1, 0], [4, 1]]))[[0, 2]].tolist() == [3.0, 4.0]
    assert np.isnan(metric.finish(np.array([1, 0])))
    assert metric(facts([], [])) == NotApplicable(NOTHING)
