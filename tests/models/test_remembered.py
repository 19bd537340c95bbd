"""Remembered vectors are the embedder's own, and each text costs once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.models.embedders import NgramEmbedder, RememberedEmbedder


class Counting(NgramEmbedder):
    """The real embedder, keeping count of what it is asked."""

    def __init__(self) -> None:
        super().__init__(32)
        self.asked: Counter[str] = Counter()

    def embed(self, texts):
        self.asked.update(texts)
        return super().embed(texts)


def test_it_has_the_id_and_the_dimension_of_the_other():
    remembered = RememberedEmbedder(NgramEmbedder())
    assert (remembered.id, remembered.dimension) == ("ngram:v1:1024", 1024)


@given(st.lists(st.lists(st.sampled_from("abcdefg")), max_size=8), st.integers(1, 9))
def test_vectors_are_the_same_whatever_was_asked_before(calls, most):
    remembered, plain = RememberedEmbedder(NgramEmbedder(32), most), NgramEmbedder(32)
    for texts in calls:
        assert (remembered.embed(texts) == plain.embed(texts)).all()


def test_a_text_is_embedded_once_even_within_a_call():
    counting = Counting()
    remembered = RememberedEmbedder(counting)
    remembered.embed(["museum", "library", "museum"])
    remembered.embed(["library", "archive"])
    assert counting.asked == {"museum": 1, "library": 1, "archive": 1}


def test_what_was_used_longest_ago_is_forgotten_first():
    counting = Counting()
    remembered = RememberedEmbedder(counting, most=2)
    for text in ("museum", "library", "museum", "archive", "museum", "library"):
        remembered.embed([text])
    assert counting.asked == {"museum": 1, "library": 2, "archive": 1}


def test_nobody_can_change_what_is_remembered():
    remembered = RememberedEmbedder(NgramEmbedder(32))
    remembered.embed(["museum"])[:] = 7
    assert (remembered.embed(["museum"]) == NgramEmbedder(32).embed(["museum"])).all()


def test_half_a_character_is_a_text_too():
    remembered = RememberedEmbedder(NgramEmbedder(32))
    assert remembered.embed(["\ud800 museum"]).any()
    assert remembered.embed([]).shape == (0, 32)
    assert remembered.embed([]).dtype == np.float32


def test_it_must_keep_something():
    with pytest.raises(ValueError, match="at least one vector"):
        RememberedEmbedder(NgramEmbedder(), most=0)
