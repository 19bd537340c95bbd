"""Pairs of sections that one segment may cite together, as a user writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import expected, kind, quoted
from ragauge.ingest.lines import STDIN, read_whole
from ragauge.ingest.strict_json import BadJson, decode

ALL = "all"
OPTION = "--allow-cross-section"
SHOWN = 100
"""Problems that are spelled out; the rest are counted."""
_PAIR = '["keys", "handbook#access"]'

Written = Iterator[tuple[str, Any]]
"""The members of each pair, as they are written, with their place."""


def read_section_pairs(text: str) -> frozenset[frozenset[str]] | None:
    """The pairs that a text gives, or the file it names; None for `all`, which allows any.

    A member is a section's id, or `doc_id#section_id` where one document's is meant. Raises
    UsageError with all that is wrong.

    >>> sorted(map(sorted, read_section_pairs("keys+access, handbook#keys + faq#keys")))
    [['access', 'keys'], ['faq#keys', 'handbook#keys']]
    """
    if text.strip() == ALL:
        return None
    pairs: set[frozenset[str]] = set()
    problems: list[str] = []
    for place, members in _written(text):
        fault = _fault(members)
        if fault:
            problems.append(f"{place}: {fault}")
        else:
            pairs.add(frozenset(member.strip() for member in members))
    if problems:
        raise UsageError(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))
    if not pairs:
        place = text if text.strip() else OPTION
        raise UsageError(f"{place}: holds no pair; write two sections a line, or a+b,c+d")
    return frozenset(pairs)


def _written(text: str) -> Written:
    if text.lstrip()[:1] == "[":
        return _array(OPTION, text.encode("utf-8", "replace"))
    if "+" in text and not _is_file(text):
        return _joined(text)
    return _of_file(text) if text.strip() else iter(())


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _joined(text: str) -> Written:
    for number, pair in enumerate(text.split(","), 1):
        yield f"{OPTION}: pair {number}", pair.split("+")


def _of_file(name: str) -> Written:
    if name != STDIN and not Path(name).exists():
        raise UsageError(f"{OPTION}: {name}: no such file, and no pair; pairs are written a+b,c+d")
    try:
        content = read_whole(name)
    except InputRejected as rejected:
        raise UsageError(*rejected.problems) from None
    return (_array if content.lstrip()[:1] == b"[" else _lines)(name, content)


def _array(name: str, content: bytes) -> Written:
    try:
        pairs = decode(content)
    except BadJson as fault:
        raise UsageError(f"{name}: {fault}") from None
    for number, pair in enumerate(pairs, 1):
        yield f"{name}: item {number}", pair


def _lines(name: str, content: bytes) -> Written:
    """A pair a line, with a tab or a comma between; a line that begins with # is a remark."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        fact = f"not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        raise UsageError(f"{name}: {fact}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{name}:{number}", line.split("\t" if "\t" in line.strip() else ",")


def _fault(members: Any) -> str | None:
    """What is wrong with a pair; None where nothing is."""
    if type(members) is not list:
        return expected(f"two sections such as {_PAIR}", members)
    if len(members) != 2:
        named = "1 section" if len(members) == 1 else f"{len(members)} sections"
        return f"{named}; a pair has two, so write one for each two that go together"
    for member in members:
        if type(member) is not str:
            return f"a section is named by text, not by {kind(member)}; write its id"
        if not member.strip():
            return "a section has no name; write its id, or doc_id#section_id"
    one, other = (member.strip() for member in members)
    if one == other:
        return f"{quoted(one)} twice; name two sections, of two documents as doc_id#section_id"
    return None
