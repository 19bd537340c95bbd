"""A call to the pipeline, as far as its retrieval has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.system import Ask
from ragauge.demo.faults import Faults
from ragauge.demo.index import Index
from ragauge.demo.knobs import Knobs
from ragauge.demo.passages import Passage
from ragauge.demo.retrieve import Candidate

Answer = dict[str, Any]
"""What a generator gives: claim, citations, constraints_echo, and segments where it knows them."""


class Call(Struct, frozen=True, kw_only=True):
    """A call after its retrieval."""

    ask: Ask
    knobs: Knobs
    faults: Faults
    index: Index
    shown: Sequence[Candidate]
    noise: frozenset[str]
    """Ids of chunks that the fault `noise_injected` chose; not all of them need be shown."""
    retrieve_ms: float

    @property
    def passages(self) -> list[Passage]:
        """The chunks that are shown, read."""
        return [self.index.passages[self.index.numbers[one.chunk.id]] for one in self.shown]
