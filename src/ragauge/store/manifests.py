"""Manifests as files, written where an index is built."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from ragauge.ingest.fields import BadRecord
from ragauge.ingest.manifest import NAMES, manifest_of
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.store.files import write_whole


def write_manifest(path: Path | str, manifest: Manifest) -> Manifest:
    """The manifest as it was written: with a hash over its fields where it had none.

    The file appears whole or not at all. What could not be read back is refused, all of it at
    once, and nothing is written.
    """
    if manifest == Manifest():
        raise UsageError(f"{path}: the manifest tells nothing; say how the index was made")
    try:
        made = manifest if manifest.hash else manifest.hashed()
        content = _content(made)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise UsageError(f"{path}: cannot be written as JSON: {error}") from None
    _refuse_unreadable(path, made, content)
    write_whole(Path(path), content)
    return made


def _content(manifest: Manifest) -> bytes:
    """The fields in order of their names, those of `extra` among the others."""
    fields = msgspec.to_builtins(manifest)
    encoded = msgspec.json.encode({**fields.pop("extra", {}), **fields}, order="sorted")
    return msgspec.json.format(encoded, indent=2) + b"\n"


def _refuse_unreadable(path: Path | str, manifest: Manifest, content: bytes) -> None:
    taken = sorted(NAMES & manifest.extra.keys())
    problems = [f"{path}: extra: {name} has a field of its own; put it there" for name in taken]
    try:
        manifest_of(decode(content))
    except BadRecord as bad:
        problems += [f"{path}: {field}" for field in bad.fields]
    except BadJson as fault:
        problems.append(f"{path}: {fault}")
    if problems:
        raise UsageError(*problems)
