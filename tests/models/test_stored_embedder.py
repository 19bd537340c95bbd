"""Vectors that are kept on disk are those of the embedder, to the last bit."""

from collections import Counter

import numpy as np
import pytest

from ragauge.models.embedders import NgramEmbedder
from ragauge.models.endpoint_embedder import StoredEmbedder
from ragauge.store.reply_cache import open_replies

TEXTS = ["museum", "", "\ud800 half", "library", "museum", "é"]


class Counting(NgramEmbedder):
    def __init__(self, dimension=32):
        super().__init__(dimension)
        self.asked = Counter()

    def embed(self, texts):
        self.asked.update(texts)
        return super().embed(texts)


@pytest.fixture
def kept(tmp_path):
    opened = open_replies(str(tmp_path / "store"))
    yield opened
    opened.close()


def test_a_text_is_sent_to_its_model_once_whoever_asks(kept):
    first, second = Counting(), Counting()
    rows = StoredEmbedder(first, kept).embed(TEXTS)
    assert first.asked == Counter(set(TEXTS))
    assert (rows == NgramEmbedder(32).embed(TEXTS)).all() and rows.dtype == np.float32
    again = StoredEmbedder(second, kept).embed([*TEXTS[::-1], "archive"])
    assert second.asked == {"archive": 1}
    assert (again[:-1] == rows[::-1]).all()
    assert StoredEmbedder(second, kept).embed([]).shape == (0, 32)


def test_vectors_of_another_embedder_are_not_taken_for_its_own(kept):
    StoredEmbedder(Counting(32), kept).embed(TEXTS)
    other = StoredEmbedder(Counting(64), kept)
    assert other.id == "ngram:v1:64" and other.dimension == 64
    assert (other.embed(TEXTS) == NgramEmbedder(64).embed(TEXTS)).all()


def test_a_vector_that_is_damaged_is_made_again():
    class Damaged:
        def get_all(self, keys):
            return dict.fromkeys(keys, b"half a vector")

        def put_all(self, replies):
            assert len(replies) == 2

    rows = StoredEmbedder(Counting(), Damaged()).embed(["museum", "library"])
    assert (rows == NgramEmbedder(32).embed(["museum", "library"])).all()
