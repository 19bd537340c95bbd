"""What later evaluations read of a calibration: the file of `ragauge calibrate … --out`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.contracts.answers import ANSWER_KINDS
from ragauge.errors import UsageError
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.store.files import write_whole
from ragauge.text.grounding.features import ANSWER_FEATURES, SENTENCE_FEATURES
from ragauge.text.grounding.model import Model, Weights, bands_text

ENDING = ".json"
_HEAD = """\
# Lexical groundedness, fitted to labels: log-odds = intercept + the sum of coefficient x feature.
# A feature that is not named weighs nothing.
version = "{version}"
"""


def check_calibration_file(name: str) -> None:
    """Raise UsageError, before anything is measured, for a file that could not be read again."""
    if Path(name).suffix.lower() != ENDING:
        raise UsageError(f"--out {name}: a calibration is JSON; name a file that ends in {ENDING}")


def keep_calibration(report: AnswerCalibrationReport, name: str) -> None:
    """Write the calibration, whole or not at all."""
    content = msgspec.json.encode(calibration_in(report), order="sorted")
    write_whole(Path(name), msgspec.json.format(content) + b"\n")


def calibration_in(report: AnswerCalibrationReport) -> AnswerCalibration:
    """What `ragauge eval answers --calibration` needs of a report."""
    return AnswerCalibration(
        coefficients=report.coefficients,
        thresholds={one.kind: one.threshold for one in report.kinds if one.done != "kept"},
        agreement=report.agreement,
    )


def coefficients_text(model: Model) -> str:
    """A file of coefficients, as `text.grounding.model.model_from` reads it."""
    parts = [_HEAD.format(version=model.version)]
    for kind in ANSWER_KINDS:
        one = model.kinds[kind]
        parts.append(f"\n[{kind}.threshold]\nvalue = {one.threshold!r}\n")
        parts.append(bands_text(kind, one.bands))
        parts.append(_section(f"{kind}.answer", one.answer, ANSWER_FEATURES))
        parts.append(_section(f"{kind}.sentence", one.sentence, SENTENCE_FEATURES))
    return "".join(parts)


def _section(name: str, weights: Weights, features: Sequence[str]) -> str:
    told = [
        f"{feature} = {weight!r}"
        for feature, weight in zip(features, weights.coefficients, strict=True)
        if weight
    ]
    return "\n".join([f"\n[{name}]", f"intercept = {weights.intercept!r}", *told]) + "\n"
