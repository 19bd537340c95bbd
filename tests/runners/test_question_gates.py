"""Verdicts, and the runs that can be left out without changing one."""

from random import Random

import pytest

from ragauge.contracts.gold import Gold
from ragauge.contracts.run import QuestionRuns, RunFacts, Variation
from ragauge.gates.rules import parse_rules
from ragauge.gates.stability import profile_rules, with_own
from ragauge.metrics.table import find
from ragauge.runners.plan import shuffled
from ragauge.runners.question_stability import BEST, QuestionGates
from tests.profiles import times

RULES = profile_rules("ours")
CLAIMS = ("the palace stands in the east", "the east has the palace", "a wholly other thing")
IDS = ("a#1", "a#2", "b#1")


def gold(answerable=True, constrained=False):
    constraints = ("Keep this.",) if constrained else ()
    return Gold(qid="q", question="?", answerable=answerable, constraints=constraints)


def run(seed=0, *, refused=False, c=True, h=True, echoed=None, claim="the claim", cited=("a#1",)):
    cites = frozenset() if refused else frozenset(cited)
    said = "" if refused else claim
    right = c and not refused
    return RunFacts(Variation(seed=seed), refused, right, h and not refused, echoed, said, cites)


def unit(*runs, question=None, planned=None, failed=0):
    question = question or gold()
    of = len(runs) + failed if planned is None else planned
    return QuestionRuns(question.answerable, bool(question.constraints), runs, of, failed)


def verdict_of(question_runs, question=None):
    return QuestionGates(RULES).evaluate(question or gold(), question_runs).verdict


def test_all_runs_alike_and_right_are_stable():
    assert verdict_of(unit(*(run(seed) for seed in range(5)))) == "stable_pass"


def test_the_same_mistake_every_time_is_a_stable_failure():
    assert verdict_of(unit(*(run(seed, c=False) for seed in range(5)))) == "stable_fail"


def test_one_odd_run_makes_it_flaky_and_names_its_gates():
    found = QuestionGates(RULES).evaluate(
        gold(), unit(*(run(seed, c=seed > 0) for seed in range(5)))
    )
    assert found.verdict == "flaky"
    assert [str(failed) for failed in found.failed] == ["acr 0.8 < 0.95"]


@pytest.mark.parametrize(("planned", "failed"), [(6, 0), (6, 1)])
def test_a_missing_or_failed_run_leaves_it_incomplete(planned, failed):
    runs = [run(seed) for seed in range(5)]
    assert verdict_of(unit(*runs, planned=planned, failed=failed)) == "incomplete"


def test_no_run_at_all_is_incomplete_not_stable():
    assert verdict_of(unit()) == "incomplete"


def test_an_unanswerable_question_must_be_refused_each_time():
    question = gold(answerable=False)
    refusing = [run(seed, refused=True) for seed in range(5)]
    assert verdict_of(unit(*refusing, question=question), question) == "stable_pass"
    inventing = [run(seed) for seed in range(5)]
    assert verdict_of(unit(*inventing, question=question), question) == "stable_fail"
    reference = QuestionGates(profile_rules("reference"))
    assert (
        reference.evaluate(question, unit(*inventing, question=question)).verdict == "stable_pass"
    )


def test_constraints_must_come_back_in_every_answer():
    question = gold(constrained=True)
    runs = [run(seed, echoed=seed != 3) for seed in range(5)]
    found = QuestionGates(RULES).evaluate(question, unit(*runs, question=question))
    assert (found.verdict, str(found.failed[0])) == ("flaky", "scu_cons 0 ≠ 1")


def test_a_gate_that_cannot_apply_fails_nothing():
    only_refusals = unit(*(run(seed, refused=True) for seed in range(3)))
    failed = QuestionGates(RULES).evaluate(gold(), only_refusals).failed
    assert {one.rule.metric for one in failed} == {"stability.acr", "stability.cghc"}


def test_own_rules_take_the_profiles_place_and_keep_its_questions():
    own = parse_rules("acr>=0.5,css_pairwise>=0.9", lambda name: find(name, "runs"))
    rules = with_own("ours", own)
    acr = [rule for rule in rules if rule.metric == "stability.acr"]
    assert [(rule.bound, rule.where) for rule in acr] == [(0.5, {"answerable": True})]
    assert any(rule.metric == "stability.css_pairwise" for rule in rules)
    assert len(rules) == len(RULES) + 1


def simulated(number):
    """A question with up to thirty runs, of a system that is steady, shaky or wrong."""
    random = Random(number)
    question = gold(random.random() < 0.75, random.random() < 0.3)
    shaky = random.choice((0.0, 0.02, 0.1, 0.5, 1.0))
    runs = []
    for seed in range(random.randint(2, 30)):
        slips = [random.random() < shaky for _ in range(5)]
        refused = question.answerable == slips[0] if random.random() < 0.9 else slips[1]
        runs.append(
            run(
                seed,
                refused=refused,
                c=not slips[1],
                h=not slips[2],
                echoed=None if refused or not question.constraints else not slips[3],
                claim=random.choice(CLAIMS) if slips[4] else CLAIMS[0],
                cited=random.sample(IDS, random.randint(1, 3)) if slips[2] else IDS[:1],
            )
        )
    return question, runs


def stopped(gates, question, runs):
    """What is known when an adaptive sweep stops: a run at a time, in its own order."""
    by_variation = {run.variation: run for run in runs}
    ordered = [by_variation[v] for v in shuffled(question.qid, list(by_variation))]
    for made in range(len(ordered)):
        so_far = unit(*ordered[:made], question=question, planned=len(ordered))
        if gates.decided(question, so_far):
            return so_far
    return unit(*ordered, question=question)


def test_exact_stopping_never_changes_a_verdict():
    exact, full = QuestionGates(RULES, "exact"), QuestionGates(RULES)
    saved, questions = 0, times(1_000)
    for number in range(questions):
        question, runs = simulated(number)
        early = exact.evaluate(question, stopped(exact, question, runs))
        assert early.verdict == full.evaluate(question, unit(*runs, question=question)).verdict
        saved += early.saved
    assert saved > questions


def test_anytime_stopping_keeps_its_error_rate():
    """The share of questions decided otherwise than by all runs, at the rate that is hardest."""
    gates = QuestionGates(RULES, "anytime", 0.05)
    wrong, saved, questions = 0, 0, times(200)
    for number in range(questions):
        random = Random(number)
        failures = 3 if number % 2 else 2
        right = [True] * (50 - failures) + [False] * failures
        random.shuffle(right)
        question = Gold(qid=str(number), question="?", answerable=True)
        runs = [run(seed, c=fine) for seed, fine in enumerate(right)]
        found = gates.evaluate(question, stopped(gates, question, runs))
        assert found.verdict != "incomplete"
        wrong += (not found.failed) != (failures == 2)
        saved += found.saved
    # Fixed orders, so the same each time: the promise itself can be asked for.
    assert wrong / questions <= 0.05
    assert saved > questions


def test_every_gated_metric_has_a_best_value_or_is_never_decided_by():
    gated = {rule.metric for name in ("ours", "reference") for rule in profile_rules(name)}
    assert gated - set(BEST) == {"stability.error_rate"}


def test_a_failed_run_decides_nothing():
    runs = [run(0), run(1, c=False), run(2, h=False)]
    assert QuestionGates(RULES, "exact").decided(gold(), unit(*runs, planned=10))
    assert not QuestionGates(RULES, "exact").decided(gold(), unit(*runs, planned=10, failed=1))
