"""Tokens with tags such as B-PER: read as entities of a text, and written for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from ragauge.contracts.entities import AnnotatedText, Entity, Fragment
from ragauge.ingest.annotated.entity_reading import Given, Reading, Scheme
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


def laid(tokens: Iterable[tuple[str, str]]) -> tuple[str, tuple[Fragment, ...]]:
    """A text of tokens, each with what stands after it, and the places of the tokens.

    What follows the last token is left out.

    >>> laid([("Rijksmuseum", ""), (",", " "), ("Ede", " ")])
    ('Rijksmuseum, Ede', ((0, 11), (11, 12), (13, 16)))
    """
    parts: list[str] = []
    places: list[Fragment] = []
    at = 0
    for token, after in tokens:
        places.append((at, at + len(token)))
        parts += (token, after)
        at += len(token) + len(after)
    return "".join(parts[:-1]), tuple(places)


def places_in(text: str, tokens: Sequence[str]) -> tuple[tuple[Fragment, ...] | None, str | None]:
    """Where each token stands in a text, in their order, and the first thing that is amiss.

    Text that no token covers is amiss, and the places stand; there are none where a token is not
    found.

    >>> places_in("de  Ede, Ede", ["de", "Ede", ",", "Ede"])
    (((0, 2), (4, 7), (7, 8), (9, 12)), None)
    >>> places_in("a b", ["a", "c"])
    (None, 'tokens[1]: "c" is not in the text after character 1')
    """
    places: list[Fragment] = []
    amiss: str | None = None
    at = 0
    for place, token in enumerate(tokens):
        start = text.find(token, at) if token else -1
        if start < 0:
            fact = f"{quoted(token)} is not in the text after character {at}"
            return None, f"tokens[{place}]: {fact}"
        if amiss is None and not (start == at or text[at:start].isspace()):
            skipped = quoted(text[at:start].strip())
            amiss = f"tokens[{place}]: {skipped} stands before {quoted(token)} and is no token"
        at = start + len(token)
        places.append((start, at))
    return tuple(places), amiss


def cut(text: str, edges: Iterable[int]) -> tuple[Fragment, ...]:
    """The words and single marks of a text, cut where an entity begins or ends.

    >>> cut("(Rijksmuseum)'s", [1, 5, 12])
    ((0, 1), (1, 5), (5, 12), (12, 13), (13, 14), (14, 15))
    """
    inside = sorted(set(edges))
    found: list[Fragment] = []
    for word in re.finditer(r"\w+|[^\w\s]", text):
        start, end = word.span()
        for edge in inside:
            if start < edge < end:
                found.append((start, edge))
                start = edge
        found.append((start, end))
    return tuple(found)


_LINE_END = re.compile(r"\r\n|\r|\n")
SENTENCE_END = "\n"
"""What stands between the sentences of a text that is made of tokens."""


class Layer(Struct, frozen=True):
    """A column of tags: its name, and the scheme it is written in."""

    name: str
    form: str


class TaggedToken(Struct, frozen=True):
    """A token, what stands after it in the text, and what each layer says of it."""

    text: str
    after: str
    where: str
    tags: tuple[Tag, ...]
    links: tuple[tuple[str, ...] | None, ...] = ()
    """By layer; empty where the file has no links."""


Sentence = Sequence[TaggedToken]


def numbered_lines(name: str, content: bytes, problems: list[str]) -> Iterator[tuple[str, str]]:
    """The lines of a file, each with its place, without their ends."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        problems.append(f"{name}:{number}: is not UTF-8 text; save the file as UTF-8")
        return
    for number, line in enumerate(_LINE_END.split(text), 1):
        yield f"{name}:{number}", line


class Block(Struct):
    """Comments and the tokens below them, up to a blank line or the next comment."""

    notes: list[str]
    rows: list[tuple[str, list[str]]]
    """The place of each token's line, and its cells."""


def blocks_of(
    lines: Iterable[tuple[str, str]],
    is_note: Callable[[str], bool],
    cells: Callable[[str], list[str]] = lambda line: line.split("\t"),
) -> Iterator[Block]:
    """The blocks of a file of tokens, a line each."""
    block = Block([], [])
    for where, line in (*lines, ("", "")):
        noted = is_note(line)
        if block.rows and (noted or not line.strip()):
            yield block
            block = Block([], [])
        if noted:
            block.notes.append(line)
        elif line.strip():
            block.rows.append((where, cells(line)))


Part = TypeVar("Part")


def documents_of(
    parts: Sequence[tuple[str | None, str | None, Part]],
) -> Iterator[tuple[str, list[Part]]]:
    """The documents of parts with the document's id and their own; each is one where none is told.

    What names no document belongs to the one before.
    """
    if all(document is None for document, _, _ in parts):
        for number, (_, id, part) in enumerate(parts, 1):
            yield id or str(number), [part]
        return
    id, members = "0", list[Part]()
    for document, _, part in parts:
        if document is not None and document != id:
            if members:
                yield id, members
            id, members = document, []
        members.append(part)
    yield id, members


def keep_tagged(
    reading: Reading,
    id: str,
    sentences: Sequence[Sentence],
    layers: Sequence[Layer],
    strata: dict[str, Any] | None = None,
) -> None:
    """Add a document made of tokens, with the entities that each layer's tags mark."""
    text, tokens = laid(
        (token.text, SENTENCE_END if token is sentence[-1] else token.after)
        for sentence in sentences
        for token in sentence
    )
    given: list[Given] = []
    before = 0
    for sentence in sentences:
        places = tokens[before : before + len(sentence)]
        before += len(sentence)
        for column, layer in enumerate(layers):
            given += marked(reading, text, sentence, places, column, layer)
    where = sentences[0][0].where
    document = AnnotatedText(id=id, text=text, tokens=tokens, strata=strata or {}, where=where)
    reading.keep(document, given)


def marked(
    reading: Reading,
    text: str,
    sentence: Sentence,
    places: Sequence[Fragment],
    column: int,
    layer: Layer,
) -> Iterator[Given]:
    """The entities that one layer's tags mark in a sentence whose tokens stand at `places`."""
    tags = [token.tags[column] for token in sentence]
    strict = reading.options.scheme == "strict"
    for chunk in chunks(tags):
        first = sentence[chunk.first]
        fault = broken(tags, chunk, layer.form)
        kept = strict_part(tags, chunk, layer.form) if strict else chunk
        if fault:
            rest = "it is read as an entity" if kept == chunk else "what follows it is read"
            outcome = "it is left out" if kept is None else rest
            reading.find("broken_tags", first.where, f"{fault}; {outcome}")
        if kept is None:
            continue
        start, end = places[kept.first][0], places[kept.end - 1][1]
        entity = Entity(
            start=start,
            end=end,
            type=chunk.type,
            text=text[start:end],
            layer=layer.name,
            links=first.links[column] if first.links else None,
        )
        yield Given(entity, first.where)
