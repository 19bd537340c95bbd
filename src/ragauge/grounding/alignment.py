"""A sentence of an answer aligned with the contexts: which words of it are where, which nowhere.

Also correct words with the wrong thing: the year of the move given for the founding.
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
"""The most neighbouring sentences of a context that are evidence together."""
RELATED, ELSEWHERE = 0.4, 0.5
"""How far a word counts as unsupported: one with only related words in the contexts, and one that
is in them, but not near the sentence's other words. A word found nowhere counts in full."""
LIKELIEST = 4
"""Lines of long contexts that a sentence of a long answer is compared with; neighbours as well."""
LOOKUP_COST = 8
"""Looking up a word takes about this many times as long as reading one."""
SAME_TOPIC = 0.6
"""A line with this fraction of a sentence is about the same thing."""
NEARLY_SAME = 0.75
"""A line with this fraction of a sentence says the same, unless one of the two denies it."""
SAME_LENGTH = 1.3
AHEAD, BEHIND = 2, 1
"""How many words a denial applies to, after it and before it."""
RECOVERY = 0.6
"""What a supported word subtracts from an unsupported span, as a fraction of its weight."""
MAX_GAP = 3
"""The most words between a number and what it counts."""
NEAR = 4
"""Within this distance in the line, a number belongs to the word whatever else is there."""


class Window(NamedTuple):
    """Neighbouring sentences of one context: the lines from `first` up to `last`."""

    chunk: int
    first: int
    last: int
    fraction: float
    """The fraction of the sentence's weight that is in it."""


class Aligned(NamedTuple):
    """How one sentence aligns with the contexts."""

    weight: float
    """The weight of its content words; the fractions below are fractions of it."""
    supported: float
    """Fraction that is anywhere in the contexts; related words count 0.6."""
    in_line: float
    """Fraction that is in the one sentence of a context that has most of it."""
    in_window: float
    """The same for up to three neighbouring sentences."""
    in_order: float
    """Fraction of the content words that have the same order in the window."""
    bigrams: float
    """Fraction of adjacent word pairs that are adjacent in the contexts."""
    missing: float
    """Weight of the words that are not found."""
    worst_span: float
    """Weight of the worst run of words the window does not support."""
    missing_keys: int
    """Names and numbers that are neither in the contexts nor in the question."""
    stray_keys: int
    """Names and numbers that are in the contexts, but not in the window."""
    misbound_numbers: int
    """Numbers that the line has too, but next to other words."""
    misbound_names: int
    """Names in the contexts for which the line has a different name."""
    denial_differs: bool
    """The sentence denies and the line that says nearly the same does not, or the reverse."""
    window: Window | None
    by_chunk: dict[int, float]
    """The best window's fraction in each context that has any of it."""
    supports: list[float]
    """1, 0.6 or 0 for each content word."""


