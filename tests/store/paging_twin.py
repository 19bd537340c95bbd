"""Pages made the plain way: all rows decoded, filtered and sorted in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ragauge.contracts.gold import value_of
from ragauge.contracts.paging import LONGEST_PAGE, Paged, UnitCounts
from ragauge.store.recorded import plain


def page(rows: Sequence[Any], query: Any) -> Paged[Any]:
    start = max(query.start, 0)
    length = min(max(query.limit, 0), LONGEST_PAGE)
    return Paged(rows=tuple(rows[start : start + length]), total=len(rows), start=start)


def in_order(rows: Sequence[Any], value: Callable[[Any], Any], descending: bool) -> list[Any]:
    told = [row for row in rows if value(row) is not None]
    untold = [row for row in rows if value(row) is None]
    return [*sorted(told, key=value, reverse=descending), *untold]


def has_words(words: str, text: str) -> bool:
    return all(word in plain(text).casefold() for word in plain(words).casefold().split())


def is_in(question: Any, stratum: str | None, value: str | None) -> bool:
    if stratum is None or value is None:
        return True
    if question is None:
        return False
    names = {plain(name): name for name in question.strata}
    held = value_of(question, names.get(plain(stratum), plain(stratum)))
    return plain(held) == plain(value) is not None


def as_counted(text: str) -> tuple[Any, str]:
    """A key by which q2 comes before q10; of two that count alike, their own order decides."""
    pieces = re.split("([0-9]+)", text.casefold())
    return [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)], text


def units(rows: Sequence[Any], gold: Sequence[Any], query: Any) -> list[Any]:
    asked = {question.qid: question for question in reversed(gold)}

    def wanted(row: Any) -> bool:
        question = asked.get(row.unit)
        text = f"{row.unit} {question.question}" if question else row.unit
        ended = {True: "right", False: "wrong", None: "untold"}[row.right]
        return (
            (query.label is None or (row.label and plain(row.label) == plain(query.label)))
            and (query.right is None or ended == query.right)
            and is_in(question, query.stratum, query.value)
            and has_words(query.words, text)
        )

    found = [row for row in rows if wanted(row)]
    if query.sort == "place":
        return found[::-1] if query.descending else found
    own = {
        "unit": lambda row: as_counted(plain(row.unit)),
        "label": lambda row: plain(row.label),
        "right": lambda row: row.right,
    }
    metric = plain(query.sort)
    values = lambda row: {plain(id): value for id, value in row.values.items()}.get(metric)  # noqa: E731
    return in_order(found, own.get(query.sort, values), query.descending)


def counts(rows: Sequence[Any]) -> UnitCounts:
    labels = [plain(row.label) for row in rows if row.label is not None]
    ends = [row.right for row in rows]
    by_label = {label: labels.count(label) for label in sorted(set(labels))}
    return UnitCounts(
        units=len(rows),
        labels=dict(sorted(by_label.items(), key=lambda each: -each[1])),
        right=ends.count(True),
        wrong=ends.count(False),
        untold=ends.count(None),
    )


def questions(gold: Sequence[Any], query: Any) -> list[Any]:
    found = [
        question
        for question in gold
        if (query.answerable is None or question.answerable == query.answerable)
        and is_in(question, query.stratum, query.value)
        and has_words(query.words, f"{question.qid} {question.question}")
    ]
    if query.sort == "place":
        return found[::-1] if query.descending else found
    return in_order(found, lambda question: plain_of(question, query.sort), query.descending)


def plain_of(question: Any, name: str) -> Any:
    value = getattr(question, name)
    return value if isinstance(value, bool) else as_counted(plain(value))


def strata(gold: Sequence[Any]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for question in gold:
        for stratum in {*question.strata, "answerable"}:
            held = found.setdefault(plain(stratum), {})
            value = plain(value_of(question, stratum))
            if value is not None:
                held[value] = held.get(value, 0) + 1
    return found


def runs(recorded: Sequence[Any], query: Any) -> list[Any]:
    def wanted(run: Any) -> bool:
        record = run.record
        git = [record.git.commit, record.git.branch or ""] if record.git else []
        labels = [f"{key}={value}" for key, value in record.labels.items()]
        text = "\n".join([record.name, record.command, run.id, *git, *run.tags, *labels])
        return (
            query.name in (None, record.name)
            and query.command in (None, record.command)
            and query.green in (None, run.green)
            and query.labels.items() <= record.labels.items()
            and has_words(query.words, text)
        )

    found = sorted(filter(wanted, recorded), key=lambda run: run.id)
    if query.sort == "recorded_at":
        return in_order(found, lambda run: run.record.recorded_at, query.descending)
    found.sort(key=lambda run: run.record.recorded_at, reverse=True)
    if query.sort in ("name", "command", "passed", "units"):
        return in_order(found, lambda run: getattr(run.record, query.sort), query.descending)
    return in_order(found, lambda run: run_value(run, query.sort), query.descending)


def run_value(run: Any, metric: str) -> float | None:
    measured = run.record.metrics.get(metric)
    return measured.value if measured else None
