"""The facts of answers before anyone is asked: their rows, and whether they refuse."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.refusal import REFUSING, Refusal
from ragauge.ingest.fields import quoted
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.runners.answers.options import AnswerOptions
from ragauge.text.canonical import composed
from ragauge.text.refusal import Tokens, refusal_in, refusal_in_free_words, tokens

TOLD = {
    "near": "dresses up the refusal token",
    "free": "refuses in its own words",
    "undetermined": "may refuse in its own words, or answer",
}
"""What is said of refusals that do not count as such."""


def facts_of(
    rows: Sequence[AnswerRow], options: AnswerOptions, findings: Findings
) -> list[AnswerFacts]:
    """What is known of each answer; a refusal that does not count as one is a finding."""
    known = tokens(tuple(map(composed, options.refusal_tokens)))
    facts = []
    for row in rows:
        refusal = _refusal(row, known)
        refused = refusal in REFUSING[options.refusal]
        if not refused and refusal in TOLD:
            fact = f"{quoted(row.id)} {TOLD[refusal]}, and counts as an answer"
            findings.add(Finding(f"{refusal}_refusal", row.where, fact))
        own = row if options.kind is None else structs.replace(row, kind=options.kind)
        facts.append(AnswerFacts(row=own, refused=refused))
    return facts


def _refusal(row: AnswerRow, known: Tokens) -> Refusal:
    if row.answer is None:
        return "none"
    refusal = refusal_in(composed(row.answer), known)
    return refusal_in_free_words(row.answer, row.question) if refusal == "none" else refusal
