"""Traces of other tools, written as traces of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragauge.contracts.imports import ImportManifest
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.envelopes.spans import Manifest
from ragauge.ingest.envelopes.table import BY_NAME, Envelope, recognised, traces_in
from ragauge.ingest.fields import did_you_mean
from ragauge.store.files import whole, write_whole

AUTO = "auto"


def import_traces(files: Sequence[str], out: str | Path, *, envelope: str = AUTO) -> ImportManifest:
    """Write the traces in files of another tool to `out`, one a line, and say how they were read.

    The manifest is also written, next to the traces. Raises InputRejected where a file is in no
    envelope that is known, or where the files are in several.
    """
    chosen = _envelope(files, envelope)
    read = Manifest(envelope=chosen.name)
    with whole(Path(out)) as part, part.open("wb") as file:
        for record in traces_in(files, chosen, read):
            file.write(msgspec.json.encode(record) + b"\n")
        if not read.rows:
            raise InputRejected(f"{', '.join(files)}: holds no trace, but is {chosen.title}")
    manifest = manifest_of(files, read)
    written = msgspec.json.format(msgspec.json.encode(manifest, order="sorted"))
    write_whole(Path(f"{out}.manifest.json"), written + b"\n")
    return manifest


def _envelope(files: Sequence[str], name: str) -> Envelope:
    if name != AUTO:
        if name not in BY_NAME:
            raise UsageError(f"--as {name}: {did_you_mean(name, (AUTO, *BY_NAME))}")
        return BY_NAME[name]
    found = {file: recognised(file) for file in files}
    unknown = [file for file, one in found.items() if one is None]
    if unknown:
        known = ", ".join(one.title for one in BY_NAME.values())
        raise InputRejected(
            *(f"{file}: is none of the files that can be imported" for file in unknown),
            f"known are: {known}; `ragauge inspect FILE` shows what a file holds",
        )
    kinds = {one.name: one for one in found.values() if one is not None}
    if len(kinds) > 1:
        each = ", ".join(f"{file} ({one.title})" for file, one in found.items() if one)
        raise InputRejected(f"the files are of several tools: {each}; import them one by one")
    return next(iter(kinds.values()))


def manifest_of(files: Sequence[str], read: Manifest) -> ImportManifest:
    """What is known of the import, in the words of its report."""
    return ImportManifest(
        envelope=read.envelope,
        files=tuple(files),
        spans=read.spans,
        traces=read.traces,
        rows=read.rows,
        taken={
            name: "; ".join(_places(counts.most_common())) for name, counts in read.taken.items()
        },
        without={name: times for name, times in sorted(read.without.items()) if times},
        several_retrievers=read.several_retrievers,
        several_roots=read.several_roots,
        roots_missing=read.roots_missing,
        repeated_spans=read.repeated_spans,
        looks_truncated=read.looks_truncated,
    )


def _places(counts: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Each place with how often it was used, where there are several."""
    for place, times in counts:
        yield f"{place} ({times:,})" if len(counts) > 1 else place
