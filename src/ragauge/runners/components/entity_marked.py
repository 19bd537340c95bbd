"""Documents with the entities that one side of an evaluation marked in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import EntityColumns, Fragment
from ragauge.contracts.finding import Finding

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


class Marked(Struct, frozen=True, kw_only=True):
    """Documents with the entities that one side marked in them, in the order given."""

    columns: EntityColumns
    texts: Sequence[str | None]
    tokens: Sequence[Sequence[Fragment] | None]
    strata: Sequence[Mapping[str, Any]]
    where: Callable[[int], str]
    """The place of a document, for whoever must mend it."""
    surface: Callable[[int], str | None]
    """The surface that was given with an entity, by its row."""
    layers: Sequence[str]
    """Those that were annotated, with or without entities."""
    findings: Sequence[Finding] = ()
    in_tokens: frozenset[str] = frozenset()
    """Documents whose start and end counted tokens."""
    unplaced: frozenset[str] = frozenset()
    """Documents whose start and end count tokens that this side does not have."""
    unnamed: bool = False
    """The documents have no ids of their own: they are numbered in their order."""

    @property
    def ids(self) -> Sequence[str]:
        return self.columns.documents


def repeated_entities(
    columns: EntityColumns, kept: Array, where: Callable[[int], str]
) -> list[Finding]:
    """A finding for each entity that is not kept, because one stands before that is the same."""
    findings = []
    for row in np.setdiff1d(np.arange(len(columns.doc)), kept, assume_unique=True).tolist():
        place = f"{columns.start[row]}–{columns.end[row]}"
        fact = f"{columns.types[columns.type[row]]} is marked twice at {place}; it counts once"
        findings.append(Finding("repeated_entity", where(row), fact))
    return findings
