"""The trace evaluation as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalReport
from ragauge.reports import comment, numbers
from ragauge.reports.audit import blocks
from ragauge.reports.audit import story as audit
from ragauge.reports.comment import LONGEST_ID, code, table, without_empty
from ragauge.reports.trace_eval import story

QUESTIONS_SHOWN = 40


def render(report: TraceEvalReport) -> str:
    names = audit.metric_names(report.metrics, report.gates)
    others = audit.other_metrics(report.metrics, report.gates)
    found = audit.other_findings(report.codes, report.findings, report.finding_counts)
    recipe = story.recipe_words(report.recipe, report.coverage)
    told = audit.told_codes(report.codes, report.findings)
    codes = list(blocks.codes(told, story.codes_words(report)))
    made = [
        *blocks.verdict("trace-eval", story.verdict_words(report), recipe),
        *blocks.gates(report.gates, report.metrics, names),
        *(codes if report.codes_first else ()),
        *_states(report),
        *_at_k(report),
        *_questions(report),
        *(() if report.codes_first else codes),
        *comment.advice(report.advice),
        *blocks.metrics(others, names, "Other metrics" if report.gates else "Metrics"),
        *comment.findings(found),
    ]
    return comment.page(made, comment.prose(story.coverage_words(report)))


def _states(report: TraceEvalReport) -> Iterator[str]:
    rows = [
        [
            one.state,
            numbers.count(one.retrieval),
            numbers.count(one.answer),
            story.MEANINGS[one.state],
        ]
        for one in story.states(report)
    ]
    if rows:
        yield "### λ"
        yield table(("state", "retrieval", "answers", ""), rows, right={1, 2})


def _at_k(report: TraceEvalReport) -> Iterator[str]:
    rows = [[comment.prose(row[0]), *row[1:]] for row in story.at_k(report)]
    if rows:
        yield "### k sweep"
        yield table(story.K_HEADS, rows, right=set(range(1, len(story.K_HEADS))))
        if why := story.k_words(report):
            yield comment.prose(why)


def _questions(report: TraceEvalReport) -> Iterator[str]:
    ranked = story.ranked(report)
    if not ranked:
        return
    told = ranked[:QUESTIONS_SHOWN]
    wrong = sum(not story.right(one) for one in ranked)
    title = f"{numbers.n_of(wrong, len(ranked))} questions are not right every time"
    if len(told) < len(ranked):
        title += f", {len(told)} shown"
    heads = ("question", "retrieval", "answers", "breaks", "match", "coverage", "codes")
    rows = [_question(one) for one in told]
    yield from comment.details(title, without_empty(heads, rows, right={4, 5}))


def _question(one: TracedQuestion) -> list[str]:
    return [
        code(one.qid, LONGEST_ID),
        story.state_word(one.retrieval),
        story.state_word(one.answer),
        one.broken or numbers.ABSENT,
        story.matched_words(one),
        numbers.value(one.coverage),
        code(found) if (found := story.codes_of(one)) else "",
    ]
