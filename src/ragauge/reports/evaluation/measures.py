"""Which measures of retrieval somebody asked for, and by which of them queries are ranked."""

from __future__ import annotations

import re

from msgspec import Struct

from ragauge.contracts.evaluation import EvalReport, QueryRow
from ragauge.errors import UsageError

FAMILY = "retrieval."
WITH_CUTS = ("ndcg", "ndcg_exp", "p", "recall", "success", "rr", "ap")
_BETWEEN = re.compile(r",(?![^()]*\))")


class Ranking(Struct, frozen=True):
    """The metric by which queries are good or bad."""

    name: str
    """Without its family, as the values of queries are found by it."""
    title: str
    lower: bool = False
    """Whether less of it is better."""

    @property
    def worst(self) -> str:
        return f"the {'highest' if self.lower else 'lowest'} {self.title} first"


NDCG = Ranking("ndcg@10", "nDCG@10")


def asked(report: EvalReport) -> dict[str, str]:
    """The metrics somebody asked for by name, each as he wrote it; empty where nobody did."""
    options = report.identity.get("options")
    if report.task != "retrieval" or not isinstance(options, dict):
        return {}
    told = options.get("measures") or ()
    names = [name.strip() for text in told for name in _BETWEEN.split(str(text))]
    found = {_id(name, options.get("rel") or 1): name for name in names}
    return {id: name for id, name in found.items() if id in report.metrics}


def ranking(report: EvalReport) -> Ranking | None:
    """nDCG@10, or else the first metric that was asked for or measured query by query."""
    measured = {id.removeprefix(FAMILY) for row in _rows(report) for id in row.values}
    if NDCG.name in measured:
        return NDCG
    wanted = {id.removeprefix(FAMILY): name for id, name in asked(report).items()}
    names = [*wanted, *sorted(filter(_is_cut, measured), key=_place)]
    first = next((name for name in names if name in measured), None)
    return Ranking(first, wanted.get(first, first), _lower(first)) if first else None


def value_of(row: QueryRow, name: str) -> float | None:
    """A query's value of a metric, with its family in the name or without."""
    return row.values.get(f"{FAMILY}{name}", row.values.get(name))


def _rows(report: EvalReport) -> tuple[QueryRow, ...]:
    return getattr(report.detail, "queries", ())


def _id(name: str, rel: int) -> str:
    """The id a name stands for; the name itself where it is none."""
    from msgspec import structs

    from ragauge.metrics.retrieval import KINDS, metric_id, parsed

    try:
        kind, at = parsed(name)
    except UsageError:
        return name
    if "rel" in KINDS[kind].takes and "rel" not in name.partition("(")[2]:
        at = structs.replace(at, rel=rel)
    return metric_id(kind, at)


def _is_cut(name: str) -> bool:
    return _kind(name) in WITH_CUTS


def _place(name: str) -> tuple[int, int, str]:
    """As the kinds are ordered, and of one kind the deepest first."""
    cut = name.rpartition("@")[2]
    return WITH_CUTS.index(_kind(name)), -int(cut) if cut.isdecimal() else 0, name


def _kind(name: str) -> str:
    return re.split(r"[(@]", name)[0]


def _lower(name: str) -> bool:
    from ragauge.metrics.table import find

    try:
        return find(f"{FAMILY}{name}").better == "lower"
    except UsageError:  # a report outlives the plug-in that made its numbers
        return False
