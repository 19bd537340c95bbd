"""Markdown documents, their chunks with exact places in the file, and where sentences are."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ragauge.errors import InputRejected

_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|\n[ \t\r]*\n""")
_INITIAL = re.compile(r"(?:^|[\s(])(?:\w\.)*\w\Z")
_SHORTENED = re.compile(
    r"\b(?:dr|mr|mrs|ms|st|prof|sir|no|nr|vol|fig|ca|c|circa|resp|jr|sr|vs|e\.g|i\.e|bijv|o\.a"
    r"|m\.b\.t|d\.w\.z|enz|ir|drs|ing|jhr|blz|p|pp)\Z",
    re.IGNORECASE,
)
_REGNAL = re.compile(r"\b[^\W\d_]\w{3,} [IVX]\Z")
_LOOK_BACK = 16


class Span(NamedTuple):
    """A stretch of text: half-open, in code points."""

    start: int
    end: int


def sentence_spans(text: str, within: Span | None = None) -> Iterator[Span]:
    """The sentences of a text, or of a stretch of it, without the blanks around them.

    A stop after an initial or an abbreviation ends nothing, nor does one before a small letter.

    >>> text = "A pyramid by I. M. Pei. It opened in 1989."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['A pyramid by I. M. Pei.', 'It opened in 1989.']
    """
    begin, end = within or Span(0, len(text))
    for match in _END.finditer(text, begin, end):
        if _ends(text, match, end):
            yield from _filled(text, begin, match.end())
            begin = match.end()
    yield from _filled(text, begin, end)


def _ends(text: str, match: re.Match[str], end: int) -> bool:
    if match[0][0] == "\n":
        return True
    after = text[match.end() : end].lstrip()[:1]
    if after.islower():
        return False
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return match[0][0] != "." or not _goes_on(before)


def _goes_on(before: str) -> bool:
    """Whether the stop after this text belongs to an initial or an abbreviation.

    >>> _goes_on("designed by I"), _goes_on("to meet Dr"), _goes_on("of King Francis I")
    (True, True, False)
    """
    regnal = _REGNAL.search(before)
    if regnal and regnal[0][0].isupper():
        return False
    return bool(_INITIAL.search(before) or _SHORTENED.search(before))


def _filled(text: str, begin: int, end: int) -> Iterator[Span]:
    inside = text[begin:end]
    if inside.strip():
        start = begin + len(inside) - len(inside.lstrip())
        yield Span(start, begin + len(inside.rstrip()))


MOST_WORDS = 200
"""A section of more words is split at the ends of sentences."""
CHUNKER = f"sections:v1:{MOST_WORDS}"
PREAMBLE = "intro"
"""The section of text that stands before the first heading."""
REV = 12
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t\r\n]*\Z")
_FENCE = re.compile(r"[ ]{0,3}(?:```|~~~)")
_FIELD = re.compile(r"(?:[a-z][a-z0-9_-]*:[ \t].*|-{3,}[ \t]*)?\s*\Z")
_WORD = re.compile(r"\S+")
_UNSLUG = re.compile(r"[\W_]+")


class Chunk(Struct, frozen=True):
    """A stretch of a document: `text` is what stands at `start` to `end`, in code points."""

    id: str
    doc_id: str
    section_id: str
    title: str
    start: int
    end: int
    text: str


class Document(Struct, frozen=True):
    """A file as it was read: its title, its revision, and its chunks in order."""

    id: str
    file: str
    """Its path below the folder, with forward slashes."""
    title: str
    rev: str
    text: str
    chunks: tuple[Chunk, ...]


def read_documents(folder: Path) -> tuple[Document, ...]:
    """The Markdown files of a folder and those below it, ordered by id."""
    files = sorted(folder.rglob("*.md"))
    if not files:
        raise InputRejected(f"{folder}: no Markdown file (*.md) there; give a folder of documents")
    documents, problems = [], []
    for file in files:
        try:
            documents.append(document(file.relative_to(folder).as_posix(), file.read_bytes()))
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"{file}: cannot be read as UTF-8 text: {error}")
    if problems:
        raise InputRejected(*problems)
    return tuple(sorted(documents, key=lambda document: document.id))


