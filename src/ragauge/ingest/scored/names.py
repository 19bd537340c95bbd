"""Metrics by the names that tools give them, with modes, prefixes and capitals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_NAMES: dict[str, tuple[str, ...]] = {
    "faithfulness": ("context_faithfulness", "faithfulness_with_hhem"),
    "answer_relevancy": ("answer_relevance", "response_relevancy", "response_relevance"),
    "context_recall": (
        *("contextual_recall", "llm_context_recall", "non_llm_context_recall"),
        "id_based_context_recall",
    ),
    "context_precision": (
        *("contextual_precision", "llm_context_precision_with_reference"),
        *("llm_context_precision_without_reference", "context_utilization"),
        *("non_llm_context_precision_with_reference", "id_based_context_precision"),
    ),
    "factual_correctness": (
        *("factual_correctness_mode_f1", "factuality"),
        *("factual_correctness_mode_precision", "factual_correctness_mode_recall"),
    ),
    "noise_sensitivity": ("noise_sensitivity_mode_relevant", "noise_sensitivity_relevant"),
    "semantic_similarity": ("answer_similarity", "answer_semantic_similarity", "similar"),
    "noise_sensitivity_irrelevant": ("noise_sensitivity_mode_irrelevant",),
    "context_relevancy": ("contextual_relevancy", "context_relevance", "contextual_relevance"),
    "hallucination": (),
}
"""Our names, each with what measures the same thing, the nearest first."""
SEVEN = tuple(_NAMES)[:7]
"""Those that have thresholds of their own."""
_COMMON_WORDS = ("similar", "factuality")
"""Names of metrics that a column of another meaning may have, too."""
_OF_OTHER_TOOLS = frozenset(
    (
        *("answer_correctness", "answer_accuracy", "context_entity_recall", "correctness"),
        *("nv_accuracy", "nv_context_relevance", "nv_response_groundedness"),
        *("bleu_score", "rouge_score", "chrf_score", "string_present", "summary_score"),
        *("non_llm_string_similarity", "semantic_answer_similarity", "bias", "toxicity"),
    )
)
"""Metrics that have no name with us; a column of theirs may be empty and is still a score."""
_RANKS = {
    name: (ours, rank)
    for ours, others in _NAMES.items()
    for rank, name in enumerate((ours, *others))
}
_BY_WHOM = re.compile(r"\s*(?:\[\w+\]|\((?:ragas|geval|\w+ geval)\))$", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def plain_name(written: str) -> str:
    """A metric's name without capitals, marks and the tool that measured it.

    >>> plain_name("Contextual Precision"), plain_name("Faithfulness (ragas)")
    ('contextual_precision', 'faithfulness')
    >>> plain_name("factual_correctness(mode=f1)"), plain_name("answerRelevancy")
    ('factual_correctness_mode_f1', 'answer_relevancy')
    """
    snake = _CAMEL.sub("_", _BY_WHOM.sub("", written.strip()))
    return re.sub(r"[\W_]+", "_", snake.casefold()).strip("_")


def our_name(written: str) -> str | None:
    """What we call a metric; None where we have no name for it.

    >>> our_name("context-faithfulness"), our_name("tone")
    ('faithfulness', None)
    """
    return _RANKS.get(plain_name(written), (None, 0))[0]


def is_surely_metric(column: str) -> bool:
    """Whether a column is called as one of the seven: it is a score then, whatever it holds."""
    return our_name(column) in SEVEN and plain_name(column) not in _COMMON_WORDS


def is_metric(column: str) -> bool:
    """Whether a column has the name of a metric, ours or another tool's."""
    plain = plain_name(column)
    return plain in _RANKS or plain in _OF_OTHER_TOOLS or column.strip() in _our_metrics()


@cache
def _our_metrics() -> frozenset[str]:
    """Ids of our metrics, and the short names of those of answers."""
    from ragauge.metrics.table import reading, table

    return frozenset(table()) | {metric.name for metric in reading("answers").values()}


def metric_names(written: Iterable[str]) -> dict[str, str]:
    """By the name in the file, the metric's name: ours, for the column that fits it best.

    Another that measures the same in another way keeps its own name: two columns are never one.

    >>> metric_names(["noise_sensitivity(mode=relevant)", "tone"])
    {'noise_sensitivity(mode=relevant)': 'noise_sensitivity', 'tone': 'tone'}
    """
    names = list(dict.fromkeys(written))
    best: dict[str, str] = {}
    for name in sorted(names, key=_fit):
        ours = our_name(name)
        if ours is not None and ours not in names:
            best.setdefault(ours, name)
    ours_of = {name: ours for ours, name in best.items()}
    return {name: ours_of.get(name, name) for name in names}


def rivals(names: dict[str, str]) -> list[tuple[str, str, str]]:
    """The names that stay beside the one that is read as our metric: name, our metric, that one."""
    read_as = {metric: name for name, metric in names.items()}
    return [
        (name, ours, read_as[ours])
        for name, metric in names.items()
        if (ours := our_name(name)) is not None and ours != metric
    ]


def _fit(name: str) -> tuple[int, str]:
    return _RANKS.get(plain_name(name), ("", 0))[1], name
