"""Texts in payloads of any shape: the question, the answer, the passages, and where they were.

Tracing tools record what a function was called with and what it gave back. Each framework has its
own names for the question in there; they are tried in the order of these tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ragauge.ingest.written_lists import IDS, text_of

QUESTION_KEYS = (
    *("question", "query", "user_input", "user_query", "input", "prompt", "q", "user_message"),
    *("message", "search_query", "query_str", "inputs", "request", "args", "kwargs", "text"),
)
ANSWER_KEYS = (
    *("answer", "response", "output", "result", "generated_answer", "completion", "output_text"),
    *("generations", "choices", "replies", "message", "content", "text", "outputs", "return"),
)
DOCUMENT_KEYS = (
    *("documents", "source_documents", "source_nodes", "nodes", "contexts", "context"),
    *("retrieved_contexts", "retrieved_documents", "chunks", "passages", "results", "matches"),
    *("hits", "output", "outputs", "result"),
)
MESSAGE_KEYS = ("messages", "chat_history", "history", "conversation", "turns")
SCORES = ("score", "relevance_score", "similarity", "_score", "relevance")
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "bot": "assistant"}
DEEP = 6
"""Objects within objects that are looked into."""


class Text(NamedTuple):
    """A text and the path that led to it in its payload; the path is empty for a bare text."""

    text: str
    path: str = ""


class Message(NamedTuple):
    """One message of a conversation as it was sent."""

    role: str
    text: str
    tool_calls: tuple[tuple[str, Any], ...] = ()
    """Names and arguments of the tools that it calls."""
    citations: tuple[str, ...] = ()
    """Ids or addresses that its annotations name."""


class Document(NamedTuple):
    """One retrieved passage; its text is None where only its id was recorded."""

    id: str | None
    text: str | None
    score: float | None = None


def decoded(value: Any) -> Any:
    """The object that a text of JSON holds; any other value as it is.

    >>> decoded('{"a": 1}'), decoded("[not json"), decoded("7")
    ({'a': 1}, '[not json', '7')
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def question_in(payload: Any) -> Text | None:
    """The question in what a system was called with: of a conversation the last user message.

    >>> question_in({"inputs": {"question": "Who?"}})
    Text(text='Who?', path='inputs.question')
    >>> question_in([{"role": "user", "content": "Who?"}]).text
    'Who?'
    """
    return _text_in(payload, QUESTION_KEYS, ("user",), DEEP)


def answer_in(payload: Any) -> Text | None:
    """The answer in what a system gave back: of several messages the last of the assistant.

    >>> answer_in({"choices": [{"message": {"role": "assistant", "content": "Me."}}]})
    Text(text='Me.', path='choices.last assistant message')
    """
    return _text_in(payload, ANSWER_KEYS, ("assistant", ""), DEEP)


def _text_in(payload: Any, keys: Sequence[str], roles: Sequence[str], deep: int) -> Text | None:
    payload = decoded(payload)
    if isinstance(payload, str):
        return Text(payload) if payload.strip() else None
    if deep == 0 or payload is None:
        return None
    if found := _last_message(payload, roles):
        return found
    if isinstance(payload, Mapping):
        names = {str(key).lower(): key for key in payload}
        for key in (*keys, *MESSAGE_KEYS):
            if key in names and (found := _text_in(payload[names[key]], keys, roles, deep - 1)):
                return Text(found.text, _path(names[key], found.path))
        if len(payload) == 1:  # whatever its only key is called
            (name, value), *_ = payload.items()
            if found := _text_in(value, keys, roles, deep - 1):
                return Text(found.text, _path(name, found.path))
    elif isinstance(payload, Sequence):
        for place, one in enumerate(payload):
            if found := _text_in(one, keys, roles, deep - 1):
                return Text(found.text, _path(f"[{place}]", found.path))
    return None


def _path(name: Any, rest: str) -> str:
    return f"{name}{'' if not rest or rest.startswith('[') else '.'}{rest}"


def _last_message(payload: Any, roles: Sequence[str]) -> Text | None:
    """The text of the last message in one of these roles, where the payload is messages."""
    if isinstance(payload, Mapping):
        message = message_of(payload)
        return Text(message.text) if message and message.role in roles and message.text else None
    said = [one for one in messages_in(payload) if one.role in roles and one.text.strip()]
    return Text(said[-1].text, f"last {said[-1].role} message") if said else None


def messages_in(payload: Any) -> list[Message]:
    """The messages of a conversation, in any form that tools record; none of other lists."""
    payload = decoded(payload)
    if isinstance(payload, Mapping):
        held = next((payload[key] for key in MESSAGE_KEYS if payload.get(key)), None)
        return messages_in(held) if held is not None else []
    if not isinstance(payload, Sequence) or isinstance(payload, str):
        return []
    if len(payload) == 1 and isinstance(payload[0], Sequence):  # LangChain batches conversations
        return messages_in(payload[0])
    found = [message_of(one) for one in payload]
    return [one for one in found if one is not None] if all(found) else []


