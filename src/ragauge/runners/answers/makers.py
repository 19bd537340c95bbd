"""Who makes the number of a metric, with all that could change it: prompts, or coefficients."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.contracts.metric import Metric
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.models.judging.plan import PARTS, Part
from ragauge.models.judging.prompt import prompt
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.options import JUDGED, LEXICAL, AnswerOptions
from ragauge.runners.answers.supporting import model_of

UNNAMED = "an unnamed judge"
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
    asked = rubric_id(options.rubric) if "rubric" in metric.needs else _prompts(PARTS[metric.name])
    return f"{judge} {asked}", judge


def _prompts(parts: Iterable[Part]) -> str:
    names = {name for part in parts for name in ASKED_WITH[part]}
    return " ".join(sorted(prompt(name).id for name in names))
