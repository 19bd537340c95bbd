"""Retrieval metrics: published fixtures, one test for each trap of the specification, laws."""

import json

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.metric import SCALE, Absent, NotApplicable, Row
from ragauge.contracts.rankings import Ranking
from ragauge.errors import UsageError
from ragauge.metrics.retrieval import KINDS, METRICS, from_name, parse
from ragauge.metrics.retrieval_kernel import retrieval_sums
from ragauge.metrics.retrieval_order import first_of_each, offsets_of_kept, rank_order
from ragauge.runners.evaluation import scored
from tests.components.judged_runs import in_order, measured

NO_RELEVANT = NotApplicable("no relevant document was judged")
DEFAULT = """
    ndcg@5 ndcg@10 ndcg@20 ndcg_exp@10 ndcg p@5 p@10 p@20 recall@5 recall@10 recall@20 rr ap
    success@1 success@5 success@10 bpref rprec rbp judged@10 set_p set_r set_f coverage
"""


def value(name, ranking, no_rel="exclude"):
    metric = from_name(name, no_rel)
    row = metric(ranking)
    return None if isinstance(row, Absent) else float(metric.finish(np.array(row.counts)))


def mean(name, *rankings, no_rel="exclude"):
    metric = from_name(name, no_rel)
    return scored(retrieval_sums([metric], in_order(*rankings), no_rel)[metric.id], "").value


def ranked(*grades, judged=None):
    known = tuple(grade for grade in grades if grade is not None)
    return Ranking(retrieved=grades, judged=known if judged is None else tuple(judged))


def test_the_default_set_is_the_one_that_is_documented():
    assert {metric.name for metric in METRICS} == set(DEFAULT.split())
    assert len(METRICS) == len(DEFAULT.split())


def test_published_exponential_ndcg():
    assert value("ndcg_exp@4", ranked(3, 2, 0, 1)) == pytest.approx(0.99262, abs=5e-6)


def test_published_precision_recall_and_mrr():
    five = ranked(None, 1, None, None, 1)
    two = ranked(1, None)
    assert mean("p@5", five, two) == pytest.approx(0.3, abs=1e-12)
    assert mean("recall@5", five, two) == 1.0
    assert mean("mrr", five, two) == 0.75


def test_g1_the_ideal_order_is_that_of_all_judged_documents():
    one_of_ten = ranked(1, judged=[1] * 10)
    assert value("ndcg@10", one_of_ten) == pytest.approx(0.2201, abs=5e-5)
    assert value("ndcg_retrieved_ideal@10", one_of_ten) == 1.0


def test_g1_a_cut_off_holds_for_the_ideal_order_too():
    assert value("ndcg@1", ranked(1, judged=[1] * 10)) == 1.0


def test_g1_the_retrieved_ideal_is_zero_where_only_others_are_relevant():
    assert value("ndcg_retrieved_ideal@10", ranked(0, judged=[0, 1])) == 0.0
    assert value("ndcg_exp_retrieved_ideal@2", ranked(0, 3, judged=[0, 3])) == pytest.approx(
        1 / np.log2(3)
    )


def test_g2_linear_and_exponential_gain_have_names_of_their_own():
    grades = ranked(1, 3, 2)
    assert value("ndcg", grades) == pytest.approx(0.8175, abs=5e-5)
    assert value("ndcg_exp", grades) == pytest.approx(0.7364, abs=5e-5)


def test_g2_a_grade_beyond_floating_point_is_still_a_number():
    assert value("ndcg_exp@10", ranked(1, 2_000_000_000)) == pytest.approx(1 / np.log2(3))


def test_g3_grades_and_the_level_that_is_relevant():
    grades = ranked(1, 2, 3, 0)
    assert [value(f"p(rel={level})@4", grades) for level in (1, 2, 3)] == [0.75, 0.5, 0.25]
    assert [value(f"rr(rel={level})", grades) for level in (1, 2, 3)] == pytest.approx(
        [1, 1 / 2, 1 / 3], abs=1e-12
    )
    assert value("recall(rel=3)@2", grades) == 0.0


def test_g4_a_query_without_relevant_documents_is_no_part_of_the_mean():
    nothing = ranked(0, None, judged=[0, 0])
    unaware = {"judged@10", "coverage"}
    for metric in METRICS:
        assert (metric(nothing) == NO_RELEVANT) == (metric.name not in unaware), metric.id
    score = scored(
        retrieval_sums([from_name("ap")], in_order(nothing, ranked(1)))["retrieval.ap"], ""
    )
    assert (score.value, score.n, score.of) == (1.0, 1, 1)


