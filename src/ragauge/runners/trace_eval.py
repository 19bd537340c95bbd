"""Trace evaluation: every question in three wordings and under two seeds, its citations audited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ragauge.audit.convergence import RunSeen, answer_state, located, retrieval_state
from ragauge.audit.reranking import final_order, flips
from ragauge.contracts.audit import AuditedRuns
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent
from ragauge.contracts.run import ORIGINAL, Grid
from ragauge.contracts.score import Outcome
from ragauge.contracts.sweep import Progress, SweepReport
from ragauge.contracts.system import System
from ragauge.contracts.trace_eval import Recipe, TracedQuestion, TracedRun, TraceEvalReport
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.gold import read_gold
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.trace_lines import trace_in
from ragauge.metrics.facts import Strength
from ragauge.runners.audit import AuditOptions
from ragauge.runners.audit_blocks import AuditSetup, BlockAudit, BlockAuditor
from ragauge.runners.auditing import Audited
from ragauge.runners.run_lines import RunLines
from ragauge.runners.sweep import sweep
from ragauge.runners.trace_eval_report import TraceEvalAssembly
from ragauge.text.refusal import DEFAULT_TOKEN

CITED_SHOWN = 10
Watch = Callable[[Progress], None]


class TraceEvalOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to evaluate; the defaults are the command's."""

    recipe: Recipe = Recipe()
    manifest: str | None = None
    docs: str | None = None
    allow_cross_section: str | None = None
    offsets_in: Literal["code-points", "utf-16", "bytes"] = "code-points"
    tokenizer: str | None = None
    embedder: str | None = None
    calibration: str | None = None
    refusal: Strength = "exact"
    refusal_tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    gates: str | None = None
    strict: bool = False
    """Every question must be convergent."""
    asking: dict[str, Any] = {}
    """Options of the sweep: concurrency, timeout_s, retries, rate_per_s, knobs, restart …"""

    def auditing(self) -> AuditOptions:
        """The options of the audit the runs go through."""
        shared = {*self.__struct_fields__} & {*AuditOptions.__struct_fields__} - {"gates"}
        return AuditOptions(**{name: getattr(self, name) for name in shared})


class Evaluated(Struct, frozen=True):
    """How the asking ended, and, where it was carried through, what came of it."""

    swept: SweepReport
    outcome: Outcome[TraceEvalReport] | None


def trace_eval(
    gold: str | Path,
    system: System,
    out: str | Path,
    watch: Watch | None = None,
    **options: Any,
) -> Evaluated:
    """The evaluation of a system by the recipe, its runs in `out`; options as in TraceEvalOptions.

    What `out` holds of the same recipe is not asked again.
    """
    try:
        chosen = msgspec.convert(options, TraceEvalOptions)
    except msgspec.ValidationError as error:
        raise UsageError(f"trace-eval: {error}") from None
    assembly = TraceEvalAssembly(read_gold(str(gold)), chosen, str(out))
    swept = sweep(gold, system, out, watch, grid=_grid(chosen.recipe), **chosen.asking)
    if swept.ended != "complete":
        return Evaluated(swept, None)
    return Evaluated(swept, _evaluated(assembly, chosen, str(out)))


def _grid(recipe: Recipe) -> Grid:
    return Grid(
        seeds=recipe.seeds,
        temperatures=(recipe.temperature,),
        jitters=("none",),
        paraphrases=tuple(range(ORIGINAL, ORIGINAL + recipe.wordings)),
    )


def _evaluated(
    assembly: TraceEvalAssembly, options: TraceEvalOptions, out: str
) -> Outcome[TraceEvalReport]:
    auditing = options.auditing()
    auditor = BlockAuditor(
        AuditSetup(
            policy=auditing.policy(None),
            manifest=read_manifest(options.manifest) if options.manifest else None,
            docs=options.docs,
            tokenizer=options.tokenizer,
            embedder=options.embedder,
            gold=assembly.gold,
            metrics=assembly.metrics,
        )
    )
    planned = options.recipe.wordings * len(options.recipe.seeds)
    with RunLines(assembly.gold, [out]) as lines:
        for place, question in enumerate(assembly.gold):
            block = BlockAudit(out, 0, 0)
            runs = auditor.audit_lines(_last_of_each(lines.lines(place)), block)
            seen = audited_runs(question, runs, planned)
            assembly.add(block, seen, _traced(question, runs, seen))
        if not assembly.runs:
            raise InputRejected(f"{out}: no run belongs to a gold question")
        return assembly.outcome(lines.findings)


def _last_of_each(lines: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The last line of each run: one that failed may stand again, answered."""
    last: dict[str, tuple[int, bytes]] = {}
    for number, line in lines:
        last[trace_in(line).run_id or str(number)] = number, line
    return list(last.values())


def audited_runs(question: Gold, runs: Sequence[Audited], planned: int) -> AuditedRuns:
    """What λ says of a question's runs, and how often its chunks change their order."""
    seen = [
        RunSeen(
            kind=run.examined.audit.kind,
            cited=run.examined.ids,
            retrieved=run.made.retrieved_ids,
        )
        for run in runs
    ]
    orders = [_order(run) for run in runs if not run.failure]
    flipped, paired = flips([order for order in orders if order])
    return AuditedRuns(
        answerable=question.answerable,
        planned=planned,
        retrieval=retrieval_state(seen, planned),
        answer=answer_state(seen, planned),
        flipped=flipped,
        paired=paired,
    )


def _order(run: Audited) -> tuple[str, ...]:
    """The retrieved ids as they stood in the end."""
    if isinstance(run.retrieved, Absent):
        return run.made.retrieved_ids or ()
    return final_order(run.retrieved)


def _traced(question: Gold, runs: Sequence[Audited], seen: AuditedRuns) -> TracedQuestion:
    each = tuple(_traced_run(run) for run in runs)
    covered = [run.coverage for run in each if run.coverage is not None]
    answered = [run for run in runs if run.facts.kind in ("answer", "uncited")]
    return TracedQuestion(
        qid=question.qid,
        question=question.question,
        answerable=question.answerable,
        retrieval=seen.retrieval,
        answer=seen.answer,
        broken=located(seen.retrieval, seen.answer),
        matched=sum(bool(run.facts.matched) for run in answered),
        answered=len(answered),
        coverage=sum(covered) / len(covered) if covered else None,
        codes=dict(sorted(Counter(run.code for run in each if run.code != "ok").items())),
        runs=each,
    )


def _traced_run(run: Audited) -> TracedRun:
    facts, trace = run.facts, run.made.trace
    share = None
    if facts.target and facts.retrieved_target is not None:
        share = facts.retrieved_target / facts.target
    return TracedRun(
        run_id=trace.run_id or "",
        kind=facts.kind,
        code="error_record" if run.failure else facts.code,
        cited=run.examined.ids[:CITED_SHOWN],
        matched=facts.matched,
        coverage=share,
        error=run.failure,
    )
