"""Entities: how many were found, in their place and of their type, and how many were made up.

Each metric reads what came of one document; counts are summed over documents and then divided
(micro), unless the name says otherwise. Where there is nothing to find and nothing was found,
there is no value: `empty` makes it 1, as GERBIL does, or 0, as seqeval and nervaluate do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import Empty, EntityFacts, Outcomes
from ragauge.contracts.metric import (
    SCALE,
    Absent,
    Metric,
    NotApplicable,
    Row,
    f1_of,
    f1_of_sums,
    metric,
    quotient,
    scaled_mean,
)
from ragauge.metrics.sums import Sums

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

    Finish = Callable[[Array], Array]

COUNTED = ("tp", "fp", "fn")
"""The columns of an F1, and of each type in turn where types are averaged."""
OF_EMPTY: dict[Empty, float] = {"null": np.nan, "gerbil": 1.0, "zero": 0.0}

Getter = Callable[[EntityFacts], Any]
"""A value from the facts: a number for one document, a column for many at once."""
Reason = tuple[Absent, Getter]
"""Why a document has no value, and for which documents."""


class CountRule(Struct, frozen=True):
    """The columns of a metric, and the documents without a value."""

    columns: Getter
    missing: tuple[Reason, ...] = ()
    """The first reason that holds is given."""

    def measure(self, facts: EntityFacts) -> Row | Absent:
        for reason, holds in self.missing:
            if holds(facts):
                return reason
        return Row(tuple(int(count) for count in self.columns(facts)))


def _if_none(reason: str, some: Getter) -> Reason:
    """The reason that there is none of something, unless an option makes the metric 0 or 1."""
    return NotApplicable(reason), lambda facts: (some(facts) == 0) & (facts.empty == "null")


def entity_sums(entry: Metric, counting: CountRule, facts: EntityFacts) -> Sums:
    """A metric's sums for all documents at once, from the columns of their facts."""
    documents = len(facts.answered)
    absent: Counter[Absent] = Counter()
    scored, due = np.ones(documents, dtype=bool), np.ones(documents, dtype=bool)
    for reason, holds in counting.missing:
        here = holds(facts) & scored
        scored &= ~here
        if isinstance(reason, NotApplicable):
            due &= ~here
        if here.any():
            absent[reason] += int(here.sum())
    columns = counting.columns(facts)
    rows = columns if isinstance(columns, np.ndarray) else np.stack(columns, axis=-1)
    rows = rows.astype(np.int64, copy=False)
    if absent:
        rows = rows * scored[:, None]
    return Sums(entry, rows, scored.astype(np.int64), due.astype(np.int64), absent)


def value_of(entry: Metric, sums: Array) -> float | None:
    """A metric's value from summed columns; None if it has none."""
    value = float(entry.finish(sums))
    return None if np.isnan(value) else value


def f1(empty: Empty) -> Finish:
    return lambda sums: f1_of_sums(sums, OF_EMPTY[empty])


def half_f1(empty: Empty) -> Finish:
    """F1 from twice the credit, the gold entities and the predicted ones."""
    return lambda sums: quotient(sums[..., 0], sums[..., 1] + sums[..., 2], OF_EMPTY[empty])


def fraction(empty: Empty) -> Finish:
    """The first column over the second; 0 / 0 is empty only if the third is 0 too."""

    def finish(sums: Array) -> Array:
        alone = np.nan if empty == "null" else 0.0
        without = np.where(sums[..., 2] > 0, alone, OF_EMPTY[empty])
        return quotient(sums[..., 0], sums[..., 1], without)

    return finish


def mean_f1(empty: Empty, *, union: bool = False) -> Finish:
    """The mean F1 of the types that appear in gold, or in either; three columns per type."""

    def finish(sums: Array) -> Array:
        tp, fp, fn = (
            np.asarray(sums[..., place :: len(COUNTED)], dtype=np.float64)
            for place in range(len(COUNTED))
        )
        there = tp + fp + fn > 0 if union else tp + fn > 0
        values = f1_of(tp, fp, fn, 0.0) * there
        any_there = (tp + fp + fn).sum(axis=-1) > 0
        alone = np.nan if empty == "null" else 0.0
        without = np.where(any_there, alone, OF_EMPTY[empty])
        return quotient(values.sum(axis=-1), there.sum(axis=-1), without)

    return finish


NOTHING = "nothing to find and nothing found"
NO_GOLD = "nothing to find"
NO_PREDICTION = "nothing predicted"
NO_TOKENS = "no text to take tokens from"

