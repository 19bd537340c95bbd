"""The document page: opened at the very characters that a citation points to."""

from __future__ import annotations

from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from ragauge import open_history
from ragauge.contracts.history import Run
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import DocumentPlace, Links
from ragauge.dashboard.pages import document
from ragauge.dashboard.pages.document import LONGEST, MOST_ANSWERS, MOST_KNOWN
from ragauge.dashboard.query import BadAddress, Query
from ragauge.text.visible import readable
from tests.chromium import WIDE
from tests.dashboard.cited_history import DOCUMENTS, CitedHistory, gold, payload, rev_of, trace
from tests.dashboard.page_parts import Parts
from tests.dashboard.served import Served as Dashboard
from tests.dashboard.served import serving

QUOTED = "Opened in 1885."
DRIFTED = payload("plain", 9, 12, "Cuypers designed it.")


def spans(text: str) -> list[tuple[int, int]]:
    """Spans of every kind: single characters, over lines, the whole."""
    return [
        *((at, at + 1) for at in range(len(text))),
        *((at, min(len(text), at + 11)) for at in range(0, len(text), 3)),
        (0, len(text)),
    ]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> CitedHistory:
    return CitedHistory(tmp_path_factory.mktemp("cited"))


@pytest.fixture(scope="module")
def audited(history: CitedHistory) -> Run:
    """An audit: a whole citation of each document, a drifted one, one in tokens, two in one."""
    whole = [payload(name, 0, len(text)) for name, text in DOCUMENTS.items()]
    quoting = payload("plain", 9, 24) | {"quote": QUOTED}
    tokens = payload("crlf", 1, 4) | {"offsets": {"start": 1, "end": 4, "unit": "token"}}
    traces = [
        trace("whole", whole),
        trace("drifted", [DRIFTED]),
        trace("tokens", [tokens]),
        trace("two", [payload("plain", 9, 24), payload("plain", 26, 46)]),
        trace("quoted", [payload("plain", 9, 24)], cited=[quoting]),
    ]
    return history.audited(traces, [gold(one["qid"]) for one in traces])


@pytest.fixture(scope="module")
def material(history: CitedHistory, audited: Run):
    with closing(open_history(history.place)) as opened:
        made = Material(opened, "here")
        yield made
        made.jobs.close()


class Marks(HTMLParser):
    """The text of the lines of a document, and of it what is marked."""

    def __init__(self, body: object) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.numbers: list[int] = []
        self.cited, self.other, self.first = "", "", 0
        self._line = self._mark = ""
        self.feed(str(body))
        self.close()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "p" and "data-line" in given:
            self._line = "line"
            self.lines.append("")
            self.numbers.append(int(given["data-line"]))
        elif tag == "mark" and self._line:
            self._mark = given["class"]
            self.first += given.get("id") == "cited"

    def handle_endtag(self, tag):
        if tag == "p":
            self._line = ""
        elif tag == "mark":
            self._mark = ""

    def handle_data(self, data):
        if self._line:
            self.lines[-1] += data
            self.cited += data if self._mark == "cited" else ""
            self.other += data if self._mark == "cited other" else ""


def shown(material: Material, run: Run, name: str, **fields: object) -> str:
    given = {"doc": name, "rev": rev_of(DOCUMENTS.get(name, "")), **fields}
    asked = Query([(key, str(value)) for key, value in given.items()], {"run": run.id})
    return str(document.page(material, Links(f"/runs/{run.id}/document"), asked).body)


def followed(material: Material, address: str) -> str:
    parts = urlsplit(address)
    asked = Query(parse_qsl(parts.query), {"run": parts.path.split("/")[2]})
    return str(document.page(material, Links(), asked).body)


def spelled(text: str) -> str:
    """As a page writes it: what is unseen spelled out, but for the ends of lines."""
    return "\r\n".join(readable(part) for part in text.split("\r\n"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_marked_text_is_what_stands_at_the_offsets(material, audited, name):
    text = DOCUMENTS[name]
    for start, end in spans(text):
        page = Marks(shown(material, audited, name, start=start, end=end))
        before, stands, after = text[:start], text[start:end], text[end:]
        assert page.cited == spelled(stands), (start, end)
        assert page.first == 1
        assert page.text == spelled(before) + spelled(stands) + spelled(after)
        assert page.numbers == list(range(1, len(page.numbers) + 1))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"start": 3, "end": 9_999}, f"the document ends at {len(DOCUMENTS['plain'])} characters"),
        ({"start": 9_998, "end": 9_999}, "the document ends at"),
        ({"start": 9, "end": 3}, "start 9 is not before end 3"),
        ({"start": 9, "end": 9}, "start 9 is not before end 9"),
        ({"start": 9}, "start 9 is not before end 0"),
    ],
)
def test_offsets_that_lead_nowhere_mark_nothing_and_say_why(material, audited, fields, says):
    body = shown(material, audited, "plain", **fields)
    assert says in Parts(body).text
    assert Marks(body).cited == ""
    assert Marks(body).text == DOCUMENTS["plain"]


