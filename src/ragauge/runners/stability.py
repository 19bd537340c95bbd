"""Stability: the runs of a sweep, question by question, against what must not change."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from ragauge.contracts.gold import REFUSING, Gold, GoldSet, Refusal, Strength, fingerprint
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.metric import Absent, Row
from ragauge.contracts.opt import takes
from ragauge.contracts.options import Canon, StabilityOptions
from ragauge.contracts.report import (
    ROWS_KEPT,
    Finding,
    Findings,
    Measured,
    Outcome,
    Rule,
    Score,
    Verdict,
)
from ragauge.contracts.run import FACTORS, SweepPlan, Variation
from ragauge.contracts.stability import (
    STABILITIES,
    FactorEffect,
    OverQuestions,
    QuestionStability,
    Stability,
    StabilityCoverage,
    StabilityReport,
)
from ragauge.diagnosis.advice import StabilityFacts, advise_stability, stability_facts
from ragauge.engines.local import no_progress
from ragauge.errors import UsageError
from ragauge.gates.rules import TOLERANCE, meets
from ragauge.gates.stability import MORE_RUNS, STABLE, rule_verdict, rules_of, stable_gate
from ragauge.ingest.fields import Columns, allowed_bad
from ragauge.ingest.gold import GOLD, read_gold
from ragauge.ingest.records import Source, columns_for
from ragauge.ingest.traces import TRACE, Traces, traces_of
from ragauge.jitters import JITTERS
from ragauge.metrics.factors import effect, effects, same_output
from ragauge.metrics.facts import Reader, Reading, error_reason
from ragauge.metrics.stability import METRICS
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find
from ragauge.runners.evaluation import Evaluation, identity_of, weights_of
from ragauge.runners.observations import Observations
from ragauge.runners.plan import Plans
from ragauge.runners.question_stability import (
    QuestionGates,
    QuestionResult,
    Run,
    answer_text,
    evaluate_question,
    runs_with_cells,
)
from ragauge.stats.exact import ALPHA
from ragauge.stats.intervals import mean_of_shares
from ragauge.store.rows import parquet_rows

if TYPE_CHECKING:
    pass


STABLE_VERSION = 2
COUNTED = ("planned", "runs", "errors", "missing", "saved")


class Verdicts:
    """The results of the questions, added up one by one."""

    def __init__(self, gold: list[Gold], rules: tuple[Rule, ...], heat_map: HeatMap) -> None:
        self._gold, self._rules, self.heat_map = gold, rules, heat_map
        self.details: dict[str, QuestionStability] = {}
        """The questions a report holds; the rest are in the sums."""
        self.outputs = Outputs()
        self._pairs: Counter[str] = Counter()
        self._differ: Counter[str] = Counter()
        self.failures: list[StabilityFacts] = []
        self.strata = {question.qid: question.strata for question in gold}
        self._verdicts: list[Stability] = []
        self._shown: dict[str, list[Any]] = {
            name: [] for name in ("claim", "cited", "error", "explained_by", "failed")
        }
        self._rows: dict[str, list[Row | Absent]] = {metric.id: [] for metric in METRICS}
        self._failing: dict[str, list[str]] = {str(rule): [] for rule in rules}
        self._applied: Counter[str] = Counter()
        self._undecided: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._asked: list[tuple[int, tuple[str, ...], str | None]] = []

    def add(self, one: QuestionResult) -> None:
        """Take in a question, in the order of the gold set."""
        detail = one.detail
        if len(self.details) < ROWS_KEPT:
            self.details[one.gold.qid] = detail
        self.heat_map.add(one.cells)
        self._verdicts.append(detail.verdict)
        # The commonest answer, and what the variation goes with.
        first, why = detail.examples[0] if detail.examples else None, detail.explained_by
        self._shown["claim"].append(first.claim if first else None)
        self._shown["cited"].append(first.cited if first else ())
        self._shown["error"].append(first.error if first else None)
        self._shown["explained_by"].append(why.words if why else None)
        self._shown["failed"].append(detail.failed)
        self._asked.append((detail.prompts, detail.noop, detail.blamed))
        for factor, found in detail.factors.items():
            self._pairs[factor] += found.pairs
            self._differ[factor] += found.differ
        self.failures.append(stability_facts(one.gold.qid, detail))
        self.outputs.add(one)
        for id, rows in self._rows.items():
            rows.append(one.verdict.rows[id])
        failed = {str(failed.rule) for failed in one.verdict.failed}
        for rule in self._rules:
            name = str(rule)
            if not meets(one.gold, rule.where):
                continue
            if name in failed:
                self._failing[name].append(one.gold.qid)
            decided = one.verdict.values[rule.metric] is not None or name in failed
            self._applied[name] += decided
            self._undecided[name] += not decided and len(one.unit.runs) < 2
        for name in COUNTED:
            self._counts[name] += getattr(detail, name)
        self._counts["questions"] += bool(detail.runs or detail.errors)
        self._counts["surplus"] += one.surplus

    def cells(self) -> dict[str, str]:
        """The rows of the heat map that a report holds."""
        return dict(zip(self.details, self.heat_map.rows(), strict=False))

    def over_questions(self) -> OverQuestions:
        """What is counted over all questions, also those that a report has no room for."""
        return OverQuestions.of(
            (prompts for prompts, _, _ in self._asked),
            (jitter for _, noops, _ in self._asked for jitter in noops),
            (factor for *_, factor in self._asked if factor),
        )

    def factors(self) -> dict[str, FactorEffect]:
        """Each factor's effect over all questions."""
        return {factor: effect(self._pairs[factor], self._differ[factor]) for factor in FACTORS}

    def evaluation(self, reading: str) -> Evaluation:
        """Each metric's mean over the questions it applies to, each counting once."""
        weights = weights_of(self._gold)
        weighted = "" if weights is None else "|weighted"
        # The fraction of questions with two runs or more that are stable and correct.
        values = self.stable_units().values
        evaluated = ~np.isnan(values)
        n, of = int(evaluated.sum()), len(values)
        signature = f"{STABLE}|v{STABLE_VERSION}{weighted}|n:{n}"
        if n:
            values, heavy = values[evaluated], None if weights is None else weights[evaluated]
            share = float(values.mean() if heavy is None else np.average(values, weights=heavy))
            ends = mean_of_shares(values, weights=heavy)
            stable = Score(value=share, n=n, of=of, ci=ends, signature=signature)
        else:
            reason = f"one run per question shows nothing about stability: {MORE_RUNS}"
            stable = Score(value=None, n=0, of=of, reason=reason, signature=signature)
        return Evaluation(
            ids=[question.qid for question in self._gold],
            sums={metric.id: Sums.of(metric, self._rows[metric.id]) for metric in METRICS},
            given={STABLE: stable},
            signature=reading + weighted,
            weights=weights,
            total="mean",
        )

    def rule_verdicts(self, least: float) -> Iterator[Verdict]:
        for rule in self._rules:
            name = str(rule)
            counts = self._applied[name], self._undecided[name]
            yield rule_verdict(rule, *counts, self._failing[name], len(self._gold), least)

    def totals(self) -> dict[str, int]:
        answerable = sum(question.answerable for question in self._gold)
        verdicts: dict[str, int] = {name: self._verdicts.count(name) for name in STABILITIES}
        stable = verdicts["stable_pass"]
        return {
            "questions": len(self._gold),
            "answerable": answerable,
            "unanswerable": len(self._gold) - answerable,
            "pass": stable,
            "fail": len(self._gold) - stable - verdicts["not_evaluated"],
            **verdicts,
        }

    def coverage(self, lines: Observations) -> StabilityCoverage:
        counts: dict[str, Any] = {name: self._counts[name] for name in COUNTED}
        return StabilityCoverage(
            gold=len(self._gold),
            unknown=lines.unmatched,
            rejected=lines.rejected,
            single=self._verdicts.count("not_evaluated"),
            questions=self._counts["questions"],
            surplus=self._counts["surplus"],
            **counts,
        )

    def labels(self) -> list[Stability]:
        return list(self._verdicts)

    def right(self) -> list[bool | None]:
        return [_right(verdict) for verdict in self._verdicts]

    def shown(self) -> dict[str, list[Any]]:
        """Of each question, the commonest answer and what its variation goes with."""
        return {**self._shown, "cells": list(self.heat_map.rows())}

    def stable_units(self) -> Measured:
        """The verdicts as a metric: 1 for a question that is stable and correct."""
        right = np.array([_right(verdict) is True for verdict in self._verdicts], dtype=np.int64)
        of = np.array([_right(verdict) is not None for verdict in self._verdicts], dtype=np.int64)
        return Measured(
            version=STABLE_VERSION,
            better="higher",
            values=np.where(of > 0, right.astype(np.float64), np.nan),
            counts=np.stack([right, of], axis=1),
            total="mean",
        )


