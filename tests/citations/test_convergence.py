"""λ: every state by example, a plain twin, and no care for the order of the runs."""

from itertools import permutations
from random import Random

import pytest

from ragauge.citations.convergence import LambdaRun, answer_state, broken_step, retrieval_state
from ragauge.contracts.audit import STATES

REFUSAL, UNCITED, ERROR = (LambdaRun(kind=kind) for kind in ("refusal", "uncited", "error"))
CASES = 20_000


def cites(*ids):
    return LambdaRun(kind="answer", cited=ids)


def fetched(*ids, kind="answer"):
    return LambdaRun(kind=kind, retrieved=ids)


MINIMAL = {
    "two answers that cite the same": ([cites("a"), cites("a")], "convergent"),
    "one half is enough": ([cites("a", "b"), cites("a")], "convergent"),
    "two refusals": ([REFUSAL, REFUSAL], "convergent"),
    "two answers without a citation": ([UNCITED, UNCITED], "convergent"),
    "two answers that share nothing": ([cites("a"), cites("b")], "chaotic"),
    "an answer and a refusal": ([cites("a"), REFUSAL], "chaotic"),
    "a refusal and an answer without a citation": ([REFUSAL, UNCITED], "chaotic"),
    "below one half": ([cites("a", "b"), cites("b", "c")], "chaotic"),
    "one leaves": ([cites("a"), cites("a"), cites("b")], "recursive"),
    "two camps": ([cites("a"), cites("a"), REFUSAL, REFUSAL], "recursive"),
    "two leave for two places": ([cites("a"), cites("a"), cites("b"), REFUSAL], "divergent"),
    "one failed": ([cites("a"), cites("a"), ERROR], "incomplete"),
    "all failed": ([ERROR, ERROR], "incomplete"),
}


@pytest.mark.parametrize("case", MINIMAL)
def test_every_state_by_a_minimal_example(case):
    runs, state = MINIMAL[case]
    assert {answer_state(order, len(runs)) for order in permutations(runs)} == {state}


def test_the_examples_reach_every_state():
    assert {state for _, state in MINIMAL.values()} == set(STATES)


def test_a_missing_run_makes_a_question_incomplete():
    assert answer_state([cites("a")] * 5, 6) == "incomplete"
    assert answer_state([cites("a")] * 6, 6) == "convergent"
    assert answer_state([], 6) == "incomplete"


@pytest.mark.parametrize("runs", [[], [cites("a")], [REFUSAL], [ERROR]])
def test_a_single_run_has_no_lambda(runs):
    assert answer_state(runs, 1) is None
    assert retrieval_state(runs, 1) is None


def test_six_runs_by_hand():
    """How alike each is to all six, itself included, with Jaccard's shares:

    a b c    1 + 2/3 + 2/3 + 2/5 + 1/3 + 0 = 46/15, the most
    a b      2/3 + 1 + 1/3 + 1/5 + 1/2 + 0 = 27/10
    b c      2/3 + 1/3 + 1 + 1/2 + 0 + 0 = 5/2
    b c d e  2/5 + 1/5 + 1/2 + 1 + 0 + 0 = 21/10
    a        1/3 + 1/2 + 0 + 0 + 1 + 0 = 11/6
    x        1

    So a b c is in the middle, a b and b c agree with it, and of the others no two agree.
    """
    middle, two, other_two, wide = "abc", "ab", "bc", "bcde"
    runs = [cites(*ids) for ids in (middle, two, other_two, wide, "a", "x")]
    assert answer_state(runs, 6) == "divergent"
    assert answer_state([*runs[:4], runs[1], runs[2]], 6) == "recursive"
    assert answer_state(runs[:3], 3) == "convergent"


def test_of_two_that_are_equally_in_the_middle_the_first_in_order_counts():
    """a is as like the four (1, 1, 0, 1/2) as a b is (1/2, 1/2, 1/2, 1); only b parts them."""
    runs = [cites("a"), cites("a"), cites("b"), cites("a", "b")]
    assert {answer_state(order, 4) for order in permutations(runs)} == {"recursive"}
    mirrored = [cites("b"), cites("b"), cites("a"), cites("a", "b")]
    assert {answer_state(order, 4) for order in permutations(mirrored)} == {"convergent"}


def test_thirds_are_added_without_loss():
    """a b (1, 1, 1/3, 2/3) ties with a b c (2/3, 2/3, 2/3, 1): in floats by the order of runs."""
    runs = [cites(*ids) for ids in ("ab", "ab", "ac", "abc")]
    assert {answer_state(order, 4) for order in permutations(runs)} == {"recursive"}


