"""Result files of ragas, deepeval and promptfoo, in the shapes that these tools write."""

import json

import polars as pl
import pytest

from ragauge.contracts.answers import Context
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.scored.scored_file import read_scores

RAGAS = [
    {
        "user_input": "When did it open?",
        "retrieved_contexts": ["It opened in 1800.", "It is in Ede."],
        "response": "In 1800.",
        "reference": "in 1800",
        "faithfulness": 1.0,
        "llm_context_precision_with_reference": 0.9999999999,
        "factual_correctness(mode=f1)": 0.67,
        "noise_sensitivity(mode=relevant)": float("nan"),
    },
    {
        "user_input": "Who runs it?",
        "retrieved_contexts": ["It is in Ede."],
        "response": "I do not know.",
        "reference": "The state.",
        "faithfulness": float("nan"),
        "llm_context_precision_with_reference": 0.0,
        "factual_correctness(mode=f1)": 0.0,
        "noise_sensitivity(mode=relevant)": 0.5,
    },
]
OURS = ("faithfulness", "context_precision", "factual_correctness", "noise_sensitivity")


def saved(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def ragas_files(folder):
    """The table as pandas writes it into each format."""
    yield saved(folder / "records.json", RAGAS)
    yield saved(folder / "lines.jsonl", "".join(json.dumps(row) + "\n" for row in RAGAS))
    columns = {name: {str(n): row[name] for n, row in enumerate(RAGAS)} for name in RAGAS[0]}
    yield saved(folder / "columns.json", columns)
    pl.DataFrame(RAGAS).write_parquet(folder / "table.parquet")
    yield folder / "table.parquet"
    yield saved(
        folder / "table.csv",
        ",user_input,retrieved_contexts,response,reference,faithfulness,"
        "llm_context_precision_with_reference,factual_correctness(mode=f1),"
        "noise_sensitivity(mode=relevant)\n"
        "0,When did it open?,\"['It opened in 1800.', 'It is in Ede.']\",In 1800.,in 1800,"
        "1.0,0.9999999999,0.67,\n"
        "1,Who runs it?,['It is in Ede.'],I do not know.,The state.,,0.0,0.0,0.5\n",
    )


def test_ragas_in_every_format(tmp_path):
    for file in ragas_files(tmp_path):
        scored = read_scores(file)
        gap = "null" if file.suffix == ".csv" else "NaN"
        assert scored.form == "ragas" and scored.metrics == OURS, file
        first, second = scored.rows
        assert first.contexts == (Context("1", "It opened in 1800."), Context("2", "It is in Ede."))
        assert (first.question, first.answer) == ("When did it open?", "In 1800.")
        assert first.reference == "in 1800" and second.reference == "The state."
        assert first.values["factual_correctness"] == 0.67
        assert first.invalid == {"noise_sensitivity": gap}
        assert second.invalid == {"faithfulness": gap}
        assert second.values == {
            "context_precision": 0.0,
            "factual_correctness": 0.0,
            "noise_sensitivity": 0.5,
        }
        assert [row.id for row in scored.rows] == ["row 1", "row 2"]
        assert first.strata == {}
        assert scored.renamed == {
            "llm_context_precision_with_reference": "context_precision",
            "factual_correctness(mode=f1)": "factual_correctness",
            "noise_sensitivity(mode=relevant)": "noise_sensitivity",
        }
        assert scored.findings.counts["renamed_metric"] == 3


def test_ragas_of_old():
    row = {
        "question": "When?",
        "contexts": ["It opened in 1800."],
        "answer": "In 1800.",
        "ground_truths": ["in 1800"],
        "context_relevancy": 0.1,
        "answer_correctness": 0.5,
        "context_recall": 1.0,
    }
    scored = read_scores([row])
    assert scored.metrics == ("context_relevancy", "answer_correctness", "context_recall")
    assert scored.rows[0].reference == "in 1800"


def metric(name, score, **more):
    return {"name": name, "score": score, "threshold": 0.5, "success": True, **more}


CASE = {
    "name": "test_case_0",
    "input": "When did it open?",
    "actualOutput": "In 1800.",
    "expectedOutput": "in 1800",
    "context": ["what the gold says"],
    "retrievalContext": ["It opened in 1800."],
    "success": False,
    "order": 0,
    "runDuration": 1.5,
    "metadata": {"country": "NL"},
    "tags": ["slow"],
    "metricsData": [
        metric("Faithfulness", 0.5),
        metric("Contextual Precision", None, error="Evaluation LLM timed out after 88.5 seconds"),
        metric("Correctness [GEval]", 0.75),
        metric("Hallucination", float("nan")),
    ],
}
OTHER_CASE = {
    "name": "test_case_1",
    "input": "Who runs it?",
    "actual_output": "The city.",
    "metadata": {"country": "DE"},
    "metrics_data": [metric("Faithfulness", 1, error=None), metric("Answer Relevancy", None)],
}


def deepeval_holders():
    cases = [CASE, OTHER_CASE]
    yield {"testCases": cases, "metricsScores": [], "testPassed": 0}
    yield {"testRunData": {"testCases": cases, "conversationalTestCases": []}}
    yield {"test_results": cases, "confident_link": None}
    yield {"test_cases": cases}
    yield cases


@pytest.mark.parametrize("held", [*deepeval_holders()])
@pytest.mark.parametrize("indent", [None, 2])
def test_deepeval_in_every_holder(tmp_path, held, indent):
    scored = read_scores(saved(tmp_path / "run.json", json.dumps(held, indent=indent)))
    first, second = scored.rows
    assert scored.form == "deepeval"
    assert scored.metrics == (
        *("faithfulness", "context_precision", "Correctness [GEval]", "hallucination"),
        "answer_relevancy",
    )
    assert first.id == "test_case_0" and first.strata == {"country": "NL"}
    assert (first.question, first.answer, first.reference) == (
        *("When did it open?", "In 1800."),
        "in 1800",
    )
    assert first.contexts == (Context("1", "It opened in 1800."),)
    assert first.values == {"faithfulness": 0.5, "Correctness [GEval]": 0.75}
    assert first.invalid == {
        "context_precision": 'error "Evaluation LLM timed out after 88.5 sec…"',
        "hallucination": "NaN",
        "answer_relevancy": "absent",
    }
    assert second.answer == "The city." and second.invalid["answer_relevancy"] == "null"
    assert scored.findings.counts == {"extra_field": 1, "renamed_metric": 4}


def test_deepeval_of_old_and_metrics_that_are_there_twice():
    old = {"input": "q", "metricsMetadata": [{"metric": "Faithfulness", "score": 0.5}]}
    assert read_scores([old]).rows[0].values == {"faithfulness": 0.5}
    twice = {"input": "q", "metricsData": [metric("Faithfulness", s) for s in (0.5, 1, None)]}
    scored = read_scores([twice])
    assert scored.rows[0].values == {"faithfulness": 0.75}
    assert scored.findings.counts["several_scores"] == 1


def test_deepeval_conversations_are_told(tmp_path):
    held = {"testCases": [CASE], "conversationalTestCases": [{"turns": []}]}
    file = saved(tmp_path / "run.json", held)
    with pytest.raises(InputRejected, match="conversationalTestCases: 1 conversations"):
        read_scores(file)
    scored = read_scores(file, max_bad="1")
    assert len(scored.rows) == 1 and scored.rejected == 1


def assertion(kind, score, *, metric=None, **more):
    told = {"type": kind, **({"metric": metric} if metric else {})}
    return {"pass": score > 0.5, "score": score, "reason": "so", "assertion": told, **more}


def result(number, *, provider="openai:gpt-4.1", components=(), **more):
    return {
        "id": f"uuid-{number}-{provider}",
        "promptIdx": 0,
        "testIdx": number,
        "prompt": {"raw": "Answer: When did it open?", "label": "Answer: {{query}}"},
        "provider": {"id": provider, "label": ""},
        "vars": {"query": "When did it open?", "context": "It opened in 1800.", "region": "east"},
        "testCase": {"vars": {}, "assert": []},
        "response": {"output": "In 1800."},
        "success": True,
        "score": 0.5,
        "failureReason": 0,
        "latencyMs": 12,
        "namedScores": {},
        "gradingResult": {"pass": True, "score": 0.5, "componentResults": list(components)},
        **more,
    }


def promptfoo(*results):
    return {
        "evalId": "eval-1",
        "results": {"version": 3, "results": list(results), "prompts": [], "stats": {}},
        "config": {"description": "so"},
        "shareableUrl": None,
    }


FIRST = result(
    0,
    components=[
        assertion("context-recall", 0.5),
        assertion("context-faithfulness", 1.0, metric="Grounded"),
        assertion("answer-relevance", 0.25),
        assertion("context-relevance", 0.125),
        assertion("factuality", 0.0),
        assertion("similar", 0.75),
        assertion("llm-rubric", 1.0, metric="Tone"),
        assertion("contains", 0.0),
    ],
    namedScores={"Grounded": 1.0, "Tone": 1.0, "derived": 0.3},
)


def test_promptfoo(tmp_path):
    scored = read_scores(saved(tmp_path / "out.json", promptfoo(FIRST)))
    row = scored.rows[0]
    assert scored.form == "promptfoo" and row.id == "test 0" and row.strata == {"region": "east"}
    assert (row.question, row.answer) == ("When did it open?", "In 1800.")
    assert row.contexts == (Context("1", "It opened in 1800."),)
    assert row.values == {
        "context_recall": 0.5,
        "faithfulness": 1.0,
        "answer_relevancy": 0.25,
        "context_relevancy": 0.125,
        "factual_correctness": 0.0,
        "semantic_similarity": 0.75,
        "Tone": 1.0,
        "contains": 0.0,
        "derived": 0.3,
        "score": 0.5,
    }
    assert scored.renamed["context-recall"] == "context_recall"


def test_promptfoo_in_every_holder(tmp_path):
    held = [
        saved(tmp_path / "a.json", json.dumps(promptfoo(FIRST), indent=2)),
        saved(tmp_path / "b.jsonl", json.dumps(FIRST) + "\n"),
        saved(tmp_path / "c.json", [FIRST]),
        saved(tmp_path / "d.json", {"version": 2, "results": [FIRST]}),
    ]
    values = [read_scores(file).rows[0].values for file in held]
    assert values == values[:1] * 4 and len(values[0]) == 10


def test_promptfoo_asks_several_providers(tmp_path):
    rows = [result(n, provider=p) for n in (0, 1) for p in ("openai:gpt-4.1", "echo")]
    scored = read_scores(saved(tmp_path / "out.json", promptfoo(*rows)))
    assert [row.id for row in scored.rows] == [
        *("test 0 openai:gpt-4.1", "test 0 echo"),
        *("test 1 openai:gpt-4.1", "test 1 echo"),
    ]
    assert scored.rows[1].strata["provider"] == "echo"
    assert "duplicate_id" not in scored.findings.counts


def test_promptfoo_tries_several_prompts():
    rows = [result(0), result(0, promptIdx=1, prompt={"raw": "x", "label": "long " * 20})]
    assert [row.id for row in read_scores(rows).rows] == [
        "test 0 Answer: {{query}}",
        "test 0 prompt 2",
    ]


def test_a_test_that_was_never_judged_has_no_score():
    failed = result(1, failureReason=2, error="429 Rate limit", score=0, gradingResult=None)
    failed["response"] = None
    scored = read_scores([FIRST, failed])
    row = scored.rows[1]
    assert row.answer == "" and row.values == {}
    assert row.invalid["score"] == 'error "429 Rate limit"' and row.invalid["Tone"] == "absent"
    older = {key: value for key, value in failed.items() if key != "failureReason"}
    assert read_scores([FIRST, older]).rows[1].invalid["score"] == 'error "429 Rate limit"'


def test_an_assertion_that_does_not_hold_is_a_score():
    row = result(0, failureReason=1, error="An assertion failed", score=0.25)
    assert read_scores([row]).rows[0].values == {"score": 0.25}


def test_a_grader_that_failed_gives_no_score():
    part = assertion("context-recall", 0, metadata={"graderError": True})
    row = read_scores([result(0, components=[part])]).rows[0]
    assert row.invalid == {"context_recall": 'error "so"', "score": 'error "so"'}


def test_promptfoo_tells_reference_and_contexts_by_assertions():
    part = assertion("context-recall", 1, metadata={"context": ["a", "b"]})
    part["assertion"]["value"] = "in 1800"
    template = assertion("factuality", 1, metadata={"renderedAssertionValue": "in 1801"})
    template["assertion"]["value"] = "{{expected}}"
    unfilled = assertion("factuality", 1)
    unfilled["assertion"]["value"] = "{{expected}}"
    one = result(0, components=[part, template], vars={"topic": "x"})
    two = result(1, components=[template], vars={"qid": "q2", "answer": "in 1802"})
    three = result(2, response={"output": {"answer": "In 1803.", "retrieved_ids": ["p1"]}})
    four = result(3, response={"output": {"year": 1804}}, components=[unfilled])
    rows = read_scores([one, two, three, four]).rows
    assert rows[3].reference is None
    assert rows[0].question == "Answer: When did it open?" and rows[0].reference == "in 1800"
    assert [context.text for context in rows[0].contexts] == ["a", "b"]
    assert rows[1].id == "q2" and rows[1].reference == "in 1802" and rows[1].answer == "In 1800."
    assert rows[2].answer == "In 1803." and rows[2].retrieved_ids == ("p1",)
    assert rows[3].answer == '{"year":1804}'


def test_several_assertions_of_one_kind_are_averaged():
    parts = [assertion("similar", 0.5), assertion("similar", 1.0)]
    scored = read_scores([result(0, components=parts)])
    assert scored.rows[0].values["semantic_similarity"] == 0.75
    assert scored.findings.counts["several_scores"] == 1
    huge = [assertion("similar", 1.7e308), assertion("similar", 1.7e308)]
    assert (
        read_scores([result(0, components=huge)]).rows[0].values["semantic_similarity"] == 1.7e308
    )


def test_a_form_can_be_forced():
    with pytest.raises(UsageError, match='form "trulens" is none of auto, rows, ragas'):
        read_scores(RAGAS, form="trulens")
    assert read_scores(RAGAS, form="rows").form == "rows"
    with pytest.raises(InputRejected, match="holds no test cases with metricsData, as results of"):
        read_scores(RAGAS, form="deepeval")
    with pytest.raises(InputRejected, match="holds no results with gradingResult"):
        read_scores([CASE], form="promptfoo")
    assert read_scores([CASE], form="deepeval").form == "deepeval"
