"""Material from a recorded run: its scores, its gates, and what it found to say of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from ragauge import __version__
from ragauge.contracts.diagnosis import ScoreRow, Severity, Threshold
from ragauge.contracts.gold import Gold, stratum_text
from ragauge.contracts.history import REPORT, History, Run, UnitRow
from ragauge.contracts.metric import PATTERN, Better, Facts
from ragauge.contracts.report import Advice, Decision, Finding, Findings, Outcome, Score, Verdict
from ragauge.contracts.run import Variation
from ragauge.contracts.score import QuestionRow
from ragauge.diagnosis.cases import Material, Measured, ObservedTrace
from ragauge.diagnosis.features import features
from ragauge.diagnosis.limits import limits_of
from ragauge.diagnosis.traced_case import traced_cases
from ragauge.engines.local import Progress, no_progress
from ragauge.errors import InputRejected

SEVERITIES: dict[Decision, Severity] = {
    "fail": "critical",
    "not_evaluated": "not_evaluable",
    "pass": "none",
    "not_applicable": "none",
}
"""What a gate's word means for its metric: somebody decided that a run may not pass so."""

STEPS = 4
"""Of a diagnosis: rows read, scores read, what went wrong, and its causes."""
Values = dict[str, dict[str, float]]
"""By question: its metrics."""
SCORE = "score"
"""The command whose report says of each question what a trace would."""


def values_of(outcome: Outcome[Any]) -> Values:
    """What each question came to in each metric that applies to it."""
    found: Values = {id: {} for id in outcome.units.ids}
    for name, measured in outcome.units.measured.items():
        for id, value in zip(outcome.units.ids, measured.values.tolist(), strict=True):
            if value == value:
                found[id][name] = value
    return found


def measured_by(
    scores: Mapping[str, Score], gates: Sequence[Verdict], better: Mapping[str, Better]
) -> dict[str, Measured]:
    """Each score as a diagnosis sees it: what a gate said of it counts before usual bounds."""
    # A gate that was not evaluated has spoken only where that fails the run.
    silent = ("not_applicable", "not_evaluated")
    spoken = {gate.metric: gate for gate in gates if gate.verdict not in silent}
    failed = {gate.metric: gate for gate in gates if not gate.holds}
    found = {}
    for name, score in scores.items():
        gate = failed.get(name) or spoken.get(name)
        limits = limits_of(name)
        if gate is not None:
            wanted = better.get(name) or ("lower" if gate.op in ("<", "<=") else "higher")
            limits = Threshold(better=wanted, warning=gate.bound, critical=None)
        found[name] = Measured(
            score=score,
            better=better.get(name),
            limits=limits,
            severity=SEVERITIES[gate.verdict] if gate else None,
        )
    return found


def strata_of(question: Gold) -> dict[str, str]:
    """The strata of a question as texts."""
    values = {name: stratum_text(value) for name, value in question.strata.items()}
    return {name: value for name, value in values.items() if value is not None}


class _ReportParts(msgspec.Struct, kw_only=True):
    """The parts of any report that a diagnosis reads."""

    advice: tuple[Advice, ...] = ()
    questions: tuple[QuestionRow, ...] = ()


