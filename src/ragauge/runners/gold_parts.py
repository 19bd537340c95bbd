"""A gold set in parts that each look like the whole, or a few of its questions that stand for it.

Both go by cells: the questions that have the same value of every factor.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from pathlib import Path

from msgspec.structs import replace

from ragauge.contracts.gold import ANSWERABLE, Gold, GoldSet, fingerprint, metadata_of, value_of
from ragauge.contracts.gold_parts import (
    CELLS_KEPT,
    DrawnCell,
    Part,
    PartCell,
    SampleReport,
    SplitReport,
    Units,
)
from ragauge.contracts.gold_report import judged
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import UsageError
from ragauge.runners.gold_convert import encoded, form_of, write_new
from ragauge.stats.sampling import Allocation, Key, SplitCell
from ragauge.stats.sampling import sample as sample_units
from ragauge.stats.sampling import split as split_units
from ragauge.text.canonical import canonical

NONE = "(none)"
"""The value of a question that has none."""


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
    total, count = sum(shares), len(questions)
    values = values_by_stratum(questions)
    room = count * Fraction(min(shares), total)
    factors = factors_of(questions, by, lambda some: len(values[some[-1]]) <= room, units)
    keys = {question.qid: key_of(question, factors) for question in questions}
    made = split_units(keys, shares, seed)
    about = metadata_of(questions)
    parts = {name: GoldSet((), about) for name in names}
    for question in questions:
        parts[names[made.part_of[question.qid]]].append(question)
    empty = [name for name, part in parts.items() if not part]
    if empty:
        raise UsageError(
            f"--shares: {count} {units} at {'/'.join(map(str, shares))} leave "
            f"{' and '.join(empty)} without any; ask for fewer parts, or larger shares"
        )
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{into}: cannot be a folder: {error.strerror or error}") from None
    files = {name: into / f"{name}.jsonl" for name in names}
    write_new({files[name]: encoded(parts[name], units=units) for name in names}, force)
    margins = _balance(factors, list(parts.values()))
    balance = {
        factor: {value: dict(zip(names, counts, strict=True)) for value, counts in margin.items()}
        for factor, margin in margins.items()
    }
    off = [
        abs(Fraction(sum(counts) * share, total) - held)
        for margin in margins.values()
        for counts in margin.values()
        for held, share in zip(counts, shares, strict=True)
    ]
    found = Findings(
        (*_unreached(made.cells, factors, balance, names, units), *_asked_twice(parts, units))
    )
    return SplitReport(
        **judged(found, (), {"gold": count, "cells": len(made.cells)}, [questions]),
        gold=fingerprint(questions),
        seed=seed,
        factors=factors,
        parts=tuple(
            Part(
                name=name,
                file=str(files[name]),
                questions=len(parts[name]),
                share=share / total,
                sha256=fingerprint(parts[name]),
            )
            for name, share in zip(names, shares, strict=True)
        ),
        balance=balance,
        largest_deviation=float(max(off, default=0)),
        cells=tuple(
            PartCell(
                values=dict(zip(factors, cell.key, strict=True)),
                questions=cell.size,
                parts=dict(zip(names, cell.counts, strict=True)),
            )
            for cell in made.cells[:CELLS_KEPT]
        ),
        units=units,
    )


def sample(
    questions: Sequence[Gold],
    n: int,
    out: Path,
    *,
    by: Sequence[str] | None = None,
    allocation: Allocation = "proportional",
    seed: int = 0,
    force: bool = False,
    units: Units = "questions",
) -> SampleReport:
    """Which questions were drawn into a file, in the set's order, each with its weight.

    Without `by`, it is drawn by answerable and by the strata, fewest values first, that leave no
    more cells than questions to draw. A set that is itself a sample keeps what its questions
    stood for: weights multiply. Heritage entries are written as they are: what an entry stands for
    is in the report, by cell.
    """
    whole = len(questions)
    if not 0 < n <= whole:
        raise UsageError(f"-n: {n} of {whole} {units} cannot be drawn")
    form = form_of(out)

    def few(factors: tuple[str, ...]) -> bool:
        return len({key_of(question, factors) for question in questions}) <= n

    factors = factors_of(questions, by, few, units)
    keys = {question.qid: key_of(question, factors) for question in questions}
    made = sample_units(keys, n, allocation, seed)
    drawn = GoldSet(
        (
            replace(question, weight=(question.weight or 1.0) * made.weights[question.qid])
            for question in questions
            if question.qid in made.weights
        ),
        metadata_of(questions),
    )
    # As a reader of the file has them: a weight of one is none, and an entry has none.
    as_read = [
        replace(one, weight=None) if one.weight == 1 or units == "entries" else one for one in drawn
    ]
    write_new({out: encoded(drawn, form, units)}, force)
    # What is measured says nothing about cells that no question was drawn from.
    fact = f"of {whole} {units}, none drawn, so the sample does not stand for them; draw"
    remedy = f"{len(made.cells)} or more, or name fewer factors with --by"
    found = Findings(
        Finding("cell_without_sample", words_of(cell.key, factors), f"{cell.size} {fact} {remedy}")
        for cell in made.cells
        if not cell.taken
    )
    return SampleReport(
        **judged(
            found,
            (),
            {
                "gold": whole,
                "sampled": len(drawn),
                "cells": len(made.cells),
                "represented": sum(cell.size for cell in made.cells if cell.taken),
            },
            [questions],
        ),
        gold=fingerprint(questions),
        sample=fingerprint(as_read),
        file=str(out),
        seed=seed,
        allocation=allocation,
        factors=factors,
        balance={
            factor: {value: (of_all, of_drawn) for value, (of_all, of_drawn) in margin.items()}
            for factor, margin in _balance(factors, [questions, drawn]).items()
        },
        weight_sum=math.fsum(question.weight or 0.0 for question in drawn),
        cells=tuple(
            DrawnCell(
                values=dict(zip(factors, cell.key, strict=True)),
                questions=cell.size,
                taken=cell.taken,
                weight=cell.weight,
            )
            for cell in made.cells[:CELLS_KEPT]
        ),
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


def _balance(
    factors: Sequence[str], sets: Sequence[Sequence[Gold]]
) -> dict[str, dict[str, list[int]]]:
    """For each factor and value, in order, how many questions of each set have it."""
    found = {}
    for factor in factors:
        each = [Counter(value_or_none(question, factor) for question in one) for one in sets]
        values = sorted(set[str]().union(*each))
        found[factor] = {value: [counts[value] for counts in each] for value in values}
    return found


def _unreached(
    cells: Sequence[SplitCell],
    factors: Sequence[str],
    balance: Mapping[str, Mapping[str, Mapping[str, int]]],
    names: Sequence[str],
    units: Units,
) -> Iterator[Finding]:
    """Values and cells that some part has nothing of."""
    places = [
        ("missing_value", f"{factor}={value}", counts)
        for factor, values in balance.items()
        for value, counts in values.items()
    ] + [
        ("small_cell", words_of(cell.key, factors), dict(zip(names, cell.counts, strict=True)))
        for cell in cells
    ]
    one = "1 question" if units == "questions" else "1 entry"
    for code, where, counts in places:
        missing = [name for name, count in counts.items() if not count]
        if missing:
            size = sum(counts.values())
            counted = one if size == 1 else f"{size} {units}"
            yield Finding(code, where, f"{counted}, none of them in {' or '.join(missing)}")


def _asked_twice(parts: Mapping[str, Sequence[Gold]], units: Units) -> Iterator[Finding]:
    """Questions of the same words in two parts: what was seen in one is known in the other."""
    first: dict[str, tuple[str, str]] = {}
    for name, part in parts.items():
        for question in part:
            other, qid = first.setdefault(canonical(question.question), (name, question.qid))
            if other != name:
                same = f"asks what {qid} asks" if units == "questions" else f"has the text of {qid}"
                fact = f"is in {name} and {same}, which is in {other}; keep one"
                yield Finding("question_in_two_parts", question.qid, fact)
