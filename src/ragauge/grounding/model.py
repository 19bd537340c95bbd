"""The coefficients of lexical groundedness: small, frozen, and in one file that can be read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from operator import mul

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Band
from ragauge.grounding.features import (
    ANSWER_FEATURES,
    SENTENCE_FEATURES,
    Sentence,
    answer_features,
    sentence_features,
)

FILE = "coefficients.toml"
ID = "groundedness"

_RAISE = frozenset({"weakest_sentence", "mean_sentence", *SENTENCE_FEATURES[:5]})
_EITHER = frozenset({"cited", "length"})


def sign_of(feature: str) -> int:
    """The direction in which a feature may work, 0 for both.

    More support never lowers a score, and more faults never raise it.
    """
    return 0 if feature in _EITHER else 1 if feature in _RAISE else -1


class Weights(Struct, frozen=True):
    """One logistic model: log-odds are the intercept and the weighted features."""

    intercept: float
    coefficients: tuple[float, ...]
    """In the order of the features."""

    def log_odds(self, features: Sequence[float]) -> float:
        """The log-odds of being called grounded if half of the answers are."""
        weighed: Iterable[float] = map(mul, self.coefficients, features)
        return self.intercept + sum(weighed)


class KindModel(Struct, frozen=True):
    """The model of one kind of answer."""

    answer: Weights
    sentence: Weights
    threshold: float
    """From this score on, people were more likely to call an answer grounded."""
    bands: tuple[Band, ...] = ()
    """What scores meant to people, in ascending order; empty if it was not measured."""

    def band_of(self, value: float) -> Band | None:
        """The band of a score; None if there are no bands."""
        return next((band for band in reversed(self.bands) if value >= band.low), None)

    def sentence_odds(self, sentences: Sequence[Sentence]) -> list[float]:
        """The log-odds of each sentence by itself."""
        return [self.sentence.log_odds(sentence_features(one)) for one in sentences]

    def answer_odds(self, sentences: Sequence[Sentence], odds: Sequence[float]) -> float:
        """The log-odds of an answer, given its sentences and their log-odds."""
        return self.answer.log_odds(answer_features(sentences, odds))


class Model(Struct, frozen=True):
    """A model for each kind of answer."""

    version: str
    kinds: Mapping[AnswerKind, KindModel]

    @property
    def id(self) -> str:
        return f"{ID}/{self.version}"


@cache
def shipped() -> Model:
    """The coefficients that come with the package."""
    return model_from(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))


def model_from(text: str) -> Model:
    """The model in a file of coefficients."""
    tables = tomllib.loads(text)

    def weights(table: Mapping[str, float], features: Sequence[str]) -> Weights:
        return Weights(table["intercept"], tuple(table.get(name, 0.0) for name in features))

    kinds = {
        kind: KindModel(
            weights(tables[kind]["answer"], ANSWER_FEATURES),
            weights(tables[kind]["sentence"], SENTENCE_FEATURES),
            float(tables[kind]["threshold"]["value"]),
            msgspec.convert(tables[kind].get("bands", ()), tuple[Band, ...]),
        )
        for kind in ANSWER_KINDS
    }
    return Model(version=str(tables["version"]), kinds=kinds)


def model_text(model: Model, head: str = "") -> str:
    """The model as a file of coefficients that `model_from` reads; `head` are comments."""
    parts = [head, f'version = "{model.version}"\n']
    for kind, one in model.kinds.items():
        parts.append(f"\n[{kind}.threshold]\nvalue = {one.threshold!r}\n")
        for band in one.bands:
            cells = [f"{name} = {getattr(band, name)}\n" for name in band.__struct_fields__]
            parts += [f"\n[[{kind}.bands]]\n", *cells]
        for name, weights, features in (
            ("answer", one.answer, ANSWER_FEATURES),
            ("sentence", one.sentence, SENTENCE_FEATURES),
        ):
            parts.append(f"\n[{kind}.{name}]\nintercept = {weights.intercept!r}\n")
            named = zip(features, weights.coefficients, strict=True)
            parts += [f"{feature} = {weight!r}\n" for feature, weight in named if weight]
    return "".join(parts)
