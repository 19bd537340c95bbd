"""Calibrations of answers: thresholds fitted to people's labels, and how far metrics agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.evaluation import HumanAgreement
from ragauge.errors import InputRejected
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
