"""All the answers to one question side by side: alike ones together, differences marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.run import FACTORS
from ragauge.dashboard.pages.differing import Differing
from ragauge.dashboard.pages.question_citations import citations_of
from ragauge.dashboard.pages.question_reading import Reader, read_answer
from ragauge.reports.stability.drawing import CLASSES
from ragauge.reports.stability.heat import level
from ragauge.reports.stability.runs import Marked, outcome

MOST_CARDS = 50
MOST_RUNS = 500
"""Runs of a question that the table below the cards has."""
NAMED = 12
"""Runs of a card that are named; the table has all."""
WORDINGS = 3
"""Of a card, that are shown."""
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


def side_by_side(answers: Sequence[KeptAnswer], gold: Gold | None, reader: Reader) -> SideBySide:
    """The answers, the commonest outcome first, and of one outcome the commonest answer."""
    factors = _varying(answers)
    told = [_told(one, place, factors, gold, reader) for place, one in enumerate(answers)]
    groups: dict[tuple[str, str, tuple[str, ...]], list[Told]] = {}
    for one in told:
        groups.setdefault(one.alike, []).append(one)
    outcomes = Counter(one.outcome for one in told)
    ranked = sorted(
        groups.values(),
        key=lambda runs: (-outcomes[runs[0].outcome], runs[0].outcome, -len(runs), runs[0].place),
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
        outcomes=tuple((*drawn[name], name, times) for name, times in outcomes.most_common()),
    )


def _told(
    kept: KeptAnswer, place: int, factors: Sequence[str], gold: Gold | None, reader: Reader
) -> Told:
    trace, read = kept.trace, read_answer(reader, gold, kept.trace)
    cell = kept.cell or ""
    ids = (one.id for one in citations_of(trace, ()) if one.id is not None)
    varied = (f"{name} {level(getattr(trace, name))}" for name in factors)
    plain = kept.code or KINDS[read.kind]
    return Told(
        place=place,
        run_id=trace.run_id,
        varied=", ".join(varied) or (kept.where or f"answer {place + 1}"),
        asked=trace.question_sent or trace.q or (gold.question if gold else ""),
        cell=cell,
        kind=CLASSES.get(cell, "some") if cell else _drawn(kept, read.kind),
        outcome=outcome(cell) if cell else plain,
        said=read.error if read.kind == "error" else read.claim,
        failed=read.kind == "error",
        cited=tuple(sorted(set(ids))),
        latency_ms=trace.latency_ms,
    )


def _drawn(kept: KeptAnswer, kind: str) -> str:
    if kept.code is not None:
        return "right" if kept.code == "ok" else "cited"
    return {"answer": "right", "refusal": "refused", "error": "failed"}[kind]


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
        cited=tuple((id, id not in commonest.cited) for id in first.cited),
        lacks=tuple(id for id in commonest.cited if id not in first.cited),
        differs=first.alike != commonest.alike,
    )
