"""Findings in words: place and fact on one line."""

from __future__ import annotations

import json
from typing import Any

from ragauge.contracts.audit import CitationFinding

_NOTHING = {"cite_after_answer": "only after the answer", "empty_citations": "none"}
_TOLD = ("span_text_mismatch", "out_of_range")
"""Codes whose expectation is a sentence: where the text really stands."""


def place_of(finding: CitationFinding) -> str:
    """Where in the answer it was found, as a path into the reply.

    >>> place_of(CitationFinding(code="missing_rev", field="rev", item=2, segment=0))
    'segments[0].citations[2].rev'
    """
    segment = "" if finding.segment is None else f"segments[{finding.segment}]."
    if finding.item is not None:
        field = f".{finding.field}" if finding.field else ""
        return f"{segment}citations[{finding.item}]{field}"
    return segment + (finding.field or "answer")


def fact_of(finding: CitationFinding) -> str:
    """What was found there, and what should have been.

    >>> fact_of(CitationFinding(code="mismatch_index_hash", got="2f7d", expected="8c01"))
    '"2f7d", expected "8c01"'
    """
    code, got, expected = finding.code, finding.got, finding.expected
    if got is None:
        wanted = f", expected {expected}" if expected else ""
        return f"{_NOTHING.get(code, 'missing')}{wanted}"
    if expected is None:
        return _quoted(got)
    if code == "misattributed":
        return f"not in the cited {got}: {expected}"
    if code in _TOLD:
        return f"{_quoted(got)}; {expected}"
    same_kind = "mismatch" in code
    return f"{_quoted(got)}, expected {_quoted(expected) if same_kind else expected}"


def message_of(finding: CitationFinding) -> str:
    return f"{place_of(finding)}: {fact_of(finding)}"


def _quoted(value: Any) -> str:
    """An id in quotes; a sentence, and whatever is no text, as it is."""
    if isinstance(value, str) and " " in value:
        return value
    return json.dumps(value, ensure_ascii=False)
