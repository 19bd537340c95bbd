"""Causes and slices in the words of one language."""

from __future__ import annotations

from ragauge.contracts.diagnosis import Cause, Evidence, Severity, Slice
from ragauge.diagnosis.catalogue import Entry
from ragauge.diagnosis.knob_map import KnobMap, actions_of
from ragauge.diagnosis.ranking import Count, Ranked, SignTold
from ragauge.diagnosis.slices import only_here
from ragauge.diagnosis.words import Words, worded


class Teller:
    """Puts into words what was found."""

    def __init__(self, words: Words, knobs: KnobMap) -> None:
        self._words, self._knobs = words, knobs

    def cause(self, ranked: Ranked, entry: Entry, metrics: tuple[str, ...]) -> Cause:
        """A cause with its evidence, what it brought about first."""
        symptoms = [self._symptom(name, count) for name, count in ranked.symptoms.items()]
        signs = [self._sign(one) for one in ranked.signs if one.bits]
        return Cause(
            id=entry.id,
            title=entry.title,
            means=entry.means,
            standing=ranked.standing,
            explains=round(ranked.explains, 2),
            of=ranked.of,
            metrics=metrics,
            evidence=(*symptoms, *sorted(signs, key=lambda one: -abs(one.bits))),
            why=self._why(ranked),
            confirm=entry.confirm,
            actions=actions_of(entry, self._knobs),
            samples=ranked.samples,
        )

    def _symptom(self, name: str, count: Count) -> Evidence:
        return Evidence(
            sign=name,
            speaks="for",
            n=count.n,
            of=count.of,
            elsewhere=None,
            elsewhere_of=None,
            bits=0.0,
            text=worded(
                self._words.shown, symptom=self._words.symptoms[name], n=count.n, of=count.of
            ),
        )

    def _sign(self, told: SignTold) -> Evidence:
        here, there = told.here, told.elsewhere
        text = self._words.signs[told.weight.sign]
        seen = here.n * abs(told.weight.bits) >= (here.of - here.n) * abs(told.weight.bits_if_not)
        sentence = worded(text.seen if seen else text.not_seen, n=here.n, of=here.of)
        if there.of:
            sentence += worded(self._words.elsewhere, n=there.n, of=there.of)
        return Evidence(
            sign=told.weight.sign,
            speaks="for" if told.bits > 0 else "against",
            n=here.n,
            of=here.of,
            elsewhere=there.n if there.of else None,
            elsewhere_of=there.of or None,
            bits=round(told.bits, 2),
            text=sentence,
        )

    def _why(self, ranked: Ranked) -> str | None:
        """Why a cause is excluded, or cannot be told."""
        struck, why = ranked.struck, self._words.why
        if struck is None:
            return None
        if not struck.of:
            needed = struck.sign or ranked.rule.symptoms[0]
            return worded(why.untested, what=self._words.needs[needed])
        if struck.sign is None:
            return worded(why.no_symptom, of=struck.of)
        return worded(why.struck_out[struck.sign], of=struck.of)

    def slice(self, one: Slice, severity: Severity, *, all_beyond: bool) -> str:
        """A slice as a sentence; where all samples are beyond the threshold, none is so `only`."""
        texts = self._words.slices
        if all_beyond or 2 * one.beyond <= one.beyond_all:
            template = texts.worse
        else:
            template = texts.only if only_here(one) else texts.mostly
        return worded(
            template,
            metric=one.metric,
            severity=self._words.severity[severity],
            conditions=texts.conditions(one.conditions),
            beyond=one.beyond,
            beyond_all=one.beyond_all,
            value=one.value,
            elsewhere=one.elsewhere,
            n=one.n,
        )
