"""A sentence laid against contexts, compared with a plain twin that tries every window."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.grounding import groundedness
from ragauge.grounding.alignment import (
    ELSEWHERE,
    REACH,
    RECOVERY,
    RELATED,
    align,
)
from ragauge.grounding.passages import Passages
from ragauge.grounding.tokens import NAME, STOP, WEIGHTS, tokens

FAR = (
    "Rembrandt painted the Night Watch in 1642. Trade grew. Ships sailed. Rain fell. "
    "Vermeer painted the Milkmaid in 1658."
)


def aligned_with(sentence, *contexts, question=None, restated=frozenset()):
    passages = Passages(contexts, question, "en")
    found = tokens(sentence, "en")
    return align(passages, found.stems, found.kinds, restated)


def test_the_whole_sentence_in_one_line_is_wholly_supported():
    found = aligned_with("The museum opened in 1808.", "Well. The museum opened in 1808. So.")
    assert found.supported == found.in_line == found.in_window == found.in_order == 1
    assert found.bigrams == 1
    assert found.missing == found.worst_span == found.missing_keys == found.stray_keys == 0
    assert not found.denial_differs
    assert (found.window.first, found.window.last, found.window.chunk) == (1, 2, 0)


def test_nothing_in_common_has_no_window():
    found = aligned_with("Aliens landed on Mars.", "The museum opened in 1808.")
    assert found.window is None
    assert found.by_chunk == {}
    assert found.supported == found.in_line == found.in_window == found.in_order == 0
    assert found.missing == found.weight == found.worst_span
    assert found.missing_keys == 1


def test_small_words_alone_are_nothing_to_lay():
    assert aligned_with("It is in the", "It is in the museum.") is None


def test_a_name_of_the_question_is_not_missing():
    asked = aligned_with(
        "So Napoleon opened it.", "He opened it.", question="Did Napoleon open it?"
    )
    assert asked.missing_keys == 0
    assert aligned_with("So Napoleon opened it.", "He opened it.").missing_keys == 1


def test_words_of_two_far_sentences_stray_from_the_window():
    bound = aligned_with("Vermeer painted the Milkmaid in 1658.", FAR)
    swapped = aligned_with("So Rembrandt painted the Milkmaid in 1658.", FAR)
    assert bound.stray_keys == 0
    assert swapped.supported == bound.supported == 1
    assert swapped.stray_keys == 1
    assert swapped.in_window < bound.in_window
    assert swapped.worst_span > bound.worst_span


def test_a_window_reaches_three_lines_of_one_context_and_no_further():
    lines = ["The museum opened.", "Rain fell.", "Rembrandt came.", "Trade grew.", "Vermeer left."]
    near = aligned_with("The museum met Rembrandt.", " ".join(lines))
    assert (near.window.first, near.window.last) == (0, 3)
    apart = aligned_with("The museum met Vermeer.", " ".join(lines))
    assert apart.window.last - apart.window.first == 1
    two = aligned_with("The museum met Rembrandt.", lines[0], lines[2])
    assert two.in_window < near.in_window
    assert set(two.by_chunk) == {0, 1}


def test_of_equal_windows_the_first_is_the_evidence():
    found = aligned_with(
        "The museum opened.", "Rain fell.", "The museum opened.", "The museum opened."
    )
    assert found.window.chunk == 1
    assert found.by_chunk == {1: 1.0, 2: 1.0}


def test_words_of_a_number_in_another_form_are_neither_missing_nor_astray():
    context = "The museum has 12,000 paintings."
    plain = aligned_with("The museum has 12 thousand paintings.", context)
    restated = aligned_with(
        "The museum has 12 thousand paintings.", context, restated={"12", "thousand"}
    )
    assert plain.missing_keys == 1
    assert plain.in_window < 1
    assert restated.supported == restated.in_window == 1
    assert restated.missing == restated.missing_keys == restated.stray_keys == 0
    assert restated.worst_span == 0


@pytest.mark.parametrize(
    ("sentence", "context", "differs"),
    [
        ("The shop is not open on Sunday.", "The shop is open on Sunday.", True),
        ("The shop is open on Sunday.", "The shop is not open on Sunday.", True),
        ("The shop isn't open on Sunday.", "The shop is not open on Sunday.", False),
        ("The shop is open on Sunday.", "The shop is open on Sunday.", False),
        ("The shop is not open on Sunday.", "Rembrandt painted ships.", False),
    ],
)
def test_a_denial_differs_where_both_speak_of_the_same(sentence, context, differs):
    assert aligned_with(sentence, context).denial_differs is differs


WORDS = st.lists(
    st.sampled_from(
        [
            "king",
            "museum",
            "open",
            "paint",
            "Rembrandt",
            "Vermeer",
            "1642",
            "1658",
            "the",
            "not",
            "in",
            "ship",
        ]
    ),
    min_size=1,
    max_size=7,
)
TEXTS = st.lists(
    st.lists(WORDS.map(" ".join), min_size=1, max_size=5).map(lambda lines: ". ".join(lines) + "."),
    min_size=1,
    max_size=3,
)


@given(words=WORDS, contexts=TEXTS)
def test_it_is_what_trying_every_window_gives(words, contexts):
    passages = Passages(contexts, "the ship?", "en")
    found = tokens("so " + " ".join(words), "en")
    aligned = align(passages, found.stems, found.kinds)
    twin = plain_twin(passages, found.stems, found.kinds)
    if twin is None:
        assert aligned is None
        return
    for name, value in twin.items():
        assert getattr(aligned, name) == pytest.approx(value), name
    assert 0 <= aligned.in_line <= aligned.in_window <= 1


def plain_twin(passages, stems, kinds):
    """The same by sets and by trying everything."""
    content = [(stem, kind) for stem, kind in zip(stems, kinds, strict=True) if kind != STOP]
    if not content:
        return None
    weight = {}
    for stem, kind in content:
        weight.setdefault(stem, WEIGHTS[kind])
    whole = sum(weight.values())
    windows = [
        (first, last)
        for first in range(len(passages.lines))
        for last in range(first + 1, min(first + REACH, len(passages.lines)) + 1)
        if passages.lines[first].chunk == passages.lines[last - 1].chunk
    ]

    def held(first, last):
        return {stem for line in passages.lines[first:last] for stem in line.stems} & set(weight)

    def share(window):
        return sum(weight[stem] for stem in held(*window)) / whole

    best = max(map(share, windows))
    supports = [passages.support(stem) for stem, _ in content]
    by_chunk = {}
    for first, last in windows:
        chunk = passages.lines[first].chunk
        by_chunk[chunk] = max(by_chunk.get(chunk, 0), share((first, last)))
    total = sum(WEIGHTS[kind] for _, kind in content)
    return {
        "weight": total,
        "supported": sum(
            WEIGHTS[kind] * support for (_, kind), support in zip(content, supports, strict=True)
        )
        / total,
        "in_line": max(share(window) for window in windows if window[1] - window[0] == 1),
        "in_window": best,
        "bigrams": sum(pair in passages.bigrams for pair in pairwise(stems)) / (len(stems) - 1),
        "missing": sum(
            WEIGHTS[kind] * (1 - support)
            for (_, kind), support in zip(content, supports, strict=True)
        ),
        "missing_keys": sum(
            kind >= NAME and not support and stem not in passages.in_question
            for (stem, kind), support in zip(content, supports, strict=True)
        ),
        "by_chunk": {chunk: value for chunk, value in by_chunk.items() if value},
    } | _of_the_window(passages, content, supports, windows, held, share, best)


def _of_the_window(passages, content, supports, windows, held, share, best):
    """What depends on which of the best windows is taken: the first that is no wider than it has
    to be."""
    if not best:
        return {"in_order": 0.0, "stray_keys": 0}
    first, last = next(window for window in windows if share(window) == pytest.approx(best))
    inside = held(first, last)
    own = [stem for stem, _ in content]
    window = [stem for line in passages.lines[first:last] for stem in line.stems]
    apart = [
        (stem not in inside, WEIGHTS[kind], support)
        for (stem, kind), support in zip(content, supports, strict=True)
    ]
    costs = [
        weight * (absence - RECOVERY * (1 - absence))
        for away, weight, support in apart
        for absence in [
            1.0 if not support else RELATED if support < 1 else ELSEWHERE if away else 0.0
        ]
    ]
    runs = [sum(costs[at:to]) for at in range(len(costs)) for to in range(at + 1, len(costs) + 1)]
    return {
        "in_order": _common(own, window) / len(own),
        "stray_keys": sum(
            kind >= NAME and stem in passages.where and stem not in inside for stem, kind in content
        ),
        "worst_span": max(0.0, *runs),
    }


def _common(one, other):
    """The length of the longest common subsequence, by the textbook."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for place, beside in enumerate(other, 1):
            kept = row[place]
            row[place] = before + 1 if word == beside else max(row[place], row[place - 1])
            before = kept
    return row[-1]


