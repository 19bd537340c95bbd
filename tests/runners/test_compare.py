"""Two recorded runs compared: numbers as scipy has them, refusals in words, gates that decide."""

import math
import weakref
from datetime import timedelta

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scipy import stats

from ragauge import score, stability
from ragauge.contracts.comparison import FLIPS_KEPT, ComparisonReport
from ragauge.contracts.history import NewRun
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.decide import satisfies
from ragauge.metrics.table import find
from ragauge.reports.forms import render
from ragauge.runners.compare import compare
from ragauge.runners.recording import record as recorded
from ragauge.stats.flip_power import fewest_to_rule_out, smallest_seen
from ragauge.stats.paired import mcnemar
from ragauge.stats.power import needed, needed_for_margin
from ragauge.store.history import open_history
from tests.runners.recorded import HITS, PRECISION, START, questions, record
from tests.runners.test_weights import files

OVER, COMPLIANCE = "quality.over_refusal", "quality.compliance"


@pytest.fixture
def history(tmp_path):
    opened = open_history(str(tmp_path / "store"))
    yield opened
    opened.close()


def ones(n, wrong=()):
    return [0.0 if place in wrong else 1.0 for place in range(n)]


def two(history, before, after, id=HITS, **options):
    """The comparison of one metric in two runs."""
    first = record(history, {id: before}, minute=0)
    second = record(history, {id: after}, minute=1)
    return compare(history, first.id, second.id, **options)


