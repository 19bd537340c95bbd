"""The metric table: the one place where metrics are looked up, by everyone."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ragauge.contracts.metric import Absent, Metric, Reads, Row
from ragauge.errors import UsageError
from ragauge.metrics.names import id_of_long_name

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

GROUP = "ragauge.metrics"
"""The entry-point group in which packages register metrics."""
COMMANDS: dict[Reads, str] = {
    "facts": "score",
    "runs": "stability",
    "audit": "audit",
    "audited_runs": "trace-eval",
    "entities": "eval ner",
    "labels": "eval types",
    "links": "eval linking",
    "ranking": "eval retrieval",
    "answers": "eval answers",
}
"""The command that measures a metric, by what the metric reads."""


@cache
def table() -> dict[str, Metric]:
    """Every metric by id: the built-in families, then those of other packages.

    The families are imported here because they are slow to import, not to break a cycle: they
    import `ragauge.contracts.metric` and never this module.
    """
    from ragauge.metrics import (
        answers,
        entities,
        groundedness,
        judged,
        labels,
        linking,
        overlap,
        quality,
        retrieval,
        stability,
        traceability,
    )

    questions = (quality, stability, traceability)
    components = (entities, labels, linking, retrieval)
    families = (*questions, *components, answers, groundedness, overlap, judged)
    found = {entry.id: entry for family in families for entry in family.METRICS}
    for entry in registered_metrics():
        if entry.id in found:
            raise UsageError(f"metric {entry.id}: registered twice; rename one of them")
        found[entry.id] = entry
    return dict(sorted(found.items()))


def reading(kind: Reads) -> dict[str, Metric]:
    """The metrics that read this kind of thing, by id."""
    return {id: entry for id, entry in table().items() if entry.reads == kind}


def registered_metrics() -> list[Metric]:
    """The metrics other packages register in the entry-point group.

    They are measured trace by trace, with all facts: the needs that a foreign metric declares are
    not trusted, and a finding about its failure then has a line.
    """
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            entry = point.load()
        except Exception as error:  # a foreign package can fail in any way
            raise UsageError(
                f"metric plug-in {point.name} ({point.value}) does not load: "
                f"{type(error).__name__}: {error}; fix or uninstall its package"
            ) from error
        if not isinstance(entry, Metric):
            raise UsageError(
                f"metric plug-in {point.name} ({point.value}) is a {type(entry).__name__}, "
                "not a metric; decorate the function with ragauge.metric"
            )
        # Each fault with the condition that rules it out.
        checks = {
            f'id "{entry.id}" has no family; call it for example acme.{entry.id}': re.fullmatch(
                r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(@\w+)?", entry.id
            ),
            f"version {entry.version} is below 1": entry.version >= 1,
            "it has no columns": entry.columns,
            f'it reads {entry.reads}; a metric of one trace\'s facts reads "facts"': (
                entry.reads == "facts"
            ),
            "it has no docstring; its first sentence says what is measured": entry.doc,
        }
        faults = [fact for fact, holds in checks.items() if not holds]
        if faults:
            raise UsageError(*(f"metric plug-in {point.name}: {fact}" for fact in faults))
        measure, finish = _row_checked(entry), _finish_checked(entry)
        needs = entry.needs | {"trace"}
        found.append(structs.replace(entry, measure=measure, finish=finish, needs=needs))
    return found


def _row_checked(entry: Metric) -> Callable[[Any], Row | Absent]:
    """The metric's function, raising TypeError unless it returns a row of its columns."""

    def measure(facts: Any) -> Row | Absent:
        row = entry.measure(facts)
        if isinstance(row, Absent):
            return row
        if not isinstance(row, Row):
            raise TypeError(f"returned {type(row).__name__}, expected Row or Absent")
        is_integer = all(isinstance(count, int) and abs(count) < 1 << 63 for count in row.counts)
        if not is_integer or len(row.counts) != len(entry.columns):
            raise TypeError(f"returned {row.counts!r}, expected whole numbers for {entry.columns}")
        if entry.rate and not 0 <= row.counts[0] <= row.counts[1]:
            raise ValueError(
                f"returned {row.counts!r}, but of a share the first is at most the second; "
                "a metric that is no share says rate=False"
            )
        return row

    return measure


def _finish_checked(entry: Metric) -> Callable[[Array], Array]:
    """The metric's finish, returning NaN if it raises: then the score is absent with a reason."""

    def finish(sums: Array) -> Array:
        import numpy as np

        try:
            return np.asarray(entry.finish(sums), dtype=np.float64)
        except Exception:  # a foreign metric can fail in any way
            return np.full(sums.shape[:-1], np.nan)

    return finish


def find(name: str, *kinds: Reads) -> Metric:
    """The metric with this id, or with this name if only one family has it; `@k` may be any k.

    A metric with an abbreviated id also has a long name, such as answer_consistency, and metrics
    of rankings also have their names in other tools: nDCG@10, P(rel=2)@5. With kinds, only a
    metric that reads one of them is accepted.
    """
    known = table()
    matches = [entry for entry in known.values() if name in (entry.id, entry.name)]
    matches = [entry for entry in matches if entry.reads in kinds] or matches
    if len(matches) > 1:
        ids = ", ".join(entry.id for entry in matches)
        raise UsageError(f'metric "{name}" is ambiguous: {ids}')
    found = matches[0] if matches else _with_parameters(name, kinds)
    if found is None and (id := id_of_long_name(name)):
        return find(id, *kinds)
    if found is None:
        names = [each for entry in known.values() for each in (entry.id, entry.name)]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else "; `ragauge metrics` lists them"
        raise UsageError(f'there is no metric "{name}"{hint}')
    if kinds and found.reads not in kinds:
        command = COMMANDS[found.reads]
        raise UsageError(f"metric {found.id} belongs to `ragauge {command}`; ask for it there")
    return found


def known(id: str) -> Metric | None:
    """The metric; None if its plug-in is gone, because a report can outlive it."""
    try:
        return find(id)
    except UsageError:
        return None


def _with_parameters(name: str, kinds: tuple[Reads, ...]) -> Metric | None:
    """A metric whose name has a parameter that the table does not list, such as another k."""
    from ragauge.metrics import linking, overlap, quality, retrieval

    match = re.fullmatch(r"(?:quality\.)?gold_retrieved@([1-9][0-9]*)", name)
    if match:
        return quality.gold_retrieved_at(int(match[1]))
    families: tuple[tuple[Reads, str, Callable[[str], Metric | None]], ...] = (
        ("links", "linking.", linking.from_name),
        ("answers", "answers.", overlap.from_name),
        ("ranking", "retrieval.", retrieval.from_name),
    )
    for kind, family, named in families:
        if (name.startswith(family) or kind in kinds) and (found := named(name)):
            return found
    return None
