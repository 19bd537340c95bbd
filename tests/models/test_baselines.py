"""The baselines: what each finds, and what it must not."""

from __future__ import annotations

import itertools
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.component_models import (
    Indexes,
)
from ragauge.contracts.system import CallFailed
from ragauge.errors import UsageError
from ragauge.ingest.linked.knowledge_base import KnownEntity
from ragauge.models.baselines.entities import (
    FoundSpan,
    GazetteerEntities,
    JoinedEntities,
    RegexEntities,
    without_overlaps,
)
from ragauge.models.baselines.links import ExactLinks, FuzzyLinks, SearchLinks
from ragauge.models.baselines.retrieval import BM25Retrieval, EmbeddingRetrieval, FusedRetrieval
from ragauge.models.baselines.spacy_entities import SpacyEntities
from ragauge.models.baselines.types import KeywordTypes, ZeroShotTypes
from ragauge.pipelines.reply import MAX_REPLY


def entity(id, *names, type="GRP.HER.MUS", description="", **ids):
    return KnownEntity(
        id=id, names=names, type=type, description=description, ids=ids or {"local": id}
    )


def surfaces(model, text):
    return [(text[one.start : one.end], one.type) for one in model.extract_entities(text)]


# Regular expressions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("geopend op 10 oktober 1925 in Gent", ["10 oktober 1925"]),
        ("opened on 10 October 1925, again", ["10 October 1925"]),
        ("eröffnet am 10. Oktober 1925.", ["10. Oktober 1925"]),
        ("ouvert le 1er août 1793 à Paris", ["1er août 1793"]),
        ("uit de zeventiende eeuw", ["zeventiende eeuw"]),
        ("of the twelfth century", ["twelfth century"]),
        ("des 18. Jahrhunderts", ["18. Jahrhunderts"]),
        ("du XIXe siècle", ["XIXe siècle"]),
        ("since the 1970s", ["1970s"]),
        ("van 1910 tot 1930.", ["1910", "1930"]),
        ("6,487 volumes, 1.0, 1234.5 and 20245", []),
        ("may 1800", ["may 1800"]),
    ],
)
def test_dates_in_four_languages(text, found):
    assert [surface for surface, _ in surfaces(RegexEntities(), text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(NL-AmRM)", ["NL-AmRM"]),
        ("DE-1, FR-751131010 and NL-0100030000", ["DE-1", "FR-751131010", "NL-0100030000"]),
        ("Wikidata Q190804.", ["Q190804"]),
        ("VIAF 151962300", ["151962300"]),
        ("Q0 and XQ12 and nl-abc", []),
    ],
)
def test_identifiers_by_their_shape(text, found):
    spans = surfaces(RegexEntities(), text)
    assert spans == [(surface, "IDENTIFIER") for surface in found]


def test_a_year_inside_an_identifier_is_no_date():
    assert surfaces(RegexEntities(), "NL-1985 of 1985") == [
        ("NL-1985", "IDENTIFIER"),
        ("1985", "TMP"),
    ]


# Gazetteer

NAMES = GazetteerEntities(
    [
        entity("rm", "Rijksmuseum"),
        entity("rmo", "Rijksmuseum van Oudheden"),
        entity("khm", "Kunsthistorisches Museum"),
        entity("louvre", "Musée du Louvre", "Louvre"),
        entity("kb", "KB", type="GRP.HER.LIB"),
        entity("va", "V&A"),
        entity("nl", "Nederland", type="TOP"),
        entity("seine", "Seine", type="TOP"),
        entity("gent", "Gent", type="TOP"),
        entity("dc", "Washington, D.C.", "Washington", type="TOP"),
    ]
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("het Rijksmuseum van Oudheden", ["Rijksmuseum van Oudheden"]),
        ("het Rijksmuseum van Gent", ["Rijksmuseum", "Gent"]),
        ("des Rijksmuseums", ["Rijksmuseums"]),
        ("Rijksmuseum's collectie", ["Rijksmuseum"]),
        ("im Kunsthistorischen Museum", ["Kunsthistorischen Museum"]),
        ("au musée du Louvre", ["musée du Louvre"]),
        ("RIJKSMUSEUM", ["RIJKSMUSEUM"]),
        ("de KB, geen kB en geen Kb", ["KB"]),
        ("the V&A's shop", ["V&A"]),
        ("Nederlands, Nederlandse, Nederlander", []),
        ("seine Bücher an der Seine", ["Seine"]),
        ("een agent van Gentbrugge", []),
        ("in Washington, D.C., and Washington", ["Washington, D.C.", "Washington"]),
        ("rijksmuseum", []),
        ("", []),
    ],
)
def test_names_at_whole_words(text, found):
    assert [surface for surface, _ in surfaces(NAMES, text)] == found


