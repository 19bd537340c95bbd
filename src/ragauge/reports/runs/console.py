"""Recorded runs for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragauge.contracts.archive import RunList
from ragauge.contracts.history import Run
from ragauge.reports import numbers
from ragauge.reports.foreign import shown
from ragauge.reports.runs import story
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, widths, words

LONGEST_NAME = 24
LONGEST_LINE = 40
"""Runs of a sparkline: the newest."""
NUMBER = 5
"""Columns that a value takes."""

_BLOCKS = "▁▂▃▄▅▆▇█"


def render_list(listed: RunList, *, color: bool = False, width: int = 100) -> str:
    """The runs as a table no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    page.line(_title(listed))
    page.line(Text())
    _table(page, listed.runs)
    _legend(page, listed)
    _trends(page, listed.runs)
    return page.text()


def render_head(run: Run, *, color: bool = False, width: int = 100) -> str:
    """Who a run is: its name and verdict, then what it was made from."""
    page = Page(color, width)
    names = dict.fromkeys([run.record.name, run.record.command])
    told = words(", ".join(names), "bold")
    page.line(Text("  ").join([_verdict(run), told, Text(run.shown)]))
    facts = story.facts(run)
    room = max(len(label) for label, _ in facts) + MARGIN + GAP
    for label, text in facts:
        page.paragraph(words(text), room, Text(f"{' ' * MARGIN}{label}".ljust(room), "dim"))
    return page.text()


def sparkline(values: Sequence[float]) -> str:
    """The values as blocks between the least and the greatest; level where they are all the same.

    >>> sparkline([0.1, 0.2, 0.8]), sparkline([0.5, 0.5])
    ('▁▂█', '▄▄')
    """
    low, high = min(values), max(values)
    if low == high:
        return _BLOCKS[3] * len(values)
    return "".join(_BLOCKS[round((value - low) / (high - low) * 7)] for value in values)


def _title(listed: RunList) -> Text:
    count = numbers.counted(len(listed.runs), "run")
    told = f"the newest {count}" if listed.more else count
    return Text.assemble((told, "bold"), (" in ", "dim"), note(listed.store))


def _table(page: Page, runs: Sequence[Run]) -> None:
    """A line a run with its headlines, and below it what has no column."""
    rows = [head("run", "recorded (UTC)", "name", "verdict"), *map(_who, runs)]
    room = page.width - MARGIN - sum(widths(rows)) - GAP * (len(rows[0]) - 1)
    chosen = _fitting(story.headlines(runs), room)
    rows[0] += head(*chosen.values())
    for row, run in zip(rows[1:], runs, strict=True):
        row += [_value(run, id) for id in chosen]
    page.table(
        rows,
        right=range(4, 4 + len(chosen)),
        notes=[Text(), *map(_beside, runs)],
    )


def _who(run: Run) -> list[Text]:
    return [
        Text(run.shown, "cyan"),
        Text(story.when(run.record.recorded_at)),
        Text(shown(run.record.name, LONGEST_NAME), "bold"),
        _verdict(run),
    ]


def _verdict(run: Run) -> Text:
    word = story.verdict(run)
    return Text(word, "bold red") if word == story.REGRESSED else styled(word)


def _fitting(ids: Sequence[str], room: int) -> dict[str, str]:
    """The metrics there is room for, in order, by the names to show."""
    chosen = {}
    for id, name in story.short_names(ids).items():
        room -= max(len(name), NUMBER) + GAP
        if room < 0:
            break
        chosen[id] = name
    return chosen


def _value(run: Run, id: str) -> Text:
    score = run.record.metrics.get(id)
    return Text("" if score is None else numbers.value(score.value))


def _beside(run: Run) -> Text:
    parts = [words(run.record.command, "dim")]
    if run.record.git:
        parts.append(words(story.code(run.record.git), "dim"))
    if run.tags:
        parts.append(words(f"tagged {', '.join(run.tags)}", "yellow"))
    parts += [words(label, "dim") for label in story.labels(run)]
    return Text("  ").join(parts)


def _legend(page: Page, listed: RunList) -> None:
    notes = []
    if any(run.record.git and run.record.git.dirty for run in listed.runs):
        notes.append(f"{story.DIRTY} files differed from the commit")
    if listed.more:
        notes.append("older runs: --limit, or --name and the other filters")
    if notes:
        page.line(Text())
        page.paragraph(note("; ".join(notes)))


def _trends(page: Page, runs: Sequence[Run]) -> None:
    trends = story.trends(runs)
    if not trends:
        return
    page.section("Over time", note("the newest on the right"))
    names = story.short_names({trend.metric for trend in trends})
    page.table([_trend(trend, names) for trend in trends])


def _trend(trend: story.Trend, names: dict[str, str]) -> list[Text]:
    first, last = numbers.value(trend.values[0]), numbers.value(trend.values[-1])
    return [
        Text(shown(trend.name, LONGEST_NAME), "bold"),
        words(names[trend.metric]),
        Text(sparkline(trend.values[-LONGEST_LINE:]), "cyan"),
        Text(f"{first} to {last}"),
    ]
