"""What one text has and another has not."""

import pytest

from ragauge.text.marks import differences


@pytest.mark.parametrize(
    ("one", "other", "marks"),
    [
        ("in 1800", "in 1808", ["1800"]),
        ("the same", "the same", []),
        ("a red old hat", "a blue new hat", ["red old"]),
        ("故宮收藏瓷器", "故宮收藏汽車", ["瓷器"]),
        ("all new", "", ["all new"]),
        ("", "all new", []),
    ],
)
def test_what_another_text_does_not_have_is_marked(one, other, marks):
    pieces = differences(one, other)
    assert "".join(piece for piece, _ in pieces) == one
    assert [piece for piece, differs in pieces if differs] == marks
