"""The report of an audit, put together from what was gathered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragauge.citations.codes import CODES, depth_of, entry_of, rank_of, tip_of
from ragauge.citations.rules import LiveIndex
from ragauge.citations.validator import Policy
from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AuditCoverage,
    AuditFinding,
    AuditReport,
    CodeCount,
    DepthCount,
)
from ragauge.contracts.calibration import Calibration, no_gate
from ragauge.contracts.gold import Gold
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.report import Findings, Outcome, Rule, Verdict
from ragauge.diagnosis.advice import advise_similarity
from ragauge.gates.presets import about_deltas, uncalibrated
from ragauge.metrics.sums import Sums
from ragauge.runners.audit_sums import AuditSums
from ragauge.runners.evaluation import Evaluation, by_gold, identity_of, weights_of
from ragauge.runners.kept_audits import cited_documents
from ragauge.text.grounding.model import shipped

if TYPE_CHECKING:
    from ragauge.contracts.options import AuditOptions
    from ragauge.runners.blocks import Answers
    from ragauge.runners.evaluation import Mask

NOT_IN_THE_NUMBERS = (
    *("workers", "log", "to_db", "run", "gates", "gold"),
    *("manifest", "docs", "calibration", "allow_cross_section", "ranks"),
)
"""Options that leave every score as it is, or that stand in the identity by what they hold."""

LAST = (len(CODES), 0, "")


def audit_outcome(
    found: AuditSums,
    gold: Sequence[Gold],
    rules: Sequence[Rule],
    options: AuditOptions,
    policy: Policy,
    manifest: Manifest | None,
    embedder: str | None,
    calibration: Calibration | None,
    answers: Answers | None,
) -> Outcome[AuditReport]:
    """The outcome of what an audit found."""
    supporter = shipped().id if options.deepest == "support" else None
    made = {
        "depth": options.deepest,
        "refusal": options.strength,
        "model": supporter,
        "embedder": embedder,
    }
    sums = found.sums()
    evaluation = audited(
        sums,
        list(found.questions),
        gold,
        rules,
        "|".join(f"{name}:{value}" for name, value in made.items() if value),
        calibration,
        options.min_coverage,
    )
    findings = found.findings
    untraced = [one.qid for one in gold if not found.traced(one.qid)]
    for qid in untraced:
        message = "no trace answers this question"
        findings.add(AuditFinding("missing_trace", qid, message, qid=qid))
    for problem in sorted(found.problems):
        findings.add(AuditFinding("unreadable_document", "", problem))
    for fact in sorted(found.unproven):
        findings.add(AuditFinding("unproven_revision", "", fact))
    errors = findings.counts.get("error_record", 0)
    labels, rows = found.labels(), found.answers()
    threshold = calibration.threshold if calibration and calibration.usable else None
    identity = identity_of(
        "audit",
        options,
        (one.metric for one in sums.values()),
        gold,
        without=NOT_IN_THE_NUMBERS,
        manifest=manifest.hash if manifest else None,
    )
    pairs = policy.allow_cross_section
    identity["options"] |= {
        "depth": options.deepest,
        "embedder": embedder,
        **({"supporter": supporter} if supporter else {}),
        **({"ranks": options.ranks} if options.ranks else {}),
        "allow_cross_section": "all" if pairs is None else sorted(map(sorted, pairs)),
    }
    documents = None
    if options.docs is not None:
        documents = partial(cited_documents, options.docs, manifest, found.documents, gold)
    report = evaluation.report(
        AuditReport,
        findings,
        identity,
        passed=evaluation.all_hold,
        depth=options.deepest,
        codes=code_counts(findings.counts, found.code_answers),
        depths=depth_counts(sums),
        answers=rows,
        findings=worst_findings_first(findings),
        coverage=AuditCoverage(
            traces=found.traces,
            audited=found.traces - errors,
            refusals=found.kinds["refusal"],
            errors=errors,
            citations=found.citations,
            rejected=found.rejected,
            unknown=found.unknown,
            gold=len(gold) if gold else None,
            missing=len(untraced) if gold else None,
            compared=LiveIndex.of(manifest).compared if manifest else None,
        ),
        advice=advise_similarity(rows, threshold),
    )
    return evaluation.outcome(
        report,
        labels=labels,
        right=are_ok(labels),
        details=found.details(),
        gold=gold,
        answers=answers,
        documents=documents,
    )


def audited(
    sums: Mapping[str, Sums],
    questions: Sequence[str],
    gold: Sequence[Gold],
    rules: Sequence[Rule],
    signature: str,
    calibration: Calibration | None,
    min_coverage: float,
) -> Evaluation:
    """What audits measure, over the questions of the gold set and those it does not have.

    A gate on ΔS is not evaluated without a calibration it can rely on.
    """
    strays = len(questions) - len(gold)

    def settle(rule: Rule, verdict: Verdict, mask: Mask | None) -> Verdict:
        reason = no_gate(calibration) if about_deltas(rule) else None
        return uncalibrated(rule, int(sums[rule.metric].units.sum()), reason) if reason else verdict

    return Evaluation(
        ids=questions,
        sums=sums,
        rules=rules,
        slicing=by_gold(gold, strays),
        signature=signature,
        weights=weights_of(gold, strays),
        min_coverage=min_coverage,
        settle=settle,
    )


def are_ok(labels: Sequence[str | None]) -> list[bool | None]:
    return [None if label is None else label == OK for label in labels]


def worst_findings_first(findings: Findings) -> tuple[AuditFinding, ...]:
    """What is wrong with citations, the worst code first; then what else there is to know."""
    kept = [one for one in findings.kept() if isinstance(one, AuditFinding)]
    return tuple(sorted(kept, key=lambda one: rank_of(one.code) if entry_of(one.code) else LAST))


def code_counts(findings: dict[str, int], answers: dict[str, int]) -> tuple[CodeCount, ...]:
    """Each code that was found, worst first."""
    counts = []
    for code in sorted(answers, key=rank_of):
        entry = entry_of(code)
        assert entry, code
        counts.append(
            CodeCount(
                code=code,
                depth=depth_of(code),  # type: ignore[arg-type]
                answers=answers[code],
                findings=findings[code],
                means=entry.means,
                tip=tip_of(code),
            )
        )
    return tuple(counts)


def depth_counts(sums: dict[str, Sums]) -> dict[str, DepthCount]:
    """How many answers were looked at in each depth, and how many held."""
    found: dict[str, DepthCount] = {}
    for depth in DEPTHS:
        tally = sums.get(f"traceability.{depth}")
        if tally is not None:
            held, checked = (int(total) for total in tally.sums.sum(axis=0))
            found[depth] = DepthCount(checked=checked, ok=held)
    return found
