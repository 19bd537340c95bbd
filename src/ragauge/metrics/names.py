"""What metrics are called, by users and in reports, and which of them lead a report."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import chain, zip_longest
from typing import NamedTuple

from ragauge.errors import UsageError

LONG_NAMES = {
    "stability.acr": "Answer consistency",
    "stability.cghc": "Gold citation consistency",
    "stability.css": "Citation set stability",
    "stability.css_all": "Citations in every run",
    "stability.css_pairwise": "Citation overlap",
    "stability.ned50": "Median edit distance",
    "stability.rcr": "Refusal consistency",
    "stability.scu_cons": "Constraints repeated",
    "stability.iaa": "Agreement of runs",
    "quality.chr_shipped": "Citation hit rate of answers",
    "retrieval.ap": "Average precision",
    "retrieval.bpref": "Binary preference",
    "retrieval.ndcg": "Normalised discounted cumulative gain",
    "retrieval.ndcg_exp": "Normalised discounted cumulative gain, exponential",
    "retrieval.p": "Precision",
    "retrieval.rbp": "Rank-biased precision",
    "retrieval.rprec": "R-precision",
    "retrieval.rr": "Reciprocal rank",
    "linking.mrr": "Mean reciprocal rank",
    "answers.chrf": "Character n-gram F-score",
}
"""What metrics are called whose ids are abbreviations, without a cutoff such as `@10`."""


_TYPED = {re.sub(r"\W+", "_", name.lower()): id for id, name in LONG_NAMES.items()}


def typed_name(id: str) -> str | None:
    """The long name of a metric as it is typed, such as answer_consistency; None without one."""
    bare, at, cut = id.partition("@")
    return next((f"{name}{at}{cut}" for name, known in _TYPED.items() if known == bare), None)


def abbreviated(name: str) -> str | None:
    """The id for a long name as it is typed, its words joined by low lines; None for other names.

    >>> abbreviated("answer_consistency"), abbreviated("retrieval.precision@10")
    ('stability.acr', 'retrieval.p@10')
    """
    head, at, cut = name.partition("@")
    family, _, typed = head.rpartition(".")
    id = _TYPED.get(typed.lower().replace("-", "_"))
    if id is None or family not in ("", id.partition(".")[0]):
        return None
    return f"{id}{at}{cut}"


def long_name(id: str, shown: str = "") -> str:
    """The name to show in a table: a long one next to an abbreviation, otherwise the short id.

    >>> long_name("stability.acr"), long_name("retrieval.p@10"), long_name("quality.errors")
    ('Answer consistency (acr)', 'Precision (p@10)', 'errors')
    """
    known, short = LONG_NAMES.get(id.partition("@")[0]), shown or short_name(id)
    return f"{known} ({short})" if known else short


def short_name(id: str) -> str:
    """
    >>> short_name("quality.errors")
    'errors'
    """
    return id.partition(".")[2] or id


def metric_id(name: str, ids: Iterable[str], *, unknown: str, listed: str) -> str:
    """The id, among these, that a name stands for; a short one where a single family has it.

    Raises UsageError otherwise: where nothing is called so, with what `unknown` says, and the name
    that is nearest, else what `listed` says.

    >>> metric_id("errors", ["quality.errors", "quality.coverage"], unknown="", listed="")
    'quality.errors'
    """
    known = list(dict.fromkeys(ids))
    found = [id for id in known if name in (id, short_name(id))]
    found = found or [id for id in known if id == abbreviated(name)]
    if name in found:
        return name
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f'metric "{name}" is ambiguous: {", ".join(sorted(found))}')
    words = [word for id in known for word in (id, short_name(id))]
    near = difflib.get_close_matches(name, words, n=1)
    hint = f'did you mean "{near[0]}"?' if near else listed
    raise UsageError(f"{unknown}; {hint}")


OTHERS = 3
"""Metrics shown of a family that has no headlines."""


class Headlines(NamedTuple):
    """Ids of metrics, the most telling first."""

    first: tuple[str, ...]
    """What a verdict names and a comparison tests."""
    then: tuple[str, ...] = ()
    """What a list shows besides, where there is room."""
    tested: tuple[str, ...] = ()
    """What a comparison tests besides."""


def _of(family: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{family}.{name}" for name in names)


_JUDGED = _of(
    "answers",
    *("answer_relevancy", "context_precision", "context_recall", "noise_sensitivity", "rubric"),
    "lexical_faithfulness",
)
"""Of the lexical judge it is faithfulness alone: it rates by the words that groundedness uses, and
testing the same again would only make the correction for many tests stricter."""
HEADLINES: dict[str, Headlines] = {
    "score": Headlines(
        _of("quality", "precision_cited", "over_refusal", "citation_hit_rate", "under_refusal")
    ),
    "score traces": Headlines(
        (*_of("answers", "groundedness", "number_agreement"), *_of("quality", "in_scope"))
    ),
    "stability": Headlines(_of("stability", "stable"), _of("stability", "acr", "cghc", "rcr")),
    "audit": Headlines(
        (), _of("traceability", "valid", "match_rate", "coverage", "answer_convergent")
    ),
    "eval ner": Headlines(_of("entities", "f1_strict", "f1_partial"), _of("entities", "token_f1")),
    "eval types": Headlines(
        _of("labels", "accuracy", "macro_f1"), _of("labels", "category_accuracy")
    ),
    "eval linking": Headlines(_of("linking", "hits@1", "mrr", "nil_f1")),
    "eval retrieval": Headlines(_of("retrieval", "ndcg@10", "rr"), _of("retrieval", "recall@10")),
    "eval answers": Headlines(
        _of(
            "answers",
            *("groundedness", "factual_correctness", "token_recall", "faithfulness"),
            "number_agreement",
        ),
        tested=(*_of("answers", "grounded"), *_JUDGED),
    ),
    "eval qa": Headlines(
        _of("answers", "token_recall", "containment", "faithfulness", "groundedness"),
        tested=(*_of("answers", "factual_correctness"), *_JUDGED),
    ),
}
"""A family of metrics that several commands measure is led by the first of them."""
NEVER = frozenset(_of("answers", "brief_faithfulness", "chrf"))
"""What leads only where nothing else of its family is measured: easy to get right, or hard to
read."""
WORDS = {
    "entities.f1_strict": "strict F1",
    "entities.f1_partial": "partial F1",
    "labels.accuracy": "accuracy",
    "labels.macro_f1": "macro F1",
    "linking.hits@1": "Hits@1",
    "linking.mrr": "MRR",
    "linking.nil_f1": "NIL F1",
    "retrieval.ndcg@10": "nDCG@10",
    "retrieval.rr": "MRR",
    "answers.token_recall": "token recall",
    "answers.number_agreement": "number agreement",
    "answers.factual_correctness": "factual correctness",
}
"""How a verdict names them, where it is not by their own names."""


def leading(ids: Iterable[str], command: str = "") -> list[str]:
    """Those of the metrics that lead: the first of each family, then the second of each.

    The headlines of the command come first. A family without headlines is led by its first few
    metrics.

    >>> leading(["answers.brief_faithfulness", "answers.groundedness", "answers.token_recall"])
    ['answers.groundedness', 'answers.token_recall']
    """
    by_family: dict[str, list[str]] = {}
    for id in ids:
        by_family.setdefault(id.partition(".")[0], []).append(id)
    own = [HEADLINES[command]] if command in HEADLINES else []
    known = [id for one in (*own, *HEADLINES.values()) for id in (*one.first, *one.then)]
    ranked = [
        [id for id in dict.fromkeys(known) if id in found]
        or sorted(found - NEVER or found)[:OTHERS]
        for found in map(set, by_family.values())
    ]
    return [id for id in chain.from_iterable(zip_longest(*ranked)) if id]


def compared(command: str) -> tuple[str, ...]:
    """What a comparison of two runs of a command is about, unless the user names metrics."""
    one = HEADLINES.get(command)
    return (*one.first, *one.tested) if one else ()
