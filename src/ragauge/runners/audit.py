"""Audit: the citations of finished traces, each a pointer that must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from ragauge.citations.codes import CODES, depth_of, entry_of, rank_of, tip_of
from ragauge.citations.offsets import OffsetReading
from ragauge.citations.reranking import ranks_of
from ragauge.citations.rules import LiveIndex
from ragauge.citations.validator import Policy, needs_documents
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
from ragauge.contracts.gold import Gold, GoldSet
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.opt import takes
from ragauge.contracts.options import AuditOptions
from ragauge.contracts.report import Findings, Outcome, Rule, Verdict
from ragauge.diagnosis.advice import advise_similarity
from ragauge.engines.local import no_progress, ordered
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.presets import (
    DELTAS,
    RANKS,
    about_deltas,
    audit_rules,
    uncalibrated,
    with_deltas,
)
from ragauge.grounding.model import shipped
from ragauge.ingest.calibration import read_calibration
from ragauge.ingest.fields import Columns, allowed_bad
from ragauge.ingest.gold import GOLD, read_gold
from ragauge.ingest.lines import STDIN
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.options import read_section_pairs
from ragauge.ingest.records import Source, columns_for, is_stdin
from ragauge.ingest.traces import TRACE, Traces, blocks_of, traces_of
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find, reading
from ragauge.models.embedders import embedder
from ragauge.models.tokenizers import tokenizer_of
from ragauge.runners.audit_blocks import (
    AuditSetup,
    AuditSums,
    BlockAuditor,
    audited_answers,
    cited_documents,
    in_one_unit,
    observing,
    question_key,
)
from ragauge.runners.audit_log import logged, where_to_log, written_at
from ragauge.runners.evaluation import Evaluation, by_gold, identity_of, weights_of
from ragauge.runners.observations import Gathered

if TYPE_CHECKING:
    from ragauge.runners.evaluation import Mask

Progress = Callable[[int], None]
"""Called with how many bytes of the traces are done."""

NEEDS_GOLD = frozenset(
    f"traceability.{name}"
    for name in (
        *("match_rate", "coverage", "cited_coverage", "span_precision", "span_recall"),
        *("rerank_uplift", "deltaS_anchor", "deltaS_decoy"),
    )
)
LOOKED_INTO = {f"traceability.{depth}": DEPTHS.index(depth) for depth in ("text", "support")}
"""Metrics of the depths that look into documents: measured only where that was requested."""


NOT_IN_THE_NUMBERS = (
    *("workers", "log", "to_db", "run", "gates", "gold"),
    *("manifest", "docs", "calibration", "allow_cross_section", "ranks"),
)
"""Options that leave every score as it is, or that stand in the identity by what they hold."""

LAST = (len(CODES), 0, "")


def policy_of(options: AuditOptions) -> Policy:
    """What the options say a citation must hold to; pairs of sections are read from their file."""
    pairs = options.allow_cross_section
    return Policy(
        depth=options.deepest,
        allow_cross_section=read_section_pairs(pairs) if pairs else frozenset(),
        cite_first=options.cite_first,
        refusal_tokens=options.tokens,
        refusal=options.strength,
        offsets=OffsetReading(chars_in=options.offsets_in),
    )


def setup_of(options: AuditOptions, gold: list[Gold], manifest: Manifest | None) -> AuditSetup:
    """What a process needs to audit by the options."""
    return AuditSetup(
        policy=policy_of(options),
        manifest=manifest,
        docs=options.docs,
        tokenizer=options.tokenizer,
        embedder=options.embedder,
        gold=gold,
        inline=options.inline,
    )


@takes(AuditOptions, "audit")
def audit(
    traces: Source | Sequence[str | Path],
    progress: Progress | None = None,
    *,
    gold: Source | None = None,
    columns: Columns | None = None,
    options: AuditOptions,
) -> Outcome[AuditReport]:
    """The outcome of auditing traces, against a gold set if there is one; see AuditOptions.

    Raises UsageError or InputRejected with everything that is wrong. With more than one worker,
    call it under `if __name__ == "__main__"`, as everything that starts processes.
    """
    mapped = columns_for(columns, traces=TRACE, **({} if gold is None else {"gold": GOLD}))
    sources = traces_of(traces, mapped["traces"])
    return Auditing(sources, options, gold, mapped.get("gold"), progress or no_progress).outcome()


class Auditing:
    """One audit: from its files to its outcome."""

    def __init__(
        self,
        traces: list[Traces],
        options: AuditOptions,
        gold: Source | None = None,
        columns: Columns | None = None,
        progress: Progress = no_progress,
    ) -> None:
        names = [source.name for source in traces]
        _check([*names, *[STDIN] * (gold is not None and is_stdin(gold))], options)
        self._gold = GoldSet(()) if gold is None else read_gold(gold, columns)
        options = options.settled(self._gold.metadata)
        self._traces, self._options, self._progress = traces, options, progress
        self._allowed = allowed_bad(options.max_bad)
        self._manifest = read_manifest(options.manifest) if options.manifest else None
        self._embedder_id = embedder(options.embedder).id if options.embedder else None
        self._calibration = (
            read_calibration(options.calibration, self._embedder_id)
            if options.calibration
            else None
        )
        self._ranks = read_ranks(options.ranks, self._gold) if options.ranks else None
        self._rules = self._rules_of()
        wanted = {rule.metric for rule in self._rules}
        known = reading("audit").items()
        given = bool(self._gold)
        self._metrics = tuple(
            m for id, m in known if can_measure(id, options, given) or id in wanted
        )
        self.setup = structs.replace(
            setup_of(options, self._gold, self._manifest),
            metrics=tuple(metric.id for metric in self._metrics),
            ranks=self._ranks,
            logged_at=written_at(names) if options.log or options.to_db else None,
        )
        self.found = AuditSums(self._metrics, [question.qid for question in self._gold])

    def outcome(self) -> Outcome[AuditReport]:
        options = self._options
        with logged(options.log, options.to_db, options.run) as log:
            work = in_one_unit(blocks_of(self._traces))
            for block in ordered(BlockAuditor, (self.setup,), work, options.workers):
                self.found.add(block)
                log(block.entries)
                self._progress(block.size)
            # Before the log gets its name: what is rejected leaves no file.
            self.found.refuse_bad(self._allowed)
            if not self.found.traces:
                empty = self._traces[0].nothing() if len(self._traces) == 1 else None
                fact = f"no traces; {empty}" if empty else "no traces"
                names = ", ".join(source.name for source in self._traces)
                raise InputRejected(f"{names}: nothing to audit: {fact}")
            return self.of_found()

    def of_found(self) -> Outcome[AuditReport]:
        """The outcome of what was found."""
        found, gold, options = self.found, self._gold, self._options
        manifest, calibration = self._manifest, self._calibration
        supporter = shipped().id if options.deepest == "support" else None
        made = {
            "depth": options.deepest,
            "refusal": options.strength,
            "model": supporter,
            "embedder": self._embedder_id,
        }
        sums = found.sums()
        evaluation = audited(
            sums,
            list(found.questions),
            gold,
            self._rules,
            "|".join(f"{name}:{value}" for name, value in made.items() if value),
            calibration,
            options.min_coverage,
        )
        findings = found.findings
        for one in gold.findings:
            findings.add(AuditFinding(one.code, one.where, one.message))
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
        pairs = self.setup.policy.allow_cross_section
        identity["options"] |= {
            "depth": options.deepest,
            "embedder": self._embedder_id,
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
                unknown=found.unmatched,
                gold=len(gold) if gold else None,
                missing=len(untraced) if gold else None,
                compared=LiveIndex.of(manifest).compared if manifest else None,
                unread_columns=found.unread(self._traces, gold),
            ),
            advice=advise_similarity(rows, threshold),
        )
        return evaluation.outcome(
            report,
            labels=labels,
            right=are_ok(labels),
            details=found.details(),
            gold=gold,
            answers=audited_answers(self.setup, self._traces, options.workers),
            documents=documents,
        )

    def _rules_of(self) -> tuple[Rule, ...]:
        targets = any(question.target_section for question in self._gold)
        own = self._options.gates
        ranked = self._ranks is not None
        rules = audit_rules(
            bool(self._gold), targets, own, lambda name: find(name, "audit"), ranked=ranked
        )
        return with_deltas(rules, self._calibration)


def read_ranks(name: str, gold: Sequence[Gold]) -> dict[str, dict[str, int]]:
    """The ranks of the retrieved chunks in traces, by run id and by question; the last counts."""
    found, noted = dict[str, dict[str, int]](), Gathered()
    for _, made, place in observing(gold).with_places(blocks_of(name), noted):
        key = question_key(made.trace, None if place is None else gold[place])
        found[key] = ranks_of(made.retrieved or ())
        if made.trace.run_id:
            found[made.trace.run_id] = found[key]
    noted.refuse_bad(lambda lines: 0)
    if not found:
        raise InputRejected(f"{name}: no traces to compare ranks with")
    return found


def can_measure(id: str, options: AuditOptions, gold: bool) -> bool:
    """Whether an audit was given what a metric needs."""
    if id in NEEDS_GOLD and not gold:
        return False
    if id.startswith(RANKS):
        return options.ranks is not None
    if id.startswith(DELTAS):
        return options.embedder is not None
    return id not in LOOKED_INTO or LOOKED_INTO[id] <= DEPTHS.index(options.deepest)


def without_documents(options: AuditOptions) -> str:
    """What is to be said to who asks for a depth without what it looks into; else nothing."""
    if options.docs is not None or not needs_documents(options.deepest):
        return ""
    return f"--depth {options.depth} compares with documents; give them with --docs DIR"


def _check(traces: Sequence[str], options: AuditOptions) -> None:
    problems = []
    files = (options.manifest, options.calibration, options.allow_cross_section)
    if [*traces, *files, options.ranks].count(STDIN) > 1:
        problems.append("only one of the files can be standard input (-)")
    if without_documents(options):
        problems.append(without_documents(options))
    if options.docs is not None and not Path(options.docs).is_dir():
        problems.append(f"{options.docs}: there is no such folder; give the frozen documents'")
    if options.calibration is not None and options.embedder is None:
        problems.append("--calibration belongs to an embedder; name it with --embedder")
    problems += where_to_log(options.to_db, options.run)
    if problems:
        raise UsageError(*problems)
    if options.tokenizer is not None:
        tokenizer_of(options.tokenizer)


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
    beyond_gold = len(questions) - len(gold)

    def settle(rule: Rule, verdict: Verdict, mask: Mask | None) -> Verdict:
        reason = no_gate(calibration) if about_deltas(rule) else None
        return uncalibrated(rule, int(sums[rule.metric].units.sum()), reason) if reason else verdict

    return Evaluation(
        ids=questions,
        sums=sums,
        rules=rules,
        slicing=by_gold(gold, beyond_gold),
        signature=signature,
        weights=weights_of(gold, beyond_gold),
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
