"""Citation lists are found in whatever form a model writes them, and nowhere else."""

from __future__ import annotations

import pytest

from ragauge.text.citations import inline_markers, split_ids, take_apart

LISTS = {
    # headings
    "citations: p1#1": "p1#1",
    "CITATIONS: p1#1": "p1#1",
    "Citations： p1#1": "p1#1",
    "citations : p1#1": "p1#1",
    "**Citations:** p1#1": "p1#1",
    "**Citations**: p1#1": "p1#1",
    "_Sources_: p1#1": "p1#1",
    "## Sources: p1#1": "p1#1",
    "Bronnen: p1#1": "p1#1",
    "QUELLEN: p1#1": "p1#1",
    "Références : p1#1": "p1#1",
    "RÉFÉRENCES: p1#1": "p1#1",
    "引用：p1#1": "p1#1",
    "以下引用：【p1#1】": "p1#1",
    # separators
    "citations: p1#1, p1#2,p1#3": "p1#1 p1#2 p1#3",
    "citations: p1#1; p1#2；p1#3": "p1#1 p1#2 p1#3",
    "citations: p1#1 p1#2\tp1#3": "p1#1 p1#2 p1#3",
    "引用：p1#1、p1#2，p1#3。": "p1#1 p1#2 p1#3",
    "citations: p1#1, p1#2 and p1#3.": "p1#1 p1#2 p1#3",
    # quotes and brackets
    "citations: [p1#1, 'p1#2', \"p1#3\"]": "p1#1 p1#2 p1#3",
    "citations: “p1#1”, «p1#2», `p1#3`": "p1#1 p1#2 p1#3",
    "citations: (p1#1), <p1#2>, {p1#3}": "p1#1 p1#2 p1#3",
    "引用：「p1#1」、［p1#2］": "p1#1 p1#2",
    "citations: [p1(2), (p3)]": "p1(2) p3",
    "citations: [[p1#1], [p1#2]]": "p1#1 p1#2",
    "citations: [p1#1], [p1#2] [p1#3][p1#4]": "p1#1 p1#2 p1#3 p1#4",
    "引用：【p1#1】、【p1#2】": "p1#1 p1#2",
    "citations: [p1#1": "p1#1",
    "citations: [p1#1,\n  p1#2\n]": "p1#1 p1#2",
    'citations: [{"id": "p1#1"}, {"snippet_id": "p1#2"}]': "p1#1 p1#2",
    "citations: [{'id': 'p1#1', 'page': 3}]": "p1#1",
    'citations: ["doc one", "p1#2"]': "doc one|p1#2",
    # below the heading
    "citations:\n- p1#1\n- p1#2\n": "p1#1 p1#2",
    "Citations:\n\n* p1#1\n* `p1#2`.\n\nThe end of it.": "p1#1 p1#2",
    "Sources:\n1. p1#1\n2) p1#2": "p1#1 p1#2",
    "bronnen：\n• p1#1": "p1#1",
    "citations:\n[p1#1, p1#2]": "p1#1 p1#2",
    "citations:\np1#1\np1#2, p1#3": "p1#1 p1#2 p1#3",
    # every list counts, each id once
    "X. Citations: [p1#1] and more\nsources: p1#2": "p1#1 p1#2",
    "citations: [p1#1]\ncitations: [p1#2, p1#1]": "p1#1 p1#2",
    # JSON in the text
    '{"claim": "X", "citations": ["p1#1"]}': "p1#1",
    '```json\n{"claim": "X", "citations": ["p1#1"]}\n```': "p1#1",
    'Sure! {"claim": "X", "citations": "p1#1, p1#2"} I hope.': "p1#1 p1#2",
    'The set {a, b}: {"claim": "X", "citations": [{"id": "p1#1"}]} for {c}.': "p1#1",
    '{"result": {"answer": "X", "citations": ["p1#1"]}}': "p1#1",
    '{"claim": "two\nlines", "citations": ["p1#1"]}': "p1#1",
    '{"claim": "X", "citations": [1, "p1#2"]}': "1 p1#2",
    '{"claim": "X", "citations": ["p1#1"]}\nSources: p1#2': "p1#1 p1#2",
    '{"claim": "X"}\ncitations: [p1#1]': "p1#1",
    '{"answer": "X.\\n- citations: [p1#1]"}': "p1#1",
    # lists without an id
    "citations: []": "",
    "citations:": "",
    "citations: none": "",
    "Bronnen: geen.": "",
    "citations: n/a": "",
    '{"claim": "X", "citations": []}': "",
}
NO_LIST = [
    "X maps.",
    "resources: p1#1",
    "Data_sources: p1#1",
    "The citations are p1#1",
    "Zitate: p1#1",
    '{"claim": "X"}',
    '{"other": ["p1#1"]}',
    "",
]
CLAIMS = {
    "- claim: X maps.\n- citations: [p1#1]": "X maps.",
    "- Claim： X maps.\n- Citations： [p1#1]": "X maps.",
    "**Claim:** X maps.\n\n**Citations:** p1#1": "X maps.",
    "Well.\n- claim: X maps.": "X maps.",
    "citations: [p1#1]\nclaim: X maps.": "X maps.",
    "- citations:\n- claim: X maps.": "X maps.",
    "I claim: no. X maps.": "I claim: no. X maps.",
    "X maps.\n### Sources: p1#1\nMore.": "X maps.\n\nMore.",
    "X maps. citations: [p1#1] More.": "X maps.  More.",
    "İ X maps.\n- CITATIONS: [p1#1]": "İ X maps.",
    '{"claim": "X maps.", "citations": []}': "X maps.",
    '{"claim": 3, "citations": []}': "",
    'Sure: {"claim": "X \\ud83d\\ude00 maps."}': "X 😀 maps.",
}


