"""`ragauge diagnose --catalogue`: the causes and actions there are, and how to write your own.

The words of the entries name code in backticks. Those around them are in `words/catalogue.*.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import Language, Threshold
from ragauge.diagnosis.catalogue import CAUSE, Entry, Rule, Step, Weight, evidence, speaks_of
from ragauge.diagnosis.limits import SEVEN, plain_name, usual_limits
from ragauge.diagnosis.words import words as sentences_of
from ragauge.errors import UsageError
from ragauge.reports import document as doc
from ragauge.reports import json
from ragauge.reports.document import Block, Cell, Document, Facts, Section, Span, Text
from ragauge.reports.formats import markdown, text
from ragauge.reports.numbers import ABSENT
from ragauge.reports.words import Phrases, phrases

FORMS = ("text", "json", "markdown")


class Listed(Struct, frozen=True):
    """Metrics that share their entries, and these."""

    metrics: tuple[str, ...]
    entries: tuple[str, ...]


class Sign(Weight, frozen=True, kw_only=True):
    """A sign, and what it weighs for a cause."""

    text: str


class Symptom(Struct, frozen=True):
    """What goes wrong in a sample, and the causes that can produce it."""

    symptom: str
    text: str
    tolerated: float
    causes: tuple[str, ...]


class ShownEntry(Struct, frozen=True, kw_only=True):
    """An entry with the evidence for it: symptoms and signs of a cause, or what is counted."""

    id: str
    family: str
    title: str
    means: str
    metrics: tuple[str, ...]
    symptoms: dict[str, str]
    signs: tuple[Sign, ...]
    seen_in: str
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
    if form not in FORMS:
        raise UsageError(f'the catalogue has no form "{form}"; it has {", ".join(FORMS)}')
    found = shown(entries, rules, language, metrics)
    if form == "json":
        return json.render(found)
    made, example = document(found), found.own_rules
    page = text.render(made, color=color, width=width)
    if form == "markdown":
        page, example = markdown.render(made, page=True), f"```toml\n{example}```\n"
    # The example ends the page as it is: it is there to be copied, and a line that was cut would
    # not be TOML.
    return f"{page}\n{example}" if metrics is None else page


def shown(
    entries: Sequence[Entry],
    rules: Mapping[str, Rule],
    language: Language,
    metrics: Sequence[str] | None,
) -> Catalogue:
    """Entries worded in a language, causes first, with all that goes with them."""
    wanted = None if metrics is None else tuple(dict.fromkeys(metrics))
    own, called = phrases("catalogue", language), sentences_of(language)
    families = [CAUSE, *dict.fromkeys(entry.family for entry in entries)]
    kept = sorted(
        (one for one in entries if wanted is None or any(speaks_of(one, id) for id in wanted)),
        key=lambda entry: families.index(entry.family),
    )
    chosen = {one.id: rules[one.id] for one in kept if one.id in rules}

    def limits(known: Mapping[str, Threshold]) -> dict[str, Threshold]:
        if wanted is None:
            return dict(known)
        names = {name for one in wanted for name in (one, plain_name(one))}
        bare = {name for name in wanted if "." not in name}
        return {id: one for id, one in known.items() if id in names or plain_name(id) in bare}

    def listed() -> Iterator[Listed]:
        """The entries of each metric: the seven that every tool has first, then ours by name."""
        ours = sorted({id for one in kept for id in one.metrics if plain_name(id) not in SEVEN})
        for names in ([*SEVEN], ours) if wanted is None else (wanted,):
            alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
            for name in names:
                about = tuple(entry.id for entry in kept if speaks_of(entry, name))
                if about:
                    alike.setdefault((name.partition(".")[0], about), []).append(name)
            yield from (Listed((*those,), about) for (_, about), those in alike.items())

    def sign(one: Weight) -> Sign:
        # What the sign says of a sample, without how many show it.
        text = called.signs[one.sign].seen.removeprefix(own.phrases["count_frame"])
        return Sign(**structs.asdict(one), text=text.removeprefix(own.phrases["count_ends"]))

    def entry(one: Entry) -> ShownEntry:
        rule = chosen.get(one.id)
        return ShownEntry(
            id=one.id,
            family=one.family,
            title=one.title,
            means=one.means,
            metrics=one.metrics,
            symptoms={name: called.symptoms[name] for name in (rule.symptoms if rule else ())},
            signs=tuple(map(sign, rule.signs if rule else ())),
            seen_in=one.evidence.replace("{n}", "").rstrip(" :："),
            when=one.when,
            scores=one.scores,
            confirm=one.confirm,
            actions=one.actions,
        )

    tolerated = evidence().tolerated
    return Catalogue(
        language=language,
        metrics=wanted,
        without_entry=tuple(
            name for name in wanted or () if not any(speaks_of(one, name) for one in kept)
        ),
        judged=limits(SEVEN),
        usual=limits(
            {id: one for id, one in sorted(usual_limits().items()) if plain_name(id) not in SEVEN}
        ),
        contents=tuple(listed()),
        symptoms=tuple(
            Symptom(
                name,
                called.symptoms[name],
                tolerated[name],
                tuple(rule.id for rule in chosen.values() if name in rule.symptoms),
            )
            for name in dict.fromkeys(name for rule in chosen.values() for name in rule.symptoms)
        ),
        entries=tuple(map(entry, kept)),
        own_rules=own.phrases["example"],
    )


def document(found: Catalogue) -> Document:
    own = phrases("catalogue", found.language)
    return Document(own("title"), list(_blocks(found, own)), language=found.language)


def _blocks(found: Catalogue, own: Phrases) -> Iterator[Block]:
    say, comma, colon = own.say, own("comma"), own.say.signs.colon
    causes = sum(entry.family == CAUSE for entry in found.entries)
    number = own("count", n=len(found.entries), causes=causes)
    meaning = [own("about")]
    for name, metrics in (("only", found.metrics), ("no_entry", found.without_entry)):
        meaning += [own(name, metrics=comma.join(metrics))] if metrics else []
    yield doc.Verdict("", f"{own('title')}{colon}{number}", meaning=meaning)

    def fact(names: Iterable[str], text: str, ids: Iterable[str] = ()) -> tuple[str, list[Span]]:
        """Names that stand out, what there is to say about them, and links to entries."""
        links = [Span(id.removeprefix(f"{CAUSE}."), foreign=True, to=("here", id)) for id in ids]
        return "", [
            *_names(names, comma, "strong"),
            Span(f"{colon}{text}"),
            *doc.joined(links, comma),
        ]

    if found.contents:
        contents = [fact(one.metrics, "", one.entries) for one in found.contents]
        yield _section(own, "contents", Facts(contents))
    if found.judged or found.usual:

        def beyond(one: Threshold, bound: float | None) -> Cell:
            sign = "<" if one.better == "higher" else ">"
            return Cell(ABSENT if bound is None else f"{sign} {bound:g}", bound)

        limits = doc.table(
            [*found.judged.items(), *found.usual.items()],
            {
                say.metric: lambda pair: doc.names(pair[0]),
                own("better"): lambda pair: Cell(own(pair[1].better)),
                own("warning"): lambda pair: beyond(pair[1], pair[1].warning),
                own("critical"): lambda pair: beyond(pair[1], pair[1].critical),
            },
        )
        yield _section(own, "limits", limits)
    if found.symptoms:
        symptoms = [
            fact(
                [one.symptom],
                own("symptom", text=one.text, tolerated=f"{one.tolerated:g}"),
                one.causes,
            )
            for one in found.symptoms
        ]
        yield _section(own, "ranking", Facts(symptoms))
    families, about = own.names["families"], own.names["families_about"]
    for family in dict.fromkeys(entry.family for entry in found.entries):
        yield Section(
            title=families.get(family) or own("other_family", family=family),
            remark=about.get(family, ""),
            blocks=[_entry(one, own) for one in found.entries if one.family == family],
        )
    if found.metrics is None:
        features = sentences_of(found.language).slices.features
        fields = {name: dict(own.names[name]) for name in ("entry", "threshold", "facts")}
        fields["facts"] |= {id: comma.join(one.values) for id, one in features.items()}
        tables = [
            _section(own, name, Facts([fact([id], text) for id, text in texts.items()]))
            for name, texts in fields.items()
        ]
        yield _section(own, "own_rules", *tables, Section(title=own("example_title"), blocks=[]))


def _section(own: Phrases, name: str, *blocks: Block) -> Section:
    about = own.phrases.get(f"{name}_about", "").split("\n")
    texts = [Text([Span(line, "dim")]) for line in about if line]
    return Section(title=own(name), blocks=[*texts, *blocks])


def _names(names: Iterable[str], sign: str, tone: doc.Tone = "") -> list[Span]:
    return doc.joined((Span(name, tone, foreign=True) for name in names), sign)


def _entry(entry: ShownEntry, own: Phrases) -> Section:
    say, colon = own.say, own.say.signs.colon
    symptoms = (Span(f"{text}{say.beside(f'`{id}`')}") for id, text in entry.symptoms.items())
    facts: list[tuple[str, doc.Words]] = [
        (own("metrics"), _names(entry.metrics, own("comma"))),
        (own("shows_as"), doc.joined(symptoms, say.signs.semicolon)),
    ]
    for one in entry.signs:
        unseen = own("bits_if_not", bits=f"{one.bits_if_not:+g}") if one.bits_if_not else ""
        weighs = say.told((unseen, own("needed") if one.needed else "", f"`{one.sign}`"))
        tone: doc.Tone = "good" if one.bits > 0 else "bad"
        label = f"{own('bits', bits=f'{one.bits:+g}')}{colon}"
        facts.append(("", [Span(label, tone), Span(f"{one.text}{say.beside(weighs)}")]))
    facts += [(own("seen_in"), entry.seen_in), (say.confirm, entry.confirm)]
    for step in entry.actions:
        knob = [Span(step.knob, "strong", foreign=True), Span(colon)] if step.knob else []
        costs = own("costs", what=step.costs) if step.costs else ""
        worsens = own("worsens", what=step.worsens) if step.worsens else ""
        facts.append(
            (
                "",
                [
                    Span("→ ", "plain"),
                    *knob,
                    Span(step.do),
                    Span(costs, "dim"),
                    Span(worsens, "dim"),
                ],
            )
        )
    return Section(
        title=entry.title,
        anchor=entry.id,
        blocks=[
            Text([Span(entry.id, "plain", foreign=True)]),
            Text([Span(entry.means)]),
            Facts(facts),
        ],
    )
