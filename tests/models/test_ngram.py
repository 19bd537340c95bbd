"""The n-gram embedder: spelling as vectors, the same in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.models.embedders import NgramEmbedder, embedder
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
