"""Calibrations read back: of deltas, and of answers (thresholds fitted to people's labels)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.calibration import (
    AUC,
    AUC_NEEDED,
    CALIBRATION_SCHEMA,
    THRESHOLD,
    Calibration,
    CalibrationReport,
    calibration_of,
)
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import read_whole

ANSWER_CALIBRATION_SCHEMA = "ragauge.answer-calibration/1"


class AnswerCalibration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `ragauge calibrate groundedness|judge` learnt, for later evaluations of answers."""

    schema: str = ANSWER_CALIBRATION_SCHEMA
    coefficients: str | None = None
    """Those of groundedness, fitted anew: the text of a file of coefficients."""
    thresholds: dict[AnswerKind, float] = {}
    """In place of those in the coefficients."""
    agreement: tuple[HumanAgreement, ...] = ()


class Calibrations(Protocol):
    """Where calibrations are kept, by key."""

    def get_all(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those that are kept."""

    def replace(self, key: str, reply: bytes) -> None:
        """Keep it in place of what was kept before."""


def read_answer_calibrations(names: Sequence[str]) -> AnswerCalibration | None:
    """What files of calibrations say together, None without any; of two that differ the last.

    One that ends in .toml is coefficients alone. Raises InputRejected with all that is wrong.
    """
    problems: list[str] = []
    found = [one for name in names if (one := _calibration(name, problems)) is not None]
    if problems:
        raise InputRejected(*problems)
    if not found:
        return None
    fitted = [one.coefficients for one in found if one.coefficients is not None]
    agreed = {(one.metric, one.judge): one for each in found for one in each.agreement}
    return AnswerCalibration(
        coefficients=fitted[-1] if fitted else None,
        thresholds={kind: value for one in found for kind, value in one.thresholds.items()},
        agreement=tuple(agreed[key] for key in sorted(agreed)),
    )


def _calibration(name: str, problems: list[str]) -> AnswerCalibration | None:
    content = read_whole(name)
    try:
        if name.endswith(".toml"):
            return AnswerCalibration(coefficients=content.decode())
        found = msgspec.json.decode(content, type=AnswerCalibration)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problems.append(f"{name}: is no calibration of answers: {error}")
        return None
    if found.schema != ANSWER_CALIBRATION_SCHEMA:
        fact = f'schema "{found.schema}" is not {ANSWER_CALIBRATION_SCHEMA}'
        problems.append(f"{name}: {fact}; make it with `ragauge calibrate groundedness --out`")
    for kind, value in sorted(found.thresholds.items()):
        if not 0 <= value <= 1:
            problems.append(f"{name}: thresholds.{kind}: is not from 0 to 1")
    return found


MADE_BY = "make one with `ragauge calibrate deltas GOLD --docs DIR --out FILE`"


class _Versioned(msgspec.Struct):
    schema: str


def read_calibration(name: str, embedder: str | None = None) -> Calibration:
    """The calibration in a file, usable or not; of this embedder, where its id is given.

    Raises InputRejected where it is none, UsageError where it is another embedder's.
    """
    content = read_whole(name)
    try:
        schema = msgspec.json.decode(content, type=_Versioned).schema
        if schema != CALIBRATION_SCHEMA:
            raise InputRejected(
                f"{name}: has schema {quoted(schema)}, expected {quoted(CALIBRATION_SCHEMA)}; "
                f"{MADE_BY}"
            )
        report = msgspec.json.decode(content, type=CalibrationReport)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputRejected(f"{name}: is no calibration ({error}); {MADE_BY}") from None
    fault = _contradiction(report)
    if fault:
        raise InputRejected(f"{name}: {fault}; it was altered: calibrate again")
    calibration = calibration_of(report)
    if embedder is not None and calibration.embedder != embedder:
        raise UsageError(
            f"{name}: was calibrated with {quoted(calibration.embedder)}, and ΔS is measured with "
            f"{quoted(embedder)} here; a threshold holds for its own embedder alone: "
            "calibrate this one too"
        )
    return calibration


def _contradiction(report: CalibrationReport) -> str | None:
    """What a calibration that Ragauge wrote never says; None where nothing is wrong."""
    missing = [id for id in (AUC, THRESHOLD) if id not in report.metrics]
    if missing:
        return f"has no {missing[0]}"
    if "gold_sha256" not in report.identity:
        return "does not say which gold set it was made with"
    auc, threshold = report.metrics[AUC].value, report.metrics[THRESHOLD].value
    if report.passed and (auc is None or threshold is None or auc < AUC_NEEDED):
        return "passes without an AUC or a threshold to pass with"
    return None
