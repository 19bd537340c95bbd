"""Which causes account for the cases that went wrong, by the evidence for and against each.

A case that shows a symptom is shared among the causes that can bring it about, in proportion to
2 to the power of the bits that their signs weigh in this very case. What a cause gets over all
cases is how many it explains. A case that two faults have spoilt shows two symptoms, and counts
once for each.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from ragauge.contracts.diagnosis import Standing
from ragauge.diagnosis.cases import Case
from ragauge.diagnosis.evidence import Rule, Weight, evidence, rules
from ragauge.stats.intervals import wilson

UNTOLD = -3.0
"""Bits of a needed sign that cannot be told: what can be tested comes before what cannot."""
MENDED = "mended_by_"
"""How the signs of a replay begin; the name of the change follows."""
ENOUGH = 10
"""Cases that must be looked at before their silence excludes a cause; of fewer, half."""
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
    ranking = _Ranking(cases, known)
    places = {rule.id: place for place, rule in enumerate(known)}
    return tuple(
        sorted(
            map(ranking.ranked, known),
            key=lambda one: (
                ORDER.index(one.standing),
                -one.surprise,
                -one.explains,
                places[one.rule.id],
            ),
        )
    )


class _Kind(NamedTuple):
    """Cases that nothing tells apart: thousands of them come to a few hundred kinds."""

    symptoms: frozenset[str]
    looked_for: frozenset[str]
    signs: Mapping[str, bool]
    cases: list[Case]


def _kinds(cases: Sequence[Case]) -> list[_Kind]:
    """The cases by kind, in an order that depends on nothing but them: sums are alike in it."""
    found: dict[Hashable, _Kind] = {}
    for case in sorted(cases, key=lambda case: (case.id, case.sample)):
        key = case.symptoms, case.looked_for, frozenset(case.signs.items())
        if key not in found:
            found[key] = _Kind(case.symptoms, case.looked_for, case.signs, [])
        found[key].cases.append(case)
    return list(found.values())


class _Looked(NamedTuple):
    """Where a symptom was looked for: cases, and the samples they are of."""

    cases: int
    samples: int


class _Ranking:
    """All the cases, and how those that went wrong are shared among causes."""

    def __init__(self, cases: Sequence[Case], known: Sequence[Rule]) -> None:
        self._kinds = _kinds(cases)
        self._wrong = sum(len(kind.cases) for kind in self._kinds if kind.symptoms)
        self._right = [kind for kind in self._kinds if not kind.symptoms]
        self._looked = {name: _looked(name, self._kinds) for name in evidence().tolerated}
        self._by_symptom: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        """By cause: what each of its symptoms brings it."""
        self._by_kind: dict[str, dict[int, float]] = defaultdict(dict)
        """By cause: its share of each case of a kind, by the kind's place."""
        for place, kind in enumerate(self._kinds):
            for symptom in sorted(kind.symptoms):
                able = [rule for rule in known if symptom in rule.symptoms]
                self._share(place, symptom, able)

    def _share(self, place: int, symptom: str, able: Sequence[Rule]) -> None:
        kind = self._kinds[place]
        odds = {rule.id: 2.0 ** _bits(rule, kind.signs) for rule in able}
        total = sum(odds.values())
        for id, one in odds.items():
            share = one / total
            self._by_symptom[id][symptom] += len(kind.cases) * share
            kept = self._by_kind[id]
            kept[place] = max(kept.get(place, 0.0), share)

    def ranked(self, rule: Rule) -> Ranked:
        showing = [kind for kind in self._kinds if not kind.symptoms.isdisjoint(rule.symptoms)]
        standing, struck = self._standing(rule, showing)
        shares = self._by_kind[rule.id]
        explains = sum(len(self._kinds[place].cases) * share for place, share in shares.items())
        return Ranked(
            rule=rule,
            standing=standing,
            explains=0.0 if standing == "struck_out" else explains,
            surprise=self._surprise(rule),
            of=self._wrong,
            symptoms=self._symptoms(rule),
            signs=_signs(rule, showing, self._right),
            struck=struck,
            samples=self._samples(shares),
        )

    def _symptoms(self, rule: Rule) -> dict[str, Count]:
        shown = {
            name: sum(len(kind.cases) for kind in self._kinds if name in kind.symptoms)
            for name in rule.symptoms
        }
        return {name: Count(n, self._looked[name].cases) for name, n in shown.items() if n}

    def _standing(self, rule: Rule, showing: Sequence[_Kind]) -> tuple[Standing, Struck | None]:
        if not showing:
            looked = [kind for kind in self._kinds if not kind.looked_for.isdisjoint(rule.symptoms)]
            return _excluded(None, _size(looked), _size(self._kinds))
        for weight in rule.signs:
            told = _count(weight.sign, showing)
            if weight.needed and not told.n and not (told.of == 0 and _is_proved(rule, showing)):
                return _excluded(weight.sign, told.of, _size(showing))
        likely = any(
            self._is_more_than_tolerated(symptom, share)
            for symptom, share in self._by_symptom[rule.id].items()
        )
        return ("likely" if likely else "possible"), None

    def _surprise(self, rule: Rule) -> float:
        """How far what falls to a cause lies beyond what a sound system shows, at its worst."""
        shares = self._by_symptom[rule.id].items()
        return max((self._deviations(*one) for one in shares), default=-math.inf)

    def _deviations(self, symptom: str, share: float) -> float:
        tolerated, (seen, samples) = evidence().tolerated[symptom], self._rate(symptom, share)
        return (seen - tolerated) / math.sqrt(tolerated * (1 - tolerated) / samples)

    def _is_more_than_tolerated(self, symptom: str, share: float) -> bool:
        """Whether more cases fall to a cause than a sound system shows, beyond chance."""
        low, _ = wilson(*self._rate(symptom, share))
        return low > evidence().tolerated[symptom]

    def _rate(self, symptom: str, share: float) -> tuple[float, int]:
        """What falls to a cause of the cases where a symptom was looked for, and their samples.

        Runs of one question are no independent trials: chance is reckoned over the questions.
        """
        looked = self._looked[symptom]
        return min(1.0, share / looked.cases), looked.samples

    def _samples(self, shares: Mapping[int, float]) -> tuple[str, ...]:
        told = [
            (-share, case.sample)
            for place, share in shares.items()
            if share >= LEAST
            for case in self._kinds[place].cases
        ]
        return tuple(dict.fromkeys(sample for _, sample in sorted(told)))[:SHOWN]


