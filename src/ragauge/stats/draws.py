"""Seeded draws that are the same numbers on every machine.

numpy promises the words of PCG64, not what its distributions make of them. So everything here
is made from those words by integers, and by single IEEE additions, products, quotients and
roots in a fixed order; nothing asks the platform's mathematical library.

Each function takes `first`: the draws before it are left out as if they had been made, so that
a caller with little memory can ask for block after block and get the draws of one large block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Floats = NDArray[np.float64]

BLOCK = 1 << 14
"""How many words, or entries of a table, are worked on at once: what a cache holds."""

_WORD = 64
_CHANCE_BITS = 48
"""A binomial's distribution is kept in steps of 2^-48; the other bits of a key name its row."""


def below(
    seed: int, bound: int, shape: tuple[int, ...], stream: int = 0, *, first: int = 0
) -> Counts:
    """Whole numbers from 0 to bound - 1, all equally likely, in rows of `shape`.

    A word times the bound, shifted by 64: no number is likelier than another by more than one
    part in 2^64 / bound.

    >>> below(0, 6, (2, 4)).tolist(), below(0, 6, (1, 4), first=1).tolist()
    ([[5, 1, 4, 0], [2, 3, 0, 4]], [[2, 3, 0, 4]])
    """
    if not 1 <= bound <= 1 << 32:
        raise ValueError(f"the bound must be from 1 to 2^32, not {bound}")
    row = math.prod(shape[1:])
    numbers = np.empty(math.prod(shape), dtype=np.int64)
    for at in range(0, len(numbers), BLOCK):
        words = _words(seed, stream, first * row + at, min(BLOCK, len(numbers) - at))
        numbers[at : at + len(words)] = _scaled(words, bound)
    return numbers.reshape(shape)


def coins(
    seed: int, of: Sequence[int] | Counts, draws: int, stream: int = 0, *, first: int = 0
) -> Counts:
    """How many heads fell when of[g] fair coins were thrown, (draws, groups).

    One bit of the words is one coin, so the counts are exactly binomial.

    >>> coins(0, [1, 10, 1000], 3).tolist()
    [[0, 5, 494], [1, 6, 507], [0, 5, 513]]
    """
    thrown = np.asarray(of, dtype=np.int64)
    if (thrown < 0).any():
        raise ValueError("a group cannot hold fewer than 0 coins")
    heads = np.zeros((draws, len(thrown)), dtype=np.int64)
    if not heads.size:
        return heads
    masks, starts = _masks(thrown)
    at_once = max(1, BLOCK // len(masks))
    for at in range(0, draws, at_once):
        rows = min(at_once, draws - at)
        words = _words(seed, stream, (first + at) * len(masks), rows * len(masks))
        bits = _popcount(words.reshape(rows, len(masks)) & masks)
        heads[at : at + rows] = np.add.reduceat(bits, starts, axis=1)
    return heads


def multinomials(
    seed: int, counts: Sequence[int] | Counts, draws: int, stream: int = 0, *, first: int = 0
) -> Counts:
    """Counts of distinct values in samples drawn with replacement, (draws, values).

    `counts` says how often each value was seen; every draw has as many values in all. Value
    after value takes its binomial share of what is left, by the inverse of its distribution.

    >>> multinomials(0, [5, 0, 3, 92], 3).tolist()
    [[9, 0, 4, 87], [3, 0, 4, 93], [2, 0, 2, 96]]
    """
    seen = np.asarray(counts, dtype=np.int64)
    if (seen < 0).any():
        raise ValueError("a value cannot be seen fewer than 0 times")
    drawn = np.zeros((draws, len(seen)), dtype=np.int64)
    splits = len(seen) - 1
    if splits < 0 or not draws:
        return drawn
    chances = _words(seed, stream, first * splits, draws * splits).reshape(draws, splits)
    chances >>= np.uint64(_WORD - _CHANCE_BITS)
    others = int(seen.sum())
    left = np.full(draws, others, dtype=np.int64)
    for value, count in enumerate(seen[:-1].tolist()):
        others -= count
        drawn[:, value] = _binomials(left, count, others, chances[:, value])
        left -= drawn[:, value]
    drawn[:, -1] = left
    return drawn


def _words(seed: int, stream: int, skip: int, size: int) -> Words:
    """Words of the generator, after the first `skip` ones."""
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(stream,)))
    if skip:
        bits.advance(skip)
    words: Words = bits.random_raw(size)
    return words


