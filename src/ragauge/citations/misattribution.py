"""Which other document holds words that do not stand in the cited one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from weakref import WeakKeyDictionary

from msgspec import Struct

from ragauge.citations.offsets import Place
from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.text.canonical import UNSPACED
from ragauge.text.recent import Recent

TELLING_WORDS = 3
"""Fewer words may stand anywhere: they tell a document only where no other has them."""
UNSPACED_WORD = 2
"""Characters that count as a word in scripts without blanks."""
KEPT_CHARS = 1 << 24
"""Characters of the words that were searched for, and of the documents that hold them."""
ENTRY_CHARS = 256
"""What remembering a search takes besides them."""

_UNSPACED = re.compile(f"[{UNSPACED}]")


class Holder(Struct, frozen=True):
    """A document that holds the words, the first by id, and where in it."""

    document: FrozenDocument
    place: Place
    alone: bool
    """No other document holds them."""
    tells: bool
    """The words can be said to come from it: they are many, or stand in no other document."""


class Search(Struct, frozen=True):
    """What came of looking for words in the other documents."""

    holder: Holder | None
    searched: int
    """Documents that were looked into; all that can be read, where none holds the words."""
    whole_words: bool
    """Only whole words counted."""


_SEARCHES: WeakKeyDictionary[Documents, Recent[tuple[str, str], Search]] = WeakKeyDictionary()


def other_holder(words: str, doc_id: str, documents: Documents) -> Search:
    """The first document other than `doc_id` that holds the words, if any does.

    Few words, such as a name or a year, must be whole words: "art" does not stand in "party".
    What was found is remembered, because the documents are frozen: a stale snippet recurs.
    """
    searches = _searches_of(documents)
    search = searches.get((doc_id, words))
    if search is None:
        search = _search(words, doc_id, documents)
        held = len(search.holder.document.text) if search.holder else 0
        searches.keep((doc_id, words), search, chars=ENTRY_CHARS + len(words) + held)
    return search


def _searches_of(documents: Documents) -> Recent[tuple[str, str], Search]:
    try:
        return _SEARCHES.setdefault(documents, Recent(KEPT_CHARS))
    except TypeError:  # no hash, or no weak reference to it: nothing to remember it by
        return Recent(KEPT_CHARS)


def _search(words: str, doc_id: str, documents: Documents) -> Search:
    telling, searched = _telling(words), 0
    pattern = None if telling else re.compile(_as_whole_words(words))

    def holding() -> Iterator[tuple[FrozenDocument, Place]]:
        nonlocal searched
        for document in documents.others(doc_id):
            searched += 1
            at = document.text.find(words)
            if at >= 0 and pattern is not None:
                match = pattern.search(document.text, at)
                at = match.start() if match else -1
            if at >= 0:
                yield document, Place(at, at + len(words))

    held = list(islice(holding(), 2))
    alone = len(held) == 1
    holder = Holder(*held[0], alone=alone, tells=telling or alone) if held else None
    return Search(holder, searched, not telling)


def _telling(words: str) -> bool:
    unspaced = len(_UNSPACED.findall(words))
    spaced = len(_UNSPACED.sub(" ", words).split())
    return spaced + unspaced // UNSPACED_WORD >= TELLING_WORDS


def _as_whole_words(words: str) -> str:
    """The pattern of words that are no part of longer ones, in scripts that part them."""
    before = r"(?<!\w)" if _parted(words[0]) else ""
    after = r"(?!\w)" if _parted(words[-1]) else ""
    return f"{before}{re.escape(words)}{after}"


def _parted(character: str) -> bool:
    return character.isalnum() and not _UNSPACED.match(character)
