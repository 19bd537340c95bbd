"""Line ends of every kind: the same numbers and places from LF, CRLF and CR (old Mac) files."""

import pytest

from ragauge.runners.components.evaluate_linking import evaluate_linking
from ragauge.runners.components.evaluate_ner import evaluate_ner
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from tests.ingest.annotated import read

ENDS = pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
TOKENS = ["# document_id = a", "Jean B-PER", "Moulin I-PER", "", "in O", "Ede B-LOC"]
HIPE = ["TOKEN\tNE-COARSE-LIT", "# document_id = a", "Jean\tB-PER", "Moulin\tI-PER", "Ede\tB-LOC"]
ENTITIES = {
    "iob": TOKENS,
    "hipe": HIPE,
    "conllu": [
        "# newdoc id = a",
        "# sent_id = 1",
        *(
            f"{number}\t{word}" + "\t_" * 7 + f"\tNER={tag}"
            for number, (word, tag) in enumerate(
                [("Jean", "B-PER"), ("Moulin", "I-PER"), ("Ede", "B-LOC")], 1
            )
        ),
        "",
    ],
    "spans": ["document\tstart\tend\ttype", "a\t0\t11\tPER", "a\t15\t18\tLOC"],
    "records": [
        '{"id": "a", "entities": [{"start": 0, "end": 11, "type": "PER"}]}',
        '{"id": "b", "entities": [{"start": 0, "end": 3, "type": "LOC"}]}',
    ],
}


@ENDS
@pytest.mark.parametrize("lines", ENTITIES.values(), ids=ENTITIES)
def test_entities(tmp_path, lines, end):
    file = tmp_path / "given"
    file.write_bytes(end.join([*lines, ""]).encode())
    report = evaluate_ner(file, file, intervals=False).report
    assert report.coverage["gold_entities"] == 2
    assert report.metrics["entities.f1_strict"].value == 1.0


@ENDS
def test_brat_texts_keep_their_line_ends_and_their_offsets(tmp_path, end):
    text = f"één{end}{end}Ede ligt{end}in Gelderland"
    start = text.index("Ede"), text.index("Gelderland")
    (tmp_path / "a.txt").write_bytes(text.encode())
    lines = [f"T1\tLOC {start[0]} {start[0] + 3}\tEde"]
    lines += [f"T2\tLOC {start[1]} {start[1] + 10}\tGelderland", "#1\tNote T1\tx"]
    (tmp_path / "a.ann").write_bytes(end.join([*lines, ""]).encode())
    found = read(tmp_path)
    [document] = found.documents
    assert (document.text, found.findings) == (text, [])
    assert [text[one.start : one.end] for one in document.entities] == ["Ede", "Gelderland"]
    assert found.notes == {"a": ("#1\tNote T1\tx",)}


LINKS = {
    "records": [
        '{"doc": "a", "start": 0, "end": 4, "mention": "Jean", "wikidata_id": "Q1"}',
        '{"doc": "a", "start": 5, "end": 8, "mention": "Ede", "wikidata_id": "Q2"}',
    ],
    "table": ["doc\tstart\tend\twikidata_id", "a\t0\t4\tQ1", "a\t5\t8\tQ2"],
    "neleval": ["a\t0\t3\tQ1\t1\tPER", "a\t5\t7\tQ2\t1\tLOC"],
}


@ENDS
@pytest.mark.parametrize("lines", LINKS.values(), ids=LINKS)
def test_links(tmp_path, lines, end):
    file, same = tmp_path / "given", tmp_path / "same.tsv"
    file.write_bytes(end.join([*lines, ""]).encode())
    same.write_bytes(end.join(["id1\tid2\trelation", "Q1\tQ9\tsameAs", ""]).encode())
    report = evaluate_linking(file, file, equivalents=same, intervals=False).report
    assert report.coverage["mentions"] == 2
    assert report.metrics["linking.hits@1"].value == 1.0


PAIRS = [("q1", "d1"), ("q2", "d2")]
RANKINGS = {
    "trec": (["q1 0 d1 1", "q2 0 d2 1"], ["q1 Q0 d1 1 2.5 t", "q2 Q0 d2 1 2.5 t"]),
    "table": (
        ["query-id\tcorpus-id\tscore", "q1\td1\t1", "q2\td2\t1"],
        ["query\tdocument\tscore", "q1\td1\t2", "q2\td2\t2"],
    ),
    "records": (
        [f'{{"query": "{q}", "document": "{d}", "grade": 1}}' for q, d in PAIRS],
        [f'{{"query": "{q}", "results": ["{d}"]}}' for q, d in PAIRS],
    ),
}


@ENDS
@pytest.mark.parametrize("lines", RANKINGS.values(), ids=RANKINGS)
def test_rankings(tmp_path, lines, end):
    files = tmp_path / "qrels", tmp_path / "run"
    for file, given in zip(files, lines, strict=True):
        file.write_bytes(end.join([*given, ""]).encode())
    report = evaluate_retrieval(*files, intervals=False).report
    assert report.coverage["queries"] == 2
    assert report.metrics["retrieval.rr"].value == 1.0