def _looked(symptom: str, kinds: Sequence[_Kind]) -> _Looked:
    cases = [case.sample for kind in kinds if symptom in kind.looked_for for case in kind.cases]
    return _Looked(len(cases), len(set(cases)))


def _size(kinds: Sequence[_Kind]) -> int:
    return sum(len(kind.cases) for kind in kinds)


def _excluded(sign: str | None, told: int, of: int) -> tuple[Standing, Struck]:
    """Struck out where enough could be looked at; a sample or two of many exclude nothing."""
    if told and 2 * told >= min(of, 2 * ENOUGH):
        return "struck_out", Struck(sign, told)
    return "untested", Struck(sign, 0)


def _is_proved(rule: Rule, showing: Sequence[_Kind]) -> bool:
    """Whether a replay mended what the cause would have spoilt, which no log is needed for."""
    return any(_proves(weight) and _count(weight.sign, showing).n for weight in rule.signs)


def _proves(weight: Weight) -> bool:
    return weight.sign.startswith(MENDED) and weight.bits > 0


def _bits(rule: Rule, signs: Mapping[str, bool]) -> float:
    """What the signs of one case weigh for a cause."""
    proved = any(_proves(weight) and signs.get(weight.sign) for weight in rule.signs)
    untold = 0.0 if proved else UNTOLD
    return sum(_weighed(weight, signs.get(weight.sign), untold) for weight in rule.signs)


def _weighed(weight: Weight, seen: bool | None, untold: float) -> float:
    if seen is None:
        return untold if weight.needed else 0.0
    return weight.bits if seen else weight.bits_if_not


def _signs(rule: Rule, showing: Sequence[_Kind], right: Sequence[_Kind]) -> tuple[SignTold, ...]:
    told = [
        SignTold(weight=one, here=_count(one.sign, showing), elsewhere=_count(one.sign, right))
        for one in rule.signs
    ]
    return tuple(one for one in told if one.here.of)


def _count(sign: str, kinds: Sequence[_Kind]) -> Count:
    told = [kind for kind in kinds if sign in kind.signs]
    seen = sum(len(kind.cases) for kind in told if kind.signs[sign])
    return Count(seen, sum(len(kind.cases) for kind in told))
