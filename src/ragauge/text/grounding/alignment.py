"""A sentence of an answer laid against the contexts: what of it stands where, and what nowhere."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from itertools import chain, pairwise
from operator import mul
from typing import NamedTuple

from ragauge.text.grounding.binding import misbound_names, misbound_numbers
from ragauge.text.grounding.passages import Passages
from ragauge.text.grounding.tokens import NAME, STOP, WEIGHTS, is_denial

REACH = 3
"""Sentences of a context that are taken together as evidence."""
KIN, ELSEWHERE = 0.4, 0.5
"""How far a word counts as unsupported: one with only kin in the contexts, and one that stands
in them but not beside the sentence's other words. One that stands nowhere counts in full."""
LIKELIEST = 4
"""Lines of long contexts that a sentence of a long answer is compared with; neighbours as well."""
MANY_TIMES = 8
"""Looking up a word takes so many times as long as reading one."""
ALIKE = 0.6
"""A line that has so much of a sentence speaks of the same thing."""
NEARLY_SAME = 0.75
"""A line that has so much of a sentence says the same, unless one of the two denies it."""
SAME_LENGTH = 1.3
AHEAD, BEHIND = 2, 1
"""Words that a denial reaches, after it and before it."""
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
    missing_keys: int
    """Names and numbers that stand nowhere, the question included."""
    stray_keys: int
    """Names and numbers that stand in the contexts, but not in the window."""
    misbound_numbers: int
    """Numbers that the line has too, but beside other words."""
    misbound_names: int
    """Names that the contexts have, but the line has another in their place."""
    denial_differs: bool
    """The sentence denies and the line that says nearly the same does not, or the reverse."""
    window: Window | None
    by_chunk: dict[int, float]
    """The best window's share in each context that has any of it."""
    supports: list[float]
    """1, 0.6 or 0 for each content word."""


class _Content(NamedTuple):
    """The content words of a sentence, as columns."""

    own: list[str]
    weights: list[float]
    supports: list[float]
    keys: list[int]
    """Places of the names and numbers among them."""


def align(
    passages: Passages,
    stems: Sequence[str],
    kinds: Sequence[int],
    restated: Container[str] = frozenset(),
    allowance: int | None = None,
) -> Aligned | None:
    """The sentence laid against the contexts; None where it has no content word.

    `restated` are words of numbers that the contexts have in another form. `allowance` is what
    `Passages.allowance` gives for the complete answer.
    """
    content = _content(passages, stems, kinds, restated)
    if content is None:
        return None
    own, weights, supports, keys = content
    total = sum(weights)
    bits, weighed = _bits(own, weights, restated)
    masks = _masks(passages, bits) if allowance is None else _likeliest(passages, bits, allowance)
    line, window, by_chunk = _windows(passages, masks, weighed, total)
    inside = _inside(masks, window)
    apart = [stem in bits and not inside & bits[stem] for stem in own]
    asked, where = passages.asked, passages.where
    wrong_numbers, wrong_names = _misbound(passages, line, stems, kinds)
    return Aligned(
        weight=total,
        supported=sum(map(mul, weights, supports)) / total,
        in_line=line.share,
        in_window=window.share if window else 0.0,
        in_order=_in_order(own, passages, window),
        bigrams=_bigrams(passages, stems, supports),
        missing=sum(map(mul, weights, [1 - support for support in supports])),
        worst_span=_worst_span(map(_absence, supports, apart), weights),
        missing_keys=sum(not supports[key] and own[key] not in asked for key in keys),
        stray_keys=sum(apart[key] and own[key] in where for key in keys),
        misbound_numbers=wrong_numbers,
        misbound_names=wrong_names,
        denial_differs=_denial_differs(passages, line, stems),
        window=window,
        by_chunk=by_chunk,
        supports=supports,
    )


def _content(
    passages: Passages, stems: Sequence[str], kinds: Sequence[int], restated: Container[str]
) -> _Content | None:
    telling = [kind for kind in kinds if kind != STOP]
    if not telling:
        return None
    own = [stem for stem, kind in zip(stems, kinds, strict=True) if kind != STOP]
    where, support = passages.where, passages.support
    return _Content(
        own,
        [WEIGHTS[kind] for kind in telling],
        [1.0 if stem in where or stem in restated else support(stem) for stem in own],
        [place for place, kind in enumerate(telling) if kind >= NAME],
    )


def _bits(
    own: list[str], weights: list[float], restated: Container[str]
) -> tuple[dict[str, int], list[tuple[float, int]]]:
    """A bit for each distinct word, and for each weight the bits of the words that have it.

    A word's share of a window is then a count of bits, whatever the number of windows. Restated
    words have none: no window can have them.
    """
    bits: dict[str, int] = {}
    by_weight: dict[float, int] = {}
    for stem, weight in zip(own, weights, strict=True):
        if stem not in bits and stem not in restated:
            bits[stem] = 1 << len(bits)
            by_weight[weight] = by_weight.get(weight, 0) | bits[stem]
    return bits, list(by_weight.items())


def _masks(passages: Passages, bits: dict[str, int]) -> dict[int, int]:
    """For each line that has any of the words, which it has."""
    masks: dict[int, int] = {}
    where = passages.where
    for stem, bit in bits.items():
        for line in where.get(stem, ()):
            masks[line] = masks.get(line, 0) | bit
    return masks