NAMES = {"strict": "strict", "exact": "exact", "ent_type": "partial"}
"""The name of each schema with full credit in a metric's id."""

Entry = tuple[Metric, CountRule]

of_documents = partial(
    metric, version=1, better="higher", bounds=(0, 1), unit="document", reads="entities"
)

_CORRECT = {
    "strict": "are in their place and of their type",
    "exact": "are in their place, whatever their type",
    "ent_type": "are of their type and share a position with the gold entity",
}
_MORE = {
    "strict": "As conlleval and seqeval count.",
    "exact": "SemEval 2013's `exact`.",
    "ent_type": (
        "SemEval 2013's `ent_type`, HIPE's fuzzy: full credit for one shared position. "
        "SemEval's own half credit is `semeval_partial`."
    ),
}


def _entry(id: str, doc: str, counting: CountRule, **row: Any) -> Entry:
    """A metric with this docstring, and its counts; `row` has the rest of its entry."""

    def measure(facts: EntityFacts) -> Row | Absent:
        return counting.measure(facts)

    measure.__doc__ = doc
    return of_documents(f"entities.{id}", **({"rate": False} | row))(measure), counting


def _outcomes_of(facts: EntityFacts, schema: str) -> Outcomes:
    outcomes: Outcomes = getattr(facts, schema)
    return outcomes


def _nothing_in(schema: str) -> Reason:
    """Neither gold nor prediction has an entity."""
    return _if_none(
        NOTHING,
        lambda facts: _outcomes_of(facts, schema).gold + _outcomes_of(facts, schema).predicted,
    )


def _tp_fp_fn(facts: EntityFacts, *, schema: str) -> tuple[Any, Any, Any]:
    outcomes = _outcomes_of(facts, schema)
    return outcomes.correct, outcomes.wrong, outcomes.lost


def _precision_recall_f1(
    docs: dict[str, str],
    *,
    found: Getter,
    predicted: Getter,
    gold: Getter,
    both: Getter,
    missing: tuple[Reason, ...],
    needs: tuple[str, ...],
    empty: Empty,
    halves: bool = False,
) -> list[Entry]:
    """Precision, recall and F1, from their docstrings by id.

    With `halves` the first column is twice the credit, so that it is an integer.
    """
    (precision, recall, balance), first = docs, "credit" if halves else "tp"
    part: dict[str, Any] = {"needs": needs, "finish": fraction(empty), "rate": not halves}
    return [
        _entry(
            precision,
            docs[precision],
            CountRule(
                lambda facts: (found(facts), predicted(facts), gold(facts)),
                (*missing, _if_none(NO_PREDICTION, predicted)),
            ),
            columns=(first, "predicted", "gold"),
            **part,
        ),
        _entry(
            recall,
            docs[recall],
            CountRule(
                lambda facts: (found(facts), gold(facts), predicted(facts)),
                (*missing, _if_none(NO_GOLD, gold)),
            ),
            columns=(first, "gold", "predicted"),
            **part,
        ),
        _entry(
            balance,
            docs[balance],
            CountRule(both, missing),
            columns=(first, "gold", "predicted") if halves else COUNTED,
            finish=half_f1(empty) if halves else f1(empty),
            needs=needs,
        ),
    ]


def _with_whole_credit(schema: str, empty: Empty) -> list[Entry]:
    name, correct, more = NAMES[schema], _CORRECT[schema], _MORE[schema]
    return _precision_recall_f1(
        {
            f"precision_{name}": (
                f"Predicted entities that {correct}, over predicted entities.\n\n{more}"
            ),
            f"recall_{name}": (
                f"Gold entities with predictions that {correct}, over gold entities.\n\n{more}"
            ),
            f"f1_{name}": (
                f"Balance (F1) of `precision_{name}` and `recall_{name}`, over all documents.\n\n"
                f"Those predictions are right that {correct}. {more}"
            ),
        },
        found=lambda facts: _outcomes_of(facts, schema).correct,
        predicted=lambda facts: _outcomes_of(facts, schema).predicted,
        gold=lambda facts: _outcomes_of(facts, schema).gold,
        both=partial(_tp_fp_fn, schema=schema),
        missing=(_nothing_in(schema),),
        needs=(schema, "empty"),
        empty=empty,
    )


