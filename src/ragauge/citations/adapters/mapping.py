"""What the user knows beyond a framework's own words: where fields are, and what an index has."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragauge.citations.adapters.found import Found, failure, tell
from ragauge.contracts.citation import Citation
from ragauge.errors import UsageError

FIELDS = Citation.__struct_fields__
MAPPABLE = (*FIELDS, "text")
"""A mapping may also say where the text is: a record of the user's own has it anywhere."""
CONSTANTS = ("doc_id", "source_url", "index_hash", "embed_model", "analyzer", "rev", "window")
"""What one value can be for a whole index, or for a whole document."""

FieldMap = Mapping[str, str | Callable[[Any], Any]]
Constants = Mapping[str, Any]


def check_names(mapping: FieldMap | None, constants: Constants | None) -> None:
    """Raises UsageError with every name that is no field, and every place that is none."""
    problems = [
        *_unknown("mapping", mapping or (), MAPPABLE),
        *(
            f"mapping: {name} is a {type(where).__name__}; give a path or a function"
            for name, where in (mapping or {}).items()
            if not isinstance(where, str) and not callable(where)
        ),
        *_unknown("constants", constants or (), CONSTANTS),
    ]
    if problems:
        raise UsageError(*problems)


def _unknown(given: str, names: Iterable[str], known: tuple[str, ...]) -> list[str]:
    return [f'{given}: "{name}"{_hint(name, known)}' for name in names if name not in known]


def _hint(name: str, known: tuple[str, ...]) -> str:
    if name in FIELDS:
        return " is each chunk's own and no constant; give it in the mapping"
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
    return f" is no field of the payload; {hint}"


def mapped(field: str, where: str | Callable[[Any], Any], found: Found, notes: list[str]) -> Any:
    """What stands where the user says; None, with a note, where nothing does."""
    if callable(where):
        value = called(field, where, found.source, notes)
    else:
        value = _walked(found.metadata, where, notes)
        if value is None:
            value = _walked(found.source, where, notes)
        if value is None:
            notes.append(f'{field}: nothing stands at "{where}"')
    return value


def constant(field: str, given: Any, doc_id: Any, notes: list[str]) -> Any:
    """The value of an index, or of a document where a function gives it by its id."""
    if not callable(given):
        return given
    if doc_id is None:
        notes.append(f"{field}: is known by document, and doc_id is absent")
        return None
    return called(field, given, doc_id, notes)


def called(field: str, function: Callable[[Any], Any], argument: Any, notes: list[str]) -> Any:
    """What the user's function gives; None, with a note, where it fails or gives nothing."""
    try:
        value = function(argument)
    except Exception as error:  # the user's own function can fail in any way
        notes.append(f"{field}: {failure(error)}")
        return None
    if value is None:
        notes.append(f"{field}: the function gave nothing")
    return value


def _walked(thing: Any, path: str, notes: list[str]) -> Any:
    """What a dotted path leads to; a key that has dots itself is found, too."""
    head, dot, rest = path.partition(".")
    if not dot or (isinstance(thing, Mapping) and path in thing):
        return tell(thing, path, notes)
    step = tell(thing, head, notes)
    return None if step is None else _walked(step, rest, notes)
