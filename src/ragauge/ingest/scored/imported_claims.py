"""Claims with their verdicts that another tool has found, as a row holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.ingest.fields import BadField, expected, quoted, text
from ragauge.ingest.strict_json import BadJson, decode

JUDGE = "imported"
_OF_A_CLAIM = ("text", "chunks", "other")
_SIDES = ("answer", "reference")


def claims_of(value: Any, contexts: int | None) -> AnswerClaims | None:
    """The claims of a row, None where it has none; raises BadField for what is wrong first.

    `contexts` is how many passages the row has: every claim that was held against them has a
    verdict for each.

    >>> found = claims_of({"answer": [{"text": "It is red.", "chunks": [True], "other": None}]}, 1)
    >>> found.answer[0].chunks, found.reference
    ((True,), None)
    """
    told = _decoded(value)
    if told is None:
        return None
    if not isinstance(told, Mapping):
        raise BadField("claims", expected("an object with answer and reference", told))
    _refuse_unknown(told, _SIDES, "claims", "claims have answer and reference")
    answer, reference = (_side(told.get(side), f"claims.{side}") for side in _SIDES)
    claims = (*(answer or ()), *(reference or ()))
    lengths = {len(claim.chunks) for claim in claims if claim.chunks}
    chunks = contexts if contexts is not None else max(lengths, default=None)
    wrong = sorted(lengths - {chunks})
    if wrong:
        fact = f"a claim has {wrong[0]} verdicts in chunks, and there are {chunks} contexts"
        raise BadField("claims", f"{fact}; give one for each, null where it is not known")
    return AnswerClaims(judge=JUDGE, chunks=chunks, answer=answer, reference=reference)


def _decoded(value: Any) -> Any:
    """Claims as they are, or as the text of a table's cell."""
    if not isinstance(value, str):
        return value
    try:
        return decode(value.encode()) if value.strip() else None
    except (BadJson, UnicodeEncodeError) as fault:
        raise BadField("claims", str(fault)) from None


def _side(value: Any, field: str) -> tuple[Claim, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise BadField(field, expected("a list of claims", value))
    return tuple(_claim(one, f"{field}[{place}]") for place, one in enumerate(value))


def _claim(value: Any, field: str) -> Claim:
    if not isinstance(value, Mapping):
        raise BadField(field, expected("an object with text, chunks and other", value))
    _refuse_unknown(value, _OF_A_CLAIM, field, "a claim has text, chunks and other")
    chunks = value.get("chunks")
    if not isinstance(chunks, list | None):
        raise BadField(f"{field}.chunks", expected("a list of true, false or null", chunks))
    return Claim(
        text=text(value.get("text"), f"{field}.text"),
        chunks=tuple(_verdict(one, f"{field}.chunks[{at}]") for at, one in enumerate(chunks or ())),
        other=_verdict(value.get("other"), f"{field}.other"),
    )


def _verdict(value: Any, field: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise BadField(field, expected("true, false or null", value))


def _refuse_unknown(told: Mapping[str, Any], known: tuple[str, ...], field: str, fact: str) -> None:
    unknown = [key for key in told if key not in known]
    if unknown:
        raise BadField(field, f"{quoted(str(unknown[0]))} is not known; {fact}")
