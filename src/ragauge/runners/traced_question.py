"""One question of a trace evaluation: its runs audited, and what they come to together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from ragauge.citations.convergence import RunSeen, answer_state, located, retrieval_state
from ragauge.citations.reranking import final_order, flips
from ragauge.contracts.audit import OK, AuditedRuns, AuditFacts
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import SCALE, Absent
from ragauge.contracts.trace_eval import TracedQuestion, TracedRun
from ragauge.diagnosis.advice import Turned
from ragauge.metrics.traceability import coverage
from ragauge.runners.audit_blocks import CITED_SHOWN
from ragauge.runners.auditing import Audited

FAILED = "error_record"
"""What stands for the code of a run that failed."""


Lines = dict[str, tuple[int, bytes]]
"""A question's lines with their numbers, by run id, in the order of the plan."""


class Traced(Struct, frozen=True):
    """A question over its runs: what the report says of it, and what its numbers are made of."""

    told: TracedQuestion
    seen: AuditedRuns
    facts: tuple[AuditFacts, ...]
    turned: Turned | None


def traced_question(question: Gold, runs: Sequence[Audited], planned: int) -> Traced:
    """The question over its runs, which come in the order of the plan."""
    seen = audited_runs(question, runs, planned)
    facts = tuple(run.facts for run in runs)
    return Traced(_told(question, runs, seen), seen, facts, _turned(runs))


def audited_runs(question: Gold, runs: Sequence[Audited], planned: int) -> AuditedRuns:
    """What λ says of a question's runs, and how often its chunks change their order."""
    seen = [
        RunSeen(kind=run.facts.kind, cited=run.examined.ids, retrieved=run.made.retrieved_ids)
        for run in runs
    ]
    flipped, paired = flips([_order(run) for run in runs])
    return AuditedRuns(
        answerable=question.answerable,
        planned=planned,
        retrieval=retrieval_state(seen, planned),
        answer=answer_state(seen, planned),
        flipped=flipped,
        paired=paired,
    )


def _turned(runs: Sequence[Audited]) -> Turned | None:
    """What goes with another order of the same chunks; None where it is always the same."""
    by_wording: dict[object, list[tuple[str, ...]]] = {}
    for run in runs:
        by_wording.setdefault(run.made.trace.paraphrase, []).append(_order(run))
    if any(flips(orders)[0] for orders in by_wording.values()):
        return "seed"
    every = [order for orders in by_wording.values() for order in orders]
    return "wording" if flips(every)[0] else None


def _order(run: Audited) -> tuple[str, ...]:
    """The retrieved ids as they stood in the end; none of a run that failed."""
    if run.failure:
        return ()
    if isinstance(run.retrieved, Absent) or not run.retrieved.complete:
        return run.made.retrieved_ids or ()
    return final_order(run.retrieved.whole)


def _told(question: Gold, runs: Sequence[Audited], seen: AuditedRuns) -> TracedQuestion:
    each = tuple(_told_run(run) for run in runs)
    answered = [run for run in each if run.kind in ("answer", "uncited")]
    if question.answerable:
        # An answer whose match cannot be told counts neither for the rate nor against it.
        answered = [run for run in answered if run.matched is not None]
    covered = [run.coverage for run in each if run.coverage is not None]
    return TracedQuestion(
        qid=question.qid,
        question=question.question,
        answerable=question.answerable,
        retrieval=seen.retrieval,
        answer=seen.answer,
        broken=located(seen.retrieval, seen.answer),
        matched=sum(run.matched is True for run in answered),
        answered=len(answered),
        coverage=sum(covered) / len(covered) if covered else None,
        codes=dict(sorted(Counter(run.code for run in each if run.code != OK).items())),
        runs=each,
    )


def _told_run(run: Audited) -> TracedRun:
    facts, share = run.facts, coverage(run.facts)
    return TracedRun(
        run_id=run.made.trace.run_id or "",
        kind=facts.kind,
        code=FAILED if run.failure else facts.code,
        cited=run.examined.ids[:CITED_SHOWN],
        matched=facts.matched,
        coverage=None if isinstance(share, Absent) else share.counts[0] / SCALE,
        error=run.failure,
    )