# Numbers


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
@settings(max_examples=40, deadline=None)
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
    assert "no difference seen: 1.000 in both; 189 would decide, 149 more" in render(
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


# Samples that stand for a population


def weighted_runs(tmp_path, history, measure):
    """Two runs of a system over a sample of sixty, recorded as `ragauge score --record` would."""
    rng = np.random.default_rng(4)
    weights = rng.choice([1.5, 10 / 3, 30], 60).tolist()
    found = []
    for minute, chance in enumerate((0.9, 0.6)):
        right = (rng.random(60) < chance).tolist()
        gold, traces = files(tmp_path, list(zip(weights, right, strict=True)))
        made = START + timedelta(minutes=minute)
        found.append(recorded(measure(gold, traces), history, name="s", recorded_at=made))
    return found


@pytest.mark.parametrize("measure", [score, stability])
def test_a_sample_is_compared_as_what_it_stands_for(tmp_path, history, measure):
    before, after = weighted_runs(tmp_path, history, measure)
    report = compare(history, before.id, after.id)
    told = {id: one for id, one in report.compared.items() if one.change is not None}
    assert len(told) > 3
    for id, one in told.items():
        assert "weighted" in after.record.metrics[id].signature
        assert one.before == pytest.approx(before.record.metrics[id].value, abs=1e-12)
        assert one.after == pytest.approx(after.record.metrics[id].value, abs=1e-12)
        assert one.n <= 60
    assert "weights_unused" not in report.finding_counts


def test_a_heavy_question_counts_as_often_as_it_stands_for(history):
    """Forty light questions are mended and ten heavy ones break: the population lost."""
    gold = [
        structs.replace(one, weight=50.0 if p < 10 else 1.0) for p, one in enumerate(questions(60))
    ]
    before, after = ones(60, range(10, 50)), ones(60, range(10))
    how = "canon:unicode|refusal:exact|each:question|weighted"
    for minute, values in enumerate((before, after)):
        record(history, {HITS: values}, gold=gold, how=how, minute=minute)
    one = compare(history, "latest", "latest").compared[HITS]
    assert one.before == pytest.approx(510 / 550)
    assert one.after == pytest.approx(50 / 550)
    assert one.n == 60
    assert one.change < 0 and one.effect < 0
    plain = [structs.replace(question, weight=None) for question in gold]
    for minute, values in enumerate((before, after)):
        record(history, {HITS: values}, gold=plain, minute=10 + minute)
    assert compare(history, "latest", "latest").compared[HITS].change > 0


def test_tests_that_know_no_weights_are_refused(tmp_path, history):
    before, after = weighted_runs(tmp_path, history, score)
    with pytest.raises(UsageError, match=r"--method t knows no weights.*leave the method out"):
        compare(history, before.id, after.id, method="t")


# What is compared


def test_a_metric_absent_in_a_run_has_its_reason(history):
    both = {HITS: ones(20), PRECISION: [None] * 20, COMPLIANCE: [None] * 20}
    record(history, both, minute=0)
    record(history, {**both, PRECISION: ones(20)}, minute=1)
    found = compare(history, "latest", "latest").compared
    assert found[PRECISION].verdict == "not_comparable"
    assert found[PRECISION].reason == "nothing to score in the run before"
    assert (found[PRECISION].before, found[PRECISION].after) == (None, 1.0)
    assert found[COMPLIANCE].reason == "nothing to score in either run"


def test_a_metric_of_a_missing_plug_in_is_compared_by_its_mean(history):
    record(history, {"acme.tone": [0.2] * 30}, counts={"acme.tone": [(1, 5)] * 30}, minute=0)
    record(history, {"acme.tone": [0.4] * 30}, counts={"acme.tone": [(2, 5)] * 30}, minute=1)
    report = compare(history, "latest", "latest")
    assert report.compared["acme.tone"].change == pytest.approx(0.2)
    [finding] = report.findings
    assert finding.code == "metric_not_installed"
    assert "plug-in" in finding.message


def test_a_metric_of_another_version_than_the_installed_is_compared_by_its_mean(history):
    other = find(HITS).version + 1
    for minute in (0, 1):
        record(history, {HITS: ones(20)}, versions={HITS: other}, minute=minute)
    report = compare(history, "latest", "latest")
    assert f"was recorded as version {other}" in report.findings[0].message


def test_metrics_are_named_in_full_or_without_their_family(history):
    both = {HITS: ones(20), COMPLIANCE: ones(20)}
    record(history, both, minute=0)
    record(history, both, minute=1)
    for name in (HITS, "citation_hit_rate"):
        assert list(compare(history, "latest", "latest", metrics=(name,)).compared) == [HITS]
    with pytest.raises(UsageError, match='did you mean "citation_hit_rate"') as found:
        compare(history, "latest", "latest", metrics=("citation_hits_rate", "zzz"))
    assert len(found.value.problems) == 2


def test_a_metric_only_one_run_has_is_not_comparable(history):
    record(history, {HITS: ones(20), COMPLIANCE: ones(20)}, minute=0)
    record(history, {HITS: ones(20), OVER: [0.0] * 20}, minute=1)
    report = compare(history, "latest", "latest", gate="no-regression", metrics=("all",))
    assert report.compared[COMPLIANCE].reason == "the run after does not have it"
    assert OVER not in report.compared
    assert report.finding_counts == {"new_metric": 1, "not_comparable": 1}
    assert not report.passed


def test_units_of_one_run_only_are_counted_and_left_out(history):
    gold = questions(40)
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(30)}, gold=gold[:30], minute=1)
    with pytest.raises(InputRejected, match="30 questions mean the same in both"):
        compare(history, "latest", "latest")
    coverage = compare(history, "latest", "latest", allow=("gold",)).coverage
    assert (coverage.both, coverage.only_before, coverage.only_after) == (30, 10, 0)


# What is refused


def test_other_gold_sets_are_refused_and_compared_on_what_means_the_same(history):
    gold = questions(40)
    other = [
        structs.replace(one, gold_citations=("elsewhere",)) if place < 5 else one
        for place, one in enumerate(gold)
    ]
    other[9] = structs.replace(other[9], strata={"country": "FR"})
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(40, range(6))}, gold=other, minute=1)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    assert "the gold sets differ" in str(refused.value)
    assert "35 questions mean the same in both: --allow gold compares these" in str(refused.value)
    report = compare(history, "latest", "latest", allow=("gold",))
    assert (report.coverage.both, report.coverage.changed_meaning) == (35, 5)
    assert report.compared[HITS].change == pytest.approx(-1 / 35)
    assert report.finding_counts["other_gold"] == 1


def test_a_gold_set_edited_beside_its_meaning_is_compared(history):
    gold = questions(40)
    edited = [structs.replace(one, strata={"country": "FR"}, paraphrases=("So?",)) for one in gold]
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(40, range(8))}, gold=edited, minute=1)
    report = compare(history, "latest", "latest")
    assert (report.coverage.both, report.compared[HITS].verdict) == (40, "worse")
    [finding] = report.findings
    assert finding.code == "other_gold"
    assert "all 40 questions are there and mean what they did" in finding.message


