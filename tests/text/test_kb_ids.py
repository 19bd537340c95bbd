"""Ids in knowledge bases, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.kb_ids import OTHER, is_nil, kb_id, kb_name, names_kb


@pytest.mark.parametrize(
    "written",
    [
        "Q42",
        "q42",
        " Q42 ",
        "wd:Q42",
        "wikidata:Q42",
        "Wikidata: Q42",
        "http://www.wikidata.org/entity/Q42",
        "https://www.wikidata.org/wiki/Q42",
        "https://m.wikidata.org/wiki/Special:EntityPage/Q42#P31",
        "<http://www.wikidata.org/entity/Q42>",
        "//www.wikidata.org/entity/Q42?uselang=nl",
    ],
)
def test_a_wikidata_id(written):
    assert kb_id(written) == ("wikidata", "Q42")


@pytest.mark.parametrize(
    "written",
    ["123", "viaf:123", "VIAF: 123", "https://viaf.org/viaf/123/", "http://viaf.org/viaf/123"],
)
def test_a_viaf_id(written):
    assert kb_id(written) == ("viaf", "123")


@pytest.mark.parametrize(
    "written", ["NL-AmRM", "nl-amrm", "isil:NL-AmRM", "ISIL: NL-AmRM", "http://isil.nl/NL-AmRM"]
)
def test_an_isil(written):
    assert kb_id(written) == ("isil", "NL-AMRM")


def test_an_isil_without_a_country_is_dutch_where_the_field_says_isil():
    assert kb_id("AmRM", "isil") == ("isil", "NL-AMRM")
    assert kb_id("DE-1", "isil") == ("isil", "DE-1")
    assert kb_id("AmRM") == (OTHER, "AmRM")


def test_the_other_knowledge_bases():
    assert kb_id("NL-NH-AMS-M-RMA") == ("ghcid", "NL-NH-AMS-M-RMA")
    assert kb_id("http://dbpedia.org/resource/Den_Haag") == ("dbpedia", "Den_Haag")
    assert kb_id("Den Haag", "dbpedia") == ("dbpedia", "Den_Haag")
    assert kb_id("https://nl.wikipedia.org/wiki/Den_Haag") == ("wikipedia", "Den_Haag")
    assert kb_id("https://sws.geonames.org/2747373/") == ("geonames", "2747373")
    assert kb_id("https://d-nb.info/gnd/4011786-3") == ("gnd", "4011786-3")


def test_digits_belong_where_the_field_or_the_caller_says():
    assert kb_id("2747373", "geonames") == ("geonames", "2747373")
    assert kb_id("2747373", bare="geonames") == ("viaf", "2747373")
    assert kb_id("Den_Haag", bare="dbpedia") == ("dbpedia", "Den_Haag")


@pytest.mark.parametrize(
    ("written", "kb", "fact"),
    [
        ("Rijksmuseum", "wikidata", "is no Wikidata id"),
        ("Q1 Q2", "wikidata", "is no Wikidata id"),
        ("Q٤٢", "wikidata", "is no Wikidata id"),
        ("12a", "viaf", "digits only"),
        ("NL AmRM", "isil", "is no ISIL"),
        ("viaf:12", "wikidata", "is an id of viaf, not of wikidata"),
    ],
)
def test_errors_say_why_something_is_not_an_id(written, kb, fact):
    with pytest.raises(ValueError, match=fact):
        kb_id(written, kb)


def test_an_unknown_address_is_an_id_of_its_own():
    assert kb_id("https://example.org/things/9") == (OTHER, "https://example.org/things/9")
    assert kb_id("https://notwikidata.org.example/wiki/Q1")[0] == OTHER


@pytest.mark.parametrize(
    "written", ["", "  ", "NIL", "nil", "None", "null", "-", "NIL042", "NIL_7"]
)
def test_nil(written):
    assert is_nil(written)


@pytest.mark.parametrize("written", ["Q1", "Nilsson", "nile", "0", "nil-river", "--"])
def test_not_nil(written):
    assert not is_nil(written)


def test_names_of_knowledge_bases():
    assert [kb_name(name) for name in ("WD", "qid", "VIAF", "Atlas")] == [
        "wikidata", "wikidata", "viaf", "atlas",
    ]  # fmt: skip
    assert names_kb("viaf:1") and names_kb("Q1") and not names_kb("mention-7")


@given(st.text(max_size=20), st.sampled_from((None, "wikidata", "viaf", "isil", "dbpedia")))
def test_a_normal_id_stays_as_it_is(written, kb):
    try:
        base, id = kb_id(written, kb)
    except ValueError:
        return
    assert kb_id(id, base) == (base, id)
    assert id == id.strip()
