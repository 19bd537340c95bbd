"""Two manifests compared: what differs is named, with what it does to citations."""

from __future__ import annotations

import re
from unicodedata import normalize

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.drift import FOLLOWS, coverage_of, differences, drift
from ragauge.contracts.drift import DIFFERENCES_KEPT
from ragauge.contracts.manifest import Manifest

BUILT = Manifest(
    index_type="faiss-flat",
    metric="cosine",
    embedding={"model": "bge-large", "pooling": "mean"},
    chunker="sections:200",
    text_preproc="lowercase",
    doc_revs={"a": "1", "b": "1", "c": "1"},
    chunks=12,
    source="https",
    extra={"nprobe": 8},
).hashed()


def changed(**fields) -> Manifest:
    return msgspec.structs.replace(BUILT, **fields)


def codes(was: Manifest, now: Manifest) -> list[str]:
    return [one.code for one in differences(was, now)]


def test_an_index_does_not_differ_from_itself():
    assert differences(BUILT, BUILT) == ()
    report = drift(BUILT, BUILT)
    assert report.passed and report.findings == () and report.difference_count == 0
    assert (report.coverage.documents, report.coverage.same) == (3, 3)
    assert report.coverage.untold == () and len(report.coverage.compared) == 10


@pytest.mark.parametrize(
    "field", ["index_type", "metric", "embedding", "chunker", "text_preproc", "chunks", "source"]
)
def test_each_field_that_changed_is_named_with_what_follows(field):
    now = changed(**{field: 99 if field == "chunks" else "other"}).hashed()
    [one, hash] = differences(BUILT, now)
    assert (one.code, one.field, one.now) == (f"{field}_changed", field, getattr(now, field))
    assert (hash.code, hash.was, hash.now) == ("hash_changed", BUILT.hash, now.hash)
    assert (one.follows, one.tip) == FOLLOWS[one.code]


def test_a_changed_chunker_says_that_offsets_no_longer_hold():
    [one, _] = differences(BUILT, changed(chunker="sections:400").hashed())
    assert "Offsets" in one.follows and "Rebuild" in one.tip


def test_documents_changed_gone_and_new_are_named_by_id():
    now = changed(doc_revs={"c": "2", "b": "1", "e": "1", "d": "1"}).hashed()
    assert [(one.code, one.doc_id, one.was, one.now) for one in differences(BUILT, now)[:-1]] == [
        ("document_changed", "c", "1", "2"),
        ("document_gone", "a", "1", None),
        ("document_new", "d", None, "1"),
        ("document_new", "e", None, "1"),
    ]
    covered = coverage_of(BUILT, now)
    assert (covered.documents, covered.same) == (5, 1)


def test_inside_an_object_only_the_part_that_differs_is_named():
    now = changed(embedding={"model": "bge-large", "pooling": "cls", "dims": {"out": 64}})
    told = [(one.field, one.was, one.now) for one in differences(BUILT, now.hashed())]
    assert told[:-1] == [
        ("embedding.dims", None, {"out": 64}),
        ("embedding.pooling", "mean", "cls"),
    ]


def test_a_hash_that_differs_alone_and_one_that_does_not_notice_are_told():
    assert codes(BUILT, changed(hash="ffff")) == ["hash_changed_alone"]
    assert codes(BUILT, changed(metric="ip")) == ["metric_changed", "hash_kept"]
    assert codes(BUILT, changed(hash=f"faiss:{BUILT.hash}")) == []


def test_unknown_fields_that_both_tell_are_compared():
    now = changed(extra={"nprobe": 16, "note": "x"}).hashed()
    assert codes(BUILT, now) == ["extra_changed", "hash_changed"]
    assert differences(BUILT, now)[0].field == "nprobe"


def test_what_one_does_not_tell_is_not_compared_and_said():
    less = Manifest(hash=BUILT.hash, extra={"built_by": "x"})
    report = drift(BUILT, less)
    assert report.passed and report.coverage.compared == ("hash",)
    assert {"chunker", "doc_revs", "built_by", "nprobe"} <= {*report.coverage.untold}
    assert report.coverage.documents is None


def test_where_nothing_can_be_compared_it_fails():
    report = drift(Manifest(text_preproc="x"), Manifest(hash="1"), "old.json", "new.json")
    assert not report.passed and report.difference_count == 0
    [finding] = report.findings
    assert (finding.code, finding.where) == ("nothing_compared", "new.json")
    assert not drift(Manifest(), Manifest()).passed


