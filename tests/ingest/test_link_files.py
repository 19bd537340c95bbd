"""Gold links and predictions in all the forms they come in."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.ingest.linked.link_files import LinkReading, read_gold_links, read_predicted_links


def gold(source, **how):
    reading = LinkReading(**how)
    links = read_gold_links(source, reading)
    assert reading.problems == []
    return links


def predicted(source, **how):
    reading = LinkReading(**how)
    links = read_predicted_links(source, reading)
    assert reading.problems == []
    return links


def faults(source, read=read_gold_links):
    reading = LinkReading()
    read(source, reading)
    return reading.problems


def written(tmp_path, text, name="links"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def plain(links):
    return [(str(link.key), {kb: sorted(ids) for kb, ids in link.ids.items()}) for link in links]


def test_the_shape_of_the_dataset(tmp_path):
    records = [
        {
            "mention": "Rijksmuseum",
            "context": "Het Rijksmuseum",
            "gold_wikidata": "Q190804",
            "gold_viaf": 159624082,
            "gold_isil": "NL-AmRM",
        },
        {"mention": "De Zaal", "context": "", "gold_wikidata": None, "gold_viaf": "NIL"},
    ]
    expected = [
        ("De Zaal", {}),
        ("Rijksmuseum", {"isil": ["NL-AMRM"], "viaf": ["159624082"], "wikidata": ["Q190804"]}),
    ]
    lines = "\n".join(map(json.dumps, records))
    for text in (json.dumps(records), lines):
        links = gold(written(tmp_path, text)).links
        assert plain(links) == expected
        assert links[0].nil and not links[1].nil
    assert plain(gold(records).links) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"wikidata_id": "Q1"},
        {"ids": {"wikidata": ["q1"]}},
        {"ids": ["http://www.wikidata.org/entity/Q1"]},
        {"gold": "Q1"},
        {"gold_id": "wikidata:Q1"},
        {"qid": "Q1"},
        {"gold_wikidata": "Q1", "wikidata_id": "Q2"},
    ],
)
def test_gold_ids_under_many_names(fields):
    (link,) = gold([{"id": "m", "mention": "M", **fields}]).links
    assert plain([link]) == [("m", {"wikidata": ["Q1"]})]


def test_a_place_an_id_and_words_give_the_key():
    links = gold(
        [
            {"doc": "d", "start": 2, "end": 5, "mention": "x", "qid": "Q1", "id": "own"},
            {"id": 7, "mention": "x", "qid": "Q1"},
            {"doc_id": "d", "mention": "x", "qid": "Q1"},
            {"mention": "x", "qid": "Q1"},
        ]
    ).links
    assert {str(link.key) for link in links} == {"d:2–5", "7", "d: x", "x"}
    assert {link.unit for link in links} == {"d", "7", "x"}


def test_an_annotated_text_keeps_the_places_it_counts_tokens_with():
    record = {
        "doc_id": "d",
        "text": "Mr. Viotti played",
        "tokens": ["Mr.", "Viotti", "played"],
        "entities": [{"start": 1, "end": 2, "type": "person", "qid": "NIL"}],
    }
    found = gold([record, {"doc_id": "e", "text": "none", "entities": []}])
    (link,) = found.links
    assert (str(link.key), link.mention, link.type, link.nil) == ("d:1–2", "Viotti", "person", True)
    assert list(found.documents) == ["d", "e"]


def test_entities_that_say_nothing_of_a_link():
    record = {"id": "d", "text": "abc", "entities": [{"start": 0, "end": 2, "type": "X"}]}
    reading = LinkReading()
    assert read_gold_links([record], reading).links == ()
    assert reading.findings.counts == {"unlinked_entity": 1}
    (said,) = predicted([record])
    assert (said.candidates, said.said_nil, said.linked) == ((), False, False)


HERITAGE = {
    "id": "h",
    "text": "Het Archief en het Archief in 1800.",
    "ner_annotations": [
        {"text": "Archief", "type": "GRP.HER.ARC", "start": 4, "end": 11},
        {"text": "Archief", "type": "GRP.HER.ARC", "start": 19, "end": 26},
        {"text": "1800", "type": "TMP", "start": 28, "end": 32},
    ],
    "entity_linking": {
        "Archief": {"wikidata_id": "Q1", "viaf_id": None},
        "de zaal": {"wikidata_id": None},
    },
}


def test_a_heritage_entry_gives_a_link_for_each_place_of_a_mention():
    reading = LinkReading()
    links = read_gold_links([HERITAGE], reading).links
    assert plain(links) == [
        ("h:4–11", {"wikidata": ["Q1"]}),
        ("h:19–26", {"wikidata": ["Q1"]}),
        ("h: de zaal", {}),
    ]
    assert reading.findings.counts == {"misplaced_span": 1}


def test_neleval_rows_have_inclusive_ends(tmp_path):
    text = "d1\t0\t4\tQ1\t0.9\tPER\nd1\t10\t12\tNIL042\nd2\t3\t3\tQ2\t\tLOC\r\n"
    path = written(tmp_path, text)
    assert plain(gold(path).links) == [
        ("d1:0–5", {"wikidata": ["Q1"]}), ("d1:10–13", {}), ("d2:3–4", {"wikidata": ["Q2"]}),
    ]  # fmt: skip
    first, second, _ = predicted(path)
    assert (first.candidates[0].id, first.candidates[0].score) == ("Q1", 0.9)
    assert second.said_nil


def test_neleval_rows_with_several_candidates(tmp_path):
    text = "d1\t0\t4\tQ1\t0.2\tPER\tQ2\t0.7\tPER\n"
    (said,) = predicted(written(tmp_path, text))
    assert [one.id for one in said.candidates] == ["Q2", "Q1"]


def test_tac_rows(tmp_path):
    text = "run\tm1\tVienna\td1:5-10\tNIL0003\tGPE\tNAM\t1.0\n"
    (said,) = predicted(written(tmp_path, text))
    assert (str(said.key), said.mention, said.said_nil) == ("d1:5–11", "Vienna", True)


def test_a_table_with_a_header_is_half_open(tmp_path):
    header = "doc\tstart\tend\tmention\tid\ttype\tstrata.country\n"
    text = f"{header}d\t0\t4\tJohn\tQ1\tPER\tNL\nd\t5\t6\t\t\t\t\n"
    first, second = gold(written(tmp_path, text)).links
    assert (str(first.key), first.type, first.strata) == ("d:0–4", "PER", {"country": "NL"})
    assert (str(second.key), second.nil, second.type) == ("d:5–6", True, None)


def test_rows_with_ranks_are_the_candidates_of_one_mention(tmp_path):
    text = "doc,start,end,id,rank\nd,0,4,Q2,2\nd,0,4,Q1,1\nd,7,9,NIL,1\n"
    first, second = predicted(written(tmp_path, text))
    assert [one.id for one in first.candidates] == ["Q1", "Q2"]
    assert second.said_nil
    problems = faults(written(tmp_path, text + "d,0,4,Q3,1\n"), read_predicted_links)
    assert len(problems) == 1 and "rank: 1 is at" in problems[0]


@pytest.mark.parametrize(
    ("answer", "ids", "nil"),
    [
        ({"candidates": ["Q1", "Q2"]}, ["Q1", "Q2"], False),
        ({"candidates": [{"id": "Q1", "score": 1}, {"id": "Q2", "score": 2}]}, ["Q2", "Q1"], False),
        ({"candidates": [["Q1", 0.1], ["Q2", 0.2]]}, ["Q2", "Q1"], False),
        ({"candidates": []}, [], True),
        ({"candidates": None}, [], True),
        ({"nil": True}, [], True),
        ({"nil": False}, [], False),
        ({"prediction": "Q1|Q2"}, ["Q1", "Q2"], False),
        ({"prediction": {"id": "Q1", "score": 0.5}}, ["Q1"], False),
        ({"wikidata_id": ["Q1", "Q2"]}, ["Q1", "Q2"], False),
        ({"wikidata_id": "Q1", "viaf_id": "5"}, ["Q1"], False),
        ({"wikidata_id": None, "viaf_id": ""}, [], True),
        ({"wikidata_id": None, "candidates": ["Q1"]}, ["Q1"], False),
        ({"gold_wikidata": "Q9", "candidates": ["Q1"]}, ["Q1"], False),
        ({"candidates": ["Q1", "NIL", "Q2"]}, ["Q1", "NIL", "Q2"], False),
    ],
)
def test_predictions_under_many_names(answer, ids, nil):
    (said,) = predicted([{"id": "m", **answer}])
    assert [one.id for one in said.candidates] == ids
    assert said.said_nil is nil


def test_ids_beside_the_candidates_belong_to_the_first():
    record = {"id": "m", "candidates": ["Q1", "Q2"], "viaf_id": ["5", "6"]}
    (said,) = predicted([record])
    assert said.ids == {"viaf": {"5", "6"}, "wikidata": {"Q1"}}
    problems = faults([{**record, "wikidata_id": "Q2"}], read_predicted_links)
    assert problems == [
        'predicted: item 1: candidates: begin with "Q1", but the id beside them is "Q2"; '
        "leave one out"
    ]


def test_ids_that_tell_no_knowledge_base_belong_to_the_one_that_decides():
    (link,) = gold([{"id": "m", "mention": "M", "gold": "Den_Haag"}], bare="dbpedia").links
    assert plain([link]) == [("m", {"dbpedia": ["Den_Haag"]})]


@pytest.mark.parametrize(
    ("record", "fact"),
    [
        ({"mention": "x"}, "gold: missing"),
        ({"qid": "Q1"}, "mention: missing"),
        ({"mention": "x", "start": 1, "end": 2, "qid": "Q1"}, "doc: missing"),
        ({"doc": "d", "start": 1, "qid": "Q1"}, "end: missing"),
        ({"doc": "d", "start": 4, "end": 4, "qid": "Q1"}, "end: 4–4 holds nothing"),
        ({"doc": "d", "start": 1.5, "end": 4, "qid": "Q1"}, "start: expected a whole number"),
        ({"id": "m", "wikidata_id": "viaf:1"}, "is an id of viaf, not of wikidata"),
        ({"id": "m", "ids": {"wikidata": [True]}}, "ids.wikidata[0]: expected an id"),
        ({"id": "m", "mention": 5, "qid": "Q1"}, "mention: expected text"),
        ("Q1", "record: expected an object"),
    ],
)
def test_what_is_wrong_with_a_record_is_told(record, fact):
    problems = faults([record])
    assert len(problems) == 1 and fact in problems[0], problems


def test_an_id_of_its_own_is_not_taken_for_a_link():
    assert "gold: missing" in faults([{"id": "m1", "doc": "d", "start": 0, "end": 2}])[0]
    (link,) = gold([{"id": "Q1", "doc": "d", "start": 0, "end": 2}]).links
    assert plain([link]) == [("d:0–2", {"wikidata": ["Q1"]})]


def test_gold_that_names_a_mention_or_a_document_twice(tmp_path):
    path = written(tmp_path, "d\t0\t4\tQ1\nd\t0\t4\tQ2\n")
    assert faults(path) == [f'{path}:2: mention: "d:0–5" is at {path}:1 already; keep one']
    assert "is in the file already" in faults([HERITAGE, HERITAGE])[0]


def test_all_the_faults_of_a_file_are_told(tmp_path):
    path = written(tmp_path, '{"mention": "x"}\n{bad\n{"id": "a", "qid": "Q"}\n', "x.jsonl")
    places = [problem.split(": ")[0] for problem in faults(path)]
    assert sorted(places) == [f"{path}:{line}" for line in (1, 2, 3)]


def test_the_format_can_be_named(tmp_path):
    path = written(tmp_path, "doc\t1\t2\tQ1\n")
    assert plain(gold(path, input_format="neleval").links) == [("doc:1–3", {"wikidata": ["Q1"]})]
    with pytest.raises(UsageError, match="json, jsonl, tsv, csv, neleval"):
        gold(path, input_format="nif")


ids = st.sampled_from(["Q1", "Q2", "NIL", "viaf:5", "NL-AmRM", "Den_Haag"])


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9), ids), unique_by=lambda r: r[:2]))
def test_rows_and_records_are_read_alike(rows):
    records = [{"doc": "d", "start": s, "end": s + n, "gold": id} for s, n, id in rows]
    reading = LinkReading()
    from_records = read_gold_links(records, reading)
    table = "doc\tstart\tend\tid\n" + "".join(f"d\t{s}\t{s + n}\t{id}\n" for s, n, id in rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gold.tsv"
        path.write_text(table)
        from_rows = read_gold_links(path, reading)
    assert plain(from_records.links) == plain(from_rows.links)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("id", "score", "start", "end", "qid", "text")), inner)
    ),
    max_leaves=8,
)
FIELDS = (
    "id doc start end mention context type strata wikidata_id ids candidates prediction nil score "
    "gold entities entity_linking text"
)
names = st.sampled_from(FIELDS.split())


@given(st.lists(st.dictionaries(names, json_values, max_size=6), max_size=3))
def test_no_record_raises(records):
    for read in (read_gold_links, read_predicted_links):
        reading = LinkReading()
        read(records, reading)
        assert all(": " in problem for problem in reading.problems)


def test_predictions_may_be_named_after_the_knowledge_base(tmp_path):
    file = tmp_path / "predicted.jsonl"
    file.write_text(
        '{"mention": "a", "predicted_wikidata": "Q1"}\n'
        '{"mention": "b", "pred_wikidata": null}\n'
        '{"mention": "c", "pred_id": "Q2"}\n'
    )
    reading = LinkReading()
    read = read_predicted_links(str(file), reading)
    assert reading.problems == []
    assert [[one.id for one in link.candidates] for link in read] == [["Q1"], [], ["Q2"]]
    assert [link.said_nil for link in read] == [False, True, False]


def test_gold_and_predictions_in_one_record_with_their_own_nil():
    records = [
        {"id": "a", "gold_kb_id": "Q1", "pred_kb_id": "Q2", "is_nil_gold": False},
        {"id": "b", "gold_kb_id": None, "is_nil_gold": True, "is_nil_pred": True},
    ]
    assert plain(gold(records).links) == [("a", {"wikidata": ["Q1"]}), ("b", {})]
    assert [(link.linked, link.said_nil) for link in predicted(records)] == [
        (True, False),
        (False, True),
    ]
    contrary = [{"id": "a", "gold_kb_id": "Q1", "is_nil_gold": True}]
    fact = "is_nil_gold: is true, and there is an id; leave one out"
    assert faults(contrary) == [f"gold: item 1: {fact}"]


def test_columns_in_any_case_mapped_ones_and_those_nobody_reads(tmp_path):
    path = written(tmp_path, "Doc,Start,End,Target,Wikidta\nd,0,4,Q1,x\n", "links.csv")
    reading = LinkReading()
    (link,) = read_gold_links(path, reading, columns={"gold": "target"}).links
    assert plain([link]) == [("d:0–4", {"wikidata": ["Q1"]})]
    assert reading.findings.counts == {"unread_columns": 1}
    (finding,) = reading.findings.kept()
    assert "Wikidta (did you mean wikidata?)" in finding.message
