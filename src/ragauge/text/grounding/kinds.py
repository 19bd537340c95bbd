"""What kind of text an answer is, where nobody says."""

from __future__ import annotations

import re

from ragauge.contracts.answers import AnswerKind
from ragauge.text.grounding.passages import Passages

SUMMARY_WORDS = 40
"""A shorter text without a question is a claim rather than a summary."""
_ASKS_FOR_SUMMARY = re.compile(
    r"\bsummar|\btl;?dr\b|\bsamenvat|\bvat\b.*\bsamen\b|zusammenfass|\bfass\w*\b.*\bzusammen\b"
    r"|\brésum|摘要|总结|總結|概括",
    re.I,
)


def kind_of(answer: str, passages: Passages) -> AnswerKind:
    """The kind of an answer: told from its contexts and its question.

    Contexts that are records make it data-to-text; a question that asks for a summary, or a longer
    text without any question, a summary; everything else is an answer to a question.
    """
    if passages.record is not None:
        return "data_to_text"
    question = passages.question.strip()
    if question:
        return "summary" if _ASKS_FOR_SUMMARY.search(question) else "qa"
    return "summary" if len(answer.split()) >= SUMMARY_WORDS else "qa"
