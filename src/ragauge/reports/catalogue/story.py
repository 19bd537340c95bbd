"""What is told of the catalogue, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.diagnosis import Language, Threshold
from ragauge.contracts.gold import stratum_text
from ragauge.diagnosis.catalogue import CAUSE, Entry, Rule, Step, Weight, evidence, speaks_of
from ragauge.diagnosis.limits import SEVEN, plain_name, usual_limits
from ragauge.diagnosis.words import Words, words
from ragauge.reports.catalogue.contents import Listed, contents
from ragauge.reports.catalogue.labels import Labels, Section, labels_of

COUNT = "{n}"


class ToldSign(Struct, frozen=True, kw_only=True):
    """A sign, and what it weighs for a cause."""

    sign: str
    text: str
    bits: float
    bits_if_not: float
    needed: bool


class ToldSymptom(Struct, frozen=True, kw_only=True):
    """What goes wrong in a sample, and the causes that can bring it about."""

    symptom: str
    text: str
    tolerated: float
    """The share of samples that show it in a sound system, too."""
    causes: tuple[str, ...]


class ToldEntry(Struct, frozen=True, kw_only=True):
    """An entry with what speaks for it."""

    id: str
    family: str
    title: str
    means: str
    metrics: tuple[str, ...]
    symptoms: dict[str, str]
    """Of a cause: those it can bring about, in words."""
    signs: tuple[ToldSign, ...]
    seen_in: str
    """Of an entry that is no cause: what is counted for it, in words."""
    when: dict[str, tuple[Any, ...]]
    scores: tuple[str, ...]
    confirm: str
    actions: tuple[Step, ...]


class Told(Struct, frozen=True, kw_only=True):
    """The whole catalogue, or what concerns some metrics."""

    language: Language
    metrics: tuple[str, ...] | None
    """Those that were asked for; None where all is told."""
    without_entry: tuple[str, ...]
    """Of these, the ones that no entry is about."""
    judged: dict[str, Threshold]
    usual: dict[str, Threshold]
    contents: tuple[Listed, ...]
    symptoms: tuple[ToldSymptom, ...]
    entries: tuple[ToldEntry, ...]
    """By family, causes first."""
    own_rules: str
    """A whole file of rules, as an example."""


def told(
    entries: Sequence[Entry],
    rules: Mapping[str, Rule],
    language: Language,
    metrics: Sequence[str] | None,
) -> Told:
    """What there is to tell of entries worded in a language."""
    say, sentences = labels_of(language), words(language)
    asked = None if metrics is None else tuple(dict.fromkeys(metrics))
    kept = _concerned(entries, asked)
    shown = [rules[entry.id] for entry in kept if entry.id in rules]
    return Told(
        language=language,
        metrics=asked,
        without_entry=tuple(
            name for name in asked or () if not any(speaks_of(one, name) for one in kept)
        ),
        judged=_limits(SEVEN, asked),
        usual=_limits(_usual(), asked),
        contents=contents(kept, asked),
        symptoms=_symptoms(shown, sentences),
        entries=tuple(_entry(one, rules.get(one.id), sentences, say) for one in kept),
        own_rules=say.own.example,
    )


def families(found: Told) -> dict[str, list[ToldEntry]]:
    """The entries by family, in their order."""
    kept: dict[str, list[ToldEntry]] = {}
    for entry in found.entries:
        kept.setdefault(entry.family, []).append(entry)
    return kept


def short_id(id: str) -> str:
    """What an entry is called in a list: a cause without its family.

    >>> short_id("cause.padded"), short_id("quality.missing")
    ('padded', 'quality.missing')
    """
    return id.removeprefix(f"{CAUSE}.")


def bits(number: float) -> str:
    """
    >>> bits(3), bits(-0.5), bits(0.0)
    ('+3', '−0.5', '0')
    """
    return f"{number:+g}".replace("-", "−") if number else "0"


def by_family(metrics: Sequence[str]) -> dict[str, list[str]]:
    """The names of metrics under the family they belong to.

    >>> by_family(["answers.chrf", "quality.errors", "answers.rubric"])
    {'answers': ['chrf', 'rubric'], 'quality': ['errors']}
    """
    kept: dict[str, list[str]] = {}
    for metric in metrics:
        family, dot, name = metric.partition(".")
        kept.setdefault(family if dot else "", []).append(name if dot else metric)
    return kept


def beyond(limits: Threshold, bound: float) -> str:
    """From where on a mean is low.

    >>> beyond(SEVEN["noise_sensitivity"], 0.3)
    '> 0.3'
    """
    return f"{'<' if limits.better == 'higher' else '>'} {bound:g}"


def conditions(entry: ToldEntry, say: Labels, written: Callable[[str], str]) -> str:
    """When an entry applies, names and values as `written`: `label is OK; answered is true`."""
    facts = [
        f"{written(fact)}{say.is_one_of}{say.alternatives.join(written(_value(v)) for v in values)}"
        for fact, values in entry.when.items()
    ]
    if entry.scores:
        scores = say.listed([written(text) for text in entry.scores])
        facts.append(f"{say.scores}{scores}")
    return say.common.told(facts)


def section_of(family: str, say: Labels) -> Section:
    """How a family is headed; one that is not ours by its own name."""
    known = say.families.get(family)
    return known or Section(say.other_family.format(family=family), "")


def _value(value: Any) -> str:
    return stratum_text(value) or ""


def _concerned(entries: Sequence[Entry], asked: Sequence[str] | None) -> list[Entry]:
    """Those that are about what was asked, causes first, families together."""
    order = dict.fromkeys([CAUSE, *(entry.family for entry in entries)])
    kept = [
        entry for entry in entries if asked is None or any(speaks_of(entry, name) for name in asked)
    ]
    return [entry for family in order for entry in kept if entry.family == family]


def _usual() -> dict[str, Threshold]:
    """The limits of our own metrics, without those that are held against the seven's."""
    found = {id: one for id, one in usual_limits().items() if plain_name(id) not in SEVEN}
    return dict(sorted(found.items()))


