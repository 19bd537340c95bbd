"""How reports about gold sets are shown: lines and tables for a person, or the common JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ragauge.contracts.gold_report import GoldReport

WIDTH = 240
"""Room for any message; what is longer was made to be."""


def show(report: GoldReport, lines: Iterable[str], format: str | None) -> None:
    """Print a report on stdout; the lines are made only where they are asked for."""
    if format == "json":
        from ragauge.reports.json import render

        click.echo(render(report), nl=False)
        return
    for line in lines:
        click.echo(line)


def table(rows: Sequence[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Aligned lines, the first columns to the left and the others, of numbers, to the right."""
    from ragauge.reports.terminal import Page, words

    page = Page(False, WIDTH)
    page.table([[words(cell) for cell in row] for row in rows], right=range(left, len(rows[0])))
    yield from page.text().splitlines()


def told(text: str) -> str:
    """Foreign words on one line, with nothing a terminal would obey."""
    from ragauge.text.visible import one_line

    return one_line(text, WIDTH)


def finding_lines(report: GoldReport) -> Iterator[str]:
    """The findings by code, errors first, each with its first places."""
    from ragauge.cli.gold import _finding_lines

    for line in _finding_lines(report):
        yield f"  {told(line)}" if line.startswith("  ") else told(line)


def questions(count: int) -> str:
    """
    >>> questions(1), questions(1200)
    ('1 question', '1,200 questions')
    """
    return f"{count:,} question" if count == 1 else f"{count:,} questions"


def names_in(text: str | None) -> list[str] | None:
    """Names written with commas; None where nothing was written."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
