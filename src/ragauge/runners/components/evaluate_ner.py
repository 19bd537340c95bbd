"""The evaluation of entities: joined by document, matched within it, scored in four schemas."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from ragauge.contracts.entities import (
    SCHEMAS,
    Empty,
    EntityColumns,
    EntityFacts,
    Outcomes,
    Schema,
)
from ragauge.contracts.evaluation import (
    ERRORS_KEPT,
    EntityDetail,
    EntityError,
    EvalReport,
    LevelScore,
    MatchCounts,
    ShownSpan,
    TokenCounts,
    TypeShare,
)
from ragauge.contracts.opt import takes
from ragauge.contracts.options import NerOptions
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Outcome
from ragauge.ingest.annotated.entity_reading import SCHEMES, ReadingOptions
from ragauge.ingest.annotated.entity_records import ANNOTATED
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.records import columns_for
from ragauge.metrics.entities import entity_metrics, entity_sums, f1, fraction, half_f1, value_of
from ragauge.metrics.entity_kernel import (
    AlignedColumns,
    SchemaPairs,
    column_facts,
    correct_pairs,
    count_outcomes,
    has_duplicates,
    pair_columns,
    place_keys,
    rows_at,
    same_place,
    token_columns,
    token_types,
)
from ragauge.metrics.sums import Sums
from ragauge.runners.components.entity_join import (
    NOBODY,
    Joined,
    aligned,
    by_order,
    in_characters,
    join_findings,
    joined,
    relabelled,
    renamed,
)
from ragauge.runners.components.entity_sides import Marked, marked
from ragauge.runners.components.evaluation import Evaluated, first_ids, outcome_of, strata_of
from ragauge.runners.components.options import refuse_bad, rules_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragauge.contracts.metric import Array
    from ragauge.runners.components.entity_sides import Source

    Rates = dict[str, float | None]
    Verdicts = dict[Schema, SchemaPairs]


HEADLINES = (
    *("entities.f1_strict", "entities.f1_partial", "entities.precision_strict"),
    *("entities.recall_strict", "entities.token_f1"),
)
SEPARATOR = "."
"""What separates the levels of a type: GRP.HER.MUS has three."""
LIKE = 0.6
"""How much of two names must be the same for one to be meant by the other."""
CONTEXT = 40
"""Characters of the text that are shown on either side."""
Kind = Literal["boundary", "type", "boundary_and_type", "missed", "spurious"]
KINDS: tuple[Kind, ...] = ("boundary", "type", "boundary_and_type", "missed", "spurious")


@takes(NerOptions, "eval ner")
def evaluate_ner(
    gold: Source,
    predicted: Source,
    *,
    documents: Sequence[str] | None = None,
    columns: Columns | None = None,
    options: NerOptions,
) -> Outcome[EvalReport]:
    """The report on predicted entities: four schemas, types, levels, layers, tokens and errors.

    Each side is a file, a folder, a sequence of records, columns, or a polars frame with doc,
    start, end, type and perhaps layer; `documents` are then the ids of all that were looked at,
    since one without entities has no row. Documents are joined by id, and entities matched only
    within a document and layer; ends are exclusive. A report has its documents sorted by id.
    `columns` says for fields where the predictions have them, for `gold.FIELD` where gold does.
    """
    rules_for("ner", options)
    problems: list[str] = []
    found = _read(gold, predicted, options, documents, problems, columns)
    own = [found.gold.strata[place] for place in found.gold_place.tolist()]
    strata = strata_of(found.units, own, options)
    refuse_bad(problems, len(found.gold.ids) + len(found.predicted.ids), options)
    findings = Findings()
    join_findings(found, findings)
    if not found.answered.any() and found.units and found.predicted.ids:
        ids = first_ids(found.units), first_ids(found.predicted.ids)
        fact = f"gold has {ids[0]}, the predictions {ids[1]}; give a document the same id in both"
        findings.add(Finding("no_document_in_common", "documents", fact))
    layers = sorted({*found.gold.layers})
    if options.layer is None and len(layers) > 1:
        fact = f"the numbers are over {len(layers)} layers: {', '.join(map(quoted, layers))}"
        findings.add(Finding("layers_pooled", "gold", f"{fact}; choose one with --layer"))
    scored = _with_types(found, options, findings)
    _note_types(scored, options.types, findings)
    verdicts, facts = _counted(scored, options)
    errors = _errors_of(scored, verdicts["ent_type"])
    signed = {
        "matching": options.matching,
        "min_overlap": options.min_overlap,
        "level": options.level,
        "layer": options.layer,
        "empty": None if options.empty == "null" else options.empty,
        "tokens": None if options.token_rule == "overlap" else options.token_rule,
    }
    # Everything was found as it is and nothing else; never so without a record.
    faultless = (facts.strict.wrong == 0) & (facts.strict.lost == 0) & facts.answered
    return outcome_of(
        Evaluated(
            task="ner",
            units=scored.units,
            sums=_sums(facts),
            headlines=HEADLINES,
            strata=strata,
            right=list(faultless.tolist()),
            per_type=_per_type(facts, scored.both.gold.types, options.types),
            detail=_detail(scored, verdicts, facts, errors, options),
            findings=findings,
            coverage={
                "documents": len(scored.units),
                "scored": int(scored.answered.sum()),
                "missing": findings.counts.get("missing_document", 0),
                "unknown": findings.counts.get("unknown_document", 0),
                "gold_entities": len(scored.both.gold.doc),
                "predicted_entities": len(scored.both.predicted.doc),
                "duplicates": findings.counts.get("repeated_entity", 0),
                "rejected": len(problems),
            },
            signature="|".join(f"{name}:{v}" for name, v in signed.items() if v is not None),
            problems=problems,
            faults=errors.faults(),
            gold_sha256=_fingerprint(found),
        ),
        options,
    )


@takes(NerOptions, "eval ner")
def ner_values(
    gold: Source,
    predicted: Source,
    *,
    documents: Sequence[str] | None = None,
    columns: Columns | None = None,
    options: NerOptions,
) -> dict[str, float | None]:
    """The value of every metric and nothing else: all there is to compute for a quick look.

    It takes what `evaluate_ner` takes, and is as strict about what it reads.
    """
    problems: list[str] = []
    found = _read(gold, predicted, options, documents, problems, columns)
    refuse_bad(problems, len(found.gold.ids) + len(found.predicted.ids), options)
    _, facts = _counted(_with_types(found, options, Findings()), options)
    return {
        id: value_of(sums.metric, sums.sums.sum(axis=0)) if sums.scored.any() else None
        for id, sums in _sums(facts).items()
    }


def _read(
    gold: Source,
    predicted: Source,
    options: NerOptions,
    documents: Sequence[str] | None,
    problems: list[str],
    columns: Columns | None,
) -> Joined:
    how = ReadingOptions(
        scheme=options.scheme or SCHEMES[0],
        column=options.column,
        offsets=options.offsets,
        reanchor=options.reanchor,
    )
    form = options.input_format
    mapped = columns_for(columns, predicted=ANNOTATED, gold=ANNOTATED)
    one = marked(gold, "gold", how, form, documents, problems, mapped["gold"])
    other = marked(predicted, "predicted", how, form, documents, problems, mapped["predicted"])
    one, other = by_order(one, other)
    other = in_characters(one, other, problems)
    return joined(one, aligned(one, other, problems, reanchor=options.reanchor), options.layer)


def _counted(found: Joined, options: NerOptions) -> tuple[Verdicts, EntityFacts]:
    both = found.both
    verdicts = correct_pairs(both, pair_columns(both, options.matching, options.min_overlap))
    tokens = token_columns(found.texts, found.tokens)
    facts = column_facts(
        both,
        verdicts,
        answered=found.answered,
        tokenised=tokens.tokenised,
        token_types=token_types(both, tokens, options.token_rule),
        empty=options.empty,
    )
    return verdicts, facts


def _sums(facts: EntityFacts) -> dict[str, Sums]:
    entries = entity_metrics(facts.empty)
    return {id: entity_sums(metric, counting, facts) for id, (metric, counting) in entries.items()}


def _fingerprint(found: Joined) -> str:
    """The hash of what gold means, whatever form and order it was written in."""
    gold = found.both.gold
    (keys,) = place_keys(gold)
    order = np.argsort(keys, kind="stable")
    hashed = hashlib.sha256()
    texts = [found.gold.texts[place] for place in found.gold_place.tolist()]
    used = np.flatnonzero(np.bincount(gold.type, minlength=len(gold.types)))
    names = [gold.types[place] for place in used.tolist()]
    for part in (found.units, names, gold.layers, texts):
        hashed.update(repr(list(part)).encode("utf-8", "surrogatepass"))
    number = np.searchsorted(used, gold.type)
    for column in (gold.doc, gold.start, gold.end, number, gold.layer):
        hashed.update(column[order].astype("<i8").tobytes())
    hashed.update(repr(sorted(gold.fragments.values())).encode())
    return hashed.hexdigest()


def _cut(type: str, level: int) -> str:
    """
    >>> _cut("GRP.HER.MUS", 2)
    'GRP.HER'
    """
    return SEPARATOR.join(type.split(SEPARATOR)[:level])


def _with_types(found: Joined, options: NerOptions, findings: Findings) -> Joined:
    """The entities with the types that are compared: cut to a level, or as HIPE writes them."""
    scored = found
    if options.level is not None:
        scored = relabelled(scored, partial(_cut, level=options.level))
    if options.matching == "hipe":
        scored = _known_to_hipe(relabelled(scored, str.upper), options.types, findings)
    merged = (
        *(len(found.gold_row), len(found.predicted_row)),
        *(-len(scored.gold_row), -len(scored.predicted_row)),
        -findings.counts.get("ignored_type", 0),
    )
    if times := sum(merged):
        fact = f"{times} entities are like another once their types are cut; they count once"
        findings.add(Finding("same_at_level", "types", fact), times)
    if options.types:
        for name, side in (("gold", scored.both.gold), ("predicted", scored.both.predicted)):
            for type, met in _times(side).items():
                if type not in options.types:
                    fact = f"{quoted(type)} is none of the types declared"
                    findings.add(Finding("undeclared_type", name, fact), met)
    return scored


def _known_to_hipe(found: Joined, declared: Sequence[str], findings: Findings) -> Joined:
    """Without predictions of types that are neither in gold nor declared, as HIPE's scorer."""
    side = found.both.predicted
    types = {*_times(found.both.gold), *map(str.upper, declared)}
    known = np.array([type in types for type in side.types], dtype=bool)
    kept = np.flatnonzero(known[side.type]) if len(known) else np.zeros(0, dtype=np.int64)
    ignored = len(found.predicted_row) - len(kept)
    if ignored:
        fact = f"predictions of types that gold does not have: {ignored:,}; HIPE leaves them out"
        findings.add(Finding("ignored_type", "predicted", fact), ignored)
    both = AlignedColumns(found.both.gold, rows_at(side, kept))
    return replace(found, both=both, predicted_row=found.predicted_row[kept])