def message_of(value: Any) -> Message | None:
    """One message as OpenAI, OpenTelemetry, LangChain, ragas or Vercel write it; else None."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("kwargs") or value.get("data") or value.get("message")
    if isinstance(inner, Mapping) and ("content" in inner or "role" in inner):
        role = inner.get("type") or inner.get("role") or value.get("type")
        value = {**inner, "role": role if role != "constructor" else _class_role(value)}
    role = value.get("role") or value.get("type")
    if not isinstance(role, str) or not {"content", "parts", "tool_calls", "text"} & value.keys():
        return None
    role = _ROLES.get(role.lower(), role.lower())
    content = value.get("parts", value.get("content", value.get("text")))
    calls = [*_tool_calls(value)]
    if isinstance(content, Mapping):  # ragas nests text and tool calls
        calls += _tool_calls(content)
        content = content.get("text", content.get("content"))
    pieces = list(_pieces(content))
    calls += [call for part in pieces if (call := _called(part))]
    texts = (one if isinstance(one, str) else _part_text(one) for one in pieces)
    cited = [id for part in (value, *pieces) for id in _annotated(part)]
    return Message(
        role, "".join(text for text in texts if text), tuple(calls), tuple(dict.fromkeys(cited))
    )


def _class_role(value: Mapping[str, Any]) -> str:
    """The role that the name of a LangChain class tells."""
    named = value.get("id")
    name = str(named[-1]).lower() if isinstance(named, list) and named else ""
    for word, role in (("human", "user"), ("ai", "assistant"), ("system", "system")):
        if name.startswith(word):
            return role
    return "tool" if "tool" in name else ""


def _pieces(content: Any) -> Iterator[Any]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Sequence):
        yield from content


def _part_text(part: Any) -> str:
    """The text of a part of a message; of anything but text, such as a picture, nothing."""
    if not isinstance(part, Mapping) or part.get("type") not in (
        *(None, "text", "input_text", "output_text"),
    ):
        return ""
    text = part.get("text", part.get("content"))
    if isinstance(text, Mapping):
        text = text.get("value")
    return text if isinstance(text, str) else ""


def _tool_calls(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    calls = value.get("tool_calls") or value.get("toolCalls") or ()
    for call in calls if isinstance(calls, Sequence) and not isinstance(calls, str) else ():
        if found := _called(call):
            yield found


def _called(call: Any) -> tuple[str, Any] | None:
    """The name and the arguments of a tool call; None where it is none."""
    if not isinstance(call, Mapping):
        return None
    inner = call.get("function") or call.get("tool_call") or call
    inner = inner if isinstance(inner, Mapping) else call
    inner = inner["function"] if isinstance(inner.get("function"), Mapping) else inner
    name = inner.get("name")
    given = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
    is_call = given is not None or call.get("type") in ("tool_call", "tool_use", "function")
    return (name, decoded(given)) if isinstance(name, str) and is_call else None


def _annotated(part: Any) -> Iterator[str]:
    """What the annotations of an answer cite: ids of files, or addresses."""
    given = part.get("annotations") if isinstance(part, Mapping) else None
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, Mapping):
            continue
        inner = next((one[key] for key in ("file_citation", "url_citation") if key in one), one)
        keys = ("file_id", "url", "document_id", "id")
        named = (inner.get(key) for key in keys) if isinstance(inner, Mapping) else ()
        if id := next((name for name in named if isinstance(name, str) and name), None):
            yield id


def documents_in(payload: Any) -> tuple[Document, ...] | None:
    """The passages that a retriever gave back; None where the payload is no list of passages.

    >>> documents_in({"documents": [{"page_content": "a", "metadata": {"id": "p1"}, "score": 1}]})
    (Document(id='p1', text='a', score=1.0),)
    """
    return _documents_in(payload, DEEP)


def _documents_in(payload: Any, deep: int) -> tuple[Document, ...] | None:
    payload = decoded(payload)
    if isinstance(payload, Mapping):
        if text_of(payload) is not None and not any(key in payload for key in DOCUMENT_KEYS):
            return (document_of(payload),)
        names = {str(key).lower(): key for key in payload}
        held = [payload[names[key]] for key in DOCUMENT_KEYS if key in names] if deep else []
        found = (_documents_in(one, deep - 1) for one in held if not isinstance(one, str))
        return next((one for one in found if one is not None), None)
    if not isinstance(payload, Sequence) or isinstance(payload, str | bytes):
        return None
    if len(payload) == 1 and isinstance(payload[0], Sequence) and not isinstance(payload[0], str):
        return _documents_in(payload[0], deep - 1) if deep else None
    if not all(isinstance(one, str | Mapping) for one in payload):
        return None
    return tuple(
        Document(None, one) if isinstance(one, str) else document_of(one) for one in payload
    )


def document_of(passage: Mapping[str, Any]) -> Document:
    """A passage as LangChain, LlamaIndex, Haystack, a vector store or OpenTelemetry writes it."""
    held = (passage.get(key) for key in ("document", "node", "kwargs"))
    inside = next((one for one in held if isinstance(one, Mapping)), passage)
    text = text_of(inside)
    if text is None and isinstance(resource := inside.get("text_resource"), Mapping):
        text = resource.get("text")
    holders = (inside, passage, inside.get("metadata"), inside.get("meta"))
    named = (
        one[key]
        for one in map(decoded, holders)
        if isinstance(one, Mapping)
        for key in (*IDS, "doc_uri", "source")
        if isinstance(one.get(key), str | int) and one[key] != ""
    )
    id = next(named, None)
    scores = (one.get(key) for one in (passage, inside) for key in SCORES)
    score = next((one for one in scores if isinstance(one, int | float)), None)
    return Document(
        None if id is None else str(id),
        text if isinstance(text, str) else None,
        None if score is None else float(score),
    )
