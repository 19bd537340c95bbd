"""A citation's words stand where it says; where they do not, the finding says where they do."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragauge.citations.codes import entry_of
from ragauge.citations.fuzzy_match import LEFT_OUT, around, differences, fuzzy_match, nearest_exact
from ragauge.citations.offsets import OffsetReading, Place, Whitespace, Words, ruler_of
from ragauge.citations.places import PlaceCheck, QuotedWords, other_source, place_findings
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation, Offsets
from ragauge.contracts.documents import FrozenDocument
from ragauge.store.documents import FolderDocuments

MUSEUM = (
    "\ufeff# Museum 🏛️\r\n\r\nIt opened its doors in 1885.\r\n"
    "It keeps “The Night Watch” of 1642, a café — and 北京故宫的书画收藏总目录.\r\n"
    "Cafe\u0301 guests pay twice. It opened its doors in 1885. The end.\r\n"
)
ARCHIVE = "The archive keeps the records of the state.\nIts ISIL is NL-HaNA, in The Hague.\n"
POLICY = "Keys are turned every year. The archive keeps the records of the city.\n"
NIGHT = "It keeps “The Night Watch” of 1642"
OPENED = "It opened its doors in 1885."
AT = MUSEUM.index(NIGHT)
CHARACTERS = OffsetReading()


def rev_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


REV = rev_of(MUSEUM)


@pytest.fixture
def folder(tmp_path) -> Path:
    for name, text in (("museum", MUSEUM), ("archive", ARCHIVE), ("policy", POLICY)):
        (tmp_path / f"{name}.md").write_bytes(text.encode())
    return tmp_path


@pytest.fixture
def documents(folder) -> FolderDocuments:
    return FolderDocuments(folder)


def citation(start: int, end: int, unit="char", doc_id="museum", rev=REV) -> Citation:
    return Citation(
        doc_id=doc_id,
        section_id="s",
        snippet_id="c1",
        source_url="https://example.org",
        offsets=Offsets(start, end, unit),
        tokens=9,
        index_hash="faiss:2f7d9a",
        embed_model="ngram:v1",
        analyzer="lowercase",
        rev=rev,
    )


def at(text: str, drift: int = 0) -> Citation:
    """A citation of where the text first stands in the museum's document, or so far off."""
    start = MUSEUM.index(text) + drift
    return citation(start, start + len(text))


def the_finding(check: PlaceCheck) -> CitationFinding:
    [finding] = check.findings
    assert check.seen == "words"
    for told in (finding.got, finding.expected):
        assert "\n" not in told and len(told) <= 120
    return finding


def facts(finding: CitationFinding) -> tuple[str, str | None, str, str]:
    return finding.code, finding.field, finding.got, finding.expected


def test_words_where_they_should_be_are_no_finding(documents):
    for said in (
        QuotedWords(NIGHT),
        QuotedWords(NIGHT, "Night Watch"),
        QuotedWords(quote="Night Watch"),
    ):
        assert place_findings(at(NIGHT), said, documents, CHARACTERS) == PlaceCheck()


@pytest.mark.parametrize("said", [QuotedWords(), QuotedWords(quote=""), QuotedWords(quote=" \n")])
def test_without_words_only_the_range_is_checked_and_that_is_said(documents, said):
    check = place_findings(at(NIGHT), said, documents, CHARACTERS)
    assert (check.findings, check.seen) == ((), "range")
    assert check.reason == "neither the snippet's text nor a quote is given"


@pytest.mark.parametrize("rev", ["0000000", "v2"])
def test_a_document_that_is_not_there(documents, rev):
    check = place_findings(
        citation(0, 4, doc_id="x", rev=rev), QuotedWords("a"), documents, CHARACTERS
    )
    assert check.seen == "nothing" and check.reason
    [finding] = check.findings
    assert facts(finding) == (
        "missing_document",
        "doc_id",
        f"x@{rev}",
        "the document of that revision",
    )


