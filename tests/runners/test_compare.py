"""Two recorded runs compared: numbers as scipy has them, and verdicts that follow from them."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy import stats

from ragauge.contracts.comparison import ComparisonReport
from ragauge.contracts.report import Verdict
from ragauge.errors import UsageError
from ragauge.reports.rendering import render
from ragauge.runners.compare import compare
from ragauge.stats.paired import mcnemar
from ragauge.stats.power import fewest_to_rule_out, needed, needed_for_margin, smallest_seen
from ragauge.store.history import open_history
from tests.runners.recorded import HITS, PRECISION, ones, record, two

OVER, COMPLIANCE = "quality.over_refusal", "quality.compliance"


def test_scores_of_0_and_1_are_compared_by_mcnemar(history):
    report = two(history, ones(80, range(4)), ones(80, range(2, 20)))
    one = report.compared[HITS]
    broken, mended = 16, 2
    assert one.p == pytest.approx(stats.binomtest(mended, broken + mended, 0.5).pvalue, rel=1e-12)
    assert (one.before, one.after) == (76 / 80, 62 / 80)
    assert one.change == pytest.approx(-14 / 80)
    assert (one.n, one.n_zero, one.verdict) == (80, 80 - 18, "worse")
    assert one.method.startswith("McNemar")
    assert one.ci[0] < one.change < one.ci[1] < 0


def test_a_share_over_what_each_run_answered_is_compared_as_a_share(history):
    """Precision over answers: another number of questions is answered in each run."""
    before = [1.0] * 20 + [0.0] * 20 + [None] * 10
    after = [1.0] * 25 + [None] * 10 + [0.0] * 15
    one = two(history, before, after, PRECISION).compared[PRECISION]
    assert (one.before, one.after) == (20 / 40, 25 / 40)
    assert one.change == pytest.approx(25 / 40 - 20 / 40)
    assert (one.n, one.n_zero) == (50, 40 - 15 - 5 + 5)
    assert "randomisation" in one.method
    assert one.p == pytest.approx(_by_swapping(before, after), abs=0.02)


def _by_swapping(before, after, draws=20_000):
    """A plain twin: units swapped whole by coins of numpy's own."""
    rng = np.random.default_rng(7)

    def share(values):
        there = [value for value in values if value is not None]
        return sum(there) / len(there)

    observed = abs(share(after) - share(before))
    far = 0
    for _ in range(draws):
        coins = rng.random(len(after)) < 0.5
        one = [a if coin else b for a, b, coin in zip(after, before, coins, strict=True)]
        other = [b if coin else a for a, b, coin in zip(after, before, coins, strict=True)]
        far += abs(share(one) - share(other)) >= observed - 1e-12
    return far / draws


def test_graded_means_are_compared_on_the_units_both_scored(history):
    rng = np.random.default_rng(1)
    before = rng.random(60).round(3).tolist()
    after = [min(1.0, value + 0.1) for value in before]
    before[0] = after[1] = None
    record(history, {"stability.css": before}, totals={"stability.css": "mean"}, minute=0)
    record(history, {"stability.css": after}, totals={"stability.css": "mean"}, minute=1)
    for method, twin in (
        ("t", lambda a, b: stats.ttest_rel(a, b).pvalue),
        ("wilcoxon", lambda a, b: stats.wilcoxon((np.array(a) - np.array(b)).round(9)).pvalue),
    ):
        one = compare(history, "latest", "latest", method=method).compared["stability.css"]
        assert one.p == pytest.approx(twin(after[2:], before[2:]), rel=0.05)
        assert one.n == 58
        assert "2 units that only one run scored are left out" in one.reason
    automatic = compare(history, "latest", "latest").compared["stability.css"]
    assert automatic.before == pytest.approx(np.mean(before[2:]))
    assert "randomisation" in automatic.method
    assert automatic.verdict == "better"


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1))
def test_any_0_1_pairs_agree_with_scipy(tmp_path_factory, pairs):
    history = open_history(str(tmp_path_factory.mktemp("pairs") / "store"))
    before, after = (list(side) for side in zip(*pairs, strict=True))
    one = two(history, before, after).compared[HITS]
    rose = sum(b < a for b, a in pairs)
    fell = sum(b > a for b, a in pairs)
    twin = stats.binomtest(rose, rose + fell, 0.5).pvalue if rose + fell else 1.0
    assert one.p == pytest.approx(twin, rel=1e-9)
    assert one.change == pytest.approx(sum(after) / len(after) - sum(before) / len(before))
    history.close()


def test_a_run_and_itself_give_p_1_and_no_verdict(history):
    report = two(history, ones(40, range(9)), ones(40, range(9)))
    one = report.compared[HITS]
    assert (one.change, one.p, one.p_adjusted, one.verdict) == (0.0, 1.0, 1.0, "cannot_tell")
    assert (one.detectable, one.needed) == (None, None)
    record(history, {HITS: ones(40)}, minute=9)
    same = compare(history, history.find("latest").id, "latest")
    assert same.finding_counts == {"same_run": 1}