def _scaled(words: Words, bound: int) -> Words:
    """The upper 64 bits of each word times the bound, from the products of its halves."""
    half, times = np.uint64(32), np.uint64(bound)
    upper = words >> half
    upper *= times
    words &= np.uint64(0xFFFFFFFF)
    words *= times
    words >>= half
    upper += words
    upper >>= half
    return upper


def _masks(thrown: Counts) -> tuple[Words, Counts]:
    """The bits of each word that are coins, and where each group's words begin.

    A group without coins has a word without coins: then every group has a first word.
    """
    sizes = np.maximum(-(-thrown // _WORD), 1)
    starts = np.cumsum(sizes) - sizes
    masks = np.full(int(sizes.sum()), np.uint64(2**_WORD - 1))
    last = thrown - (sizes - 1) * _WORD
    kept = np.array([(1 << bits) - 1 for bits in range(_WORD + 1)], dtype=np.uint64)
    masks[starts + sizes - 1] = kept[last]
    return masks, starts


def _popcount(words: Words) -> Counts:
    """How many bits are set in each word, by sums of pairs, fours and bytes."""
    ones, twos, fours, bytes_ = (
        np.uint64(number)
        for number in (
            0x5555555555555555,
            0x3333333333333333,
            0x0F0F0F0F0F0F0F0F,
            0x0101010101010101,
        )
    )
    words = words - ((words >> np.uint64(1)) & ones)
    words = (words & twos) + ((words >> np.uint64(2)) & twos)
    words = (words + (words >> np.uint64(4))) & fours
    return (words * bytes_ >> np.uint64(56)).astype(np.int64)


def _binomials(trials: Counts, count: int, others: int, chances: Words) -> Counts:
    """Numbers of successes at the given places of their distributions.

    A trial succeeds `count` times in `count + others`. One table serves all draws that have as
    many trials left.
    """
    if not count or not others:
        return trials if count else np.zeros_like(trials)
    distinct, row_of = np.unique(trials, return_inverse=True)
    # How far from its mode each binomial is followed: what lies beyond is below 2^-58, by
    # Bernstein's bound at nine standard deviations and thirty more.
    share = count / (count + others)
    reach: Counts = np.ceil(9 * np.sqrt(distinct * share * (1 - share))).astype(np.int64) + 30
    at_once = max(1, BLOCK // int(reach[-1]))
    order = np.argsort(row_of, kind="stable")
    begins = range(0, len(distinct), at_once)
    successes = np.empty_like(trials)
    for begin, places in zip(
        begins, np.split(order, np.searchsorted(row_of[order], begins[1:])), strict=True
    ):
        block = slice(begin, begin + at_once)
        lowest, steps = _tables(distinct[block], count, others, reach[block])
        row = row_of[places] - begin
        names = np.arange(len(steps), dtype=np.uint64) << np.uint64(_CHANCE_BITS)
        # Rows one after the other, each under its name, are one ascending list of keys.
        wanted = chances[places] + names[row]
        found = np.searchsorted((steps + names[:, None]).ravel(), wanted, side="right")
        successes[places] = lowest[row] + found - row * steps.shape[1]
    return successes


def _tables(trials: Counts, count: int, others: int, reach: Counts) -> tuple[Counts, Words]:
    """Each binomial's lowest number in reach, and its distribution from there in steps of 2^-48.

    Weights relative to the mode, by the ratio of neighbours up and down from it. A ratio of 0
    ends a row, at its last possible number or at its own reach, so that a row is the same
    whichever rows stand beside it.
    """
    odds = count / others
    mode = (trials + 1) * count // (count + others)
    width = int(reach[-1])
    away = np.arange(width, dtype=np.int64)
    left = np.where(away < reach[:, None], trials[:, None], 0)
    up, down = mode[:, None] + away, mode[:, None] - away
    down = np.where(away < reach[:, None], np.maximum(down, 0), 0)
    rising = np.cumprod(np.maximum(left - up, 0) / (up + 1) * odds, axis=1)
    falling = np.cumprod(down / (trials[:, None] - down + 1) / odds, axis=1)
    weights = np.concatenate([falling[:, ::-1], np.ones((len(trials), 1)), rising], axis=1)
    running = np.cumsum(weights, axis=1)
    return mode - width, (running / running[:, -1:] * 2.0**_CHANCE_BITS).astype(np.uint64)
