"""Names of retrieval metrics: every spelling the field has, one id for each."""

import pytest

from ragauge.contracts.rankings import Ranking
from ragauge.errors import UsageError
from ragauge.metrics.retrieval import METRICS, named, parsed

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
            assert named(spelled).id == f"retrieval.{name}", spelled
            assert named(spelled) is named(f"retrieval.{name}")


def test_ids_of_the_table_name_themselves():
    for metric in METRICS:
        assert named(metric.id) is metric
        assert named(metric.name) is metric


def test_blanks_around_parameters_do_not_matter():
    assert named(" RBP( p = 0.95 , rel = 2 ) ").id == "retrieval.rbp(p=0.95,rel=2)"


@pytest.mark.parametrize(
    "name", ["quality.errors", "ndgc@10", "", "@10", "linking.mrr", "p5", "ERR@20", "p((rel=1))@5"]
)
def test_other_names_are_not_ours(name):
    assert named(name) is None
    with pytest.raises(UsageError, match="is no retrieval metric; `ragauge metrics` lists"):
        parsed(name)


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
            named(name)
        assert fact in str(raised.value)
        assert str(raised.value).startswith(f'metric "{name}": ')


def test_the_parameters_reach_the_measure():
    ranking = Ranking(retrieved=(1, 2), judged=(1, 2))
    assert (
        named("rr(rel=2)")(ranking).counts
        == named("rr")(Ranking(retrieved=(0, 1), judged=(0, 1))).counts
    )
    assert named("rbp(p=0.5)")(ranking) != named("rbp")(ranking)
