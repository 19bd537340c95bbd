"""Judgements and runs, from whatever holds them: the form is told by the content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import structs

from ragauge.errors import UsageError
from ragauge.ingest.lines import read_whole
from ragauge.ingest.ranked.ranking_frames import rows_of_frame
from ragauge.ingest.ranked.ranking_records import (
    QUERY,
    read_ranking_records,
    read_ranx,
    rows_of_mapping,
    rows_of_records,
)
from ragauge.ingest.ranked.ranking_rows import RankingRows, Role
from ragauge.ingest.ranked.ranking_tables import is_header, read_ranking_table
from ragauge.ingest.ranked.trec import first_line, read_trec
from ragauge.ingest.strict_json import BadJson, decode

if TYPE_CHECKING:
    import polars as pl

    Given = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | pl.DataFrame

InputFormat = Literal["trec", "beir", "ranx", "tsv", "json", "jsonl"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)


def read_rankings(
    given: Given, role: Role, problems: list[str], form: str | None = None
) -> RankingRows:
    """The rows of a file, a mapping, records or a frame; what is wrong goes into `problems`."""
    if isinstance(given, str | Path):
        return read_content(str(given), read_whole(str(given)), role, problems, form)
    if isinstance(given, Mapping):
        return rows_of_mapping(role, given, role, problems)
    import polars as pl

    if isinstance(given, pl.DataFrame):
        return rows_of_frame(role, given, role, problems)
    return rows_of_records(role, given, role, problems)


def read_content(
    name: str, content: bytes, role: Role, problems: list[str], form: str | None = None
) -> RankingRows:
    """The rows of a file's text, in the form that is named or that it shows."""
    known = len(problems)
    shown = form_of(content, role, form)
    rows = structs.replace(_READERS[shown](name, content, role, problems), form=shown)
    if not rows.frame.height and len(problems) == known:
        what = "no judgement" if role == "qrels" else "no result"
        problems.append(f"{name}: holds {what}; write TREC lines, a table or JSON Lines")
    return rows


def form_of(content: bytes, role: Role, form: str | None = None) -> InputFormat:
    """The form a file is in: the one that is named, else what its beginning shows."""
    if form is not None:
        named = next((known for known in INPUT_FORMATS if known == form), None)
        if named is None:
            there = ", ".join(INPUT_FORMATS)
            raise UsageError(f'there is no input format "{form}"; there are {there}')
        return named
    start = content.lstrip()
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{"):
        return _form_of_object(start)
    return "tsv" if is_header(first_line(content), role) else "trec"


def _form_of_object(start: bytes) -> InputFormat:
    """JSON Lines where the first object names its query, else ranx's one object."""
    line, _, rest = start.partition(b"\n")
    try:
        first = decode(line)
    except BadJson:
        return "jsonl" if rest.lstrip().startswith(b"{") else "ranx"
    names_query = any(isinstance(first.get(name), str | int) for name in QUERY)
    return "jsonl" if names_query or rest.strip() else "ranx"


_READERS: dict[InputFormat, Callable[[str, bytes, Role, list[str]], RankingRows]] = {
    "trec": read_trec,
    "beir": read_ranking_table,
    "tsv": read_ranking_table,
    "ranx": read_ranx,
    "json": read_ranking_records,
    "jsonl": read_ranking_records,
}