def test_a_name_of_two_types_has_the_more_frequent():
    types = GazetteerEntities(
        [
            entity("a", "Plantin", type="GRP.HER.LIB"),
            entity("b", "Plantin", type="GRP.HER.MUS"),
            entity("c", "Plantin", type="GRP.HER.MUS"),
        ]
    )
    assert surfaces(types, "Plantin") == [("Plantin", "GRP.HER.MUS")]


def test_no_names_find_nothing():
    assert GazetteerEntities([]).extract_entities("Rijksmuseum") == []


@given(st.text(alphabet="Rijksmueum vanOdhG.&-' \n", max_size=60))
def test_spans_are_within_the_text_and_apart(text):
    spans = JoinedEntities(NAMES, RegexEntities()).extract_entities(text)
    assert all(0 <= one.start < one.end <= len(text) for one in spans)
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))


def test_of_overlapping_spans_the_earlier_groups_and_then_the_longer_stay():
    long, short = FoundSpan(0, 9, "A"), FoundSpan(5, 12, "B")
    assert without_overlaps([short, long]) == [long]
    assert without_overlaps([short], [long]) == [short]


# Types


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("De universiteitsbibliotheek", "L"),
        ("Das Pergamonmuseum und die Staatsbibliothek", "M"),
        ("Die Staatsbibliothek und das Pergamonmuseum", "L"),
        ("Les archives du musée, les archives", "A"),
        ("Het platform voor kranten", "D"),
        ("A heading without a clue", "U"),
        ("", "U"),
    ],
)
def test_types_by_their_words(text, label):
    assert KeywordTypes().classify(text) == label


def test_a_tie_goes_to_the_type_named_first():
    text = "red then blue"
    assert KeywordTypes({"B": ["blue"], "R": ["red"]}).scores(text) == {"B": 1, "R": 2}
    same = {"R": ["red"], "B": ["red"]}
    assert KeywordTypes(same).classify(text) == "R"
    assert KeywordTypes(dict(reversed(same.items()))).classify(text) == "B"


# Links

KNOWN = [
    entity("na-nl", "Nationaal Archief", description="archive in Den Haag", isil="NL-HaNA"),
    entity("na-sr", "Nationaal Archief", description="archive in Paramaribo"),
    entity("rm", "Rijksmuseum", "Rijksmuseum Amsterdam", wikidata="Q190804"),
]


@pytest.mark.parametrize("links", [ExactLinks(KNOWN), FuzzyLinks(KNOWN)])
def test_the_context_breaks_ties(links):
    (first, second) = links.link("Nationaal Archief", "Het Nationaal Archief in Paramaribo")
    assert first["ids"] == {"local": "na-sr"} and first["score"] > second["score"]
    (first, _) = links.link("Nationaal Archief", "Het Nationaal Archief bij Den Haag")
    assert first["ids"] == {"isil": "NL-HaNA"}


@pytest.mark.parametrize("links", [ExactLinks(KNOWN), FuzzyLinks(KNOWN)])
def test_without_help_ties_break_by_id(links):
    found = links.link("Nationaal Archief", "")
    assert [one["ids"] for one in found] == [{"isil": "NL-HaNA"}, {"local": "na-sr"}]


def test_an_exact_name_has_no_near_ones():
    links = ExactLinks(KNOWN)
    assert links.link("Rijksmusem", "") is None
    assert [one["ids"] for one in links.link("RIJKSMUSEUM", "")] == [{"wikidata": "Q190804"}]


