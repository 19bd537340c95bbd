"""A manifest that was written reads back the same, and what could not is not written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from ragauge.ingest.manifest import NAMES, read_manifest
from ragauge.store.files import write_manifest

BUILT = Manifest(
    index_type="faiss-flat",
    embedding={"model": "bge-large", "pooling": "mean"},
    text_preproc="lowercase",
    doc_revs={"b": "2", "a": "1"},
    extra={"built_by": "nightly"},
)


def test_a_manifest_gets_its_hash_where_it_is_written(tmp_path):
    file = tmp_path / "index.json"
    written = write_manifest(file, BUILT)
    assert written == BUILT.hashed() == read_manifest(str(file))
    assert list(json.loads(file.read_text())) == [
        *("built_by", "doc_revs", "embedding", "hash", "index_type", "text_preproc"),
    ]


def test_a_hash_of_ones_own_is_kept(tmp_path):
    own = Manifest(hash="faiss:2f7d9a")
    assert write_manifest(str(tmp_path / "index.json"), own) == own
    assert read_manifest(str(tmp_path / "index.json")) == own


def test_the_hash_follows_how_the_index_was_made_and_not_the_files_beside_it():
    other = Manifest(index_type="faiss-flat", text_preproc="lowercase", files={"a": "1"})
    assert (
        other.hashed().hash
        == Manifest(index_type="faiss-flat", text_preproc="lowercase").hashed().hash
    )
    assert other.hashed().hash != BUILT.hashed().hash


def test_the_same_manifest_gives_the_same_bytes(tmp_path):
    turned = Manifest(
        index_type="faiss-flat",
        embedding={"pooling": "mean", "model": "bge-large"},
        text_preproc="lowercase",
        doc_revs={"a": "1", "b": "2"},
        extra={"built_by": "nightly"},
    )
    files = [tmp_path / name for name in ("one.json", "two.json")]
    for file, manifest in zip(files, (BUILT, turned), strict=True):
        write_manifest(file, manifest)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_could_not_be_read_back_is_refused_and_not_written(tmp_path):
    file = tmp_path / "index.json"
    wrong = Manifest(
        metric=3,  # type: ignore[arg-type]
        doc_revs={"a": 1},  # type: ignore[dict-item]
        extra={"index_hash": "x", "hash": "y"},
    )
    with pytest.raises(UsageError) as refused:
        write_manifest(file, wrong)
    assert refused.value.problems == (
        f"{file}: extra: hash has a field of its own; put it there",
        f"{file}: extra: index_hash has a field of its own; put it there",
        f"{file}: metric: expected text, got a number",
        f'{file}: doc_revs["a"]: expected text, got a number',
        f"{file}: index_hash: says something else than hash, and both mean hash; keep one",
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("manifest", "fact"),
    [
        (Manifest(), "tells nothing"),
        (Manifest(hash="1", extra={"made": object()}), "cannot be written as JSON"),
        (Manifest(metric="ip", extra={"made": object()}), "cannot be written as JSON"),
        (Manifest(hash="1", extra={"a": "\ud800"}), "cannot be written as JSON"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path, manifest, fact):
    with pytest.raises(UsageError, match=fact):
        write_manifest(tmp_path / "index.json", manifest)


words = st.text(min_size=1, max_size=6).filter(lambda text: text.strip())
said = words | st.dictionaries(words, words | st.integers(0, 9), min_size=1, max_size=3)


@given(
    st.builds(
        Manifest,
        index_type=st.none() | words,
        embedding=st.none() | said,
        chunker=st.none() | said,
        text_preproc=said,
        doc_revs=st.dictionaries(words, words, max_size=4),
        chunks=st.none() | st.integers(0, 10**9),
        files=st.dictionaries(words, words, max_size=2),
        extra=st.dictionaries(words.filter(lambda name: name not in NAMES), words, max_size=2),
    )
)
def test_whatever_is_written_reads_back(tmp_path_factory, manifest):
    file = tmp_path_factory.mktemp("manifests") / "index.json"
    written = write_manifest(file, manifest)
    assert read_manifest(str(file)) == written == manifest.hashed()
