"""What kind of text an answer is, where nobody says."""

from __future__ import annotations

import re

from ragauge.contracts.answers import AnswerKind
from ragauge.text.grounding.passages import Passages

SUMMARY_WORDS = 40
"""A shorter text without a question is a claim rather than a summary."""
SOURCE_WORDS = 150
"""A shorter context is a passage that was retrieved rather than a document to summarise."""
_ASKS_FOR_SUMMARY = re.compile(
    r"\bsummar|\btl;?dr\b|\bsamenvat|\bvat\b.*\bsamen\b|zusammenfass|\bfass\w*\b.*\bzusammen\b"
    r"|\brésum|摘要|总结|總結|概括",
    re.I,
)


def kind_of(answer: str, passages: Passages) -> AnswerKind:
    """The kind of an answer, seen from its contexts and its question.

    Contexts that are records make it data-to-text. A question that asks for a summary makes it a
    summary. So does a single long context without any question, if the answer is not short.
    Everything else is an answer to a question, with the question or without it.
    """
    if passages.record is not None:
        return "data_to_text"
    question = passages.question.strip()
    if question:
        return "summary" if _ASKS_FOR_SUMMARY.search(question) else "qa"
    return "summary" if _is_summary(answer, passages) else "qa"


def assumed_kind(answer: str, passages: Passages) -> str | None:
    """What was assumed of the kind where no question says it, and why; None where one does.

    >>> assumed_kind("In 1808.", Passages(["The museum opened in 1808."]))
    'no question: taken as an answer to a question, because the answer has fewer than 40 words'
    """
    if passages.record is not None or passages.question.strip():
        return None
    if _is_summary(answer, passages):
        reason = f"there is one context, of {SOURCE_WORDS} words or more"
        return f"no question: taken as a summary, because {reason}"
    if len(answer.split()) < SUMMARY_WORDS:
        reason = f"the answer has fewer than {SUMMARY_WORDS} words"
    elif len(passages.chunks) > 1:
        reason = "there are several contexts"
    else:
        reason = f"the context has fewer than {SOURCE_WORDS} words"
    return f"no question: taken as an answer to a question, because {reason}"


def _is_summary(answer: str, passages: Passages) -> bool:
    """Whether a text without a question looks like the summary of one document."""
    if len(passages.chunks) != 1 or len(answer.split()) < SUMMARY_WORDS:
        return False
    return sum(len(line.stems) for line in passages.lines) >= SOURCE_WORDS
