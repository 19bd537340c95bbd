"""Runs to record, small or large, each with what a real one has."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.history import (
    GitState,
    NewRun,
    RecordedMetric,
    RunRecord,
    Seal,
    UnitRow,
    sealed_units,
)

COMPLIANCE = "quality.compliance"


def moment(number: int) -> str:
    """A time of recording, later for a larger number."""
    return f"{datetime(2026, 11, 15) + timedelta(seconds=number):%Y-%m-%dT%H:%M:%S.%fZ}"


def gold_set(size: int) -> list[Gold]:
    return [
        Gold(
            qid=f"q{n}",
            question=f"What is {n}?",
            answerable=n % 3 != 0,
            gold_claim=f"{n} is a number",
            strata={"country": "NL" if n % 2 else "BE"},
        )
        for n in range(size)
    ]


def unit_rows(size: int, seed: int = 0) -> list[UnitRow]:
    return [
        UnitRow(
            unit=f"q{n}",
            label="OK" if (n + seed) % 4 else "WRONG",
            right=(n + seed) % 4 != 0,
            detail={"claim": f"{n} is a number, says {seed}", "cited": ["p1#1"]},
            values={COMPLIANCE: ((n * 7 + seed) % 11) / 10, "quality.in_scope": 1 / (n + 1)},
            counts={COMPLIANCE: (n % 2, 1)},
        )
        for n in range(size)
    ]


def metric(value: float | None = 0.5, **changed: Any) -> RecordedMetric:
    fields: dict[str, Any] = {
        "value": value,
        "n": 3,
        "of": 4,
        "ci": None if value is None else (value / 3, value),
        "reason": None,
        "signature": "quality.compliance|v1",
        "version": 1,
        "better": "higher",
        "total": "sums",
    }
    return RecordedMetric(**fields | changed)


def new_run(
    number: int = 0,
    *,
    folder: Path | None = None,
    units: Sequence[UnitRow] | None = None,
    gold: Sequence[Gold] | None = None,
    contents: dict[str, bytes] | None = None,
    **changed: Any,
) -> NewRun:
    """A run to record; with a folder, its files are written there first."""
    rows = unit_rows(5, number) if units is None else units
    questions = gold_set(5) if gold is None else gold
    if contents is None:
        contents = {"report.json": b'{"run": %d}' % number, "records.parquet": bytes(5_000)}
    files = {}
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            files[name] = folder / f"{number}-{name}"
            files[name].write_bytes(content)
    fields: dict[str, Any] = {
        "name": "nightly",
        "command": "score",
        "recorded_at": moment(number),
        "passed": True,
        "ragauge": "0.1.0",
        "git": GitState(commit="c" * 40, branch="main", dirty=False),
        "gold_sha256": fingerprint(questions),
        "configuration": {"refusal": "exact", "number": number},
        "configuration_sha256": "d" * 64,
        "labels": {"model": "small", "index": "v3"},
        "metrics": {
            COMPLIANCE: metric(1 / 3),
            "quality.in_scope": metric(None, reason="no citations"),
        },
        "gates": (),
        "finding_counts": {},
        "coverage": {"gold": 5},
        "identity": {"command": "score"},
        "units": len(rows),
        "units_sha256": sealed_units(rows),
        "files": {
            name: Seal(sha256=hashlib.sha256(contents[name]).hexdigest(), size=len(contents[name]))
            for name in files
        },
    }
    record = RunRecord(**fields | changed)
    return NewRun(record=record, units=rows, gold=questions, files=files)
