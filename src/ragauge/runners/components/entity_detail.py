"""What a report on entities has of its own: schemas, levels, layers, types and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragauge.contracts.entities import SCHEMAS, Empty, EntityFacts, Met, Schema
from ragauge.contracts.evaluation import LevelScore, MatchCounts, TokenCounts, TypeShare
from ragauge.metrics.entities import f1, half_f1, share
from ragauge.metrics.entity_kernel import (
    Both,
    Judged,
    counted,
    judged,
    pair_columns,
    place_keys,
    repeats,
)
from ragauge.runners.components.entity_join import Joined, relabelled, renamed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragauge.contracts.entities import Matching
    from ragauge.contracts.metric import Array

    Rates = tuple[float | None, float | None, float | None]

SEPARATOR = "."
"""What parts a type into levels: GRP.HER.MUS has three."""


def cut(type: str, level: int) -> str:
    """
    >>> cut("GRP.HER.MUS", 2)
    'GRP.HER'
    """
    return SEPARATOR.join(type.split(SEPARATOR)[:level])


def depth(types: Sequence[str]) -> int:
    """How many parts the longest type has."""
    return max((type.count(SEPARATOR) + 1 for type in types), default=1)


def rates(tp: int, predicted: int, gold: int, empty: Empty, *, credit: int = 1) -> Rates:
    """Precision, recall and F1; None where there is none. `credit` is what a whole one counts."""
    both = f1(empty) if credit == 1 else half_f1(empty)
    f1_columns = (tp, predicted - tp, gold - tp) if credit == 1 else (tp, predicted, gold)
    return (
        _number(share(empty), tp, credit * predicted, gold),
        _number(share(empty), tp, credit * gold, predicted),
        _number(both, *f1_columns),
    )


def _number(finish: Callable[[Array], Array], *columns: int) -> float | None:
    value = float(finish(np.array(columns, dtype=np.int64)))
    return None if np.isnan(value) else value


def match_counts(met: Met, schema: Schema, empty: Empty) -> MatchCounts:
    """The counts of a schema over all documents, with what follows from them."""
    whole = Met(*(int(np.sum(getattr(met, name))) for name in Met.__struct_fields__))
    half = schema == "semeval_partial"
    credit = 2 * whole.correct + whole.partial if half else whole.correct
    told = rates(credit, whole.predicted, whole.gold, empty, credit=2 if half else 1)
    return MatchCounts(
        correct=whole.correct,
        incorrect=whole.incorrect,
        partial=whole.partial,
        missed=whole.missed,
        spurious=whole.spurious,
        precision=told[0],
        recall=told[1],
        f1=told[2],
    )


def schema_counts(facts: EntityFacts) -> dict[str, MatchCounts]:
    return {schema: match_counts(getattr(facts, schema), schema, facts.empty) for schema in SCHEMAS}


def layer_counts(
    both: Both, verdicts: dict[Schema, Judged], empty: Empty
) -> dict[str, dict[str, MatchCounts]]:
    """The schemas of each layer; nothing where there is one."""
    layers = both.gold.layers
    if len(layers) < 2:
        return {}
    met = {
        schema: counted(verdict, schema, both.gold.layer, both.predicted.layer, len(layers))
        for schema, verdict in verdicts.items()
    }
    return {
        layer: {
            schema: match_counts(
                Met(*(getattr(met[schema], name)[place] for name in Met.__struct_fields__)),
                schema,
                empty,
            )
            for schema in SCHEMAS
        }
        for place, layer in enumerate(layers)
    }


def level_scores(
    found: Joined,
    verdicts: dict[Schema, Judged],
    matching: Matching,
    min_overlap: float | None,
    empty: Empty,
) -> tuple[LevelScore, ...]:
    """The scores with types cut to one part, two, and so on; nothing where all have one.

    `verdicts` are those of the whole types.
    """
    deepest = depth(found.both.gold.types)
    if deepest < 2:
        return ()
    scores = []
    sides = (found.both.gold, found.both.predicted)
    crowded = any(repeats(*place_keys(side, typed=False)) for side in sides)
    for level in range(1, deepest):
        name = partial(cut, level=level)
        both = relabelled(found, name).both if crowded else renamed(found.both, name)
        cut_verdicts = judged(both, pair_columns(both, matching, min_overlap))
        scores.append(_level_score(level, both, cut_verdicts, empty))
    return (*scores, _level_score(deepest, found.both, verdicts, empty))


def _level_score(
    level: int, both: Both, verdicts: dict[Schema, Judged], empty: Empty
) -> LevelScore:
    right = [int(verdicts[schema].right.sum()) for schema in ("strict", "ent_type")]
    sizes = len(both.predicted.doc), len(both.gold.doc)
    strict, fuzzy = (rates(tp, *sizes, empty)[2] for tp in right)
    return LevelScore(level=level, types=both.types, f1_strict=strict, f1_partial=fuzzy)


def _by_type(columns: Array) -> Array:
    """(types, 3): tp, fp and fn of each type, over all documents."""
    summed: Array = np.asarray(columns).sum(axis=0).reshape(-1, 3)
    return summed


def per_type(
    facts: EntityFacts, types: Sequence[str], declared: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Counts and rates of each type, and of those declared that nobody used.

    A prediction of another type than the gold entity's is a false positive of its own type and a
    false negative of the gold one's.
    """
    rows = zip(types, _by_type(facts.strict_types), _by_type(facts.partial_types), strict=True)
    known = {type: _type_row(strict, fuzzy, facts.empty) for type, strict, fuzzy in rows}
    unused = _type_row(np.zeros(3, dtype=int), np.zeros(3, dtype=int), facts.empty)
    return {type: known.get(type, unused) for type in sorted({*types, *declared})}


