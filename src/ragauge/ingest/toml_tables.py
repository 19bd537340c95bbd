"""Tables of a TOML file, read into records: every fault with its key, all of them at once."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from ragauge.ingest.fields import quoted

Record = TypeVar("Record", bound=Struct)

NAME = re.compile(r"\w[\w.-]{0,63}")
"""Names become labels, names of files and parts of `task/metric`."""

_NO_CHOICE = "Invalid enum value "
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


class Problems:
    """What is wrong with a file, each fault with the key it is at."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.found: list[str] = []

    def add(self, key: str, fact: str) -> None:
        self.found.append(f"{self._file}: {key}: {fact}")

    @contextmanager
    def told(self, key: str, kind: Any) -> Iterator[None]:
        """Takes the fault of a value that is not of a kind."""
        try:
            yield
        except msgspec.ValidationError as error:
            choices = ", ".join(_choices(kind))
            self.add(key, in_words(str(error), choices))

    def unknown(self, key: str, what: str, name: str, known: Collection[str]) -> None:
        """A name that stands for nothing, with the nearest that does."""
        near = difflib.get_close_matches(name, known, n=1)
        listed = ", ".join(known) or "none"
        hint = f"did you mean {quoted(near[0])}?" if near else f"there are: {listed}"
        self.add(key, f"there is no {what} {quoted(name)}; {hint}")


def table_of(value: Any, key: str, problems: Problems) -> dict[str, Any]:
    """The table, its keys with _ for -; an empty one where it is something else."""
    if not isinstance(value, dict):
        problems.add(key, f"expected a table, got {_kind(value)}")
        return {}
    return {name.replace("-", "_"): member for name, member in value.items()}


def named_tables(value: Any, key: str, problems: Problems) -> dict[str, Any]:
    """The tables under a table by their names, which stay as they are written."""
    if not isinstance(value, dict):
        problems.add(key, f"expected tables such as [{key}.mine], got {_kind(value)}")
        return {}
    for name in value:
        if not NAME.fullmatch(name):
            problems.add(key, f"{quoted(name)} is no name; write letters, digits, - _ and .")
    return value


def read_table(
    kind: type[Record], value: Any, key: str, problems: Problems, *, beside: Collection[str] = ()
) -> Record | None:
    """The record a table writes, without what is wrong with it; None where it cannot be made.

    `beside` are keys that are read elsewhere.
    """
    table = table_of(value, key, problems)
    fields = {field.name: field for field in structs.fields(kind)}
    for name in table:
        if name not in fields and name not in beside:
            problems.unknown(f"{key}.{name}", "key", name, sorted({*fields, *beside}))
    read: dict[str, Any] = {}
    for name, field in fields.items():
        if name in table:
            with problems.told(f"{key}.{name}", field.type):
                read[name] = msgspec.convert(table[name], field.type)
        elif field.required:
            problems.add(f"{key}.{name}", "missing")
    made = all(name in read for name, field in fields.items() if field.required)
    return kind(**read) if made else None


def in_words(message: str, choices: str = "") -> str:
    """A fault as msgspec tells it, in a reader's words.

    >>> in_words("Expected `str | array`, got `int` - at `$[2]`")
    'expected text or a list, got a whole number (at [2])'
    >>> in_words("Invalid enum value 'scores'", "score, stability")
    "'scores' is none of score, stability"
    """
    if choices and message.startswith(_NO_CHOICE):
        return f"{message.removeprefix(_NO_CHOICE).partition(' - at ')[0]} is none of {choices}"
    fact, _, place = message.partition(" - at `$")
    told = re.sub("`([^`]*)`", lambda match: _worded(match[1]), fact)
    where = f" (at {place.rstrip('`')})" if place else ""
    return f"{told[:1].lower()}{told[1:]}{where}"


def _worded(types: str) -> str:
    return " or ".join(_WORDS.get(one, one) for one in types.split(" | "))


def _choices(kind: Any) -> list[str]:
    """The words a kind of value chooses from."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [choice for part in get_args(kind) for choice in _choices(part)]


def refuse_other_than_json(knobs: Mapping[str, Any], key: str, problems: Problems) -> None:
    """Knobs are sent as JSON, which has no dates and no infinities."""
    try:
        json.dumps(knobs, allow_nan=False)
    except (TypeError, ValueError) as error:
        problems.add(key, f"cannot be sent as JSON: {error}")


def _kind(value: Any) -> str:
    words = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return words.get(type(value), type(value).__name__)
