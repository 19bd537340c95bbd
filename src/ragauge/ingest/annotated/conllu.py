"""CoNLL-U with entities in its last column: as tags, or in the brackets of CorefUD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity, Fragment
from ragauge.ingest.annotated.entity_reading import Given, Reading, surface_at
from ragauge.ingest.annotated.tagged_texts import (
    MARKS,
    OUTSIDE,
    SENTENCE_END,
    Layer,
    TaggedToken,
    bad_tag,
    blocks_of,
    documents_of,
    laid,
    marked,
    numbered_lines,
    places_in,
    scheme_of,
    tag_of,
)
from ragauge.ingest.fields import quoted

COLUMNS = 10
NER_KEYS = ("NER", "NE", "Entity")
"""Keys of the last column that may hold a tag; there is no standard."""
WORD = re.compile(r"\d+(?:-\d+|\.\d+)?")
_COMMENT = re.compile(r"#\s*(newdoc id|sent_id|text|global\.Entity)\s*=\s*(.*)")


class _Word(Struct, frozen=True):
    """A word that may be tagged, and which of the sentence's tokens it stands in."""

    where: str
    ner: str
    token: int


class _Sentence(Struct):
    """A sentence while its lines are read."""

    where: str = ""
    id: str | None = None
    document: str | None = None
    text: str | None = None
    tokens: list[tuple[str, str]] = field(default_factory=list)
    """What stands in the text: a multiword token as one, its words not."""
    words: list[_Word] = field(default_factory=list)
    inside: int = 0
    """The last word of the multiword token that is being read."""
    tagged_whole: bool = False
    """Whether that token has a tag of its own, for its words have none then."""


def read_conllu(name: str, content: bytes, reading: Reading) -> None:
    """Read the documents of a CoNLL-U file."""
    lines = list(numbered_lines(name, content, reading.problems))
    if not lines:
        return
    sentences, fields = _sentences(lines, reading)
    values = [[word.ner for word in sentence.words] for sentence in sentences]
    if not any(value for row in values for value in row):
        fact = f"no word has {' or '.join(f'{key}=' for key in NER_KEYS)} in its last column"
        remedy = f"where nothing is an entity, write {NER_KEYS[0]}=O"
        reading.problems.append(f"{name}: {fact}; {remedy}")
        return
    form = scheme_of(values)
    reading.unnamed = all(one.document is None and one.id is None for one in sentences)
    for id, members in documents_of([(one.document, one.id, one) for one in sentences]):
        text = ""
        tokens: list[Fragment] = []
        given: list[Given] = []
        for sentence in members:
            line, places = _laid(sentence, reading)
            start = len(text) + len(SENTENCE_END) if text else 0
            text = f"{text}{SENTENCE_END}{line}" if text else line
            here = [(start + a, start + b) for a, b in places]
            tokens += here
            given += _entities(sentence, text, here, form, fields, reading)
        where = members[0].where
        reading.keep(AnnotatedText(id=id, text=text, tokens=tuple(tokens), where=where), given)


def _sentences(
    lines: Sequence[tuple[str, str]], reading: Reading
) -> tuple[list[_Sentence], tuple[str, ...]]:
    """The sentences of a file, and what it says the parts of a bracket are."""
    found: list[_Sentence] = []
    fields = FIELDS
    for block in blocks_of(lines, _is_note):
        sentence = _Sentence()
        for comment in filter(None, map(_COMMENT.fullmatch, block.notes)):
            if comment[1] == "global.Entity":
                fields = tuple(comment[2].split("-"))
            elif comment[1] == "newdoc id":
                sentence.document = comment[2].strip()
            elif comment[1] == "sent_id":
                sentence.id = comment[2].strip()
            else:
                sentence.text = comment[2]
        for where, cells in block.rows:
            _add_line(where, cells, sentence, reading)
        if sentence.tokens:
            found.append(sentence)
    return found, fields


def _is_note(line: str) -> bool:
    return line.startswith("#") and line.count("\t") != COLUMNS - 1


def _add_line(where: str, cells: list[str], sentence: _Sentence, reading: Reading) -> None:
    """Take up a word, a multiword token (1-2) or an empty node (1.1), which no text has."""
    if len(cells) != COLUMNS or not WORD.fullmatch(cells[0]):
        fact = f"has {len(cells)} columns and begins with {quoted(cells[0])}"
        remedy = f"; a word has {COLUMNS}, parted by tabs, and begins with its number"
        reading.problems.append(f"{where}: {fact}{remedy}")
        return
    parts = (part.partition("=") for part in cells[-1].split("|"))
    misc = {key: value for key, equals, value in parts if equals}
    id, form = cells[:2]
    ner = next((misc[key] for key in NER_KEYS if key in misc), "")
    sentence.where = sentence.where or where
    if "." in id:
        if ner not in ("", "O", "_"):
            reading.find("tag_without_text", where, f"empty node {id} has {quoted(ner)}; left out")
        return
    first, _, last = id.partition("-")
    after = "" if misc.get("SpaceAfter") == "No" else " "
    if last:
        sentence.inside, sentence.tagged_whole = int(last), bool(ner)
    if last or int(first) > sentence.inside:
        sentence.tokens.append((form, after))
    if (last and not ner) or (not last and int(first) <= sentence.inside and sentence.tagged_whole):
        return
    sentence.words.append(_Word(where, ner, len(sentence.tokens) - 1))


