"""Words of a report on their way into a comment, and of what is left out of it."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.reports import numbers
from ragauge.reports.comment import prose
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.foreign import cut

LONGEST = 400


def short(text: str) -> str:
    """Words of the report, escaped, and of no more than a length."""
    return prose(cut(text, LONGEST))


def more(number: int, say: Labels) -> Iterator[str]:
    """How many are left out, and where they are."""
    if number > 0:
        yield f"{say.more_in_json.format(n=numbers.count(number))}{say.signs.stop}"
