"""The end of every evaluation of a component: scores, strata and gates from its units' sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from ragauge import __version__
from ragauge.contracts.evaluation import Detail, EvalReport, Task
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.score import ROWS_KEPT, Advice, Outcome, Score, UnitRows
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.diagnosis.components import advise_component
from ragauge.errors import UsageError
from ragauge.gates.components import any_value
from ragauge.gates.decide import decide, decide_each, passed
from ragauge.metrics.sums import QuestionSums
from ragauge.runners.components.grouped_sums import grouped
from ragauge.runners.components.options import EvalOptions, rules_for
from ragauge.runners.components.strata import note_strata, shown_strata
from ragauge.runners.numbers import each_value, measured, scored, why_missing

if TYPE_CHECKING:
    from ragauge.runners.numbers import Mask

GOLD_KEPT = 100_000
"""Units of a run that history keeps beside its numbers."""
FAMILIES: dict[Task, str] = {
    "ner": "entities",
    "types": "labels",
    "linking": "linking",
    "retrieval": "retrieval",
    "qa": "answers",
    "answers": "answers",
}
"""What the ids of a task's metrics begin with."""


class Evaluated(Struct, frozen=True, kw_only=True):
    """What a task found, before it is a report."""

    task: Task
    units: Sequence[str]
    sums: Mapping[str, QuestionSums]
    headlines: Sequence[str]
    """The metrics that are shown for each stratum."""
    strata: Mapping[str, Sequence[str | None]]
    """By name, the value of each unit."""
    right: Sequence[bool | None]
    """Whether a unit came out without a fault."""
    per_type: dict[str, dict[str, float | None]]
    detail: Detail
    findings: Findings
    coverage: dict[str, int]
    signature: str
    """What of the options is in every number, such as `matching:best`."""
    made_with: Mapping[str, str] = {}
    """By metric, what else is in its number alone, such as `embedder:ngram:v1:1024`."""
    problems: Sequence[str] = ()
    """Bad records that the user accepts to be left out."""
    faults: Sequence[tuple[str, str]] = ()
    """Units with what went wrong there, by the catalogue's word for it; a unit may have several."""
    gold_sha256: str
    meanings: Sequence[str] | None = None
    """What gold says of each unit, so that runs are compared where it says the same; where it is
    not told, only runs with the same gold throughout are."""
    groups: Sequence[str] | None = None
    """What each unit belongs to, where several belong together: intervals resample groups."""
    undecided: Sequence[Verdict] = ()
    """Gates that the task itself could not decide."""
    settled: Callable[[Rule, Verdict, Mask | None], Verdict] = lambda rule, verdict, mask: verdict
    """What the task makes of a gate's verdict over the units of a mask, by what it alone knows."""


def outcome_of(found: Evaluated, options: EvalOptions) -> Outcome[EvalReport]:
    """The report of what was found, with the rows it is made of."""
    numbers, gold = _Numbers(found, options), _gold(found)
    shown = shown_strata(found.strata, options)
    note_strata(found.units, found.strata, shown, options, found.findings)
    for problem in found.problems:
        found.findings.add(Finding("bad_line", "", problem))
    gates = _gates(found, numbers, rules_for(found.task, options))
    report = EvalReport(
        passed=passed(gates),
        task=found.task,
        metrics={id: numbers.score(id) for id in sorted(found.sums)},
        gates=gates,
        per_type=found.per_type,
        per_stratum={name: numbers.stratum(name) for name in shown},
        detail=found.detail,
        findings=tuple(found.findings.kept()),
        finding_counts=dict(sorted(found.findings.counts.items())),
        coverage=found.coverage,
        advice=_advice(found),
        identity=_identity(found, options, gold),
    )
    return Outcome(
        report=report,
        units=numbers.units(),
        gold=gold,
        record_rows=None,
        identity=report.identity,
    )


def _gates(found: Evaluated, numbers: _Numbers, rules: Sequence[Rule]) -> tuple[Verdict, ...]:
    """The verdicts on the rules, and on what nobody could measure, unless one says so already."""
    gates = [numbers.verdict(rule) for rule in rules]
    for more in (*numbers.nothing_told(), *found.undecided):
        if not any(gate.metric == more.metric and not gate.holds for gate in gates):
            gates.append(more)
    return tuple(gates)


def _advice(found: Evaluated) -> tuple[Advice, ...]:
    values = found.strata.items()
    strata = {
        unit: {name: column[place] for name, column in values if column[place] is not None}
        for place, unit in enumerate(found.units[:ROWS_KEPT])
    }
    return advise_component(
        FAMILIES[found.task], list(strata), found.faults, strata, len(found.units)
    )


