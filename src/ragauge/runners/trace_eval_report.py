"""The report of a trace evaluation, put together question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.citations.convergence import LambdaRun, answer_state, broken_step, retrieval_state
from ragauge.citations.reranking import final_order, flips
from ragauge.citations.validator import Policy
from ragauge.contracts.audit import OK, STATES, AuditedRuns, AuditFacts, AuditFinding
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.metric import SCALE, Absent
from ragauge.contracts.report import Advice, Findings, Outcome
from ragauge.contracts.run import SweepPlan
from ragauge.contracts.trace_eval import (
    OverQuestions,
    TracedQuestion,
    TracedRun,
    TraceEvalCoverage,
    TraceEvalReport,
)
from ragauge.diagnosis.advice import Turned, advise_traceability, traceability_facts
from ragauge.gates.presets import trace_eval_rules, with_deltas
from ragauge.gates.rules import TOLERANCE, meets, satisfies
from ragauge.ingest.calibration import read_calibration
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find, reading
from ragauge.metrics.traceability import coverage
from ragauge.runners.audit import are_ok, audited, can_measure, code_counts
from ragauge.runners.audit_blocks import AuditSums, BlockAudit
from ragauge.runners.auditing import FAILED, Audited
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.observations import CITED_SHOWN

if TYPE_CHECKING:
    from ragauge.contracts.options import TraceEvalOptions

MATCH_RATE, COVERAGE = "traceability.match_rate", "traceability.coverage"
FIRST = (MATCH_RATE, COVERAGE)
"""The gates that are looked at before the others."""
MATCH_TARGET = 0.95
"""Below it, or where nobody can say, the codes are looked at before any knob."""


Lines = dict[str, tuple[int, bytes]]
"""A question's lines with their numbers, by run id, in the order of the plan."""


class Traced(Struct, frozen=True):
    """A question over its runs: what the report says of it, and what its numbers are made of."""

    row: TracedQuestion
    seen: AuditedRuns
    facts: tuple[AuditFacts, ...]
    turned: Turned | None


def traced_question(question: Gold, runs: Sequence[Audited], planned: int) -> Traced:
    """The question over its runs, which come in the order of the plan."""
    kinds = [
        LambdaRun(kind=run.facts.kind, cited=run.examined.ids, retrieved=run.made.retrieved_ids)
        for run in runs
    ]
    flipped, paired = flips([_order(run) for run in runs])
    seen = AuditedRuns(
        answerable=question.answerable,
        planned=planned,
        retrieval=retrieval_state(kinds, planned),
        answer=answer_state(kinds, planned),
        flipped=flipped,
        paired=paired,
    )
    facts = tuple(run.facts for run in runs)
    return Traced(_question_row(question, runs, seen), seen, facts, _turned(runs))


def _turned(runs: Sequence[Audited]) -> Turned | None:
    """What goes with another order of the same chunks; None where it is always the same."""
    by_wording: dict[object, list[tuple[str, ...]]] = {}
    for run in runs:
        by_wording.setdefault(run.made.trace.paraphrase, []).append(_order(run))
    if any(flips(orders)[0] for orders in by_wording.values()):
        return "seed"
    every = [order for orders in by_wording.values() for order in orders]
    return "wording" if flips(every)[0] else None


def _order(run: Audited) -> tuple[str, ...]:
    """The retrieved ids as they stood in the end; none of a run that failed."""
    if run.failure:
        return ()
    if isinstance(run.retrieved, Absent) or not run.retrieved.complete:
        return run.made.retrieved_ids or ()
    return final_order(run.retrieved.whole)


def _question_row(question: Gold, runs: Sequence[Audited], seen: AuditedRuns) -> TracedQuestion:
    each = tuple(
        TracedRun(
            run_id=run.made.trace.run_id or "",
            kind=run.facts.kind,
            code=FAILED if run.failure else run.facts.code,
            cited=run.examined.ids[:CITED_SHOWN],
            matched=run.facts.matched,
            coverage=None if isinstance(share, Absent) else share.counts[0] / SCALE,
            error=run.failure,
        )
        for run, share in ((run, coverage(run.facts)) for run in runs)
    )
    answered = [run for run in each if run.kind in ("answer", "uncited")]
    if question.answerable:
        # An answer whose match is unknown counts neither for the rate nor against it.
        answered = [run for run in answered if run.matched is not None]
    covered = [run.coverage for run in each if run.coverage is not None]
    return TracedQuestion(
        qid=question.qid,
        question=question.question,
        answerable=question.answerable,
        retrieval=seen.retrieval,
        answer=seen.answer,
        broken=broken_step(seen.retrieval, seen.answer),
        matched=sum(run.matched is True for run in answered),
        answered=len(answered),
        coverage=sum(covered) / len(covered) if covered else None,
        codes=dict(sorted(Counter(run.code for run in each if run.code != OK).items())),
        runs=each,
    )


