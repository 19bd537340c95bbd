"""Manifests are read by our names and by others', and every fault of one is told at once."""

from __future__ import annotations

import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.manifest import Manifest
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import BadRecord
from ragauge.ingest.manifest import ALIASES, NAMES, manifest_of, read_manifest

LISTED = {"doc_id": "handbook_2024", "rev": "3b91f2a"}
SPEC = {
    "index_type": "faiss-flat",
    "metric": "cosine",
    "embedding": "bge-large-en-v1.5:mean",
    "chunker": {"name": "sections", "most_words": 200},
    "text_preproc": "lowercase+ascii_fold",
    "doc_revs": {"handbook_2024": "3b91f2a"},
    "hash": "faiss:2f7d9a",
}


def read(tmp_path, record) -> Manifest:
    file = tmp_path / "index.json"
    file.write_text(record if isinstance(record, str) else json.dumps(record))
    return read_manifest(str(file))


def faults(tmp_path, record) -> list[str]:
    with pytest.raises(InputRejected) as rejected:
        read(tmp_path, record)
    place = f"{tmp_path / 'index.json'}: "
    assert all(problem.startswith(place) for problem in rejected.value.problems)
    return [problem.removeprefix(place) for problem in rejected.value.problems]


def test_the_names_of_the_specification_are_read(tmp_path):
    assert read(tmp_path, SPEC) == Manifest(**SPEC)


def test_each_alias_says_the_same_as_our_name(tmp_path):
    for name, aliases in ALIASES.items():
        for alias in aliases:
            renamed = {alias if key == name else key: value for key, value in SPEC.items()}
            assert read(tmp_path, renamed) == Manifest(**SPEC), alias


def test_revisions_may_be_a_list(tmp_path):
    listed = [{"doc_id": "b", "rev": "2"}, {"doc_id": "a", "rev": "1"}]
    assert read(tmp_path, {"documents": listed}).doc_revs == {"a": "1", "b": "2"}


def test_unknown_keys_are_kept_and_nulls_of_known_ones_are_nothing(tmp_path):
    manifest = read(tmp_path, SPEC | {"built_by": {"n": [1]}, "note": None, "metric": None})
    assert manifest.extra == {"built_by": {"n": [1]}, "note": None}
    assert manifest.metric is None


def test_two_names_that_agree_are_one_and_two_that_do_not_are_refused(tmp_path):
    agreeing = SPEC | {"index_hash": "2f7d9a", "docs": [LISTED]}
    assert read(tmp_path, agreeing) == Manifest(**SPEC)
    assert faults(tmp_path, SPEC | {"index_hash": "ffff", "analyzer": "none"}) == [
        "analyzer: says something else than text_preproc, and both mean text_preproc; keep one",
        "index_hash: says something else than hash, and both mean hash; keep one",
    ]
    [one] = faults(tmp_path, {"hash": "1", "embed_model": "a", "embedding_model": "b"})
    assert one.startswith("embedding_model: says something else than embed_model")


def test_everything_that_is_wrong_is_told_at_once_with_its_place(tmp_path):
    record = {
        "index_type": 3,
        "metric": " ",
        "embed_model": [],
        "chunker": {},
        "docs": [
            {"doc_id": "a"},
            7,
            {"doc_id": "b", "rev": ""},
            {"doc_id": "c", "rev": "1", "x": 2},
        ],
        "chunks": -1,
        "source": False,
        "hash": "faiss:",
        "files": {"chunks.jsonl": 5, "": "abc"},
    }
    assert faults(tmp_path, record) == [
        "index_type: expected text, got a number",
        "metric: is empty; leave it out, or say what it is",
        "embed_model: expected text or an object, got a list",
        "chunker: is empty; leave it out, or say what it is",
        "docs[0].rev: missing; write doc_id and rev",
        "docs[1]: expected an object, got a number",
        "docs[2].rev: is empty; leave it out, or say what it is",
        'docs[3]: "x" is no part of it; write doc_id and rev alone',
        "chunks: -1 is below zero",
        "source: expected text, got true or false",
        'hash: "faiss:" names a store and no hash; add the hash',
        'files["chunks.jsonl"]: expected text, got a number',
        "files: one of its names is empty; name it, or leave it out",
    ]


@pytest.mark.parametrize(
    ("revs", "fact"),
    [
        ({"a": 1}, 'doc_revs["a"]: expected text, got a number'),
        ({"a": None}, 'doc_revs["a"]: expected text, got null'),
        ({" ": "1"}, "doc_revs: one of its names is empty; name it, or leave it out"),
        ({}, "doc_revs: is empty; leave it out, or name the documents of the index"),
        ([], "doc_revs: is empty; leave it out, or name the documents of the index"),
        (
            "a",
            "doc_revs: expected an object of revisions, or a list of {doc_id, rev}, got text",
        ),
        (
            [{"doc_id": "a", "rev": "1"}, {"doc_id": "a", "rev": "2"}],
            'doc_revs[1].rev: "a" has another one already; keep the one that was indexed',
        ),
    ],
)
def test_revisions_that_cannot_be_read_are_refused(tmp_path, revs, fact):
    assert faults(tmp_path, {"hash": "1", "doc_revs": revs}) == [fact]


def test_many_faults_are_counted(tmp_path):
    file = tmp_path / "index.json"
    file.write_text(json.dumps({"revs": {f"d{n}": n for n in range(250)}}))
    with pytest.raises(InputRejected) as rejected:
        read_manifest(str(file))
    assert (len(rejected.value.problems), rejected.value.more) == (100, 150)


@pytest.mark.parametrize("kept", ["hash", "text_preproc", "doc_revs"])
def test_one_thing_to_compare_citations_with_is_enough(tmp_path, kept):
    assert getattr(read(tmp_path, {"metric": "ip", kept: SPEC[kept]}), kept) == SPEC[kept]


def test_a_manifest_with_nothing_to_compare_citations_with_is_refused(tmp_path):
    for record in ({}, {"metric": "ip", "chunks": 3}, {"hash": None, "name": "x"}):
        [fact] = faults(tmp_path, record)
        assert fact.startswith("hash: missing, as are text_preproc and doc_revs")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("[]", "manifest: expected an object such as"),
        ('{"hash": "1", "hash": "2"}', 'key "hash" appears 2 times'),
        ('{"hash": "1"', "not JSON"),
        ('{"hash": "1", "doc_revs": {"a": "1", "a": "2"}}', 'key "a" appears 2 times'),
    ],
)
def test_what_is_no_such_object_is_refused(tmp_path, text, fact):
    [said] = faults(tmp_path, text)
    assert said.startswith(fact)


def test_a_file_that_is_not_there_or_is_packed(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_manifest(str(tmp_path / "none.json"))
    packed = tmp_path / "index.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(SPEC).encode()))
    assert read_manifest(str(packed)) == Manifest(**SPEC)


names = st.text(max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(NAMES)) | names, values, max_size=8))
def test_whatever_stands_there_is_read_whole_or_refused_in_words(record):
    try:
        manifest = manifest_of(record)
    except BadRecord as bad:
        told = [str(field) for field in bad.fields]
    else:
        assert manifest.extra == {key: record[key] for key in record if key not in NAMES}
        assert msgspec.convert(msgspec.to_builtins(manifest), Manifest) == manifest
        told = [manifest.hash or manifest.text_preproc or manifest.doc_revs]
    assert told and all(told)
