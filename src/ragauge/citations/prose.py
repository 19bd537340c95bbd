"""An answer in plain text: its claim, what it cites, and which of them comes first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ragauge.contracts.audit import ParsedAnswer
from ragauge.text.citations import id_of, inline_markers, list_spans, take_apart

_LINK = re.compile(r"\[[^\[\]]*\]\(")
_LIKE_AN_ID = re.compile(r"[\d#]")


def read_prose(text: str) -> ParsedAnswer:
    """The claim and the citations of a text.

    Markers such as [p1#2] show that it cites as it goes. They are citations only for who asks for
    them: which chunk [2] means, only what was retrieved tells.
    """
    apart = take_apart(text)
    claim, listed = apart.claim, apart.citations
    first: bool | None = None
    if listed is None:
        first = any(_LIKE_AN_ID.search(id) for id in _markers(claim)) or None
    elif listed:
        first = _lists_first(text, claim) or marks(claim, listed)
    return ParsedAnswer(answer=claim, citations=listed, cites_first=first)


def marks(claim: str, citations: Sequence[Any]) -> bool:
    """Whether a marker in the claim names one of the citations, by its id or its number."""
    markers = _markers(claim)
    if not markers:
        return False
    named = {one if isinstance(one, str) else id_of(one) for one in citations}
    numbers = {str(number) for number in range(1, len(citations) + 1)}
    return not (named | numbers).isdisjoint(markers)


def _markers(claim: str) -> tuple[str, ...]:
    """What stands in square brackets, the words of Markdown's links aside."""
    if "[" not in claim:
        return ()
    return inline_markers(_LINK.sub("(", claim) if "](" in claim else claim, ())


def _lists_first(text: str, claim: str) -> bool:
    """Whether the first list stands before the claim, an opening line such as "Sure:" aside."""
    spans = list_spans(text)
    before = take_apart(text[: spans[0][0]]).claim if spans else ""
    return not before or not claim.startswith(before)
