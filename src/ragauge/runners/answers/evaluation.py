"""From rows to an outcome: what `eval answers` and `eval qa` have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.evaluation import AnswerDetail, HumanAgreement, Task
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.overlap import claim_verdicts, factual_accuracy, verdict_counts
from ragauge.metrics.sums import sums_of_rows
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.detail import (
    bands,
    kinds,
    note_assumed,
    scored_answers,
    unsupported,
    worst_answers,
)
from ragauge.runners.answers.faults import answer_faults
from ragauge.runners.answers.gathering import Asking, Gathered, gathered_facts
from ragauge.runners.answers.kept_calibrations import shown_agreement
from ragauge.runners.answers.kept_rows import kept_rows
from ragauge.runners.answers.making import groups_of, made_with
from ragauge.runners.answers.measuring import values_by_row
from ragauge.runners.answers.options import (
    COVERAGE,
    AnswerOptions,
    calibration_of,
    chosen_metrics,
)
from ragauge.runners.answers.scores import AnswersOutcome, answer_scores
from ragauge.runners.answers.settling import note_parts, settling_of
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import rules_for
from ragauge.runners.components.strata import strata_of

HEADLINES: dict[str, tuple[str, ...]] = {
    "answers": (
        *("groundedness", "grounded", "number_agreement", "faithfulness"),
        *("lexical_faithfulness", "relevance", "token_recall", "containment"),
    ),
    "qa": (
        *("token_recall", "containment", "token_f1", "factual_accuracy", "faithfulness"),
        *("lexical_faithfulness", "relevance", "groundedness"),
    ),
}
"""By task, what is shown of each stratum, where it is measured."""
RIGHT: dict[str, tuple[str, ...]] = {
    "answers": ("answers.grounded", "answers.containment"),
    "qa": ("answers.containment", "answers.grounded"),
}
"""By task, what tells whether an answer is right: the first that has a value."""
WORST = ("answers.groundedness", "answers.token_recall", "answers.faithfulness")
"""What the worst answers are the worst of: the first that was measured."""


class ReadAnswers(Struct, frozen=True, kw_only=True):
    """Rows that are ready to be measured, and what reading them told."""

    task: Task
    rows: Sequence[AnswerRow]
    given: Sequence[str | int]
    """Their ids as they were written."""
    findings: Findings
    problems: Sequence[str]
    coverage: dict[str, int]
    """What the task counts besides."""


def outcome_of_answers(read: ReadAnswers, options: AnswerOptions, asking: Asking) -> AnswersOutcome:
    """The report on these rows, with the scores of each in the input's order."""
    metrics = chosen_metrics(options)
    ids = [row.id for row in read.rows]
    strata = strata_of(ids, [row.strata for row in read.rows], options)
    calibration = calibration_of(options)
    gathered = gathered_facts(read.rows, options, metrics, read.findings, asking, calibration)
    rows = gathered.rows
    values = values_by_row(metrics, rows)
    # By id, so that numbers do not depend on the order of the rows.
    order = sorted(range(len(ids)), key=ids.__getitem__)
    measured = _Measured(
        metrics=metrics,
        facts=_in(order, gathered.facts),
        rows={id: _in(order, column) for id, column in rows.items()},
        values={id: _in(order, column) for id, column in values.items()},
        strata={name: _in(order, column) for name, column in strata.items()},
    )
    agreement = shown_agreement(calibration, asking.calibrations, metrics, gathered.judge, options)
    evaluated = _evaluated(read, options, gathered, measured, agreement)
    outcome = outcome_of(evaluated, _told(options, gathered))
    told = {name: getattr(outcome, name) for name in outcome.__struct_fields__}
    told["answers"] = partial(kept_rows, read.rows)
    scores = answer_scores(read.given, gathered.facts, metrics, rows, values)
    return AnswersOutcome(**told, scores=scores)


def _told(options: AnswerOptions, gathered: Gathered) -> AnswerOptions:
    """The options as a report tells them: no address of an embedder, and of a rubric its hash."""
    rubric = None if options.rubric is None else rubric_id(options.rubric)
    return structs.replace(options, embedder=gathered.embedder, rubric=rubric)


class _Measured(Struct, frozen=True, kw_only=True):
    """What was measured, by the ids of the rows."""

    metrics: Mapping[str, Metric]
    facts: list[AnswerFacts]
    rows: Mapping[str, list[Row | Absent]]
    values: Mapping[str, list[float | None]]
    strata: Mapping[str, list[str | None]]


def _in(order: Sequence[int], column: Sequence[Any]) -> list[Any]:
    return [column[place] for place in order]


