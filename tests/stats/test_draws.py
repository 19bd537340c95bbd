"""Draws against typed numbers, against plain twins in whole numbers, and against scipy."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare, multinomial

from ragauge.stats import draws as module
from ragauge.stats.draws import below, coins, multinomials

seeds = st.integers(0, 2**70)
streams = st.integers(0, 50)


def words(seed, stream, size):
    made = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(stream,))).random_raw(size)
    return [int(word) for word in made]


@pytest.mark.parametrize(
    ("made", "numbers"),
    [
        (below(7, 1000, (2, 5)), [[797, 53, 591, 868, 729], [169, 88, 731, 60, 309]]),
        (below(7, 2**32, (3,), stream=4), [3685391485, 2457850964, 2215176879]),
        (
            coins(7, [1, 64, 65, 100_000], 3),
            [[0, 32, 30, 50116], [0, 35, 26, 49931], [1, 32, 31, 50274]],
        ),
        (multinomials(7, [2, 3, 5], 4), [[3, 1, 6], [2, 5, 3], [3, 1, 6], [0, 5, 5]]),
        (
            multinomials(7, [60_000, 39_000, 1_000], 3),
            [[60129, 38824, 1047], [60036, 39000, 964], [60095, 38878, 1027]],
        ),
        (
            multinomials(7, [1] * 8, 3, stream=1),
            [[1, 0, 0, 0, 0, 2, 2, 3], [2, 0, 0, 0, 1, 2, 2, 1], [1, 0, 2, 0, 0, 2, 1, 2]],
        ),
    ],
)
def test_the_numbers_are_these_on_every_machine(made, numbers):
    assert made.tolist() == numbers


@given(seeds, streams, st.integers(1, 2**32), st.integers(0, 40))
def test_below_is_the_upper_half_of_a_product_of_whole_numbers(seed, stream, bound, size):
    plain = [word * bound >> 64 for word in words(seed, stream, size)]
    assert below(seed, bound, (size,), stream).tolist() == plain


@given(seeds, streams, st.lists(st.integers(0, 200), max_size=5), st.integers(0, 5))
def test_coins_are_the_bits_of_the_words(seed, stream, of, draws):
    sizes = [max(1, -(-n // 64)) for n in of]
    made = iter(words(seed, stream, draws * sum(sizes)))

    def heads(n, size):
        bits = "".join(f"{next(made):064b}"[::-1] for _ in range(size))
        return bits[:n].count("1")

    plain = [[heads(n, size) for n, size in zip(of, sizes, strict=True)] for _ in range(draws)]
    assert coins(seed, of, draws, stream).tolist() == plain


def by_exact_distributions(seed, stream, counts, draws):
    """The same words looked up in binomial distributions made of fractions."""
    made = iter(words(seed, stream, draws * (len(counts) - 1)))

    def successes(trials, share):
        chance, running = Fraction(next(made) >> 16, 2**48), Fraction(0)
        for number in range(trials + 1):
            running += comb(trials, number) * share**number * (1 - share) ** (trials - number)
            if chance < running:
                return number
        return trials

    def one():
        left, others, row = sum(counts), sum(counts), []
        for count in counts[:-1]:
            row.append(successes(left, Fraction(count, others) if others else Fraction(0)))
            left, others = left - row[-1], others - count
        return [*row, left]

    return [one() for _ in range(draws)]


@given(seeds, streams, st.lists(st.integers(0, 12), min_size=1, max_size=5), st.integers(0, 4))
def test_multinomials_invert_the_exact_distributions(seed, stream, counts, draws):
    plain = by_exact_distributions(seed, stream, counts, draws)
    assert multinomials(seed, counts, draws, stream).tolist() == plain


def test_large_counts_invert_the_exact_distributions_too():
    counts = [700, 1, 299, 500]
    assert multinomials(3, counts, 4).tolist() == by_exact_distributions(3, 0, counts, 4)


def fits(seen, chances):
    """The p of a chi-square test, the rare outcomes counted with the commonest."""
    expected = chances * seen.sum()
    bins = np.where(expected >= 5, np.arange(len(seen)), int(expected.argmax()))
    seen, expected = np.bincount(bins, seen), np.bincount(bins, expected)
    kept = expected > 0
    return chisquare(seen[kept], expected[kept] * seen.sum() / expected.sum()).pvalue


def test_below_is_uniform():
    assert fits(np.bincount(below(1, 37, (200_000,)), minlength=37), np.full(37, 1 / 37)) > 0.01


@pytest.mark.parametrize("of", [1, 7, 64, 130, 5_000])
def test_coins_are_binomial(of):
    seen = np.bincount(coins(1, [3, of], 100_000)[:, 1], minlength=of + 1)
    assert fits(seen, binom.pmf(np.arange(of + 1), of, 0.5)) > 0.01


def test_multinomials_are_multinomial():
    counts = np.array([1, 4, 0, 2])
    made, seen = np.unique(multinomials(1, counts, 200_000), axis=0, return_counts=True)
    assert made.sum(axis=1).tolist() == [7] * len(made)
    chances = multinomial.pmf(made, 7, counts / 7)
    assert fits(np.append(seen, 0), np.append(chances, 1 - chances.sum())) > 0.01


@pytest.mark.parametrize("value", [0, 1, 2])
def test_each_count_of_many_is_binomial(value):
    counts = [31_000, 68_800, 200]
    seen = np.bincount(multinomials(2, counts, 100_000)[:, value], minlength=100_001)
    assert fits(seen, binom.pmf(np.arange(100_001), 100_000, counts[value] / 100_000)) > 0.01


@given(seeds, st.integers(0, 6), st.integers(0, 6), st.sampled_from([1, 40, module.BLOCK]))
def test_blocks_are_pieces_of_one_large_block(seed, first, draws, block):
    kept = slice(first, first + draws)
    with pytest.MonkeyPatch.context() as patch:
        whole = below(seed, 9, (12, 3)), coins(seed, [5, 70], 12), multinomials(seed, [9, 4, 1], 12)
        patch.setattr(module, "BLOCK", block)
        pieces = (
            below(seed, 9, (draws, 3), first=first),
            coins(seed, [5, 70], draws, first=first),
            multinomials(seed, [9, 4, 1], draws, first=first),
        )
    for piece, all_of_it in zip(pieces, whole, strict=True):
        assert piece.tolist() == all_of_it[kept].tolist()


def test_streams_and_seeds_share_nothing():
    made = [below(seed, 2**32, (50,), stream) for seed in (0, 1, 2**32) for stream in (0, 1, 2)]
    assert len(np.unique(np.concatenate(made))) == len(made) * 50


@pytest.mark.parametrize(
    "ask",
    [
        lambda: below(0, 0, (1,)),
        lambda: below(0, 2**32 + 1, (1,)),
        lambda: coins(0, [3, -1], 1),
        lambda: multinomials(0, [3, -1], 1),
    ],
)
def test_impossible_draws_are_refused(ask):
    with pytest.raises(ValueError, match=r"must be|cannot"):
        ask()
