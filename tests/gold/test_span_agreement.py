"""Agreement on spans beyond strict F1: partial F1, and κ and α over tokens."""

import csv
import io
import json
import math
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ragauge.contracts.annotation import TypedSpan
from ragauge.contracts.entities import Entity
from ragauge.reports.rendering import render
from ragauge.runners.gold_agreement import agreement, overlapping, token_labels
from tests.metrics.entity_twin import document_facts

close = pytest.approx
TEXT = "Het Rijksmuseum staat in Amsterdam sinds 1885"
#       0   4           16    22 25        35    41
MUSEUM, LONGER = TypedSpan(4, 15, "MUS"), TypedSpan(0, 15, "MUS")
PLACE, AS_MUSEUM, YEAR = (
    TypedSpan(25, 34, "TOP"),
    TypedSpan(25, 34, "MUS"),
    TypedSpan(41, 45, "TMP"),
)
TOKEN_METRICS = ("token_kappa", "token_kappa_no_o", "token_alpha")


def written(folder, *annotators):
    """A file for each annotator: by item its text (or None) and spans (or None)."""
    names = []
    for number, items in enumerate(annotators):
        name = folder / f"{number}.jsonl"
        rows = [
            {
                "id": f"h{n:03}",
                **({} if text is None else {"text": text}),
                "spans": None if spans is None else [plain(span) for span in spans],
            }
            for n, (text, spans) in enumerate(items)
        ]
        name.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        names.append(str(name))
    return names


def plain(span):
    return {"start": span.start, "end": span.end, "type": span.type}


def values(report):
    return {id.partition(".")[2]: score.value for id, score in report.metrics.items()}


def test_by_hand(tmp_path):
    """Tokens O M O O T O Y against M M O O M O O, over the seven words of the sentence."""
    names = written(tmp_path, [(TEXT, [MUSEUM, PLACE, YEAR])], [(TEXT, [LONGER, AS_MUSEUM])])
    found = values(agreement(names).report)
    assert found["span_f1"] == 0
    # One of A's three and one of B's two: the museums overlap and have one type.
    assert found["span_f1_partial"] == 2 / 5
    # Alike: Rijksmuseum and three O of 7. A: 4 O, 1 M, 1 T, 1 Y. B: 4 O, 3 M.
    chance = (4 * 4 + 1 * 3) / 49
    assert found["token_kappa"] == close((4 / 7 - chance) / (1 - chance))
    # Without the three that both call O. A: 1 O, 1 M, 1 T, 1 Y. B: 1 O, 3 M.
    chance = (1 * 1 + 1 * 3) / 16
    assert found["token_kappa_no_o"] == close((1 / 4 - chance) / (1 - chance))
    # 14 labels: 8 O, 4 M, 1 T, 1 Y; three of seven units differ.
    expected = 1 - (14 * 13 / (14**2 - 8**2 - 4**2 - 1 - 1)) * 3 / 7
    assert found["token_alpha"] == close(expected)


spans = st.frozensets(
    st.builds(
        lambda start, size, named: TypedSpan(start, min(len(TEXT), start + size), named),
        st.integers(0, len(TEXT) - 1),
        st.integers(1, 14),
        st.sampled_from(("MUS", "TOP")),
    ),
    max_size=4,
)


@given(st.lists(st.lists(st.none() | spans, min_size=3, max_size=3), min_size=1, max_size=4))
def test_every_number_is_that_of_the_packages(tmp_path_factory, items):
    said = list(zip(*items, strict=True))
    if any(all(one is None for one in annotator) for annotator in said):
        return
    folder = tmp_path_factory.mktemp("spans")
    report = agreement(written(folder, *([(TEXT, one) for one in own] for own in said))).report
    tokens = [(0, 3), (4, 15), (16, 21), (22, 24), (25, 34), (35, 40), (41, 45)]
    labels = [
        [None if one is None else plain_label(one, token) for one in annotator for token in tokens]
        for annotator in said
    ]
    for pair, own, (a, b) in zip(
        report.pairs, combinations(said, 2), combinations(labels, 2), strict=True
    ):
        assert pair.span_f1_partial == plain_partial(*own)
        both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        assert_kappa(pair.token_kappa, both, pair.token_reasons.get("token_kappa"))
        marked = [one for one in both if one != ("", "")]
        assert_kappa(pair.token_kappa_no_o, marked, pair.token_reasons.get("token_kappa_no_o"))
    for name in ("span_f1_partial", "token_kappa", "token_kappa_no_o"):
        known = [one for pair in report.pairs if (one := getattr(pair, name)) is not None]
        assert values(report)[name] == (close(np.mean(known)) if known else None)
    score = report.metrics["agreement.token_alpha"]
    assert score.value == plain_alpha(labels)
    assert (score.value is None) == bool(score.reason)


