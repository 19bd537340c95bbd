"""A gold set written in another form, with nothing lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from ragauge.contracts.gold import Gold, fingerprint, metadata_of
from ragauge.contracts.gold_parts import ConvertReport, Units
from ragauge.contracts.gold_report import judged
from ragauge.contracts.report import Finding
from ragauge.errors import UsageError
from ragauge.ingest.fields import Columns
from ragauge.ingest.gold import record_of
from ragauge.ingest.gold_forms import read_any, table_of
from ragauge.store.files import write_whole


def convert(
    source: str,
    target: Path,
    *,
    answerable: bool | None = None,
    force: bool = False,
    columns: Columns | None = None,
) -> ConvertReport:
    """What became of the set in `source`, now in `target` in the form of its ending.

    `answerable` is for questions that do not say it themselves.
    """
    form = form_of(target)
    questions, read, found = read_any(source, answerable, columns)
    if questions.metadata and form in TABLES:
        fact = "a table has no place for the metadata of the set, which is left behind"
        found.add(Finding("not_carried", source, fact))
    write_new({target: encoded(questions, form)}, force)
    answered = sum(question.answerable for question in questions)
    return ConvertReport(
        **judged(found, (), {"gold": len(questions), "answerable": answered}, [questions]),
        read=read,
        file=str(target),
        gold=fingerprint(questions),
        extra=dict(sorted(Counter(key for one in questions for key in one.extra).items())),
    )


def form_of(path: Path) -> str:
    """The form a gold file's ending asks for."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        endings = ", ".join(f".{known}" for known in FORMS)
        raise UsageError(f'{path}: no gold set has the ending "{path.suffix}"; known: {endings}')
    return form


def encoded(questions: Sequence[Gold], form: str = "jsonl", units: Units = "questions") -> bytes:
    """The questions in a form, keys Ragauge does not know at the place they came from.

    Heritage entries are written as they were read. The metadata of the set comes first; a table
    has no place for it.
    """
    if units == "entries" and form in TABLES:
        raise UsageError(f"heritage entries cannot be a table: write .jsonl or .json, not .{form}")
    metadata = metadata_of(questions)
    records = [one.extra if units == "entries" else record_of(one) for one in questions]
    if metadata is not None and form not in TABLES:
        records.insert(0, msgspec.to_builtins(metadata))
    match form:
        case "jsonl":
            return b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        case "json":
            return msgspec.json.format(msgspec.json.encode(records), indent=2) + b"\n"
    return table_of(records, "\t" if form == "tsv" else ",").encode()


def write_new(files: Mapping[Path, bytes], force: bool) -> None:
    """Write each file whole; refuse all where one would replace another's content unasked."""
    changed = {}
    for path, content in files.items():
        with suppress(OSError):
            if path.read_bytes() == content:
                continue
        changed[path] = content
    taken = [path for path in changed if path.exists()]
    if taken and not force:
        raise UsageError(
            *(
                f"{path}: exists and holds something else; name another, or --force"
                for path in taken
            )
        )
    for path, content in changed.items():
        write_whole(path, content)


TABLES = ("csv", "tsv")
FORMS = ("jsonl", "json", *TABLES)