def test_of_a_very_long_context_the_lines_with_the_rarest_words_are_looked_at():
    common = "The museum opened in 1800 in The Hague. "
    rare = "The curator of room 7 keeps a parrot. "
    passages = Passages([common * 700 + rare + common * 700])
    found = groundedness("The curator of room 7 keeps a parrot. It opened in 1800.", passages)
    told, other = found.sentences
    assert told.evidence is not None and told.evidence.start == len(common) * 700
    assert other.evidence is not None and other.evidence.start == 0
    assert found.grounded


def test_looking_at_likely_lines_alone_changes_nothing_where_all_are_likely():
    text = "Ruys came in 1800. He bought a mill. The mill stood in Ede. It burned down in 1812."
    found = tokens("Ruys bought a mill in Ede.", "en")
    passages = Passages([text], None, "en")
    likely = align(passages, found.stems, found.kinds, allowance=10)
    assert likely == align(passages, found.stems, found.kinds)


def test_a_sentence_of_a_context_without_any_stop_is_several_lines_with_exact_places():
    text = " ".join(f"w{place}" for place in range(1200))
    lines = Passages([text], None, "en").lines
    assert [len(line.stems) for line in lines] == [500, 500, 500, 500, 400]
    assert "".join(text[line.start : line.end] for line in lines) == text
