"""`evaluate_answers`: rows in, scores in the same order out, and nothing passes unmeasured."""

from __future__ import annotations

import json
import random
from functools import partial

import msgspec
import polars as pl
import pytest

from ragauge import evaluate_answers, open_history, record
from ragauge.engines.local import ordered
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.table import reading
from ragauge.runners.answers import gathering, supporting
from ragauge.runners.answers.scores import write_scores
from ragauge.runners.answers.supporting import measured_answers
from ragauge.runners.compare import compare

CONTEXT = "The museum opened in 1800 and has 12,000 paintings."
ROWS = [
    {
        "id": "b",
        "question": "When did it open?",
        "answer": "It opened in 1801.",
        "contexts": [CONTEXT],
        "reference": "In 1800.",
    },
    {
        "id": "a",
        "question": "When did it open?",
        "answer": "The museum opened in 1800.",
        "contexts": [CONTEXT],
        "reference": "In 1800.",
    },
    {"id": "c", "question": "Where is it?", "answer": None, "contexts": [CONTEXT]},
    {"id": "d", "question": "Where is it?", "answer": "In Ede."},
]


def evaluated(rows=ROWS, **options):
    return evaluate_answers(rows, **{"intervals": False} | options)


def values(outcome, name):
    return [one.scores[name]["value"] for one in outcome.scores]


def test_scores_stand_in_the_order_of_the_rows():
    outcome = evaluated()
    assert [one.id for one in outcome.scores] == ["b", "a", "c", "d"]
    assert values(outcome, "containment") == [0.0, 1.0, None, None]
    assert values(outcome, "date_agreement") == [0.0, 1.0, None, None]


def test_what_is_absent_says_why():
    scores = evaluated().scores
    assert scores[2].scores["relevance"]["reason"] == "no answer: the row has none"
    assert scores[3].scores["containment"]["reason"] == "no reference"
    for one in scores:
        for score in one.scores.values():
            assert score["value"] is not None or score["reason"]


def test_without_a_judge_every_other_metric_is_measured():
    measured = {id for id in reading("answers") if not judged(id)}
    assert set(evaluated().report.metrics) == measured


def judged(id):
    return bool(reading("answers")[id].needs & {"claims", "rubric", "lexical_claims"})


def test_an_error_record_is_in_of_and_fails_coverage():
    report = evaluated().report
    assert not report.passed
    assert report.metrics["answers.containment"].of == 4
    assert report.metrics["answers.coverage"].value == 0.75
    assert report.coverage == {
        "answers": 4,
        "duplicates": 0,
        "scored": 3,
        "errors": 1,
        "lost_to_failed_calls": 0,
        "refusals": 0,
        "rejected": 0,
    }
    assert evaluated(ROWS[:2]).report.passed is None
    assert evaluated(ROWS[:2], gates="containment>=0.1").report.passed


def test_numbers_do_not_depend_on_the_order_of_rows():
    rows = [row | {"id": f"r{n}-{row['id']}"} for n in range(12) for row in ROWS]
    shuffled = random.Random(7).sample(rows, len(rows))
    one, other = (evaluated(some, intervals=True).report for some in (rows, shuffled))
    assert one.metrics == other.metrics
    assert one.identity == other.identity
    assert one.detail.worst == other.detail.worst


def test_the_number_of_workers_changes_nothing(monkeypatch):
    monkeypatch.setattr("ragauge.runners.answers.supporting.MANY", 1)
    monkeypatch.setattr("ragauge.runners.answers.supporting.PIECE", 2)
    one, two = evaluated(judge="lexical"), evaluated(judge="lexical", workers=2)
    assert msgspec.json.encode(one.scores) == msgspec.json.encode(two.scores)
    assert one.report.metrics == two.report.metrics


def test_only_what_is_asked_for_is_measured():
    outcome = evaluated(metrics=("token_f1", "answers.chrf"))
    assert set(outcome.scores[0].scores) == {"token_f1", "chrf", "coverage"}
    assert outcome.report.detail.embedder is None


