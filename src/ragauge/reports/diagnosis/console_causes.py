"""The causes on a terminal page: the first in short below the verdict, then all of them ranked."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.diagnosis import DiagnosisReport, Standing
from ragauge.reports.diagnosis import causes, story
from ragauge.reports.diagnosis.causes import ToldAction, ToldCause, ToldEvidence
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.story import Lead
from ragauge.reports.diagnosis.wide_page import WidePage
from ragauge.reports.foreign import shown
from ragauge.reports.numbers import count
from ragauge.reports.terminal import GAP, MARGIN, bar, note, words

IN_FULL = 3
"""Of very many causes, nobody reads all that there is to say of the last ones here."""
WIDEST_BAR = 20
STYLES: dict[Standing, str] = {"likely": "bold red", "possible": "yellow"}
MARK_STYLES = {"for": "green", "against": "red"}
ARROW = "→ "


def lead(page: WidePage, found: Lead, say: Labels) -> None:
    """The likeliest cause, what speaks for it, and what to turn first; or why there is none."""
    page.line(Text())
    if found.cause is None:
        page.paragraph(_labelled(found.heading, found.why, say, "bold"), 0)
        return
    page.paragraph(_labelled(found.heading, found.cause.one.title, say, "bold"), 0)
    page.paragraph(words(say.told([found.cause.explains, found.evidence])))
    if found.step:
        first = Text.assemble("  ", (ARROW, "cyan"))
        page.paragraph(_labelled(found.turn, found.step, say, "bold"), len(first), first)


def ranked(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    """The causes that the samples speak for or allow; a heading even where there is none."""
    told = causes.claimed(report)
    page.section(say.heads.causes, note(say.heads.causes_about) if told else None)
    if not told:
        page.paragraph(_labelled(say.no_cause, story.why_no_cause(report), say))
    for cause in told:
        _cause(page, cause, len(told), say)
    if len(told) > IN_FULL:
        page.line(Text())
        page.paragraph(note(say.in_full.format(n=count(IN_FULL))))


def _cause(page: WidePage, cause: ToldCause, of: int, say: Labels) -> None:
    mark = Text(f"{cause.number}. ".rjust(MARGIN + len(f"{of}. ")))
    indent = len(mark)
    standing = Text(cause.standing, STYLES[cause.one.standing])
    if cause.number > 1:
        page.line(Text())
    page.paragraph(Text("  ").join([words(cause.one.title, "bold"), standing]), indent, mark)
    if cause.explains:
        drawn = bar(cause.share, WIDEST_BAR) if cause.share else ""
        explains = Text.assemble((drawn, "red"), "  " if drawn else "", words(cause.explains))
        page.paragraph(explains, indent)
    page.paragraph(note(say.listed([*cause.one.metrics, cause.one.id])), indent)
    if cause.number <= IN_FULL:
        _in_full(page, cause, indent, say)
        return
    page.paragraph(words(cause.gist), indent)
    for action in cause.actions[:1]:
        _action(page, action, indent, say)


def _in_full(page: WidePage, cause: ToldCause, indent: int, say: Labels) -> None:
    if cause.one.means:
        page.paragraph(words(cause.one.means), indent)
    for one in cause.evidence:
        _evidence(page, one, indent, say)
    if cause.one.why:
        page.paragraph(_labelled(say.why, cause.one.why, say), indent)
    page.paragraph(_labelled(say.confirm, cause.one.confirm, say), indent)
    for action in cause.actions:
        _action(page, action, indent, say)
        price = say.told([action.costs, action.worsens])
        if price:
            page.paragraph(note(price), indent + len(ARROW))
    if cause.one.samples:
        page.paragraph(_labelled(say.see, " ".join(cause.one.samples), say), indent)


def _evidence(page: WidePage, one: ToldEvidence, indent: int, say: Labels) -> None:
    first = Text.assemble(" " * indent, (f"{one.mark} ", MARK_STYLES[one.speaks]))
    beside = say.beside(shown(say.told([one.counts, one.sign])))
    text = Text.assemble(words(one.text), (beside, "dim"))
    page.paragraph(text, len(first), first)


def _action(page: WidePage, one: ToldAction, indent: int, say: Labels) -> None:
    first = Text.assemble(" " * indent, (ARROW, "cyan"))
    step = _labelled(one.knob, one.do, say, "bold") if one.knob else words(one.do)
    page.paragraph(step, len(first), first)


def untested(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    """The causes that the samples cannot tell, with what is missing: a line for each lack."""
    told = causes.untested(report)
    if not told:
        return
    about = f"{count(len(told))}{say.signs.semicolon}{say.heads.untested_about}"
    page.section(say.heads.untested, note(about))
    width = MARGIN + len(f"{told[-1].number}. ")
    for why, alike in causes.untested_by_why(told):
        first, *others = alike
        titles = [words(first.one.title), *map(_numbered, others)]
        told_why = Text.assemble((say.signs.colon, "dim"), note(why))
        mark = Text(f"{first.number}. ".rjust(width), "dim")
        page.paragraph(Text(say.signs.semicolon).join(titles) + told_why, width, mark)


def _numbered(cause: ToldCause) -> Text:
    return Text.assemble((f"{cause.number}. ", "dim"), words(cause.one.title))


def struck_out(page: WidePage, report: DiagnosisReport, say: Labels) -> None:
    """The causes that the samples exclude: a line for each reason to."""
    struck = causes.struck_out(report)
    if not struck:
        return
    about = f"{count(len(struck))}{say.signs.semicolon}{say.heads.struck_out_about}"
    page.section(say.heads.struck_out, note(about))
    for why, alike in causes.struck_by_why(struck):
        titles = Text(say.signs.semicolon).join(words(one.title) for one in alike)
        first = Text(" " * MARGIN + "× ", "dim")
        text = Text.assemble(note(why), (say.signs.colon if why else "", "dim"), titles)
        page.paragraph(text, MARGIN + GAP, first)


def _labelled(label: str, text: str, say: Labels, style: str = "dim") -> Text:
    return Text.assemble(words(label, style), (say.signs.colon, style), words(text))
