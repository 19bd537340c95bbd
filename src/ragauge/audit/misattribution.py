"""Which other document holds words that do not stand in the cited one."""

from __future__ import annotations

import re
from itertools import islice

from msgspec import Struct

from ragauge.audit.offsets import Place
from ragauge.contracts.documents import Documents, FrozenDocument
from ragauge.text.canonical import UNSPACED

TELLING_WORDS = 3
"""Fewer words may stand anywhere: they tell a document only where no other has them."""
UNSPACED_WORD = 2
"""Characters that count as a word in scripts without blanks."""

_UNSPACED = re.compile(f"[{UNSPACED}]")


class Holder(Struct, frozen=True):
    """A document that holds the words, the first by id, and where in it."""

    document: FrozenDocument
    place: Place
    alone: bool
    """No other document holds them."""
    tells: bool
    """The words can be said to come from it: they are many, or stand in no other document."""


def other_holder(words: str, doc_id: str, documents: Documents) -> Holder | None:
    """The first document other than `doc_id` that holds the words; None where none does.

    Few words, such as a name or a year, must be whole words: "art" does not stand in "party".
    """
    telling = _telling(words)
    sought = re.compile(re.escape(words) if telling else _as_whole_words(words))
    found = (
        (document, Place(*match.span()))
        for document in documents.others(doc_id)
        if words in document.text and (match := sought.search(document.text))
    )
    held = list(islice(found, 2))
    if not held:
        return None
    alone = len(held) == 1
    return Holder(*held[0], alone=alone, tells=telling or alone)


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
