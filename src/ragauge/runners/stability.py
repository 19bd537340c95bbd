"""Stability: the runs of a sweep, question by question, against what must not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import structs

from ragauge.contracts.gold import GoldSet
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.options import Canon, StabilityOptions
from ragauge.contracts.report import Outcome
from ragauge.contracts.stability import StabilityReport
from ragauge.diagnosis.advice import advise_stability
from ragauge.engines.local import unseen
from ragauge.errors import UsageError
from ragauge.gates.rules import TOLERANCE
from ragauge.gates.stability import STABLE, rules_of, stable_gate
from ragauge.ingest.fields import Columns
from ragauge.ingest.gold import GOLD, read_gold
from ragauge.ingest.records import Source, columns_for
from ragauge.ingest.trace_sources import Traces, traces_of
from ragauge.ingest.traces import TRACE
from ragauge.metrics.facts import Reader, Reading, error_reason
from ragauge.metrics.stability import METRICS
from ragauge.metrics.table import find
from ragauge.runners.evaluation import identity_of
from ragauge.runners.observations import Observations, allowed_bad
from ragauge.runners.options import takes
from ragauge.runners.plan import Plans
from ragauge.runners.question_stability import (
    Judge,
    JudgedQuestion,
    Run,
    judged_question,
    lettered_runs,
    said,
)
from ragauge.runners.verdicts import HeatMap, Verdicts, note_findings
from ragauge.store.rows import parquet_rows

Progress = Callable[[int, int], None]
"""Told how many questions are judged, of how many."""


NOT_IN_THE_NUMBERS = ("gates", "out")
"""Options that leave every score as it is, and so are no part of a run's identity."""


def reading_of(options: StabilityOptions) -> Reading:
    """How answers are read, by the profile where the user does not say it."""
    own: Canon = "reference" if options.profile == "reference" else "unicode"
    return Reading(options.canon or own, options.strength, options.tokens, options.inline)


