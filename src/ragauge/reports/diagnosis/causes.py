"""Causes as a reader meets them: ranked, with what speaks for and against each, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from ragauge.contracts.diagnosis import Action, Cause, DiagnosisReport, Evidence
from ragauge.diagnosis.words import words
from ragauge.reports import numbers
from ragauge.reports.diagnosis.labels import Labels, labels_of

STOPS = ".。"
"""What ends a sentence that goes on here."""
MARKS = {"for": "+", "against": "−"}
WHOLE_FROM = 10
"""From here on, tenths of an answer tell nobody anything."""
_NUMBERS = re.compile(r"\d[\d,]*")
Member = TypeVar("Member")


class ToldEvidence(Struct, frozen=True, kw_only=True):
    """A sign with its mark and its counts."""

    mark: str
    speaks: str
    text: str
    counts: str
    """`14 of 18; +2.2 bits`: counts that the text has not, and what it weighs."""
    sign: str


class ToldAction(Struct, frozen=True, kw_only=True):
    """Something to change, with its price."""

    do: str
    knob: str | None
    costs: str
    worsens: str


class ToldCause(Struct, frozen=True, kw_only=True):
    """A cause with its place on the page."""

    number: int
    one: Cause
    standing: str
    share: float
    """Of the samples that went wrong, what it accounts for: 0 to 1."""
    explains: str
    """Empty for a cause that could not be looked for."""
    gist: str
    evidence: tuple[ToldEvidence, ...]
    actions: tuple[ToldAction, ...]


def causes(report: DiagnosisReport) -> list[ToldCause]:
    """The causes that are not struck out, numbered in the report's order."""
    say = labels_of(report.language)
    standings = words(report.language).standing
    kept = [one for one in report.causes if one.standing != "struck_out"]
    return [_cause(number, one, standings[one.standing], say) for number, one in enumerate(kept, 1)]


def claimed(report: DiagnosisReport) -> list[ToldCause]:
    """The causes that the samples speak for, or at least allow."""
    return [cause for cause in causes(report) if cause.one.standing != "untested"]


def untested(report: DiagnosisReport) -> list[ToldCause]:
    return [cause for cause in causes(report) if cause.one.standing == "untested"]


def struck_out(report: DiagnosisReport) -> list[Cause]:
    return [one for one in report.causes if one.standing == "struck_out"]


def untested_by_why(told: Sequence[ToldCause]) -> list[tuple[str, list[ToldCause]]]:
    """What the samples lack, with the causes that it leaves open; in the order of the causes."""
    return _alike(told, lambda cause: cause.gist)


def struck_by_why(struck: Sequence[Cause]) -> list[tuple[str, list[Cause]]]:
    """Why causes are struck out, with those causes: the most of them last, else as they come."""
    return sorted(_alike(struck, lambda one: one.why or ""), key=lambda group: len(group[1]))


def _alike(found: Iterable[Member], why: Callable[[Member], str]) -> list[tuple[str, list[Member]]]:
    groups: dict[str, list[Member]] = {}
    for one in found:
        groups.setdefault(why(one), []).append(one)
    return list(groups.items())


def amount(number: float) -> str:
    """
    >>> amount(5752.4), amount(12.375), amount(3.25), amount(3.0)
    ('5,752', '12', '3.2', '3')
    """
    if number >= WHOLE_FROM:
        return numbers.count(round(number))
    return f"{number:.1f}".removesuffix(".0")


def _cause(number: int, one: Cause, standing: str, say: Labels) -> ToldCause:
    return ToldCause(
        number=number,
        one=one,
        standing=standing,
        share=min(1.0, one.explains / one.of) if one.of else 0.0,
        explains=_explains(one, say),
        gist=_gist(one),
        evidence=tuple(_evidence(found, say) for found in _ordered(one)),
        actions=tuple(_action(action, say) for action in one.actions),
    )


def _explains(one: Cause, say: Labels) -> str:
    of = say.counted(one.of, say.answers)
    if one.explains and round(one.explains, 1) < 1:
        return say.explains_little.format(of=of)
    if one.explains:
        return say.explains.format(n=amount(one.explains), of=of)
    return "" if one.standing == "untested" else say.explains_nothing.format(of=of)


def _gist(one: Cause) -> str:
    """Why it cannot be told, or what speaks for it most; what it means where nothing does."""
    told = [found for found in one.evidence if found.speaks == "for"]
    best = max(told, key=lambda found: found.bits).text if told else one.means
    return one.why or best


def _ordered(one: Cause) -> list[Evidence]:
    """What speaks for it before what speaks against it, else in the report's order."""
    return sorted(one.evidence, key=lambda found: found.speaks == "against")


def _evidence(one: Evidence, say: Labels) -> ToldEvidence:
    return ToldEvidence(
        mark=MARKS[one.speaks],
        speaks=one.speaks,
        text=one.text,
        counts=say.told([*_counts(one, say), *_bits(one, say)]),
        sign=one.sign,
    )


def _counts(one: Evidence, say: Labels) -> list[str]:
    """The counts of a sign, as far as its sentence does not name them."""
    said = set(_NUMBERS.findall(one.text))
    told = []
    if not {numbers.count(one.n), numbers.count(one.of)} <= said:
        told.append(say.n_of(one.n, one.of))
    if one.elsewhere is None or one.elsewhere_of is None:
        return told
    if not {numbers.count(one.elsewhere), numbers.count(one.elsewhere_of)} <= said:
        told.append(say.elsewhere.format(told=say.n_of(one.elsewhere, one.elsewhere_of)))
    return told


def _bits(one: Evidence, say: Labels) -> list[str]:
    return [say.bits.format(n=f"{one.bits:+.1f}")] if one.bits else []


def _action(one: Action, say: Labels) -> ToldAction:
    return ToldAction(
        do=one.do,
        knob=one.knob,
        costs=say.costs.format(told=one.costs.rstrip(STOPS)) if one.costs else "",
        worsens=say.worsens.format(told=one.worsens.rstrip(STOPS)) if one.worsens else "",
    )
