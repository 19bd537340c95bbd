"""Scores for diagnosis, read from any form: what a file holds, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.finding import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import expected, quoted
from ragauge.ingest.judgements import SHOWN
from ragauge.ingest.scored.forms import AUTO, ScoreForm, form_of, known_form, samples_in
from ragauge.ingest.scored.names import SEVEN, is_metric, is_surely_metric
from ragauge.ingest.scored.records import Source, held_records, read_records
from ragauge.ingest.scored.rows import Reading

_EXAMPLE = '{"sample_id": "s1", "question": "…", "answer": "…", "faithfulness": 0.8}'
_FIELDS_SHOWN = 8
TRACED = frozenset({"answer_json", "question_sent"})
"""Fields that a trace has, and no row of scores."""

Placed = tuple[str, Mapping[str, Any]]
Bad = Callable[[int], int | Fraction]
"""Of a number of records, how many may be bad."""


class ScoredFile(Struct, frozen=True, kw_only=True):
    """The samples of a file with their scores, in its order."""

    rows: list[ScoreRow]
    """Each has every metric of the file, among its valid scores or among the invalid ones."""
    metrics: tuple[str, ...]
    """In the order they are met."""
    form: ScoreForm
    findings: Findings
    renamed: dict[str, str]
    """By the name in the file, ours; those that have it already are not here."""
    rejected: int
    """Records that could not be read and that `max_bad` let pass."""


def read_scores(path: str | Path, *, form: str = AUTO, max_bad: str = "0") -> ScoredFile:
    """The samples of a file in any form we read, seen from its content or given as `form`.

    Raises InputRejected with all that is wrong where it is more than `max_bad`, a count or a
    percentage, and where nothing could be diagnosed.
    """
    known_form(form)
    allowed = _allowed(max_bad)
    problems: list[str] = []
    name = str(path)
    source = read_records(name, problems)
    return _scored(name, source, problems, form, allowed)


def score_rows(records: Any, *, form: str = AUTO, name: str = "scores") -> ScoredFile:
    """The samples that a program holds: dicts, or a pandas or polars frame.

    Raises InputRejected with all that is wrong.

    >>> scored = score_rows([{"id": "a", "faithfulness": 0.5}, {"id": "b", "faithfulness": None}])
    >>> scored.metrics, scored.rows[0].values, scored.rows[1].invalid
    (('faithfulness',), {'faithfulness': 0.5}, {'faithfulness': 'null'})
    """
    known_form(form)
    problems: list[str] = []
    source = held_records(records, name, problems)
    return _scored(name, source, problems, form, _allowed("0"))


def _scored(name: str, source: Source, problems: list[str], form: str, allowed: Bad) -> ScoredFile:
    records = len(problems) + len(source.records)
    rows = _objects(source.records, problems)
    if not rows:
        fact = f"{name}: holds no score row; write one a line: {_EXAMPLE}"
        raise InputRejected(*problems[:SHOWN], fact, more=max(0, len(problems) - SHOWN))
    if _is_by_metric([row for _, row in rows]):
        fact = "has a row for each metric, not for each sample"
        raise InputRejected(f"{name}: {fact}; write a row a sample, and in it a field a metric")
    if all(TRACED & row.keys() for _, row in rows):
        fact = "these are traces, not scores; give the gold set they belong to with --gold"
        raise InputRejected(f"{name}: {fact}")
    seen = form_of(name, [row for _, row in rows], form)
    findings = Findings()
    reading = Reading(name, samples_in(seen, rows), findings, is_json=source.is_json)
    problems = sorted([*problems, *reading.problems], key=lambda one: _place(name, one)[1])
    rejected = records - len(reading.rows)
    if rejected > allowed(records) or not reading.rows:
        raise InputRejected(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))
    if not reading.metrics:
        raise InputRejected(_no_score(name, [row for _, row in rows]))
    for problem in problems:
        findings.add(_bad_line(name, problem))
    return ScoredFile(
        rows=reading.rows,
        metrics=reading.metrics,
        form=seen,
        findings=findings,
        renamed={written: ours for written, ours in reading.names.items() if written != ours},
        rejected=rejected,
    )


def _objects(records: list[tuple[str, Any]], problems: list[str]) -> list[Placed]:
    """The records that are objects, with texts for keys; the others go into the list."""
    found: list[Placed] = []
    for place, record in records:
        if isinstance(record, Mapping):
            found.append((place, {str(name): value for name, value in record.items()}))
        else:
            problems.append(f"{place}: record: {expected('an object with scores', record)}")
    return found


def _is_by_metric(rows: list[Mapping[str, Any]]) -> bool:
    """Whether each row tells one metric's score, as summaries and molten tables do."""
    named = (row.get("metric") for row in rows)
    told = all(isinstance(name, str) and is_metric(name) for name in named)
    return told and not any(is_surely_metric(field) for row in rows for field in row)


def _no_score(name: str, rows: list[Mapping[str, Any]]) -> str:
    there = list(dict.fromkeys(field for row in rows for field in row))
    shown = ", ".join(map(quoted, there[:_FIELDS_SHOWN]))
    fact = f"no field is a score; there is {shown}" if there else "no row has a field"
    return f"{name}: {fact}; name scores by their metric: {', '.join(SEVEN)}"


def _bad_line(name: str, problem: str) -> Finding:
    """A problem that was let pass, with its place apart."""
    where, _ = _place(name, problem)
    return Finding("bad_line", where, problem.removeprefix(f"{where}: "))


def _place(name: str, problem: str) -> tuple[str, int]:
    """Where in the file a problem is, and the number of that line or row; 0 for the whole file."""
    found = re.match(rf"{re.escape(name)}(?::(\d+)|: (?:item|row) (\d+))(?=: )", problem)
    return (found[0], int(found[1] or found[2])) if found else (name, 0)


def _allowed(max_bad: str) -> Bad:
    """How many bad records a number of records may hold: `N`, or `P%` of them."""
    written = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", max_bad, re.ASCII)
    if not written or float(written[2] or 0) > 100:
        raise UsageError(f'--max-bad "{max_bad}" is neither a count nor a percentage such as 1%')
    if written[1]:
        return lambda records: int(written[1])
    return lambda records: Fraction(written[2]) / 100 * records
