"""CoNLL-U: what its tokens make of a text, and entities in its last column."""

import pytest

from tests.ingest.annotated import problems_of, read_text, spans


def word(id, form, misc="_"):
    return "\t".join([id, form, *["_"] * 7, misc])


def sentence(*lines):
    return "\n".join(lines) + "\n\n"


def test_tags_and_spaces(tmp_path):
    content = sentence(
        "# newdoc id = brief",
        "# sent_id = s1",
        "# text = Het Rijksmuseum, Amsterdam.",
        word("1", "Het", "NER=O"),
        word("2", "Rijksmuseum", "NER=B-GRP-X|SpaceAfter=No"),
        word("3", ",", "NER=O"),
        word("4", "Amsterdam", "Lang=nl|NER=B-LOC|SpaceAfter=No"),
        word("5", ".", "NER=O"),
    ) + sentence("# sent_id = s2", word("1", "Ede", "NER=B-LOC"))
    found = read_text(tmp_path, content)
    [document] = found.documents
    assert (found.form, document.id) == ("conllu", "brief")
    assert document.text == "Het Rijksmuseum, Amsterdam.\nEde"
    assert [(one.text, one.type) for one in document.entities] == [
        ("Rijksmuseum", "GRP-X"),
        ("Amsterdam", "LOC"),
        ("Ede", "LOC"),
    ]
    assert found.findings == []


def test_a_multiword_token_stands_once_in_the_text(tmp_path):
    content = sentence(
        "# text = museo del Prado",
        word("1", "museo", "NER=B-ORG"),
        word("2-3", "del"),
        word("2", "de", "NER=I-ORG"),
        word("3", "el", "NER=I-ORG"),
        word("4", "Prado", "NER=I-ORG"),
    )
    [document] = read_text(tmp_path, content).documents
    assert (document.text, spans(document)) == ("museo del Prado", [(0, 15, "ORG")])
    assert document.tokens == ((0, 5), (6, 9), (10, 15))


def test_a_multiword_token_may_have_the_tag_of_its_words(tmp_path):
    content = sentence(
        word("1-2", "del", "NER=B-ORG"),
        word("1", "de"),
        word("2", "el"),
        word("3", "Prado", "NER=I-ORG"),
        word("4", "dorme"),
    )
    found = read_text(tmp_path, content)
    assert spans(found.documents[0]) == [(0, 9, "ORG")]
    assert found.findings == []


def test_an_empty_node_is_not_in_the_text(tmp_path):
    content = sentence(
        word("1", "Jan", "NER=B-PER"), word("1.1", "slaapt", "NER=B-X"), word("2", "diep", "NER=O")
    )
    found = read_text(tmp_path, content)
    assert (found.documents[0].text, spans(found.documents[0])) == ("Jan diep", [(0, 3, "PER")])
    [finding] = found.findings
    assert (finding.code, finding.message) == (
        "tag_without_text",
        'empty node 1.1 has "B-X"; left out',
    )


TEXTS = {
    "spaces": ("# text = Jan  slaapt", "Jan  slaapt", "makes"),
    "other words": ("# text = Piet slaapt", "Jan slaapt", "is not in the text"),
    "more words": ("# text = Jan B. slaapt", "Jan B. slaapt", "stands before"),
}


@pytest.mark.parametrize(("comment", "text", "fact"), TEXTS.values(), ids=TEXTS)
def test_the_text_is_held_against_the_tokens(tmp_path, comment, text, fact):
    found = read_text(
        tmp_path, sentence(comment, word("1", "Jan", "NER=B-PER"), word("2", "slaapt"))
    )
    assert found.documents[0].text == text
    [finding] = found.findings
    assert finding.code == "tokens_differ_from_text"
    assert fact in finding.message


def test_entities_in_brackets(tmp_path):
    content = sentence(
        "# global.Entity = eid-etype-head-other",
        "# sent_id = s1",
        word("1", "De", "Entity=(e1-person-2-x(e2-place-1-"),
        word("2", "Haag", "Entity=e2)"),
        word("3", "bewoners", "Entity=e1)"),
        word("4", "in", "Entity=(e3[1/2]-org-1-"),
        word("5", "of"),
        word("6", "uit", "Entity=e3[1/2])"),
        word("7", "Ede", "Entity=(e4-place-1-)"),
        word("8", "nu", "Entity=(e3[2/2])"),
    )
    found = read_text(tmp_path, content)
    [document] = found.documents
    assert document.id == "s1"
    assert sorted((one.text, one.type) for one in document.entities) == [
        ("De Haag", "place"),
        ("De Haag bewoners", "person"),
        ("Ede", "place"),
        ("in of uit nu", "org"),
    ]
    assert [one.fragments for one in document.entities if one.type == "org"] == [
        ((17, 26), (31, 33))
    ]


def test_the_tag_may_be_called_entity(tmp_path):
    content = sentence(word("1", "Jan", "Entity=B-PER"), word("2", "Eyck", "Entity=I-PER"))
    assert spans(read_text(tmp_path, content).documents[0]) == [(0, 8, "PER")]


def test_everything_wrong_is_told_with_its_place(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text(
        sentence(
            word("1", "Jan", "NER=B-PER"),
            "2\tvan\t_",
            word("x", "Eyck"),
            word("4", "ok", "NER=Q-PER"),
        )
        + sentence(word("1", "a", "Entity=(e1-x"), word("2", "b", "Entity=e2)"))
    )
    remedy = "a word has 10, parted by tabs, and begins with its number"
    assert problems_of(file) == [
        f'{file}:2: has 3 columns and begins with "2"; {remedy}',
        f'{file}:3: has 10 columns and begins with "x"; {remedy}',
        f'{file}:4: tag "Q-PER" is not O, B-TYPE or I-TYPE',
        f"{file}:6: e2) closes what no bracket opened",
        f"{file}:6: (e1 is not closed in its sentence",
    ]


def test_a_file_without_entities_is_no_file_with_none(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text(sentence(word("1", "Jan")))
    [problem] = problems_of(file)
    assert problem == (
        f"{file}: no word has NER= or NE= or Entity= in its last column; "
        "where nothing is an entity, write NER=O"
    )
