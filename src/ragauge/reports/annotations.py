"""GitHub Actions workflow commands, which annotate a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.reports import numbers

SHOWN = 10
"""GitHub shows this many annotations of a kind for a step, and drops the rest in silence."""
CLAIM_SHOWN = 200


def command(kind: str, message: str, **properties: str) -> str:
    """A workflow command, escaped as the toolkit of GitHub does it.

    >>> command("warning", "50% of\\nthem", file="a,b:c.jsonl", line="3")
    '::warning file=a%2Cb%3Ac.jsonl,line=3::50%25 of%0Athem'
    """
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{kind}{' ' if listed else ''}{listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def more(everyone: Sequence[object], one: str) -> Iterator[str]:
    """A notice where more failed than GitHub shows."""
    if len(everyone) > SHOWN:
        total = numbers.counted(len(everyone), one)
        yield command("notice", f"{SHOWN} of {total} that failed are annotated", title="Ragauge")