def _times(side: EntityColumns) -> dict[str, int]:
    """How often each type occurs, of those that do."""
    met = np.bincount(side.type, minlength=len(side.types)).tolist()
    return {type: times for type, times in zip(side.types, met, strict=True) if times}


def _note_types(found: Joined, declared: Sequence[str], findings: Findings) -> None:
    """A finding for each type that only predictions have, with the gold type that may be meant."""
    gold = _times(found.both.gold)
    for type, times in _times(found.both.predicted).items() if gold else ():
        if type in gold or type in declared:
            continue
        near = nearest(type, gold)
        hint = f"; the nearest is {quoted(near)}" if near else ""
        often = "once" if times == 1 else f"{times:,} times"
        fact = f"gold has no {quoted(type)}, which is predicted {often}{hint}"
        findings.add(Finding("type_not_in_gold", quoted(type), fact))


def nearest(type: str, known: Iterable[str]) -> str | None:
    """The type, among these, with the name most like this one, in full or in its last part.

    >>> nearest("MUSEUM", ["GRP.HER.ARC", "GRP.HER.MUS", "TOP"])
    'GRP.HER.MUS'
    """

    def parts(type: str) -> set[str]:
        """The type and its last part, which says most."""
        return {type.casefold(), type.casefold().rpartition(SEPARATOR)[2]}

    def likeness(other: str) -> float:
        pairs = ((one, two) for one in parts(type) for two in parts(other))
        return max(SequenceMatcher(None, one, two).ratio() for one, two in pairs)

    alike = {one: likeness(one) for one in sorted(known)}
    best = max(alike, key=alike.__getitem__, default=None)
    return best if best is not None and alike[best] >= LIKE else None


