"""Which entries are about which metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ragauge.diagnosis.catalogue import Entry, speaks_of
from ragauge.diagnosis.limits import SEVEN, plain_name


class Listed(Struct, frozen=True, kw_only=True):
    """Metrics that share their entries, and these."""

    metrics: tuple[str, ...]
    entries: tuple[str, ...]


def contents(entries: Sequence[Entry], asked: Sequence[str] | None) -> tuple[Listed, ...]:
    """The entries of each metric: the seven that every tool has first, then our own by name.

    Metrics of one family with the same entries stand together.
    """
    if asked is not None:
        return _together(entries, asked)
    own = sorted(
        {one for entry in entries for one in entry.metrics if plain_name(one) not in SEVEN}
    )
    return (*_together(entries, SEVEN), *_together(entries, own))


def _together(entries: Sequence[Entry], metrics: Iterable[str]) -> tuple[Listed, ...]:
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for metric in metrics:
        about = tuple(entry.id for entry in entries if speaks_of(entry, metric))
        family = metric.partition(".")[0]
        if about:
            alike.setdefault((family, about), []).append(metric)
    return tuple(Listed(metrics=tuple(names), entries=about) for (_, about), names in alike.items())