def _with_half_credit(empty: Empty) -> list[Entry]:
    """With SemEval's half credit for a wrong boundary."""

    def credit(facts: EntityFacts) -> Any:
        return 2 * facts.semeval_partial.correct + facts.semeval_partial.partial

    return _precision_recall_f1(
        {
            "precision_semeval_partial": (
                "Credit of the predicted entities, over predicted entities.\n\nSemEval 2013's "
                "`partial`: 1 for the right place, a half for one that overlaps, whatever the type."
            ),
            "recall_semeval_partial": (
                "Credit of the predicted entities, over gold entities.\n\n"
                "The credit is that of `precision_semeval_partial`."
            ),
            "f1_semeval_partial": (
                "Balance (F1) of precision and recall with half credit for a wrong boundary.\n\n"
                "The credit is that of `precision_semeval_partial`."
            ),
        },
        found=credit,
        predicted=lambda facts: 2 * facts.semeval_partial.predicted,
        gold=lambda facts: 2 * facts.semeval_partial.gold,
        both=lambda facts: (
            credit(facts),
            facts.semeval_partial.gold,
            facts.semeval_partial.predicted,
        ),
        missing=(_nothing_in("semeval_partial"),),
        needs=("semeval_partial", "empty"),
        empty=empty,
        halves=True,
    )


def _over_tokens(empty: Empty) -> list[Entry]:
    """Over tokens: a token with two types counts for each."""
    missing = (
        (Absent(NO_TOKENS), lambda facts: np.logical_not(facts.tokenised)),
        _if_none(NOTHING, lambda facts: sum(facts.tokens)),
    )
    needs = ("tokenised", "tokens", "token_types", "empty")
    return [
        *_precision_recall_f1(
            {
                "token_precision": (
                    "Tokens whose predicted type they have in gold, over tokens with a predicted "
                    "type."
                ),
                "token_recall": (
                    "Tokens whose gold type was predicted, over tokens with a gold type."
                ),
                "token_f1": (
                    "Balance (F1) of `token_precision` and `token_recall`, over all documents.\n\n"
                    "A token belongs to an entity if they overlap, and holds a set of types in "
                    "each layer."
                ),
            },
            found=lambda facts: facts.tokens[0],
            predicted=lambda facts: facts.tokens[0] + facts.tokens[1],
            gold=lambda facts: facts.tokens[0] + facts.tokens[2],
            both=lambda facts: facts.tokens,
            missing=missing,
            needs=needs,
            empty=empty,
        ),
        _entry(
            "token_f1_macro",
            "Mean of `token_f1` over the types that appear in gold.",
            CountRule(lambda facts: facts.token_types, missing),
            columns=COUNTED,
            finish=mean_f1(empty),
            needs=needs,
        ),
    ]


def _over_types(schema: str, empty: Empty) -> list[Entry]:
    """F1 averaged over types."""
    name = NAMES[schema]
    field = f"{name}_types"
    by_type = CountRule(lambda facts: getattr(facts, field), (_nothing_in(schema),))
    row: dict[str, Any] = {"needs": (schema, field, "empty"), "columns": COUNTED}
    return [
        _entry(
            f"f1_{name}_macro",
            f"Mean of `f1_{name}` over the types that appear in gold.\n\n"
            "A type that only the predictions have lowers the union's mean, not this one.",
            by_type,
            finish=mean_f1(empty),
            **row,
        ),
        _entry(
            f"f1_{name}_macro_union",
            f"Mean of `f1_{name}` over the types that appear in gold or prediction.\n\n"
            "As seqeval and scikit-learn average.",
            by_type,
            finish=mean_f1(empty, union=True),
            **row,
        ),
    ]


