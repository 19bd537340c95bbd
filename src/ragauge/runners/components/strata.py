"""What units are sliced by: their own strata, and those of a table beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.gold import stratum_text
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.ranked.queries import read_strata
from ragauge.ingest.records import SHOWN
from ragauge.runners.components.options import EvalOptions

STRATUM_VALUES = 24
"""A stratum with more values than this is an id, not a slice."""


def _table_of_strata(options: EvalOptions) -> dict[str, dict[str, Any]]:
    """The user's own table: what is wrong with it is told at once, however much is accepted."""
    problems: list[str] = []
    known = read_strata(options.strata, problems) if options.strata else {}
    if problems:
        raise InputRejected(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))
    return known


def strata_of(
    units: Sequence[str],
    own: Sequence[Mapping[str, Any]],
    options: EvalOptions,
) -> dict[str, list[str | None]]:
    """By stratum the value of each unit: its own, and what the table of strata says."""
    known = _table_of_strata(options)
    rows = [{**mine, **known.get(unit, {})} for unit, mine in zip(units, own, strict=True)]
    names = sorted({name for row in (*rows, *known.values()) for name in row})
    return {name: [stratum_text(row.get(name)) for row in rows] for name in names}


def shown_strata(strata: Mapping[str, Sequence[str | None]], options: EvalOptions) -> list[str]:
    """The strata that are told of: those asked for, else all that are no ids."""
    unknown = [name for name in options.by if name not in strata]
    if unknown:
        there = f"there are {', '.join(sorted(strata))}" if strata else "the gold has none"
        raise UsageError(*(f"--by {name}: no such stratum; {there}" for name in unknown))
    if options.by:
        return list(dict.fromkeys(options.by))
    return [name for name in sorted(strata) if len({*strata[name]}) <= STRATUM_VALUES]


def note_strata(
    units: Sequence[str],
    strata: Mapping[str, Sequence[str | None]],
    shown: Sequence[str],
    options: EvalOptions,
    findings: Findings,
) -> None:
    """Tell what no slice holds: units without a value, strata with too many, ids of no unit."""
    for name, column in sorted(strata.items()):
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
