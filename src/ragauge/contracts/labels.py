"""Items with a type each, and the sets of labels the types are taken from."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

OTHER = "OTHER"
"""The row and column of labels that the set does not have."""
MISSING = "MISSING"
"""The column of items that nothing was predicted for."""


class LabelledItem(Struct, frozen=True, kw_only=True, gc=False):
    """An item with the type somebody gave it; None where nothing was said."""

    id: str
    label: str | None
    secondary: tuple[str, ...] = ()
    text: str | None = None
    strata: dict[str, Any] = {}
    where: str


class LabelSet(Struct, frozen=True, kw_only=True):
    """The labels there are, and how they are grouped."""

    name: str
    labels: tuple[str, ...]
    parents: dict[str, str] = {}
    """A label's group, a group's group; whoever has no entry stands at the top."""

    def path(self, label: str) -> tuple[str, ...]:
        """A label with all it belongs to, the widest first.

        Without groups of its own, a label with dots belongs to what stands before each of them.

        >>> LabelSet(name="x", labels=("M",), parents={"M": "CULTURAL"}).path("M")
        ('CULTURAL', 'M')
        >>> LabelSet(name="dotted", labels=()).path("GRP.HER.MUS")
        ('GRP', 'GRP.HER', 'GRP.HER.MUS')
        """
        if not self.parents:
            parts = label.split(".")
            return tuple(".".join(parts[: depth + 1]) for depth in range(len(parts)))
        found = [label]
        while (above := self.parents.get(found[-1])) is not None and above not in found:
            found.append(above)
        return tuple(reversed(found))

    def category(self, label: str) -> str:
        """The widest group a label belongs to; itself where it belongs to none."""
        return self.path(label)[0]

    @property
    def grouped(self) -> bool:
        """Whether any label belongs to something wider than itself."""
        return bool(self.parents) or any("." in label for label in self.labels)


class LabelFacts(Struct, frozen=True, kw_only=True):
    """What the metrics know of one item: the labels it was given, as far as the set has them."""

    labels: tuple[str, ...]
    """Those of the set."""
    grouped: bool
    """Whether any of them belongs to something wider than itself."""
    gold: str | None
    """None where the set does not have the gold label."""
    gold_path: tuple[str, ...]
    """The label with all it belongs to, the widest first."""
    predicted: str | None
    """None where nothing was predicted, or a label that the set does not have."""
    predicted_path: tuple[str, ...]
    answered: bool
    """Whether anything was predicted, in the set or not."""
    accepted: bool
    """Whether the prediction is the gold label or one of the secondary ones."""
