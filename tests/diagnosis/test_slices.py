"""Slices: planted ones are found, chance is not, and a plain twin finds the same."""

import math
import random
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from ragauge.contracts.diagnosis import Slice
from ragauge.diagnosis.features import Feature
from ragauge.diagnosis.slices import Part, Samples, only_here, worst_slices

ALPHA = 0.05


def found(samples, **options):
    """The slices of (features, went wrong) pairs."""
    features, wrong = [one for one, _ in samples], [flag for _, flag in samples]
    values = [0.2 if flag else 0.9 for flag in wrong]
    return worst_slices("faithfulness", values, wrong, "higher", features, **options)


def conditions(samples, **options):
    return [one.conditions for one in found(samples, **options)]


def block(n, wrong, **features):
    """So many samples with these features, some of which went wrong."""
    return [(features, at < wrong) for at in range(n)]


# The plain twin.


def plain_slices(values, beyond, better, features):
    """The same search with dictionaries, sets and scipy, a table at a time."""
    everyone = set(range(len(values)))
    wrong = plain_wrong(values, beyond, better)
    claimed = {}
    for depth in (1, 2):
        claimed |= plain_claimed(plain_parts(features, depth), wrong, everyone, features)
    kept = {
        part: (ids, raw, p)
        for part, (ids, raw, p) in claimed.items()
        if not explained(part, ids, claimed, wrong, everyone)
    }
    return plain_distinct(kept, wrong, everyone)


def plain_wrong(values, beyond, better):
    if beyond is not None and 0 < sum(beyond) < len(beyond):
        return {at for at, flag in enumerate(beyond) if flag}
    badness = [-value if better == "higher" else value for value in values]
    cut = sorted(badness, reverse=True)[math.ceil(len(values) / 4) - 1]
    worst = {at for at, bad in enumerate(badness) if bad >= cut}
    return worst if len(worst) < len(values) else {a for a, bad in enumerate(badness) if bad > cut}


def plain_parts(features, depth):
    """Every part with samples enough: its conditions, and its samples."""
    values = {}
    for one in features:
        for name, value in one.items():
            values.setdefault(name, set()).add(value)
    names = sorted(name for name in values if 2 <= len(values[name]) <= 50)
    parts = {}
    for at, one in enumerate(features):
        for chosen in combinations([name for name in names if name in one], depth):
            parts.setdefault(tuple((name, one[name]) for name in chosen), set()).add(at)
    fewest = max(5, math.ceil(len(features) / 50))
    return {part: ids for part, ids in parts.items() if fewest <= len(ids) <= len(features) - 5}


def plain_p(part, wrong, among):
    inside, outside = part & among, among - part
    cells = [
        [len(inside & wrong), len(inside - wrong)],
        [len(outside & wrong), len(outside - wrong)],
    ]
    return fisher_exact(cells, alternative="greater").pvalue


def plain_least(part, wrong, everyone):
    first = min(len(part), len(wrong))
    left = len(wrong) - first
    cells = [[first, len(part) - first], [left, len(everyone) - len(part) - left]]
    return fisher_exact(cells, alternative="greater").pvalue


def plain_claimed(parts, wrong, everyone, features):
    alpha = ALPHA / 2
    raw, least = {}, {}
    for part, ids in parts.items():
        parents = [
            {at for at, one in enumerate(features) if one.get(name) == value}
            for name, value in part
            if len(part) == 2
        ]
        raw[part] = max(plain_p(ids, wrong, among) for among in (everyone, *parents))
        least[part] = plain_least(ids, wrong, everyone)
    tests = 1
    while sum(one < alpha / tests for one in least.values()) > tests:
        tests += 1
    family = sorted((raw[part], part) for part in parts if least[part] < alpha / tests)
    claimed, highest = {}, 0.0
    for done, (p, part) in enumerate(family):
        highest = max(highest, p * (len(family) - done))
        if highest <= alpha:
            claimed[part] = parts[part], p, 2 * highest
    return claimed


