"""Score rows as most tools write them: a column for each text and for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.ingest.answered.records import MISSING
from ragauge.ingest.scored.columns import columns_seen
from ragauge.ingest.scored.names import is_surely_metric
from ragauge.ingest.scored.samples import TEXTS, Parts

STRATUM = "strata."
"""How a table's column begins that is a stratum by its name."""
UNNAMED = "Unnamed: "
"""How pandas calls a column without a title, which holds the numbers of rows."""
NESTED = ("scores", "metrics", "values")
"""Fields that hold scores of a sample by metric, whatever these are called."""

Row = Mapping[str, Any]


def plain_samples(rows: Sequence[tuple[str, Row]]) -> list[Parts]:
    """The samples of a table; which columns are scores is decided over all of them."""
    groups = list(dict.fromkeys(name for _, row in rows for name in row if _is_group(name, row)))
    columns = columns_seen(_undecided(row, groups) for _, row in rows)
    scores = [name for name, column in columns.items() if column.role == "score"]
    return [_sample(place, row, scores, groups) for place, row in rows]


def _is_group(name: str, row: Row) -> bool:
    """Whether a field holds scores by metric."""
    held = row[name]
    if name in TEXTS or not isinstance(held, Mapping):
        return False
    return name in NESTED or any(is_surely_metric(str(metric)) for metric in held)


def _undecided(row: Row, groups: Sequence[str]) -> dict[str, Any]:
    """The columns of a row whose names do not tell what they are."""
    return {
        name: value
        for name, value in row.items()
        if name
        and name not in TEXTS
        and not name.startswith((STRATUM, UNNAMED))
        and not (name in groups and isinstance(value, Mapping))
    }


def _grouped(row: Row, scores: Sequence[str], groups: Sequence[str]) -> dict[str, list[Any]]:
    """The scores of fields that hold several, with the name of the field where two could be one."""
    alone = len(groups) == 1
    return {
        str(metric) if alone and metric not in scores else f"{group}.{metric}": [value]
        for group in groups
        if isinstance(row.get(group), Mapping)
        for metric, value in row[group].items()
    }


def _sample(place: str, row: Row, scores: Sequence[str], groups: Sequence[str]) -> Parts:
    strata = {
        name.removeprefix(STRATUM): value.strip()
        for name, value in row.items()
        if name.startswith(STRATUM) and isinstance(value, str) and value.strip() not in MISSING
    }
    rest = _undecided(row, groups)
    own = {name: [rest[name]] for name in scores if name in rest}
    return Parts(
        place=place,
        fields={name: value for name, value in row.items() if name in TEXTS},
        scores={**_grouped(row, scores, groups), **own},
        others={name: value for name, value in rest.items() if name not in scores},
        strata=strata,
    )
