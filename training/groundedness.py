"""Fits the coefficients of lexical groundedness: `python -m training.groundedness DATA [--write]`.

DATA is a folder with the sets that the data card beside this file names. Coefficients are fitted
for each kind of answer, held to the sign that makes sense, with an intercept for each set while
fitting, so that what tells sets apart is not learned. Thresholds come from ten folds over
sources. Features, spreads, priors and what is held were chosen by the same folds, trial after
trial, so that those figures flatter; no set that is kept back was looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Band
from ragauge.grounding.features import (
    ANSWER_FEATURES,
    SENTENCE_FEATURES,
    Sentence,
    answer_features,
    read_answer,
    sentence_features,
)
from ragauge.grounding.model import FILE, KindModel, Model, Weights, model_text, sign_of
from ragauge.grounding.passages import Passages
from ragauge.stats.draws import below
from ragauge.stats.logistic import Fit, chance, fit_logistic, log_odds
from training.datasets import Judged, judged_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

VERSION = "2"
FOLDS = 10
ROUNDS = 3
"""Times the sources are dealt into folds anew; a row's score is the mean over them."""
INNER = 4
"""Folds within which the sentences of an answer are scored while answers are fitted."""
SPREADS: dict[AnswerKind, float] = {"qa": 0.09, "summary": 0.05, "data_to_text": 0.05}
PRIOR = {"weakest_sentence": 0.5, "mean_sentence": 0.4, "faults": -0.3}
"""Where nothing else is known, an answer is half its weakest sentence and half their mean, and a
little worse for each further doubt; one of a single sentence is nearly what the sentence is."""
HELD: dict[AnswerKind, dict[str, float]] = {
    "qa": {"denials": -3.0, "misbound_numbers": -5.0},
    "summary": {"misbound_numbers": -5.0},
    "data_to_text": {"denials": -2.0, "misbound_numbers": -5.0},
}
"""Answers that deny what their context says, or give one thing's year to another, are rare in the
sets, and wrong all the same: what they cost is set, not fitted. Summaries tell in their own words
what was denied, so that of them a denial is fitted as well."""
SENTENCE_SPREAD = 0.1
LOOSE = 10.0
"""A spread that holds nothing."""
DIGITS = 4
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the bands of scores for which the file says what people called grounded."""
COEFFICIENTS = Path(__file__).parent.parent / "src/ragauge/grounding" / FILE


class Example(Struct, frozen=True, kw_only=True):
    """What is fitted: an answer's sentences as numbers, and what people said of it and them."""

    row: Judged
    read: tuple[Sentence, ...]
    parts: tuple[tuple[float, ...], ...]
    """The numbers of each sentence."""
    labels: tuple[bool | None, ...]
    """Whether each sentence is grounded; None where nobody says."""

    @property
    def source(self) -> str:
        return f"{self.row.name} {self.row.source}"


def examples(rows: Sequence[Judged]) -> list[Example]:
    """The answers that have a context and claim something.

    A sentence of a set that marks places is bad where a place touches it; of a set that does not,
    only answers of one sentence say something of a sentence.
    """
    made = []
    known: dict[tuple[str, ...], Passages] = {}
    for row in rows:
        key = (row.question, *row.contexts)
        passages = known.setdefault(key, Passages(row.contexts, row.question))
        read = tuple(read_answer(row.answer, passages).sentences)
        if read and passages.lines:
            labels = tuple(_label(row, one, len(read)) for one in read)
            parts = tuple(tuple(sentence_features(one)) for one in read)
            made.append(Example(row=row, read=read, parts=parts, labels=labels))
    return made


def _label(row: Judged, one: Sentence, sentences: int) -> bool | None:
    if row.spans is None:
        return row.grounded if sentences == 1 else None
    return not any(start < one.end and one.start < end for start, end in row.spans)


def fit_sentences(chosen: Sequence[Example]) -> Fit:
    """The coefficients of single sentences."""
    told = [
        (numbers, label, example.row.name)
        for example in chosen
        for numbers, label in zip(example.parts, example.labels, strict=True)
        if label is not None
    ]
    values, labels, names = zip(*told, strict=True)
    held = HELD[chosen[0].row.kind]
    return fit_logistic(
        np.array(values),
        labels,
        signs=[sign_of(name) for name in SENTENCE_FEATURES],
        spread=SENTENCE_SPREAD,
        prior=[held.get(name, 0.0) for name in SENTENCE_FEATURES],
        held=[name in held for name in SENTENCE_FEATURES],
        groups=names,
    )


def fit_answers(chosen: Sequence[Example], values: Floats) -> Fit:
    """The coefficients of whole answers, whose numbers are given."""
    return fit_logistic(
        values,
        [one.row.grounded for one in chosen],
        signs=[sign_of(name) for name in ANSWER_FEATURES],
        spread=SPREADS[chosen[0].row.kind],
        prior=[PRIOR.get(name, 0.0) for name in ANSWER_FEATURES],
        groups=[one.row.name for one in chosen],
    )


def answer_values(chosen: Sequence[Example], sentences: Fit) -> Floats:
    """The numbers of answers under the coefficients of sentences."""
    weights = Weights(sentences.intercept, sentences.coefficients)
    return np.array(
        [
            answer_features(one.read, [weights.log_odds(numbers) for numbers in one.parts])
            for one in chosen
        ]
    )


