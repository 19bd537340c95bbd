"""Which causes account for the cases that went wrong, by the evidence for and against each.

A case that shows a symptom is shared among the causes that can bring it about, in proportion to
2 to the power of the bits that their signs weigh in this very case. What a cause gets over all
cases is how many it explains. A case that two faults have spoilt shows two symptoms, and counts
once for each.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ragauge.contracts.diagnosis import Standing
from ragauge.diagnosis.cases import Case
from ragauge.diagnosis.evidence import Rule, Weight, evidence, rules
from ragauge.stats.intervals import wilson

UNTOLD = -3.0
"""Bits of a needed sign that cannot be told: what can be tested comes before what cannot."""
SHOWN = 5
LEAST = 0.5
"""Of a case: a sample shows a cause where so much of it falls to the cause."""
ORDER: tuple[Standing, ...] = ("likely", "possible", "untested", "struck_out")


class Count(Struct, frozen=True):
    """Cases that show something, of those in which it can be told."""

    n: int
    of: int


class SignTold(Struct, frozen=True, kw_only=True):
    """A sign of a cause among the cases that show its symptoms, and among those that went right."""

    weight: Weight
    here: Count
    elsewhere: Count

    @property
    def bits(self) -> float:
        """What it weighs for the cause, in the mean of these cases."""
        seen = self.here.n / self.here.of
        return seen * self.weight.bits + (1 - seen) * self.weight.bits_if_not


class Struck(Struct, frozen=True):
    """Why a cause is excluded or cannot be told: by a sign, or as no symptom of it shows."""

    sign: str | None
    of: int


class Ranked(Struct, frozen=True, kw_only=True):
    """A cause with all that was found about it."""

    rule: Rule
    standing: Standing
    explains: float
    surprise: float
    """How many standard deviations that lies beyond what a sound system shows."""
    of: int
    """Cases that went wrong."""
    symptoms: dict[str, Count]
    """Its symptoms that show: in how many cases, of those in which they were looked for."""
    signs: tuple[SignTold, ...]
    struck: Struck | None
    samples: tuple[str, ...]
    """Those that show it most, first; ties by id."""


def rank(cases: Sequence[Case]) -> tuple[Ranked, ...]:
    """The causes, the likeliest first; those that the cases exclude at the end."""
    known = list(rules().values())
    cases = sorted(cases, key=lambda case: (case.id, case.sample))  # for sums alike to the last bit
    shares = _Shares(cases, known)
    found = [_ranked(rule, cases, shares) for rule in known]
    places = {rule.id: place for place, rule in enumerate(known)}
    return tuple(
        sorted(
            found,
            key=lambda one: (
                ORDER.index(one.standing),
                -one.surprise,
                -one.explains,
                places[one.rule.id],
            ),
        )
    )


class _Shares:
    """How each case that went wrong is shared among causes."""

    def __init__(self, cases: Sequence[Case], known: Sequence[Rule]) -> None:
        self.of = sum(case.went_wrong for case in cases)
        self.by_symptom: dict[str, Counter[str]] = defaultdict(Counter)
        """By cause: what each of its symptoms brings it."""
        self.by_case: dict[str, dict[str, float]] = defaultdict(dict)
        """By cause: what it has of each case, by the case's id."""
        by_symptom: dict[str, list[Rule]] = defaultdict(list)
        for rule in known:
            for symptom in rule.symptoms:
                by_symptom[symptom].append(rule)
        for case in cases:
            for symptom in sorted(case.symptoms):
                self._share(case, symptom, by_symptom[symptom])

    def _share(self, case: Case, symptom: str, able: Sequence[Rule]) -> None:
        odds = {rule.id: 2.0 ** _bits(rule, case.signs) for rule in able}
        total = sum(odds.values())
        for id, one in odds.items():
            share = one / total
            self.by_symptom[id][symptom] += share
            kept = self.by_case[id]
            kept[case.id] = max(kept.get(case.id, 0.0), share)


def _bits(rule: Rule, signs: Mapping[str, bool]) -> float:
    """What the signs of one case weigh for a cause."""
    return sum(_weighed(weight, signs.get(weight.sign)) for weight in rule.signs)


