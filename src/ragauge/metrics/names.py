"""The names of metrics, as users type them and reports show them, and which lead a report."""

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
"""The long names of metrics whose ids are abbreviations, without a cutoff such as `@10`."""


_TYPED = {re.sub(r"\W+", "_", name.lower()): id for id, name in LONG_NAMES.items()}


def typed_name(id: str) -> str | None:
    """The long name of a metric as users type it, such as answer_consistency; None without one."""
    bare, at, cut = id.partition("@")
    return next((f"{name}{at}{cut}" for name, known in _TYPED.items() if known == bare), None)


def id_of_long_name(name: str) -> str | None:
    """The id for a long name as users type it, with underscores; None for other names.

    >>> id_of_long_name("answer_consistency"), id_of_long_name("retrieval.precision@10")
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
    """The id, among these, of a metric's name; a short name if only one family has it.

    Raises UsageError otherwise: for an unknown name with the text `unknown` and the nearest name,
    or else the text `listed`.

    >>> metric_id("errors", ["quality.errors", "quality.coverage"], unknown="", listed="")
    'quality.errors'
    """
    known = list(dict.fromkeys(ids))
    found = [id for id in known if name in (id, short_name(id))]
    found = found or [id for id in known if id == id_of_long_name(name)]
    if name in found:
        return name
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f'metric "{name}" is ambiguous: {", ".join(sorted(found))}')
    names = [word for id in known for word in (id, short_name(id))]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f'did you mean "{near[0]}"?' if near else listed
    raise UsageError(f"{unknown}; {hint}")


OTHERS = 3
"""Metrics shown of a family that has no headlines."""


class Headlines(NamedTuple):
    """Ids of metrics, the most informative first."""

    first: tuple[str, ...]
    """Named in verdicts and tested in comparisons."""
    then: tuple[str, ...] = ()
    """Also shown in lists that have room."""
    tested: tuple[str, ...] = ()
    """Also tested in comparisons."""


def _ids(family: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{family}.{name}" for name in names)


_JUDGED = _ids(
    "answers",
    *("answer_relevancy", "context_precision", "context_recall", "noise_sensitivity", "rubric"),
    "lexical_faithfulness",
)
"""From the lexical judge only faithfulness: it rates by the words that groundedness uses, and
testing the same twice would only make the correction for many tests stricter."""
HEADLINES: dict[str, Headlines] = {
    "score": Headlines(
        _ids("quality", "precision_cited", "over_refusal", "citation_hit_rate", "under_refusal")
    ),
    "score traces": Headlines(
        (*_ids("answers", "groundedness", "number_agreement"), *_ids("quality", "in_scope"))
    ),
    "stability": Headlines(_ids("stability", "stable"), _ids("stability", "acr", "cghc", "rcr")),
    "audit": Headlines(
        (), _ids("traceability", "valid", "match_rate", "coverage", "answer_convergent")
    ),
    "eval ner": Headlines(
        _ids("entities", "f1_strict", "f1_partial"), _ids("entities", "token_f1")
    ),
    "eval types": Headlines(
        _ids("labels", "accuracy", "macro_f1"), _ids("labels", "category_accuracy")
    ),
    "eval linking": Headlines(_ids("linking", "hits@1", "mrr", "nil_f1")),
    "eval retrieval": Headlines(_ids("retrieval", "ndcg@10", "rr"), _ids("retrieval", "recall@10")),
    "eval answers": Headlines(
        _ids(
            "answers",
            *("groundedness", "factual_correctness", "token_recall", "faithfulness"),
            "number_agreement",
        ),
        tested=(*_ids("answers", "grounded"), *_JUDGED),
    ),
    "eval qa": Headlines(
        _ids("answers", "token_recall", "containment", "faithfulness", "groundedness"),
        tested=(*_ids("answers", "factual_correctness"), *_JUDGED),
    ),
}
"""By command; a family that several commands measure has the headlines of the first of them."""
LAST_CHOICE = frozenset(_ids("answers", "brief_faithfulness", "chrf"))
"""Metrics that lead only if nothing else of their family is measured: easy to satisfy, or hard to
read."""
VERDICT_NAMES = {
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
"""The names of metrics in a verdict, where they differ from the short name."""


def leading(ids: Iterable[str], command: str = "") -> list[str]:
    """The metrics that lead a report: the first of each family, then the second of each.

    The headlines of the command come first. A family without headlines has its first few metrics.

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
        or sorted(found - LAST_CHOICE or found)[:OTHERS]
        for found in map(set, by_family.values())
    ]
    return [id for id in chain.from_iterable(zip_longest(*ranked)) if id]


def tested_metrics(command: str) -> tuple[str, ...]:
    """The metrics that a comparison of two runs of a command tests, unless the user names some."""
    one = HEADLINES.get(command)
    return (*one.first, *one.tested) if one else ()
