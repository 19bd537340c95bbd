"""A metric: a function from a unit, such as the facts of a trace, to a row of integers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from math import nan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ragauge.contracts.gold import Gold, Refusal
from ragauge.contracts.trace import Trace

Status = Literal["ok", "error", "missing"]


class Facts(Struct, frozen=True, gc=False):
    """One question and its answer. None always means "cannot be said", never "no".

    The fields of the pattern come first, so that facts can be made from it by position.
    """

    answerable: bool
    status: Status = "ok"
    refusal: Refusal = "none"
    answered: bool | None = None
    """Not a refusal; None where there was no answer at all."""
    cited_count: int = 0
    cited_in_scope: int | None = None
    """How many of the cited ids were retrieved; None where the retrieved ids are unknown."""
    hit: bool | None = None
    """Some gold id is cited; None without gold ids or without an answer."""
    contained: bool | None = None
    """The claim holds a gold phrase; None without phrases or without an answer."""
    gold_found: bool | None = None
    """Some gold id was retrieved, at any rank."""
    gold_depth: int | None = None
    """How many of the first retrieved ids hold all the gold ids; 0 when they never do."""

    citable: bool = True
    """The gold set names ids to cite; without them a hit can never be told."""
    constrained: bool = False
    """The gold set locks constraints that an answer has to repeat."""
    echoed: bool | None = None
    """The answer repeats exactly the locked constraints; None without them or without an answer."""

    gold: Gold | None = None
    trace: Trace | None = None
    claim: str = ""
    cited: tuple[str, ...] = ()

    @property
    def in_scope(self) -> bool | None:
        """`cited ids ⊆ retrieved ids`, where an answer was given and retrieved ids are known."""
        if not self.answered or self.cited_in_scope is None:
            return None
        return self.cited_in_scope == self.cited_count

    @property
    def compliant(self) -> bool:
        """The answer has the promised form: a citation list, or a refusal that counts as one."""
        if self.answered is False:
            return True
        return self.status == "ok" and self.refusal != "near" and self.cited_count > 0


PATTERN = (
    "answerable",
    "status",
    "refusal",
    "answered",
    "cited_count",
    "cited_in_scope",
    "hit",
    "contained",
    "gold_found",
    "gold_depth",
    "citable",
    "constrained",
    "echoed",
)
"""The fields with few values. A metric that reads only these, or the properties that follow from
them, gives the same row for the same pattern: a million traces cost it a few hundred calls."""

READ_FROM_PATTERN = frozenset({*PATTERN, "in_scope", "compliant"})

Pattern = tuple[Any, ...]

pattern_of: Callable[[Facts], Pattern] = attrgetter(*PATTERN)


def pattern_facts(pattern: Pattern) -> Facts:
    """Facts that have this pattern, and nothing else."""
    return Facts(*pattern)


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


DIGITS = 12
"""What of a value is whole after it travelled as a whole number: SCALE has 40 bits."""


def ratio(sums: Array) -> Array:
    """The first column over the second: a share, once the columns are summed.

    0 / 0 is NaN without a warning; whoever reads the value says why it is absent.
    """
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(sums[..., 0], sums[..., 1])


def metric(
    id: str,
    *,
    version: int,
    better: Better,
    bounds: tuple[float, float | None],
    unit: Unit,
    needs: Iterable[str],
    reads: Reads = "facts",
    columns: tuple[str, ...] = ("yes", "of"),
    finish: Callable[[Array], Array] = ratio,
    rate: bool | None = None,
) -> Callable[[Callable[[Any], Row | Absent]], Metric]:
    """Makes a function of one unit's facts an entry of the metric table.

    `rate` says that a unit's columns count trials, such as (0 or 1, 1), so that a Wilson interval
    applies; it is assumed of the default columns.
    """

    def made(measure: Callable[[Any], Row | Absent]) -> Metric:
        return Metric(
            id=id,
            version=version,
            better=better,
            bounds=bounds,
            unit=unit,
            columns=columns,
            reads=reads,
            needs=frozenset(needs),
            measure=measure,
            finish=finish,
            rate=columns == ("yes", "of") if rate is None else rate,
            doc=inspect.cleandoc(measure.__doc__ or ""),
        )

    return made


def value_row(value: float, reason: str | None = None) -> Row:
    """A unit's value as the columns `value` and `of`, of which `scaled_mean` takes the mean."""
    return Row((round(value * SCALE), 1), reason)


def scaled_mean(sums: Array) -> Array:
    """The mean of values that travelled as whole numbers, without the digits lost on the way.

    >>> import numpy as np
    >>> float(scaled_mean(np.array([round(0.4 * SCALE), 1])))
    0.4
    """
    import numpy as np

    rounded: Array = np.round(ratio(sums) / SCALE, DIGITS)
    return rounded


def quotient(part: Any, whole: Any, empty: Any = nan) -> Array:
    """Part over whole, and what that is where the whole is zero."""
    import numpy as np

    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    found = np.empty(whole.shape)
    found[...] = empty
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def f1_of(tp: Any, fp: Any, fn: Any, empty: float = nan) -> Array:
    """F1 from counts, and what it is where all of them are zero.

    >>> float(f1_of(1, 1, 0)), float(f1_of(0, 0, 0))
    (0.6666666666666666, nan)
    """
    return quotient(2 * tp, 2 * tp + fp + fn, empty)


def f1_of_sums(sums: Array, empty: float = nan) -> Array:
    """The same from summed columns: true positives, false positives, false negatives."""
    return f1_of(sums[..., 0], sums[..., 1], sums[..., 2], empty)
