"""Texts with marks: every character once, every mark where its span begins and ends."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.evaluation import EntityError, LinkError, ShownSpan
from ragauge.reports.document import plain
from ragauge.reports.kinds.evaluation_tables import text_of

TEXT = "Het Rijksmuseum Amsterdam werd opgericht in 1800."


def shown(start, end, text=TEXT):
    return ShownSpan(start=start, end=end, type="M", text=text and text[start:end])


def error(gold, predicted, before="", after=""):
    return EntityError(
        kind="boundary",
        document="d",
        gold=gold,
        predicted=predicted,
        before=before,
        after=after,
        where="gold.jsonl:1",
    )


def link(mention, context):
    return LinkError(
        kind="wrong",
        key="d:1–2",
        mention=mention,
        gold=("Q1",),
        predicted=(),
        rank=None,
        context=context,
        where="gold.jsonl:1",
    )


spans = st.integers(0, 40).flatmap(lambda a: st.integers(a + 1, 48).map(lambda b: (a, b)))


@given(spans, spans)
def test_spans_that_overlap_are_laid_over_each_other(gold, predicted):
    start, end = min(gold[0], predicted[0]), max(gold[1], predicted[1])
    if max(gold[0], predicted[0]) > min(gold[1], predicted[1]):
        return
    found = text_of(error(shown(*gold), shown(*predicted), TEXT[:start], TEXT[end:]))
    assert plain([span for span in found if span.foreign]) == TEXT
    marked = re.sub(r"[{}]", "", plain(found))
    assert re.findall(r"\[(.*)\]", marked) == [TEXT[slice(*gold)]]
    marked = re.sub(r"[][]", "", plain(found))
    assert re.findall(r"\{(.*)\}", marked) == [TEXT[slice(*predicted)]]


def test_a_long_context_is_cut_on_the_far_side():
    found = plain(text_of(error(shown(4, 15), None, "x" * 200, "y" * 200)))
    assert found.startswith("…xxx")
    assert found.endswith("yyy…")
    assert len(found) == 60 + len("[Rijksmuseum]") + 60


def test_brackets_are_between_the_pieces_of_a_text():
    assert plain(text_of(error(shown(4, 25), shown(4, 15), "Het ", " werd"))) == (
        "Het [{Rijksmuseum} Amsterdam] werd"
    )
    assert plain(text_of(error(shown(4, 15), shown(4, 25), "Het ", " werd"))) == (
        "Het [{Rijksmuseum] Amsterdam} werd"
    )


def test_without_the_text_there_are_the_places():
    assert plain(text_of(error(shown(4, 15, None), shown(16, 25)))) == "[4–15] {Amsterdam}"
    assert plain(text_of(error(shown(4, 15), shown(16, 25)))) == "[Rijksmuseum] {Amsterdam}"


def test_a_mention_is_marked_where_its_context_has_it_first():
    assert plain(text_of(link("Ada", "met Ada and Ada"))) == "met [Ada] and Ada"
    assert plain(text_of(link("Ada", "met Bob"))) == "[Ada] met Bob"
    assert plain(text_of(link("Ada", None))) == "[Ada]"
    assert plain(text_of(link("", None))) == "[]"
