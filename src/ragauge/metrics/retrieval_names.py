"""Retrieval metrics by any name the field has for them: ours, ir_measures', trec_eval's, BEIR's."""

from __future__ import annotations

import re
from collections.abc import Callable

from ragauge.contracts.metric import Metric
from ragauge.errors import UsageError
from ragauge.metrics.retrieval import KINDS, NoRelevant, retrieval_metric
from ragauge.metrics.retrieval_grades import Parameters

FAMILY = "retrieval."
GREATEST = 1_000_000_000
"""No cut-off or grade is beyond it."""
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
    "setf": "set_f",
}
"""In small letters; the case of a name says nothing."""
GAINS = {"log2": "ndcg", "exp-log2": "ndcg_exp"}
"""The gains of nDCG as ir_measures calls them."""
OURS = re.compile(r"(?P<kind>[\w-]+?)(?:\((?P<said>[^()]*)\))?(?:@(?P<k>.*))?")
TREC_EVAL = re.compile(r"(?P<kind>ndcg_cut|map_cut|p|recall|success|unj)[_.](?P<k>[0-9]+)")


def named(name: str, no_rel: NoRelevant = "exclude") -> Metric | None:
    """The metric a name stands for; None where no retrieval metric is called so.

    Raises UsageError where the kind is known and what is said of it is wrong.

    >>> [named(name).id for name in ("nDCG@10", "P(rel=2)@5", "ndcg_cut_10", "R-Prec")]
    ['retrieval.ndcg@10', 'retrieval.p(rel=2)@5', 'retrieval.ndcg@10', 'retrieval.rprec']
    >>> named("quality.errors")
    """
    found = _read(name)
    return found and retrieval_metric(*found, no_rel)


def parsed(name: str) -> tuple[str, Parameters]:
    """The kind and the parameters of a retrieval metric.

    >>> parsed("retrieval.rbp(p=0.95)")
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
    said = _said(name, shape.groupdict().get("said"))
    if kind == "ndcg" and "dcg" in said:
        kind = _gain(name, said.pop("dcg"))
    return kind, _parameters(name, kind, said, shape["k"])


def _said(name: str, listed: str | None) -> dict[str, str]:
    """What stands in the parentheses, by parameter."""
    said: dict[str, str] = {}
    for part in (listed or "").split(",") if listed is not None else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        if not (key and equals and value):
            raise _wrong(name, f'"{part.strip()}" is no parameter', "write it as rel=2")
        if key in said:
            raise _wrong(name, f"{key} is given twice", "keep one")
        said[key] = value.strip("'\"")
    return said


def _gain(name: str, gain: str) -> str:
    if gain not in GAINS:
        raise _wrong(name, f'there is no gain "{gain}"', f"there are {', '.join(GAINS)}")
    return GAINS[gain]


def _parameters(name: str, kind: str, said: dict[str, str], k: str | None) -> Parameters:
    takes = KINDS[kind].takes
    unknown = [key for key in said if key not in takes]
    if unknown:
        remedy = f"it takes {' and '.join(takes)}" if takes else "it takes none in parentheses"
        raise _wrong(name, f"{kind} has no parameter {', '.join(unknown)}", remedy)
    read: dict[str, Callable[[str, str, str], float]] = {"rel": _whole, "p": _share}
    values = {key: read[key](name, key, value) for key, value in said.items()}
    return Parameters(k=_cutoff(name, kind, k), **values)  # type: ignore[arg-type]


def _cutoff(name: str, kind: str, k: str | None) -> int | None:
    cut = KINDS[kind].cut
    if k is None and cut == "needed":
        raise _wrong(name, f"{kind} needs a cut-off", f"write {kind}@10")
    if k is not None and cut == "none":
        raise _wrong(name, f"{kind} looks at all results", f"leave out @{k}")
    return None if k is None else _whole(name, "the cut-off", k)


def _whole(name: str, what: str, text: str) -> int:
    if re.fullmatch("[0-9]{1,10}", text) and 1 <= int(text) <= GREATEST:
        return int(text)
    raise _wrong(name, f'{what} is "{text}"', f"it is a whole number from 1 to {GREATEST:,}")


def _share(name: str, what: str, text: str) -> float:
    if re.fullmatch(r"0?\.[0-9]+", text) and float(text) > 0:
        return float(text)
    raise _wrong(name, f'{what} is "{text}"', "it is a decimal between 0 and 1, such as 0.95")


def _wrong(name: str, fact: str, remedy: str) -> UsageError:
    return UsageError(f'metric "{name}": {fact}; {remedy}')