def _likeliest(passages: Passages, bits: dict[str, int], allowance: int) -> dict[int, int]:
    """The same for the lines that have most of the rarest words, and for their neighbours.

    Reads `allowance` places in the contexts for each word of the sentence, rarest words first, so
    that the work grows with the answer and not with the answer times the contexts.
    """
    room = allowance * len(bits)
    counts: dict[int, int] = {}
    for lines in sorted((passages.where.get(stem, []) for stem in bits), key=len):
        for line in lines[:room]:
            counts[line] = counts.get(line, 0) + 1
        room -= len(lines)
        if room <= 0:
            break
    masks: dict[int, int] = {}
    for likely in sorted(counts, key=counts.__getitem__, reverse=True)[:LIKELIEST]:
        for line in range(max(likely - 1, 0), min(likely + 2, len(passages.lines))):
            if line not in masks:
                masks[line] = _mask(passages, line, bits)
    return {line: mask for line, mask in masks.items() if mask}


def _mask(passages: Passages, line: int, bits: dict[str, int]) -> int:
    """Which of the words a line has: by its own words, or by theirs where those are far fewer."""
    mask, stems = 0, passages.lines[line].stems
    if len(stems) > MANY_TIMES * len(bits):
        for stem, bit in bits.items():
            lines = passages.where.get(stem, ())
            at = bisect_left(lines, line)
            if at < len(lines) and lines[at] == line:
                mask |= bit
        return mask
    for stem in chain(stems, passages.parts.get(line, ())):
        if stem in bits:
            mask |= bits[stem]
    return mask


def _windows(
    passages: Passages, masks: dict[int, int], weighed: list[tuple[float, int]], total: float
) -> tuple[Window, Window | None, dict[int, float]]:
    """The best line, the best window, and the best window's share in each context.

    Of equals the first is the best. A line that adds no word makes no better window.
    """
    whole = sum(weight * mask.bit_count() for weight, mask in weighed) or total
    lines, count = passages.lines, len(passages.lines)
    best_line, best = Window(0, 0, 0, 0.0), None
    by_chunk: dict[int, float] = {}
    shares: dict[int, float] = {}
    for first in sorted(masks):
        chunk, mask = lines[first].chunk, 0
        for last in range(first, min(first + REACH, count)):
            if lines[last].chunk != chunk:
                break
            more = masks.get(last, 0)
            if mask | more == mask:
                continue
            mask |= more
            share = shares.get(mask, -1.0)
            if share < 0:
                share = sum([weight * (mask & of).bit_count() for weight, of in weighed]) / whole
                shares[mask] = share
            if last == first and share > best_line.share:
                best_line = Window(chunk, first, last + 1, share)
            if share > by_chunk.get(chunk, 0.0):
                by_chunk[chunk] = share
                if best is None or share > best.share:
                    best = Window(chunk, first, last + 1, share)
    return best_line, best, by_chunk


def _misbound(
    passages: Passages, line: Window, stems: Sequence[str], kinds: Sequence[int]
) -> tuple[int, int]:
    """Numbers and names that the line binds to something else."""
    if line.share < ALIKE or max(kinds) < NAME:
        return 0, 0
    read, written = passages.read_line(line.first)
    says_the_same = line.share >= NEARLY_SAME
    return (
        misbound_numbers(stems, kinds, read.stems) if says_the_same else 0,
        misbound_names(stems, kinds, read, written, passages.where),
    )


def _denial_differs(passages: Passages, line: Window, stems: Sequence[str]) -> bool:
    """Whether one of the two denies what the other says, where they speak of the same thing.

    A word is denied where a denial stands shortly before it, or right behind it as in German; it
    counts where the other text has the word too, and denies nothing at all. A longer line may
    deny what the sentence leaves out.
    """
    if line.share < NEARLY_SAME:
        return False
    other = passages.lines[line.first].stems
    here, there = _denied(stems), _denied(other)
    if here and not there:
        return not here.isdisjoint(other)
    says_no_more = len(other) <= SAME_LENGTH * len(stems)
    return bool(there and not here) and says_no_more and not there.isdisjoint(stems)


def _denied(stems: Sequence[str]) -> set[str]:
    """The words within the reach of a denial."""
    return {
        stem
        for place, word in enumerate(stems)
        if is_denial(word)
        for stem in stems[max(0, place - BEHIND) : place + AHEAD + 1]
        if stem != word
    }


def _inside(masks: dict[int, int], window: Window | None) -> int:
    mask = 0
    if window:
        for line in range(window.first, window.last):
            mask |= masks.get(line, 0)
    return mask


def _absence(support: float, apart: bool) -> float:
    if not support:
        return 1.0
    if support < 1:
        return KIN
    return ELSEWHERE if apart else 0.0


def _worst_span(absences: Iterable[float], weights: Sequence[float]) -> float:
    """By how much the unsupported weight of a run of words exceeds the supported one at most."""
    worst, run = 0.0, 0.0
    for absence, weight in zip(absences, weights, strict=True):
        run = max(run + weight * (absence - RECOVERY * (1 - absence)), 0.0)
        worst = max(worst, run)
    return worst


def _in_order(own: list[str], passages: Passages, window: Window | None) -> float:
    from rapidfuzz.distance import LCSseq

    if window is None:
        return 0.0
    lines = passages.lines[window.first : window.last]
    return LCSseq.similarity(own, [stem for line in lines for stem in line.stems]) / len(own)


def _bigrams(passages: Passages, stems: Sequence[str], supports: list[float]) -> float:
    """The share of neighbours; of a single word, whether it is supported."""
    if len(stems) < 2:
        return supports[0]
    return sum(pair in passages.bigrams for pair in pairwise(stems)) / (len(stems) - 1)
