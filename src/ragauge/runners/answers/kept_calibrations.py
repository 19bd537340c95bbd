"""Calibrations kept in a file, or in the run store, so that later reports show them unasked.

Kept in the store is how far a metric agrees with people, by the metric and who makes its number.
Coefficients are not: refitted ones change numbers, and are used only where they are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import structs

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.contracts.metric import Metric
from ragauge.contracts.options import AnswerOptions
from ragauge.errors import UsageError
from ragauge.ingest.calibration import AnswerCalibration, Calibrations
from ragauge.models.judging.plan import PARTS, Part
from ragauge.models.judging.prompt import prompt
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.options import JUDGED, LEXICAL
from ragauge.runners.answers.supporting import model_of
from ragauge.runners.evaluation import sha256_of
from ragauge.store.files import write_whole

ENDING = ".json"
UNNAMED = "an unnamed judge"
KIND = "calibration/1"
FROM_STORE = "kept in the store"
ASKED_WITH: dict[Part, tuple[str, ...]] = {
    "answer_in_chunks": ("claims", "chunk"),
    "reference_in_chunks": ("claims", "chunk"),
    "useful": ("chunk",),
    "answer_in_reference": ("claims", "agreement"),
    "reference_in_answer": ("claims", "agreement"),
    "questions": ("questions",),
}
"""The prompts that ask for a part of what metrics need."""


def makers_of(
    metric: Metric,
    judge: str | None,
    options: AnswerOptions,
    calibration: AnswerCalibration | None = None,
) -> tuple[str, ...]:
    """The names of who makes this metric's number: in full, and by the bare name.

    Who calibrates scores that were made elsewhere knows the bare one alone.
    """
    if not metric.needs & JUDGED:
        return f"{LEXICAL} {model_of(calibration).id}", LEXICAL
    if judge is None:
        return ()
    if "rubric" in metric.needs:
        return f"{judge} {rubric_id(options.rubric)}", judge
    names = {name for part in PARTS[metric.name] for name in ASKED_WITH[part]}
    return f"{judge} {' '.join(sorted(prompt(name).id for name in names))}", judge


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

    def makers(id: str) -> tuple[str, ...]:
        return makers_of(metrics[id], judge, options, calibration)

    # What was found of another judge says nothing of this one, nor what was found of this one with
    # other prompts or coefficients, where that is known.
    named = () if calibration is None else calibration.agreement
    shown = [one for one in named if one.metric in metrics and one.judge in makers(one.metric)]
    if calibrations is None:
        return tuple(shown)
    others = sorted(metrics.keys() - {one.metric for one in shown})
    keys = {id: [_key(id, maker) for maker in makers(id)] for id in others}
    there = calibrations.get_all([key for some in keys.values() for key in some])
    for some in keys.values():
        for key in some:
            try:
                one = msgspec.json.decode(there[key], type=HumanAgreement)
            except (KeyError, msgspec.DecodeError):  # kept by a version that writes it otherwise
                continue
            shown.append(structs.replace(one, labels=f"{one.labels}, {FROM_STORE}"))
            break
    return tuple(shown)


def _key(metric: str, judge: str) -> str:
    return sha256_of((KIND, metric, judge))


def check_calibration_file(name: str) -> None:
    """Raise UsageError, before anything is measured, for a file that could not be read again."""
    if Path(name).suffix.lower() != ENDING:
        raise UsageError(f"--out {name}: a calibration is JSON; name a file that ends in {ENDING}")


def keep_calibration(report: AnswerCalibrationReport, name: str) -> None:
    """Write what `ragauge eval answers --calibration` needs, completely or not at all."""
    calibration = AnswerCalibration(
        coefficients=report.coefficients,
        thresholds={one.kind: one.threshold for one in report.kinds if one.done != "kept"},
        agreement=report.agreement,
    )
    content = msgspec.json.encode(calibration, order="sorted")
    write_whole(Path(name), msgspec.json.format(content) + b"\n")
