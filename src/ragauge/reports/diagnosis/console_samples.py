"""The worst samples on a terminal page, with their texts shortened."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.reports.diagnosis import parts, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.parts import ToldSample
from ragauge.reports.diagnosis.wide_page import WidePage
from ragauge.reports.foreign import shown
from ragauge.reports.terminal import MARGIN, note, words

LONGEST = 200
LONGEST_CONTEXT = 120
"""Characters: whoever needs more of a text opens the page or the JSON report."""
CONTEXTS_SHOWN = 3
INDENT = 3 * MARGIN


def worst(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    """The samples of each metric, the worst first."""
    told = parts.worst(report)
    if not told and not story.is_low(report):
        return
    page.section(say.heads.worst, note(say.heads.worst_about) if told else None)
    if not told:
        page.paragraph(note(say.no_worst))
    for number, (metric, samples) in enumerate(told):
        if number:
            page.line(Text())
        page.paragraph(words(metric, "bold cyan"))
        for sample in samples:
            _sample(page, sample, say)


def _sample(page: WidePage, one: ToldSample, say: Labels) -> None:
    facts = [words(one.one.id, "bold"), Text(one.value, "red")]
    if one.again:
        page.paragraph(Text("  ").join([*facts, note(say.shown_above)]), 2 * MARGIN)
        return
    facts.append(words(one.symptoms))
    heading = Text("  ").join([*(fact for fact in facts if fact), note(one.one.where)])
    page.paragraph(heading, 2 * MARGIN)
    for label, text in one.texts:
        page.paragraph(_short(label, text, LONGEST, say), INDENT)
    for id, text in one.contexts[:CONTEXTS_SHOWN]:
        page.paragraph(
            Text.assemble("· ", words(id, "cyan"), "  ", (shown(text, LONGEST_CONTEXT), "dim")),
            INDENT + 2,
            Text(" " * INDENT),
        )
    left = len(one.contexts) - CONTEXTS_SHOWN
    if left > 0:
        page.paragraph(note(say.counted(left, say.more_contexts)), INDENT)
    if one.retrieved:
        page.paragraph(_short(say.retrieved, one.retrieved, LONGEST, say), INDENT)
    if one.missing:
        page.paragraph(note(one.missing), INDENT)


def _short(label: str, text: str, most: int, say: Labels) -> Text:
    return Text.assemble((f"{label}{say.signs.colon}", "dim"), shown(text, most))
