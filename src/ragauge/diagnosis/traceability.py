"""Advice on traceability beyond the codes: what no single citation shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragauge.contracts.audit import AuditedAnswer
from ragauge.contracts.score import Advice

SHOWN = 5


def advise_similarity(
    answers: Iterable[AuditedAnswer], threshold: float | None
) -> tuple[Advice, ...]:
    """Answers whose context lies near the question and which cite the wrong thing all the same.

    Without a calibrated threshold nobody can say what is near.
    """
    if threshold is None:
        return ()
    near = [
        answer.qid or answer.where
        for answer in answers
        if answer.matched is False and answer.deltaS.get("context", 1.0) <= threshold
    ]
    if not near:
        return ()
    return (
        Advice(
            id="near_but_wrong",
            title="High similarity with the wrong meaning",
            evidence=f"{len(near)} answers do not match the gold though ΔS is within {threshold:g}",
            confirm="Compare analyzer, pooling and metric of the manifest with the read path's.",
            action="Align analyzer, pooling and metric, then rebuild the index.",
            questions=tuple(dict.fromkeys(near))[:SHOWN],
        ),
    )


def advise_order(flipped: int, paired: int, questions: Sequence[str]) -> tuple[Advice, ...]:
    """The order of the same chunks changes from run to run."""
    if not flipped:
        return ()
    return (
        Advice(
            id="order_changes",
            title="The order of retrieved chunks changes from run to run",
            evidence=f"{flipped:,} of {paired:,} pairs of chunks are turned round between runs",
            confirm="Ask one of these questions twice with one seed and compare k_pos and k_final.",
            action="Use a fixed reranker and seed, and log k_pos and k_final.",
            questions=tuple(questions[:SHOWN]),
        ),
    )


def advise_states(
    in_retrieval: Sequence[str], after_retrieval: Sequence[str], questions: int
) -> tuple[Advice, ...]:
    """Where the runs of one question part: what to look at, the commoner place first."""
    retrieval = Advice(
        id="retrieval_varies",
        title="Wordings and seeds of one question retrieve different chunks",
        evidence=f"{len(in_retrieval)} of {questions} questions part already in retrieval",
        confirm="Compare the retrieved ids of two runs of one of these questions.",
        action="Normalise questions before the search, or retrieve more and rerank.",
        questions=tuple(in_retrieval[:SHOWN]),
    )
    answers = Advice(
        id="answers_vary",
        title="The same chunks are retrieved, and the outcome differs",
        evidence=f"{len(after_retrieval)} of {questions} questions part after retrieval",
        confirm="Read two runs of one of these questions side by side.",
        action="Lower the temperature, and cite before the answer: the fault is not retrieval.",
        questions=tuple(after_retrieval[:SHOWN]),
    )
    commoner = len(after_retrieval) > len(in_retrieval)
    ranked = (answers, retrieval) if commoner else (retrieval, answers)
    return tuple(advice for advice in ranked if advice.questions)
