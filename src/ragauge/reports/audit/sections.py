"""Sections of a terminal page that reports of `ragauge eval` share: verdict and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from ragauge.contracts.report import Score
from ragauge.reports import terminal
from ragauge.reports.terminal import GAP, Page, head, note, styled, words


def verdict(page: Page, headline: tuple[str, str], beside: str = "") -> None:
    """The verdict in a word and in a sentence; below it what it is about."""
    word, told = headline
    indent = len(word) + GAP
    page.paragraph(words(told, "bold"), indent, Text.assemble(styled(word), " " * GAP))
    if beside:
        page.paragraph(note(beside), indent)


def metrics(
    page: Page, told: Sequence[tuple[str, Score]], names: Mapping[str, str], title: str
) -> None:
    if not told:
        return
    page.section(title)
    rows = [head("metric", "value", "95 % interval", "scored")]
    rows += [terminal.metric_cells(names[id], score) for id, score in told]
    page.table(rows, right={1, 3}, notes=[Text(), *(note(score.reason) for _, score in told)])