def plain_label(spans, token):
    return "+".join(sorted({s.type for s in spans if s.start < token[1] and token[0] < s.end}))


def plain_partial(one, other):
    """F1 of the entity evaluation, with the first annotator as gold."""
    right = either = 0
    for a, b in zip(one, other, strict=True):
        if a is not None and b is not None:
            gold, found = (
                [Entity(start=s.start, end=s.end, type=s.type) for s in own] for own in (a, b)
            )
            right += document_facts(gold, found, types=("MUS", "TOP")).ent_type.correct
            either += len(a) + len(b)
    return close(2 * right / either) if either else None


def assert_kappa(found, pairs, reason):
    if not pairs or len({label for pair in pairs for label in pair}) == 1:
        assert found is None
        assert reason
    else:
        assert found == close(cohen_kappa_score(*zip(*pairs, strict=True)))
        assert reason is None


def plain_alpha(labels):
    known = sorted({one for row in labels for one in row if one is not None})
    codes = np.array(
        [[math.nan if one is None else known.index(one) for one in row] for row in labels]
    )
    paired = codes[:, (~np.isnan(codes)).sum(axis=0) > 1]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        return None
    return close(krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal"))


@given(spans, spans)
def test_the_spans_that_overlap_are_the_same_whoever_is_gold(one, other):
    assert overlapping(one, other) == overlapping(other, one)


@given(spans)
def test_tokens_hold_the_types_of_all_spans_that_touch_them(marked):
    tokens = [(0, 3), (4, 15), (16, 21), (22, 24), (25, 34), (35, 40), (41, 45)]
    expected = [plain_label(marked, token) for token in tokens]
    assert ["+".join(label) for label in token_labels(tokens, marked)] == expected


def test_a_type_that_is_called_o_is_not_outside(tmp_path):
    marked = [TypedSpan(4, 15, "O")]
    report = agreement(written(tmp_path, [(TEXT, marked)], [(TEXT, [])])).report
    assert values(report)["token_kappa"] == 0


def test_without_texts_there_are_no_tokens(tmp_path):
    report = agreement(written(tmp_path, [(None, [MUSEUM])], [(None, [MUSEUM])])).report
    assert values(report)["span_f1"] == values(report)["span_f1_partial"] == 1
    for name in TOKEN_METRICS:
        score = report.metrics[f"agreement.{name}"]
        assert (score.value, score.ci, score.n) == (None, None, 0)
        assert score.reason == "no item has one text for all its annotators, so there are no tokens"
    assert report.findings == ()
    assert report.passed


def test_a_text_in_one_file_serves_all(tmp_path):
    report = agreement(written(tmp_path, [(TEXT, [MUSEUM, YEAR])], [(None, [MUSEUM, YEAR])])).report
    assert [values(report)[name] for name in TOKEN_METRICS] == [1, 1, 1]


def test_items_whose_tokens_do_not_compare_are_told_and_left_out(tmp_path):
    marked = [MUSEUM, YEAR]
    texts = [TEXT, f" {TEXT}", None, TEXT, TEXT]
    others = [TEXT, TEXT, None, None, TEXT]
    past = [TypedSpan(41, 99, "TMP")]
    names = written(
        tmp_path,
        [(text, marked) for text in texts],
        [(text, past if n == 3 else marked) for n, text in enumerate(others)],
    )
    report = agreement(names).report
    assert report.finding_counts == {"no_text": 1, "span_past_text": 1, "texts_differ": 1}
    score = report.metrics["agreement.token_kappa"]
    assert (score.value, score.n, score.of) == (1, 2, 5)
    assert score.signature == "agreement.token_kappa|v1|ci:delta-clustered|n:2"


def test_one_label_throughout_is_absent_with_the_label(tmp_path):
    """Both agree on all that is marked, but it is of one type: chance would do as well."""
    report = agreement(written(tmp_path, [(TEXT, [MUSEUM])], [(TEXT, [MUSEUM])])).report
    assert values(report)["token_kappa"] == 1
    score = report.metrics["agreement.token_kappa_no_o"]
    assert score.value is None
    assert score.reason == "everybody said MUS throughout, and so would chance"
    nothing = agreement(written(tmp_path, [(TEXT, [])], [(TEXT, [])])).report
    reasons = [nothing.metrics[f"agreement.{name}"].reason for name in TOKEN_METRICS]
    throughout = "everybody said O throughout, and so would chance"
    assert reasons == [throughout, "nobody marked a token", throughout]


def test_nothing_shared_is_the_reason_before_all_others(tmp_path):
    names = written(tmp_path, [(TEXT, [MUSEUM]), (TEXT, None)], [(TEXT, None), (TEXT, [MUSEUM])])
    report = agreement(names).report
    for name in ("span_f1", "span_f1_partial", *TOKEN_METRICS):
        assert report.metrics[f"agreement.{name}"].reason == "no item was annotated by two"


def test_a_pair_without_a_token_kappa_keeps_the_mean_from_being_judged(tmp_path):
    names = written(tmp_path, [(TEXT, [])], [(TEXT, [])], [(TEXT, [MUSEUM])])
    report = agreement(names, gates="token_kappa>=0,token_alpha>=-0.99").report
    gates = {gate.metric: gate for gate in report.gates}
    assert gates["agreement.token_kappa"].verdict == "not_evaluated"
    assert gates["agreement.token_kappa"].reason == (
        "a mean of 2 of 3 pairs, for A and B have none; "
        "gate on token_alpha, which takes all at once"
    )
    assert gates["agreement.token_alpha"].verdict == "pass"
    assert report.finding_counts == {"pair_without_f1": 1, "pair_without_kappa": 2}


@pytest.mark.parametrize(
    ("gates", "first"),
    [(None, "agreement.span_f1>=0.85"), ("span_f1_partial>=0.3", "agreement.coverage=1")],
)
def test_strict_f1_stays_the_gate_unless_the_user_has_another(tmp_path, gates, first):
    names = written(tmp_path, [(TEXT, [MUSEUM, PLACE])], [(TEXT, [LONGER, PLACE])])
    report = agreement(names, gates=gates).report
    assert report.gates[0].rule == first
    assert report.passed == (gates is not None)


@pytest.fixture
def three(tmp_path):
    more = [(TEXT, [PLACE])] * 3
    return agreement(
        written(
            tmp_path,
            [(TEXT, [MUSEUM, PLACE]), *more],
            [(TEXT, [LONGER, PLACE]), *more],
            [(TEXT, [MUSEUM, YEAR]), *more],
        )
    ).report


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_every_form_tells_the_numbers(three, form):
    told = render(three, form)
    for name in ("span_f1_partial", *TOKEN_METRICS):
        assert name in told
        value = values(three)[name]
        assert (repr(value) if form == "json" else f"{value:.3f}") in told
    if form != "json":
        assert told.index("B and C") < told.index("A and B")  # the least strict F1 first


def test_a_spreadsheet_has_the_f1_of_each_item(three):
    [row] = csv.DictReader(io.StringIO(render(three, "csv"), newline=""))
    # A with B, A with C, B with C: strict 1, 1 and 0 of two spans each, partial 2, 1 and 1.
    assert float(row["span_f1"]) == close((1 / 2 + 1 / 2 + 0) / 3)
    assert float(row["span_f1_partial"]) == close((1 + 1 / 2 + 1 / 2) / 3)
    assert row["id"] == "h000"


def test_intervals_hold_the_value(three):
    for name in ("span_f1_partial", *TOKEN_METRICS):
        score = three.metrics[f"agreement.{name}"]
        assert score.ci[0] < score.value < score.ci[1]