@pytest.mark.parametrize("text", LISTS)
def test_lists_that_are_read(text):
    expected = LISTS[text]
    assert take_apart(text).citations == tuple(
        expected.split("|") if "|" in expected else expected.split()
    )


@pytest.mark.parametrize("text", NO_LIST)
def test_what_is_no_list(text):
    assert take_apart(text).citations is None


@pytest.mark.parametrize("text", CLAIMS)
def test_claims(text):
    assert take_apart(text).claim == CLAIMS[text]


def test_json_never_gives_half_characters():
    for text in ('{"claim": "\\ud800", "citations": []}', '{"x": 1} {"claim": "\\udc00"}'):
        assert take_apart(text).claim.encode(errors="ignore").decode() == take_apart(text).claim


def test_the_template_is_read_as_any_other_form():
    """The short cut for the template and the general search agree."""
    for claim in ("X maps.", " X\n\nmaps ", "", "- claim X"):
        for ids in ("p1#1", "p1#1, 'p1#2'", "", "none", "(p1#1; p1#2)", "p1#1], p1#2"):
            short = take_apart(f"- claim:{claim}\n- citations: [{ids}]")
            assert short == take_apart(f"- Claim:{claim}\n- Citations: [{ids}]")


def test_ids_keep_what_is_theirs():
    assert split_ids("a-b_c.d/e#1, 'x:y', https://e.org/p?q=1") == [
        "a-b_c.d/e#1",
        "x:y",
        "https://e.org/p?q=1",
    ]


def test_inline_markers():
    retrieved = ("p1#1", "p1#2")
    assert inline_markers("X [2] and [p9#9; 1], not [a b] [].", retrieved) == (
        "p1#2",
        "p9#9",
        "p1#1",
    )
    assert inline_markers("[0] [3] [" + "1" * 5000 + "]", retrieved) == ("0", "3", "1" * 5000)
    assert inline_markers("[2]", ("2", "p1")) == ("2",)


@pytest.mark.parametrize(
    "part",
    ["citations:[[\n", "citations: [a] ", "claim: ", "{", '{"a":', "citations:\n\n", "*", "```{"],
)
def test_hostile_text_takes_linear_time(part):
    """`benchmarks.linearity` holds long ones to their length."""
    assert take_apart(part * (5_000 // len(part)))


@pytest.mark.parametrize(
    ("text", "claim", "cited"),
    [
        (
            "The Nile has two sources: Lake Victoria and Lake Tana.\ncitations: [p1#1]",
            "The Nile has two sources: Lake Victoria and Lake Tana.",
            ("p1#1",),
        ),
        ("- claim: Two sources: a diary, and letters.", "Two sources: a diary, and letters.", None),
        ("X maps. Sources: p1#1, p2#3.", "X maps.", ("p1#1", "p2#3")),
    ],
)
def test_a_sentence_that_goes_on_after_a_heading_word_is_no_list(text, claim, cited):
    answer = take_apart(text)
    assert (answer.claim, answer.citations) == (claim, cited)