def _detail(
    found: Joined,
    verdicts: Verdicts,
    facts: EntityFacts,
    errors: Errors,
    options: NerOptions,
) -> EntityDetail:
    both, empty = found.both, options.empty
    tokenised = bool(np.any(facts.tokenised))
    by_type = _by_type(facts.token_types).tolist() if tokenised else ()
    times = [
        np.bincount(side.type, minlength=both.types).tolist()
        for side in (both.gold, both.predicted)
    ]
    return EntityDetail(
        matching=options.matching,
        schemas={
            schema: _match_counts(getattr(facts, schema), schema, empty) for schema in SCHEMAS
        },
        # no rate where no document has tokens
        tokens=_token_counts([int(np.sum(column)) for column in facts.tokens], empty)
        if tokenised
        else TokenCounts(tp=0, fp=0, fn=0, precision=None, recall=None, f1=None),
        levels=_level_scores(found, verdicts, options),
        layers=_layer_counts(both, verdicts, empty),
        distribution={
            type: TypeShare(gold=due, predicted=said, ratio=said / due if due else None)
            for type, due, said in zip(both.gold.types, *times, strict=True)
        },
        token_types={
            type: _token_counts(row, empty)
            for type, row in zip(both.gold.types, by_type, strict=False)
        },
        error_counts=errors.counts(),
        errors=errors.shown(),
    )