@pytest.mark.parametrize("change", ["added", "removed", "weighed"])
def test_other_questions_or_weights_are_refused(history, change):
    gold = questions(40)
    others = {
        "added": [*gold, structs.replace(gold[0], qid="q999")],
        "removed": gold[:-1],
        "weighed": [structs.replace(one, weight=2.0) for one in gold],
    }[change]
    record(history, {HITS: ones(40)}, gold=gold, minute=0)
    record(history, {HITS: ones(len(others))}, gold=others, minute=1)
    with pytest.raises(InputRejected, match="the gold sets differ"):
        compare(history, "latest", "latest")
    assert compare(history, "latest", "latest", allow=("gold",)).compared[HITS].n >= 39


def test_a_baseline_made_on_changed_files_is_said(history):
    record(history, {HITS: ones(40)}, minute=0, dirty=True)
    record(history, {HITS: ones(40)}, minute=1)
    report = compare(history, "latest", "latest")
    assert (report.before.dirty, report.after.dirty) == (True, False)
    assert report.finding_counts == {"dirty_baseline": 1}
    record(history, {HITS: ones(40)}, minute=2, dirty=True)
    after = compare(history, history.find("latest").id, "latest", metrics=(HITS,))
    assert after.after.dirty


def test_other_versions_and_ways_are_refused_by_name(history):
    both = {HITS: ones(20), COMPLIANCE: ones(20)}
    record(history, both, minute=0)
    record(history, both, versions={HITS: 2}, minute=1)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    assert str(refused.value).splitlines() == [
        f"{HITS}: not comparable, it is version 1 before and 2 after",
        f"comparable are {COMPLIANCE}: --allow versions compares these",
    ]
    report = compare(history, "latest", "latest", allow=("versions",))
    assert report.compared[HITS].verdict == "not_comparable"
    assert report.compared[COMPLIANCE].change == 0
    assert report.finding_counts == {"not_comparable": 1}
    assert list(compare(history, "latest", "latest", metrics=("compliance",)).compared) == [
        COMPLIANCE
    ]


def test_another_canon_is_another_number(history):
    record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, how="canon:reference|refusal:exact|each:question", minute=1)
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    first, last = str(refused.value).splitlines()
    assert first.endswith("it was made as canon:unicode before and canon:reference after")
    assert last == "no metric is left to compare: score one of the runs again, as the other was"
    report = compare(history, "latest", "latest", allow=("versions",))
    assert report.compared[HITS].verdict == "not_comparable"


def test_all_that_differs_is_said_at_once(history):
    record(history, {HITS: ones(20)}, minute=0)
    record(
        history,
        {HITS: ones(20)},
        gold=questions(20, paraphrases=("So?",), constraints=("Say so.",)),
        versions={HITS: 3},
        minute=1,
    )
    with pytest.raises(InputRejected) as refused:
        compare(history, "latest", "latest")
    assert len(refused.value.problems) == 3
    assert "0 questions mean the same" in str(refused.value)
    with pytest.raises(InputRejected, match=r"share no unit.*20 changed their meaning"):
        compare(history, "latest", "latest", allow=("gold", "versions"))


def test_runs_of_two_commands_are_never_compared(history):
    first = record(history, {HITS: ones(20)}, minute=0, command="eval")
    record(history, {HITS: ones(20)}, minute=1)
    with pytest.raises(InputRejected, match=r"a run of `eval` and .* one of `score`"):
        compare(history, first.id, "latest", allow=("gold", "versions"))


def test_mcnemar_of_graded_scores_is_refused(history):
    counts = {COMPLIANCE: [(1, 2)] * 20}
    for minute in (0, 1):
        record(history, {HITS: ones(20), COMPLIANCE: [0.5] * 20}, counts=counts, minute=minute)
    with pytest.raises(UsageError, match=f"scores of 0 and 1, and {COMPLIANCE} have others"):
        compare(history, "latest", "latest", method="mcnemar")


@pytest.mark.parametrize("margin", ["-0.1", "much", "hits=x", "nan", "compliance=0.1"])
def test_margins_that_cannot_be_read_are_refused(history, margin):
    with pytest.raises(UsageError, match="--margin"):
        two(history, ones(20), ones(20), margins=(margin,))


