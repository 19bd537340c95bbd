"""The bundled annotations: that they are what they say."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.components import ANNOTATED, CROSSWALK, KNOWLEDGE_BASE, QRELS, sections
from ragauge.ingest.gold import read_gold
from ragauge.ingest.heritage import ENTITY_TYPES, misplaced, read_entries
from ragauge.ingest.heritage_dataset import ANSWER_TYPES
from ragauge.ingest.label_sets import read_label_set
from ragauge.ingest.linked.crosswalk import read_crosswalk
from ragauge.ingest.linked.knowledge_base import BASES, known_entities

STRATA = {"language", "country", "custodian_type", "data_tier", "source_type"}


@pytest.fixture(scope="module")
def entries():
    problems: list[str] = []
    found = read_entries(str(ANNOTATED), problems)
    assert problems == []
    return found


@pytest.fixture(scope="module")
def known():
    return known_entities(str(KNOWLEDGE_BASE))


@pytest.fixture(scope="module")
def judged():
    lines = QRELS.read_text("utf-8").splitlines()
    return [(query, document, int(grade)) for query, _, document, grade in map(str.split, lines)]


def test_every_entity_stands_where_it_is_said_to(entries):
    assert [finding for entry in entries for finding in misplaced(entry)] == []


def test_entities_of_an_entry_do_not_overlap(entries):
    for entry in entries:
        places = sorted((one.start, one.end) for one in entry.mentions)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(places))


def test_there_are_enough_in_each_language(entries):
    counts = Counter(entry.strata["language"] for entry in entries)
    assert set(counts) == {"nl", "en", "de", "fr"}
    assert min(counts.values()) >= 14 and sum(counts.values()) >= 64


def test_strata_are_filled(entries):
    assert {frozenset(entry.strata) for entry in entries} == {frozenset(STRATA)}
    assert all(entry.id.startswith(entry.strata["language"]) for entry in entries)
    assert all(re.fullmatch("[A-Z]{2}", entry.strata["country"]) for entry in entries)


def test_types_are_of_the_sets(entries):
    letters = {*read_label_set("heritage").labels}
    assert {one.type for entry in entries for one in entry.mentions} == {*ENTITY_TYPES}
    given = {letter for entry in entries for letter in (entry.primary_type, *entry.secondary_types)}
    assert given <= letters and len(given) > 12
    assert all(entry.primary_type not in entry.secondary_types for entry in entries)


def test_about_one_in_seven_mentions_is_nowhere_known(entries):
    links = [ids for entry in entries for ids in entry.links.values()]
    nil = sum(not any(ids.values()) for ids in links)
    assert 0.10 <= nil / len(links) <= 0.20


def test_every_linked_mention_is_an_entity_of_its_text(entries):
    for entry in entries:
        marked = Counter(one.text for one in entry.mentions)
        assert all(marked[mention] == 1 for mention in entry.links), entry.id


def test_the_knowledge_base_has_every_id_and_no_nil(entries, known):
    there = {(base, id) for entity in known for base, id in entity.ids.items()}
    names = {name.casefold() for entity in known for name in entity.names}
    for entry in entries:
        for mention, ids in entry.links.items():
            given = {(BASES[field], id) for field, id in ids.items() if id}
            assert given <= there, (entry.id, mention)
            assert given or mention.casefold() not in names, (entry.id, mention)


def test_ids_are_unique_and_written_as_they_should_be(entries, known):
    assert len({entry.id for entry in entries}) == len(entries)
    for base in ("wikidata", "viaf", "isil"):
        ids = [entity.ids[base] for entity in known if base in entity.ids]
        assert len(set(ids)) == len(ids)
    assert all(
        re.fullmatch(r"Q[1-9]\d*", entity.ids["wikidata"])
        for entity in known
        if "wikidata" in entity.ids
    )


def test_names_are_shared_by_several_entities(known):
    shared = Counter(name for entity in known for name in entity.names)
    assert shared["Nationaal Archief"] == 3 and shared["Rijksarchief"] == 2
    assert sum(times > 1 for times in shared.values()) >= 8


def test_the_crosswalk_says_what_the_knowledge_base_does(known):
    problems: list[str] = []
    pairs = {(pair.one, pair.other) for pair in read_crosswalk(CROSSWALK, problems)}
    assert problems == []
    several = [
        {(base, id if base != "isil" else id.upper()) for base, id in entity.ids.items()}
        for entity in known
        if len(entity.ids) > 1
    ]
    assert pairs == {(one, other) for ids in several for one in ids for other in ids if one < other}


def test_questions_have_their_answer_types_and_facts_in_the_text(entries):
    pairs = [(entry, pair) for entry in entries for pair in entry.pairs]
    assert {pair.answer_type for _, pair in pairs} == {*ANSWER_TYPES}
    assert len(pairs) >= 30
    for entry, pair in pairs:
        assert all(fact in entry.text for fact in pair.supporting_facts), pair.question


def test_judgements_are_about_sections_and_questions_there_are(judged):
    questions = {one.qid: one for one in read_gold(str(GOLD))}
    assert {document for _, document, _ in judged} <= {*sections()}
    assert {query for query, _, _ in judged} == {
        qid for qid, one in questions.items() if one.answerable
    }
    assert len({query for query, _, _ in judged}) >= 40
    assert {grade for _, _, grade in judged} == {0, 1, 2, 3}
    assert len({(query, document) for query, document, _ in judged}) == len(judged)


def test_what_answers_a_question_is_graded_highest(judged):
    best = {(query, document) for query, document, grade in judged if grade == 3}
    cited = {(one.qid, id) for one in read_gold(str(GOLD)) for id in one.gold_citations}
    assert best == cited


def test_sections_carry_their_title():
    assert sections()["rijksmuseum#history"].startswith("Rijksmuseum\nThe Rijksmuseum began")
    assert len(sections()) > len(list(DOCUMENTS.glob("*.md")))
