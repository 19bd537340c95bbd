"""The shipped coefficients: readable, of the sign that makes sense, and summed as they say."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from ragauge.contracts.answers import ANSWER_KINDS
from ragauge.grounding.features import (
    ANSWER_FEATURES,
    SENTENCE_FEATURES,
    read_answer,
    sentence_features,
)
from ragauge.grounding.model import FILE, ID, Weights, model_from, shipped, sign_of
from ragauge.grounding.passages import Passages

TEXT = files("ragauge.grounding").joinpath(FILE).read_text(encoding="utf-8")
HELD = tomllib.loads(TEXT)
PARTS = {"answer": ANSWER_FEATURES, "sentence": SENTENCE_FEATURES}


@pytest.mark.parametrize("kind", ANSWER_KINDS)
@pytest.mark.parametrize("part", PARTS)
def test_every_coefficient_has_a_feature_and_its_sign(kind, part):
    held = dict(HELD[kind][part])
    assert isinstance(held.pop("intercept"), float)
    assert set(held) <= set(PARTS[part])
    assert held
    wrong = {name: value for name, value in held.items() if value * sign_of(name) < 0}
    assert wrong == {}


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_the_file_tells_a_threshold_between_the_ends(kind):
    assert set(HELD[kind]) == {"threshold", "bands", *PARTS}
    assert 0.1 < HELD[kind]["threshold"]["value"] < 0.9
    assert shipped().kinds[kind].threshold == HELD[kind]["threshold"]["value"]


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_every_score_has_a_band_and_higher_ones_were_called_grounded_more_often(kind):
    model = shipped().kinds[kind]
    assert [band.low for band in model.bands] == [0.0, 0.2, 0.4, 0.6, 0.8]
    for value in (0.0, 0.1999, 0.2, 0.5, 0.8, 1.0):
        band = model.band_of(value)
        assert band.low <= value <= band.high
    shares = [band.share for band in model.bands if band.answers >= 20]
    assert shares == sorted(shares) and shares[0] < 0.5 < shares[-1]


def test_the_file_names_no_kind_but_the_three():
    assert set(HELD) == {"version", *ANSWER_KINDS}
    assert shipped().id == f"{ID}/{HELD['version']}"


RAISE = {"supported", "in_line", "in_window", "in_order", "bigrams"} | {
    "weakest_sentence",
    "mean_sentence",
}


def test_support_raises_and_faults_lower():
    for name in (*SENTENCE_FEATURES, *ANSWER_FEATURES):
        either = name in ("cited", "length")
        assert sign_of(name) == (0 if either else 1 if name in RAISE else -1), name


def test_a_feature_that_is_not_named_weighs_nothing():
    model = model_from(TEXT)
    for kind in ANSWER_KINDS:
        for part, features in PARTS.items():
            named = HELD[kind][part]
            weights = getattr(model.kinds[kind], part)
            assert weights.intercept == named["intercept"]
            assert weights.coefficients == tuple(named.get(name, 0.0) for name in features)


def test_log_odds_are_the_intercept_and_the_weighted_features():
    assert Weights(0.5, (2.0, -1.0)).log_odds((3.0, 4.0)) == 0.5 + 6.0 - 4.0


def test_the_odds_of_a_sentence_are_those_of_its_features():
    [one] = read_answer("Napoleon opened it [1].", Passages(["The museum opened."])).sentences
    qa = shipped().kinds["qa"]
    assert qa.sentence_odds([one]) == [qa.sentence.log_odds(sentence_features(one))]


def test_without_an_intercept_there_is_no_model():
    with pytest.raises(KeyError, match="intercept"):
        model_from(TEXT.replace("\nintercept", "\nintercepted", 1))
