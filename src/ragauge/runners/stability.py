"""Stability: the runs of a sweep, question by question, against what must not change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ragauge import __version__
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.run import SweepPlan
from ragauge.contracts.score import Outcome
from ragauge.contracts.stability import (
    StabilityReport,
)
from ragauge.contracts.verdict import Rule
from ragauge.diagnosis.advice import advise_stability
from ragauge.errors import UsageError
from ragauge.gates.rules import parse_rules
from ragauge.gates.stability import STABLE, Profile, stable_gate, with_own
from ragauge.ingest.gold import read_gold
from ragauge.ingest.lines import STDIN
from ragauge.metrics.facts import Reader, Reading, Strength
from ragauge.metrics.stability import METRICS
from ragauge.metrics.table import find
from ragauge.runners.bad_input import allowed_bad
from ragauge.runners.heat_map import HeatMap
from ragauge.runners.judge import Judge
from ragauge.runners.ledger import plan_path, read_plan
from ragauge.runners.plan import columns_of
from ragauge.runners.question_stability import Planned, judged_question
from ragauge.runners.run_lines import RunLines
from ragauge.runners.sweep_findings import note_findings
from ragauge.runners.verdicts import Verdicts
from ragauge.stats.sequential import ALPHA
from ragauge.text.canonical import Canon
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
        planned = columns_of(self._plan.grid) if self._plan else ()
        self._verdicts = Verdicts(gold, self._rules, HeatMap(planned))

    def outcome(self, progress: Progress) -> Outcome[StabilityReport]:
        reader = Reader(self._options.reading())
        judge = self._judge()
        with RunLines(self._gold, self._names) as lines:
            lines.refuse_bad_input(self._allowed)
            for place, question in enumerate(self._gold):
                plan, traces = self._planned(question), lines.traces(place)
                self._verdicts.add(place, judged_question(reader, judge, question, traces, plan))
                progress(place + 1, len(self._gold))
            report = self._report(lines)
        rows = self._verdicts.unit_rows()
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
        found, least = self._verdicts, self._options.min_stable
        stable = found.stable()
        gates = (stable_gate(stable, least), *found.rule_verdicts(least))
        findings = lines.findings
        note_findings(findings, self._gold, found.outputs, self._plan, self._rules, found.saved)
        scores = {STABLE: stable, **found.scores(self._options.reading().signature())}
        return StabilityReport(
            passed=gates[0].holds,
            profile=self._options.profile,
            metrics=dict(sorted(scores.items())),
            gates=gates if self._options.profile == "ours" else _plain(self._rules),
            totals=found.totals(),
            details=found.details,
            columns=found.heat_map.columns(),
            cells=found.heat_map.rows(),
            factors=found.factors(),
            findings=tuple(findings.kept()),
            finding_counts=dict(sorted(findings.counts.items())),
            coverage=found.coverage(lines),
            advice=advise_stability(found.failures, found.strata),
            identity=self._identity(),
        )

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


def _silent(done: int, of: int) -> None:
    """Progress that nobody looks at."""
