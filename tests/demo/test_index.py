"""Chunks stand where they say, and an index says how it was made."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.demo import DOCUMENTS
from ragauge.demo.chunks import MOST_WORDS, document, read_documents, sentence_spans
from ragauge.demo.index import Index
from ragauge.errors import InputRejected
from ragauge.ingest.manifest import read_manifest
from ragauge.models.embedders import embedder
from ragauge.models.ngram import NgramEmbedder
from ragauge.store.files import write_manifest

NGRAM = embedder("ngram")


def chunks_of(text: str, file: str = "doc.md") -> dict[str, str]:
    made = document(file, text.encode())
    assert all(made.text[c.start : c.end] == c.text == c.text.strip() for c in made.chunks)
    return {chunk.id: chunk.text for chunk in made.chunks}


def test_every_bundled_section_is_a_chunk_at_its_exact_place():
    documents = read_documents(DOCUMENTS)
    for made in documents:
        raw = (DOCUMENTS / made.file).read_bytes().decode()
        sections = raw.rstrip("\n").split("\n\n## ")[1:]
        expected = {f"{made.id}#{s.partition(chr(10))[0]}": s.partition("\n")[2] for s in sections}
        assert {chunk.id: raw[chunk.start : chunk.end] for chunk in made.chunks} == expected
    assert sum(len(made.chunks) for made in documents) > 150


def test_the_ids_the_gold_set_cites_are_chunks():
    gold = (DOCUMENTS.parent / "gold.jsonl").read_text("utf-8").splitlines()
    cited = {id for line in gold for id in json.loads(line)["gold_citations"]}
    known = {chunk.id for made in read_documents(DOCUMENTS) for chunk in made.chunks}
    assert cited and cited <= known


def test_a_file_without_title_fields_or_sections_is_one_chunk():
    assert chunks_of("Just a paragraph.\n\nAnd another.") == {
        "doc#intro": "Just a paragraph.\n\nAnd another."
    }


def test_paragraphs_of_a_section_stay_together_and_headings_are_no_text():
    text = "# T\nkey: value\n\nBefore.\n\n## One\n\nA first.\n\nA second.\n\n### Two, deeper!\nB.\n"
    assert chunks_of(text) == {
        "doc#intro": "Before.",
        "doc#one": "A first.\n\nA second.",
        "doc#two-deeper": "B.",
    }


def test_text_that_looks_like_a_field_is_kept_once_the_text_has_begun():
    assert chunks_of("# T\nlanguage: en\n\nText.\nnote: kept\n\n## intro\nnote: kept too") == {
        "doc#intro": "Text.\nnote: kept",
        "doc#intro-2": "note: kept too",
    }


def test_line_ends_and_a_byte_order_mark_count_as_characters():
    text = (
        "\ufeff# Título\r\nlanguage: en\r\n\r\n## één\r\nEerste.\r\nTweede.\r\n\r\n## b\r\nC.\r\n"
    )
    assert chunks_of(text) == {"doc#één": "Eerste.\r\nTweede.", "doc#b": "C."}
    assert document("doc.md", text.encode()).title == "Título"


def test_sections_of_one_name_have_ids_of_their_own():
    assert list(chunks_of("## a\n1\n## a\n2\n## a-2\n3\n## !\n4")) == [
        "doc#a",
        "doc#a-2",
        "doc#a-2-2",
        "doc#section",
    ]


def test_a_heading_inside_a_code_block_is_text():
    assert list(chunks_of("## a\n```\n# not a heading\n```\n## b\nx")) == ["doc#a", "doc#b"]


def test_a_long_section_is_split_where_sentences_end():
    text = "## long\n" + " ".join(f"Sentence {n} has six words." for n in range(100))
    made = chunks_of(text)
    assert list(made) == ["doc#long", "doc#long.2", "doc#long.3"]
    assert all(len(piece.split()) <= MOST_WORDS for piece in made.values())
    assert all(piece.endswith("words.") for piece in made.values())
    assert " ".join(made.values()) == text.partition("\n")[2]


def test_a_sentence_without_end_is_cut_between_words():
    made = chunks_of("## long\n" + "word " * 450)
    assert [len(piece.split()) for piece in made.values()] == [200, 200, 50]


lines = st.sampled_from(
    ["# T", "## a", "### b", "", "key: v", "A sentence. Another!", "```", "é\u2028x", "w " * 130]
)


@given(st.lists(lines), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_whatever_the_file_chunks_stand_where_they_say_and_lose_no_sentence(parts, end, mark):
    text = mark + end.join(parts)
    made = document("doc.md", text.encode())
    assert all(text[c.start : c.end] == c.text and c.text.strip() for c in made.chunks)
    assert len({chunk.id for chunk in made.chunks}) == len(made.chunks)
    places = [(chunk.start, chunk.end) for chunk in made.chunks]
    assert places == sorted(places) and all(a[1] <= b[0] for a, b in pairwise(places))
    kept = sum(chunk.text.count("sentence") for chunk in made.chunks)
    assert kept == text.count("sentence")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("By I. M. Pei. It opened.", 2),
        ("In the time of King Francis I. The Venus was found.", 2),
        ("Architect K.P.C. de Bazel died. Dr. Tulp did not.", 2),
        ("Version 1.0 came out. “Really?” Yes!", 3),
        ("One paragraph\n\nanother", 2),
        ("  ", 0),
    ],
)
def test_sentences_end_at_stops_but_not_after_initials(text, count):
    spans = list(sentence_spans(text))
    assert len(spans) == count
    assert all(text[start:end].strip() == text[start:end] for start, end in spans)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "good.md").write_text("x")
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    with pytest.raises(InputRejected, match=r"bad\.md: cannot be read as UTF-8 text"):
        read_documents(tmp_path)


def test_a_folder_without_documents_or_text_is_refused(tmp_path):
    with pytest.raises(InputRejected, match="no Markdown file"):
        Index.of(tmp_path / "nowhere", NGRAM)
    (tmp_path / "empty.md").write_text("# Title\n")
    with pytest.raises(InputRejected, match="hold no text"):
        Index.of(tmp_path, NGRAM)


def test_documents_below_the_folder_have_their_path_in_their_id(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.md").write_text("## s\ntext")
    assert [chunk.id for made in read_documents(tmp_path) for chunk in made.chunks] == ["a/b#s"]


def test_the_manifest_says_how_the_index_was_made():
    manifest = Index.of(DOCUMENTS, NGRAM, "heritage").manifest
    assert msgspec.to_builtins(manifest) | {"doc_revs": 0, "hash": 0} == {
        "index_type": "bm25+dense",
        "metric": "cosine",
        "embedding": "ngram:v1:1024",
        "chunker": "sections:v1:200",
        "text_preproc": "lower+ascii_fold+stop_en_nl+light_stem:v1",
        "doc_revs": 0,
        "chunks": 159,
        "source": "heritage",
        "hash": 0,
    }
    assert len(manifest.doc_revs) == 71 and len(manifest.doc_revs["louvre"]) == 12
    assert manifest.hash == manifest.hashed().hash


SCRIPT = """
import sys
from pathlib import Path
from ragauge.demo import DOCUMENTS
from ragauge.demo.index import Index
from ragauge.models.embedders import embedder
index = Index.of(DOCUMENTS, embedder("ngram"))
index.save(Path(sys.argv[1]))
print(index.manifest.hash)
"""


def test_the_same_folder_gives_the_same_bytes_in_every_process(tmp_path):
    hashes, contents = set(), set()
    for seed in ("0", "7", "random"):
        folder = tmp_path / seed
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        hashes.add(done.stdout)
        contents.add(tuple(file.read_bytes() for file in sorted(folder.iterdir())))
    assert len(hashes) == len(contents) == 1


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("louvre.md", "uffizi.md"):
        shutil.copy(DOCUMENTS / name, folder / name)
    return folder


@pytest.fixture
def saved(tmp_path, corpus):
    Index.of(corpus, NGRAM).save(tmp_path / "index")
    return tmp_path / "index"


def test_a_saved_index_comes_back_the_same(corpus, saved):
    built, loaded = Index.of(corpus, NGRAM), Index.load(saved, corpus, NGRAM)
    assert loaded.manifest == built.manifest and loaded.chunks == built.chunks
    assert (loaded.vectors == built.vectors).all()
    question = "Who designed the pyramid?"
    assert (loaded.lexical_scores(question) == built.lexical_scores(question)).all()
    assert loaded.verify() == len(loaded.chunks) == 5
    assert sorted(file.name for file in saved.iterdir()) == [
        "chunks.jsonl",
        "manifest.json",
        "vectors.npy",
    ]


def test_documents_that_changed_since_are_named(corpus, saved):
    (corpus / "louvre.md").write_text("## s\nOther text.")
    (corpus / "uffizi.md").unlink()
    (corpus / "prado.md").write_text("## s\nNew text.")
    with pytest.raises(InputRejected) as refused:
        Index.load(saved, corpus, NGRAM)
    said = str(refused.value)
    assert "documents changed since it was built: louvre" in said
    assert "documents gone since it was built: uffizi" in said
    assert "documents new since it was built: prado" in said
    assert "build the index anew" in said


@pytest.mark.parametrize(
    "field", ["index_type", "metric", "embedding", "chunker", "text_preproc", "source", "chunks"]
)
def test_a_field_that_differs_is_named(corpus, saved, field):
    file = saved / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest[field] = 9 if field == "chunks" else "other"
    file.write_text(json.dumps(manifest))
    with pytest.raises(InputRejected, match=rf"manifest\.json: {field} was"):
        Index.load(saved, corpus, NGRAM)


def test_another_embedder_is_refused(corpus, saved):
    with pytest.raises(InputRejected, match="embedding was ngram:v1:1024, is ngram:v1:64"):
        Index.load(saved, corpus, NgramEmbedder(64))


def test_a_hash_that_does_not_belong_to_the_fields_is_refused(corpus, saved):
    file = saved / "manifest.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps(manifest | {"hash": "0" * 16}))
    with pytest.raises(InputRejected, match="does not belong to its fields"):
        Index.load(saved, corpus, NGRAM)


def test_files_of_another_save_are_refused(corpus, saved):
    vectors = np.load(saved / "vectors.npy")
    np.save(saved / "vectors.npy", vectors[::-1])
    with pytest.raises(InputRejected, match=r"vectors\.npy: not the file its manifest"):
        Index.load(saved, corpus, NGRAM)


@pytest.mark.parametrize("name", ["manifest.json", "chunks.jsonl", "vectors.npy"])
def test_an_index_with_a_file_gone_or_spoilt_is_refused(corpus, saved, name):
    (saved / name).write_bytes(b"spoilt")
    with pytest.raises(InputRejected, match=name.replace(".", r"\.")):
        Index.load(saved, corpus, NGRAM)
    (saved / name).unlink()
    with pytest.raises(InputRejected, match=name.replace(".", r"\.")):
        Index.load(saved, corpus, NGRAM)


def test_vectors_that_hide_an_object_are_never_unpickled(corpus, saved):
    np.save(saved / "vectors.npy", np.array([print], dtype=object), allow_pickle=True)
    file = saved / "manifest.json"
    manifest = json.loads(file.read_text())
    content = (saved / "vectors.npy").read_bytes()
    manifest["files"]["vectors.npy"] = hashlib.sha256(content).hexdigest()
    file.write_text(json.dumps(manifest))
    with pytest.raises(InputRejected, match="cannot be read"):
        Index.load(saved, corpus, NGRAM)


@pytest.mark.parametrize("change", [{"extra": 1}, {"metric": None}, {"hash": None}])
def test_a_manifest_that_is_not_as_it_was_written_is_refused(corpus, saved, change):
    file = saved / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(
        InputRejected, match=r"manifest\.json: hash .*does not belong to its fields"
    ):
        Index.load(saved, corpus, NGRAM)


def test_a_manifest_that_tells_less_is_refused_though_its_hash_is_true(corpus, saved):
    file = saved / "manifest.json"
    less = msgspec.structs.replace(read_manifest(str(file)), metric=None).hashed()
    write_manifest(file, less)
    with pytest.raises(InputRejected, match=r"manifest\.json: does not tell all"):
        Index.load(saved, corpus, NGRAM)
