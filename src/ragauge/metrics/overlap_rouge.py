"""ROUGE as metrics: by default over Unicode words, by name over the tokens of rouge-score."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, get_args

from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.errors import UsageError
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.overlap_references import is_too_long, mean_of_answers, nearest
from ragauge.text.overlap import Overlap
from ragauge.text.rouge import Rouge, RougeReference, Tokenizer, rouge

Kind = Literal["rouge1", "rouge2", "rougeL"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PARAMETERS: dict[str, tuple[str, ...]] = {
    "tokenizer": get_args(Tokenizer),
    "stemmer": ("none", "porter"),
}
"""What can stand in the parentheses of a name; the first is what holds where none is said."""
NAME = re.compile(r"(?:answers\.)?(?P<kind>\w+)(?:\((?P<said>[^()]*)\))?")

_ABOUT = {
    "rouge1": "F of the words that answer and reference share",
    "rouge2": "F of the pairs of neighbouring words that answer and reference share",
    "rougeL": (
        "F of the longest sequence of words that answer and reference share, gaps allowed; absent\n"
        "where both texts are very long (100,000 characters each)"
    ),
}
_TOKENS = {
    "unicode": (
        "Words of any script, character by character where it has no blanks; accents are kept.\n"
        "`{kind}(tokenizer=rouge155)` gives the numbers of rouge-score, which sees only a to z\n"
        "and digits."
    ),
    "rouge155": (
        "The tokens of rouge-score, a to z and digits, and its numbers: for comparison with\n"
        "published ones. Text in other scripts has 0 even against itself."
    ),
}
_STEMS = "\nEnglish words are stemmed by Porter's rules."


def named(name: str) -> Metric | None:
    """The ROUGE a name stands for, such as rouge1(tokenizer=rouge155); None for any other name.

    Raises UsageError where what stands in the parentheses is wrong.

    >>> named("rougeL(tokenizer=rouge155,stemmer=porter)").id
    'answers.rougeL(tokenizer=rouge155,stemmer=porter)'
    >>> named("rouge1(tokenizer=unicode)").id, named("chrf")
    ('answers.rouge1', None)
    """
    shape = NAME.fullmatch(name.strip())
    kinds = {kind.lower(): kind for kind in KINDS}
    kind = kinds.get(shape["kind"].lower()) if shape else None
    if shape is None or kind is None:
        return None
    said = _said(name, shape["said"])
    tokenizer: Tokenizer = "rouge155" if said["tokenizer"] == "rouge155" else "unicode"
    return rouge_metric(kind, tokenizer, stemmed=said["stemmer"] == "porter")


def rouge_metric(kind: Kind, tokenizer: Tokenizer = "unicode", *, stemmed: bool = False) -> Metric:
    """The metric of this kind and these tokens, the same each time it is asked for."""
    return _made(kind, tokenizer, stemmed)


def tokens_of(entry: Metric) -> str | None:
    """What a signature says of a ROUGE's tokens; None of another metric.

    >>> tokens_of(rouge_metric("rouge1"))
    'tokenizer:unicode'
    """
    shape = NAME.fullmatch(entry.id)
    if shape is None or shape["kind"] not in KINDS:
        return None
    said = _said(entry.id, shape["said"])
    stemmer = f"|stemmer:{said['stemmer']}" if said["stemmer"] != "none" else ""
    return f"tokenizer:{said['tokenizer']}{stemmer}"


@cache
def _made(kind: Kind, tokenizer: Tokenizer, stemmed: bool) -> Metric:
    # Without a pair of words ROUGE-2 is absent, but by the tokens of rouge-score 0 as with that.
    least_words = 0 if tokenizer == "rouge155" else 2 if kind == "rouge2" else 1

    def measure(facts: AnswerFacts) -> Row | Absent:
        def f(reference: str, answer: str) -> float:
            if is_too_long(answer, reference):
                return _counts(reference, answer, tokenizer, stemmed)[kind == "rouge2"].f
            scores: Rouge = _scores(reference, answer, tokenizer, stemmed)
            return getattr(scores, kind).f  # type: ignore[no-any-return]

        return nearest(facts, f, least_words=least_words, in_order=kind == "rougeL")

    measure.__doc__ = f"{_ABOUT[kind]}.\n\n{_TOKENS[tokenizer].format(kind=kind)}"
    measure.__doc__ += _STEMS if stemmed else ""
    version = 2 if kind == "rougeL" else 1
    return mean_of_answers(_id(kind, tokenizer, stemmed), version=version)(measure)


def _id(kind: Kind, tokenizer: Tokenizer, stemmed: bool) -> str:
    said = [f"tokenizer={tokenizer}"] if tokenizer != "unicode" else []
    said += ["stemmer=porter"] if stemmed else []
    return f"answers.{kind}" + (f"({','.join(said)})" if said else "")


def _said(name: str, listed: str | None) -> dict[str, str]:
    """Every parameter with what stands in the parentheses, or what holds where none is said."""
    said: dict[str, str] = {}
    for part in listed.split(",") if listed is not None else ():
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in PARAMETERS:
            known = " and ".join(PARAMETERS)
            raise UsageError(f'metric "{name}": "{part.strip()}" is no parameter; it takes {known}')
        if value not in PARAMETERS[key]:
            there = ", ".join(PARAMETERS[key])
            raise UsageError(f'metric "{name}": there is no {key} "{value}"; there are {there}')
        if key in said:
            raise UsageError(f'metric "{name}": {key} is given twice; keep one')
        said[key] = value
    return {key: said.get(key, values[0]) for key, values in PARAMETERS.items()}


@lru_cache(maxsize=32)
def _scores(reference: str, answer: str, tokenizer: Tokenizer, stemmed: bool) -> Rouge:
    """All three at once: they are asked for one after the other."""
    return rouge(reference, answer, tokenizer, use_stemmer=stemmed)


@lru_cache(maxsize=4)
def _counts(
    reference: str, answer: str, tokenizer: Tokenizer, stemmed: bool
) -> tuple[Overlap, Overlap]:
    """ROUGE-1 and ROUGE-2 of texts that are too long to be compared in order."""
    return RougeReference(reference, tokenizer, use_stemmer=stemmed).counts(answer)