def _right(verdict: Stability) -> bool | None:
    """Whether a question is stable and correct; None where that was not evaluated."""
    return None if verdict == "not_evaluated" else verdict == "stable_pass"


NO_RUN = "."

_JITTER_ORDER = {name: number for number, name in enumerate(JITTERS)}


class HeatMap:
    """Rows of letters, one a question; the columns are known when the last row is in."""

    def __init__(self, planned: tuple[Variation, ...]) -> None:
        self._planned = planned
        self._number = {variation: number for number, variation in enumerate(planned)}
        self._rows: list[tuple[array[int], str]] = []

    def add(self, cells: Mapping[Variation, str]) -> None:
        numbers = (self._number.setdefault(v, len(self._number)) for v in cells)
        self._rows.append((array("I", numbers), "".join(cells.values())))

    def columns(self) -> tuple[Variation, ...]:
        """The planned runs in their order, then whatever else the runs varied."""

        def order(variation: Variation) -> tuple[Any, ...]:
            jitter = _JITTER_ORDER.get(variation.jitter, len(_JITTER_ORDER))
            return variation.paraphrase, jitter, variation

        return (*self._planned, *sorted({*self._number}.difference(self._planned), key=order))

    def rows(self) -> Iterator[str]:
        """Each question's letters, one a column, in the order they were added."""
        place = {self._number[v]: place for place, v in enumerate(self.columns())}
        for numbers, letters in self._rows:
            row = [NO_RUN] * len(place)
            for number, letter in zip(numbers, letters, strict=True):
                row[place[number]] = letter
            yield "".join(row)


