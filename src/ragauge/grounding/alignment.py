"""A sentence of an answer laid against the contexts: what of it is where, and what is not there.

Also right words bound to the wrong thing: the year of the move given for the founding.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from itertools import chain, pairwise
from math import inf
from operator import mul
from typing import NamedTuple

from ragauge.grounding.passages import Passages
from ragauge.grounding.tokens import NAME, NUMBER, PLAIN, STOP, WEIGHTS, Tokens, is_denial

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
BOUND = 3
"""Words between a number and what it is a number of."""
NEAR = 4
"""So near in the line, a number belongs to its neighbour whatever else is there."""


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
    from rapidfuzz.distance import LCSseq

    telling = [kind for kind in kinds if kind != STOP]
    if not telling:
        return None
    where, support, asked = passages.where, passages.support, passages.asked
    own = [stem for stem, kind in zip(stems, kinds, strict=True) if kind != STOP]
    weights = [WEIGHTS[kind] for kind in telling]
    supports = [1.0 if stem in where or stem in restated else support(stem) for stem in own]
    keys = [place for place, kind in enumerate(telling) if kind >= NAME]
    total = sum(weights)
    bits, weighed = _bits(own, weights, restated)
    masks = _masks(passages, bits) if allowance is None else _likeliest(passages, bits, allowance)
    line, window, by_chunk = _windows(passages, masks, weighed, total)
    inside, in_order = 0, 0.0
    if window:
        for place in range(window.first, window.last):
            inside |= masks.get(place, 0)
        there = [stem for one in passages.lines[window.first : window.last] for stem in one.stems]
        in_order = LCSseq.similarity(own, there) / len(own)
    apart = [stem in bits and not inside & bits[stem] for stem in own]
    wrong_numbers = wrong_names = 0
    if line.share >= ALIKE and max(kinds) >= NAME:
        read, written = passages.read_line(line.first)
        wrong_names = _misbound_names(stems, kinds, read, written, where)
        if line.share >= NEARLY_SAME:
            wrong_numbers = _misbound_numbers(stems, kinds, read.stems)
    if len(stems) > 1:
        bigrams = sum(pair in passages.bigrams for pair in pairwise(stems)) / (len(stems) - 1)
    else:
        bigrams = supports[0]
    return Aligned(
        weight=total,
        supported=sum(map(mul, weights, supports)) / total,
        in_line=line.share,
        in_window=window.share if window else 0.0,
        in_order=in_order,
        bigrams=bigrams,
        missing=sum(map(mul, weights, [1 - support for support in supports])),
        worst_span=_worst_span(supports, apart, weights),
        missing_keys=sum(not supports[key] and own[key] not in asked for key in keys),
        stray_keys=sum(apart[key] and own[key] in where for key in keys),
        misbound_numbers=wrong_numbers,
        misbound_names=wrong_names,
        denial_differs=_denial_differs(passages, line, stems),
        window=window,
        by_chunk=by_chunk,
        supports=supports,
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


def _worst_span(supports: list[float], apart: list[bool], weights: list[float]) -> float:
    """By how much the unsupported weight of a run of words exceeds the supported one at most."""
    worst, run = 0.0, 0.0
    for support, away, weight in zip(supports, apart, weights, strict=True):
        absence = 1.0 if not support else KIN if support < 1 else ELSEWHERE if away else 0.0
        run = max(run + weight * (absence - RECOVERY * (1 - absence)), 0.0)
        worst = max(worst, run)
    return worst


def _misbound_numbers(stems: Sequence[str], kinds: Sequence[int], line: Sequence[str]) -> int:
    """Numbers of a sentence whose neighbours are next to another number in the line.

    Counted only where the line has the number too, farther off, and the sentence not the other
    one: two years that both have are given in another order, not mixed up. Against "founded in
    1800 and moved in 1885", "founded in 1885" has one, and "moved in 1885" none.
    """
    own = set(stems)
    strange = [place for place, stem in enumerate(line) if stem[0].isdigit() and stem not in own]
    if not strange:
        return 0
    places: dict[str, list[int]] = {}
    for place, stem in enumerate(line):
        places.setdefault(stem, []).append(place)
    known: dict[tuple[str, str, int], bool] = {}
    count = 0
    for place, (stem, kind) in enumerate(zip(stems, kinds, strict=True)):
        if kind != NUMBER or stem not in places:
            continue
        anchors = _anchors(stems, kinds, place)
        word, side = next((anchor for anchor in anchors if anchor[0] in places), ("", 0))
        if not side:
            continue
        key = (stem, word, side)
        if key not in known:
            known[key] = _is_misbound(places[stem], places[word], strange, side)
        count += known[key]
    return count


def _misbound_names(
    stems: Sequence[str], kinds: Sequence[int], line: Tokens, written: str, known: Container[str]
) -> int:
    """Names of a sentence that the line does not have, where it has another in their place.

    Only names that the contexts know: a name that they do not have is counted elsewhere.
    """
    there, own = set(line.stems), set(stems)
    names = {stem for stem, kind in zip(stems, kinds, strict=True) if kind == NAME}
    strangers = [name for name in names - there if name in known]
    if not strangers:
        return 0
    in_their_place = any(
        kind in (NAME, PLAIN) and written[start].isupper() and stem not in own
        for stem, kind, start in zip(line.stems, line.kinds, line.starts, strict=True)
    )
    return len(strangers) if in_their_place else 0


def _anchors(stems: Sequence[str], kinds: Sequence[int], place: int) -> Iterator[tuple[str, int]]:
    """The words next to a number with the side it has them on, those before it first.

    What follows a number is often its unit.
    """
    before = range(place - 1, max(-1, place - 1 - BOUND), -1)
    after = range(place + 1, min(len(stems), place + 1 + BOUND))
    for side, places in ((1, before), (-1, after)):
        yield from ((stems[at], side) for at in places if kinds[at] not in (STOP, NUMBER))


def _is_misbound(
    own: Sequence[int], anchors: Sequence[int], strange: Sequence[int], side: int
) -> bool:
    """Whether the line has a strange number nearer than its own to each place of the anchor.

    Only numbers on the same side of the word are compared: in "founded in 1800 and moved in 1885"
    1800 is nearer to the move, and yet no year of it.
    """
    if side < 0:
        own, anchors, strange = (
            [-at for at in reversed(found)] for found in (own, anchors, strange)
        )
    if anchors[-1] > own[-1]:
        return False
    last = -inf
    for number in own:
        before = bisect_left(anchors, number)
        nearest = anchors[before - 1] if before else -inf
        if nearest > last:  # places farther off have the same number next, and all between
            other = bisect_left(strange, nearest)
            if number - nearest <= NEAR or other == len(strange) or strange[other] > number:
                return False
        last = number
    return True
