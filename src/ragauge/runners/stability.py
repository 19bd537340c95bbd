"""Stability: the runs of a sweep, question by question, against what must not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from ragauge import __version__
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.run import SweepPlan, Variation
from ragauge.contracts.score import ROWS_KEPT, Outcome, Score
from ragauge.contracts.stability import (
    STABILITIES,
    FactorEffect,
    Stability,
    StabilityCoverage,
    StabilityReport,
)
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.diagnosis.advice import StabilityFacts, advise_stability, stability_facts
from ragauge.errors import UsageError
from ragauge.gates.decide import meets
from ragauge.gates.rules import parse_rules
from ragauge.gates.stability import STABLE, Profile, rule_verdict, stable_gate, with_own
from ragauge.ingest.gold import read_gold
from ragauge.ingest.lines import STDIN
from ragauge.metrics.factors import together
from ragauge.metrics.facts import Reader, Reading, Strength
from ragauge.metrics.stability import METRICS
from ragauge.metrics.sums import QuestionSums
from ragauge.metrics.table import find
from ragauge.runners.bad_input import allowed_bad
from ragauge.runners.judge import Judge
from ragauge.runners.ledger import plan_path, read_plan
from ragauge.runners.numbers import scored, values_of
from ragauge.runners.plan import columns_of
from ragauge.runners.question_stability import JudgedQuestion, Planned, judged_question
from ragauge.runners.run_lines import RunLines
from ragauge.runners.sweep_findings import Outputs, note_findings
from ragauge.stats.intervals import wilson
from ragauge.stats.sequential import ALPHA
from ragauge.text.canonical import Canon
from ragauge.text.jitters import JITTERS
from ragauge.text.refusal import DEFAULT_TOKEN

Progress = Callable[[int, int], None]
"""Told how many questions are judged, of how many."""


class StabilityOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to score a sweep; the defaults are the command's."""

    profile: Profile = "ours"
    gates: str | None = None
    min_stable: Annotated[float, Meta(ge=0, le=1)] = 1.0
    refusal: Strength = "exact"
    refusal_tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    canon: Canon | None = None
    """None is the profile's own."""
    inline: bool = False
    max_bad: str = "0"

    def reading(self) -> Reading:
        own: Literal["unicode", "reference"] = (
            "reference" if self.profile == "reference" else "unicode"
        )
        return Reading(self.canon or own, self.refusal, self.refusal_tokens, self.inline)


