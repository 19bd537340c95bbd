"""A model asked about every unit of a task: predictions, and a record of each call that failed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from msgspec import Struct

from ragauge.contracts.component_models import METHODS
from ragauge.contracts.evaluation import Task
from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.heritage import Entry
from ragauge.ingest.ranked.queries import Query
from ragauge.pipelines.callable import described
from ragauge.runners.components.component_replies import BadReply, fields_of, first_k

MODEL_ERROR = "model_error"
MARKS: dict[Task, str] = {
    "ner": "ner_annotations",
    "types": "type_classification",
    "linking": "entity_linking",
    "qa": "qa_pairs",
}
"""The part of an entry that a task is measured with."""
Progress = Callable[[int, int], None]


class Call(Struct, frozen=True, kw_only=True):
    """One call of a model's method."""

    where: str
    """What it is about, as a finding names it."""
    arguments: tuple[Any, ...]
    unit: dict[str, Any]
    """The fields that join the prediction with gold."""


class TaskRun(Struct, frozen=True, kw_only=True):
    """What came of the calls of a task."""

    calls: int
    predicted: list[dict[str, Any]]
    failed: int
    first_error: str | None


class EntryRecord(Struct, frozen=True):
    """A heritage entry as it was given, and as it was read."""

    record: Mapping[str, Any]
    entry: Entry

    def has(self, mark: str) -> bool:
        return self.record.get(mark) is not None


def planned(
    task: Task, entries: Sequence[EntryRecord], queries: Sequence[Query], k: int
) -> list[Call]:
    """The calls a task needs, in the order of the gold."""
    if task == "retrieval":
        return [
            Call(where=query.id, arguments=(query.words, k), unit={"query": query.id})
            for query in queries
        ]
    if task == "linking":
        return [call for one in entries for call in _links(one)]
    if task == "qa":
        return [call for one in entries for call in _questions(one)]
    return [
        Call(
            where=one.entry.id,
            arguments=(one.entry.text,),
            unit={"id": one.entry.id, "text": one.entry.text},
        )
        for one in entries
        if one.has(MARKS[task])
    ]


def _links(one: EntryRecord) -> Iterator[Call]:
    """A call for each place of a linked mention; one without a place where nobody marked any."""
    entry = one.entry
    for mention in entry.links:
        common = {"doc": entry.id, "mention": mention}
        marked = [each for each in entry.mentions if each.text == mention]
        places = [{"start": each.start, "end": each.end} for each in marked] or [{}]
        for place in places:
            yield Call(
                where=f"{entry.id}: {mention}",
                arguments=(mention, entry.text),
                unit={**common, **place, **({} if place else {"context": entry.text})},
            )


def _questions(one: EntryRecord) -> Iterator[Call]:
    for number, pair in enumerate(one.entry.pairs, 1):
        id = f"{one.entry.id}#{number}"
        yield Call(
            where=id, arguments=(pair.question,), unit={"qid": id, "question": pair.question}
        )


def asked(
    task: Task, model: Any, calls: Sequence[Call], findings: Findings, tick: Callable[[], None]
) -> TaskRun:
    """The predictions of a model; a call that raises is a finding, and its unit has none."""
    method = getattr(model, METHODS[task])
    predicted: list[dict[str, Any]] = []
    errors: list[str] = []
    for call in calls:
        try:
            with redirect_stdout(sys.stderr):  # stdout is the report's
                returned = method(*call.arguments)
            fields = fields_of(task, returned, call.arguments[0])
            if task == "retrieval":
                fields = first_k(fields, call.arguments[1], call.where, findings)
            predicted.append({**call.unit, **fields})
        except BadReply as fault:
            errors.append(_noted(findings, task, call, f"returned {fault}"))
        except (Exception, SystemExit) as error:  # a model that exits is no reason to
            errors.append(_noted(findings, task, call, described(error)))
        tick()
    return TaskRun(
        calls=len(calls),
        predicted=predicted,
        failed=len(errors),
        first_error=errors[0] if errors else None,
    )


def _noted(findings: Findings, task: Task, call: Call, fact: str) -> str:
    findings.add(Finding(MODEL_ERROR, call.where, f"{METHODS[task]}: {fact}"))
    return f"{call.where}: {fact}"
