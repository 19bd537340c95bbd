"""Evaluating entity linking: gold mentions against what a system links them to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import structs

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.links import GoldLinks, LinkedMention, SamePair
from ragauge.contracts.score import Outcome
from ragauge.errors import UsageError
from ragauge.ingest.linked.crosswalk import read_crosswalk
from ragauge.ingest.linked.link_files import read_gold_links, read_predicted_links
from ragauge.ingest.linked.link_records import LinkReading, name_of
from ragauge.metrics.link_facts import Comparing, linked_mentions
from ragauge.metrics.link_sums import mention_sums
from ragauge.metrics.link_tables import Crosswalk, Equivalents
from ragauge.metrics.linking import DEFAULT_RANKS, HIPE, METRICS, hits_at, named
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.linking_bases import gold_in, predicted_in
from ragauge.runners.components.linking_detail import Case, detail_of, error_kind, types_of
from ragauge.runners.components.linking_hipe import hipe_links
from ragauge.runners.components.linking_join import Duplicates, Joined, joined
from ragauge.runners.components.linking_notes import (
    note_other_bases,
    note_repeated,
    note_tolerated,
    note_unused,
    refuse_unscored,
)
from ragauge.runners.components.options import EvalOptions, chosen_options, refuse_bad, rules_for
from ragauge.runners.components.strata import strata_of
from ragauge.text.kb_ids import kb_name

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


def evaluate_linking(
    gold: Source,
    predicted: Source,
    *,
    equivalents: PairSource | None = None,
    crosswalk: PairSource | None = None,
    **options: Any,
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


def _asked(options: dict[str, Any]) -> LinkingOptions:
    """The options, checked; a gate on another rank asks for that rank."""
    asked = chosen_options("linking", LinkingOptions, options)
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