@pytest.mark.parametrize(("drift", "off"), [(1, "-1 character"), (-7, "+7 characters")])
def test_drift_is_told_in_characters_with_its_sign(documents, drift, off):
    finding = the_finding(
        place_findings(at(NIGHT, drift), QuotedWords(NIGHT), documents, CHARACTERS)
    )
    assert (finding.code, finding.field) == ("span_text_mismatch", "offsets")
    assert finding.expected == f'"{NIGHT}" stands at {AT}–{AT + len(NIGHT)} ({off})'
    assert MUSEUM[AT + drift : AT + len(NIGHT) + drift].split()[-1] in finding.got


@pytest.mark.parametrize(
    ("reading", "unit", "off"),
    [
        (OffsetReading("utf-16"), "char", "+1 UTF-16 unit"),
        (OffsetReading("bytes"), "char", "+5 bytes"),
        (OffsetReading(tokenizer=Words()), "token", "+2 tokens"),
        (OffsetReading(tokenizer=Whitespace()), "token", "+2 tokens"),
    ],
)
def test_the_true_place_is_told_in_the_users_own_unit(documents, reading, unit, off):
    snippet = f"{NIGHT},"
    true = ruler_of(MUSEUM, unit, reading).measured(Place(AT, AT + len(snippet)))
    drift = int(off.split()[0])
    given = citation(true.start - drift, true.end - drift, unit)
    finding = the_finding(place_findings(given, QuotedWords(snippet), documents, reading))
    assert finding.expected == f'"{snippet}" stands at {true.start}–{true.end} ({off})'
    right = citation(true.start, true.end, unit)
    assert place_findings(right, QuotedWords(snippet, "1642"), documents, reading) == PlaceCheck()


