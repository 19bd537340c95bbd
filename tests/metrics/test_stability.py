"""Stability metrics against the brief's fixture, plain twins, and the laws of the table."""

from itertools import combinations, pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.metric import SCALE, Absent, NotApplicable
from ragauge.contracts.run import FACTORS, QuestionRuns, RunFacts, Variation
from ragauge.metrics.factors import effects, explain
from ragauge.metrics.stability import METRICS, median_distance
from ragauge.metrics.sums import Sums
from ragauge.text.agreement import agreement

every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.id)

CLAIMS = ("x rejects null keys", "no x rejects null keys", "x rejects any null keys", "", "é x")
IDS = ("p1#1", "p1#2", "p2#1")

variations = st.builds(
    Variation,
    paraphrase=st.integers(0, 1),
    jitter=st.sampled_from(("none", "ws")),
    temperature=st.sampled_from((0.0, 0.2)),
    seed=st.integers(0, 2),
)


@st.composite
def run_facts(draw, variation):
    refused = draw(st.booleans())
    return RunFacts(
        variation,
        refused,
        not refused and draw(st.booleans()),
        draw(st.booleans()),
        None if refused else draw(st.booleans()),
        "" if refused else draw(st.sampled_from(CLAIMS)),
        frozenset() if refused else frozenset(draw(st.lists(st.sampled_from(IDS), max_size=3))),
        "" if refused else draw(st.sampled_from(CLAIMS)),
    )


@st.composite
def questions(draw):
    chosen = draw(st.lists(variations, unique=True, max_size=7))
    runs = tuple(draw(run_facts(variation)) for variation in chosen)
    failed = draw(st.integers(0, 2))
    planned = len(runs) + failed + draw(st.integers(0, 2))
    return QuestionRuns(draw(st.booleans()), draw(st.booleans()), runs, planned, failed, "What?")


def value(metric, question):
    row = metric(question)
    if isinstance(row, Absent):
        return None
    return float(metric.finish(np.array(row.counts, dtype=np.int64)))


def values(question):
    return {metric.name: value(metric, question) for metric in METRICS}


def plain(question):
    """Every metric as the specification writes it, in the slowest words there are."""
    runs = question.runs
    answered = [run for run in runs if not run.refused]
    n = len(runs)

    def share(marks):
        return sum(marks) / len(marks) if len(marks) > 1 else None

    def jaccard(sets):
        union = set().union(*sets)
        return len(set.intersection(*map(set, sets))) / len(union) if union else None

    pairs = list(combinations(runs, 2))
    cited = [run.cited for run in answered]
    overlaps = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(cited, 2)]
    claims = [run.claim for run in answered if run.claim]
    distances = [textbook(a, b) / max(len(a), len(b)) for a, b in combinations(claims, 2)]
    refused = [run.refused for run in runs]
    echoes = [run.echoed for run in answered]
    right = [
        run.claim_right and run.citations_right if question.answerable else run.refused
        for run in runs
    ]
    return {
        "acr": share([run.claim_right for run in runs]) if question.answerable else None,
        "cghc": share([run.citations_right for run in runs]) if question.answerable else None,
        "success": share(right),
        "css": jaccard(cited) if len(answered) > 1 else None,
        "css_all": jaccard([run.cited for run in runs]) if n > 1 else None,
        "css_pairwise": sum(overlaps) / len(overlaps) if len(cited) > 1 and any(cited) else None,
        "ned50": median(distances) if distances else None,
        "agreement": agreement(question.question, [run.said for run in answered if run.said]),
        "rcr": max(sum(refused), n - sum(refused)) / n if n > 1 else None,
        "refusal_rate": None if question.answerable else share(refused),
        "scu_cons": float(all(echoes)) if question.constrained and echoes and n > 1 else None,
        "iaa": sum(a.outcome[:3] == b.outcome[:3] for a, b in pairs) / len(pairs)
        if pairs
        else None,
        "error_rate": question.failed / question.planned if question.planned else None,
    }


def textbook(one, other):
    """The edit distance by the table that every textbook draws."""
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return above[-1]


@given(questions())
def test_every_metric_equals_its_plain_twin(question):
    assert values(question) == pytest.approx(plain(question), abs=2 / SCALE)


@given(questions(), st.randoms(use_true_random=False))
def test_the_order_of_the_runs_does_not_matter(question, random):
    runs = tuple(random.sample(question.runs, len(question.runs)))
    shuffled = QuestionRuns(
        question.answerable,
        question.constrained,
        runs,
        question.planned,
        question.failed,
        question.question,
    )
    for metric in METRICS:
        assert metric(shuffled) == metric(question)
    assert effects(runs) == effects(question.runs)


