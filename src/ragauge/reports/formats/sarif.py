"""SARIF 2.1.0, which code hosts and editors show next to the lines of a file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from msgspec import Struct

from ragauge import __version__
from ragauge.reports import json
from ragauge.reports.cases import line_of
from ragauge.text.visible import shown, writable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "ragaugeFinding/v1"
LONGEST = 1_000  # characters of a message: a longer one is cut


class Rule(Struct, frozen=True, kw_only=True):
    """A kind of problem that a tool can find; all texts may be foreign."""

    id: str
    level: Literal["error", "warning"]
    summary: str
    details: str
    help: str
    properties: Mapping[str, object]


class Result(Struct, frozen=True, kw_only=True):
    """A problem that was found."""

    rule: str
    message: str
    where: str
    """`path:line`, or a place in words."""
    same: Sequence[object]  # what identifies it even if its line moves


class Run(Struct, frozen=True, kw_only=True):
    """The results, with every rule that they name."""

    rules: Sequence[Rule]
    results: Sequence[Result]
    properties: Mapping[str, object]


def render(run: Run) -> str:
    """The log as JSON: one run, with the results in the order of their rules."""
    places = {rule.id: place for place, rule in enumerate(run.rules)}
    times_seen: Counter[str] = Counter()
    results = []
    for one in sorted(run.results, key=lambda one: places[one.rule]):
        digest = hashlib.sha256(ascii(tuple(one.same)).encode()).hexdigest()[:16]
        times_seen[digest] += 1
        results.append(
            {
                "ruleId": shown(one.rule),
                "ruleIndex": places[one.rule],
                "level": run.rules[places[one.rule]].level,
                "message": _message(one.message),
                "locations": [_location(one.where)],
                "partialFingerprints": {FINGERPRINT: f"{digest}:{times_seen[digest]}"},
            }
        )
    rules = [
        {
            "id": shown(rule.id),
            "shortDescription": _message(rule.summary),
            "fullDescription": _message(rule.details),
            "help": _message(rule.help),
            "defaultConfiguration": {"level": rule.level},
            "properties": rule.properties,
        }
        for rule in run.rules
    ]
    driver = {"name": "Ragauge", "version": __version__, "rules": rules}
    run_entry = {"tool": {"driver": driver}, "results": results, "properties": run.properties}
    return json.render({"$schema": SCHEMA, "version": "2.1.0", "runs": [run_entry]})


def _message(text: str) -> dict[str, str]:
    """Text as a message: the standard reads single braces as placeholders, `[a](b)` as a link."""
    plain = shown(text, LONGEST).replace("](", "] (")
    return {"text": plain.replace("{", "{{").replace("}", "}}")}


def _location(where: str) -> dict[str, Any]:
    place = line_of(where)
    if place is None:
        return {"logicalLocations": [{"fullyQualifiedName": shown(where)}]}
    path, line = place
    uri = ("file://" if path.startswith("/") else "") + quote(writable(path))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
