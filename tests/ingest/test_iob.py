"""Tokens and tags: schemes, repair, documents, and what a broken file is told."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, Entities

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.ingest.annotated.entity_writing import written
from ragauge.ingest.annotated.tagged_texts import MARKS, Chunk, chunks, scheme_of, tag_of, tags_for
from tests.ingest.annotated import again, problems_of, read_text, spans, tagged_texts

STRICT = {"iob1": IOB1, "iob2": IOB2, "bioes": IOBES, "bilou": BILOU}
WRITTEN = ("iob2", "bioes", "bilou")


def tag_lists(form):
    marks = [f"{mark}-{kind}" for mark in MARKS[form] for kind in ("PER", "GRP-X")]
    return st.lists(st.sampled_from(["O", *marks]), max_size=9)


def found(tags, form, scheme="repair"):
    parts = [tag_of(tag, MARKS[form]) for tag in tags]
    return [(one.first, one.end, one.type) for one in chunks(parts, form, scheme)]


@pytest.mark.parametrize("form", ["iob1", "iob2", "bioes"])
@given(data=st.data())
def test_repair_is_what_conlleval_and_seqeval_read(form, data):
    tags = data.draw(tag_lists(form))
    expected = [(first, last + 1, kind) for kind, first, last in get_entities(tags)]
    assert found(tags, form) == expected


@pytest.mark.parametrize("form", STRICT)
@given(data=st.data())
def test_strict_is_what_seqeval_reads_strictly(form, data):
    tags = data.draw(tag_lists(form))
    expected = [(one.start, one.end, one.tag) for one in Entities([tags], STRICT[form]).entities[0]]
    assert found(tags, form, "strict") == expected


@given(tag_lists("bioes"))
def test_bilou_is_bioes_in_other_letters(tags):
    renamed = [tag.replace("E-", "L-", 1).replace("S-", "U-", 1) for tag in tags]
    assert found(renamed, "bilou") == found(tags, "bioes")


@pytest.mark.parametrize("form", WRITTEN)
@given(data=st.data())
def test_tags_written_for_entities_mark_them_strictly(form, data):
    tags = data.draw(tag_lists(form))
    parts = [tag_of(tag, MARKS[form]) for tag in tags]
    fresh = tags_for(chunks(parts, form), len(tags), form)
    assert found(fresh, form, "strict") == found(tags, form)


SCHEMES = {
    "iob1": ["I-PER", "I-PER", "B-PER", "O", "I-LOC"],
    "iob2": ["B-PER", "I-PER", "B-PER", "O", "I-LOC"],
    "bioes": ["B-PER", "E-PER", "O", "S-LOC"],
    "bilou": ["B-PER", "L-PER", "O", "U-LOC"],
}


@pytest.mark.parametrize("form", SCHEMES)
def test_the_scheme_is_told_from_the_tags(form, tmp_path):
    tags = SCHEMES[form]
    assert scheme_of([tags]) == form
    lines = "".join(f"w{place} {tag}\n" for place, tag in enumerate(tags))
    assert read_text(tmp_path, lines).form == form


def test_an_entity_without_a_beginning_is_repaired_and_told(tmp_path):
    file = read_text(tmp_path, "Jan O\nvan I-PER\nEyck I-PER\n", input_format="iob2")
    assert spans(file.documents[0]) == [(4, 12, "PER")]
    [finding] = file.findings
    assert (finding.code, finding.where) == ("broken_tags", f"{tmp_path / 'given.txt'}:2")
    assert finding.message == (
        "I-PER follows O; in IOB2 an entity begins with B-PER; it is read as an entity"
    )


def test_the_strict_scheme_leaves_it_out_and_tells(tmp_path):
    content = "Jan O\nvan I-PER\n\nEyck B-PER\n"
    file = read_text(tmp_path, content, scheme="strict", input_format="iob2")
    assert [spans(document) for document in file.documents] == [[], [(0, 4, "PER")]]
    assert [finding.message[-14:] for finding in file.findings] == ["it is left out"]


def test_a_type_may_hold_hyphens(tmp_path):
    [document] = read_text(tmp_path, "a B-GRP-X\nb I-GRP-X\nc B-GRP-X-Y\n").documents
    assert spans(document) == [(0, 3, "GRP-X"), (4, 5, "GRP-X-Y")]


CONLL2003 = """-DOCSTART- -X- -X- O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC

Peter NNP I-NP I-PER

-DOCSTART- -X- -X- O

BRUSSELS NNP I-NP I-LOC
1996-08-22 CD I-NP O
"""


def test_conll2003_has_documents_and_sentences(tmp_path):
    file = read_text(tmp_path, CONLL2003)
    assert file.form == "conll2003"
    assert [document.id for document in file.documents] == ["1", "2"]
    first, second = file.documents
    assert first.text == "EU rejects German\nPeter"
    assert spans(first) == [(0, 2, "ORG"), (11, 17, "MISC"), (18, 23, "PER")]
    assert spans(second) == [(0, 8, "LOC")]
    assert file.findings == []


def test_another_column_may_hold_the_tag(tmp_path):
    lines = "Jan B-PER O\nslaapt O B-PER\n"
    [last] = read_text(tmp_path, lines).documents
    [asked] = read_text(tmp_path, lines, column=2).documents
    assert (spans(last), spans(asked)) == ([(4, 10, "PER")], [(0, 3, "PER")])


COMMENTS = {
    "documents": (
        "# doc_id = a b\nx O\n\ny O\n# doc_id = c\nz O\n",
        [("a b", "x\ny"), ("c", "z")],
    ),
    "sentences": ("# sent_id = s1\nx O\n\n# sent_id = s2\ny O\n", [("s1", "x"), ("s2", "y")]),
    "ids without =": (
        "# id 52-a\tdomain=en\nx\tO\n\n# id 53\ny\tO\n",
        [("52-a", "x"), ("53", "y")],
    ),
    "numbers": ("x O\n\n\n\ny O", [("1", "x"), ("2", "y")]),
    "# is a token": ("# O\n#id O\n# text = # O\n", [("1", "# #id")]),
    "no-break space": ("a\u00a0b O\nc O\n", [("1", "a\u00a0b c")]),
    "line separators": ("a\u2028b\u0085\tO\n", [("1", "a\u2028b\u0085")]),
}


@pytest.mark.parametrize(("content", "expected"), COMMENTS.values(), ids=COMMENTS)
def test_documents_are_named_by_comments(tmp_path, content, expected):
    documents = read_text(tmp_path, content).documents
    assert [(document.id, document.text) for document in documents] == expected


PACKED = {
    "plain": lambda content: content,
    "BOM": lambda content: b"\xef\xbb\xbf" + content,
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "gzip": gzip.compress,
    "zstd": lambda content: zstandard.ZstdCompressor().compress(content),
}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_however_the_file_was_saved(tmp_path, pack):
    [document] = read_text(tmp_path, pack(b"Jan B-PER\nslaapt O\n")).documents
    assert (document.text, spans(document)) == ("Jan slaapt", [(0, 3, "PER")])
    assert document.tokens == ((0, 3), (4, 10))


def test_everything_wrong_is_told_with_its_place(tmp_path):
    file = tmp_path / "a.iob2"
    file.write_text("Jan B-PER\nvan Q-PER\nEyck PER I-PER\n\nalleen\nx B-\n\tO\n")
    assert problems_of(file, input_format="iob2") == [
        f'{file}:2: tag "Q-PER" is not O, B-TYPE or I-TYPE',
        f"{file}:3: has 3 columns, and the first token's line 2",
        f"{file}:5: has 1 columns, and the first token's line 2",
        f'{file}:6: tag "B-" is not O, B-TYPE or I-TYPE',
        f"{file}:7: has no token in its first column",
    ]


WRONG = {
    "no tag": ("Jan\nEyck\n", {"input_format": "iob2"}, "has one column; write the token first"),
    "column": ("Jan B-PER\n", {"column": 3, "input_format": "iob2"}, "column 3: there are 2"),
    "conll2003": ("Jan O\n", {"input_format": "conll2003"}, "2 columns, and CoNLL-2003 has 4"),
    "other scheme": ("Jan S-PER\n", {"input_format": "iob2"}, 'tag "S-PER" is not O, B-TYPE or'),
    "twice": ("# doc_id = a\nx O\n# doc_id = b\ny O\n# doc_id = a\nz O\n", {}, "keep one"),
    "not UTF-8": (b"Jan B-PER\nEy\xe9ck O\n", {}, "given:2: is not UTF-8 text"),
    "empty": ("\n", {"input_format": "iob2"}, "holds no token"),
}


@pytest.mark.parametrize(("content", "options", "fact"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_told(tmp_path, content, options, fact):
    file = tmp_path / "given"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    [problem] = problems_of(file, **options)
    assert fact in problem


@pytest.mark.parametrize("form", ["iob2", "bioes", "bilou"])
@given(document=tagged_texts())
def test_what_is_written_is_read_again(tmp_path, form, document):
    file = again([document], form, tmp_path)
    [back] = file.documents
    assert back.text == document.text
    assert (back.id, back.tokens, back.entities) == ("d1", document.tokens, document.entities)
    assert file.findings == []


def test_a_text_without_tokens_is_cut_where_entities_end(tmp_path):
    text = "Het (Rijks)museum."
    document = AnnotatedText(
        id="a", text=text, entities=(Entity(start=11, end=14, type="X"),), where="here"
    )
    [back] = again([document], "iob2", tmp_path).documents
    assert back.text == "Het ( Rijks ) mus eum ."
    assert [one.text for one in back.entities] == ["mus"]


CANNOT = {
    "nested": ([(0, 7, "A"), (0, 3, "B")], "B at 0–3 overlaps A at 0–7, and a token has one tag"),
    "blank": ([(0, 3, "A B")], "has a type with blanks, which no tag can hold"),
    "inside": ([(0, 2, "A")], "A at 0–2 begins or ends inside a token"),
}


@pytest.mark.parametrize(("marked", "fact"), CANNOT.values(), ids=CANNOT)
def test_what_tags_cannot_hold_is_told(marked, fact):
    entities = tuple(Entity(start=start, end=end, type=kind) for start, end, kind in marked)
    document = AnnotatedText(
        id="a", text="abc def", tokens=((0, 3), (4, 7)), entities=entities, where="x.jsonl:1"
    )
    problems = []
    written([document], "iob2", problems=problems)
    [problem] = problems
    assert problem.startswith("x.jsonl:1: ")
    assert fact in problem


def test_parts_links_and_layers_have_no_tag():
    entities = (
        Entity(start=0, end=7, type="A", fragments=((0, 1), (6, 7))),
        Entity(start=0, end=3, type="A", links=("Q1",), layer="fine"),
    )
    problems = []
    written(
        [AnnotatedText(id="a", text="abc def", entities=entities, where="w")],
        "bioes",
        problems=problems,
    )
    assert [problem.split("; ")[0] for problem in problems] == [
        "w: A at 0–7 is discontinuous, and tags mark only what is of one piece",
        "w: layers fine: tags have none",
        "w: links of 1 entities: tags have none",
    ]


def test_iob1_parts_two_entities_of_one_type():
    found = [Chunk(0, 1, "PER"), Chunk(1, 3, "PER"), Chunk(3, 4, "X-PER"), Chunk(4, 5, "PER")]
    assert tags_for(found, 6, "iob1") == ["I-PER", "B-PER", "I-PER", "I-X-PER", "I-PER", "O"]


def test_a_token_with_a_blank_cannot_stand_in_columns_that_blanks_part():
    document = AnnotatedText(id="1", text="a b c", tokens=((0, 3), (4, 5)), where="made:1")
    problems = []
    written([document], "conll2003", problems=problems)
    assert problems == ['made:1: token "a b" holds a blank, which parts the columns']