@takes(StabilityOptions, "stability")
def stability(
    gold: Source,
    runs: Source | Sequence[str | Path],
    progress: Progress | None = None,
    *,
    columns: Columns | None = None,
    options: StabilityOptions,
) -> Outcome[StabilityReport]:
    """The outcome of scoring a sweep's runs against its gold set, as StabilityOptions say.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    mapped = columns_for(columns, runs=TRACE, gold=GOLD)
    sources = traces_of(runs, mapped["runs"])
    if options.min_stable <= TOLERANCE:
        raise UsageError("stability: --min-stable 0 can never fail; write for example 0.9")
    questions = read_gold(gold, mapped["gold"])
    chosen = options.settled(questions.metadata, exact=options.profile == "reference")
    return Judging(questions, sources, chosen).outcome(progress or unseen)


class Judging:
    """From the lines of a journal to the report."""

    def __init__(self, gold: GoldSet, sources: list[Traces], options: StabilityOptions) -> None:
        self._plans = Plans.beside([one.name for one in sources if one.is_file])
        self._all, self._gold = gold, gold[: self._plans.limit]
        self._sources, self._options = sources, options
        self._rules = rules_of(options.profile, options.gates, lambda name: find(name, "runs"))
        known = {"answerable"}.union(*(question.strata for question in gold))
        for rule in self._rules:
            if unknown := [key for key in rule.where if key not in known]:
                there = ", ".join(sorted(known))
                raise UsageError(
                    f'gate "{rule}": no question has "{unknown[0]}"; there are {there}'
                )
        self._allowed = allowed_bad(options.max_bad)
        self._verdicts = Verdicts(self._gold, self._rules, HeatMap(self._plans.columns()))

    def outcome(self, progress: Progress) -> Outcome[StabilityReport]:
        with Observations(self._gold, self._sources) as lines:
            lines.refuse_bad_input(self._allowed)
            return self.of(lines, Reader(reading_of(self._options)), progress)

    def of(
        self, lines: Observations, reader: Reader, progress: Progress
    ) -> Outcome[StabilityReport]:
        """The outcome of runs that were observed."""
        judge = Judge(self._rules, self._plans.adaptive, self._plans.alpha)
        with run_rows(self._options.out) as write:
            for place, question in enumerate(self._gold):
                plan, traces = self._plans.planned(question.qid), lines.traces(place)
                one = judged_question(reader, judge, question, traces, plan)
                self._verdicts.add(one)
                write(one)
                progress(place + 1, len(self._gold))
            return self._outcome(lines)

    def _answers(self) -> Iterator[tuple[str, KeptAnswer]]:
        """The runs of each question, as it is judged on them."""
        reader = Reader(reading_of(self._options))
        with Observations(self._gold, self._sources) as lines:
            for place, question in enumerate(self._gold):
                placed = lines.kept(place)
                traces, plan = [trace for _, trace in placed], self._plans.planned(question.qid)
                wheres = {id(trace): where for where, trace in placed}
                for trace, cell in lettered_runs(reader, question, traces, plan):
                    where = wheres[id(trace)]
                    yield question.qid, KeptAnswer(trace=trace, where=where, cell=cell)

    def _outcome(self, lines: Observations) -> Outcome[StabilityReport]:
        options, found, least = self._options, self._verdicts, self._options.min_stable
        ours = options.profile == "ours"
        evaluation = found.evaluation(reading_of(options).signature())
        stable = evaluation.scores[STABLE]
        gates = (stable_gate(stable, least), *found.rule_verdicts(least))
        findings, details, plain = lines.findings, found.details, {}
        for finding in self._all.findings:
            findings.add(finding)
        if not ours:  # as the brief writes them: css is over all runs, a bound for each name
            details = {qid: structs.replace(one, css=one.css_all) for qid, one in details.items()}
            names = (rule.metric.partition(".")[2] for rule in self._rules)
            plain = {
                "css" if name == "css_all" else name: rule.bound
                for name, rule in zip(names, self._rules, strict=True)
            }
        note_findings(
            findings, self._all, found.outputs, self._plans, self._rules, options.strength
        )
        report = evaluation.report(
            StabilityReport,
            findings,
            identity_of(
                "stability",
                options,
                METRICS,
                self._gold,
                without=NOT_IN_THE_NUMBERS,
                sweeps=[
                    {"fingerprint": plan.fingerprint, "system": plan.system, "knobs": plan.knobs}
                    for plan in self._plans.each
                ],
            ),
            passed=gates[0].holds,
            profile=options.profile,
            gates=gates if ours else plain,
            verdicts=gates,
            totals=found.totals(),
            details=details,
            columns=found.heat_map.columns(),
            cells=found.cells(),
            factors=found.factors(),
            coverage=structs.replace(found.coverage(lines), gold=len(self._all)),
            advice=advise_stability(found.failures, found.strata, found.factors()),
            over_questions=found.over_questions(),
        )
        return evaluation.outcome(
            report,
            labels=found.labels(),
            right=found.right(),
            details=found.shown(),
            also={STABLE: found.stable_units()},
            gold=self._gold,
            record_rows=options.out,
            answers=self._answers if all(one.again for one in self._sources) else None,
        )


HELD = 4_096
"""Rows that are gathered before they are written."""

_FACTS = ("refused", "claim_right", "citations_right", "echoed")
_VARIED = {"seed": int, "temperature": float, "jitter": str, "paraphrase": int, "repeat": int}


@contextmanager
def run_rows(path: str | None) -> Iterator[Callable[[JudgedQuestion], None]]:
    """A function that writes one question's runs, to a Parquet file or nowhere."""
    if path is None:
        yield lambda one: None
        return
    import polars as pl

    schema: dict[str, Any] = {
        **dict.fromkeys(("qid", "run_id"), pl.String),
        **_VARIED,
        **dict.fromkeys(("question_sent", "cell", "answer"), pl.String),
        **dict.fromkeys(("cited", "retrieved"), pl.List(pl.String)),
        **dict.fromkeys(_FACTS, pl.Boolean),
        "latency_ms": pl.Float64,
        "error": pl.String,
    }
    held: list[dict[str, Any]] = []
    with parquet_rows(Path(path)) as writer:

        def add(one: JudgedQuestion) -> None:
            held.extend(_row(one, run) for run in one.runs)
            if len(held) >= HELD:
                writer.add(pl.DataFrame(held, schema=schema))
                held.clear()

        yield add
        writer.add(pl.DataFrame(held, schema=schema))


def _row(one: JudgedQuestion, run: Run) -> dict[str, Any]:
    trace, facts = run.trace, run.facts
    return {
        "qid": one.gold.qid,
        "run_id": trace.run_id or f"{one.gold.qid}#{run.variation}",
        **{name: getattr(run.variation, name) for name in _VARIED},
        "question_sent": trace.question_sent or one.gold.question,
        "cell": one.cells[run.variation],
        "answer": said(run),
        "cited": sorted(facts.cited) if facts else [],
        "retrieved": list(trace.retrieved_ids) if trace.retrieved_ids is not None else None,
        **{name: getattr(facts, name, None) for name in _FACTS},
        "latency_ms": trace.latency_ms,
        "error": None if facts else error_reason(trace),
    }
