"""The report of a trace evaluation, put together question by question."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ragauge import __version__
from ragauge.contracts.audit import STATES, AuditedRuns, AuditFinding
from ragauge.contracts.finding import Findings
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.metric import Absent
from ragauge.contracts.score import Advice, Outcome
from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalCoverage, TraceEvalReport
from ragauge.contracts.verdict import Rule
from ragauge.diagnosis.traceability import advise_order, advise_similarity, advise_states
from ragauge.gates.traceability import deltas_rule, trace_eval_rules
from ragauge.ingest.calibration import read_calibration
from ragauge.metrics.sums import QuestionSums
from ragauge.metrics.table import find, reading
from ragauge.models.embedders import embedder
from ragauge.runners.audit import told
from ragauge.runners.audit_blocks import BlockAudit
from ragauge.runners.audit_numbers import AuditNumbers
from ragauge.runners.audit_report import code_counts
from ragauge.runners.audit_sums import AuditSums
from ragauge.runners.blocks import Measured
from ragauge.runners.gather import RowSums

if TYPE_CHECKING:
    from ragauge.runners.trace_eval import TraceEvalOptions

MATCH_RATE = "traceability.match_rate"
MATCH_TARGET = 0.95
"""Below it the codes are looked at before any knob."""


class TraceEvalAssembly:
    """What is known of the questions so far, and the report it makes in the end."""

    def __init__(self, gold: list[Gold], options: TraceEvalOptions, out: str) -> None:
        self.gold, self._options, self._out = gold, options, out
        self._embedder = embedder(options.embedder).id if options.embedder else None
        self._calibration = (
            read_calibration(options.calibration, self._embedder) if options.calibration else None
        )
        self.rules = self._rules_of()
        wanted = {rule.metric for rule in self.rules}
        known, auditing = reading("audit"), options.auditing()
        self.metrics = tuple(id for id in known if told(id, auditing, True) or id in wanted)
        measured = tuple(known[id] for id in self.metrics)
        self._of_traces = AuditSums(measured, [question.qid for question in gold])
        self._of_runs = {m.id: RowSums(m, len(gold)) for m in reading("audited_runs").values()}
        self._questions: list[TracedQuestion] = []
        self._seen: list[AuditedRuns] = []

    @property
    def runs(self) -> int:
        return self._of_traces.traces

    def add(self, block: BlockAudit, seen: AuditedRuns, traced: TracedQuestion) -> None:
        """Take the next question of the gold set in."""
        place = np.array([len(self._questions)], dtype=np.int64)
        self._of_traces.add(block)
        self._questions.append(traced)
        self._seen.append(seen)
        for sums in self._of_runs.values():
            row = sums.metric(seen)
            absent = isinstance(row, Absent)
            counts = [0] * len(sums.metric.columns) if absent else row.counts  # type: ignore[union-attr]
            reasons = [row.reason if absent else None]
            sums.add(place, Measured(array("q", counts), reasons), replace=False)

    def outcome(self, noted: Findings) -> Outcome[TraceEvalReport]:
        numbers = AuditNumbers(
            self._sums(),
            [question.qid for question in self.gold],
            self.gold,
            self._signature(),
            self._calibration,
        )
        report = self._report(numbers, noted)
        return Outcome(
            report=report,
            units=numbers.units(self._of_traces.labels()),
            gold=self.gold,
            record_rows=None,
            identity=report.identity,
        )

    def _rules_of(self) -> tuple[Rule, ...]:
        targets = any(question.target_section for question in self.gold)
        rules = trace_eval_rules(
            self._options.strict,
            targets,
            self._options.gates,
            lambda name: find(name, "audit", "audited_runs").id,
        )
        fitted = self._calibration
        if fitted and fitted.usable and fitted.threshold is not None:
            gate = deltas_rule(fitted.threshold)
            if all(rule.metric != gate.metric for rule in rules):
                rules = (*rules, gate)
        return rules

    def _sums(self) -> dict[str, QuestionSums]:
        each = np.ones(len(self.gold), dtype=np.int64)
        of_runs = {id: sums.finished(each, "question") for id, sums in self._of_runs.items()}
        return {**self._of_traces.sums(), **of_runs}

    def _report(self, numbers: AuditNumbers, noted: Findings) -> TraceEvalReport:
        scores = numbers.scores()
        gates = numbers.verdicts(self.rules)
        found = self._of_traces
        match = scores[MATCH_RATE].value
        codes = code_counts(found.findings.counts, found.code_answers)
        codes_first = match is not None and match < MATCH_TARGET and bool(codes)
        for one in noted.kept():
            found.findings.add(AuditFinding(one.code, one.where, one.message))
        short = self._note_short()
        return TraceEvalReport(
            passed=all(gate.holds for gate in gates),
            recipe=self._options.recipe,
            metrics=scores,
            gates=gates,
            codes=codes,
            codes_first=codes_first,
            states=self._states(),
            questions=tuple(self._questions),
            findings=tuple(one for one in found.findings.kept() if isinstance(one, AuditFinding)),
            finding_counts=dict(sorted(found.findings.counts.items())),
            coverage=self._coverage(short),
            advice=() if codes_first else self._advice(),
            out=self._out,
            identity=self._identity(),
        )

    def _note_short(self) -> int:
        """How many questions have too few wordings for the recipe; each is a finding."""
        needed = self._options.recipe.wordings
        short = [one for one in self.gold if 1 + len(one.paraphrases) < needed]
        for question in short:
            message = (
                f"has {1 + len(question.paraphrases)} of the recipe's {needed} wordings; "
                "add paraphrases to the gold set"
            )
            finding = AuditFinding("few_wordings", question.qid, message, qid=question.qid)
            self._of_traces.findings.add(finding)
        return len(short)

    def _states(self) -> dict[str, dict[str, int]]:
        sides = {
            "retrieval": Counter(seen.retrieval for seen in self._seen),
            "answer": Counter(seen.answer for seen in self._seen),
        }
        return {side: {state: counts[state] for state in STATES} for side, counts in sides.items()}

    def _coverage(self, short: int) -> TraceEvalCoverage:
        recipe = self._options.recipe
        planned = len(self.gold) * recipe.wordings * len(recipe.seeds)
        failed = self._of_traces.findings.counts.get("error_record", 0)
        return TraceEvalCoverage(
            questions=len(self.gold),
            planned=planned,
            runs=self.runs - failed,
            failed=failed,
            missing=planned - self.runs,
            short=short,
        )

    def _advice(self) -> tuple[Advice, ...]:
        """What to turn once the codes are mended."""
        each = zip(self._questions, self._seen, strict=True)
        turned = [question.qid for question, seen in each if seen.flipped]
        fitted = self._calibration
        threshold = fitted.threshold if fitted and fitted.usable else None
        return (
            *advise_states(
                [one.qid for one in self._questions if one.broken == "retrieval"],
                [one.qid for one in self._questions if one.broken == "after retrieval"],
                len(self._questions),
            ),
            *advise_order(
                sum(seen.flipped for seen in self._seen),
                sum(seen.paired for seen in self._seen),
                turned,
            ),
            *advise_similarity(self._of_traces.answers(), threshold),
        )

    def _signature(self) -> str:
        recipe = self._options.recipe
        seeds = "/".join(map(str, recipe.seeds))
        made = f"wordings:{recipe.wordings}|seeds:{seeds}|t:{recipe.temperature:g}"
        return f"{made}|embedder:{self._embedder}" if self._embedder else made

    def _identity(self) -> dict[str, Any]:
        options = self._options
        return {
            "command": "trace-eval",
            "options": {
                "recipe": msgspec.to_builtins(options.recipe),
                "depth": options.auditing().deepest,
                "embedder": self._embedder,
                "refusal": options.refusal,
                "strict": options.strict,
            },
            "ragauge": __version__,
            "gold_sha256": fingerprint(self.gold),
            "metrics": {id: find(id).version for id in sorted({*self.metrics, *self._of_runs})},
        }
