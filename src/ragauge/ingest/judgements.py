"""Judgements: one label a question, as JSON Lines, a JSON array, CSV or TSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ragauge.contracts.consistency import LABELS, Judgement, Label
from ragauge.errors import InputRejected
from ragauge.ingest.fields import BadField, BadRecord, expected, quoted, text
from ragauge.ingest.lines import MAX_LINE, read_whole
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.tables import rows_of

SHOWN = 100
"""Problems that are spelled out; the rest are counted."""
REQUIRED = ("qid", "label")
FIELDS = (*REQUIRED, "reason")
_LABELS = ", ".join(LABELS)

Records = Iterator[tuple[str, Any]]
"""Each decoded record with its place."""
Reader = Callable[[str, bytes, list[str]], Records]
"""Reads the content of a named file; what is wrong with it goes into the list."""


def read_judgements(*names: str) -> list[dict[str, Judgement]]:
    """For each file its judgements by qid, in the file's order.

    Raises InputRejected with all that is wrong with any of them.
    """
    problems: list[str] = []
    files = [_judgements(name, problems) for name in names]
    if problems:
        raise InputRejected(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))
    return files


def _judgements(name: str, problems: list[str]) -> dict[str, Judgement]:
    known = len(problems)
    found: dict[str, Judgement] = {}
    for place, record in records_of(name, read_whole(name), problems, _table):
        try:
            judgement = _judgement(record, place)
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


def _judgement(record: Any, place: str) -> Judgement:
    if type(record) is not dict:
        raise BadRecord([BadField("record", expected("an object", record))])
    known: dict[str, Any] = {}
    faults: list[BadField] = []
    for name, check in _CHECKS.items():
        try:
            known[name] = check(record.get(name), name)
        except BadField as fault:
            faults.append(fault)
    if faults:
        raise BadRecord(faults)
    return Judgement(**known, where=place)


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


def records_of(name: str, content: bytes, problems: list[str], table: Reader) -> Records:
    """Each record of a file, in whatever form its first character says it is.

    `table` reads CSV and TSV: which columns there must be is the caller's to say.
    """
    first = content.lstrip()[:1]
    if first == b"[":
        return _array(name, content, problems)
    return (_lines if first in (b"{", b"") else table)(name, content, problems)


def _array(name: str, content: bytes, problems: list[str]) -> Records:
    try:
        members = decode(content)
    except BadJson as fault:
        problems.append(f"{name}: {fault}")
        return
    for place, member in enumerate(members, 1):
        yield f"{name}: item {place}", member


def _lines(name: str, content: bytes, problems: list[str]) -> Records:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise BadJson(f"the line is longer than {MAX_LINE >> 20} MiB")
            yield f"{name}:{number}", decode(line)
        except BadJson as fault:
            problems.append(f"{name}:{number}: {fault}")


def _table(name: str, content: bytes, problems: list[str]) -> Records:
    """The rows of a CSV or TSV file; which of the two, its header tells."""
    rows = rows_of(name, content, problems)
    place, header = next(rows, ("", []))
    columns = [column.strip().lower() for column in header]
    problems += _header_faults(place, columns)
    if any(columns.count(name) != 1 for name in REQUIRED):
        return
    for place, cells in rows:
        if len(cells) == len(columns):
            yield place, dict(zip(columns, cells, strict=True))
        else:
            problems.append(f"{place}: cells: {len(cells)}, but the header has {len(columns)}")


def _header_faults(place: str, columns: list[str]) -> list[str]:
    faults = []
    for name in FIELDS:
        times = columns.count(name)
        if times > 1:
            faults.append(f"{place}: {times} columns are called {name}; keep one")
        elif place and not times and name in REQUIRED:
            fact = f"no column is called {name}; the first line names the columns: qid, label"
            faults.append(f"{place}: {fact}")
    return faults