def _evaluated(
    read: ReadAnswers,
    options: AnswerOptions,
    gathered: Gathered,
    measured: _Measured,
    agreement: tuple[HumanAgreement, ...],
) -> Evaluated:
    facts = measured.facts
    if not facts:
        read.findings.add(Finding("nothing_to_score", "rows", "there is no row"))
    note_assumed(facts, read.findings)
    rules = rules_for(read.task, options)
    note_parts(rules, measured.rows, read.findings)
    settling = settling_of(options, rules, measured.rows, gathered.unfinished)
    right = _right(read.task, facts, measured.values)
    return Evaluated(
        task=read.task,
        units=[one.row.id for one in facts],
        sums={id: sums_of_rows(one, measured.rows[id]) for id, one in measured.metrics.items()},
        headlines=_headlines(read.task, measured.values),
        strata=measured.strata,
        right=right,
        per_type={},
        detail=_detail(gathered, measured, agreement, right),
        findings=read.findings,
        coverage=_coverage(read, facts, measured.values, settling.lost),
        signature=f"refusal:{options.refusal}",
        made_with=made_with(gathered, measured.metrics, facts, options),
        problems=read.problems,
        faults=answer_faults(facts, measured.values),
        gold_sha256=_fingerprint(facts),
        meanings=[_meaning(one.row) for one in facts],
        groups=groups_of(facts, measured.strata),
        undecided=list(settling.unheard(measured.metrics, measured.values)),
        settled=settling.settled,
    )


def _headlines(task: Task, values: Mapping[str, Sequence[float | None]]) -> list[str]:
    """The task's headlines that have a value; where none has one, all that was measured."""
    known = [f"answers.{name}" for name in HEADLINES[task]]
    told = [id for id in known if any(value is not None for value in values.get(id, ()))]
    return told or [id for id in values if id != COVERAGE]


def _right(
    task: Task, facts: Sequence[AnswerFacts], values: Mapping[str, Sequence[float | None]]
) -> list[bool | None]:
    """Whether each answer is right; False without an answer, None where nothing tells."""
    columns = [values[id] for id in RIGHT[task] if id in values]
    found: list[bool | None] = []
    for place, one in enumerate(facts):
        told = next((column[place] for column in columns if column[place] is not None), None)
        found.append(False if one.row.answer is None else None if told is None else told >= 1)
    return found


def _detail(
    gathered: Gathered,
    measured: _Measured,
    agreement: tuple[HumanAgreement, ...],
    right: Sequence[bool | None],
) -> AnswerDetail:
    facts = measured.facts
    grounds = next((one.groundedness for one in facts if one.groundedness is not None), None)
    by = next((id for id in WORST if id in measured.values), COVERAGE)
    return AnswerDetail(
        judge=gathered.judge,
        embedder=gathered.embedder,
        groundedness=None if grounds is None else grounds.model,
        kinds=kinds(facts),
        refusals=sum(one.refused for one in facts),
        errors=sum(one.row.answer is None for one in facts),
        worst=worst_answers(facts, measured.values, measured.rows, by),
        unsupported=unsupported(facts),
        usage=gathered.usage,
        factual_claims=_factual_claims(measured),
        agreement=agreement,
        answers=scored_answers(facts, measured.values, measured.rows, right),
        bands=bands(facts, gathered.model),
    )


def _factual_claims(measured: _Measured) -> dict[str, int]:
    if factual_accuracy.id not in measured.metrics:
        return {}
    found = [claim_verdicts(one) for one in measured.facts]
    known = [claims for claims in found if not isinstance(claims, Absent)]
    return verdict_counts(known) if known else {}


def _coverage(
    read: ReadAnswers,
    facts: Sequence[AnswerFacts],
    values: Mapping[str, Sequence[float | None]],
    lost: Mapping[str, Sequence[bool]],
) -> dict[str, int]:
    told = [column for id, column in values.items() if id != COVERAGE]
    return {
        **read.coverage,
        "scored": sum(
            any(column[place] is not None for column in told) for place in range(len(facts))
        ),
        "errors": sum(one.row.answer is None for one in facts),
        "lost_to_failed_calls": sum(any(each) for each in zip(*lost.values(), strict=True)),
        "refusals": sum(one.refused for one in facts),
        "rejected": len(read.problems),
    }


def _meaning(row: AnswerRow) -> str:
    """What was asked and what is right: runs are compared where both are the same."""
    told = (row.question, row.references, row.answerable)
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


def _fingerprint(facts: Sequence[AnswerFacts]) -> str:
    """A hash of what was asked and what is right, whatever the file looks like."""
    said: list[Any] = [(one.row.id, _meaning(one.row)) for one in facts]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()
