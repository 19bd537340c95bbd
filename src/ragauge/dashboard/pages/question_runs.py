"""The other answers to a question: those of the same run side by side, and those of other runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragauge.contracts.audit import OK
from ragauge.contracts.history import UnitRow
from ragauge.contracts.paging import UnitInRun
from ragauge.contracts.run import FACTORS
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard import parts
from ragauge.dashboard.links import run_names
from ragauge.dashboard.pages.question_trace import Answer
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.unit_list import Ways, right_means
from ragauge.dashboard.unit_list import outcome as outcome_of
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Card, Cell, Column, Section, Span, Text, Words, names
from ragauge.reports.figures.heat_map import class_of, level, outcome
from ragauge.reports.kinds.runs import when
from ragauge.reports.kinds.trace_eval import OUTCOMES
from ragauge.reports.kinds.trace_eval import outcome as traced_outcome
from ragauge.text.marks import Differing

MOST_CARDS = 50
NAMED, WORDINGS = 50, 3
"""Runs and wordings of a card that are shown; the download has all."""
LAST = 20
"""Runs that are shown."""
UNKNOWN = {
    "answer": ("", "none", "answered"),
    "refusal": ("", "refused", "refused"),
    "error": ("", "failed", "failed"),
}
"""How an answer is drawn of which nobody says whether it is correct."""
Outcome = tuple[str, str, str]
"""How an answer ended: its mark, the class that draws it, and in words."""


class Among(NamedTuple):
    """One answer among the others."""

    place: int
    answer: Answer
    varied: str
    outcome: Outcome

    @property
    def alike(self) -> tuple[str, str, tuple[str, ...]]:
        return self.outcome[2], self.answer.said, self.answer.cited_ids


def grouped(answers: Sequence[Answer], outcomes: Mapping[str, Outcome] = {}) -> list[list[Among]]:
    """Answers that are the same together, the commonest outcome first, then the commonest answer.

    `outcomes` are those of a trace evaluation, by run id.
    """
    traces = [one.trace for one in answers]
    factors = [name for name in FACTORS if len({getattr(one, name) for one in traces}) > 1]
    groups: dict[tuple[str, str, tuple[str, ...]], list[Among]] = {}
    for place, one in enumerate(answers):
        kept, varied = one.kept, (f"{name} {level(getattr(one.trace, name))}" for name in factors)
        ended = UNKNOWN[one.kind]
        if kept.cell:
            ended = (kept.cell, class_of(kept.cell), outcome(kept.cell))
        elif kept.code not in (None, OK):
            ended = ("✗", "both", str(kept.code))
        elif kept.code == OK and one.kind == "answer":
            ended = ("✓", "right", "its citations hold")
        ended = outcomes.get(one.trace.run_id or "", ended)
        name = ", ".join(varied) or kept.where or f"answer {place + 1}"
        among = Among(place, one, name, ended)
        groups.setdefault(among.alike, []).append(among)
    counts = Counter(one.outcome[2] for group in groups.values() for one in group)

    def order(group: list[Among]) -> tuple[int, str, int, int]:
        ended = group[0].outcome[2]
        return -counts[ended], ended, -len(group), group[0].place

    return sorted(groups.values(), key=order)


def side_by_side(
    groups: Sequence[Sequence[Among]], ways: Ways, chosen: int | None, title: str
) -> Section:
    """A card for each different answer, compared with the commonest; the download has all runs."""
    common, differing = groups[0][0].answer, Differing()

    def compared(text: str, other: str) -> Words:
        whole = [Span("differs: ", "soft")] if differing.wholly(text, other) else []
        return [*whole, *doc.marked(differing(text, other))]

    def card(group: Sequence[Among]) -> Card:
        place, first, _, (mark, kind, ended) = group[0]
        asked = list(dict.fromkeys(one.answer.asked for one in group))[:WORDINGS]
        cited = [(id, id not in common.cited_ids) for id in first.cited_ids]
        lacks = ", ".join(id for id in common.cited_ids if id not in first.cited_ids)
        named: list[Span] = []
        for place, one, varied, _ in group[:NAMED]:
            here = place == chosen
            href = "" if here else ways.answer(one.trace.run_id, place) or ""
            name = Span(varied, "strong" if here else "", foreign=True, href=href)
            named += [*([Span("; ")] if named else []), name]
        left_out = f"; {len(group) - NAMED:,} more" if len(group) > NAMED else ""
        facts: list[tuple[str, Words]] = [
            *(("question", compared(text, common.asked)) for text in asked),
            ("error" if first.kind == "error" else "answer", compared(first.said, common.said)),
            ("cites", doc.marked(cited, ", ") or "nothing"),
            ("does not cite", doc.theirs(lacks)),
            ("runs", [*named, Span(left_out)]),
        ]
        times = Span(f" {numbers.counted(len(group), 'run')}", "soft")
        return Card([*doc.theirs(ended), times], facts, (mark, kind))

    cards = [card(group) for group in groups[:MOST_CARDS]]
    runs = sorted((one for group in groups for one in group), key=lambda one: one.place)
    counts = Counter((one.outcome[0], one.outcome[2]) for one in runs)
    ended = (f"{doc.listed(*one, sep=' ')}: {times:,}" for one, times in counts.most_common())
    more, unmarked = len(groups) - len(cards), differing.unmarked
    notes = doc.listed(
        f"{numbers.counted(more, 'other answer')} only in the download" if more > 0 else "",
        f"{numbers.counted(unmarked, 'text')} too long to compare" if unmarked else "",
    )
    heads = ("run_id", "varied", "outcome", "question", "answer", "cited", "latency_ms")
    rows = [
        (one.trace.run_id, varied, ended[2], one.asked, one.said, " ".join(one.cited_ids),
         one.trace.latency_ms)
        for _, one, varied, ended in runs
    ]  # fmt: skip
    return parts.section(
        title,
        *(Text(doc.theirs("; ".join(ended))), doc.Cards(cards), Text(notes, "soft")),
        doc.Data("runs", heads, lambda: rows),
        anchor="side-by-side",
        remark="Equal answers share a card; differences from the most frequent one are marked",
    )


def traced_outcomes(report: Any, unit: str) -> dict[str, Outcome]:
    """By run id, how each run of the question ended; empty where the report does not keep it."""
    found = {}
    for one in report.questions if isinstance(report, TraceEvalReport) else ():
        refused = ", though the question has an answer" if one.answerable else ", as it should"
        for run in one.runs if one.qid == unit else ():
            mark, kind, words = OUTCOMES[name := traced_outcome(run)]
            more = {"refusal": refused, "code": f": {run.code}"}.get(name, "")
            found[run.run_id] = (mark, kind, words + more)
    return found


def over_runs(over: Sequence[UnitInRun], ways: Ways, claim: str) -> Iterator[Block]:
    """Each run a row, the newest first, compared with what is claimed in this one."""
    differing, gold = Differing(), ways.run.record.gold_sha256
    of = "with the same gold set" if gold else "of the same command and name"
    if len(over) < 2:
        yield Section(
            title="Over runs", blocks=[Text(f"No other recorded run {of} has it.", "soft")]
        )
        return

    def is_here(one: UnitInRun) -> bool:
        return one.run.id == ways.run.id

    def name(one: UnitInRun) -> Cell:
        shown = f"{one.run.record.name} this run" if is_here(one) else run_names(one.run)
        href = None if is_here(one) else ways.in_run(one.run.id)
        return Cell(shown, one.run.id, drawn=drawn("named", href, shown, one.run.record.command))

    def ended(one: UnitInRun) -> Cell:
        text, badge, _ = outcome_of(one.row)
        return Cell(text, badge=badge, foreign=True)

    def claimed(one: UnitInRun) -> Cell:
        said = claim_of(one.row)
        pieces, wholly = (given(said, claim or said) for given in (differing, differing.wholly))
        return Cell(said, said, drawn=drawn("marked", pieces, wholly))

    def cited(one: UnitInRun) -> Cell:
        ids = one.row.detail.get("cited")
        return names(" ".join(map(str, ids)) if isinstance(ids, list | tuple) else "")

    def compared(one: UnitInRun) -> Cell:
        href = "" if is_here(one) else ways.beside(one.run.shown) or ""
        return Cell("compare" if href else "", href=href)

    def recorded(one: UnitInRun) -> Cell:
        return Cell(when(one.run.record.recorded_at), one.run.record.recorded_at)

    commands = dict.fromkeys(one.run.record.command for one in over)
    means = "; ".join(f"{command}: {right_means(command)}" for command in commands)
    remark = f"the last {numbers.counted(len(over), 'run')} {of}; words that this run's answer "
    yield doc.table(
        over,
        {
            "run": name,
            Column("recorded (UTC)", spare=1, key="recorded_at"): recorded,
            "outcome": ended,
            Column("answer", prose=True): claimed,
            Column("cited", spare=2): cited,
            "": compared,
        },
        title="Over runs",
        remark=f"{remark}does not have are marked. Correct means, by command: {means}",
        chosen=is_here,
        below=False,
        name="history",
    )


def claim_of(row: UnitRow) -> str:
    """What the answer claims, as the row keeps it; the error where it failed."""
    given = (row.detail.get(name) for name in ("claim", "error"))
    return next((one for one in given if isinstance(one, str) and one), "")
