"""Metrics by the names a user gives them: the whole id, or the id without its family."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

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