@pytest.mark.parametrize("fields", [{"start": -5, "end": 3}, {"start": "x"}, {"end": "1e9"}])
def test_what_is_no_offset_is_a_bad_address(material, audited, fields):
    with pytest.raises(BadAddress, match="is not a number"):
        shown(material, audited, "plain", **fields)


def test_offsets_in_utf_16_lead_to_the_same_words(history):
    text, words = DOCUMENTS["astral"], "ouvrit en 1885"
    at = text.index(words)
    start = len(text[:at].encode("utf-16-le")) // 2
    assert start > at
    run = history.audited(
        [trace("q", [payload("astral", start, start + len(words), words)])],
        [gold("q")],
        offsets_in="utf-16",
    )
    with closing(open_history(history.place)) as opened:
        material = Material(opened, "here")
        end = start + len(words)
        body = shown(material, run, "astral", start=start, end=end, unit="q")
        material.jobs.close()
    assert Marks(body).cited == words
    assert "The chunk's text matches the document exactly" in Parts(body).text


def test_offsets_in_tokens_are_said_to_be_no_place(material, audited):
    body = shown(material, audited, "crlf", unit="tokens")
    assert "counts its offsets in tokens" in Parts(body).text
    assert Marks(body).cited == ""


def test_words_that_stand_elsewhere_are_found_there(material, audited):
    body = shown(material, audited, "plain", start=9, end=12, unit="drifted")
    assert "The chunk's text is not at this place; it is at 26–46" in Parts(body).text
    way = next(one for one in Parts(body).links if "start=26" in one)
    there = followed(material, way)
    assert Marks(there).cited == DRIFTED["text"] == DOCUMENTS["plain"][26:46]


def test_a_quote_that_stands_there_is_said_to(material, audited):
    body = shown(material, audited, "plain", start=9, end=24, unit="quoted")
    assert "The quote matches the document exactly" in Parts(body).text
    assert Marks(body).cited == QUOTED


def test_other_citations_of_the_document_are_marked_softly(material, audited):
    page = Marks(shown(material, audited, "plain", start=9, end=24, unit="two"))
    assert (page.cited, page.other) == (DOCUMENTS["plain"][9:24], DOCUMENTS["plain"][26:46])
    alone = Marks(shown(material, audited, "plain", start=9, end=24))
    assert alone.other == ""


SHIFTED = {"start": 11, "end": 26, "unit": "char"}


def test_the_span_is_the_one_that_the_answer_wrote(history):
    chunk = payload("plain", 9, 24)
    inside, beside = (
        {"snippet_id": chunk["snippet_id"], "offsets": SHIFTED, "quote": words}
        for words in ("1885.", QUOTED)
    )
    segments = [{"text": "It opened.", "citations": [inside, beside]}]
    run = history.audited([trace("q", [chunk], segments=segments)], [gold("q")])
    text = DOCUMENTS["plain"]
    with closing(open_history(history.place)) as opened:
        material = Material(opened, "here")
        cited = shown(material, run, "plain", start=11, end=26, unit="q")
        chunks = shown(material, run, "plain", start=9, end=24, unit="q")
        material.jobs.close()
    assert (Marks(cited).cited, Marks(cited).other) == (text[11:26], text[9:11])
    marks = str(cited).partition("<article")[2].count('<mark class="cited"')
    assert marks == len(text[11:26].splitlines())  # the end of the chunk does not cut it
    told = Parts(cited).text
    assert "The quote matches the document exactly" in told  # 1885.
    assert "The quote is not at this place; it is at 9–24" in told
    assert "The chunk's text is not at this place; it is at 9–24" in told
    assert (Marks(chunks).cited, Marks(chunks).other) == (text[9:24], text[24:26])
    told = Parts(chunks).text
    assert "The chunk's text matches the document exactly" in told
    assert "The quote" not in told


def test_texts_that_differ_in_nearly_all_are_shown_plain(material, audited):
    body = shown(material, audited, "plain", start=9, end=12, unit="drifted")
    assert "Cuypers designed it." in Parts(body).text
    assert "<mark>" not in body