class Outputs:
    """Whether answers, word for word, differ between runs that differ in one factor alone."""

    def __init__(self) -> None:
        self.pairs: Counter[str] = Counter()
        self.differ: Counter[str] = Counter()
        self.unscoped = 0
        """Runs that do not tell what they retrieved."""
        self.untold: list[str] = []
        """Questions without a single finished run."""
        self.alone: list[str] = []
        """Questions with one finished run: nothing could differ."""
        self.unplanned: dict[str, int] = {}
        """Questions with runs that no plan knows."""
        self.saved = 0
        self.own_words: dict[str, Counter[Refusal]] = {}
        """Questions with runs that refuse, or may refuse, in free words."""

    def add(self, one: QuestionResult) -> None:
        self.unscoped += one.unscoped
        for factor, found in effects(one.unit.runs, same_output).items():
            self.pairs[factor] += found.pairs
            self.differ[factor] += found.differ
        self.saved += one.verdict.saved
        refusals = Counter(run.refusal for run in one.unit.runs)
        if refusals["free"] or refusals["undetermined"]:
            self.own_words[one.gold.qid] = refusals
        if one.unplanned:
            self.unplanned[one.gold.qid] = one.unplanned
        if not one.unit.runs:
            self.untold.append(one.gold.qid)
        if len(one.unit.runs) == 1:
            self.alone.append(one.gold.qid)


