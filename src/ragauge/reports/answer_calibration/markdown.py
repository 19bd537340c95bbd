"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.answer_calibration import AnswerCalibrationReport
from ragauge.reports import comment
from ragauge.reports.answer_calibration import story


def render(report: AnswerCalibrationReport) -> str:
    word, told = story.verdict_words(report)
    blocks = [
        f"## Ragauge calibration: {word}",
        comment.prose(told) + ".",
        comment.prose(story.meaning(report)),
        *_table(
            "Agreement with people", story.SCORE_HEADS, story.score_rows(report), story.SCORE_RIGHT
        ),
        *_reasoned(
            "Kinds of answers",
            story.KIND_HEADS,
            story.kind_rows(report),
            story.KIND_RIGHT,
            story.kind_reasons(report),
        ),
        *_table("Controls", story.CONTROL_HEADS, story.control_rows(report), story.CONTROL_RIGHT),
        *_reasoned(
            "Bias",
            story.BIAS_HEADS,
            story.bias_rows(report),
            story.BIAS_RIGHT,
            story.bias_reasons(report),
        ),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(blocks, comment.prose(story.coverage_words(report)))


def _reasoned(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Iterable[int],
    reasons: Sequence[str],
) -> Iterator[str]:
    """A table whose last column says why."""
    told = [[*row, comment.prose(why)] for row, why in zip(rows, reasons, strict=True)]
    yield from _table(title, (*heads, "reason"), told, right)


def _table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int]
) -> Iterator[str]:
    if rows:
        yield f"### {title}"
        yield comment.table(heads, rows, right=right)