def _rates(tp: int, predicted: int, gold: int, empty: Empty, *, credit: int = 1) -> Rates:
    """Precision, recall and F1 by name; None where there is none.

    `credit` is what a full match counts.
    """

    def number(finish: Callable[[Array], Array], *columns: int) -> float | None:
        value = float(finish(np.array(columns, dtype=np.int64)))
        return None if np.isnan(value) else value

    both = f1(empty) if credit == 1 else half_f1(empty)
    f1_columns = (tp, predicted - tp, gold - tp) if credit == 1 else (tp, predicted, gold)
    return {
        "precision": number(fraction(empty), tp, credit * predicted, gold),
        "recall": number(fraction(empty), tp, credit * gold, predicted),
        "f1": number(both, *f1_columns),
    }


def _match_counts(met: Outcomes, schema: Schema, empty: Empty) -> MatchCounts:
    """The counts of a schema over all documents, with what follows from them."""
    total = Outcomes(*(int(np.sum(getattr(met, name))) for name in Outcomes.__struct_fields__))
    half = schema == "semeval_partial"
    credit = 2 * total.correct + total.partial if half else total.correct
    rates = _rates(credit, total.predicted, total.gold, empty, credit=2 if half else 1)
    return MatchCounts(**(asdict(total) | rates))


def _layer_counts(
    both: AlignedColumns, verdicts: Verdicts, empty: Empty
) -> dict[str, dict[str, MatchCounts]]:
    """The schemas of each layer; nothing where there is one."""
    layers = both.gold.layers
    if len(layers) < 2:
        return {}
    met = {
        schema: count_outcomes(verdict, schema, both.gold.layer, both.predicted.layer, len(layers))
        for schema, verdict in verdicts.items()
    }
    return {
        layer: {
            schema: _match_counts(
                Outcomes(
                    *(getattr(met[schema], name)[place] for name in Outcomes.__struct_fields__)
                ),
                schema,
                empty,
            )
            for schema in SCHEMAS
        }
        for place, layer in enumerate(layers)
    }


