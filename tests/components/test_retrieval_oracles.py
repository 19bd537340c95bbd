"""pytrec_eval and ir_measures on random runs: ties, negative grades, unjudged, missing queries."""

import json

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from ragauge.metrics.retrieval import from_name
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from tests.components.judged_runs import measured, plain_rankings

PYTREC = {
    "ndcg": "ndcg",
    "ndcg_cut_1": "ndcg@1",
    "ndcg_cut_10": "ndcg@10",
    "ndcg_cut_20": "ndcg@20",
    "map": "ap(rel={})",
    "map_cut_10": "ap(rel={})@10",
    "map_cut_100": "ap(rel={})@100",
    "P_1": "p(rel={})@1",
    "P_5": "p(rel={})@5",
    "P_100": "p(rel={})@100",
    "recall_5": "recall(rel={})@5",
    "recall_20": "recall(rel={})@20",
    "recip_rank": "rr(rel={})",
    "success_1": "success(rel={})@1",
    "success_5": "success(rel={})@5",
    "bpref": "bpref(rel={})",
    "Rprec": "rprec(rel={})",
    "set_P": "set_p(rel={})",
    "set_recall": "set_r(rel={})",
    "set_F": "set_f(rel={})",
}
"""Its measures and ours, at a level of relevance."""
IR_MEASURES = {
    "nDCG": "ndcg",
    "nDCG@5": "ndcg@5",
    "P@5": "p@5",
    "P(rel=2)@5": "p(rel=2)@5",
    "R@20": "recall@20",
    "R(rel=3)@10": "recall(rel=3)@10",
    "RR": "rr",
    "RR(rel=2)": "rr(rel=2)",
    "AP": "ap",
    "AP(rel=2)@10": "ap(rel=2)@10",
    "Success(rel=2)@1": "success(rel=2)@1",
    "Bpref": "bpref",
    "Bpref(rel=2)": "bpref(rel=2)",
    "Rprec(rel=2)": "rprec(rel=2)",
    "SetP": "set_p",
    "SetR(rel=2)": "set_r(rel=2)",
    "SetF": "set_f",
}
seeds = pytest.mark.parametrize("seed", range(6))


def drawn(seed, lowest=-2):
    """Judgements and a run: graded, tied, with what each tool has its own view of.

    Scores are eighths, which single precision tells apart as well.
    """
    chance = np.random.default_rng(seed)
    pool = [f"d{number}" for number in range(60)] + ["D1", "é1", "館2", "d1x"]
    qrels, run = {}, {}
    for number in range(40):
        query, highest = f"q{number}", [1, 4, 4, 4, 0][number % 5]
        judged = chance.choice(pool, chance.integers(1, 40), replace=False)
        qrels[query] = {name: int(chance.integers(lowest, highest + 1)) for name in judged}
        qrels[query]["d0"] = 0  # pytrec_eval crashes where a query's grades are all negative
        if number % 7:
            shown = chance.choice(pool, chance.integers(1, 50), replace=False)
            run[query] = {name: float(chance.integers(0, 30)) / 8 for name in shown}
    run["unjudged"] = {"d1": 1.0}
    return qrels, run


def trec_files(qrels, run, chance, folder):
    """Lines in any order; a third of the results stand there again, with a score that is no better.

    The ranks are of the order the lines are in, and say nothing.
    """
    judged = [f"{query} 0 {id} {grade}" for query in qrels for id, grade in qrels[query].items()]
    scored = [(query, id, score) for query in run for id, score in run[query].items()]
    again = [row for row in scored if chance.random() < 1 / 3]
    scored += [(query, id, score - chance.integers(0, 3)) for query, id, score in again]
    shuffled = (scored[at] for at in chance.permutation(len(scored)))
    ranked = [
        f"{query} Q0 {id} {rank} {score} made"
        for rank, (query, id, score) in enumerate(shuffled, 1)
    ]
    files = folder / "made.qrels", folder / "made.run"
    for file, lines in zip(files, (chance.permutation(judged), ranked), strict=True):
        file.write_text("\n".join(lines) + "\n")
    return files


def ranx_files(qrels, run, chance, folder):
    """Queries and documents in any order; no object can hold a document twice."""
    files = folder / "qrels.json", folder / "run.json"
    for file, rankings in zip(files, (qrels, run), strict=True):
        shuffled = {
            query: {id: rankings[query][id] for id in chance.permutation([*rankings[query]])}
            for query in chance.permutation([*rankings])
        }
        file.write_text(json.dumps(shuffled))
    return files


FORMS = {"trec": trec_files, "ranx": ranx_files}


@pytest.mark.parametrize("level", [1, 2, 4])
@seeds
def test_pytrec_eval_agrees_on_every_query(seed, level):
    qrels, run = drawn(seed)
    asked = families(PYTREC)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked, relevance_level=level).evaluate(run)
    ours = {name: spelled.format(level) for name, spelled in PYTREC.items()}
    found = measured(ours.values(), qrels, run, "zero")
    assert set(theirs) == set(run) & set(qrels)
    for name, our_name in ours.items():
        told = {query: found[our_name][query] for query in theirs}
        expected = {query: values[name] for query, values in theirs.items()}
        assert told == pytest.approx(expected, abs=1e-9), name


def families(names):
    """Measures with cut-offs are asked for as ndcg_cut.5,10."""
    asked = set()
    for name in names:
        kind, _, k = name.rpartition("_")
        asked.add(f"{kind}.{k}" if k.isdigit() else name)
    return asked


@seeds
def test_ir_measures_agrees_on_every_query_and_on_the_mean(seed):
    """It has zero for missing queries, and for those without a relevant document."""
    qrels, run = drawn(seed)
    asked = {ir_measures.parse_measure(name): ours for name, ours in IR_MEASURES.items()}
    assert_as_ir_measures(asked, qrels, run)


