"""Retrieval: how well the first results of a query are the relevant ones.

Each metric reads the grades of one query's results in rank order, and of all that was judged for
it. A document is relevant when its grade is at least `rel`, which is 1 unless the name says
otherwise; an unjudged document, and one with a negative grade, is neither relevant nor judged. A
query that the run does not have found nothing, which is zero; one for which no relevant document
was judged can be told nothing, and is absent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import ldexp, log2
from typing import Any, Literal

from msgspec import Struct, structs

from ragauge.contracts.metric import (
    SCALE,
    Absent,
    Better,
    Metric,
    NotApplicable,
    Row,
    metric,
    ratio,
    scaled_mean,
)
from ragauge.contracts.options import NoRelevant
from ragauge.contracts.rankings import Ranking
from ragauge.errors import UsageError

GREATEST_POWER = 1000
"""Of 2, as a gain. A sum of more leaves floating point, and smaller grades are lost long before."""


class Parameters(Struct, frozen=True, kw_only=True):
    """What the name of a metric says beside its kind."""

    k: int | None = None
    """The cut-off: the results beyond it are not looked at."""
    rel: int = 1
    """The lowest grade that is relevant."""
    p: float = 0.8
    """Persistence: how likely a reader goes on to the next result."""


def relevant(ranking: Ranking, at: Parameters) -> int:
    """How many documents are relevant, retrieved or not."""
    return sum(grade >= at.rel for grade in ranking.judged)


def ranks_found(ranking: Ranking, at: Parameters) -> list[int]:
    """The ranks, from 1, of the relevant documents within the cut-off.

    >>> ranks_found(Ranking(retrieved=(0, 2, None, 1), judged=(0, 2, 1)), Parameters(k=3))
    [2]
    """
    shown = enumerate(ranking.retrieved[: at.k], start=1)
    return [rank for rank, grade in shown if grade is not None and grade >= at.rel]


def is_judged(grade: int | None) -> bool:
    """A negative grade, as TREC has them, says that nobody could or did judge."""
    return grade is not None and grade >= 0


def linear(grade: int | None) -> float:
    return float(grade) if grade is not None and grade > 0 else 0.0


def exponential(grade: int | None) -> float:
    return ldexp(1.0, min(grade, GREATEST_POWER)) - 1 if grade is not None and grade > 0 else 0.0


def discount(rank: int) -> float:
    """What the gain at a rank is divided by."""
    return log2(rank + 1)


def attention(rank: int, persistence: float) -> float:
    """The share of a reader's looks that a rank gets; over all ranks they sum to 1."""
    return (1 - persistence) * persistence ** (rank - 1)


def summed(parts: Iterable[float]) -> float:
    """The sum from first to last, on every Python: the built-in one compensates since 3.12."""
    total = 0.0
    for part in parts:
        total += part
    return total


def discounted(gains: Sequence[float]) -> float:
    """The gains by rank, each divided by its rank's discount, and summed.

    >>> discounted([1.0, 1.0])
    1.6309297535714575
    """
    return summed(gain / discount(rank) for rank, gain in enumerate(gains, start=1))


Gain = Callable[[int | None], float]


def ndcg(ranking: Ranking, at: Parameters) -> float | None:
    """Gain of the first k results, discounted by rank, over that of the best order of all judged.

    The gain is the grade and the discount log2(rank + 1), as in trec_eval and BEIR. Without a
    cut-off all results count.

    >>> grades = Ranking(retrieved=(1, 3, 2), judged=(3, 2, 1))
    >>> round(ndcg(grades, Parameters(k=3)), 4)
    0.8175
    """
    return _normalised(ranking, at, linear)


def ndcg_exp(ranking: Ranking, at: Parameters) -> float | None:
    """Like nDCG with a gain of 2^grade - 1, which rewards the highest grades.

    >>> grades = Ranking(retrieved=(1, 3, 2), judged=(3, 2, 1))
    >>> round(ndcg_exp(grades, Parameters(k=3)), 4)
    0.7364
    """
    return _normalised(ranking, at, exponential)