def recorded_material(history: History, run: Run, progress: Progress = no_progress) -> Material:
    """The material of a run of ours, as it was recorded."""
    record = run.record
    gold = {one.qid: one for one in recorded_gold(history, run)}
    units = list(history.units(run.id))
    progress(1, STEPS)
    report = _report(history, run)
    rows = [_row(unit, gold.get(unit.unit)) for unit in units]
    better = {name: one.better for name, one in record.metrics.items()}
    names = [one.name for one in structs.fields(Score)]
    scores = {
        id: Score(**{name: getattr(recorded, name) for name in names})
        for id, recorded in record.metrics.items()
    }
    progress(2, STEPS)
    known = [unit.right for unit in units if unit.right is not None]
    # A case for each question of a score, as far as its row tells.
    observed = [
        [
            ObservedTrace(
                id=row.where or row.qid,
                gold=gold[row.qid],
                facts=Facts(
                    **{name: getattr(row, name) for name in PATTERN},
                    claim=row.claim or "",
                    cited=row.cited or (),
                ),
                variation=Variation(),
                found_some=row.gold_found,
                found_all=None if row.gold_found is None else bool(row.gold_depth),
            )
        ]
        for row in report.questions
        if row.qid in gold
    ]
    cases = traced_cases(observed) if report.questions else None
    progress(3, STEPS)
    ids_known = any(row.gold_found is not None for row in report.questions)
    unknown = {
        "no_retrieved_ids": bool(report.questions) and not ids_known,
        "no_contexts": True,
        "no_payloads": True,
        "no_other_wordings": True,
        "no_claims": True,
        "no_strata": not any(row.strata for row in rows),
        "no_replay": True,
    }
    return Material(
        samples=rows,
        metrics=measured_by(scores, record.gates, better),
        cases=cases,
        wrong=known.count(False) if known else None,
        advice=report.advice,
        features={row.id: features(row) for row in rows},
        gates=record.gates,
        unknown=tuple(key for key, holds in unknown.items() if holds),
        findings=Findings(),
        coverage={"samples": len(rows), **record.coverage},
        identity={
            "command": "diagnose",
            "form": "run",
            "run": run.id,
            "of": record.command,
            "ragauge": __version__,
        },
    )


def recorded_gold(history: History, run: Run) -> Sequence[Gold]:
    """The questions that a run was measured with; none where it needed no gold set."""
    sha256 = run.record.gold_sha256
    return history.gold(sha256) if sha256 else ()


def _report(history: History, run: Run) -> _ReportParts:
    """What the run's report says; of other commands than `score`, only its advice."""
    with history.file(run, REPORT) as path:
        whole: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    wanted = {"advice": whole.get("advice") or ()}
    if run.record.command == SCORE:
        wanted["questions"] = whole.get("questions") or ()
    try:
        return msgspec.convert(wanted, _ReportParts)
    except msgspec.ValidationError as error:
        fact = f"its report cannot be read ({error}); record the run again with this version"
        raise InputRejected(f"run {run.shown}: {fact}") from None


def with_a_rule(material: Material) -> Material:
    """The material with the metrics that a gate or a bound speaks of; the others are findings.

    One that nobody gated and that has no value is a finding, too: the run was never asked for it.
    """
    gated = {name: one for name, one in material.metrics.items() if one.severity is not None}
    bound = {name: one for name, one in material.metrics.items() if one.limits is not None}
    known = gated | {name: one for name, one in bound.items() if one.score.value is not None}
    kinds = {
        "no_rule": material.metrics.keys() - gated.keys() - bound.keys(),
        "no_value": bound.keys() - known.keys(),
    }
    says = {
        "no_rule": "no gate and no usual bound speaks of",
        "no_value": "no gate asked for these, and they have no value",
    }
    for code, names in kinds.items():
        if names:
            message = f"{says[code]}: {', '.join(sorted(names))}"
            material.findings.add(Finding(code, "", message))
    return structs.replace(material, metrics=known) if known else material


def _row(unit: UnitRow, question: Gold | None) -> ScoreRow:
    detail = unit.detail
    claim, cited = detail.get("claim") or detail.get("answer"), detail.get("cited")
    # Units of an evaluation stand in the gold set under their ids, with hashes for what they say.
    asked = question if question and question.question != question.qid else None
    return ScoreRow(
        id=unit.unit,
        question=asked.question if asked else None,
        answer=claim if isinstance(claim, str) else None,
        reference=(asked.gold_claim or asked.gold_answer) if asked else None,
        cited=tuple(map(str, cited)) if isinstance(cited, list | tuple) else None,
        gold_ids=asked.gold_citations if asked else None,
        answerable=asked.answerable if asked else None,
        values=unit.values,
        strata=strata_of(question) if question else {},
        where=str(detail.get("where") or ""),
    )
