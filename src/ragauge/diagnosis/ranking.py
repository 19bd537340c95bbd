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
from ragauge.diagnosis.catalogue import Rule, Weight, evidence, rules
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
        self._looked = {}
        for name in evidence().tolerated:
            looked = [kind for kind in self._kinds if name in kind.looked_for]
            samples = {case.sample for kind in looked for case in kind.cases}
            self._looked[name] = _Looked(_size(looked), len(samples))
        self._by_symptom: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        """By cause: what each of its symptoms brings it."""
        self._by_kind: dict[str, dict[int, float]] = defaultdict(dict)
        """By cause: its share of each case of a kind, by the kind's place."""
        for place, kind in enumerate(self._kinds):
            for symptom in sorted(kind.symptoms):
                able = [rule for rule in known if symptom in rule.symptoms]
                odds = {rule.id: 2.0 ** _bits(rule, kind.signs) for rule in able}
                total = sum(odds.values())
                for id, one in odds.items():
                    share, kept = one / total, self._by_kind[id]
                    self._by_symptom[id][symptom] += len(kind.cases) * share
                    kept[place] = max(kept.get(place, 0.0), share)

    def ranked(self, rule: Rule) -> Ranked:
        showing = [kind for kind in self._kinds if not kind.symptoms.isdisjoint(rule.symptoms)]
        shares = self._by_kind[rule.id]
        explains = sum(len(self._kinds[place].cases) * share for place, share in shares.items())
        # How far what falls to the cause lies beyond what a sound system shows, at its worst; and
        # whether it is more than that, beyond chance. Runs of one question are no independent
        # trials: chance is reckoned over the questions.
        likely, surprise = False, -math.inf
        for symptom, share in self._by_symptom[rule.id].items():
            looked, tolerated = self._looked[symptom], evidence().tolerated[symptom]
            rate = min(1.0, share / looked.cases)
            spread = math.sqrt(tolerated * (1 - tolerated) / looked.samples)
            surprise = max(surprise, (rate - tolerated) / spread)
            likely = likely or wilson(rate, looked.samples)[0] > tolerated
        standing, struck = self._excluded(rule, showing)
        if struck is None:
            standing = "likely" if likely else "possible"
        shown = {
            name: _size([kind for kind in self._kinds if name in kind.symptoms])
            for name in rule.symptoms
        }
        signs = [
            SignTold(
                weight=one, here=_count(one.sign, showing), elsewhere=_count(one.sign, self._right)
            )
            for one in rule.signs
        ]
        samples = sorted(
            (-share, case.sample)
            for place, share in shares.items()
            if share >= LEAST
            for case in self._kinds[place].cases
        )
        return Ranked(
            rule=rule,
            standing=standing,
            explains=0.0 if standing == "struck_out" else explains,
            surprise=surprise,
            of=self._wrong,
            symptoms={
                n: Count(times, self._looked[n].cases) for n, times in shown.items() if times
            },
            signs=tuple(one for one in signs if one.here.of),
            struck=struck,
            samples=tuple(dict.fromkeys(sample for _, sample in samples))[:SHOWN],
        )

    def _excluded(self, rule: Rule, showing: Sequence[_Kind]) -> tuple[Standing, Struck | None]:
        """Why no case can have the cause, or why that cannot be told; no reason where one can."""
        if not showing:
            looked = [kind for kind in self._kinds if not kind.looked_for.isdisjoint(rule.symptoms)]
            return _struck(None, _size(looked), _size(self._kinds))
        # A replay that mended what the cause would have spoilt proves it without any log.
        proved = any(_proves(one) and _count(one.sign, showing).n for one in rule.signs)
        for weight in rule.signs:
            told = _count(weight.sign, showing)
            if weight.needed and not told.n and not (told.of == 0 and proved):
                return _struck(weight.sign, told.of, _size(showing))
        return "possible", None


def _size(kinds: Sequence[_Kind]) -> int:
    return sum(len(kind.cases) for kind in kinds)


def _struck(sign: str | None, told: int, of: int) -> tuple[Standing, Struck]:
    """Struck out where enough could be looked at; a sample or two of many exclude nothing."""
    if told and 2 * told >= min(of, 2 * ENOUGH):
        return "struck_out", Struck(sign, told)
    return "untested", Struck(sign, 0)


def _proves(weight: Weight) -> bool:
    return weight.sign.startswith(MENDED) and weight.bits > 0


def _bits(rule: Rule, signs: Mapping[str, bool]) -> float:
    """What the signs of one case weigh for a cause."""
    proved = any(_proves(weight) and signs.get(weight.sign) for weight in rule.signs)
    untold = 0.0 if proved else UNTOLD
    return sum(
        (weight.bits if signs[weight.sign] else weight.bits_if_not)
        if weight.sign in signs
        else (untold if weight.needed else 0.0)
        for weight in rule.signs
    )


def _count(sign: str, kinds: Sequence[_Kind]) -> Count:
    told = [kind for kind in kinds if sign in kind.signs]
    seen = sum(len(kind.cases) for kind in told if kind.signs[sign])
    return Count(seen, sum(len(kind.cases) for kind in told))
