"""Controls: how far the labels agree with things that look at no context."""

import numpy as np
import pytest

from ragauge.runners.answers.agreement import FOLDS, ROUNDS, by_writer, dealt, held_out
from ragauge.stats.discrimination import value_of

WRITERS = 3


def answers(sources, chances, seed):
    """An answer of every writer to every source, good with the writer's chance."""
    random = np.random.default_rng(seed)
    writers = [f"m{place}" for _ in range(sources) for place in range(len(chances))]
    named = [f"s{number}" for number in range(sources) for _ in chances]
    good = (random.random(len(named)) < np.tile(chances, sources)).tolist()
    return writers, good, named


def agreement(writers, good, sources):
    return value_of(by_writer(writers, good, sources), len(good))


def test_writers_who_are_all_alike_are_at_chance():
    found = [agreement(*answers(60, [0.5] * WRITERS, seed)) for seed in range(20)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)


def test_one_writer_alone_tells_nothing():
    """Half of the answers are good; without its own source each of these looks a little worse."""
    good = [place % 2 == 0 for place in range(40)]
    assert agreement(["m"] * 40, good, [f"s{place}" for place in range(40)]) == 0.5


def test_writers_who_differ_have_the_agreement_of_their_chances():
    chances = np.array([0.2, 0.5, 0.8])
    above = sum(a * (1 - b) for a in chances for b in chances if a > b)
    even = sum(chances * (1 - chances)) / 2
    expected = (above + even) / (chances.sum() * (1 - chances).sum())
    found = [agreement(*answers(60, chances, seed)) for seed in range(20)]
    assert np.mean(found) == pytest.approx(expected, abs=0.02)


def test_a_writer_of_one_source_alone_has_the_share_of_all():
    sources = [f"s{place}" for place in range(30)]
    good = [place % 3 > 0 for place in range(30)]
    found = agreement([f"m{place}" for place in range(30)], good, sources)
    assert found == 0.5


def test_it_does_not_depend_on_the_order_of_answers():
    writers, good, sources = answers(30, [0.3, 0.6], 1)
    order = np.random.default_rng(2).permutation(len(good)).tolist()
    turned = ([column[place] for place in order] for column in (writers, good, sources))
    assert agreement(*turned) == pytest.approx(agreement(writers, good, sources), abs=1e-12)


def test_sources_are_dealt_whole_and_each_is_held_out_once_a_round():
    sources = [f"s{place % 23}" for place in range(60)]
    rounds = list(dealt(sources))
    assert len(rounds) == ROUNDS
    for fold in rounds:
        pairs = set(zip(sources, fold.tolist(), strict=True))
        assert len(pairs) == 23 and set(fold.tolist()) == set(range(FOLDS))
    out = np.array(list(held_out(sources)))
    assert out.shape == (ROUNDS * FOLDS, 60) and (out.sum(axis=0) == ROUNDS).all()
    assert list(held_out([])) == []