def test_g4_zero_for_such_a_query_is_what_trec_eval_does():
    nothing = ranked(0, None, judged=[0, 0])
    for metric in METRICS:
        if metric.name not in {"judged@10", "coverage"}:
            assert value(metric.id, nothing, "zero") == 0.0, metric.id
    assert mean("ap", nothing, ranked(1), no_rel="zero") == 0.5


def test_g4_the_level_decides_whether_there_is_a_relevant_document():
    grades = ranked(1, 1)
    assert from_name("ap(rel=2)")(grades) == NO_RELEVANT
    assert value("ndcg", grades) == 1.0


def test_g5_duplicate_documents_keep_their_best_rank():
    """Three chunks of one relevant document: recall was 3."""
    offsets, score = np.array([0, 4]), np.array([0.5, 0.9, 0.7, 0.8])
    document = pl.Series(["doc", "doc", "other", "doc"])
    order = rank_order(offsets, score, document).order
    document = document.gather(order)
    keep = first_of_each(offsets, document)
    kept = document.filter(pl.Series(keep)).to_list()
    assert kept == ["doc", "other"]
    assert offsets_of_kept(offsets, keep).tolist() == [0, 2]
    assert np.count_nonzero(~keep) == 2
    grades = [{"doc": 1}.get(name) for name in kept]
    assert value("recall@5", ranked(*grades)) == 1.0
    assert value("p@5", ranked(*grades)) == pytest.approx(0.2, abs=1e-12)


def test_g6_precision_divides_by_k():
    assert value("p@5", ranked(1)) == pytest.approx(0.2, abs=1e-12)
    assert value("set_p", ranked(1)) == 1.0


def test_g7_no_queries_give_none():
    for sums in retrieval_sums(METRICS, in_order()).values():
        found = scored(sums, "")
        assert (found.value, found.n, found.of, found.ci) == (None, 0, 0, None)
        assert found.reason


def test_g8_a_negative_grade_is_not_relevant_and_not_judged():
    spam = ranked(-2, 3, None, -1, judged=[-2, 3, -1, 0, 0])
    clean = ranked(None, 3, None, None, judged=[3, 0, 0])
    for metric in METRICS:
        assert metric(spam) == metric(clean), metric.id
    assert value("unjudged@5", spam) == pytest.approx(0.6, abs=1e-12)
    assert value("judged@5", spam) == 0.25
    assert value("ndcg_exp@10", spam) > 0


def test_g10_ties_go_by_document_descending_bytewise():
    document = pl.Series(["a", "é", "z", "Z", "館"])
    found = rank_order(np.array([0, 5]), np.ones(5), document)
    assert document.gather(found.order).to_list() == ["館", "é", "z", "a", "Z"]
    assert found.tied.tolist() == [True]


def test_g10b_scores_are_told_apart_in_double_precision():
    found = rank_order(np.array([0, 2]), np.array([1.0, 1.00000001]), pl.Series(["b", "a"]))
    assert found.order.tolist() == [1, 0]
    assert not found.tied.any()


