"""Pairs of sections are read from the command line or a file, and all that is wrong is said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.rules import crossed_sections
from ragauge.contracts.citation import Citation, Offsets
from ragauge.errors import UsageError
from ragauge.ingest.options import read_section_pairs

EXPECTED = frozenset({frozenset({"keys", "access"}), frozenset({"handbook#keys", "faq#keys"})})
FILES = {
    "an array": '[["keys", "access"], ["handbook#keys", "faq#keys"]]',
    "an array over lines": '\n[\n["keys", "access"],\n ["faq#keys", " handbook#keys "]]\n',
    "tabs": "keys\taccess\nhandbook#keys\tfaq#keys\n",
    "commas": "keys, access\r\nhandbook#keys,faq#keys",
    "remarks": "# which go together\n\n  # indented\nkeys, access\nhandbook#keys, faq#keys\n",
    "a byte order mark": "\ufeffkeys, access\nhandbook#keys, faq#keys\n",
    "repetition": "keys, access\naccess, keys\nhandbook#keys, faq#keys\n",
}


@pytest.mark.parametrize("form", FILES)
def test_files(tmp_path, form):
    file = tmp_path / "pairs"
    file.write_text(FILES[form], "utf-8")
    assert read_section_pairs(str(file)) == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "keys+access,handbook#keys+faq#keys",
        " access + keys , faq#keys+handbook#keys ",
        '[["keys", "access"], ["handbook#keys", "faq#keys"]]',
    ],
)
def test_pairs_on_the_command_line(text):
    assert read_section_pairs(text) == EXPECTED


def test_all_allows_any():
    assert read_section_pairs("all") is None


def test_a_file_with_a_plus_in_its_name_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a+b").write_text("keys, access")
    assert read_section_pairs("a+b") == frozenset({frozenset({"keys", "access"})})


def test_sections_with_commas_are_written_with_a_tab(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("keys, lost\taccess+more\n")
    assert read_section_pairs(str(file)) == frozenset({frozenset({"keys, lost", "access+more"})})


WRONG = {
    "a+b+c": ["--allow-cross-section: pair 1: 3 sections; a pair has two"],
    "a+b,c": ["--allow-cross-section: pair 2: 1 section; a pair has two"],
    "a+a,b+": [
        '--allow-cross-section: pair 1: "a" twice; name two sections',
        "--allow-cross-section: pair 2: a section has no name",
    ],
    '[["a", 1], "a+b", ["a"]]': [
        "--allow-cross-section: item 1: a section is named by text, not by a number",
        "--allow-cross-section: item 2: expected two sections",
        "--allow-cross-section: item 3: 1 section",
    ],
    '[["a", "b"]': ["--allow-cross-section: not JSON"],
    "[]": ["[]: holds no pair"],
    " ": ["--allow-cross-section: holds no pair"],
    "lost.json": ["--allow-cross-section: lost.json: no such file, and no pair; pairs are written"],
    "all,a": ["--allow-cross-section: all,a: no such file, and no pair"],
}


@pytest.mark.parametrize("text", WRONG)
def test_all_that_is_wrong_is_said_with_its_place(text):
    with pytest.raises(UsageError) as raised:
        read_section_pairs(text)
    problems = raised.value.problems
    assert len(problems) == len(WRONG[text])
    for problem, beginning in zip(problems, WRONG[text], strict=True):
        assert problem.startswith(beginning)


def test_faults_of_a_file_name_its_lines(tmp_path):
    file = tmp_path / "pairs.txt"
    file.write_text("# ok\nkeys, access\nkeys\nkeys, keys\n")
    with pytest.raises(UsageError) as raised:
        read_section_pairs(str(file))
    places = [problem.partition(": ")[0] for problem in raised.value.problems]
    assert places == [f"{file}:3", f"{file}:4"]


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xff\xfea", b"keys, \xff\n"])
def test_files_that_are_none(tmp_path, content):
    file = tmp_path / "pairs"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="pairs"):
        read_section_pairs(str(file))


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match="folder"):
        read_section_pairs(str(tmp_path))


IDS = st.text("abc/-_.é", min_size=1, max_size=6)
PAIRS = st.lists(st.lists(IDS, min_size=2, max_size=2, unique=True), min_size=1, max_size=5)


@given(PAIRS)
def test_every_form_says_the_same(pairs):
    expected = frozenset(map(frozenset, pairs))
    assert read_section_pairs(json.dumps(pairs)) == expected
    assert read_section_pairs(",".join("+".join(pair) for pair in pairs)) == expected


@given(st.text(max_size=20) | st.text('a+,[]"# \t\n\0\ud800', max_size=12))
def test_whatever_is_given_it_is_pairs_or_a_usage_error(text):
    try:
        pairs = read_section_pairs(text)
    except UsageError:
        return
    assert pairs is None or all(len(pair) == 2 for pair in pairs)


def test_the_pairs_are_what_the_audit_asks_for():
    one, other = (citation("handbook", section) for section in ("keys", "access"))
    assert crossed_sections([one, other], frozenset()) is not None
    for text in ("keys+access", "handbook#keys+access", "handbook#access+handbook#keys"):
        assert crossed_sections([one, other], read_section_pairs(text)) is None
    assert crossed_sections([one, other], read_section_pairs("faq#keys+access")) is not None


def citation(doc_id: str, section_id: str) -> Citation:
    return Citation(
        doc_id=doc_id,
        section_id=section_id,
        snippet_id=f"{doc_id}-{section_id}",
        source_url="https://example.org",
        offsets=Offsets(0, 5),
        tokens=1,
        index_hash="2f7d9a",
        embed_model="bge",
        analyzer="lowercase",
        rev="1",
    )