def test_several_metrics_are_held_to_holms_level(history):
    before = {HITS: ones(60), COMPLIANCE: ones(60), OVER: [0.0] * 60}
    after = {HITS: ones(60, range(7)), COMPLIANCE: ones(60, range(6)), OVER: [0.0] * 60}
    record(history, before, minute=0)
    record(history, after, minute=1)
    found = compare(history, "latest", "latest", metrics=("all",)).compared
    seven, six = stats.binomtest(0, 7).pvalue, stats.binomtest(0, 6).pvalue
    # Over refusal moved nowhere: nothing could be found in it, and it blinds no other test.
    assert found[HITS].p_adjusted == pytest.approx(2 * seven)
    assert found[COMPLIANCE].p_adjusted == pytest.approx(max(six, 2 * seven))
    assert [found[id].verdict for id in (HITS, COMPLIANCE, OVER)] == [
        "worse",
        "worse",
        "cannot_tell",
    ]
    bare = compare(history, "latest", "latest", metrics=("all",), correction="none").compared
    assert bare[HITS].p_adjusted == pytest.approx(seven)
    discovery = compare(history, "latest", "latest", metrics=("all",), correction="bh").compared
    assert discovery[COMPLIANCE].p_adjusted == pytest.approx(six)


def test_a_test_that_could_find_nothing_blinds_no_other(history):
    """Five of sixty flipped in one metric: no outcome of five is significant."""
    record(history, {HITS: ones(60), PRECISION: ones(60)}, minute=0)
    record(history, {HITS: ones(60, range(6)), PRECISION: ones(60, range(5))}, minute=1)
    found = compare(history, "latest", "latest").compared
    assert (found[HITS].tested, found[PRECISION].tested) == (True, False)
    assert found[HITS].p_adjusted == found[HITS].p == stats.binomtest(0, 6).pvalue
    assert (found[HITS].verdict, found[PRECISION].verdict) == ("worse", "cannot_tell")
    # Were more to flip, there would be two tests.
    expected = smallest_seen(found[PRECISION].sd, 60, flips=True, alpha=0.025)
    assert found[PRECISION].detectable == pytest.approx(expected)


NEARLY_THE_SAME = tuple(
    f"quality.{name}"
    for name in (
        *("precision_cited", "citation_hit_rate", "claim_containment", "compliance"),
        *("chr_shipped", "precision_strict", "in_scope"),
    )
)


def test_a_collapse_is_found_however_many_metrics_say_the_same(history):
    record(history, {id: ones(8) for id in NEARLY_THE_SAME}, minute=0)
    record(history, {id: [0.0] * 8 for id in NEARLY_THE_SAME}, minute=1)
    report = compare(history, "latest", "latest", gate="no-regression")
    assert {id: one.verdict for id, one in report.compared.items()} == {
        id: "worse" if id in (HITS, PRECISION) else "not_tested" for id in NEARLY_THE_SAME
    }
    assert not report.passed
    assert [gate.metric for gate in report.gates] == [HITS, PRECISION]
    beside = report.compared["quality.claim_containment"]
    assert (beside.change, beside.p, beside.p_adjusted) == (-1.0, 2 / 256, None)
    assert (beside.ci is None, beside.tested, beside.needed) == (False, False, None)
    whole = compare(history, "latest", "latest", metrics=("all",))
    assert {one.verdict for one in whole.compared.values()} == {"cannot_tell"}
    assert len(whole.compared) == len(NEARLY_THE_SAME)


def test_what_a_gate_is_on_or_has_a_margin_is_tested_too(history):
    both = {id: ones(40) for id in NEARLY_THE_SAME}
    record(history, both, minute=0)
    gate = Verdict(
        rule="quality.compliance>=0.9",
        metric="quality.compliance",
        op=">=",
        bound=0.9,
        value=1.0,
        n=40,
        ci=None,
        verdict="pass",
        reason=None,
    )
    record(history, both, minute=1, gates=(gate,))

    def family(**options):
        report = compare(history, "latest", "latest", **options)
        return {id for id, one in report.compared.items() if one.verdict != "not_tested"}

    assert family() == {HITS, PRECISION, COMPLIANCE}
    assert family(margins=("0.02", "claim_containment=0.1")) == {
        *(HITS, PRECISION, COMPLIANCE),
        "quality.claim_containment",
    }
    report = compare(history, "latest", "latest", margins=("0.02",), slices=("country",))
    assert {cell.metric for cell in report.slices} == {HITS, PRECISION, COMPLIANCE}
    assert report.compared["quality.chr_shipped"].margin is None


