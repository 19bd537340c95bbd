"""The evaluation of all components as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.reports import comment
from ragauge.reports.audit import blocks
from ragauge.reports.comment import prose
from ragauge.reports.eval_all import story
from ragauge.reports.evaluation import story as evaluation
from ragauge.reports.evaluation.markdown import numbers_of, told_table


def render(report: EvalAllReport) -> str:
    names = story.metric_names(report)
    failures = story.failures(report)
    told = [
        *blocks.verdict("eval all", story.verdict_words(report), story.model_words(report)),
        *told_table(story.summary(report)),
        *(told_table(failures) if failures else ()),
        *blocks.gates(story.gates_told(report), report.metrics, names),
        *blocks.metrics(story.other_metrics(report), names, "Other numbers"),
        *_tasks(report),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(told, prose(story.coverage_words(report)))


def _tasks(report: EvalAllReport) -> Iterator[str]:
    for name, one in story.tasks(report):
        word, told = evaluation.verdict_words(one)
        title = f"{story.TITLES.get(name, 'Task')}: {word}"
        about = (told, evaluation.coverage_words(one.coverage))
        words = " ".join(comment.sentence(prose(part)) for part in about)
        yield from comment.details(title, words, *numbers_of(one))
