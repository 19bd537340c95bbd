"""What a row says of its answer besides: kind, label, strata, and whether there is one to find."""

from __future__ import annotations

import re
from typing import Any

from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.gold import stratum_text
from ragauge.ingest.fields import BadField, boolean, expected, kind, mapping, number, quoted, text

STRATA = (
    *("group", "source", "source_id", "model", "language", "question_type", "answer_type"),
    "task",
)
"""Fields that slice the rows, besides those under `strata`."""
_KINDS: dict[str, AnswerKind] = {
    "qa": "qa",
    "questionanswering": "qa",
    "summary": "summary",
    "summarization": "summary",
    "summarisation": "summary",
    "datatotext": "data_to_text",
    "data2text": "data_to_text",
    "data2txt": "data_to_text",
}


def kind_of(word: str) -> AnswerKind | None:
    """The kind of answer that a word names; None for any other word.

    >>> kind_of("QA"), kind_of("Data2txt"), kind_of("data-to-text"), kind_of("poem")
    ('qa', 'data_to_text', 'data_to_text', None)
    """
    return _KINDS.get(re.sub(r"[\W_]+", "", word).casefold())


def answerable_of_row(record: dict[str, Any]) -> bool | None:
    value = record.get("answerable")
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    return None if value is None else boolean(value, "answerable")


def kind_of_row(record: dict[str, Any]) -> AnswerKind | None:
    """The kind that a row names; another tool's `task` is taken for it where it can be."""
    value = record.get("kind")
    if value is None:
        task = record.get("task")
        return kind_of(task) if isinstance(task, str) else None
    found = kind_of(text(value, "kind"))
    if found is None:
        known = ", ".join(dict.fromkeys(_KINDS.values()))
        raise BadField("kind", f"{quoted(value)} is none of {known}")
    return found


def label_of_row(record: dict[str, Any]) -> float | None:
    value = record.get("label")
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise BadField("label", expected("a number from 0 to 1", value)) from None
    found = float(value) if isinstance(value, bool) else number(value, "label")
    if not 0 <= found <= 1:
        raise BadField("label", f"{found} is not from 0 to 1")
    return found


def strata_of_row(record: dict[str, Any]) -> dict[str, str]:
    own = {} if "strata" not in record else mapping(record["strata"], "strata")
    found = {}
    for name, value in {**_slices(record), **own}.items():
        if isinstance(value, list | dict):
            fact = f"expected text, a number or a boolean, got {kind(value)}"
            raise BadField(f"strata.{name}", fact)
        written = stratum_text(value)
        if written is not None:
            found[name] = written
    return found


def _slices(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: record[name]
        for name in STRATA
        if isinstance(record.get(name), str | int) and record[name] != ""
    }