def document(file: str, content: bytes) -> Document:
    """The document of a file's bytes; line ends and a byte order mark stay where they are."""
    text = content.decode("utf-8")
    id = file.removesuffix(".md")
    title, sections = _sections(text)
    title = title or id.rpartition("/")[2].replace("-", " ")
    chunks = tuple(_chunks(id, title, text, sections))
    return Document(id, file, title, rev_of(content), text, chunks)


def rev_of(content: bytes) -> str:
    """The revision of a file: other bytes, another revision."""
    return hashlib.sha256(content).hexdigest()[:REV]


def _sections(text: str) -> tuple[str, list[tuple[str, Span]]]:
    """The title, and what stands under each heading; fields such as `language: en` are skipped."""
    title, name, begin = "", PREAMBLE, 0
    sections: list[tuple[str, Span]] = []
    opening = True
    for start, line, heading in _lines(text):
        if heading:
            sections.append((name, Span(begin, start)))
            if len(sections) == 1 and heading[1] == "#":
                title = heading[2]
            else:
                name, opening = heading[2], False
            begin = start + len(line)
        elif opening and not text[begin:start].strip() and _FIELD.match(line):
            begin = start + len(line)
    sections.append((name, Span(begin, len(text))))
    return title, sections


def _lines(text: str) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """Each line with its place, and its heading where it is one; code blocks have none."""
    fenced = False
    for match in _LINE.finditer(text):
        line = match[0]
        if _FENCE.match(line):
            fenced = not fenced
        bare = line.removeprefix("\ufeff") if match.start() == 0 else line
        yield match.start(), line, None if fenced else _HEADING.match(bare)


def _chunks(
    doc_id: str, title: str, text: str, sections: Sequence[tuple[str, Span]]
) -> Iterator[Chunk]:
    taken: set[str] = set()
    for name, span in sections:
        pieces = list(_pieces(text, _trimmed(text, span)))
        if not pieces:
            continue
        slug = section_id = _slug(name)
        number = 1
        while section_id in taken:  # by an earlier section of the document
            number += 1
            section_id = f"{slug}-{number}"
        taken.add(section_id)
        for number, (start, end) in enumerate(pieces, 1):
            id = f"{doc_id}#{section_id}" + (f".{number}" if number > 1 else "")
            yield Chunk(id, doc_id, section_id, title, start, end, text[start:end])


def _pieces(text: str, span: Span) -> Iterator[Span]:
    """The span whole, or split where a sentence ends so that no piece has too many words."""
    begin, end, count = span.start, span.start, 0
    for start, stop in _short_spans(text, span):
        words = len(text[start:stop].split())
        if count and count + words > MOST_WORDS:
            yield Span(begin, end)
            begin, count = start, 0
        end, count = stop, count + words
    if count:
        yield Span(begin, end)


def _short_spans(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a span, one that is too long cut between words."""
    for sentence in sentence_spans(text, span):
        words = list(_WORD.finditer(text, sentence.start, sentence.end))
        for first in range(0, len(words), MOST_WORDS):
            part = words[first : first + MOST_WORDS]
            yield Span(part[0].start(), part[-1].end())


def _trimmed(text: str, span: Span) -> Span:
    inside = text[span.start : span.end].removeprefix("\ufeff")
    start = span.end - len(inside.lstrip())
    return Span(start, max(start, span.start + len(text[span.start : span.end].rstrip())))


def _slug(name: str) -> str:
    """
    >>> _slug("Heritage status (UNESCO)"), _slug("…")
    ('heritage-status-unesco', 'section')
    """
    folded = unicodedata.normalize("NFC", name).casefold()
    return _UNSLUG.sub("-", folded).strip("-") or "section"
