"""Where the claims of answers and references come from or were lost, with sums that hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from msgspec import Struct

from ragauge.contracts.claims import AnswerAddress, ReferenceAddress
from ragauge.contracts.diagnosis import AddressCounts, DiagnosisReport
from ragauge.reports import numbers
from ragauge.reports.diagnosis.labels import Labels, labels_of, named

UNJUDGED = "unjudged"


class Stack(Struct, frozen=True, kw_only=True):
    """The claims of one side by their addresses: a stacked bar, and what adds up to what."""

    title: str
    parts: tuple[tuple[str, str, int], ...]
    """How each is drawn, what it is called, and how many claims it has."""
    sums: tuple[str, ...]
    none: str
    """What is said where there is no claim at all."""


def judge_words(report: DiagnosisReport) -> str:
    """Who judged the claims, and of how many samples; or that nobody did."""
    say = labels_of(report.language)
    if report.addresses is None:
        return say.no_addresses
    of = say.counted(report.addresses.samples, say.samples)
    return say.judged_by.format(of=of, source=report.addresses.source)


def stacks(report: DiagnosisReport) -> list[Stack]:
    """The claims of answers, then those of references; nothing where none were judged."""
    say = labels_of(report.language)
    if report.addresses is None:
        return []
    return [_answers(report.addresses, say), _references(report.addresses, say)]


def _answers(counts: AddressCounts, say: Labels) -> Stack:
    return Stack(
        title=say.heads.of_answers,
        parts=_parts(counts.answer, get_args(AnswerAddress), say),
        sums=_answer_sums(counts.answer, say),
        none=say.no_answer_claims,
    )


def _references(counts: AddressCounts, say: Labels) -> Stack:
    return Stack(
        title=say.heads.of_references,
        parts=_parts(counts.reference, get_args(ReferenceAddress), say),
        sums=_reference_sums(counts.reference, say),
        none=say.no_reference_claims,
    )


def _parts(
    counts: Mapping[str, int], order: tuple[str, ...], say: Labels
) -> tuple[tuple[str, str, int], ...]:
    """The addresses that occur, in their own order; what was not judged comes last."""
    known = (*order, UNJUDGED)
    names = [*known, *sorted(set(counts) - set(known))]
    drawn = {name: name if name in known else UNJUDGED for name in names}
    return tuple(
        (drawn[name], named(say.addresses, name), counts[name])
        for name in names
        if counts.get(name)
    )


def _answer_sums(counts: Mapping[str, int], say: Labels) -> tuple[str, ...]:
    """Every judged claim is in a passage, known or invented; every wrong one misled or invented.

    In counts, for shares that are rounded do not add up before a reader's eyes.
    """
    right, own, relevant, noise, invented = (counts.get(one, 0) for one in get_args(AnswerAddress))
    judged = right + own + relevant + noise + invented
    if not judged:
        return ()
    found = right + relevant + noise
    return (
        say.faithful.format(found=found, own=own, invented=invented, judged=judged),
        say.wrong.format(
            relevant=relevant,
            noise=noise,
            invented=invented,
            judged=judged,
            right=right + own,
        ),
        say.rates.format(
            faithfulness=numbers.value(found / judged),
            own=numbers.value(own / judged),
            hallucination=numbers.value(invented / judged),
            precision=numbers.value((right + own) / judged),
        ),
    )


def _reference_sums(counts: Mapping[str, int], say: Labels) -> tuple[str, ...]:
    said, unused, missed = (counts.get(one, 0) for one in get_args(ReferenceAddress))
    judged = said + unused + missed
    if not judged:
        return ()
    return (
        say.recalled.format(said=said, unused=unused, missed=missed, judged=judged),
        say.reference_rates.format(
            recall=numbers.value(said / judged), missed=numbers.value(missed / judged)
        ),
    )
