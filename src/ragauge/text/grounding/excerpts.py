"""Some of the contexts, as if there were no others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from ragauge.text.grounding.passages import INNER_CAPITAL, PREFIX, Line, Passages
from ragauge.text.grounding.records import record_of


def excerpt(whole: Passages, kept: Sequence[int]) -> Passages:
    """The chosen contexts, equal to `Passages` of them alone in the language of the whole.

    Their words are not read again: only what stands where in them is put together anew, which
    takes a tenth of the time. Names such as OutdoorSeating leave no trace of their chunk, so that
    contexts with such a name are read again.
    """
    chunks = [whole.chunks[chunk] for chunk in kept]
    if any(INNER_CAPITAL.search(chunk.text) for chunk in chunks):
        return Passages(chunks, whole.question, whole.language)
    part = Passages((), whole.question, whole.language)
    part.chunks, part.language = chunks, whole.language
    for place, chunk in enumerate(kept):
        for line in _lines_of(whole, chunk):
            _add(part, line._replace(chunk=place))
    part.prefixes = {stem[:PREFIX] for stem in part.where if len(stem) >= PREFIX}
    if whole.record is not None:
        part.record = record_of([chunk.text for chunk in chunks])
    return part


def _lines_of(whole: Passages, chunk: int) -> list[Line]:
    """The lines of a context; those of all stand in the contexts' order."""
    first, past = (
        bisect_left(whole.lines, place, key=attrgetter("chunk")) for place in (chunk, chunk + 1)
    )
    return whole.lines[first:past]


def _add(part: Passages, line: Line) -> None:
    place = len(part.lines)
    part.lines.append(line)
    for stem in dict.fromkeys(line.stems):
        part.where.setdefault(stem, []).append(place)
    part.bigrams.update(pairwise(line.stems))