def test_unknown_options_are_refused_in_words(history):
    with pytest.raises(UsageError, match="compare:"):
        two(history, ones(20), ones(20), correction="bonferroni")


# Slices


def test_slices_are_tested_as_one_family_and_small_ones_not_at_all(history):
    gold = [
        structs.replace(
            one, strata={"country": "NL" if place < 30 else "LU" if place < 34 else "BE"}
        )
        for place, one in enumerate(questions(60))
    ]
    record(history, {HITS: ones(60)}, gold=gold, minute=0)
    record(history, {HITS: ones(60, [*range(8), 31, 32])}, gold=gold, minute=1)
    report = compare(history, "latest", "latest", slices=("country", "answerable", "country"))
    cells = {(cell.stratum, cell.value): cell.compared for cell in report.slices}
    assert list(cells) == [
        ("country", "BE"),
        ("country", "LU"),
        ("country", "NL"),
        ("answerable", "false"),
        ("answerable", "true"),
    ]
    assert (cells["country", "LU"].verdict, cells["country", "LU"].p) == ("cannot_tell", None)
    assert "too few: 4 in both runs" in cells["country", "LU"].reason
    assert (cells["country", "LU"].before, cells["country", "LU"].after) == (1.0, 0.5)
    eight, ten = stats.binomtest(0, 8).pvalue, stats.binomtest(0, 10).pvalue
    assert cells["country", "NL"].p == pytest.approx(eight)
    assert cells["answerable", "true"].p_adjusted == pytest.approx(2 * ten)
    assert cells["country", "NL"].p_adjusted == pytest.approx(max(eight, 2 * ten))
    assert cells["country", "NL"].verdict == "worse"
    assert report.finding_counts["slice_too_small"] == 1


def test_questions_without_the_stratum_stand_in_no_slice(history):
    gold = [structs.replace(one, strata={}) for one in questions(30)]
    gold[:12] = questions(30)[:12]
    record(history, {HITS: ones(30)}, gold=gold, minute=0)
    record(history, {HITS: ones(30)}, gold=gold, minute=1)
    report = compare(history, "latest", "latest", slices=("country",))
    assert report.finding_counts["no_stratum"] == 18
    assert sum(cell.compared.n for cell in report.slices) == 12


def test_an_unknown_stratum_names_the_known(history):
    with pytest.raises(UsageError, match=r'"planet": no question has it; .*answerable, country'):
        two(history, ones(20), ones(20), slices=("planet",))


def test_an_id_is_no_stratum(history):
    gold = [structs.replace(one, strata={"url": one.qid}) for one in questions(300)]
    record(history, {HITS: ones(300)}, gold=gold, minute=0)
    record(history, {HITS: ones(300)}, gold=gold, minute=1)
    with pytest.raises(UsageError, match="has 300 values"):
        compare(history, "latest", "latest", slices=("url",))


def test_slices_are_not_worse_only_where_all_of_them_are(history):
    """Forty equal questions a country rule out nine in a hundred for one, not for three at once."""
    for minute in (0, 1):
        record(history, {HITS: ones(120)}, minute=minute)
    options = {"slices": ("country",), "margins": ("0.09",)}
    bare = compare(history, "latest", "latest", correction="none", **options)
    held = compare(history, "latest", "latest", **options)
    assert {cell.compared.verdict for cell in bare.slices} == {"not_worse"}
    assert {cell.compared.verdict for cell in held.slices} == {"cannot_tell"}
    expected = mcnemar([1] * 40, [1] * 40, confidence=100 * (1 - 0.05 / 3)).ci
    assert held.slices[0].compared.ci == pytest.approx(expected)
    assert held.compared[HITS].ci == pytest.approx(mcnemar([1] * 120, [1] * 120).ci)
    assert "joint 95 % interval" in render(
        two(history, ones(60), ones(60, range(30)), slices=("country",)), "text"
    )


# Flips


