"""The catalogue for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from ragauge.contracts.diagnosis import Threshold
from ragauge.diagnosis.catalogue import CAUSE, Step
from ragauge.diagnosis.own_rules import SYMPTOM
from ragauge.diagnosis.words import words as sentences_of
from ragauge.reports.catalogue import story
from ragauge.reports.catalogue.labels import Labels, Section, labels_of
from ragauge.reports.catalogue.story import Told, ToldEntry, ToldSign, bits, short_id
from ragauge.reports.foreign import shown
from ragauge.reports.numbers import ABSENT
from ragauge.reports.terminal import MARGIN, Page, head, note, words

INDENT = 2 * MARGIN


def render(found: Told, *, color: bool = False, width: int = 100) -> str:
    """Lines no wider than the width (at least 40 columns), but for the file that ends the page.

    That one is there to be copied, and a line cut in two would be no TOML.
    """
    page, say = Page(color, width), labels_of(found.language)
    _head(page, found, say)
    _contents(page, found, say)
    _limits(page, found, say)
    _symptoms(page, found, say)
    for family, entries in story.families(found).items():
        _section(page, story.section_of(family, say))
        for entry in entries:
            _entry(page, entry, say)
    if found.metrics is not None:
        return page.text()
    _own_rules(page, found, say)
    return f"{page.text()}\n{found.own_rules}"


def _head(page: Page, found: Told, say: Labels) -> None:
    causes = sum(entry.family == CAUSE for entry in found.entries)
    count = say.count.format(n=len(found.entries), causes=causes)
    first = Text(f"{say.title}  ", "bold")
    page.paragraph(words(count), first.cell_len, first)
    page.paragraph(note(say.about))
    if found.metrics is not None:
        page.paragraph(words(say.only.format(metrics=say.listed(found.metrics))))
    if found.without_entry:
        names = say.listed(found.without_entry)
        page.paragraph(words(say.no_entry.format(metrics=names), "yellow"))


def _section(page: Page, section: Section) -> None:
    page.section(section.title)
    for paragraph in filter(None, section.about.split("\n")):
        page.paragraph(note(paragraph))


def _limits(page: Page, found: Told, say: Labels) -> None:
    columns = say.columns
    if found.judged:
        _section(page, say.judged)
        titles = head(columns.metric, columns.better, columns.warning, columns.critical)
        page.table([titles, *_bounds(found.judged, say)], right={2, 3})
    if found.usual:
        _section(page, say.usual)
        rows = [head(columns.metric, columns.better, columns.limit, "")]
        page.table([row[:3] for row in [*rows, *_bounds(found.usual, say)]], right={2})


def _bounds(limits: Mapping[str, Threshold], say: Labels) -> list[list[Text]]:
    return [
        [
            words(name),
            note(say.higher if one.better == "higher" else say.lower),
            Text(story.beyond(one, one.warning)),
            Text(ABSENT if one.critical is None else story.beyond(one, one.critical)),
        ]
        for name, one in limits.items()
    ]


def _contents(page: Page, found: Told, say: Labels) -> None:
    if found.contents:
        _section(page, say.contents)
    for one in found.contents:
        entries = say.listed([short_id(id) for id in one.entries])
        names = say.listed(one.metrics)
        _hanging(page, _labelled(names, entries, say, "bold"))


def _symptoms(page: Page, found: Told, say: Labels) -> None:
    if not found.symptoms:
        return
    _section(page, say.ranking)
    _section(page, say.symptoms)
    for one in found.symptoms:
        beside = say.common.beside(f"{say.columns.tolerated} {one.tolerated:g}")
        text = _labelled(one.symptom, one.text, say, "bold")
        _hanging(page, text.append(beside, "dim"))
        causes = say.listed([short_id(id) for id in one.causes])
        page.paragraph(_labelled(say.columns.causes, causes, say), INDENT)


def _entry(page: Page, entry: ToldEntry, say: Labels) -> None:
    page.line(Text())
    _hanging(page, words(entry.title, "bold"))
    page.paragraph(words(entry.id, "cyan"), INDENT)
    if entry.means:
        page.paragraph(words(entry.means), INDENT)
    metrics = [
        f"{family}{say.common.beside(listed)}" if family else listed
        for family, names in story.by_family(entry.metrics).items()
        if (listed := say.listed(names))
    ]
    page.paragraph(_labelled(say.shows_in, say.common.told(metrics), say), INDENT)
    _evidence(page, entry, say)
    page.paragraph(_labelled(say.common.confirm, entry.confirm, say), INDENT)
    for step in entry.actions:
        _action(page, step, say)


def _evidence(page: Page, entry: ToldEntry, say: Labels) -> None:
    """What speaks for an entry, and for a cause also what speaks against it."""
    if entry.symptoms:
        named = [f"{text}{say.common.beside(name)}" for name, text in entry.symptoms.items()]
        page.paragraph(_labelled(say.shows_as, say.common.told(named), say), INDENT)
        for sign in entry.signs:
            _sign(page, sign, say)
        if not entry.signs:
            page.paragraph(note(say.no_signs), INDENT)
    if entry.seen_in:
        page.paragraph(_labelled(say.seen_in, entry.seen_in, say), INDENT)
    if entry.when:
        page.paragraph(_labelled(say.applies, story.conditions(entry, say, str), say), INDENT)


def _sign(page: Page, one: ToldSign, say: Labels) -> None:
    mark, style = ("+ ", "green") if one.bits > 0 else ("− ", "red")
    weighs = [say.weighs.format(bits=bits(one.bits))]
    weighs += [say.weighs_if_not.format(bits=bits(one.bits_if_not))] if one.bits_if_not else []
    weighs += [say.needed] if one.needed else []
    beside = say.common.beside(say.common.told([*weighs, one.sign]))
    first = Text.assemble(" " * INDENT, (mark, style))
    page.paragraph(Text.assemble(words(one.text), (beside, "dim")), len(first), first)


def _action(page: Page, step: Step, say: Labels) -> None:
    first = Text.assemble(" " * INDENT, ("→ ", "cyan"))
    text = _labelled(step.knob, step.do, say, "bold") if step.knob else words(step.do)
    page.paragraph(text, len(first), first)
    for price, told in (
        (say.common.diagnosis.costs, step.costs),
        (say.common.diagnosis.worsens, step.worsens),
    ):
        if told:
            page.paragraph(note(price.format(told=told)), len(first))


def _own_rules(page: Page, found: Told, say: Labels) -> None:
    own = say.own
    _section(page, own.section)
    for section, fields in own.tables():
        _section(page, section)
        for name, (needed, meaning) in fields.items():
            must = say.common.beside(say.needed) if needed else ""
            _hanging(page, _labelled(f"{name}{must}", meaning, say, "bold"))
    _section(page, own.facts)
    features = sentences_of(found.language).slices.features
    facts = [(SYMPTOM, own.symptom)]
    facts += [(name, say.listed(one.values)) for name, one in features.items()]
    for fact, values in [*facts, own.stratum]:
        _hanging(page, _labelled(fact, values, say, "bold"))
    page.section(own.example_title)


def _hanging(page: Page, text: Text) -> None:
    """A paragraph whose first line stands out to the left."""
    page.paragraph(text, INDENT, Text(" " * MARGIN))


def _labelled(label: str, text: str, say: Labels, style: str = "dim") -> Text:
    """A text with its label; a list of metrics may be longer than `words` lets a text be."""
    return Text.assemble((f"{shown(label)}{say.common.signs.colon}", style), shown(text))
