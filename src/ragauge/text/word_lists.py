"""Word lists, kept as TOML files next to the code that uses them."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as one string."""
    return frozenset(text.split())


def word_sets(texts: dict[str, str]) -> dict[str, frozenset[str]]:
    """The same for a table of lists, such as one for each language."""
    return {name: word_set(text) for name, text in texts.items()}


def read_toml(package: str, file: str) -> dict[str, Any]:
    """The contents of a TOML file in a package."""
    return tomllib.loads(files(package).joinpath(file).read_text(encoding="utf-8"))
