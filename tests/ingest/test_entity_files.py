"""Any file of annotated texts: its form is told, its offsets are checked, nothing is silent."""

import gzip
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.errors import UsageError
from ragauge.ingest.annotated.entity_files import FORMS, entities_of, read_entities
from ragauge.ingest.annotated.entity_writing import written
from tests.components.shared_data import shared
from tests.ingest.annotated import (
    again,
    entities_in,
    marked_texts,
    problems_of,
    read,
    read_text,
    spans,
)

SENTENCE = (
    "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800 en beheert de grootste "
    "collectie Nederlandse kunst."
)


def entry(places=((60, 64), (98, 109)), **fields):
    (a, b), (c, d) = places
    return {
        "id": "e1",
        "text": SENTENCE,
        "ner_annotations": [
            {"text": "Rijksmuseum Amsterdam", "type": "GRP.HER.MUS", "start": 4, "end": 25},
            {"text": "1800", "type": "TMP", "start": a, "end": b},
            {"text": "Nederlandse", "type": "TOP", "start": c, "end": d},
        ],
        **fields,
    }


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def document(text, *entities, **fields):
    return {"id": "d", "text": text, "entities": list(entities), **fields}


def span(start, end, text=None, **fields):
    return {"start": start, "end": end, "type": "X", **fields} | ({"text": text} if text else {})


def test_the_offsets_of_a_widespread_copy_are_caught(tmp_path):
    content = lines(entry(((58, 62), (93, 104))))
    found = read_text(tmp_path, content)
    where = f"{tmp_path / 'given.txt'}:1: ner_annotations"
    assert [(one.code, one.where, one.message) for one in found.findings] == [
        (
            "misplaced_span",
            f"{where}[1]",
            '"1800" is at 60–64, not at 58–62, which holds "n 18"',
        ),
        (
            "misplaced_span",
            f"{where}[2]",
            '"Nederlandse" is at 98–109, not at 93–104, which holds "ctie Nederl"',
        ),
    ]
    moved = read_text(tmp_path, content, reanchor=True)
    assert spans(moved.documents[0])[1:] == [(60, 64, "TMP"), (98, 109, "TOP")]
    assert moved.reanchored == 2
    assert [one.code for one in moved.findings] == ["misplaced_span"] * 2
    assert read_text(tmp_path, lines(entry())).findings == []


def test_a_heritage_entry_brings_its_links(tmp_path):
    linking = {
        "Rijksmuseum Amsterdam": {"wikidata_id": "Q190804", "isil_code": "NL-AmRM"},
        "1800": {"wikidata_id": None, "viaf_id": "NIL"},
    }
    [one] = read_text(
        tmp_path, lines(entry(entity_linking=linking, strata={"language": "nl"}))
    ).documents
    assert [entity.links for entity in one.entities] == [("Q190804", "NL-AmRM"), (), None]
    assert one.strata == {"language": "nl"}


def test_an_entry_of_another_task_has_no_entities_to_find(tmp_path):
    other = {"id": "e2", "text": "x", "type_classification": {"primary_type": "GRP.HER.MUS"}}
    found = read_text(tmp_path, lines(entry(), other))
    assert [one.id for one in found.documents] == ["e1"]
    assert [one.code for one in found.findings] == ["not_annotated"]


def test_token_offsets_of_real_data():
    found = read(shared("mhercl/mhercl.jsonl"))
    assert (found.form, len(found.documents)) == ("records", 462)
    assert sum(len(one.entities) for one in found.documents) == 1219
    by_id = {one.id: one for one in found.documents}
    one = by_id["TheHarmonicon__1824-016.txt_50"]
    assert [(one.text[at.start : at.end], at.type, at.links) for at in one.entities] == [
        ("Mr. Viotti", "person", ("Q313188",)),
        ("King’s Theatre", "building", ("Q1155331",)),
    ]
    nil = [entity for one in found.documents for entity in one.entities if entity.links == ()]
    assert len(nil) == 371
    assert {finding.code for finding in found.findings} == {"tokens_differ_from_text"}
    assert len(found.findings) == 4