def _level_scores(found: Joined, verdicts: Verdicts, options: NerOptions) -> tuple[LevelScore, ...]:
    """The scores with types cut to one part, two, and so on; nothing where all have one.

    `verdicts` are those of the uncut types.
    """
    deepest = max((type.count(SEPARATOR) + 1 for type in found.both.gold.types), default=1)
    if deepest < 2:
        return ()
    scores = []
    sides = (found.both.gold, found.both.predicted)
    crowded = any(has_duplicates(*place_keys(side, typed=False)) for side in sides)
    for level in range(1, deepest + 1):
        both, at_level = found.both, verdicts
        if level < deepest:
            name = partial(_cut, level=level)
            both = relabelled(found, name).both if crowded else renamed(found.both, name)
            at_level = correct_pairs(
                both, pair_columns(both, options.matching, options.min_overlap)
            )
        right = [int(at_level[schema].right.sum()) for schema in ("strict", "ent_type")]
        sizes = len(both.predicted.doc), len(both.gold.doc)
        strict, fuzzy = (_rates(tp, *sizes, options.empty)["f1"] for tp in right)
        scores.append(LevelScore(level=level, types=both.types, f1_strict=strict, f1_partial=fuzzy))
    return tuple(scores)


def _by_type(columns: Array) -> Array:
    """(types, 3): tp, fp and fn of each type, over all documents."""
    summed: Array = np.asarray(columns).sum(axis=0).reshape(-1, 3)
    return summed


