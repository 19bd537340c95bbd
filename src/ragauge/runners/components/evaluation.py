"""The end of every evaluation of a component: scores, strata and gates from its units' sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ragauge.contracts.evaluation import Detail, EvalReport, Task
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import Gold
from ragauge.contracts.score import ROWS_KEPT, Advice, Outcome
from ragauge.contracts.verdict import Verdict
from ragauge.diagnosis.advice import advise_component
from ragauge.gates.decide import decide
from ragauge.gates.presets import any_value
from ragauge.metrics.sums import Sums
from ragauge.runners.components.options import EvalOptions, rules_for
from ragauge.runners.components.strata import note_strata, shown_strata
from ragauge.runners.evaluation import Evaluation, Settle, by_columns, identity_of

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
    sums: Mapping[str, Sums]
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
    settled: Settle | None = None


def outcome_of(found: Evaluated, options: EvalOptions) -> Outcome[EvalReport]:
    """The report of what was found, with the rows it is made of."""
    gold = _gold(found)
    evaluation = Evaluation(
        ids=found.units,
        sums=found.sums,
        rules=rules_for(found.task, options),
        slicing=by_columns(found.strata),
        signature=found.signature,
        made_with=found.made_with,
        groups=found.groups,
        intervals=options.intervals,
        min_coverage=options.min_coverage,
        settle=found.settled,
    )
    shown = shown_strata(found.strata, options)
    note_strata(found.units, found.strata, shown, options, found.findings)
    for problem in found.problems:
        found.findings.add(Finding("bad_line", "", problem))
    gates = [*evaluation.gates]
    for more in (*_nothing_measured(found, evaluation), *found.undecided):
        # What nobody could measure has a gate of its own, unless one says so already.
        if not any(gate.metric == more.metric and not gate.holds for gate in gates):
            gates.append(more)
    report = evaluation.report(
        EvalReport,
        found.findings,
        identity_of(
            f"eval {found.task}",
            options,
            (sums.metric for sums in found.sums.values()),
            gold,
            without=NOT_IN_THE_NUMBERS,
            gold_file_sha256=found.gold_sha256,
        ),
        task=found.task,
        gates=tuple(gates),
        per_type=found.per_type,
        per_stratum={
            name: evaluation.by_value(found.strata[name], found.headlines) for name in shown
        },
        detail=found.detail,
        coverage=found.coverage,
        advice=_advice(found),
    )
    return evaluation.outcome(
        report,
        labels=[None if one is None else ("right" if one else "wrong") for one in found.right],
        right=found.right,
        # Strata too, so that a recorded run can be sliced.
        details=dict(sorted(found.strata.items())),
        gold=gold,
    )


def _advice(found: Evaluated) -> tuple[Advice, ...]:
    values = found.strata.items()
    strata = {
        unit: {name: column[place] for name, column in values if column[place] is not None}
        for place, unit in enumerate(found.units[:ROWS_KEPT])
    }
    return advise_component(
        FAMILIES[found.task], list(strata), found.faults, strata, len(found.units)
    )


def _nothing_measured(found: Evaluated, evaluation: Evaluation) -> list[Verdict]:
    """A gate that is not evaluated, where no headline has a value.

    No run passes in which there was nothing to measure.
    """
    sums = found.sums
    asked = [id for id in sums if not id.endswith(".coverage")]
    ids = [id for id in found.headlines if id in sums] or asked
    if any(sums[id].scored.any() for id in ids):
        return []
    return [decide(any_value(sums[ids[0]].metric), evaluation.score(ids[0]))]


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
