"""HIPE's tables: layers, links, flags, and the oddities of submitted files."""

import pytest
from hypothesis import given

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.ingest.annotated.entity_writing import written
from ragauge.ingest.annotated.hipe import COLUMNS
from tests.ingest.annotated import again, problems_of, read_text, spans, tagged_texts

HEADER = "\t".join(COLUMNS)


def row(token, coarse="O", meto="O", fine="O", link="_", misc="_", nested="O"):
    return "\t".join([token, coarse, meto, fine, "O", "O", nested, link, "_", misc])


def table(*lines):
    return "\n".join([HEADER, *lines]) + "\n"


PUBLISHED = table(
    "# hipe2022:document_id = NZZ-1798-01-20",
    "# hipe2022:date = 1798-01-20",
    "# hipe2022:language = de",
    row("Jean", "B-pers", fine="B-pers.ind", link="Q7726", misc="_"),
    row("Bap-", "I-pers", fine="I-pers.ind", link="Q7726", misc="NoSpaceAfter|EndOfLine|LED0.00"),
    row("tiste", "I-pers", fine="I-pers.ind", link="Q7726"),
    row("b###", misc="NoSpaceAfter"),
    row("#", "O"),
    row('""""', misc="LED0.00"),
    row("Berlin", "B-loc", "B-org", "B-loc.adm.town", "Q64|NIL|Q821244", nested="B-loc"),
    "",
    "# hipe2022:document_id = NZZ-1798-01-21",
    "# hipe2022:language = de",
    row("Ede", "B-loc", "_", "-", "NIL", "EndOfLine"),
    row("hier", "_", "_", "_"),
)


def by_layer(document):
    return {
        layer: [(one.text, one.type, one.links) for one in document.entities if one.layer == layer]
        for layer in sorted({one.layer for one in document.entities})
    }


def test_layers_links_and_flags(tmp_path):
    found = read_text(tmp_path, PUBLISHED)
    first, second = found.documents
    assert (found.form, first.id, second.id) == ("hipe", "NZZ-1798-01-20", "NZZ-1798-01-21")
    assert first.text == 'Jean Bap-tiste b#### " Berlin'
    assert by_layer(first) == {
        "NE-COARSE-LIT": [
            ("Jean Bap-tiste", "pers", ("Q7726",)),
            ("Berlin", "loc", ("Q64", "NIL", "Q821244")),
        ],
        "NE-COARSE-METO": [("Berlin", "org", None)],
        "NE-FINE-LIT": [
            ("Jean Bap-tiste", "pers.ind", ("Q7726",)),
            ("Berlin", "loc.adm.town", ("Q64", "NIL", "Q821244")),
        ],
        "NE-NESTED": [("Berlin", "loc", None)],
    }
    assert by_layer(second) == {"NE-COARSE-LIT": [("Ede", "loc", ())]}
    assert second.text == "Ede\nhier"
    assert first.strata == {"language": "de"}


def test_a_quoted_token_is_told(tmp_path):
    [finding] = read_text(tmp_path, PUBLISHED).findings
    assert (finding.code, finding.where[-3:]) == ("quoted_token", ":10")
    assert finding.message == '"""" is read as ", as a CSV writer quotes it'


def test_tokens_with_hash_marks_are_no_comments(tmp_path):
    first, _ = read_text(tmp_path, PUBLISHED).documents
    words = [first.text[start:end] for start, end in first.tokens]
    assert words == ["Jean", "Bap-", "tiste", "b###", "#", '"', "Berlin"]


def test_only_the_layers_asked_for(tmp_path):
    found = read_text(tmp_path, PUBLISHED, layers=["NE-FINE-LIT"])
    assert {one.layer for document in found.documents for one in document.entities} == {
        "NE-FINE-LIT"
    }
    file = tmp_path / "given.txt"
    [problem] = problems_of(file, layers=["NE-FINE"])
    assert problem.startswith(f'{file}:1: no column is called "NE-FINE"; there are NE-COARSE-LIT')


def test_a_column_that_is_never_set_was_not_annotated(tmp_path):
    lines = [
        "\t".join(["a", "B-x", *"______", "_", "_"]),
        "\t".join(["b", "O", *"______", "_", "_"]),
    ]
    assert read_text(tmp_path, table(*lines)).layers == ("NE-COARSE-LIT",)


def test_comments_within_a_document_do_not_part_it(tmp_path):
    content = table(
        "# language = fr",
        "# document_id = EXP-1918",
        "# segment_iiif_link = https://example.org/1",
        row("La", "B-loc"),
        "# segment_iiif_link = https://example.org/2",
        row("Chaux", "I-loc"),
    )
    [document] = read_text(tmp_path, content).documents
    assert (document.id, document.text, spans(document)) == (
        "EXP-1918",
        "La Chaux",
        [(0, 8, "loc")],
    )
    assert document.strata == {"language": "fr"}


