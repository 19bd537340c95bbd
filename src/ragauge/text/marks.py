"""Texts in pieces, some of them marked: what another text does not have, words, evidence."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from ragauge.contracts.evaluation import EvidenceText
from ragauge.text.visible import cut, flat

LONGEST = 1_500  # characters of a text that is compared with another on a page: a longer one is cut

# A Chinese, Japanese or Korean character is a word of its own.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+|\s+|.")

MOST_MARKED = 0.6  # of a text: if more of it differs, marks say nothing, and it is shown plain
MOST_WORK = 10_000_000
"""Pairs of characters that are compared for one page, in about a fifth of a second."""

Marked = list[tuple[str, bool]]
"""A text in pieces, each with whether it is marked."""

_LETTER = r"[^\W_\u2e80-\U0010ffff]"
"""A letter or digit of a script that puts spaces between words: not Chinese or Japanese."""
LONGEST_EVIDENCE = 320


def differences(text: str, other: str) -> Marked:
    """The text in pieces, word by word; a piece that the other text does not have is marked.

    >>> differences("in the year 1800", "in 1808")
    [('in ', False), ('the year 1800', True)]
    """
    ours, theirs = _WORD.findall(text), _WORD.findall(other)
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    opcodes = [(kind != "equal", "".join(ours[a:b])) for kind, a, b, *_ in matcher.get_opcodes()]
    pieces = [(differs, piece) for differs, piece in opcodes if piece]
    merged: Marked = []
    for place, (differs, piece) in enumerate(pieces):
        # Differing pieces with only a space between them are one.
        between = piece.isspace() and 0 < place < len(pieces) - 1
        if merged and merged[-1][1] and (differs or between):
            merged[-1] = (merged[-1][0] + piece, True)
        else:
            merged.append((piece, differs))
    return merged


class Differing:
    """Marks what one text has and the other does not.

    Texts are returned unmarked once its work is used up, or if nearly all of a text differs.
    """

    def __init__(self, work: int = MOST_WORK) -> None:
        self._left, self._known = work, dict[tuple[str, str], tuple[Marked, bool]]()
        self.unmarked = 0
        """Texts that were not compared."""

    def __call__(self, text: str, other: str) -> Marked:
        """The text in pieces, each with whether it differs.

        >>> Differing()("in 1808", "in 1885")
        [('in ', False), ('1808', True)]
        >>> Differing(work=10)("in 1808", "in 1885")
        [('in 1808', False)]
        """
        return self._compared(text, other)[0]

    def differs_entirely(self, text: str, other: str) -> bool:
        """Whether nearly all of a text differs, so that it is returned unmarked.

        >>> differing = Differing()
        >>> differing.differs_entirely("not in context", "It opened in 1885.")
        True
        """
        return self._compared(text, other)[1]

    def _compared(self, text: str, other: str) -> tuple[Marked, bool]:
        pair = ours, theirs = cut(flat(text), LONGEST), cut(flat(other), LONGEST)
        if pair in self._known:
            return self._known[pair]
        found: Marked = [(ours, False)] if ours else []
        entirely = False
        if ours != theirs:
            self._left -= len(ours) * len(theirs)
            if self._left < 0:
                self.unmarked += 1
            else:
                marked = differences(ours, theirs)
                different = sum(len(piece) for piece, differs in marked if differs)
                entirely = different > MOST_MARKED * len(ours)
                found = found if entirely else marked
        self._known[pair] = found, entirely
        return found, entirely


def marked_words(text: str, words: Iterable[str]) -> Marked:
    """The text in pieces, with every occurrence of the words marked, in whatever case.

    >>> marked_words("Built in 1834, in Berlin.", ["1834", "berlin"])
    [('Built in ', False), ('1834', True), (', in ', False), ('Berlin', True), ('.', False)]
    """
    listed = sorted({word for word in words if word.strip()}, key=lambda word: (-len(word), word))
    if not listed:
        return [(text, False)]

    def pattern(word: str) -> str:
        """The word, but not inside a longer one in scripts with spaces."""
        start = f"(?<!{_LETTER})" if re.match(_LETTER, word[0]) else ""
        end = f"(?!{_LETTER})" if re.match(_LETTER, word[-1]) else ""
        return f"{start}{re.escape(word)}{end}"

    pieces = re.split(f"({'|'.join(map(pattern, listed))})", text, flags=re.IGNORECASE)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def quoted(evidence: EvidenceText, around: int) -> Marked:
    """The evidence, marked, with at most `around` characters on each side of it."""
    before, after = (re.sub(r"\s+", " ", text) for text in (evidence.before, evidence.after))
    # No half words, in scripts with spaces.
    if len(before) > around:
        before = "… " + re.sub(r"^\S{0,20}\s", "", before[1 - around :])
    if len(after) > around:
        after = re.sub(r"\s\S{0,20}$", "", after[: around - 1]) + " …"
    evident = cut(evidence.text, LONGEST_EVIDENCE)
    pieces = (before.lstrip(), False), (evident, True), (after.rstrip(), False)
    return [piece for piece in pieces if piece[0]]
