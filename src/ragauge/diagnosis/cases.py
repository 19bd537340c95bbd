"""A case: one answer with what went wrong in it and what was seen beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct


class Case(Struct, frozen=True, kw_only=True):
    """One answer as the ranking of causes sees it, whatever it was read from."""

    id: str
    sample: str
    """The sample or question it belongs to; a sweep has several cases for each."""
    looked_for: frozenset[str]
    """Symptoms that could have been seen."""
    symptoms: frozenset[str]
    """Those that were."""
    signs: Mapping[str, bool]
    """What was looked for beside them; a sign that cannot be told is not there."""

    @property
    def went_wrong(self) -> bool:
        return bool(self.symptoms)


class Seen:
    """Symptoms and signs while a case is being looked at."""

    def __init__(self) -> None:
        self._symptoms: dict[str, bool] = {}
        self._signs: dict[str, bool] = {}

    def symptom(self, name: str, shown: bool | None) -> None:
        """Note whether a symptom shows; None is not known, and leaves what was noted before."""
        if shown is not None:
            self._symptoms[name] = shown or self._symptoms.get(name, False)

    def shows(self, names: Collection[str]) -> bool:
        """Whether any of these symptoms was noted as shown."""
        return any(self._symptoms.get(name, False) for name in names)

    def sign(self, name: str, seen: bool | None) -> None:
        if seen is not None:
            self._signs[name] = seen

    def case(self, id: str, sample: str) -> Case:
        return Case(
            id=id,
            sample=sample,
            looked_for=frozenset(self._symptoms),
            symptoms=frozenset(name for name, shown in self._symptoms.items() if shown),
            signs=dict(self._signs),
        )
