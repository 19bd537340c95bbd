"""HIPE's tables: a token a line, and columns of tags and links whose names the header gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from ragauge.ingest.annotated.entity_reading import Reading
from ragauge.ingest.annotated.tagged_texts import (
    MARKS,
    OUTSIDE,
    SENTENCE_END,
    Block,
    Layer,
    Tag,
    TaggedToken,
    bad_tag,
    blocks_of,
    chunks,
    documents_of,
    keep_tagged,
    numbered_lines,
    scheme_of,
    tag_of,
)
from ragauge.ingest.fields import quoted
from ragauge.text.kb_ids import is_nil

TOKEN, MISC = "TOKEN", "MISC"
TAG_COLUMNS = (
    "NE-COARSE-LIT",
    "NE-COARSE-METO",
    "NE-FINE-LIT",
    "NE-FINE-METO",
    "NE-FINE-COMP",
    "NE-NESTED",
)
LINK_COLUMNS = ("NEL-LIT", "NEL-METO")
COLUMNS = (TOKEN, *TAG_COLUMNS, *LINK_COLUMNS, MISC)
LINK_COLUMN = {
    "NE-COARSE-LIT": "NEL-LIT",
    "NE-FINE-LIT": "NEL-LIT",
    "NE-COARSE-METO": "NEL-METO",
    "NE-FINE-METO": "NEL-METO",
}
"""Where the links of a layer stand; components and nested entities have none."""
TAGS_OF_LINKS = {
    "NEL-LIT": ("NE-COARSE-LIT", "NE-FINE-LIT"),
    "NEL-METO": ("NE-COARSE-METO", "NE-FINE-METO"),
}
"""The columns that say where linked entities begin and end; the first that a table has."""
NO_TYPE = "_"
"""The type of a link on a token that no tag marks."""
UNSET = ("_", "-", "")
NO_SPACE, LINE_END = "NoSpaceAfter", "EndOfLine"
NIL = "NIL"
STRATA = ("language", "dataset", "document_type", "newspaper", "country")
ID = "document_id"
FORM = "iob2"
_COMMENT = re.compile(r"#\s*(?:\w+:)?(\w+)\s*=\s*(.*\S)\s*")
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


def _named(block: Block, key: str) -> str | None:
    """What the comments of a block say of a key."""
    found = (_COMMENT.fullmatch(note.replace("\t", " ")) for note in block.notes)
    return next((one[2] for one in found if one and one[1] == key), None)


class _Table:
    """The columns of a file, by name, and the layers that are read of it."""

    def __init__(self, header: Sequence[str], wanted: Sequence[str] | None) -> None:
        self.names = {title.strip().upper(): place for place, title in enumerate(header)}
        there = [name for name in self.names if name.startswith("NE-")]
        self.layers = [name for name in there if wanted is None or name in wanted]

    def cell(self, cells: Sequence[str], name: str | None) -> str:
        place = self.names.get(name or "")
        return "" if place is None else cells[place].strip()


def read_hipe(name: str, content: bytes, reading: Reading) -> tuple[str, ...]:
    """Read the documents of a HIPE table; the layers that it annotates come back.

    A column that holds nothing but `_` was not annotated.
    """
    lines = list(numbered_lines(name, content, reading.problems))
    if not lines:
        return ()
    header = next(((where, line) for where, line in lines if is_header(line)), None)
    if header is None:
        fact = f"no line names the columns: {' '.join(COLUMNS)}, parted by tabs"
        reading.problems.append(f"{name}: {fact}")
        return ()
    linked = reading.options.links
    wanted: Sequence[str] | None = reading.options.layers
    if linked is not None:  # the column of tags that says where linked entities are
        names = header[1].upper().split("\t")
        wanted = [column for column in TAGS_OF_LINKS[linked] if column in names][:1]
    table = _Table(header[1].split("\t"), wanted)
    reading.problems += _header_faults(header[0], table, reading.options.layers, linked)
    if linked is not None and linked not in table.names:
        return ()
    below = ((where, line) for where, line in lines if not is_header(line))
    blocks = list(blocks_of(below, partial(_is_note, width=len(table.names))))
    reading.unnamed = all(_named(block, ID) is None for block in blocks)
    layers = [Layer(layer, _scheme(table, layer, blocks)) for layer in table.layers]
    for id, members in documents_of([(_named(one, ID), None, one) for one in blocks]):
        tokens = []
        for where, cells in (row for block in members for row in block.rows):
            if len(cells) != len(table.names):
                fact = f"has {len(cells)} columns, and the header names {len(table.names)}"
                reading.problems.append(f"{where}: {fact}")
            elif not cells[0]:
                reading.problems.append(f"{where}: has no token in its first column")
            else:
                tokens.append(_token(where, cells, table, layers, reading))
        if tokens and linked is not None:
            found = _linked(tokens, reading)
            keep_tagged(reading, id, [found], [Layer(linked, FORM)], _strata(members))
        elif tokens:
            keep_tagged(reading, id, [tokens], layers, _strata(members))
            notes = [
                note
                for block in members
                for note in (one.replace("\t", " ") for one in block.notes)
                if not (told := _COMMENT.fullmatch(note)) or told[1] != ID
            ]
            reading.notes |= {id: tuple(notes)} if notes else {}
    if linked is not None:
        return (linked,)
    rows = [cells for block in blocks for _, cells in block.rows if len(cells) == len(table.names)]
    return tuple(
        layer for layer in table.layers if any(table.cell(cells, layer) != "_" for cells in rows)
    )


def is_header(line: str) -> bool:
    """Whether a line names the columns of a HIPE table."""
    return line.upper().startswith(f"{TOKEN}\tNE")


def is_hipe(content: bytes) -> bool:
    """Whether a file is a HIPE table: a line before the first tokens names its columns."""
    head = content[: 1 << 16].decode(errors="replace").splitlines()
    first = next((line for line in head if line.strip() and not line.startswith("#")), "")
    return is_header(first)


def _linked(tokens: Sequence[TaggedToken], reading: Reading) -> list[TaggedToken]:
    """The tokens with tags for linked entities alone, as HIPE's scorer sees them.

    Where an entity's tokens have several links the first counts, or the entity is cut there; a
    linked token that no tag marks is an entity by itself. Without a column of tags, neighbours
    with the same link are one entity.
    """
    links = [token.links[0] for token in tokens]
    tags = [token.tags[0] for token in tokens] if tokens[0].tags else None
    parts = [] if tags is None else chunks(tags)
    starts = {chunk.first: chunk.type for chunk in parts}
    inside = {place for chunk in parts for place in range(chunk.first + 1, chunk.end)}
    found: list[TaggedToken] = []
    for place, token in enumerate(tokens):
        other = not place or links[place] != links[place - 1]
        if place in inside and other and not reading.options.split_links:
            fact = f"{quoted(token.text)} has another link than the token before it"
            reading.find("link_changes", token.where, f"{fact}; the entity's first link counts")
        if place in starts:
            tag = Tag("B", starts[place])
        elif place in inside:
            split = other and reading.options.split_links
            tag = Tag("B" if split else "I", found[-1].tags[0].type)
        elif links[place] is None:
            tag = OUTSIDE
        else:
            tag = Tag("B" if tags is not None or other else "I", NO_TYPE)
        found.append(replace(token, tags=(tag,), links=(links[place],)))
    return found


def _header_faults(
    where: str, table: _Table, wanted: Sequence[str] | None, linked: str | None
) -> Iterator[str]:
    if linked is not None:
        if linked not in table.names:
            columns = ", ".join(table.names)
            yield f"{where}: no column is called {quoted(linked)}; there are {columns}"
        return
    there = [name for name in table.names if name.startswith("NE-")]
    if not there:
        yield f"{where}: no column of tags; HIPE's are {', '.join(TAG_COLUMNS)}"
    for layer in wanted or ():
        if layer not in there:
            yield f"{where}: no column is called {quoted(layer)}; there are {', '.join(there)}"


def _scheme(table: _Table, layer: str, blocks: Sequence[Block]) -> str:
    """The scheme of a column's tags: IOB2 unless marks show that it is IOBES or BILOU."""
    found = scheme_of(
        [table.cell(cells, layer) for _, cells in block.rows if len(cells) == len(table.names)]
        for block in blocks
    )
    return FORM if found == "iob1" else found