def test_documents_without_ids_are_numbered(tmp_path):
    documents = read_text(tmp_path, table(row("a"), "", row("b"))).documents
    assert [(one.id, one.text) for one in documents] == [("1", "a"), ("2", "b")]


def test_fewer_columns_are_fine(tmp_path):
    content = "TOKEN\tNE-COARSE-LIT\tMISC\nEde\tB-loc\tNoSpaceAfter\n.\tO\t_\n"
    [document] = read_text(tmp_path, content).documents
    assert (document.text, spans(document)) == ("Ede.", [(0, 3, "loc")])


def test_everything_wrong_is_told_with_its_place(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text(table(row("a", "Q-pers"), "b\tO", row("", "O"), row("c", "B-")))
    assert problems_of(file) == [
        f'{file}:2: NE-COARSE-LIT: tag "Q-pers" is not O, B-TYPE or I-TYPE',
        f"{file}:3: has 2 columns, and the header names 10",
        f"{file}:4: has no token in its first column",
        f'{file}:5: NE-COARSE-LIT: tag "B-" is not O, B-TYPE or I-TYPE',
    ]


def test_a_missing_header_is_told(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text(row("a") + "\n")
    [problem] = problems_of(file, input_format="hipe")
    assert problem.startswith(f"{file}: no line names the columns: TOKEN NE-COARSE-LIT")


def test_a_published_table_is_written_as_it_was_read(tmp_path):
    found = read_text(tmp_path, PUBLISHED)
    back = again(found.documents, "hipe", tmp_path, found.notes)
    assert [(one.id, one.text, one.tokens, one.entities, one.strata) for one in back.documents] == [
        (one.id, one.text, one.tokens, one.entities, one.strata) for one in found.documents
    ]
    assert back.notes == found.notes


@given(tagged_texts())
def test_what_is_written_is_read_again(tmp_path, document):
    [back] = again([document], "hipe", tmp_path).documents
    assert (back.id, back.text, back.tokens) == ("d1", document.text, document.tokens)
    assert spans(back) == spans(document)
    assert {one.layer for one in back.entities} <= {"NE-COARSE-LIT"}


CANNOT = {
    "layer": ([{"layer": "mine"}], 'layer "mine" is no column of NE-COARSE-LIT'),
    "nested link": ([{"layer": "NE-NESTED", "links": ("Q1",)}], "NE-NESTED has no links"),
    "two links": (
        [{"layer": "NE-COARSE-LIT", "links": ("Q1",)}, {"layer": "NE-FINE-LIT", "links": ("Q2",)}],
        "NEL-LIT holds one",
    ),
    "discontinuous": ([{"fragments": ((0, 1), (2, 3))}], "is discontinuous"),
}


@pytest.mark.parametrize(("marked", "fact"), CANNOT.values(), ids=CANNOT)
def test_what_a_table_cannot_hold_is_told(marked, fact):
    entities = tuple(Entity(**({"start": 0, "end": 3, "type": "loc"} | one)) for one in marked)
    problems = []
    document = AnnotatedText(id="a", text="Ede", entities=entities, where="x.jsonl:1")
    written([document], "hipe", problems=problems)
    [problem] = problems
    assert problem.startswith("x.jsonl:1: ")
    assert fact in problem


SCHEMES = {
    "iobes": ("B-pers", "E-pers", "S-loc"),
    "bilou": ("B-pers", "L-pers", "U-loc"),
    "iob": ("B-pers", "I-pers", "B-loc"),
}


@pytest.mark.parametrize("tags", SCHEMES.values(), ids=SCHEMES)
def test_a_column_may_be_written_in_any_scheme(tmp_path, tags):
    """Each column by its own marks: the metonymic one stays in IOB."""
    first, last, single = tags
    lines = [row("Jean", first), row("Moulin", last), row("Ede", single, "B-org")]
    [document] = read_text(tmp_path, table(*lines)).documents
    assert [(one.text, one.type, one.layer) for one in document.entities] == [
        ("Jean Moulin", "pers", "NE-COARSE-LIT"),
        ("Ede", "loc", "NE-COARSE-LIT"),
        ("Ede", "org", "NE-COARSE-METO"),
    ]


def test_comments_whose_words_are_cells_are_comments(tmp_path):
    """So some submitted files have them; a token # with all its cells stays a token."""
    lines = [
        "#\thipe2022:document_id\t=\tEXP-1888",
        "#\thipe2022:language\t=\tfr",
        "#\thipe2022:applicable_columns\t=\t" + "\t".join(COLUMNS),
        "#\tNOTE:\tan\texample",
        row("#"),
        row("Ede", "B-loc"),
    ]
    [document] = read_text(tmp_path, table(*lines)).documents
    assert (document.id, document.text, document.strata) == (
        "EXP-1888",
        "# Ede",
        {"language": "fr"},
    )
