"""The evaluation of entities: joined by document, matched within it, scored in four schemas."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from ragauge.contracts.entities import Empty, EntityFacts, Matching, Schema, TokenRule
from ragauge.contracts.evaluation import EntityDetail, EvalReport
from ragauge.contracts.finding import Findings
from ragauge.contracts.score import Outcome
from ragauge.metrics.entities import entity_metrics
from ragauge.metrics.entity_columns import place_keys
from ragauge.metrics.entity_counting import entity_sums, value_of
from ragauge.metrics.entity_kernel import Judged, column_facts, judged, pair_columns
from ragauge.metrics.entity_tokens import token_columns, token_types
from ragauge.metrics.sums import QuestionSums
from ragauge.runners.components.entity_alignment import aligned, by_order
from ragauge.runners.components.entity_detail import (
    distribution,
    layer_counts,
    level_scores,
    per_type,
    schema_counts,
    token_totals,
    token_types_of,
)
from ragauge.runners.components.entity_errors import Errors, errors_of
from ragauge.runners.components.entity_join import Joined, join_findings, joined
from ragauge.runners.components.entity_notes import note_pooled, note_strangers, note_types
from ragauge.runners.components.entity_offsets import in_characters
from ragauge.runners.components.entity_sources import HowToRead, marked
from ragauge.runners.components.entity_types import TypesAsked, as_asked
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import EvalOptions, chosen_options, refuse_bad, rules_for
from ragauge.runners.components.strata import strata_of

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


def evaluate_ner(
    gold: Source, predicted: Source, *, documents: Sequence[str] | None = None, **options: Any
) -> Outcome[EvalReport]:
    """The report on predicted entities: four schemas, types, levels, layers, tokens and errors.

    Each side is a file, a folder, a sequence of records, columns, or a polars frame with doc,
    start, end, type and perhaps layer; `documents` are then the ids of all that were looked at,
    since one without entities has no row. Documents are joined by id, and entities matched only
    within a document and layer; ends are exclusive. A report has its documents sorted by id.
    """
    chosen = chosen_options("ner", NerOptions, options)
    rules_for("ner", chosen)
    problems: list[str] = []
    found = _read(gold, predicted, chosen, documents, problems)
    own = [found.gold.strata[place] for place in found.gold_place.tolist()]
    strata = strata_of(found.units, own, chosen)
    refuse_bad(problems, len(found.gold.ids) + len(found.predicted.ids), chosen)
    findings = Findings()
    join_findings(found, findings)
    note_strangers(found, findings)
    note_pooled(found, chosen.layer, findings)
    told = as_asked(found, _types(chosen), findings)
    note_types(told, chosen.types, findings)
    verdicts, facts = _counted(told, chosen)
    errors = errors_of(told, verdicts["ent_type"])
    return outcome_of(
        Evaluated(
            task="ner",
            units=told.units,
            sums=_sums(facts),
            headlines=HEADLINES,
            strata=strata,
            right=_right(facts),
            per_type=per_type(facts, told.both.gold.types, chosen.types),
            detail=_detail(told, verdicts, facts, errors, chosen),
            findings=findings,
            coverage=_coverage(told, findings, rejected=len(problems)),
            signature=_signature(chosen),
            problems=problems,
            faults=errors.faults(),
            gold_sha256=_fingerprint(found),
        ),
        chosen,
    )


def ner_values(
    gold: Source, predicted: Source, *, documents: Sequence[str] | None = None, **options: Any
) -> dict[str, float | None]:
    """The value of every metric and nothing else: all there is to compute for a quick look.

    It takes what `evaluate_ner` takes, and is as strict about what it reads.
    """
    chosen = chosen_options("ner", NerOptions, options)
    problems: list[str] = []
    found = _read(gold, predicted, chosen, documents, problems)
    refuse_bad(problems, len(found.gold.ids) + len(found.predicted.ids), chosen)
    _, facts = _counted(as_asked(found, _types(chosen), Findings()), chosen)
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


def _sums(facts: EntityFacts) -> dict[str, QuestionSums]:
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
