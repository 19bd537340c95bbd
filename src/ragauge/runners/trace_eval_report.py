"""The report of a trace evaluation, put together question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ragauge.contracts.audit import OK, STATES, AuditFinding
from ragauge.contracts.finding import Findings
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.metric import Absent, Metric
from ragauge.contracts.score import Advice, Outcome
from ragauge.contracts.trace_eval import OverQuestions, TraceEvalCoverage, TraceEvalReport
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.diagnosis.advice import advise_traceability, traceability_facts
from ragauge.gates.decide import TOLERANCE, meets, satisfies
from ragauge.gates.presets import trace_eval_rules, with_deltas
from ragauge.ingest.calibration import read_calibration
from ragauge.metrics.sums import QuestionSums, sums_of_rows
from ragauge.metrics.table import find, reading
from ragauge.runners.audit import told
from ragauge.runners.audit_blocks import BlockAudit
from ragauge.runners.audit_report import are_ok, audit_numbers, code_counts
from ragauge.runners.audit_sums import AuditSums
from ragauge.runners.evaluation import Numbers
from ragauge.runners.numbers import values_of
from ragauge.runners.trace_eval_identity import signature_of
from ragauge.runners.traced_question import FAILED, Lines, Traced

if TYPE_CHECKING:
    from ragauge.runners.trace_eval import TraceEvalOptions

MATCH_RATE, COVERAGE = "traceability.match_rate", "traceability.coverage"
FIRST = (MATCH_RATE, COVERAGE)
"""The gates that are looked at before the others."""
MATCH_TARGET = 0.95
"""Below it, or where nobody can say, the codes are looked at before any knob."""


class TraceEvalAssembly:
    """What is known of the questions so far, and the report it makes in the end."""

    def __init__(
        self,
        gold: list[Gold],
        options: TraceEvalOptions,
        embedder: str | None,
        wordings: Mapping[str, int],
    ) -> None:
        self._gold, self._options = gold, options
        self._short = {q: n for q, n in wordings.items() if n < options.recipe.wordings}
        self._signature = signature_of(options, embedder)
        fitted = options.calibration
        self._calibration = read_calibration(fitted, embedder) if fitted else None
        self._rules = self._rules_of()
        wanted = {rule.metric for rule in self._rules}
        known, auditing = reading("audit"), options.auditing()
        self.metrics = tuple(id for id in known if told(id, auditing, True) or id in wanted)
        """Ids of what is measured run by run."""
        self._found = AuditSums(
            tuple(known[id] for id in self.metrics), [question.qid for question in gold]
        )
        self._each: list[Traced] = []
        self._run_ids: dict[str, str] = {}
        # A rule about questions that there are not is refused before anything is asked.
        self._numbers(self._sums()).verdicts(self._rules)

    def add(self, one: Traced, block: BlockAudit, lines: Lines) -> None:
        """Take the next question of the gold set in, with its runs as they were audited."""
        self._each.append(one)
        self._found.add(block)
        self._run_ids |= {f"{block.name}:{line}": run_id for run_id, (line, _) in lines.items()}

    def outcome(
        self, identity: dict[str, Any], out: str, noted: Findings
    ) -> Outcome[TraceEvalReport]:
        """The outcome of the runs in `out`; `noted` are findings of its lines."""
        self._note(noted)
        sums = self._sums()
        numbers, labels = self._numbers(sums), self._labels()
        whole = identity | {
            "gold_sha256": fingerprint(self._gold),
            "metrics": {id: sums[id].metric.version for id in sorted(sums)},
        }
        return Outcome(
            report=self._report(sums, numbers, out, whole),
            units=numbers.units(labels, are_ok(labels), {**self._found.details()}),
            gold=self._gold,
            record_rows=None,
            identity=whole,
        )

    @property
    def documents(self) -> set[tuple[str, str]]:
        """The frozen documents that are cited, by id and revision."""
        return self._found.documents

    def _rules_of(self) -> tuple[Rule, ...]:
        targets = any(question.target_section for question in self._gold)
        rules = trace_eval_rules(
            self._options.strict,
            targets,
            self._options.gates,
            lambda name: find(name, "audit", "audited_runs"),
        )
        return tuple(sorted(with_deltas(rules, self._calibration), key=_place))

    @property
    def _threshold(self) -> float | None:
        """The calibrated bound of ΔS; None where no gate can rest on one."""
        fitted = self._calibration
        return fitted.threshold if fitted and fitted.usable else None

    def _sums(self) -> dict[str, QuestionSums]:
        of_runs = reading("audited_runs")
        return {**self._found.sums(), **{id: self._sums_of(m) for id, m in of_runs.items()}}

    def _sums_of(self, metric: Metric) -> QuestionSums:
        """A metric of questions with their runs."""
        rows = [metric(one.seen) for one in self._each]
        # Rules are checked before the first question is there.
        unseen = [Absent("not seen yet")] * (len(self._gold) - len(rows))
        return sums_of_rows(metric, [*rows, *unseen])

    def _numbers(self, sums: Mapping[str, QuestionSums]) -> Numbers:
        qids = [question.qid for question in self._gold]
        least = self._options.min_coverage
        return audit_numbers(sums, qids, self._gold, self._signature, self._calibration, least)

    def _note(self, noted: Findings) -> None:
        """Add what is to be said of the gold set, the documents and the journal."""
        findings, needed = self._found.findings, self._options.recipe.wordings
        for qid, wordings in self._short.items():
            message = f"has {wordings} of the recipe's {needed} wordings; add paraphrases"
            findings.add(AuditFinding("few_wordings", qid, message, qid=qid))
        for problem in self._found.problems:
            findings.add(AuditFinding("unreadable_document", "", problem))
        for one in noted.kept():
            findings.add(AuditFinding(one.code, one.where, one.message))

    def _report(
        self,
        sums: Mapping[str, QuestionSums],
        numbers: Numbers,
        out: str,
        identity: dict[str, Any],
    ) -> TraceEvalReport:
        scores, gates = numbers.scores(), numbers.verdicts(self._rules)
        counts = self._found.findings.counts
        codes = code_counts(counts, self._found.code_answers)
        match = scores[MATCH_RATE].value
        codes_first = bool(codes) and (match is None or match < MATCH_TARGET - TOLERANCE)
        return TraceEvalReport(
            passed=all(gate.holds for gate in gates),
            recipe=self._options.recipe,
            metrics=scores,
            gates=gates,
            codes=codes,
            codes_first=codes_first,
            states=self._states(),
            questions=tuple(one.told for one in self._each),
            findings=self._findings(),
            finding_counts=dict(sorted(counts.items())),
            coverage=self._coverage(),
            advice=self._advice(self._failed(sums, gates), codes_first=codes_first),
            over_questions=OverQuestions.of([one.told for one in self._each]),
            out=out,
            identity=identity,
        )

    def _states(self) -> dict[str, dict[str, int]]:
        sides = {
            "retrieval": Counter(one.seen.retrieval for one in self._each),
            "answer": Counter(one.seen.answer for one in self._each),
        }
        return {side: {state: counts[state] for state in STATES} for side, counts in sides.items()}

    def _findings(self) -> tuple[AuditFinding, ...]:
        """What was found, with the run: its line in the journal is another every time."""
        return tuple(
            structs.replace(one, where=self._run_ids.get(one.where, one.where))
            for one in self._found.findings.kept()
            if isinstance(one, AuditFinding)
        )

    def _coverage(self) -> TraceEvalCoverage:
        recipe, made = self._options.recipe, self._found.traces
        planned = len(self._gold) * recipe.wordings * len(recipe.seeds)
        failed = self._found.findings.counts.get(FAILED, 0)
        return TraceEvalCoverage(
            questions=len(self._gold),
            planned=planned,
            runs=made - failed,
            failed=failed,
            missing=planned - made,
            short=len(self._short),
        )

    def _failed(
        self, sums: Mapping[str, QuestionSums], gates: tuple[Verdict, ...]
    ) -> list[set[str]]:
        """For each question the metrics whose gate fails, and whose bound it is beyond itself."""
        failed: list[set[str]] = [set() for _ in self._gold]
        for rule, gate in zip(self._rules, gates, strict=True):
            values = values_of(sums[rule.metric]).tolist() if gate.verdict == "fail" else []
            for question, value, names in zip(self._gold, values, failed, strict=False):
                told = value == value and meets(question, rule.where)
                if told and not satisfies(rule, value):
                    names.add(find(rule.metric).name)
        return failed

    def _advice(self, failed: list[set[str]], *, codes_first: bool) -> tuple[Advice, ...]:
        facts = [
            traceability_facts(
                one.told,
                one.facts,
                turned=one.turned,
                short=one.told.qid in self._short,
                failed=names,
                threshold=self._threshold,
            )
            for one, names in zip(self._each, failed, strict=True)
        ]
        strata = {question.qid: question.strata for question in self._gold}
        return advise_traceability(facts, strata, codes_first=codes_first)

    def _labels(self) -> list[str | None]:
        """What each question came to in a word: its worst code, else what else is amiss."""
        codes = self._found.labels()
        return [_label(one, code) for one, code in zip(self._each, codes, strict=True)]


def _place(rule: Rule) -> int:
    return FIRST.index(rule.metric) if rule.metric in FIRST else len(FIRST)


def _label(one: Traced, code: str | None) -> str | None:
    told = one.told
    if code != OK:
        return code
    if told.answerable and told.matched < told.answered:
        return "unmatched"
    return OK if told.answer in ("convergent", None) else told.answer