def test_flips_are_told_with_their_answers_broken_first(history):
    details = [{"claim": f"was {place}", "cited": ["p1", "p2"]} for place in range(12)]
    record(history, {HITS: ones(12, (2, 3))}, details=details, minute=0)
    now = [{"claim": None, "cited": None, "error": "HTTP 500"}] * 12
    right = [None, *(value == 1 for value in ones(12, (7, 1))[1:])]
    record(history, {HITS: ones(12, (7, 1))}, details=now, right=right, minute=1)
    report = compare(history, "latest", "latest")
    assert [(flip.qid, flip.way) for flip in report.flips] == [
        ("q001", "broken"),
        ("q007", "broken"),
        ("q002", "mended"),
        ("q003", "mended"),
    ]
    assert report.flip_counts == {"broken": 2, "mended": 2}
    [flip, *_] = report.flips
    assert flip.question == "What is 1?"
    assert (flip.was.label, flip.was.claim, flip.was.cited) == ("OK", "was 1", ("p1", "p2"))
    assert (flip.now.label, flip.now.claim, flip.now.cited) == ("ANS_NO_HIT", "HTTP 500", ())


def test_a_flaky_question_is_told_with_what_its_answers_vary_with(history):
    record(history, {HITS: ones(12)}, details=[{"claim": "so"}] * 12, minute=0)
    why = "seed: 3 of 8 runs differ"
    now = [{"claim": "so", "explained_by": why}] * 12
    record(history, {HITS: ones(12, (7,))}, details=now, minute=1)
    report = compare(history, "latest", "latest")
    [flip] = report.flips
    assert (flip.was.why, flip.now.why) == (None, why)
    for form in ("text", "markdown", "html", "junit", "github", "json"):
        assert why in " ".join(render(report, form).split()), form


def test_flips_beyond_what_a_report_holds_are_counted(history):
    n = FLIPS_KEPT + 5
    report = two(history, ones(n), ones(n, range(n)))
    assert len(report.flips) == FLIPS_KEPT
    assert report.flip_counts["broken"] == n


def test_no_row_of_a_run_is_kept(history):
    """Answers are read again for what flipped; columns hold the rest."""
    details = [{"claim": "word " * 400} for _ in range(400)]
    runs = [
        record(history, {HITS: ones(400, wrong)}, details=details, minute=minute)
        for minute, wrong in enumerate(((), (3,)))
    ]
    alive = []

    class Watched:
        """A history that counts how many rows are alive at once."""

        def __getattr__(self, name):
            return getattr(history, name)

        def units(self, id):
            for row in history.units(id):
                held = Row(row)
                alive.append(weakref.ref(held))
                assert sum(ref() is not None for ref in alive) <= 2
                yield held
                del held

    class Row:
        def __init__(self, row):
            self.row = row

        def __getattr__(self, name):
            return getattr(self.row, name)

    report = compare(Watched(), runs[0].id, runs[1].id)
    assert [flip.qid for flip in report.flips] == ["q003"]
    assert report.flips[0].was.claim.startswith("word")
    assert len(alive) == 4 * 400


# Gates


def gate_of(history, before, after, **options):
    report = two(history, before, after, **options)
    [gate] = report.gates
    return report, gate


def test_no_regression_fails_what_is_worse_and_passes_what_cannot_be_told(history):
    report, gate = gate_of(history, ones(60), ones(60, range(9)), gate="no-regression")
    assert (report.passed, gate.verdict) == (False, "fail")
    assert gate.rule == f"{HITS}>=0 no-regression"
    assert gate.value == pytest.approx(-9 / 60)
    report, gate = gate_of(history, ones(60), ones(60, range(2)), gate="no-regression")
    assert (report.passed, gate.verdict) == (True, "pass")
    assert gate.reason.startswith("cannot tell; with n = 60 a loss of 0.")
    report, gate = gate_of(history, ones(60, range(9)), ones(60), gate="no-regression")
    assert (report.passed, gate.reason) == (True, None)


def test_no_regression_lets_a_loss_inside_the_margin_pass(history):
    before, after = ones(60), ones(60, range(9))
    report, gate = gate_of(history, before, after, gate="no-regression", margins=("0.2",))
    assert (report.compared[HITS].verdict, gate.verdict) == ("cannot_tell", "pass")
    assert gate.reason == "a loss, but whether it is beyond the margin cannot be told"
    assert (gate.value, gate.bound) == (pytest.approx(-9 / 60), -0.2)


COUNTS = st.integers(0, 30)


