"""`ragauge diagnose --catalogue`: the causes and actions there are, and how to write your own.

The words of the entries name code in backticks. Those around them are in `words/catalogue.*.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from ragauge.contracts.diagnosis import Language, Threshold
from ragauge.contracts.gold import stratum_text
from ragauge.diagnosis.catalogue import CAUSE, Entry, Rule, Step, evidence, speaks_of
from ragauge.diagnosis.limits import SEVEN, plain_name, usual_limits
from ragauge.diagnosis.own_rules import SYMPTOM
from ragauge.diagnosis.words import words as sentences_of
from ragauge.errors import UsageError
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Document, Facts, Section, Span, Text
from ragauge.reports.numbers import ABSENT

Form = Literal["text", "json", "markdown"]
FORMS: tuple[Form, ...] = get_args(Form)
Fact = tuple[str, Sequence[Span]]


class Heading(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    about: str
    """What is said below it, a paragraph a line."""


class OwnRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How users write their own rules."""

    section: Heading
    entry: Heading
    entry_fields: dict[str, tuple[bool, str]]
    """By field: whether it is required, and what it says."""
    threshold: Heading
    threshold_fields: dict[str, tuple[bool, str]]
    facts: Heading
    """What `when` can match."""
    symptom: str
    """What the values of `symptom` are."""
    stratum: tuple[str, str]
    """What a fact of the user's own is called, and what its values are."""
    example_title: str
    example: str