def test_what_an_answer_cites_counts_once_and_in_one_form():
    assert answer_state([cites("a", "a", "b"), cites("b", "a")], 2) == "convergent"
    assert answer_state([cites("musée"), cites("muse\u0301e")], 2) == "convergent"
    assert answer_state([cites(), UNCITED], 2) == "convergent"
    refusals = [LambdaRun(kind="refusal", cited=("a",)), LambdaRun(kind="refusal", cited=("b",))]
    assert answer_state(refusals, 2) == "convergent"


def test_retrieval_is_compared_by_its_ids_whatever_was_made_of_them():
    assert (
        retrieval_state([fetched("a", "b"), fetched("b", "a", kind="refusal")], 2) == "convergent"
    )
    assert retrieval_state([fetched("a"), fetched("b")], 2) == "chaotic"
    assert retrieval_state([fetched("a"), fetched("a"), fetched("b")], 3) == "recursive"


def test_retrieving_nothing_is_a_kind_of_its_own():
    assert retrieval_state([fetched(), fetched(kind="uncited")], 2) == "convergent"
    assert retrieval_state([fetched(), fetched("a")], 2) == "chaotic"


def test_retrieval_that_is_not_told_has_no_lambda():
    assert retrieval_state([cites("a"), cites("a")], 2) is None
    assert retrieval_state([cites("a"), ERROR], 2) is None


def test_retrieval_that_some_runs_do_not_tell_is_incomplete():
    assert retrieval_state([fetched("a"), fetched("a"), cites("a")], 3) == "incomplete"
    assert retrieval_state([fetched("a"), fetched("a", kind="error")], 2) == "incomplete"
    assert retrieval_state([fetched("a")], 2) == "incomplete"
    assert retrieval_state([ERROR, ERROR], 2) == "incomplete"
    assert retrieval_state([], 2) == "incomplete"


@pytest.mark.parametrize("state", [*STATES, None])
def test_the_fault_is_located(state):
    parted = state in ("divergent", "recursive", "chaotic")
    assert broken_step("convergent", state) == ("after retrieval" if parted else None)
    assert broken_step(state, "convergent") == ("retrieval" if parted else None)
    assert broken_step(state, "chaotic") == (
        "retrieval" if parted else "after retrieval" if state == "convergent" else None
    )
    assert broken_step(None, state) is None
    assert broken_step("incomplete", state) is None


def plain(runs, planned):
    """λ as the specification writes it, over the matrix of all runs, in parts of 60.

    The sets are of five ids at most, so that every Jaccard is a whole number of these.
    """
    whole = 60
    if planned < 2:
        return None
    if len(runs) < planned or any(run.kind == "error" for run in runs):
        return "incomplete"

    def sim(a, b):
        if a.kind != b.kind:
            return 0
        if a.kind != "answer":
            return whole
        one, other = set(a.cited), set(b.cited)
        return whole * len(one & other) // len(one | other)

    matrix = [[sim(a, b) for b in runs] for a in runs]
    sums = [sum(row) for row in matrix]
    order = sorted(range(len(runs)), key=lambda i: (-sums[i], runs[i].kind, sorted(runs[i].cited)))
    m = order[0]
    inside = {i for i in range(len(runs)) if 2 * matrix[m][i] >= whole}
    outside = [i for i in range(len(runs)) if i not in inside]
    pairs = [(i, j) for i in range(len(runs)) for j in range(i)]
    if len(inside) == len(runs):
        return "convergent"
    if not any(2 * matrix[i][j] >= whole for i, j in pairs):
        return "chaotic"
    if all(2 * matrix[i][j] >= whole for i in outside for j in outside):
        return "recursive"
    return "divergent"


def random_runs(random):
    """Runs that agree often enough for every state to come up."""
    pool = "abcde"[: random.randint(1, 5)]
    bases = [random.sample(pool, random.randint(1, len(pool))) for _ in range(random.randint(1, 3))]
    runs = []
    for _ in range(random.randint(2, 7)):
        chance = random.random()
        if chance < 0.15:
            runs.append(random.choice((REFUSAL, UNCITED)))
        elif chance < 0.17:
            runs.append(ERROR)
        else:
            ids = set(random.choice(bases)) ^ set(random.choices(pool, k=random.randint(0, 1)))
            ids = sorted(ids or pool[0])
            runs.append(cites(*random.sample(ids, len(ids))))
    return runs


@pytest.mark.slow
def test_random_runs_equal_the_plain_twin_in_any_order():
    random = Random(5)
    met = dict.fromkeys(STATES, 0)
    for _ in range(CASES):
        runs = random_runs(random)
        planned = len(runs) + (random.random() < 0.05)
        state = answer_state(runs, planned)
        assert state == plain(runs, planned), runs
        shuffled = random.sample(runs, len(runs))
        assert answer_state(shuffled, planned) == state, runs
        met[state] += 1
    assert min(met.values()) > CASES / 100, met
