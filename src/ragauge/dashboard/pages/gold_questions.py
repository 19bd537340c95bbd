"""The questions of a gold set, each with how it ended in the last runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ragauge.contracts.gold import Gold, value_of
from ragauge.contracts.history import Run
from ragauge.contracts.paging import PagedHistory, QuestionQuery, Rightness
from ragauge.dashboard.links import Links
from ragauge.dashboard.page import Figures
from ragauge.reports.foreign import cut
from ragauge.reports.kinds.runs import when

LONGEST_QUESTION = 240
"""Characters of a question in the list; its page has all."""
LONGEST_ID = 40
STEP = 12
"""From a square to the next."""
FIGURES = ("qid", "question", "answerable", "strata", "runs", "right", "wrong", "untold")


class Square(Struct, frozen=True):
    """How a question ended in one run."""

    x: int
    way: Rightness
    title: str


class QuestionRow(Struct, frozen=True, kw_only=True):
    """A question in the list."""

    gold: Gold
    href: str | None
    """Its page in the newest run that has it."""
    strata: tuple[tuple[str, str], ...]
    squares: tuple[Square, ...]
    """The oldest run first; a run that does not have the question leaves its place empty."""

    @property
    def name(self) -> str:
        return cut(self.gold.qid, LONGEST_ID)

    @property
    def asked(self) -> str:
        return cut(self.gold.question, LONGEST_QUESTION)

    def count(self, way: Rightness) -> int:
        return sum(square.way == way for square in self.squares)

    @property
    def words(self) -> str:
        """What the squares say."""
        if not self.squares:
            return "in none of the last runs"
        ways = ", ".join(square.way for square in self.squares)
        return f"wrong in {self.count('wrong')} of {len(self.squares)} runs, oldest first: {ways}"


def command_of_units(pages: PagedHistory, sha256: str, runs: Sequence[Run]) -> str | None:
    """The command that the set's units are of, by its runs; None where it has questions.

    The first tells for all: a set is made of the questions of a file or of a component's units.
    """
    first = pages.questions(sha256, QuestionQuery(limit=1)).rows
    if not (runs and first):
        return None
    command = runs[0].record.command
    # What gold says of a type is kept in words, so that nothing but the command tells it.
    is_unit = first[0].is_unit or (
        command.startswith("eval ") and first[0].question == first[0].qid
    )
    return command if is_unit else None


def question_rows(
    pages: PagedHistory, links: Links, questions: Sequence[Gold], runs: Sequence[Run]
) -> list[QuestionRow]:
    """The rows of these questions over these runs, which come newest first."""
    ended = pages.ends(runs, [one.qid for one in questions])
    return [
        QuestionRow(
            gold=one,
            href=_newest(links, one, runs, ended),
            strata=tuple(_strata(one)),
            squares=tuple(_squares(one, runs, ended)),
        )
        for one in questions
    ]


def figures(rows: Sequence[QuestionRow]) -> Figures:
    return Figures(FIGURES, [_figures(row) for row in rows])


def _newest(
    links: Links, one: Gold, runs: Sequence[Run], ended: dict[str, dict[str, Rightness]]
) -> str | None:
    having = (run for run in runs if one.qid in ended[run.id])
    run = next(having, None)
    return links.question(run.id, one.qid) if run else None


def _strata(one: Gold) -> Iterator[tuple[str, str]]:
    for stratum in sorted(one.strata):
        value = value_of(one, stratum)
        if value is not None:
            yield stratum, value


def _squares(
    one: Gold, runs: Sequence[Run], ended: dict[str, dict[str, Rightness]]
) -> Iterator[Square]:
    for place, run in enumerate(reversed(runs)):
        way = ended[run.id].get(one.qid)
        if way:
            title = f"{way} in {run.record.name}, {when(run.record.recorded_at)}"
            yield Square(place * STEP, way, title)


def _figures(row: QuestionRow) -> list[object]:
    strata = tuple(f"{stratum}={value}" for stratum, value in row.strata)
    ways = (row.count("right"), row.count("wrong"), row.count("untold"))
    asked = (None, None) if row.gold.is_unit else (row.gold.question, row.gold.answerable)
    return [row.gold.qid, *asked, strata, len(row.squares), *ways]
