"""The catalogue as a Markdown page: `docs/reference/causes.md` is made by this.

The words of the catalogue are Markdown already: what they name as code stands in backticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.contracts.diagnosis import Threshold
from ragauge.diagnosis.catalogue import Step
from ragauge.diagnosis.limits import SEVEN
from ragauge.diagnosis.own_rules import SYMPTOM
from ragauge.diagnosis.words import words
from ragauge.reports.catalogue import story
from ragauge.reports.catalogue.labels import Labels, Section, labels_of
from ragauge.reports.catalogue.story import Told, ToldEntry, ToldSign, bits, short_id
from ragauge.reports.comment import code, table
from ragauge.reports.foreign import shown
from ragauge.reports.numbers import ABSENT

BREAK = "<br>"


def render(found: Told) -> str:
    """The whole page; each block stands apart by an empty line."""
    say = labels_of(found.language)
    blocks = [*_head(found, say), *_contents(found, say), *_limits(found, say)]
    blocks += [*_symptoms(found, say), *_families(found, say)]
    if found.metrics is None:
        blocks += _own_rules(found, say)
    return "\n\n".join(blocks) + "\n"


def _head(found: Told, say: Labels) -> Iterator[str]:
    yield f"# {say.title}"
    yield say.about
    if found.metrics is not None:
        yield say.only.format(metrics=_names(found.metrics, say))
    if found.without_entry:
        yield say.no_entry.format(metrics=_names(found.without_entry, say))


def _section(section: Section, depth: str = "##") -> Iterator[str]:
    yield f"{depth} {section.title}"
    yield from filter(None, section.about.split("\n"))


def _limits(found: Told, say: Labels) -> Iterator[str]:
    columns = say.columns
    if found.judged:
        yield from _section(say.judged)
        heads = (columns.metric, columns.better, columns.warning, columns.critical)
        yield table(heads, _bounds(found.judged, say), right={2, 3})
    if found.usual:
        yield from _section(say.usual)
        rows = [row[:3] for row in _bounds(found.usual, say)]
        yield table((columns.metric, columns.better, columns.limit), rows, right={2})


def _bounds(limits: Mapping[str, Threshold], say: Labels) -> list[list[str]]:
    return [
        [
            code(name),
            say.higher if one.better == "higher" else say.lower,
            story.beyond(one, one.warning),
            ABSENT if one.critical is None else story.beyond(one, one.critical),
        ]
        for name, one in limits.items()
    ]


def _contents(found: Told, say: Labels) -> Iterator[str]:
    """The entries of each metric: by title where few are told of, else by id."""
    if not found.contents:
        return
    titles = {entry.id: shown(entry.title) for entry in found.entries}
    rows = []
    for one in found.contents:
        in_full = found.metrics is not None or one.metrics[0] in SEVEN
        links = [_link(id, titles[id] if in_full else short_id(id)) for id in one.entries]
        joined = BREAK.join(links) if in_full else say.listed(links)
        rows.append([BREAK.join(code(name) for name in one.metrics), joined])
    yield from _section(say.contents)
    yield table((say.columns.metric, say.columns.entries), rows)


def _symptoms(found: Told, say: Labels) -> Iterator[str]:
    if not found.symptoms:
        return
    columns = say.columns
    yield from _section(say.ranking)
    yield from _section(say.symptoms, "###")
    rows = [
        [
            code(one.symptom),
            one.text,
            f"{one.tolerated:g}",
            say.listed(_link(id, short_id(id)) for id in one.causes),
        ]
        for one in found.symptoms
    ]
    heads = (columns.symptom, columns.seen, columns.tolerated, columns.causes)
    yield table(heads, rows, right={2})


def _families(found: Told, say: Labels) -> Iterator[str]:
    for family, entries in story.families(found).items():
        yield from _section(story.section_of(family, say))
        for entry in entries:
            yield from _entry(entry, say)


def _entry(entry: ToldEntry, say: Labels) -> Iterator[str]:
    colon, columns = say.common.signs.colon, say.columns
    yield f'<a id="{entry.id}"></a>\n\n### {shown(entry.title)}'
    yield code(entry.id)
    if entry.means:
        yield shown(entry.means)
    yield f"**{say.shows_in}**{colon}{_metrics(entry, say)}{say.common.signs.stop}"
    yield from _evidence(entry, say)
    yield f"**{say.common.confirm}**{colon}{shown(entry.confirm)}"
    heads = (columns.step, columns.knob, columns.costs, columns.worsens)
    yield table(heads, [_action(step) for step in entry.actions])


def _evidence(entry: ToldEntry, say: Labels) -> Iterator[str]:
    """What speaks for an entry, and for a cause also what speaks against it."""
    colon, stop = say.common.signs.colon, say.common.signs.stop
    if entry.symptoms:
        named = [f"{text}{say.common.beside(code(name))}" for name, text in entry.symptoms.items()]
        yield f"**{say.shows_as}**{colon}{say.common.told(named)}{stop}"
        yield _signs(entry.signs, say) if entry.signs else say.no_signs
    if entry.seen_in:
        yield f"**{say.seen_in}**{colon}{shown(entry.seen_in)}{stop}"
    if entry.when:
        yield f"**{say.applies}**{colon}{story.conditions(entry, say, code)}{stop}"


def _signs(signs: Sequence[ToldSign], say: Labels) -> str:
    columns = say.columns
    rows = [
        [
            f"{one.text}{say.common.beside(code(one.sign))}",
            bits(one.bits),
            bits(one.bits_if_not),
            f"**{say.yes}**" if one.needed else say.no,
        ]
        for one in signs
    ]
    heads = (columns.sign, columns.bits, columns.bits_if_not, columns.needed)
    return table(heads, rows, right={1, 2})


def _action(step: Step) -> list[str]:
    knob = code(step.knob) if step.knob else ABSENT
    return [shown(step.do), knob, shown(step.costs) or ABSENT, shown(step.worsens) or ABSENT]


def _metrics(entry: ToldEntry, say: Labels) -> str:
    parts = [
        f"{code(family)}{say.common.beside(_names(names, say))}" if family else _names(names, say)
        for family, names in story.by_family(entry.metrics).items()
    ]
    return say.common.told(parts)


def _own_rules(found: Told, say: Labels) -> Iterator[str]:
    own, columns = say.own, say.columns
    heads = (columns.field, columns.needed, columns.meaning)
    yield from _section(own.section)
    for section, fields in own.tables():
        yield from _section(section, "###")
        rows = [
            [code(name), say.yes if needed else say.no, meaning]
            for name, (needed, meaning) in fields.items()
        ]
        yield table(heads, rows)
    yield from _section(own.facts, "###")
    features = words(found.language).slices.features
    rows = [[code(SYMPTOM), own.symptom]]
    rows += [[code(name), _names(tuple(one.values), say)] for name, one in features.items()]
    yield table((columns.fact, columns.values), [*rows, list(own.stratum)])
    yield f"### {own.example_title}"
    yield f"```toml\n{own.example}```"


def _names(names: Sequence[str], say: Labels) -> str:
    return say.listed([code(name) for name in names])


def _link(id: str, text: str) -> str:
    return f"[{text}](#{id})"