def ndcg_retrieved_ideal(ranking: Ranking, at: Parameters) -> float | None:
    """Like nDCG, but against the best order of what was retrieved: it does not see what is missing.

    Not comparable with published figures; one relevant result in the first place makes it 1.

    >>> found_one_of_ten = Ranking(retrieved=(1,), judged=(1,) * 10)
    >>> ndcg_retrieved_ideal(found_one_of_ten, Parameters(k=10))
    1.0
    >>> round(ndcg(found_one_of_ten, Parameters(k=10)), 4)
    0.2201
    """
    return _against_retrieved(ranking, at, linear)


def ndcg_exp_retrieved_ideal(ranking: Ranking, at: Parameters) -> float | None:
    """Like `ndcg_exp`, but against the best order of what was retrieved.

    >>> ndcg_exp_retrieved_ideal(Ranking(retrieved=(3, 1), judged=(3, 3)), Parameters(k=10))
    1.0
    """
    return _against_retrieved(ranking, at, exponential)


def _normalised(ranking: Ranking, at: Parameters, gain: Gain) -> float | None:
    best = _best(ranking.judged, at, gain)
    return discounted([gain(grade) for grade in ranking.retrieved[: at.k]]) / best if best else None


def _against_retrieved(ranking: Ranking, at: Parameters, gain: Gain) -> float | None:
    if not any(grade > 0 for grade in ranking.judged):
        return None
    best = _best(ranking.retrieved, at, gain)
    return discounted([gain(grade) for grade in ranking.retrieved[: at.k]]) / best if best else 0.0


def _best(grades: Sequence[int | None], at: Parameters, gain: Gain) -> float:
    """The discounted gain of the best order of these documents."""
    return discounted(sorted(map(gain, grades), reverse=True)[: at.k])


