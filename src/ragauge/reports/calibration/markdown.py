"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.calibration import CalibrationReport
from ragauge.reports import comment, numbers
from ragauge.reports.calibration import story
from ragauge.reports.comment import LONGEST_ID, code, table

SHOWN = 25
WIDTH = 80


def render(report: CalibrationReport) -> str:
    word, told = story.verdict_words(report)
    blocks = [
        f"## Ragauge calibration: {word}",
        comment.prose(told) + ".",
        story.meaning(report),
        *_picture(report),
        *_tables(report),
        *_nearer(report),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(blocks, story.coverage_words(report))


def _picture(report: CalibrationReport) -> Iterator[str]:
    told, lines = story.picture(report, WIDTH)
    if lines:
        yield "### ΔS of the question"
        yield comment.sentence(told)
        yield comment.block(lines)


def _tables(report: CalibrationReport) -> Iterator[str]:
    cuts, samples = story.threshold_rows(report), story.sample_rows(report)
    if cuts:
        yield "### Thresholds"
        yield table(story.THRESHOLD_HEADS, cuts, right={1, 3, 4})
    if samples:
        yield table(story.SAMPLE_HEADS, samples, right=range(1, 6))


def _nearer(report: CalibrationReport) -> Iterator[str]:
    pairs = story.nearer(report)
    told = pairs[:SHOWN]
    if told:
        title = f"Decoy nearer than anchor: {numbers.counted(len(pairs), 'question')}"
        if len(told) < len(pairs):
            title += f", {len(told)} shown"
        rows = [
            [code(pair.qid, LONGEST_ID), *story.pair_row(pair)[1:], code(pair.question)]
            for pair in told
        ]
        heads = (*story.PAIR_HEADS, "asked")
        yield from comment.details(title, table(heads, rows, right={1, 2, 3}))