def _per_type(
    facts: EntityFacts, types: Sequence[str], declared: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Counts and rates of each type, and of those declared that nobody used.

    A prediction of another type than the gold entity's is a false positive of its own type and a
    false negative of the gold one's.
    """

    def row(strict: Sequence[int], fuzzy: Sequence[int]) -> dict[str, float | None]:
        tp, fp, fn = strict
        predicted, gold = tp + fp, tp + fn
        exact = _rates(tp, predicted, gold, facts.empty)
        partial = _rates(fuzzy[0], predicted, gold, facts.empty)
        return {
            **{f"{name}_strict": value for name, value in exact.items()},
            "tp": tp,
            "fp": fp,
            "fn": fn,
            **{f"{name}_partial": value for name, value in partial.items()},
            "gold": gold,
            "predicted": predicted,
            "over_prediction": predicted / gold if gold else None,
        }

    columns = (_by_type(one).tolist() for one in (facts.strict_types, facts.partial_types))
    known = {type: row(*counts) for type, *counts in zip(types, *columns, strict=True)}
    unused = row((0, 0, 0), (0, 0, 0))
    return {type: known.get(type, unused) for type in sorted({*types, *declared})}


def _token_counts(counts: Sequence[int], empty: Empty) -> TokenCounts:
    tp, fp, fn = counts
    return TokenCounts(tp=tp, fp=fp, fn=fn, **_rates(tp, tp + fp, tp + fn, empty))


class Errors(Struct, frozen=True):
    """The entities that were not found as they are, and those that gold does not have.

    Columns, by document and reading order.
    """

    found: Joined
    kind: Array
    """(errors,): places in KINDS."""
    document: Array
    gold: Array
    """(errors,): the gold entity's row; -1 where there is none."""
    predicted: Array

    def counts(self) -> dict[str, int]:
        """How often each kind occurs."""
        times = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return dict(zip(KINDS, times, strict=True))

    def shown(self) -> tuple[EntityError, ...]:
        """The first of each kind, in reading order."""
        kept = [np.flatnonzero(self.kind == kind)[:ERRORS_KEPT] for kind in range(len(KINDS))]
        rows = np.sort(np.concatenate(kept))
        found, both = self.found, self.found.both
        golds = self._spans(both.gold, found.gold_row, found.gold, self.gold[rows])
        others = self._spans(
            both.predicted, found.predicted_row, found.predicted, self.predicted[rows]
        )
        kinds, documents = self.kind[rows].tolist(), self.document[rows].tolist()
        return tuple(map(self._error, kinds, documents, golds, others))

    def faults(self) -> list[tuple[str, str]]:
        """Documents with what went wrong there, of those that advice looks at."""
        units = self.found.units
        rows = np.flatnonzero(self.document < ROWS_KEPT)
        pairs = zip(self.document[rows].tolist(), self.kind[rows].tolist(), strict=True)
        lost = np.flatnonzero(~self.found.answered[:ROWS_KEPT]).tolist()
        return [
            *((units[document], KINDS[kind]) for document, kind in pairs),
            *((units[document], "missing_document") for document in lost),
        ]

    def _spans(
        self, columns: EntityColumns, given: Array, side: Marked, rows: Array
    ) -> list[ShownSpan | None]:
        """The entities of these rows as a reader meets them; None for a row that is none."""
        each = (columns.doc, columns.start, columns.end, columns.type)
        numbers = (_at(column, rows).tolist() for column in each)
        shown: list[ShownSpan | None] = []
        for row, document, start, end, type in zip(rows.tolist(), *numbers, strict=True):
            if row == NOBODY:
                shown.append(None)
                continue
            text = self.found.texts[document]
            if text is None:
                words = side.surface(int(given[row]))
            else:
                parts = columns.fragments.get(row, ((start, end),))
                words = " … ".join([text[first:last] for first, last in parts])
            shown.append(ShownSpan(start=start, end=end, type=columns.types[type], text=words))
        return shown

    def _error(
        self, kind: int, document: int, gold: ShownSpan | None, predicted: ShownSpan | None
    ) -> EntityError:
        found, text = self.found, self.found.texts[document] or ""
        spans = [span for span in (gold, predicted) if span is not None]
        first, last = min(span.start for span in spans), max(span.end for span in spans)
        before, after = text[:first], text[last:]
        # Words, and a sign where more of the text is beyond them.
        if len(before) > CONTEXT:
            near = before[-CONTEXT:]
            before = "…" + near[near.find(" ") + 1 :]
        if len(after) > CONTEXT:
            near = after[:CONTEXT]
            blank = near.rfind(" ")
            after = (near[:blank] if blank >= 0 else near) + "…"
        return EntityError(
            kind=KINDS[kind],
            document=found.units[document],
            gold=gold,
            predicted=predicted,
            before=before,
            after=after,
            where=(
                found.predicted.where(int(found.predicted_place[document]))
                if gold is None
                else found.gold.where(int(found.gold_place[document]))
            ),
        )


def _errors_of(found: Joined, verdict: SchemaPairs) -> Errors:
    """What is wrong with the pairs, and all that has no partner."""
    both = found.both
    place = same_place(both, verdict.gold, verdict.predicted)
    type = both.gold.type[verdict.gold] == both.predicted.type[verdict.predicted]
    kind = np.select([place & ~type, ~place & type], [1, 0], 2)
    wrong = ~(place & type)
    missed = np.delete(np.arange(len(both.gold.doc)), verdict.gold)
    spurious = np.delete(np.arange(len(both.predicted.doc)), verdict.predicted)
    gold = np.concatenate([verdict.gold[wrong], missed, np.full_like(spurious, NOBODY)])
    predicted = np.concatenate([verdict.predicted[wrong], np.full_like(missed, NOBODY), spurious])
    kind = np.concatenate([kind[wrong], np.full_like(missed, 3), np.full_like(spurious, 4)])

    def of_either(name: str) -> Array:
        """A column of the gold entity, or of the predicted one where there is no gold."""
        one, other = (getattr(side, name) for side in (both.gold, both.predicted))
        return np.where(gold != NOBODY, _at(one, gold), _at(other, predicted))

    document = of_either("doc")
    # By document, by where the error begins, and then by all else that separates two.
    rest = [
        _at(getattr(side, name), rows)
        for side, rows in ((both.gold, gold), (both.predicted, predicted))
        for name in ("end", "type", "start")
    ]
    order = np.lexsort([*rest[::-1], kind, of_either("layer"), of_either("start"), document])
    return Errors(found, kind[order], document[order], gold[order], predicted[order])


def _at(column: Array, rows: Array) -> Array:
    """The column at these rows, 0 for those that are none."""
    padded = np.append(column, 0)
    found: Array = padded[rows]
    return found
