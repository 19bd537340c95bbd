"""What a user calls a run: its name, and labels written as key=value."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted

LONGEST = 200
"""Characters of a name or a label: it is read in a list, and typed."""


def read_name(name: str | None) -> str | None:
    """The name as it was given; raises UsageError where it cannot be shown on a line."""
    if name is not None and (fault := _fault(name)):
        raise UsageError(f"name {name[:LONGEST]!a}: {fault}")
    return name


def read_labels(written: Iterable[str]) -> dict[str, str]:
    """The labels by key; raises UsageError with all that is wrong.

    >>> read_labels(["model=small-3", "prompt=v2=b"])
    {'model': 'small-3', 'prompt': 'v2=b'}
    """
    labels: dict[str, str] = {}
    problems = []
    for text in written:
        key, equals, value = (part.strip() for part in text.partition("="))
        if fault := _fault(text):
            problems.append(f"label {text[:LONGEST]!a}: {fault}")
        elif not (key and equals and value):
            problems.append(f"label {quoted(text)}: write key=value, such as model=small-3")
        elif labels.setdefault(key, value) != value:
            problems.append(f"label {quoted(key)}: is given twice; keep one value")
    if problems:
        raise UsageError(*problems)
    return labels


def _fault(given: str) -> str | None:
    """What keeps a text from being a name."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return "is not UTF-8 text"
    if len(given) > LONGEST:
        return f"is longer than {LONGEST} characters"
    return None if given.isprintable() else "holds a character that does not print"
