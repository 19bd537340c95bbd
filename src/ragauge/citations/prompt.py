"""The prompt contract: what a model is told, so that its citations can be audited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ragauge.contracts.citation import AuditableAnswer, ModelCitation, Offsets
from ragauge.contracts.gold import DEFAULT_TOKEN
from ragauge.errors import UsageError

_ANNOTATIONS = ("$defs", "title", "description", "default")
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
}
_NOTES = {
    "offsets": "start is before end",
    "quote": "words of the snippet that carry the answer, unchanged",
}
_MEANINGS = {
    "citations": "One for each snippet that the answer rests on. A citation has:",
    "answer": "What the cited snippets say, and nothing else.",
    "segments": "The answer in parts, in order. A segment has:",
}
_CITED = ModelCitation(
    snippet_id="hb24-sec-keys-0007",
    section_id="policies/security/keys",
    source_url="https://example.org/handbook#security-keys",
    offsets=Offsets(start=2310, end=2688, unit="char"),
    tokens=188,
    quote="Keys are changed every 90 days.",
)
_SAID = "Keys are changed every 90 days."


def prompt_contract(
    *,
    allow_cross_section: bool = False,
    segments: bool = False,
    refusal: str = DEFAULT_TOKEN,
) -> str:
    """The text for a system prompt: cite first, cite what was shown, refuse in one form.

    Fields and their kinds come from the schema of the reply. `segments` asks for an answer in
    parts, each with citations of its own.
    """
    if not refusal.strip():
        raise UsageError("refusal: is blank; give the words that refuse, such as: not in context")
    schema = answer_schema(segments=segments)
    refused: dict[str, Any] = {"citations": [], "answer": refusal}
    cited = [msgspec.to_builtins(_CITED)]
    example: dict[str, Any] = {"citations": cited, "answer": _SAID}
    if segments:
        refused["segments"] = []
        example["segments"] = [{"citations": cited, "text": _SAID}]
    rules = _rules(allow_cross_section, segments, _json(refused))
    return "\n".join(
        [
            "Answer only from the snippets you are shown. Reply with one JSON object and no other "
            "text. Write its keys in this order:",
            "",
            *_described(schema),
            "",
            "Rules:",
            *(f"{number}. {rule}" for number, rule in enumerate(rules, 1)),
            "",
            "An example of the form; its ids are not yours:",
            _json(example),
            "",
            "The JSON Schema of a reply that is no error:",
            _json(schema),
        ]
    )


def answer_schema(*, segments: bool = False) -> dict[str, Any]:
    """The JSON Schema of the reply, in one piece; wherever there are citations they stand first."""
    made = msgspec.json.schema(AuditableAnswer)
    schema: dict[str, Any] = _inlined(made, made["$defs"])
    if segments:
        schema["required"] = [*schema["required"], "segments"]
    else:
        del schema["properties"]["segments"]
    return schema


def _rules(allow_cross_section: bool, segments: bool, refused: str) -> Iterator[str]:
    whole = "segment" if segments else "answer"
    yield "Choose the citations first, then write the answer from them. No answer without one."
    yield (
        "Cite only snippets you are shown, and copy their fields letter for letter. Never make up "
        "an id."
    )
    if allow_cross_section:
        yield f"The citations of one {whole} may come from several sections."
    elif segments:
        yield (
            "All citations of one segment have the same section_id. Begin a new segment for "
            "another section."
        )
    else:
        yield "All citations have the same section_id. Do not draw on a second section."
    yield f"If the snippets do not hold the answer, reply exactly: {refused}"
    asked = _json({"error": "what is wrong", "field": "its name", "tip": "what would help"})
    yield f"If you cannot fill a field, do not guess it. Reply instead: {asked}"


def _described(schema: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key of the reply, and below it one for each field of its members."""
    known: list[Any] = []
    for name, part in schema["properties"].items():
        yield f'"{name}": {_kind(part)}. {_MEANINGS.get(name, "")}'.rstrip()
        if "properties" in part.get("items", {}):
            members = part["items"]
            for field, kind in members["properties"].items():
                words = f"{_kind(kind)}, as above" if kind in known else _kind(kind)
                optional = "" if field in members.get("required", ()) else ", or leave it out"
                note = f" ({_NOTES[field]})" if field in _NOTES else ""
                yield f"- {field}: {words}{optional}{note}"
            known.append(part)


def _kind(part: Mapping[str, Any]) -> str:
    """What a value is, in a reader's words.

    >>> _kind({"type": "integer", "minimum": 0})
    'whole number, 0 or more'
    """
    if "enum" in part:
        return " or ".join(f'"{value}"' for value in part["enum"])
    if "anyOf" in part:
        return " or ".join(map(_kind, part["anyOf"]))
    if "items" in part:
        of = part["items"]
        return "list" if "properties" in of else f"list of {_kind(of)}"
    if "properties" in part:
        fields = part["properties"].items()
        return f"object of {'; '.join(f'{name}: {_kind(kind)}' for name, kind in fields)}"
    least = f", {part['minimum']} or more" if "minimum" in part else ""
    return _KINDS.get(part.get("type", ""), "anything") + least


def _inlined(part: Any, parts: Mapping[str, Any]) -> Any:
    """The schema with what it refers to in its place, and without titles and the like."""
    if isinstance(part, list):
        return [_inlined(member, parts) for member in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(parts[part["$ref"].rpartition("/")[2]], parts)
    plain = {}
    for word, value in part.items():
        if word == "properties":
            # A model that is held to a schema writes keys in its order.
            order = sorted(value, key=lambda name: name != "citations")
            plain[word] = {name: _inlined(value[name], parts) for name in order}
        elif word not in _ANNOTATIONS:
            plain[word] = _inlined(value, parts)
    return plain


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
