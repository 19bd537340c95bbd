"""Judged rankings: what was retrieved for a query, and what ought to have been."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

UNJUDGED = -1
"""The grade of a document nobody judged, in arrays; any negative grade counts as this."""


class Ranking(Struct, frozen=True, kw_only=True):
    """One query: the grades of what was retrieved, in order, and those of all that was judged."""

    retrieved: tuple[int | None, ...]
    """By rank; None where the document was not judged. A negative grade stays as it was given."""
    judged: tuple[int, ...]
    """The grades of every document that was judged for the query, in any order."""
    missing: bool = False
    """The run does not have the query at all."""


class Rankings(Struct, frozen=True, kw_only=True):
    """The grades of many queries, flat: what `Ranking` says of one query, for each of them.

    Query i, in the order of the judgements, has the rows from offsets[i] to offsets[i + 1].
    Grades are whole numbers below 2**31.
    """

    retrieved: Array
    """(rows,): grades in rank order, UNJUDGED where there is none."""
    retrieved_offsets: Array
    """(queries + 1,)"""
    judged: Array
    """(judgements,): the grades of all judged documents, in any order within a query."""
    judged_offsets: Array
    """(queries + 1,)"""
    missing: Array
    """(queries,): the run does not have the query; it has no rows then."""