def test_of_stability_the_stable_share_is_tested(history):
    ids = ("stability.stable", "stability.acr", "stability.css")
    per_question = Verdict(
        rule="stability.acr>=0.95 per question where answerable=true",
        metric="stability.acr",
        op=">=",
        bound=0.95,
        value=1.0,
        n=40,
        ci=None,
        verdict="pass",
        reason=None,
    )
    of_all = structs.replace(per_question, rule="stability.css>=0.9", metric="stability.css")
    for minute, gates in enumerate(((per_question,), (per_question, of_all))):
        values = {id: ones(40) for id in ids}
        totals = dict.fromkeys(ids, "mean")
        record(history, values, totals=totals, minute=minute, command="stability", gates=gates)
    found = compare(history, "latest", "latest").compared
    assert [id for id in ids if found[id].verdict != "not_tested"] == [ids[0], ids[2]]


def test_a_metric_beside_the_family_is_told_though_a_run_lacks_it(history):
    record(history, {HITS: ones(40), COMPLIANCE: ones(40)}, minute=0)
    record(history, {HITS: ones(40)}, minute=1)
    report = compare(history, "latest", "latest", gate="no-regression")
    assert report.compared[COMPLIANCE].verdict == "not_tested"
    assert report.compared[COMPLIANCE].reason == "the run after does not have it"
    assert report.finding_counts == {"not_comparable": 1}
    assert report.passed


def test_lower_is_better_where_the_metric_says_so(history):
    report = two(history, [0.0] * 60, [1.0] * 15 + [0.0] * 45, OVER)
    assert report.compared[OVER].verdict == "worse"
    assert report.compared[OVER].change == 0.25


def test_what_cannot_be_told_says_how_many_would_tell(history):
    one = two(history, ones(80, range(6)), ones(80, range(3, 12))).compared[HITS]
    assert one.verdict == "cannot_tell"
    sd = float(np.std([-1.0] * 6 + [1.0] * 3 + [0.0] * 71, ddof=1))
    assert one.sd == pytest.approx(sd)
    assert one.needed == needed(sd, 3 / 80)
    assert one.detectable == pytest.approx(smallest_seen(sd, 80, flips=True))
    assert one.needed > 80


def test_with_a_margin_the_margin_is_what_more_items_would_decide(history):
    one = two(history, ones(80, range(6)), ones(80, range(3, 12)), margins=("0.06",)).compared[HITS]
    assert (one.margin, one.verdict) == (0.06, "cannot_tell")
    assert one.needed == needed_for_margin(one.sd, 0.06, -3 / 80)


def test_what_would_decide_is_for_the_nearer_decision(history):
    """A loss past the margin would be shown to be one; a gain as a gain, or inside the margin."""
    before, after = ones(80, range(6)), ones(80, range(3, 12))
    loss = two(history, before, after, margins=("0.01",)).compared[HITS]
    assert (loss.verdict, loss.needed) == ("cannot_tell", needed(loss.sd, 3 / 80))
    gain = two(history, after, before, margins=("0.04",)).compared[HITS]
    assert gain.verdict == "cannot_tell"
    assert gain.needed == needed_for_margin(gain.sd, 0.04, 3 / 80) < needed(gain.sd, 3 / 80)


def test_where_nothing_differs_a_margin_has_its_number_too(history):
    one = two(history, ones(40), ones(40), margins=("0.02",)).compared[HITS]
    assert (one.verdict, one.needed) == ("cannot_tell", fewest_to_rule_out(40, 0.02))
    assert "n = 189 would decide (149 more)" in render(
        two(history, ones(40), ones(40), margins=("0.02",)), "text", width=120
    )


def test_a_loss_that_may_be_beyond_the_margin_is_not_called_worse(history):
    report = two(history, ones(60), ones(60, range(9)), margins=("0.2",))
    one = report.compared[HITS]
    assert one.p_adjusted < 0.05
    assert (one.verdict, one.change) == ("cannot_tell", pytest.approx(-9 / 60))
    assert one.reason == "a loss, but whether it is beyond the margin cannot be told"
    assert one.needed > 60
    beyond = two(history, ones(60), ones(60, range(9)), margins=("0.1",)).compared[HITS]
    assert (beyond.verdict, beyond.reason) == ("worse", None)


def test_an_interval_of_the_median_rules_no_margin_out(history):
    """Most questions did not move: the median's interval is [0, 0], and five in forty fell."""
    before, after = ones(40), ones(40, range(6))
    one = two(history, before, after, method="wilcoxon", margins=("0.01",)).compared[HITS]
    assert one.ci == (0.0, 0.0)
    assert one.verdict == "worse"
    few = two(history, before, ones(40, range(5)), method="wilcoxon", margins=("0.01",))
    assert few.compared[HITS].verdict == "cannot_tell"
    with pytest.raises(UsageError, match=r"a loss of the mean, and --method wilcoxon"):
        two(history, before, after, method="wilcoxon", margins=("0.01",), gate="not-worse")


