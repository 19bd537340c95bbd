"""A report as a run of the history keeps it, read back."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ragauge.contracts.kinds import SHOWN
from ragauge.contracts.report import Report
from ragauge.errors import InputRejected


class _Versioned(Struct):
    schema: str


def stored_report(content: bytes, shown: str) -> Report:
    """The report in these bytes, of the kind its schema names; raises InputRejected."""
    try:
        schema = msgspec.json.decode(content, type=_Versioned).schema
        if schema in SHOWN:
            report: Report = msgspec.json.decode(content, type=SHOWN[schema].type)
            return report
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputRejected(f"run {shown}: its report cannot be read: {error}") from error
    raise InputRejected(
        f'run {shown}: its report has the schema "{schema}", and this version of Ragauge reads '
        f"{', '.join(sorted(SHOWN))}; --identity shows the rest of the run"
    )