def _limits(limits: Mapping[str, Threshold], asked: Sequence[str] | None) -> dict[str, Threshold]:
    if asked is None:
        return dict(limits)
    wanted = {name for one in asked for name in (one, plain_name(one))}
    bare = {name for name in asked if "." not in name}
    return {id: one for id, one in limits.items() if id in wanted or plain_name(id) in bare}


def _symptoms(rules: Sequence[Rule], sentences: Words) -> tuple[ToldSymptom, ...]:
    names = dict.fromkeys(name for rule in rules for name in rule.symptoms)
    return tuple(
        ToldSymptom(
            symptom=name,
            text=sentences.symptoms[name],
            tolerated=evidence().tolerated[name],
            causes=tuple(rule.id for rule in rules if name in rule.symptoms),
        )
        for name in names
    )


def _entry(entry: Entry, rule: Rule | None, sentences: Words, say: Labels) -> ToldEntry:
    symptoms = rule.symptoms if rule else ()
    return ToldEntry(
        id=entry.id,
        family=entry.family,
        title=entry.title,
        means=entry.means,
        metrics=entry.metrics,
        symptoms={name: sentences.symptoms[name] for name in symptoms},
        signs=tuple(_sign(one, sentences, say) for one in (rule.signs if rule else ())),
        seen_in=entry.evidence.replace(COUNT, "").rstrip(" :：") if entry.evidence else "",
        when=entry.when,
        scores=entry.scores,
        confirm=entry.confirm,
        actions=entry.actions,
    )


def _sign(weight: Weight, sentences: Words, say: Labels) -> ToldSign:
    return ToldSign(
        sign=weight.sign,
        text=say.without_count(sentences.signs[weight.sign].seen),
        bits=weight.bits,
        bits_if_not=weight.bits_if_not,
        needed=weight.needed,
    )