def signature_of(options: TraceEvalOptions, embedder: str | None) -> str:
    """How every number was made, as it stands behind the metric's name and version."""
    recipe = options.recipe
    seeds = "/".join(map(str, recipe.seeds))
    made = (
        f"depth:{options.auditing().deepest}|refusal:{options.strength}"
        f"|wordings:{recipe.wordings}|seeds:{seeds}|t:{recipe.temperature:g}"
    )
    return f"{made}|embedder:{embedder}" if embedder else made


def identity_of(
    options: TraceEvalOptions,
    policy: Policy,
    embedder: str | None,
    manifest: Manifest | None,
    plan: SweepPlan,
) -> dict[str, Any]:
    """The options that change numbers, the index and the system; gates change none."""
    pairs = policy.allow_cross_section
    return {
        "command": "trace-eval",
        "options": {
            "recipe": msgspec.to_builtins(options.recipe),
            "depth": policy.depth,
            "allow_cross_section": "all" if pairs is None else sorted(map(sorted, pairs)),
            "offsets_in": options.offsets_in,
            "tokenizer": options.tokenizer,
            "embedder": embedder,
            "refusal": options.strength,
            "refusal_tokens": list(options.tokens),
        },
        "ragauge": __version__,
        "manifest": manifest.hash if manifest else None,
        "sweeps": [{"fingerprint": plan.fingerprint, "system": plan.system, "knobs": plan.knobs}],
    }


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
        rules = with_deltas(
            trace_eval_rules(
                options.strict,
                any(question.target_section for question in gold),
                options.gates,
                lambda name: find(name, "audit", "audited_runs"),
            ),
            self._calibration,
        )
        places = {metric: place for place, metric in enumerate(FIRST)}
        self._rules = sorted(rules, key=lambda rule: places.get(rule.metric, len(FIRST)))
        wanted = {rule.metric for rule in self._rules}
        known, auditing = reading("audit"), options.auditing()
        self.metrics = tuple(id for id in known if can_measure(id, auditing, True) or id in wanted)
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
        recipe = self._options.recipe
        planned = len(self._gold) * recipe.wordings * len(recipe.seeds)
        failed = found.findings.counts.get(FAILED, 0)
        sides = {
            "retrieval": Counter(one.seen.retrieval for one in self._each),
            "answer": Counter(one.seen.answer for one in self._each),
        }
        report = evaluation.report(
            TraceEvalReport,
            found.findings,
            identity,
            passed=evaluation.all_hold,
            recipe=recipe,
            codes=codes,
            codes_first=codes_first,
            states={
                side: {state: counts[state] for state in STATES} for side, counts in sides.items()
            },
            questions=tuple(one.row for one in self._each),
            # With the run: its line in the journal is another every time.
            findings=tuple(
                structs.replace(one, where=self._run_ids.get(one.where, one.where))
                for one in found.findings.kept()
                if isinstance(one, AuditFinding)
            ),
            coverage=TraceEvalCoverage(
                questions=len(self._gold),
                planned=planned,
                runs=found.traces - failed,
                failed=failed,
                missing=planned - found.traces,
                short=len(self._short),
            ),
            advice=self._advice(evaluation, codes_first=codes_first),
            over_questions=OverQuestions.of([one.row for one in self._each]),
            out=out,
        )
        # What each question came to in a word: its worst code, else what else is amiss.
        labels: list[str | None] = found.labels()
        for place, one in enumerate(self._each):
            row = one.row
            if labels[place] != OK:
                continue
            if row.answerable and row.matched < row.answered:
                labels[place] = "unmatched"
            elif row.answer not in ("convergent", None):
                labels[place] = row.answer
        return evaluation.outcome(
            report, labels=labels, right=are_ok(labels), details=found.details(), gold=self._gold
        )

    @property
    def documents(self) -> set[tuple[str, str]]:
        """The frozen documents that are cited, by id and revision."""
        return self._found.documents

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

    def _advice(self, evaluation: Evaluation, *, codes_first: bool) -> tuple[Advice, ...]:
        # For each question the metrics whose gate fails, and whose bound it is beyond itself.
        failed: list[set[str]] = [set() for _ in self._gold]
        for rule, gate in zip(self._rules, evaluation.gates, strict=True):
            if gate.verdict != "fail":
                continue
            values = evaluation.sums[rule.metric].values().tolist()
            for question, value, names in zip(self._gold, values, failed, strict=True):
                known = value == value and meets(question, rule.where)
                if known and not satisfies(rule, value):
                    names.add(find(rule.metric).name)
        fitted = self._calibration
        facts = [
            traceability_facts(
                one.row,
                one.facts,
                turned=one.turned,
                short=one.row.qid in self._short,
                failed=names,
                threshold=fitted.threshold if fitted and fitted.usable else None,
            )
            for one, names in zip(self._each, failed, strict=True)
        ]
        strata = {question.qid: question.strata for question in self._gold}
        return advise_traceability(facts, strata, codes_first=codes_first)
