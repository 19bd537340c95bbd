"""The columns' kernel says of many documents what the plain functions say of each."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.entities import MATCHINGS, SCHEMAS, Entity
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.metrics.entities import entity_metrics, entity_sums
from ragauge.metrics.entity_kernel import (
    AlignedColumns,
    align,
    column_facts,
    columns_of,
    correct_pairs,
    first_of_duplicates,
    overlaps,
    pair_columns,
    rows_at,
    token_columns,
    token_types,
)
from ragauge.metrics.entity_matching import overlaps_of, tokens_of
from tests.metrics.entity_twin import document_facts

TEXT = "Het  Rijks\tmuseum (1800)\u3000in\u2028Ede"


@st.composite
def entities(draw):
    longest = len(TEXT)
    start = draw(st.integers(0, longest - 1))
    end = draw(st.integers(start + 1, longest))
    fragments = ()
    if end - start >= 3 and draw(st.integers(0, 3)) == 0:
        middle = draw(st.integers(start + 1, end - 2))
        fragments = ((start, middle), (draw(st.integers(middle + 1, end - 1)), end))
    return Entity(
        start=start,
        end=end,
        type=draw(st.sampled_from("ABC")),
        layer=draw(st.sampled_from(("", "", "nested"))),
        fragments=fragments,
    )


some = st.lists(entities(), max_size=7)
documents = st.tuples(some, st.none() | some, st.sampled_from((None, TEXT, "", "one")))


def both_of(gold, predicted):
    ids = [str(place) for place in range(len(gold))]
    return align(columns_of(gold, ids), columns_of(predicted, ids))


def distinct_columns(given):
    both = both_of([gold for gold, _, _ in given], [predicted or [] for _, predicted, _ in given])
    return AlignedColumns(
        *(rows_at(side, first_of_duplicates(side)) for side in (both.gold, both.predicted))
    )


def facts_of_columns(given, *, rule="overlap", empty="null", **how):
    both = distinct_columns(given)
    tokens = token_columns([text for _, _, text in given], [None] * len(given))
    return both, column_facts(
        both,
        correct_pairs(both, pair_columns(both, **how)),
        answered=np.array([predicted is not None for _, predicted, _ in given], dtype=bool),
        tokenised=tokens.tokenised,
        token_types=token_types(both, tokens, rule),
        empty=empty,
    )


def plain_facts(given, types, *, rule="overlap", empty="null", **how):
    return [
        document_facts(
            gold,
            predicted,
            types=types,
            tokens=None if text is None else tokens_of(text),
            token_rule=rule,
            empty=empty,
            **how,
        )
        for gold, predicted, text in given
    ]


@given(
    st.lists(documents, max_size=5),
    st.sampled_from(MATCHINGS),
    st.sampled_from((None, 0.3, 1.0)),
    st.sampled_from(("overlap", "brief")),
    st.sampled_from(("null", "gerbil", "zero")),
)
def test_rows_of_all_metrics_equal_the_plain_ones(given, matching, least, rule, empty):
    how = {"matching": matching, "min_overlap": least, "rule": rule, "empty": empty}
    both, columns = facts_of_columns(given, **how)
    plain = plain_facts(given, both.gold.types, **how)
    for metric, counting in entity_metrics(empty).values():
        sums = entity_sums(metric, counting, columns)
        rows = [metric(facts) for facts in plain]
        for place, row in enumerate(rows):
            assert sums.scored[place] == (not isinstance(row, Absent)), metric.id
            if not isinstance(row, Absent):
                assert tuple(sums.sums[place]) == row.counts, metric.id
            assert sums.units[place] == (not isinstance(row, NotApplicable)), metric.id
        assert sums.absent == Counter(row for row in rows if isinstance(row, Absent))


@given(some, some, st.sampled_from((0.0, 0.01, 0.5, 1.0)))
def test_overlapping_pairs_equal_those_of_every_pair_tried(gold, predicted, least):
    both = both_of([gold], [predicted])
    found = overlaps(both, least)
    plain = {
        (g, p, common)
        for g, row in overlaps_of(gold, predicted, least).items()
        for p, common in row.items()
        if gold[g].layer == predicted[p].layer
    }
    met = list(
        zip(
            *(column.tolist() for column in (found.gold, found.predicted, found.shared)),
            strict=True,
        )
    )
    assert set(met) == plain
    assert len(met) == len(plain)


@pytest.mark.parametrize("far", [1 << 20, 1 << 39])
def test_keys_that_do_not_fit_are_ranked(far):
    gold = [[Entity(start=far, end=far + 9, type="A")] for _ in range(50)]
    wrong = [[Entity(start=far, end=far + 9, type="B")] for _ in range(50)]
    for predicted, right in ((gold, 50), (wrong, 0)):
        _, facts = facts_of_columns([(a, b, None) for a, b in zip(gold, predicted, strict=True)])
        assert facts.strict.correct.sum() == right
        assert facts.exact.correct.sum() == 50


@given(st.lists(documents, max_size=4), st.sampled_from(MATCHINGS))
def test_outcomes_account_for_every_entity(given, matching):
    both, facts = facts_of_columns(given, matching=matching)
    for schema in SCHEMAS:
        met = getattr(facts, schema)
        assert met.gold.tolist() == np.bincount(both.gold.doc, minlength=len(given)).tolist()
        assert met.predicted.sum() == len(both.predicted.doc)
        assert all((getattr(met, name) >= 0).all() for name in met.__struct_fields__)


@given(st.lists(st.text(st.sampled_from("ab \t\n\u00a0\u2028\u3000\u200b😀\ud800"), max_size=12)))
def test_words_of_many_texts_equal_those_of_each(texts):
    found = token_columns(texts, [None] * len(texts))
    plain = [(place, *token) for place, text in enumerate(texts) for token in tokens_of(text)]
    rows = zip(found.doc.tolist(), found.start.tolist(), found.end.tolist(), strict=True)
    assert list(rows) == plain


def test_tokens_of_a_file_are_taken_before_the_words_of_the_text():
    texts, given = ["one two", "one two", None, None], [None, ((0, 3), (3, 7)), ((2, 4),), None]
    found = token_columns(texts, given)
    rows = zip(found.doc.tolist(), found.start.tolist(), found.end.tolist(), strict=True)
    assert list(rows) == [(0, 0, 3), (0, 4, 7), (1, 0, 3), (1, 3, 7), (2, 2, 4)]
    assert found.tokenised.tolist() == [True, True, True, False]
