"""What can be turned on the reference pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ragauge.contracts.system import CallFailed
from ragauge.demo.evidence import THRESHOLD
from ragauge.models.embedders import NAMES as EMBEDDERS


class Knobs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the pipeline; a request's `knobs` override them one by one."""

    top_k: Annotated[int, Meta(ge=1, le=100)] = 5
    knee: bool = True
    """Cut the ranking at its largest relative drop."""
    rerank: bool = True
    pool: Annotated[int, Meta(ge=1, le=1000)] = 40
    """Chunks that each of the two searches brings."""
    embedder: str = "ngram"
    threshold: Annotated[float, Meta(ge=0, le=1)] = THRESHOLD
    """The share of a question's words that its evidence has to cover."""
    constraints: tuple[str, ...] = ()
    """Locked sentences that come with the question and have to be echoed."""
    faults: tuple[str, ...] = ()
    """Ways to go wrong on purpose, such as `wrong_citations=0.3`."""
    delay_ms: Annotated[int, Meta(ge=0, le=60_000)] = 250
    """How long the fault `slow` waits."""
    put_in: tuple[str, ...] = ()
    """Ids of chunks that are shown first, whatever was retrieved, besides the `top_k`."""
    take_out: tuple[str, ...] = ()
    """Ids of chunks that are never shown; nothing takes their place."""


NAMES = Knobs.__struct_fields__


def turned(knobs: Knobs, by: Mapping[str, Any]) -> Knobs:
    """The knobs as a request turns them; raises CallFailed, kind `bad_request`.

    A request may ask for another embedder by name, but not make the pipeline read a path.
    """
    if not by:
        return knobs
    unknown = sorted(set(by) - set(NAMES))
    if unknown:
        fact = f"no knob {', '.join(map(repr, unknown))}; there are {', '.join(NAMES)}"
        raise CallFailed("bad_request", fact)
    if by.get("embedder", knobs.embedder) not in (*EMBEDDERS, knobs.embedder):
        raise CallFailed("bad_request", f"knob embedder: one of {', '.join(EMBEDDERS)}")
    try:
        return msgspec.convert({**msgspec.to_builtins(knobs), **by}, Knobs)
    except msgspec.ValidationError as error:
        raise CallFailed("bad_request", f"knobs: {error}") from None
