"""The audit as SARIF 2.1.0, which code hosts and editors show beside the lines of a file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field

from ragauge import __version__
from ragauge.contracts.audit import AuditFinding, AuditReport, CodeCount
from ragauge.reports import json
from ragauge.reports.audit import story
from ragauge.reports.foreign import shown, writable

VERSION = "2.1.0"
FINGERPRINT = "ragaugeFinding/v1"
LONGEST = 1_000
"""Characters of a message: a longer one is cut."""


class Message(Struct, frozen=True):
    text: str


class Configuration(Struct, frozen=True):
    level: str


class Rule(Struct, frozen=True, kw_only=True, rename="camel"):
    """A code, as the standard describes what a tool can find."""

    id: str
    short_description: Message
    full_description: Message
    help: Message
    default_configuration: Configuration
    properties: dict[str, Any]


class Driver(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    rules: tuple[Rule, ...]


class Tool(Struct, frozen=True):
    driver: Driver


class Artifact(Struct, frozen=True):
    uri: str


class Region(Struct, frozen=True, rename="camel"):
    start_line: int


class PhysicalLocation(Struct, frozen=True, kw_only=True, rename="camel"):
    artifact_location: Artifact
    region: Region


class LogicalLocation(Struct, frozen=True, rename="camel"):
    fully_qualified_name: str


class Location(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A line of a file; where there is no file, a place in words."""

    physical_location: PhysicalLocation | None = None
    logical_locations: tuple[LogicalLocation, ...] = ()


class Result(Struct, frozen=True, kw_only=True, rename="camel"):
    rule_id: str
    rule_index: int
    level: str
    message: Message
    locations: tuple[Location, ...]
    partial_fingerprints: dict[str, str]


class Run(Struct, frozen=True, kw_only=True):
    tool: Tool
    results: tuple[Result, ...]
    properties: dict[str, Any]


class Log(Struct, frozen=True, kw_only=True):
    schema: str = field(
        name="$schema",
        default="https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
    )
    version: str = VERSION
    runs: tuple[Run, ...]


def render(report: AuditReport) -> str:
    """The log as JSON: one run, a rule for each code that occurs, a result for each kept place."""
    rules = {rule.id: rule for rule in _rules(report)}
    results = _results(report.findings, rules)
    driver = Driver(name="Ragauge", version=__version__, rules=tuple(rules.values()))
    kept = Counter(result.rule_id for result in results)
    properties = {
        "pass": report.passed,
        "depth": report.depth,
        "answers": report.coverage.audited - report.coverage.refusals,
        "findings": {shown(code): times for code, times in report.finding_counts.items()},
        "notShown": {
            shown(code): times - kept[shown(code)]
            for code, times in report.finding_counts.items()
            if times > kept[shown(code)]
        },
    }
    return json.render(Log(runs=(Run(tool=Tool(driver), results=results, properties=properties),)))


def _rules(report: AuditReport) -> list[Rule]:
    """The codes, the worst first; then what else was found, by name."""
    known = {one.code for one in report.codes}
    others = sorted({*report.finding_counts, *(one.code for one in report.findings)} - known)
    return [_rule(one) for one in report.codes] + [_other_rule(code) for code in others]


def _rule(one: CodeCount) -> Rule:
    level = "warning" if one.code in story.POINTER_HOLDS else "error"
    found = f"{one.means} Found at the depth {one.depth}: {story.DEPTHS_ASK[one.depth]}."
    return Rule(
        id=shown(one.code),
        short_description=_message(one.means),
        full_description=_message(found),
        help=_message(one.tip),
        default_configuration=Configuration(level),
        properties={"depth": one.depth, "tags": ["citation", one.depth]},
    )


def _other_rule(code: str) -> Rule:
    """A finding about the input: what it says stands in its messages."""
    words = _message(f"{code.replace('_', ' ')}: not about a citation, but about what was read.")
    return Rule(
        id=shown(code),
        short_description=words,
        full_description=words,
        help=_message("Read the message: it names the place and the fact."),
        default_configuration=Configuration("warning"),
        properties={"tags": ["input"]},
    )


def _results(found: Sequence[AuditFinding], rules: Mapping[str, Rule]) -> tuple[Result, ...]:
    """The kept places, the worst code first."""
    places = {id: place for place, id in enumerate(rules)}
    ranked = sorted(found, key=lambda finding: places[shown(finding.code)])
    seen: Counter[str] = Counter()
    results = []
    for finding in ranked:
        rule = rules[shown(finding.code)]
        digest = _digest(finding)
        seen[digest] += 1
        results.append(
            Result(
                rule_id=rule.id,
                rule_index=places[rule.id],
                level=rule.default_configuration.level,
                message=_message(_told(finding, rule)),
                locations=(_location(finding.where),),
                partial_fingerprints={FINGERPRINT: f"{digest}:{seen[digest]}"},
            )
        )
    return tuple(results)


def _told(finding: AuditFinding, rule: Rule) -> str:
    """The message with its question; with the next step where it says more than the rule's."""
    told = finding.message if finding.qid is None else f"{finding.qid}: {finding.message}"
    own = finding.tip and _message(finding.tip) != rule.help
    return f"{told} → {finding.tip}" if own else told


def _message(text: str) -> Message:
    """Text as a message: the standard reads single braces as placeholders, `[a](b)` as a link."""
    plain = shown(text, LONGEST).replace("](", "] (")
    return Message(plain.replace("{", "{{").replace("}", "}}"))


def _location(where: str) -> Location:
    place = story.place_of(where)
    if place is None:
        return Location(logical_locations=(LogicalLocation(shown(where)),))
    path, line = place
    return Location(
        physical_location=PhysicalLocation(
            artifact_location=Artifact(_uri(path)), region=Region(line)
        )
    )


def _uri(path: str) -> str:
    """
    >>> _uri("runs/my traces.jsonl"), _uri("/tmp/a#b.jsonl")
    ('runs/my%20traces.jsonl', 'file:///tmp/a%23b.jsonl')
    """
    return ("file://" if path.startswith("/") else "") + quote(writable(path))


def _digest(finding: AuditFinding) -> str:
    """What a finding is, wherever its line moves to; without a question its message tells."""
    about = finding.message if finding.qid is None else finding.qid
    parts = (about, finding.code, finding.field, finding.segment, finding.item)
    return hashlib.sha256(ascii(parts).encode()).hexdigest()[:16]
