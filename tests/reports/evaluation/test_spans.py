"""Texts with marks: every character once, every mark where its span begins and ends."""

from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.evaluation import EntityError, ShownSpan
from ragauge.reports.kinds.evaluation_errors import in_context, marked, plain

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


spans = st.integers(0, 40).flatmap(lambda a: st.integers(a + 1, 48).map(lambda b: (a, b)))


@given(spans, spans)
def test_spans_that_overlap_are_laid_over_each_other(gold, predicted):
    start, end = min(gold[0], predicted[0]), max(gold[1], predicted[1])
    if max(gold[0], predicted[0]) > min(gold[1], predicted[1]):
        return
    pieces = in_context(error(shown(*gold), shown(*predicted), TEXT[:start], TEXT[end:]))
    assert "".join(piece.text for piece in pieces) == TEXT
    assert "".join(piece.text for piece in pieces if piece.gold) == TEXT[slice(*gold)]
    assert "".join(piece.text for piece in pieces if piece.predicted) == TEXT[slice(*predicted)]


def test_a_long_context_is_cut_on_the_far_side():
    found = plain(in_context(error(shown(4, 15), None, "x" * 200, "y" * 200)))
    assert found.startswith("…xxx")
    assert found.endswith("yyy…")
    assert len(found) == 60 + len("[Rijksmuseum]") + 60


def test_brackets_are_between_the_pieces_of_a_text():
    pieces = in_context(error(shown(4, 25), shown(4, 15), "Het ", " werd"))
    assert plain(pieces) == "Het [{Rijksmuseum} Amsterdam] werd"
    assert "".join(span.text for span in marked(pieces)) == plain(pieces)
