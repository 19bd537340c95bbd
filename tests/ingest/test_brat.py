"""BRAT's files: parts, links, notes, and offsets that were counted in another way."""

import gzip

import pytest
from hypothesis import given

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.ingest.annotated.entity_writing import written
from tests.ingest.annotated import again, marked_texts, problems_of, read, spans

TEXT = "Het Rijksmuseum in Amsterdam"
ANN = "T1\tORG 4 15\tRijksmuseum\nT2\tTOP 19 28\tAmsterdam\n"


def folder(path, text=TEXT, ann=ANN, name="a"):
    (path / f"{name}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    (path / f"{name}.ann").write_bytes(ann if isinstance(ann, bytes) else ann.encode())
    return path


def test_a_folder_and_a_single_file_hold_the_same(tmp_path):
    found = read(folder(tmp_path))
    assert found.form == "brat"
    assert [(one.id, one.text) for one in found.documents] == [("a", TEXT)]
    assert spans(found.documents[0]) == [(4, 15, "ORG"), (19, 28, "TOP")]
    assert read(tmp_path / "a.ann").documents[0].entities == found.documents[0].entities


def test_folders_within_are_part_of_the_id(tmp_path):
    (tmp_path / "b").mkdir()
    folder(tmp_path)
    folder(tmp_path / "b")
    assert [one.id for one in read(tmp_path).documents] == ["a", "b/a"]


def test_an_entity_may_be_of_several_parts(tmp_path):
    ann = "T1\tORG 4 9;19 28\tRijks Amsterdam\n"
    [entity] = read(folder(tmp_path, ann=ann)).documents[0].entities
    assert entity.fragments == ((4, 9), (19, 28))
    assert (entity.start, entity.end, entity.text) == (4, 28, "Rijks Amsterdam")


def test_links_and_other_lines(tmp_path):
    more = [
        "A1\tNegation T1",
        "R1\tin Arg1:T1 Arg2:T2",
        "E1\tORG:T1 Place:T2",
        "#1\tAnnotatorNotes T1\tsee the map",
        "*\tEquiv T1 T2",
    ]
    links = [
        "N1\tReference T1 Wikidata:Q190804\tRijksmuseum",
        "N2\tReference T1 VIAF:159624082\tRijksmuseum",
        "N3\tReference T2 Wikidata:NIL0042\tAmsterdam",
    ]
    found = read(folder(tmp_path, ann=ANN + "\n".join([*links, *more]) + "\n"))
    first, second = found.documents[0].entities
    assert first.links == ("Q190804", "VIAF:159624082")
    assert second.links == ()
    assert found.notes == {"a": tuple(more)}
    (tmp_path / "again").mkdir()
    back = again(found.documents, "brat", tmp_path / "again", found.notes)
    assert back.documents[0].entities == found.documents[0].entities
    assert back.notes == found.notes


def test_offsets_count_code_points(tmp_path):
    [document] = read(folder(tmp_path, "🏛 漢字 Ede", "T1\tTOP 5 8\tEde\n")).documents
    assert spans(document) == [(5, 8, "TOP")]


RECOUNTED = {
    "CRLF": ("a\r\nb\r\nEde", 4, "a line end of two characters counts as one"),
    "UTF-16": ("🏛🏛 Ede", 5, "a character beyond U+FFFF counts as two (UTF-16)"),
    "bytes": ("één Ede", 6, "bytes of UTF-8 are counted"),
}


@pytest.mark.parametrize(("text", "start", "unit"), RECOUNTED.values(), ids=RECOUNTED)
def test_offsets_in_another_unit_are_counted_anew_and_told(tmp_path, text, start, unit):
    ann = f"T1\tTOP {start} {start + 3}\tEde\n"
    found = read(folder(tmp_path, text, ann))
    [entity] = found.documents[0].entities
    assert (text[entity.start : entity.end], entity.text) == ("Ede", "Ede")
    [finding] = found.findings
    assert (finding.code, found.reanchored) == ("offsets_recounted", 1)
    assert unit in finding.message


def test_offsets_that_count_both_characters_of_a_line_end_stand(tmp_path):
    found = read(folder(tmp_path, "a\r\nb\r\nEde", "T1\tTOP 6 9\tEde\n"))
    assert (spans(found.documents[0]), found.findings) == ([(6, 9, "TOP")], [])


@pytest.mark.parametrize("text", ["Den\nHaag", "Den\r\nHaag"])
def test_a_line_end_within_a_surface_is_a_blank(tmp_path, text):
    found = read(folder(tmp_path, text, f"T1\tTOP 0 {len(text)}\tDen Haag\n"))
    assert (found.documents[0].entities[0].text, found.findings) == (text, [])


def test_a_misplaced_span_is_told_and_moved_when_asked(tmp_path):
    folder(tmp_path, ann="T1\tORG 5 16\tRijksmuseum\n")
    found = read(tmp_path)
    [finding] = found.findings
    assert (finding.code, finding.where) == ("misplaced_span", f"{tmp_path / 'a.ann'}:1")
    assert finding.message.startswith('"Rijksmuseum" is at 4–15, not at 5–16')
    assert spans(found.documents[0]) == [(5, 16, "ORG")]
    moved = read(tmp_path, reanchor=True)
    assert (spans(moved.documents[0]), moved.reanchored) == ([(4, 15, "ORG")], 1)


def test_everything_wrong_is_told_with_its_place(tmp_path):
    ann = (
        "T1 ORG 4 15 Rijksmuseum\n"
        "T2\tORG 4 4\t\n"
        "T3\tTOP 19 99\tAmsterdam\n"
        "T3\tTOP 19 28\tAmsterdam\n"
        "N1\tReference T9 Wikidata:Q1\tx\n"
        "N2\tT1\n"
        "Q1\tstrange\n"
    )
    name = folder(tmp_path, ann=ann) / "a.ann"
    (tmp_path / "b.ann").write_text(ANN)
    assert sorted(problems_of(tmp_path)) == sorted(
        [
            f"{name}:1: not like T1<tab>TYPE 0 4<tab>text",
            f"{name}:2: goes from 4 to 4; a span has 0 <= start < end",
            f'{name}:3: ends at 99, past the text of 28 characters; "Amsterdam" ends at 28',
            f"{name}:4: T3 stands at {name}:3 already; number it anew",
            f"{name}:5: links T9, which is no entity of this file",
            f"{name}:6: not like N1<tab>Reference T1 Wikidata:Q1<tab>name",
            f'{name}:7: "Q1 strange" begins with none of T N A M R E # *; it is no line of BRAT',
            f"{tmp_path / 'b.ann'}: has no text beside it; put it in b.txt",
        ]
    )


def test_parts_out_of_order_are_a_problem(tmp_path):
    [problem] = problems_of(folder(tmp_path, ann="T1\tORG 19 28;4 9\tAmsterdam Rijks\n"))
    assert "has fragments that overlap or are not in order: 19–28, 4–9" in problem


def test_a_text_without_annotations_is_told_and_not_scored(tmp_path):
    folder(tmp_path)
    (tmp_path / "b.txt").write_text("nobody looked")
    found = read(tmp_path)
    assert [one.id for one in found.documents] == ["a"]
    assert [(one.code, one.where) for one in found.findings] == [
        ("not_annotated", str(tmp_path / "b.txt"))
    ]


def test_an_empty_folder_is_a_problem(tmp_path):
    [problem] = problems_of(tmp_path)
    assert problem == f"{tmp_path}: holds no .ann file; name a folder that does"


def test_packed_files_with_a_byte_order_mark(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + TEXT.encode()))
    (tmp_path / "a.ann.gz").write_bytes(gzip.compress(ANN.replace("\n", "\r\n").encode()))
    [document] = read(tmp_path).documents
    assert (document.id, document.text) == ("a", TEXT)
    assert spans(document) == [(4, 15, "ORG"), (19, 28, "TOP")]


