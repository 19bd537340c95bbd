"""Splits and samples keep what they promise: sizes, cells, factors, and no bias."""

from collections import Counter, defaultdict
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.stats import norm

from ragauge.stats.sampling import hamilton, sample, split

SHARES = st.sampled_from([(70, 15, 15), (80, 20), (1, 1), (1, 1, 1), (50, 30, 20), (98, 1, 1)])
MANY_SHARES = st.lists(st.integers(1, 9), min_size=2, max_size=6).map(tuple)


@st.composite
def units(draw, most=60):
    """Ids with their values of one to four factors; many cells hold one or two of them."""
    factors = draw(st.integers(1, 4))
    key = st.tuples(*[st.sampled_from("abcde"[: draw(st.integers(1, 5))]) for _ in range(factors)])
    keys = draw(st.lists(key, max_size=most))
    return {f"q{place}": key for place, key in enumerate(keys)}


def deviations(members, shares, group_of):
    """For each group, how far its count in each part is from its share."""
    made = split(members, shares)
    counts = Counter((group_of(key), made.part_of[id]) for id, key in members.items())
    sizes = Counter(map(group_of, members.values()))
    return {
        group: max(
            abs(counts[group, part] - Fraction(size * share, sum(shares)))
            for part, share in enumerate(shares)
        )
        for group, size in sizes.items()
    }


@given(units(), MANY_SHARES, st.integers(0, 5))
def test_every_unit_is_in_one_part_and_parts_have_their_sizes(members, shares, seed):
    made = split(members, shares, seed)
    assert made.part_of.keys() == members.keys()
    sizes = Counter(made.part_of.values())
    assert [sizes[part] for part in range(len(shares))] == hamilton(shares, len(members))


@given(units(), SHARES)
def test_cells_and_the_first_factor_are_less_than_one_off(members, shares):
    for group_of in (lambda key: key, lambda key: key[0]):
        assert all(off < 1 for off in deviations(members, shares, group_of).values())


@given(units(), MANY_SHARES)
def test_with_many_parts_cells_are_less_than_two_off(members, shares):
    for group_of in (lambda key: key, lambda key: key[0]):
        assert all(off < 2 for off in deviations(members, shares, group_of).values())


@given(units(), SHARES)
def test_later_factors_stay_within_the_bound_that_is_stated(members, shares):
    for place in range(len(next(iter(members.values()), ()))):
        met = defaultdict(set)
        for key in members.values():
            met[key[place]].add(key[:place])
        off = deviations(members, shares, lambda key, place=place: key[place])
        assert all(off[value] < len(met[value]) for value in off)


def drawn(seed, n, sizes):
    """Units with skewed values: a few are common, most are rare."""
    rng = np.random.default_rng(seed)
    columns = [np.minimum(rng.exponential(size / 3, n).astype(int), size - 1) for size in sizes]
    return {f"q{row}": tuple(map(str, key)) for row, key in enumerate(zip(*columns, strict=True))}


def least_possible(members, shares):
    """The least that the worst value of any factor can be off, by integer programming."""
    cells, whole = Counter(members.values()), sum(shares)
    keys = sorted(cells)
    due = np.array([[cells[key] * share / whole for share in shares] for key in keys])
    entries = due.size
    groups = sorted({(place, value) for key in keys for place, value in enumerate(key)})

    def row(rows, part):
        marked = np.zeros((*due.shape,))
        marked[rows, part] = 1
        return np.append(marked.ravel(), 0)

    equal = [(row([at], slice(None)), cells[key]) for at, key in enumerate(keys)]
    totals = hamilton(shares, len(members))
    equal += [(row(slice(None), part), total) for part, total in enumerate(totals)]
    demands = [LinearConstraint(coefficients, count, count) for coefficients, count in equal]
    worst = np.append(np.zeros(entries), 1)
    for place, value in groups:
        rows = [at for at, key in enumerate(keys) if key[place] == value]
        for part in range(len(shares)):
            summed, wanted = row(rows, part), due[rows, part].sum()
            demands.append(LinearConstraint(summed - worst, -np.inf, wanted))
            demands.append(LinearConstraint(summed + worst, wanted, np.inf))
    low = np.append(np.floor(due + 1e-9).ravel(), 0)
    high = np.append(np.ceil(due - 1e-9).ravel(), np.inf)
    whole_numbers = np.append(np.ones(entries), 0)
    found = milp(worst, constraints=demands, bounds=Bounds(low, high), integrality=whole_numbers)
    return found.fun


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_worst_value_is_nearly_as_close_as_it_can_be(seed):
    members = drawn(seed, 60, (2, 3, 4, 5))
    worst = max(
        max(deviations(members, (70, 15, 15), lambda key, at=at: key[at]).values())
        for at in range(4)
    )
    assert float(worst) <= least_possible(members, (70, 15, 15)) + 0.5


