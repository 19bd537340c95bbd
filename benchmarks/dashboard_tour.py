"""A tour of the dashboard: for each kind of page some addresses, as a reader would come to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations, cycle, islice
from random import Random
from typing import Any, NamedTuple, TypeVar

from benchmarks.generate import HOUSES, PLACES
from ragauge.contracts.history import Run, RunFilter
from ragauge.contracts.paging import PAGE, UnitQuery
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Links
from ragauge.store.history import open_history

ADDRESSES = 16
"""Of each view: one for the first visit, the others for the median and the worst."""
DEEP = 0.9
"""How far down a long list a deep page starts."""
PAIRS = 3
"""Comparisons that are waited for."""

Chosen = TypeVar("Chosen")


class View(NamedTuple):
    """A kind of page, its addresses, and a text that none of them may lack."""

    name: str
    paths: Sequence[str]
    shows: str


class Tour:
    """The addresses that a history gives."""

    def __init__(self, place: str) -> None:
        self._links, self._random = Links(), Random("tour")
        with closing(open_history(place, create=False)) as history:
            runs = history.runs(RunFilter())
            self.scored = [run for run in runs if run.record.command == "score"]
            self.swept = next(run for run in runs if run.record.command == "stability")
            self.audited = next(run for run in runs if run.record.command == "audit")
            material = Material(history, place)
            pages, scored = history.pages, self.scored[0]
            self.gold = scored.record.gold_sha256 or ""
            self._labels = list(pages.counts(scored).labels)
            self._verdicts = list(pages.counts(self.swept).labels)
            self._strata = [
                f"{name}={value}"
                for name, values in pages.strata(self.gold).items()
                for value in values
                if name != "answerable"
            ]
            self._spans = list(islice(_cited_spans(material, self.audited), ADDRESSES))
        self._questions = scored.record.units

    def views(self) -> Iterator[View]:
        yield from self._of_runs()
        yield from self._of_questions()
        yield from self._of_the_sweep()
        yield self._documents()
        yield from self._of_gold()

    def pairs(self) -> list[str]:
        """Addresses of comparisons, of the newest run with others and of others with each other."""
        runs = combinations(self.scored, 2)
        return [self._links.compare(was.id, now.id) for now, was in islice(runs, PAIRS)]

    def compared(self) -> View:
        """Pages of a comparison that is made."""
        made = self.pairs()[0]
        orders = ("unit", "-unit", "question", "-question", "was", "now")
        paths = [made, *(f"{made}&sort={order}" for order in orders)]
        paths += [f"{made}&start={PAGE * page}" for page in range(1, ADDRESSES - len(paths) + 1)]
        return View("compare, once it is made", paths, "<h1")

    def question(self) -> View:
        """Questions of the newest run, for those who read while another is written."""
        return View("question", self._many_questions(self.scored[:1]), 'id="the-answer"')

    def histories(self) -> View:
        metrics = some(sorted(self.scored[0].record.metrics))
        return View("history of a metric", [*map(self._links.history, metrics)], "<svg")

    def _of_runs(self) -> Iterator[View]:
        metrics, links = sorted(self.scored[0].record.metrics), self._links
        sorts = [f"{sign}{metric}" for metric in metrics for sign in ("", "-")]
        lists = [links.runs(), links.runs(q="m1"), *(links.runs(sort=sort) for sort in sorts)]
        yield View("runs", lists[:ADDRESSES], "<table")
        yield View("run, overview", [links.run(run.id) for run in self._runs()], "<h1")

    def _of_questions(self) -> Iterator[View]:
        metrics = some(sorted(self.scored[0].record.metrics))
        deep = [self._deep(page) for page in range(ADDRESSES)]
        yield self._listed("questions, first page")
        yield self._listed("questions, deep page", start=deep)
        yield self._listed("questions by a metric, upwards", sort=metrics)
        down = [f"-{metric}" for metric in metrics]
        yield self._listed("questions by a metric, downwards", sort=down)
        yield self._listed("questions by a metric, deep page", sort=down, start=deep)
        yield self._listed("questions with words", q=self._words())
        yield self._listed("questions with a label", label=some(self._labels))
        yield self._listed("questions of a stratum", stratum=some(self._strata))
        csv = self._listed("questions as CSV", start=deep, figures=["questions.csv"] * ADDRESSES)
        yield csv._replace(shows="unit,question")
        yield self.question()._replace(
            name="question of a run", paths=self._many_questions(self.scored)
        )

    def _of_the_sweep(self) -> Iterator[View]:
        run, deep = self.swept.id, [self._deep(page) for page in range(ADDRESSES)]
        first = [self._links.run(run, "heatmap", start=PAGE * page) for page in range(ADDRESSES)]
        yield View("heat map, first pages", first, "<svg")
        below = [self._links.run(run, "heatmap", start=start) for start in deep]
        yield View("heat map, deep pages", below, "<svg")
        chosen = zip(some(self._verdicts), some(self._strata), strict=True)
        filtered = [
            self._links.run(run, "heatmap", label=label, stratum=stratum)
            for label, stratum in chosen
        ]
        yield View("heat map of a verdict and a stratum", filtered, "<h1")
        asked = self._many_questions([self.swept])
        yield View("question of the sweep, 20 answers", asked, 'id="side-by-side"')

    def _documents(self) -> View:
        paths = [
            self._links.document(self.audited.id, *span, unit=unit).partition("#")[0]
            for unit, *span in self._spans
        ]
        return View("document at a cited span", paths, 'id="cited"')

    def _of_gold(self) -> Iterator[View]:
        links, gold = self._links, self.gold
        yield View("gold sets", [links.gold()] * ADDRESSES, gold[:8])
        starts = [PAGE * page for page in range(ADDRESSES)]
        yield View("gold set", [links.gold(gold, start=start) for start in starts], "<table")
        words = [links.gold(gold, q=words) for words in self._words()[: ADDRESSES // 2]]
        parts = [one.partition("=") for one in some(self._strata)[: ADDRESSES // 2]]
        strata = [links.gold(gold, stratum=name, value=value) for name, _, value in parts]
        yield View("gold set with a filter", [*words, *strata], "<table")

    def _listed(self, name: str, **fields: Sequence[Any]) -> View:
        """The questions of run after run, each with the next of the fields."""
        given = [
            dict(zip(fields, values, strict=True)) for values in zip(*fields.values(), strict=True)
        ] or [{}] * ADDRESSES
        paths = [
            self._links.run(run.id, "questions", **asked)
            for run, asked in zip(self._runs(), given, strict=True)
        ]
        return View(name, paths, "/question?unit=")

    def _many_questions(self, runs: Sequence[Run]) -> list[str]:
        chosen = (self._random.randrange(self._questions) for _ in range(ADDRESSES))
        return [
            self._links.question(run.id, f"q{number:05}")
            for run, number in zip(cycle(runs), chosen, strict=False)
        ]

    def _runs(self) -> list[Run]:
        return some(self.scored)

    def _deep(self, page: int) -> int:
        """Where a page begins that is so many beyond the first deep one."""
        return int(self._questions * DEEP) + page % 4 * PAGE

    def _words(self) -> list[str]:
        """Words that some questions have: a house and a place."""
        return [f"{house} {place}" for house, place in zip(some(HOUSES), PLACES, strict=False)]


def some(members: Sequence[Chosen]) -> list[Chosen]:
    """As many as a view has addresses, from the first on and round again."""
    return list(islice(cycle(members), ADDRESSES))


def _cited_spans(material: Material, run: Run) -> Iterator[tuple[Any, ...]]:
    """The question, document, revision and offsets of citations that hold."""
    for row in material.pages.units(run, UnitQuery(label="ok")).rows:
        for answer in material.answers(run, row.unit) or ():
            payloads = {one["snippet_id"]: one for one in answer.trace.retrieved or ()}
            cited = [payloads[id] for id in row.detail["cited"] if id in payloads]
            for one in cited[:1]:
                span = one["offsets"]
                yield row.unit, one["doc_id"], one["rev"], span["start"], span["end"]
