"""Trace evaluation: every question in three wordings and under two seeds, its citations audited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.citation import Unit
from ragauge.contracts.gold import Gold, GoldSet
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.metric import Absent
from ragauge.contracts.opt import takes
from ragauge.contracts.options import TraceEvalOptions
from ragauge.contracts.report import Outcome, Score
from ragauge.contracts.run import ORIGINAL, Grid
from ragauge.contracts.sweep import Progress, SweepReport
from ragauge.contracts.system import System
from ragauge.contracts.trace_eval import AtK, TraceEvalReport
from ragauge.errors import UsageError
from ragauge.ingest.fields import Columns
from ragauge.ingest.gold import read_gold
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.records import Source
from ragauge.models.embedders import embedder
from ragauge.runners.audit import setup_of
from ragauge.runners.audit_blocks import (
    BlockAudit,
    BlockAuditor,
    KeepingAuditor,
    cited_documents,
    unit_in,
)
from ragauge.runners.audit_log import logged, where_to_log, written_at
from ragauge.runners.auditing import Audited, Auditor
from ragauge.runners.observations import Observations
from ragauge.runners.plan import ANOTHER, planned_runs, question_plan, read_plan
from ragauge.runners.sweep import Announce, sweep
from ragauge.runners.trace_eval_report import (
    Lines,
    TraceEvalAssembly,
    identity_of,
    traced_question,
)
from ragauge.text.canonical import composed

ASKING = frozenset(
    {
        *("concurrency", "timeout_s", "retries", "rate_per_s", "max_wait_s"),
        *("error_budget", "knobs", "restart"),
    }
)
"""Options of a sweep that are the user's; what is varied is the recipe's."""

Watch = Callable[[Progress], None]


class Evaluated(Struct, frozen=True):
    """How the asking ended, and, where it was carried through, what came of it."""

    swept: SweepReport
    outcome: Outcome[TraceEvalReport] | None


@takes(TraceEvalOptions, "trace-eval")
def trace_eval(
    gold: Source,
    system: System | Callable[..., Any],
    out: str | Path,
    watch: Watch | None = None,
    announce: Announce | None = None,
    *,
    columns: Columns | None = None,
    options: TraceEvalOptions,
) -> Evaluated:
    """The evaluation of a system by the recipe, its runs in `out`, as TraceEvalOptions say.

    What `out` holds of the same recipe is not asked again. Whatever is wrong with the options or
    their files is raised before anything is asked. `announce` is as in `sweep`.
    """
    options = _checked_options(options)
    questions = read_gold(gold, columns)
    chosen = options.settled(questions.metadata)
    evaluation = _Evaluation(questions, chosen, str(out))
    swept = sweep(questions, system, out, watch, announce, grid=evaluation.grid, **chosen.asking)
    return Evaluated(swept, evaluation.outcome() if swept.ended == "complete" else None)


def _checked_options(chosen: TraceEvalOptions) -> TraceEvalOptions:
    """The options in one recipe and one way to ask; raises UsageError with all that misfits."""
    problems = [
        f"trace-eval: asking has no {name}; there are {', '.join(sorted(ASKING))}"
        for name in sorted(chosen.asking.keys() - ASKING)
    ]
    if chosen.calibration is not None and chosen.embedder is None:
        problems.append("--calibration belongs to an embedder; name it with --embedder")
    for name, numbers in (("seeds", chosen.seeds or ()), ("k", chosen.k)):
        if len({*numbers}) < len(numbers):
            written = ",".join(map(str, numbers))
            problems.append(f'--{name} "{written}": one is there twice; name different ones')
    problems += where_to_log(chosen.to_db, chosen.run)
    if problems:
        raise UsageError(*problems)

    def given(*names: str) -> dict[str, Any]:
        return {name: one for name in names if (one := getattr(chosen, name)) is not None}

    calls = given(*("concurrency", "timeout", "retries", "rate", "max_wait"))
    calls |= given("error_budget", "knobs", "restart")
    recipe = structs.replace(chosen.recipe, **given("wordings", "seeds", "temperature"))
    return structs.replace(chosen, recipe=recipe, asking={**chosen.asking, **calls})


class _Evaluation:
    """From the runs of a journal to the outcome."""

    def __init__(self, gold: GoldSet, options: TraceEvalOptions, out: str) -> None:
        self._gold, self._options, self._out = gold, options, out
        self.grid = Grid(
            seeds=options.recipe.seeds,
            temperatures=(options.recipe.temperature,),
            jitters=("none",),
            paraphrases=tuple(range(ORIGINAL, ORIGINAL + options.recipe.wordings)),
        )
        self._manifest = read_manifest(options.manifest) if options.manifest else None
        self._embedder = embedder(options.embedder).id if options.embedder else None
        # How many wordings each question has, of those of the recipe; two alike are one.
        wordings = {one.qid: question_plan(one, self.grid).prompts for one in gold}
        self._assembly = TraceEvalAssembly(gold, options, self._embedder, wordings)
        self._setup = structs.replace(
            setup_of(options.auditing(), gold, self._manifest), metrics=self._assembly.metrics
        )
        BlockAuditor(self._setup)  # what is wrong with its files is raised before any call

    def outcome(self) -> Outcome[TraceEvalReport]:
        options, recipe = self._options, self._options.recipe
        planned = recipe.wordings * len(recipe.seeds)
        moment = written_at([self._out]) if options.log or options.to_db else None
        auditor = BlockAuditor(structs.replace(self._setup, logged_at=moment))
        sweep = KSweep(options.k, auditor, len(self._gold))
        with (
            Observations(self._gold, [self._out], run_ids=True) as runs,
            logged(options.log, options.to_db, options.run) as log,
        ):
            unit = self._unit(runs)
            for place, question in enumerate(self._gold):
                lines, block = self._lines(runs, place), BlockAudit(self._out)
                audited = [one for _, one in auditor.lines(lines.values(), block, unit)]
                traced = traced_question(question, audited, planned)
                self._assembly.add(traced, block, lines)
                if options.k:
                    sweep.add(question, audited, auditor.auditor(unit))
                log([structs.replace(e, lambda_state=traced.seen.answer) for e in block.entries])
        plan, policy = read_plan(Path(self._out), ANOTHER), self._setup.policy
        identity = identity_of(options, policy, self._embedder, self._manifest, plan)
        for finding in self._gold.findings:
            runs.findings.add(finding)
        outcome = self._assembly.outcome(identity, self._out, runs.findings)
        if options.k:
            outcome = structs.replace(
                outcome, report=structs.replace(outcome.report, at_k=sweep.rows())
            )
        documents = None
        if options.docs is not None:
            cited = self._assembly.documents
            documents = partial(cited_documents, options.docs, self._manifest, cited, self._gold)
        return structs.replace(outcome, answers=self._answers, documents=documents)

    def _answers(self) -> Iterator[tuple[str, KeptAnswer]]:
        """The runs of each question in the order of the plan, with what their audit found."""
        auditor = KeepingAuditor(self._setup)
        with Observations(self._gold, [self._out], run_ids=True) as runs:
            unit = self._unit(runs)
            for place, question in enumerate(self._gold):
                lines = self._lines(runs, place).values()
                for number, _, answer in auditor.kept(lines, unit):
                    yield question.qid, structs.replace(answer, where=f"{self._out}:{number}")

    def _lines(self, runs: Observations, place: int) -> Lines:
        planned = planned_runs(self._gold[place], self.grid)
        return runs.last_of(place, [run.run_id for run in planned])

    def _unit(self, runs: Observations) -> Unit | None:
        """The unit of the first offsets, in the order of the plan: it must be that of all."""
        for place in range(len(self._gold)):
            unit = unit_in(b"\n".join(line for _, line in self._lines(runs, place).values()))
            if unit:
                return unit
        return None


NO_RETRIEVED = Absent("what was retrieved is unknown")
NO_GOLD_IDS = Absent("no gold citations")
NO_LEG = Absent("no chunk comes from this leg")
VALUES = ("coverage", "gold_recall", "deltaS")

Value = float | Absent


class KSweep:
    """The values at each cut-off, question by question, and the rows they come to."""

    def __init__(self, ks: Sequence[int], auditor: BlockAuditor, questions: int) -> None:
        self._ks, self._auditor, self._questions = sorted({*ks}), auditor, questions
        self._found: dict[tuple[str | None, int, str], list[Value]] = {}
        self._legs: set[str] = set()

    def add(self, question: Gold, runs: Sequence[Audited], auditor: Auditor) -> None:
        """Take the next question in, with its audited runs."""
        legs = {leg for run in runs for chunk in run.made.retrieved or () for leg in legs_of(chunk)}
        self._legs |= legs
        for leg in (None, *sorted(legs)):
            for k in self._ks:
                each = [self._values(question, run, auditor, leg, k) for run in runs]
                for name in ("chunks", *VALUES):
                    values = [values[name] for values in each]
                    known = [value for value in values if not isinstance(value, Absent)]
                    absent = next(iter(values), NO_RETRIEVED)
                    self._found.setdefault((leg, k, name), []).append(
                        fmean(known) if known else absent
                    )

    def rows(self) -> tuple[AtK, ...]:
        """All legs together first, then each leg; within them by k."""
        rows = []
        for leg in (None, *sorted(self._legs)):
            for k in self._ks:
                scores = {name: self._score(leg, k, name) for name in VALUES}
                chunks = self._score(leg, k, "chunks").value
                rows.append(AtK(k=k, leg=leg, chunks=chunks, **scores))
        return tuple(rows)

    def _score(self, leg: str | None, k: int, name: str) -> Score:
        values = self._found.get((leg, k, name), [])
        known = [value for value in values if not isinstance(value, Absent)]
        reasons = Counter(value.reason for value in values if isinstance(value, Absent))
        why = reasons.most_common(1)[0][0] if reasons else NO_LEG.reason
        return Score(
            value=fmean(known) if known else None,
            n=len(known),
            of=self._questions,
            reason=None if known else why,
        )

    def _values(
        self, question: Gold, run: Audited, auditor: Auditor, leg: str | None, k: int
    ) -> dict[str, Value]:
        if run.failure or run.made.retrieved is None:
            why = Absent(run.failure) if run.failure else NO_RETRIEVED
            return dict.fromkeys(("chunks", *VALUES), why)
        listed = run.made.retrieved
        chunks = [one for one in listed if leg is None or leg in legs_of(one)][:k]
        if leg is not None and not chunks:
            return dict.fromkeys(("chunks", *VALUES), NO_LEG)
        made = structs.replace(run.made, retrieved=chunks)
        wanted = {*map(composed, question.gold_citations)}
        ids = {*map(composed, made.retrieved_ids or ())}
        return {
            "chunks": len(chunks),
            "coverage": auditor.coverage(made, question),
            "gold_recall": len(wanted & ids) / len(wanted) if wanted else NO_GOLD_IDS,
            "deltaS": self._auditor.delta_s(made, question, auditor),
        }


def legs_of(chunk: Any) -> tuple[str, ...]:
    """The legs of hybrid retrieval that brought a chunk, as its payload names them.

    >>> legs_of({"id": "c1", "leg": "lexical"}), legs_of({"legs": ["lexical", "semantic"]})
    (('lexical',), ('lexical', 'semantic'))
    """
    fields = chunk if isinstance(chunk, Mapping) else {}
    named = fields.get("legs", fields.get("leg"))
    listed = named if isinstance(named, list) else [named]
    return tuple(leg for leg in listed if isinstance(leg, str) and leg.strip())