def note_findings(
    findings: Findings,
    gold: list[Gold],
    outputs: Outputs,
    plans: Plans,
    rules: tuple[Rule, ...],
    strength: Strength,
) -> None:
    """Add what the report should say of the sweep as a whole."""
    _note_runs(findings, outputs, strength)
    if not plans:
        message = "no plan beside the runs: a run that was planned and never made cannot be seen"
        findings.add(Finding("no_plan", "sweep", message))
    for plan in plans.each:
        _note_plan(findings, gold, plan)
        if plan.adaptive and tuple(map(str, rules)) != plan.rules:
            message = "the sweep stopped early by other gates: runs may be missing for these"
            findings.add(Finding("other_gates", "sweep", message))
        if plan.adaptive and outputs.saved:
            message = f"{outputs.saved:,} runs saved; {promise(plan)}"
            findings.add(Finding("stopped_early", "sweep", message))
    if len({str(plan.system) for plan in plans.each}) > 1:
        message = "these journals are of different systems: their runs are scored as one's"
        findings.add(Finding("mixed_systems", "sweep", message))


def _note_runs(findings: Findings, outputs: Outputs, strength: Strength) -> None:
    """Runs that refuse in free words, what seeds change, and what cannot tell what it should."""
    counts = "free" in REFUSING[strength]
    counted = "as refusals" if counts else "as answers; --refusal auto counts refusals"
    for qid, refusals in outputs.own_words.items():
        of = f"of {refusals.total()} runs"
        if refusals["free"]:
            message = f"{refusals['free']} {of} refuse in free words, counted {counted}"
            findings.add(Finding("free_refusal", qid, message), refusals["free"])
        if refusals["undetermined"]:
            message = (
                f"{refusals['undetermined']} {of} may refuse in free words, counted as answers"
            )
            findings.add(Finding("undetermined_refusal", qid, message), refusals["undetermined"])
    if outputs.pairs["seed"] and not outputs.differ["seed"]:
        message = (
            "answers are the same for every seed: the system ignores seeds, or has nothing "
            "random; one seed would tell as much"
        )
        findings.add(Finding("seeds_do_nothing", "sweep", message))
    if outputs.differ["seed"] and not outputs.pairs["repeat"]:
        message = (
            "answers differ between seeds; whether the same seed gives the same answer again was "
            "not tried: --repeats 2 tells"
        )
        findings.add(Finding("seeds_untried", "sweep", message))
    if outputs.differ["repeat"]:
        share = f"{outputs.differ['repeat']} of {outputs.pairs['repeat']}"
        message = f"the same request, seed and all, gave different answers: {share} pairs of runs"
        findings.add(Finding("same_seed_differs", "sweep", message))
    if outputs.unscoped:
        message = (
            f"{outputs.unscoped} answers do not tell what was retrieved: whether their citations "
            "are in scope is not known, and the gold ids alone decide"
        )
        findings.add(Finding("scope_unknown", "sweep", message), outputs.unscoped)
    for qid, times in outputs.unplanned.items():
        message = f"{times} runs that no plan knows were left out"
        findings.add(Finding("unplanned_run", qid, message), times)
    for qid in outputs.untold:
        findings.add(Finding("no_finished_run", qid, "no run of this question brought an answer"))
    for qid in outputs.alone:
        findings.add(
            Finding("single_run", qid, "one run shows nothing about stability; it is not evaluated")
        )


def promise(plan: SweepPlan) -> str:
    """What an adaptive sweep promises of the verdicts it stopped early for."""
    if plan.adaptive == "exact":
        return "no verdict differs from the full grid's"
    return (
        f"a decision made early is wrong with a chance of at most {plan.alpha or ALPHA:.0%}; the "
        "other gates, and whether a question fails alike each time, are told from the runs made"
    )


