"""Texts with the entities marked in them: as records, and as columns for many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

Fragment = tuple[int, int]
"""A stretch of a text, half-open, in characters."""
ONE_LAYER = ""
"""The layer of an entity whose file knows no layers."""


class Entity(Struct, frozen=True, kw_only=True):
    """An entity in a text: its place, half-open, and its type."""

    start: int
    end: int
    type: str
    text: str | None = None
    """The surface the file gives, where it does; readers have checked that it stands there."""
    layer: str = ONE_LAYER
    """Entities are only matched within a layer, such as HIPE's literal and metonymic readings."""
    fragments: tuple[Fragment, ...] = ()
    """The parts of a discontinuous entity, in order; empty where it is of one piece."""
    links: tuple[str, ...] | None = None
    """Ids in knowledge bases: empty where it is known to be in none, None where nobody said."""
    id: str | None = None

    @property
    def parts(self) -> tuple[Fragment, ...]:
        return self.fragments or ((self.start, self.end),)


class AnnotatedText(Struct, frozen=True, kw_only=True):
    """One document with its entities."""

    id: str
    text: str | None = None
    """None where the file has only places."""
    tokens: tuple[Fragment, ...] | None = None
    """Where each token stands, where the file has tokens."""
    entities: tuple[Entity, ...] = ()
    strata: dict[str, Any] = {}
    where: str
    """The place in a file, for whoever must mend it."""


class EntityColumns(Struct, frozen=True, kw_only=True):
    """The entities of many documents, a row each, sorted by document."""

    documents: Sequence[str]
    doc: Array
    """(entities,): places in `documents`."""
    start: Array
    end: Array
    type: Array
    """(entities,): places in `types`."""
    types: Sequence[str]
    layer: Array
    """(entities,): places in `layers`."""
    layers: Sequence[str]
    fragments: dict[int, tuple[Fragment, ...]] = {}
    """By row, the parts of those that are discontinuous."""


Schema = Literal["strict", "exact", "semeval_partial", "ent_type"]
SCHEMAS: tuple[Schema, ...] = ("strict", "exact", "semeval_partial", "ent_type")
"""The four ways of SemEval 2013 to count a pair; `ent_type` is the headline's "partial"."""
Matching = Literal["best", "hipe", "nervaluate"]
MATCHINGS: tuple[Matching, ...] = ("best", "hipe", "nervaluate")
Empty = Literal["null", "gerbil", "zero"]
"""What nothing to find and nothing found comes to: no value, 1 or 0."""
TokenRule = Literal["overlap", "brief"]
"""A token belongs to an entity if they overlap, or only if its first character is inside."""


class Outcomes(Struct, frozen=True):
    """How gold entities and predicted ones met under one schema.

    Counts of one document, or columns with a count for each of many.
    """

    correct: Any
    incorrect: Any
    partial: Any
    missed: Any
    spurious: Any

    @property
    def gold(self) -> Any:
        return self.correct + self.incorrect + self.partial + self.missed

    @property
    def predicted(self) -> Any:
        return self.correct + self.incorrect + self.partial + self.spurious

    @property
    def wrong(self) -> Any:
        """Predictions that are not quite right: the false positives."""
        return self.incorrect + self.partial + self.spurious

    @property
    def lost(self) -> Any:
        """Gold entities that were not quite found: the false negatives."""
        return self.incorrect + self.partial + self.missed


class EntityFacts(Struct, frozen=True, kw_only=True):
    """What came of one document; or, with a column for each count, of many at once.

    Of a type, a wrong prediction is charged to the predicted type and a lost entity to its own,
    as conlleval and seqeval do: a pair of two types is a false positive of one and a false
    negative of the other.
    """

    answered: Any
    """Whether there is a prediction record at all."""
    strict: Outcomes
    exact: Outcomes
    semeval_partial: Outcomes
    ent_type: Outcomes
    strict_types: Any
    """tp, fp and fn of each type in turn, in the order of the types' names."""
    partial_types: Any
    """The same under `ent_type`."""
    tokenised: Any
    """Whether tokens are known; without them token metrics are absent."""
    tokens: tuple[Any, Any, Any]
    """tp, fp and fn over tokens, each as often as it holds types."""
    token_types: Any
    """The same of each type in turn."""
    empty: Empty = "null"
