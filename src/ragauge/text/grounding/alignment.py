"""A sentence of an answer laid against the contexts: what of it stands where, and what nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ragauge.text.grounding.passages import Passages
from ragauge.text.grounding.tokens import LIGHT, NAME, NUMBER, STOP, WEIGHTS

REACH = 3
"""Sentences of a context that are taken together as evidence."""
KIN, ELSEWHERE = 0.4, 0.5
"""How far a word counts as unsupported: one with only kin in the contexts, and one that stands
in them but not beside the sentence's other words. One that stands nowhere counts in full."""
RECOVERY = 0.6
"""What a supported word takes off a span of unsupported ones, as a share of its own weight."""


class Window(NamedTuple):
    """Neighbouring sentences of one context: the lines from `first` up to `last`."""

    chunk: int
    first: int
    last: int
    share: float
    """Of the sentence's weight, what stands in it."""


class Aligned(NamedTuple):
    """What was found of one sentence."""

    weight: float
    """Of its content words; the shares below are shares of it."""
    words: int
    supported: float
    """Share that stands anywhere in the contexts; kin counts 0.6."""
    in_line: float
    """Share that stands in the one sentence of a context that has most of it."""
    in_window: float
    """The same for up to three neighbouring sentences."""
    in_order: float
    """Share of the content words that follow each other in the window as they do here."""
    bigrams: float
    """Share of neighbouring words that are neighbours in the contexts."""
    missing: float
    """Weight of the words that stand nowhere."""
    worst_span: float
    """Weight of the worst run of words the window does not support."""
    worst_words: tuple[int, int]
    """Its first and past-last place among the content words."""
    missing_keys: int
    """Names and numbers that stand nowhere, the question included."""
    stray_keys: int
    """Names and numbers that stand in the contexts, but not in the window."""
    denial_differs: bool
    """The sentence denies and the window does not, or the other way round."""
    window: Window | None
    by_chunk: dict[int, float]
    """The best window's share in each context that has any of it."""
    supports: list[float]
    """1, 0.6 or 0 for each content word."""


def align(
    passages: Passages, stems: Sequence[str], kinds: Sequence[int], denies: bool
) -> Aligned | None:
    """The sentence laid against the contexts; None where it has no content word."""
    content = [place for place, kind in enumerate(kinds) if kind != STOP]
    if not content:
        return None
    own = [stems[place] for place in content]
    weights = [WEIGHTS[kinds[place]] for place in content]
    keys = [kinds[place] >= NAME for place in content]
    supports = [passages.support(stem) for stem in own]
    total = sum(weights)
    bits, by_weight = _bits(own, weights)
    masks = _masks(passages, bits)
    line, window, by_chunk = _windows(passages, masks, by_weight, total)
    inside = _inside(masks, window)
    absent = [
        _absence(support, bool(inside & bits[stem]))
        for stem, support in zip(own, supports, strict=True)
    ]
    span, span_words = _worst_span(absent, weights)
    found = window is not None
    lines = passages.lines[window.first : window.last] if window else []
    return Aligned(
        weight=total,
        words=len(own),
        supported=sum(map(_product, weights, supports)) / total,
        in_line=line,
        in_window=window.share if window else 0.0,
        in_order=_in_order(own, [stem for one in lines for stem in one.stems]),
        bigrams=_bigrams(passages, stems, supports),
        missing=sum(
            weight * (1 - support) for weight, support in zip(weights, supports, strict=True)
        ),
        worst_span=span,
        worst_words=span_words,
        missing_keys=sum(
            key and not support and stem not in passages.asked
            for key, support, stem in zip(keys, supports, own, strict=True)
        ),
        stray_keys=sum(
            key and stem in passages.where and not inside & bits[stem]
            for key, stem in zip(keys, own, strict=True)
        ),
        denial_differs=found and denies != any(one.denies for one in lines),
        window=window,
        by_chunk=by_chunk,
        supports=supports,
    )


def _product(one: float, other: float) -> float:
    return one * other


def _bits(own: list[str], weights: list[float]) -> tuple[dict[str, int], dict[float, int]]:
    """A bit for each distinct word, and for each weight the bits of the words that have it.

    A word's share of a window is then a count of bits, whatever the number of windows.
    """
    bits: dict[str, int] = {}
    by_weight: dict[float, int] = {}
    for stem, weight in zip(own, weights, strict=True):
        if stem not in bits:
            bits[stem] = 1 << len(bits)
            by_weight[weight] = by_weight.get(weight, 0) | bits[stem]
    return bits, by_weight


def _masks(passages: Passages, bits: dict[str, int]) -> dict[int, int]:
    """For each line that has any of the words, which it has."""
    masks: dict[int, int] = {}
    where = passages.where
    for stem, bit in bits.items():
        for line in where.get(stem, ()):
            masks[line] = masks.get(line, 0) | bit
    return masks


def _windows(
    passages: Passages, masks: dict[int, int], by_weight: dict[float, int], total: float
) -> tuple[float, Window | None, dict[int, float]]:
    """The best line's share, the best window, and the best window's share in each context."""
    whole = sum(weight * mask.bit_count() for weight, mask in by_weight.items()) or total
    weighed = list(by_weight.items())
    lines, count = passages.lines, len(passages.lines)
    best_line, best = 0.0, None
    by_chunk: dict[int, float] = {}
    for first in sorted(masks):
        chunk, mask = lines[first].chunk, 0
        for last in range(first, min(first + REACH, count)):
            if lines[last].chunk != chunk:
                break
            more = masks.get(last, 0)
            if not more:
                continue
            mask |= more
            share = sum([weight * (mask & of).bit_count() for weight, of in weighed]) / whole
            if last == first and share > best_line:
                best_line = share
            if share > by_chunk.get(chunk, 0.0):
                by_chunk[chunk] = share
                if best is None or share > best.share:
                    best = Window(chunk, first, last + 1, share)
    return best_line, best, by_chunk


def _inside(masks: dict[int, int], window: Window | None) -> int:
    mask = 0
    if window:
        for line in range(window.first, window.last):
            mask |= masks.get(line, 0)
    return mask


def _absence(support: float, inside: bool) -> float:
    if not support:
        return 1.0
    if support < 1:
        return KIN
    return 0.0 if inside else ELSEWHERE


def _worst_span(absent: list[float], weights: list[float]) -> tuple[float, tuple[int, int]]:
    """The run of words whose unsupported weight exceeds the supported one by most."""
    best, run, start, found = 0.0, 0.0, 0, (0, 0)
    for place, (missing, weight) in enumerate(zip(absent, weights, strict=True)):
        run += weight * (missing - RECOVERY * (1 - missing))
        if run <= 0:
            run, start = 0.0, place + 1
        elif run > best:
            best, found = run, (start, place + 1)
    return best, found


def _in_order(own: list[str], window: list[str]) -> float:
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(own, window) / len(own) if window else 0.0


def _bigrams(passages: Passages, stems: Sequence[str], supports: list[float]) -> float:
    """The share of neighbours; of a single word, whether it is supported."""
    if len(stems) < 2:
        return supports[0]
    return sum(pair in passages.bigrams for pair in pairwise(stems)) / (len(stems) - 1)


def is_telling(kind: int) -> bool:
    """Whether a reader wants to hear that a word of this kind is unsupported."""
    return kind not in (STOP, LIGHT) and kind <= NUMBER
