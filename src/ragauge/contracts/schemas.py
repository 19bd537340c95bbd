"""JSON Schemas (draft 2020-12) of the published records, generated from their types."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

from ragauge.contracts.citation import AuditableAnswer, Citation
from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import RunRecord
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.run import SweepPlan
from ragauge.contracts.trace import Trace

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RECORDS: dict[str, type] = {
    **{kind.record: kind.type for kind in KINDS.values()},
    "auditable-answer": AuditableAnswer,
    "citation": Citation,
    "gold": Gold,
    "manifest": Manifest,
    "run": RunRecord,
    "score-row": ScoreRow,
    "sweep-plan": SweepPlan,
    "trace": Trace,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a record, its parts under `$defs`, with examples that validate."""
    made: dict[str, Any] = msgspec.json.schema(RECORDS[name])
    title = made.pop("$ref").rsplit("/", 1)[-1]
    record = made["$defs"].pop(title)
    return {"$schema": DIALECT, **record, "$defs": made["$defs"], "examples": examples(name)}


def examples(name: str) -> list[Any]:
    """Records of this name as they look in JSON."""
    file = files("ragauge.contracts") / "examples" / f"{name}.json"
    found: list[Any] = msgspec.json.decode(file.read_bytes())
    return found
