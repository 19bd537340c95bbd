"""Runs that are shown: what each varied, what it came to, and where two differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ragauge.contracts.run import FACTORS, Variation
from ragauge.contracts.stability import CELLS, QuestionStability, Shown
from ragauge.reports.stability.heat import level, varying

# A Chinese, Japanese or Korean sign is a word of its own where differences are looked for.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+|\s+|.")


def outcome(cell: str) -> str:
    """
    >>> outcome("c"), outcome("7")
    ('claim wrong', '7 tenths right')
    """
    return CELLS.get(cell) or f"{cell} tenths right"


def variation_words(variation: Variation, columns: Sequence[Variation]) -> str:
    """What of a run's variation can differ from another's.

    >>> columns = [Variation(seed=0, jitter="ws"), Variation(seed=1)]
    >>> variation_words(columns[1], columns), variation_words(columns[1], columns[1:])
    ('seed 1, jitter none', 'the only run')
    """
    factors = [factor for factor in FACTORS if factor in varying(columns)]
    told = (f"{factor} {level(getattr(variation, factor))}" for factor in factors)
    return ", ".join(told) or "the only run"


Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether it differs from what it is compared with."""


def differences(one: str, other: str) -> tuple[Marked, Marked]:
    """Two texts in pieces, word by word, those marked that the other does not have.

    >>> differences("in the year 1800", "in 1808")[0]
    [('in ', False), ('the year 1800', True)]
    """
    ours, theirs = _WORD.findall(one), _WORD.findall(other)
    left: Marked = []
    right: Marked = []
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for marked, piece in ((left, "".join(ours[a:b])), (right, "".join(theirs[c:d]))):
            if piece:
                marked.append((piece, kind != "equal"))
    return _joined(left), _joined(right)


def _joined(marked: Marked) -> Marked:
    """Pieces that differ with but a blank between them made one."""
    joined: Marked = []
    for place, (piece, differs) in enumerate(marked):
        between = piece.isspace() and 0 < place < len(marked) - 1
        if joined and joined[-1][1] and (differs or between):
            joined[-1] = (joined[-1][0] + piece, True)
        else:
            joined.append((piece, differs))
    return joined


def two_runs(question: QuestionStability) -> tuple[Shown, ...]:
    """The commonest run and the one beside it that differs most plainly: an answer if any."""
    first, *others = question.examples or (None,)
    if first is None:
        return ()
    others.sort(key=lambda run: run.cell in "!?")
    return (first, *others[:1])
