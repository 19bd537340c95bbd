"""The end of every evaluation of a component: scores, strata and gates from its units' sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.evaluation import Detail, EvalReport, Task
from ragauge.contracts.gold import Gold, stratum_text
from ragauge.contracts.options import EvalOptions
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Outcome, Verdict
from ragauge.diagnosis.advice import advise_component
from ragauge.errors import UsageError
from ragauge.gates.presets import any_value
from ragauge.gates.rules import decide
from ragauge.ingest.fields import quoted, refuse
from ragauge.ingest.ranked.queries import read_strata
from ragauge.metrics.sums import Sums
from ragauge.runners.components.options import rules_for
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
NOT_IN_THE_NUMBERS = (
    *("max_bad", "by", "intervals", "preset", "gates", "min_coverage", "workers", "metrics"),
    "counted_as",
    *("judge", "judge_key_env", "budget", "prices", "rate", "concurrency", "timeout"),
)
STRATUM_VALUES = 24
"""A stratum with more values than this is an id, not a slice."""
IDS_SHOWN = 3


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
    unread: tuple[str, ...] = ()
    """The columns of the input that nothing reads."""
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
    columns = sorted(found.strata.items())
    # The units as history keeps what was measured with, so that a recorded run can be sliced.
    # Of very many units none is kept: who records such runs compares them as they are.
    whole = len(found.units) <= GOLD_KEPT
    units = found.units if whole else found.units[:ROWS_KEPT]
    slices: list[dict[str, Any]] = [{}] * len(units)
    if columns:
        slices = [
            {name: value for name, column in columns if (value := column[place]) is not None}
            for place in range(len(units))
        ]
    meanings = found.meanings or [found.gold_sha256] * len(found.units)
    gold = [
        Gold(qid=unit, question=unit, answerable=True, gold_claim=meaning, strata=strata)
        for unit, meaning, strata in zip(units, meanings, slices, strict=False)
        if whole
    ]
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
    shown = _shown_strata(found.units, columns, options, found.findings)
    for problem in found.problems:
        found.findings.add(Finding("bad_line", "", problem))
    gates, undecided = [*evaluation.gates], [*found.undecided]
    others = [id for id in found.sums if not id.endswith(".coverage")]
    ids = [id for id in found.headlines if id in found.sums] or others
    if not any(found.sums[id].scored.any() for id in ids):
        # No run passes in which there was nothing to measure.
        undecided.insert(0, decide(any_value(found.sums[ids[0]].metric), evaluation.score(ids[0])))
    for more in undecided:
        # What nobody could measure has a gate of its own, unless one says so already.
        if not any(gate.metric == more.metric and not gate.holds for gate in gates):
            gates.append(more)
    strata = dict(zip(units[:ROWS_KEPT], slices, strict=False))
    advice = advise_component(
        FAMILIES[found.task], list(strata), found.faults, strata, len(found.units)
    )
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
        coverage=found.coverage | ({"unread_columns": found.unread} if found.unread else {}),
        advice=advice,
    )
    return evaluation.outcome(
        report,
        labels=[None if one is None else ("right" if one else "wrong") for one in found.right],
        right=found.right,
        # Strata too, so that a recorded run can be sliced.
        details=dict(columns),
        gold=gold,
    )


def _table_of_strata(options: EvalOptions) -> dict[str, dict[str, Any]]:
    """The user's own table: what is wrong with it is told at once, however much is accepted."""
    problems: list[str] = []
    known = read_strata(options.strata, problems) if options.strata else {}
    refuse(problems)
    return known


def strata_of(
    units: Sequence[str],
    own: Sequence[Mapping[str, Any]],
    options: EvalOptions,
) -> dict[str, list[str | None]]:
    """By stratum the value of each unit: its own, and what the table of strata says."""
    known = _table_of_strata(options)
    if not known and not any(own):
        return {}
    rows = [{**mine, **known.get(unit, {})} for unit, mine in zip(units, own, strict=True)]
    names = sorted({name for row in (*rows, *known.values()) for name in row})
    return {name: [stratum_text(row.get(name)) for row in rows] for name in names}


def refuse_unknown_strata(by: Sequence[str], known: Collection[str]) -> None:
    """Raise UsageError for each stratum to show that no unit has."""
    unknown = [name for name in by if name not in known]
    if unknown:
        there = f"there are {', '.join(sorted(known))}" if known else "the gold has none"
        raise UsageError(*(f"--by {name}: no such stratum; {there}" for name in unknown))


def _shown_strata(
    units: Sequence[str],
    columns: Sequence[tuple[str, Sequence[str | None]]],
    options: EvalOptions,
    findings: Findings,
) -> list[str]:
    """The strata to show: those requested, else all that are not ids.

    Findings say what no slice holds: units without a value, strata with too many values, and ids
    of the table that are no unit.
    """
    refuse_unknown_strata(options.by, [name for name, _ in columns])
    shown = list(dict.fromkeys(options.by)) or [
        name for name, column in columns if len({*column}) <= STRATUM_VALUES
    ]
    for name, column in columns:
        lacking = sum(value is None for value in column)
        if name in shown and lacking:
            fact = f"{lacking:,} of {len(column):,} units have no {name}, and are in no slice of it"
            findings.add(Finding("no_stratum", name, fact))
        if name not in shown and not options.by:
            fact = f"has more than {STRATUM_VALUES} values and is left out; --by {name} shows it"
            findings.add(Finding("stratum_left_out", name, fact))
    if options.strata:
        for id in sorted(_table_of_strata(options).keys() - {*units}):
            fact = f"{quoted(id)} is no unit of this gold"
            findings.add(Finding("strata_of_no_unit", options.strata, fact))
    return shown


def note_problems(problems: Sequence[str], findings: Findings, code: str = "bad_record") -> None:
    """Add what was left out because the user accepts so much of it."""
    for problem in problems:
        where, _, fact = problem.partition(": ")
        findings.add(Finding(code, where, fact))


def add_findings(kept: Sequence[Finding], counts: Mapping[str, int], findings: Findings) -> None:
    """Add findings to others, those that are only counted too."""
    for finding in kept:
        findings.add(finding)
    shown = Counter(finding.code for finding in kept)
    for code, times in counts.items():
        findings.count(code, times - shown[code])


def first_ids(ids: Iterable[str]) -> str:
    """The first few ids, as a message shows them.

    >>> first_ids("badc")
    '"a", "b", "c", …'
    """
    ordered = sorted(ids)
    more = [", …"] if len(ordered) > IDS_SHOWN else []
    return "".join([", ".join(map(quoted, ordered[:IDS_SHOWN])), *more])
