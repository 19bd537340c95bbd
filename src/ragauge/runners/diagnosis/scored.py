"""Material from score rows: what other tools, or ours, said of each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ragauge import __version__
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.diagnosis import AddressCounts, ScoreRow, Threshold
from ragauge.contracts.finding import Finding
from ragauge.contracts.score import Score
from ragauge.diagnosis.features import features
from ragauge.diagnosis.limits import limits_of, mean
from ragauge.diagnosis.material import Material, Measured
from ragauge.diagnosis.scored_case import scored_case
from ragauge.ingest.scored.scored_file import ScoredFile
from ragauge.metrics.claims import answer_addresses, reference_addresses, relevance
from ragauge.runners.diagnosis.claims import LexicalClaims, Progress, unseen

ABSENT = "absent"
"""How a row counts that does not have the field at all."""
CLAIMED = 1_000
"""Samples whose claims are taken apart; of more, those with the lowest scores."""


def scored_material(
    file: ScoredFile,
    limits: dict[str, Threshold] | None = None,
    *,
    lexical: bool = True,
    progress: Progress = unseen,
) -> Material:
    """The material of score rows; `limits` are thresholds of the user's own.

    Claims that a row brings are believed; the others are judged by words, where that is wanted.
    """
    own = limits or {}
    measured = {name: _measured(name, file.rows, own) for name in file.metrics}
    claims = _claims(file.rows, measured, progress) if lexical else _brought(file.rows)
    if len(claims) < len(file.rows) and len(file.rows) > CLAIMED:
        message = f"claims were looked at in {len(claims):,} samples, those with the lowest scores"
        file.findings.add(Finding("claims_of_some", "", message))
    return Material(
        samples=file.rows,
        metrics=measured,
        cases=[scored_case(row, claims.get(row.id)) for row in file.rows],
        addresses=address_counts(list(claims.values())),
        features={row.id: features(row, _first_relevant(row, claims)) for row in file.rows},
        unknown=_unknown(file.rows, claims),
        findings=file.findings,
        coverage={"samples": len(file.rows), "rejected": file.rejected, "claims": len(claims)},
        identity={"command": "diagnose", "form": file.form, "ragauge": __version__},
    )


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
    invalid = Counter(_kind(row, name) for row in rows if name not in row.values)
    return Measured(
        score=score,
        better=limits.better if limits else None,
        limits=limits,
        invalid=dict(sorted(invalid.items())),
    )


def _kind(row: ScoreRow, name: str) -> str:
    """What stood in place of a score; texts are all one kind."""
    return row.invalid.get(name, ABSENT).partition(' "')[0]


def _brought(rows: Sequence[ScoreRow]) -> dict[str, AnswerClaims]:
    """The claims that samples bring of their own, by id."""
    return {row.id: row.claims for row in rows if row.claims is not None}


def _claims(
    rows: Sequence[ScoreRow], measured: dict[str, Measured], progress: Progress
) -> dict[str, AnswerClaims]:
    """The claims of each sample by its id: its own, or by words alone."""
    found, taken = _brought(rows), LexicalClaims()
    ordered = sorted(rows, key=lambda row: (_mean_of(row, measured), row.id))[:CLAIMED]
    for done, row in enumerate(ordered, 1):
        if row.id not in found:
            told = taken.of(row.id, row.question, row.answer, row.reference, row.contexts)
            if told is not None:
                found[row.id] = told
        progress(done, len(ordered))
    return found


def _mean_of(row: ScoreRow, measured: dict[str, Measured]) -> float:
    """How good a sample is, for choosing the worst: scores that are better when lower turned."""
    turned = [
        1 - value if (measured[name].better == "lower") else value
        for name, value in row.values.items()
        if name in measured and measured[name].limits
    ]
    return mean(turned) if turned else 1.0


def _first_relevant(row: ScoreRow, claims: dict[str, AnswerClaims]) -> int | None:
    """The rank of the first relevant chunk; 0 where none is, None where nobody can tell."""
    if row.gold_ids and row.retrieved_ids is not None:
        ranks = [rank for rank, id in enumerate(row.retrieved_ids, 1) if id in row.gold_ids]
        return min(ranks, default=0)
    told = claims.get(row.id)
    relevant = relevance(told) if told else None
    if relevant is None:
        return None
    return next((rank for rank, useful in enumerate(relevant, 1) if useful), 0)


def address_counts(claims: Sequence[AnswerClaims]) -> AddressCounts | None:
    """Where the claims of all samples come from, and what became of those of the references."""
    if not claims:
        return None
    answer = Counter(one for told in claims for one in answer_addresses(told))
    reference = Counter(one for told in claims for one in reference_addresses(told))
    return AddressCounts(
        samples=len(claims),
        source=", ".join(sorted({told.judge.partition(" ")[0] for told in claims})),
        answer=_named(answer),
        reference=_named(reference),
    )


def _named(counts: Counter[Any]) -> dict[str, int]:
    return {str(name or "unjudged"): times for name, times in counts.items()}


def _unknown(rows: Sequence[ScoreRow], claims: dict[str, AnswerClaims]) -> tuple[str, ...]:
    """Keys of what the rows do not allow to say."""
    lexical = any(told.judge.startswith("lexical") for told in claims.values())
    checks = {
        "no_contexts": not any(row.contexts for row in rows),
        "no_reference": not any(row.reference for row in rows),
        "no_retrieved_ids": not any(row.retrieved_ids for row in rows),
        "no_gold": not any(row.gold_ids for row in rows),
        "no_payloads": True,
        "no_other_wordings": True,
        "no_claims": not claims,
        "lexical_claims": lexical,
        "no_strata": not any(row.strata for row in rows),
        "no_replay": True,
    }
    return tuple(key for key, holds in checks.items() if holds)
