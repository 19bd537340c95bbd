"""Tags of tokens, such as B-PER: read as entities, and written for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ragauge.ingest.annotated.entity_reading import Scheme
from ragauge.ingest.fields import quoted

MARKS: dict[str, str] = {
    "iob1": "BI",
    "iob2": "BI",
    "bioes": "BIES",
    "bilou": "BILU",
}
"""By scheme, the letters that may stand before a type."""
_COMMON = {"B": "B", "I": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
"""What a mark means, by the letters of BIOES: begin, inside, end, single."""
_PARTS = "in IOB1 B parts two entities of one type"
_LAST = {"bioes": ("S", "E"), "bilou": ("U", "L")}
"""How a scheme marks the only token of an entity, and the last of several."""


class Tag(Struct, frozen=True):
    """A tag in its parts; outside any entity both are empty."""

    mark: str = ""
    type: str = ""

    def __str__(self) -> str:
        return f"{self.mark}-{self.type}" if self.mark else "O"


OUTSIDE = Tag()


class Chunk(Struct, frozen=True, order=True):
    """Tokens that make an entity, half-open."""

    first: int
    end: int
    type: str


def tag_of(text: str, marks: str) -> Tag | None:
    """A tag in its parts; None where it is none with these marks.

    >>> tag_of("B-GRP-X", "BI")
    Tag(mark='B', type='GRP-X')
    """
    if text == "O":
        return OUTSIDE
    mark, _, kind = text.partition("-")
    if len(mark) != 1 or mark not in marks or not kind:
        return None
    return Tag(mark, kind)


def bad_tag(text: str, scheme: str) -> str:
    """What is wrong with a tag, in words."""
    *others, last = ("O", *(f"{mark}-TYPE" for mark in MARKS[scheme]))
    return f"tag {quoted(text)} is not {', '.join(others)} or {last}"


def scheme_of(sentences: Iterable[Sequence[str]]) -> str:
    """The scheme that tags are written in, by the letters they use.

    B and I alone are IOB1 if some entity begins with I, and B only parts neighbours of one type.

    >>> scheme_of([["I-PER", "B-PER", "O"]]), scheme_of([["B-PER", "I-PER"]])
    ('iob1', 'iob2')
    >>> scheme_of([["U-PER"]]), scheme_of([["B-PER", "E-PER"]])
    ('bilou', 'bioes')
    """
    begins_inside = begins_alone = False
    seen: set[str] = set()
    for sentence in sentences:
        before = OUTSIDE
        for text in sentence:
            tag = tag_of(text, "BIESLU") or OUTSIDE
            seen.add(tag.mark)
            begins_inside |= tag.mark == "I" and before.type != tag.type
            begins_alone |= tag.mark == "B" and before.type != tag.type
            before = tag
    if seen & set("ES"):
        return "bioes"
    if seen & set("LU"):
        return "bilou"
    return "iob1" if begins_inside and not begins_alone else "iob2"


def chunks(tags: Sequence[Tag], form: str = "iob2", scheme: Scheme = "repair") -> list[Chunk]:
    """The entities that the tags of a sentence mark.

    By default as conlleval reads them: a token goes on with an entity only if it says so, its type
    is the same and the entity has not ended; any other tag begins one. With `strict` as seqeval
    reads them in that mode: an entity that breaks the scheme is none.

    >>> chunks([OUTSIDE, Tag("I", "PER"), Tag("I", "PER")])
    [Chunk(first=1, end=3, type='PER')]
    >>> chunks([OUTSIDE, Tag("I", "PER"), Tag("I", "PER")], scheme="strict")
    []
    """
    found = _repaired(tags)
    if scheme == "repair":
        return found
    kept = (strict_part(tags, chunk, form) for chunk in found)
    return [chunk for chunk in kept if chunk is not None]


def strict_part(tags: Sequence[Tag], chunk: Chunk, form: str) -> Chunk | None:
    """What seqeval's strict mode reads of an entity: the whole, or nothing where it is broken.

    In IOB1 an entity begins after any B, so that one which begins with a B out of place goes on
    without it.

    >>> strict_part([Tag("B", "PER"), Tag("I", "PER")], Chunk(0, 2, "PER"), "iob1")
    Chunk(first=1, end=2, type='PER')
    """
    if broken(tags, chunk, form) is None:
        return chunk
    if form == "iob1" and chunk.end - chunk.first > 1:
        return Chunk(chunk.first + 1, chunk.end, chunk.type)
    return None


def broken(tags: Sequence[Tag], chunk: Chunk, form: str) -> str | None:
    """How an entity breaks the scheme its file is written in; None where it does not.

    >>> broken([OUTSIDE, Tag("I", "PER")], Chunk(1, 2, "PER"), "iob2")
    'I-PER follows O; in IOB2 an entity begins with B-PER'
    """
    first, last = tags[chunk.first], tags[chunk.end - 1]
    before = tags[chunk.first - 1] if chunk.first else OUTSIDE
    if form == "iob1":
        if first.mark == "B" and before.type != first.type:
            return f"{first} follows {before}; {_PARTS}"
        then = tags[chunk.end] if chunk.end < len(tags) else OUTSIDE
        if (last.mark, then.mark) == ("B", "B") and last.type != then.type:
            return f"{last} is followed by {then}; {_PARTS}"
        return None
    single, end = _LAST.get(form, ("", ""))
    begins = f"begins with B-{chunk.type}" + (f" or is {single}-{chunk.type}" if single else "")
    if first.mark not in ("B", single or "B"):
        return f"{first} follows {before}; in {form.upper()} an entity {begins}"
    if single and first.mark == "B" and last.mark != end:
        after = tags[chunk.end] if chunk.end < len(tags) else "the sentence's end"
        ends = f"an entity ends with {end}-{chunk.type}"
        return f"{last} is followed by {after}; in {form.upper()} {ends}"
    return None


def tags_for(found: Iterable[Chunk], tokens: int, form: str) -> list[str]:
    """The tags of a sentence in IOB1, IOB2, BIOES or BILOU.

    >>> tags_for([Chunk(0, 2, "PER"), Chunk(2, 3, "TOP")], 4, "bioes")
    ['B-PER', 'E-PER', 'S-TOP', 'O']
    """
    tags = ["O"] * tokens
    single, end = _LAST.get(form, ("B", "I"))
    for chunk in found:
        for place in range(chunk.first, chunk.end):
            tags[place] = f"I-{chunk.type}"
        tags[chunk.end - 1] = f"{end}-{chunk.type}"
        begins = "B" if chunk.end - chunk.first > 1 else single
        if form == "iob1" and (not chunk.first or tags[chunk.first - 1][2:] != chunk.type):
            begins = "I"  # B only parts two entities of one type
        tags[chunk.first] = f"{begins}-{chunk.type}"
    return tags


def _repaired(tags: Sequence[Tag]) -> list[Chunk]:
    found: list[Chunk] = []
    first, kind, goes_on = 0, "", False
    for place, tag in enumerate(tags):
        mark = _COMMON.get(tag.mark, "")
        joins = goes_on and mark in ("I", "E") and tag.type == kind
        if goes_on and not joins:
            found.append(Chunk(first, place, kind))
        if not joins:
            first, kind = place, tag.type
        goes_on = mark in ("B", "I")
        if mark in ("E", "S"):
            found.append(Chunk(first, place + 1, kind))
    if goes_on:
        found.append(Chunk(first, len(tags), kind))
    return found
