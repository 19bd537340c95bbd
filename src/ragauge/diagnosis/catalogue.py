"""The catalogue of causes and actions, kept as data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hypothesis: when it applies, what it means, what to change."""

    id: str
    metrics: tuple[str, ...]
    when: dict[str, tuple[Any, ...]]
    scores: tuple[str, ...] = ()
    title: str
    evidence: str
    confirm: str
    action: str

    @property
    def family(self) -> str:
        """Whose questions it speaks of: quality, stability, traceability."""
        return self.id.partition(".")[0]


@cache
def catalogue(language: str = "en") -> tuple[Entry, ...]:
    """The entries in one language, in the order of the file."""
    text = (files("ragauge.diagnosis") / f"catalogue.{language}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text)["entry"], tuple[Entry, ...])
