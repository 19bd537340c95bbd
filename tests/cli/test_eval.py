"""`ragauge eval` as a user runs it: files in, a report out, and an exit code that decides."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ragauge.contracts.schemas import schema
from tests.cli.command import ragauge

TEXT = (
    "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800 en beheert de grootste "
    "collectie Nederlandse kunst."
)
SPANS = {"M": (4, 25), "ID": (33, 40), "TMP": (60, 64), "TOP": (98, 109)}
QRELS = "q1 0 b 1\nq1 0 e 1\nq2 0 x 1\n"
RUN = "".join(f"q1 Q0 {name} {rank} {9 - rank} t\n" for rank, name in enumerate("abcde", 1)) + (
    "q2 Q0 x 1 2 t\nq2 Q0 y 2 1 t\n"
)


def spans(**ends):
    return [
        {"start": start, "end": end, "type": type, "text": TEXT[start:end]}
        for type, (start, end) in ends.items()
    ]


def lines(path: Path, *records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def entities(tmp_path):
    """The sentence of the specification, and predictions with one cut short and one missing."""
    found = spans(M=(4, 25), ID=(33, 40), TMP=(60, 62))
    gold = lines(
        tmp_path / "gold.jsonl",
        {"id": "r1", "text": TEXT, "ner_annotations": spans(**SPANS), "strata": {"language": "nl"}},
    )
    return gold, lines(tmp_path / "pred.jsonl", {"id": "r1", "text": TEXT, "entities": found})


@pytest.fixture
def rankings(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    return tmp_path / "qrels.txt", tmp_path / "run.txt"


def report(*arguments, code=0):
    done = ragauge("eval", *arguments, "--format", "json")
    assert done.returncode == code, done.stderr.decode()
    return json.loads(done.stdout)


def values(report, *ids):
    return [round(report["metrics"][id]["value"], 4) for id in ids]


def test_entities_of_the_specification(entities):
    told = report("ner", *entities)
    assert (told["schema"], told["task"], told["pass"]) == ("ragauge.eval/1", "ner", None)
    strict = ("entities.precision_strict", "entities.recall_strict", "entities.f1_strict")
    assert values(told, *strict) == [0.6667, 0.5, 0.5714]
    partial = ("entities.precision_partial", "entities.recall_partial", "entities.f1_partial")
    assert values(told, *partial) == [1.0, 0.75, 0.8571]
    assert values(told, *(f"entities.strict.{name}" for name in ("tp", "fp", "fn"))) == [2, 1, 2]
    assert told["per_type"]["TMP"]["f1_strict"] == 0
    assert told["per_stratum"]["language"]["nl"]["entities.f1_strict"]["n"] == 1


def test_retrieval_of_the_specification(rankings):
    told = report("retrieval", *rankings)
    ids = ("retrieval.p@5", "retrieval.recall@5", "retrieval.rr")
    assert values(told, *ids) == [0.3, 1.0, 0.75]


def test_links_of_the_specification(tmp_path):
    gold = lines(
        tmp_path / "gold.jsonl",
        {"id": "1", "mention": "Rijksmuseum", "wikidata_id": "Q190804"},
        {"id": "2", "mention": "Louvre", "wikidata_id": "Q19675"},
    )
    predicted = lines(
        tmp_path / "pred.jsonl",
        {"id": "1", "mention": "Rijksmuseum", "candidates": ["Q190804"]},
        {"id": "2", "mention": "Louvre", "candidates": ["Q6373", "Q19675"]},
    )
    told = report("linking", gold, predicted)
    assert values(told, "linking.hits@1", "linking.hits@5", "linking.mrr") == [0.5, 1.0, 0.75]
    assert told["metrics"]["linking.nil_f1"]["value"] is None
    assert told["metrics"]["linking.nil_f1"]["reason"]


def test_types_with_a_missing_one(tmp_path):
    (tmp_path / "gold.tsv").write_text("id\tgold_type\n1\tM\n2\tL\n3\tA\n4\tM\n")
    (tmp_path / "pred.tsv").write_text("id\tpredicted_type\n1\tM\n2\tL\n3\tM\n")
    told = report(
        "types", tmp_path / "gold.tsv", tmp_path / "pred.tsv", "--labels", "heritage", code=1
    )
    assert told["metrics"]["labels.accuracy"]["value"] == 0.5
    assert told["finding_counts"] == {"missing_prediction": 1}
    assert sum(map(sum, told["detail"]["matrix"])) == 4
    assert told["advice"][0]["id"] in ("labels.near", "labels.missing")


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("text", "0.571"),
        ("markdown", "0.571"),
        ("html", "0.571"),
        ("junit", "Nederlandse"),
        ("csv", "TMP,1,1,0,1,1,0.0"),
    ],
)
def test_every_form_tells_what_was_found(form, told, entities):
    done = ragauge("eval", "ner", *entities, "--format", form)
    assert done.returncode == 0
    assert told in done.stdout.decode()


def test_reports_validate_against_the_published_schema(entities, rankings):
    check = Draft202012Validator(schema("eval-report"))
    for arguments in (("ner", *entities), ("retrieval", *rankings)):
        check.validate(report(*arguments))


def test_the_preset_gates_only_its_own_task(entities):
    told = report("ner", *entities, "--preset", "heritage", code=1)
    assert [gate["metric"] for gate in told["gates"]] == [
        "entities.f1_strict",
        "entities.f1_partial",
        "entities.coverage",
    ]
    assert {gate["verdict"] for gate in told["gates"]} == {"fail", "pass"}


def test_gates_take_the_names_of_other_tools(rankings):
    told = report("retrieval", *rankings, "--gates", "nDCG@10>=0.5,P(rel=2)@5>=0.1", code=1)
    verdicts = {gate["metric"]: gate["verdict"] for gate in told["gates"]}
    assert verdicts["retrieval.ndcg@10"] == "pass"
    assert verdicts["retrieval.p(rel=2)@5"] == "fail"  # TREC: nothing relevant counts 0
    free = report(
        "retrieval", *rankings, "--gates", "P(rel=2)@5>=0.1", "--no-rel", "exclude", code=1
    )
    assert free["gates"][1]["verdict"] == "not_evaluated"


def test_a_gate_on_a_stratum(entities):
    told = report("ner", *entities, "--gates", "f1_strict>=0.9 where language=nl", code=1)
    assert told["gates"][1]["n"] == 1
    done = ragauge("eval", "ner", *entities, "--gates", "f1_strict>=0.9 where country=NL")
    assert done.returncode == 2
    assert b'no unit has "country"; there are language' in done.stderr


def test_an_unknown_stratum_is_refused(entities):
    done = ragauge("eval", "ner", *entities, "--by", "country")
    assert done.returncode == 2
    assert b"--by country: no such stratum; there are language" in done.stderr


def test_strata_from_a_table(rankings, tmp_path):
    table = tmp_path / "strata.tsv"
    table.write_text("query\tlanguage\nq1\tnl\nq2\ten\n")
    told = report("retrieval", *rankings, "--strata", table, "--by", "language")
    assert set(told["per_stratum"]["language"]) == {"nl", "en"}
    assert told["per_stratum"]["language"]["en"]["retrieval.rr"]["value"] == 1


def test_missing_predictions_fail_and_are_told(entities, tmp_path):
    gold, predicted = entities
    with gold.open("a") as file:
        file.write(json.dumps({"id": "r2", "text": TEXT, "entities": spans(**SPANS)}) + "\n")
    told = report("ner", gold, predicted, code=1)
    assert told["metrics"]["entities.coverage"]["value"] == 0.5
    assert values(told, "entities.recall_strict") == [0.25]
    assert told["finding_counts"]["missing_document"] == 1
    assert "entities.missing_document" in {one["id"] for one in told["advice"]}


def test_predictions_of_other_documents_measure_nothing(entities, tmp_path):
    gold, _ = entities
    other = lines(tmp_path / "other.jsonl", {"id": "r9", "text": TEXT, "entities": []})
    told = report("ner", gold, other, code=3)
    assert told["finding_counts"].keys() >= {"missing_document", "unknown_document"}


def test_bad_lines_are_all_told_and_nothing_is_written(entities, tmp_path):
    gold, _ = entities
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "r1", "entities": [{"start": 5, "end": 3, "type": "M"}]}\n{"id": \n')
    done = ragauge("eval", "ner", gold, bad, "--report", tmp_path / "out.json")
    assert done.returncode == 3
    assert b"bad.jsonl:1:" in done.stderr
    assert b"bad.jsonl:2:" in done.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_report_never_overwrites_what_is_read(rankings):
    done = ragauge("eval", "retrieval", *rankings, "--out", rankings[1])
    assert done.returncode == 2
    assert rankings[1].read_text() == RUN


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_rows_of_each_query(ending, rankings, tmp_path):
    import polars as pl

    out = tmp_path / f"rows{ending}"
    assert ragauge("eval", "retrieval", *rankings, "--out", out).returncode == 0
    read = {".jsonl": pl.read_ndjson, ".csv": pl.read_csv, ".parquet": pl.read_parquet}[ending]
    frame = read(out)
    assert frame["unit"].to_list() == ["q1", "q2"]
    assert frame["retrieval.rr"].to_list() == [0.5, 1.0]


def test_two_recorded_runs_are_compared(rankings, tmp_path):
    qrels, run = rankings
    worse = tmp_path / "worse.txt"
    worse.write_text(RUN.replace("q2 Q0 x 1 2 t", "q2 Q0 x 1 0 t"))
    for file in (run, worse):
        done = ragauge("eval", "retrieval", qrels, file, "--record", "--store", tmp_path / "runs")
        assert done.returncode == 0, done.stderr.decode()
    done = ragauge(
        *("runs", "list", "--store", tmp_path / "runs", "--format", "json"), COLUMNS="200"
    )
    ids = [one["id"] for one in json.loads(done.stdout)["runs"]]
    done = ragauge("compare", ids[1], ids[0], "--store", tmp_path / "runs", "--format", "json")
    told = json.loads(done.stdout)
    assert told["metrics"]["retrieval.rr"]["value"] == -0.25


def test_the_demo_gives_a_five_task_report():
    told = report("all", "--demo")
    assert list(told["summary"]) == sorted(told["summary"])
    assert set(told["summary"]) == {
        *("ner_f1_strict", "ner_f1_partial", "type_classification_accuracy"),
        *("entity_linking_mrr", "entity_linking_hits@1", "retrieval_ndcg@10"),
        *("qa_faithfulness", "qa_relevance"),
    }
    measured = [one for one in told["summary"].values() if one["value"] is not None]
    assert len(measured) == 8
    assert all(one["metric"] for one in told["summary"].values())


def test_conversion_keeps_what_is_scored(entities, tmp_path):
    gold, _ = entities
    folder = tmp_path / "brat"
    assert ragauge("eval", "convert", gold, folder, "--to", "brat").returncode == 0
    told = report("ner", gold, folder)
    assert told["metrics"]["entities.f1_strict"]["value"] == 1


def test_conversion_of_rankings(rankings, tmp_path):
    out = tmp_path / "run.json"
    done = ragauge("eval", "convert", rankings[1], out, "--what", "run", "--to", "ranx")
    assert done.returncode == 0
    told = report("retrieval", rankings[0], out)
    assert told["metrics"]["retrieval.rr"]["value"] == 0.75


def test_conversion_that_would_lose_something_is_refused(tmp_path):
    nested = [{"start": 0, "end": 3, "type": "A"}, {"start": 0, "end": 15, "type": "B"}]
    gold = lines(tmp_path / "gold.jsonl", {"id": "d", "text": TEXT, "entities": nested})
    out = tmp_path / "out.iob2"
    done = ragauge("eval", "convert", gold, out, "--to", "iob2")
    assert done.returncode == 3
    assert not out.exists()
    assert ragauge("eval", "convert", gold, out, "--to", "iob2", "--lossy").returncode == 0
    assert out.exists()


def test_the_number_of_workers_changes_nothing(rankings):
    one, two = (
        ragauge("eval", "retrieval", *rankings, "--workers", workers, "--format", "json")
        for workers in ("1", "2")
    )
    assert (one.returncode, one.stdout) == (0, two.stdout)


def test_a_wrong_number_of_workers_is_refused(rankings):
    done = ragauge("eval", "retrieval", *rankings, "--workers", "x")
    assert done.returncode == 2
    assert b"workers" in done.stderr