def align(
    passages: Passages,
    stems: Sequence[str],
    kinds: Sequence[int],
    restated: Container[str] = frozenset(),
    allowance: int | None = None,
) -> Aligned | None:
    """The sentence aligned with the contexts; None if it has no content word.

    `restated` are words of numbers that the contexts have in another form. `allowance` comes from
    `Passages.allowance` for the complete answer.
    """
    from rapidfuzz.distance import LCSseq

    content_kinds = [kind for kind in kinds if kind != STOP]
    if not content_kinds:
        return None
    where, support, in_question = passages.where, passages.support, passages.in_question
    own = [stem for stem, kind in zip(stems, kinds, strict=True) if kind != STOP]
    weights = [WEIGHTS[kind] for kind in content_kinds]
    supports = [1.0 if stem in where or stem in restated else support(stem) for stem in own]
    keys = [place for place, kind in enumerate(content_kinds) if kind >= NAME]
    total = sum(weights)
    bits, by_weight = _bits(own, weights, restated)
    masks = _masks(passages, bits) if allowance is None else _likeliest(passages, bits, allowance)
    line, window, by_chunk = _windows(passages, masks, by_weight, total)
    inside, in_order = 0, 0.0
    if window:
        for place in range(window.first, window.last):
            inside |= masks.get(place, 0)
        there = [stem for one in passages.lines[window.first : window.last] for stem in one.stems]
        in_order = LCSseq.similarity(own, there) / len(own)
    apart = [stem in bits and not inside & bits[stem] for stem in own]
    misbound_numbers = misbound_names = 0
    if line.fraction >= SAME_TOPIC and max(kinds) >= NAME:
        read, line_text = passages.read_line(line.first)
        misbound_names = _misbound_names(stems, kinds, read, line_text, where)
        if line.fraction >= NEARLY_SAME:
            misbound_numbers = _misbound_numbers(stems, kinds, read.stems)
    if len(stems) > 1:
        bigrams = sum(pair in passages.bigrams for pair in pairwise(stems)) / (len(stems) - 1)
    else:
        bigrams = supports[0]
    return Aligned(
        weight=total,
        supported=sum(map(mul, weights, supports)) / total,
        in_line=line.fraction,
        in_window=window.fraction if window else 0.0,
        in_order=in_order,
        bigrams=bigrams,
        missing=sum(map(mul, weights, [1 - support for support in supports])),
        worst_span=_worst_span(supports, apart, weights),
        missing_keys=sum(not supports[key] and own[key] not in in_question for key in keys),
        stray_keys=sum(apart[key] and own[key] in where for key in keys),
        misbound_numbers=misbound_numbers,
        misbound_names=misbound_names,
        denial_differs=_denial_differs(passages, line, stems),
        window=window,
        by_chunk=by_chunk,
        supports=supports,
    )


def _bits(
    own: list[str], weights: list[float], restated: Container[str]
) -> tuple[dict[str, int], list[tuple[float, int]]]:
    """A bit for each distinct word, and the bits of the words of each weight.

    The weight of a window is then a count of bits. Restated words have no bit, because no window
    can contain them.
    """
    bits: dict[str, int] = {}
    by_weight: dict[float, int] = {}
    for stem, weight in zip(own, weights, strict=True):
        if stem not in bits and stem not in restated:
            bits[stem] = 1 << len(bits)
            by_weight[weight] = by_weight.get(weight, 0) | bits[stem]
    return bits, list(by_weight.items())


def _masks(passages: Passages, bits: dict[str, int]) -> dict[int, int]:
    """The bits of the words in each line that has any."""
    masks: dict[int, int] = {}
    where = passages.where
    for stem, bit in bits.items():
        for line in where.get(stem, ()):
            masks[line] = masks.get(line, 0) | bit
    return masks


