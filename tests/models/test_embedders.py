"""Embedders: hashed n-grams, one that remembers, one that stores; each gives the same vectors."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.models.embedders import NgramEmbedder, embedder
from ragauge.models.endpoint_embedder import CachingEmbedder
from ragauge.store.reply_cache import open_replies
from ragauge.text.canonical import canonical

NGRAM = NgramEmbedder()


def twin(text: str) -> np.ndarray:
    """The definition, one n-gram after the other."""
    counts: dict[str, int] = {}
    for word in canonical(text).split():
        padded = f" {word} "
        for size in (3, 4, 5):
            for start in range(len(padded) - size + 1):
                gram = padded[start : start + size]
                counts[gram] = counts.get(gram, 0) + 1
    row = np.zeros(1024)
    for gram, times in counts.items():
        code = crc32(gram.encode("utf-8", "surrogatepass"))
        row[code % 1024] += (1 + np.log(times)) * (1 if code >= 2**31 else -1)
    length = np.sqrt((row**2).sum())
    return row / length if length else row


@given(st.text(max_size=200))
def test_a_row_equals_the_plain_twins(text):
    assert np.allclose(NGRAM.embed([text])[0], twin(text), atol=1e-6)


@given(st.lists(st.text(max_size=50), max_size=6))
def test_rows_have_length_one_or_are_zeros_where_no_letter_is(texts):
    rows = NGRAM.embed(texts)
    assert rows.shape == (len(texts), 1024) and rows.dtype == np.float32
    for row, text in zip(rows, texts, strict=True):
        assert np.isclose(np.linalg.norm(row), 1 if canonical(text) else 0, atol=1e-6)


def test_what_stands_beside_a_text_does_not_matter():
    texts = ["Het Rijksmuseum", "", "archief", "故宫博物院"]
    assert (NGRAM.embed(texts) == np.vstack([NGRAM.embed([text]) for text in texts])).all()


def test_case_accents_composed_and_punctuation_do_not_matter():
    first, second = NGRAM.embed(["“Musée d'Orsay!”", "muse\u0301e DORSAY"])
    assert (first == second).all()


def test_close_spelling_is_closer_than_other_words():
    asked, typo, inflected, other = NGRAM.embed(
        ["the national library", "the natoinal library", "national libraries", "a wooden ship"]
    )
    assert asked @ typo > 0.5 and asked @ inflected > 0.4 > asked @ other


def test_repetition_counts_less_and_less():
    once, twice, often, other = NGRAM.embed(
        ["ship sea", "ship ship sea", "ship " * 50 + "sea", "ship"]
    )
    assert once @ other < twice @ other < often @ other < 1


SCRIPT = """
import sys
from ragauge.models.embedders import NgramEmbedder
sys.stdout.buffer.write(NgramEmbedder().embed(["De Nachtwacht, 1642", "故宫"]).tobytes())
"""


def test_bits_are_the_same_in_every_process():
    bits = {
        hashlib.sha256(
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
            ).stdout
        ).hexdigest()
        for seed in ("0", "1", "random")
    }
    assert len(bits) == 1


def test_the_id_tells_the_dimension():
    assert embedder("ngram").id == "ngram:v1:1024"
    assert NgramEmbedder(64).id == "ngram:v1:64" and NgramEmbedder(64).embed(["a"]).shape == (1, 64)


@pytest.mark.parametrize("name", ["", "ngrams", "minilm:", "ngram:v2", "MiniLM", "openai"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(UsageError, match="there are ngram, minilm, minilm:/path"):
        embedder(name)


class Counting(NgramEmbedder):
    """The real embedder, keeping count of what it is asked."""

    def __init__(self) -> None:
        super().__init__(32)
        self.asked: Counter[str] = Counter()

    def embed(self, texts):
        self.asked.update(texts)
        return super().embed(texts)


def test_it_has_the_id_and_the_dimension_of_the_other():
    remembered = CachingEmbedder(NgramEmbedder())
    assert (remembered.id, remembered.dimension) == ("ngram:v1:1024", 1024)


@given(st.lists(st.lists(st.sampled_from("abcdefg")), max_size=8), st.integers(1, 9))
def test_vectors_are_the_same_whatever_was_asked_before(calls, most):
    remembered, plain = CachingEmbedder(NgramEmbedder(32), most=most), NgramEmbedder(32)
    for texts in calls:
        assert (remembered.embed(texts) == plain.embed(texts)).all()


def test_a_text_is_embedded_once_even_within_a_call():
    counting = Counting()
    remembered = CachingEmbedder(counting)
    remembered.embed(["museum", "library", "museum"])
    remembered.embed(["library", "archive"])
    assert counting.asked == {"museum": 1, "library": 1, "archive": 1}


def test_what_was_used_longest_ago_is_forgotten_first():
    counting = Counting()
    remembered = CachingEmbedder(counting, most=2)
    for text in ("museum", "library", "museum", "archive", "museum", "library"):
        remembered.embed([text])
    assert counting.asked == {"museum": 1, "library": 2, "archive": 1}


def test_nobody_can_change_what_is_remembered():
    remembered = CachingEmbedder(NgramEmbedder(32))
    remembered.embed(["museum"])[:] = 7
    assert (remembered.embed(["museum"]) == NgramEmbedder(32).embed(["museum"])).all()


def test_half_a_character_is_a_text_too():
    remembered = CachingEmbedder(NgramEmbedder(32))
    assert remembered.embed(["\ud800 museum"]).any()
    assert remembered.embed([]).shape == (0, 32)
    assert remembered.embed([]).dtype == np.float32


def test_it_must_keep_something():
    with pytest.raises(ValueError, match="at least one vector"):
        CachingEmbedder(NgramEmbedder(), most=0)


TEXTS = ["museum", "", "\ud800 half", "library", "museum", "é"]


class CountingCalls(NgramEmbedder):
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
    first, second = CountingCalls(), CountingCalls()
    rows = CachingEmbedder(first, kept).embed(TEXTS)
    assert first.asked == Counter(set(TEXTS))
    assert (rows == NgramEmbedder(32).embed(TEXTS)).all() and rows.dtype == np.float32
    again = CachingEmbedder(second, kept).embed([*TEXTS[::-1], "archive"])
    assert second.asked == {"archive": 1}
    assert (again[:-1] == rows[::-1]).all()
    assert CachingEmbedder(second, kept).embed([]).shape == (0, 32)


def test_vectors_of_another_embedder_are_not_taken_for_its_own(kept):
    CachingEmbedder(CountingCalls(32), kept).embed(TEXTS)
    other = CachingEmbedder(CountingCalls(64), kept)
    assert other.id == "ngram:v1:64" and other.dimension == 64
    assert (other.embed(TEXTS) == NgramEmbedder(64).embed(TEXTS)).all()


def test_a_vector_that_is_damaged_is_made_again():
    class Damaged:
        def get_all(self, keys):
            return dict.fromkeys(keys, b"half a vector")

        def put_all(self, replies):
            assert len(replies) == 2

    rows = CachingEmbedder(CountingCalls(), Damaged()).embed(["museum", "library"])
    assert (rows == NgramEmbedder(32).embed(["museum", "library"])).all()
