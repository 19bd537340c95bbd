"""Entities: how many were found, in their place and of their type, and how many were made up.

Each metric reads what came of one document; counts are summed over documents and then divided
(micro), unless the name says otherwise. Where there is nothing to find and nothing was found,
there is no value: `empty` makes it 1, as GERBIL does, or 0, as seqeval and nervaluate do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ragauge.contracts.entities import Empty, EntityFacts, Met
from ragauge.contracts.metric import SCALE, Absent, Metric, NotApplicable
from ragauge.metrics.declare import f1_of, quotient, scaled_mean
from ragauge.metrics.entity_counting import (
    COUNTED,
    Counting,
    Reason,
    f1,
    half_f1,
    mean_f1,
    none_of,
    share,
)
from ragauge.metrics.entity_entries import (
    NAMES,
    NO_GOLD,
    NO_PREDICTION,
    NO_TOKENS,
    NOTHING,
    Entry,
    entry,
    met_of,
    nothing_in,
    precision_and_recall,
)

_RIGHT = {
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


def _shares(schema: str, empty: Empty) -> list[Entry]:
    """Precision, recall and F1 under a schema with whole credit."""
    name, right, more = NAMES[schema], _RIGHT[schema], _MORE[schema]
    row: dict[str, Any] = {"needs": (schema, "empty")}
    precision, recall = precision_and_recall(
        lambda facts: met_of(facts, schema).correct,
        lambda facts: met_of(facts, schema).predicted,
        lambda facts: met_of(facts, schema).gold,
        (nothing_in(schema),),
    )
    both = Counting(partial(_tp_fp_fn, schema=schema), (nothing_in(schema),))
    part: dict[str, Any] = row | {"finish": share(empty), "rate": True}
    return [
        entry(
            f"precision_{name}",
            f"Predicted entities that {right}, over predicted entities.\n\n{more}",
            precision,
            columns=("tp", "predicted", "gold"),
            **part,
        ),
        entry(
            f"recall_{name}",
            f"Gold entities with predictions that {right}, over gold entities.\n\n{more}",
            recall,
            columns=("tp", "gold", "predicted"),
            **part,
        ),
        entry(
            f"f1_{name}",
            f"Balance (F1) of `precision_{name}` and `recall_{name}`, over all documents.\n\n"
            f"Those predictions are right that {right}. {more}",
            both,
            columns=COUNTED,
            finish=f1(empty),
            **row,
        ),
    ]


def _tp_fp_fn(facts: EntityFacts, *, schema: str) -> tuple[Any, Any, Any]:
    met = met_of(facts, schema)
    return met.correct, met.wrong, met.lost


def _halves(empty: Empty) -> list[Entry]:
    """Precision, recall and F1 with SemEval's half credit for a wrong boundary."""
    row: dict[str, Any] = {"needs": ("semeval_partial", "empty")}
    nothing = (nothing_in("semeval_partial"),)
    precision, recall = precision_and_recall(
        _credit,
        lambda facts: 2 * facts.semeval_partial.predicted,
        lambda facts: 2 * facts.semeval_partial.gold,
        nothing,
    )
    both = Counting(
        lambda facts: (_credit(facts), facts.semeval_partial.gold, facts.semeval_partial.predicted),
        nothing,
    )
    return [
        entry(
            "precision_semeval_partial",
            "Credit of the predicted entities, over predicted entities.\n\nSemEval 2013's "
            "`partial`: 1 for the right place, a half for one that overlaps, whatever the type.",
            precision,
            columns=("credit", "predicted", "gold"),
            finish=share(empty),
            **row,
        ),
        entry(
            "recall_semeval_partial",
            "Credit of the predicted entities, over gold entities.\n\n"
            "The credit is that of `precision_semeval_partial`.",
            recall,
            columns=("credit", "gold", "predicted"),
            finish=share(empty),
            **row,
        ),
        entry(
            "f1_semeval_partial",
            "Balance (F1) of precision and recall with half credit for a wrong boundary.\n\n"
            "The credit is that of `precision_semeval_partial`.",
            both,
            columns=("credit", "gold", "predicted"),
            finish=half_f1(empty),
            **row,
        ),
    ]


def _credit(facts: EntityFacts) -> Any:
    """Twice the credit, to stay with whole numbers."""
    return 2 * facts.semeval_partial.correct + facts.semeval_partial.partial


