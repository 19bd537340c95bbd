"""What speaks for each cause and against it: the table of `evidence.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct


class Weight(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a sign weighs for a cause, where it is seen and where it was looked for in vain."""

    sign: str
    bits: float
    bits_if_not: float = 0.0
    needed: bool = False
    """Without it the cause cannot be."""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cause: the symptoms it can bring about, and the signs that tell it from others."""

    id: str
    symptoms: tuple[str, ...]
    signs: tuple[Weight, ...]


class Evidence(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole table."""

    cause: tuple[Rule, ...]
    tolerated: dict[str, float]
    """By symptom: the share of samples in which it is met in a sound system, too."""


@cache
def evidence() -> Evidence:
    text = (files("ragauge.diagnosis") / "evidence.toml").read_text("utf-8")
    read: dict[str, Any] = tomllib.loads(text)
    return msgspec.convert(read, Evidence)


@cache
def rules() -> dict[str, Rule]:
    """The causes by id, in the order of the table."""
    return {rule.id: rule for rule in evidence().cause}


@cache
def symptoms() -> tuple[str, ...]:
    """Every symptom that some cause can bring about."""
    return tuple(sorted({name for rule in evidence().cause for name in rule.symptoms}))
