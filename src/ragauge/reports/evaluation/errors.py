"""The errors of an evaluation as a reader goes through them: by kind, each in its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from ragauge.reports import envelope
from ragauge.reports.evaluation.spans import Piece
from ragauge.reports.evaluation.tables import Cell, Table, tally


class ToldError(Struct, frozen=True, kw_only=True):
    """One error: what happened where, and the text with its marks."""

    kind: str
    name: str
    """The document or the mention."""
    facts: tuple[tuple[str, str], ...]
    """Such as the gold type and the predicted one; the texts are not ours."""
    pieces: tuple[Piece, ...]
    type: str
    """What it can be filtered by, besides its kind; empty where there is nothing."""
    where: str


def kind_word(kind: str) -> str:
    """
    >>> kind_word("should_be_nil")
    'should be NIL'
    """
    return kind.replace("_", " ").replace("nil", "NIL")


class Browser(Struct, frozen=True, kw_only=True):
    """All errors that are kept, with their counts."""

    title: str = "Errors"
    kinds: Mapping[str, str]
    """The kinds in a reader's order, and what each is."""
    counts: Mapping[str, int]
    """Of every kind, also of the errors that are not kept."""
    errors: Sequence[ToldError]
    predicted: bool
    """Whether predicted spans are marked, besides gold ones."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def kinds_seen(self) -> list[str]:
        return [kind for kind in self.kinds if self.counts.get(kind)]

    @property
    def key(self) -> str:
        """How the brackets are explained."""
        return "[gold] {predicted}" if self.predicted else "[mention]"

    def some(self, most: int, each: int | None = None) -> list[tuple[str, list[ToldError]]]:
        """At most so many errors, some of each kind, and no more than `each` of one."""
        groups = [[one for one in self.errors if one.kind == kind][:each] for kind in self.kinds]
        kept = envelope.some_of_each(groups, most)
        return [(kind, list(some)) for kind, some in groupby(kept, key=lambda one: one.kind)]

    def table(self) -> Table:
        """How many errors there are of each kind."""
        seen = self.kinds_seen()
        times = [(Cell(kind_word(kind)), self.counts[kind]) for kind in seen]
        notes = [self.kinds[kind] for kind in seen]
        return tally(self.title, ("kind", "errors", "share"), times, notes=notes)
