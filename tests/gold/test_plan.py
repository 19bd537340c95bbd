"""Each line of the heritage plan is held against what there is; nothing missing is silent."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.heritage import CUSTODIAN_TYPES, ENTITY_TYPES, Mention, misplacement
from ragauge.runners.gold_plan import hold_against_plan
from tests.cli.command import ragauge

SENTENCE = (
    "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800 en beheert de grootste "
    "collectie Nederlandse kunst."
)
LABELS = [(n, "MUS" if n % 2 else "ARC", "MUS" if n % 2 or n == 0 else "ARC") for n in range(60)]


def entry(n, places=((60, 64), (98, 109)), **fields):
    (a, b), (c, d) = places
    return {
        "id": f"e{n}",
        "text": SENTENCE,
        "ner_annotations": [
            {"text": "Rijksmuseum Amsterdam", "type": "GRP.HER.MUS", "start": 4, "end": 25},
            {"text": "NL-AmRM", "type": "IDENTIFIER", "start": 33, "end": 40},
            {"text": "1800", "type": "TMP", "start": a, "end": b},
            {"text": "Nederlandse", "type": "TOP", "start": c, "end": d},
        ],
        **fields,
    }


def dataset(folder: Path) -> Path:
    """A folder that meets every line of the plan, in all the forms its parts may have."""
    files = {
        "entries.jsonl": lines(entry(n) for n in range(100)),
        "ner/a.iob2": "".join(
            f"Het O\nStads B-{kind}\narchief I-{kind}\n\n"
            for kind in ("GRP.HER.ARC", "GRP.HER.LIB")
            for _ in range(100)
        ),
        "ner/b.txt": "de vereniging",
        "ner/b.ann": "".join(f"T{n}\tGRP.HER.SOC 3 13\tvereniging\n" for n in range(100))
        + "R1\tpart-of Arg1:T1 Arg2:T2\n",
        "typing.tsv": "text\tgold_type\tsecondary_types\n"
        + "".join(f"text {n}\t{kind}\t\n" for kind in CUSTODIAN_TYPES for n in range(50)),
        "linking.json": json.dumps(
            [
                {"mention": f"m{n}", "gold_wikidata": f"Q{n}" if n % 20 >= 3 else "NIL"}
                for n in range(500)
            ]
        ),
        "qrels.txt": "".join(f"q{q} 0 d{d} {d % 4}\n" for q in range(200) for d in range(50)),
        "qa.json": json.dumps(
            [
                {"question": f"Q{n}?", "gold_answer": "x", "answer_type": "factual"}
                for n in range(300)
            ]
        ),
        "metadata.json": json.dumps(
            {
                "name": "Custodians",
                "created_date": "2025-03-01",
                "languages": ["nl", "en"],
                "domains": ["heritage"],
            }
        ),
        "annotators/a.tsv": "id\tlabel\n" + "".join(f"{n}\t{a}\n" for n, a, _ in LABELS),
        "annotators/b.tsv": "id\tlabel\n" + "".join(f"{n}\t{b}\n" for n, _, b in LABELS),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def unmet(report):
    return {(demand.part, demand.what) for demand in report.demands if not demand.ok}


def test_a_full_dataset_meets_the_plan(tmp_path):
    report = hold_against_plan(dataset(tmp_path))
    assert report.passed
    assert not report.findings
    assert unmet(report) == set()
    assert report.coverage["met"] == report.coverage["demands"] == 22


def test_agreement_is_that_of_scikit_learn(tmp_path):
    report = hold_against_plan(dataset(tmp_path))
    expected = cohen_kappa_score([a for _, a, _ in LABELS], [b for _, _, b in LABELS])
    assert report.metrics["agreement.kappa"].value == pytest.approx(expected)
    assert report.metrics["agreement.kappa"].n == len(LABELS)


def test_a_kappa_of_some_annotators_is_not_that_of_all(tmp_path):
    dataset(tmp_path)
    number, label = next((n, a) for n, a, b in LABELS if a == b)
    (tmp_path / "annotators/c.tsv").write_text(f"id\tlabel\n{number}\t{label}\n")
    report = hold_against_plan(tmp_path)
    assert report.metrics["agreement.kappa"].value > 0.85
    assert unmet(report) == {("annotators", "agreement")}
    assert "a mean of 1 of 3 pairs, for A and C, B and C have none" in report.findings[0].message


PART_OF = {
    "typing.tsv": ("typing", 5),
    "linking.json": ("linking", 2),
    "qrels.txt": ("retrieval", 2),
    "qa.json": ("qa", 1),
    "metadata.json": ("metadata", 4),
    "annotators/a.tsv": ("annotators", 1),
}


@pytest.mark.parametrize("name", PART_OF)
def test_a_missing_part_is_an_error(tmp_path, name):
    (dataset(tmp_path) / name).unlink()
    report = hold_against_plan(tmp_path)
    part, count = PART_OF[name]
    assert not report.passed
    assert len(unmet(report)) == count
    assert {demand_part for demand_part, _ in unmet(report)} == {part}
    assert report.errors == count


def changed(name, old, new, times=-1):
    def change(folder):
        file = folder / name
        content = file.read_text(encoding="utf-8")
        assert old in content
        file.write_text(content.replace(old, new, times), encoding="utf-8")

    return change


SHORT = {
    "one mention short": (
        changed("ner/a.iob2", "B-GRP.HER.ARC\narchief I-GRP.HER.ARC", "O\narchief O", 1),
        ("ner", "mentions of GRP.HER.ARC"),
        "99, wanted 100; 1 short",
    ),
    "typing": (
        changed("typing.tsv", "text 0\tGRP.HER.MUS\t\n", ""),
        ("typing", "texts of GRP.HER.MUS"),
        "49, wanted 50; 1 short",
    ),
    "unbalanced": (
        changed("typing.tsv", "text 0\tGRP.HER.MUS\t\n", "text 0\tGRP.HER.MUS\t\n" * 60),
        ("typing", "balance"),
        "2.2 to 1, wanted at most 2 to 1",
    ),
    "no NIL": (
        changed("linking.json", "NIL", "Q9"),
        ("linking", "NIL"),
        "0.0 %, wanted 10 to 20 %",
    ),
    "links": (
        changed("linking.json", '[{"mention": "m0", "gold_wikidata": "NIL"}, ', "["),
        ("linking", "mentions"),
        "499, wanted 500; 1 short",
    ),
    "judgements": (
        changed("qrels.txt", "q7 0 d0 0\nq7 0 d1 1\n", ""),
        ("retrieval", "judgements"),
        "48 at least, wanted 50 a query; 2 short",
    ),
    "queries": (
        changed("qrels.txt", "q0 ", "q1 "),
        ("retrieval", "queries"),
        "199, wanted 200; 1 short",
    ),
    "date": (
        changed("metadata.json", "2025-03-01", "March"),
        ("metadata", "created_date"),
        "March, wanted a date, such as 2025-01-31",
    ),
    "languages": (
        changed("metadata.json", '["nl", "en"]', '"nl"'),
        ("metadata", "languages"),
        "nl, wanted a list of texts",
    ),
    "agreement": (
        changed("annotators/b.tsv", "ARC", "MUS", 9),
        ("annotators", "agreement"),
        "κ 0.667, n 60, wanted κ > 0.85",
    ),
}


@pytest.mark.parametrize(("change", "where", "told"), SHORT.values(), ids=SHORT)
def test_what_falls_short_is_told_with_its_number(tmp_path, change, where, told):
    change(dataset(tmp_path))
    report = hold_against_plan(tmp_path)
    assert not report.passed
    assert unmet(report) == {where}
    [short] = [finding for finding in report.findings if finding.code == "short_of_plan"]
    assert (short.where, short.message) == (": ".join(where), told)


NOTICED = {
    "unknown type": (changed("ner/a.iob2", "B-GRP.HER.ARC", "B-ORG", 1), "unknown_type"),
    "mention without a beginning": (changed("ner/a.iob2", "Het O", "Het I-TOP", 1), "broken_iob2"),
    "BRAT span": (changed("ner/b.txt", "de vereniging", "een vereniging"), "misplaced_span"),
    "grade": (changed("qrels.txt", "q0 0 d3 3", "q0 0 d3 4", 1), "grade_out_of_range"),
    "judged twice": (changed("qrels.txt", "q0 0 d1 1\n", "q0 0 d1 1\n" * 2, 1), "judged_twice"),
    "answer type": (changed("qa.json", "factual", "why", 1), "unknown_answer_type"),
    "language": (changed("metadata.json", '"en"', '"xx"'), "unknown_language"),
}


@pytest.mark.parametrize(("change", "code"), NOTICED.values(), ids=NOTICED)
def test_what_is_odd_is_noticed(tmp_path, change, code):
    change(dataset(tmp_path))
    assert code in hold_against_plan(tmp_path).finding_counts


def test_the_offsets_of_a_widespread_copy_are_caught(tmp_path):
    file = tmp_path / "entries.jsonl"
    file.write_text(lines([entry(1, ((58, 62), (93, 104))), entry(2)]))
    found = [
        finding for finding in hold_against_plan(file).findings if finding.code == "misplaced_span"
    ]
    assert [(one.where, one.severity, one.message) for one in found] == [
        ("e1", "error", '"1800" is at 60–64, not at 58–62, which holds "n 18"'),
        ("e1", "error", '"Nederlandse" is at 98–109, not at 93–104, which holds "ctie Nederl"'),
    ]


@given(st.text("ab ", max_size=12), st.text("ab ", min_size=1, max_size=3), st.integers(-3, 14))
def test_the_right_place_is_the_nearest_one(text, surface, start):
    end = start + len(surface)
    fact = misplacement(text, Mention(surface, "TOP", start, end))
    places = [at for at in range(len(text)) if text[at : at + len(surface)] == surface]
    if start in places:
        assert fact is None
    elif not places:
        assert "is nowhere in the text" in fact
    else:
        right = min(places, key=lambda at: (abs(at - start), at))
        assert f" is at {right}–{right + len(surface)}" in fact


def test_entries_count_for_every_part_they_have(tmp_path):
    more = {
        "type_classification": {"primary_type": "GRP.HER.MUS"},
        "entity_linking": {"a": {"wikidata_id": "Q1"}, "b": {"wikidata_id": None, "ghcid": ""}},
        "qa_pairs": [{"question": "Why?", "answer": "So.", "answer_type": "factual"}],
    }
    file = tmp_path / "entries.jsonl"
    file.write_text(lines([entry(1, **more), entry(2)]))
    found = {(one.part, one.what): one.found for one in hold_against_plan(file).demands}
    assert found["ner", "mentions of TMP"] == "2"
    assert found["typing", "texts of GRP.HER.MUS"] == "1"
    assert (found["linking", "mentions"], found["linking", "NIL"]) == ("2", "50.0 %")
    assert found["qa", "questions"] == "1"
    assert found["retrieval", "queries"] == found["annotators", "agreement"] == "missing"


BROKEN = {
    "ann": ("ner/b.ann", "T1 SOC 3 13 vereniging\n", "ner/b.ann:1: not like T1<tab>TYPE"),
    "iob2": ("ner/a.iob2", "Het X-TOP\n", 'a.iob2:1: tag "X-TOP" is not O, B-TYPE or I-TYPE'),
    "typing": ("typing.tsv", "text\ttype\n", "no column is called gold_type"),
    "qrels": ("qrels.txt", "q1 d1 3\n", "qrels.txt:1: columns: 3, not the 4 of TREC judgements"),
    "grade": ("qrels.txt", "q1 0 d1 ٣\n", 'qrels.txt:1: grade: "٣" is not a whole number'),
    "json": ("qa.json", "[1]", "item 1: record: expected an object"),
    "metadata": ("metadata.json", "{", "metadata.json:1: not JSON"),
    "entry": ("entries.jsonl", '{"id": "a"}\n', "entries.jsonl:1: text: missing"),
}


@pytest.mark.parametrize(("name", "content", "fact"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path, name, content, fact):
    (dataset(tmp_path) / name).write_text(content)
    with pytest.raises(InputRejected) as rejected:
        hold_against_plan(tmp_path)
    assert fact in str(rejected.value)


def test_judgements_are_read_as_an_evaluation_reads_them(tmp_path):
    file = dataset(tmp_path) / "qrels.txt"
    before = hold_against_plan(tmp_path).demands
    file.write_text("# who judged, and when\n" + file.read_text().replace("d1 1\n", "d1\t+1\r\n"))
    assert hold_against_plan(tmp_path).demands == before


@pytest.mark.parametrize("folder", [False, True])
def test_a_gold_set_of_questions_is_told_once_that_it_is_one(tmp_path, folder):
    file = tmp_path / "entries.jsonl"
    file.write_text(lines({"qid": f"q{n}", "question": f"Who is {n}?"} for n in range(9)))
    with pytest.raises(InputRejected) as rejected:
        hold_against_plan(tmp_path if folder else file)
    (told,) = rejected.value.problems
    assert told.startswith(f"{file}: is a gold set of questions, and the plan wants heritage")
    file.write_text(lines([entry(1), {"qid": "q1", "question": "Who?"}]))
    with pytest.raises(InputRejected, match=r"entries.jsonl:2: id: missing"):
        hold_against_plan(file)


def test_an_empty_folder_is_told_what_to_hold(tmp_path):
    with pytest.raises(UsageError, match=r"it looks for entries\.jsonl"):
        hold_against_plan(tmp_path)


def test_types_of_the_plan():
    assert set(CUSTODIAN_TYPES) < set(ENTITY_TYPES)
    assert len(ENTITY_TYPES) == 7


def test_the_command(tmp_path):
    done = ragauge("gold", "lint", "--plan", "heritage", dataset(tmp_path))
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert "Meets the plan: 22 of 22 lines are met" in shown
    (tmp_path / "qa.json").unlink()
    done = ragauge("gold", "lint", "--plan", "heritage", tmp_path)
    assert done.returncode == 1
    [line] = [line for line in done.stdout.decode().splitlines() if line.startswith("  qa ")]
    assert line.split() == ["qa", "questions", "300", "missing", "short", "by", "300"]
    done = ragauge("gold", "lint", "--plan", "heritage", tmp_path, "--format", "json")
    report = json.loads(done.stdout)
    assert (report["schema"], report["pass"]) == ("ragauge.gold-plan/1", False)
    assert report.keys() >= {"metrics", "gates", "findings", "finding_counts", "coverage"}


def test_sections_are_of_questions_not_of_a_dataset(tmp_path):
    done = ragauge("gold", "lint", "--plan", "heritage", "--sections", tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