@given(COUNTS, COUNTS, st.sampled_from([None, 0.02, 0.1, 0.3]), st.sampled_from([HITS, OVER]))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("gate", ["no-regression", "not-worse"])
def test_value_and_bound_of_a_gate_give_its_verdict(tmp_path_factory, gate, fell, rose, margin, id):
    if gate == "not-worse" and margin is None:
        return
    history = open_history(str(tmp_path_factory.mktemp("gates") / "store"))
    options = {"gate": gate, "margins": () if margin is None else (str(margin),)}
    before = [1.0] * fell + [0.0] * rose + [1.0] * 60
    after = [0.0] * fell + [1.0] * rose + [1.0] * 60
    report = two(history, before, after, id, **options)
    [found] = report.gates
    rule = Rule(metric=id, op=found.op, bound=found.bound)
    assert (found.verdict == "pass") == satisfies(rule, found.value)
    assert (found.verdict == "fail") >= (report.compared[id].verdict == "worse")
    if gate == "no-regression":
        assert (found.verdict == "fail") == (report.compared[id].verdict == "worse")
    history.close()


def test_where_ranks_and_means_part_the_gate_is_not_evaluated(history):
    """Most fell a little and few rose by much: worse by ranks, and the mean rose."""
    before, after = [0.5] * 30 + [0.05] * 3, [0.49] * 30 + [0.95] * 3
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    report = compare(history, "latest", "latest", method="wilcoxon", gate="no-regression")
    assert report.compared["acme.tone"].verdict == "worse"
    [found] = report.gates
    assert (found.verdict, found.value) == ("not_evaluated", None)
    assert "by ranks it is worse, while the mean did not fall" in found.reason


def test_not_worse_demands_proof(history):
    before, after = ones(80, range(6)), ones(80, range(3, 12))
    options = {"gate": "not-worse", "margins": ("0.06",)}
    report, gate = gate_of(history, before, after, **options)
    assert (report.passed, gate.verdict) == (False, "fail")
    assert "a loss beyond the margin is not ruled out: the interval reaches -0." in gate.reason
    assert gate.reason.endswith("more")
    assert (gate.op, gate.bound, gate.value) == (">", -0.06, report.compared[HITS].ci[0])
    report, gate = gate_of(history, ones(400), ones(400), **options)
    assert (report.passed, gate.verdict) == (True, "pass")


def test_not_worse_needs_a_margin_for_everything_it_gates(history):
    with pytest.raises(UsageError, match=f"needs a margin above 0 for {HITS}"):
        two(history, ones(20), ones(20), gate="not-worse", margins=("citation_hit_rate=0",))


def test_not_worse_is_on_the_metrics_with_a_margin(history):
    for minute in (0, 1):
        record(history, {HITS: ones(400), PRECISION: ones(400)}, minute=minute)
    options = {"gate": "not-worse", "margins": ("citation_hit_rate=0.05",)}
    report = compare(history, "latest", "latest", **options)
    assert [gate.metric for gate in report.gates] == [HITS]
    assert report.passed
    assert report.finding_counts == {"no_margin": 1}
    with pytest.raises(UsageError, match="needs a margin above 0: say --margin"):
        compare(history, "latest", "latest", gate="not-worse")


def test_a_metric_neither_run_could_score_stops_nothing_unless_it_is_named(history):
    both = {HITS: ones(20), PRECISION: [None] * 20}
    for minute in (0, 1):
        record(history, both, minute=minute)
    report = compare(history, "latest", "latest", gate="no-regression")
    assert {gate.metric: gate.verdict for gate in report.gates} == {
        HITS: "pass",
        PRECISION: "not_applicable",
    }
    assert report.passed
    named = compare(history, "latest", "latest", gate="no-regression", metrics=("precision_cited",))
    assert [gate.verdict for gate in named.gates] == ["not_evaluated"]
    assert not named.passed