def _averages(schema: str, empty: Empty) -> list[Entry]:
    """F1 averaged over types, and over documents."""
    name = NAMES[schema]
    field = f"{name}_types"
    by_type = Counting(lambda facts: getattr(facts, field), (nothing_in(schema),))
    row: dict[str, Any] = {"needs": (schema, field, "empty"), "columns": COUNTED}
    return [
        entry(
            f"f1_{name}_macro",
            f"Mean of `f1_{name}` over the types that stand in gold.\n\n"
            "A type that only the predictions have lowers the union's mean, not this one.",
            by_type,
            finish=mean_f1(empty),
            **row,
        ),
        entry(
            f"f1_{name}_macro_union",
            f"Mean of `f1_{name}` over the types that stand in gold or prediction.\n\n"
            "As seqeval and scikit-learn average.",
            by_type,
            finish=mean_f1(empty, union=True),
            **row,
        ),
        entry(
            f"f1_{name}_doc",
            f"Mean of the documents' own `f1_{name}`.\n\n"
            "Documents with nothing to find and nothing found are left out, and counted.",
            Counting(partial(_document_f1, schema=schema), (nothing_in(schema),)),
            needs=(schema, "empty"),
            columns=("value", "of"),
            finish=scaled_mean,
        ),
    ]


def _macro_doc(schema: str, empty: Empty) -> list[Entry]:
    """Precision, recall and F1 averaged over documents as the scorer of HIPE averages them."""
    name, of_nothing = NAMES[schema], 1.0 if empty == "gerbil" else 0.0
    rates: dict[str, tuple[str, Callable[[Met], Any], tuple[Reason, ...]]] = {
        "precision": (
            "Documents without a prediction are left out, and counted.",
            lambda met: quotient(met.correct, met.predicted, of_nothing),
            (_without(schema, NO_PREDICTION),),
        ),
        "recall": (
            "Documents without a gold entity are left out, and counted.",
            lambda met: quotient(met.correct, met.gold, of_nothing),
            (_without(schema, NO_GOLD),),
        ),
        "f1": (
            f"Documents without a gold entity, or without a prediction, are left out, and counted; "
            f"`f1_{name}_doc` counts those that lack one of the two as 0.",
            lambda met: f1_of(met.correct, met.wrong, met.lost, of_nothing),
            (_without(schema, NO_GOLD), _without(schema, NO_PREDICTION)),
        ),
    }
    return [
        entry(
            f"{rate}_{name}_macro_doc",
            f"Mean of the documents' own `{rate}_{name}`, HIPE's `macro_doc`.\n\n{more}",
            Counting(partial(_scaled, schema=schema, of=of), (nothing_in(schema), *missing)),
            needs=(schema, "empty"),
            columns=("value", "of"),
            finish=scaled_mean,
        )
        for rate, (more, of, missing) in rates.items()
    ]


def _without(schema: str, reason: str) -> Reason:
    """One side has no entity, and the other has some."""

    def alone(facts: EntityFacts) -> Any:
        met = met_of(facts, schema)
        lacking, other = (met.gold, met.predicted)[:: 1 if reason == NO_GOLD else -1]
        return (lacking == 0) & (other > 0)

    return NotApplicable(reason), alone


def _scaled(facts: EntityFacts, *, schema: str, of: Callable[[Met], Any]) -> tuple[Any, Any]:
    scaled = np.rint(of(met_of(facts, schema)) * SCALE).astype(np.int64)
    return scaled, np.ones_like(scaled)


def _document_f1(facts: EntityFacts, *, schema: str) -> tuple[Any, Any]:
    value = f1_of(*_tp_fp_fn(facts, schema=schema), 1.0 if facts.empty == "gerbil" else 0.0)
    scaled = np.rint(value * SCALE).astype(np.int64)
    return scaled, np.ones_like(scaled)