def test_a_loss_inside_the_margin_is_not_worse(history):
    report = two(history, ones(400), ones(400, range(8)), margins=("9%",))
    assert report.compared[HITS].verdict == "not_worse"


def test_reports_repeat_themselves_to_the_byte(history):
    values = [1.0] * 20 + [0.5] * 20 + [None] * 10
    counts = {PRECISION: [(2, 2)] * 20 + [(1, 2)] * 20 + [(0, 0)] * 10}
    record(history, {PRECISION: values}, counts=counts, minute=0)
    record(
        history, {PRECISION: values[::-1]}, counts={PRECISION: counts[PRECISION][::-1]}, minute=1
    )
    first, second = (compare(history, "latest", "latest", slices=("country",)) for _ in "ab")
    assert render(first, "json") == render(second, "json")
    assert "NaN" not in render(first, "json")
    assert msgspec.json.decode(render(first, "json"), type=ComparisonReport) == first


def test_every_number_of_a_report_is_finite(history):
    for n in (1, 2, 5):
        report = two(history, ones(n), ones(n, range(n)), slices=("answerable",))
        for one in report.compared.values():
            for number in (one.change, one.p, one.sd, one.detectable, one.effect, *(one.ci or ())):
                assert number is None or math.isfinite(number)


def test_few_traced_questions_prove_nothing(history):
    """All right before, and after the three that were traced: no loss was seen, nor ruled out."""
    before, after = [1.0] * 60, [1.0] * 3 + [None] * 57
    options = {"gate": "not-worse", "margins": ("0.05",)}
    report = two(history, before, after, PRECISION, **options)
    one, [gate] = report.compared[PRECISION], report.gates
    assert (one.change, one.ci, one.n, one.verdict) == (0.0, None, 60, "cannot_tell")
    assert "the run after scored only 3 units" in one.reason
    assert (report.passed, gate.verdict) == (False, "fail")
    assert "the run after scored only 3 units" in gate.reason


def test_ranks_say_which_way_a_metric_went(history):
    before = [0.5] * 30 + [0.95] * 3
    after = [0.51] * 30 + [0.05] * 3
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    one = compare(history, "latest", "latest", method="wilcoxon").compared["acme.tone"]
    assert one.after < one.before
    assert (one.verdict, one.change > 0) == ("better", True)
    assert one.ci[0] <= one.change <= one.ci[1]
    assert "change and interval are of the median change" in one.reason


def test_what_ranks_find_among_few_that_fell_is_worse(history):
    """Most questions did not move, so that the median is 0; all that moved fell."""
    before, after = [0.5] * 100, [0.2] * 20 + [0.5] * 80
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    report = compare(history, "latest", "latest", method="wilcoxon", gate="no-regression")
    assert (report.compared["acme.tone"].change, report.compared["acme.tone"].verdict) == (
        0.0,
        "worse",
    )
    assert not report.passed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1.0] * 6, [0.0] * 5 + [1.0]),
        ([0.9, 0.8, 0.7, 0.6, 0.95], [0.4, 0.31, 0.19, 0.12, 0.43]),
    ],
)
def test_more_would_decide_than_there_are(history, before, after):
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    one = compare(history, "latest", "latest").compared["acme.tone"]
    assert one.verdict == "cannot_tell"
    assert one.needed > len(before)
    moved = math.floor(one.needed * (one.n - one.n_zero) / one.n)
    assert stats.binomtest(0, moved).pvalue < 0.05


def test_alpha_reaches_the_intervals(history):
    """0/1 pairs, shares whose units differ, and graded values: each at the level asked for."""
    shares = [1.0] * 30 + [None] * 10 + [0.0] * 20
    graded = np.random.default_rng(2).random(60).tolist()
    for minute in (0, 1):
        record(
            history,
            {
                HITS: ones(60, range(8 * minute)),
                PRECISION: shares[:: 1 - 2 * minute],
                "acme.tone": graded[:: 1 - 2 * minute],
            },
            totals={"acme.tone": "mean"},
            minute=minute,
        )
    reports = [compare(history, "latest", "latest", alpha=alpha) for alpha in (0.05, 0.01)]
    for id in (HITS, PRECISION, "acme.tone"):
        wide, wider = (report.compared[id].ci for report in reports)
        assert wider[0] < wide[0] < wide[1] < wider[1]
    expected = mcnemar(ones(60, range(8)), ones(60), confidence=99).ci
    assert reports[1].compared[HITS].ci == pytest.approx(expected)
    assert "99 % interval" in render(reports[1], "markdown")
