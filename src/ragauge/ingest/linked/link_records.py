"""Records of links as they come: files of JSON or cells, records at hand, data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ragauge.contracts.finding import Findings
from ragauge.errors import UsageError
from ragauge.ingest.fields import BadField, expected
from ragauge.ingest.heritage import no_table
from ragauge.ingest.judgements import Records, records_of
from ragauge.ingest.lines import read_whole
from ragauge.ingest.linked.link_ids import TABULAR
from ragauge.ingest.linked.link_rows import TABLES, read_table

if TYPE_CHECKING:
    import polars as pl

    Source = str | Path | Sequence[Mapping[str, Any]] | Sequence["Placed"] | pl.DataFrame

FORMATS = ("json", "jsonl", "tsv", "csv", "neleval", "hipe")


class Placed(Struct, frozen=True):
    """A record that another reader took from a file, and its place there."""

    where: str
    record: dict[str, Any]


class LinkReading(Struct, frozen=True):
    """How links are read, and what was met on the way."""

    problems: list[str] = msgspec.field(default_factory=list)
    """What is wrong, each with its place."""
    findings: Findings = msgspec.field(default_factory=Findings)
    input_format: str | None = None
    """One of FORMATS; the content tells where it is None."""
    bare: str | None = None
    """The knowledge base of ids that tell none by prefix or shape."""


def name_of(source: Source) -> str:
    """What messages call it."""
    return str(source) if isinstance(source, str | Path) else "records"


def records_in(source: Source, reading: LinkReading) -> Records:
    """Each record with its place, decoded but not checked; faults go into the reading."""
    if isinstance(source, str | Path):
        return _of_file(str(source), reading)
    return _of_memory(source, reading)


def _of_file(name: str, reading: LinkReading) -> Records:
    chosen = reading.input_format
    if chosen is not None and chosen not in FORMATS:
        raise UsageError(f'input format "{chosen}": links are read as {", ".join(FORMATS)}')
    content = read_whole(name)
    if chosen in TABLES:
        return TABLES[chosen](name, content, reading.problems)
    return records_of(name, content, reading.problems, no_table if chosen else read_table)


def _of_memory(source: Any, reading: LinkReading) -> Records:
    rows = hasattr(source, "iter_rows")
    records = source.iter_rows(named=True) if rows else source
    for number, record in enumerate(records, 1):
        if isinstance(record, Placed):
            yield record.where, record.record
            continue
        place = f"{'row' if rows else 'record'} {number}"
        try:
            plain = msgspec.to_builtins(dict(record), enc_hook=_plain)
        except (TypeError, ValueError):
            reading.problems.append(f"{place}: {BadField('record', expected('an object', record))}")
            continue
        yield place, {**plain, TABULAR: True} if rows else plain


def _plain(value: Any) -> Any:
    """A value that JSON has no form for, such as a NumPy number, as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(type(value).__name__)