def _over_tokens(empty: Empty) -> list[Entry]:
    """Precision, recall and F1 of tokens: one that holds two types counts for each."""
    besides = (
        (Absent(NO_TOKENS), lambda facts: np.logical_not(facts.tokenised)),
        none_of(NOTHING, lambda facts: sum(facts.tokens)),
    )
    precision, recall = precision_and_recall(
        lambda facts: facts.tokens[0],
        lambda facts: facts.tokens[0] + facts.tokens[1],
        lambda facts: facts.tokens[0] + facts.tokens[2],
        besides,
    )
    row: dict[str, Any] = {"needs": ("tokenised", "tokens", "token_types", "empty")}
    part: dict[str, Any] = row | {"finish": share(empty), "rate": True}
    return [
        entry(
            "token_precision",
            "Tokens whose predicted type they have in gold, over tokens with a predicted type.",
            precision,
            columns=("tp", "predicted", "gold"),
            **part,
        ),
        entry(
            "token_recall",
            "Tokens whose gold type was predicted, over tokens with a gold type.",
            recall,
            columns=("tp", "gold", "predicted"),
            **part,
        ),
        entry(
            "token_f1",
            "Balance (F1) of `token_precision` and `token_recall`, over all documents.\n\n"
            "A token belongs to an entity if they overlap, and holds a set of types in each layer.",
            Counting(lambda facts: facts.tokens, besides),
            columns=COUNTED,
            finish=f1(empty),
            **row,
        ),
        entry(
            "token_f1_macro",
            "Mean of `token_f1` over the types that stand in gold.",
            Counting(lambda facts: facts.token_types, besides),
            columns=COUNTED,
            finish=mean_f1(empty),
            **row,
        ),
    ]


def _counts(schema: str) -> list[Entry]:
    """Plain counts under a schema: they grow with the set, and have no interval."""
    right = _RIGHT[schema]
    told: dict[str, tuple[str, Callable[[Met], Any]]] = {
        "tp": (f"Predicted entities that {right}.", lambda met: met.correct),
        "fp": (f"Predicted entities other than those that {right}.", lambda met: met.wrong),
        "fn": (f"Gold entities without predictions that {right}.", lambda met: met.lost),
    }
    return [
        entry(
            f"{NAMES[schema]}.{name}",
            doc,
            Counting(partial(_one_count, schema=schema, of=of)),
            needs=(schema,),
            columns=(name,),
            finish=lambda sums: sums[..., 0],
            better="higher" if name == "tp" else "lower",
            bounds=(0, None),
        )
        for name, (doc, of) in told.items()
    ]


def _one_count(facts: EntityFacts, *, schema: str, of: Callable[[Met], Any]) -> tuple[Any]:
    return (of(met_of(facts, schema)),)


def _over_prediction() -> Entry:
    outside = NotApplicable(NOTHING)
    return entry(
        "over_prediction",
        "Predicted entities over gold entities: 1 is as many as there are, 2 twice as many.\n\n"
        "It counts, and does not look at what is correct: below 1 a system predicts too few, which "
        "recall shows better. A document without gold entities adds its predictions to the total; "
        "alone it has no value, and neither has a set without gold entities.",
        Counting(
            lambda facts: (facts.strict.predicted, facts.strict.gold),
            ((outside, lambda facts: facts.strict.predicted + facts.strict.gold == 0),),
        ),
        needs=("strict",),
        columns=("predicted", "gold"),
        finish=lambda sums: quotient(sums[..., 0], sums[..., 1], np.nan),
        better="lower",
        bounds=(0, None),
    )


def _coverage() -> Entry:
    return entry(
        "coverage",
        "Gold documents with a prediction record, over gold documents.\n\n"
        "An empty record is one: it says that nothing was found.",
        Counting(lambda facts: (np.multiply(facts.answered, 1), np.ones_like(facts.answered, int))),
        needs=("answered",),
        columns=("yes", "of"),
        finish=lambda sums: quotient(sums[..., 0], sums[..., 1], np.nan),
        rate=True,
    )


@cache
def entity_metrics(empty: Empty = "null") -> dict[str, Entry]:
    """Every metric of entities by id, with what it counts; `empty` says what 0 / 0 comes to."""
    entries = [
        *(made for schema in NAMES for made in _shares(schema, empty)),
        *_halves(empty),
        *(made for schema in ("strict", "ent_type") for made in _averages(schema, empty)),
        *(made for schema in ("strict", "ent_type") for made in _macro_doc(schema, empty)),
        *_over_tokens(empty),
        *(made for schema in NAMES for made in _counts(schema)),
        _over_prediction(),
        _coverage(),
    ]
    return {one.id: (one, counting) for one, counting in entries}


METRICS: tuple[Metric, ...] = tuple(made for made, _ in entity_metrics().values())