def stability(
    gold: str | Path,
    runs: str | Path | Sequence[str | Path],
    progress: Progress | None = None,
    **options: Any,
) -> Outcome[StabilityReport]:
    """The outcome of scoring a sweep's runs against its gold set; options as in StabilityOptions.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    names = [str(name) for name in ([runs] if isinstance(runs, str | Path) else runs)]
    try:
        chosen = msgspec.convert(options, StabilityOptions)
    except msgspec.ValidationError as error:
        raise UsageError(f"stability: {error}") from None
    return _Scoring(read_gold(str(gold)), names, chosen).outcome(progress or _silent)


def rules_of(options: StabilityOptions) -> tuple[Rule, ...]:
    """The gates each question must meet: the profile's, with the user's in place or beside."""
    own = parse_rules(options.gates, lambda name: find(name, "runs").id) if options.gates else ()
    return with_own(options.profile, own)


class _Scoring:
    """From the lines of a journal to the report."""

    def __init__(self, gold: list[Gold], names: list[str], options: StabilityOptions) -> None:
        self._gold, self._names, self._options = gold, names, options
        self._rules = rules_of(options)
        _check_conditions(self._rules, gold)
        self._allowed = allowed_bad(options.max_bad)
        self._plan = _plan_of(names)
        self._gathered = _Gathered(gold, self._rules)

    def outcome(self, progress: Progress) -> Outcome[StabilityReport]:
        reader = Reader(self._options.reading())
        judge = self._judge()
        with RunLines(self._gold, self._names) as lines:
            lines.refuse_bad_input(self._allowed)
            for place, question in enumerate(self._gold):
                plan, traces = self._planned(question), lines.traces(place)
                self._gathered.add(place, judged_question(reader, judge, question, traces, plan))
                progress(place + 1, len(self._gold))
            report = self._report(lines)
        rows = self._gathered.unit_rows()
        return Outcome(report=report, unit_rows=rows, record_rows=None, identity=report.identity)

    def _judge(self) -> Judge:
        if self._plan is None:
            return Judge(self._rules)
        return Judge(self._rules, self._plan.adaptive, self._plan.alpha or ALPHA)

    def _planned(self, question: Gold) -> Planned | None:
        if self._plan is None or question.qid not in self._plan.questions:
            return None
        plan = self._plan.questions[question.qid]
        return Planned(plan, self._plan.grid, self._plan.adaptive is not None)

    def _report(self, lines: RunLines) -> StabilityReport:
        found, least = self._gathered, self._options.min_stable
        stable = found.stable()
        gates = (stable_gate(stable, least), *found.rule_verdicts(least))
        note_findings(lines.findings, self._gold, found.outputs, self._plan, self._rules)
        findings = lines.findings
        scores = {STABLE: stable, **found.scores(self._options.reading().signature())}
        columns = self._columns()
        return StabilityReport(
            passed=gates[0].holds,
            profile=self._options.profile,
            metrics=dict(sorted(scores.items())),
            gates=gates if self._options.profile == "ours" else _plain(self._rules),
            totals=found.totals(),
            details={one.gold.qid: one.detail for one in found.kept},
            columns=columns,
            cells={one.gold.qid: _row(one, columns) for one in found.kept},
            factors=together(found.effects),
            findings=tuple(findings.kept()),
            finding_counts=dict(sorted(findings.counts.items())),
            coverage=found.coverage(lines),
            advice=advise_stability(found.failures, found.strata),
            identity=self._identity(),
        )

    def _columns(self) -> tuple[Variation, ...]:
        """The grid's runs; without a plan, whatever the runs varied."""
        varied = {variation for one in self._gathered.kept for variation in one.cells}
        planned = columns_of(self._plan.grid) if self._plan else ()
        return (*planned, *sorted(varied.difference(planned), key=_column_order))

    def _identity(self) -> dict[str, Any]:
        options = msgspec.to_builtins(self._options)
        return {
            "command": "stability",
            "options": {name: options[name] for name in options if name != "gates"},
            "ragauge": __version__,
            "gold_sha256": fingerprint(self._gold),
            "metrics": {metric.id: metric.version for metric in METRICS},
            "sweep": self._plan.fingerprint if self._plan else None,
            "system": self._plan.system if self._plan else None,
        }


