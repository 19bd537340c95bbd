"""Material from score rows: what other tools, or ours, said of each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import structs

from ragauge import __version__
from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.diagnosis import AddressCounts, ScoreRow, Threshold
from ragauge.contracts.report import Finding, Findings, Score
from ragauge.diagnosis.cases import Material, Measured
from ragauge.diagnosis.features import features, needed_ranks
from ragauge.diagnosis.limits import in_range, limits_of, mean, severity
from ragauge.diagnosis.scored_case import scored_case
from ragauge.engines.local import Progress, no_progress
from ragauge.grounding import Passages
from ragauge.grounding.model import shipped
from ragauge.ingest.scored.scored_file import ScoredFile
from ragauge.metrics.claims import (
    answer_addresses,
    in_contexts,
    reference_addresses,
    relevance,
)
from ragauge.models.judging import lexical_claims
from ragauge.runners.answers.supporting import SentenceSupporter

KEPT_PASSAGES, KEPT_PAIRS = 4096, 1 << 16
ABSENT = "absent"
"""How a row counts that does not have the field at all."""
OUT_OF_RANGE = "out_of_range"
CLAIMED = 1_000
"""Samples whose claims are taken apart; of more, those with the lowest scores."""


class LexicalClaims:
    """Takes answers apart; runs of one question say much the same, and are not compared twice."""

    def __init__(self) -> None:
        self._sentences = SentenceSupporter(shipped(), "qa", lru_cache(KEPT_PASSAGES)(Passages))
        self.supports = lru_cache(KEPT_PAIRS)(self._sentences.supports)

    @property
    def id(self) -> str:
        return self._sentences.id

    def table(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[bool]]:
        return [[self.supports(claim, passage) for passage in passages] for claim in claims]

    def of(
        self,
        id: str,
        question: str | None,
        answer: str | None,
        reference: str | None,
        contexts: tuple[Context, ...] | None,
    ) -> AnswerClaims | None:
        """The claims of an answer; None where there is nothing to hold them against."""
        if not answer or (contexts is None and not reference):
            return None
        row = AnswerRow(
            id=id,
            question=question,
            answer=answer,
            references=(reference,) if reference else (),
            contexts=contexts,
        )
        return lexical_claims(row, self)


def scored_material(
    file: ScoredFile,
    limits: dict[str, Threshold] | None = None,
    *,
    lexical: bool = True,
    progress: Progress = no_progress,
) -> Material:
    """The material of score rows; `limits` are thresholds of the user's own.

    Claims that a row brings are believed; the others are judged by words, where that is wanted.
    """
    own, rows = limits or {}, [_in_range(row) for row in file.rows]
    measured = {name: _measured(name, rows, own) for name in file.metrics}
    looked: list[ScoreRow] = []
    if lexical:
        looked = sorted(rows, key=lambda row: (_mean_of(row, measured), row.id))[:CLAIMED]
    claims = {row.id: row.claims for row in rows if row.claims is not None}
    taken = LexicalClaims()
    for done, row in enumerate(looked, 1):
        if row.claims is None:
            found = taken.of(row.id, row.question, row.answer, row.reference, row.contexts)
            if found is not None:
                claims[row.id] = found
        progress(done, len(looked))
    known = claims.keys() | {row.id for row in looked}
    _note(rows, claims, file.findings)
    unknown = {
        "no_contexts": not any(row.contexts for row in rows),
        "no_reference": not any(row.reference for row in rows),
        "no_retrieved_ids": not any(row.retrieved_ids for row in rows),
        "no_gold": not any(row.gold_ids for row in rows),
        "no_payloads": True,
        "no_other_wordings": True,
        "no_claims": not claims,
        "lexical_claims": any(one.judge.startswith("lexical") for one in claims.values()),
        "no_strata": not any(row.strata for row in rows),
        "no_replay": True,
    }
    return Material(
        samples=rows,
        metrics=measured,
        by_scores=True,
        cases=[
            scored_case(row, claims.get(row.id), own, passed_over=row.id not in known)
            for row in rows
        ],
        addresses=address_counts(list(claims.values())),
        features={row.id: features(row, _first_relevant(row, claims)) for row in rows},
        unknown=tuple(key for key, holds in unknown.items() if holds),
        findings=file.findings,
        coverage={"samples": len(rows), "rejected": file.rejected, "claims": len(claims)},
        identity={"command": "diagnose", "form": file.form, "ragauge": __version__},
    )


def _in_range(row: ScoreRow) -> ScoreRow:
    """The row with values that its metrics cannot have among the invalid ones: 85 is no share."""
    beyond = {name: value for name, value in row.values.items() if not in_range(name, value)}
    if not beyond:
        return row
    return structs.replace(
        row,
        values={name: value for name, value in row.values.items() if name not in beyond},
        invalid={**row.invalid, **{name: f'{OUT_OF_RANGE} "{v:g}"' for name, v in beyond.items()}},
    )


def _note(rows: Sequence[ScoreRow], claims: Mapping[str, AnswerClaims], findings: Findings) -> None:
    """Findings about the claims: how many were looked at, and where the judge says otherwise."""
    if len(claims) < len(rows) and len(rows) > CLAIMED:
        message = f"claims were looked at in {len(claims):,} samples, those with the lowest scores"
        findings.add(Finding("claims_of_some", "", message))
    for metric, side in (("faithfulness", "answer"), ("context_recall", "reference")):
        limits = limits_of(metric)
        low = [
            row
            for row in rows
            if (value := row.values.get(metric)) is not None and limits and row.id in claims
            if severity(value, limits) != "none"
        ]
        counts = [
            in_contexts(getattr(claims[row.id], side) or (), claims[row.id].chunks) for row in low
        ]
        odd = [found for found in counts if found.known and found.true == found.known]
        if odd and 2 * len(odd) > len(low):
            message = (
                f"{metric} is low in {len(low):,} samples, and in {len(odd):,} of them the words "
                "are all in the contexts: look at the judge too"
            )
            findings.add(Finding("judge_and_words_differ", metric, message))


def _measured(name: str, rows: Sequence[ScoreRow], own: dict[str, Threshold]) -> Measured:
    values = [row.values[name] for row in rows if name in row.values]
    limits = own.get(name) or limits_of(name)
    score = Score(
        value=mean(values) if values else None,
        n=len(values),
        of=len(rows),
        reason=None if values else "no valid value",
        signature=f"{name}|mean|n:{len(values)}",
    )
    # What stood in place of a score; texts are all one kind.
    others = (row.invalid.get(name, ABSENT) for row in rows if name not in row.values)
    invalid = Counter(one.partition(' "')[0] for one in others)
    return Measured(
        score=score,
        better=limits.better if limits else None,
        limits=limits,
        invalid=dict(sorted(invalid.items())),
    )


def _mean_of(row: ScoreRow, measured: Mapping[str, Measured]) -> float:
    """How good a sample is, for choosing the worst: scores that are better when lower turned."""
    turned = [
        1 - value if (measured[name].better == "lower") else value
        for name, value in row.values.items()
        if name in measured and measured[name].limits
    ]
    return mean(turned) if turned else 1.0


def _first_relevant(row: ScoreRow, claims: dict[str, AnswerClaims]) -> int | None:
    """The rank of the first relevant chunk; 0 where none is, None where nobody can tell."""
    by_ids = needed_ranks(row)
    if by_ids is not None:
        return min(by_ids, default=0)
    found = claims.get(row.id)
    relevant = relevance(found) if found else None
    if relevant is None:
        return None
    return next((rank for rank, useful in enumerate(relevant, 1) if useful), 0)


def address_counts(claims: Sequence[AnswerClaims]) -> AddressCounts | None:
    """Where the claims of all samples come from, and what became of those of the references."""
    if not claims:
        return None

    def counted(addresses: Callable[[AnswerClaims], Iterable[Any]]) -> dict[str, int]:
        counts = Counter(one for answer in claims for one in addresses(answer))
        return {str(name or "unjudged"): times for name, times in counts.items()}

    return AddressCounts(
        samples=len(claims),
        source=", ".join(sorted({one.judge.partition(" ")[0] for one in claims})),
        answer=counted(answer_addresses),
        reference=counted(reference_addresses),
    )