def explained(part, ids, claimed, wrong, everyone):
    pairs = [claimed[other][0] for other in claimed if set(part) < set(other)]
    rest = ids.difference(*pairs)
    return bool(pairs) and plain_p(rest, wrong, (everyone - ids) | rest) > ALPHA


def plain_distinct(kept, wrong, everyone):
    def strength(part):
        ids, raw, _ = kept[part]
        excess = len(ids & wrong) - len(ids) * len(wrong) / len(everyone)
        return round(math.log(raw), 6), -round(excess, 9), part

    def same(one, other):
        mine, theirs = kept[one][0] & wrong, kept[other][0] & wrong
        return len(mine & theirs) >= 0.9 * len(mine | theirs)

    left, chosen = sorted(kept, key=strength), []
    while left and len(chosen) < 5:
        alike = [one for one in left if same(left[0], one)]
        fewest = min(len(kept[one][0]) for one in alike)
        few = [one for one in alike if 0.9 * len(kept[one][0]) <= fewest]
        stands = min(few, key=lambda part: (len(part), part))
        chosen.append(stands)
        left = [one for one in left if one not in alike and not same(stands, one)]
    return [
        (dict(part), len(kept[part][0]), kept[part][2]) for part in sorted(chosen, key=strength)
    ]


COUNTRIES = [{"country": name} for name in ("NL", "DE", "FR")]
TYPES = [{"type": "when"}, {"type": "who"}, {}]
TIERS = [{"tier": "1"}, {"tier": "2"}]
KINDS = [one | two | three for one in COUNTRIES for two in TYPES for three in TIERS]