class _Gathered:
    """What the questions came to, added up as they are judged."""

    def __init__(self, gold: list[Gold], rules: tuple[Rule, ...]) -> None:
        self._gold, self._rules = gold, rules
        self.kept: list[JudgedQuestion] = []
        """The questions a report holds; the rest are in the sums."""
        self.outputs = Outputs()
        self.effects: list[dict[str, FactorEffect]] = []
        self.failures: list[StabilityFacts] = []
        self.strata = {question.qid: question.strata for question in gold}
        self._verdicts: list[Stability] = []
        self._sums = [_Sums(metric, len(gold)) for metric in METRICS]
        self._failing: dict[str, list[str]] = {str(rule): [] for rule in rules}
        self._applied: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def add(self, place: int, one: JudgedQuestion) -> None:
        """Take in a question, in the order of the gold set."""
        detail = one.detail
        if len(self.kept) < ROWS_KEPT:
            self.kept.append(one)
        self._verdicts.append(detail.verdict)
        self.effects.append(detail.factors)
        self.failures.append(stability_facts(one.gold.qid, detail))
        self.outputs.add(one)
        for sums in self._sums:
            sums.add(place, one.judged.rows[sums.metric.id])
        self._apply(one)
        for name in ("planned", "runs", "errors", "missing", "saved"):
            self._counts[name] += getattr(detail, name)
        self._counts["questions"] += bool(detail.runs or detail.errors)
        self._counts["surplus"] += one.surplus

    def _apply(self, one: JudgedQuestion) -> None:
        failed = {str(failed.rule) for failed in one.judged.failed}
        for rule in self._rules:
            told = meets(one.gold, rule.where) and one.judged.values[rule.metric] is not None
            if str(rule) in failed:
                self._failing[str(rule)].append(one.gold.qid)
            self._applied[str(rule)] += told or str(rule) in failed

    def stable(self) -> Score:
        """The share of questions that are stable and right."""
        of = len(self._gold)
        share = self._verdicts.count("stable_pass") / of
        signature = f"{STABLE}|v1|n:{of}"
        return Score(value=share, n=of, of=of, ci=wilson(share, of), signature=signature)

    def rule_verdicts(self, least: float) -> Iterator[Verdict]:
        for rule in self._rules:
            failing, applied = self._failing[str(rule)], self._applied[str(rule)]
            yield rule_verdict(rule, applied, failing, len(self._gold), least)

    def scores(self, reading: str) -> dict[str, Score]:
        """Each metric over all questions."""
        return {
            sums.metric.id: scored(
                sums.made(), f"{sums.metric.id}|v{sums.metric.version}|{reading}"
            )
            for sums in self._sums
        }

    def totals(self) -> dict[str, int]:
        answerable = sum(question.answerable for question in self._gold)
        verdicts: dict[str, int] = {name: self._verdicts.count(name) for name in STABILITIES}
        stable = verdicts["stable_pass"]
        return {
            "questions": len(self._gold),
            "answerable": answerable,
            "unanswerable": len(self._gold) - answerable,
            "pass": stable,
            "fail": len(self._gold) - stable,
            **verdicts,
        }

    def coverage(self, lines: RunLines) -> StabilityCoverage:
        return StabilityCoverage(
            gold=len(self._gold),
            unknown=lines.strays,
            rejected=lines.rejected,
            **{
                name: self._counts[name]
                for name in (
                    "questions",
                    "planned",
                    "runs",
                    "errors",
                    "missing",
                    "saved",
                    "surplus",
                )
            },
        )

    def unit_rows(self) -> dict[str, Any]:
        """Columns with one value a question."""
        return {
            "qid": [question.qid for question in self._gold],
            "verdict": list(self._verdicts),
            **{sums.metric.id: values_of(sums.made()) for sums in self._sums},
        }


class _Sums:
    """A metric's row of each question."""

    def __init__(self, metric: Metric, questions: int) -> None:
        self.metric = metric
        self._sums = np.zeros((questions, len(metric.columns)), dtype=np.int64)
        self._scored = np.zeros(questions, dtype=np.int64)
        self._absent: Counter[str] = Counter()

    def add(self, place: int, row: Row | Absent) -> None:
        if isinstance(row, Absent):
            self._absent[row.reason] += 1
        else:
            self._sums[place], self._scored[place] = row.counts, 1

    def made(self) -> QuestionSums:
        units = np.ones_like(self._scored)
        return QuestionSums(self.metric, self._sums, self._scored, units, dict(self._absent))


def _plan_of(names: list[str]) -> SweepPlan | None:
    """The plan beside the journal, where a sweep left one."""
    for name in names:
        path = plan_path(Path(name))
        if name != STDIN and path.is_file():
            return read_plan(path, Path(name))
    return None


def _check_conditions(rules: tuple[Rule, ...], gold: list[Gold]) -> None:
    known = {"answerable"}.union(*(question.strata for question in gold))
    for rule in rules:
        for key in rule.where:
            if key not in known:
                names = ", ".join(sorted(known))
                raise UsageError(f'gate "{rule}": no question has "{key}"; there are {names}')


def _plain(rules: tuple[Rule, ...]) -> dict[str, float]:
    """The gates as the brief writes them: a bound for each name."""
    return {rule.metric.partition(".")[2]: rule.bound for rule in rules}


def _row(one: JudgedQuestion, columns: tuple[Variation, ...]) -> str:
    return "".join(one.cells.get(variation, ".") for variation in columns)


def _column_order(variation: Variation) -> tuple[Any, ...]:
    known = {name: number for number, name in enumerate(JITTERS)}
    return variation.paraphrase, known.get(variation.jitter, len(known)), variation


def _silent(done: int, of: int) -> None:
    """Progress that nobody looks at."""
