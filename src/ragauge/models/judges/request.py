"""What a chat endpoint is sent for a call, in as much of the protocol as it takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragauge.contracts.judge import JudgeCall
from ragauge.contracts.system import CallFailed

Message = dict[str, str]

_FORM = "response_format"
_WAYS: dict[str, tuple[str | None, ...]] = {
    _FORM: ("json_schema", "json_object", None),
    "max_tokens": ("max_tokens", "max_completion_tokens", None),
    "logprobs": ("logprobs", None),
    "seed": ("seed", None),
    "temperature": ("temperature", None),
}
"""The ways to say each thing that an endpoint may refuse, the best first; None is to leave it
out."""
_NAMES = {_FORM: re.compile(r"response_format|json_schema|json_object|\bgrammar\b|\bschema\b")}
_TURNED_DOWN = frozenset({"http_400", "http_422"})
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64
_MARKS = re.compile(r"<|\[(?=/?[A-Z_]+\])")
"""What begins a mark that some chat templates take for the end of a message."""
_FAULTS_TOLD = 10

_encode = msgspec.json.Encoder(order="deterministic").encode


def call_key(call: JudgeCall, model: str, place: str) -> str:
    """The name of a reply by all that it depends on.

    Where the model is asked is a part of which model it is: each server has its own `default`.
    """
    content = (
        place,
        model,
        call.prompt,
        call.system,
        call.user,
        call.schema,
        call.seed,
        float(call.temperature),
        call.logprobs,
    )
    return hashlib.sha256(_encode(content)).hexdigest()


def as_data(fields: Mapping[str, Any]) -> str:
    r"""Foreign texts as they stand in a prompt: JSON, in which nothing can end its own quotes.

    The marks of chat templates are escaped too; for some servers they mean the same in any text.

    >>> print(as_data({"answer": 'So "it" is.<|im_end|>'}))
    {"answer":"So \"it\" is.\u003c|im_end|>"}
    """
    written = msgspec.json.encode(fields).decode()
    return _MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", written)


def messages_of(call: JudgeCall) -> list[Message]:
    """The messages of a call; the schema is told in words too, for not every endpoint uses it."""
    schema = _encode(call.schema).decode()
    wanted = f"Reply with one JSON object that fits this JSON Schema, and nothing else:\n{schema}"
    return [
        {"role": "system", "content": f"{call.system.rstrip()}\n\n{wanted}"},
        {"role": "user", "content": call.user},
    ]


def repair_of(messages: Sequence[Message], said: str, faults: Sequence[str]) -> list[Message]:
    """The messages that ask again after a reply that cannot be used."""
    told = "\n".join(f"- {fault}" for fault in faults[:_FAULTS_TOLD])
    return [
        *messages,
        {"role": "assistant", "content": said},
        {
            "role": "user",
            "content": f"Your reply cannot be used:\n{told}\n"
            "Reply again with one JSON object that fits the schema, and nothing else.",
        },
    ]


class Dialect:
    """What one endpoint takes of the protocol: all of it, less what it has refused."""

    def __init__(self, steps: Mapping[str, int] | None = None) -> None:
        self._steps = dict(steps or {})

    @property
    def left_out(self) -> list[str]:
        """What cannot be said to this endpoint at all."""
        return sorted(name for name in _WAYS if self._way(name) is None)

    def body(self, call: JudgeCall, model: str, messages: Sequence[Message]) -> dict[str, Any]:
        """The request of a call."""
        said = {
            _FORM: _form(self._way(_FORM), call),
            "max_tokens": call.max_tokens,
            "logprobs": call.logprobs or None,
            "seed": call.seed,
            "temperature": call.temperature,
        }
        body: dict[str, Any] = {"model": model, "messages": list(messages)}
        for name, value in said.items():
            way = self._way(name)
            if way is not None and value is not None:
                body[name if name == _FORM else way] = value
        return body

    def after(self, failed: CallFailed, body: Mapping[str, Any]) -> Dialect | None:
        """What is left when an endpoint turned down a request and named a part of it."""
        if failed.kind not in _TURNED_DOWN:
            return None
        for name in _WAYS:
            way = self._way(name)
            sent = way is not None and (name in body or way in body)
            words = _NAMES.get(name) or re.compile(rf"\b(?:{name}|{way})\b")
            if sent and words.search(failed.fact):
                return Dialect(self._steps | {name: self._steps.get(name, 0) + 1})
        return None

    def less(self, other: Dialect) -> Dialect:
        """What is left when both have been refused what they lack."""
        both = {name: max(self._steps.get(name, 0), other._steps.get(name, 0)) for name in _WAYS}
        return Dialect(both)

    def _way(self, name: str) -> str | None:
        return _WAYS[name][self._steps.get(name, 0)]


def _form(way: str | None, call: JudgeCall) -> dict[str, Any] | None:
    if way != "json_schema":
        return {"type": way} if way else None
    name = _NOT_A_NAME.sub("_", call.prompt)[:_LONGEST_NAME] or "reply"
    named = {"name": name, "strict": True, "schema": call.schema}
    return {"type": "json_schema", "json_schema": named}
