"""The facts of all answers gathered, from whoever is asked: judge, supporter, embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.judge import ReplyCache, Usage
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.ingest.answered.calibrations import AnswerCalibration, Calibrations
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.models.endpoint_embedder import EmbeddingFailed
from ragauge.models.judging import likened
from ragauge.models.stored_embedder import KeptReplies
from ragauge.runners.answers.asking import Announce, Judging
from ragauge.runners.answers.embedding import HeardEmbedder, heard_embedder
from ragauge.runners.answers.facts import facts_of
from ragauge.runners.answers.likeness import with_likeness
from ragauge.runners.answers.measuring import Progress, measured_answers
from ragauge.runners.answers.options import JUDGED, RELEVANCY, AnswerOptions, embeds, needs_of
from ragauge.runners.answers.supporting import Supporting, model_of
from ragauge.text.grounding.model import Model


class Asking(Struct, frozen=True, kw_only=True):
    """What a caller brings along: where replies are kept, and whom to tell how it goes."""

    replies: ReplyCache | None = None
    """Replies of a judge by their call; without it they are known to this run alone."""
    vectors: KeptReplies | None = None
    """Vectors of an embedder by their text; without it they are known to this run alone."""
    calibrations: Calibrations | None = None
    """How far metrics agreed with people, by who makes their numbers."""
    announce: Announce | None = None
    """Told what a judge will take, before it is asked."""
    progress: Progress | None = None


class Gathered(Struct, frozen=True, kw_only=True):
    """Every fact that the metrics will read, and who told it."""

    facts: list[AnswerFacts]
    rows: dict[str, list[Row | Absent]]
    """By metric id, what it found in each answer."""
    judge: str | None
    usage: Usage | None
    embedder: str | None
    unfinished: str | None
    """Why some answers were not judged, though they were to be."""
    model: Model
    """The coefficients of groundedness."""


def gathered_facts(
    rows: Sequence[AnswerRow],
    options: AnswerOptions,
    metrics: Mapping[str, Metric],
    findings: Findings,
    asking: Asking,
    calibration: AnswerCalibration | None,
) -> Gathered:
    """The facts of each row, in the order of the rows."""
    needs = needs_of(metrics)
    model = model_of(calibration)  # what is wrong with it is told before a judge is paid
    chosen = heard_embedder(options.embedder, asking.vectors) if embeds(metrics) else None
    facts = facts_of(rows, options, findings)
    judge, usage, unfinished = options.judge, None, None
    if needs & JUDGED:
        judging = Judging.of(options, tuple(metrics))
        told = judging.asked(facts, findings, asking.replies, asking.announce, asking.progress)
        facts, judge, usage, unfinished = told.facts, told.judge, told.usage, told.unfinished
    if chosen is not None:
        facts = with_likeness(facts, chosen, needs)
        facts = _relevancy(facts, "claims", chosen, metrics)
    supporting = Supporting(needs=needs, calibration=calibration)
    facts, measured = measured_answers(facts, supporting, metrics, options.workers, asking.progress)
    if chosen is not None:
        facts = _relevancy(facts, "lexical_claims", chosen, metrics)
        measured |= _again("lexical_claims", facts, metrics)
        _note_failures(chosen, findings)
    return Gathered(
        facts=facts,
        rows=measured,
        judge=judge,
        usage=usage,
        embedder=None if chosen is None else chosen.id,
        unfinished=unfinished,
        model=model,
    )


def _note_failures(chosen: HeardEmbedder, findings: Findings) -> None:
    for failure in chosen.failures:
        findings.add(Finding("embedder_failed", chosen.id, failure))


def _relevancy(
    facts: list[AnswerFacts], field: str, chosen: Embedder, metrics: Mapping[str, Metric]
) -> list[AnswerFacts]:
    """The facts with the likeness of the question to those that the answer would answer.

    Where the embedder fails they stay as they are: then nobody compared the questions.
    """
    if not any(id in metrics for id in RELEVANCY if RELEVANCY[id] == field):
        return facts
    try:
        return _likened(facts, field, chosen)
    except EmbeddingFailed:
        return facts  # it is noted where the embedder is


def _again(
    field: str, facts: Sequence[AnswerFacts], metrics: Mapping[str, Metric]
) -> dict[str, list[Row | Absent]]:
    """What compares questions, measured once these are compared: workers have no embedder."""
    late = [id for id in RELEVANCY if RELEVANCY[id] == field and id in metrics]
    return {id: [metrics[id](one) for one in facts] for id in late}


def _likened(facts: Sequence[AnswerFacts], field: str, chosen: Embedder) -> list[AnswerFacts]:
    asked = [(one.row.question, getattr(one, field)) for one in facts]
    compared = iter(likened([pair for pair in asked if pair[1] is not None], chosen))
    return [
        one if getattr(one, field) is None else structs.replace(one, **{field: next(compared)})
        for one in facts
    ]
