"""What a user calls a run: its name, and labels written as key=value."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted


def read_name(name: str | None) -> str | None:
    """The name as it was given; raises UsageError where a shell passed bytes that are no text."""
    if name is not None and not _is_text(name):
        raise UsageError(f"name {name!a}: is not UTF-8 text")
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
        if not _is_text(text):
            problems.append(f"label {text!a}: is not UTF-8 text")
        elif not (key and equals and value):
            problems.append(f"label {quoted(text)}: write key=value, such as model=small-3")
        elif labels.setdefault(key, value) != value:
            problems.append(f"label {quoted(key)}: is given twice; keep one value")
    if problems:
        raise UsageError(*problems)
    return labels


def _is_text(given: str) -> bool:
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True
