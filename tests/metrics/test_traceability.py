"""Traceability metrics: who counts, who does not and why, and how a set's value is made."""

import numpy as np
import pytest

from ragauge.contracts.audit import STATES, AuditedRuns, AuditFacts
from ragauge.contracts.metric import Absent, NotApplicable, Row
from ragauge.errors import UsageError
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import COMMANDS, find, reading, table
from ragauge.metrics.traceability import METRICS, NO_ANSWER, REFUSED, lambda_share

BY_NAME = {metric.name: metric for metric in METRICS}
NAMES = """
    checked unanswered
    valid marker payload text support
    match_rate coverage cited_coverage span_precision span_recall
    deltaS_context deltaS_chunk deltaS_anchor deltaS_decoy rerank_tau rerank_uplift rerank_flips
    rank_rho rank_tau rank_overlap@10
    answer_convergent answer_divergent answer_recursive answer_chaotic answer_incomplete
    retrieval_convergent retrieval_divergent retrieval_recursive retrieval_chaotic
    retrieval_incomplete
"""


def answer(**facts):
    return AuditFacts(kind="answer", answerable=True, **facts)


def asked(retrieval=None, answer=None, planned=6, **others):
    return AuditedRuns(
        answerable=True, planned=planned, retrieval=retrieval, answer=answer, **others
    )


def over(name, units):
    """The value over a set, by the sums its rows come to."""
    metric = BY_NAME[name]
    total = Sums.of(metric, map(metric, units))
    return float(metric.finish(np.array(total.total()))), int(total.scored.sum())


def test_the_family_is_in_the_table():
    assert set(BY_NAME) == set(NAMES.split())
    assert all(table()[metric.id] is metric for metric in METRICS)
    by_kind = {**reading("audit"), **reading("audited_runs")}
    assert {id for id in by_kind if id.startswith("traceability.")} == set(by_kind)
    assert len(by_kind) == len(METRICS)


def test_a_bare_audit_has_no_number_but_a_reason():
    bare = {"audit": AuditFacts(kind="error"), "audited_runs": asked()}
    rows = {metric.name: metric(bare[metric.reads]) for metric in METRICS}
    assert rows.pop("unanswered") == Row((1, 1))  # it counts just these
    assert not [row for row in rows.values() if not (isinstance(row, Absent) and row.reason)]


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        (AuditFacts(kind="answer"), Row((1, 1))),
        (AuditFacts(kind="refusal"), NotApplicable("refused")),
        (AuditFacts(kind="answer", code="missing_rev"), Row((0, 1), "missing_rev")),
        (AuditFacts(kind="uncited", code="empty_citations"), Row((0, 1), "empty_citations")),
        (
            AuditFacts(kind="error", code="model_reported_error"),
            Row((0, 1), "model_reported_error"),
        ),
        (AuditFacts(kind="error"), NO_ANSWER),
        (AuditFacts(kind="error", why={"code": "timeout"}), Absent("timeout")),
    ],
)
def test_valid_is_over_answers(facts, row):
    assert BY_NAME["valid"](facts) == row


@pytest.mark.parametrize("depth", ["marker", "payload", "text"])
def test_a_depth_counts_the_answers_that_were_checked_in_it(depth):
    units = [answer(**{depth: held}) for held in (True, True, False, None)]
    assert over(depth, units) == (pytest.approx(2 / 3), 3)
    assert BY_NAME[depth](answer()) == Absent("not checked at this depth")
    assert BY_NAME[depth](answer(why={depth: "no documents"})) == Absent("no documents")


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        (answer(matched=True), Row((1, 1))),
        (answer(matched=False), Row((0, 1))),
        (AuditFacts(kind="uncited", answerable=True, matched=False), Row((0, 1))),
        (answer(why={"matched": "offsets in tokens"}), Absent("offsets in tokens")),
        (AuditFacts(kind="answer", matched=True), NotApplicable("no gold question")),
        (
            AuditFacts(kind="answer", answerable=False, matched=True),
            NotApplicable("the question is unanswerable"),
        ),
        (AuditFacts(kind="refusal", answerable=True, matched=False), REFUSED),
        (AuditFacts(kind="error", answerable=True, matched=False), NO_ANSWER),
    ],
)
def test_the_match_rate_is_of_answers_to_answerable_questions(facts, row):
    assert BY_NAME["match_rate"](facts) == row


def test_coverage_is_the_mean_of_shares_whatever_the_length_of_the_target():
    units = [
        answer(target=1000, retrieved_target=0, cited_target=0),
        answer(target=10, retrieved_target=10, cited_target=5),
        answer(),
    ]
    assert over("coverage", units) == (0.5, 2)
    assert over("cited_coverage", units) == (0.25, 2)


def test_refusals_count_in_coverage_and_not_in_what_is_cited():
    refusal = AuditFacts(kind="refusal", target=10, retrieved_target=10, cited_target=0)
    assert over("coverage", [refusal]) == (1.0, 1)
    assert BY_NAME["cited_coverage"](refusal) == REFUSED