@every_metric
@given(st.data())
def test_values_stay_within_bounds_and_sums_merge(metric, data):
    some, others = (data.draw(st.lists(questions(), max_size=4)) for _ in range(2))
    for question in (*some, *others):
        found = value(metric, question)
        assert found is None or metric.bounds[0] <= found <= metric.bounds[1]
    rows = [metric(unit) for unit in (*some, *others)]
    outside = NotApplicable("of the other part")
    first = Sums.of(metric, [*rows[: len(some)], *[outside] * len(others)])
    second = Sums.of(metric, [*[outside] * len(some), *rows[len(some) :]])
    whole = Sums.of(metric, rows)
    assert (first + second).sums.tolist() == whole.sums.tolist()
    assert (first + second).units.tolist() == whole.units.tolist()


class Declared:
    """A question of which only the declared fields can be read."""

    def __init__(self, question, needs):
        self._question, self._needs = question, needs

    def __getattr__(self, name):
        assert name in self._needs, f"reads {name}, which it does not declare"
        return getattr(self._question, name)


@every_metric
@given(question=questions())
def test_a_metric_reads_only_what_it_declares(metric, question):
    assert metric(Declared(question, metric.needs)) == metric(question)


@every_metric
def test_nothing_to_score_is_absent_with_a_reason(metric):
    row = metric(QuestionRuns(True, True, (), 0))
    assert isinstance(row, Absent)
    assert row.reason


def test_the_distance_of_the_brief():
    from collections import Counter

    found = median_distance(Counter(["x rejects null keys", "no x rejects null keys"]))
    assert round(found, 5) == 0.13636


def test_pairs_that_are_alike_pull_the_median_down():
    from collections import Counter

    claims = Counter(["aaaa", "bbbb", "cccc"])
    medians = [median_distance(claims, alike) for alike in (0, 2, 3, 4)]
    assert medians == [1.0, 1.0, 0.5, 0.0]
    assert all(later <= earlier for earlier, later in pairwise(medians))


def grid(right):
    """Runs over two jitters, two seeds and two temperatures; `right` says which are."""
    return QuestionRuns(
        True,
        False,
        tuple(
            RunFacts(v, False, right(v), True, None, "a claim", frozenset({"p1#1"}))
            for v in (
                Variation(jitter=jitter, temperature=t, seed=seed)
                for jitter in ("none", "syn")
                for t in (0.0, 0.2)
                for seed in (0, 1)
            )
        ),
        8,
    )


BREAKING = {
    "jitter": lambda v: v.jitter != "syn",
    "temperature": lambda v: v.temperature == 0,
    "seed": lambda v: v.seed == 0,
}


@pytest.mark.parametrize("factor", BREAKING)
def test_the_factor_that_breaks_it_explains_it(factor):
    why = explain(grid(BREAKING[factor]))
    assert (why.factor, why.about, why.rate) == (factor, "outcome", 1.0)
    assert f"differ in {factor} alone" in why.words
    assert "right in 0 of 4, the others in 4 of 4" in why.words
    others = set(FACTORS) - {factor}
    found = effects(grid(BREAKING[factor]).runs)
    assert all(not found[name].differ for name in others)


def test_steady_at_temperature_0_and_not_above_is_explained_by_the_temperature():
    def run(temperature, seed):
        odd = temperature > 0 and seed == 3
        return RunFacts(Variation(temperature=temperature, seed=seed), odd, not odd, True, None)

    runs = tuple(run(t, seed) for t in (0.0, 0.5, 1.0) for seed in range(5))
    found = effects(runs)
    assert found["seed"].rate == 0.2667 > found["temperature"].rate == 0.1333
    why = explain(QuestionRuns(True, False, runs, len(runs)))
    assert why.factor == "temperature"
    assert "all 5 runs at temperature 0 agree, and 2 of 10 runs above it differ" in why.words


def test_one_run_at_temperature_0_does_not_show_that_it_is_steady_there():
    runs = [RunFacts(Variation(), False, True, True, None)]
    runs += [
        RunFacts(Variation(temperature=1.0, seed=seed), False, seed < 2, True, None)
        for seed in range(1, 5)
    ]
    assert explain(QuestionRuns(True, False, tuple(runs), 5)).factor == "seed"


def test_a_level_of_few_runs_is_no_evidence():
    runs = tuple(
        RunFacts(Variation(seed=seed), False, seed > 0, True, None, "a claim", frozenset())
        for seed in range(2_000)
    )
    why = explain(QuestionRuns(True, True, runs, 2_000))
    assert why.words == (
        "1,999 of 1,999,000 pairs of runs that differ in seed alone have different outcomes"
    )


def test_what_never_varies_has_no_explanation():
    assert explain(grid(lambda v: True)) is None
