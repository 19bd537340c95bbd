"""Evaluating entity linking: gold mentions against what a system links them to."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import structs

from ragauge.contracts.evaluation import ERRORS_KEPT, EvalReport, KbPair, LinkDetail, LinkError
from ragauge.contracts.links import GoldLinks, LinkedMention, PredictedLink, SamePair
from ragauge.contracts.metric import Metric
from ragauge.contracts.opt import takes
from ragauge.contracts.options import DEFAULT_RANKS, LinkingOptions
from ragauge.contracts.report import Finding, Outcome
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.linked.crosswalk import read_crosswalk
from ragauge.ingest.linked.link_files import (
    LINK,
    LinkReading,
    name_of,
    read_gold_links,
    read_predicted_links,
)
from ragauge.ingest.records import columns_for
from ragauge.metrics.link_facts import (
    Crosswalk,
    Equivalents,
    IdMappings,
    MentionPair,
    is_same,
    linked_mentions,
    mention_sums,
)
from ragauge.metrics.linking import HIPE, METRICS, from_name, hits_at
from ragauge.runners.components.evaluation import (
    Evaluated,
    first_ids,
    note_problems,
    outcome_of,
    strata_of,
)
from ragauge.runners.components.linking_join import Joined, hipe_links, joined, only_kb
from ragauge.runners.components.options import refuse_bad, rules_for
from ragauge.text.kb_ids import kb_name

if TYPE_CHECKING:
    from ragauge.ingest.records import Source


HEADLINES = ("linking.hits@1", "linking.mrr", "linking.accuracy", "linking.nil_f1")
Case = tuple[MentionPair, LinkedMention]
"""A mention on both sides, and its facts."""
Kind = Literal["wrong", "ranked_low", "not_linked", "should_be_nil", "missing"]
SHOWN_CANDIDATES = 5
RANKS = {"1": (1, 1), "2-5": (2, 5), "6-10": (6, 10)}


@takes(LinkingOptions, "eval linking")
def evaluate_linking(
    gold: Source,
    predicted: Source,
    *,
    equivalents: Source | None = None,
    crosswalk: Source | None = None,
    columns: Columns | None = None,
    options: LinkingOptions,
) -> Outcome[EvalReport]:
    """How well mentions are linked: ranks, NIL, end to end, and across knowledge bases.

    Each side is a file, a sequence of records or a polars frame; the tables of equivalents and the
    crosswalk are files or records. `columns` says for fields where the predictions have them, for
    `gold.FIELD` where gold does. Raises InputRejected with all that is wrong beyond `max_bad`.
    """
    asked = _asked(options)
    mapped = columns_for(columns, predicted=LINK, gold=LINK)
    reading = LinkReading(input_format=asked.input_format, bare=asked.kb)
    files = name_of(gold, "gold"), name_of(predicted, "predicted")
    gold, predicted, hipe = hipe_links(gold, predicted, asked.layer, reading, mapped)
    known = read_gold_links(gold, reading, mapped["gold"])
    said = read_predicted_links(predicted, reading, mapped["predicted"])
    tables = {"equivalents": equivalents, "crosswalk": crosswalk}
    same, walk = (
        None if table is None else read_crosswalk(table, reading.problems, reading.findings)
        for table in tables.values()
    )
    if asked.kb and known.links:
        known, said = only_kb(asked.kb, known, said)
    found = joined(known, said, asked.duplicates, reading)
    own = []
    for unit, pairs in found.units.items():
        of_mentions = (link.strata for link, _ in pairs if link is not None)
        own.append(_common_strata(unit, [known.documents.get(unit, {}), *of_mentions], reading))
    strata = strata_of(list(found.units), own, asked)
    refuse_bad(reading.problems, len(known.links) + len(said), asked)
    _refuse_unscored(*files, known, said, found)
    _note(reading, said, found if same is None and asked.kb is None else None, walk or ())
    asked = structs.replace(asked, equivalents=_sha256(same), crosswalk=_sha256(walk))
    by = IdMappings(
        None if same is None else Equivalents(same), None if walk is None else Crosswalk(walk)
    )
    units = [linked_mentions(pairs, by) for pairs in found.units.values()]
    cases = [
        (pair, mention)
        for pairs, facts in zip(found.units.values(), units, strict=True)
        for pair, mention in zip(pairs, facts, strict=True)
    ]
    signed = [f"kb:{asked.kb or 'any'}", f"duplicates:{asked.duplicates}"]
    signed += [f"layer:{asked.layer}"] if hipe else []
    for name in tables:
        signed += [f"{name}:{sha256[:8]}"] if (sha256 := getattr(asked, name)) else []
    nil = sum(link.nil for link in known.links)
    return outcome_of(
        Evaluated(
            task="linking",
            units=list(found.units),
            sums={metric.id: mention_sums(metric, units) for metric in _metrics(asked, hipe=hipe)},
            headlines=HEADLINES,
            strata=strata,
            # All answered right, and nothing else linked.
            right=[
                all(one.right if one.in_gold else not one.linked for one in some) if some else None
                for some in units
            ],
            per_type=_per_type(cases),
            detail=_detail(cases),
            findings=reading.findings,
            coverage={
                "documents": len(known.documents),
                "mentions": len(known.links),
                "in_kb": len(known.links) - nil,
                "nil": nil,
                "scored": sum(mention.in_gold and mention.answered for _, mention in cases),
                "missing": found.missing,
                "unknown": found.unknown,
                "duplicates": found.duplicates,
                "rejected": len(reading.problems),
            },
            signature="|".join(signed),
            unread=tuple(dict.fromkeys(reading.unread)),
            faults=[
                (unit, kind)
                for unit, mentions in zip(found.units, units, strict=True)
                for mention in mentions
                if (kind := _error_kind(mention)) is not None
            ],
            gold_sha256=_gold_sha256(known),
        ),
        asked,
    )


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


def _metrics(asked: LinkingOptions, *, hipe: bool) -> Iterable[Metric]:
    """The table's metrics, HIPE's only for its files, with other ranks and what a gate names."""
    gated = {rule.metric for rule in rules_for("linking", asked)}
    usual = [metric for metric in METRICS if hipe or metric not in HIPE or metric.id in gated]
    ranks = (hits_at(k) for k in asked.k if k not in DEFAULT_RANKS)
    others = (from_name(id) for id in sorted(gated - {metric.id for metric in METRICS}))
    found = (*usual, *ranks, *others)
    return {metric.id: metric for metric in found if metric is not None}.values()


def _common_strata(
    unit: str, rows: Sequence[dict[str, Any]], reading: LinkReading
) -> dict[str, Any]:
    """By stratum the value of a document; none where its mentions do not have one in common."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            if value not in (None, *values.setdefault(name, [])):
                values[name].append(value)
    for name, several in values.items():
        if len(several) > 1:
            shown = ", ".join(sorted(map(str, several)))
            fact = f"{name} is {shown} in one document, which then has none"
            reading.findings.add(Finding("mixed_stratum", unit, fact))
    return {name: several[0] for name, several in values.items() if len(several) == 1}


