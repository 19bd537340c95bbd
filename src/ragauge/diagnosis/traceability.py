"""Advice on traceability beyond the codes: what no single citation shows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.audit import OK, AuditedAnswer, AuditFacts, LambdaState
from ragauge.contracts.score import Advice
from ragauge.contracts.trace_eval import Broken, TracedQuestion
from ragauge.diagnosis.advice import advised

CODES = "traceability.does_not_hold"
"""The entry that sends its reader to the codes, and so comes before every knob."""
NEAREST = "chunk"
"""The ΔS that a calibrated threshold is held against: a single span, as those it was fitted on."""

Turned = Literal["seed", "wording"]
"""What goes with another order of the same chunks; the seed, where one wording shows it."""


class TraceabilityFacts(Struct, frozen=True, kw_only=True):
    """A question over its audited runs, as the catalogue asks for it.

    None is what cannot be said. An audit tells of single answers, and so knows but a few of them.
    """

    qid: str
    answerable: bool | None = None
    holds: bool | None = None
    """Nothing was found in any run."""
    matched: bool | None = None
    """Every answer whose match can be told cites the gold."""
    found: bool | None = None
    """Something of the target section was retrieved."""
    near: bool | None = None
    """An answer holds and misses the gold, and its nearest chunk is within the calibrated ΔS."""
    decoy_nearer: bool | None = None
    retrieval: LambdaState | None = None
    answer: LambdaState | None = None
    broken: Broken | None = None
    turned: Turned | None = None
    demoted: bool | None = None
    """Reranking lowers nDCG, over the runs."""
    short: bool = False
    """It has too few wordings for the recipe."""
    fails_coverage: bool = False
    """The gate fails, and the question is beyond its bound; so with the others."""
    fails_deltas: bool = False
    fails_reach: bool = False
    """Of the gates on how much of the gold is cited."""
    fails_span_precision: bool = False


def traceability_facts(
    question: TracedQuestion,
    runs: Sequence[AuditFacts],
    *,
    turned: Turned | None,
    short: bool,
    failed: Collection[str],
    threshold: float | None,
) -> TraceabilityFacts:
    """What the catalogue may ask of a question.

    `failed` are the names of metrics whose gate fails with this question beyond the bound;
    `threshold` is the calibrated one, None where nobody can say what is near.
    """
    return TraceabilityFacts(
        qid=question.qid,
        answerable=question.answerable,
        holds=all(run.code == OK for run in runs) if runs else None,
        matched=_all([run.matched for run in runs]),
        found=None if question.coverage is None else question.coverage > 0,
        near=_any([_near(run, threshold) for run in runs]),
        decoy_nearer=_any([_decoy_nearer(run.deltaS) for run in runs]),
        retrieval=question.retrieval,
        answer=question.answer,
        broken=question.broken,
        turned=turned,
        demoted=_demoted(runs),
        short=short,
        fails_coverage="coverage" in failed,
        fails_deltas=not {"deltaS_chunk", "deltaS_context"}.isdisjoint(failed),
        fails_reach=not {"cited_coverage", "span_recall"}.isdisjoint(failed),
        fails_span_precision="span_precision" in failed,
    )


def advise_traceability(
    questions: Sequence[TraceabilityFacts],
    strata: Mapping[str, Mapping[str, Any]],
    *,
    codes_first: bool,
) -> tuple[Advice, ...]:
    """The hypotheses that a trace evaluation's questions speak for, ranked as those of a score.

    Where codes come first, none of them is about a knob.
    """
    advice = advised("traceability", questions, {}, strata)
    return tuple(one for one in advice if one.id == CODES) if codes_first else advice


def advise_similarity(
    answers: Iterable[AuditedAnswer], threshold: float | None
) -> tuple[Advice, ...]:
    """What the ΔS of answers that miss the gold speaks for, ranked by how many do.

    Without a calibrated threshold nobody can say what is near.
    """
    told = [
        TraceabilityFacts(qid=answer.qid or answer.where, near=_near(answer, threshold))
        for answer in answers
    ]
    return advised("traceability", told, {}, {})


def _near(one: AuditFacts | AuditedAnswer, threshold: float | None) -> bool | None:
    """Whether an answer that holds and misses the gold had something near to go by."""
    if threshold is None or one.matched is not False or one.code != OK or NEAREST not in one.deltaS:
        return None
    return one.deltaS[NEAREST] <= threshold


def _decoy_nearer(deltas: Mapping[str, float]) -> bool | None:
    if "anchor" not in deltas or "decoy" not in deltas:
        return None
    return deltas["decoy"] <= deltas["anchor"]


def _demoted(runs: Sequence[AuditFacts]) -> bool | None:
    gains = [
        run.ndcg_after - run.ndcg_before
        for run in runs
        if run.ndcg_after is not None and run.ndcg_before is not None
    ]
    return math.fsum(gains) < 0 if gains else None


def _all(told: Sequence[bool | None]) -> bool | None:
    known = [one for one in told if one is not None]
    return all(known) if known else None


def _any(told: Sequence[bool | None]) -> bool | None:
    known = [one for one in told if one is not None]
    return any(known) if known else None
