"""All the answers to one question side by side: alike ones together, differences marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ragauge.contracts.audit import OK
from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.run import FACTORS
from ragauge.dashboard.pages.question_citations import citations_of
from ragauge.dashboard.pages.question_reading import Reader, read_answer
from ragauge.dashboard.pages.question_traced import Outcome
from ragauge.reports.differences import Differing, Marked
from ragauge.reports.figures.heat_map import class_of, level, outcome

MOST_CARDS = 50
MOST_RUNS = 500
"""Runs of a question that the table below the cards has."""
NAMED = 12
"""Runs of a card that are named; the table has all."""
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
