"""How the coefficients are made: no row is ever judged by what was learned from its source."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.grounding.features import ANSWER_FEATURES, SENTENCE_FEATURES
from ragauge.grounding.model import model_from, sign_of
from ragauge.stats.logistic import Fit, log_odds
from training import groundedness as training
from training.datasets import Judged

GOOD = "The museum number {} opened in 1808."
BAD = "Pirates sold {} pancakes on Mars."


def judged(name="set", sources=12, kind="qa", spans=None):
    """Two answers a source: one that stands in its context, and one that does not."""
    return [
        Judged(
            id=f"{name}-{source}-{grounded}",
            name=name,
            source=str(source),
            writer=None,
            kind=kind,
            question="What is told?",
            answer=(GOOD if grounded else BAD).format(source),
            contexts=(GOOD.format(source) + " It is in Ede.",),
            grounded=grounded,
            spans=spans,
        )
        for source in range(sources)
        for grounded in (True, False)
    ]


@given(
    sources=st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40),
    count=st.integers(1, 12),
    turn=st.integers(0, 5),
)
def test_folds_never_split_a_source_and_are_nearly_even(sources, count, turn):
    fold = training._folds(sources, count, turn)
    assert len(fold) == len(sources)
    assert set(fold.tolist()) <= set(range(count))
    of = {}
    for source, place in zip(sources, fold.tolist(), strict=True):
        assert of.setdefault(source, place) == place
    sizes = [list(of.values()).count(place) for place in range(count)]
    assert max(sizes) - min(sizes) <= 1


def test_folds_depend_on_the_names_and_the_turn_and_not_on_the_order():
    sources = [f"s{place}" for place in range(40)]
    forth = training._folds(sources, 5, 0)
    assert training._folds(sources[::-1], 5, 0).tolist() == forth[::-1].tolist()
    assert training._folds(sources, 5, 1).tolist() != forth.tolist()


def test_sentences_are_labelled_by_the_places_people_marked():
    answer = "The museum number 1 opened. Pirates came."
    row = judged()[0]
    marked = Judged(
        **{name: getattr(row, name) for name in row.__struct_fields__}
        | {"answer": answer, "spans": ((28, 35),), "grounded": False}
    )
    [example] = training.examples([marked])
    assert example.labels == (True, False)


def test_without_places_only_an_answer_of_one_sentence_is_labelled():
    [one, other] = training.examples(judged(sources=1))
    assert (one.labels, other.labels) == ((True,), (False,))
    row = judged(sources=1)[0]
    two = Judged(
        **{name: getattr(row, name) for name in row.__struct_fields__}
        | {"answer": "The museum opened. Pirates came."}
    )
    assert training.examples([two])[0].labels == (None, None)


def test_answers_without_a_claim_or_a_context_are_left_out():
    row = judged(sources=1)[0]
    fields = {name: getattr(row, name) for name in row.__struct_fields__}
    assert training.examples([Judged(**fields | {"answer": "?"})]) == []
    assert training.examples([Judged(**fields | {"contexts": (" ",)})]) == []


def test_coefficients_of_sentences_keep_their_signs():
    fit = training.fit_sentences(training.examples(judged()))
    for name, weight in zip(SENTENCE_FEATURES, fit.coefficients, strict=True):
        assert sign_of(name) * weight >= 0, name


def seen_by_fits(monkeypatch):
    """Each set of sources that sentences were fitted to."""
    fitted = []
    original = training.fit_sentences

    def recording(chosen):
        fitted.append(frozenset(one.source for one in chosen))
        return original(chosen)

    monkeypatch.setattr(training, "fit_sentences", recording)
    return fitted


def test_an_answers_numbers_come_from_a_fit_that_never_saw_its_source(monkeypatch):
    chosen = training.examples(judged())
    fitted = seen_by_fits(monkeypatch)
    judging = []
    original = training.answer_values

    def recording(held, sentences):
        judging.append(frozenset(one.source for one in held))
        return original(held, sentences)

    monkeypatch.setattr(training, "answer_values", recording)
    values = training.unseen_values(chosen)
    assert values.shape == (len(chosen), len(ANSWER_FEATURES))
    assert len(fitted) == len(judging) == training.INNER
    for saw, judges in zip(fitted, judging, strict=True):
        assert judges
        assert saw.isdisjoint(judges)
    assert frozenset().union(*judging) == {one.source for one in chosen}


def test_no_fold_is_fitted_to_what_it_judges(monkeypatch):
    monkeypatch.setattr(training, "ROUNDS", 1)
    monkeypatch.setattr(training, "FOLDS", 3)
    chosen = training.examples(judged())
    splits = []
    original = training._split

    def recording(examples, out):
        held, kept = original(examples, out)
        splits.append(({one.source for one in held}, {one.source for one in kept}))
        return held, kept

    monkeypatch.setattr(training, "_split", recording)
    odds = training.out_of_fold(chosen)
    assert splits
    assert all(held.isdisjoint(kept) for held, kept in splits)
    good = [one.row.grounded for one in chosen]
    assert odds[good].min() > odds[np.logical_not(good)].max()


def test_carried_across_never_sees_the_set(monkeypatch):
    chosen = training.examples([*judged("one", 5), *judged("other", 6)])
    fitted = seen_by_fits(monkeypatch)
    odds = training.carried_across(chosen)
    assert np.isfinite(odds).all()
    assert {frozenset(source.split()[0] for source in saw) for saw in fitted} == {
        frozenset({"one"}),
        frozenset({"other"}),
    }
    assert np.isnan(training.carried_across(training.examples(judged("one", 5)))).all()


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0]), st.booleans())
    ).filter(lambda rows: len({label for _, label in rows}) == 2)
)
def test_the_threshold_is_the_middle_of_the_best_of_all(rows):
    odds, grounded = np.array([one for one, _ in rows]), [label for _, label in rows]
    chosen = training.best_threshold(odds, grounded)
    assert 0 < chosen < 1
    cut = np.log(chosen / (1 - chosen))
    points = sorted(set(odds.tolist()))
    tried = [
        points[0] - 1,
        *((one + two) / 2 for one, two in pairwise(points)),
    ]
    best = max(balanced(odds, grounded, at) for at in tried)
    near = sorted(at for at in tried if balanced(odds, grounded, at) >= best - 0.005)
    middle = len(near) // 2
    assert cut == pytest.approx((near[middle] + near[-middle - 1]) / 2)


def balanced(odds, grounded, cut):
    right = np.array(grounded)
    return ((odds[right] >= cut).mean() + (odds[~right] < cut).mean()) / 2


def test_stretching_keeps_the_order_and_sets_the_width():
    fit, stretch = Fit((1.0, -2.0), 0.5), Fit((3.0,), -0.25)
    wide = training.stretched(fit, stretch)
    values = np.array([[0.1, 0.2], [1.0, 0.0], [0.0, 1.0]])
    plain = log_odds(fit, values)
    assert log_odds(wide, values) == pytest.approx(log_odds(stretch, plain[:, None]))


def test_the_file_that_is_written_can_be_read(monkeypatch):
    monkeypatch.setattr(training, "ROUNDS", 1)
    monkeypatch.setattr(training, "FOLDS", 2)
    kinds = ("qa", "summary", "data_to_text")
    text = training.coefficients([row for kind in kinds for row in judged(kind, 8, kind)])
    model = model_from(text)
    assert set(model.kinds) == set(kinds)
    rows = judged("qa", 8, "qa")
    for one in model.kinds.values():
        assert sum(band.answers for band in one.bands) == len(rows)
        assert sum(band.grounded for band in one.bands) == sum(row.grounded for row in rows)
    for kind in model.kinds.values():
        for name, weight in zip(ANSWER_FEATURES, kind.answer.coefficients, strict=True):
            assert sign_of(name) * weight >= 0, name
    assert text == training.coefficients([row for kind in kinds for row in judged(kind, 8, kind)])
