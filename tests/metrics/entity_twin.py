"""The slow and obvious twin of the entity kernel: what came of one document, counted plainly."""

from collections import Counter

from ragauge.contracts.entities import SCHEMAS, EntityFacts, Outcomes
from ragauge.metrics.entity_matching import distinct, is_correct, match_entities, outcomes

OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")


def document_facts(
    gold,
    predicted,
    *,
    types,
    tokens=None,
    matching="best",
    min_overlap=None,
    token_rule="overlap",
    empty="null",
):
    """The facts of a document, whose entities are matched within their layers.

    `predicted` is None where there is no record of the document: all its entities are missed.
    An entity that is given twice, of one place and type, counts once: what is there can be found
    once.
    """
    gold, given = distinct(gold), distinct(predicted or ())
    met = {schema: Counter() for schema in SCHEMAS}
    by_type = {schema: {type: [0, 0, 0] for type in types} for schema in SCHEMAS}
    for layer in sorted({entity.layer for entity in (*gold, *given)}):
        here, there = ([one for one in side if one.layer == layer] for side in (gold, given))
        for schema, pairs in match_entities(here, there, matching, min_overlap).items():
            met[schema] += outcomes(here, there, pairs, schema)
            right = [pair for pair in pairs if is_correct(here[pair[0]], there[pair[1]], schema)]
            found, good = {g for g, _ in right}, {p for _, p in right}
            for g, entity in enumerate(here):
                by_type[schema][entity.type][0 if g in found else 2] += 1
            for p, entity in enumerate(there):
                by_type[schema][entity.type][1] += p not in good

    def flat(counts):
        return tuple(count for type in types for count in counts.get(type, (0, 0, 0)))

    held = flat(token_counts(gold, given, tokens or (), token_rule))
    return EntityFacts(
        answered=predicted is not None,
        **{schema: Outcomes(*(met[schema][name] for name in OUTCOMES)) for schema in SCHEMAS},
        strict_types=flat(by_type["strict"]),
        partial_types=flat(by_type["ent_type"]),
        tokenised=tokens is not None,
        tokens=(sum(held[0::3]), sum(held[1::3]), sum(held[2::3])),
        token_types=held,
        empty=empty,
    )


def token_counts(gold, predicted, tokens, rule="overlap"):
    """tp, fp and fn of each type over tokens; a token holds a set of types in each layer."""
    wanted, given = _held(gold, tokens, rule), _held(predicted, tokens, rule)
    found = {}
    for place, holders in enumerate((wanted & given, given - wanted, wanted - given)):
        for _, _, type in holders:
            found.setdefault(type, [0, 0, 0])[place] += 1
    return found


def _held(entities, tokens, rule):
    return {
        (place, entity.layer, entity.type)
        for entity in entities
        for start, end in entity.parts
        for place, (first, last) in enumerate(tokens)
        if (start <= first < end if rule == "brief" else first < end and start < last)
    }
