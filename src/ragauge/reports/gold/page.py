"""What the lines of every report about a gold set are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.gold_report import GoldReport
from ragauge.reports.terminal import Page, words
from ragauge.text.visible import one_line

WIDTH = 240
"""Room for any message; what is longer was made to be."""
PLACES_SHOWN = 3
"""Places of one code that are spelled out for a person; the JSON has more."""


def told(text: str) -> str:
    """Foreign words on one line, with nothing a terminal would obey."""
    return one_line(text, WIDTH)


def table(rows: Sequence[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Aligned lines, the first columns to the left and the others, of numbers, to the right."""
    page = Page(False, WIDTH)
    page.table([[words(cell) for cell in row] for row in rows], right=range(left, len(rows[0])))
    yield from page.text().splitlines()


def finding_lines(report: GoldReport, untold: Sequence[str] = ()) -> Iterator[str]:
    """The findings by code, errors first, each with its first places.

    The codes in `untold` are left out: the page has told them already.
    """
    severities = {finding.code: finding.severity for finding in report.findings}
    ranked = sorted((severity, code) for code, severity in severities.items())
    for severity, code in ranked:
        if code not in untold:
            yield ""
            yield from _one_code(report, severity, code)


def _one_code(report: GoldReport, severity: str, code: str) -> Iterator[str]:
    count = report.finding_counts[code]
    yield told(f"{severity} {code}: {count:,}")
    places = [finding for finding in report.findings if finding.code == code]
    for finding in places[:PLACES_SHOWN]:
        yield f"  {told(f'{finding.where}: {finding.message}')}"
    if count > PLACES_SHOWN:
        yield f"  and {count - PLACES_SHOWN:,} more; see --format json"


def first(texts: Iterable[str], most: int) -> str:
    """The first texts, and how many there are beyond them."""
    every = list(texts)
    tail = [f"and {len(every) - most:,} more"] if len(every) > most else []
    return ", ".join([*every[:most], *tail])
