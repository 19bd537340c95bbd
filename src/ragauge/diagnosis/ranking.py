"""Which causes explain the cases that went wrong, by the evidence for and against each.

A case that shows a symptom is divided among the causes that can produce it, in proportion to 2 to
the power of the bits of their signs in that case. The sum over all cases is how many a cause
explains. A case with two faults shows two symptoms and counts once for each.
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

UNKNOWN_BITS = -3.0
"""Bits of a needed sign that is unknown: causes that can be tested come first."""
REPAIRED_BY = "mended_by_"
"""The prefix of signs from a replay; the name of the change follows."""
ENOUGH = 10
"""Cases that must be checked before the absence of a sign rules out a cause; of fewer, half."""
SHOWN = 5
LEAST = 0.5
"""The fraction of a case that a cause must explain for its sample to be shown with it."""
ORDER: tuple[Standing, ...] = ("likely", "possible", "untested", "struck_out")


class Count(Struct, frozen=True):
    """Cases that show something, of those in which it is known."""

    n: int
    of: int


class SignEvidence(Struct, frozen=True, kw_only=True):
    """A sign among the cases with a cause's symptoms, and among the cases that went right."""

    weight: Weight
    here: Count
    elsewhere: Count

    @property
    def bits(self) -> float:
        """Its mean weight for the cause, over these cases."""
        seen = self.here.n / self.here.of
        return seen * self.weight.bits + (1 - seen) * self.weight.bits_if_not


class Exclusion(Struct, frozen=True):
    """Why a cause is ruled out or cannot be tested: a sign, or None for the lack of symptoms."""

    sign: str | None
    of: int


class RankedCause(Struct, frozen=True, kw_only=True):
    """A cause with everything that was found about it."""

    rule: Rule
    standing: Standing
    explains: float
    surprise: float
    """How many standard deviations that is above what a sound system shows."""
    of: int
    """Cases that went wrong."""
    symptoms: dict[str, Count]
    """The symptoms that are shown: in how many cases, of those in which they were checked."""
    signs: tuple[SignEvidence, ...]
    struck: Exclusion | None
    samples: tuple[str, ...]
    """The clearest first; ties by id."""


def rank(cases: Sequence[Case]) -> tuple[RankedCause, ...]:
    """The causes, the likeliest first; those that are ruled out come last."""
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
    """Cases that are alike: thousands of cases have a few hundred kinds."""

    symptoms: frozenset[str]
    looked_for: frozenset[str]
    signs: Mapping[str, bool]
    cases: list[Case]


def _kinds(cases: Sequence[Case]) -> list[_Kind]:
    """The cases by kind, in an order that does not depend on the input's, for identical sums."""
    found: dict[Hashable, _Kind] = {}
    for case in sorted(cases, key=lambda case: (case.id, case.sample)):
        key = case.symptoms, case.looked_for, frozenset(case.signs.items())
        if key not in found:
            found[key] = _Kind(case.symptoms, case.looked_for, case.signs, [])
        found[key].cases.append(case)
    return list(found.values())


class _Examined(NamedTuple):
    """In how many cases a symptom was checked, and in how many samples."""

    cases: int
    samples: int


class _Ranking:
    """All cases, and how those that went wrong are divided among causes."""

    def __init__(self, cases: Sequence[Case], known: Sequence[Rule]) -> None:
        self._kinds = _kinds(cases)
        self._wrong = sum(len(kind.cases) for kind in self._kinds if kind.symptoms)
        self._right = [kind for kind in self._kinds if not kind.symptoms]
        self._looked = {}
        for name in evidence().tolerated:
            looked = [kind for kind in self._kinds if name in kind.looked_for]
            samples = {case.sample for kind in looked for case in kind.cases}
            self._looked[name] = _Examined(_size(looked), len(samples))
        self._by_symptom: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        """By cause: the cases it explains, by symptom."""
        self._by_kind: dict[str, dict[int, float]] = defaultdict(dict)
        """By cause: its fraction of each case of a kind, by the kind's place."""
        for place, kind in enumerate(self._kinds):
            for symptom in sorted(kind.symptoms):
                able = [rule for rule in known if symptom in rule.symptoms]
                odds = {rule.id: 2.0 ** _bits(rule, kind.signs) for rule in able}
                total = sum(odds.values())
                for id, one in odds.items():
                    share, kept = one / total, self._by_kind[id]
                    self._by_symptom[id][symptom] += len(kind.cases) * share
                    kept[place] = max(kept.get(place, 0.0), share)

    def ranked(self, rule: Rule) -> RankedCause:
        showing = [kind for kind in self._kinds if not kind.symptoms.isdisjoint(rule.symptoms)]
        shares = self._by_kind[rule.id]
        explains = sum(len(self._kinds[place].cases) * share for place, share in shares.items())
        # How far the cause's cases exceed what a sound system shows, for its clearest symptom, and
        # whether that is beyond chance. Runs of one question are not independent trials, so chance
        # is computed over questions.
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
            SignEvidence(
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
        return RankedCause(
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

    def _excluded(self, rule: Rule, showing: Sequence[_Kind]) -> tuple[Standing, Exclusion | None]:
        """Why no case can have the cause, or why that is unknown; None if a case can."""
        if not showing:
            looked = [kind for kind in self._kinds if not kind.looked_for.isdisjoint(rule.symptoms)]
            return _exclusion(None, _size(looked), _size(self._kinds))
        # A replay that repaired what the cause would have broken proves it without any log.
        proved = any(_proves(one) and _count(one.sign, showing).n for one in rule.signs)
        for weight in rule.signs:
            count = _count(weight.sign, showing)
            if weight.needed and not count.n and not (count.of == 0 and proved):
                return _exclusion(weight.sign, count.of, _size(showing))
        return "possible", None


def _size(kinds: Sequence[_Kind]) -> int:
    return sum(len(kind.cases) for kind in kinds)


def _exclusion(sign: str | None, known: int, of: int) -> tuple[Standing, Exclusion]:
    """`struck_out` if enough cases could be checked, else `untested`: a few rule out nothing."""
    if known and 2 * known >= min(of, 2 * ENOUGH):
        return "struck_out", Exclusion(sign, known)
    return "untested", Exclusion(sign, 0)


def _proves(weight: Weight) -> bool:
    return weight.sign.startswith(REPAIRED_BY) and weight.bits > 0


def _bits(rule: Rule, signs: Mapping[str, bool]) -> float:
    """The weight of one case's signs for a cause."""
    proved = any(_proves(weight) and signs.get(weight.sign) for weight in rule.signs)
    unknown_bits = 0.0 if proved else UNKNOWN_BITS
    return sum(
        (weight.bits if signs[weight.sign] else weight.bits_if_not)
        if weight.sign in signs
        else (unknown_bits if weight.needed else 0.0)
        for weight in rule.signs
    )


def _count(sign: str, kinds: Sequence[_Kind]) -> Count:
    known = [kind for kind in kinds if sign in kind.signs]
    showing = sum(len(kind.cases) for kind in known if kind.signs[sign])
    return Count(showing, sum(len(kind.cases) for kind in known))
