"""The end of every evaluation: what was not measured does not pass, and nothing is left untold."""

import pytest

from ragauge import evaluate_all, evaluate_ner, evaluate_retrieval, evaluate_types
from ragauge.demo.components import ANNOTATED
from ragauge.errors import InputRejected, UsageError

QRELS = {f"q{number}": {"d1": 1} for number in range(4)}
RUN = {f"q{number}": {"d1": 1.0} for number in range(4)}


class Classifier:
    def classify(self, text):
        return "M"


def gates(report):
    return {gate.rule: gate.verdict for gate in report.gates}


def test_documents_without_entities_measure_nothing_and_do_not_pass():
    documents = [{"id": "a", "entities": []}, {"id": "b", "entities": []}]
    report = evaluate_ner(documents, documents).report
    assert not report.passed
    assert gates(report)["entities.f1_strict>=0"] == "not_evaluated"


def test_queries_with_nothing_relevant_measure_nothing_and_do_not_pass():
    report = evaluate_retrieval({"q1": {"d1": 0}}, {"q1": {"d1": 1.0}}).report
    assert not report.passed
    assert gates(report)["retrieval.ndcg@10>=0"] == "not_evaluated"


def test_demands_on_tasks_that_the_model_cannot_do_are_not_evaluated():
    report = evaluate_all(str(ANNOTATED), Classifier(), labels="heritage", preset="heritage").report
    told = gates(report)
    assert not report.passed
    assert told["entities.f1_strict>=0.85"] == "not_evaluated"
    assert told["linking.mrr>=0.75"] == "not_evaluated"
    assert told["answers.relevance>=0.75"] == "not_evaluated"
    assert told["answers.faithfulness>=0.8"] == "not_evaluated"
    assert "entities.coverage=1" not in told


def test_own_gates_on_tasks_that_the_model_cannot_do_are_not_evaluated():
    rule = "entities.f1_strict>=0.5"
    report = evaluate_all(str(ANNOTATED), Classifier(), labels="heritage", gates=rule).report
    assert gates(report)[rule] == "not_evaluated"
    assert not report.passed


def test_demands_on_tasks_that_were_left_out_do_not_apply():
    options = {"labels": "heritage", "preset": "heritage", "tasks": ("types",)}
    report = evaluate_all(str(ANNOTATED), Classifier(), **options).report
    assert gates(report)["entities.f1_strict>=0.85"] == "not_applicable"


def test_a_gate_where_a_stratum_is_none_selects_what_says_none():
    gold = [
        {"id": "a", "label": "M", "strata": {"tier": "none"}},
        {"id": "b", "label": "L"},
    ]
    report = evaluate_types(gold, {"a": "M", "b": "M"}, gates="accuracy>=1 where tier=none").report
    assert [gate.n for gate in report.gates] == [2, 1]
    assert report.finding_counts["no_stratum"] == 1


def test_ids_of_a_table_of_strata_that_are_no_unit_are_told(tmp_path):
    table = tmp_path / "strata.csv"
    table.write_text("id,language\nq0,nl\nq1,nl\nq9,fr\n")
    report = evaluate_retrieval(QRELS, RUN, strata=str(table)).report
    assert report.finding_counts["strata_of_no_unit"] == 1
    assert report.per_stratum["language"]["nl"]["retrieval.rr"].n == 2


def test_a_stratum_with_very_many_values_is_left_out_and_told():
    gold = [{"id": str(n), "label": "M", "strata": {"page": n}} for n in range(30)]
    labels = {str(n): "M" for n in range(30)}
    report = evaluate_types(gold, labels).report
    assert report.per_stratum == {}
    assert report.finding_counts == {"stratum_left_out": 1}
    assert len(evaluate_types(gold, labels, by=("page",)).report.per_stratum["page"]) == 30


def test_a_metric_without_an_interval_says_why():
    report = evaluate_retrieval({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}).report
    score = report.metrics["retrieval.ndcg@10"]
    assert score.ci is None
    assert "ci:none,one row has no interval" in score.signature


@pytest.mark.parametrize("name", ["GAZETTEER", "REGEX", "KEYWORDS", "EXACT", "FUZZY"])
def test_each_baseline_runs_alone(name):
    report = evaluate_all(
        str(ANNOTATED), f"ragauge.demo.components:{name}", labels="heritage"
    ).report
    assert len(report.tasks) == 1
    assert any(number.value for number in report.summary.values())


def test_a_run_whose_ids_are_of_another_kind_is_told():
    report = evaluate_retrieval({"q1": {"d1": 1}}, {"q1": {"d1#3": 1.0}}).report
    assert report.finding_counts["no_document_in_common"] == 1
    same = evaluate_retrieval({"q1": {"d1": 1}}, {"q1": {"d1#3": 1.0}}, collapse="#").report
    assert "no_document_in_common" not in same.finding_counts


def test_records_that_are_left_out_are_told():
    gold = [
        {"id": "a", "entities": []},
        {"id": "b", "entities": [{"start": 0, "end": 2, "type": "M"}]},
    ]
    found = [{"id": "a", "entities": [{"start": 5, "end": 3, "type": "M"}]}, gold[1]]
    report = evaluate_ner(gold, found, max_bad="1").report
    assert report.finding_counts["bad_line"] == 1


@pytest.mark.parametrize("empty", ["gerbil", "zero"])
def test_nothing_to_find_may_count(empty):
    documents = [{"id": "a", "entities": []}, {"id": "b", "entities": []}]
    report = evaluate_ner(documents, documents, empty=empty).report
    assert report.metrics["entities.f1_strict"].value == (1.0 if empty == "gerbil" else 0.0)


def test_a_wrong_option_is_told_by_its_flag():
    with pytest.raises(UsageError, match="--rel: expected a whole number >= 1"):
        evaluate_retrieval(QRELS, RUN, rel=0)


def test_a_table_of_strata_without_a_header_is_refused(tmp_path):
    table = tmp_path / "strata.tsv"
    table.write_text("q1\tnl\n")
    with pytest.raises(InputRejected, match="names no column of a unit"):
        evaluate_retrieval(QRELS, RUN, strata=str(table))


def test_labels_that_gold_never_has_are_told_with_what_is_near():
    gold = {"a": "M", "b": "L"}
    report = evaluate_types(gold, {"a": "m", "b": "L"}).report
    (found,) = [one for one in report.findings if one.code == "label_not_in_gold"]
    assert found.message == '"m" is predicted (1 times), and gold never has it; gold has "M"'
    declared = evaluate_types(gold, {"a": "m", "b": "L"}, labels=("M", "L")).report
    assert "label_not_in_gold" not in declared.finding_counts


def test_predictions_for_no_item_score_nothing():
    report = evaluate_types({"a": "M"}, {"b": "M"}).report
    assert report.coverage["scored"] == 0
    assert not report.passed
