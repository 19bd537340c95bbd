"""Attributes of spans in the conventions there are: OpenInference, OpenTelemetry GenAI and others.

Each convention names the same things in its own way, and instrumentations of every age are in
use, so all names are tried on every span. A key such as `retrieval.documents.0.document.id` is a
path: attributes become a tree first, whether they were written flat or nested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragauge.ingest.envelopes.payloads import (
    Document,
    Message,
    Text,
    answer_in,
    decoded,
    document_of,
    documents_in,
    message_of,
    messages_in,
    question_in,
)
from ragauge.ingest.envelopes.spans import Kind, Span, labelled

REDACTED = "__REDACTED__"
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("llm", "chat", "text_completion", "generate_content", "generation"), "llm"),
    **dict.fromkeys(("chat_model", "completion"), "llm"),
    **dict.fromkeys(("retriever", "retrieval"), "retriever"),
    **dict.fromkeys(("reranker", "rerank"), "reranker"),
    **dict.fromkeys(("tool", "execute_tool", "function"), "tool"),
    **dict.fromkeys(("embedding", "embeddings"), "embedding"),
    **dict.fromkeys(("chain", "agent", "workflow", "task", "invoke_agent", "record_root"), "chain"),
    **dict.fromkeys(("invoke_workflow", "create_agent", "query_engine"), "chain"),
}


def kind_of(*names: Any) -> Kind:
    """The kind of a span by the first of these names that tells it.

    >>> kind_of(None, "RETRIEVER"), kind_of("SPAN_KIND_INTERNAL")
    ('retriever', 'other')
    """
    known = (_KINDS.get(name.lower()) for name in names if isinstance(name, str))
    return next((kind for kind in known if kind), "other")


def tree_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes whose keys are paths as objects within objects.

    >>> tree_of({"a.0.b": 1, "a.1.b": 2, "c": {"d.e": 3}})
    {'a': {'0': {'b': 1}, '1': {'b': 2}}, 'c': {'d': {'e': 3}}}
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if value is None:
            continue
        node, *path = tree, *str(key).split(".")
        for name in path[:-1]:
            held = node.get(name)
            if not isinstance(held, dict):
                held = node[name] = {} if held is None else {"": held}
            node = held
        node[path[-1]] = tree_of(value) if isinstance(value, Mapping) else value
    return tree


def at(tree: Mapping[str, Any], path: str) -> Any:
    """What is at a path of a tree; None where nothing is."""
    node: Any = tree
    for name in path.split("."):
        if not isinstance(node, Mapping):
            return None
        node = node.get(name)
    return node


def first_at(tree: Mapping[str, Any], *paths: str) -> tuple[Any, str]:
    """The first value at one of these paths, and its path; None and nothing where there is none."""
    found = ((at(tree, path), path) for path in paths)
    return next(((value, path) for value, path in found if value not in (None, "")), (None, ""))


def items(value: Any) -> list[Any]:
    """A list that was flattened into numbered keys, or written as JSON, or as it is."""
    value = decoded(value)
    if isinstance(value, Mapping):
        numbered = [(int(key), one) for key, one in value.items() if str(key).isdigit()]
        return [one for _, one in sorted(numbered, key=lambda pair: pair[0])]
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def span_of(
    attributes: Mapping[str, Any],
    *,
    trace: str,
    id: str,
    parent: str | None,
    name: str = "",
    start_ms: float | None = None,
    end_ms: float | None = None,
    error: str | None = None,
    events: Iterable[tuple[str, Mapping[str, Any]]] = (),
) -> Span:
    """One span under our names; `events` are names with their attributes."""
    tree = tree_of(attributes)
    sent, replied = _messages(tree)
    for event, given in events:
        inner = tree_of(given)
        error = error or at(inner, "exception.message")
        more_sent, more_replied = _event_messages(event, inner)
        sent, replied = [*sent, *more_sent], [*replied, *more_replied]
    operation = at(tree, "gen_ai.operation")
    kind = kind_of(
        at(tree, "openinference.span.kind"),
        operation.get("name") if isinstance(operation, Mapping) else operation,
        decoded_text(at(tree, "mlflow.spanType")),
        at(tree, "ai.observability.span_type"),
        at(tree, "traceloop.span.kind"),
        at(tree, "langfuse.observation.type"),
    )
    if kind == "other" and (sent or replied):
        kind = "llm"
    documents, where = _documents(tree, kind)
    if documents is not None and kind == "other":
        kind = "retriever"
    found = _texts(tree)
    question = _taken(found, QUESTIONS, question_in) or _said(sent, "user")
    answer = _taken(found, ANSWERS, answer_in) or _said(replied, "assistant")
    hidden = any(value == REDACTED for value, _ in found.values())
    return Span(
        trace=trace,
        id=id,
        parent=parent,
        name=name,
        kind=kind,
        start_ms=start_ms,
        end_ms=end_ms,
        question=None if question and question.text == REDACTED else question,
        answer=None if answer and answer.text == REDACTED else answer,
        documents=documents,
        documents_path=where,
        sent=sent,
        replied=replied,
        reference=_text(
            first_at(tree, "ai.observability.record_root.ground_truth_output", "reference")[0]
        ),
        usage=_usage(tree),
        error=error
        or _text(first_at(tree, "ai.observability.record_root.error", "error.message")[0])
        or _text(at(tree, "error.type")),
        conversation=_text(
            first_at(
                tree,
                *("session.id", "gen_ai.conversation.id", "langfuse.session.id"),
                *("mlflow.trace.session", "traceloop.association.properties.session_id"),
            )[0]
        ),
        labels=labelled(
            {
                "model": first_at(
                    tree,
                    *("gen_ai.request.model", "llm.model_name", "gen_ai.response.model"),
                    *("mlflow.llm.model", "ai.observability.cost.model"),
                )[0]
            }
        ),
        captured=not hidden and (kind != "llm" or bool(answer) or bool(error)),
    )


QUESTIONS = (
    *("ai.observability.record_root.input", "input.value", "mlflow.spanInputs"),
    *("traceloop.entity.input", "langfuse.observation.input", "langfuse.trace.input"),
    *("gen_ai.retrieval.query.text", "ai.prompt", "input"),
)
ANSWERS = (
    *("ai.observability.record_root.output", "output.value", "mlflow.spanOutputs"),
    *("traceloop.entity.output", "langfuse.observation.output", "langfuse.trace.output"),
    *("ai.response.text", "output"),
)
_DOCUMENTS = (
    *("reranker.output_documents", "retrieval.documents", "gen_ai.retrieval.documents"),
    "ai.observability.retrieval.retrieved_contexts",
)


def _texts(tree: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    found = ((path, at(tree, path)) for path in (*QUESTIONS, *ANSWERS))
    return {
        path: (value, path)
        for path, value in found
        if value not in (None, "") and not (isinstance(value, Mapping) and "value" in value)
    }


def _taken(found: Mapping[str, tuple[Any, str]], paths: Iterable[str], read: Any) -> Text | None:
    for path in paths:
        if path in found and (text := read(found[path][0])) is not None:
            return Text(text.text, f"{path}{f'[$.{text.path}]' if text.path else ''}")
    return None


def _said(messages: Sequence[Message], role: str) -> Text | None:
    texts = [one.text for one in messages if one.role == role and one.text.strip()]
    return Text(texts[-1], f"last {role} message") if texts else None


def _documents(tree: Mapping[str, Any], kind: Kind) -> tuple[tuple[Document, ...] | None, str]:
    for path in _DOCUMENTS:
        held = at(tree, path)
        if held is not None:
            listed = items(held)
            made = (tree_of(one) if isinstance(one, Mapping) else {"text": one} for one in listed)
            return tuple(document_of(one) for one in made), f"{path}.*.document"
    if kind in ("retriever", "reranker"):
        for path in ANSWERS:
            if (found := documents_in(at(tree, path))) is not None:
                return found, path
    return None, ""


def _messages(tree: Mapping[str, Any]) -> tuple[list[Message], list[Message]]:
    """What was sent to a model and what it replied, in the first convention that has it."""
    sent = _first_messages(
        tree,
        *("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "llm.prompts"),
        role="user",
    )
    replied = _first_messages(
        tree,
        *("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion"),
        role="assistant",
    )
    return sent, replied


def _first_messages(tree: Mapping[str, Any], *paths: str, role: str) -> list[Message]:
    for path in paths:
        held = decoded(at(tree, path))
        if held in (None, "", REDACTED):
            continue
        if isinstance(held, str):
            return [Message(role, held)]
        if isinstance(held, Mapping) and not any(str(key).isdigit() for key in held):
            text = held.get("text") or held.get("content")
            one = message_of({"role": role, **held})
            return [Message(role, text)] if isinstance(text, str) else [one] if one else []
        found = []
        for one in items(held):
            inner = one.get("message", one) if isinstance(one, Mapping) else one
            message = message_of(_plain_message(inner)) if isinstance(inner, Mapping) else None
            if message is not None:
                found.append(message)
        return found or messages_in(held)
    return []


def _plain_message(flat: Mapping[str, Any]) -> dict[str, Any]:
    """A message of OpenInference whose contents and tool calls were flattened."""
    message = dict(flat)
    if contents := items(message.pop("contents", None)):
        message["content"] = [
            {"type": "text", "text": at(one, "message_content.text")}
            for one in contents
            if isinstance(one, Mapping) and at(one, "message_content.text")
        ]
    if isinstance(calls := message.get("tool_calls"), Mapping):
        message["tool_calls"] = items(calls)
    for name in ("content", "parts"):
        if isinstance(held := message.get(name), str):
            message[name] = decoded(held) if name == "parts" else held
    return message


def _event_messages(name: str, tree: Mapping[str, Any]) -> tuple[list[Message], list[Message]]:
    """Messages that conventions up to 1.36 kept in events, one each."""
    if name in ("gen_ai.content.prompt", "gen_ai.client.inference.operation.details"):
        return _messages(tree)
    if name == "gen_ai.content.completion":
        return _messages(tree)
    body = decoded(tree.get("body")) or tree
    body = body if isinstance(body, Mapping) else {}
    for role in ("user", "system", "assistant", "tool"):
        if name == f"gen_ai.{role}.message":
            text = body.get("content")
            return ([Message(role, text)], []) if isinstance(text, str) else ([], [])
    if name == "gen_ai.choice":
        inner = decoded(body.get("message"))
        text = inner.get("content") if isinstance(inner, Mapping) else inner or body.get("content")
        return ([], [Message("assistant", text)]) if isinstance(text, str) else ([], [])
    return [], []


_MEASURES = {
    "input_tokens": (
        *("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens"),
        "ai.observability.cost.num_prompt_tokens",
    ),
    "output_tokens": (
        *("gen_ai.usage.output_tokens", "llm.token_count.completion"),
        *("gen_ai.usage.completion_tokens", "ai.observability.cost.num_completion_tokens"),
    ),
    "total_tokens": (
        *("llm.token_count.total", "llm.usage.total_tokens", "gen_ai.usage.total_tokens"),
        "ai.observability.cost.num_tokens",
    ),
    "cost": ("llm.cost.total", "gen_ai.usage.cost", "ai.observability.cost.cost"),
}


def _usage(tree: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for name, paths in _MEASURES.items():
        value = first_at(tree, *paths)[0]
        value = value.get("") if isinstance(value, Mapping) else value
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = value
    chat = decoded(at(tree, "mlflow.chat.tokenUsage"))
    for name, value in chat.items() if isinstance(chat, Mapping) and not found else ():
        if name in _MEASURES and isinstance(value, int | float):
            found[name] = value
    return found


def decoded_text(value: Any) -> Any:
    """A text that was itself written as JSON, as MLflow writes every attribute.

    >>> decoded_text('"RETRIEVER"'), decoded_text("RETRIEVER")
    ('RETRIEVER', 'RETRIEVER')
    """
    is_json = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return decoded(f"[{value}]")[0] if is_json else value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
