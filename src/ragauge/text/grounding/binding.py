"""Right words bound to the wrong thing: the year of the move given for the founding."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from math import inf

from ragauge.text.grounding.tokens import NAME, NUMBER, PLAIN, STOP, Tokens

REACH = 3
"""Words between a number and what it is a number of."""
NEAR = 4
"""So near in the line, a number belongs to its neighbour whatever else stands there."""


def misbound_numbers(stems: Sequence[str], kinds: Sequence[int], line: Sequence[str]) -> int:
    """Numbers of a sentence whose neighbours stand beside another number in the line.

    Counted only where the line has the number too, farther off, and the sentence not the other
    one: two years that both have are told in another order, not mixed up.

    >>> line = "found in 1800 and move to it own build in 1885".split()
    >>> plain, number = 2, 4
    >>> misbound_numbers(["found", "in", "1885"], [plain, 0, number], line)
    1
    >>> misbound_numbers(["move", "in", "1885"], [plain, 0, number], line)
    0
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
        anchor = next(((word, side) for word, side in anchors if word in places), None)
        if anchor is None:
            continue
        key = (stem, *anchor)
        if key not in known:
            word, side = anchor
            known[key] = _is_misbound(places[stem], places[word], strange, side)
        count += known[key]
    return count


def misbound_names(
    stems: Sequence[str], kinds: Sequence[int], line: Tokens, written: str, known: Container[str]
) -> int:
    """Names of a sentence that the line does not have, where it has another in their place.

    Only names that the contexts know: a name that stands nowhere is counted elsewhere.
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
    """The words beside a number with the side it has them on, those before it first.

    What follows a number is often its unit.
    """
    before = range(place - 1, max(-1, place - 1 - REACH), -1)
    after = range(place + 1, min(len(stems), place + 1 + REACH))
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
        own, anchors, strange = _mirrored(own), _mirrored(anchors), _mirrored(strange)
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


def _mirrored(places: Sequence[int]) -> list[int]:
    return [-place for place in reversed(places)]
