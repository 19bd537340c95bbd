"""The catalogue of causes and actions, kept as data: a folder per language, a file per family.

The English files define when an entry applies and which metrics and knobs it is about; the files
of other languages only translate its texts. A user's own file has the form of the English ones.

An entry applies to the questions that match all of `when`: label, triage or a fact of the question;
for the family `stability` its verdict, the gates it fails and the factor that goes with it; for
`traceability` what its audited runs came to; for components what went wrong in a document, an item,
a mention or a query. All of `scores` have to hold, too. Causes have no `when`: what speaks for
them stands in `evidence.toml`. `{n}` in the evidence is the number of questions that match.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct, field, structs

from ragauge.contracts.diagnosis import Action, Language, Threshold
from ragauge.diagnosis.limits import SEVEN, plain_name, usual_limits
from ragauge.diagnosis.texts import texts
from ragauge.metrics.table import table

CAUSE = "cause"
"""The family of causes that are ranked by their evidence."""


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An action of an entry."""

    do: str
    knob: str | None = None
    costs: str = ""
    worsens: str = ""


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hypothesis: when it applies, what it means, how to confirm it, what to change."""

    id: str
    metrics: tuple[str, ...]
    when: dict[str, tuple[Any, ...]] = {}
    scores: tuple[str, ...] = ()
    title: str
    means: str = ""
    evidence: str = ""
    confirm: str
    actions: tuple[Step, ...]

    @property
    def family(self) -> str:
        """The family of metrics that it is about: quality, stability, traceability."""
        return self.id.partition(".")[0]

    @property
    def action(self) -> str:
        """All actions as one text."""
        return " ".join(step.do for step in self.actions)


class _TranslatedStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    do: str
    costs: str
    worsens: str


class _Translation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The texts of an entry in another language, with its actions in the same order."""

    id: str
    title: str
    means: str
    evidence: str = ""
    confirm: str
    actions: tuple[_TranslatedStep, ...]


@cache
def catalogue(language: Language = "en") -> tuple[Entry, ...]:
    """The entries in one language, in the order of the files."""
    english = tuple(msgspec.convert(one, Entry) for one in _entries("en"))
    if language == "en":
        return english
    fill = {one["id"]: msgspec.convert(one, _Translation) for one in _entries(language)}
    found = []
    for entry in english:
        other = fill[entry.id]
        actions = tuple(
            structs.replace(step, **structs.asdict(words))
            for step, words in zip(entry.actions, other.actions, strict=True)
        )
        found.append(structs.replace(entry, **structs.asdict(other) | {"actions": actions}))
    return tuple(found)


def _entries(language: Language) -> Iterator[dict[str, Any]]:
    folder = files("ragauge.diagnosis") / "entries" / language
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            yield from tomllib.loads(file.read_text("utf-8"))["entry"]


def is_about(entry: Entry, metric: str) -> bool:
    """Whether an entry is about a metric, under its own name or under another tool's.

    A bare name matches any family; a name with a family matches only that family, because
    `coverage` means something else in another.
    """
    if metric in entry.metrics:
        return True
    family, dot, _ = metric.rpartition(".")
    alike = [one for one in entry.metrics if plain_name(one) == plain_name(metric)]
    if metric in table():
        return any(one.startswith(f"{family}.") for one in alike)
    return bool(alike) and (not dot or entry.family == CAUSE)


KnobMap = Mapping[str, str | None]
"""The pipeline's name of each knob; None if it does not have it."""


def actions_of(entry: Entry, knobs: KnobMap) -> tuple[Action, ...]:
    """The actions of an entry, without those on knobs that the pipeline lacks."""
    return tuple(
        Action(
            do=step.do,
            knob=knobs.get(step.knob, step.knob) if step.knob else None,
            costs=step.costs,
            worsens=step.worsens,
        )
        for step in entry.actions
        if step.knob is None or knobs.get(step.knob, step.knob) is not None
    )


