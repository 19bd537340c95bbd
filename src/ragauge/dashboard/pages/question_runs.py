"""The other answers to a question: those of the same run side by side, and those of other runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.audit import OK, STATES
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.paging import UnitInRun
from ragauge.contracts.run import FACTORS
from ragauge.contracts.trace_eval import TracedQuestion, TracedRun, TraceEvalReport
from ragauge.dashboard.links import run_names
from ragauge.dashboard.pages.question_trace import Reader, citations_of, read_answer
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.dashboard.unit_list import Ways
from ragauge.reports.differences import Differing, Marked
from ragauge.reports.document import Cell, Column, Row, Table, names
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
    runs: tuple[Told, ...]
    asked: tuple[Marked, ...]
    """The wordings that were sent; of many the first."""
    said: Marked
    wholly: bool
    """Nearly all that is said differs, so that nothing is marked in it."""
    cited: tuple[tuple[str, bool], ...]
    lacks: tuple[str, ...]
    """What the commonest answer cites and these do not."""
    differs: bool

    @property
    def named(self) -> tuple[Told, ...]:
        return self.runs[:NAMED]

    @property
    def unnamed(self) -> int:
        return max(0, len(self.runs) - NAMED)


class SideBySide(Struct, frozen=True, kw_only=True):
    """Every answer to the question."""

    cards: tuple[Card, ...]
    more_cards: int
    unmarked: int
    """Texts of cards that were too long to be compared, with so many others."""
    runs: tuple[Told, ...]
    more_runs: int
    outcomes: tuple[tuple[str, str, str, int], ...]
    """Each that occurs: its letter, how it is drawn, in words, how often."""

    @property
    def total(self) -> int:
        return sum(times for *_, times in self.outcomes)

    def table(self, ways: Ways, chosen: int | None) -> Table:
        """Each answer a row; the one that is shown complete is marked."""
        return Table(
            below=False,
            columns=[
                *(Column("run"), Column("varied"), Column("outcome"), Column("said", prose=True)),
                *(Column("cited"), Column("ms", right=True, spare=1)),
            ],
            rows=[
                Row(
                    (
                        Cell(
                            one.run_id or str(one.place + 1),
                            foreign=True,
                            href=ways.answer(one.run_id, one.place) or "",
                        ),
                        names(one.varied),
                        names(one.outcome),
                        names(cut(one.said, LONGEST_SAID)),
                        _ids(one.cited),
                        Cell(
                            "" if one.latency_ms is None else f"{one.latency_ms:.0f}",
                            one.latency_ms,
                        ),
                    ),
                    chosen=one.place == chosen,
                )
                for one in self.runs
            ],
        )


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
    factors, known = _varying(answers), outcomes or {}
    told = [_told(one, place, factors, gold, reader, known) for place, one in enumerate(answers)]
    groups: dict[tuple[str, str, tuple[str, ...]], list[Told]] = {}
    for one in told:
        groups.setdefault(one.alike, []).append(one)
    counts = Counter(one.outcome for one in told)
    ranked = sorted(
        groups.values(),
        key=lambda runs: (-counts[runs[0].outcome], runs[0].outcome, -len(runs), runs[0].place),
    )
    differing = Differing()
    cards = tuple(_card(runs, ranked[0][0], differing) for runs in ranked[:MOST_CARDS])
    drawn = {one.outcome: (one.cell, one.kind) for one in told}
    return SideBySide(
        cards=cards,
        unmarked=differing.unmarked,
        more_cards=max(0, len(ranked) - MOST_CARDS),
        runs=tuple(told[:MOST_RUNS]),
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


def _varying(answers: Sequence[KeptAnswer]) -> list[str]:
    """The factors in which the answers differ."""
    traces = [one.trace for one in answers]
    return [name for name in FACTORS if len({getattr(one, name) for one in traces}) > 1]


def _card(runs: Sequence[Told], commonest: Told, differing: Differing) -> Card:
    first = runs[0]
    wordings = list(dict.fromkeys(one.asked for one in runs if one.asked))
    return Card(
        first=first,
        runs=tuple(runs),
        asked=tuple(differing(text, commonest.asked) for text in wordings[:WORDINGS]),
        said=differing(first.said, commonest.said),
        wholly=differing.wholly(first.said, commonest.said),
        cited=tuple((id, id not in commonest.cited) for id in first.cited),
        lacks=tuple(id for id in commonest.cited if id not in first.cited),
        differs=first.alike != commonest.alike,
    )


LAMBDA = {"answer": "answers", "retrieval": "what is retrieved"}


class Outcome(Struct, frozen=True):
    """What an answer came to: the mark and the kind it is drawn as, and in words."""

    mark: str
    drawn: str
    words: str


class Agreement(Struct, frozen=True):
    """Whether the runs of a question agree, as λ calls it and in words."""

    about: str
    state: str
    means: str


def traced_outcomes(report: Any, unit: str) -> dict[str, Outcome]:
    """By run id, what each run of the question came to; empty where the report does not keep it."""
    if not isinstance(report, TraceEvalReport):
        return {}
    found = next((one for one in report.questions if one.qid == unit), None)
    return outcomes_of(found) if found else {}


def outcomes_of(question: TracedQuestion) -> dict[str, Outcome]:
    return {run.run_id: _outcome(run, question) for run in question.runs}


def _outcome(run: TracedRun, question: TracedQuestion) -> Outcome:
    name = traced_outcome(run)
    mark, kind, words = OUTCOMES[name]
    if name == "refusal":
        words += ", though the question has an answer" if question.answerable else ", as it should"
    if name == "code":
        words += f": {run.code}"
    return Outcome(mark, kind, words)


def agreements_of(row: UnitRow) -> Sequence[Agreement]:
    """The states of λ that the unit is in."""
    return [
        Agreement(about, state, MEANINGS[state])
        for which, about in LAMBDA.items()
        for state in STATES
        if row.values.get(f"traceability.{which}_{state}") == 1
    ]


LAST = 20
"""Runs that are shown."""
METRICS = 3
"""Values of a run that stand beside it."""
SQUARE, STEP = 16, 20
ENDS = {True: ("right", "✓"), False: ("wrong", "✗"), None: ("none", "·")}
DOUBTED = ("none", "!")


class Past(Struct, frozen=True, kw_only=True):
    """The question in one of the runs."""

    run: Run
    row: UnitRow
    here: bool
    href: str | None
    beside: str | None
    """This run's page with the other's answer beside it."""
    claim: Marked
    wholly: bool
    """Nearly all of the claim differs, so that nothing is marked in it."""
    cited: tuple[str, ...]
    values: tuple[tuple[str, float], ...]

    @property
    def doubt(self) -> str:
        return doubt(self.row)

    @property
    def means(self) -> str:
        """What "right" is in that run."""
        return right_means(self.run.record.command)

    def cells(self) -> Iterator[Cell]:
        run, record = self.run, self.run.record
        name = f"{record.name} this run" if self.here else run_names(run)
        href = None if self.here else self.href
        yield Cell(name, drawn=drawn("named", href, name, record.command))
        yield Cell(when(record.recorded_at), record.recorded_at)
        yield Cell(self.row.label or "", drawn=drawn("label", self.row, self.doubt, self.means))
        yield Cell(claim_of(self.row), drawn=drawn("marked", self.claim, self.wholly))
        yield _ids(self.cited)
        yield Cell("", drawn=drawn("values", self.values))
        hint = f"beside this run: {run_names(run)}" if self.beside else ""
        yield Cell("beside" if self.beside else "", href=self.beside or "", hint=hint)

    @property
    def says(self) -> str:
        word = {True: "right", False: "wrong", None: "not told"}[self.row.right]
        parts = (word, self.row.label, self.doubt)
        told = ", ".join(part for part in parts if part)
        return f"{when(self.run.record.recorded_at)} {run_names(self.run)}: {told}"


class Square(Struct, frozen=True):
    """A run on the line of time."""

    x: int
    kind: str
    mark: str
    says: str
    href: str | None
    here: bool


class PastRuns(Struct, frozen=True, kw_only=True):
    """The last runs, and their line of time, the oldest first."""

    rows: tuple[Past, ...]
    squares: tuple[Square, ...]

    @property
    def width(self) -> int:
        return max(1, len(self.squares)) * STEP

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """The commands of these runs, each with what "right" is there."""
        commands = dict.fromkeys(one.run.record.command for one in self.rows)
        return [(command, right_means(command)) for command in commands]

    @property
    def doubted(self) -> bool:
        return any(one.doubt for one in self.rows)

    def table(self) -> Table:
        """Each run a row, the newest first."""
        return Table(
            below=False,
            columns=[
                *(Column("run"), Column("recorded (UTC)"), Column("ended")),
                *(Column("claim", prose=True), Column("cited", spare=1)),
                *(Column("values", spare=2), Column("answer")),
            ],
            rows=[Row(tuple(one.cells()), chosen=one.here) for one in self.rows],
        )


def past_of(ways: Ways, claim: str, over: Sequence[UnitInRun]) -> PastRuns:
    """The unit in these runs, each beside what is claimed in this one."""
    differing = Differing()
    rows = tuple(
        Past(
            run=one.run,
            row=one.row,
            here=one.run.id == ways.run.id,
            href=ways.in_run(one.run.id),
            beside=None if one.run.id == ways.run.id else ways.beside(one.run.shown),
            claim=differing(claim_of(one.row), claim or claim_of(one.row)),
            wholly=differing.wholly(claim_of(one.row), claim or claim_of(one.row)),
            cited=cited_of(one.row),
            values=_values(one),
        )
        for one in over
    )
    return PastRuns(rows=rows, squares=tuple(map(_square, range(len(rows)), reversed(rows))))


def claim_of(row: UnitRow) -> str:
    """What the answer claims, as the row keeps it; the error where it failed."""
    for name in ("claim", "error"):
        if isinstance(told := row.detail.get(name), str) and told:
            return told
    return ""


def cited_of(row: UnitRow) -> tuple[str, ...]:
    cited = row.detail.get("cited")
    return tuple(map(str, cited)) if isinstance(cited, list | tuple) else ()


def _values(one: UnitInRun) -> tuple[tuple[str, float], ...]:
    ids = [id for id in headlines([one.run]) if id in one.row.values]
    return tuple((id.partition(".")[2], one.row.values[id]) for id in ids[:METRICS])


def _square(place: int, past: Past) -> Square:
    kind, mark = DOUBTED if past.doubt else ENDS[past.row.right]
    return Square(place * STEP, kind, mark, past.says, past.href, past.here)
