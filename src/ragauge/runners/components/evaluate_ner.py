"""The evaluation of entities: joined by document, matched within it, scored in four schemas."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from ragauge.contracts.entities import Empty, EntityFacts, Fragment, Matching, Schema, TokenRule
from ragauge.contracts.evaluation import EntityDetail, EvalReport
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.score import Outcome
from ragauge.ingest.fields import quoted
from ragauge.metrics.entities import entity_metrics
from ragauge.metrics.entity_columns import place_keys, rows_at
from ragauge.metrics.entity_counting import entity_sums, value_of
from ragauge.metrics.entity_kernel import Judged, column_facts, judged, pair_columns
from ragauge.metrics.entity_tokens import token_columns, token_types
from ragauge.metrics.sums import Sums
from ragauge.runners.components.entity_alignment import aligned, by_order
from ragauge.runners.components.entity_detail import (
    cut,
    distribution,
    layer_counts,
    level_scores,
    per_type,
    schema_counts,
    token_totals,
    token_types_of,
)
from ragauge.runners.components.entity_errors import Errors, errors_of
from ragauge.runners.components.entity_join import (
    Joined,
    join_findings,
    joined,
    only_types,
    relabelled,
)
from ragauge.runners.components.entity_marked import Marked
from ragauge.runners.components.entity_notes import note_pooled, note_strangers, note_types
from ragauge.runners.components.entity_sources import HowToRead, marked
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import EvalOptions, refuse_bad, rules_for
from ragauge.runners.components.strata import strata_of
from ragauge.runners.options import takes

if TYPE_CHECKING:
    from ragauge.runners.components.entity_sources import Source


HEADLINES = (
    *("entities.f1_strict", "entities.f1_partial", "entities.precision_strict"),
    *("entities.recall_strict", "entities.token_f1"),
)


class NerOptions(EvalOptions, frozen=True, kw_only=True):
    """What an evaluation of entities can be asked."""

    matching: Matching = "best"
    min_overlap: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The share of a gold entity that a prediction must cover; else one position suffices."""
    level: Annotated[int, Meta(ge=1)] | None = None
    """Cut types to so many parts: GRP.HER.MUS at 1 is GRP."""
    layer: str | None = None
    """Score this layer alone."""
    empty: Empty = "null"
    token_rule: TokenRule = "overlap"
    types: tuple[str, ...] = ()
    """The types there are: each is told, and a type outside the list is a finding."""
    scheme: Literal["repair", "strict"] | None = None
    column: int | None = None
    offsets: Literal["characters", "tokens"] | None = None
    reanchor: bool = False


@takes(NerOptions, "eval ner")
def evaluate_ner(
    gold: Source,
    predicted: Source,
    *,
    documents: Sequence[str] | None = None,
    options: NerOptions,
) -> Outcome[EvalReport]:
    """The report on predicted entities: four schemas, types, levels, layers, tokens and errors.

    Each side is a file, a folder, a sequence of records, columns, or a polars frame with doc,
    start, end, type and perhaps layer; `documents` are then the ids of all that were looked at,
    since one without entities has no row. Documents are joined by id, and entities matched only
    within a document and layer; ends are exclusive. A report has its documents sorted by id.
    """
    rules_for("ner", options)
    problems: list[str] = []
    found = _read(gold, predicted, options, documents, problems)
    own = [found.gold.strata[place] for place in found.gold_place.tolist()]
    strata = strata_of(found.units, own, options)
    refuse_bad(problems, len(found.gold.ids) + len(found.predicted.ids), options)
    findings = Findings()
    join_findings(found, findings)
    note_strangers(found, findings)
    note_pooled(found, options.layer, findings)
    told = as_asked(found, _types(options), findings)
    note_types(told, options.types, findings)
    verdicts, facts = _counted(told, options)
    errors = errors_of(told, verdicts["ent_type"])
    return outcome_of(
        Evaluated(
            task="ner",
            units=told.units,
            sums=_sums(facts),
            headlines=HEADLINES,
            strata=strata,
            right=_right(facts),
            per_type=per_type(facts, told.both.gold.types, options.types),
            detail=_detail(told, verdicts, facts, errors, options),
            findings=findings,
            coverage=_coverage(told, findings, rejected=len(problems)),
            signature=_signature(options),
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
    options: NerOptions,
) -> dict[str, float | None]:
    """The value of every metric and nothing else: all there is to compute for a quick look.

    It takes what `evaluate_ner` takes, and is as strict about what it reads.
    """
    problems: list[str] = []
    found = _read(gold, predicted, options, documents, problems)
    refuse_bad(problems, len(found.gold.ids) + len(found.predicted.ids), options)
    _, facts = _counted(as_asked(found, _types(options), Findings()), options)
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
) -> Joined:
    one = marked(gold, _reading("gold", options, documents), problems)
    other = marked(predicted, _reading("predicted", options, documents), problems)
    one, other = by_order(one, other)
    counted = in_characters(one, other, problems)
    there = aligned(one, counted, problems, reanchor=options.reanchor)
    return joined(one, there, options.layer)


