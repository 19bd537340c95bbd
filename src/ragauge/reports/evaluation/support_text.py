"""The least grounded answers on a terminal page: each sentence with a mark, a score, evidence."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragauge.contracts.evaluation import EvidenceText
from ragauge.reports import numbers
from ragauge.reports.evaluation import support
from ragauge.reports.evaluation.spans import safe
from ragauge.reports.evaluation.support import (
    FULL,
    LEVELS,
    NONE,
    PART,
    Level,
    ToldAnswer,
    ToldSentence,
)
from ragauge.reports.terminal import Page, labelled, note, words

ANSWERS_SHOWN = 5
SENTENCES_SHOWN = 6
"""Of one answer, the least supported."""
BESIDE = 36
"""Characters of a context on each side of the evidence."""
STYLES = {FULL: "green", PART: "yellow", NONE: "bold red"}
INDENT = 4
WIDE = len("✗ 0.00  ")


def told(page: Page, found: Sequence[ToldAnswer]) -> None:
    """The answers with something to see, and how many more the report keeps."""
    weak = [one for one in found if one.is_weak]
    if not found:
        return
    page.section(support.title(found))
    if not weak:
        page.paragraph(note(_fine(found)))
        return
    if any(one.sentences for one in weak):
        page.paragraph(_key())
    for one in weak[:ANSWERS_SHOWN]:
        page.line(Text())
        _answer(page, one)
    if len(weak) > ANSWERS_SHOWN:
        left = numbers.count(len(weak) - ANSWERS_SHOWN)
        page.line(Text())
        page.paragraph(note(f"and {left} more; --report FILE.html shows them"))


def _fine(found: Sequence[ToldAnswer]) -> str:
    """What can be said of answers that show nothing weak."""
    if any(one.sentences for one in found):
        return "every sentence of the answers that are kept is supported"
    bound = numbers.value(support.SUPPORTED)
    return f"none of the answers that are kept is below {bound}; their sentences were not looked at"


def _key() -> Text:
    """How the marks are explained."""
    marks = [
        Text.assemble((level.mark, STYLES.get(level, "dim")), (f" {level.words}", "dim"))
        for level in LEVELS
    ]
    return Text("   ").join(marks)


def _answer(page: Page, one: ToldAnswer) -> None:
    page.paragraph(_heading(one))
    if one.question:
        page.paragraph(words(one.question), INDENT)
    if not one.sentences:
        _unparted(page, one)
    some = one.some(SENTENCES_SHOWN)
    for sentence in some:
        _sentence(page, sentence)
    if left := len(one.sentences) - len(some):
        page.paragraph(note(f"and {numbers.counted(left, 'more sentence')}"), INDENT + WIDE)


def _unparted(page: Page, one: ToldAnswer) -> None:
    """An answer whose sentences nobody looked at; or that there is none."""
    if one.answer:
        page.paragraph(words(one.answer), INDENT)
    if one.reason or not one.answer:
        page.paragraph(note(one.reason or "no answer"), INDENT)


def _heading(one: ToldAnswer) -> Text:
    """The answer's id, how far it is grounded, and what that comes to."""
    told = [words(one.id, "bold")]
    if one.value is not None:
        told.append(Text(f"{one.by} {numbers.value(one.value)}", _style(one.level)))
    return Text("  ").join([*told, *(note(text) for text in (one.called, one.kind) if text)])


def _sentence(page: Page, one: ToldSentence) -> None:
    style = _style(one.level)
    first = Text.assemble(" " * INDENT, (f"{one.level.mark} {one.value:<4}  ", style))
    text = Text()
    for piece, missing in one.pieces:
        text.append(safe(piece), style if missing else "")
    indent = INDENT + WIDE
    page.paragraph(text, indent, first)
    if one.missing:
        page.paragraph(labelled("not in the contexts", one.missing_words), indent)
    elif one.reason:
        page.paragraph(note(one.reason), indent)
    if one.is_weak and one.evidence is not None:
        page.paragraph(_evidence(one.evidence), indent)


def _evidence(evidence: EvidenceText) -> Text:
    """The best evidence there is: its chunk, and the words that match, in brackets."""
    text = Text.assemble(("nearest: ", "dim"), words(evidence.chunk, "cyan"), "  ")
    for piece, matches in support.quoted(evidence, BESIDE):
        parts = [("[", "dim"), safe(piece), ("]", "dim")] if matches else [(safe(piece), "dim")]
        text.append_text(Text.assemble(*parts))
    return text


def _style(level: Level) -> str:
    return STYLES.get(level, "dim")
