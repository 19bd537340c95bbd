"""The report of an audit, put together from what was gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ragauge import __version__
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
    Depth,
    DepthCount,
)
from ragauge.contracts.calibration import Calibration, no_gate
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.finding import Findings
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.score import Outcome
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.diagnosis.advice import advise_similarity
from ragauge.gates.presets import about_deltas, uncalibrated
from ragauge.metrics.sums import QuestionSums
from ragauge.runners.audit_sums import AuditSums
from ragauge.runners.evaluation import Numbers, by_gold
from ragauge.runners.kept_audits import cited_documents
from ragauge.runners.numbers import weights_of
from ragauge.text.grounding.model import shipped

if TYPE_CHECKING:
    from ragauge.runners.audit import AuditOptions
    from ragauge.runners.numbers import Mask

NOT_IN_THE_NUMBERS = (
    *("workers", "log", "to_db", "run", "gates", "gold"),
    *("manifest", "docs", "calibration", "allow_cross_section", "ranks"),
)
"""Options that leave every score as it is, or that stand in the identity by what they hold."""

LAST = (len(CODES), 0, "")


class AuditAssembly:
    """What an audit found, and the report it makes."""

    def __init__(
        self,
        found: AuditSums,
        gold: Sequence[Gold],
        options: AuditOptions,
        policy: Policy,
        manifest: Manifest | None,
        calibration: Calibration | None,
    ) -> None:
        self._found, self._gold, self._options, self._policy = found, gold, options, policy
        self._manifest, self._calibration = manifest, calibration
        self._untraced = [one.qid for one in gold if not found.traced(one.qid)]
        found.add_untraced(self._untraced)
        self._sums = found.sums()

    def outcome(self, rules: Sequence[Rule], embedder: str | None) -> Outcome[AuditReport]:
        supporter = _supporter(self._options.deepest)
        reading = f"depth:{self._options.deepest}|refusal:{self._options.strength}"
        reading += f"|model:{supporter}" if supporter else ""
        numbers = audit_numbers(
            self._sums,
            list(self._found.questions),
            self._gold,
            f"{reading}|embedder:{embedder}" if embedder else reading,
            self._calibration,
            self._options.min_coverage,
        )
        labels = self._found.labels()
        report = self._report(numbers, rules, embedder)
        return Outcome(
            report=report,
            units=numbers.units(labels, are_ok(labels), {**self._found.details()}),
            gold=self._gold,
            record_rows=None,
            identity=report.identity,
            documents=self._documents(),
        )

    def _documents(self) -> Callable[[], Iterable[FrozenDocument]] | None:
        docs, cited = self._options.docs, self._found.documents
        if docs is None:
            return None
        return partial(cited_documents, docs, self._manifest, cited, self._gold)

    def _report(self, numbers: Numbers, rules: Sequence[Rule], embedder: str | None) -> AuditReport:
        gates = numbers.verdicts(rules)
        answers = self._found.answers()
        fitted = self._calibration
        threshold = fitted.threshold if fitted and fitted.usable else None
        coverage = self._coverage()
        findings = self._found.findings
        return AuditReport(
            passed=all(gate.holds for gate in gates),
            depth=self._options.deepest,
            metrics=numbers.scores(),
            gates=gates,
            codes=code_counts(findings.counts, self._found.code_answers),
            depths=depth_counts(self._sums),
            answers=answers,
            findings=worst_findings_first(findings),
            finding_counts=dict(sorted(findings.counts.items())),
            coverage=coverage,
            advice=advise_similarity(answers, threshold),
            identity=self._identity(embedder),
        )

    def _coverage(self) -> AuditCoverage:
        """What was audited; questions nobody answered and unreadable documents become findings."""
        found = self._found
        for qid in self._untraced:
            message = "no trace answers this question"
            found.findings.add(AuditFinding("missing_trace", qid, message, qid=qid))
        for problem in sorted(found.problems):
            found.findings.add(AuditFinding("unreadable_document", "", problem))
        for fact in sorted(found.unproven):
            found.findings.add(AuditFinding("unproven_revision", "", fact))
        errors = found.findings.counts.get("error_record", 0)
        return AuditCoverage(
            traces=found.traces,
            audited=found.traces - errors,
            refusals=found.kinds["refusal"],
            errors=errors,
            citations=found.citations,
            rejected=found.rejected,
            unknown=found.unknown,
            gold=len(self._gold) if self._gold else None,
            missing=len(self._untraced) if self._gold else None,
            compared=LiveIndex.of(self._manifest).compared if self._manifest else None,
        )

    def _identity(self, embedder: str | None) -> dict[str, Any]:
        options = msgspec.to_builtins(self._options)
        kept = {name: options[name] for name in options if name not in NOT_IN_THE_NUMBERS}
        pairs = self._policy.allow_cross_section
        supporter = _supporter(self._options.deepest)
        return {
            "command": "audit",
            "options": {
                **kept,
                "depth": self._options.deepest,
                "embedder": embedder,
                **({"supporter": supporter} if supporter else {}),
                **({"ranks": self._options.ranks} if self._options.ranks else {}),
                "allow_cross_section": "all" if pairs is None else sorted(map(sorted, pairs)),
            },
            "ragauge": __version__,
            "gold_sha256": fingerprint(self._gold) if self._gold else None,
            "manifest": self._manifest.hash if self._manifest else None,
            "metrics": {id: sums.metric.version for id, sums in sorted(self._sums.items())},
        }


def audit_numbers(
    sums: Mapping[str, QuestionSums],
    questions: Sequence[str],
    gold: Sequence[Gold],
    signature: str,
    calibration: Calibration | None,
    min_coverage: float,
) -> Numbers:
    """The numbers of an audit, over the questions of the gold set and those it does not have.

    A gate on ΔS is not evaluated without a calibration it can rely on.
    """
    weights, strays = weights_of(gold), len(questions) - len(gold)

    def settle(rule: Rule, verdict: Verdict, mask: Mask | None) -> Verdict:
        reason = no_gate(calibration) if about_deltas(rule) else None
        return uncalibrated(rule, int(sums[rule.metric].units.sum()), reason) if reason else verdict

    return Numbers(
        sums,
        questions,
        by_gold(gold, strays),
        signature,
        # A question that the gold set does not have stands for itself.
        weights=None if weights is None else np.concatenate([weights, np.ones(strays)]),
        min_coverage=min_coverage,
        settle=settle,
    )


def are_ok(labels: Sequence[str | None]) -> list[bool | None]:
    return [None if label is None else label == OK for label in labels]


def _supporter(depth: Depth) -> str | None:
    """Name and version of what says whether a span supports a claim, where that is asked."""
    return shipped().id if depth == "support" else None


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


def depth_counts(sums: dict[str, QuestionSums]) -> dict[str, DepthCount]:
    """How many answers were looked at in each depth, and how many held."""
    found: dict[str, DepthCount] = {}
    for depth in DEPTHS:
        tally = sums.get(f"traceability.{depth}")
        if tally is not None:
            held, checked = (int(total) for total in tally.sums.sum(axis=0))
            found[depth] = DepthCount(checked=checked, ok=held)
    return found
