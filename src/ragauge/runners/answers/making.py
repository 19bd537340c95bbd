"""How the numbers of answers were made: with what, over which groups, and how completely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.metric import Metric
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.overlap_rouge import tokens_of
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.gathering import Gathered
from ragauge.runners.answers.makers import makers_of
from ragauge.runners.answers.options import EMBEDDED, JUDGED, RELEVANCY, AnswerOptions

GROUP = "group"
"""The stratum whose answers belong together: a source, or a conversation."""


def made_with(
    gathered: Gathered,
    metrics: Mapping[str, Metric],
    facts: Sequence[AnswerFacts],
    options: AnswerOptions,
) -> dict[str, str]:
    """By metric, what is in its number besides the answers: a model, an embedder, a judge."""
    judges = {
        "claims": _judge([one.claims for one in facts]) or gathered.judge,
        "lexical_claims": _judge([one.lexical_claims for one in facts]),
        "rubric": f"{gathered.judge} {rubric_id(options.rubric)}",
    }
    models = {
        "groundedness": next((one.groundedness.model for one in facts if one.groundedness), None),
        "citations": next((one.citations.model for one in facts if one.citations), None),
    }
    found = {}
    for id, metric in metrics.items():
        parts = [f"judge:{name}" for need, name in judges.items() if need in metric.needs]
        parts += [f"model:{name}" for need, name in models.items() if name and need in metric.needs]
        if metric.needs & EMBEDDED or id in RELEVANCY:
            parts.append(f"embedder:{gathered.embedder}")
        if metric.needs & JUDGED:
            parts.append(f"seed:{options.seed or 0}")
        found[id] = "|".join([*filter(None, [tokens_of(metric)]), *parts])
    return found


def _judge(claims: Sequence[AnswerClaims | None]) -> str | None:
    """Who judged, with its prompts: of all the longest name, for refusals need fewer prompts."""
    names = {one.judge for one in claims if one is not None}
    return max(names, key=lambda name: (len(name), name), default=None)


def groups_of(
    facts: Sequence[AnswerFacts], strata: Mapping[str, Sequence[str | None]]
) -> list[str] | None:
    """The group of each answer, where there are groups; one without is a group of its own."""
    values = strata.get(GROUP)
    if values is None:
        return None
    return [
        f"answer {one.row.id}" if value is None else f"group {value}"
        for one, value in zip(facts, values, strict=True)
    ]


def agreement_with_people(
    judge: str | None,
    metrics: Mapping[str, Metric],
    calibration: AnswerCalibration | None,
    options: AnswerOptions,
) -> tuple[HumanAgreement, ...]:
    """How far the metrics of this evaluation agreed with people, where that is known.

    What was found of another judge says nothing of this one, nor what was found of this one with
    other prompts or coefficients, where that is told.
    """
    known = () if calibration is None else calibration.agreement
    return tuple(
        one
        for one in known
        if one.metric in metrics
        and one.judge in makers_of(metrics[one.metric], judge, options, calibration)
    )