@seeds
def test_exponential_gain_agrees_with_ir_measures_told_the_gains(seed):
    exponential = ir_measures.nDCG(gains={1: 1, 2: 3, 3: 7, 4: 15})
    assert_as_ir_measures({exponential: "ndcg_exp"}, *drawn(seed))
    assert_as_ir_measures({exponential @ 10: "ndcg_exp@10"}, *drawn(seed))


def assert_as_ir_measures(asked, qrels, run):
    found = measured(asked.values(), qrels, run, "zero")
    means = ir_measures.calc_aggregate(asked, qrels, run)
    theirs = {}
    for each in ir_measures.iter_calc(asked, qrels, run):
        theirs.setdefault(each.measure, {})[each.query_id] = each.value
    for measure, name in asked.items():
        assert found[name] == pytest.approx(theirs[measure], abs=1e-9), name
        assert np.mean([*found[name].values()]) == pytest.approx(means[measure], abs=1e-9), name


@seeds
def test_ir_measures_agrees_where_it_breaks_ties_otherwise_once_there_are_none(seed):
    """Its RR with a cut-off and its Judged come from other tools, each with an order of its own.

    For them a negative grade is judged, and a missing query is wholly unjudged.
    """
    qrels, run = drawn(seed, lowest=0)
    run = {query: without_ties(results) for query, results in run.items()}
    cut = [ir_measures.RR @ 5, ir_measures.RR(rel=2) @ 3]
    assert_as_ir_measures(dict(zip(cut, ("rr@5", "rr(rel=2)@3"), strict=True)), qrels, run)
    present = {query: judgements for query, judgements in qrels.items() if query in run}
    judged = [ir_measures.Judged @ 10, ir_measures.Judged @ 1]
    assert_as_ir_measures(dict(zip(judged, ("judged@10", "judged@1"), strict=True)), present, run)


def without_ties(results):
    return {name: score + place / 4096 for place, (name, score) in enumerate(results.items())}


@seeds
def test_the_plain_functions_agree_with_the_kernel_on_the_same_runs(seed):
    qrels, run = drawn(seed)
    names = [
        *IR_MEASURES.values(),
        "unjudged@5",
        "judged@10",
        *map("rbp(p={})".format, (0.5, 0.95)),
    ]
    for no_rel in ("exclude", "zero"):
        found = measured(names, qrels, run, no_rel)
        for name in names:
            metric = from_name(name, no_rel)
            for query, ranking in zip(qrels, plain_rankings(qrels, run), strict=True):
                counts = getattr(metric(ranking), "counts", None)
                value = None if counts is None else float(metric.finish(np.array(counts)))
                assert found[name][query] == value, (name, query)


@pytest.mark.parametrize("form", FORMS)
@seeds
def test_files_read_end_to_end_agree_with_pytrec_eval_and_ir_measures(seed, form, tmp_path):
    """Files in no order, with repeated rows: of equal documents the best score counts."""
    qrels, run = drawn(seed)
    files = FORMS[form](qrels, run, np.random.default_rng(seed), tmp_path)
    ours = {name: spelled.format(1) for name, spelled in PYTREC.items()}
    asked = {ir_measures.parse_measure(name): mine for name, mine in IR_MEASURES.items()}
    names = [*ours.values(), *asked.values()]
    outcome = evaluate_retrieval(*files, measures=names, no_rel="zero", intervals=False)
    units = outcome.units
    found = {
        name: dict(zip(units.ids, units.measured[from_name(name).id].values, strict=True))
        for name in names
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, families(PYTREC)).evaluate(run)
    for name, mine in ours.items():
        told = {query: found[mine][query] for query in theirs}
        expected = {query: values[name] for query, values in theirs.items()}
        assert told == pytest.approx(expected, abs=1e-9), name
    means = ir_measures.calc_aggregate(asked, qrels, run)
    for each in ir_measures.iter_calc(asked, qrels, run):
        mine = found[asked[each.measure]][each.query_id]
        assert mine == pytest.approx(each.value, abs=1e-9), (each.measure, each.query_id)
    for measure, name in asked.items():
        score = outcome.report.metrics[from_name(name).id]
        assert (score.value, score.n) == (pytest.approx(means[measure], abs=1e-9), len(qrels))
    counts = outcome.report.finding_counts
    assert counts["missing_query"] == len(set(qrels) - set(run)) > 0
    assert counts["unknown_query"] == 1 and counts["negative_grade"] and counts["tied_scores"]
    assert ("duplicate_document" in counts) is (form == "trec")


def test_trec_files_with_a_query_without_relevant_documents_count_as_trec_eval(tmp_path):
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0}, "q3": {"d3": 2}}
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}, "q3": {"d9": 2.0, "d3": 1.0}}
    files = FORMS["trec"](qrels, run, np.random.default_rng(0), tmp_path)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, families(PYTREC)).evaluate(run)
    report = evaluate_retrieval(*files, measures=[one.format(1) for one in PYTREC.values()]).report
    for name, spelled in PYTREC.items():
        score = report.metrics[from_name(spelled.format(1)).id]
        mean = sum(values[name] for values in theirs.values()) / len(theirs)
        assert (score.value, score.n) == (pytest.approx(mean, abs=1e-9), 3), name


def test_scores_that_single_precision_takes_for_equal():
    """pytrec_eval reads scores in single precision: here it sees a tie, and puts b first."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.00000001, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert theirs["q"]["recip_rank"] == 0.5
    assert measured(["recip_rank"], qrels, run)["recip_rank"]["q"] == 1.0
