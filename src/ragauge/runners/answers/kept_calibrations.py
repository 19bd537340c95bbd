"""Calibrations kept in the run store, so that later reports show them unasked.

Kept is how far a metric agrees with people, by the metric and who makes its number. Coefficients
are not: refitted ones change numbers, and are used only where they are named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import structs

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.metric import Metric
from ragauge.ingest.calibration import AnswerCalibration, Calibrations
from ragauge.runners.answers.makers import UNNAMED, makers_of
from ragauge.runners.answers.making import agreement_with_people
from ragauge.runners.answers.options import AnswerOptions

KIND = "calibration/1"
FROM_STORE = "kept in the store"


def keep_agreement(report: AnswerCalibrationReport, calibrations: Calibrations) -> int:
    """Keep what was found of a judge for later reports; how many metrics that tells of.

    A judge without a name could not be found again.
    """
    told = [one for one in report.agreement if one.judge != UNNAMED]
    for one in told:
        calibrations.replace(_key(one.metric, one.judge), msgspec.json.encode(one))
    return len(told)


def shown_agreement(
    calibration: AnswerCalibration | None,
    calibrations: Calibrations | None,
    metrics: Mapping[str, Metric],
    judge: str | None,
    options: AnswerOptions,
) -> tuple[HumanAgreement, ...]:
    """How far these metrics agreed with people: by the calibration that is named, else as kept."""
    named = agreement_with_people(judge, metrics, calibration, options)
    if calibrations is None:
        return named
    others = {id: metrics[id] for id in metrics.keys() - {one.metric for one in named}}
    return (*named, *_kept(calibrations, others, judge, options, calibration))


def _kept(
    calibrations: Calibrations,
    metrics: Mapping[str, Metric],
    judge: str | None,
    options: AnswerOptions,
    calibration: AnswerCalibration | None,
) -> Iterator[HumanAgreement]:
    keys = {
        id: [_key(id, maker) for maker in makers_of(metric, judge, options, calibration)]
        for id, metric in sorted(metrics.items())
    }
    there = calibrations.get_all([key for some in keys.values() for key in some])
    for some in keys.values():
        found = (_read(there[key]) for key in some if key in there)
        one = next((one for one in found if one is not None), None)
        if one is not None:
            yield structs.replace(one, labels=f"{one.labels}, {FROM_STORE}")


def _read(content: bytes) -> HumanAgreement | None:
    """What was kept; None where a version that tells otherwise kept it."""
    try:
        return msgspec.json.decode(content, type=HumanAgreement)
    except msgspec.DecodeError:
        return None


def _key(metric: str, judge: str) -> str:
    return hashlib.sha256(msgspec.json.encode((KIND, metric, judge))).hexdigest()
