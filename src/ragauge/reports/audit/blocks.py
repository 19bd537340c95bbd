"""Blocks of a pull request comment that every audit has: gates, codes with places, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.audit import story
from ragauge.reports.audit.story import ToldCode
from ragauge.reports.comment import LONGEST_ID, code, prose, table, without_empty

CITED_SHOWN = 4


def verdict(command: str, headline: tuple[str, str], beside: str = "") -> Iterator[str]:
    word, told = headline
    yield f"## Ragauge {command}: {word}"
    yield " ".join(comment.sentence(prose(text)) for text in (told, beside) if text)


def gates(
    given: Sequence[Verdict], metrics: Mapping[str, Score], names: Mapping[str, str]
) -> Iterator[str]:
    if not given:
        return
    interval = envelope.interval_title(given)
    heads = ("gate", "value", interval, "scored", "bound", "verdict", "note")
    rows = [
        [
            code(names[gate.metric]),
            numbers.value_beside(gate.value, gate.bound),
            numbers.interval(gate.ci),
            numbers.n_of(gate.n, envelope.scored_of(metrics, gate)),
            code(numbers.bound(gate)),
            comment.gate_verdict(gate),
            code(note) if (note := envelope.gate_note(gate)) else "",
        ]
        for gate in given
    ]
    yield without_empty(heads, rows, right={1, 3})


def metrics(
    told: Sequence[tuple[str, Score]], names: Mapping[str, str], title: str
) -> Iterator[str]:
    if told:
        yield f"### {title}"
        rows = [comment.metric_cells(names[id], score) for id, score in told]
        yield without_empty(("metric", "value", "95 % interval", "scored", "note"), rows, {1, 3})


def codes(told: Sequence[ToldCode], about: str = "") -> Iterator[str]:
    """The codes with their next steps, and their first places to be opened."""
    if not told:
        return
    yield "### Codes"
    if about:
        yield comment.sentence(prose(about))
    rows = [
        [
            code(one.one.code),
            numbers.count(one.one.answers),
            numbers.count(one.one.findings),
            prose(one.one.means),
            prose(one.one.tip),
        ]
        for one in told
    ]
    heads = ("code", "answers", "findings", "what it means", "next step")
    yield table(heads, rows, right={1, 2})
    yield from comment.details("First places of each code", *_places(told))


def _places(told: Sequence[ToldCode]) -> Iterator[str]:
    for one in told:
        lines = [f"- {code(story.finding_words(place))}" for place in one.places]
        if one.more:
            lines.append(f"- and {numbers.count(one.more)} more")
        yield "\n".join((f"{code(one.one.code)}", "", *lines))


def cited(ids: Sequence[str]) -> str:
    """The cited ids; of many the first, and how many more there are."""
    if not ids:
        return numbers.ABSENT
    told = " ".join(code(id, LONGEST_ID) for id in ids[:CITED_SHOWN])
    more = len(ids) - CITED_SHOWN
    return f"{told} and {numbers.count(more)} more" if more > 0 else told
