"""`ragauge diagnose --catalogue`: the causes and actions there are, and how to write your own.

The words of the entries name code in backticks. Those around them are in `words/catalogue.*.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import Language, Threshold
from ragauge.diagnosis.catalogue import CAUSE, Entry, Rule, catalogue, evidence, rules, speaks_of
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


def catalogue_text(
    *,
    language: Language = "en",
    form: str = "text",
    metrics: Sequence[str] | None = None,
    color: bool = False,
    width: int = 100,
) -> str:
    """The complete catalogue, or only what concerns `metrics`; only `text` has a width."""
    if form not in FORMS:
        raise UsageError(f'the catalogue has no form "{form}"; it has {", ".join(FORMS)}')
    found, own = _found(language, metrics), phrases("catalogue", language)
    example = own.phrases["example"]
    if form == "json":
        return json.render(_data(found, own) | {"own_rules": example})
    made = Document(own("title"), list(_blocks(found, own)), language)
    page = text.render(made, color=color, width=width)
    if form == "markdown":
        page, example = markdown.render(made, page=True), f"```toml\n{example}```\n"
    # The example ends the page as it is: it is there to be copied, and a line that was cut would
    # not be TOML.
    return f"{page}\n{example}" if metrics is None else page


class Catalogue(Struct, frozen=True, kw_only=True):
    """The complete catalogue, or what concerns some metrics."""

    language: Language
    metrics: tuple[str, ...] | None
    """Those that were requested; None for everything."""
    without_entry: tuple[str, ...]
    """Of these, the ones that no entry is about."""
    judged: dict[str, Threshold]
    usual: dict[str, Threshold]
    contents: list[tuple[list[str], tuple[str, ...]]]
    """Metrics that share their entries, and the ids of these."""
    symptoms: dict[str, list[str]]
    """The causes that can produce each."""
    entries: list[Entry]
    """By family, causes first."""
    rules: dict[str, Rule]


def _found(language: Language, metrics: Sequence[str] | None) -> Catalogue:
    wanted = None if metrics is None else tuple(dict.fromkeys(metrics))
    names = {name for one in wanted or () for name in (one, plain_name(one))}
    bare = {name for name in wanted or () if "." not in name}

    def limits(known: Mapping[str, Threshold]) -> dict[str, Threshold]:
        return {
            id: one
            for id, one in known.items()
            if wanted is None or id in names or plain_name(id) in bare
        }

    entries = [
        one
        for one in sorted(catalogue(language), key=lambda entry: entry.family != CAUSE)
        if wanted is None or any(speaks_of(one, id) for id in wanted)
    ]
    chosen = {one.id: rules()[one.id] for one in entries if one.id in rules()}
    symptoms: dict[str, list[str]] = {}
    for rule in chosen.values():
        for name in rule.symptoms:
            symptoms.setdefault(name, []).append(rule.id)
    # The seven metrics that every tool has come first, then ours by name.
    ours = sorted({id for one in entries for id in one.metrics if plain_name(id) not in SEVEN})
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    without = []
    for name in wanted or (*SEVEN, *ours):
        if about := tuple(entry.id for entry in entries if speaks_of(entry, name)):
            alike.setdefault((name.partition(".")[0], about), []).append(name)
        else:
            without.append(name)
    usual = {id: one for id, one in sorted(usual_limits().items()) if plain_name(id) not in SEVEN}
    return Catalogue(
        language=language,
        metrics=wanted,
        without_entry=tuple(without),
        judged=limits(SEVEN),
        usual=limits(usual),
        contents=[(those, about) for (_, about), those in alike.items()],
        symptoms=symptoms,
        entries=entries,
        rules=chosen,
    )


def _data(found: Catalogue, own: Phrases) -> dict[str, object]:
    """The JSON report, each entry with the evidence for it."""
    called, tolerated = sentences_of(found.language), evidence().tolerated

    def entry(one: Entry) -> dict[str, Any]:
        known, rule = structs.asdict(one), found.rules.get(one.id)
        del known["evidence"]
        return known | {
            "family": one.family,
            "seen_in": _seen_in(one),
            "symptoms": {name: called.symptoms[name] for name in (rule.symptoms if rule else ())},
            "signs": [
                structs.asdict(sign) | {"text": _sign(sign.sign, found.language, own)}
                for sign in (rule.signs if rule else ())
            ],
        }

    known = structs.asdict(found)
    del known["rules"]
    return known | {
        "contents": [{"metrics": those, "entries": ids} for those, ids in found.contents],
        "symptoms": [
            {
                "symptom": name,
                "text": called.symptoms[name],
                "tolerated": tolerated[name],
                "causes": causes,
            }
            for name, causes in found.symptoms.items()
        ],
        "entries": list(map(entry, found.entries)),
    }


def _seen_in(entry: Entry) -> str:
    """What is counted as evidence."""
    return entry.evidence.replace("{n}", "").rstrip(" :：")


def _sign(name: str, language: Language, own: Phrases) -> str:
    """What a sign says of a sample, without how many show it."""
    said = sentences_of(language).signs[name].seen.removeprefix(own.phrases["count_frame"])
    return said.removeprefix(own.phrases["count_ends"])


def _blocks(found: Catalogue, own: Phrases) -> Iterator[Block]:
    comma, colon = own("comma"), own.signs.colon
    called = sentences_of(found.language)
    causes = sum(entry.family == CAUSE for entry in found.entries)
    number = own("count", n=len(found.entries), causes=causes)
    meaning = [own("about")]
    for name, metrics in (("only", found.metrics), ("no_entry", found.without_entry)):
        meaning += [own(name, metrics=comma.join(metrics))] if metrics else []
    yield doc.Verdict("", f"{own('title')}{colon}{number}", meaning=meaning)

    def fact(names: Iterable[str], text: str, ids: Iterable[str] = ()) -> tuple[str, list[Span]]:
        """Names that stand out, what there is to say about them, and links to entries."""
        shown = doc.joined((Span(name, "strong", foreign=True) for name in names), comma)
        links = [Span(id.removeprefix(f"{CAUSE}."), foreign=True, to=("here", id)) for id in ids]
        return "", [*shown, Span(f"{colon}{text}"), *doc.joined(links, comma)]

    def section(name: str, *blocks: Block) -> Section:
        about = own.phrases.get(f"{name}_about", "").split("\n")
        texts = [Text([Span(line, "dim")]) for line in about if line]
        return Section(title=own(name), blocks=[*texts, *blocks])

    def beyond(one: Threshold, bound: float | None) -> Cell:
        sign = "<" if one.better == "higher" else ">"
        return Cell(ABSENT if bound is None else f"{sign} {bound:g}", bound)

    if found.contents:
        yield section("contents", Facts([fact(names, "", ids) for names, ids in found.contents]))
    if found.judged or found.usual:
        limits = doc.table(
            [*found.judged.items(), *found.usual.items()],
            {
                own.metric: lambda pair: doc.names(pair[0]),
                own("better"): lambda pair: Cell(own(pair[1].better)),
                own("warning"): lambda pair: beyond(pair[1], pair[1].warning),
                own("critical"): lambda pair: beyond(pair[1], pair[1].critical),
            },
        )
        yield section("limits", limits)
    if found.symptoms:
        tolerated = {name: f"{bound:g}" for name, bound in evidence().tolerated.items()}
        symptoms = [
            fact([id], own("symptom", text=called.symptoms[id], tolerated=tolerated[id]), causes)
            for id, causes in found.symptoms.items()
        ]
        yield section("ranking", Facts(symptoms))
    families, about = own.names["families"], own.names["families_about"]
    for family in dict.fromkeys(entry.family for entry in found.entries):
        yield Section(
            title=families[family],
            remark=about[family],
            blocks=[_entry(one, found, own) for one in found.entries if one.family == family],
        )
    if found.metrics is None:
        fields = {name: dict(own.names[name]) for name in ("entry", "threshold", "facts")}
        fields["facts"] |= {
            id: comma.join(one.values) for id, one in called.slices.features.items()
        }
        tables = [
            section(name, Facts([fact([id], text) for id, text in texts.items()]))
            for name, texts in fields.items()
        ]
        yield section("own_rules", *tables, Section(title=own("example_title"), blocks=[]))


def _entry(entry: Entry, found: Catalogue, own: Phrases) -> Section:
    colon, rule = own.signs.colon, found.rules.get(entry.id)
    called = sentences_of(found.language).symptoms
    metrics = [Span(name, foreign=True) for name in entry.metrics]
    facts: list[tuple[str, doc.Words]] = [(own("metrics"), doc.joined(metrics, own("comma")))]
    if rule:
        shows = (Span(f"{called[name]}{own.beside(f'`{name}`')}") for name in rule.symptoms)
        facts.append((own("shows_as"), doc.joined(shows, own.signs.semicolon)))
    for one in rule.signs if rule else ():
        unseen = own("bits_if_not", bits=f"{one.bits_if_not:+g}") if one.bits_if_not else ""
        weighs = own.told((unseen, own("needed") if one.needed else "", f"`{one.sign}`"))
        tone: doc.Tone = "good" if one.bits > 0 else "bad"
        bits = Span(f"{own('bits', bits=f'{one.bits:+g}')}{colon}", tone)
        said = f"{_sign(one.sign, found.language, own)}{own.beside(weighs)}"
        facts.append(("", [bits, Span(said)]))
    facts += [(own("seen_in"), _seen_in(entry)), (own.confirm, entry.confirm)]
    for step in entry.actions:
        knob = [Span(step.knob, "strong", foreign=True), Span(colon)] if step.knob else []
        prices = (("costs", step.costs), ("worsens", step.worsens))
        dim = [Span(own(name, what=what), "dim") for name, what in prices if what]
        facts.append(("", [Span("→ ", "plain"), *knob, Span(step.do), *dim]))
    lines = [Text([Span(entry.id, "plain", foreign=True)]), Text([Span(entry.means)])]
    return Section(title=entry.title, anchor=entry.id, blocks=[*lines, Facts(facts)])