def _type_row(strict: Array, fuzzy: Array, empty: Empty) -> dict[str, float | None]:
    tp, fp, fn = strict.tolist()
    found = int(fuzzy[0])
    predicted, gold = tp + fp, tp + fn
    told = rates(tp, predicted, gold, empty), rates(found, predicted, gold, empty)
    names = ("precision", "recall", "f1")
    return {
        **{f"{name}_strict": value for name, value in zip(names, told[0], strict=True)},
        "tp": tp,
        "fp": fp,
        "fn": fn,
        **{f"{name}_partial": value for name, value in zip(names, told[1], strict=True)},
        "gold": gold,
        "predicted": predicted,
        "over_prediction": predicted / gold if gold else None,
    }


def token_counts(tp: int, fp: int, fn: int, empty: Empty) -> TokenCounts:
    precision, recall, both = rates(tp, tp + fp, tp + fn, empty)
    return TokenCounts(tp=tp, fp=fp, fn=fn, precision=precision, recall=recall, f1=both)


def token_totals(facts: EntityFacts) -> TokenCounts:
    """Tokens over all documents and types; no rate where no document has tokens."""
    tp, fp, fn = (int(np.sum(column)) for column in facts.tokens)
    if not np.any(facts.tokenised):
        return TokenCounts(tp=0, fp=0, fn=0, precision=None, recall=None, f1=None)
    return token_counts(tp, fp, fn, facts.empty)


def token_types_of(facts: EntityFacts, types: Sequence[str]) -> dict[str, TokenCounts]:
    """Tokens of each type; nothing where no document has tokens."""
    if not np.any(facts.tokenised):
        return {}
    rows = zip(types, _by_type(facts.token_types).tolist(), strict=True)
    return {type: token_counts(tp, fp, fn, facts.empty) for type, (tp, fp, fn) in rows}


def distribution(both: Both) -> dict[str, TypeShare]:
    """How often each type is marked and predicted."""
    gold, predicted = (
        np.bincount(side.type, minlength=both.types).tolist()
        for side in (both.gold, both.predicted)
    )
    return {
        type: TypeShare(gold=marked, predicted=found, ratio=found / marked if marked else None)
        for type, marked, found in zip(both.gold.types, gold, predicted, strict=True)
    }
