"""The shipped coefficients against people, set by set: floors that guard against a regression."""

from __future__ import annotations

from functools import cache

import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from ragauge.grounding import Passages, groundedness
from tests.components.shared_data import shared
from training.datasets import attribution, mtrag, ragtruth

FLOORS = {
    "ragtruth-qa": 0.80,
    "ragtruth-data2txt": 0.68,
    "ragtruth-summary": 0.68,
    "hagrid": 0.84,
    "mtrag": 0.80,
}
"""Of the area under the curve."""
TOLD_APART = 0.60
"""Balanced accuracy at the threshold that is shipped."""
FILES = {
    "ragtruth/responses.jsonl": ragtruth,
    "mtrag/human_eval_responses.jsonl": mtrag,
    "attribution/claims.jsonl": attribution,
}


@cache
def judged():
    """By set: what people said, our score, whether we call it grounded, and the length control."""
    rows = [row for file, read in FILES.items() for row in read(shared(file).parents[1])]
    contexts: dict[tuple[str, ...], Passages] = {}
    told: dict[str, list[tuple[bool, float, bool, int]]] = {}
    for row in rows:
        key = (row.question, *row.contexts)
        passages = contexts.get(key) or Passages(row.contexts, row.question)
        contexts[key] = passages
        found = groundedness(row.answer, passages, kind=row.kind)
        if found.value is not None:
            one = (row.grounded, found.value, bool(found.grounded), -len(row.answer))
            told.setdefault(row.name, []).append(one)
    return {name: list(zip(*of, strict=True)) for name, of in told.items()}


@pytest.mark.parametrize("name", FLOORS)
def test_people_agree_beyond_the_floor_and_beyond_length(name):
    people, scores, _, shorter = judged()[name]
    agreement = roc_auc_score(people, scores)
    assert agreement >= FLOORS[name]
    assert agreement > roc_auc_score(people, shorter) + 0.05


@pytest.mark.parametrize("name", FLOORS)
def test_the_threshold_tells_good_from_bad(name):
    people, _, said, _ = judged()[name]
    assert balanced_accuracy_score(people, said) >= TOLD_APART


def test_hardly_an_answer_is_left_out():
    sizes = {name: len(people) for name, (people, *_) in judged().items()}
    assert sizes["ragtruth-qa"] == 415
    assert sizes["mtrag"] >= 140
    assert sizes["hagrid"] >= 315
