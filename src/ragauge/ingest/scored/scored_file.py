"""Scores for diagnosis, read from any form: what a file holds, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import SHOWN, InputRejected, UsageError, refuse
from ragauge.ingest.answered.shapes import rival_answers
from ragauge.ingest.fields import BadField, BadRecord, expected, quoted
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
from ragauge.ingest.scored.records import Source, held_records, misplaced, read_records
from ragauge.ingest.scored.samples import Parts, Texts, sample_id, texts_of


class Reading:
    """The rows of a file while they are made of its samples."""

    def __init__(
        self, name: str, samples: Sequence[Parts], findings: Findings, *, is_json: bool
    ) -> None:
        self._name, self._findings, self._is_json = name, findings, is_json
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
        if self._is_json:
            filled = {
                name: one
                for name, one in sample.others.items()
                if self._columns[name].role != "empty"
            }
            for name, one in {**sample.fields, **filled}.items():
                if (found := misplaced(one, name)) is not None:
                    fact = f"{found[1]} is not a JSON number; write null where there is no value"
                    wrong[name] = BadField(found[0], fact)
        faults = list(wrong.values())
        texts = None
        try:
            sound = {name: one for name, one in sample.fields.items() if name not in wrong}
            texts = texts_of(sound, "", sample.place)
        except BadRecord as fault:
            faults += fault.fields
        self.problems += [f"{sample.place}: {fault}" for fault in faults]
        return None if faults else texts

    def _id(self, number: int, sample: Parts) -> str:
        """The sample's name among the others; that of an earlier one gets a number."""
        given = sample.id or sample_id(sample.fields)
        known = given or f"row {number}"
        id, times = known, 1
        while id in self._places:
            times += 1
            id = f"{known}#{times}"
        if given is None:
            self._nameless.append(id)
        if times > 1:
            fact = f"{quoted(known)} stands at {self._places[known]} already; this one is {id}"
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
        rival = rival_answers(sample.fields)
        if rival:
            fact = f"{' and '.join(rival)} of {quoted(id)} differ; {rival[0]} is read"
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
    rows: list[Placed] = []
    for place, record in source.records:
        if isinstance(record, Mapping):
            rows.append((place, {str(field): value for field, value in record.items()}))
        else:
            problems.append(f"{place}: record: {expected('an object with scores', record)}")
    if not rows:
        fact = f"{name}: holds no score row; write one a line: {_EXAMPLE}"
        raise InputRejected(*problems[:SHOWN], fact, more=max(0, len(problems) - SHOWN))
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
    reading = Reading(name, samples_in(seen, rows), findings, is_json=source.is_json)
    problems = sorted([*problems, *reading.problems], key=lambda one: _place(name, one)[1])
    rejected = records - len(reading.rows)
    if rejected > allowed(records) or not reading.rows:
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