def _laid(sentence: _Sentence, reading: Reading) -> tuple[str, tuple[Fragment, ...]]:
    """A sentence's text and the places of its tokens; what `# text` says is held against them."""
    made, places = laid(sentence.tokens)
    if sentence.text is None or sentence.text == made:
        return made, places
    found, amiss = places_in(sentence.text, [token for token, _ in sentence.tokens])
    taken = "; # text is taken" if found else "; the text is made of the tokens"
    fact = amiss or f"SpaceAfter=No makes {quoted(made)}, # text is {quoted(sentence.text)}"
    reading.find("tokens_differ_from_text", sentence.where, fact + taken)
    return (made, places) if found is None else (sentence.text, found)


def _entities(
    sentence: _Sentence,
    text: str,
    here: Sequence[Fragment],
    form: str,
    fields: Sequence[str],
    reading: Reading,
) -> Iterator[Given]:
    """The entities that tags or brackets mark in a sentence whose tokens are at `here`."""
    words = sentence.words
    places = [here[word.token] for word in words]
    if any(word.ner.startswith("(") or word.ner.endswith(")") for word in words):
        found, faults = bracketed([word.ner for word in words], fields)
        reading.problems += [f"{words[0].where}: {fault}" for fault in faults]
        for one in found:
            parts = tuple((places[first][0], places[end - 1][1]) for first, end in one.runs)
            entity = Entity(
                start=parts[0][0],
                end=parts[-1][1],
                type=one.type,
                text=surface_at(text, parts),
                fragments=parts if len(parts) > 1 else (),
            )
            yield Given(entity, words[one.runs[0][0]].where)
        return
    tagged = []
    for word, (start, end) in zip(words, places, strict=True):
        tag = OUTSIDE if word.ner in ("", "_") else tag_of(word.ner, MARKS[form])
        if tag is None:
            reading.problems.append(f"{word.where}: {bad_tag(word.ner, form)}")
        tagged.append(TaggedToken(text[start:end], "", word.where, (tag or OUTSIDE,)))
    yield from marked(reading, text, tagged, places, 0, Layer(ONE_LAYER, form))


FIELDS = ("eid", "etype")
"""The parts of an opening bracket where the file does not name them."""
IDS = ("eid", "GRP")
_BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<single>\))?|(?P<closed>[^()]+)\)")
_PART = re.compile(r"(?P<id>.*)\[(?P<part>\d+)/(?P<of>\d+)\]")


class Bracketed(Struct, frozen=True):
    """An entity as runs of words, half-open; several where it is discontinuous."""

    type: str
    runs: tuple[tuple[int, int], ...]


def bracketed(
    values: Sequence[str], fields: Sequence[str] = FIELDS
) -> tuple[list[Bracketed], list[str]]:
    """The entities that brackets mark in the words of a sentence, and what is wrong with them.

    >>> bracketed(["(e1-person", "e1)", "(e2-place)"])[0]
    [Bracketed(type='person', runs=((0, 2),)), Bracketed(type='place', runs=((2, 3),))]
    """
    opened: list[tuple[str, str, int]] = []
    parts: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    found: list[Bracketed] = []
    faults: list[str] = []
    for place, value in enumerate(values):
        for bracket in _BRACKET.finditer(value):
            if bracket["opened"]:
                named = dict(zip(fields, bracket["opened"].split("-"), strict=False))
                id = next((named[name] for name in IDS if name in named), bracket["opened"])
                opened.append((id, named.get("etype") or "_", place))
            id = bracket["closed"] or (opened[-1][0] if bracket["single"] else "")
            if not id:
                continue
            at = next((n for n in reversed(range(len(opened))) if opened[n][0] == id), None)
            if at is None:
                faults.append(f"{id}) closes what no bracket opened")
                continue
            _, kind, first = opened.pop(at)
            run, part = (first, place + 1), _PART.fullmatch(id)
            if not part:
                found.append(Bracketed(kind, (run,)))
                continue
            # `e1[1/2]` waits for `e1[2/2]`
            first_kind, runs = parts.setdefault(part["id"], (kind, []))
            runs.append(run)
            if len(runs) == int(part["of"]):
                found.append(Bracketed(first_kind, tuple(sorted(runs))))
                del parts[part["id"]]
    faults += [f"({id} is not closed in its sentence" for id, _, _ in opened]
    return found, faults