def test_precision_and_recall_of_spans():
    units = [answer(gold_span=100, cited=110, cited_gold=55), answer(gold_span=10, cited=0)]
    assert over("span_precision", units) == (pytest.approx(0.5), 1)
    assert over("span_recall", units[:1]) == (pytest.approx(0.55), 1)
    silent = AuditFacts(kind="uncited", gold_span=10, cited=0, cited_gold=0)
    assert over("span_recall", [silent]) == (0.0, 1)
    refused = AuditFacts(kind="refusal", gold_span=10, cited=9, cited_gold=9)
    assert BY_NAME["span_precision"](refused) == BY_NAME["span_recall"](refused) == REFUSED


@pytest.mark.parametrize(
    ("name", "facts", "reason"),
    [
        ("coverage", answer(target=9), "the places of the spans are unknown"),
        ("cited_coverage", answer(target=9, why={"cited_target": "in tokens"}), "in tokens"),
        ("span_recall", answer(gold_span=9), "the places of the spans are unknown"),
        ("span_precision", answer(gold_span=9), "the places of the spans are unknown"),
        ("span_precision", answer(why={"cited_gold": "in tokens"}), "in tokens"),
        ("rerank_tau", answer(why={"concordant": "no k_final"}), "no k_final"),
        ("rerank_uplift", answer(why={"ndcg_after": "no k_final"}), "no k_final"),
        ("deltaS_chunk", answer(deltaS={"context": 0.5}), "no embedder was asked for"),
        ("deltaS_chunk", answer(why={"deltaS": "not this time"}), "not this time"),
        ("deltaS_chunk", answer(why={"deltaS": "x", "deltaS_chunk": "no chunk"}), "no chunk"),
    ],
)
def test_what_is_absent_says_why(name, facts, reason):
    assert BY_NAME[name](facts) == Absent(reason)


@pytest.mark.parametrize(
    ("name", "facts", "reason"),
    [
        ("coverage", answer(), "no target section"),
        ("span_recall", answer(), "no gold anchor"),
        ("span_precision", answer(cited=9), "no gold anchor"),
        ("rerank_tau", answer(concordant=0, discordant=0), "no order before and after reranking"),
        ("rerank_uplift", answer(ndcg_before=0.5), "no order before and after reranking"),
    ],
)
def test_what_is_outside_the_definition_says_why(name, facts, reason):
    assert BY_NAME[name](facts) == NotApplicable(reason)


@pytest.mark.parametrize("name", ["context", "chunk", "anchor", "decoy"])
def test_distances_are_averaged_each_under_its_name(name):
    units = [answer(deltaS={name: 0.25}), answer(deltaS={name: 0.75}), answer()]
    assert over(f"deltaS_{name}", units) == (0.5, 2)
    assert BY_NAME[f"deltaS_{name}"].better == ("higher" if name == "decoy" else "lower")


def test_tau_and_uplift_can_be_below_zero():
    assert over("rerank_tau", [answer(concordant=0, discordant=3)]) == (-1.0, 1)
    assert over("rerank_tau", [answer(concordant=3, discordant=0)]) == (1.0, 1)
    assert over("rerank_uplift", [answer(ndcg_before=1.0, ndcg_after=0.25)]) == (-0.75, 1)


def test_flips_are_a_share_of_all_pairs():
    units = [asked(flipped=1, paired=10), asked(flipped=3, paired=6), asked()]
    assert over("rerank_flips", units) == (0.25, 2)
    assert BY_NAME["rerank_flips"].rate is False


@pytest.mark.parametrize("side", ["answer", "retrieval"])
@pytest.mark.parametrize("state", STATES)
def test_a_state_of_lambda_is_a_share_of_questions(side, state):
    metric = lambda_share(side, state)
    units = [asked(**{side: each}) for each in STATES]
    assert over(metric.name, [*units, *units, asked()]) == (0.2, 10)
    assert metric(asked(**{side: state})) == Row((1, 1))
    assert metric.better == ("higher" if state == "convergent" else "lower")
    assert metric(asked(planned=1)) == Absent("fewer than two runs were planned")
    assert metric(asked()) == Absent("no run tells what it retrieved")


def test_every_kind_of_metric_has_a_command():
    assert {metric.reads for metric in table().values()} <= set(COMMANDS)


def test_a_name_of_two_families_is_found_by_what_the_command_reads():
    assert find("coverage", "facts").id == "quality.coverage"
    assert find("coverage", "audit").id == "traceability.coverage"
    assert find("coverage", "audit", "audited_runs").id == "traceability.coverage"
    assert find("answer_chaotic", "audit", "audited_runs").reads == "audited_runs"
    with pytest.raises(
        UsageError, match=r"ambiguous: .*quality\.coverage, .*traceability\.coverage"
    ):
        find("coverage")


@pytest.mark.parametrize(
    ("name", "asked_by", "command"),
    [
        ("traceability.coverage", "facts", "audit"),
        ("match_rate", "runs", "audit"),
        ("answer_chaotic", "audit", "trace-eval"),
        ("quality.coverage", "audit", "score"),
        ("acr", "audited_runs", "stability"),
    ],
)
def test_a_metric_of_another_command_is_sent_there(name, asked_by, command):
    with pytest.raises(UsageError, match=rf"belongs to `ragauge {command}`; ask for it there"):
        find(name, asked_by)
