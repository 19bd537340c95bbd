"""Scores for diagnosis, read from any form: what a file holds, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import fsum
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import BadField, BadRecord, Columns, quoted, refuse, unlike
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


class Reading:
    """The rows of a file while they are made of its samples."""

    def __init__(self, name: str, samples: Sequence[Parts], findings: Findings) -> None:
        self._name, self._findings = name, findings
        self._records = Records((), SAMPLE, [])
        self.names = metric_names(metric for sample in samples for metric in sample.scores)
        self.metrics = tuple(self.names.values())
        self.problems: list[str] = []
        self._columns = columns_seen((sample.others for sample in samples), may_be_scores=False)
        self._places: dict[str, str] = {}
        self._nameless: list[str] = []
        made = [self._row(number, sample) for number, sample in enumerate(samples, 1)]
        rows = [row for row in made if row is not None]
        if any(row.answer for row in rows):  # then one without an answer is a call that failed
            rows = [structs.replace(row, answer="") if row.answer is None else row for row in rows]
        self.rows = rows
        self._note_file()

    def _row(self, number: int, sample: Parts) -> ScoreRow | None:
        texts = self._texts(sample)
        if texts is None:
            return None
        id = self._id(number, sample)
        self._note_texts(id, sample, texts)
        values, invalid = self._scores(id, sample)
        strata = {
            name: text
            for name, value in sample.others.items()
            if self._columns[name].role == "stratum" and (text := stratum_of(value))
        }
        row = texts.row
        return ScoreRow(
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

    def _texts(self, sample: Parts) -> Texts | None:
        """The checked fields; None where something is wrong with them, or with the others.

        JSON has no NaN and no Infinity: one that is not a score is wrong.
        """
        wrong: dict[str, BadField] = {}
        filled = {
            name: one for name, one in sample.others.items() if self._columns[name].role != "empty"
        }
        for name, one in {**sample.fields, **filled}.items():
            if (found := misplaced(one, name)) is not None:
                fact = f"{found[1]} is not a JSON number; write null where there is no value"
                wrong[name] = BadField(found[0], fact)
        faults = list(wrong.values())
        texts = None
        try:
            sound = {name: one for name, one in sample.fields.items() if name not in wrong}
            texts = texts_of(self._records, sound, sample.place)
        except BadRecord as fault:
            faults += fault.fields
        self.problems += [f"{sample.place}: {fault}" for fault in faults]
        return None if faults else texts

    def _id(self, number: int, sample: Parts) -> str:
        """The sample's name among the others; that of an earlier one gets a number."""
        given = sample.id or sample_id(sample.fields)
        known = given or f"row {number}"
        id = unlike(known, self._places)
        if given is None:
            self._nameless.append(id)
        if id != known:
            fact = f"{quoted(known)} is at {self._places[known]} already; this one is {id}"
            self._findings.add(Finding("duplicate_id", sample.place, fact))
        self._places[id] = sample.place
        return id

    def _scores(self, id: str, sample: Parts) -> tuple[dict[str, float], dict[str, str]]:
        """The valid scores, and what stands in place of the others: each metric in one of them."""
        values: dict[str, float] = {}
        invalid: dict[str, str] = {}
        for written, metric in self.names.items():
            cells = [score_of(one) for one in sample.scores.get(written, ())]
            numbers = [one for one in cells if isinstance(one, float)]
            if numbers:
                values[metric] = fsum(one / len(numbers) for one in numbers)
            else:
                invalid[metric] = next((one for one in cells if isinstance(one, str)), ABSENT)
            if len(cells) > 1:
                fact = f"{quoted(id)} was measured {len(cells)} times with {metric}"
                told = f"{fact}; the mean of {len(numbers)} valid scores is taken"
                self._findings.add(Finding("several_scores", sample.place, told))
        return values, invalid

    def _note_texts(self, id: str, sample: Parts, texts: Texts) -> None:
        if texts.rivals:
            fact = f"{' and '.join(texts.rivals)} of {quoted(id)} differ; {texts.rivals[0]} is read"
            self._findings.add(Finding("rival_answers", sample.place, fact))
        references = len(texts.row.references)
        if references > 1:
            fact = f"{quoted(id)} has {references} references; the first is read"
            self._findings.add(Finding("more_references", sample.place, fact))
        if texts.unmatched:
            fact = f"{quoted(id)} has {len(texts.row.contexts or ())} contexts"
            told = f"{fact} and {len(texts.retrieved_ids or ())} retrieved ids that do not pair off"
            remedy = "give each context its own id, in the same order"
            self._findings.add(Finding("unmatched_ids", sample.place, f"{told}; {remedy}"))

    def _note_file(self) -> None:
        for written, metric in self.names.items():
            if written != metric:
                fact = f"{quoted(written)} is read as {metric}"
                self._findings.add(Finding("renamed_metric", self._name, fact))
        for written, metric, other in rivals(self.names):
            fact = (
                f"{quoted(written)} keeps its name beside {quoted(other)}, which is {metric} here"
            )
            self._findings.add(Finding("rival_metric", self._name, fact))
        if self._nameless:
            fact = f"{len(self._nameless):,} samples have no id, and are called after their places"
            told = Finding("made_id", self._name, f"{fact}, such as {quoted(self._nameless[0])}")
            self._findings.add(told, len(self._nameless))
        if len(self._nameless) == len(self.rows) and not any(
            row.question or row.answer or row.reference or row.contexts for row in self.rows
        ):
            fact = "no sample has an id or a text; means of a run cannot be diagnosed, samples can"
            self._findings.add(Finding("bare_scores", self._name, fact))

        for name, column in self._columns.items():
            if column.role == "extra":
                fact = f"{quoted(name)} is neither a score nor a stratum, and is left out"
                fact = f"{fact}; it is filled in {column.filled:,} samples"
                self._findings.add(Finding("extra_field", self._name, fact), column.filled)
            elif column.role == "empty":
                fact = f"{quoted(name)} has no value in any sample"
                self._findings.add(Finding("empty_field", self._name, fact))