def _over_documents(schema: str, empty: Empty) -> list[Entry]:
    """The mean of the documents' own values; `macro_doc` as the scorer of HIPE averages them."""
    name, of_nothing = NAMES[schema], 1.0 if empty == "gerbil" else 0.0
    no_gold: Reason = (
        NotApplicable(NO_GOLD),
        lambda facts: (
            (_outcomes_of(facts, schema).gold == 0) & (_outcomes_of(facts, schema).predicted > 0)
        ),
    )
    no_prediction: Reason = (
        NotApplicable(NO_PREDICTION),
        lambda facts: (
            (_outcomes_of(facts, schema).predicted == 0) & (_outcomes_of(facts, schema).gold > 0)
        ),
    )

    def mean_of(rate: str, more: str, value: Getter, *missing: Reason) -> Entry:
        def scaled(facts: EntityFacts) -> tuple[Any, Any]:
            whole = np.rint(value(facts) * SCALE).astype(np.int64)
            return whole, np.ones_like(whole)

        return _entry(
            rate,
            f"Mean of the documents' own {more}",
            CountRule(scaled, (_nothing_in(schema), *missing)),
            needs=(schema, "empty"),
            columns=("value", "of"),
            finish=scaled_mean,
        )

    return [
        mean_of(
            f"f1_{name}_doc",
            f"`f1_{name}`.\n\n"
            "Documents with nothing to find and nothing found are left out, and counted.",
            lambda facts: f1_of(
                *_tp_fp_fn(facts, schema=schema), 1.0 if facts.empty == "gerbil" else 0.0
            ),
        ),
        mean_of(
            f"precision_{name}_macro_doc",
            f"`precision_{name}`, HIPE's `macro_doc`.\n\n"
            "Documents without a prediction are left out, and counted.",
            lambda facts: quotient(
                _outcomes_of(facts, schema).correct,
                _outcomes_of(facts, schema).predicted,
                of_nothing,
            ),
            no_prediction,
        ),
        mean_of(
            f"recall_{name}_macro_doc",
            f"`recall_{name}`, HIPE's `macro_doc`.\n\n"
            "Documents without a gold entity are left out, and counted.",
            lambda facts: quotient(
                _outcomes_of(facts, schema).correct, _outcomes_of(facts, schema).gold, of_nothing
            ),
            no_gold,
        ),
        mean_of(
            f"f1_{name}_macro_doc",
            f"`f1_{name}`, HIPE's `macro_doc`.\n\n"
            "Documents without a gold entity, or without a prediction, are left out, and counted; "
            f"`f1_{name}_doc` counts those that lack one of the two as 0.",
            lambda facts: f1_of(*_tp_fp_fn(facts, schema=schema), of_nothing),
            no_gold,
            no_prediction,
        ),
    ]


def _counts(schema: str) -> list[Entry]:
    """Plain counts under a schema: they grow with the set, and have no interval."""
    right = _CORRECT[schema]
    told = {
        "tp": f"Predicted entities that {right}.",
        "fp": f"Predicted entities other than those that {right}.",
        "fn": f"Gold entities without predictions that {right}.",
    }
    return [
        _entry(
            f"{NAMES[schema]}.{name}",
            doc,
            CountRule(partial(_one_count, schema=schema, place=place)),
            needs=(schema,),
            columns=(name,),
            finish=lambda sums: sums[..., 0],
            better="higher" if name == "tp" else "lower",
            bounds=(0, None),
        )
        for place, (name, doc) in enumerate(told.items())
    ]


def _one_count(facts: EntityFacts, *, schema: str, place: int) -> tuple[Any]:
    return (_tp_fp_fn(facts, schema=schema)[place],)


def _of_the_set() -> list[Entry]:
    outside = NotApplicable(NOTHING)
    return [
        _entry(
            "over_prediction",
            "Predicted entities over gold entities: 1 is as many as there are, 2 twice as many.\n\n"
            "It counts, and does not look at what is correct: below 1 a system predicts too few, "
            "which recall shows better. A document without gold entities adds its predictions to "
            "the total; alone it has no value, and neither has a set without gold entities.",
            CountRule(
                lambda facts: (facts.strict.predicted, facts.strict.gold),
                ((outside, lambda facts: facts.strict.predicted + facts.strict.gold == 0),),
            ),
            needs=("strict",),
            columns=("predicted", "gold"),
            finish=lambda sums: quotient(sums[..., 0], sums[..., 1]),
            better="lower",
            bounds=(0, None),
        ),
        _entry(
            "coverage",
            "Gold documents with a prediction record, over gold documents.\n\n"
            "An empty record is one: it says that nothing was found.",
            CountRule(
                lambda facts: (np.multiply(facts.answered, 1), np.ones_like(facts.answered, int))
            ),
            needs=("answered",),
            columns=("yes", "of"),
            finish=lambda sums: quotient(sums[..., 0], sums[..., 1]),
            rate=True,
        ),
    ]


@cache
def entity_metrics(empty: Empty = "null") -> dict[str, Entry]:
    """Every metric of entities by id, with what it counts; `empty` says what 0 / 0 comes to."""
    entries = [entry for schema in NAMES for entry in _with_whole_credit(schema, empty)]
    entries += _with_half_credit(empty)
    averaged = {schema: _over_documents(schema, empty) for schema in ("strict", "ent_type")}
    for schema, (f1_doc, *_) in averaged.items():
        entries += [*_over_types(schema, empty), f1_doc]
    entries += [entry for _, *of_hipe in averaged.values() for entry in of_hipe]
    entries += _over_tokens(empty)
    entries += [entry for schema in NAMES for entry in _counts(schema)]
    return {one.id: (one, counting) for one, counting in (*entries, *_of_the_set())}


METRICS: tuple[Metric, ...] = tuple(made for made, _ in entity_metrics().values())
