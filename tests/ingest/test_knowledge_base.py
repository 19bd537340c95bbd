"""Knowledge bases in files, and queries with their words."""

from __future__ import annotations

import pytest

from ragauge.errors import InputRejected
from ragauge.ingest.linked.knowledge_base import known_entities, read_knowledge_base
from ragauge.ingest.ranked.queries import read_queries


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "kb.jsonl"
        path.write_text(text, "utf-8")
        return str(path)

    return write


def test_an_entity_has_its_names_and_ids(file):
    line = (
        '{"id": "loc", "wikidata_id": "Q131454", "viaf_id": "151962300", "isil_code": "US-DLC", '
        '"ghcid": null, "names": ["Library of Congress", "LoC"], "type": "GRP.HER.LIB", '
        '"description": "a library", "ids": {"gnd": "1-2"}}'
    )
    (entity,) = known_entities(file(line))
    assert entity.names == ("Library of Congress", "LoC")
    assert entity.ids == {
        "wikidata": "Q131454",
        "viaf": "151962300",
        "isil": "US-DLC",
        "gnd": "1-2",
    }


def test_an_entity_that_only_the_file_knows_has_its_id_there(file):
    (entity,) = known_entities(file('{"id": "a", "names": ["Rijksarchief"]}'))
    assert entity.ids == {"local": "a"}


def test_all_that_is_wrong_is_said_with_its_place(file):
    name = file(
        '{"id": "a", "names": []}\n'
        '{"names": ["x"], "wikidata_id": "190804", "type": 3}\n'
        "[1]\n"
        '{"id": "b", "names": ["y", " "]}\n'
        '{"id": "c", "names": ["y"]}\n'
        '{"id": "c", "names": ["z"]}\n'
        "{\n"
    )
    problems: list[str] = []
    entities = read_knowledge_base(name, problems)
    assert [entity.id for entity in entities] == ["c"]
    assert [problem.removeprefix(name) for problem in problems[:7]] == [
        ":1: names: expected a list of texts; give its label, and aliases after it",
        ":2: id: missing; name the entity",
        ":2: type: expected text, got a number",
        ':2: wikidata_id: "190804" is no Wikidata id, such as Q190804',
        ":3: record: expected an object, got a list",
        ":4: names[1]: is empty",
        f':6: id: "c" is at {name}:5 already; keep one',
    ]
    assert len(problems) == 8 and problems[7].startswith(f"{name}:7: ")


def test_an_empty_file_is_refused(file):
    with pytest.raises(InputRejected, match="only empty lines"):
        known_entities(file("\n"))


def test_queries_come_from_gold_sets_tables_and_mappings(tmp_path):
    beir = tmp_path / "queries.jsonl"
    beir.write_text('{"_id": "1", "text": "Who?"}\n{"_id": 2, "text": "When?"}\n')
    table = tmp_path / "queries.tsv"
    table.write_text("query_id\ttext\n1\tWho?\n2\tWhen?\n")
    bare = tmp_path / "bare.tsv"
    bare.write_text("1\tWho?\n2\tWhen?\n")
    records = [{"qid": "1", "question": "Who?", "strata": {"language": "en"}}]
    problems: list[str] = []
    for source in (beir, table, bare, {"1": "Who?", "2": "When?"}):
        found = read_queries(source, problems)
        assert {id: query.words for id, query in found.items()} == {"1": "Who?", "2": "When?"}
    assert read_queries(records, problems)["1"].strata == {"language": "en"}
    assert problems == []


def test_bad_queries_are_named(tmp_path):
    file = tmp_path / "queries.jsonl"
    file.write_text('{"text": "Who?"}\n{"_id": "1"}\n{"_id": "1", "text": "a"}\n3\n')
    problems: list[str] = []
    assert list(read_queries(str(file), problems)) == ["1"]
    assert [problem.removeprefix(str(file)) for problem in problems] == [
        ":1: id: missing; the judgements name the query by it",
        ":2: text: missing; write what is asked",
        ":4: record: expected an object, got a number",
    ]
    twice: list[str] = []
    read_queries([{"id": "1", "text": "a"}, {"id": "1", "text": "b"}], twice)
    assert twice == ['queries: item 2: id: "1" is at queries: item 1 already; keep one']
