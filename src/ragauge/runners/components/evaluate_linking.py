"""Evaluating entity linking: gold mentions against what a system links them to."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import structs

from ragauge.contracts.entities import Entity
from ragauge.contracts.evaluation import ERRORS_KEPT, EvalReport, KbPair, LinkDetail, LinkError
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.links import (
    NIL_KB,
    Candidate,
    GoldLink,
    GoldLinks,
    LinkedMention,
    PredictedLink,
    SamePair,
)
from ragauge.contracts.score import Outcome
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.annotated.entity_files import EntityFile, read_entities
from ragauge.ingest.annotated.hipe import is_hipe
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import STDIN, read_whole
from ragauge.ingest.linked.crosswalk import read_crosswalk
from ragauge.ingest.linked.link_files import read_gold_links, read_predicted_links
from ragauge.ingest.linked.link_records import LinkReading, Placed, name_of
from ragauge.metrics.link_facts import Comparing, MentionPair, linked_mentions
from ragauge.metrics.link_sums import mention_sums
from ragauge.metrics.link_tables import Crosswalk, Equivalents, is_same
from ragauge.metrics.linking import DEFAULT_RANKS, HIPE, METRICS, hits_at, named
from ragauge.runners.components.entity_alignment import by_order
from ragauge.runners.components.entity_marked import Marked
from ragauge.runners.components.entity_notes import first_ids
from ragauge.runners.components.entity_sources import of_file
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.linking_join import Duplicates, Joined, joined
from ragauge.runners.components.options import EvalOptions, refuse_bad, rules_for
from ragauge.runners.components.strata import strata_of
from ragauge.runners.options import takes
from ragauge.text.kb_ids import is_nil, kb_name

if TYPE_CHECKING:
    from ragauge.ingest.linked.crosswalk import Source as PairSource
    from ragauge.ingest.linked.link_records import Source


HEADLINES = ("linking.hits@1", "linking.mrr", "linking.accuracy", "linking.nil_f1")


class LinkingOptions(EvalOptions, frozen=True, kw_only=True):
    """What an evaluation of links can be asked."""

    kb: str | None = None
    """The knowledge base that decides; by default an id in common in any of them is right."""
    layer: Literal["NEL-LIT", "NEL-METO"] = "NEL-LIT"
    """Of HIPE files: the column of links to score."""
    duplicates: Duplicates = "error"
    """Several predictions for one mention: refused, or the one with the best score is kept."""
    k: tuple[int, ...] = DEFAULT_RANKS
    """The ranks of `linking.hits@k`."""
    equivalents: str | None = None
    crosswalk: str | None = None
    """The SHA-256 of what these tables say, filled in when they are read."""


@takes(LinkingOptions, "eval linking")
def evaluate_linking(
    gold: Source,
    predicted: Source,
    *,
    equivalents: PairSource | None = None,
    crosswalk: PairSource | None = None,
    options: LinkingOptions,
) -> Outcome[EvalReport]:
    """How well mentions are linked: ranks, NIL, end to end, and across knowledge bases.

    Each side is a file, a sequence of records or a polars frame; the tables of equivalents and the
    crosswalk are files or records. Raises InputRejected with all that is wrong beyond `max_bad`.
    """
    asked = _asked(options)
    reading = LinkReading(input_format=asked.input_format, bare=asked.kb)
    files = name_of(gold), name_of(predicted)
    gold, predicted, hipe = hipe_links(gold, predicted, asked.layer, reading)
    known, said = read_gold_links(gold, reading), read_predicted_links(predicted, reading)
    same = _pairs(equivalents, reading.problems)
    walk = _pairs(crosswalk, reading.problems)
    if asked.kb and known.links:
        known, said = gold_in(asked.kb, known), predicted_in(asked.kb, said)
    found = joined(known, said, asked.duplicates, reading)
    strata = _strata(known, found, asked, reading)
    refuse_bad(reading.problems, len(known.links) + len(said), asked)
    refuse_unscored(*files, known, said, found)
    note_tolerated(reading)
    for one in said:
        note_repeated(one, reading.findings)
    if same is None and asked.kb is None:
        note_other_bases(found, reading.findings)
    note_unused(walk or (), reading.findings)
    asked = structs.replace(asked, equivalents=_sha256(same), crosswalk=_sha256(walk))
    by = Comparing(
        None if same is None else Equivalents(same), None if walk is None else Crosswalk(walk)
    )
    return outcome_of(_evaluated(known, found, by, strata, asked, reading, hipe=hipe), asked)


def _asked(asked: LinkingOptions) -> LinkingOptions:
    """The options, checked; a gate on another rank asks for that rank."""
    wrong = [k for k in asked.k if k < 1]
    if wrong:
        raise UsageError(f"eval linking: k {wrong[0]} is no rank; the first is 1")
    rules = rules_for("linking", asked)
    gated = (re.fullmatch(r"linking\.hits@([0-9]+)", rule.metric) for rule in rules)
    ranks = sorted({*asked.k, *DEFAULT_RANKS, *(int(found[1]) for found in gated if found)})
    kb = None if asked.kb is None else kb_name(asked.kb)
    return structs.replace(asked, k=tuple(ranks), kb=kb)


def _evaluated(
    known: GoldLinks,
    found: Joined,
    by: Comparing,
    strata: dict[str, list[str | None]],
    asked: LinkingOptions,
    reading: LinkReading,
    *,
    hipe: bool,
) -> Evaluated:
    units = [linked_mentions(pairs, by) for pairs in found.units.values()]
    cases = [
        (pair, mention)
        for pairs, facts in zip(found.units.values(), units, strict=True)
        for pair, mention in zip(pairs, facts, strict=True)
    ]
    gated = {rule.metric for rule in rules_for("linking", asked)}
    usual = [metric for metric in METRICS if hipe or metric not in HIPE or metric.id in gated]
    known_ids = {metric.id for metric in METRICS}
    others = [named(id) for id in sorted(gated - known_ids)]
    metrics = {
        metric.id: metric
        for metric in (*usual, *(hits_at(k) for k in asked.k if k not in DEFAULT_RANKS), *others)
        if metric is not None
    }.values()
    return Evaluated(
        task="linking",
        units=list(found.units),
        sums={metric.id: mention_sums(metric, units) for metric in metrics},
        headlines=HEADLINES,
        strata=strata,
        right=[_right(mentions) for mentions in units],
        per_type=types_of(cases),
        detail=detail_of(cases),
        findings=reading.findings,
        coverage=_coverage(known, found, cases, reading),
        signature=_signature(asked, hipe=hipe),
        faults=_faults(found, units),
        gold_sha256=_gold_sha256(known),
    )


def _right(mentions: Sequence[LinkedMention]) -> bool | None:
    """Whether a document came out without a fault: all answered right, and nothing else linked."""
    if not mentions:
        return None
    return all(one.right if one.in_gold else not one.linked for one in mentions)


def _faults(found: Joined, units: Sequence[Sequence[LinkedMention]]) -> list[tuple[str, str]]:
    return [
        (unit, kind)
        for unit, mentions in zip(found.units, units, strict=True)
        for mention in mentions
        if (kind := error_kind(mention)) is not None
    ]


def _coverage(
    known: GoldLinks, found: Joined, cases: Sequence[Case], reading: LinkReading
) -> dict[str, int]:
    nil = sum(link.nil for link in known.links)
    answered = sum(mention.in_gold and mention.answered for _, mention in cases)
    return {
        "documents": len(known.documents),
        "mentions": len(known.links),
        "in_kb": len(known.links) - nil,
        "nil": nil,
        "scored": answered,
        "missing": found.missing,
        "unknown": found.unknown,
        "duplicates": found.duplicates,
        "rejected": len(reading.problems),
    }


def _signature(asked: LinkingOptions, *, hipe: bool) -> str:
    parts = [f"kb:{asked.kb or 'any'}", f"duplicates:{asked.duplicates}"]
    parts += [f"layer:{asked.layer}"] if hipe else []
    for name, sha256 in (("equivalents", asked.equivalents), ("crosswalk", asked.crosswalk)):
        parts += [f"{name}:{sha256[:8]}"] if sha256 else []
    return "|".join(parts)


def _strata(
    known: GoldLinks, found: Joined, asked: LinkingOptions, reading: LinkReading
) -> dict[str, list[str | None]]:
    """By stratum the value of each document; None where its mentions do not have one in common."""
    own = []
    for unit, pairs in found.units.items():
        rows = [gold.strata for gold, _ in pairs if gold is not None]
        own.append(_common([known.documents.get(unit, {}), *rows], unit, reading.findings))
    return strata_of(list(found.units), own, asked)


def _common(rows: Sequence[dict[str, Any]], unit: str, findings: Findings) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            if value not in (None, *values.setdefault(name, [])):
                values[name].append(value)
    for name, several in values.items():
        if len(several) > 1:
            shown = ", ".join(sorted(map(str, several)))
            fact = f"{name} is {shown} in one document, which then has none"
            findings.add(Finding("mixed_stratum", unit, fact))
    return {name: several[0] for name, several in values.items() if len(several) == 1}


def _pairs(source: PairSource | None, problems: list[str]) -> list[SamePair] | None:
    return None if source is None else read_crosswalk(source, problems)


def _sha256(pairs: Sequence[SamePair] | None) -> str | None:
    """What a table says, whatever its form and order."""
    if pairs is None:
        return None
    told = [(pair.one, pair.other, pair.relation) for pair in pairs]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


def _gold_sha256(known: GoldLinks) -> str:
    """What gold says, whatever its form and order."""
    told = [
        (str(link.key), link.mention, {kb: sorted(link.ids[kb]) for kb in sorted(link.ids)})
        for link in known.links
    ]
    return hashlib.sha256(msgspec.json.encode([sorted(known.documents), told])).hexdigest()


def gold_in(kb: str, gold: GoldLinks) -> GoldLinks:
    """Gold as one knowledge base has it: what has no id there is NIL."""
    known = sorted({name for link in gold.links for name in link.ids})
    if kb not in known:
        there = ", ".join(known) or "none"
        raise UsageError(f'kb "{kb}": no gold mention has an id there; there are {there}')
    links = tuple(structs.replace(link, ids=_only(kb, link)) for link in gold.links)
    return structs.replace(gold, links=links)


def _only(kb: str, link: GoldLink) -> dict[str, frozenset[str]]:
    return {name: ids for name, ids in link.ids.items() if name == kb}


def predicted_in(kb: str, predicted: Sequence[PredictedLink]) -> list[PredictedLink]:
    """Predictions with the candidates that have an id in one knowledge base, the others left out.

    What has none left, and did not say NIL, is an answer that is wrong.
    """
    return [_within(kb, said) for said in predicted]


def _within(kb: str, said: PredictedLink) -> PredictedLink:
    kept = tuple(one for candidate in said.candidates for one in _ids_in(kb, candidate))
    if kept == said.candidates:
        return said
    nil = said.nil if said.nil is not None or kept else False
    return structs.replace(said, candidates=kept, nil=nil)


def _ids_in(kb: str, candidate: Candidate) -> list[Candidate]:
    if candidate.kb == NIL_KB:
        return [candidate]
    there = [id for name, id in candidate.ids if name == kb]
    return [Candidate(there[0], kb, candidate.score, candidate.also)] if there else []


Case = tuple[MentionPair, LinkedMention]
"""A mention on both sides, and its facts."""
Kind = Literal["wrong", "ranked_low", "not_linked", "should_be_nil", "missing"]
SHOWN_CANDIDATES = 5
RANKS = {"1": (1, 1), "2-5": (2, 5), "6-10": (6, 10)}


def detail_of(cases: Sequence[Case]) -> LinkDetail:
    """The detail of a report, from all mentions in the order of their documents."""
    facts = [mention for _, mention in cases]
    counts: Counter[str] = Counter()
    errors: list[LinkError] = []
    for (gold, said), mention in cases:
        kind = error_kind(mention)
        if kind is None or gold is None:
            continue
        counts[kind] += 1
        if counts[kind] <= ERRORS_KEPT:
            errors.append(_error(kind, gold, said, mention))
    return LinkDetail(
        in_kb=sum(mention.in_kb for mention in facts),
        nil=sum(mention.nil for mention in facts),
        missing=sum(mention.in_gold and not mention.answered for mention in facts),
        ranks=_ranks(facts),
        kb_pairs=_kb_pairs(facts),
        error_counts=dict(sorted(counts.items())),
        errors=tuple(errors),
    )


def error_kind(mention: LinkedMention) -> Kind | None:
    """What is wrong with the answer to a gold mention; None where nothing is."""
    if not mention.in_gold or mention.right:
        return None
    if not mention.answered:
        return "missing"
    if mention.nil:
        return "should_be_nil"
    if not mention.linked:
        return "not_linked"
    return "wrong" if mention.rank is None else "ranked_low"


def types_of(cases: Sequence[Case]) -> dict[str, dict[str, float | None]]:
    """By type of mention, where gold tells: how many there are, how many are NIL, and scores."""
    by_type: dict[str, list[LinkedMention]] = {}
    for (gold, _), mention in cases:
        if gold is not None and gold.type is not None:
            by_type.setdefault(gold.type, []).append(mention)
    return {name: _scores(by_type[name]) for name in sorted(by_type)}


def _scores(mentions: Sequence[LinkedMention]) -> dict[str, float | None]:
    in_kb = [mention for mention in mentions if mention.in_kb]
    hits = sum(mention.rank == 1 for mention in in_kb)
    reciprocal = sum(1 / mention.rank for mention in in_kb if mention.rank)
    return {
        "hits@1": hits / len(in_kb) if in_kb else None,
        "mrr": reciprocal / len(in_kb) if in_kb else None,
        "accuracy": sum(mention.right for mention in mentions) / len(mentions),
        "n": len(mentions),
        "nil": len(mentions) - len(in_kb),
    }


def _ranks(facts: Sequence[LinkedMention]) -> dict[str, int]:
    found = dict.fromkeys((*RANKS, "beyond", "none"), 0)
    for mention in facts:
        if mention.in_kb:
            found[_rank_name(mention.rank)] += 1
    return found


def _rank_name(rank: int | None) -> str:
    if rank is None:
        return "none"
    return next((name for name, (low, high) in RANKS.items() if low <= rank <= high), "beyond")


def _kb_pairs(facts: Sequence[LinkedMention]) -> dict[str, KbPair]:
    of = Counter(pair for mention in facts for pair in mention.paired)
    told: dict[str, list[bool]] = {pair: [] for pair in sorted(of)}
    for mention in facts:
        for pair, agrees in mention.pairs.items():
            told[pair].append(agrees)
    return {pair: _kb_pair(of[pair], agreeing) for pair, agreeing in told.items()}


def _kb_pair(of: int, agreeing: Sequence[bool]) -> KbPair:
    comparable, agree = len(agreeing), sum(agreeing)
    agreement = agree / comparable if comparable else None
    return KbPair(of=of, comparable=comparable, agree=agree, agreement=agreement)


def _error(
    kind: Kind, gold: GoldLink, said: PredictedLink | None, mention: LinkedMention
) -> LinkError:
    ids = [id for kb in sorted(gold.ids) for id in sorted(gold.ids[kb])]
    return LinkError(
        kind=kind,
        key=str(gold.key),
        mention=gold.mention,
        gold=tuple(ids) or ("NIL",),
        predicted=_shown(said),
        rank=mention.rank,
        context=gold.context,
        where=said.where if said else gold.where,
    )


def _shown(said: PredictedLink | None) -> tuple[str, ...]:
    """The first candidates; NIL in front where that is the answer."""
    ranked = said.ranked if said else ()
    return tuple(candidate.id for candidate in ranked[:SHOWN_CANDIDATES])


def hipe_links(
    gold: Source, predicted: Source, layer: str, reading: LinkReading
) -> tuple[Source, Source, bool]:
    """The two sides, HIPE tables as records of linked documents; and whether gold is one.

    Of two tables the places count tokens, which must be the same; next to another format they
    count the characters of the text that the tokens make. Of a gold mention the first link counts.
    """
    known = _read(gold, layer, reading, split=False)
    said = _read(predicted, layer, reading, split=True)
    sides = [None if one is None else of_file(one) for one in (known, said)]
    if sides[0] is not None and sides[1] is not None:
        sides = list(by_order(sides[0], sides[1]))
        reading.problems.extend(_other_tokens(*sides))  # type: ignore[arg-type]
    for side in sides:
        for finding in side.findings if side else ():
            reading.findings.add(finding)
    in_tokens = None not in sides
    if known is not None and sides[0] is not None:
        gold = _records(known, sides[0], in_tokens, reading, is_gold=True)
    if said is not None and sides[1] is not None:
        predicted = _records(said, sides[1], in_tokens, reading, is_gold=False)
    return gold, predicted, known is not None


def _read(source: Source, layer: str, reading: LinkReading, *, split: bool) -> EntityFile | None:
    """The linked entities of a HIPE table; None where the source is none."""
    if not isinstance(source, str | Path) or str(source) == STDIN:
        return None
    if reading.input_format not in (None, "hipe"):
        return None
    if reading.input_format is None and not is_hipe(read_whole(str(source))):
        return None
    return read_entities(
        source, problems=reading.problems, input_format="hipe", links=layer, split_links=split
    )


def _other_tokens(gold: Marked, predicted: Marked) -> list[str]:
    """What is wrong with documents whose tokens are not those of gold."""
    known = {id: place for place, id in enumerate(gold.ids)}
    problems = []
    for place, id in enumerate(predicted.ids):
        if id not in known:
            continue
        ours, theirs = _words(gold, known[id]), _words(predicted, place)
        unlike = [at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len({*pair}) > 1]
        if len(ours) != len(theirs):
            fact = f"has {len(theirs):,} tokens in {quoted(id)}, and gold {len(ours):,}"
        elif unlike:
            at = unlike[0]
            fact = f"token {at + 1:,} of {quoted(id)} is {quoted(theirs[at])}, in gold "
            fact += quoted(ours[at])
        else:
            continue
        remedy = "links of HIPE tables are compared token by token"
        problems.append(f"{predicted.where(place)}: {fact}; {remedy}")
    return problems


def _words(side: Marked, place: int) -> list[str]:
    text, tokens = side.texts[place] or "", side.tokens[place] or ()
    return [text[start:end] for start, end in tokens]


def _records(
    file: EntityFile, side: Marked, in_tokens: bool, reading: LinkReading, *, is_gold: bool
) -> list[Placed]:
    """A record for each document, with its linked entities."""
    entities = [entity for document in file.documents for entity in document.entities]
    found: list[Placed] = [
        Placed(
            side.where(place),
            {"doc_id": id, "entities": [], "strata": dict(side.strata[place])},
        )
        for place, id in enumerate(side.ids)
    ]
    columns = side.columns
    for row, doc in enumerate(columns.doc.tolist()):
        start, end = int(columns.start[row]), int(columns.end[row])
        mention = (side.texts[doc] or "")[start:end]
        if in_tokens:
            tokens = side.tokens[doc] or ()
            start, end = bisect_left(tokens, (start, 0)), bisect_left(tokens, (end, 0))
        said = _gold_link(entities[row]) if is_gold else _alternatives(entities[row])
        entity = {"start": start, "end": end, "type": entities[row].type, "mention": mention}
        found[doc].record["entities"].append({**entity, **said})
        links = entities[row].links or ()
        if is_gold and len(links) > 1:
            fact = f"{quoted(mention)} has {len(links)} links in gold; only the first counts"
            reading.findings.add(Finding("gold_alternatives", side.where(doc), fact))
    return found


def _gold_link(entity: Entity) -> dict[str, Any]:
    """The first link of gold, as the scorer takes it; nothing where the cell is empty."""
    if entity.links is None:
        return {}
    first = next(iter(entity.links), None)
    return {"gold": None if first is None or is_nil(first) else first}


def _alternatives(entity: Entity) -> dict[str, Any]:
    return {} if entity.links is None else {"candidates": list(entity.links)}


def refuse_unscored(
    gold: str, predicted: str, known: GoldLinks, said: Sequence[PredictedLink], found: Joined
) -> None:
    """Raise InputRejected where gold has no mention, or no prediction belongs to it."""
    if not known.links:
        raise InputRejected(f"{gold}: nothing to score: no mention has a gold link")
    if found.unknown and not any(said for pairs in found.units.values() for _, said in pairs):
        raise InputRejected(
            f"{predicted}: nothing to score: none of the {found.unknown:,} predictions belongs to "
            f"a mention or a document of {gold}; are the ids and places the same in both? "
            f"Gold has {first_ids({link.unit for link in known.links})}, the predictions "
            f"{first_ids({one.document or one.key.doc for one in said})}"
        )


def note_tolerated(reading: LinkReading) -> None:
    """Make findings of the problems that `max_bad` let pass."""
    for problem in reading.problems:
        where, _, fact = problem.partition(": ")
        reading.findings.add(Finding("bad_record", where, fact))


def note_repeated(said: PredictedLink, findings: Findings) -> None:
    """Tell of candidates that were named twice and take up one rank."""
    if said.repeated:
        fact = f"candidates named before, which take up no rank: {said.repeated}"
        findings.add(Finding("duplicate_candidate", said.where, fact), said.repeated)


def note_unused(crosswalk: Sequence[SamePair], findings: Findings) -> None:
    """Tell of relations in a crosswalk that do not say two ids are one entity."""
    unused = Counter(pair.relation for pair in crosswalk if not is_same(pair))
    first = {pair.relation: pair.where for pair in reversed(crosswalk)}
    for relation, times in sorted(unused.items()):
        fact = f"{quoted(relation)} does not say that two ids are one entity; not used"
        findings.add(Finding("other_relation", first[relation], fact), times)


def note_other_bases(found: Joined, findings: Findings) -> None:
    """Tell of answers that have no id in any knowledge base their mention has one in."""
    for pairs in found.units.values():
        for gold, said in pairs:
            if gold and said and said.linked and not gold.nil:
                _note_other_base(gold, said, findings)


def _note_other_base(gold: GoldLink, said: PredictedLink, findings: Findings) -> None:
    told = {kb for candidate in said.candidates for kb, _ in candidate.ids}
    if told.isdisjoint(gold.ids):
        here, there = ", ".join(sorted(gold.ids)), ", ".join(sorted(told))
        fact = f"gold knows {quoted(gold.mention)} in {here}, the answer is in {there}: wrong"
        findings.add(Finding("other_knowledge_base", said.where, fact))
