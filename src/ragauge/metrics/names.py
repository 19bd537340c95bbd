"""Metrics by the names a user gives them: the whole id, or the id without its family."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ragauge.errors import UsageError


def short_name(id: str) -> str:
    """
    >>> short_name("quality.errors")
    'errors'
    """
    return id.partition(".")[2] or id


def metric_id(name: str, ids: Iterable[str], *, unknown: str, listed: str) -> str:
    """The id, among these, that a name stands for; a short one where a single family has it.

    Raises UsageError otherwise: where nothing is called so, with what `unknown` says, and the name
    that is nearest, else what `listed` says.

    >>> metric_id("errors", ["quality.errors", "quality.coverage"], unknown="", listed="")
    'quality.errors'
    """
    known = list(dict.fromkeys(ids))
    found = [id for id in known if name in (id, short_name(id))]
    if name in found:
        return name
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f'metric "{name}" is ambiguous: {", ".join(sorted(found))}')
    words = [word for id in known for word in (id, short_name(id))]
    near = difflib.get_close_matches(name, words, n=1)
    hint = f'did you mean "{near[0]}"?' if near else listed
    raise UsageError(f"{unknown}; {hint}")
