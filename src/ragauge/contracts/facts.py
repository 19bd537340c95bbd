"""Facts: what one trace says about its question, parsed once and read by every metric."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.gold import Gold
from ragauge.contracts.refusal import Refusal
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
