"""Calibrations read back, as `ragauge calibrate deltas --out` writes them."""

from __future__ import annotations

import msgspec

from ragauge.contracts.calibration import (
    AUC,
    AUC_NEEDED,
    CALIBRATION_SCHEMA,
    THRESHOLD,
    Calibration,
    CalibrationReport,
    calibration_of,
)
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import read_whole

MADE_BY = "make one with `ragauge calibrate deltas GOLD --docs DIR --out FILE`"


class _Versioned(msgspec.Struct):
    schema: str


def read_calibration(name: str, embedder: str | None = None) -> Calibration:
    """The calibration in a file, usable or not; of this embedder, where its id is given.

    Raises InputRejected where it is none, UsageError where it is another embedder's.
    """
    calibration = calibration_of(_report(name))
    if embedder is not None and calibration.embedder != embedder:
        raise UsageError(
            f"{name}: was calibrated with {quoted(calibration.embedder)}, and ΔS is measured with "
            f"{quoted(embedder)} here; a threshold holds for its own embedder alone: "
            "calibrate this one too"
        )
    return calibration


def _report(name: str) -> CalibrationReport:
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
    return report


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