def _counted(told: Joined, options: NerOptions) -> tuple[dict[Schema, Judged], EntityFacts]:
    verdicts = judged(told.both, pair_columns(told.both, options.matching, options.min_overlap))
    return verdicts, _facts(told, verdicts, options)


def _reading(name: str, options: NerOptions, documents: Sequence[str] | None) -> HowToRead:
    files = {
        "input_format": options.input_format,
        "scheme": options.scheme,
        "column": options.column,
        "offsets": options.offsets,
        "reanchor": options.reanchor,
    }
    return HowToRead(name=name, files=files, documents=documents)


def _types(options: NerOptions) -> TypesAsked:
    return TypesAsked(matching=options.matching, level=options.level, types=options.types)


def _facts(told: Joined, verdicts: dict[Schema, Judged], options: NerOptions) -> EntityFacts:
    tokens = token_columns(told.texts, told.tokens)
    return column_facts(
        told.both,
        verdicts,
        answered=told.answered,
        tokenised=tokens.tokenised,
        token_types=token_types(told.both, tokens, options.token_rule),
        empty=options.empty,
    )


def _sums(facts: EntityFacts) -> dict[str, Sums]:
    entries = entity_metrics(facts.empty)
    return {id: entity_sums(metric, counting, facts) for id, (metric, counting) in entries.items()}


def _right(facts: EntityFacts) -> list[bool | None]:
    """Whether everything was found as it is and nothing else; never without a record."""
    faultless = (facts.strict.wrong == 0) & (facts.strict.lost == 0) & facts.answered
    return list(faultless.tolist())


def _detail(
    told: Joined,
    verdicts: dict[Schema, Judged],
    facts: EntityFacts,
    errors: Errors,
    options: NerOptions,
) -> EntityDetail:
    types = told.both.gold.types
    return EntityDetail(
        matching=options.matching,
        schemas=schema_counts(facts),
        tokens=token_totals(facts),
        levels=level_scores(told, verdicts, options.matching, options.min_overlap, options.empty),
        layers=layer_counts(told.both, verdicts, options.empty),
        distribution=distribution(told.both),
        token_types=token_types_of(facts, types),
        error_counts=errors.counts(),
        errors=errors.shown(),
    )


def _coverage(told: Joined, findings: Findings, rejected: int) -> dict[str, int]:
    counts = findings.counts
    return {
        "documents": len(told.units),
        "scored": int(told.answered.sum()),
        "missing": counts.get("missing_document", 0),
        "unknown": counts.get("unknown_document", 0),
        "gold_entities": len(told.both.gold.doc),
        "predicted_entities": len(told.both.predicted.doc),
        "duplicates": counts.get("repeated_entity", 0),
        "rejected": rejected,
    }


def _signature(options: NerOptions) -> str:
    """What of the options is in every number."""
    named = {
        "matching": options.matching,
        "min_overlap": options.min_overlap,
        "level": options.level,
        "layer": options.layer,
        "empty": None if options.empty == "null" else options.empty,
        "tokens": None if options.token_rule == "overlap" else options.token_rule,
    }
    return "|".join(f"{name}:{value}" for name, value in named.items() if value is not None)


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


Rows = dict[int, list[int]]
"""By document the rows of its entities."""
_NO_TOKENS = "start and end are to count tokens, and there are none"
_UNSAID = "gold counts tokens here, and nothing tells what these start and end count"
_REMEDY = (
    "; say --offsets tokens, or --offsets characters where both sides count them, or give each "
    "entity its text"
)


def in_characters(gold: Marked, predicted: Marked, problems: list[str]) -> Marked:
    """The predictions with places in gold's texts; those that count tokens count gold's.

    Where gold counted tokens, a prediction that does not show what it counts is a problem: read as
    characters it would be wrong, and nobody would see it.
    """
    if not (gold.in_tokens or gold.unplaced or predicted.unplaced):
        return predicted
    there = {id: place for place, id in enumerate(predicted.ids)}
    problems += _unplaced_gold(gold, predicted, there)
    known = {id: place for place, id in enumerate(gold.ids) if id not in gold.unplaced}
    tokens: dict[int, Sequence[Fragment]] = {}
    lost: list[int] = []
    unsaid = 0
    by_document = _rows(predicted)
    for place, rows in by_document.items():
        if predicted.ids[place] not in known:
            continue
        told = _tokens(gold, known[predicted.ids[place]], predicted, place, rows)
        if isinstance(told, str):
            # a file that does not say so does so throughout: once is enough for the remedy
            unsaid += told == _UNSAID
            remedy = _REMEDY if told == _UNSAID and unsaid == 1 else ""
            problems.append(f"{predicted.where(place)}: entities: {told}{remedy}")
            lost += rows
        elif told is not None:
            tokens[place] = told
    moved, outside = _moved(predicted, tokens, by_document, problems)
    return _without(moved, [*lost, *outside])


def _rows(marked: Marked) -> Rows:
    found: Rows = {}
    for row, doc in enumerate(marked.columns.doc.tolist()):
        found.setdefault(doc, []).append(row)
    return found


