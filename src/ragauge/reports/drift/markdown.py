"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.drift import DriftReport
from ragauge.reports import comment
from ragauge.reports.comment import LONGEST_ID, code, prose, table
from ragauge.reports.drift import story
from ragauge.reports.numbers import ABSENT, count

SHOWN = 50


def render(report: DriftReport) -> str:
    word, words = story.verdict_words(report)
    blocks = [
        f"## Ragauge drift: {word}",
        comment.sentence(words),
        "\n".join(f"- {code(manifest)}" for manifest in story.manifest_words(report)),
        *_differences(report),
        *_consequences(report),
    ]
    return comment.page(blocks, prose(story.coverage_words(report)))


def _differences(report: DriftReport) -> Iterator[str]:
    rows = story.rows(report, SHOWN)
    if not rows:
        return
    yield "### Differences"
    yield table(story.HEADS, [[_cell(cell) for cell in row] for row in rows])
    more = report.difference_count - len(rows)
    if more:
        yield f"And {more:,} more; the JSON report has them."


def _consequences(report: DriftReport) -> Iterator[str]:
    rows = [
        [code(one.code), count(one.times), prose(one.follows), prose(one.tip)]
        for one in story.consequences(report)
    ]
    if rows:
        yield "### For citations of the index that was"
        yield table(("difference", "times", "what follows", "next step"), rows, right={1})


def _cell(cell: str) -> str:
    return cell if cell == ABSENT else code(cell, LONGEST_ID)
