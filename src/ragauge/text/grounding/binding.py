"""Right words bound to the wrong thing: the year of the move given for the founding."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

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
    strange = [place for place, stem in enumerate(line) if stem[0].isdigit() and stem not in stems]
    if not strange:
        return 0
    return sum(
        stem in line and _is_misbound(stem, _anchors(stems, kinds, place), line, strange)
        for place, (stem, kind) in enumerate(zip(stems, kinds, strict=True))
        if kind == NUMBER
    )


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
    number: str, anchors: Iterator[tuple[str, int]], line: Sequence[str], strange: Sequence[int]
) -> bool:
    """Whether the word beside the number stands beside a strange one in the line.

    Only numbers on the same side of the word are compared: in "founded in 1800 and moved in 1885"
    1800 is nearer to the move, and yet no year of it.
    """
    anchor, side = next(((word, side) for word, side in anchors if word in line), ("", 0))
    if not side:
        return False
    own = [place for place, stem in enumerate(line) if stem == number]
    places = [place for place, stem in enumerate(line) if stem == anchor]
    return all(_is_farther(place, own, strange, side) for place in places)


def _is_farther(place: int, own: Sequence[int], strange: Sequence[int], side: int) -> bool:
    """Whether the number is there, but a strange one nearer."""
    mine, other = _distance(place, own, side), _distance(place, strange, side)
    return mine is not None and other is not None and mine > max(NEAR, other)


def _distance(place: int, others: Sequence[int], side: int) -> int | None:
    return min((side * (at - place) for at in others if side * (at - place) > 0), default=None)
