"""Retrieval evaluated end to end: the traps of the field, each with its number by hand."""

import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from ragauge.contracts.evaluation import EvalReport, RankingDetail
from ragauge.contracts.report import Outcome
from ragauge.errors import InputRejected, UsageError
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from tests.components.shared_data import shared

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1}}
SOURCED = ["query", "document", "score", "source"]
RUN = {"q1": {"d1": 3.0, "d9": 2.0, "d3": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}


def report(qrels: Any, run: Any, **options: Any) -> EvalReport:
    return evaluate_retrieval(qrels, run, **options).report


def value(outcome: EvalReport, name: str) -> float | None:
    return outcome.metrics[f"retrieval.{name}"].value


def detail(outcome: EvalReport) -> RankingDetail:
    assert isinstance(outcome.detail, RankingDetail)
    return outcome.detail


def written(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def test_the_numbers_of_two_queries() -> None:
    found = report(QRELS, RUN, measures=["P@5", "recall@5", "rr", "set_P"])
    assert value(found, "p@5") == pytest.approx((2 / 5 + 1 / 5) / 2)
    assert value(found, "recall@5") == 1.0
    assert value(found, "rr") == 0.75
    assert value(found, "set_p") == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found.coverage == {
        "queries": 2,
        "scored": 2,
        "missing": 0,
        "unknown": 0,
        "no_relevant": 0,
        "rows": 5,
        "judged_rows": 4,
        "unjudged": 2,
        "rejected": 0,
    }
    first = detail(found).queries[0]
    assert (first.query, first.retrieved, first.relevant, first.relevant_retrieved) == (
        "q1",
        3,
        2,
        2,
    )
    assert first.first_relevant == 1
    assert detail(found).queries[1].first_relevant == 2
    assert detail(found).worst == ("q2", "q1")


@pytest.mark.parametrize("measure", ["ndcg_cut_10", "map", "P_5", "recip_rank", "recall_10"])
def test_trec_evals_published_numbers(measure: str) -> None:
    published = _published(shared("trec_eval/out.test.a"))
    found = report(
        shared("trec_eval/qrels.test"),
        shared("trec_eval/results.test"),
        measures=[measure],
        no_rel="zero",
        intervals=False,
    )
    ours = next(score for id, score in found.metrics.items() if not id.endswith("coverage"))
    assert ours.value is not None
    assert f"{ours.value:.4f}" == published[measure]


def _published(path: Path) -> dict[str, str]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {name: number for name, query, number in rows if query == "all"}


def test_g5_chunks_of_a_document_count_once_at_their_best_rank() -> None:
    qrels = {"q1": {"a": 1, "b": 1}}
    run = {"q1": ["c#1", "a#7", "a#2", "a#9", "b#1"]}
    found = report(qrels, run, measures=["recall@5", "P@5", "rr"], collapse="#")
    assert value(found, "recall@5") == 1.0
    assert value(found, "p@5") == pytest.approx(2 / 5)
    assert value(found, "rr") == 0.5
    assert found.finding_counts["chunk_collapsed"] == 2
    assert detail(found).queries[0].retrieved == 3


def test_g5_a_document_given_twice_stays_at_its_best_rank(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "q1 Q0 a 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\n")
    found = report({"q1": {"a": 1, "b": 1}}, run, measures=["recall@5", "P@2"])
    assert (value(found, "recall@5"), value(found, "p@2")) == (1.0, 1.0)
    assert found.finding_counts["duplicate_document"] == 1
    assert [one.where for one in found.findings if one.code == "duplicate_document"] == [f"{run}:2"]
    with pytest.raises(
        InputRejected, match=r'run:2: document: "a" was given for its query already'
    ):
        report({"q1": {"a": 1}}, run, duplicates="error")


def test_judged_chunks_are_collapsed_with_the_run() -> None:
    qrels = {"q1": {"a#1": 1, "a#2": 3, "b#1": 0}}
    found = report(qrels, {"q1": ["a#9", "b#4"]}, measures=["ndcg@10", "judged@10"], collapse="#")
    assert (value(found, "ndcg@10"), value(found, "judged@10")) == (1.0, 1.0)
    assert found.finding_counts["judgements_collapsed"] == 1


def test_g8_a_negative_grade_is_counted_and_is_not_relevant() -> None:
    found = report({"q1": {"a": -2, "b": 1}}, {"q1": ["a", "b"]}, measures=["rr", "judged@10"])
    assert (value(found, "rr"), value(found, "judged@10")) == (0.5, 0.5)
    assert found.finding_counts["negative_grade"] == 1
    assert found.coverage["unjudged"] == 1


def test_g9_scores_decide_and_a_rank_that_disagrees_is_told(tmp_path: Path) -> None:
    lines = "q1 Q0 bad 1 0.1 t\nq1 Q0 good 2 0.9 t\nq2 Q0 good 1 0.9 t\nq2 Q0 bad 2 0.1 t\n"
    run = written(tmp_path / "run", lines)
    found = report({"q1": {"good": 1}, "q2": {"good": 1}}, run, measures=["rr"])
    assert value(found, "rr") == 1.0
    assert found.finding_counts == {"rank_score_disagree": 1, "unjudged": 1}
    assert [one.where for one in found.findings if one.code == "rank_score_disagree"] == [
        f"{run}:1"
    ]


def test_g9_a_list_is_its_own_order() -> None:
    assert value(report({"q1": {"z": 1}}, {"q1": ["a", "z"]}, measures=["rr"]), "rr") == 0.5
    scored = [{"query": "q1", "results": [{"id": "a", "score": 1}, {"id": "z", "score": 2}]}]
    found = report({"q1": {"z": 1}}, scored, measures=["rr"])
    assert value(found, "rr") == 1.0
    assert found.finding_counts["rank_score_disagree"] == 1


def test_g9_ranks_that_are_all_the_same_say_nothing(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "q1 Q0 a 0 0.1 t\nq1 Q0 b 0 0.9 t\n")
    assert "rank_score_disagree" not in report({"q1": {"a": 1}}, run).finding_counts


def test_a_query_with_a_row_without_score_is_in_the_order_of_its_ranks() -> None:
    frame = pl.DataFrame(
        {
            "query": ["q1", "q1", "q2", "q2"],
            "document": ["a", "b", "a", "b"],
            "score": [5.0, None, 1.0, 2.0],
            "rank": [2, 1, 2, 1],
        }
    )
    found = report({"q1": {"b": 1}, "q2": {"b": 1}}, frame, measures=["rr"])
    assert value(found, "rr") == 1.0


def test_g10_ties_go_by_document_descending_and_are_counted() -> None:
    run = {"q1": {"a": 1.0, "ä": 1.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    found = report({"q1": {"ä": 1}, "q2": {"a": 1}}, run, measures=["rr"])
    assert value(found, "rr") == 1.0
    assert found.finding_counts["tied_scores"] == 1


def test_g10b_scores_are_compared_in_double_precision(tmp_path: Path) -> None:
    run = written(tmp_path / "run", "q1 Q0 z 2 1.0 t\nq1 Q0 a 1 1.00000001 t\n")
    found = report({"q1": {"a": 1}}, run, measures=["rr"])
    assert value(found, "rr") == 1.0
    assert "tied_scores" not in found.finding_counts


def test_g11_a_missing_query_is_zero_and_counted() -> None:
    found = report(QRELS, {"q1": RUN["q1"], "q7": {"d1": 1.0}}, measures=["rr"])
    assert value(found, "rr") == 0.5
    assert (found.coverage["missing"], found.coverage["unknown"]) == (1, 1)
    assert found.finding_counts["missing_query"] == 1
    assert found.finding_counts["unknown_query"] == 1
    assert value(found, "coverage") == 0.5
    assert not found.passed


def test_a_query_with_an_empty_list_is_not_missing() -> None:
    found = report(QRELS, [{"query": "q1", "results": ["d1"]}, {"query": "q2", "results": []}])
    assert found.coverage["missing"] == 0
    assert value(found, "coverage") == 1.0
    assert value(found, "rr") == 0.5


def test_g4_a_query_with_nothing_relevant_is_excluded_or_zero() -> None:
    qrels = {**QRELS, "q3": {"d1": 0}}
    run = {**RUN, "q3": {"d1": 1.0}}
    excluded = report(qrels, run, measures=["rr"])
    assert (value(excluded, "rr"), excluded.metrics["retrieval.rr"].n) == (0.75, 2)
    assert excluded.coverage["scored"] == 2
    assert excluded.finding_counts["no_relevant"] == 1
    assert value(report(qrels, run, measures=["rr"], no_rel="zero"), "rr") == 0.5


def test_g4_trec_files_count_a_query_with_nothing_relevant_as_trec_eval_does(tmp_path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 d1 1\nq2 0 d1 0\n")
    run.write_text("q1 Q0 d1 1 2.0 t\nq2 Q0 d1 1 2.0 t\n")
    found = report(qrels, run, measures=["rr"])
    assert (value(found, "rr"), found.coverage["scored"]) == (0.5, 2)
    assert "no_rel:zero" in found.metrics["retrieval.rr"].signature
    [finding] = [one for one in found.findings if one.code == "no_relevant"]
    assert finding.message.endswith("it counts 0, as in trec_eval")
    assert value(report(qrels, run, measures=["rr"], no_rel="exclude"), "rr") == 1.0


def test_g4_as_trec_eval_holds_for_every_form() -> None:
    qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 0}}, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}
    assert value(report(qrels, run, measures=["rr"]), "rr") == 1.0
    assert value(report(qrels, run, measures=["rr"], counted_as="trec_eval"), "rr") == 0.5
    with pytest.raises(UsageError, match="--no-rel exclude"):
        report(qrels, run, counted_as="trec_eval", no_rel="exclude")


def test_g7_no_query_is_no_number() -> None:
    found = report({}, {}, measures=["rr"])
    assert (value(found, "rr"), found.metrics["retrieval.rr"].n) == (None, 0)


def test_documents_with_the_querys_id_stay_unless_asked() -> None:
    qrels, run = {"q1": {"d1": 1}}, {"q1": {"q1": 2.0, "d1": 1.0}}
    assert value(report(qrels, run, measures=["rr"]), "rr") == 0.5
    dropped = report(qrels, run, measures=["rr"], drop_self=True)
    assert value(dropped, "rr") == 1.0
    assert dropped.finding_counts["self_dropped"] == 1


def test_a_relevance_level_is_in_the_names() -> None:
    found = report(QRELS, RUN, measures=["P@5", "rr(rel=1)", "ndcg@10"], rel=2)
    names = {id.removeprefix("retrieval.") for id in found.metrics}
    assert names == {"p(rel=2)@5", "rr", "ndcg@10", "coverage"}
    assert found.metrics["retrieval.p(rel=2)@5"].value == pytest.approx(1 / 5)


def test_cut_offs_take_the_place_of_the_tables() -> None:
    found = report(QRELS, RUN, k=[3])
    assert {"retrieval.ndcg@3", "retrieval.p@3", "retrieval.rr"} <= {*found.metrics}
    assert "retrieval.p@5" not in found.metrics


def test_every_wrong_name_is_told() -> None:
    with pytest.raises(UsageError) as wrong:
        report(QRELS, RUN, measures=["ndcg@10,nope@3", "P"])
    assert len(wrong.value.problems) == 2


def test_judgements_that_contradict_each_other_are_told_with_both_lines(tmp_path: Path) -> None:
    qrels = written(tmp_path / "qrels", "q1 0 a 1\nq1 0 b 1\nq1 0 a 2\nq1 0 b 1\n")
    with pytest.raises(InputRejected) as refused:
        report(qrels, {"q1": ["a"]})
    (problem,) = refused.value.problems
    assert problem.startswith(f'{qrels}:3: grade: "a" was judged already')
    assert f"{qrels}:1, with grade 1, not 2" in problem
    tolerated = report(qrels, {"q1": ["a"]}, max_bad="1")
    assert tolerated.finding_counts["bad_line"] == 1
    assert tolerated.finding_counts["duplicate_judgement"] == 1
    assert tolerated.coverage["rejected"] == 1


def test_bad_lines_of_both_files_are_told_together(tmp_path: Path) -> None:
    qrels = written(tmp_path / "qrels", "q1 0 a x\n")
    run = written(tmp_path / "run", "q1 Q0 a 1 nan t\n")
    with pytest.raises(InputRejected) as refused:
        report(qrels, run)
    assert len(refused.value.problems) == 2


def test_an_ungrouped_file_has_the_same_numbers_and_says_so(tmp_path: Path) -> None:
    lines = ["q1 Q0 a 1 3 t\n", "q2 Q0 b 1 2 t\n", "q1 Q0 c 2 2 t\n", "q2 Q0 a 2 1 t\n"]
    judged = ["q2 0 a 1\n", "q1 0 c 2\n", "q2 0 b 0\n", "q1 0 a 0\n"]
    scattered = evaluate_retrieval(
        written(tmp_path / "q", "".join(judged)), written(tmp_path / "r", "".join(lines))
    )
    tidy = evaluate_retrieval(
        written(tmp_path / "q", "".join(sorted(judged))),
        written(tmp_path / "r", "".join(sorted(lines))),
    )
    assert scattered.report.finding_counts["ungrouped"] == 2
    assert values(scattered) == values(tidy)


def values(outcome: Outcome[EvalReport]) -> dict[str, list[Any]]:
    return outcome.to_polars().to_dict(as_series=False)


def test_the_order_of_rows_and_queries_changes_nothing() -> None:
    turned = {query: dict(reversed(judged.items())) for query, judged in reversed(QRELS.items())}
    run = {query: dict(reversed(results.items())) for query, results in reversed(RUN.items())}
    assert values(evaluate_retrieval(turned, run)) == values(evaluate_retrieval(QRELS, RUN))


def test_frames_mappings_and_records_give_one_report() -> None:
    rows = [(query, *pair) for query, judged in QRELS.items() for pair in judged.items()]
    qrels = pl.DataFrame(rows, schema=["query", "document", "grade"], orient="row")
    records = [
        {"query": query, "results": [{"id": id, "score": score} for id, score in results.items()]}
        for query, results in RUN.items()
    ]
    assert values(evaluate_retrieval(qrels, records)) == values(evaluate_retrieval(QRELS, RUN))


def test_g12_shares_of_sources_divide_by_what_is_shown() -> None:
    run = [
        {
            "query": "q1",
            "results": [
                {"id": "a", "source": "bm25"},
                {"id": "b", "source": "dense"},
                {"id": "a", "source": "dense"},
                {"id": "c", "source": "dense"},
            ],
        },
        {"query": "q2", "results": [{"id": "d", "source": "bm25"}]},
    ]
    found = detail(report({"q1": {"a": 1, "c": 1}, "q2": {"x": 1}}, run))
    bm25, dense = found.sources["bm25"], found.sources["dense"]
    assert (bm25.share, dense.share) == (0.5, 0.5)
    assert (bm25.top1, dense.top1) == (1.0, 0.0)
    assert (bm25.top5, dense.top5) == (0.5, 0.5)
    assert (bm25.relevant, bm25.unique_relevant, bm25.precision) == (1, 0, 0.5)
    assert (dense.relevant, dense.unique_relevant, dense.precision) == (2, 1, 2 / 3)
    assert found.overlap == {"bm25+dense": 1}
    near = detail(report({"q1": {"a": 1, "c": 1}, "q2": {"x": 1}}, run, source_depth=1))
    assert near.sources["bm25"].share == 1.0
    assert near.sources["dense"].relevant == 1


def test_g12_one_result_is_all_of_the_top_five() -> None:
    run = [{"query": "q1", "results": [{"id": "a", "source": "bm25"}]}]
    assert detail(report({"q1": {"a": 1}}, run)).sources["bm25"].top5 == 1.0


def test_a_result_may_name_several_sources() -> None:
    results: list[Any] = [
        {"id": "a", "source": ["dense", "bm25", "bm25"]},
        {"id": "b", "source": "dense"},
        {"id": "c"},
        {"id": "d", "source": ["bm25"]},
    ]
    qrels = {"q1": {"a": 1, "b": 1}}
    run = [{"query": "q1", "results": results}]
    whole = report(qrels, run, duplicates="error")
    assert whole.coverage["rows"] == 4
    assert "duplicate_document" not in whole.finding_counts
    assert "tied_scores" not in whole.finding_counts
    found = detail(whole)
    bm25, dense = found.sources["bm25"], found.sources["dense"]
    assert (bm25.share, dense.share, found.sources["(none)"].share) == (0.5, 0.5, 0.25)
    assert (bm25.top1, dense.top1) == (1.0, 1.0)
    assert (bm25.relevant, bm25.unique_relevant, bm25.precision) == (1, 0, 0.5)
    assert (dense.relevant, dense.unique_relevant, dense.precision) == (2, 1, 1.0)
    assert found.overlap == {"(none)+bm25": 0, "(none)+dense": 0, "bm25+dense": 1}
    frame = pl.DataFrame(
        {
            "query": ["q1"] * 4,
            "document": [*"abcd"],
            "score": [4.0, 3.0, 2.0, 1.0],
            "source": [["dense", "bm25"], ["dense"], [], ["bm25", ""][:1]],
        }
    )
    assert detail(report(qrels, frame)).sources == found.sources


def test_sources_that_bring_a_document_with_one_score_are_both_credited() -> None:
    rows = [("q1", "a", 2.0, "dense"), ("q1", "a", 2.0, "bm25"), ("q1", "b", 1.0, "dense")]
    qrels = {"q1": {"a": 1}}
    found = [
        report(qrels, pl.DataFrame(some, schema=SOURCED, orient="row"))
        for some in (rows, rows[::-1])
    ]
    shares = {name: one.share for name, one in detail(found[0]).sources.items()}
    assert shares == {"bm25": 0.5, "dense": 1.0}
    assert detail(found[0]).sources == detail(found[1]).sources


def test_two_sources_of_a_document_are_no_error_but_one_source_twice_is() -> None:
    results = [{"id": "a", "source": "bm25"}, {"id": "a", "source": "dense"}]
    qrels = {"q1": {"a": 1}}
    assert (
        report(qrels, [{"query": "q1", "results": results}], duplicates="error").coverage[
            "rejected"
        ]
        == 0
    )
    with pytest.raises(InputRejected, match='"a" was given for its query already'):
        report(qrels, [{"query": "q1", "results": [*results, results[0]]}], duplicates="error")
    listed = [{"id": "a", "source": ["bm25", "dense"]}, {"id": "a", "source": "dense"}]
    with pytest.raises(InputRejected, match='"a" was given for its query already'):
        report(qrels, [{"query": "q1", "results": listed}], duplicates="error")


def test_a_run_beside_itself_does_not_differ() -> None:
    found = detail(report(QRELS, RUN, baselines=[RUN], measures=["ndcg@10", "rr"]))
    assert [(one.metric, one.p, one.p_adjusted, one.estimate) for one in found.compared] == [
        ("retrieval.ndcg@10", 1.0, 1.0, 0.0),
        ("retrieval.rr", 1.0, 1.0, 0.0),
    ]
    assert found.correction == "holm"


def ranked_at(ranks: list[int]) -> dict[str, list[str]]:
    """A run whose one relevant document stands at these ranks, query by query."""
    return {
        f"q{number:02}": [f"x{place}" for place in range(rank - 1)] + ["hit"]
        for number, rank in enumerate(ranks)
    }


def test_runs_are_compared_query_by_query_with_a_correction() -> None:
    qrels = {f"q{number:02}": {"hit": 1} for number in range(12)}
    old, new = ranked_at([2] * 12), ranked_at([1] * 11 + [4])
    found = detail(report(qrels, new, baselines=[old], measures=["rr", "success@1"]))
    rr, hit = found.compared
    assert (rr.run, rr.n, rr.better, rr.worse) == ("baseline 1", 12, 11, 1)
    assert rr.estimate == pytest.approx((11 * 0.5 - 0.25) / 12)
    assert (rr.method, hit.method) == ("randomisation, exact", "McNemar, exact")
    assert rr.p is not None and hit.p is not None
    assert sorted([rr.p_adjusted, hit.p_adjusted]) == sorted(
        [2 * min(rr.p, hit.p), max(2 * min(rr.p, hit.p), rr.p, hit.p)]
    )
    student = detail(report(qrels, new, baselines=[old], measures=["rr"], test="t")).compared[0]
    assert student.method == "paired t"


def test_mcnemar_is_only_of_0_and_1() -> None:
    found = detail(report(QRELS, RUN, baselines=[RUN], measures=["ndcg@10"], test="mcnemar"))
    assert found.compared[0].p is None
    assert "choose randomisation" in (found.compared[0].reason or "")


def test_a_query_that_one_run_lacks_is_told() -> None:
    found = report(QRELS, RUN, baselines=[{"q1": RUN["q1"]}], measures=["rr"])
    assert found.finding_counts["unpaired_query"] == 1
    assert detail(found).compared[0].n == 2
    assert detail(found).compared[0].other == 0.5


def test_strata_come_from_records_and_from_a_table(tmp_path: Path) -> None:
    records = [
        {"query": "q1", "judgements": QRELS["q1"], "strata": {"language": "nl"}},
        {"query": "q2", "judgements": QRELS["q2"], "strata": {"language": "de"}},
    ]
    found = report(records, RUN, measures=["rr"])
    assert {
        key: one["retrieval.rr"].value for key, one in found.per_stratum["language"].items()
    } == {
        "nl": 1.0,
        "de": 0.5,
    }
    table = written(tmp_path / "strata.tsv", "query\tlanguage\nq1\tnl\nq2\tde\n")
    assert report(QRELS, RUN, measures=["rr"], strata=table).per_stratum == found.per_stratum


def test_advice_names_the_queries_that_went_wrong() -> None:
    qrels = {
        "late": {"hit": 1},
        "missing": {"hit": 1},
        "nothing": {"hit": 1, "x1": 0, "x2": 0},
        "right": {"hit": 1},
        "some": {"hit": 1, "other": 1},
    }
    run = {
        "late": ["x1", "x2", "x3", "x4", "x5", "hit"],
        "nothing": ["x1", "x2"],
        "right": ["hit"],
        "some": ["hit"],
    }
    advice = {one.id: one.questions for one in report(qrels, run, measures=["rr"]).advice}
    assert advice == {
        "retrieval.found_late": ("late",),
        "retrieval.incomplete": ("some",),
        "retrieval.missing": ("missing",),
        "retrieval.nothing_found": ("nothing",),
        "retrieval.unjudged": ("late",),
    }


def test_gates_are_measured_even_where_nobody_asked() -> None:
    found = report(QRELS, RUN, measures=["rr"], gates="ndcg@3 >= 0.9")
    assert "retrieval.ndcg@3" in found.metrics
    assert not found.passed


def test_the_report_is_plain_json() -> None:
    written = msgspec.json.encode(report(QRELS, RUN, baselines=[RUN]))
    again = msgspec.json.decode(written, type=EvalReport)
    assert msgspec.json.encode(again) == written


def test_every_query_has_a_row() -> None:
    frame = evaluate_retrieval(QRELS, RUN, measures=["rr"]).to_polars()
    assert frame.columns == ["unit", "label", "right", "retrieval.rr", "retrieval.coverage"]
    assert frame["retrieval.rr"].to_list() == [1.0, 0.5]


def test_judgements_that_can_be_read_only_once_are_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("q1 0 a 1\n",))
    writer.start()
    found = report(pipe, {"q1": ["a"]}, measures=["rr"])
    writer.join()
    assert value(found, "rr") == 1.0


def test_only_one_file_is_standard_input() -> None:
    with pytest.raises(UsageError, match="only one of the files"):
        evaluate_retrieval("-", "-")


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="eval retrieval"):
        evaluate_retrieval(QRELS, RUN, dulpicates="error")
