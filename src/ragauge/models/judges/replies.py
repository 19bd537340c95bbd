"""What a chat endpoint replied, read as data and checked against the JSON Schema of its call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.citations.json_in_text import BrokenObject, complete_object, objects_in
from ragauge.contracts.judge import JudgeCall
from ragauge.contracts.system import CallFailed
from ragauge.models.judges.budget import Tokens
from ragauge.text.visible import one_line

_KEYWORDS = {
    *("additionalProperties", "description", "enum", "items", "maxItems", "maximum"),
    *("minItems", "minimum", "properties", "required", "title", "type"),
}
_VALUE_SHOWN = 60


def faults(value: Any, schema: dict[str, Any], place: str = "$") -> Iterator[str]:
    """What keeps the value from fitting, each with its place; nothing where it fits.

    >>> wanted = {"type": "object", "properties": {"score": {"type": "integer", "maximum": 5}}}
    >>> list(faults({"score": 7}, wanted))
    ['$.score: 7 is more than 5']
    """
    unknown = sorted(schema.keys() - _KEYWORDS)
    if unknown:  # it would let everything pass; that is a fault of the prompt
        raise ValueError(f"the schema says {unknown[0]}, which is not checked; leave it out")
    allowed = schema.get("type", list(_KINDS))
    kinds = allowed if isinstance(allowed, list) else [allowed]
    if not any(_KINDS[kind](value) for kind in kinds):
        yield f"{place}: {_shown(value)} is not of type {' or '.join(kinds)}"
        return
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        choices = ", ".join(map(_shown, schema["enum"]))
        yield f"{place}: {_shown(value)} is none of {choices}"
    if _is_number(value):
        if "minimum" in schema and value < schema["minimum"]:
            yield f"{place}: {_shown(value)} is less than {schema['minimum']}"
        if "maximum" in schema and value > schema["maximum"]:
            yield f"{place}: {_shown(value)} is more than {schema['maximum']}"
    elif type(value) is list:
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if len(value) < least:
            yield f"{place}: has {len(value)} members, and at least {least} are wanted"
        if len(value) > most:
            yield f"{place}: has {len(value)} members, and at most {most} are wanted"
        for at, member in enumerate(value):
            yield from faults(member, schema.get("items", {}), f"{place}[{at}]")
    elif type(value) is dict:
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{place}: {name} is missing"
        for name, member in value.items():
            if name in known:
                yield from faults(member, known[name], f"{place}.{name}")
            elif others is False:
                yield f"{place}: {_shown(name)} is not wanted"
            elif isinstance(others, dict):
                yield from faults(member, others, f"{place}.{name}")


def without_others(value: Any, schema: dict[str, Any]) -> Any:
    """The value less the members that its schema does not want, at every depth.

    >>> wanted = {"properties": {"score": {"type": "integer"}}, "additionalProperties": False}
    >>> without_others({"score": 4, "confidence": "high"}, wanted)
    {'score': 4}
    """
    if type(value) is list:
        return [without_others(member, schema.get("items", {})) for member in value]
    if type(value) is not dict:
        return value
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    beside = others if isinstance(others, dict) else {}
    return {
        name: without_others(member, known.get(name, beside))
        for name, member in value.items()
        if name in known or others is not False
    }


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _same(value: Any, choice: Any) -> bool:
    """Whether two values are the same JSON; true is no 1, but 1.0 is."""
    if _is_number(value) and _is_number(choice):
        return bool(value == choice)
    return type(value) is type(choice) and _written(value) == _written(choice)


def _shown(value: Any) -> str:
    return one_line(_written(value).decode(), _VALUE_SHOWN)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "array": lambda value: type(value) is list,
    "boolean": lambda value: type(value) is bool,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "null": lambda value: value is None,
    "number": _is_number,
    "object": lambda value: type(value) is dict,
    "string": lambda value: type(value) is str,
}


_SHOWN = 200
_FAULTS_SHOWN = 400
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
"""What some models write before they reply; they may try out objects there."""


class _Message(Struct):
    content: Any = None
    refusal: str | None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class _Reply(Struct):
    choices: list[_Choice]
    usage: Any = None


class Completion(Struct, frozen=True, kw_only=True):
    """One reply of a chat endpoint, in the parts we use."""

    text: str
    finish: str | None = None
    refusal: str | None = None
    tokens: Tokens | None = None
    """As the endpoint counts them; None where it does not tell."""
    logprob: float | None = None


class Unusable(Struct, frozen=True):
    """A reply with no object in it that can be taken for the verdict, and why."""

    faults: list[str]


def completion_of(reply: Any) -> Completion:
    """The parts of a decoded reply; raises CallFailed where it is no chat completion."""
    try:
        found = msgspec.convert(reply, _Reply)
        choice = found.choices[0]
    except (msgspec.ValidationError, IndexError):
        fact = "the reply is no chat completion"
        error = reply.get("error") if isinstance(reply, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        if isinstance(message, str):
            fact = f"{fact}; it says: {one_line(message, _SHOWN)}"
        raise CallFailed("bad_reply", fact, again=True) from None
    content = choice.message.content  # it may come in parts
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    counts = found.usage if isinstance(found.usage, dict) else {}
    prompt, completion = counts.get("prompt_tokens"), counts.get("completion_tokens")
    tokens = None
    if type(prompt) is int and type(completion) is int and min(prompt, completion) >= 0:
        tokens = Tokens(prompt, completion)
    return Completion(
        text="".join(text for text in texts if isinstance(text, str)),
        finish=choice.finish_reason,
        refusal=choice.message.refusal,
        tokens=tokens,
        logprob=_mean_logprob(choice.logprobs),
    )


def verdict_in(said: Completion, call: JudgeCall) -> dict[str, Any] | Unusable:
    """The one object of a reply that fits the call's schema; raises CallFailed for a refusal.

    It may stand alone, in a fence or among prose. Members that nobody asked for are left out:
    endpoints that take no schema add some. Two objects that fit and differ leave open which is
    meant: one may be quoted from what is judged. A reply that was cut is not asked for again.
    """
    if said.refusal or said.finish == "content_filter":
        words = one_line(said.refusal or "", _SHOWN) or "the endpoint's filter withheld the reply"
        raise CallFailed("refusal", words)
    found = _found_in(said.text, call.schema)
    if isinstance(found, Unusable) and said.finish == "length":
        raise CallFailed("cut_off", f"the reply is longer than {call.max_tokens:,} tokens")
    return found


def unusable(found: Unusable) -> CallFailed:
    return CallFailed("bad_reply", one_line("; ".join(found.faults), _FAULTS_SHOWN))


def _found_in(text: str, schema: dict[str, Any]) -> dict[str, Any] | Unusable:
    said = _THOUGHTS.sub("", text).strip()
    alone = complete_object(said)
    objects: list[Any] = [alone] if alone is not None else []
    if alone is None:
        for found in objects_in(said):
            if isinstance(found, BrokenObject):
                return Unusable([found.why(said)])
            objects.append(found.value)
    if not objects:
        return Unusable(["there is no JSON object in it" if said else "it is empty"])
    wanted = [without_others(one, schema) for one in objects]
    fitting = [one for one in wanted if not any(faults(one, schema))]
    if not fitting:
        return Unusable(list(faults(objects[-1], schema)))
    if any(_written(one) != _written(fitting[0]) for one in fitting):
        return Unusable([f"{len(fitting)} objects in it fit the schema, and they differ"])
    return dict(fitting[0])


def _written(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _mean_logprob(told: Any) -> float | None:
    """The mean of the tokens' log-probabilities; None where one of them is not told."""
    tokens = told.get("content") if isinstance(told, dict) else None
    if not isinstance(tokens, list) or not tokens:
        return None
    found = [token.get("logprob") if isinstance(token, dict) else None for token in tokens]
    numbers = [one for one in found if isinstance(one, int | float) and math.isfinite(one)]
    return math.fsum(numbers) / len(numbers) if len(numbers) == len(found) else None
