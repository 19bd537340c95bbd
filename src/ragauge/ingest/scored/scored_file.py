"""Scores for diagnosis, read from any form: what a file holds, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected
from ragauge.ingest.fields import BadField, BadRecord, Columns, allowed_bad, quoted, refuse, unlike
from ragauge.ingest.lines import decode
from ragauge.ingest.records import Records, Row, Source
from ragauge.ingest.scored.columns import (
    ABSENT,
    SEVEN,
    columns_seen,
    is_metric,
    is_surely_metric,
    metric_names,
    rivals,
    score_of,
    stratum_of,
)
from ragauge.ingest.scored.forms import AUTO, ScoreForm, form_of, known_form, samples_in
from ragauge.ingest.scored.samples import SAMPLE, Parts, Texts, adapted, sample_id, texts_of

_SUSPECT = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{300}")
_TOKENS = re.compile(
    rb'"(?:[^"\\\n]++|\\.)*+"?'
    rb"|-?\bInfinity\b|\bNaN\b|-?\d[\d.]*[eE]\+?\d{3,}|-?\d{300,}(?:\.\d+)?(?:[eE]\+?\d+)?"
)
_PRIVATE = range(0xE000, 0xF900)
"""Characters without a meaning of their own; a file hardly has one of them, never all."""


class BareNumber(float):
    """NaN or Infinity as a JSON text has it: no number there, but a gap among scores."""


def decoded(content: bytes) -> Any:
    r"""The value of a JSON text whose scores may be NaN, Infinity or too large for a number.

    Every other fault is still found, at the same column: a text is put in place of each such
    number, and the strict reader goes on from there.

    >>> decoded(b'{"a": NaN, "b": "NaN"}')
    {'a': nan, 'b': 'NaN'}
    """
    if not _SUSPECT.search(content):
        return decode(content)
    free = _free(content)
    nan, infinite = next(free), next(free)

    def replaced(found: re.Match[bytes]) -> bytes:
        token = found[0]
        if token.startswith(b'"'):
            return token
        if token != b"NaN" and not token.endswith(b"Infinity") and abs(float(token)) < float("inf"):
            return token
        return f'"{nan if token == b"NaN" else infinite}"'.ljust(len(token)).encode()

    def numbers(value: Any) -> Any:
        if isinstance(value, str):
            return known.get(value, value)
        if isinstance(value, list):
            return [numbers(one) for one in value]
        if isinstance(value, dict):
            return {key: numbers(one) for key, one in value.items()}
        return value

    known = {nan: BareNumber("nan"), infinite: BareNumber("inf")}
    return numbers(decode(_TOKENS.sub(replaced, content)))


def misplaced(value: Any, field: str) -> tuple[str, str] | None:
    """Where a number that is none stands within a value, and which; None where there is none.

    >>> misplaced({"a": ["x", BareNumber("nan")]}, "strata")
    ('strata.a[1]', 'NaN')
    """
    if isinstance(value, BareNumber):
        return field, "Infinity" if value == value else "NaN"
    if isinstance(value, dict):
        places = ((f"{field}.{key}", one) for key, one in value.items())
    elif isinstance(value, list):
        places = ((f"{field}[{place}]", one) for place, one in enumerate(value))
    else:
        return None
    return next((found for name, one in places if (found := misplaced(one, name))), None)


def _free(content: bytes) -> Iterator[str]:
    """Private characters that a file has neither as they are nor escaped."""
    escapes = {match.lower() for match in re.findall(rb"\\u[eEfF][0-9a-fA-F]{3}", content)}
    for code in _PRIVATE:
        if chr(code).encode() not in content and b"\\u%04x" % code not in escapes:
            yield chr(code)


def _rows_of(
    name: str, samples: Sequence[Parts], names: Mapping[str, str], findings: Findings
) -> tuple[list[ScoreRow], list[str]]:
    """The rows of samples, and what is wrong with the others; `names` are those of metrics."""
    records = Records((), SAMPLE, [])
    columns = columns_seen((sample.others for sample in samples), may_be_scores=False)
    rows, problems, nameless = list[ScoreRow](), list[str](), list[str]()
    places: dict[str, str] = {}
    for number, sample in enumerate(samples, 1):
        # JSON has no NaN and no Infinity: one that is not a score is wrong.
        filled = {key: one for key, one in sample.others.items() if columns[key].role != "empty"}
        wrong: dict[str, BadField] = {}
        for key, value in {**sample.fields, **filled}.items():
            if (found := misplaced(value, key)) is not None:
                fact = f"{found[1]} is not a JSON number; write null where there is no value"
                wrong[key] = BadField(found[0], fact)
        sound = {key: one for key, one in sample.fields.items() if key not in wrong}
        faults = list(wrong.values())
        try:
            texts = texts_of(records, sound, sample.place)
        except BadRecord as fault:
            faults += fault.fields
        if faults:
            problems += [f"{sample.place}: {fault}" for fault in faults]
            continue
        given = sample.id or sample_id(sample.fields)
        known = given or f"row {number}"
        id, row = unlike(known, places), texts.row
        if given is None:
            nameless.append(id)
        if id != known:
            fact = f"{quoted(known)} is at {places[known]} already; this one is {id}"
            findings.add(Finding("duplicate_id", sample.place, fact))
        places[id] = sample.place
        for code, fact in _oddities(id, texts):
            findings.add(Finding(code, sample.place, fact))
        # Each metric is among the valid scores, or there is what stands in place of one.
        values: dict[str, float] = {}
        invalid: dict[str, str] = {}
        for written, metric in names.items():
            cells = [score_of(one) for one in sample.scores.get(written, ())]
            numbers = [one for one in cells if isinstance(one, float)]
            if numbers:
                values[metric] = fsum(one / len(numbers) for one in numbers)
            else:
                invalid[metric] = next((one for one in cells if isinstance(one, str)), ABSENT)
            if len(cells) > 1:
                fact = f"{quoted(id)} was measured {len(cells)} times with {metric}"
                fact = f"{fact}; the mean of {len(numbers)} valid scores is taken"
                findings.add(Finding("several_scores", sample.place, fact))
        strata = {
            key: text
            for key, value in sample.others.items()
            if columns[key].role == "stratum" and (text := stratum_of(value))
        }
        rows.append(
            ScoreRow(
                id=id,
                question=row.question,
                answer=row.answer,
                reference=next(iter(row.references), None),
                contexts=row.contexts,
                retrieved_ids=texts.retrieved_ids,
                cited=row.cited,
                gold_ids=texts.gold_ids,
                answerable=row.answerable,
                values=values,
                invalid=invalid,
                strata={**strata, **dict(sample.strata), **row.strata},
                claims=texts.claims,
                where=sample.place,
            )
        )
    if any(row.answer for row in rows):  # then one without an answer is a call that failed
        rows = [structs.replace(row, answer="") if row.answer is None else row for row in rows]
    if nameless:
        fact = f"{len(nameless):,} samples have no id, and are called after their places"
        fact = f"{fact}, such as {quoted(nameless[0])}"
        findings.add(Finding("made_id", name, fact), len(nameless))
    if len(nameless) == len(rows) and not any(
        row.question or row.answer or row.reference or row.contexts for row in rows
    ):
        fact = "no sample has an id or a text; means of a run cannot be diagnosed, samples can"
        findings.add(Finding("bare_scores", name, fact))
    for key, column in columns.items():
        if column.role == "extra":
            fact = f"{quoted(key)} is neither a score nor a stratum, and is left out"
            fact = f"{fact}; it is filled in {column.filled:,} samples"
            findings.add(Finding("extra_field", name, fact), column.filled)
        elif column.role == "empty":
            findings.add(Finding("empty_field", name, f"{quoted(key)} has no value in any sample"))
    return rows, problems


def _oddities(id: str, texts: Texts) -> Iterator[tuple[str, str]]:
    """What is odd about the texts of a sample, each with its code."""
    row = texts.row
    if texts.rivals:
        fact = f"{' and '.join(texts.rivals)} of {quoted(id)} differ; {texts.rivals[0]} is read"
        yield "rival_answers", fact
    if len(row.references) > 1:
        fact = f"{quoted(id)} has {len(row.references)} references; the first is read"
        yield "more_references", fact
    if texts.unmatched:
        fact = f"{quoted(id)} has {len(row.contexts or ())} contexts"
        fact = f"{fact} and {len(texts.retrieved_ids or ())} retrieved ids that do not pair off"
        yield "unmatched_ids", f"{fact}; give each context its own id, in the same order"


_EXAMPLE = '{"sample_id": "s1", "question": "…", "answer": "…", "faithfulness": 0.8}'
_FIELDS_SHOWN = 8
TRACED = frozenset({"answer_json", "question_sent"})
"""Fields that a trace has, and no row of scores."""


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


def read_scores(
    source: Source,
    *,
    form: str = AUTO,
    max_bad: str = "0",
    columns: Columns | None = None,
) -> ScoredFile:
    """The samples of a source in any form we read, seen from its content or given as `form`.

    Raises InputRejected with all that is wrong where it is more than `max_bad`, a count or a
    percentage, and where nothing could be diagnosed.

    >>> scored = read_scores([{"id": "a", "faithfulness": 0.5}, {"id": "b", "faithfulness": None}])
    >>> scored.metrics, scored.rows[0].values, scored.rows[1].invalid
    (('faithfulness',), {'faithfulness': 0.5}, {'faithfulness': 'null'})
    """
    known_form(form)
    allowed = allowed_bad(max_bad)
    problems: list[str] = []
    records = Records(
        source, SAMPLE, problems, name="scores", columns=columns, adapt=adapted, decode=decoded
    )
    rows = [(row.place, _with_our_names(row, records.columns)) for row in records.rows()]
    name, known = records.name, len(problems)
    if not rows:
        fact = f"{name}: holds no score row; write one a line: {_EXAMPLE}"
        refuse([*problems, fact] if records.unreadable else problems)
    # Summaries and molten tables have one metric's score in each row.
    by_metric = all(isinstance(one := row.get("metric"), str) and is_metric(one) for _, row in rows)
    if by_metric and not any(is_surely_metric(field) for _, row in rows for field in row):
        fact = "has a row for each metric, not for each sample"
        raise InputRejected(f"{name}: {fact}; write a row a sample, and in it a field a metric")
    if all(TRACED & row.keys() for _, row in rows):
        fact = "these are traces, not scores; give the gold set they belong to with --gold"
        raise InputRejected(f"{name}: {fact}")
    seen = form_of(name, [row for _, row in rows], form)
    findings = Findings()
    samples = samples_in(seen, rows)
    names = metric_names(metric for sample in samples for metric in sample.scores)
    taken, wrong = _rows_of(name, samples, names, findings)
    renamed = {written: ours for written, ours in names.items() if written != ours}
    for written, metric in renamed.items():
        fact = f"{quoted(written)} is read as {metric}"
        findings.add(Finding("renamed_metric", name, fact))
    for written, metric, other in rivals(names):
        fact = f"{quoted(written)} keeps its name beside {quoted(other)}, which is {metric} here"
        findings.add(Finding("rival_metric", name, fact))
    problems = sorted([*problems, *wrong], key=lambda one: _place(name, one)[1])
    rejected = known + len(rows) - len(taken)
    if rejected > allowed(known + len(rows)) or not taken:
        refuse(problems)
    if not names:
        there = list(dict.fromkeys(field for _, row in rows for field in row))
        shown = ", ".join(map(quoted, there[:_FIELDS_SHOWN]))
        fact = f"no field is a score; there is {shown}" if there else "no row has a field"
        remedy = f"name scores by their metric: {', '.join(SEVEN)}"
        raise InputRejected(f"{name}: {fact}; {remedy}")
    for problem in problems:
        where, _ = _place(name, problem)
        findings.add(Finding("bad_line", where, problem.removeprefix(f"{where}: ")))
    return ScoredFile(
        rows=taken,
        metrics=tuple(names.values()),
        form=seen,
        findings=findings,
        renamed=renamed,
        rejected=rejected,
    )


def _with_our_names(row: Row, columns: Columns) -> Mapping[str, Any]:
    """The record of a row with the columns that the user named under our names."""
    if not columns:
        return row.record
    named = {field: row.values[field] for field in columns if field in row.values}
    return {key: one for key, one in row.record.items() if key not in columns.values()} | named


def _place(name: str, problem: str) -> tuple[str, int]:
    """Where in the file a problem is, and the number of that line or row; 0 for the whole file."""
    found = re.match(rf"{re.escape(name)}(?::(\d+)|: (?:item|row) (\d+))(?=: )", problem)
    return (found[0], int(found[1] or found[2])) if found else (name, 0)