def test_the_threshold_decides_what_is_nil():
    assert FuzzyLinks(KNOWN).link("Rijksmuseum Drechtoever", "") is None
    assert FuzzyLinks(KNOWN, threshold=50).link("Rijksmuseum Drechtoever", "") is not None
    assert FuzzyLinks(KNOWN).link("Amsterdam Rijksmuseum", "")[0]["score"] == 1.0
    with pytest.raises(UsageError, match="from 0 to 100"):
        FuzzyLinks(KNOWN, threshold=0)


def test_the_context_never_outweighs_the_spelling():
    links = FuzzyLinks(
        [entity("a", "Museum of Ghent"), entity("b", "Museum of Kent", description="Ghent " * 9)],
        threshold=50,
    )
    assert links.link("Museum of Ghent", "Ghent Ghent")[0]["ids"] == {"local": "a"}


# Retrieval

DOCUMENTS = {"b": "the night watch", "a": "the night watch", "c": "a pearl earring"}


@pytest.mark.parametrize("retrieval", [BM25Retrieval(DOCUMENTS), EmbeddingRetrieval(DOCUMENTS)])
def test_documents_are_ranked_and_ties_break_by_id(retrieval):
    assert [one["id"] for one in retrieval.retrieve("night watch", 2)] == ["a", "b"]
    assert [one["id"] for one in retrieval.retrieve("pearl", 1)] == ["c"]
    assert retrieval.retrieve("night watch", 1)[0]["score"] > 0


def test_a_query_without_a_known_word_retrieves_nothing():
    assert BM25Retrieval(DOCUMENTS).retrieve("zzz", 3) == []
    assert BM25Retrieval().retrieve("night", 3) == []
    assert EmbeddingRetrieval().retrieve("night", 3) == []


def test_documents_may_come_later():
    retrieval = FusedRetrieval(BM25Retrieval(), EmbeddingRetrieval())
    assert retrieval.retrieve("pearl", 3) == []
    retrieval.index(DOCUMENTS)
    assert retrieval.retrieve("pearl", 3)[0]["id"] == "c"


class Fixed:
    def __init__(self, source, *ids):
        self._found = [{"id": id, "source": source} for id in ids]

    def retrieve(self, query, k):
        return self._found[:k]


def test_fusion_adds_reciprocal_ranks_and_names_every_source():
    fused = FusedRetrieval(Fixed("x", "a", "b", "c"), Fixed("y", "c", "b", "d"))
    assert fused.retrieve("q", 4) == [
        {"id": "c", "source": ["x", "y"]},  # 1/63 + 1/61
        {"id": "b", "source": ["x", "y"]},  # 1/62 + 1/62, a little less
        {"id": "a", "source": ["x"]},
        {"id": "d", "source": ["y"]},
    ]
    assert len(fused.retrieve("q", 2)) == 2
    more = FusedRetrieval(fused, Fixed("z", "a", "c"))
    assert more.retrieve("q", 4)[0] == {"id": "c", "source": ["x", "y", "z"]}


def test_the_retrievers_index():
    assert isinstance(BM25Retrieval(), Indexes) and isinstance(EmbeddingRetrieval(), Indexes)


# Models of packages that may be absent


def _without(monkeypatch, package):
    monkeypatch.setitem(__import__("sys").modules, package, None)


def test_spacy_names_what_to_install(monkeypatch):
    _without(monkeypatch, "spacy")
    with pytest.raises(UsageError, match="pip install spacy"):
        SpacyEntities("nl_core_news_sm")


def test_zero_shot_names_what_to_install(monkeypatch):
    _without(monkeypatch, "transformers")
    with pytest.raises(UsageError, match="pip install transformers torch"):
        ZeroShotTypes("any/model")


def test_a_spacy_pipeline_is_asked_and_its_types_are_ours(monkeypatch):
    from types import SimpleNamespace as Plain

    def load(name):
        if name != "xx":
            raise OSError("E050")
        found = [
            Plain(start_char=0, end_char=4, label_="GPE"),
            Plain(start_char=5, end_char=9, label_="PERSON"),
        ]
        return lambda text: Plain(ents=found)

    monkeypatch.setitem(__import__("sys").modules, "spacy", Plain(load=load))
    assert SpacyEntities("xx").extract_entities("Gent Anna") == [FoundSpan(0, 4, "TOP")]
    with pytest.raises(UsageError, match="python -m spacy download yy"):
        SpacyEntities("yy")