@st.composite
def sets(draw):
    """Some of each kind of sample, and in some kinds most went wrong."""
    samples = []
    for kind in KINDS:
        n = draw(st.integers(0, 14))
        bad = draw(st.sampled_from([False, False, False, True]))
        wrong = draw(st.integers(n * 2 // 3, n) if bad else st.integers(0, n // 6))
        samples += block(n, wrong, **kind)
    return samples


@given(sets())
def test_the_plain_twin_finds_the_same(samples):
    features, wrong = [one for one, _ in samples], [flag for _, flag in samples]
    if not samples:
        assert found(samples) == ()
        return
    ours = [(one.conditions, one.n, pytest.approx(one.p, rel=1e-6)) for one in found(samples)]
    values = [0.2 if flag else 0.9 for flag in wrong]
    assert plain_slices(values, wrong, "higher", features) == ours


@given(sets(), st.sampled_from(["higher", "lower"]), st.sampled_from([None, True, False]))
def test_the_plain_twin_finds_the_same_where_no_threshold_parts_them(samples, better, all_beyond):
    features = [one for one, _ in samples]
    values = [(at % 7) / 10 + 0.5 * flag for at, (_, flag) in enumerate(samples)]
    beyond = None if all_beyond is None else [all_beyond] * len(samples)
    made = worst_slices("f1", values, beyond, better, features)
    ours = [(one.conditions, one.n, pytest.approx(one.p, rel=1e-6)) for one in made]
    assert (plain_slices(values, beyond, better, features) if samples else []) == ours


# What is planted is found.


def two_by_two(n=60):
    """Countries and types of question, all combinations, nothing wrong."""
    return [
        sample
        for country in ("NL", "DE", "FR")
        for kind in ("temporal", "factual")
        for sample in block(n, 0, country=country, question_type=kind)
    ]


def test_the_sentence_of_the_specification():
    """Critical only for country=NL and question_type=temporal, 14 of 16 failures."""
    samples = [
        *block(20, 14, country="NL", question_type="temporal"),
        *block(80, 1, country="NL", question_type="factual"),
        *block(100, 1, country="DE", question_type="temporal"),
        *block(200, 0, country="DE", question_type="factual"),
    ]
    [one] = found(samples)
    assert one.conditions == {"country": "NL", "question_type": "temporal"}
    assert (one.n, one.beyond, one.beyond_all) == (20, 14, 16)
    assert one.value == pytest.approx(0.41)
    assert one.elsewhere == pytest.approx((378 * 0.9 + 2 * 0.2) / 380)
    assert 0 < one.p < 1e-6
    assert (one.metric, one.text) == ("faithfulness", "")
    assert not only_here(one)


def test_a_single_condition_is_found_and_no_pair_of_it():
    """Every temporal question of NL is worse than all else, but not than other temporal ones."""
    samples = [*two_by_two(), *block(60, 40, country="NL", question_type="temporal")]
    samples += block(60, 40, country="DE", question_type="temporal")
    samples += block(60, 40, country="FR", question_type="temporal")
    assert conditions(samples) == [{"question_type": "temporal"}]


def test_a_condition_stays_where_it_is_still_worse_without_the_pair():
    samples = [
        *block(50, 48, country="NL", question_type="temporal"),
        *block(150, 60, country="NL", question_type="factual"),
        *block(200, 4, country="DE", question_type="temporal"),
        *block(200, 4, country="DE", question_type="factual"),
    ]
    assert conditions(samples) == [
        {"country": "NL"},
        {"country": "NL", "question_type": "temporal"},
    ]


def test_a_condition_goes_where_the_pair_holds_all_of_it():
    samples = [
        *block(50, 48, country="NL", question_type="temporal"),
        *block(150, 3, country="NL", question_type="factual"),
        *block(200, 4, country="DE", question_type="temporal"),
        *block(200, 4, country="DE", question_type="factual"),
    ]
    assert conditions(samples) == [{"country": "NL", "question_type": "temporal"}]


def test_only_here_asks_for_samples_beyond_and_none_elsewhere():
    everything = [*two_by_two(), *block(30, 30, country="BE", question_type="factual")]
    [one] = found(everything)
    assert one.conditions == {"country": "BE"}
    assert only_here(one)
    assert not only_here(msgspec.structs.replace(one, beyond=0, beyond_all=0))


def test_samples_without_a_feature_are_elsewhere():
    samples = [*block(20, 15, country="NL"), *block(20, 0, country="DE"), *block(100, 2)]
    [one] = found(samples)
    assert (one.conditions, one.n, one.beyond_all) == ({"country": "NL"}, 20, 17)


def test_the_strongest_come_first_and_at_most_five():
    samples = [
        sample
        for at in range(8)
        for sample in block(40, 40 - at, **{f"f{at}": "bad"}) + block(40, 0, **{f"f{at}": "good"})
    ]
    slices = found(samples)
    assert [one.conditions for one in slices] == [{f"f{at}": "bad"} for at in range(5)]
    assert [one.p for one in slices] == sorted(one.p for one in slices)
    assert len(found(samples, shown=7)) == 7


def test_with_equal_chances_the_first_by_name_comes_first():
    samples = [
        sample
        for name in ("b", "a", "c")
        for sample in block(40, 30, **{name: "bad"}) + block(40, 0, **{name: "good"})
    ]
    assert conditions(samples) == [{"a": "bad"}, {"b": "bad"}, {"c": "bad"}]


def test_with_equal_chances_the_greater_excess_comes_first():
    first, second = (Feature(name, ("1", "2"), np.array([0, 1])) for name in ("a", "b"))
    samples = Samples((first, second), np.array([True, False]))
    few = Part(conditions=((0, 0),), n=10, wrong=9, log_p=-10.0, p=0.01)
    many = Part(conditions=((1, 0),), n=20, wrong=18, log_p=-10.0 + 1e-9, p=0.01)
    assert samples.by_strength([few, many]) == [many, few]


# What is not claimed.


@pytest.mark.parametrize("rate", [0.1, 0.4, None])
def test_of_random_labels_hardly_any_set_claims_a_slice(rate):
    claims = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 4, (200, 5)).tolist()
        features = [{f"f{at}": str(code) for at, code in enumerate(row)} for row in codes]
        values = rng.integers(0, 6, 200) / 5
        beyond = None if rate is None else (rng.random(200) < rate).tolist()
        claims += bool(worst_slices("recall", values.tolist(), beyond, "higher", features))
    assert claims <= 0.05 * 200


def test_a_bad_condition_makes_no_pairs_by_chance():
    """One condition is bad and five features are noise: pairs with them are claimed hardly ever."""
    pairs = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 4, (300, 6))
        wrong = (rng.random(300) < np.where(codes[:, 0] == 0, 0.5, 0.05)).tolist()
        rows = [{f"f{at}": str(code) for at, code in enumerate(row)} for row in codes.tolist()]
        made = conditions(list(zip(rows, wrong, strict=True)))
        assert {"f0": "0"} in made or any("f0" in one for one in made)
        pairs += any(len(one) > 1 for one in made)
    assert pairs <= 0.05 * 200