def test_small_cells_do_not_all_land_in_the_largest_part():
    """Every cell holds one unit, so only the factors can be balanced."""
    members = {f"q{n}": (str(n % 2), str(n % 3), str(n)) for n in range(60)}
    made = split(members, (70, 15, 15))
    assert Counter(made.part_of.values()) == {0: 42, 1: 9, 2: 9}
    for place, value in [(0, "0"), (0, "1"), (1, "0"), (1, "1"), (1, "2")]:
        parts = {made.part_of[id] for id, key in members.items() if key[place] == value}
        assert parts == {0, 1, 2}


@given(units(), SHARES, st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing(members, shares, seed, random):
    shuffled = dict(random.sample(list(members.items()), len(members)))
    assert split(members, shares, seed) == split(shuffled, shares, seed)
    n = len(members) // 2
    for allocation in ("proportional", "equal"):
        assert sample(members, n, allocation, seed) == sample(shuffled, n, allocation, seed)


def test_the_seed_decides_who_goes_where():
    members = drawn(1, 60, (2, 3))
    assert split(members, (7, 3), 0).part_of != split(members, (7, 3), 1).part_of
    assert sample(members, 20, seed=0).weights != sample(members, 20, seed=1).weights


def test_within_a_cell_the_hash_of_seed_and_id_decides():
    members = drawn(2, 60, (2, 3))
    made, taken = split(members, (70, 15, 15), 7), sample(members, 20, seed=7)
    for cell in made.cells:
        ids = [id for id, key in members.items() if key == cell.key]
        ids.sort(key=lambda one: sha256(f"7\0{one}".encode()).digest())
        parts = [made.part_of[one] for one in ids]
        assert parts == sorted(parts)
        chosen = [one in taken.weights for one in ids]
        assert chosen == sorted(chosen, reverse=True)


def test_of_hamilton():
    """The apportionment of 1790s textbooks: the largest remainders get what is left."""
    assert hamilton([1500, 1500, 900, 500, 500, 200], 26) == [8, 8, 5, 2, 2, 1]
    assert hamilton([1500, 1500, 900, 500, 500, 200], 25) == [7, 7, 4, 3, 3, 1]  # Alabama paradox


@given(units(), st.integers(0, 60), st.sampled_from(["proportional", "equal"]), st.integers(0, 3))
def test_samples_have_their_size_and_weights_sum_to_the_units_reached(members, n, how, seed):
    n = min(n, len(members))
    made = sample(members, n, how, seed)
    assert len(made.weights) == n
    reached = {cell.key for cell in made.cells if cell.taken}
    assert sum(made.weights.values()) == pytest.approx(
        sum(key in reached for key in members.values())
    )
    if n >= len(made.cells):
        assert reached == {*members.values()}
    for cell in made.cells:
        weights = {w for id, w in made.weights.items() if members[id] == cell.key}
        assert weights == ({cell.size / cell.taken} if cell.taken else set())
        assert cell.taken <= cell.size


@given(units(), st.integers(0, 60))
def test_equal_allocation_takes_as_many_of_each_cell_as_there_are(members, n):
    made = sample(members, min(n, len(members)), "equal")
    most = max((cell.taken for cell in made.cells), default=0)
    assert all(cell.taken in (most, most - 1) or cell.taken == cell.size for cell in made.cells)


@given(units(), st.integers(0, 60))
def test_proportional_allocation_rounds_shares_or_lifts_them_to_one(members, n):
    n = min(n, len(members))
    made = sample(members, n, "proportional")
    for cell in made.cells:
        share = Fraction(cell.size * n, len(members))
        assert cell.taken < share + 1
        if n < len(made.cells):
            assert cell.taken > share - 1


def test_weights_undo_unequal_chances():
    """Over many seeds the weighted mean is the population's; the plain mean of an equal
    allocation is not."""
    members = {f"q{n}": ("rare" if n % 10 == 0 else "common",) for n in range(200)}
    right = {id: float(key == ("common",) or int(id[1:]) % 40 == 0) for id, key in members.items()}
    truth = np.mean(list(right.values()))
    weighted, plain = [], []
    for seed in range(400):
        weights = sample(members, 20, "equal", seed).weights
        scores = [right[id] for id in weights]
        weighted.append(np.average(scores, weights=list(weights.values())))
        plain.append(np.mean(scores))
    error = np.std(weighted) / len(weighted) ** 0.5
    assert abs(np.mean(weighted) - truth) < norm.ppf(0.9999) * error
    assert abs(np.mean(plain) - truth) > 0.2


def test_every_unit_of_a_cell_is_as_likely_as_the_next():
    members = {f"q{n}": ("a" if n < 12 else "b",) for n in range(20)}
    seeds = 2000
    times = Counter(id for seed in range(seeds) for id in sample(members, 5, seed=seed).weights)
    for cell, taken in (("a", 3), ("b", 2)):
        ids = [id for id, key in members.items() if key == (cell,)]
        wanted = seeds * taken / len(ids)
        spread = (wanted * (1 - taken / len(ids))) ** 0.5
        assert all(abs(times[id] - wanted) < norm.ppf(1 - 1e-5) * spread for id in ids)
