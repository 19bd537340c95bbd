"""The report of a trace evaluation, put together question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ragauge.contracts.audit import OK, STATES, AuditFinding
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.metric import Absent
from ragauge.contracts.report import Advice, Findings, Outcome, Rule
from ragauge.contracts.trace_eval import OverQuestions, TraceEvalCoverage, TraceEvalReport
from ragauge.diagnosis.advice import advise_traceability, traceability_facts
from ragauge.gates.presets import trace_eval_rules, with_deltas
from ragauge.gates.rules import TOLERANCE, meets, satisfies
from ragauge.ingest.calibration import read_calibration
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find, reading
from ragauge.runners.audit import told
from ragauge.runners.audit_blocks import BlockAudit
from ragauge.runners.audit_report import are_ok, audited, code_counts
from ragauge.runners.audit_sums import AuditSums
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.trace_eval_identity import signature_of
from ragauge.runners.traced_question import FAILED, Lines, Traced

if TYPE_CHECKING:
    from ragauge.contracts.options import TraceEvalOptions

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
        _ = self._evaluation().gates

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
        evaluation, found = self._evaluation(), self._found
        identity = identity | {
            "gold_sha256": fingerprint(self._gold),
            "metrics": {id: one.metric.version for id, one in sorted(evaluation.sums.items())},
        }
        codes = code_counts(found.findings.counts, found.code_answers)
        match = evaluation.scores[MATCH_RATE].value
        codes_first = bool(codes) and (match is None or match < MATCH_TARGET - TOLERANCE)
        sides = {
            "retrieval": Counter(one.seen.retrieval for one in self._each),
            "answer": Counter(one.seen.answer for one in self._each),
        }
        report = evaluation.report(
            TraceEvalReport,
            found.findings,
            identity,
            passed=evaluation.all_hold,
            recipe=self._options.recipe,
            codes=codes,
            codes_first=codes_first,
            states={
                side: {state: counts[state] for state in STATES} for side, counts in sides.items()
            },
            questions=tuple(one.told for one in self._each),
            # With the run: its line in the journal is another every time.
            findings=tuple(
                structs.replace(one, where=self._run_ids.get(one.where, one.where))
                for one in found.findings.kept()
                if isinstance(one, AuditFinding)
            ),
            coverage=self._coverage(),
            advice=self._advice(self._failed(evaluation), codes_first=codes_first),
            over_questions=OverQuestions.of([one.told for one in self._each]),
            out=out,
        )
        # What each question came to in a word: its worst code, else what else is amiss.
        labels = [_label(one, code) for one, code in zip(self._each, found.labels(), strict=True)]
        return evaluation.outcome(
            report, labels=labels, right=are_ok(labels), details=found.details(), gold=self._gold
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

    def _evaluation(self) -> Evaluation:
        # Rules are checked before the first question is there.
        unseen = [Absent("not seen yet")] * (len(self._gold) - len(self._each))
        of_runs = {
            id: Sums.of(metric, [*(metric(one.seen) for one in self._each), *unseen])
            for id, metric in reading("audited_runs").items()
        }
        return audited(
            {**self._found.sums(), **of_runs},
            [question.qid for question in self._gold],
            self._gold,
            self._rules,
            self._signature,
            self._calibration,
            self._options.min_coverage,
        )

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

    def _failed(self, evaluation: Evaluation) -> list[set[str]]:
        """For each question the metrics whose gate fails, and whose bound it is beyond itself."""
        failed: list[set[str]] = [set() for _ in self._gold]
        for rule, gate in zip(self._rules, evaluation.gates, strict=True):
            if gate.verdict != "fail":
                continue
            values = evaluation.sums[rule.metric].values().tolist()
            for question, value, names in zip(self._gold, values, failed, strict=True):
                known = value == value and meets(question, rule.where)
                if known and not satisfies(rule, value):
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


def _place(rule: Rule) -> int:
    return FIRST.index(rule.metric) if rule.metric in FIRST else len(FIRST)


def _label(one: Traced, code: str | None) -> str | None:
    told = one.told
    if code != OK:
        return code
    if told.answerable and told.matched < told.answered:
        return "unmatched"
    return OK if told.answer in ("convergent", None) else told.answer
