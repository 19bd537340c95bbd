"""What a replay changes about the chunks that are shown: some put in, some taken out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from ragauge.demo.index import Index
from ragauge.demo.knobs import Knobs
from ragauge.demo.retrieve import Candidate, Search, in_front, numbered
from ragauge.errors import UsageError


def intervened(
    found: Sequence[Candidate], search: Search, knobs: Knobs, index: Index
) -> Sequence[Candidate]:
    """The chunks that are shown: those put in, then `top_k` of the others that were found.

    Whatever else was found stays as it was, so that the change is the only one.
    """
    rest = _without(found, {*knobs.put_in, *knobs.take_out})[: search.top_k]
    chunks = [index.chunks[index.numbers[id]] for id in dict.fromkeys(knobs.put_in)]
    return in_front(chunks, rest, search)


def _without(found: Sequence[Candidate], ids: Collection[str]) -> Sequence[Candidate]:
    """The others; the places that are free are closed up."""
    gone = [one.k_pos for one in found if one.chunk.id in ids]
    if not gone:
        return found
    kept = [
        msgspec.structs.replace(one, k_pos=one.k_pos - sum(place < one.k_pos for place in gone))
        for one in found
        if one.chunk.id not in ids
    ]
    return numbered(kept)


def refuse_impossible(knobs: Knobs, index: Index) -> None:
    """Raise UsageError where a chunk that is nowhere is put in, or one is both put in and out."""
    unknown = [id for id in dict.fromkeys(knobs.put_in) if id not in index.numbers]
    both = [id for id in dict.fromkeys(knobs.put_in) if id in knobs.take_out]
    problems = []
    if unknown:
        fact = f"no chunk {', '.join(map(repr, unknown))}"
        problems.append(f'knob put_in: {fact}; ids are such as "{index.chunks[0].id}"')
    if both:
        named = ", ".join(map(repr, both))
        problems.append(f"knob take_out: {named} also in put_in; leave it in one of the two")
    if problems:
        raise UsageError(*problems)