def test_a_zero_shot_classifier_is_asked_in_words(monkeypatch):
    from types import SimpleNamespace as Plain

    def pipeline(task, model):
        assert (task, model) == ("zero-shot-classification", "any/model")
        return lambda text, candidate_labels: {"labels": ["library", "museum"]}

    monkeypatch.setitem(__import__("sys").modules, "transformers", Plain(pipeline=pipeline))
    assert ZeroShotTypes("any/model").classify("a text") == "L"


# A search service


class Service(BaseHTTPRequestHandler):
    """Answers as Wikidata's search does, and misbehaves where the search word says so."""

    release = threading.Event()

    def do_GET(self):
        asked = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
        self.server.asked.append(asked)
        word = asked["search"]
        if word == "429":
            self.send_error(429, "Too Many Requests")
        elif word == "moved":
            self._reply(b"", 302)
        elif word == "silent":
            self.release.wait(30)
        elif word == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b'{"search"')
        else:
            self._reply(REPLIES[word])

    def _reply(self, body, status=200):
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Say nothing."""


REPLIES = {
    "Rijksmuseum": json.dumps(
        {"search": [{"id": "Q190804", "label": "Rijksmuseum"}, {"id": "Q2"}]}
    ).encode(),
    "nothing": b'{"search": []}',
    "broken": b'{"search": [',
    "list": b"[]",
    "shape": b'{"search": [{"label": "x"}]}',
    "error": b'{"error": {"code": "maxlag"}}',
    "huge": b'{"search": []}' + b" " * MAX_REPLY,
}


@contextmanager
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.asked = []
    Service.release.clear()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        Service.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def search():
    with service() as server:
        yield server


def url(server):
    return f"http://127.0.0.1:{server.server_port}/w/api.php"


def test_a_search_is_asked_as_wikidatas(search):
    found = SearchLinks(url(search), language="nl", most=1).link("Rijksmuseum", "in Amsterdam")
    assert found == [{"id": "Q190804", "name": "Rijksmuseum"}]
    (asked,) = search.asked
    assert asked == {
        "action": "wbsearchentities",
        "search": "Rijksmuseum",
        "language": "nl",
        "uselang": "nl",
        "limit": "1",
        "type": "item",
        "format": "json",
    }


def test_nothing_found_is_nil(search):
    assert SearchLinks(url(search)).link("nothing", "") is None


@pytest.mark.parametrize(
    ("word", "kind", "again"),
    [
        ("429", "http_429", True),
        ("moved", "redirect", False),
        ("broken", "bad_reply", True),
        ("list", "bad_reply", False),
        ("shape", "bad_reply", False),
        ("error", "refused", False),
        ("cut", "bad_reply", True),
        ("huge", "too_large", False),
    ],
)
def test_a_search_that_fails_says_so(search, word, kind, again):
    with pytest.raises(CallFailed) as failed:
        SearchLinks(url(search)).link(word, "")
    assert (failed.value.kind, failed.value.again) == (kind, again)
    assert "127.0.0.1/w" not in str(failed.value)
    assert len(search.asked) == 1


def test_a_silent_search_is_given_up(search):
    with pytest.raises(CallFailed, match=r"timeout: no answer within 0\.2 s"):
        SearchLinks(url(search), timeout_s=0.2).link("silent", "")


def test_a_search_that_is_not_there():
    with service() as server:
        gone = url(server)
    with pytest.raises(CallFailed, match="refused"):
        SearchLinks(gone).link("Rijksmuseum", "")


@pytest.mark.parametrize("wrong", ["ftp://host/x", "no url", "http://?key=1", "http://[::1"])
def test_a_url_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError) as refused:
        SearchLinks(wrong)
    assert wrong not in str(refused.value)
    with pytest.raises(UsageError, match="one result at least"):
        SearchLinks("http://host/x", most=0)