def _sha256(pairs: Sequence[SamePair] | None) -> str | None:
    """What a table says, whatever its form and order."""
    if pairs is None:
        return None
    said = [(pair.one, pair.other, pair.relation) for pair in pairs]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def _gold_sha256(known: GoldLinks) -> str:
    """What gold says, whatever its form and order."""
    said = [
        (str(link.key), link.mention, {kb: sorted(link.ids[kb]) for kb in sorted(link.ids)})
        for link in known.links
    ]
    return hashlib.sha256(msgspec.json.encode([sorted(known.documents), said])).hexdigest()


def _refuse_unscored(
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


def _note(
    reading: LinkReading,
    said: Sequence[PredictedLink],
    found: Joined | None,
    crosswalk: Sequence[SamePair],
) -> None:
    """Add the findings on what was read; answers in other knowledge bases only of `found`."""
    findings = reading.findings
    note_problems(reading.problems, findings)
    for one in said:
        if one.repeated:
            fact = f"candidates named before, which take up no rank: {one.repeated}"
            findings.add(Finding("duplicate_candidate", one.where, fact), one.repeated)
    for pairs in found.units.values() if found else ():
        for gold, answer in pairs:
            if not gold or not answer or not answer.linked or gold.nil:
                continue
            bases = {kb for candidate in answer.candidates for kb, _ in candidate.ids}
            if bases.isdisjoint(gold.ids):
                here, there = ", ".join(sorted(gold.ids)), ", ".join(sorted(bases))
                fact = f"gold knows {quoted(gold.mention)} in {here}, the answer is in {there}"
                findings.add(Finding("other_knowledge_base", answer.where, f"{fact}: wrong"))
    unused = Counter(pair.relation for pair in crosswalk if not is_same(pair))
    first = {pair.relation: pair.where for pair in reversed(crosswalk)}
    for relation, times in sorted(unused.items()):
        fact = f"{quoted(relation)} does not say that two ids are one entity; not used"
        findings.add(Finding("other_relation", first[relation], fact), times)


def _error_kind(mention: LinkedMention) -> Kind | None:
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


def _detail(cases: Sequence[Case]) -> LinkDetail:
    """The detail of a report, from all mentions in the order of their documents."""
    facts = [mention for _, mention in cases]
    counts: Counter[str] = Counter()
    errors: list[LinkError] = []
    for (gold, said), mention in cases:
        kind = _error_kind(mention)
        if kind is None or gold is None:
            continue
        counts[kind] += 1
        if counts[kind] <= ERRORS_KEPT:
            ids = [id for kb in sorted(gold.ids) for id in sorted(gold.ids[kb])]
            ranked = said.ranked if said else ()  # NIL in front where that is the answer
            errors.append(
                LinkError(
                    kind=kind,
                    key=str(gold.key),
                    mention=gold.mention,
                    gold=tuple(ids) or ("NIL",),
                    predicted=tuple(candidate.id for candidate in ranked[:SHOWN_CANDIDATES]),
                    rank=mention.rank,
                    context=gold.context,
                    where=said.where if said else gold.where,
                )
            )
    ranks = dict.fromkeys((*RANKS, "beyond", "none"), 0)
    for mention in facts:
        rank = mention.rank
        if mention.in_kb:
            within = (name for name, (low, high) in RANKS.items() if low <= (rank or 0) <= high)
            ranks["none" if rank is None else next(within, "beyond")] += 1
    of = Counter(pair for mention in facts for pair in mention.paired)
    agreeing: dict[str, list[bool]] = {pair: [] for pair in sorted(of)}
    for mention in facts:
        for pair, agrees in mention.pairs.items():
            agreeing[pair].append(agrees)
    return LinkDetail(
        in_kb=sum(mention.in_kb for mention in facts),
        nil=sum(mention.nil for mention in facts),
        missing=sum(mention.in_gold and not mention.answered for mention in facts),
        ranks=ranks,
        kb_pairs={
            pair: KbPair(
                of=of[pair],
                comparable=len(some),
                agree=sum(some),
                agreement=sum(some) / len(some) if some else None,
            )
            for pair, some in agreeing.items()
        },
        error_counts=dict(sorted(counts.items())),
        errors=tuple(errors),
    )


def _per_type(cases: Sequence[Case]) -> dict[str, dict[str, float | None]]:
    """By type of mention, where gold has them: how many there are, how many are NIL, and scores."""
    by_type: dict[str, list[LinkedMention]] = {}
    for (gold, _), mention in cases:
        if gold is not None and gold.type is not None:
            by_type.setdefault(gold.type, []).append(mention)
    found: dict[str, dict[str, float | None]] = {}
    for name, mentions in sorted(by_type.items()):
        in_kb = [mention for mention in mentions if mention.in_kb]
        hits = sum(mention.rank == 1 for mention in in_kb)
        reciprocal = sum(1 / mention.rank for mention in in_kb if mention.rank)
        found[name] = {
            "hits@1": hits / len(in_kb) if in_kb else None,
            "mrr": reciprocal / len(in_kb) if in_kb else None,
            "accuracy": sum(mention.right for mention in mentions) / len(mentions),
            "n": len(mentions),
            "nil": len(mentions) - len(in_kb),
        }
    return found
