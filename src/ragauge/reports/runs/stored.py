"""A report as a run of the history keeps it, read back."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ragauge.errors import InputRejected
from ragauge.reports.forms import KINDS, Report


class _Versioned(Struct):
    schema: str


def stored_report(content: bytes, shown: str) -> Report:
    """The report in these bytes, of the kind its schema names; raises InputRejected."""
    kinds = {_schema_of(kind): kind for kind in KINDS}
    try:
        schema = msgspec.json.decode(content, type=_Versioned).schema
        if schema in kinds:
            report: Report = msgspec.json.decode(content, type=kinds[schema])
            return report
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputRejected(f"run {shown}: its report cannot be read: {error}") from error
    raise InputRejected(
        f'run {shown}: its report has the schema "{schema}", and this version of Ragauge reads '
        f"{', '.join(sorted(kinds))}; --identity shows the rest of the run"
    )


def _schema_of(kind: type) -> str:
    held = {field.name: field.default for field in msgspec.structs.fields(kind)}
    return str(held["schema"])
