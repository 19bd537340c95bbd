"""One metric has one name, whatever a tool calls it; two columns are never made one."""

import pytest

from ragauge.ingest.scored.columns import SEVEN, metric_names, our_name
from ragauge.ingest.scored.scored_file import read_scores


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("factual_correctness(mode=f1)", "factual_correctness"),
        ("noise_sensitivity(mode=relevant)", "noise_sensitivity"),
        ("noise_sensitivity_relevant", "noise_sensitivity"),
        ("noise_sensitivity(mode=irrelevant)", "noise_sensitivity_irrelevant"),
        ("llm_context_precision_with_reference", "context_precision"),
        ("llm_context_precision_without_reference", "context_precision"),
        ("context_utilization", "context_precision"),
        ("answer_similarity", "semantic_similarity"),
        ("response_relevancy", "answer_relevancy"),
        ("Answer Relevancy", "answer_relevancy"),
        ("Contextual Precision", "context_precision"),
        ("Contextual Recall", "context_recall"),
        ("Contextual Relevancy", "context_relevancy"),
        ("Faithfulness (ragas)", "faithfulness"),
        ("Hallucination", "hallucination"),
        ("context-faithfulness", "faithfulness"),
        ("answer-relevance", "answer_relevancy"),
        ("factuality", "factual_correctness"),
        ("similar", "semantic_similarity"),
    ],
)
def test_names_of_other_tools(written, ours):
    assert our_name(written) == ours
    scored = read_scores([{"id": "a", written: 0.5}])
    assert scored.metrics == (ours,) and scored.renamed == {written: ours}
    assert scored.findings.counts == {"renamed_metric": 1}
    assert scored.findings.kept()[0].message == f'"{written}" is read as {ours}'


@pytest.mark.parametrize("name", [*SEVEN, "answer_correctness", "tone", "answers.faithfulness"])
def test_names_that_stay(name):
    scored = read_scores([{"id": "a", name: 0.5}])
    assert scored.metrics == (name,) and scored.renamed == {}


def test_of_two_columns_for_one_metric_the_nearest_is_it():
    names = ["factual_correctness(mode=recall)", "factual_correctness(mode=f1)"]
    assert metric_names(names) == {names[0]: names[0], names[1]: "factual_correctness"}
    assert metric_names(names[:1]) == {names[0]: "factual_correctness"}
    own = metric_names(["Faithfulness", "faithfulness"])
    assert own == {"Faithfulness": "Faithfulness", "faithfulness": "faithfulness"}


def test_the_order_of_columns_does_not_decide():
    names = ["context_utilization", "llm_context_precision_with_reference", "Contextual Precision"]
    assert metric_names(names) == metric_names(names[::-1])


def test_the_column_that_keeps_its_name_is_told():
    row = {"id": "a", "context_precision": 0.5, "context_utilization": 0.7}
    scored = read_scores([row])
    assert scored.rows[0].values == {"context_precision": 0.5, "context_utilization": 0.7}
    assert scored.findings.counts == {"rival_metric": 1}
    assert "keeps its name beside" in scored.findings.kept()[0].message
