"""Tables of ids that belong together, in all their forms."""

import pytest

from ragauge.ingest.linked.crosswalk import read_crosswalk

Q1, V1, V2, I1 = ("wikidata", "Q1"), ("viaf", "1"), ("viaf", "2"), ("isil", "NL-X")


def told(source):
    problems = []
    pairs = read_crosswalk(source, problems)
    assert problems == []
    return [(pair.one, pair.other, pair.relation) for pair in pairs]


def written(tmp_path, text, name="walk.tsv"):
    path = tmp_path / name
    path.write_text(text)
    return path


EXPECTED = [(V1, Q1, "P214"), (V2, Q1, "P214")]


@pytest.mark.parametrize(
    "text",
    [
        "id1\tid2\trelation\nQ1\tviaf:1\tP214\nQ1\tviaf:2\tP214\n",
        "id1,id2,relation\nviaf:1,Q1,P214\nhttps://viaf.org/viaf/2/,Q1,P214\n",
        "Q1\t1\tP214\nQ1\t2\tP214\n",
        '{"id1": "Q1", "id2": ["viaf:1", "viaf:2"], "relation": "P214"}\n',
        '[["Q1", 1, "P214"], ["q1", "2", "P214"], ["Q1", "2", "P214"]]',
    ],
)
def test_every_form_says_the_same(tmp_path, text):
    assert told(written(tmp_path, text)) == EXPECTED


@pytest.mark.parametrize("relation", ["same", "same_as", "object", "viaf", "a"])
def test_a_first_line_of_ids_is_no_header(tmp_path, relation):
    path = written(tmp_path, f"Q1\tviaf:1\t{relation}\nQ1\tviaf:2\t{relation}\n")
    assert told(path) == [(V1, Q1, relation), (V2, Q1, relation)]


@pytest.mark.parametrize("ids", ["Q1,viaf:1", "Q1,NL-X", "m-17,x9", "x9,m-17,same"])
def test_two_columns_and_ids_of_any_shape_need_no_header(tmp_path, ids):
    assert len(told(written(tmp_path, f"{ids}\n", "walk.csv"))) == 1


def test_columns_that_nobody_knows_are_told_as_they_are_written(tmp_path):
    problems = []
    read_crosswalk(written(tmp_path, "ID\tMuseumID\trelation\nQ1\t5\tsame\n"), problems)
    assert problems[0].endswith('needs id1, id2 and relation, and has "ID", "MuseumID", "relation"')


def test_a_column_for_each_knowledge_base(tmp_path):
    path = written(tmp_path, "wikidata\tviaf\tisil\tname\nQ1\t1|2\tNL-X\tMuseum\nQ2\t\tX\tOther\n")
    assert told(path) == [
        (I1, V1, "same"), (I1, V2, "same"), (I1, Q1, "same"), (I1, ("wikidata", "Q2"), "same"),
        (V1, Q1, "same"), (V2, Q1, "same"),
    ]  # fmt: skip


def test_records_at_hand():
    assert told([{"from": "Q1", "to": "viaf:1", "relation": "P214"}, ("Q1", "viaf:2", "P214")]) == (
        EXPECTED
    )


def test_all_that_is_wrong_is_told_with_its_place(tmp_path):
    path = written(tmp_path, "id1\tid2\trelation\nQ1\twikidata:x\tsame\nQ1\t\tsame\nQ1\n")
    problems = []
    assert read_crosswalk(str(path), problems) == []
    assert problems == [
        f'{path}:2: id2: "wikidata:x" is no Wikidata id, such as Q190804',
        f"{path}:3: id2: is empty",
        f"{path}:4: cells: 1, but the header has 3",
    ]


def test_an_empty_table_and_one_of_other_columns_are_told(tmp_path):
    problems = []
    read_crosswalk(written(tmp_path, ""), problems)
    read_crosswalk([{"name": "x"}], problems)
    assert "the file is empty" in problems[0]
    assert problems[1] == 'crosswalk: item 1: record: needs id1, id2 and relation, and has "name"'
