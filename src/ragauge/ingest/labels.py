"""Labels of a run, written as key=value."""

from __future__ import annotations

from collections.abc import Iterable

from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted


def read_labels(written: Iterable[str]) -> dict[str, str]:
    """The labels by key; raises UsageError with all that is wrong.

    >>> read_labels(["model=small-3", "prompt=v2=b"])
    {'model': 'small-3', 'prompt': 'v2=b'}
    """
    labels: dict[str, str] = {}
    problems = []
    for text in written:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            problems.append(f"label {quoted(text)}: write key=value, such as model=small-3")
        elif labels.setdefault(key, value) != value:
            problems.append(f"label {quoted(key)}: is given twice; keep one value")
    if problems:
        raise UsageError(*problems)
    return labels