def test_what_a_page_leaves_out_is_said(history):
    spans = [payload("plain", at % 40, at % 40 + 1 + at // 40) for at in range(120)]
    for number, one in enumerate(spans):
        one["snippet_id"] = f"c{number}"
    traces = [trace("many", spans)] + [trace("often", spans[:1])] * (MOST_ANSWERS + 3)
    run = history.audited(traces, [gold("many"), gold("often", question="How often?")])
    with closing(open_history(history.place)) as opened:
        material = Material(opened, "here")
        many, often = (
            Parts(shown(material, run, "plain", unit=unit)).text for unit in ("many", "often")
        )
        material.jobs.close()
    assert f"not included{120 - MOST_KNOWN} spans after the first {MOST_KNOWN}" in many
    assert "answers after" not in many
    assert "not included3 answers after the first 200" in often
    assert "spans after" not in often


def test_a_proven_revision_is_told_from_one_that_is_not(material, audited, history):
    assert "proven: it is the hash" in Parts(shown(material, audited, "plain")).text
    from ragauge.store.documents import FolderDocuments

    found = Material(material.history, "here", FolderDocuments(history.documents))
    body = shown(found, audited, "plain", rev="v7", start=9, end=24)
    found.jobs.close()
    assert "unproven: nothing shows" in Parts(body).text
    assert Marks(body).cited == QUOTED


def test_without_the_document_the_chunk_tells_what_it_can(material, history):
    run = history.scored([trace("q", [payload("plain", 9, 24)])], [gold("q")])
    with closing(open_history(history.place)) as opened:
        material = Material(opened, "here")
        text = Parts(shown(material, run, "plain", start=9, end=24, unit="q")).text
        bare = Parts(shown(material, run, "plain", start=9, end=24)).text
        material.jobs.close()
    assert "The document is not kept" in text
    assert "ragauge serve --docs" in text
    assert QUOTED in text
    assert QUOTED not in bare


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory):
    """A run that cites the middle of a document of 300,000 characters."""
    text = "".join(f"Line {number} 🏛 of a long document.\n" for number in range(10_000))
    DOCUMENTS["long"] = text
    made = CitedHistory(tmp_path_factory.mktemp("long"))
    at = text.index("Line 5000 ")
    run = made.audited([trace("q", [payload("long", at, at + 9)])], [gold("q")])
    del DOCUMENTS["long"]
    with closing(open_history(made.place)) as opened:
        material = Material(opened, "here")
        yield material, run, text, at
        material.jobs.close()


def test_a_long_document_is_shown_in_parts_that_lose_nothing(long):
    material, run, text, at = long
    address = Links().document(run.id, DocumentPlace("long", rev_of(text), at, at + 9, "q"))
    middle = followed(material, address)
    assert Marks(middle).cited == text[at : at + 9]
    assert len(Marks(middle).text) <= LONGEST
    assert Marks(middle).numbers[0] == text[: text.index(Marks(middle).text)].count("\n") + 1
    first = followed(material, address.partition("#")[0] + "&from=0")
    read, pages = Marks(first).text, 1
    while ways := [one for one in Parts(first).links if "from=" in one and "from=0" not in one]:
        start = int(dict(parse_qsl(urlsplit(ways[-1]).query))["from"])
        if start != len(read):
            break
        first = followed(material, ways[-1])
        read, pages = read + Marks(first).text, pages + 1
    assert read == text
    assert pages == -(-len(text) // LONGEST)


def test_a_span_as_long_as_the_document_does_not_make_the_page_longer(long):
    material, run, text, _ = long
    body = shown(material, run, "long", rev=rev_of(text), start=0, end=len(text))
    assert len(Marks(body).text) == LONGEST
    assert Marks(body).cited == Marks(body).text
    assert "not completely in the part that is shown" in Parts(body).text


@pytest.fixture(scope="module")
def dashboard(history: CitedHistory, audited: Run):
    with serving(history.place) as made:
        yield made


@pytest.mark.parametrize("name", ["crlf", "astral", "markup"])
def test_a_browser_holds_the_same_characters(browser, dashboard: Dashboard, audited, name):
    text = DOCUMENTS[name]
    context = browser.new_context(viewport=dict(zip(("width", "height"), WIDE, strict=True)))
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    start, end = text.index("\n") - 1, len(text) - 2
    way = Links().document(audited.id, DocumentPlace(name, rev_of(text), start, end, "whole"))
    page.goto(dashboard.url + way)
    found = "".join(page.locator(".lined mark.cited:not(.other)").all_text_contents())
    everything = "".join(page.locator(".lined .passage").all_text_contents())
    box = page.locator("#cited").first.bounding_box()
    hit = page.evaluate("window.hit")
    context.close()
    assert found == spelled(text[start:end])
    assert everything == text
    assert box is not None and 0 <= box["y"] < WIDE[1]
    assert hit is None
    assert all(url.startswith((dashboard.url, "data:")) for url in asked)


def test_a_traversing_id_finds_nothing(material, audited, history: CitedHistory):
    from ragauge.store.documents import FolderDocuments

    secret = Path(history.folder) / "secret.md"
    secret.write_text("kept out")
    found = Material(material.history, "here", FolderDocuments(history.documents))
    for name in ("../secret", "../secret.md", str(secret), "..\\secret"):
        assert "kept out" not in shown(found, audited, name, rev="v1")
    found.jobs.close()