def test_tokens_of_rouge_are_named_in_its_id_and_signature():
    outcome = evaluated(metrics=("rouge1",), tokenizer="rouge155")
    id = "answers.rouge1(tokenizer=rouge155)"
    assert "|tokenizer:rouge155|" in outcome.report.metrics[id].signature
    assert "tokenizer:unicode" in evaluated().report.metrics["answers.rouge1"].signature


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"metrics": ("faithfulness",)}, "a judge is needed"),
        ({"metrics": ("token_f1",), "judge": "lexical"}, "none of the metrics"),
        ({"judge": "http://localhost:1/v1"}, "--judge-model"),
        ({"judge": "gpt", "judge_model": "x"}, "neither lexical nor a URL"),
        ({"judge": "http://h/v1", "judge_model": "x", "rate": "fast"}, "no rate of calls"),
        ({"judge": "lexical", "judge_model": "x"}, "belongs to --judge URL"),
        ({"budget": "calls=3"}, "--budget: belongs to"),
        ({"metrics": ("token_f1",), "embedder": "ngram"}, "--embedder"),
        ({"metrics": ("token_f1",), "kind": "qa"}, "--kind"),
        ({"metrics": ("token_f1",), "tokenizer": "rouge155"}, "--tokenizer"),
        ({"metrics": ("coverage",)}, "name another"),
        ({"metrics": ("token_f1",), "calibration": ("x.json",)}, "--calibration"),
        ({"metrics": ("nonsense",)}, "no metric"),
        ({"metrics": ("ndcg@10",)}, "eval retrieval"),
        ({"refusal": "often"}, "--refusal"),
        ({"preset": "none"}, "no preset"),
        ({"by": ("country",)}, "no such stratum"),
        ({"embedder": "nobody"}, "embedder"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(options, fact):
    with pytest.raises(UsageError, match=fact):
        evaluated(**options)


def test_coefficients_that_cannot_be_read_end_in_words(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('version = "7"')
    with pytest.raises(InputRejected, match="coefficients cannot be read"):
        evaluated(judge="lexical", calibration=(str(file),))


def test_agreement_with_people_stands_beside_the_metric(tmp_path):
    agreed = {
        **dict.fromkeys(("auroc", "auroc_ci", "balanced_accuracy", "kappa", "ece", "threshold")),
        **{"judge": "small", "n": 9, "sources": 3, "base_rate": 0.5, "labels": "labels.jsonl"},
    }
    metrics = ("answers.groundedness", "answers.faithfulness", "answers.lexical_faithfulness")
    file = tmp_path / "calibration.json"
    told = [agreed | {"metric": one} for one in metrics]
    told[0]["judge"] = "lexical"
    file.write_text(json.dumps({"agreement": told}))
    report = evaluated(calibration=(str(file),)).report
    assert [one.metric for one in report.detail.agreement] == ["answers.groundedness"]


def test_a_preset_is_not_decided_by_words_in_place_of_a_judge():
    def verdicts(**options):
        gates = evaluated(ROWS[:2], preset="heritage", **options).report.gates
        return {gate.metric: gate.verdict for gate in gates}

    assert verdicts()["answers.faithfulness"] == "not_evaluated"
    lexical = verdicts(judge="lexical")
    assert lexical["answers.faithfulness"] == "not_evaluated"
    assert "answers.lexical_faithfulness" not in lexical
    assert lexical["answers.relevance"] == "not_evaluated"  # the embedder is ngram


def test_refusals_are_counted_by_the_chosen_predicate():
    said = ["not in context", "- “not in context.”", "The documents do not say when it opened."]
    rows = [{"id": str(place), "answer": one} for place, one in enumerate(said)]
    counted = {
        strength: evaluated(rows, refusal=strength).report.detail.refusals
        for strength in ("exact", "near", "free")
    }
    assert counted == {"exact": 1, "near": 2, "free": 3}


def test_groups_are_resampled_together():
    rows = [
        {"id": f"{n}", "answer": "a" if n < 30 else "b", "reference": "a", "group": f"g{n % 2}"}
        for n in range(60)
    ]
    alike = [row | {"group": f"g{int(row['id']) // 30}"} for row in rows]

    def width(some):
        score = evaluated(some, intervals=True, metrics=("token_f1",)).report.metrics
        low, high = score["answers.token_f1"].ci
        assert "|groups:2|" in score["answers.token_f1"].signature
        return high - low

    # Where all of a group are alike there are but two independent answers.
    assert width(alike) == pytest.approx(1.0)
    ungrouped = [{key: row[key] for key in row if key != "group"} for row in rows]
    alone = evaluated(ungrouped, intervals=True, metrics=("token_f1",)).report
    low, high = alone.metrics["answers.token_f1"].ci
    assert high - low < 0.5


def test_a_group_that_is_left_out_of_a_slice_is_not_counted():
    rows = [
        {"id": f"{n}", "answer": "a b", "reference": "a", "group": f"g{n}", "model": f"m{n % 2}"}
        for n in range(6)
    ]
    report = evaluated(rows, intervals=True, by=("model",)).report
    score = report.per_stratum["model"]["m0"]["answers.token_recall"]
    assert (score.n, score.of) == (3, 3)
    assert "|groups:3|" in score.signature


def test_the_worst_answers_come_first_and_say_why():
    worst = evaluated(metrics=("token_recall",)).report.detail.worst
    assert [one.id for one in worst] == ["b", "a"]
    assert worst[0].values["answers.token_recall"] < 1


def test_faults_lead_to_advice():
    advice = {one.id: one for one in evaluated().report.advice}
    assert advice["answers.no_answer"].questions == ("c",)
    assert advice["answers.strange_number"].questions == ("b",)


def test_bad_records_are_refused_or_told():
    rows = [*ROWS[:2], {"id": "x", "answer": 7}]
    with pytest.raises(InputRejected, match="answer: expected text, got a number"):
        evaluated(rows)
    report = evaluated(rows, max_bad="1").report
    assert report.finding_counts["bad_line"] == report.coverage["rejected"] == 1


def test_rows_that_measure_nothing_do_not_pass():
    report = evaluated([{"id": "a", "answer": "x"}], metrics=("token_f1",)).report
    assert not report.passed
    assert {gate.metric: gate.verdict for gate in report.gates}["answers.token_f1"] == (
        "not_evaluated"
    )


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_rows_are_written_in_the_order_of_the_input(tmp_path, ending):
    file = tmp_path / f"scores.{ending}"
    write_scores(evaluated(), str(file))
    if ending == "jsonl":
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert [line["id"] for line in lines] == ["b", "a", "c", "d"]
        assert lines[0]["scores"]["containment"] == {"reason": None, "value": 0.0}
        return
    frame = pl.read_csv(file) if ending == "csv" else pl.read_parquet(file)
    assert frame["id"].to_list() == frame["unit"].to_list() == ["b", "a", "c", "d"]
    assert frame["containment"].to_list() == [0.0, 1.0, None, None]
    assert frame["containment_reason"].to_list() == [None, None, *["no reference"] * 2]


def test_ids_are_written_as_they_were_read():
    rows = [{"id": 7, "answer": "a"}, {"id": "x", "answer": "b"}, {"id": 7, "answer": "c"}]
    assert [one.id for one in evaluated([*rows, {"answer": "d"}]).scores] == [7, "x", 7, "4"]


def test_recorded_runs_are_compared_answer_by_answer(tmp_path):
    rows = [row | {"id": f"{n}"} for n in range(8) for row in ROWS[:1]]
    better = [row | {"answer": "It opened in 1800."} for row in rows]
    history = open_history(str(tmp_path / "runs"))
    try:
        runs = [record(evaluated(some), history).shown for some in (rows, better)]
        found = compare(history, *runs)
    finally:
        history.close()
    change = found.metrics["answers.containment"]
    assert (change.n, change.value) == (8, 1.0)


def test_the_same_bytes_with_any_number_of_workers(monkeypatch):
    used = []

    def spied(make, arguments, work, workers):
        used.append(workers)
        return ordered(make, arguments, work, workers)

    monkeypatch.setattr(supporting, "ordered", spied)
    monkeypatch.setattr(gathering, "measured_answers", partial(measured_answers, many=200))
    rows = [{**ROWS[0], "id": str(number), "answer": f"In {number}."} for number in range(200)]
    names = ("groundedness", "relevance", "lexical_answer_relevancy", "rougeL", "date_agreement")
    outcomes = [
        evaluated(rows, judge="lexical", workers=workers, metrics=names) for workers in (1, 2)
    ]
    assert used == [1, 2]
    assert len({msgspec.json.encode(one.report) for one in outcomes}) == 1
    assert len({msgspec.json.encode(one.scores) for one in outcomes}) == 1


def test_few_rows_start_no_process(monkeypatch):
    used = []
    monkeypatch.setattr(
        supporting, "ordered", lambda *given: used.append(given[-1]) or ordered(*given)
    )
    evaluated(workers=8)
    assert used == [1]


def test_a_row_without_an_answer_is_where_its_finding_says_it_is():
    row = {**ROWS[0], "answer": None}
    report = evaluated([row, ROWS[1]], judge="lexical").report
    (finding,) = (one for one in report.findings if one.code == "no_answer")
    assert finding.message.endswith("an error record, in no number that reads one")
    assert report.metrics["answers.lexical_context_recall"].n == 2
    assert report.metrics["answers.lexical_faithfulness"].n == 1
