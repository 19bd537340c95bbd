"""Retrieval: how well the first results of a query are the relevant ones.

Each metric reads the grades of one query's results in rank order, and of all that was judged for
it. A document is relevant when its grade is at least `rel`, which is 1 unless the name says
otherwise; an unjudged document, and one with a negative grade, is neither relevant nor judged. A
query that the run does not have found nothing, which is zero; one for which no relevant document
was judged can be told nothing, and is absent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal

from msgspec import Struct

from ragauge.contracts.metric import SCALE, Absent, Better, Metric, NotApplicable, Row
from ragauge.contracts.rankings import Ranking
from ragauge.metrics import retrieval_gain as gain
from ragauge.metrics import retrieval_measures as measures
from ragauge.metrics.declare import metric, ratio, scaled_mean
from ragauge.metrics.retrieval_grades import Parameters

NoRelevant = Literal["exclude", "zero"]
"""What becomes of a query without a relevant document: no part of a mean, or zero in it."""
NO_RELEVANT = NotApplicable("no relevant document was judged")
NO_RESULTS = Absent("nothing was retrieved")


class Kind(Struct, frozen=True, kw_only=True):
    """A way of measuring rankings, with any parameters."""

    value: Callable[[Ranking, Parameters], float | None]
    """None where it does not apply."""
    cut: Literal["needed", "allowed", "none"] = "none"
    takes: tuple[str, ...] = ("rel",)
    """The parameters that may stand in parentheses."""
    needs: tuple[str, ...] = ("retrieved", "judged")
    absent: Absent = NO_RELEVANT
    better: Better = "higher"
    rate: bool = False


KINDS: dict[str, Kind] = {
    "ndcg": Kind(value=gain.ndcg, cut="allowed", takes=()),
    "ndcg_exp": Kind(value=gain.ndcg_exp, cut="allowed", takes=()),
    "ndcg_retrieved_ideal": Kind(value=gain.ndcg_retrieved_ideal, cut="allowed", takes=()),
    "ndcg_exp_retrieved_ideal": Kind(value=gain.ndcg_exp_retrieved_ideal, cut="allowed", takes=()),
    "p": Kind(value=measures.precision, cut="needed"),
    "recall": Kind(value=measures.recall, cut="needed"),
    "rr": Kind(value=measures.reciprocal_rank, cut="allowed"),
    "ap": Kind(value=measures.average_precision, cut="allowed"),
    "success": Kind(value=measures.success, cut="needed", rate=True),
    "bpref": Kind(value=measures.bpref),
    "rprec": Kind(value=measures.r_precision),
    "rbp": Kind(value=measures.rank_biased_precision, cut="allowed", takes=("p", "rel")),
    "judged": Kind(
        value=measures.judged, cut="needed", takes=(), needs=("retrieved",), absent=NO_RESULTS
    ),
    "unjudged": Kind(
        value=measures.unjudged, cut="needed", takes=(), needs=("retrieved",), better="lower"
    ),
    "set_p": Kind(value=measures.set_p),
    "set_r": Kind(value=measures.set_r),
    "set_f": Kind(value=measures.set_f),
    "coverage": Kind(value=measures.coverage, takes=(), needs=("missing",), rate=True),
}
"""By what stands in a metric's id before its parameters."""


def retrieval_metric(kind: str, at: Parameters, no_rel: NoRelevant = "exclude") -> Metric:
    """The metric of this kind and these parameters, the same each time it is asked for.

    >>> retrieval_metric("p", Parameters(k=5, rel=2)).id
    'retrieval.p(rel=2)@5'
    """
    return _made(kind, at, no_rel)


@cache
def _made(kind: str, at: Parameters, no_rel: NoRelevant) -> Metric:
    found = KINDS[kind]
    scale = 1 if found.rate else SCALE

    def measure(ranking: Ranking) -> Row | Absent:
        value = found.value(ranking, at)
        if value is None and zeroed(found, no_rel):
            value = 0.0
        return found.absent if value is None else Row((round(value * scale), 1))

    measure.__doc__ = found.value.__doc__
    return metric(
        metric_id(kind, at),
        version=1,
        better=found.better,
        bounds=(0, 1),
        unit="query",
        reads="ranking",
        needs=found.needs,
        columns=("yes", "of") if found.rate else ("value", "of"),
        finish=ratio if found.rate else scaled_mean,
    )(measure)


def zeroed(kind: Kind, no_rel: NoRelevant) -> bool:
    """Whether a query without a relevant document is zero; other absences stay what they are."""
    return no_rel == "zero" and kind.absent == NO_RELEVANT


def metric_id(kind: str, at: Parameters) -> str:
    """The one id of a kind with parameters; those that are as usual are left out.

    >>> metric_id("rbp", Parameters(p=0.95, rel=2))
    'retrieval.rbp(p=0.95,rel=2)'
    """
    usual = Parameters()
    told = [(name, getattr(at, name), getattr(usual, name)) for name in KINDS[kind].takes]
    listed = ",".join(f"{name}={value}" for name, value, normal in told if value != normal)
    return f"retrieval.{kind}{listed and f'({listed})'}{f'@{at.k}' if at.k else ''}"


def _at(kind: str, *cutoffs: int | None) -> list[Metric]:
    return [retrieval_metric(kind, Parameters(k=k)) for k in cutoffs]


METRICS: tuple[Metric, ...] = (
    *_at("ndcg", 5, 10, 20, None),
    *_at("ndcg_exp", 10),
    *_at("p", 5, 10, 20),
    *_at("recall", 5, 10, 20),
    *_at("rr", None),
    *_at("ap", None),
    *_at("success", 1, 5, 10),
    *_at("bpref", None),
    *_at("rprec", None),
    *_at("rbp", None),
    *_at("judged", 10),
    *_at("set_p", None),
    *_at("set_r", None),
    *_at("set_f", None),
    *_at("coverage", None),
)