def test_a_gate_passes_only_where_something_was_evaluated(history):
    for minute in (0, 1):
        record(history, {PRECISION: [None] * 20}, minute=minute)
    report = compare(history, "latest", "latest", gate="no-regression")
    assert [gate.verdict for gate in report.gates] == ["not_applicable"]
    assert not report.passed
    assert render(report, "text").startswith("FAIL  no-regression has nothing to judge")
    assert compare(history, "latest", "latest").passed
    run = record(history, {HITS: ones(20)}, minute=3)
    unmeasured = structs.replace(run.record, metrics={}, name="unmeasured")
    units = list(history.units(run.id))
    kept = history.record(NewRun(record=unmeasured, units=units, gold=questions(20), files={}))
    bare = compare(history, kept.id, run.id, gate="no-regression")
    assert (bare.gates, bare.passed) == ((), False)
    assert render(bare, "text").startswith("FAIL  no metric is in both runs")


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.parametrize("gate", ["no-regression", "not-worse"])
def test_a_change_that_the_test_cannot_judge_does_not_pass(history, method, gate):
    """All hundred fall from 1 to 0: they have no spread for these tests to judge by."""
    options = {"method": method, "gate": gate, "margins": ("0.02",)}
    report, verdict = gate_of(history, ones(100), [0.0] * 100, **options)
    assert report.compared[HITS].p is None
    assert not report.passed
    assert verdict.verdict == ("not_evaluated" if gate == "no-regression" else "fail")
    assert "all 100 pairs differ by the same" in verdict.reason
    assert not two(history, ones(100), [0.0] * 100, gate="no-regression").passed


def test_reasons_reach_the_gates(history):
    """Two of sixty differ, and one unit was scored in a single run."""
    before, after = ones(60), [*ones(60, range(2))[:-1], None]
    for minute, values in enumerate((before, after)):
        record(history, {"acme.tone": values}, totals={"acme.tone": "mean"}, minute=minute)
    [gate] = compare(history, "latest", "latest", gate="no-regression").gates
    assert gate.reason.startswith("cannot tell; with n = 59 a loss of 0.")
    assert "only two of 59 pairs differ" in gate.reason
    assert "1 units that only one run scored are left out" in gate.reason


def test_a_metric_that_is_not_comparable_fails_the_gate(history):
    record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, versions={HITS: 2}, minute=1)
    report = compare(history, "latest", "latest", gate="no-regression", allow=("versions",))
    assert [gate.verdict for gate in report.gates] == ["not_evaluated"]
    assert not report.passed


# References


def test_the_baseline_is_the_last_green_run_of_the_branch_before_the_run(history):
    green = record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, minute=1, passed=False)
    record(history, {HITS: ones(20)}, minute=2, name="other")
    record(history, {HITS: ones(20)}, minute=3, branch="side")
    after = record(history, {HITS: ones(20)}, minute=4, branch="side")
    record(history, {HITS: ones(20)}, minute=5)
    report = compare(history, "green@main", after.id)
    assert (report.before.id, report.after.id) == (green.id, after.id)
    assert report.before.branch == "main"


def test_a_first_run_has_no_baseline(history):
    record(history, {HITS: ones(20)}, branch="side")
    with pytest.raises(InputRejected, match="--allow no-baseline"):
        compare(history, "green@main", "latest", gate="no-regression")
    report = compare(history, "green@main", "latest", gate="no-regression", allow=("no-baseline",))
    assert report.passed
    assert report.before is None
    assert report.finding_counts == {"no_baseline": 1}
    for form in ("text", "json", "markdown", "junit", "github", "csv", "html"):
        assert render(report, form)


@pytest.mark.parametrize("reference", ["green@mian", "latest@mian", "green"])
def test_a_baseline_that_no_earlier_run_is_was_not_allowed(history, reference):
    """A branch misspelt, or none green: the allowance is for first runs."""
    record(history, {HITS: ones(20)}, minute=0, passed=False)
    record(history, {HITS: ones(20)}, minute=1, passed=False, branch="side")
    record(history, {HITS: ones(20)}, minute=2, name="other")
    record(history, {HITS: ones(20)}, minute=3, passed=False)
    last = history.find("latest")
    for allow in ((), ("no-baseline",)):
        with pytest.raises(InputRejected) as refused:
            compare(history, reference, last.id, allow=allow)
        assert "is not the first run of score 'nightly'" in str(refused.value)
        assert "earlier ones are on main (0 passed), side (0 passed)" in str(refused.value)
        assert "--allow no-baseline" not in str(refused.value)


def test_a_name_that_is_no_run_is_a_usage_error_even_where_no_baseline_is_allowed(history):
    record(history, {HITS: ones(20)})
    for names in (("v9", "latest"), ("latest", "v9")):
        with pytest.raises(UsageError, match="v9: names no run"):
            compare(history, *names, allow=("no-baseline",))