def _likeliest(passages: Passages, bits: dict[str, int], allowance: int) -> dict[int, int]:
    """The same for the lines that have most of the rarest words, and for their neighbours.

    Reads `allowance` places in the contexts for each word of the sentence, rarest words first, so
    that the work grows with the answer, not with the answer times the contexts.
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
    """The bits of the words in a line: by its own words, or by theirs if those are far fewer."""
    mask, stems = 0, passages.lines[line].stems
    if len(stems) > LOOKUP_COST * len(bits):
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
    passages: Passages, masks: dict[int, int], by_weight: list[tuple[float, int]], total: float
) -> tuple[Window, Window | None, dict[int, float]]:
    """The best line, the best window, and the best window's fraction in each context.

    The first of equals is the best. A line that adds no word does not improve a window.
    """
    full = sum(weight * mask.bit_count() for weight, mask in by_weight) or total
    lines, count = passages.lines, len(passages.lines)
    best_line, best = Window(0, 0, 0, 0.0), None
    by_chunk: dict[int, float] = {}
    fractions: dict[int, float] = {}
    for first in sorted(masks):
        chunk, mask = lines[first].chunk, 0
        for last in range(first, min(first + REACH, count)):
            if lines[last].chunk != chunk:
                break
            more = masks.get(last, 0)
            if mask | more == mask:
                continue
            mask |= more
            fraction = fractions.get(mask, -1.0)
            if fraction < 0:
                fraction = (
                    sum([weight * (mask & words).bit_count() for weight, words in by_weight]) / full
                )
                fractions[mask] = fraction
            if last == first and fraction > best_line.fraction:
                best_line = Window(chunk, first, last + 1, fraction)
            if fraction > by_chunk.get(chunk, 0.0):
                by_chunk[chunk] = fraction
                if best is None or fraction > best.fraction:
                    best = Window(chunk, first, last + 1, fraction)
    return best_line, best, by_chunk


def _denial_differs(passages: Passages, line: Window, stems: Sequence[str]) -> bool:
    """Whether one of the two denies what the other says about the same thing.

    A word is denied by a denial shortly before it, or right after it as in German. It counts if
    the other text has the word too and denies nothing at all. A longer line may deny what the
    sentence leaves out.
    """
    if line.fraction < NEARLY_SAME:
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
    """The largest excess of unsupported over supported weight in a run of words."""
    worst, run = 0.0, 0.0
    for support, away, weight in zip(supports, apart, weights, strict=True):
        absence = 1.0 if not support else RELATED if support < 1 else ELSEWHERE if away else 0.0
        run = max(run + weight * (absence - RECOVERY * (1 - absence)), 0.0)
        worst = max(worst, run)
    return worst


def _misbound_numbers(stems: Sequence[str], kinds: Sequence[int], line: Sequence[str]) -> int:
    """The count of numbers whose neighbours are next to another number in the line.

    Only if the line has the number too, farther away, and the sentence does not have the other
    one: two years that both have are in another order, not mixed up. Compared with "founded in
    1800 and moved in 1885", "founded in 1885" has one, and "moved in 1885" none.
    """
    own = set(stems)
    others = [place for place, stem in enumerate(line) if stem[0].isdigit() and stem not in own]
    if not others:
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
            known[key] = _is_misbound(places[stem], places[word], others, side)
        count += known[key]
    return count


def _misbound_names(
    stems: Sequence[str], kinds: Sequence[int], line: Tokens, line_text: str, known: Container[str]
) -> int:
    """The count of names that the line does not have, if it has another name instead.

    Only names that the contexts have; others are counted as missing.
    """
    there, own = set(line.stems), set(stems)
    names = {stem for stem, kind in zip(stems, kinds, strict=True) if kind == NAME}
    unknown_here = [name for name in names - there if name in known]
    if not unknown_here:
        return 0
    in_their_place = any(
        kind in (NAME, PLAIN) and line_text[start].isupper() and stem not in own
        for stem, kind, start in zip(line.stems, line.kinds, line.starts, strict=True)
    )
    return len(unknown_here) if in_their_place else 0


def _anchors(stems: Sequence[str], kinds: Sequence[int], place: int) -> Iterator[tuple[str, int]]:
    """The words next to a number and their side, those before it first.

    What follows a number is often its unit.
    """
    before = range(place - 1, max(-1, place - 1 - MAX_GAP), -1)
    after = range(place + 1, min(len(stems), place + 1 + MAX_GAP))
    for side, places in ((1, before), (-1, after)):
        yield from ((stems[at], side) for at in places if kinds[at] not in (STOP, NUMBER))


def _is_misbound(
    own: Sequence[int], anchors: Sequence[int], others: Sequence[int], side: int
) -> bool:
    """Whether the line has another number nearer to each place of the anchor than its own.

    Only numbers on the same side of the word are compared: in "founded in 1800 and moved in 1885"
    1800 is nearer to the move, but is not its year.
    """
    if side < 0:
        own, anchors, others = ([-at for at in reversed(found)] for found in (own, anchors, others))
    if anchors[-1] > own[-1]:
        return False
    last = -inf
    for number in own:
        before = bisect_left(anchors, number)
        nearest = anchors[before - 1] if before else -inf
        if nearest > last:  # places farther away have the same nearest number
            other = bisect_left(others, nearest)
            if number - nearest <= NEAR or other == len(others) or others[other] > number:
                return False
        last = number
    return True
