"""Label sets: a preset, a TOML file, a list, or whatever labels were met."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ragauge.contracts.labels import LabelSet
from ragauge.errors import UsageError
from ragauge.ingest.fields import BadField, quoted, texts
from ragauge.ingest.lines import read_whole
from ragauge.ingest.toml_tables import Problems
from ragauge.text.canonical import composed

PRESETS = {"heritage": "heritage_labels.toml"}
MET = "met"
"""The name of a set nobody declared: the labels of gold and prediction."""
LISTED = "listed"
KEYS = ("name", "labels", "groups", "parents")


def read_label_set(given: str | Sequence[str]) -> LabelSet:
    """The set a user names: a preset, a TOML file, or the labels themselves, comma between them.

    Raises UsageError with all that is wrong with it.

    >>> read_label_set("archive, library, museum").labels
    ('archive', 'library', 'museum')
    >>> read_label_set("heritage").path("M")
    ('CULTURAL', 'M')
    """
    if not isinstance(given, str):
        return _listed(given)
    if given in PRESETS:
        preset = files("ragauge.ingest").joinpath(PRESETS[given])
        return _parsed(given, preset.read_text("utf-8"), given)
    if given.endswith(".toml") or Path(given).is_file():
        content = read_whole(given)
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise UsageError(f"{given}: is not UTF-8 text; save it as UTF-8") from None
        return _parsed(given, text, Path(given).stem)
    if "," in given:
        return _listed([label.strip() for label in given.removesuffix(",").split(",")])
    raise UsageError(
        f"labels {quoted(given)}: is no preset ({', '.join(PRESETS)}), no file, and no list; "
        "write a .toml file, or labels with commas between them"
    )


def labels_met(*groups: Iterable[str]) -> LabelSet:
    """The set of all labels that occur, in alphabetical order; one with dots is a path.

    >>> labels_met(["M", "L"], ["M", "A"]).labels
    ('A', 'L', 'M')
    """
    return LabelSet(name=MET, labels=tuple(sorted(set[str]().union(*groups))))


def _listed(labels: Sequence[str]) -> LabelSet:
    problems = [f"labels: {fact}" for fact in _label_faults(labels)]
    if problems:
        raise UsageError(*problems)
    return LabelSet(name=LISTED, labels=tuple(composed(label) for label in labels))


def _parsed(file: str, text: str, name: str) -> LabelSet:
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: is not TOML: {error}") from None
    problems = Problems(file)
    for key in written:
        if key not in KEYS:
            problems.unknown(key, "key", key, KEYS)

    def listed(value: Any, key: str) -> tuple[str, ...]:
        try:
            return tuple(composed(one) for one in texts(value, key))
        except BadField as fault:
            problems.add(key, str(fault).partition(": ")[2])
            return ()

    own_name = written.get("name", "")
    if not isinstance(own_name, str):
        problems.add("name", "expected text")
    labels: tuple[str, ...] = ()
    if "labels" in written:
        labels = listed(written["labels"], "labels")
        for fact in _label_faults(labels):
            problems.add("labels", fact)
    else:
        problems.add("labels", 'missing; write labels = ["M", "L"]')
    # The members of each group; where only names are listed, `parents` says the members.
    groups: dict[str, tuple[str, ...]] = {}
    value = written.get("groups", {})
    if isinstance(value, list):
        groups = dict.fromkeys(listed(value, "groups"), ())
    elif isinstance(value, dict):
        groups = {composed(one): listed(held, f"groups.{one}") for one, held in value.items()}
    else:
        problems.add("groups", 'expected a table, such as CULTURAL = ["M", "L"]')
    parents = _parents(labels, groups, written.get("parents", {}), problems)
    for ring in _rings(parents):
        problems.add("groups", f"{' in '.join(ring)}: a group cannot stand in itself")
    if problems.found:
        raise UsageError(*problems.found)
    return LabelSet(name=own_name or name, labels=labels, parents=parents)


def _parents(
    labels: tuple[str, ...], groups: dict[str, tuple[str, ...]], value: Any, problems: Problems
) -> dict[str, str]:
    """The group of each label and of each group, from both tables."""
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        problems.add("parents", 'expected a table of texts, such as M = "CULTURAL"')
        value = {}
    value = {composed(child): composed(parent) for child, parent in value.items()}
    known = {name for name in (*labels, *groups, *value) if name.strip()}
    found: dict[str, str] = {}
    pairs = [
        (f"groups.{group}", one, group) for group, members in groups.items() for one in members
    ]
    pairs += [(f"parents.{child}", child, parent) for child, parent in value.items()]
    for key, child, parent in pairs:
        if child not in labels and child not in groups and not key.startswith("parents."):
            problems.unknown(key, "label or group", child, sorted(known))
        if parent not in known:
            problems.unknown(key, "group", parent, sorted(known))
        if found.setdefault(child, parent) != parent:
            fact = f"{quoted(child)} stands in {quoted(found[child])} already; keep one"
            problems.add(key, fact)
    return found


def _label_faults(labels: Sequence[str]) -> Iterator[str]:
    if not labels:
        yield "there are none; a set has one label at least"
    for label, times in sorted(Counter(labels).items()):
        if not label.strip():
            yield "one is empty; leave it out"
        elif times > 1:
            yield f"{quoted(label)} stands there {times} times; keep one"
        elif label != label.strip():
            yield f"{quoted(label)} begins or ends with a blank; take it away"


def _rings(parents: dict[str, str]) -> list[list[str]]:
    """The chains that come back to where they began, each once, from its first name."""
    rings: dict[frozenset[str], list[str]] = {}
    for start in sorted(parents):
        chain = [start]
        while (above := parents.get(chain[-1])) is not None and above not in chain:
            chain.append(above)
        if above == start:
            rings.setdefault(frozenset(chain), [*chain, start])
    return list(rings.values())