class Weight(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weight of a sign for a cause, if it is shown and if it is not."""

    sign: str
    bits: float
    bits_if_not: float = 0.0
    needed: bool = False
    """Without it the cause cannot be."""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cause: the symptoms it can produce, and the signs that distinguish it from others."""

    id: str
    symptoms: tuple[str, ...]
    signs: tuple[Weight, ...]


class Evidence(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole table."""

    cause: tuple[Rule, ...]
    tolerated: dict[str, float]
    """By symptom: the fraction of samples that show it even in a sound system."""


@cache
def evidence() -> Evidence:
    text = (files("ragauge.diagnosis") / "evidence.toml").read_text("utf-8")
    read: dict[str, Any] = tomllib.loads(text)
    return msgspec.convert(read, Evidence)


@cache
def rules() -> dict[str, Rule]:
    """The causes by id, in the order of the table."""
    return {rule.id: rule for rule in evidence().cause}


@cache
def symptoms() -> tuple[str, ...]:
    """Every symptom that some cause can produce."""
    return tuple(sorted({name for rule in evidence().cause for name in rule.symptoms}))


class Alike(Struct, frozen=True):
    """Metrics that share their entries, and the ids of these."""

    metrics: list[str]
    entries: tuple[str, ...]


class Symptom(Struct, frozen=True):
    """What a sample shows, and the causes that can produce it."""

    symptom: str
    text: str
    tolerated: float
    causes: list[str]


class Sign(Weight, frozen=True):
    """The weight of a sign, and its sentence without a count."""

    text: str


class Described(Entry, frozen=True, kw_only=True):
    """An entry with the evidence for it, in words."""

    family: str
    evidence: str = field(name="seen_in")
    """What is counted."""
    symptoms: dict[str, str]
    signs: list[Sign]


class Catalogue(Struct, frozen=True, kw_only=True):
    """The complete catalogue, or what concerns some metrics."""

    language: Language
    metrics: tuple[str, ...] | None
    """Those that were requested; None for everything."""
    without_entry: tuple[str, ...]
    """Of these, the ones that no entry is about."""
    judged: dict[str, Threshold]
    usual: dict[str, Threshold]
    contents: list[Alike]
    symptoms: list[Symptom]
    entries: list[Described]
    """By family, causes first."""
    own_rules: str
    """A file with rules of one's own, as an example."""


def describe(
    language: Language, metrics: Sequence[str] | None = None, *, own_rules: str = ""
) -> Catalogue:
    """The complete catalogue, or what concerns some metrics, with the evidence in words."""
    wanted = None if metrics is None else tuple(dict.fromkeys(metrics))

    def concerned(id: str) -> bool:
        """Whether a threshold is that of a metric that was requested, under any of its names."""
        return wanted is None or any(
            id in (one, plain_name(one)) or plain_name(id) == one for one in wanted
        )

    entries = [
        one
        for one in sorted(catalogue(language), key=lambda entry: entry.family != CAUSE)
        if wanted is None or any(is_about(one, id) for id in wanted)
    ]
    # The seven metrics that every tool has come first, then ours by name.
    ours = sorted({id for one in entries for id in one.metrics if plain_name(id) not in SEVEN})
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    without = []
    for name in wanted or (*SEVEN, *ours):
        if about := tuple(entry.id for entry in entries if is_about(entry, name)):
            alike.setdefault((name.partition(".")[0], about), []).append(name)
        else:
            without.append(name)
    usual = sorted(usual_limits().items())
    texts_of_language = texts(language)
    described = []
    for entry in entries:
        rule = rules().get(entry.id) or Rule(id=entry.id, symptoms=(), signs=())
        signs = []
        for weight in rule.signs:
            seen = texts_of_language.signs[weight.sign].seen.removeprefix(
                texts_of_language.count_frame
            )
            seen = seen.removeprefix(texts_of_language.count_ends)
            signs.append(Sign(**structs.asdict(weight), text=seen))
        known = structs.asdict(entry)
        known |= {"evidence": entry.evidence.replace("{n}", "").rstrip(" :："), "signs": signs}
        symptoms = {name: texts_of_language.symptoms[name] for name in rule.symptoms}
        described.append(Described(**known, family=entry.family, symptoms=symptoms))
    causes: dict[str, list[str]] = {}
    for one in described:
        for name in one.symptoms:
            causes.setdefault(name, []).append(one.id)
    return Catalogue(
        language=language,
        metrics=wanted,
        without_entry=tuple(without),
        judged={id: one for id, one in SEVEN.items() if concerned(id)},
        usual={id: one for id, one in usual if plain_name(id) not in SEVEN and concerned(id)},
        contents=[Alike(those, about) for (_, about), those in alike.items()],
        symptoms=[
            Symptom(name, texts_of_language.symptoms[name], evidence().tolerated[name], ids)
            for name, ids in causes.items()
        ],
        entries=described,
        own_rules=own_rules,
    )
