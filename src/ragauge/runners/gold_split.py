"""A gold set in parts that each look like the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from pathlib import Path

from ragauge.contracts.gold import ANSWERABLE, Gold, fingerprint, metadata_of, value_of
from ragauge.contracts.gold_parts import CELLS_KEPT, Part, PartCell, SplitReport, Units
from ragauge.contracts.gold_report import Severity, judged
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import UsageError
from ragauge.runners.gold_convert import encoded, write_new
from ragauge.stats.sampling import Key, SplitCell
from ragauge.stats.sampling import split as split_units
from ragauge.text.canonical import canonical

NONE = "(none)"
"""The value of a question that has none."""
SEVERITIES: dict[str, Severity] = {
    "missing_value": "warning",
    "question_in_two_parts": "warning",
    "small_cell": "warning",
}


def split(
    questions: Sequence[Gold],
    into: Path,
    *,
    by: Sequence[str] | None = None,
    shares: Sequence[int] = (70, 15, 15),
    names: Sequence[str] = ("train", "dev", "test"),
    seed: int = 0,
    force: bool = False,
    units: Units = "questions",
) -> SplitReport:
    """How a set was split into files of a folder, one a part, in the set's order.

    Without `by`, it is balanced by answerable and by the strata of which a value has on average
    a question in the smallest part; those with the fewest values first. Heritage entries, which
    are not answerable or unanswerable, are balanced by strata alone.
    """
    smallest = Fraction(min(shares), sum(shares))
    factors = factors_of(questions, by, _values_within(questions, smallest), units)
    keys = {question.qid: key_of(question, factors) for question in questions}
    made = split_units(keys, shares, seed)
    parts = _parts(questions, made.part_of, len(names))
    _demand_filled(parts, names, shares, len(questions), units)
    files = [into / f"{name}.jsonl" for name in names]
    about = metadata_of(questions)
    _write(files, [encoded(part, units=units, metadata=about) for part in parts], force)
    return SplitReport(
        **judged(_found(made.cells, factors, names, parts, units), SEVERITIES),
        coverage={"gold": len(questions), "cells": len(made.cells)},
        gold=fingerprint(questions),
        seed=seed,
        factors=factors,
        parts=_told_parts(names, files, parts, shares),
        balance=_balance(made.cells, factors, names),
        largest_deviation=_largest_deviation(made.cells, factors, shares),
        cells=tuple(_told(cell, factors, names) for cell in made.cells[:CELLS_KEPT]),
        units=units,
    )


def shares_of(text: str) -> tuple[int, ...]:
    """Shares written with slashes, as whole numbers.

    >>> shares_of("70/15/15"), shares_of("0.5/0.25/0.25")
    ((70, 15, 15), (2, 1, 1))
    """
    try:
        shares = [Fraction(part.strip()) for part in text.split("/")]
    except (ValueError, ZeroDivisionError):
        raise UsageError(f'--shares: "{text}" is not like 70/15/15') from None
    if len(shares) < 2 or min(shares) <= 0:
        raise UsageError(f'--shares: "{text}" takes two numbers or more, each above 0')
    whole = lcm(*(share.denominator for share in shares))
    return tuple(int(share * whole) for share in shares)


def names_of(text: str, shares: Sequence[int]) -> tuple[str, ...]:
    """The names of parts, written with commas: one for each share, each fit for a file."""
    names = tuple(name.strip() for name in text.split(","))
    problems = [
        f'--names: "{name}" cannot name a file; take letters, digits, dashes and underscores'
        for name in names
        if not name.replace("-", "a").replace("_", "a").isalnum()
    ]
    if len({name.lower() for name in names}) < len(names):
        problems.append(f'--names: "{text}" has a name twice')
    if len(names) != len(shares):
        problems.append(f"--names: {len(names)} names for {len(shares)} shares; give one for each")
    if problems:
        raise UsageError(*problems)
    return names


def factors_of(
    questions: Sequence[Gold],
    by: Sequence[str] | None,
    fits: Callable[[tuple[str, ...]], bool],
    units: Units = "questions",
) -> tuple[str, ...]:
    """The factors to balance by, answerable always among them where the units are questions.

    Those that were asked for, in their order, answerable first unless it has its place; else
    every stratum, fewest values first, that still fits.
    """
    values = values_by_stratum(questions)
    always: tuple[str, ...] = (ANSWERABLE,) if units == "questions" else ()
    if by is not None:
        unknown = [name for name in by if name not in {*always, *values}]
        if unknown:
            there = ", ".join([*always, *sorted(values)]) or "none"
            one = "question" if units == "questions" else "entry"
            raise UsageError(
                *(f'--by: no {one} has the stratum "{name}"; there are {there}' for name in unknown)
            )
        asked = dict.fromkeys(by)
        return tuple(asked if ANSWERABLE in asked else {**dict.fromkeys(always), **asked})
    factors = always
    for name in sorted(values, key=lambda name: (len(values[name]), name)):
        if len(values[name]) > 1 and name != ANSWERABLE and fits((*factors, name)):
            factors = (*factors, name)
    return factors


def values_by_stratum(questions: Sequence[Gold]) -> dict[str, set[str]]:
    """Every stratum that some question has, with the values met, none given among them."""
    names = {name for question in questions for name in question.strata}
    return {name: {value_or_none(question, name) for question in questions} for name in names}


def key_of(question: Gold, factors: Sequence[str]) -> Key:
    return tuple(value_or_none(question, factor) for factor in factors)


def value_or_none(question: Gold, factor: str) -> str:
    """A question's value of a factor; those that have none are a cell of their own."""
    value = value_of(question, factor)
    return NONE if value is None else value