@pytest.mark.parametrize(("n", "claimed"), [(4, False), (5, True)])
def test_a_slice_has_at_least_five_samples(n, claimed):
    samples = [*block(n, n, tier="1"), *block(200, 0, tier="2")]
    assert bool(found(samples)) is claimed


@pytest.mark.parametrize(("n", "claimed"), [(19, False), (20, True)])
def test_a_slice_has_at_least_one_sample_in_fifty(n, claimed):
    samples = [*block(n, n, tier="1"), *block(1000 - n, 0, tier="2")]
    assert bool(found(samples)) is claimed


@pytest.mark.parametrize(("others", "claimed"), [(4, False), (5, True)])
def test_at_least_five_samples_lie_elsewhere(others, claimed):
    samples = [*block(60, 60, tier="1"), *block(others, 0, tier="2")]
    assert bool(found(samples)) is claimed


def test_a_constant_feature_and_an_id_are_not_searched():
    one = [({"constant": "x"}, at < 20) for at in range(40)]
    assert found(one) == ()
    half = [({"constant": "x"} if at < 20 else {}, at < 20) for at in range(40)]
    assert found(half) == ()
    fifty = [({"doc": str(at % 50)}, at % 50 == 3) for at in range(500)]
    assert conditions(fifty) == [{"doc": "3"}]
    fifty_one = [*fifty, ({"doc": "x"}, False)]
    assert found(fifty_one) == ()


def test_where_all_values_are_alike_there_is_no_slice():
    features = [{"tier": str(at % 2)} for at in range(100)]
    assert worst_slices("f1", [0.5] * 100, None, "higher", features) == ()
    assert worst_slices("f1", [0.5] * 100, [True] * 100, "higher", features) == ()
    assert worst_slices("f1", [], [], "higher", []) == ()
    assert worst_slices("f1", [0.1] * 9, [True] * 4 + [False] * 5, "higher", [{}] * 9) == ()


# The same samples under two names.


def renamed(samples, **names):
    return [
        (one | {new: one[old] for old, new in names.items() if old in one}, flag)
        for one, flag in samples
    ]


def test_of_two_names_for_the_same_samples_the_first_stays():
    samples = [*block(40, 30, country="NL"), *block(160, 4, country="DE")]
    assert conditions(renamed(samples, country="a_country")) == [{"a_country": "NL"}]
    assert conditions(renamed(samples, country="z_country")) == [{"country": "NL"}]


def test_of_two_names_for_the_same_samples_the_shorter_stays():
    """`country=NL` with `type=when` is `z_group=both`: one condition says it."""
    samples = [
        *block(30, 27, country="NL", type="when", z_group="both"),
        *block(70, 1, country="NL", type="who", z_group="none"),
        *block(70, 1, country="DE", type="when", z_group="none"),
        *block(130, 1, country="DE", type="who", z_group="none"),
    ]
    assert conditions(samples) == [{"z_group": "both"}]


def test_of_two_that_hold_the_same_failures_the_one_with_fewer_samples_stays():
    """Failures give short answers: `short` holds them all, among many that are fine."""
    samples = [
        *block(40, 36, country="NL", type="when", answer="short"),
        *block(160, 0, country="NL", type="who", answer="short"),
        *block(160, 0, country="DE", type="when", answer="short"),
        *block(200, 1, country="DE", type="when", answer="long"),
        *block(200, 1, country="DE", type="who", answer="long"),
    ]
    assert conditions(samples) == [{"country": "NL", "type": "when"}]


