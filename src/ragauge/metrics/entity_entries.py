"""Entries of the table of metrics of entities: how each is made."""

from __future__ import annotations

from functools import partial
from typing import Any

from ragauge.contracts.entities import EntityFacts, Met
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.metrics.declare import metric
from ragauge.metrics.entity_counting import Counting, Read, Reason, none_of

NOTHING = "nothing to find and nothing found"
NO_GOLD = "nothing to find"
NO_PREDICTION = "nothing predicted"
NO_TOKENS = "no text to take tokens from"

NAMES = {"strict": "strict", "exact": "exact", "ent_type": "partial"}
"""What each schema with whole credit is called in a metric's id."""

Entry = tuple[Metric, Counting]

of_documents = partial(
    metric, version=1, better="higher", bounds=(0, 1), unit="document", reads="entities"
)


def entry(id: str, doc: str, counting: Counting, **row: Any) -> Entry:
    """A metric with this docstring, and what it counts; `row` is the rest of its entry."""

    def measure(facts: EntityFacts) -> Row | Absent:
        return counting.measure(facts)

    measure.__doc__ = doc
    return of_documents(f"entities.{id}", **({"rate": False} | row))(measure), counting


def precision_and_recall(
    found: Read, predicted: Read, gold: Read, besides: tuple[Reason, ...]
) -> tuple[Counting, Counting]:
    """What is found over what was predicted, and over gold, each with the other side beside it."""
    return (
        Counting(
            lambda facts: (found(facts), predicted(facts), gold(facts)),
            (*besides, none_of(NO_PREDICTION, predicted)),
        ),
        Counting(
            lambda facts: (found(facts), gold(facts), predicted(facts)),
            (*besides, none_of(NO_GOLD, gold)),
        ),
    )


def met_of(facts: EntityFacts, schema: str) -> Met:
    """What a schema makes of the facts."""
    met: Met = getattr(facts, schema)
    return met


def nothing_in(schema: str) -> Reason:
    """Neither gold nor prediction has an entity."""
    return none_of(
        NOTHING, lambda facts: met_of(facts, schema).gold + met_of(facts, schema).predicted
    )
