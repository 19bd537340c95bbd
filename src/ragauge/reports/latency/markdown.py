"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.contracts.latency import Cell, Front, LatencyReport, shown_ms
from ragauge.reports import comment, numbers
from ragauge.reports.comment import LONGEST_ID, code, table, without_empty
from ragauge.reports.latency import scatter, story

WIDTH = 72


def render(report: LatencyReport) -> str:
    blocks = [*_verdict(report), *_guard(report)]
    for rate, cells, front in story.by_rate(report):
        blocks += _rate(rate, cells, front)
    blocks += [
        *_front(report),
        *comment.findings(story.findings(report)),
        f"Coverage: {story.coverage_words(report.coverage)}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _verdict(report: LatencyReport) -> Iterator[str]:
    word, told = story.verdict_words(report)
    yield f"## Ragauge latency: {word}"
    yield comment.prose(comment.sentence(told))


def _guard(report: LatencyReport) -> Iterator[str]:
    told = story.guarded(report)
    if told:
        yield "### Rollback guard"
        yield comment.prose(comment.sentence(story.guard_words(report)))
        rows = [_guarded(one) for one in told]
        yield without_empty((*story.GUARD_HEADS, "note"), rows, right=range(1, 5))


def _guarded(one: story.Guarded) -> list[str]:
    changes = [text if good else f"**{text}**" for text, good in story.guard_texts(one)]
    word = one.word if one.holds else f"**{one.word}**"
    note = code(one.note) if one.note else ""
    return [code(one.config, LONGEST_ID), f"{one.rate}/s", *changes, word, note]


def _rate(rate: float, cells: Sequence[Cell], front: Front | None) -> Iterator[str]:
    yield f"### At {rate:g} a second, in ms"
    rows = [_cell(cell, front) for cell in cells]
    yield without_empty((*story.HEADS, "note"), rows, right=range(1, len(story.HEADS)))
    unsure = story.unsure_words(cells)
    if unsure:
        yield comment.prose(unsure)


def _cell(cell: Cell, front: Front | None) -> list[str]:
    chosen = front is not None and cell.config in front.configs
    name = code(cell.config, LONGEST_ID) + (f" {story.ON_FRONT}" if chosen else "")
    texts = [text.replace(story.UNSURE, f"\\{story.UNSURE}") for text in story.cell_texts(cell)[1:]]
    note = story.cell_note(cell)
    return [name, *texts, code(note) if note else ""]


def _front(report: LatencyReport) -> Iterator[str]:
    plot = story.plotted(report)
    if plot is None:
        return
    front, cells = plot
    marks = scatter.marks(cells, front.configs)
    yield "### Pareto front"
    yield f"{story.ON_FRONT} No other is faster and more precise."
    yield comment.sentence(story.plot_words(front))
    yield comment.block(scatter.drawn(cells, front.configs, WIDTH))
    rows = [
        [
            marks[cell.config].replace(scatter.BEYOND, f"\\{scatter.BEYOND}"),
            code(cell.config, LONGEST_ID),
            shown_ms(cell.p95_ms or 0.0),
            numbers.value(cell.precision.value),
            numbers.interval(cell.precision.ci),
        ]
        for cell in cells
    ]
    yield table(("", "configuration", "P95", "precision", "95 % interval"), rows, right={2, 3})
    yield comment.prose(comment.sentence(story.choice_words(front)))