def test_none_is_shown_beside_another_name_of_what_is_shown():
    """`c` shares nine tenths with `a`, but not with the strongest, `b`, which `a` stands for."""
    samples = [
        *block(87, 87, a="1", b="1", c="1"),
        *block(5, 5, a="1", b="1", c="2"),
        *block(8, 8, a="2", b="1", c="2"),
        *block(300, 0, a="2", b="2", c="2"),
    ]
    assert conditions(samples) == [{"a": "1"}]


def test_two_that_share_less_are_both_shown():
    samples = [
        *block(34, 34, a="1", b="1"),
        *block(6, 6, a="1", b="2"),
        *block(6, 6, a="2", b="1"),
        *block(300, 0, a="2", b="2"),
    ]
    assert {"a": "1"} in conditions(samples)
    assert {"b": "1"} in conditions(samples)


# What goes in and what comes out.


def test_the_order_of_the_samples_changes_nothing():
    rng = random.Random(5)
    samples = [
        *block(50, 30, country="NL", question_type="temporal"),
        *block(150, 20, country="NL", question_type="factual"),
        *block(200, 4, country="DE", question_type="temporal"),
        *block(200, 4, country="DE", question_type="factual"),
    ]
    measured = [
        (features, flag, rng.random() / 3 + (0 if flag else 0.6)) for features, flag in samples
    ]
    encoded = set()
    for _ in range(5):
        rng.shuffle(measured)
        features, wrong, values = zip(*measured, strict=True)
        shuffled = [dict(sorted(one.items(), key=lambda _: rng.random())) for one in features]
        made = worst_slices("faithfulness", values, wrong, "higher", shuffled)
        encoded.add(msgspec.json.encode(made))
    assert len(encoded) == 1


def test_of_a_large_set_no_p_is_zero_and_no_number_absent():
    samples = [*block(4_000, 4_000, tier="1"), *block(16_000, 100, tier="2")]
    [one] = found(samples)
    assert 0 < one.p < 1e-290
    assert all(math.isfinite(number) for number in (one.p, one.value, one.elsewhere))


def test_without_a_threshold_the_worst_quarter_tells():
    features = [{"tier": "1" if at < 50 else "2"} for at in range(200)]
    values = [0.1 + at / 1000 if at < 50 else 0.6 + at / 1000 for at in range(200)]
    [low] = worst_slices("f1", values, None, "higher", features)
    assert (low.conditions, low.beyond, low.beyond_all) == ({"tier": "1"}, 0, 0)
    [high] = worst_slices("noise", values, None, "lower", features)
    assert high.conditions == {"tier": "2"}
    [all_beyond] = worst_slices("f1", values, [True] * 200, "higher", features)
    assert (all_beyond.beyond, all_beyond.beyond_all) == (50, 200)
    assert isinstance(all_beyond, Slice)


def test_a_worst_quarter_of_equal_values_leaves_someone_out():
    """Nine in ten are perfect: what is worse is one in ten."""
    features = [{"tier": "1" if at < 40 else "2"} for at in range(200)]
    values = [0.8 if at < 20 else 1.0 for at in range(200)]
    assert [one.n for one in worst_slices("f1", values, None, "higher", features)] == [40]


def test_a_lower_alpha_claims_less():
    samples = [*block(20, 8, tier="1"), *block(60, 3, tier="2")]
    assert len(found(samples)) == 1
    assert found(samples, alpha=1e-4) == ()


def test_lengths_must_agree_and_values_be_numbers():
    with pytest.raises(ValueError, match="2 values, 1 flags and the features of 3 samples"):
        worst_slices("f1", [0.1, 0.2], [True], "higher", [{}, {}, {}])
    with pytest.raises(ValueError, match="leave out absent ones"):
        worst_slices("f1", [0.1, math.nan], [True, False], "higher", [{}, {}])