def test_g11_a_query_the_run_does_not_have_is_zero():
    missing = Ranking(retrieved=(), judged=(1, 0), missing=True)
    for metric in METRICS:
        if metric.name != "judged@10":
            assert value(metric.id, missing) == 0.0, metric.id
    assert from_name("judged@10")(missing) == Absent("nothing was retrieved")
    assert mean("coverage", missing, ranked(1)) == 0.5
    assert measured(["rr"], {"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 2.0}}) == {
        "rr": {"q1": 1.0, "q2": 0.0}
    }


def test_g11_an_empty_list_of_results_is_no_missing_query():
    assert value("coverage", Ranking(retrieved=(), judged=(1,))) == 1.0


def test_g13_scores_are_plain_numbers():
    for sums in retrieval_sums(METRICS, in_order(ranked(1, 0), ranked(0, 1))).values():
        found = scored(sums, "")
        assert type(found.value) is float
        assert json.loads(msgspec.json.encode(found))["n"] == 2


def test_bpref_looks_at_no_more_bad_documents_than_there_are_good_ones():
    one_good = ranked(0, 0, 0, 1, judged=[0, 0, 0, 0, 1])
    assert value("bpref", one_good) == 0.0
    assert value("bpref", ranked(0, 1, 1, judged=[0, 1, 1])) == 0.0
    assert value("bpref", ranked(0, 1, 1, judged=[0, 0, 0, 1, 1])) == 0.5


def test_average_precision_at_a_cut_off_still_divides_by_all_relevant():
    assert value("ap@1", ranked(1, 1)) == 0.5


def test_rbp_of_an_endless_list_of_relevant_documents_is_one():
    assert value("rbp(p=0.95)", ranked(*[1] * 2000)) == pytest.approx(1, abs=1e-9)
    assert value("rbp", ranked(1)) == pytest.approx(0.2, abs=1e-9)


@st.composite
def rankings(draw):
    judged = draw(st.lists(st.integers(-2, 4), max_size=10))
    if draw(st.booleans()) and draw(st.booleans()):
        return Ranking(retrieved=(), judged=tuple(judged), missing=True)
    shown = judged[: draw(st.integers(0, 10))] + [None] * draw(st.integers(0, 6))
    return Ranking(retrieved=tuple(draw(st.permutations(shown))), judged=tuple(judged))


ALL = [
    *METRICS,
    *map(from_name, ("unjudged@5", "rbp(p=0.99)", "ndcg_exp_retrieved_ideal@3", "ap@2")),
]


@given(rankings(), st.randoms(use_true_random=False))
def test_values_stay_in_bounds_and_the_order_of_judgements_says_nothing(ranking, random):
    shuffled = msgspec.structs.replace(
        ranking, judged=tuple(random.sample(ranking.judged, len(ranking.judged)))
    )
    for metric in ALL:
        row = metric(ranking)
        assert metric(shuffled) == row
        if isinstance(row, Row):
            assert 0 <= row.counts[0] <= (row.counts[1] if metric.rate else SCALE), metric.id
            assert all(type(count) is int for count in row.counts)


class Declared:
    """A ranking of which only the declared parts can be read."""

    def __init__(self, ranking, needs):
        self._ranking, self._needs = ranking, needs

    def __getattr__(self, name):
        assert name in self._needs, f"reads {name}, which it does not declare"
        return getattr(self._ranking, name)


@given(rankings())
def test_a_metric_reads_only_what_it_declares(ranking):
    for metric in ALL:
        assert metric(Declared(ranking, metric.needs)) == metric(ranking)


@given(rankings())
def test_a_perfect_order_has_the_best_value(ranking):
    perfect = tuple(sorted(ranking.judged, reverse=True))
    best = Ranking(retrieved=perfect, judged=ranking.judged)
    relevant = sum(grade > 0 for grade in perfect)
    for name in ("ndcg", "ndcg@3", "ndcg_exp@10", "ap", "rr", "rprec", "bpref", "success@1"):
        assert value(name, best) == (1.0 if relevant else None), name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_fit_to_be_shown(kind):
    metric = from_name(kind + ("@7" if KINDS[kind].cut == "needed" else ""))
    assert (metric.version, metric.unit, metric.reads) == (1, "query", "ranking")
    assert metric.summary.endswith(".") and metric.summary[0].isupper()
    assert ">>>" in metric.doc
    assert metric.rate == (metric.columns == ("yes", "of"))


SPELLINGS = {
    "ndcg@10": "nDCG@10 NDCG@10 ndcg_cut_10 ndcg_cut.10 nDCG(dcg='log2')@10 retrieval.ndcg@10",
    "ndcg": "nDCG ndcg",
    "ndcg_exp@10": """nDCG(dcg='exp-log2')@10 nDCG(dcg="exp-log2")@10 ndcg_exp@10""",
    "ndcg_retrieved_ideal@3": "retrieval.ndcg_retrieved_ideal@3",
    "p@5": "P@5 p@5 P_5 P.5 Precision@5 P(rel=1)@5",
    "p(rel=2)@5": "P(rel=2)@5 retrieval.p(rel=2)@5 p(rel=02)@05",
    "recall@20": "R@20 recall@20 Recall@20 recall_20 recall.20",
    "recall(rel=2)@20": "R(rel=2)@20",
    "rr": "RR MRR mrr recip_rank rr retrieval.rr",
    "rr@10": "RR@10 MRR@10",
    "ap": "AP MAP map",
    "ap@100": "AP@100 MAP@100 map_cut_100",
    "success@5": "Success@5 success_5 success.5",
    "bpref": "Bpref bpref",
    "bpref(rel=2)": "Bpref(rel=2)",
    "rprec": "Rprec RPrec",
    "rbp": "RBP RBP(p=0.8) rbp(p=.8) RBP(rel=1)",
    "rbp(p=0.95)": "RBP(p=0.95) rbp(p=0.950)",
    "rbp(p=0.95,rel=2)": "RBP(rel=2,p=0.95) retrieval.rbp(p=0.95,rel=2)",
    "rbp@10": "RBP@10",
    "judged@10": "Judged@10",
    "unjudged@10": "unj_10 unjudged@10",
    "set_p": "SetP set_P",
    "set_r": "SetR set_recall",
    "set_f": "SetF set_F",
    "coverage": "retrieval.coverage",
}


def test_each_spelling_is_the_same_metric():
    for name, spellings in SPELLINGS.items():
        for spelled in spellings.split():
            assert from_name(spelled).id == f"retrieval.{name}", spelled
            assert from_name(spelled) is from_name(f"retrieval.{name}")


def test_ids_of_the_table_name_themselves():
    for metric in METRICS:
        assert from_name(metric.id) is metric
        assert from_name(metric.name) is metric


def test_blanks_around_parameters_do_not_matter():
    assert from_name(" RBP( p = 0.95 , rel = 2 ) ").id == "retrieval.rbp(p=0.95,rel=2)"


@pytest.mark.parametrize(
    "name", ["quality.errors", "ndgc@10", "", "@10", "linking.mrr", "p5", "ERR@20", "p((rel=1))@5"]
)
def test_other_names_are_not_ours(name):
    assert from_name(name) is None
    with pytest.raises(UsageError, match="is no retrieval metric; `ragauge metrics` lists"):
        parse(name)


WRONG = {
    "ndcg@0": 'metric "ndcg@0": the cut-off is "0"; it is a whole number from 1 to 1,000,000,000',
    "P@-1": 'metric "P@-1": the cut-off is "-1"; it is a whole number',
    "p@ten": 'metric "p@ten": the cut-off is "ten"; it is a whole number',
    "p@5@5": 'the cut-off is "5@5"; it is a whole number',
    "p@": 'metric "p@": the cut-off is ""; it is a whole number',
    "p@٣": 'metric "p@٣": the cut-off is "٣"; it is a whole number',
    "p@9999999999": "it is a whole number from 1 to 1,000,000,000",
    "P_0": 'metric "P_0": the cut-off is "0"',
    "retrieval.p": 'metric "retrieval.p": p needs a cut-off; write p@10',
    "bpref@10": 'metric "bpref@10": bpref looks at all results; leave out @10',
    "p(rel=0)@5": 'metric "p(rel=0)@5": rel is "0"; it is a whole number from 1',
    "p(rel=2.5)@5": 'rel is "2.5"; it is a whole number',
    "p(level=2)@5": 'metric "p(level=2)@5": p has no parameter level; it takes rel',
    "ndcg(rel=2)@5": "ndcg has no parameter rel; it takes none in parentheses",
    "rbp(q=1)": "rbp has no parameter q; it takes p and rel",
    "rbp(p=1)": 'rbp(p=1)": p is "1"; it is a decimal between 0 and 1, such as 0.95',
    "rbp(p=0.0)": "it is a decimal between 0 and 1",
    "rbp(p=nan)": "it is a decimal between 0 and 1",
    "p(rel)@5": 'metric "p(rel)@5": "rel" is no parameter; write it as rel=2',
    "p()@5": '"" is no parameter; write it as rel=2',
    "p(rel=1,rel=2)@5": "rel is given twice; keep one",
    "nDCG(dcg='ln')@5": 'there is no gain "ln"; there are log2, exp-log2',
}


def test_what_is_wrong_is_said_with_a_remedy():
    for name, fact in WRONG.items():
        with pytest.raises(UsageError) as raised:
            from_name(name)
        assert fact in str(raised.value)
        assert str(raised.value).startswith(f'metric "{name}": ')


def test_the_parameters_reach_the_measure():
    ranking = Ranking(retrieved=(1, 2), judged=(1, 2))
    assert (
        from_name("rr(rel=2)")(ranking).counts
        == from_name("rr")(Ranking(retrieved=(0, 1), judged=(0, 1))).counts
    )
    assert from_name("rbp(p=0.5)")(ranking) != from_name("rbp")(ranking)