class Words(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words around the entries in one language."""

    title: str
    about: str
    count: str
    only: str
    no_entry: str
    other_family: str
    """The heading of entries that are not ours."""
    contents: Heading
    judged: Heading
    usual: Heading
    ranking: Heading
    symptoms: Heading
    families: dict[str, Heading]
    own: OwnRules

    metrics: str
    shows_as: str
    no_signs: str
    bits: str
    bits_if_not: str
    needed: str
    seen_in: str
    applies: str
    scores: str
    confirm: str
    costs: str
    worsens: str
    tolerated: str
    causes: str
    count_frame: tuple[str, ...]
    """What the sentence of a sign begins with where samples are counted, and what is left then."""

    metric: str
    better: str
    warning: str
    critical: str
    limit: str
    higher: str
    lower: str

    comma: str
    semicolon: str
    colon: str
    opening: str
    closing: str
    alternatives: str
    is_one_of: str

    def without_count(self, sentence: str) -> str:
        """What a sign says of a sample, without how many show it.

        >>> words("en").without_count("{n} of {of} that went wrong: many passages were shown")
        'many passages were shown'
        """
        for part in self.count_frame:
            sentence = sentence.removeprefix(part)
        return sentence


@cache
def words(language: Language) -> Words:
    file = files("ragauge.reports") / "words" / f"catalogue.{language}.toml"
    return msgspec.convert(tomllib.loads(file.read_text("utf-8")), Words)


class Listed(Struct, frozen=True, kw_only=True):
    """Metrics that share their entries, and these."""

    metrics: tuple[str, ...]
    entries: tuple[str, ...]


class Sign(Struct, frozen=True, kw_only=True):
    """A sign, and what it weighs for a cause."""

    sign: str
    text: str
    bits: float
    bits_if_not: float
    needed: bool


class Symptom(Struct, frozen=True, kw_only=True):
    """What goes wrong in a sample, and the causes that can produce it."""

    symptom: str
    text: str
    tolerated: float
    """The fraction of samples that show it in a healthy system as well."""
    causes: tuple[str, ...]


class ShownEntry(Struct, frozen=True, kw_only=True):
    """An entry with the evidence for it."""

    id: str
    family: str
    title: str
    means: str
    metrics: tuple[str, ...]
    symptoms: dict[str, str]
    """Of a cause: those it can produce, in words."""
    signs: tuple[Sign, ...]
    seen_in: str
    """Of an entry that is not a cause: what is counted for it, in words."""
    when: dict[str, tuple[Any, ...]]
    scores: tuple[str, ...]
    confirm: str
    actions: tuple[Step, ...]


class Catalogue(Struct, frozen=True, kw_only=True):
    """The complete catalogue, or what concerns some metrics."""

    language: Language
    metrics: tuple[str, ...] | None
    """Those that were requested; None for everything."""
    without_entry: tuple[str, ...]
    """Of these, the ones that no entry is about."""
    judged: dict[str, Threshold]
    usual: dict[str, Threshold]
    contents: tuple[Listed, ...]
    symptoms: tuple[Symptom, ...]
    entries: tuple[ShownEntry, ...]
    """By family, causes first."""
    own_rules: str
    """A complete file of rules, as an example."""


def catalogue_text(
    entries: Sequence[Entry],
    rules: Mapping[str, Rule],
    *,
    language: Language = "en",
    form: str = "text",
    metrics: Sequence[str] | None = None,
    color: bool = False,
    width: int = 100,
) -> str:
    """The entries, worded in `language`, with all that goes with them; only `text` has a width.

    `rules` are the evidence of causes by id. With `metrics` only what concerns these is shown.
    """
    found = shown(entries, rules, language, metrics)
    # The example ends the page as it is: it is there to be copied, and a line that was cut would
    # not be TOML.
    example = found.own_rules if metrics is None else ""
    if form == "json":
        from ragauge.reports import json

        return json.render(found)
    if form == "markdown":
        from ragauge.reports.formats import markdown

        page = markdown.render(document(found), page=True)
        return f"{page}\n```toml\n{example}```\n" if example else page
    if form == "text":
        from ragauge.reports.formats import text

        page = text.render(document(found), color=color, width=width)
        return f"{page}\n{example}" if example else page
    raise UsageError(f'the catalogue has no form "{form}"; it has {", ".join(FORMS)}')


def shown(
    entries: Sequence[Entry],
    rules: Mapping[str, Rule],
    language: Language,
    metrics: Sequence[str] | None,
) -> Catalogue:
    """Entries worded in a language, causes first, with all that goes with them."""
    wanted = None if metrics is None else tuple(dict.fromkeys(metrics))
    order = dict.fromkeys([CAUSE, *(entry.family for entry in entries)])

    def concerns(entry: Entry) -> bool:
        return wanted is None or any(speaks_of(entry, name) for name in wanted)

    kept = sorted(filter(concerns, entries), key=lambda entry: [*order].index(entry.family))
    sentences, chosen = sentences_of(language), [rules[one.id] for one in kept if one.id in rules]
    own = {id: one for id, one in usual_limits().items() if plain_name(id) not in SEVEN}
    return Catalogue(
        language=language,
        metrics=wanted,
        without_entry=tuple(
            name for name in wanted or () if not any(speaks_of(one, name) for one in kept)
        ),
        judged=_limits(SEVEN, wanted),
        usual=_limits(dict(sorted(own.items())), wanted),
        contents=_contents(kept, wanted),
        symptoms=tuple(
            Symptom(
                symptom=name,
                text=sentences.symptoms[name],
                tolerated=evidence().tolerated[name],
                causes=tuple(rule.id for rule in chosen if name in rule.symptoms),
            )
            for name in dict.fromkeys(name for rule in chosen for name in rule.symptoms)
        ),
        entries=tuple(_entry(one, rules.get(one.id), language) for one in kept),
        own_rules=words(language).own.example,
    )


def _limits(limits: Mapping[str, Threshold], wanted: Sequence[str] | None) -> dict[str, Threshold]:
    if wanted is None:
        return dict(limits)
    known = {name for one in wanted for name in (one, plain_name(one))}
    bare = {name for name in wanted if "." not in name}
    return {id: one for id, one in limits.items() if id in known or plain_name(id) in bare}


def _contents(entries: Sequence[Entry], wanted: Sequence[str] | None) -> tuple[Listed, ...]:
    """The entries of each metric: the seven that every tool has first, then our own by name.

    Metrics of one family with the same entries are listed together.
    """
    own = sorted({id for entry in entries for id in entry.metrics if plain_name(id) not in SEVEN})
    found = []
    for metrics in ([*SEVEN], own) if wanted is None else (wanted,):
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for metric in metrics:
            about = tuple(entry.id for entry in entries if speaks_of(entry, metric))
            if about:
                alike.setdefault((metric.partition(".")[0], about), []).append(metric)
        found += [Listed(metrics=(*names,), entries=about) for (_, about), names in alike.items()]
    return tuple(found)


def _entry(entry: Entry, rule: Rule | None, language: Language) -> ShownEntry:
    sentences, say = sentences_of(language), words(language)
    return ShownEntry(
        id=entry.id,
        family=entry.family,
        title=entry.title,
        means=entry.means,
        metrics=entry.metrics,
        symptoms={name: sentences.symptoms[name] for name in (rule.symptoms if rule else ())},
        signs=tuple(
            Sign(
                sign=one.sign,
                text=say.without_count(sentences.signs[one.sign].seen),
                bits=one.bits,
                bits_if_not=one.bits_if_not,
                needed=one.needed,
            )
            for one in (rule.signs if rule else ())
        ),
        seen_in=entry.evidence.replace("{n}", "").rstrip(" :：") if entry.evidence else "",
        when=entry.when,
        scores=entry.scores,
        confirm=entry.confirm,
        actions=entry.actions,
    )


def document(found: Catalogue) -> Document:
    say = words(found.language)
    return Document(say.title, list(_blocks(found, say)), language=found.language)


def _blocks(found: Catalogue, say: Words) -> Iterator[Block]:
    causes = sum(entry.family == CAUSE for entry in found.entries)
    meaning = [say.about]
    if found.metrics is not None:
        meaning.append(say.only.format(metrics=say.comma.join(found.metrics)))
    if found.without_entry:
        meaning.append(say.no_entry.format(metrics=say.comma.join(found.without_entry)))
    count = say.count.format(n=len(found.entries), causes=causes)
    yield doc.Verdict("", f"{say.title}{say.colon}{count}", meaning=meaning)
    if found.contents:
        contents = [_fact(say, one.metrics, _links(one.entries, say)) for one in found.contents]
        yield _section(say.contents, Facts(contents))
    if found.judged:
        yield _section(say.judged, _bounds(found.judged, say, say.warning, say.critical))
    if found.usual:
        yield _section(say.usual, _bounds(found.usual, say, say.limit))
    if found.symptoms:
        yield _section(say.ranking)
        facts = []
        for one in found.symptoms:
            tolerated = f"{say.opening}{say.tolerated} {one.tolerated:g}{say.closing}"
            told = f"{one.text}{tolerated}{say.semicolon}{say.causes}{say.colon}"
            facts.append(_fact(say, [one.symptom], [Span(told), *_links(one.causes, say)]))
        yield _section(say.symptoms, Facts(facts))
    for family in dict.fromkeys(entry.family for entry in found.entries):
        unknown = Heading(say.other_family.format(family=family), "")
        entries = [_shown(entry, say) for entry in found.entries if entry.family == family]
        yield _section(say.families.get(family, unknown), *entries)
    if found.metrics is None:
        yield _own_rules(found.language, say)


def _section(heading: Heading, *blocks: Block) -> Section:
    about = [Text([Span(line, "dim")]) for line in heading.about.split("\n") if line]
    return Section(title=heading.title, blocks=[*about, *blocks])


def _joined(parts: Iterable[Sequence[Span]], sign: str) -> list[Span]:
    return [span for part in parts for span in (Span(sign), *part)][1:]


def _names(names: Iterable[str], sign: str, tone: doc.Tone = "") -> list[Span]:
    return _joined(([Span(name, tone, foreign=True)] for name in names), sign)


def _links(ids: Iterable[str], say: Words) -> list[Span]:
    """The entries by their ids, a cause without its family."""
    named = ((id.removeprefix(f"{CAUSE}."), id) for id in ids)
    return _joined(([Span(name, foreign=True, to=("here", id))] for name, id in named), say.comma)


def _fact(say: Words, names: Iterable[str], text: Iterable[Span]) -> Fact:
    """Names that stand out, and what there is to say about them."""
    return "", [*_names(names, say.comma, "strong"), Span(say.colon), *text]


def _labelled(say: Words, label: str, *text: Span) -> Fact:
    return "", [Span(f"{label}{say.colon}", "dim"), *text]


def _bounds(limits: Mapping[str, Threshold], say: Words, *titles: str) -> doc.Table:
    """From where on a mean is low: one bound, or one for a warning and one for critical."""

    def beyond(one: Threshold, bound: float | None) -> Cell:
        sign = "<" if one.better == "higher" else ">"
        return Cell(ABSENT if bound is None else f"{sign} {bound:g}", bound)

    columns: dict[str | doc.Column, Callable[[tuple[str, Threshold]], Cell]] = {
        say.metric: lambda pair: doc.names(pair[0]),
        say.better: lambda pair: Cell(say.higher if pair[1].better == "higher" else say.lower),
        titles[0]: lambda pair: beyond(pair[1], pair[1].warning),
    }
    if len(titles) > 1:
        columns[titles[1]] = lambda pair: beyond(pair[1], pair[1].critical)
    return doc.table(limits.items(), columns)


def _shown(entry: ShownEntry, say: Words) -> Section:
    facts = [_labelled(say, say.metrics, *_metrics(entry.metrics, say))]
    if entry.symptoms:
        named = [
            [Span(f"{text}{say.opening}"), Span(name, foreign=True), Span(say.closing)]
            for name, text in entry.symptoms.items()
        ]
        facts.append(_labelled(say, say.shows_as, *_joined(named, say.semicolon)))
        facts += [_sign(one, say) for one in entry.signs]
        facts += [] if entry.signs else [("", [Span(say.no_signs)])]
    if entry.seen_in:
        facts.append(_labelled(say, say.seen_in, Span(entry.seen_in)))
    if entry.when:
        facts.append(_labelled(say, say.applies, *_conditions(entry, say)))
    facts.append(_labelled(say, say.confirm, Span(entry.confirm)))
    facts += [_action(step, say) for step in entry.actions]
    means = [Text([Span(entry.means)])] if entry.means else []
    return Section(
        title=entry.title,
        anchor=entry.id,
        blocks=[Text([Span(entry.id, "plain", foreign=True)]), *means, Facts(facts)],
    )


def _metrics(metrics: Sequence[str], say: Words) -> list[Span]:
    """The names of metrics after the family that they belong to."""
    by_family: dict[str, list[str]] = {}
    for metric in metrics:
        family, dot, name = metric.partition(".")
        by_family.setdefault(family if dot else "", []).append(name if dot else metric)
    named = []
    for family, names in by_family.items():
        inner = _names(names, say.comma)
        framed = [Span(family, foreign=True), Span(say.opening), *inner, Span(say.closing)]
        named.append(framed if family else inner)
    return _joined(named, say.semicolon)


def _sign(one: Sign, say: Words) -> Fact:
    weighs = [say.bits_if_not.format(bits=bits(one.bits_if_not))] if one.bits_if_not else []
    weighs += [say.needed] if one.needed else []
    label = f"{say.bits.format(bits=bits(one.bits))}{say.colon}"
    return "", [
        Span(label, "good" if one.bits > 0 else "bad"),
        Span(f"{one.text}{say.opening}{say.semicolon.join([*weighs, ''])}"),
        Span(one.sign, foreign=True),
        Span(say.closing),
    ]


def bits(number: float) -> str:
    """
    >>> bits(3), bits(-0.5), bits(0.0)
    ('+3', '−0.5', '0')
    """
    return f"{number:+g}".replace("-", "−") if number else "0"


def _conditions(entry: ShownEntry, say: Words) -> list[Span]:
    """When an entry applies: `label is OK; answered is true`."""
    facts = []
    for fact, values in entry.when.items():
        texts = _names([stratum_text(value) or "" for value in values], say.alternatives)
        facts.append([Span(fact, foreign=True), Span(say.is_one_of), *texts])
    if entry.scores:
        facts.append([Span(say.scores), *_names(entry.scores, say.comma)])
    return _joined(facts, say.semicolon)


def _action(step: Step, say: Words) -> Fact:
    knob = [Span(step.knob, "strong", foreign=True), Span(say.colon)] if step.knob else []
    prices = [
        Span(price.format(what=what), "dim")
        for price, what in ((say.costs, step.costs), (say.worsens, step.worsens))
        if what
    ]
    return "", [Span("→ ", "plain"), *knob, Span(step.do), *prices]


def _own_rules(language: Language, say: Words) -> Section:
    own, required = say.own, f"{say.opening}{say.needed}{say.closing}"

    def table(heading: Heading, fields: Mapping[str, tuple[bool, str]]) -> Section:
        facts: list[Fact] = []
        for name, (needed, meaning) in fields.items():
            text = f"{required if needed else ''}{say.colon}{meaning}"
            facts.append(("", [Span(name, "strong", foreign=True), Span(text)]))
        return _section(heading, Facts(facts))

    features = sentences_of(language).slices.features
    facts = [
        _fact(say, [SYMPTOM], [Span(own.symptom)]),
        *(_fact(say, [name], _names(one.values, say.comma)) for name, one in features.items()),
        ("", [Span(f"{own.stratum[0]}{say.colon}{own.stratum[1]}")]),
    ]
    return _section(
        own.section,
        table(own.entry, own.entry_fields),
        table(own.threshold, own.threshold_fields),
        _section(own.facts, Facts(facts)),
        Section(title=own.example_title, blocks=[]),
    )
