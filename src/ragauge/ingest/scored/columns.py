"""Columns of a file of scores: metrics by the names that tools give them, cells, and roles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache, cached_property
from math import isfinite, isnan
from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.gold import stratum_text
from ragauge.ingest.answers import MISSING, SLICES
from ragauge.ingest.fields import kind, quoted

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
    for name in sorted(names, key=lambda name: (_RANKS.get(plain_name(name), ("", 0))[1], name)):
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


NULL, NAN, INFINITE, ABSENT = "null", "NaN", "infinite", "absent"
EMPTY = (NULL, NAN, INFINITE)
"""What says of a column no more than that a score is missing."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"0,\d+|1,0{1,2}", re.ASCII)
"""A share with the decimal comma of many spreadsheets; no other comma can stand there."""
_WORDS: dict[str, float | str] = {
    **dict.fromkeys(("", "none", "null", "<na>", "nat"), NULL),
    **dict.fromkeys(("nan", "-nan", "+nan"), NAN),
    **dict.fromkeys(("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"), INFINITE),
    "true": 1.0,
    "false": 0.0,
}


class Failed(Struct, frozen=True):
    """A metric that could not be measured, as the tool says itself."""

    why: str


def score_of(value: Any) -> float | str:
    """A finite score, or in words what stood there.

    A verdict counts as 1 or 0, and text that is a number as that number: a table's cells are
    nothing else.

    >>> score_of(0.5), score_of("0.5"), score_of(True), score_of(None), score_of("n/a")
    (0.5, 0.5, 1.0, 'null', 'text "n/a"')
    """
    if value is None:
        return NULL
    if isinstance(value, str):
        return _written(value.strip())
    if isinstance(value, Failed):
        return f"error {quoted(value.why)}" if value.why.strip() else "error"
    if isinstance(value, Mapping):  # as `ragauge eval answers --out` writes a score
        return score_of(value["value"]) if "value" in value else kind({})
    return kind([]) if hasattr(value, "__len__") else _number(value)


def is_verdict(value: Any) -> bool:
    """Whether a cell holds true or false, in JSON or as a table writes it."""
    if isinstance(value, str):
        return value.strip().casefold() in ("true", "false")
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _written(text: str) -> float | str:
    known = _WORDS.get(text.casefold())
    if known is not None:
        return known
    if _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    return _number(float(text)) if _NUMBER.fullmatch(text) else f"text {quoted(text)}"


def _number(value: Any) -> float | str:
    """Of whatever calls itself a number: Python's, numpy's, a decimal."""
    try:
        number = float(value)
    except OverflowError:
        return INFINITE
    except (TypeError, ValueError):
        return _written(str(value))
    if isnan(number):
        return NAN
    return number if isfinite(number) else INFINITE


Role = Literal["score", "stratum", "extra", "empty"]

MOST_VALUES = 50
"""A stratum has no more values than this …"""
LONGEST_VALUE = 60
"""… none of them longer than this …"""
FEW_ROWS = 10
"""… and in a file of more rows than these each value is there twice on average."""
_VERDICTS = frozenset(("pass", "passed", "success", "correct", "is_correct", "right", "hit"))
"""Columns of true and false that judge the answer; any other tells samples apart."""
_COUNTED = frozenset(
    (
        *("index", "level_0", "row", "order", "seed", "run", "attempt", "k"),
        *("top_k", "temperature", "ts", "timestamp", "date", "year", "tokens", "cost", "latency"),
        *("kind", *(field.name for field in SLICES)),
    )
)
_COUNTED_ENDINGS = ("_id", "_idx", "_index", "_ms", "_seconds", "_tokens", "_cost", "_usd", "_at")
"""Numbers that measure no answer."""


def columns_seen(
    rows: Iterable[Mapping[str, Any]], *, may_be_scores: bool = True
) -> dict[str, Column]:
    """The columns of rows by name, in the order they are met, with what was seen in them."""
    columns: dict[str, Column] = {}
    for row in rows:
        for name, value in row.items():
            if name not in columns:
                columns[name] = Column(name, may_be_scores)
            columns[name].see(value)
    return columns


class Column:
    """What was seen in one column, and so what it is.

    It is a score where it has a metric's name, or holds numbers at least as often as words; what is
    no score and has few different values is a stratum.
    """

    def __init__(self, name: str, may_be_score: bool) -> None:
        self._name, self._may_be_score = name, may_be_score
        self.filled = 0
        self._numbers = self._verdicts = self._words = 0
        self._values: set[str] = set()
        self._is_sliceable = True

    def see(self, value: Any) -> None:
        found = score_of(value)
        if found in EMPTY:
            return
        self.filled += 1
        if is_verdict(value):
            self._verdicts += 1
        elif isinstance(found, float):
            self._numbers += 1
        else:
            self._words += 1
        text = stratum_of(value)
        if text is None or len(text) > LONGEST_VALUE:
            self._is_sliceable = False
        elif len(self._values) <= MOST_VALUES:
            self._values.add(text)

    @cached_property
    def role(self) -> Role:
        """To be asked once all is seen."""
        if self._may_be_score and self._is_score():
            return "score"
        if not self.filled:
            return "empty"
        return "stratum" if self._is_stratum() else "extra"

    def _is_score(self) -> bool:
        plain = self._name.strip().casefold()
        if is_surely_metric(self._name):
            return True
        if plain in _COUNTED or plain.endswith(_COUNTED_ENDINGS):
            return False
        if is_metric(self._name) or (plain in _VERDICTS and self._verdicts):
            return self._words <= self._numbers + self._verdicts
        return 0 < self._numbers >= self._words

    def _is_stratum(self) -> bool:
        values = len(self._values)
        repeated = self.filled <= FEW_ROWS or 2 * values <= self.filled
        return self._is_sliceable and values <= MOST_VALUES and repeated


def stratum_of(value: Any) -> str | None:
    """A cell as the value of a stratum; None where it is empty or no single value.

    >>> stratum_of("NL"), stratum_of(2), stratum_of(True), stratum_of("nan"), stratum_of(["NL"])
    ('NL', '2', 'true', None, None)
    """
    if isinstance(value, str):
        text = value.strip()
        return None if text in MISSING else text
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()
    if isinstance(value, date):
        return str(value)
    plain = isinstance(value, bool | int | float) and score_of(value) not in EMPTY
    return stratum_text(value) if plain else None
