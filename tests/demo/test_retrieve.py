"""Chunks that are put before others keep the order law, whatever the scores are."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.rules import out_of_order
from ragauge.demo.chunks import Chunk
from ragauge.demo.retrieve import Candidate, Search, in_front, placed

SEARCH = Search(top_k=5, knee=True, rerank=True, pool=40, embedder="ngram")
scores = st.floats(0, 1).map(lambda score: round(score, 6)) | st.sampled_from([0.0, 0.999999, 1.0])


def chunk(name: str) -> Chunk:
    return Chunk(f"d#{name}", "d", name, "D", 0, 1, "x")


def payload(one: Candidate) -> dict:
    shown = msgspec.to_builtins(one)
    place = {"start": one.chunk.start, "end": one.chunk.end}
    return shown | {
        "snippet_id": one.chunk.id,
        "section_id": one.chunk.section_id,
        "offsets": place,
    }


@given(st.lists(scores, max_size=8), st.integers(1, 30), st.booleans())
def test_the_order_law_holds_with_chunks_in_front(found, count, rerank):
    search = msgspec.structs.replace(SEARCH, rerank=rerank)
    ranked = placed(
        [
            Candidate(chunk=chunk(f"b{number}"), score_raw=score, score_norm=score, k_pos=number)
            for number, score in enumerate(found, 1)
        ],
        "k_final",
    )
    # Names that the law would put last, were the scores equal.
    chunks = [chunk(f"z{number}") for number in reversed(range(count))]
    shown = in_front(chunks, ranked, search)
    assert [one.chunk for one in shown] == [*chunks, *(one.chunk for one in ranked)]
    assert [one.k_final for one in shown] == [*range(1, len(shown) + 1)]
    assert sorted(one.k_pos for one in shown) == [*range(1, len(shown) + 1)]
    assert out_of_order([payload(one) for one in shown]) is None
    assert all(0 <= one.score_norm <= 1 for one in shown)
    assert all((one.rerank_score is not None) == rerank for one in shown[:count])


def test_scores_stay_as_they_are_where_there_is_room():
    ranked = placed([Candidate(chunk=chunk("b"), score_raw=3.0, score_norm=0.6)], "k_final")
    shown = in_front([chunk("y"), chunk("z")], ranked, SEARCH)
    assert [round(one.score_norm, 3) for one in shown] == [0.867, 0.733, 0.6]
    assert shown[2].score_norm == 0.6


def test_with_nothing_to_put_in_front_nothing_changes():
    ranked = placed([Candidate(chunk=chunk("b"), score_raw=3.0, score_norm=1.0)], "k_final")
    assert in_front([], ranked, SEARCH) == ranked
