"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.stability import Shown, StabilityReport
from ragauge.reports import comment, numbers
from ragauge.reports.comment import LONGEST_ID, code, prose, table, without_empty
from ragauge.reports.stability import heat_text, story
from ragauge.reports.stability.gates import gates_of
from ragauge.reports.stability.heat import right_of
from ragauge.reports.stability.runs import outcome, two_runs

QUESTIONS_SHOWN = 25
WIDTH = 100
"""GitHub shows about as many characters of a code block before it scrolls."""


def render(report: StabilityReport) -> str:
    blocks = [
        *_verdict(report),
        *_gates(report),
        *_heat_map(report),
        *_unstable(report),
        *_factors(report),
        *comment.advice(report.advice),
        *_means(report),
        *comment.findings(story.findings(report)),
        *_next(report),
    ]
    return comment.page(blocks, story.coverage_words(report.coverage))


def _verdict(report: StabilityReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    yield f"## Ragauge stability: {word}"
    cost = comment.sentence(story.cost_words(report.coverage))
    yield f"{comment.sentence(words)} {cost}"


def _gates(report: StabilityReport) -> Iterator[str]:
    rows = [
        [
            code(gate.name),
            code(gate.about),
            gate.held,
            gate.percent,
            gate.word if gate.holds else f"**{gate.word}**",
            code(gate.note) if gate.note else "",
        ]
        for gate in gates_of(report)
    ]
    if rows:
        heads = ("gate", "questions", "hold", "share", "verdict", "note")
        yield without_empty(heads, rows, right={2, 3})


def _heat_map(report: StabilityReport) -> Iterator[str]:
    if report.cells and report.columns:
        yield "### Heat map"
        lines = heat_text.lines(report, WIDTH)
        yield comment.block(line.plain.removeprefix("  ").rstrip() for line in lines)


def _unstable(report: StabilityReport) -> Iterator[str]:
    everyone = story.unstable(report)
    if not everyone:
        return
    told = story.some_unstable(report, QUESTIONS_SHOWN)
    title = numbers.counted(len(everyone), "question is not stable", "questions are not stable")
    if len(told) < len(everyone):
        title += f", {len(told)} shown"
    heads = ("question", "verdict", "right", "fails", "explained by", "one run", "another")
    rows = [_question(report, qid) for qid in told]
    yield from comment.details(title, table(heads, rows, right={2}))


def _question(report: StabilityReport, qid: str) -> list[str]:
    one = report.details[qid]
    runs = [_run(run) for run in two_runs(one)]
    return [
        code(qid, LONGEST_ID),
        story.verdict_name(one.verdict),
        numbers.n_of(*right_of(report.cells[qid])),
        code("; ".join(one.failed)),
        code(one.explained_by.words if one.explained_by else None),
        *(runs + [numbers.ABSENT] * 2)[:2],
    ]


def _run(run: Shown) -> str:
    """What a run came to, said and cited."""
    said = code(run.error or run.claim)
    cited = f" {code(' '.join(run.cited), LONGEST_ID)}" if run.cited else ""
    return f"{outcome(run.cell)}: {said}{cited}"


def _factors(report: StabilityReport) -> Iterator[str]:
    rows = [
        [
            code(name),
            numbers.n_of(effect.differ, effect.pairs),
            numbers.share(effect.differ, effect.pairs),
        ]
        for name, effect in story.factor_effects(report.factors)
    ]
    if rows:
        yield "### What varies"
        yield table(("factor", "pairs of runs that disagree", "share"), rows, right={1, 2})
    idle = story.noops(report)
    if idle:
        of = numbers.counted(len(report.details), "question")
        told = ", ".join(f"{code(jitter)} in {numbers.count(times)}" for jitter, times in idle)
        yield f"Jitters that change nothing, and are not run: {told} of {of}."


def _means(report: StabilityReport) -> Iterator[str]:
    if report.metrics:
        rows = [comment.metric_cells(name, score) for name, score in story.means(report)]
        heads = ("metric", "value", "95 % interval", "scored", "note")
        yield "### Means over questions"
        yield without_empty(heads, rows, right={1, 3})


def _next(report: StabilityReport) -> Iterator[str]:
    steps = [f"- {prose(step)}" for step in story.next_steps(report)]
    if steps:
        yield "### Next"
        yield "\n".join(steps)
