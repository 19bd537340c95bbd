"""The report for a terminal: the verdict, the heat map, then why and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.text import Text

from ragauge.contracts.stability import QuestionStability, Shown, StabilityReport
from ragauge.reports import numbers, terminal
from ragauge.reports.beside import alone, beside
from ragauge.reports.stability import heat_text, story
from ragauge.reports.stability.gates import Gate, gates_of
from ragauge.reports.stability.heat_text import VERDICT_STYLES
from ragauge.reports.stability.runs import outcome, two_runs, variation_words
from ragauge.reports.terminal import (
    GAP,
    MARGIN,
    Page,
    bar,
    head,
    labelled,
    note,
    ranged,
    styled,
    widths,
    words,
)

WIDEST_BAR = 40
NARROWEST_RANGE = 12
"""With less room nothing is plotted."""
ROOM_FOR_MEANINGS = 110
QUESTIONS_SHOWN = 8


def render(report: StabilityReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    _verdict(page, report)
    _questions(page, report)
    _gates(page, report)
    _means(page, report)
    _heat_map(page, report)
    _unstable(page, report)
    _factors(page, report)
    _prompts(page, report)
    terminal.advice(page, report.advice)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report.coverage))
    _next(page, report)
    return page.text()


def excerpt(
    report: StabilityReport, qids: Sequence[str], *, color: bool = False, width: int = 100
) -> str:
    """The verdict, and of these questions alone the runs and the answers: a taste of it."""
    page = Page(color, width)
    _verdict(page, report)
    _questions(page, report)
    if qids and report.columns:
        page.section("Heat map", note("a row is a question, a letter a run"))
        for line in heat_text.lines(report, page.width, qids):
            page.line(line)
    for qid in qids:
        page.line(Text())
        _question(page, report, qid, report.details[qid])
    return page.text()


def _verdict(page: Page, report: StabilityReport) -> None:
    word, told = story.verdict_words(report)
    indent = len(word) + GAP
    page.paragraph(Text(told, "bold"), indent, Text.assemble(styled(word), " " * GAP))
    page.paragraph(note(story.cost_words(report.coverage)), indent)


def _questions(page: Page, report: StabilityReport) -> None:
    counts = story.verdict_counts(report)
    if not counts:
        return
    page.section("Questions")
    total = sum(times for _, times in counts)
    rows = [
        [
            Text(story.verdict_name(verdict)),
            Text(bar(times / total, _bar_room(page, 36)), VERDICT_STYLES[verdict]),
            Text(numbers.count(times)),
            note(numbers.share(times, total)),
        ]
        for verdict, times in counts
    ]
    page.table(rows, right={2, 3})


def _bar_room(page: Page, beside: int) -> int:
    return min(WIDEST_BAR, max(6, page.width - beside))


def _gates(page: Page, report: StabilityReport) -> None:
    gates = gates_of(report)
    if not gates:
        return
    page.section("Gates", note("the questions that hold each"))
    rows = [head("gate", "questions", "hold", "share"), *map(_gate, gates)]
    beside = [note("verdict"), *(styled(gate.word) for gate in gates)]
    taken = sum(widths(rows)) + max(word.cell_len for word in beside) + MARGIN + 5 * GAP
    room = min(WIDEST_BAR, page.width - taken)
    bars = [_held(gate, room) for gate in gates] if room >= NARROWEST_RANGE else []
    for row, word, plot in zip_longest(rows, beside, [Text(), *bars]):
        row.extend([plot, word] if bars else [word])
    page.table(rows, right={2, 3}, notes=[Text(), *(note(gate.note) for gate in gates)])


def _gate(gate: Gate) -> list[Text]:
    return [
        words(gate.name, "" if gate.holds else "bold"),
        note(gate.about),
        Text(gate.held),
        note(gate.percent),
    ]


def _held(gate: Gate, room: int) -> Text:
    return Text(bar(gate.share, room) if gate.share else "", "green" if gate.holds else "red")


def _means(page: Page, report: StabilityReport) -> None:
    if not report.metrics:
        return
    page.section("Means", note("over questions"))
    means = story.means(report)
    rows = [head("metric", "value", "95 % interval", "scored")]
    rows += [terminal.metric_cells(name, score) for name, score in means]
    value = 1
    if page.width >= ROOM_FOR_MEANINGS:
        value = 2
        told = ["", *(story.meaning(name) for name, _ in means)]
        for row, meaning in zip(rows, told, strict=True):
            row.insert(1, note(meaning))
    room = min(WIDEST_BAR, page.width - MARGIN - sum(widths(rows)) - GAP * len(rows[0]))
    if room >= NARROWEST_RANGE:
        plots = [Text(ranged(score.value, score.ci, room), "cyan") for _, score in means]
        scale = Text(f"0{'1'.rjust(room - 1)}", "dim")
        for row, plot in zip(rows, [scale, *plots], strict=True):
            row.append(plot)
    notes = [Text(), *(note(score.reason) for _, score in means)]
    page.table(rows, right={value, value + 2}, notes=notes)


def _heat_map(page: Page, report: StabilityReport) -> None:
    if not report.cells or not report.columns:
        return
    runs = numbers.counted(len(report.columns), "run")
    page.section("Heat map", note(f"a row is a question over {runs}, the worst first"))
    for line in heat_text.lines(report, page.width):
        page.line(line)
    left_out = story.left_out(report)
    if left_out:
        page.paragraph(note(f"{numbers.counted(left_out, 'question')} not in the report's rows"))


def _unstable(page: Page, report: StabilityReport) -> None:
    qids = story.unstable(report)
    if not qids:
        return
    page.section("Questions that are not stable")
    for number, qid in enumerate(story.some_unstable(report, QUESTIONS_SHOWN)):
        if number:
            page.line(Text())
        _question(page, report, qid, report.details[qid])
    if len(qids) > QUESTIONS_SHOWN:
        more = numbers.count(len(qids) - QUESTIONS_SHOWN)
        page.paragraph(note(f"and {more} more; --report FILE.html shows them with their runs"))


def _question(page: Page, report: StabilityReport, qid: str, one: QuestionStability) -> None:
    verdict = Text(story.verdict_name(one.verdict), VERDICT_STYLES[one.verdict])
    title = Text(" " * GAP).join((words(qid, "bold"), verdict, words(one.question)))
    page.line(Text(" " * MARGIN) + title)
    if one.failed:
        page.paragraph(labelled("fails", "; ".join(one.failed)), 2 * MARGIN)
    if one.explained_by is not None:
        page.paragraph(words(one.explained_by.words), 2 * MARGIN)
    _examples(page, report, one)


def _examples(page: Page, report: StabilityReport, one: QuestionStability) -> None:
    runs = two_runs(one)
    match [_facts(run, report, one) for run in runs]:
        case [left, right]:
            beside(page, left, right, below=3 * MARGIN)
        case [only]:
            alone(page, only, 3 * MARGIN)
    others = [outcome(run.cell) for run in one.examples if run not in runs]
    if others:
        page.paragraph(note(f"also: {'; '.join(others)}"), 2 * MARGIN)


def _facts(run: Shown, report: StabilityReport, one: QuestionStability) -> list[tuple[str, str]]:
    """What a run came to, was asked, said and cited."""
    asked = run.question_sent if run.question_sent != one.question else None
    return [
        (outcome(run.cell), variation_words(run.variation, report.columns)),
        ("asked", asked or ""),
        ("error" if run.error else "said", run.error or run.claim),
        ("cited", " ".join(run.cited)),
    ]


def _factors(page: Page, report: StabilityReport) -> None:
    effects = story.factor_effects(report.factors)
    if not effects:
        return
    page.section("What varies", note("pairs of runs that differ in one factor alone and disagree"))
    room = _bar_room(page, 40)
    rows = [
        [
            words(name),
            Text(bar(effect.rate, room) if effect.rate else "", "yellow"),
            Text(numbers.n_of(effect.differ, effect.pairs)),
            note(numbers.share(effect.differ, effect.pairs)),
        ]
        for name, effect in effects
    ]
    page.table(rows, right={2, 3})


def _prompts(page: Page, report: StabilityReport) -> None:
    idle = story.noops(report)
    if not idle:
        return
    page.section("Jitters without effect", note(story.prompts_words(report)))
    of = numbers.counted(len(report.details), "question")
    rows = [
        [words(jitter), note(f"changes nothing in {numbers.count(times)} of {of}: not run there")]
        for jitter, times in idle
    ]
    page.table(rows)


def _next(page: Page, report: StabilityReport) -> None:
    steps = list(story.next_steps(report))
    if not steps:
        return
    page.section("Next")
    for step in steps:
        page.paragraph(words(step))
