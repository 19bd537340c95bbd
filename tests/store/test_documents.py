"""Documents of a folder: found by revision, by hash or by name, and proven or not."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from threading import Thread
from unicodedata import normalize

import pytest

from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.manifest import Manifest
from ragauge.errors import UsageError
from ragauge.store.documents import FolderDocuments

TEXT = "\ufeff# Keys\r\n\r\nCafe\u0301, 北京 and 🏛️.\r\n"


def write(place: Path, text: str = TEXT) -> str:
    """The sha256 of what is then in the file."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode())
    return hashlib.sha256(text.encode()).hexdigest()


def git_blob(file: Path) -> str:
    """What git itself calls the content."""
    return subprocess.run(
        ["git", "hash-object", "--no-filters", str(file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


@pytest.mark.parametrize("name", ["keys", "keys.md", "keys.html", "keys.rst"])
def test_a_revision_is_a_folder_of_that_name(tmp_path, name):
    write(tmp_path / "v2" / "policies" / name)
    write(tmp_path / "v1" / "policies" / name, "an older one")
    documents = FolderDocuments(tmp_path)
    assert documents.find("policies/keys", "v2") == FrozenDocument(
        "policies/keys", "v2", TEXT, True
    )
    assert documents.find("policies/keys", "v1").text == "an older one"
    assert documents.find("policies/keys", "v3") is None


@pytest.mark.parametrize("form", ["{0}", "{0}.md", "{1}/{0}", "{1}/{2}", "{1}/{2}.txt"])
@pytest.mark.parametrize("kind", ["sha256", "git"])
@pytest.mark.parametrize("digits", [6, 12, None])
def test_content_is_found_by_the_beginning_of_its_hash(tmp_path, form, kind, digits):
    hash = write(tmp_path / "original")
    if kind == "git":
        hash = git_blob(tmp_path / "original")
    place = tmp_path / "store" / form.format(hash, hash[:2], hash[2:])
    write(place)
    rev = hash[:digits]
    found = FolderDocuments(tmp_path / "store").find("any", rev)
    assert found == FrozenDocument("any", rev, TEXT, True)


def test_a_revision_may_name_its_hash_and_be_in_capitals(tmp_path):
    hash = write(tmp_path / "keys.md")
    documents = FolderDocuments(tmp_path)
    assert documents.find("keys", f"sha256:{hash}").proven
    assert documents.find("keys", hash[:12].upper()).proven


def test_fewer_than_six_digits_prove_nothing(tmp_path):
    hash = write(tmp_path / "keys.md")
    write(tmp_path / "x" / "unused.md")
    assert not FolderDocuments(tmp_path).find("keys", hash[:5]).proven
    assert not FolderDocuments(tmp_path).find("keys", "").proven


def test_a_file_that_lies_about_its_hash_is_refused_and_said(tmp_path):
    hash = write(tmp_path / "elsewhere" / "true.md")
    write(tmp_path / "store" / f"{hash}.md", "something else")
    documents = FolderDocuments(tmp_path / "store")
    assert documents.problems == []
    assert documents.find("keys", hash[:8]) is None
    assert list(documents.others("keys")) == []
    [problem] = documents.problems
    assert f"{hash}.md: its name is {hash[:12]}…, but its content has sha256" in problem
    assert "restore the file" in problem


def test_a_revision_that_begins_two_hashes_is_not_guessed(tmp_path):
    one, other = "document 2739", "document 3812"  # whose sha256 both begin with 3e41d9
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in (one, other)]
    for text, hash in zip((one, other), hashes, strict=True):
        write(tmp_path / hash, text)
    documents = FolderDocuments(tmp_path)
    assert hashes[0][:6] == hashes[1][:6]
    assert documents.find("any", hashes[0][:6]) is None
    assert "is the beginning of 2 hashes; write more of it" in documents.problems[0]
    assert documents.find("any", hashes[1][:12]).text == other


def test_a_file_of_that_name_is_proven_by_its_hash_or_not_at_all(tmp_path):
    hash = write(tmp_path / "policies" / "keys.md")
    documents = FolderDocuments(tmp_path)
    for rev in (hash[:7], git_blob(tmp_path / "policies" / "keys.md")[:7]):
        assert documents.find("policies/keys", rev) == FrozenDocument(
            "policies/keys", rev, TEXT, True
        )
    for rev in ("3b91f2a", "2024-05", "v2"):
        assert documents.find("policies/keys", rev) == FrozenDocument(
            "policies/keys", rev, TEXT, False
        )


def test_a_manifest_that_names_another_revision_rules_the_file_out(tmp_path):
    hash = write(tmp_path / "keys.md")
    write(tmp_path / "doors.md")
    documents = FolderDocuments(tmp_path, Manifest(doc_revs={"keys": "v3"}))
    assert documents.find("keys", "v2") is None
    assert documents.find("keys", "v3") == FrozenDocument("keys", "v3", TEXT, False)
    assert documents.find("keys", hash[:9]).proven, "the bytes themselves say so"
    assert documents.find("doors", "v2").text == TEXT, "the manifest says nothing of it"


def test_of_several_files_the_proven_one_is_read_then_markdown(tmp_path):
    for ending in ("html", "txt", "md", "adoc"):
        write(tmp_path / f"keys.{ending}", ending)
    hash = hashlib.sha256(b"html").hexdigest()
    documents = FolderDocuments(tmp_path)
    assert documents.find("keys", hash[:7]).text == "html"
    assert documents.find("keys", "v1").text == "md"
    assert documents.find("keys.txt", "v1").text == "txt"


def test_a_name_with_a_number_at_its_end_has_no_extension(tmp_path):
    write(tmp_path / "report-1.5.md")
    write(tmp_path / "notes-1.5")
    documents = FolderDocuments(tmp_path)
    assert documents.find("report-1.5", "v1") and not documents.find("report-1", "v1")
    assert documents.find("notes-1.5", "v1") and not documents.find("notes-1", "v1")


@pytest.mark.parametrize("named", ["../secret", "docs/../../secret", "/secret", "", ".", ".hidden"])
def test_nothing_outside_of_the_folder_or_hidden_is_read(tmp_path, named):
    write(tmp_path / "secret.md")
    write(tmp_path / "docs" / "docs" / "keys.md")
    write(tmp_path / "docs" / ".hidden.md")
    documents = FolderDocuments(tmp_path / "docs")
    assert documents.find(named, "v1") is None
    assert documents.find(str(tmp_path / "secret"), "v1") is None
    assert documents.find("secret", "..") is None
    assert documents.problems == []


def test_line_ends_and_the_byte_order_mark_stay_where_they_are(tmp_path):
    write(tmp_path / "keys.md")
    text = FolderDocuments(tmp_path).find("keys", "v1").text
    assert text == TEXT and text[0] == "\ufeff" and "\r\n" in text


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("missing", "file"):
        with pytest.raises(UsageError, match=f"{name}: there is no such folder; give the one"):
            FolderDocuments(tmp_path / name)


def test_a_file_that_is_not_utf_8_is_a_problem_and_no_crash(tmp_path):
    (tmp_path / "keys.md").write_bytes(b"Caf\xe9")
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "doors.md").write_bytes("Café".encode("utf-16"))
    documents = FolderDocuments(tmp_path)
    for _ in range(3):
        assert documents.find("keys", "v1") is None
        assert documents.find("doors", "v1") is None
    remedy = "convert the file, or keep its text beside it"
    assert documents.problems == [
        f"{tmp_path / 'keys.md'}: is not UTF-8 (byte 3); {remedy}",
        f"{tmp_path / 'v1' / 'doors.md'}: is not UTF-8 (byte 0); {remedy}",
    ]


def test_the_text_beside_a_file_that_is_none_is_read_without_a_word(tmp_path):
    (tmp_path / "keys.html").write_bytes(b"\xff\xfe")
    write(tmp_path / "keys.rst")
    documents = FolderDocuments(tmp_path)
    assert documents.find("keys", "v1").text == TEXT
    assert documents.problems == []


def test_what_is_no_regular_file_is_said(tmp_path):
    (tmp_path / "keys.md").symlink_to(tmp_path / "gone")
    documents = FolderDocuments(tmp_path)
    assert documents.find("keys", "v1") is None
    assert documents.problems == [f"{tmp_path / 'keys.md'}: is no regular file"]


def test_a_link_is_followed_within_the_folder(tmp_path):
    write(tmp_path / "docs" / "kept" / "content")
    (tmp_path / "docs" / "keys.md").symlink_to(tmp_path / "docs" / "kept" / "content")
    (tmp_path / "way").symlink_to(tmp_path / "docs")
    for folder in (tmp_path / "docs", tmp_path / "way"):
        documents = FolderDocuments(folder)
        assert documents.find("keys", "v1").text == TEXT
        assert documents.problems == []


def test_a_link_out_of_the_folder_is_not_followed_and_said(tmp_path):
    write(tmp_path / "secret.md")
    docs = tmp_path / "docs"
    write(docs / "b" / "true.md")
    for link, target in (
        ("keys.md", tmp_path / "secret.md"),
        ("b/up.md", Path("../../secret.md")),
        ("c", tmp_path),
        (".hidden", tmp_path),
        ("round.md", docs / "round.md"),
    ):
        (docs / link).symlink_to(target)
    documents = FolderDocuments(docs)
    for doc_id in ("keys", "b/up", "c/secret", "round"):
        assert documents.find(doc_id, "v1") is None
    assert ids(documents, "x") == [("b/true", TEXT)]
    fact = "is a link out of the folder, and not followed; put what it leads to in its place"
    outside = [problem for problem in documents.problems if "out of" in problem]
    assert outside == [f"{docs / name}: {fact}" for name in ("b/up.md", "c", "keys.md")]


@pytest.mark.parametrize("there", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_an_accent_may_be_its_own_character_in_a_name(tmp_path, there, asked):
    name, sought = normalize(there, "musées/café"), normalize(asked, "musées/café")
    write(tmp_path / f"{name}.md")
    write(tmp_path / normalize(there, "été") / f"{name}.md", "of summer")
    documents = FolderDocuments(tmp_path)
    assert documents.find(sought, "v1") == FrozenDocument(sought, "v1", TEXT, False)
    assert documents.find(sought, normalize(asked, "été")).text == "of summer"
    assert [text for _, text in ids(documents, sought)] == ["of summer"]
    ruled = FolderDocuments(tmp_path, Manifest(doc_revs={normalize(asked, "musées/café"): "v2"}))
    assert ruled.find(name, "v1") is None and ruled.find(name, "v2").text == TEXT
    known = FolderDocuments(tmp_path, Manifest(doc_revs={sought: normalize(asked, "été")}))
    assert ids(known, sought) == []


def ids(documents: FolderDocuments, doc_id: str) -> list[tuple[str, str]]:
    return [(other.doc_id, other.text) for other in documents.others(doc_id)]


def test_the_others_come_by_id_without_the_document_itself(tmp_path):
    for name in ("b/two.md", "a.md", "c.txt", "b/one.html"):
        write(tmp_path / name, name)
    documents = FolderDocuments(tmp_path)
    assert ids(documents, "a") == [("b/one", "b/one.html"), ("b/two", "b/two.md"), ("c", "c.txt")]
    assert [id for id, _ in ids(documents, "b/one")] == ["a", "b/two", "c"]
    assert len(ids(documents, "one")) == 3, "where the id is that of a file in some revision"


def test_a_document_of_the_same_name_in_a_section_is_another_one(tmp_path):
    write(tmp_path / "faq.md", "general")
    write(tmp_path / "policies" / "faq.md", "of policies")
    assert ids(FolderDocuments(tmp_path), "faq") == [("policies/faq", "of policies")]


def test_other_revisions_of_the_document_are_not_among_the_others(tmp_path):
    for rev in ("3b91f2a", "v2"):
        for name in ("faq", "keys"):
            write(tmp_path / rev / f"{name}.md", f"{name} {rev}")
    documents = FolderDocuments(tmp_path)
    assert documents.find("faq", "v2").proven
    assert ids(documents, "faq") == [("keys", "keys 3b91f2a"), ("v2/keys", "keys v2")]
    named = FolderDocuments(tmp_path, Manifest(doc_revs={"faq": "v2"}))
    assert ids(named, "faq") == [("keys", "keys 3b91f2a"), ("keys", "keys v2")]


def test_content_by_hash_is_called_by_it_or_as_the_manifest_does(tmp_path):
    hashes = {}
    for name in ("keys", "doors", "rooms"):
        hashes[name] = hashlib.sha256(name.encode()).hexdigest()
        write(tmp_path / hashes[name][:2] / hashes[name][2:], name)
    documents = FolderDocuments(tmp_path)
    assert ids(documents, "keys") == sorted((hash, name) for name, hash in hashes.items())
    revs = {"keys": hashes["keys"][:7], "doors": f"sha256:{hashes['doors']}"}
    told = FolderDocuments(tmp_path, Manifest(doc_revs=revs))
    assert ids(told, "keys") == sorted([("doors", "doors"), (hashes["rooms"], "rooms")])


def test_files_that_are_no_text_are_not_searched_and_that_is_said_of_each(tmp_path):
    write(tmp_path / "keys.md")
    for number in range(8):
        (tmp_path / f"photo{number}.jpg").write_bytes(b"\xff\xd8")
    documents = FolderDocuments(tmp_path)
    assert ids(documents, "x") == ids(documents, "y") == [("keys", TEXT)]
    assert documents.problems == [
        f"{tmp_path / f'photo{number}.jpg'}: not searched for words that stand elsewhere, as it is "
        "not UTF-8 (byte 0); convert the file, or keep its text beside it"
        for number in range(8)
    ]


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_what_is_said_does_not_depend_on_who_looked(tmp_path, processes):
    for number in range(4):
        write(tmp_path / f"d{number}.md", f"text {number}")
        (tmp_path / f"photo{number}.jpg").write_bytes(b"\xff")
        write(tmp_path / f"{number}{'a' * 39}", "of another hash")
    work = [(f"d{number % 4}", f"v{number % 3}") for number in range(30)]
    work += [("photo1", "v1"), ("x", "0aaaaaa")]

    def said(share: list[tuple[str, str]]) -> tuple[set[str], set[str]]:
        documents = FolderDocuments(tmp_path)
        for doc_id, rev in share:
            if documents.find(doc_id, rev) is None:
                ids(documents, doc_id)
        return {*documents.problems}, {*documents.unproven}

    alone = said(work)
    shares = [said(work[first::processes]) for first in range(processes)]
    assert tuple(set().union(*each) for each in zip(*shares, strict=True)) == alone
    assert len(alone[0]) == 9 and len(alone[1]) == 12


def test_a_revision_that_nobody_proved_is_told_for_each_file_and_rev(tmp_path):
    hash = write(tmp_path / "emoji.md")
    write(tmp_path / "v1" / "emoji.md")
    documents = FolderDocuments(tmp_path, Manifest(doc_revs={"other": "1"}))
    assert documents.unproven == []
    for rev in ("v2", "3b91f2a", "3b91f2a", "v1", hash[:9], "\x1b[31m\nv3"):
        assert documents.find("emoji", rev)
    assert documents.find("missing", "v2") is None
    remedy = f"freeze revisions under {tmp_path}/<rev>/ or by hash"
    assert documents.unproven == [
        f"{tmp_path / 'emoji.md'}: taken for rev 3b91f2a, but its content has another hash; "
        + remedy,
        f"{tmp_path / 'emoji.md'}: taken for rev \\x1b[31m v3, but nothing proves it; {remedy}",
        f"{tmp_path / 'emoji.md'}: taken for rev v2, but nothing proves it; {remedy}",
    ]
    assert documents.problems == []


def test_more_than_memory_keeps_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("ragauge.store.documents.KEPT_CHARS", 50)
    for number in range(9):
        write(tmp_path / f"{number}.md", str(number) * 20)
    documents = FolderDocuments(tmp_path)
    for _ in range(2):
        assert [text[0] for _, text in ids(documents, "3")] == list("01245678")
        assert [documents.find(str(n), "v1").text[0] for n in range(9)] == list("012345678")


def test_many_threads_read_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("ragauge.store.documents.KEPT_CHARS", 100)
    for number in range(9):
        write(tmp_path / f"{number}.md", str(number) * 40)
    documents = FolderDocuments(tmp_path)
    wrong: list[str] = []

    def read() -> None:
        for turn in range(300):
            found = documents.find(str(turn % 9), "v1")
            if found is None or found.text != str(turn % 9) * 40:
                wrong.append(str(found))

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
