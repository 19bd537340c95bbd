"""The other answers to a question: those of the same run side by side, and those of other runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.audit import OK, STATES
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.paging import UnitInRun
from ragauge.contracts.run import FACTORS
from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalReport
from ragauge.dashboard import parts
from ragauge.dashboard.links import run_names
from ragauge.dashboard.pages.question_trace import citations_of, read_answer
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.rightness import outcome as outcome_of
from ragauge.dashboard.rightness import right_means
from ragauge.dashboard.unit_list import Ways
from ragauge.metrics.facts import Reader
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.differences import Differing, spans
from ragauge.reports.document import Block, Card, Cell, Column, Section, Span, Text, Words, names
from ragauge.reports.figures.heat_map import class_of, level, outcome
from ragauge.reports.kinds.runs import when
from ragauge.reports.kinds.trace_eval import MEANINGS, OUTCOMES
from ragauge.reports.kinds.trace_eval import outcome as traced_outcome

MOST_CARDS = 50
NAMED, WORDINGS = 50, 3
"""Runs and wordings of a card that are shown; the download has all."""
LAST = 20
"""Runs that are shown."""
LAMBDA = {"answer": "answers", "retrieval": "what is retrieved"}
UNKNOWN = {
    "answer": ("", "none", "answered"),
    "refusal": ("", "refused", "refused"),
    "error": ("", "failed", "failed"),
}
"""How an answer is drawn of which nobody says whether it is correct."""
Outcome = tuple[str, str, str]
"""How an answer ended: its mark, the class that draws it, and in words."""


class OneAnswer(Struct, frozen=True, kw_only=True):
    """One answer among the others."""

    place: int
    run_id: str | None
    varied: str
    asked: str
    outcome: Outcome
    said: str
    cited: tuple[str, ...]
    ms: float | None

    @property
    def alike(self) -> tuple[str, str, tuple[str, ...]]:
        return self.outcome[2], self.said, self.cited


def grouped(
    answers: Sequence[KeptAnswer],
    gold: Gold | None,
    reader: Reader,
    outcomes: Mapping[str, Outcome] = {},
) -> list[list[OneAnswer]]:
    """Answers that are the same together, the commonest outcome first, then the commonest answer.

    `outcomes` are those of a trace evaluation, by run id.
    """
    traces = [one.trace for one in answers]
    factors = [name for name in FACTORS if len({getattr(one, name) for one in traces}) > 1]
    groups: dict[tuple[str, str, tuple[str, ...]], list[OneAnswer]] = {}
    for place, (kept, trace) in enumerate(zip(answers, traces, strict=True)):
        read = read_answer(reader, gold, trace)
        varied = ", ".join(f"{name} {level(getattr(trace, name))}" for name in factors)
        ended = UNKNOWN[read.kind]
        if kept.cell:
            ended = (kept.cell, class_of(kept.cell), outcome(kept.cell))
        elif kept.code not in (None, OK):
            ended = ("✗", "both", str(kept.code))
        elif kept.code == OK and read.kind == "answer":
            ended = ("✓", "right", "its citations hold")
        one = OneAnswer(
            place=place,
            run_id=trace.run_id,
            varied=varied or (kept.where or f"answer {place + 1}"),
            asked=trace.question_sent or trace.q or (gold.question if gold else ""),
            outcome=outcomes.get(trace.run_id or "", ended),
            said=read.said,
            cited=tuple(sorted({c.id for c in citations_of(trace, ()) if c.id is not None})),
            ms=trace.latency_ms,
        )
        groups.setdefault(one.alike, []).append(one)
    counts = Counter(one.outcome[2] for group in groups.values() for one in group)

    def order(group: list[OneAnswer]) -> tuple[int, str, int, int]:
        ended = group[0].outcome[2]
        return -counts[ended], ended, -len(group), group[0].place

    return sorted(groups.values(), key=order)


def side_by_side(
    groups: Sequence[Sequence[OneAnswer]], ways: Ways, chosen: int | None, title: str
) -> Section:
    """A card for each different answer, compared with the commonest, and a table of all."""
    common, differing = groups[0][0], Differing()
    runs = sorted((one for group in groups for one in group), key=lambda one: one.place)

    def compared(text: str, other: str) -> Words:
        whole = [Span("differs: ", "soft")] if differing.wholly(text, other) else []
        return [*whole, *spans(differing(text, other))]

    def link(one: OneAnswer, text: str) -> Span:
        here = one.place == chosen
        href = "" if here else ways.answer(one.run_id, one.place) or ""
        return Span(text, "strong" if here else "", foreign=True, href=href)

    def card(group: Sequence[OneAnswer]) -> Card:
        first = group[0]
        mark, kind, ended = first.outcome
        wordings = list(dict.fromkeys(one.asked for one in group if one.asked))[:WORDINGS]
        cited = [(id, id not in common.cited) for id in first.cited] or [("nothing", False)]
        lacks = ", ".join(id for id in common.cited if id not in first.cited)
        named: list[Span] = []
        for one in group[:NAMED]:
            named += [*([Span("; ")] if named else []), link(one, one.varied)]
        if len(group) > NAMED:
            named.append(Span(f"; {numbers.count(len(group) - NAMED)} more"))
        times = Span(f" {numbers.counted(len(group), 'run')}", "soft")
        facts: list[tuple[str, Words]] = [
            *(("question", compared(text, common.asked)) for text in wordings),
            ("error" if kind == "failed" else "answer", compared(first.said, common.said)),
            ("cites", spans(cited, ", ")),
            ("does not cite", doc.theirs(lacks)),
            ("runs", named),
        ]
        return Card([*doc.theirs(ended), times], facts, (mark, kind))

    cards = [card(group) for group in groups[:MOST_CARDS]]
    counts = Counter((one.outcome[0], one.outcome[2]) for one in runs)
    ended = (f"{doc.listed(*one, sep=' ')}: {times:,}" for one, times in counts.most_common())
    more = len(groups) - len(cards)
    notes = doc.listed(
        f"{numbers.counted(more, 'other answer')} only in the download" if more > 0 else "",
        differing.unmarked and f"{numbers.counted(differing.unmarked, 'text')} too long to compare",
    )
    heads = ("run_id", "varied", "outcome", "question", "answer", "cited", "latency_ms")
    rows = [
        (
            *(one.run_id, one.varied, one.outcome[2], one.asked, one.said),
            " ".join(one.cited),
            one.ms,
        )
        for one in runs
    ]
    remark = "Equal answers share a card; differences from the most frequent one are marked"
    return parts.section(
        title,
        *(Text(doc.theirs("; ".join(ended))), doc.Cards(cards), Text(notes, "soft")),
        doc.Data("runs", heads, lambda: rows),
        anchor="side-by-side",
        remark=remark,
    )


def traced_outcomes(report: Any, unit: str) -> dict[str, Outcome]:
    """By run id, how each run of the question ended; empty where the report does not keep it."""
    questions = report.questions if isinstance(report, TraceEvalReport) else ()
    return next((outcomes_of(one) for one in questions if one.qid == unit), {})


def outcomes_of(question: TracedQuestion) -> dict[str, Outcome]:
    refused = ", though the question has an answer" if question.answerable else ", as it should"
    found = {}
    for run in question.runs:
        mark, kind, words = OUTCOMES[name := traced_outcome(run)]
        more = {"refusal": refused, "code": f": {run.code}"}.get(name, "")
        found[run.run_id] = (mark, kind, words + more)
    return found


def agreements_of(row: UnitRow) -> str:
    """The states of λ that the unit is in, in words."""
    found = (
        f"{about} {state}, that is: {MEANINGS[state]}"
        for which, about in LAMBDA.items()
        for state in STATES
        if row.values.get(f"traceability.{which}_{state}") == 1
    )
    return "; ".join(found)


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

    def beside(one: UnitInRun) -> Cell:
        href = "" if is_here(one) else ways.beside(one.run.shown) or ""
        return Cell("compare" if href else "", href=href)

    commands = dict.fromkeys(one.run.record.command for one in over)
    means = "; ".join(f"{command}: {right_means(command)}" for command in commands)
    yield doc.table(
        over,
        {
            "run": name,
            Column("recorded (UTC)", spare=1, key="recorded_at"): lambda one: Cell(
                when(one.run.record.recorded_at), one.run.record.recorded_at
            ),
            "outcome": ended,
            Column("answer", prose=True): claimed,
            Column("cited", spare=2): cited,
            "": beside,
        },
        title="Over runs",
        remark=f"the last {numbers.counted(len(over), 'run')} {of}; words that this run's answer "
        f"does not have are marked. Correct means, by command: {means}",
        chosen=is_here,
        below=False,
        name="history",
    )


def claim_of(row: UnitRow) -> str:
    """What the answer claims, as the row keeps it; the error where it failed."""
    given = (row.detail.get(name) for name in ("claim", "error"))
    return next((one for one in given if isinstance(one, str) and one), "")