def _unplaced_gold(gold: Marked, predicted: Marked, there: dict[str, int]) -> list[str]:
    """What is wrong with gold that counts tokens it does not have.

    Two sides without texts and tokens count the same; that is all one needs to know of them.
    """
    found = []
    for place in sorted(_rows(gold)):
        id = gold.ids[place]
        alike = gold.texts[place] is None and (id not in there or id in predicted.unplaced)
        if id in gold.unplaced and not alike:
            remedy = "give tokens, or say --offsets characters"
            found.append(f"{gold.where(place)}: entities: {_NO_TOKENS}; {remedy}")
    return found


def _tokens(
    gold: Marked, known: int, predicted: Marked, place: int, rows: Sequence[int]
) -> Sequence[Fragment] | str | None:
    """Gold's tokens where the prediction counts them, what is wrong, or None where it does not."""
    id, text, tokens = gold.ids[known], predicted.texts[place], gold.tokens[known]
    if id not in predicted.unplaced:
        shown = text is not None or predicted.tokens[place] is not None
        shown = shown or any(predicted.surface(row) is not None for row in rows)
        return None if shown or id not in gold.in_tokens else _UNSAID
    if tokens is None:
        return f"{_NO_TOKENS}, nor has gold any; give tokens, or say --offsets characters"
    if text is not None and text != gold.texts[known]:
        return f"{_NO_TOKENS}; gold's are those of another text; give tokens"
    return tokens


def _moved(
    predicted: Marked, tokens: dict[int, Sequence[Fragment]], rows: Rows, problems: list[str]
) -> tuple[Marked, list[int]]:
    """The predictions of some documents at the places of their tokens, and those that have none."""
    columns = predicted.columns
    start, end = columns.start.copy(), columns.end.copy()
    fragments = dict(columns.fragments)
    outside: list[int] = []
    for place, known in tokens.items():
        for row in rows[place]:
            parts = fragments.get(row, ((int(start[row]), int(end[row])),))
            if parts[-1][1] > len(known):
                fact = f"goes to token {parts[-1][1]}, and gold has {len(known)} tokens there"
                name = columns.types[columns.type[row]]
                problems.append(f"{predicted.where(place)}: {name} at {parts[0][0]}: {fact}")
                outside.append(row)
                continue
            at = tuple((known[first][0], known[past - 1][1]) for first, past in parts)
            start[row], end[row] = at[0][0], at[-1][1]
            if row in fragments:
                fragments[row] = at
    moved = replace(columns, start=start, end=end, fragments=fragments)
    # their text is gold's, by which their surfaces are checked from here on
    texts = [None if place in tokens else text for place, text in enumerate(predicted.texts)]
    return replace(predicted, columns=moved, texts=texts), outside


def _without(predicted: Marked, lost: Sequence[int]) -> Marked:
    if not lost:
        return predicted
    kept = np.delete(np.arange(len(predicted.columns.doc)), lost)
    rows = kept.tolist()
    return replace(
        predicted,
        columns=rows_at(predicted.columns, kept),
        surface=lambda row: predicted.surface(rows[row]),
    )


class TypesAsked(Struct, frozen=True, kw_only=True):
    """What the types of an evaluation depend on."""

    matching: Matching
    level: int | None
    types: tuple[str, ...]


def as_asked(found: Joined, asked: TypesAsked, findings: Findings) -> Joined:
    """The entities with the types that are compared: cut to a level, or as HIPE writes them."""
    told = found
    if asked.level is not None:
        told = relabelled(told, partial(cut, level=asked.level))
    if asked.matching == "hipe":
        told = relabelled(told, str.upper)
        told = _known_to_hipe(told, asked, findings)
    merged = sum(
        len(before) - len(after)
        for before, after in (
            (found.gold_row, told.gold_row),
            (found.predicted_row, told.predicted_row),
        )
    ) - findings.counts.get("ignored_type", 0)
    if merged:
        fact = f"{merged} entities are like another once their types are cut; they count once"
        findings.add(Finding("same_at_level", "types", fact), merged)
    _find_undeclared(told, asked, findings)
    return told


def _known_to_hipe(told: Joined, asked: TypesAsked, findings: Findings) -> Joined:
    """Without predictions of types that are neither in gold nor declared, as HIPE's scorer."""
    gold = told.both.gold
    known = {gold.types[place] for place in np.unique(gold.type)}
    known |= {type.upper() for type in asked.types}
    kept = only_types(told, known)
    ignored = len(told.predicted_row) - len(kept.predicted_row)
    if ignored:
        fact = f"predictions of types that gold does not have: {ignored:,}; HIPE leaves them out"
        findings.add(Finding("ignored_type", "predicted", fact), ignored)
    return kept


def _find_undeclared(told: Joined, asked: TypesAsked, findings: Findings) -> None:
    if not asked.types:
        return
    for name, side in (("gold", told.both.gold), ("predicted", told.both.predicted)):
        times = np.bincount(side.type, minlength=len(side.types)).tolist()
        for type, met in zip(side.types, times, strict=True):
            if met and type not in asked.types:
                fact = f"{quoted(type)} is none of the types declared"
                findings.add(Finding("undeclared_type", name, fact), met)
