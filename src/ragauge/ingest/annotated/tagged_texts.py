"""Tokens with tags, a line each: made into a text with the entities that the tags mark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.entities import AnnotatedText, Entity, Fragment
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.annotated.tags import Tag, broken, chunks, strict_part
from ragauge.ingest.annotated.token_texts import laid

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


def keep_tagged(
    reading: Reading,
    id: str,
    sentences: Sequence[Sentence],
    layers: Sequence[Layer],
    strata: dict[str, Any] | None = None,
) -> None:
    """Add a document made of tokens, with the entities that each layer's tags mark."""
    text, tokens = laid(_in_line(sentences))
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


def _in_line(sentences: Sequence[Sentence]) -> Iterator[tuple[str, str]]:
    for sentence in sentences:
        last = len(sentence) - 1
        for place, token in enumerate(sentence):
            yield token.text, SENTENCE_END if place == last else token.after


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