def _weighed(weight: Weight, seen: bool | None) -> float:
    if seen is None:
        return UNTOLD if weight.needed else 0.0
    return weight.bits if seen else weight.bits_if_not


def _ranked(rule: Rule, cases: Sequence[Case], shares: _Shares) -> Ranked:
    showing = [case for case in cases if not case.symptoms.isdisjoint(rule.symptoms)]
    right = [case for case in cases if not case.went_wrong]
    signs = _signs(rule, showing, right)
    by_case, by_symptom = shares.by_case.get(rule.id, {}), shares.by_symptom[rule.id]
    standing, struck = _standing(rule, showing, cases, by_symptom)
    excluded = standing == "struck_out"
    return Ranked(
        rule=rule,
        standing=standing,
        explains=0.0 if excluded else sum(by_case.values()),
        surprise=_surprise(by_symptom, cases),
        of=shares.of,
        symptoms=_symptoms(rule, cases),
        signs=signs,
        struck=struck,
        samples=_samples(showing, by_case),
    )


def _symptoms(rule: Rule, cases: Sequence[Case]) -> dict[str, Count]:
    found = {}
    for symptom in rule.symptoms:
        shown = sum(symptom in case.symptoms for case in cases)
        if shown:
            found[symptom] = Count(shown, sum(symptom in case.looked_for for case in cases))
    return found


def _signs(rule: Rule, showing: Sequence[Case], right: Sequence[Case]) -> tuple[SignTold, ...]:
    told = [
        SignTold(weight=one, here=_count(one.sign, showing), elsewhere=_count(one.sign, right))
        for one in rule.signs
    ]
    return tuple(one for one in told if one.here.of)


def _count(sign: str, cases: Iterable[Case]) -> Count:
    told = [case.signs[sign] for case in cases if sign in case.signs]
    return Count(sum(told), len(told))


def _standing(
    rule: Rule, showing: Sequence[Case], cases: Sequence[Case], by_symptom: Mapping[str, float]
) -> tuple[Standing, Struck | None]:
    if not showing:
        looked = sum(not case.looked_for.isdisjoint(rule.symptoms) for case in cases)
        return ("struck_out", Struck(None, looked)) if looked else ("untested", Struck(None, 0))
    for weight in rule.signs:
        if weight.needed and not (told := _count(weight.sign, showing)).n:
            standing: Standing = "struck_out" if told.of else "untested"
            return standing, Struck(weight.sign, told.of)
    likely = any(
        _is_more_than_tolerated(symptom, share, cases) for symptom, share in by_symptom.items()
    )
    return ("likely" if likely else "possible"), None


def _surprise(by_symptom: Mapping[str, float], cases: Sequence[Case]) -> float:
    """How far what falls to a cause lies beyond what a sound system shows, by its worst symptom."""
    return max(
        (_deviations(symptom, share, cases) for symptom, share in by_symptom.items()),
        default=-math.inf,
    )


def _deviations(symptom: str, share: float, cases: Sequence[Case]) -> float:
    tolerated, (seen, samples) = evidence().tolerated[symptom], _rate(symptom, share, cases)
    return (seen - tolerated) / math.sqrt(tolerated * (1 - tolerated) / samples)


def _rate(symptom: str, share: float, cases: Sequence[Case]) -> tuple[float, int]:
    """What falls to a cause of the cases where a symptom was looked for, and their questions.

    Runs of one question are no independent trials: chance is reckoned over the questions.
    """
    looked = [case.sample for case in cases if symptom in case.looked_for]
    return min(1.0, share / len(looked)), len(set(looked))


def _is_more_than_tolerated(symptom: str, share: float, cases: Sequence[Case]) -> bool:
    """Whether more cases fall to a cause than a sound system shows, beyond chance."""
    low, _ = wilson(*_rate(symptom, share, cases))
    return low > evidence().tolerated[symptom]


def _samples(showing: Sequence[Case], by_case: Mapping[str, float]) -> tuple[str, ...]:
    told = [case for case in showing if by_case.get(case.id, 0.0) >= LEAST]
    ordered = sorted(told, key=lambda case: (-by_case[case.id], case.sample, case.id))
    return tuple(dict.fromkeys(case.sample for case in ordered))[:SHOWN]
