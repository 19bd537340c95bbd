"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.annotation import AgreementReport
from ragauge.reports import comment
from ragauge.reports.agreement import story
from ragauge.reports.comment import LONGEST_ID, code, without_empty
from ragauge.reports.numbers import ABSENT

SHOWN = 20
"""With as many annotators as there can be, the comment is still one that GitHub takes."""


def render(report: AgreementReport) -> str:
    word, words = story.verdict_words(report)
    blocks = [
        f"## Ragauge agreement: {word}",
        comment.sentence(words),
        "\n".join(f"- {code(annotator)}" for annotator in story.annotator_words(report)),
        *(block for section in story.sections(report, SHOWN) for block in _section(section)),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(blocks, story.coverage_words(report))


def _section(section: story.Section) -> Iterator[str]:
    yield f"### {section.title}"
    if section.beside:
        yield comment.sentence(section.beside)
    rows = [
        [
            *(_cell(cell, place in section.verbatim) for place, cell in enumerate(row)),
            code(note) if note else "",
        ]
        for row, note in zip(section.rows, section.notes, strict=True)
    ]
    yield without_empty((*section.heads, "note"), rows, section.right)
    if section.more:
        yield f"And {section.more:,} more; the JSON report has them."


def _cell(cell: str, verbatim: bool) -> str:
    """A cell; what stops the run stands out."""
    if verbatim and cell != ABSENT:
        return code(cell, LONGEST_ID)
    return f"**{cell}**" if cell in ("FAIL", "NOT EVALUATED") else cell