@pytest.mark.parametrize(
    ("fields", "enough"),
    [
        ({"hash": "1"}, True),
        ({"text_preproc": "x", "doc_revs": {"a": "1"}}, True),
        ({"text_preproc": "x", "chunker": "y", "chunks": 3}, False),
        ({"doc_revs": {"a": "1"}, "embedding": "z"}, False),
    ],
)
def test_no_difference_in_too_little_is_no_pass(fields, enough):
    report = drift(Manifest(**fields), Manifest(**fields), "old.json", "new.json")
    assert report.passed == enough and report.difference_count == 0
    if not enough:
        [finding] = report.findings
        assert (finding.code, finding.where) == ("not_enough_compared", "new.json")
        assert finding.message.startswith("no difference in what both tell (")
        assert all(field in finding.message for field in fields)


def test_too_little_that_differs_is_told_as_the_difference():
    assert drift(Manifest(chunker="x"), Manifest(chunker="y")).finding_counts == {
        "chunker_changed": 1
    }


def test_an_accent_may_be_its_own_character_in_a_document_id():
    one, other = (normalize(form, "café") for form in ("NFC", "NFD"))
    was, now = Manifest(doc_revs={one: "1"}), Manifest(doc_revs={other: "1"})
    assert codes(was, now) == codes(now, was) == []
    covered = coverage_of(was, now)
    assert (covered.documents, covered.same) == (1, 1)
    [changed] = differences(was, Manifest(doc_revs={other: "2"}))
    assert (changed.code, changed.doc_id) == ("document_changed", one)
    both = Manifest(doc_revs={one: "1", other: "2"})
    assert codes(was, both) == ["document_new"], "two documents, where a manifest has both"


def test_the_files_beside_a_manifest_are_no_difference():
    assert differences(BUILT, changed(files={"vectors.npy": "ab"})) == ()


def test_a_report_names_both_manifests_and_every_difference():
    now = changed(chunker="x", doc_revs={"a": "2", "b": "1", "c": "1"}).hashed()
    report = drift(BUILT, now, "old.json", "new.json")
    assert not report.passed and (report.was.name, report.now.name) == ("old.json", "new.json")
    assert report.was.hash == BUILT.hash and report.now.documents == 3
    assert report.finding_counts == {"chunker_changed": 1, "document_changed": 1, "hash_changed": 1}
    said = {finding.where: finding.message for finding in report.findings}
    assert said["new.json: chunker"].startswith("was sections:200, is x. Offsets and snippet ids")
    assert said["new.json: document a"].startswith("was 1, is 2. Its old citations are stale")


def test_very_many_documents_are_counted_and_the_first_are_told():
    many = {f"d{n:05}": "1" for n in range(DIFFERENCES_KEPT + 5)}
    report = drift(Manifest(doc_revs=many), Manifest(doc_revs=dict.fromkeys(many, "2")))
    assert len(report.differences) == DIFFERENCES_KEPT
    assert report.difference_count == DIFFERENCES_KEPT + 5
    assert report.finding_counts == {"document_changed": DIFFERENCES_KEPT + 5}
    assert len(report.findings) == 100


def test_every_code_says_what_follows_in_sentences():
    for code, words in FOLLOWS.items():
        assert re.fullmatch(r"[a-z_]+", code)
        assert all(one[0].isupper() and one.endswith(".") for one in words)


parts = st.dictionaries(st.sampled_from("ab"), st.integers(0, 1))
said = st.none() | st.sampled_from(["x", "y"]) | parts
revs = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"))
manifests = st.builds(
    Manifest,
    metric=st.none() | st.sampled_from(["ip", "cosine"]),
    embedding=said,
    chunker=said,
    doc_revs=revs,
    hash=st.sampled_from(["", "1", "2", "faiss:1"]),
    extra=parts,
)


def plainly(was: Manifest, now: Manifest) -> bool:
    """Whether two manifests differ in anything that both tell, written out."""
    pairs = [
        (getattr(was, name), getattr(now, name)) for name in ("metric", "embedding", "chunker")
    ]
    differ = any(a and b and a != b for a, b in pairs)
    differ |= any(was.extra[key] != now.extra[key] for key in was.extra if key in now.extra)
    differ |= bool(was.doc_revs and now.doc_revs) and was.doc_revs != now.doc_revs
    hashes = [one.hash.removeprefix("faiss:") for one in (was, now)]
    return differ or (all(hashes) and hashes[0] != hashes[1])


@given(manifests, manifests)
def test_they_differ_where_a_plain_look_says_so_and_the_other_way_round_alike(was, now):
    there, back = differences(was, now), differences(now, was)
    assert bool(there) == plainly(was, now)
    turned = {"document_new": "document_gone", "document_gone": "document_new"}
    forth = [(one.code, one.field, str(one.doc_id)) for one in there]
    again = [(turned.get(one.code, one.code), one.field, str(one.doc_id)) for one in back]
    assert sorted(again) == sorted(forth)
    assert all(msgspec.json.encode(one) for one in there)
