"""The query of an address: the names in its path and the fields after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from ragauge.contracts.paging import LONGEST_PAGE, PAGE
from ragauge.errors import UsageError

Choice = TypeVar("Choice", bound=str)

LONGEST_FIELD = 4_096
"""Characters of a field; no real id or search is longer."""
LARGEST_NUMBER = 10**9


class BadAddress(UsageError):
    """An address with an impossible request."""


class Query(Struct, frozen=True):
    """The fields of an address, read by type; raises BadAddress for invalid ones."""

    fields: Sequence[tuple[str, str]] = ()
    """From the part after the question mark."""
    path: Mapping[str, str] = {}
    """Names in the path; they override fields of the same name."""

    def text(self, name: str) -> str:
        """The field without surrounding spaces; empty if it is not given."""
        given = self._given(name)
        if len(given) > LONGEST_FIELD:
            raise BadAddress(
                f"{name}: has {len(given):,} characters, and may have {LONGEST_FIELD:,}"
            )
        return given.strip()

    def exact(self, name: str) -> str:
        """The field with its surrounding spaces: an id may begin with one."""
        self.text(name)
        return self._given(name)

    def optional(self, name: str) -> str | None:
        return self.text(name) or None

    def needed(self, name: str) -> str:
        given = self.exact(name)
        if not given:
            raise BadAddress(f"{name}: is missing from the address")
        return given

    def texts(self, name: str) -> list[str]:
        """All values of a field that may be repeated."""
        return [value.strip() for key, value in self.fields if key == name and value.strip()]

    def number(self, name: str, default: int = 0) -> int:
        given = self.text(name)
        if not given:
            return default
        digits = given.lstrip("0") or "0"
        if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(LARGEST_NUMBER))):
            raise BadAddress(f'{name}: "{given[:40]}" is not a number from 0 to {LARGEST_NUMBER:,}')
        return min(int(digits), LARGEST_NUMBER)

    def choice(self, name: str, choices: Sequence[Choice]) -> Choice | None:
        given = self.text(name)
        if given and given not in choices:
            raise BadAddress(f'{name}: "{given[:40]}" is none of {", ".join(choices)}')
        return next((one for one in choices if one == given), None)

    def order(self, default: str) -> tuple[str, bool]:
        """What rows are sorted by, and whether descending: `sort=name` or `sort=-name`."""
        given = self.text("sort") or default
        return (given[1:], True) if given.startswith("-") else (given, False)

    @property
    def start(self) -> int:
        return self.number("start")

    @property
    def limit(self) -> int:
        return max(1, min(self.number("rows", PAGE), LONGEST_PAGE))

    def but(self, **changed: str | int | None) -> Query:
        """The query with these fields changed; None removes one."""
        kept = [(key, value) for key, value in self.fields if key not in changed]
        new = [(key, str(value)) for key, value in changed.items() if value not in (None, "")]
        return Query((*kept, *new), self.path)

    def _given(self, name: str) -> str:
        if name in self.path:
            return self.path[name]
        return next((value for key, value in self.fields if key == name), "")
