"""How a run measured the support of an answer: with which options, and what it recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Groundedness
from ragauge.contracts.evaluation import AnswerDetail, EvalReport
from ragauge.contracts.history import Run, UnitRow
from ragauge.dashboard.pages.question_chunks import LONGEST_TEXT
from ragauge.dashboard.pages.question_errors import of_its_task

VALUE, GROUNDED = "answers.groundedness", "answers.grounded"
NEAR = 1e-6
"""Scores that differ by less are rounded differently."""

CALIBRATED = (
    "The run was made with a calibration of its own, which is not at hand here: its threshold is "
    "another, and the sentences are measured without it."
)
CUT = (
    f"Of a chunk the first {LONGEST_TEXT:,} characters are looked at, or not every chunk is: what "
    "the rest supports is not seen here."
)
OTHERWISE = (
    "Measured here the answer comes to another number, so the sentences may not be what the run "
    "saw."
)
UNMEASURED = "The run measured groundedness and has none of this answer: its values say why."


class Measured(Struct, frozen=True, kw_only=True):
    """What a run says of an answer's support; nothing of its own where it did not measure it."""

    kind: AnswerKind | None = None
    """What kind of text the answer was taken for; None where that is seen from it."""
    calibrated: bool = False
    asked: bool = False
    """Groundedness is among the run's metrics."""
    value: float | None = None
    grounded: bool | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """What the answer comes to as a whole."""

    value: float | None = None
    grounded: bool | None = None
    threshold: float | None = None
    recorded: bool = False
    """The number is the run's own."""
    note: str = ""
    """Why there is no verdict of the page's own."""


def measured_by(run: Run, row: UnitRow | None, report: Any) -> Measured:
    """The options that the run measured the unit's answer with, and the numbers it recorded."""
    values: Mapping[str, float] = row.values if row else {}
    options = _options(run, row.unit if row else "")
    grounded = values.get(GROUNDED)
    return Measured(
        kind=_kind(options.get("kind")) or (_kind_in(report, row.unit) if row else None),
        calibrated=bool(options.get("calibration")),
        asked=VALUE in run.record.metrics,
        value=values.get(VALUE),
        grounded=None if grounded is None else grounded == 1,
    )


def verdict(measured: Measured, found: Groundedness | None, *, is_cut: bool) -> Verdict:
    """The record's verdict where there is one, else what was found for the page, if it may be."""
    note = CALIBRATED if measured.calibrated else CUT if is_cut else ""
    if measured.value is not None:
        same = found is not None and _near(found.value, measured.value)
        note = note or ("" if same or found is None else OTHERWISE)
        return Verdict(
            value=measured.value,
            grounded=measured.grounded,
            threshold=found.threshold if found and not note else None,
            recorded=True,
            note=note,
        )
    note = note or (UNMEASURED if measured.asked else "")
    if note or found is None:
        return Verdict(note=note)
    return Verdict(value=found.value, grounded=found.grounded, threshold=found.threshold)


def _near(one: float | None, other: float) -> bool:
    return one is not None and math.isclose(one, other, rel_tol=0, abs_tol=NEAR)


def _options(run: Run, unit: str) -> Mapping[str, Any]:
    """The run's options; of a run of several tasks those of the unit's own."""
    identity: Any = run.record.identity
    tasks = identity.get("tasks")
    own = tasks.get(unit.partition("/")[0]) if isinstance(tasks, dict) else None
    options = (own if isinstance(own, dict) else identity).get("options")
    return options if isinstance(options, dict) else {}


def _kind(told: Any) -> AnswerKind | None:
    return next((kind for kind in ANSWER_KINDS if kind == told), None)


def _kind_in(report: Any, unit: str) -> AnswerKind | None:
    """The kind of the answer as the report has it: a row may name its own."""
    own, id = of_its_task(report, unit)
    if not isinstance(own, EvalReport) or not isinstance(own.detail, AnswerDetail):
        return None
    return next((one.kind for one in own.detail.answers if one.id == id), None)