def _note_plan(findings: Findings, gold: list[Gold], plan: SweepPlan) -> None:
    if fingerprint(gold) != plan.parts.get("gold"):
        message = "the gold set is not the one that was swept: questions or answers changed since"
        findings.add(Finding("gold_changed", "sweep", message))
    noop: defaultdict[str, list[str]] = defaultdict(list)
    asked = len(plan.grid.jitters) * len(plan.grid.paraphrases)
    if plan.limit is not None:
        message = f"the sweep asked the first {plan.limit:,} of {len(gold):,} questions (--limit)"
        findings.add(Finding("limited", "sweep", message))
    for question in gold[: plan.limit]:
        planned = plan.questions.get(question.qid)
        if planned is None:
            message = "not in the sweep's plan: the gold set has changed since"
            findings.add(Finding("not_planned", question.qid, message))
            continue
        for jitter in planned.noop:
            noop[jitter].append(question.qid)
        if not planned.runs:
            message = "nothing was planned: none of the jitters asked for changes its wording"
            findings.add(Finding("nothing_planned", question.qid, message))
        elif planned.prompts < asked:
            message = f"{planned.prompts} distinct prompts of {asked} asked for"
            findings.add(Finding("fewer_prompts", question.qid, message))
    for jitter, qids in sorted(noop.items()):
        message = f"changes nothing on {len(qids)} of {len(gold)} questions and was not run there"
        findings.add(Finding("noop_jitter", jitter, message))


Progress = Callable[[int, int], None]
"""Called with how many questions are done, of how many."""


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
    return StabilityRun(questions, sources, chosen).outcome(progress or no_progress)


class StabilityRun:
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
        gates = QuestionGates(self._rules, self._plans.adaptive, self._plans.alpha)
        with run_rows(self._options.out) as write:
            for place, question in enumerate(self._gold):
                plan, traces = self._plans.planned(question.qid), lines.traces(place)
                one = evaluate_question(reader, gates, question, traces, plan)
                self._verdicts.add(one)
                write(one)
                progress(place + 1, len(self._gold))
            return self._outcome(lines)

    def _answers(self) -> Iterator[tuple[str, KeptAnswer]]:
        """The runs of each question that its verdict is based on."""
        reader = Reader(reading_of(self._options))
        with Observations(self._gold, self._sources) as lines:
            for place, question in enumerate(self._gold):
                placed = lines.kept(place)
                traces, plan = [trace for _, trace in placed], self._plans.planned(question.qid)
                wheres = {id(trace): where for where, trace in placed}
                for trace, cell in runs_with_cells(reader, question, traces, plan):
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
            coverage=structs.replace(
                found.coverage(lines),
                gold=len(self._all),
                unread_columns=lines.unread(self._sources, self._all),
            ),
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
def run_rows(path: str | None) -> Iterator[Callable[[QuestionResult], None]]:
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

        def add(one: QuestionResult) -> None:
            held.extend(_row(one, run) for run in one.runs)
            if len(held) >= HELD:
                writer.add(pl.DataFrame(held, schema=schema))
                held.clear()

        yield add
        writer.add(pl.DataFrame(held, schema=schema))


def _row(one: QuestionResult, run: Run) -> dict[str, Any]:
    trace, facts = run.trace, run.facts
    return {
        "qid": one.gold.qid,
        "run_id": trace.run_id or f"{one.gold.qid}#{run.variation}",
        **{name: getattr(run.variation, name) for name in _VARIED},
        "question_sent": trace.question_sent or one.gold.question,
        "cell": one.cells[run.variation],
        "answer": answer_text(run),
        "cited": sorted(facts.cited) if facts else [],
        "retrieved": list(trace.retrieved_ids) if trace.retrieved_ids is not None else None,
        **{name: getattr(facts, name, None) for name in _FACTS},
        "latency_ms": trace.latency_ms,
        "error": None if facts else error_reason(trace),
    }
