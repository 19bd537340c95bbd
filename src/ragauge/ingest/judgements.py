"""Judgements: one label a question, as JSON Lines, a JSON array, CSV or TSV."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ragauge.contracts.consistency import LABELS, Judgement, Label
from ragauge.ingest.lines import read_whole
from ragauge.ingest.records import (
    BadField,
    BadRecord,
    Records,
    expected,
    gathered,
    headed_rows,
    quoted,
    records_of,
    refuse,
    text,
)

REQUIRED = ("qid", "label")
FIELDS = (*REQUIRED, "reason")
_LABELS = ", ".join(LABELS)


def read_judgements(*names: str) -> list[dict[str, Judgement]]:
    """For each file its judgements by qid, in the file's order.

    Raises InputRejected with all that is wrong with any of them.
    """
    problems: list[str] = []
    files = [_judgements(name, problems) for name in names]
    refuse(problems)
    return files


def read_raters(
    name: str, raters: tuple[str, str] | None = None
) -> list[tuple[str, dict[str, Judgement]]]:
    """The two raters of one file, each with its name and its judgements by qid.

    A record has a qid and a label for each rater, under the rater's name; `auditor_reason` is the
    auditor's reason. A label that is null or empty means that this rater did not judge the
    question. Without `raters` they are the two columns that hold labels. Raises InputRejected with
    all that is wrong.
    """
    problems: list[str] = []
    records: list[tuple[str, dict[str, Any]]] = []
    for place, record in records_of(
        name, read_whole(name), problems, partial(_table, required=("qid",))
    ):
        if type(record) is dict:
            records.append((place, {key.strip().lower(): one for key, one in record.items()}))
        else:
            problems.append(f"{place}: record: {expected('an object', record)}")
    if not records and not problems:
        problems.append(f"{name}: holds no judgement; write one JSON object a line")
    chosen = _raters(name, [record for _, record in records], raters, problems)
    found: dict[str, dict[str, Judgement]] = {rater: {} for rater in chosen}
    seen: dict[str, str] = {}
    for place, record in records if chosen else ():
        try:
            qid = _qid(record.get("qid"), "qid")
            if seen.setdefault(qid, place) != place:
                raise BadField("qid", f"{quoted(qid)} was judged already at {seen[qid]}; keep one")
            for rater in chosen:
                given = record.get(rater)
                if given is not None and given != "" and not str(given).isspace():
                    label = _label(record[rater], rater)
                    reason = _reason(record.get(f"{rater}_reason"), f"{rater}_reason")
                    found[rater][qid] = Judgement(qid=qid, label=label, reason=reason, where=place)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
    problems += [
        f"{name}: {rater}: has no label"
        for rater in chosen
        if records and not found[rater] and not problems
    ]
    refuse(problems)
    return list(found.items())


def _raters(
    name: str,
    records: list[dict[str, Any]],
    asked: tuple[str, str] | None,
    problems: list[str],
) -> tuple[str, ...]:
    """The columns of the two raters; nothing, with a problem, where they cannot be told."""
    columns = list(dict.fromkeys(key for record in records for key in record if key != "qid"))
    if asked is not None:
        chosen = tuple(rater.strip().lower() for rater in asked)
        unknown = [rater for rater in chosen if rater not in columns]
        if records and unknown:
            there = ", ".join(columns) or "none"
            problems += [f"{name}: no column is called {one}; there are {there}" for one in unknown]
        return () if unknown else chosen

    def is_label(value: Any) -> bool:
        try:
            return bool(_label(value, ""))
        except BadField:
            return False

    with_labels = [
        column for column in columns if any(is_label(record.get(column)) for record in records)
    ]
    if len(with_labels) == 2 or not records:
        return tuple(with_labels)
    fact = f"{len(with_labels)} columns hold labels: {', '.join(with_labels)}"
    if len(with_labels) < 2:
        fact = f"two raters are expected, and labels are in {', '.join(with_labels) or 'no column'}"
    problems.append(f"{name}: {fact}; name two with --raters, such as --raters scholar,auditor")
    return ()


def _judgements(name: str, problems: list[str]) -> dict[str, Judgement]:
    known = len(problems)
    found: dict[str, Judgement] = {}
    for place, record in records_of(name, read_whole(name), problems, _table):
        try:
            if type(record) is not dict:
                raise BadRecord([BadField("record", expected("an object", record))])
            parts = (
                (field, partial(check, record.get(field), field))
                for field, check in _CHECKS.items()
            )
            judgement = Judgement(**gathered(parts), where=place)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        earlier = found.setdefault(judgement.qid, judgement)
        if earlier is not judgement:
            twice = f"{quoted(judgement.qid)} was judged already at {earlier.where}; keep one"
            problems.append(f"{place}: qid: {twice}")
    if not found and len(problems) == known:
        problems.append(f"{name}: holds no judgement; write one JSON object a line")
    return found


def _qid(value: Any, field: str) -> str:
    if value is None:
        raise BadField(field, "missing; name the question that was judged")
    if not text(value, field).strip():
        raise BadField(field, "is empty")
    return str(value)


def _label(value: Any, field: str) -> Label:
    """The label meant: in any case, with a dash or a blank for the underscore."""
    if value is None:
        raise BadField(field, f"missing; write one of {_LABELS}")
    meant = re.sub(r"[-\s]+", "_", text(value, field).strip()).upper()
    for label in LABELS:
        if meant == label:
            return label
    if not meant:
        raise BadField(field, "is empty; write ABSTAIN where the judge did not decide")
    raise BadField(field, f"{quoted(value)} is none of {_LABELS}")


def _reason(value: Any, field: str) -> str | None:
    return None if value is None else text(value, field) or None


_CHECKS: dict[str, Callable[[Any, str], Any]] = {"qid": _qid, "label": _label, "reason": _reason}


def _table(
    name: str, content: bytes, problems: list[str], required: tuple[str, ...] = REQUIRED
) -> Records:
    """The rows of a CSV or TSV file that has the required columns."""

    def header(place: str, columns: list[str], problems: list[str]) -> bool:
        for title in dict.fromkeys((*FIELDS, *columns) if columns else ()):
            times = columns.count(title)
            if times > 1 and (title in FIELDS or required != REQUIRED):
                problems.append(f"{place}: {times} columns are called {title}; keep one")
            elif not times and title in required:
                fact = f"no column is called {title}; the first line names the columns"
                problems.append(f"{place}: {fact}: {', '.join(required)}")
        return all(columns.count(title) == 1 for title in required)

    return headed_rows(name, content, problems, column=str.lower, header=header)