def words_of(key: Key, factors: Sequence[str]) -> str:
    """A cell as a reader is told of it.

    >>> words_of(("true", "NL"), ("answerable", "country"))
    'answerable=true country=NL'
    """
    return " ".join(f"{factor}={value}" for factor, value in zip(factors, key, strict=True))


def _values_within(questions: Sequence[Gold], smallest: Fraction) -> Callable[..., bool]:
    values = values_by_stratum(questions)
    return lambda factors: len(values[factors[-1]]) <= len(questions) * smallest


def _parts(questions: Sequence[Gold], part_of: Mapping[str, int], count: int) -> list[list[Gold]]:
    """The questions of each part, in the set's order."""
    parts: list[list[Gold]] = [[] for _ in range(count)]
    for question in questions:
        parts[part_of[question.qid]].append(question)
    return parts


def _demand_filled(
    parts: Sequence[Sequence[Gold]],
    names: Sequence[str],
    shares: Sequence[int],
    n: int,
    units: Units,
) -> None:
    asked = "/".join(map(str, shares))
    empty = [name for name, part in zip(names, parts, strict=True) if not part]
    if empty:
        raise UsageError(
            f"--shares: {n} {units} at {asked} leave {' and '.join(empty)} without any; "
            "ask for fewer parts, or larger shares"
        )


def _write(files: Sequence[Path], contents: Sequence[bytes], force: bool) -> None:
    folder = files[0].parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be a folder: {error.strerror or error}") from None
    write_new(dict(zip(files, contents, strict=True)), force)


def _told_parts(
    names: Sequence[str],
    files: Sequence[Path],
    parts: Sequence[Sequence[Gold]],
    shares: Sequence[int],
) -> tuple[Part, ...]:
    return tuple(
        Part(
            name=name,
            file=str(file),
            questions=len(part),
            share=share / sum(shares),
            sha256=fingerprint(part),
        )
        for name, file, part, share in zip(names, files, parts, shares, strict=True)
    )


def _found(
    cells: Sequence[SplitCell],
    factors: Sequence[str],
    names: Sequence[str],
    parts: Sequence[Sequence[Gold]],
    units: Units,
) -> Findings:
    found = Findings()
    twice = _asked_twice(names, parts, units)
    for finding in (*_unreached(cells, factors, names, units), *twice):
        found.add(finding)
    return found


def _unreached(
    cells: Sequence[SplitCell], factors: Sequence[str], names: Sequence[str], units: Units
) -> Iterator[Finding]:
    """Values and cells that some part has nothing of."""
    for factor, values in _balance(cells, factors, names).items():
        for value, counts in values.items():
            missing = [name for name, count in counts.items() if not count]
            if missing:
                size = sum(counts.values())
                yield _absent("missing_value", f"{factor}={value}", size, missing, units)
    for cell in cells:
        missing = [name for name, count in zip(names, cell.counts, strict=True) if not count]
        if missing:
            yield _absent("small_cell", words_of(cell.key, factors), cell.size, missing, units)


def _absent(code: str, where: str, size: int, missing: Sequence[str], units: Units) -> Finding:
    one = "1 question" if units == "questions" else "1 entry"
    counted = one if size == 1 else f"{size} {units}"
    return Finding(code, where, f"{counted}, none of them in {' or '.join(missing)}")


def _asked_twice(
    names: Sequence[str], parts: Sequence[Sequence[Gold]], units: Units
) -> Iterator[Finding]:
    """Questions of the same words in two parts: what was seen in one is known in the other."""
    first: dict[str, tuple[str, str]] = {}
    for name, part in zip(names, parts, strict=True):
        for question in part:
            other, qid = first.setdefault(canonical(question.question), (name, question.qid))
            if other != name:
                same = f"asks what {qid} asks" if units == "questions" else f"has the text of {qid}"
                fact = f"is in {name} and {same}, which is in {other}; keep one"
                yield Finding("question_in_two_parts", question.qid, fact)


def _balance(
    cells: Sequence[SplitCell], factors: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, dict[str, int]]]:
    balance: dict[str, dict[str, dict[str, int]]] = {}
    for place, factor in enumerate(factors):
        counts = _margin(cells, place)
        balance[factor] = {
            value: dict(zip(names, counts[value], strict=True)) for value in sorted(counts)
        }
    return balance


def _margin(cells: Sequence[SplitCell], place: int) -> Mapping[str, list[int]]:
    """The counts of each value of one factor."""
    counts: dict[str, list[int]] = {}
    for cell in cells:
        held = counts.get(cell.key[place], [0] * len(cell.counts))
        counts[cell.key[place]] = [a + b for a, b in zip(held, cell.counts, strict=True)]
    return counts


def _largest_deviation(
    cells: Sequence[SplitCell], factors: Sequence[str], shares: Sequence[int]
) -> float:
    whole = sum(shares)
    rows = [row for place in range(len(factors)) for row in _margin(cells, place).values()]
    off = [
        abs(Fraction(sum(row) * share, whole) - count)
        for row in rows
        for count, share in zip(row, shares, strict=True)
    ]
    return float(max(off, default=0))


def _told(cell: SplitCell, factors: Sequence[str], names: Sequence[str]) -> PartCell:
    return PartCell(
        values=dict(zip(factors, cell.key, strict=True)),
        questions=cell.size,
        parts=dict(zip(names, cell.counts, strict=True)),
    )
