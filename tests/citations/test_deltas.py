"""ΔS says how unlike two texts look to an embedder, or why that cannot be said."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations import deltas
from ragauge.citations.deltas import DeltaQuestion, delta_s, deltas_of
from ragauge.models import minilm
from ragauge.models.embedders import NgramEmbedder

QUESTION = "When did the museum open to the public?"
NEAR = "The museum opened to the public in 1793."
FAR = "Paper is kept at a low and steady humidity."
ngram = NgramEmbedder()

INSTALLED = all(find_spec(name) for name in (*minilm.EXTRA, minilm.WHEEL))


def plain(a: str, b: str) -> float:
    """1 − cos, word for word from the definition."""
    first, second = (row.astype(float).tolist() for row in ngram.embed([a, b]))
    dot = math.fsum(x * y for x, y in zip(first, second, strict=True))
    lengths = math.hypot(*first) * math.hypot(*second)
    return min(1.0, max(0.0, 1 - dot / lengths))


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), min_size=2))
def test_it_is_one_minus_the_cosine_held_within_0_and_1(rows):
    vectors = np.array(rows, dtype=np.float32)
    for a, b, value in zip(rows, rows[::-1], delta_s(vectors, vectors[::-1]), strict=True):
        lengths = math.hypot(*a) * math.hypot(*b)
        if lengths > 1e-12:
            cosine = math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths
            assert value == pytest.approx(min(1, max(0, 1 - cosine)), abs=1e-6)
        elif not any(a) or not any(b):
            assert value is None


def test_each_name_has_its_own_number():
    [one] = deltas_of(
        [DeltaQuestion(question=QUESTION, chunks=(FAR, NEAR), anchor=NEAR, decoy=FAR)], ngram
    )
    assert one.values == {
        "context": round(plain(QUESTION, f"{FAR}\n\n{NEAR}"), 6),
        "chunk": round(plain(QUESTION, NEAR), 6),
        "anchor": round(plain(QUESTION, NEAR), 6),
        "decoy": round(plain(QUESTION, FAR), 6),
    }
    assert one.values["anchor"] < one.values["context"] < one.values["decoy"]
    assert one.why == {}


def test_the_nearest_chunk_counts_wherever_it_stands():
    both = [DeltaQuestion(question=QUESTION, chunks=order) for order in ((FAR, NEAR), (NEAR, FAR))]
    first, last = deltas_of(both, ngram)
    assert first.values["chunk"] == last.values["chunk"]


def test_a_question_that_is_its_own_context_is_at_no_distance():
    [one] = deltas_of([DeltaQuestion(question=QUESTION, chunks=(QUESTION,))], ngram)
    assert one.values == {"context": 0.0, "chunk": 0.0}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (
            DeltaQuestion(question=QUESTION),
            {
                "context": "nothing was retrieved",
                "chunk": "nothing was retrieved",
                "anchor": "the question has no anchor",
                "decoy": "the question has no decoy",
            },
        ),
        (
            DeltaQuestion(question="?!", chunks=(NEAR,), anchor=NEAR, decoy=FAR),
            dict.fromkeys(deltas.NAMES, "the question has nothing that the embedder reads"),
        ),
        (
            DeltaQuestion(question=QUESTION, chunks=("—", ""), anchor="", decoy="…"),
            {
                "context": "the retrieved chunks have nothing that the embedder reads",
                "chunk": "the retrieved chunks have nothing that the embedder reads",
                "anchor": "the anchor has nothing that the embedder reads",
                "decoy": "the decoy has nothing that the embedder reads",
            },
        ),
    ],
    ids=["nothing to hold it against", "an empty question", "empty texts"],
)
def test_what_cannot_be_measured_is_neither_near_nor_far(asked, why):
    [one] = deltas_of([asked], ngram)
    assert (one.values, one.why) == ({}, why)


def test_an_empty_chunk_does_not_hide_a_full_one():
    with_blank, without = deltas_of(
        [DeltaQuestion(question=QUESTION, chunks=chunks) for chunks in (("", NEAR), (NEAR,))], ngram
    )
    assert with_blank.values == without.values


def some_questions(count: int) -> list[DeltaQuestion]:
    words = ["museum", "archive", "library", "opened", "in", "1793", "Louvre", "Gent", "paper"]
    made = []
    for number in range(count):
        turn = words[number % 9 :] + words[: number % 9]
        text = " ".join(turn * (1 + number % 3))
        made.append(
            DeltaQuestion(
                question=f"{turn[0]} {turn[3]} {number}?",
                chunks=(text, f"{number}"),
                anchor=text,
                decoy=" ".join(turn[::-1]) if number % 5 else "",
            )
        )
    return made


EMBEDDERS = [
    pytest.param(lambda folder: ngram, 150, id="ngram"),
    pytest.param(
        lambda folder: minilm.MiniLMEmbedder(cache=folder),
        deltas.AT_ONCE + 2,
        id="minilm",
        marks=pytest.mark.skipif(not INSTALLED, reason="minilm is not installed"),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("made", "count"), EMBEDDERS)
def test_no_number_depends_on_what_is_measured_beside_it(made, count, tmp_path):
    embedder, questions = made(tmp_path), some_questions(count)
    together = deltas_of(questions, embedder)
    assert together == [deltas_of([one], embedder)[0] for one in questions]
    assert together == deltas_of(questions[::-1], embedder)[::-1]


def test_progress_hears_of_every_question():
    told = []
    deltas_of(some_questions(70), ngram, told.append)
    assert told == [32, 32, 6]
    assert deltas_of([], ngram) == []
