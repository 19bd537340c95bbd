"""A metric is a row in a table: a function from a unit to a row of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ragauge.contracts.facts import READ_FROM_PATTERN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    """Integer sums going in, floating values coming out."""

Better = Literal["higher", "lower"]
Unit = Literal["trace", "question", "document", "item", "mention", "query", "answer"]
Reads = Literal[
    "facts", "runs", "audit", "audited_runs", "entities", "labels", "links", "ranking", "answers"
]

SCALE = 1 << 40
"""Values that are not counts travel as round(value * SCALE): integer sums do not care for order."""


class Row(Struct, frozen=True):
    """What a metric found in one unit: integers for its columns, and a reason for a reader."""

    counts: tuple[int, ...]
    reason: str | None = None


class Absent(Struct, frozen=True):
    """This unit should have a value and has none, and why: absent is not zero.

    It counts against the coverage of a gate.
    """

    reason: str


class NotApplicable(Absent, frozen=True):
    """This unit is outside the metric's definition, such as a refusal for precision.

    It is neither scored nor missing.
    """


class Metric(Struct, frozen=True, kw_only=True):
    """One entry of the metric table."""

    id: str
    version: int
    better: Better
    bounds: tuple[float, float | None]
    unit: Unit
    """What is counted, paired and resampled; never split."""
    columns: tuple[str, ...]
    """Sufficient statistics, such as ("tp", "fp", "fn")."""
    reads: Reads = "facts"
    """What `measure` is given: the facts of a trace or a question with its runs, of these what an
    audit says, or a document, an item, a mention or a query of a component's evaluation."""
    needs: frozenset[str]
    """The fields of it that `measure` looks at."""
    measure: Callable[[Any], Row | Absent]
    finish: Callable[[Array], Array]
    """(..., columns) -> (...,): totals, slices and bootstraps alike."""
    rate: bool
    """A share of counted trials, so that a Wilson interval applies."""
    doc: str

    def __call__(self, unit: Any) -> Row | Absent:
        return self.measure(unit)

    @property
    def name(self) -> str:
        """The id without its family: what a gate or a table shows."""
        return self.id.partition(".")[2]

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        return self.explanation.partition("\n\n")[0].replace("\n", " ")

    @property
    def explanation(self) -> str:
        """Its docstring without the examples."""
        return self.doc.partition(">>>")[0].strip()

    @property
    def by_pattern(self) -> bool:
        """Equal patterns give equal rows, so that `measure` is called once a pattern."""
        return self.reads == "facts" and self.needs <= READ_FROM_PATTERN
