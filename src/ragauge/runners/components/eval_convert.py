"""Annotated texts, judgements and runs, read in any format and written in another."""

from __future__ import annotations

from pathlib import Path

from ragauge.contracts.report import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.entity_files import read_entities
from ragauge.ingest.annotated.entity_reading import ReadingOptions
from ragauge.ingest.annotated.entity_writing import WRITTEN_FORMS, written
from ragauge.ingest.fields import Columns, refuse
from ragauge.ingest.ranked.ranking_rows import Role
from ragauge.ingest.ranked.ranking_writing import WRITTEN_RANKINGS, by_query, written_rankings
from ragauge.ingest.ranked.rankings import read_rankings
from ragauge.store.files import write_whole

FORMS: dict[str, tuple[str, ...]] = {
    "entities": tuple("jsonl" if form == "records" else form for form in WRITTEN_FORMS),
    "qrels": WRITTEN_RANKINGS,
    "run": WRITTEN_RANKINGS,
}
"""What each kind of file is written as."""


def convert_entities(
    source: str,
    target: Path,
    form: str,
    *,
    input_format: str | None = None,
    reanchor: bool = False,
    lossy: bool = False,
    columns: Columns | None = None,
) -> tuple[int, list[Finding]]:
    """Write annotated texts in another format: how many, and what was found on the way.

    Nothing is written where a text cannot be read, or the format cannot hold what it has, unless
    the user accepts the loss.
    """
    problems: list[str] = []
    read = read_entities(
        source,
        ReadingOptions(reanchor=reanchor),
        problems=problems,
        input_format=input_format,
        columns=columns,
    )
    refuse(problems)
    content = written(read.documents, form, problems=problems, notes=read.notes)
    if not lossy:
        refuse(problems)
    if isinstance(content, bytes):
        write_whole(target, content)
    else:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UsageError(f"{target}: is there already; name a new or an empty folder")
        target.mkdir(parents=True, exist_ok=True)
        for name, part in sorted(content.items()):
            write_whole(target / name, part)
    lost = [Finding("not_written", "", problem) for problem in problems]
    return len(read.documents), [*read.findings, *lost]


def convert_rankings(
    source: str,
    target: Path,
    form: str,
    role: Role,
    *,
    input_format: str | None = None,
    columns: Columns | None = None,
) -> int:
    """Write judgements or a run in another format; how many queries there are."""
    problems: list[str] = []
    rows = read_rankings(source, role, problems, input_format, columns)
    refuse(problems)
    rankings = by_query(rows)
    write_whole(target, written_rankings(rankings, role, form))
    return len(rankings)