TOKENS = {
    "counted": ({"tokens": ["De", "Ede"]}, span(1, 2), {}, (4, 7)),
    "no text": ({"tokens": ["De", "Ede"], "text": None}, span(1, 2), {}, (3, 6)),
    "surface": ({"tokens": ["De", "Ede"]}, span(4, 7, "Ede"), {}, (4, 7)),
    "characters": ({"tokens": ["De", "Ede"]}, span(4, 7), {"offsets": "characters"}, (4, 7)),
    "places": ({"tokens": [[0, 2], [4, 7]]}, span(4, 7), {}, (4, 7)),
}


@pytest.mark.parametrize(("fields", "given", "options", "place"), TOKENS.values(), ids=TOKENS)
def test_what_start_and_end_count(tmp_path, fields, given, options, place):
    [one] = read_text(tmp_path, lines(document("De  Ede", given) | fields), **options).documents
    assert [(entity.start, entity.end) for entity in one.entities] == [place]
    assert len(one.tokens) == 2


def test_other_names_for_the_same_fields(tmp_path):
    record = {"doc_id": 7, "text": "Ede", "spans": [{"start": 0, "end": 3, "label": "TOP"}]}
    [one] = read_text(tmp_path, json.dumps([record])).documents
    assert (one.id, spans(one)) == ("7", [(0, 3, "TOP")])


def test_a_surface_in_another_unicode_form_is_named_as_such(tmp_path):
    composed, apart = (unicodedata.normalize(form, "Curaçao") for form in ("NFC", "NFD"))
    found = read_text(tmp_path, lines(document(f"op {apart}", span(3, 11, composed))))
    [finding] = found.findings
    assert finding.code == "unicode_form"
    assert finding.message.endswith("is written there in another Unicode form, NFD")
    assert found.documents[0].entities[0].text == apart
    shifted = read_text(
        tmp_path, lines(document(f"op {apart}", span(0, 7, composed))), reanchor=True
    )
    assert (spans(shifted.documents[0]), shifted.reanchored) == ([(3, 11, "X")], 1)
    assert "in another Unicode form, NFD" in shifted.findings[0].message


def test_a_surface_that_is_nowhere_stays_and_is_told(tmp_path):
    found = read_text(tmp_path, lines(document("Ede", span(0, 2, "Epe"))), reanchor=True)
    assert (spans(found.documents[0]), found.reanchored) == ([(0, 2, "X")], 0)
    assert '"Epe" is nowhere in the text' in found.findings[0].message


