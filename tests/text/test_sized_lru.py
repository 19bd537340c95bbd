"""The cache keeps what was used last, up to a number of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.sized_lru import SizedLRU

steps = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 12), st.booleans()), max_size=40
)


@given(steps)
def test_it_keeps_what_a_plain_list_would(steps):
    kept: SizedLRU[str, str] = SizedLRU(most_chars=20)
    twin: list[tuple[str, int]] = []
    for key, chars, if_room in steps:
        held = [pair for pair in twin if pair[0] == key]
        assert kept.get(key) == (key if held else None)
        if held:
            twin.remove(held[0])
            twin.append(held[0])
            continue
        kept.keep(key, key, chars, if_room=if_room)
        if if_room and sum(size for _, size in twin) + chars > 20:
            continue
        twin.append((key, chars))
        while sum(size for _, size in twin) > 20 and len(twin) > 1:
            twin.pop(0)


def test_one_that_is_too_long_stays_until_the_next():
    kept: SizedLRU[str, int] = SizedLRU(most_chars=10)
    kept.keep("huge", 1, chars=100)
    assert kept.get("huge") == 1
    kept.keep("small", 2, chars=1)
    assert kept.get("huge") is None and kept.get("small") == 2
