"""Payloads that lie about their index or their place, and about nothing else."""

from __future__ import annotations

from ragauge.demo.pipeline import Pipeline
from tests.demo.asking import citations_in, reply


def test_stale_payloads_are_of_an_earlier_index_and_nothing_else(pipeline, healthy):
    live = pipeline.index.manifest
    for question, was in healthy.items():
        now = reply(pipeline, question, "stale_payloads=1")
        best = was["retrieved"][0]["doc_id"] if was["retrieved"] else None
        assert now | {"retrieved": 0} == was | {"retrieved": 0}
        for then, one in zip(was["retrieved"], now["retrieved"], strict=True):
            changed = {key for key in one if one[key] != then[key]}
            assert changed == ({"index_hash", "rev"} if one["doc_id"] == best else {"index_hash"})
            assert len(one["index_hash"]) == len(live.hash)
            assert len(one["rev"]) == len(then["rev"])


def test_drifted_offsets_are_a_few_characters_off_and_copied_into_citations(pipeline, healthy):
    far = set()
    for question, was in healthy.items():
        now = reply(pipeline, question, "drifted_offsets=1")
        assert now["answer_json"] == was["answer_json"]
        offsets = {one["snippet_id"]: one["offsets"] for one in now["retrieved"]}
        assert all(one["offsets"] == offsets[one["snippet_id"]] for one in citations_in(now))
        for then, one in zip(was["retrieved"], now["retrieved"], strict=True):
            assert one | {"offsets": 0} == then | {"offsets": 0}
            ends = [one["offsets"][end] - then["offsets"][end] for end in ("start", "end")]
            assert ends[0] == ends[1] != 0
            far.add(ends[0])
    assert far == set(range(-8, 0))


def test_offsets_at_the_very_beginning_drift_the_other_way(tmp_path):
    (tmp_path / "tower.md").write_text("The Eiffel Tower opened in 1889.")
    pipeline = Pipeline.of(tmp_path)
    [one] = reply(pipeline, "When did the Eiffel Tower open?", "drifted_offsets=1")["retrieved"]
    assert 0 < one["offsets"]["start"] == one["offsets"]["end"] - 32