class _Numbers:
    """Scores and verdicts over all units, or those of a stratum."""

    def __init__(self, found: Evaluated, options: EvalOptions) -> None:
        self._found, self._options = found, options

    def score(self, id: str, mask: Mask | None = None, confidence: float | None = None) -> Score:
        sums = self._found.sums[id]
        made = (self._found.signature, self._found.made_with.get(id))
        signature = "|".join((id, f"v{sums.metric.version}", *filter(None, made)))
        intervals = self._options.intervals or confidence is not None
        if self._found.groups is not None:
            sums, mask = grouped(sums, self._found.groups, mask), None
            signature += f"|groups:{len(sums.units)}"
        return scored(sums, signature, mask, confidence, intervals=intervals)

    def verdict(self, rule: Rule) -> Verdict:
        mask = self._mask(rule)
        return self._found.settled(rule, self._decided(rule, mask), mask)

    def _decided(self, rule: Rule, mask: Mask | None) -> Verdict:
        if rule.metric not in self._found.sums:
            reason = "this evaluation does not measure it"
            return decide(rule, Score(value=None, n=0, of=len(self._found.units), reason=reason))
        sums, least = self._found.sums[rule.metric], self._options.min_coverage
        if rule.per == "question":
            return decide_each(rule, each_value(sums, self._found.units, mask), least)
        why = why_missing(sums) if mask is None else ""
        return decide(rule, self.score(rule.metric, mask, rule.confidence), least, why)

    def nothing_told(self) -> list[Verdict]:
        """A gate that is not evaluated, where no headline has a value.

        No run passes in which there was nothing to measure.
        """
        sums = self._found.sums
        asked = [id for id in sums if not id.endswith(".coverage")]
        ids = [id for id in self._found.headlines if id in sums] or asked
        if any(sums[id].scored.any() for id in ids):
            return []
        return [decide(any_value(sums[ids[0]].metric), self.score(ids[0]))]

    def units(self) -> UnitRows:
        """What each unit came to; its strata stand in the details, so that runs can be sliced."""
        return UnitRows(
            ids=self._found.units,
            labels=[
                None if one is None else ("right" if one else "wrong") for one in self._found.right
            ],
            right=self._found.right,
            details=dict(sorted(self._found.strata.items())),
            measured={id: measured(sums, "sums") for id, sums in self._found.sums.items()},
        )

    def stratum(self, name: str) -> dict[str, dict[str, Score]]:
        column = np.array([value or "" for value in self._found.strata[name]], dtype=object)
        values = sorted({value for value in self._found.strata[name] if value})
        return {
            value: {id: self.score(id, column == value) for id in self._found.headlines}
            for value in values
        }

    def _mask(self, rule: Rule) -> Mask | None:
        if not rule.where:
            return None
        mask = np.ones(len(self._found.units), dtype=bool)
        for key, wanted in rule.where.items():
            column = self._found.strata.get(key)
            if column is None:
                names = ", ".join(sorted(self._found.strata)) or "none in this gold"
                raise UsageError(f'gate "{rule}": no unit has "{key}"; there are {names}')
            word = str(wanted).lower()
            mask &= np.array([value is not None and value.lower() == word for value in column])
        return mask


NOT_IN_THE_NUMBERS = (
    *("max_bad", "by", "intervals", "preset", "gates", "min_coverage", "workers", "metrics"),
    "counted_as",
    *("judge", "judge_key_env", "budget", "prices", "rate", "concurrency", "timeout"),
)


def _gold(found: Evaluated) -> list[Gold]:
    """The units as history keeps what was measured with: a recorded run can be sliced by them.

    Of very many units none is kept: who records such runs compares them as they are.
    """
    if len(found.units) > GOLD_KEPT:
        return []
    columns = sorted(found.strata.items())
    meanings = found.meanings or [found.gold_sha256] * len(found.units)
    return [
        Gold(
            qid=unit,
            question=unit,
            answerable=True,
            gold_claim=meaning,
            strata={name: column[place] for name, column in columns if column[place] is not None},
        )
        for place, (unit, meaning) in enumerate(zip(found.units, meanings, strict=True))
    ]


def _identity(found: Evaluated, options: EvalOptions, gold: Sequence[Gold]) -> dict[str, Any]:
    told = msgspec.to_builtins(options)
    return {
        "command": f"eval {found.task}",
        "options": {name: told[name] for name in told if name not in NOT_IN_THE_NUMBERS},
        "ragauge": __version__,
        "gold_sha256": fingerprint(gold) if gold else None,
        "gold_file_sha256": found.gold_sha256,
        "metrics": {id: sums.metric.version for id, sums in sorted(found.sums.items())},
    }