def test_an_entity_marked_twice_counts_once(tmp_path):
    found = read(folder(tmp_path, ann=ANN + "T3\tORG 4 15\tRijksmuseum\n"))
    assert len(found.documents[0].entities) == 2
    [finding] = found.findings
    assert (finding.code, finding.where[-2:]) == ("repeated_entity", ":3")


@given(marked_texts())
def test_what_is_written_is_read_again(tmp_path, document):
    found = again([document], "brat", tmp_path)
    [back] = found.documents
    assert (back.id, back.text, back.entities) == ("d1", document.text, document.entities)
    assert found.findings == []


CANNOT = {
    "no text": ({"text": None}, {}, "has no text, and BRAT's offsets need one"),
    "path": ({"id": "../a"}, {}, 'id "../a" cannot be a file\'s name'),
    "layer": ({}, {"layer": "NE-NESTED"}, "layers NE-NESTED: BRAT has none"),
    "type": ({}, {"type": "a b"}, 'type "a b" has blanks, which BRAT cannot hold'),
}


@pytest.mark.parametrize(("of_document", "of_entity", "fact"), CANNOT.values(), ids=CANNOT)
def test_what_brat_cannot_hold_is_told(of_document, of_entity, fact):
    entity = Entity(**({"start": 0, "end": 3, "type": "ORG"} | of_entity))
    fields = {"id": "a", "text": "abc", "where": "x.jsonl:1"} | of_document
    problems = []
    files = written([AnnotatedText(**fields, entities=(entity,))], "brat", problems=problems)
    assert files == {}
    [problem] = problems
    assert problem.startswith("x.jsonl:1: ")
    assert fact in problem


MISPLACED = {
    "shifted": (
        "x north and south America",
        "0 5;16 23\tnorth America",
        '"north America" is at 2–7, 18–25, not at 0–5, 16–23, which hold "x nor h Ameri"',
        ((2, 7), (18, 25)),
    ),
    "in order": (
        "north or else south of America",
        "0 5;16 23\tnorth America",
        '"north America" is at 0–5, 23–30, not at 0–5, 16–23, which hold "north uth of"',
        ((0, 5), (23, 30)),
    ),
    "nowhere": (
        "x north and south America",
        "0 5;16 23\tnorth Africa!",
        '"north Africa!" is not at 0–5, 16–23, which hold "x nor h Ameri"',
        ((0, 5), (16, 23)),
    ),
}


@pytest.mark.parametrize(("text", "given", "fact", "right"), MISPLACED.values(), ids=MISPLACED)
def test_a_discontinuous_entity_is_compared_with_its_text(tmp_path, text, given, fact, right):
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "a.ann").write_text(f"T1\tLOC {given}\n")
    [finding] = read(tmp_path).findings
    assert (finding.code, finding.message) == ("misplaced_span", fact)
    assert finding.where.endswith("a.ann:1")
    [document] = read(tmp_path, reanchor=True).documents
    assert document.entities[0].fragments == right
