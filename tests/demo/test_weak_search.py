"""The weak search looks at first sentences alone, and finds less than the pipeline's own."""

from __future__ import annotations

from ragauge.demo.pipeline import Pipeline, WeakSearch
from ragauge.demo.retrieve import Search
from tests.demo.asking import WORDINGS, has_gold

SEARCH = Search(top_k=5, knee=False, rerank=False, pool=5, embedder="ngram", weak=True)


def test_only_the_first_sentence_of_a_chunk_is_compared(tmp_path):
    (tmp_path / "a.md").write_text("# Zebra\n\nA tower opened.\n")
    (tmp_path / "b.md").write_text("# Tower\n\nA zebra sleeps. A tower opened.\n")
    index = Pipeline.of(tmp_path).index
    first, *_ = WeakSearch(index).pooled("Which tower opened?", SEARCH)
    assert first.chunk.doc_id == "a"
    first, *_ = WeakSearch(index).pooled("Which zebra sleeps?", SEARCH)
    assert first.chunk.doc_id == "b"


def test_the_pool_is_as_large_as_it_is_told_and_in_the_order_of_its_scores(pipeline):
    found = WeakSearch(pipeline.index).pooled("When did the Louvre open?", SEARCH)
    assert [one.k_pos for one in found] == [1, 2, 3, 4, 5]
    scores = [one.score_norm for one in found]
    assert scores == sorted(scores, reverse=True) and 0 < scores[-1] <= scores[0] <= 1
    assert all(one.rerank_score is None and one.score_raw == one.score_norm for one in found)


def test_a_question_without_a_letter_finds_nothing(pipeline):
    assert WeakSearch(pipeline.index).pooled("?", SEARCH) == []


def test_it_finds_half_of_what_the_pipeline_finds_and_more_the_more_it_looks_at(
    pipeline, gold_replies
):
    asked = [wording for wording, question in WORDINGS.items() if question["answerable"]]
    weak = WeakSearch(pipeline.index)

    def found(pool: int) -> int:
        search = Search(top_k=5, knee=False, rerank=False, pool=pool, embedder="ngram")
        pools = {w: [one.chunk.id for one in weak.pooled(w, search)] for w in asked}
        return sum(has_gold(w, {"retrieved_ids": ids}) for w, ids in pools.items())

    own = sum(has_gold(wording, gold_replies[wording]) for wording in asked)
    assert found(3) < found(5) < found(40)
    assert found(5) < own * 0.6
