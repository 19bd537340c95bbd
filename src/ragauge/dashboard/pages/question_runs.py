"""The other answers to a question: those of the same run side by side, and those of other runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.audit import OK, STATES
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.paging import UnitInRun
from ragauge.contracts.run import FACTORS
from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalReport
from ragauge.dashboard.links import run_names
from ragauge.dashboard.pages.question_trace import Reader, citations_of, read_answer
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.dashboard.unit_list import Ways
from ragauge.reports import document as doc
from ragauge.reports.differences import Differing, Marked
from ragauge.reports.document import Cell, Column, Table, names
from ragauge.reports.figures.heat_map import class_of, level, outcome
from ragauge.reports.foreign import cut
from ragauge.reports.kinds.runs import headlines, when
from ragauge.reports.kinds.trace_eval import MEANINGS, OUTCOMES
from ragauge.reports.kinds.trace_eval import outcome as traced_outcome

MOST_CARDS = 50
MOST_RUNS = 500
"""Runs of a question that the table below the cards has."""
NAMED = 12
"""Runs of a card that are named; the table has all."""
LONGEST_SAID, LONGEST_ID = 200, 60
"""Characters of an answer and of an id in a table."""
WORDINGS = 3
"""Of a card, that are shown."""
HOLDS = "its citations hold"
UNTOLD = "none"
"""How an answer is drawn of which nobody says whether it is right."""
KINDS = {"answer": "answered", "refusal": "refused", "error": "failed"}


class Told(Struct, frozen=True, kw_only=True):
    """One answer as it stands among the others."""

    place: int
    run_id: str | None
    varied: str
    asked: str
    cell: str
    kind: str
    """How the cell is drawn."""
    outcome: str
    said: str
    failed: bool
    cited: tuple[str, ...]
    latency_ms: float | None

    @property
    def alike(self) -> tuple[str, str, tuple[str, ...]]:
        return self.outcome, self.said, self.cited


class Card(Struct, frozen=True, kw_only=True):
    """Answers that are the same, beside the commonest ones."""

    first: Told
    runs: list[Told]
    asked: list[Marked]
    """The wordings that were sent; of many the first."""
    said: Marked
    wholly: bool
    """Nearly all that is said differs, so that nothing is marked in it."""
    cited: tuple[tuple[str, bool], ...]
    lacks: tuple[str, ...]
    """What the commonest answer cites and these do not."""
    differs: bool


class SideBySide(Struct, frozen=True, kw_only=True):
    """Every answer to the question."""

    cards: list[Card]
    more_cards: int
    unmarked: int
    """Texts of cards that were too long to be compared, with so many others."""
    runs: list[Told]
    more_runs: int
    outcomes: tuple[tuple[str, str, str, int], ...]
    """Each that occurs: its letter, how it is drawn, in words, how often."""

    @property
    def total(self) -> int:
        return sum(times for *_, times in self.outcomes)


def run_table(together: SideBySide, ways: Ways, chosen: int | None) -> Table:
    """Each answer a row; the one that is shown complete is marked."""

    def run(one: Told) -> Cell:
        href = ways.answer(one.run_id, one.place) or ""
        return Cell(one.run_id or str(one.place + 1), foreign=True, href=href)

    def latency(one: Told) -> Cell:
        return Cell("" if one.latency_ms is None else f"{one.latency_ms:.0f}", one.latency_ms)

    made = doc.table(
        together.runs,
        {
            "run": run,
            "varied": lambda one: names(one.varied),
            "outcome": lambda one: names(one.outcome),
            Column("said", prose=True): lambda one: names(cut(one.said, LONGEST_SAID)),
            "cited": lambda one: _ids(one.cited),
            Column("ms", right=True, spare=1): latency,
        },
        below=False,
    )
    return with_chosen(made, [one.place == chosen for one in together.runs])


def with_chosen(table: Table, chosen: Sequence[bool]) -> Table:
    """The table with the rows marked that the page is about."""
    rows = [
        structs.replace(row, chosen=is_it) for row, is_it in zip(table.rows, chosen, strict=True)
    ]
    return structs.replace(table, rows=rows)


def _ids(given: Sequence[str]) -> Cell:
    return Cell(" ".join(given), drawn=drawn("ids", [(cut(id, LONGEST_ID), id) for id in given]))


def side_by_side(
    answers: Sequence[KeptAnswer],
    gold: Gold | None,
    reader: Reader,
    outcomes: Mapping[str, Outcome] | None = None,
) -> SideBySide:
    """The answers, the commonest outcome first, and of one outcome the commonest answer.

    `outcomes` are those that a trace evaluation tells, by run id.
    """
    traces, known = [one.trace for one in answers], outcomes or {}
    factors = [name for name in FACTORS if len({getattr(one, name) for one in traces}) > 1]
    told = [_told(one, place, factors, gold, reader, known) for place, one in enumerate(answers)]
    groups: dict[tuple[str, str, tuple[str, ...]], list[Told]] = {}
    for one in told:
        groups.setdefault(one.alike, []).append(one)
    counts = Counter(one.outcome for one in told)
    ranked = sorted(
        groups.values(),
        key=lambda runs: (-counts[runs[0].outcome], runs[0].outcome, -len(runs), runs[0].place),
    )
    differing, commonest = Differing(), ranked[0][0]
    cards = []
    for runs in ranked[:MOST_CARDS]:
        first = runs[0]
        wordings = list(dict.fromkeys(one.asked for one in runs if one.asked))[:WORDINGS]
        card = Card(
            first=first,
            runs=runs,
            asked=[differing(text, commonest.asked) for text in wordings],
            said=differing(first.said, commonest.said),
            wholly=differing.wholly(first.said, commonest.said),
            cited=tuple((id, id not in commonest.cited) for id in first.cited),
            lacks=tuple(id for id in commonest.cited if id not in first.cited),
            differs=first.alike != commonest.alike,
        )
        cards.append(card)
    drawn = {one.outcome: (one.cell, one.kind) for one in told}
    return SideBySide(
        cards=cards,
        unmarked=differing.unmarked,
        more_cards=max(0, len(ranked) - MOST_CARDS),
        runs=told[:MOST_RUNS],
        more_runs=max(0, len(told) - MOST_RUNS),
        outcomes=tuple((*drawn[name], name, times) for name, times in counts.most_common()),
    )


def _told(
    kept: KeptAnswer,
    place: int,
    factors: Sequence[str],
    gold: Gold | None,
    reader: Reader,
    known: Mapping[str, Outcome],
) -> Told:
    trace, read = kept.trace, read_answer(reader, gold, kept.trace)
    ids = (one.id for one in citations_of(trace, ()) if one.id is not None)
    varied = (f"{name} {level(getattr(trace, name))}" for name in factors)
    came_to = known.get(trace.run_id or "") or _came_to(kept, read.kind)
    return Told(
        place=place,
        run_id=trace.run_id,
        varied=", ".join(varied) or (kept.where or f"answer {place + 1}"),
        asked=trace.question_sent or trace.q or (gold.question if gold else ""),
        cell=came_to.mark,
        kind=came_to.drawn,
        outcome=came_to.words,
        said=read.error if read.kind == "error" else read.claim,
        failed=read.kind == "error",
        cited=tuple(sorted(set(ids))),
        latency_ms=trace.latency_ms,
    )


def _came_to(kept: KeptAnswer, kind: str) -> Outcome:
    """What the answer came to, as far as the run kept it with the answer.

    Where it says nothing of an answer, nobody knows whether it is right.
    """
    if cell := kept.cell:
        return Outcome(cell, class_of(cell), outcome(cell))
    if kept.code not in (None, OK):
        return Outcome("✗", "both", str(kept.code))
    if kept.code == OK and kind == "answer":
        return Outcome("✓", "right", HOLDS)
    drawn = {"answer": UNTOLD, "refusal": "refused", "error": "failed"}[kind]
    return Outcome("", drawn, KINDS[kind])


LAMBDA = {"answer": "answers", "retrieval": "what is retrieved"}


class Outcome(Struct, frozen=True):
    """What an answer came to: the mark and the kind it is drawn as, and in words."""

    mark: str
    drawn: str
    words: str


def traced_outcomes(report: Any, unit: str) -> dict[str, Outcome]:
    """By run id, what each run of the question came to; empty where the report does not keep it."""
    questions = report.questions if isinstance(report, TraceEvalReport) else ()
    return next((outcomes_of(one) for one in questions if one.qid == unit), {})


def outcomes_of(question: TracedQuestion) -> dict[str, Outcome]:
    found = {}
    refused = ", though the question has an answer" if question.answerable else ", as it should"
    for run in question.runs:
        name = traced_outcome(run)
        mark, kind, words = OUTCOMES[name]
        more = {"refusal": refused, "code": f": {run.code}"}.get(name, "")
        found[run.run_id] = Outcome(mark, kind, words + more)
    return found


def agreements_of(row: UnitRow) -> list[tuple[str, str, str]]:
    """The states of λ that the unit is in: what agrees or does not, the state, and in words."""
    return [
        (about, state, MEANINGS[state])
        for which, about in LAMBDA.items()
        for state in STATES
        if row.values.get(f"traceability.{which}_{state}") == 1
    ]


LAST = 20
"""Runs that are shown."""
METRICS = 3
"""Values of a run that stand beside it."""
ENDS = {True: ("right", "✓"), False: ("wrong", "✗"), None: ("none", "·")}
DOUBTED = ("none", "!")


class Past(Struct, frozen=True, kw_only=True):
    """The question in one of the runs."""

    run: Run
    row: UnitRow
    here: bool
    href: str | None
    doubt: str
    claim: str

    @property
    def drawn(self) -> tuple[str, str]:
        """Its class and its mark on the line of time."""
        return DOUBTED if self.doubt else ENDS[self.row.right]

    @property
    def says(self) -> str:
        word = {True: "right", False: "wrong", None: "not told"}[self.row.right]
        told = doc.listed(word, self.row.label, self.doubt)
        return f"{when(self.run.record.recorded_at)} {run_names(self.run)}: {told}"

    @property
    def cited(self) -> tuple[str, ...]:
        cited = self.row.detail.get("cited")
        return tuple(map(str, cited)) if isinstance(cited, list | tuple) else ()


def past_of(ways: Ways, over: Sequence[UnitInRun]) -> list[Past]:
    """The unit in these runs."""
    return [
        Past(
            run=one.run,
            row=one.row,
            here=one.run.id == ways.run.id,
            href=ways.in_run(one.run.id),
            doubt=doubt(one.row),
            claim=claim_of(one.row),
        )
        for one in over
    ]


def past_table(past: Sequence[Past], ways: Ways, claim: str) -> Table:
    """Each run a row, the newest first, compared with what is claimed in this one."""
    differing = Differing()

    def name(one: Past) -> Cell:
        shown = f"{one.run.record.name} this run" if one.here else run_names(one.run)
        href = None if one.here else one.href
        return Cell(shown, drawn=drawn("named", href, shown, one.run.record.command))

    def ended(one: Past) -> Cell:
        means = right_means(one.run.record.command)
        return Cell(one.row.label or "", drawn=drawn("label", one.row, one.doubt, means))

    def claimed(one: Past) -> Cell:
        pieces = differing(one.claim, claim or one.claim)
        wholly = differing.wholly(one.claim, claim or one.claim)
        return Cell(one.claim, drawn=drawn("marked", pieces, wholly))

    def values(one: Past) -> Cell:
        ids = [id for id in headlines([one.run]) if id in one.row.values][:METRICS]
        told = [(id.partition(".")[2], one.row.values[id]) for id in ids]
        return Cell("", drawn=drawn("values", told))

    def beside(one: Past) -> Cell:
        href = "" if one.here else ways.beside(one.run.shown) or ""
        hint = f"beside this run: {run_names(one.run)}" if href else ""
        return Cell("beside" if href else "", href=href, hint=hint)

    made = doc.table(
        past,
        {
            "run": name,
            Column("recorded (UTC)"): lambda one: Cell(
                when(one.run.record.recorded_at), one.run.record.recorded_at
            ),
            "ended": ended,
            Column("claim", prose=True): claimed,
            Column("cited", spare=1): lambda one: _ids(one.cited),
            Column("values", spare=2): values,
            "answer": beside,
        },
        below=False,
    )
    return with_chosen(made, [one.here for one in past])


def claim_of(row: UnitRow) -> str:
    """What the answer claims, as the row keeps it; the error where it failed."""
    told = (row.detail.get(name) for name in ("claim", "error"))
    return next((one for one in told if isinstance(one, str) and one), "")
