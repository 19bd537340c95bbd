"""A trace: one answered question, whatever dialect it was written in."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class StructuredAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer given as fields rather than as text."""

    claim: str | None = None
    citations: tuple[str, ...] | None = None
    constraints_echo: tuple[str, ...] | None = None
    constraint_lock: str | None = None


class Trace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of the system under test, as all dialects are read into."""

    qid: str | None = None
    q: str | None = None
    answer: str | None = None
    """The text as the system gave it; None where the answer came as fields."""
    answer_json: StructuredAnswer | None = None
    citations: tuple[str, ...] | None = None
    """Ids given in a field of their own; None means there was no such field, () that it was []."""
    retrieved_ids: tuple[str, ...] | None = None
    """Best first; None where the trace does not tell."""
    status: Literal["ok", "error"] = "ok"
    error: str | None = None
    ok: bool | None = None
    reason: str | None = None
    ts: float | str | None = None
    schema_version: int | None = None
    run_id: str | None = None
    seed: int | None = None
    temperature: float | None = None
    jitter: str | None = None
    paraphrase: int | str | None = None
    repeat: int | None = None
    """Which time the same was asked; absent is the first."""
    question_sent: str | None = None
    latency_ms: float | None = None
    stage_ms: dict[str, float] | None = None
    attempt: int | None = None
    retrieved: tuple[dict[str, Any], ...] | None = None
    """The citation payloads of what was retrieved, best first."""
    segments: tuple[dict[str, Any], ...] | None = None
    cited: tuple[dict[str, Any], ...] | None = None
    """The citations whole, where a system gave more of them than ids."""
    constraints_echo: tuple[str, ...] | None = None
    """The locked constraints as the answer repeats them, where they are not in `answer_json`."""
    constraint_lock: str | None = None
    usage: dict[str, Any] | None = None
    labels: dict[str, Any] | None = None
    extra: dict[str, Any] = {}
