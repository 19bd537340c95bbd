"""A page of a table that the server sorts: rows, order, and the way to its other pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.paging import Paged
from ragauge.dashboard.asked import Asked
from ragauge.reports.document import Column

Address = Callable[..., str]


class Listed(Struct, frozen=True):
    """A page of a table."""

    rows: Sequence[Any]
    total: int
    start: int
    size: int
    """Rows of a whole page."""
    order: str
    """As the address writes it: `name`, or `-name` downwards."""


def listed(paged: Paged[Any], asked: Asked, default: str) -> Listed:
    """A page of rows with the order it was asked for."""
    sort, down = asked.order(default)
    return Listed(paged.rows, paged.total, paged.start, asked.limit, f"-{sort}" if down else sort)


def addresses(asked: Asked, path: str, anchor: str = "") -> Address:
    """A function from changed fields to the address of the same table with them."""
    from ragauge.dashboard.links import address

    def to(**changed: str | int | None) -> str:
        made = address(path, asked.but(**changed, figures=None, order=None).fields)
        return f"{made}#{anchor}" if anchor else made

    return to


def sorts(
    title: str, name: str, listed: Listed, address: Address, *, right: bool = False, spare: int = 0
) -> Column:
    """A column whose head sorts all pages of the table by the field of this name."""
    is_up = listed.order == name
    return Column(
        title,
        right,
        spare,
        foreign=True,
        key=name,
        href=address(sort=f"-{name}" if is_up else name, start=None),
        order="ascending" if is_up else "descending" if listed.order == f"-{name}" else "",
    )
