"""What a reader should know of the links that were read, and when there is nothing to score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.links import GoldLink, GoldLinks, PredictedLink, SamePair
from ragauge.errors import InputRejected
from ragauge.ingest.fields import quoted
from ragauge.ingest.linked.link_records import LinkReading
from ragauge.metrics.link_tables import is_same
from ragauge.runners.components.entity_notes import first_ids
from ragauge.runners.components.linking_join import Joined


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