def _is_note(line: str, width: int) -> bool:
    """Whether a line is a comment; one that begins with # and has all cells is a token.

    Some tools write the words of a comment as cells: `#<tab>document_id<tab>=<tab>a`.
    """
    cells = line.split("\t")
    if not line.startswith("#") or len(cells) == 1:
        return line.startswith("#")
    said = _COMMENT.fullmatch(line.replace("\t", " "))
    return cells[0] == "#" and (len(cells) != width or said is not None)


def _strata(blocks: Sequence[Block]) -> dict[str, str]:
    told = {key: value for block in blocks for key in STRATA if (value := _named(block, key))}
    return dict(sorted(told.items()))


def _token(
    where: str, cells: Sequence[str], table: _Table, layers: Sequence[Layer], reading: Reading
) -> TaggedToken:
    flags = table.cell(cells, MISC).split("|")
    after = "" if NO_SPACE in flags else SENTENCE_END if LINE_END in flags else " "
    only = reading.options.links
    linked = [LINK_COLUMN.get(layer) for layer in table.layers] if only is None else [only]
    word = cells[table.names[TOKEN]]
    if looks_quoted(word):
        word = word[1:-1].replace('""', '"')
        fact = f"{cells[table.names[TOKEN]]} is read as {word}, as a CSV writer quotes it"
        reading.find("quoted_token", where, fact)
    tags = []
    for layer in layers:
        cell = table.cell(cells, layer.name)
        tag = OUTSIDE if cell in UNSET else tag_of(cell, MARKS[layer.form])
        if tag is None:
            reading.problems.append(f"{where}: {layer.name}: {bad_tag(cell, layer.form)}")
        tags.append(tag or OUTSIDE)
    return TaggedToken(
        word,
        after,
        where,
        tuple(tags),
        tuple(links_of(table.cell(cells, column)) for column in linked),
    )


def looks_quoted(cell: str) -> bool:
    """Whether a CSV writer quoted a cell: quotes around it, and one inside written twice."""
    return _QUOTED.fullmatch(cell) is not None


def links_of(cell: str) -> tuple[str, ...] | None:
    """The ids of a cell, the likeliest first; none for NIL, None where nobody said.

    >>> links_of("Q64|NIL"), links_of("NIL0042"), links_of("_")
    (('Q64', 'NIL'), (), None)
    """
    if cell in (*UNSET, "O"):
        return None
    return () if is_nil(cell) else tuple(id for id in cell.split("|") if id)
