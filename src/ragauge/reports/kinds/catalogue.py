"""`ragauge diagnose --catalogue`: the causes and actions there are, and how to write your own.

The words of the entries name code in backticks. Those around them are in `words/catalogue.*.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.diagnosis import Language, Threshold
from ragauge.diagnosis.catalogue import CAUSE, Catalogue, Described, describe
from ragauge.diagnosis.texts import texts as sentences_of
from ragauge.errors import UsageError
from ragauge.reports import document as doc
from ragauge.reports import json
from ragauge.reports.document import Block, Cell, Document, Facts, Section, Span, Text
from ragauge.reports.formats import markdown, text
from ragauge.reports.phrasing import ABSENT, Phrases, phrases

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
    own = phrases("catalogue", language)
    found = describe(language, metrics, own_rules=own.phrases["example"])
    if form == "json":
        return json.render(found)
    document, example = Document(own("title"), list(_blocks(found, own)), language), found.own_rules
    page = text.render(document, color=color, width=width)
    if form == "markdown":
        page, example = markdown.render(document, page=True), f"```toml\n{example}```\n"
    # The example ends the page unchanged: it is meant to be copied, and a line that was cut would
    # not be TOML.
    return f"{page}\n{example}" if metrics is None else page


def _blocks(found: Catalogue, own: Phrases) -> Iterator[Block]:
    comma, colon = own("comma"), own.signs.colon
    causes = sum(entry.family == CAUSE for entry in found.entries)
    number = own("count", n=len(found.entries), causes=causes)
    meaning = [own("about")]
    for name, metrics in (("only", found.metrics), ("no_entry", found.without_entry)):
        meaning += [own(name, metrics=comma.join(metrics))] if metrics else []
    yield doc.Verdict("", f"{own('title')}{colon}{number}", meaning=meaning)

    def fact(names: Iterable[str], text: str, ids: Iterable[str] = ()) -> tuple[str, list[Span]]:
        """Highlighted names, a text about them, and links to entries."""
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
        contents = [fact(one.metrics, "", one.entries) for one in found.contents]
        yield section("contents", Facts(contents))
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
        symptoms = []
        for one in found.symptoms:
            text = own("symptom", text=one.text, tolerated=f"{one.tolerated:g}")
            symptoms.append(fact([one.symptom], text, one.causes))
        yield section("ranking", Facts(symptoms))
    families, about = own.names["families"], own.names["families_about"]
    for family in dict.fromkeys(entry.family for entry in found.entries):
        yield Section(
            title=families[family],
            remark=about[family],
            blocks=[_entry(one, own) for one in found.entries if one.family == family],
        )
    if found.metrics is None:
        fields = {name: dict(own.names[name]) for name in ("entry", "threshold", "facts")}
        features = sentences_of(found.language).slices.features
        fields["facts"] |= {id: comma.join(one.values) for id, one in features.items()}
        tables = [
            section(name, Facts([fact([id], text) for id, text in texts.items()]))
            for name, texts in fields.items()
        ]
        yield section("own_rules", *tables, Section(title=own("example_title"), blocks=[]))


def _entry(entry: Described, own: Phrases) -> Section:
    colon = own.signs.colon
    metrics = (Span(name, foreign=True) for name in entry.metrics)
    shows = (
        Span(f"{text}{own.in_parentheses(f'`{name}`')}") for name, text in entry.symptoms.items()
    )
    facts: list[tuple[str, doc.Inline]] = [
        (own("metrics"), doc.joined(metrics, own("comma"))),
        (own("shows_as"), doc.joined(shows, own.signs.semicolon)),
    ]
    for one in entry.signs:
        unseen = own("bits_if_not", bits=f"{one.bits_if_not:+g}") if one.bits_if_not else ""
        weighs = own.clauses((unseen, own("needed") if one.needed else "", f"`{one.sign}`"))
        bits = f"{own('bits', bits=f'{one.bits:+g}')}{colon}"
        text = Span(f"{one.text}{own.in_parentheses(weighs)}")
        facts.append(("", [Span(bits, "good" if one.bits > 0 else "bad"), text]))
    facts += [(own("seen_in"), entry.evidence), (own.confirm, entry.confirm)]
    for step in entry.actions:
        knob = [Span(step.knob, "strong", foreign=True), Span(colon)] if step.knob else []
        prices = (("costs", step.costs), ("worsens", step.worsens))
        dim = [Span(own(name, what=what), "dim") for name, what in prices if what]
        facts.append(("", [Span("→ ", "plain"), *knob, Span(step.do), *dim]))
    lines = [Text([Span(entry.id, "plain", foreign=True)]), Text([Span(entry.means)])]
    return Section(title=entry.title, anchor=entry.id, blocks=[*lines, Facts(facts)])