def unseen_values(chosen: Sequence[Example]) -> Floats:
    """The numbers of answers, each under coefficients of sentences that never saw its source.

    Whoever fits answers to sentences that were fitted to the same answers trusts them too much.
    """
    fold = _folds([one.source for one in chosen], INNER, ROUNDS)
    values = np.zeros((len(chosen), len(ANSWER_FEATURES)))
    for place in range(INNER):
        held, kept = _split(chosen, fold == place)
        values[fold == place] = answer_values(held, fit_sentences(kept))
    return values


def fit_both(chosen: Sequence[Example]) -> tuple[Fit, Fit]:
    """The coefficients of sentences and of answers."""
    return fit_sentences(chosen), fit_answers(chosen, unseen_values(chosen))


def of_kind(chosen: Sequence[Example], kind: AnswerKind) -> list[Example]:
    return [one for one in chosen if one.row.kind == kind]


def out_of_fold(chosen: Sequence[Example]) -> Floats:
    """The log-odds of each answer under coefficients that never saw its source."""
    total = np.zeros(len(chosen))
    for turn in range(ROUNDS):
        fold = _folds([one.source for one in chosen], FOLDS, turn)
        for place in range(FOLDS):
            total[fold == place] += _odds_of_held(chosen, fold == place)
    return total / ROUNDS


def carried_across(chosen: Sequence[Example]) -> Floats:
    """The log-odds of each answer under coefficients that never saw its set."""
    names = np.array([one.row.name for one in chosen])
    odds = np.full(len(chosen), np.nan)
    for name in sorted(set(names.tolist())):
        if (names != name).any():
            odds[names == name] = _odds_of_held(chosen, names == name)
    return odds


def _odds_of_held(chosen: Sequence[Example], out: NDArray[np.bool_]) -> Floats:
    held, kept = _split(chosen, out)
    sentences, answers = fit_both(kept)
    return log_odds(answers, answer_values(held, sentences))


def _split(
    chosen: Sequence[Example], out: NDArray[np.bool_]
) -> tuple[list[Example], list[Example]]:
    marked = list(zip(chosen, out.tolist(), strict=True))
    return [one for one, held in marked if held], [one for one, held in marked if not held]


def best_threshold(odds: Floats, grounded: Sequence[bool]) -> float:
    """The probability at which balanced accuracy is best; the middle of the best where several."""
    right = np.array(grounded)
    order = np.unique(odds)
    cuts = np.concatenate([[order[0] - 1], (order[1:] + order[:-1]) / 2])
    hits = np.array([(odds[right] >= cut).mean() + (odds[~right] < cut).mean() for cut in cuts])
    best = cuts[hits >= hits.max() - 0.01]
    return float(chance(np.median(best)))


def stretched(fit: Fit, stretch: Fit) -> Fit:
    """The same order of answers, with log-odds as wide as they proved to deserve.

    Coefficients that are held close to zero give timid chances; how timid is seen out of fold.
    """
    by = stretch.coefficients[0]
    weights = tuple(by * weight for weight in fit.coefficients)
    return Fit(weights, by * fit.intercept + stretch.intercept)


def coefficients(rows: Sequence[Judged]) -> str:
    """The file of coefficients, as it is written."""
    told = examples(rows)
    kinds = {}
    for kind in ANSWER_KINDS:
        chosen = of_kind(told, kind)
        grounded = [one.row.grounded for one in chosen]
        odds = out_of_fold(chosen)
        stretch = fit_logistic(odds[:, None], grounded, signs=[1], spread=LOOSE)
        unseen = log_odds(stretch, odds[:, None])
        sentences, answers = fit_both(chosen)
        kinds[kind] = KindModel(
            answer=_rounded(stretched(answers, stretch)),
            sentence=_rounded(sentences),
            threshold=round(best_threshold(unseen, grounded), 3),
            bands=tuple(bands(unseen, grounded)),
        )
    return model_text(Model(version=VERSION, kinds=kinds), _HEAD)


def _rounded(fit: Fit) -> Weights:
    each = tuple(round(weight, DIGITS) for weight in fit.coefficients)
    return Weights(round(fit.intercept, DIGITS), each)


def bands(odds: Floats, grounded: Sequence[bool]) -> list[Band]:
    """How many answers have a score in each band, and how many of them people call grounded."""
    place = np.digitize(chance(odds), EDGES[1:-1])
    good = np.array(grounded)
    return [
        Band(low=low, high=high, answers=int(held.sum()), grounded=int(good[held].sum()))
        for held, (low, high) in zip(
            [place == at for at in range(len(EDGES) - 1)], pairwise(EDGES), strict=True
        )
    ]


_HEAD = """\
# Lexical groundedness: log-odds = intercept + the sum of coefficient x feature.
# Made by `python -m training.groundedness`; training/DATA_CARD.md tells from what.
# A feature that is not named weighs nothing. Bands: answers that scored from low to high when
# their source was left out of the fit, and how many of them people called grounded.
"""


def _folds(sources: Sequence[str], count: int, turn: int) -> NDArray[np.int64]:
    """A fold for each row, the same for all rows of a source."""
    names = sorted(set(sources))
    marks = below(turn, 1 << 32, (len(names),))
    order = sorted(range(len(names)), key=lambda place: (int(marks[place]), place))
    fold = {names[place]: rank % count for rank, place in enumerate(order)}
    return np.array([fold[source] for source in sources])


def main(arguments: Sequence[str]) -> None:
    folder, *flags = arguments
    text = coefficients(judged_rows(Path(folder)))
    if "--write" in flags:
        COEFFICIENTS.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