def test_everything_wrong_is_told_with_its_place(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(
        lines(
            document("Ede", span(2, 2), span(-1, 2), span(1, 9), {"start": 0, "end": 1}),
            document("Ede", span("0", 1), span(0, 1.5)) | {"id": "d2"},
            document("Ede", span(0, 2)) | {"id": "t", "tokens": ["Ede"]},
            {"id": "n", "text": "Ede"},
            [1],
            document("Ede", span(0, 3)) | {"id": "t2"},
            document("Ede") | {"id": "t2"},
        )
        + "{]\n"
    )
    assert problems_of(file) == [
        f"{file}:1: entities[3].type: missing",
        f"{file}:2: entities[0].start: expected a whole number, got text",
        f"{file}:2: entities[1].end: expected a whole number, got 1.5",
        f"{file}:3: entities[0]: goes from token 0 to 2, and there are 1",
        f"{file}:4: entities: missing, as are spans and ner_annotations; write [] where there is "
        "none",
        f"{file}:5: record: expected an object, got a list",
        f'{file}:7: id: "t2" stands at {file}:6 already; keep one',
        f"{file}:8: not JSON: expecting property name enclosed in double quotes at column 2",
    ]
    file.write_text(lines(document("Ede", span(2, 2), span(-1, 2), span(1, 9))))
    assert problems_of(file) == [
        f"{file}:1: entities[0]: goes from 2 to 2; a span has 0 <= start < end",
        f"{file}:1: entities[1]: goes from -1 to 2; a span has 0 <= start < end",
        f"{file}:1: entities[2]: ends at 9, past the text of 3 characters",
    ]


def test_records_at_hand():
    problems = []
    found = entities_of([entry(), document("Ede", span(0, 9))], problems=problems, name="gold")
    assert [one.id for one in found.documents] == ["e1", "d"]
    assert problems == ["gold 2: entities[0]: ends at 9, past the text of 3 characters"]


HIPE = "TOKEN\tNE-COARSE-LIT\nEde\tB-X\n"
CONLLU = "\t".join(["1", "Ede", *"_______", "NER=B-X"]) + "\n"
KINDS = {
    "records": lines(document("Ede", span(0, 3))),
    "iob1": "a I-X\nb B-X\n",
    "iob2": "Ede B-X\n",
    "bioes": "Ede S-X\n",
    "bilou": "Ede U-X\n",
    "conll2003": "-DOCSTART- -X- O O\n\nEde NNP B-NP B-X\n",
    "conllu": CONLLU,
    "hipe": HIPE,
    "spans": "d\t0\t3\tX\n",
}


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize("name", ["plain", "misleading.jsonl", "misleading.tsv"])
def test_the_form_is_told_from_the_content(tmp_path, form, name):
    found = read_text(tmp_path, KINDS[form], name)
    assert found.form == form
    assert {one.type for document in found.documents for one in document.entities} == {"X"}
    packed = b"\xef\xbb\xbf" + KINDS[form].replace("\n", "\r\n").encode()
    same = read_text(tmp_path, gzip.compress(packed), name)
    assert [(one.id, one.text, spans(one)) for one in same.documents] == [
        (one.id, one.text, spans(one)) for one in found.documents
    ]


@pytest.mark.parametrize("content", ["[ O\n{ B-X\n", '{ O\n" B-X\n'])
def test_brackets_may_be_tokens(tmp_path, content):
    assert read_text(tmp_path, content).form == "iob2"


def test_what_fits_no_form_is_told_what_was_looked_at(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("Once upon a time\n")
    [problem] = problems_of(file)
    assert problem.startswith(
        f'{file}: no known format: the first line is "Once upon a time"; name the input format'
    )
    assert all(f"{form} (" in problem for form in FORMS)
    file.write_text("\n")
    assert problems_of(file) == [f"{file}: is empty"]
    file.write_text("[]")
    assert problems_of(file) == [f"{file}: holds no document"]


def test_options_that_do_not_exist(tmp_path):
    with pytest.raises(UsageError, match="is none of records, brat"):
        read_entities(tmp_path, problems=[], input_format="xml")
    with pytest.raises(UsageError, match="is none of repair, strict"):
        entities_in(tmp_path, [], scheme="loose")
    with pytest.raises(UsageError, match="only brat has folders"):
        read_entities(tmp_path, problems=[], input_format="iob2")
    with pytest.raises(UsageError, match="no such file"):
        read_entities(tmp_path / "none", problems=[])


def test_a_table_of_spans(tmp_path):
    content = (
        "end\tstart\tdoc_id\tlabel\tmention\tqid\n3\t0\ta\tTOP\tEde\tQ1|Q2\n"
        "9\t5\tb\tTMP\t1800\tNIL\n\t\tc\t\t\t\n9\t6\ta\tX\t\t\n"
    )
    found = read_text(tmp_path, content)
    assert [(one.id, one.text, spans(one)) for one in found.documents] == [
        ("a", None, [(0, 3, "TOP"), (6, 9, "X")]),
        ("b", None, [(5, 9, "TMP")]),
        ("c", None, []),
    ]
    assert [one.links for one in found.documents[0].entities] == [("Q1", "Q2"), None]
    assert found.documents[1].entities[0].links == ()


@pytest.mark.parametrize("written", ["NIL", "nil0042", "-", "_", "--NME--", "none", "null"])
def test_nil_is_written_as_links_are_elsewhere(tmp_path, written):
    record = document("a b", span(0, 1, qid=written), span(2, 3, links=[written]))
    in_records = read_text(tmp_path, lines(record)).documents[0].entities
    linked = entry(entity_linking={"1800": {"wikidata_id": written, "viaf_id": None}})
    in_entry = read_text(tmp_path, lines(linked)).documents[0].entities[1:2]
    row = f"doc\tstart\tend\ttype\ttext\tlink\nd\t0\t1\tX\ta\t{written}\n"
    in_table = read_text(tmp_path, row).documents[0].entities
    assert [one.links for one in (*in_records, *in_entry, *in_table)] == [()] * 4


NELEVAL = "d\t0\t2\tQ1\t0.9\tTOP\nd\t4\t4\tNIL003\t1\tPER\n"


def test_an_id_that_begins_like_nil_is_an_id(tmp_path):
    content = "d\t0\t2\tNile\t1\tTOP\n"
    [one] = read_text(tmp_path, content, input_format="neleval").documents
    assert one.entities[0].links == ("Nile",)


def test_ends_of_neleval_are_inclusive(tmp_path):
    [one] = read_text(tmp_path, NELEVAL, input_format="neleval").documents
    assert spans(one) == [(0, 3, "TOP"), (4, 5, "PER")]
    assert [entity.links for entity in one.entities] == [("Q1",), ()]
    [problem] = problems_of(tmp_path / "given.txt")
    assert "looks like neleval, whose ends are inclusive" in problem


def test_broken_tables_are_told(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("d\t0\t3\tX\nd\tx\t3\tX\nd\t5\t5\tX\nd\t5\n\t0\t1\tX\nd\t0\t1\tX\ta\tb\tc\n")
    assert problems_of(file) == [
        f"{file}:4: end and type: missing",
        f"{file}:5: doc: is empty",
        f"{file}:6: has 7 columns, and there are 6: doc, start, end, type, text, link",
        f'{file}:2: start: expected a whole number, got "x"',
        f"{file}:3: goes from 5 to 5; a span has 0 <= start < end",
    ]
    file.write_text("d\t0\t3\n")
    [problem] = problems_of(file, input_format="neleval")
    assert problem.startswith(f"{file}:1: has 3 columns; neleval has document, start, end, id")


@given(marked_texts())
def test_records_hold_everything(tmp_path, one):
    notes = {"d1": ("A1\tNegation T1",)}
    found = again([one], "records", tmp_path, notes)
    [back] = found.documents
    assert (back.id, back.text, back.entities) == (one.id, one.text, one.entities)
    assert (found.notes, found.findings) == (notes, [])


def test_every_field_of_a_document_is_written():
    entity = Entity(start=0, end=1, type="X", text="E", layer="L", links=(), id="7")
    one = AnnotatedText(
        id="d", text="Ede", tokens=((0, 3),), entities=(entity,), strata={"a": 1}, where="w"
    )
    assert json.loads(written([one], "records", problems=[])) == {
        "id": "d",
        "text": "Ede",
        "tokens": [[0, 3]],
        "entities": [
            {"start": 0, "end": 1, "type": "X", "text": "E", "layer": "L", "links": [], "id": "7"}
        ],
        "strata": {"a": 1},
    }
    with pytest.raises(UsageError, match="none that is written: records, brat, hipe, iob1"):
        written([one], "neleval", problems=[])


PIECES = st.sampled_from(
    [
        *("\t", "\n", " ", "O", "B-X", "I-X", "E-X", "#", "# doc_id = a", "-DOCSTART-", "TOKEN"),
        *("NE-COARSE-LIT", "MISC", "1", "1-2", "1.1", "9", "T1", "N1\tReference T1 W:Q1", ";"),
        *("NER=B-X", "Entity=(e1-x", "e1)", "_", '"', '{"id": 1, "entities": [', "{", "}", "]"),
        *('"start": 0, "end": 1, "type": "x"', "\r", "é", "\ufeff", "|", "NIL"),
    ]
)


@pytest.mark.parametrize("form", [None, *FORMS])
@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_a_file_holds_is_read_or_told(tmp_path, form, content):
    (tmp_path / "a.txt").write_text("é a b")
    file = tmp_path / "a.ann"
    file.write_text(content, newline="")
    problems = []
    found = read_entities(file, problems=problems, input_format=form)
    assert found.documents or problems
    assert all(str(tmp_path) in problem for problem in problems)
    for one in found.documents:
        for entity in one.entities:
            assert 0 <= entity.start < entity.end <= len(one.text or " " * entity.end)
