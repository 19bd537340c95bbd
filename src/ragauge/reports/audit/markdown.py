"""The audit as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.audit import AuditedAnswer, AuditReport
from ragauge.reports import comment, numbers
from ragauge.reports.audit import blocks, story
from ragauge.reports.comment import LONGEST_ID, code, table

ANSWERS_SHOWN = 25


def render(report: AuditReport) -> str:
    names = story.metric_names(report.metrics, report.gates)
    others = story.other_metrics(report.metrics, report.gates)
    found = story.other_findings(report.codes, report.findings, report.finding_counts)
    told = [
        *blocks.verdict("audit", story.verdict_words(report)),
        *blocks.gates(report.gates, report.metrics, names),
        *blocks.codes(story.told_codes(report.codes, report.findings)),
        *_answers(report),
        *_depths(report),
        *blocks.metrics(others, names, "Other metrics" if report.gates else "Metrics"),
        *comment.advice(report.advice),
        *comment.findings(found),
    ]
    return comment.page(told, story.coverage_words(report.coverage))


def _answers(report: AuditReport) -> Iterator[str]:
    everyone = story.wrong_answers(report)
    if not everyone:
        return
    wrong = story.wrong_answers(report, ANSWERS_SHOWN)
    title = numbers.counted(len(everyone), "answer does not hold", "answers do not hold")
    if len(wrong) < len(everyone):
        title += f", {len(wrong)} shown"
    heads = ("question", "code", "findings", "cited", "where")
    yield from comment.details(title, table(heads, [_answer(row) for row in wrong], right={2}))


def _answer(row: AuditedAnswer) -> list[str]:
    return [
        code(row.qid, LONGEST_ID),
        code(row.code),
        numbers.count(row.findings),
        blocks.cited(row.cited),
        code(row.where),
    ]


def _depths(report: AuditReport) -> Iterator[str]:
    yield "### Depths"
    rows = [
        [
            depth,
            story.held_of(one) if one else numbers.ABSENT,
            numbers.share(one.ok, one.checked) if one else numbers.ABSENT,
            story.depth_words(depth, one),
        ]
        for depth, one in story.depths_told(report)
    ]
    yield table(("depth", "answers that hold", "share", ""), rows, right={1, 2})
