"""Calibrations of groundedness and of judges: how far a score agrees with people's labels."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.evaluation import SPENT, HumanAgreement
from ragauge.contracts.report import RunReport

ANSWER_CALIBRATION_REPORT_SCHEMA = "ragauge.answer-calibration-report/1"

AUROC = "calibration.auroc"
BALANCED_ACCURACY = "calibration.balanced_accuracy"
KAPPA = "calibration.kappa"
ECE = "calibration.ece"
BASE_RATE = "calibration.base_rate"
LENGTH_BIAS = "calibration.length_bias"
POSITION_FLIPS = "calibration.position_flips"

CHANCE = 0.5
"""The AUROC of a score that tells nothing."""
LABELS_TO_FIT, OF_EACH_TO_FIT = 30, 10
"""The least labels of a kind of answer, and of good and of bad ones, to refit its coefficients."""
LABELS_TO_MOVE, OF_EACH_TO_MOVE = 10, 3
"""The least to move its intercept and its threshold, or to say anything of a judge."""
SOURCES_NEEDED = 5
"""The least sources: labels are split by source, to test on what was not fitted to."""

Done = Literal["refitted", "threshold", "kept"]
"""What became of a kind: all refitted, only intercept and threshold, or nothing."""
Calibrated = Literal["groundedness", "judge"]


class LabelledScores(Struct, frozen=True, kw_only=True):
    """How far one way of scoring agrees with people, never on labels that it was fitted to."""

    name: str
    """`shipped`, `refitted`, `moved` (shipped, with another intercept and threshold), `calibrated`
    (of each kind what is used from now on), or `judge`."""
    used: bool
    """From now on, where the calibration is given."""
    kind: AnswerKind | None
    """None: all kinds of answers together."""
    n: int
    sources: int
    base_rate: float | None
    """Share of answers that people called good; None without any."""
    auroc: float | None
    auroc_ci: tuple[float, float] | None
    balanced_accuracy: float | None
    balanced_accuracy_ci: tuple[float, float] | None
    kappa: float | None
    kappa_ci: tuple[float, float] | None
    ece: float | None
    threshold: float | None
    """Of all kinds together there is none: each has its own."""
    reason: str | None
    """Why a number is absent, or what is to be known of one."""


class Control(Struct, frozen=True, kw_only=True):
    """The AUROC of something that looks at no context: a score must do better than that."""

    name: str
    """`length`, `model`, or `within one model`, which is the score's own among one model's."""
    kind: AnswerKind | None
    auroc: float | None
    ci: tuple[float, float] | None
    n: int
    reason: str | None


class Bias(Struct, frozen=True, kw_only=True):
    """What else than the answer's worth moves a judge."""

    name: str
    """`length`: Spearman's ρ of judge minus people with the answer's length; `position`: the
    share of verdicts that flip when two answers change places."""
    value: float | None
    ci: tuple[float, float] | None
    n: int
    reason: str | None


class KindFit(Struct, frozen=True, kw_only=True):
    """What was done for one kind of answer, and why."""

    kind: AnswerKind
    n: int
    good: int
    """As people say."""
    sources: int
    done: Done
    reason: str
    gain: float | None
    """AUROC of the refitted coefficients less that of the shipped ones, both out of fold."""
    gain_ci: tuple[float, float] | None
    threshold_before: float
    threshold: float


class LabelCoverage(Struct, frozen=True, kw_only=True):
    """What became of the rows."""

    rows: int
    labelled: int
    scored: int
    """Labelled, and with a score: what every number is of."""
    unlabelled: int
    unscored: dict[str, int]
    """Labelled rows without a score, by why."""
    rejected: int
    sources: int
    """Of what is scored."""


class AnswerCalibrationReport(RunReport, frozen=True, kw_only=True):
    """What `ragauge calibrate groundedness|judge` says, versioned."""

    schema: str = ANSWER_CALIBRATION_REPORT_SCHEMA
    passed: bool = field(name="pass")
    """Whether the score tells good answers from bad ones better than chance."""
    task: Calibrated
    metric: str
    """What was calibrated, such as `answers.faithfulness`."""
    judge: str
    """The coefficients, or whoever judged."""
    scores: tuple[LabelledScores, ...]
    """Before and after; all kinds together first."""
    controls: tuple[Control, ...]
    biases: tuple[Bias, ...]
    kinds: tuple[KindFit, ...]
    coefficients: str | None
    """The file of coefficients, fitted to these labels; None for a judge, or where all are kept."""
    agreement: tuple[HumanAgreement, ...]
    """What later reports show next to the metric."""
    coverage: LabelCoverage

    @property
    def measured(self) -> bool:
        return bool(self.agreement) and SPENT not in self.finding_counts
