"""Which columns are scores, strata or neither is decided over the whole file."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from ragauge.ingest.scored.scored_file import read_scores


def scored(**columns):
    length = len(next(iter(columns.values())))
    return read_scores(
        [
            {"id": f"s{place}", "faithfulness": 1.0, **{k: v[place] for k, v in columns.items()}}
            for place in range(length)
        ]
    )


def metrics(**columns):
    return scored(**columns).metrics[1:]


def test_numbers_make_a_column_a_score():
    assert metrics(tone=[0.5, None, "n/a"]) == ("tone",)
    assert metrics(tone=["low", "high", "high"]) == ()
    assert metrics(tone=["low", 0.5, "high"]) == ()


@pytest.mark.parametrize(
    "name",
    ["context_recall", "Context Recall", "llm_context_precision_with_reference", "answerRelevancy"],
)
@pytest.mark.parametrize("cells", [[None, None], [float("nan"), None], ["bad", "worse"], [[], {}]])
def test_a_column_called_as_one_of_the_seven_is_a_score_whatever_it_holds(name, cells):
    found = scored(**{name: cells})
    assert len(found.metrics) == 2
    assert all(found.metrics[1] in row.invalid for row in found.rows)


@pytest.mark.parametrize(
    "name", ["answers.rougeL", "token_f1", "answer_correctness", "nv_accuracy"]
)
def test_a_column_called_as_another_metric_may_be_empty(name):
    assert metrics(**{name: [None, float("nan")]}) == (name,)
    assert metrics(**{name: ["low", "high"]}) == ()


def test_common_words_are_metrics_only_where_they_hold_numbers():
    assert metrics(similar=["yes", "no"], factuality=["good", "good"]) == ()
    assert metrics(similar=[0.5, 1.0]) == ("semantic_similarity",)


def test_an_empty_column_of_any_other_name_is_told():
    found = scored(notes=[None, None], gap=[float("nan"), float("inf")])
    assert found.metrics == ("faithfulness",)
    assert found.findings.counts == {"empty_field": 2}


@pytest.mark.parametrize(
    "name", ["seed", "latency_ms", "prompt_tokens", "index", "temperature", "doc_id"]
)
def test_numbers_that_measure_no_answer_are_no_scores(name):
    found = scored(**{name: [1, 2, 1]})
    assert found.metrics == ("faithfulness",)
    assert found.rows[0].strata == {name: "1"}


def test_verdicts_are_scores_by_their_name_and_strata_by_any_other():
    found = scored(passed=[True, False], multi_hop=[True, False], context_recall=[True, None])
    assert found.metrics == ("faithfulness", "passed", "context_recall")
    assert found.rows[0].values == {"faithfulness": 1.0, "passed": 1.0, "context_recall": 1.0}
    assert found.rows[1].values["passed"] == 0.0
    assert [row.strata for row in found.rows] == [{"multi_hop": "true"}, {"multi_hop": "false"}]


def test_few_short_values_are_a_stratum():
    found = scored(country=["NL", "DE", None], language=["nl", "nl", "de"])
    assert [row.strata for row in found.rows] == [
        {"country": "NL", "language": "nl"},
        {"country": "DE", "language": "nl"},
        {"language": "de"},
    ]


@pytest.mark.parametrize(
    "cells",
    [
        [f"note {number}" for number in range(11)],
        ["x" * 61] * 2,
        [["a"], ["a"]],
        [{"a": 1}, {"a": 1}],
        [f"value {number // 2}" for number in range(102)],
    ],
)
def test_what_is_no_stratum_is_named_and_counted(cells):
    found = scored(notes=cells)
    assert all(row.strata == {} for row in found.rows)
    assert found.findings.counts == {"extra_field": len(cells)}
    assert '"notes"' in found.findings.kept()[0].message


def test_strata_that_a_row_gives_itself_are_not_looked_at():
    rows = [
        {"id": str(n), "faithfulness": 1, "strata": {"page": f"page {n}", "n": n}}
        for n in range(60)
    ]
    assert read_scores(rows).rows[59].strata == {"page": "page 59", "n": "59"}


def test_a_value_of_a_stratum_that_is_long_in_one_row_makes_none_of_it():
    assert scored(topic=["a", "b" * 61]).rows[0].strata == {}


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_numbers_of_rows_that_pandas_writes_are_nothing(name):
    found = scored(**{name: [0, 1]})
    assert found.metrics == ("faithfulness",) and found.rows[0].strata == {}
    assert found.findings.counts == {}


def test_days_and_numbers_of_other_libraries_are_strata_and_scores():
    numbers = [np.float64(0.5), np.float32("nan"), np.int64(1), Decimal("0.25"), 10**400]
    days = [date(2024, 1, day) for day in (1, 1, 2, 2, 2)]
    found = scored(tone=numbers, day=days, level=[np.str_("a"), None, None, None, None])
    assert [row.values.get("tone") for row in found.rows] == [0.5, None, 1.0, 0.25, None]
    assert [row.invalid.get("tone") for row in found.rows] == [None, "NaN", None, None, "infinite"]
    assert found.rows[0].strata == {"day": "2024-01-01", "level": "a"}
    counted = scored(seed=[np.int64(7), np.int64(7)])
    assert counted.rows[0].strata == {"seed": "7"}