_EXAMPLE = '{"sample_id": "s1", "question": "…", "answer": "…", "faithfulness": 0.8}'
_FIELDS_SHOWN = 8
TRACED = frozenset({"answer_json", "question_sent"})
"""Fields that a trace has, and no row of scores."""

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
    allowed = _allowed(max_bad)
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
    reading = Reading(name, samples_in(seen, rows), findings)
    problems = sorted([*problems, *reading.problems], key=lambda one: _place(name, one)[1])
    rejected = known + len(rows) - len(reading.rows)
    if rejected > allowed(known + len(rows)) or not reading.rows:
        refuse(problems)
    if not reading.metrics:
        there = list(dict.fromkeys(field for _, row in rows for field in row))
        shown = ", ".join(map(quoted, there[:_FIELDS_SHOWN]))
        fact = f"no field is a score; there is {shown}" if there else "no row has a field"
        remedy = f"name scores by their metric: {', '.join(SEVEN)}"
        raise InputRejected(f"{name}: {fact}; {remedy}")
    for problem in problems:
        where, _ = _place(name, problem)
        findings.add(Finding("bad_line", where, problem.removeprefix(f"{where}: ")))
    return ScoredFile(
        rows=reading.rows,
        metrics=reading.metrics,
        form=seen,
        findings=findings,
        renamed={written: ours for written, ours in reading.names.items() if written != ours},
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


def _allowed(max_bad: str) -> Bad:
    """How many bad records a number of records may hold: `N`, or `P%` of them."""
    written = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", max_bad, re.ASCII)
    if not written or float(written[2] or 0) > 100:
        raise UsageError(f'--max-bad "{max_bad}" is neither a count nor a percentage such as 1%')
    if written[1]:
        return lambda records: int(written[1])
    return lambda records: Fraction(written[2]) / 100 * records