def precision(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among the first k results, over k.

    Fewer than k results are not fewer in the denominator; `set_p` divides by what was retrieved.

    >>> precision(Ranking(retrieved=(1,), judged=(1,)), Parameters(k=5))
    0.2
    """
    return len(ranks_found(ranking, at)) / (at.k or 1) if relevant(ranking, at) else None


def recall(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among the first k results, over all relevant ones.

    >>> recall(Ranking(retrieved=(1, None, 2), judged=(1, 2, 1, 0)), Parameters(k=2))
    0.3333333333333333
    """
    wanted = relevant(ranking, at)
    return len(ranks_found(ranking, at)) / wanted if wanted else None


def reciprocal_rank(ranking: Ranking, at: Parameters) -> float | None:
    """One over the rank of the first relevant result, 0 where there is none within the cut-off.

    Its mean over queries is MRR.

    >>> reciprocal_rank(Ranking(retrieved=(0, None, 1), judged=(0, 1)), Parameters())
    0.3333333333333333
    """
    if not relevant(ranking, at):
        return None
    return next((1 / rank for rank in ranks_found(ranking, at)), 0.0)


def average_precision(ranking: Ranking, at: Parameters) -> float | None:
    """Mean, over all relevant documents, of the precision at the rank where each was found.

    One that was not retrieved, or beyond the cut-off, counts as 0. The mean over queries is MAP.

    >>> average_precision(Ranking(retrieved=(1, 0, 1), judged=(1, 0, 1)), Parameters())
    0.8333333333333333
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    found = enumerate(ranks_found(ranking, at), start=1)
    return summed(place / rank for place, rank in found) / wanted


def success(ranking: Ranking, at: Parameters) -> float | None:
    """Queries with a relevant document among the first k results, over queries: a hit rate.

    >>> success(Ranking(retrieved=(0, 1), judged=(0, 1)), Parameters(k=1))
    0.0
    """
    return float(bool(ranks_found(ranking, at))) if relevant(ranking, at) else None


def bpref(ranking: Ranking, at: Parameters) -> float | None:
    """How far the relevant documents come before those judged not relevant (binary preference).

    Unjudged results are passed over, so that it bears incomplete judgements. As in trec_eval, at
    most as many documents that are not relevant count as there are relevant ones.

    >>> bpref(Ranking(retrieved=(None, 1, 0, 1), judged=(1, 1, 0, 0)), Parameters())
    0.75
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    others = min(sum(0 <= grade < at.rel for grade in ranking.judged), wanted)
    before, parts = 0, []
    for grade in ranking.retrieved:
        if grade is not None and grade >= at.rel:
            parts.append(1 - min(before, wanted) / others if before else 1.0)
        elif is_judged(grade):
            before += 1
    return summed(parts) / wanted


def r_precision(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among the first R results, over R, where R documents are relevant.

    >>> r_precision(Ranking(retrieved=(1, 0, 1), judged=(1, 0, 1)), Parameters())
    0.5
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    return sum(rank <= wanted for rank in ranks_found(ranking, at)) / wanted


def rank_biased_precision(ranking: Ranking, at: Parameters) -> float | None:
    """Fraction of what a reader looks at that is relevant, when each goes on with probability p.

    Relevance is yes or no; p is 0.8 unless the name says otherwise, and a patient reader has
    0.95. Moffat and Zobel, 2008.

    >>> grades = Ranking(retrieved=(1, 0, 1), judged=(1, 0, 1))
    >>> round(rank_biased_precision(grades, Parameters()), 4)
    0.328
    """
    if not relevant(ranking, at):
        return None
    return summed(attention(rank, at.p) for rank in ranks_found(ranking, at))


def judged(ranking: Ranking, at: Parameters) -> float | None:
    """Fraction of the first k results that were judged: how far the other numbers can be trusted.

    Over the results there are, where these are fewer than k. A negative grade is not judged.

    >>> judged(Ranking(retrieved=(1, None, -1, 0), judged=(1, -1, 0)), Parameters(k=10))
    0.5
    """
    shown = ranking.retrieved[: at.k]
    return sum(map(is_judged, shown)) / len(shown) if shown else None


def unjudged(ranking: Ranking, at: Parameters) -> float | None:
    """Unjudged documents among the first k results, over k, as trec_eval's `unj`.

    >>> unjudged(Ranking(retrieved=(1, None, -1, 0), judged=(1, -1, 0)), Parameters(k=10))
    0.2
    """
    shown = ranking.retrieved[: at.k]
    return sum(not is_judged(grade) for grade in shown) / (at.k or 1)


def set_p(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among all results, over the results; 0 where nothing was retrieved.

    >>> set_p(Ranking(retrieved=(1,), judged=(1, 1)), Parameters())
    1.0
    """
    if not relevant(ranking, at):
        return None
    return len(ranks_found(ranking, at)) / max(len(ranking.retrieved), 1)


def set_r(ranking: Ranking, at: Parameters) -> float | None:
    """Relevant documents among all results, over all relevant ones.

    >>> set_r(Ranking(retrieved=(1,), judged=(1, 1)), Parameters())
    0.5
    """
    return recall(ranking, at)


def set_f(ranking: Ranking, at: Parameters) -> float | None:
    """Harmonic mean of `set_p` and `set_r`.

    >>> set_f(Ranking(retrieved=(1, None), judged=(1, 1)), Parameters())
    0.5
    """
    wanted = relevant(ranking, at)
    if not wanted:
        return None
    return 2 * len(ranks_found(ranking, at)) / (len(ranking.retrieved) + wanted)


def coverage(ranking: Ranking, at: Parameters) -> float | None:
    """Judged queries that the run has, over all: one it does not have is zero everywhere else.

    >>> coverage(Ranking(retrieved=(), judged=(1,), missing=True), Parameters())
    0.0
    """
    return float(not ranking.missing)


NO_RELEVANT = NotApplicable("no relevant document was judged")
NO_RESULTS = Absent("nothing was retrieved")


class Kind(Struct, frozen=True, kw_only=True):
    """A kind of ranking metric, with any parameters."""

    value: Callable[[Ranking, Parameters], float | None]
    """None if it does not apply."""
    cut: Literal["needed", "allowed", "none"] = "none"
    takes: tuple[str, ...] = ("rel",)
    """The parameters that may be given in parentheses."""
    needs: tuple[str, ...] = ("retrieved", "judged")
    absent: Absent = NO_RELEVANT
    better: Better = "higher"
    rate: bool = False


KINDS: dict[str, Kind] = {
    "ndcg": Kind(value=ndcg, cut="allowed", takes=()),
    "ndcg_exp": Kind(value=ndcg_exp, cut="allowed", takes=()),
    "ndcg_retrieved_ideal": Kind(value=ndcg_retrieved_ideal, cut="allowed", takes=()),
    "ndcg_exp_retrieved_ideal": Kind(value=ndcg_exp_retrieved_ideal, cut="allowed", takes=()),
    "p": Kind(value=precision, cut="needed"),
    "recall": Kind(value=recall, cut="needed"),
    "rr": Kind(value=reciprocal_rank, cut="allowed"),
    "ap": Kind(value=average_precision, cut="allowed"),
    "success": Kind(value=success, cut="needed", rate=True),
    "bpref": Kind(value=bpref),
    "rprec": Kind(value=r_precision),
    "rbp": Kind(value=rank_biased_precision, cut="allowed", takes=("p", "rel")),
    "judged": Kind(value=judged, cut="needed", takes=(), needs=("retrieved",), absent=NO_RESULTS),
    "unjudged": Kind(value=unjudged, cut="needed", takes=(), needs=("retrieved",), better="lower"),
    "set_p": Kind(value=set_p),
    "set_r": Kind(value=set_r),
    "set_f": Kind(value=set_f),
    "coverage": Kind(value=coverage, takes=(), needs=("missing",), rate=True),
}
"""By the part of a metric's id before its parameters."""


@cache
def retrieval_metric(kind: str, at: Parameters, no_rel: NoRelevant) -> Metric:
    """The metric of this kind and these parameters, the same each time it is requested.

    >>> retrieval_metric("p", Parameters(k=5, rel=2), "exclude").id
    'retrieval.p(rel=2)@5'
    """
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
    """Whether a query without a relevant document counts as zero; other absences do not."""
    return no_rel == "zero" and kind.absent == NO_RELEVANT


def metric_id(kind: str, at: Parameters) -> str:
    """The canonical id of a kind with parameters, without default values.

    >>> metric_id("rbp", Parameters(p=0.95, rel=2))
    'retrieval.rbp(p=0.95,rel=2)'
    """
    usual = Parameters()
    parameters = [(name, getattr(at, name), getattr(usual, name)) for name in KINDS[kind].takes]
    listed = ",".join(f"{name}={value}" for name, value, normal in parameters if value != normal)
    return f"retrieval.{kind}{listed and f'({listed})'}{f'@{at.k}' if at.k else ''}"


def _at(kind: str, *cutoffs: int | None) -> list[Metric]:
    return [retrieval_metric(kind, Parameters(k=k), "exclude") for k in cutoffs]


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


FAMILY = "retrieval."
GREATEST = 1_000_000_000
"""The highest cut-off or grade."""
SPELLINGS = {
    **{kind: kind for kind in KINDS},
    "precision": "p",
    "prec": "p",
    "hits": "success",
    "hit_rate": "success",
    "r_prec": "rprec",
    "r_precision": "rprec",
    "r": "recall",
    "mrr": "rr",
    "recip_rank": "rr",
    "map": "ap",
    "map_cut": "ap",
    "ndcg_cut": "ndcg",
    "unj": "unjudged",
    "setp": "set_p",
    "setr": "set_r",
    "set_recall": "set_r",
    "average_precision": "ap",
    "reciprocal_rank": "rr",
    "mean_reciprocal_rank": "rr",
    "rank_biased_precision": "rbp",
    "binary_preference": "bpref",
    "normalised_discounted_cumulative_gain": "ndcg",
    "normalized_discounted_cumulative_gain": "ndcg",
    "setf": "set_f",
}
"""In lower case; the case of a name does not matter."""
GAINS = {"log2": "ndcg", "exp-log2": "ndcg_exp"}
"""The gains of nDCG as ir_measures calls them."""


def split_measures(measures: Iterable[str]) -> list[str]:
    """The names between commas, except commas in parentheses.

    >>> split_measures(["P@5,rbp(p=0.95,rel=2)", " ndcg"])
    ['P@5', 'rbp(p=0.95,rel=2)', 'ndcg']
    """
    names = (name.strip() for text in measures for name in re.split(r",(?![^()]*\))", text))
    return [name for name in names if name]


def id_of(name: str, rel: int) -> str:
    """The id of the metric with this name, with this grade unless the name has its own.

    >>> id_of("P@5", 2), id_of("P(rel=3)@5", 2), id_of("nDCG", 2)
    ('retrieval.p(rel=2)@5', 'retrieval.p(rel=3)@5', 'retrieval.ndcg')
    """
    kind, at = parse(name)
    if "rel" in KINDS[kind].takes and "rel" not in name.partition("(")[2]:
        at = structs.replace(at, rel=rel)
    return metric_id(kind, at)


OURS = re.compile(r"(?P<kind>[\w-]+?)(?:\((?P<said>[^()]*)\))?(?:@(?P<k>.*))?")
TREC_EVAL = re.compile(r"(?P<kind>ndcg_cut|map_cut|p|recall|success|unj)[_.](?P<k>[0-9]+)")


def from_name(name: str, no_rel: NoRelevant = "exclude") -> Metric | None:
    """The metric with this name; None if no retrieval metric has it.

    Raises UsageError if the kind is known but its parameters are invalid.

    >>> [from_name(name).id for name in ("nDCG@10", "P(rel=2)@5", "ndcg_cut_10", "R-Prec")]
    ['retrieval.ndcg@10', 'retrieval.p(rel=2)@5', 'retrieval.ndcg@10', 'retrieval.rprec']
    >>> from_name("quality.errors")
    """
    found = _read(name)
    return found and retrieval_metric(*found, no_rel)


def parse(name: str) -> tuple[str, Parameters]:
    """The kind and the parameters of a retrieval metric.

    >>> parse("retrieval.rbp(p=0.95)")
    ('rbp', Parameters(k=None, rel=1, p=0.95))
    """
    found = _read(name)
    if found is None:
        raise UsageError(f'"{name}" is no retrieval metric; `ragauge metrics` lists them')
    return found


def _read(name: str) -> tuple[str, Parameters] | None:
    bare = name.strip().removeprefix(FAMILY)
    shape = TREC_EVAL.fullmatch(bare.lower()) or OURS.fullmatch(bare)
    kind = SPELLINGS.get(shape["kind"].lower().replace("-", "_")) if shape else None
    if shape is None or kind is None:
        return None

    def wrong(fact: str, remedy: str) -> UsageError:
        return UsageError(f'metric "{name}": {fact}; {remedy}')

    def whole(what: str, text: str) -> int:
        if re.fullmatch("[0-9]{1,10}", text) and 1 <= int(text) <= GREATEST:
            return int(text)
        raise wrong(f'{what} is "{text}"', f"it is a whole number from 1 to {GREATEST:,}")

    def share(what: str, text: str) -> float:
        if re.fullmatch(r"0?\.[0-9]+", text) and float(text) > 0:
            return float(text)
        raise wrong(f'{what} is "{text}"', "it is a decimal between 0 and 1, such as 0.95")

    said: dict[str, str] = {}
    listed = shape.groupdict().get("said")
    for part in listed.split(",") if listed is not None else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        if not (key and equals and value):
            raise wrong(f'"{part.strip()}" is no parameter', "write it as rel=2")
        if key in said:
            raise wrong(f"{key} is given twice", "keep one")
        said[key] = value.strip("'\"")
    if kind == "ndcg" and "dcg" in said:
        gain = said.pop("dcg")
        if gain not in GAINS:
            raise wrong(f'there is no gain "{gain}"', f"there are {', '.join(GAINS)}")
        kind = GAINS[gain]
    takes, cut, k = KINDS[kind].takes, KINDS[kind].cut, shape["k"]
    unknown = [key for key in said if key not in takes]
    if unknown:
        remedy = f"it takes {' and '.join(takes)}" if takes else "it takes none in parentheses"
        raise wrong(f"{kind} has no parameter {', '.join(unknown)}", remedy)
    read: dict[str, Callable[[str, str], float]] = {"rel": whole, "p": share}
    values: dict[str, Any] = {key: read[key](key, value) for key, value in said.items()}
    if k is None and cut == "needed":
        raise wrong(f"{kind} needs a cut-off", f"write {kind}@10")
    if k is not None and cut == "none":
        raise wrong(f"{kind} looks at all results", f"leave out @{k}")
    return kind, Parameters(k=None if k is None else whole("the cut-off", k), **values)
