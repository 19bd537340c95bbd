"""ΔS: how far a question lies from a text, measured by one embedder.

It says whether two texts look alike to that embedder. It does not say that an answer is right,
or supported by what it cites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.embedder import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

CONTEXT, CHUNK, ANCHOR, DECOY = NAMES = ("context", "chunk", "anchor", "decoy")
PLACES = 6
"""Decimals that are kept: the last bits of a model may differ from machine to machine."""
JOINED_BY = "\n\n"
AT_ONCE = 32
"""Questions whose texts are embedded together."""

NO_QUESTION = "the question has nothing that the embedder reads"
NOTHING_RETRIEVED = "nothing was retrieved"
_ABSENT = {ANCHOR: "the question has no anchor", DECOY: "the question has no decoy"}
_UNREAD = {
    CONTEXT: "the retrieved chunks have nothing that the embedder reads",
    CHUNK: "the retrieved chunks have nothing that the embedder reads",
    ANCHOR: "the anchor has nothing that the embedder reads",
    DECOY: "the decoy has nothing that the embedder reads",
}


class DeltaQuestion(Struct, frozen=True, kw_only=True):
    """A question and the texts it is compared with."""

    question: str
    chunks: Sequence[str] = ()
    """The texts that were retrieved, in their order."""
    anchor: str | None = None
    decoy: str | None = None


class Deltas(Struct, frozen=True, kw_only=True):
    """The known ΔS of a question by name, and the reasons why the others are absent."""

    values: dict[str, float]
    """`context` is the joined chunks; `chunk` is the nearest one; `anchor`; `decoy`."""
    why: dict[str, str]


Progress = Callable[[int], None]
"""Called with the number of questions done since the last call."""


def delta_s(a: Vectors, b: Vectors) -> list[float | None]:
    """1 − cos of each row of `a` with the same row of `b`, clipped to 0 and 1.

    None if a row has no direction: a text without content is neither near nor far.

    >>> rows = np.array([[1, 0], [0.6, 0.8], [0, 0]], dtype=np.float32)
    >>> delta_s(rows, rows[[1, 1, 1]])
    [0.4, 0.0, None]
    """
    first, second = a.astype(np.float64), b.astype(np.float64)
    lengths = np.sqrt((first * first).sum(axis=1) * (second * second).sum(axis=1))
    with np.errstate(all="ignore"):
        distances = np.clip(1 - (first * second).sum(axis=1) / lengths, 0, 1)
    return [round(value, PLACES) if np.isfinite(value) else None for value in distances.tolist()]


def deltas_of(
    questions: Sequence[DeltaQuestion], embedder: Embedder, progress: Progress | None = None
) -> list[Deltas]:
    """The ΔS of each question to its texts, independent of the other questions."""
    found: list[Deltas] = []
    for first in range(0, len(questions), AT_ONCE):
        block = questions[first : first + AT_ONCE]
        found += _block(block, embedder)
        if progress:
            progress(len(block))
    return found


def _block(questions: Sequence[DeltaQuestion], embedder: Embedder) -> Iterator[Deltas]:
    pairs: list[tuple[int, str, str]] = []
    for place, one in enumerate(questions):
        pairs += [(place, CONTEXT, JOINED_BY.join(one.chunks))] if one.chunks else []
        pairs += [(place, CHUNK, chunk) for chunk in one.chunks]
        named = ((ANCHOR, one.anchor), (DECOY, one.decoy))
        pairs += [(place, name, text) for name, text in named if text is not None]
    asking = [questions[place].question for place, _, _ in pairs]
    compared = [text for _, _, text in pairs]
    rows = {text: row for row, text in enumerate(dict.fromkeys([*asking, *compared]))}
    vectors = embedder.embed(list(rows))
    distances = delta_s(
        vectors[[rows[text] for text in asking]],
        vectors[[rows[text] for text in compared]],
    )
    measured: list[dict[str, list[float]]] = [{} for _ in questions]
    for (place, name, _), value in zip(pairs, distances, strict=True):
        measured[place].setdefault(name, []).extend([] if value is None else [value])
    for one, values in zip(questions, measured, strict=True):
        readable = bool(vectors[rows[one.question]].any()) if values else True
        # The lowest of several values counts: one near chunk is enough.
        known = {name: min(values[name]) for name in NAMES if values.get(name)}
        why = {}
        for name in NAMES:
            if name not in values:
                why[name] = _ABSENT.get(name, NOTHING_RETRIEVED)
            elif name not in known:
                why[name] = _UNREAD[name] if readable else NO_QUESTION
        yield Deltas(values=known, why=why)