def test_the_nearest_of_two_places_is_told_and_of_two_as_near_the_earlier(documents):
    first = MUSEUM.index(OPENED)
    second = MUSEUM.index(OPENED, first + 1)
    for start, told in ((first + 3, first), (second - 3, second), ((first + second) // 2, first)):
        given = citation(start, start + len(OPENED))
        finding = the_finding(place_findings(given, QuotedWords(OPENED), documents, CHARACTERS))
        assert f"stands at {told}–{told + len(OPENED)} ({told - start:+d} characters)" in (
            finding.expected
        )
    assert (first + second) % 2 == 0, "as near to both"


def test_an_end_that_is_off_is_told(documents):
    given = citation(AT, AT + len(NIGHT) + 2)
    finding = the_finding(place_findings(given, QuotedWords(NIGHT), documents, CHARACTERS))
    assert finding.expected.endswith(f"stands at {AT}–{AT + len(NIGHT)} (its end -2 characters)")


def test_a_snippet_between_the_bounds_of_tokens_is_told(documents):
    reading = OffsetReading(tokenizer=Whitespace())
    tokens = ruler_of(MUSEUM, "token", reading).measured(Place(AT, AT + len(NIGHT)))
    given = citation(*tokens, "token")
    finding = the_finding(place_findings(given, QuotedWords(NIGHT[1:]), documents, reading))
    assert finding.expected.endswith("(not at the bounds of tokens)")


@pytest.mark.parametrize(
    ("snippet", "stands", "named"),
    [
        ("Café guests pay twice.", "Cafe\u0301 guests pay twice.", "Unicode form (NFC)"),
        ("1885.\nIt keeps", "1885.\r\nIt keeps", "line ends (CRLF or LF)"),
        ("pay twice.  It opened", "pay twice. It opened", "white space"),
        ('"The Night Watch"', "“The Night Watch”", "typographic signs"),
        ("IT OPENED its doors", "It opened its doors", "upper and lower case"),
        ("１６４２, a café", "1642, a café", "Unicode form (NFKC)"),
        ("Museum\u00ad 🏛️", "Museum 🏛️", "unseen characters"),
        ("pay Twice.\nIt", "pay twice. It", "white space, upper and lower case"),
    ],
)
def test_the_same_wording_in_another_form_is_a_mismatch_with_its_cause(
    documents, snippet, stands, named
):
    finding = the_finding(place_findings(at(stands), QuotedWords(snippet), documents, CHARACTERS))
    assert finding.code == "span_text_mismatch"
    assert finding.expected.endswith(f"differs in {named}")


def test_a_loader_that_dropped_the_byte_order_mark_is_one_character_off(documents):
    loaded = MUSEUM.removeprefix("\ufeff")
    start = loaded.index(NIGHT)
    given = citation(start, start + len(NIGHT))
    finding = the_finding(place_findings(given, QuotedWords(NIGHT), documents, CHARACTERS))
    assert finding.expected.endswith("(+1 character)")


def test_a_loader_that_changed_the_line_ends_is_told_with_the_drift(documents):
    loaded = MUSEUM.replace("\r\n", "\n")
    snippet = "1885.\nIt keeps “The Night"
    start = loaded.index(snippet)
    given = citation(start, start + len(snippet))
    finding = the_finding(place_findings(given, QuotedWords(snippet), documents, CHARACTERS))
    true = MUSEUM.index("1885.")
    assert finding.expected.endswith(
        f"differs in line ends (CRLF or LF), stands at {true}–{true + len(snippet) + 1} "
        f"({true - start:+d} characters)"
    )


def test_offsets_beyond_the_end_are_told_with_the_length_and_the_true_place(documents):
    given = citation(500, 500 + len(NIGHT))
    finding = the_finding(place_findings(given, QuotedWords(NIGHT), documents, CHARACTERS))
    assert facts(finding) == (
        "out_of_range",
        "offsets",
        f"500–{500 + len(NIGHT)}",
        f"the document ends at {len(MUSEUM)} characters; the text stands at "
        f"{AT}–{AT + len(NIGHT)} ({AT - 500} characters)",
    )
    in_bytes = place_findings(given, QuotedWords(NIGHT), documents, OffsetReading("bytes"))
    assert f"ends at {len(MUSEUM.encode())} bytes" in the_finding(in_bytes).expected


def test_beyond_the_end_without_words_is_still_found(documents):
    check = place_findings(citation(0, 999), QuotedWords(), documents, CHARACTERS)
    assert [finding.code for finding in check.findings] == ["out_of_range"]


def test_beyond_the_end_a_quote_is_told_where_it_stands(documents):
    given = citation(500, 600)
    finding = the_finding(place_findings(given, QuotedWords(quote=NIGHT), documents, CHARACTERS))
    assert finding.code == "out_of_range"
    assert finding.expected.endswith(f"; the quote stands at {AT}–{AT + len(NIGHT)}")


class LettersOnly:
    id = "letters:1"

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer("[a-z]+", text)]


def test_a_quote_of_what_no_token_holds_is_told(tmp_path):
    (tmp_path / "a.md").write_text("see (a) there")
    given = citation(1, 2, "token", doc_id="a", rev="v1")
    reading = OffsetReading(tokenizer=LettersOnly())
    check = place_findings(given, QuotedWords("a", "(a"), FolderDocuments(tmp_path), reading)
    assert "stands at 1–2, not at the bounds of tokens" in the_finding(check).expected


def test_a_quote_of_half_a_token_more_is_told(documents):
    reading = OffsetReading(tokenizer=Whitespace())
    start = MUSEUM.index("1642,")
    token = ruler_of(MUSEUM, "token", reading).measured(Place(start, start + 5))
    given = citation(token.start - 1, token.end, "token")
    outside = place_findings(given, QuotedWords(quote="ch” of 1642"), documents, reading)
    assert the_finding(outside).expected.endswith(
        f"stands at {token.start - 2}–{token.end}, begins 1 token before it"
    )


def test_beyond_the_end_of_the_wrong_document_both_are_told(documents):
    said = QuotedWords("The archive keeps the records of the state.")
    check = place_findings(citation(900, 943), said, documents, CHARACTERS)
    assert [finding.code for finding in check.findings] == ["out_of_range", "misattributed"]


def test_an_offset_inside_a_character_is_told_with_the_true_place(documents):
    reading = OffsetReading("utf-16")
    inside = len(MUSEUM[: MUSEUM.index("🏛")].encode("utf-16-le")) // 2 + 1
    finding = the_finding(
        place_findings(citation(inside, inside + 20), QuotedWords(NIGHT), documents, reading)
    )
    true = AT + 1
    assert facts(finding) == (
        "span_text_mismatch",
        "offsets",
        f"start {inside} is inside a surrogate pair",
        f"an offset between characters; the text stands at {true}–{true + len(NIGHT)} "
        f"({true - inside:+d} UTF-16 units)",
    )


def test_tokens_without_a_tokenizer_are_not_checked_and_that_is_said(documents):
    for said in (QuotedWords(NIGHT), QuotedWords(), QuotedWords(quote="Night Watch")):
        check = place_findings(citation(3, 9, "token"), said, documents, CHARACTERS)
        assert (check.findings, check.seen) == ((), "nothing")
        assert check.reason == "offsets in tokens, and no tokenizer is declared"


@pytest.mark.parametrize(
    ("said", "code", "field"),
    [
        (QuotedWords("Words that nobody wrote"), "span_text_mismatch", "offsets"),
        (QuotedWords(quote="Words that nobody wrote"), "span_text_mismatch", "quote"),
        (QuotedWords("records of the state"), "misattributed", "doc_id"),
        (QuotedWords(NIGHT.replace("“", '"').replace("”", '"')), "span_text_mismatch", "offsets"),
        (QuotedWords(quote="It keeps 'The Night Watch'"), "span_text_mismatch", "quote"),
    ],
)
def test_without_a_tokenizer_words_that_are_not_in_the_document_are_found(
    documents, said, code, field
):
    check = place_findings(citation(3, 9, "token"), said, documents, CHARACTERS)
    assert check.seen == "nothing" and "tokenizer" in check.reason
    assert [(finding.code, finding.field) for finding in check.findings] == [(code, field)]


def test_an_empty_span_is_the_payloads_fault_and_not_checked_here(documents):
    check = place_findings(citation(9, 9), QuotedWords(NIGHT), documents, CHARACTERS)
    assert (check.findings, check.seen) == ((), "nothing")
    assert check.reason == "start 9 is not before end 9"


def test_a_snippet_without_text_is_no_snippet(documents):
    finding = the_finding(place_findings(at(NIGHT), QuotedWords(""), documents, CHARACTERS))
    assert facts(finding) == (
        "span_text_mismatch",
        "offsets",
        f'"{NIGHT}"',
        '"" is the snippet\'s whole text',
    )


@pytest.mark.parametrize(
    ("quote", "told"),
    [
        ("Museum 🏛️", "stands at 3–12, begins {before} characters before it"),
        ("of 1642, a café", "stands at {start}–{end}, ends 8 characters past it"),
    ],
)
def test_a_quote_outside_of_the_span_is_told_with_how_far(documents, quote, told):
    start = MUSEUM.index(quote)
    finding = the_finding(
        place_findings(at(NIGHT), QuotedWords(NIGHT, quote), documents, CHARACTERS)
    )
    told = told.format(before=AT - 3, start=start, end=start + len(quote))
    assert facts(finding) == (
        "span_text_mismatch",
        "quote",
        f'"{quote}"',
        f"the words of the span; {told}",
    )


def test_of_two_places_of_a_quote_the_one_nearer_to_the_span_is_told(documents):
    second = MUSEUM.index(OPENED, AT)
    near_end = at("guests pay twice. It")
    finding = the_finding(
        place_findings(near_end, QuotedWords(quote=OPENED), documents, CHARACTERS)
    )
    assert f"stands at {second}–" in finding.expected


@pytest.mark.parametrize(
    ("quote", "named"),
    [
        ("the night watch", "upper and lower case"),
        ('It keeps "The Night Watch"', "typographic signs"),
        ("'The Night Watch' of 1642", "typographic signs"),
        ("“It keeps “The Night Watch””", "quotation marks around it"),
        ("It keeps … of 1642", "words left out at an ellipsis"),
        ("It keeps [...] Watch” of 1642", "words left out at an ellipsis"),
    ],
)
def test_a_quote_in_another_form_is_a_mismatch_with_its_cause(documents, quote, named):
    finding = the_finding(
        place_findings(at(NIGHT), QuotedWords(NIGHT, quote), documents, CHARACTERS)
    )
    assert facts(finding) == (
        "span_text_mismatch",
        "quote",
        f'"{quote}"',
        f"the words of the span; differs in {named}",
    )


def test_a_quote_of_another_document_is_misattributed(documents):
    check = place_findings(
        at(NIGHT), QuotedWords(NIGHT, "keeps the records of the state"), documents, CHARACTERS
    )
    assert facts(the_finding(check)) == (
        "misattributed",
        "quote",
        "museum",
        'archive 12–42 holds "keeps the records of the state"',
    )


def test_a_quote_of_several_others_names_the_first_by_id(documents):
    check = place_findings(
        at(NIGHT), QuotedWords(NIGHT, "The archive keeps the records"), documents, CHARACTERS
    )
    assert the_finding(check).expected == (
        'archive 0–29, and others, holds "The archive keeps the records"'
    )


def test_the_place_in_the_other_document_is_in_the_users_unit(folder):
    (folder / "other.md").write_bytes("🏛🏛 These words stand here.".encode())
    documents = FolderDocuments(folder)
    ruler = ruler_of(MUSEUM, "char", OffsetReading("bytes"))
    given = citation(*ruler.measured(Place(AT, AT + len(NIGHT))))
    check = place_findings(
        given, QuotedWords(NIGHT, "These words stand"), documents, OffsetReading("bytes")
    )
    assert the_finding(check).expected.startswith("other 9–26 holds")


def test_a_snippet_of_another_document_is_misattributed_and_its_quote_with_it(documents):
    said = QuotedWords("The archive keeps the records of the state.", "records of the state")
    finding = the_finding(place_findings(at(NIGHT), said, documents, CHARACTERS))
    assert (finding.code, finding.field, finding.got) == ("misattributed", "doc_id", "museum")
    assert finding.expected.startswith("archive 0–43 holds")


@pytest.mark.parametrize(
    ("quote", "code", "expected"),
    [
        ("NL-HaNA", "misattributed", 'archive 56–63 holds "NL-HaNA"'),
        (
            "The archive",
            "span_text_mismatch",
            "is not in museum, and too short to tell where it comes from",
        ),
        (
            "urn",
            "span_text_mismatch",
            "is not in museum, and as whole words in none of the 2 others searched",
        ),
    ],
)
def test_few_words_tell_a_document_only_as_whole_words_of_one(documents, quote, code, expected):
    finding = the_finding(
        place_findings(at(NIGHT), QuotedWords(NIGHT, quote), documents, CHARACTERS)
    )
    assert (finding.code, finding.expected) == (code, expected)
    assert "turned" in POLICY, "where `urn` is no word"


@pytest.mark.parametrize(
    ("quote", "code"), [("故宫书画收藏", "misattributed"), ("故宫", "span_text_mismatch")]
)
def test_characters_of_unspaced_scripts_count_as_words(folder, quote, code):
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text("这是故宫书画收藏。", "utf-8")
    given = citation(0, 10, doc_id="archive", rev=rev_of(ARCHIVE))
    check = place_findings(given, QuotedWords(quote=quote), FolderDocuments(folder), CHARACTERS)
    assert the_finding(check).code == code


def test_words_that_stand_nowhere_are_told_so(documents):
    made_up = QuotedWords("The museum closed in 1990.", "It was closed in 1990.")
    check = place_findings(at(NIGHT), made_up, documents, CHARACTERS)
    assert [facts(finding) for finding in check.findings] == [
        (
            "span_text_mismatch",
            "offsets",
            f'"{NIGHT}"',
            '"The museum closed in 1990." is not in museum, and to the letter in none of the 2 '
            "others searched",
        ),
        (
            "span_text_mismatch",
            "quote",
            '"It was closed in 1990."',
            "is not in museum, and to the letter in none of the 2 others searched",
        ),
    ]


def test_no_more_is_claimed_than_was_searched(folder):
    (folder / "policy.md").write_bytes(b"\xff\xfe")
    documents = FolderDocuments(folder)
    said = QuotedWords(quote="The archive keeps the records of the city.")
    told = "is not in museum, and to the letter not in the 1 other searched"
    assert the_finding(place_findings(at(NIGHT), said, documents, CHARACTERS)).expected == told
    (folder / "archive.md").unlink()
    documents = FolderDocuments(folder)
    told = "is not in museum, and no other document was searched"
    assert the_finding(place_findings(at(NIGHT), said, documents, CHARACTERS)).expected == told
    assert "policy.md: not searched for words" in documents.problems[0]


@pytest.mark.parametrize(
    "said", [QuotedWords("Nothing of this"), QuotedWords(quote="Nothing of this")]
)
def test_of_an_unproven_file_a_mismatch_says_so(documents, said):
    given = citation(AT, AT + len(NIGHT), rev="v7")
    finding = the_finding(place_findings(given, said, documents, CHARACTERS))
    assert "; the file is not proven to be rev v7" in finding.got + finding.expected
    proven = the_finding(place_findings(at(NIGHT), said, documents, CHARACTERS))
    assert "proven" not in proven.got + proven.expected
    assert place_findings(given, QuotedWords(NIGHT), documents, CHARACTERS) == PlaceCheck()


def test_a_long_text_is_shown_from_where_it_becomes_different(tmp_path):
    text = "word " * 50 + "1885 and so on"
    (tmp_path / "long.md").write_text(text)
    rev = rev_of(text)
    given = citation(0, len(text), doc_id="long", rev=rev)
    said = QuotedWords(text.replace("1885", "1886"))
    finding = the_finding(place_findings(given, said, FolderDocuments(tmp_path), CHARACTERS))
    assert finding.got == '"…ord word 1885 and so on"'
    assert finding.expected.startswith('"…ord word 1886 and so on"')


def test_foreign_text_takes_no_effect_in_a_finding(documents):
    said = QuotedWords("red \x1b[31m\u202ehat\nand more", "a\x00b c d")
    check = place_findings(at(NIGHT), said, documents, CHARACTERS)
    told = "".join(finding.got + finding.expected for finding in check.findings)
    assert not set(told) & set("\x1b\u202e\x00\n")


class Shelf:
    """Documents in memory, which count how often the others are asked for."""

    def __init__(self, **texts: str) -> None:
        self._texts, self.searched = texts, 0

    def find(self, doc_id: str, rev: str) -> FrozenDocument | None:
        return FrozenDocument(doc_id, rev, self._texts[doc_id], True)

    def others(self, doc_id: str):
        self.searched += 1
        for id in sorted(self._texts):
            if id != doc_id:
                yield FrozenDocument(id, "r", self._texts[id], True)


@pytest.mark.parametrize("words", ["Nobody wrote this down.", "All keys are turned yearly.", "urn"])
def test_words_that_recur_are_searched_for_once(words):
    shelf = Shelf(museum=MUSEUM, keys="All keys are turned yearly.", other="Nothing.")
    given = [at(NIGHT), at(OPENED), at(NIGHT, 3)]
    told = [place_findings(one, QuotedWords(quote=words), shelf, CHARACTERS) for one in given]
    assert {check.findings for check in told} == {told[0].findings}
    assert shelf.searched == 1
    unlike = Shelf(museum=MUSEUM, other="Nothing.")
    place_findings(at(NIGHT), QuotedWords(quote=words), unlike, CHARACTERS)
    place_findings(citation(0, 4, doc_id="other"), QuotedWords(quote=words), unlike, CHARACTERS)
    assert unlike.searched == 2, "for each document that is cited, and in these documents"


class Unhashable(Shelf):
    __hash__ = None


def test_documents_that_cannot_be_remembered_are_searched_each_time():
    shelf = Unhashable(museum=MUSEUM, other="Nothing.")
    for _ in range(2):
        assert place_findings(
            at(NIGHT), QuotedWords(quote="Not there."), shelf, CHARACTERS
        ).findings
    assert shelf.searched == 2


@given(
    st.lists(st.text(alphabet="ab 北é.", max_size=9), max_size=3),
    st.text(alphabet="ab 北é.", min_size=1, max_size=6).filter(str.strip),
)
def test_the_holder_is_the_one_a_plain_look_finds(texts, words):
    shelf = Shelf(**{f"d{n}": text for n, text in enumerate(texts)})
    search = other_source(words, "cited", shelf)
    pattern = re.escape(words)
    if search.whole_words:
        before, after = (
            "" if one in "北 ." else around
            for one, around in ((words[0], r"(?<!\w)"), (words[-1], r"(?!\w)"))
        )
        pattern = before + pattern + after
    found = [(n, match) for n, text in enumerate(texts) if (match := re.search(pattern, text))]
    if not found:
        assert (search.holder, search.searched) == (None, len(texts))
        return
    first, match = found[0]
    holder = search.holder
    assert (holder.document.doc_id, holder.place) == (f"d{first}", Place(*match.span()))
    assert holder.alone == (len(found) == 1)


pieces = st.text(alphabet="ab é\n", max_size=8)


@given(head=pieces, tail=pieces, words=pieces.filter(str.strip), start=st.integers(0, 20))
def test_words_of_the_document_are_always_found_in_it(head, tail, words, start):
    text = head + words + tail
    shelf = Shelf(a=text, b="elsewhere")
    given = citation(start, start + len(words), doc_id="a", rev="r")
    check = place_findings(given, QuotedWords(words), shelf, CHARACTERS)
    places = [i for i in range(len(text)) if text.startswith(words, i)]
    if start in places:
        assert check == PlaceCheck()
    elif "differs" not in the_finding(check).expected:
        told = min(places, key=lambda place: (abs(place - start), place))
        assert f"stands at {told}–{told + len(words)} ({told - start:+d} " in (
            the_finding(check).expected
        )
    assert shelf.searched == 0, "other documents are read only when the cited one fails"


@given(
    document=st.text(alphabet="abé “.\r\n🏛", max_size=30),
    snippet=st.none() | st.text(alphabet="abé “.\r\n🏛", max_size=12),
    quote=st.none() | st.text(alphabet="abé “.…\r\n🏛", max_size=12),
    start=st.integers(0, 40),
    length=st.integers(0, 12),
    unit=st.sampled_from(["char", "token"]),
    kind=st.sampled_from(["code-points", "utf-16", "bytes"]),
    tokenizer=st.sampled_from([None, Words(), Whitespace()]),
)
def test_whatever_is_cited_comes_to_known_codes_or_a_reason(
    document, snippet, quote, start, length, unit, kind, tokenizer
):
    shelf = Shelf(a=document, b="ab ab ab éé")
    given = citation(start, start + length, unit, doc_id="a", rev="r")
    check = place_findings(
        given, QuotedWords(snippet, quote), shelf, OffsetReading(kind, tokenizer)
    )
    assert check.reason or check.seen == "words"
    for finding in check.findings:
        assert entry_of(finding.code).depth == "text"
        assert finding.got and finding.expected and finding.field


letters = st.text(alphabet="abcA é\u0301“'\"—-…\r\n\u200bﬁ½ß北🏛", max_size=24)
plain = st.text(alphabet="abcé'-. ", max_size=24)
ab = st.text(alphabet="ab", max_size=30)

DISGUISES = {
    "line ends (CRLF or LF)": lambda text: text.replace("\n", "\r\n"),
    "Unicode form (NFC)": lambda text: unicodedata.normalize("NFD", text),
    "unseen characters": lambda text: text.replace("u", "u\u00ad"),
    "white space": lambda text: text.replace(" ", " \u00a0 "),
    "typographic signs": lambda text: text.replace('"', "”").replace("-", "–").replace("...", "…"),
    "quotation marks around it": lambda text: f"«{text}»",
    "upper and lower case": str.upper,
    "Unicode form (NFKC)": lambda text: text.replace("fi", "ﬁ"),
}
WORDS = 'A "museum" first-rate,\nin a café... of 1885'


@given(text=ab, words=ab.filter(bool), at=st.integers(0, 31))
def test_the_nearest_is_that_of_a_look_at_every_place(text, words, at):
    places = [place for place in range(len(text)) if text.startswith(words, place)]
    told = min(places, key=lambda place: (abs(place - at), place), default=None)
    assert nearest_exact(text, words, at) == told
    before = [place for place in places if place < at][-1:]
    assert around(text, words, at) == before + [place for place in places if place >= at][:1]


@pytest.mark.parametrize("name", DISGUISES)
def test_each_difference_is_named_alone(name):
    disguised = DISGUISES[name](WORDS)
    assert disguised != WORDS
    assert differences(WORDS, disguised) == differences(disguised, WORDS) == (name,)
    if name != "quotation marks around it":
        assert differences(disguised, f"Before, {WORDS} after", within=True) == (name,)


@given(st.sets(st.sampled_from(sorted(DISGUISES))))
def test_several_differences_are_named_together(names):
    disguised = WORDS
    for name in DISGUISES:
        if name in names:
            disguised = DISGUISES[name](disguised)
    assert set(differences(WORDS, disguised)) <= names
    assert bool(differences(WORDS, disguised)) == bool(names)


@pytest.mark.parametrize(
    ("words", "text"),
    [("opened in 1885", "opened in 1886"), ("cafe", "café"), ("", ""), (" ", "a"), ('"', "a")],
)
def test_other_words_are_no_likeness(words, text):
    assert differences(words, text) is None
    assert differences(words, text, within=True) is None
    assert fuzzy_match(text, words, 0) is None


@pytest.mark.parametrize(
    ("quote", "named"),
    [
        ("It opened … in the year", (LEFT_OUT,)),
        ("… opened its “doors” [...] 1885 …", (LEFT_OUT,)),
        ("opened (…) doors", (LEFT_OUT,)),
        ("doors … opened", None),
        ("doors … closed", None),
        ("…", None),
    ],
)
def test_what_is_left_out_at_an_ellipsis_must_lie_between_the_parts(quote, named):
    text = 'It opened its "doors" in the year 1885.'
    assert differences(quote, text, within=True) == named


@given(head=plain, words=letters, tail=plain, near=st.integers(0, 60))
def test_words_in_another_form_are_found_where_they_stand(head, words, tail, near):
    text = f"{head} {words} {tail}"
    sought = unicodedata.normalize("NFKC", words).replace("\r\n", "\n").upper()
    assume(differences(sought, words) is not None)
    found = fuzzy_match(text, sought, near)
    assert found is not None
    assert differences(sought, text[found.start : found.end]) is not None


@given(text=letters, words=letters, near=st.integers(0, 30))
def test_what_is_found_nearly_has_a_name_for_each_difference(text, words, near):
    found = fuzzy_match(text, words, near)
    if found is not None:
        named = differences(words, text[found.start : found.end])
        assert named is not None
        assert named or words == text[found.start : found.end]


def test_the_nearest_of_two_in_another_form_is_found():
    text = "The Café. " * 3
    for near, start in ((0, 4), (13, 14), (30, 24)):
        assert fuzzy_match(text, "café.", near) == (start, start + 5)


@pytest.mark.parametrize("at", [0, 250, 255, 256, 400, 1990])
def test_words_are_found_in_a_long_run_without_blanks(at):
    run = "北京故宫é" * 400
    text = f"Before. {run[:at]}Ａrchive{run[at:]} after"
    assert fuzzy_match(text, "archive", 0) == (8 + at, 15 + at)


@pytest.mark.parametrize("quote", [" " * 50_000 + "x", "(" * 50_000 + "x", "." * 50_000 + "x…y"])
def test_a_hostile_quote_takes_no_longer_than_its_length(quote):
    assert differences(quote, "It opened in 1885.", within=True) is None
