"""Audit: the citations of finished traces, each a pointer that must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ragauge.citations.offsets import OffsetReading
from ragauge.citations.reranking import ranks_of
from ragauge.citations.validator import Policy, needs_documents
from ragauge.contracts.audit import DEPTHS, AuditReport
from ragauge.contracts.gold import Gold, GoldSet
from ragauge.contracts.options import AuditOptions
from ragauge.contracts.report import Outcome, Rule
from ragauge.engines.local import ordered
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.presets import DELTAS, RANKS, audit_rules, with_deltas
from ragauge.ingest.calibration import read_calibration
from ragauge.ingest.gold import read_gold
from ragauge.ingest.lines import STDIN, blocks, nothing_in
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.options import read_section_pairs
from ragauge.ingest.traces import BadLine, decoded, numbered_lines, read_auditable
from ragauge.metrics.table import find, reading
from ragauge.models.embedders import embedder
from ragauge.models.tokenizers import tokenizer_of
from ragauge.runners.audit_blocks import AuditSetup, BlockAudit, BlockAuditor, question_key
from ragauge.runners.audit_log import logged, where_to_log, written_at
from ragauge.runners.audit_report import audit_outcome
from ragauge.runners.audit_sums import AuditSums
from ragauge.runners.audit_unit import in_one_unit
from ragauge.runners.blocks import Join, allowed_bad, refuse_bad_lines
from ragauge.runners.kept_audits import audited_answers
from ragauge.runners.options import takes

Progress = Callable[[int], None]
"""Told how many bytes of the traces are done."""

NEEDS_GOLD = frozenset(
    f"traceability.{name}"
    for name in (
        *("match_rate", "coverage", "cited_coverage", "span_precision", "span_recall"),
        *("rerank_uplift", "deltaS_anchor", "deltaS_decoy"),
    )
)
LOOKED_INTO = {f"traceability.{depth}": DEPTHS.index(depth) for depth in ("text", "support")}
"""Metrics of the depths that look into documents: told only where that was asked for."""


def policy_of(options: AuditOptions) -> Policy:
    """What the options say a citation must hold to; pairs of sections are read from their file."""
    pairs = options.allow_cross_section
    return Policy(
        depth=options.deepest,
        allow_cross_section=read_section_pairs(pairs) if pairs else frozenset(),
        unit=None,
        cite_first=options.cite_first,
        refusal_tokens=options.tokens,
        refusal=options.strength,
        offsets=OffsetReading(chars_in=options.offsets_in),
    )


@takes(AuditOptions, "audit")
def audit(
    traces: str | Path | Sequence[str | Path],
    progress: Progress | None = None,
    *,
    options: AuditOptions,
) -> Outcome[AuditReport]:
    """The outcome of auditing trace files; options as in AuditOptions.

    Raises UsageError or InputRejected with everything that is wrong. With more than one worker,
    call it under `if __name__ == "__main__"`, as everything that starts processes.
    """
    names = [traces] if isinstance(traces, str | Path) else traces
    return _Audit([str(name) for name in names], options, progress or _silent).outcome()


class _Audit:
    """One audit: from its files to its outcome."""

    def __init__(self, traces: list[str], options: AuditOptions, progress: Progress) -> None:
        _check(traces, options)
        self._gold = read_gold(options.gold) if options.gold else GoldSet(())
        options = options.settled(self._gold.metadata)
        self._traces, self._options, self._progress = traces, options, progress
        self._policy = policy_of(options)
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
        self._metrics = tuple(m for id, m in known if told(id, options, given) or id in wanted)
        self._found = AuditSums(self._metrics, [question.qid for question in self._gold])

    def outcome(self) -> Outcome[AuditReport]:
        options = self._options
        with logged(options.log, options.to_db, options.run) as log:
            for block in self._blocks():
                self._found.add(block)
                log(block.entries)
                self._progress(block.size)
            # Before the log gets its name: what is rejected leaves no file.
            self._refuse_bad_input()
            return audit_outcome(
                self._found,
                self._gold,
                self._rules,
                options,
                self._policy,
                self._manifest,
                self._embedder_id,
                self._calibration,
                audited_answers(self._setup(), self._traces, options.workers),
            )

    def _rules_of(self) -> tuple[Rule, ...]:
        targets = any(question.target_section for question in self._gold)
        own = self._options.gates
        ranked = self._ranks is not None
        rules = audit_rules(
            bool(self._gold), targets, own, lambda name: find(name, "audit"), ranked=ranked
        )
        return with_deltas(rules, self._calibration)

    def _blocks(self) -> Iterator[BlockAudit]:
        work = in_one_unit(block for name in self._traces for block in blocks(name))
        return ordered(BlockAuditor, (self._setup(),), work, self._options.workers)

    def _setup(self) -> AuditSetup:
        options = self._options
        return AuditSetup(
            policy=self._policy,
            manifest=self._manifest,
            docs=options.docs,
            tokenizer=options.tokenizer,
            embedder=options.embedder,
            gold=self._gold,
            inline=options.inline,
            metrics=tuple(metric.id for metric in self._metrics),
            ranks=self._ranks,
            logged_at=written_at(self._traces) if options.log or options.to_db else None,
        )

    def _refuse_bad_input(self) -> None:
        """Stop where too many lines were bad, or nothing could be audited."""
        found = self._found
        refuse_bad_lines(found.findings, found.rejected, self._allowed(found.filled))
        if not found.traces:
            empty = nothing_in(self._traces[0]) if len(self._traces) == 1 else None
            fact = f"no traces; {empty}" if empty else "no traces"
            raise InputRejected(f"{', '.join(self._traces)}: nothing to audit: {fact}")


def read_ranks(name: str, gold: Sequence[Gold]) -> dict[str, dict[str, int]]:
    """The ranks of the retrieved chunks in traces, by run id and by question; the last counts."""
    join, found = Join(gold), dict[str, dict[str, int]]()
    problems: list[str] = []
    for place, line in numbered_lines(name):
        try:
            made = read_auditable(decoded(line))
        except BadLine as fault:
            problems.append(f"{place}: {fault}")
            continue
        at = join.place(made.trace) if gold else None
        key = question_key(made.trace, None if at is None else gold[at])
        found[key] = ranks_of(made.retrieved or ())
        if made.trace.run_id:
            found[made.trace.run_id] = found[key]
    if problems or not found:
        raise InputRejected(*(problems or [f"{name}: no traces to compare ranks with"]))
    return found


def told(id: str, options: AuditOptions, gold: bool) -> bool:
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
    files = (options.gold, options.manifest, options.calibration, options.allow_cross_section)
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


def _silent(done: int) -> None:
    """Progress that nobody looks at."""
