"""What the templates of the comparison page ask for; each part is made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ragauge.contracts.comparison import Compared, ComparisonReport, Flip, Side
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.comparison import story
from ragauge.reports.comparison.power import Power, power, power_heads
from ragauge.reports.comparison.slices import Slice, slices
from ragauge.reports.differences import Marked, marked_beside
from ragauge.reports.page_view import PageView

FLIPS_SHOWN = 200
"""Of each way; a page with more would be slow to scroll."""
SLICES_SHOWN = 60
HALF = 60.0
"""Half the width of the drawn scale, which has 0 in its middle."""
WIDEST = 0.02
"""The scale reaches this far at least, so that noise does not look like a landslide."""


class Row(Struct, frozen=True):
    """A metric's comparison as a row shows it."""

    id: str
    name: str
    one: Compared
    word: str
    tone: str
    p: str
    note: str
    drawn: Drawn | None


class Drawn(Struct, frozen=True):
    """A change and its interval as places on a scale with 0 in its middle."""

    at: float
    low: float | None
    high: float | None
    margin: float | None


class ShownSide(Struct, frozen=True):
    when: str
    label: str
    said: Marked
    cited: tuple[tuple[str, bool], ...]
    why: str


class ShownFlip(Struct, frozen=True):
    flip: Flip
    tone: str
    sides: tuple[ShownSide, ShownSide]


class View(PageView[ComparisonReport]):
    """A comparison report, as the page tells it."""

    kind = "comparison"
    parts = (
        "comparison_verdict",
        "comparison_metrics",
        "comparison_gates",
        "comparison_slices",
        "comparison_flips",
        "comparison_power",
        "findings",
        "coverage",
    )

    def __init__(self, report: ComparisonReport) -> None:
        super().__init__(report)
        self.names = story.names(report)

    @property
    def headline(self) -> tuple[str, str]:
        return story.headline(self.report)

    @property
    def tone(self) -> str:
        return story.tone(self.report)

    @property
    def counts(self) -> str:
        return story.counts_words(self.report) if self.report.gates else ""

    @property
    def runs(self) -> list[tuple[str, str]]:
        """The two runs, and the labels in which they differ."""
        told = [("before", self.report.before), ("after", self.report.after)]
        runs = [(when, story.run_words(run)) for when, run in told]
        return runs + story.other_labels(self.report)

    @property
    def tests(self) -> str:
        return story.tests_words(self.report)

    @property
    def interval(self) -> str:
        return story.interval_head(self.report)

    @property
    def slice_interval(self) -> str:
        return story.interval_head(self.report, slices=True)

    @property
    def slice_words(self) -> str:
        return story.slices_words(self.report)

    @cached_property
    def metrics(self) -> list[Row]:
        return self._named(story.judged(self.report))

    @cached_property
    def also_measured(self) -> list[Row]:
        """The metrics that are told without a verdict, where something changed."""
        return self._named(story.moved(story.beside(self.report)))

    @property
    def unmoved(self) -> list[tuple[str, str]]:
        """Why nothing is to be told of the others, with their names."""
        return [
            (why, ", ".join(self.names[id] for id in ids))
            for why, ids in story.unmoved(story.beside(self.report))
        ]

    @property
    def beside_words(self) -> str:
        return story.BESIDE

    @property
    def gates(self) -> list[tuple[Verdict, Compared, str, str]]:
        """Each gate with its metric's change and name, and its verdict in a word."""
        compared, names = self.report.compared, self.names
        return [
            (gate, compared[gate.metric], names[gate.metric], envelope.gate_word(gate))
            for gate in self.report.gates
        ]

    @property
    def gate_tests(self) -> str:
        """What is held against the bound."""
        return story.TESTED[self.gate_name]

    @property
    def gate_name(self) -> str:
        return story.gate_name(self.report.gates[0])

    @property
    def slices(self) -> list[tuple[Slice, list[tuple[str, Row]]]]:
        """Each stratum with its most telling slices: the value, and the metric's row."""
        found = []
        for one in slices(self.report, SLICES_SHOWN):
            rows = self._rows([(cell.metric, cell.compared) for cell in one.told])
            values = [cell.value for cell in one.told]
            found.append((one, list(zip(values, rows, strict=True))))
        return found

    @property
    def flips(self) -> list[tuple[str, str, int, list[ShownFlip]]]:
        """Each way with its title, how many are not shown, and the questions."""
        found = []
        for way, title in story.flip_titles(self.report):
            told = story.flips(self.report, way)[:FLIPS_SHOWN]
            left_out = self.report.flip_counts[way] - len(told)
            found.append((way.capitalize(), title, left_out, [_shown(flip) for flip in told]))
        return found

    @property
    def power(self) -> list[Power]:
        return power(self.report)

    @property
    def power_heads(self) -> list[str]:
        return power_heads()

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report.coverage)

    def _named(self, told: Mapping[str, Compared]) -> list[Row]:
        return self._rows(list(told.items()))

    def _rows(self, told: Sequence[tuple[str, Compared]]) -> list[Row]:
        """Rows on one scale, so that their drawings can be compared."""
        ends = [abs(end) for _, one in told for end in (one.change or 0.0, *(one.ci or ()))]
        reach = max([WIDEST, *ends])
        return [_row(id, self.names[id], one, reach) for id, one in told]


def _row(id: str, name: str, one: Compared, reach: float) -> Row:
    word = story.verdict_of(one)
    tone = story.TONES.get(word, "soft")
    p, note = story.p_shown(one), story.note_of(one)
    return Row(id, name, one, word, tone, p, note, _drawn(one, reach))


def _drawn(one: Compared, reach: float) -> Drawn | None:
    if one.change is None:
        return None

    def place(number: float) -> float:
        return HALF * (1 + max(-1.0, min(1.0, number / reach)))

    low, high = (place(end) for end in one.ci) if one.ci else (None, None)
    worse = -1 if one.better == "higher" else 1
    margin = place(worse * one.margin) if one.margin and one.margin <= reach else None
    return Drawn(place(one.change), low, high, margin)


def _shown(flip: Flip) -> ShownFlip:
    sides = (_side("was", flip.was, flip.now), _side("now", flip.now, flip.was))
    return ShownFlip(flip, "good" if flip.way == "mended" else "bad", sides)


def _side(when: str, side: Side, other: Side) -> ShownSide:
    said = marked_beside(side.claim or "", other.claim or "")
    cited = tuple((id, id not in other.cited) for id in side.cited)
    return ShownSide(when, side.label or "", said, cited, side.why or "")
