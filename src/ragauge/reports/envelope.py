"""What every kind of report has (metrics, gates, findings, advice) in words.

Words that have a version in each language are data, a file per language. Sentences about causes
and evidence are part of the report; symptoms, standings and interventions have the names of
`ragauge.diagnosis.words`.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.report import Decision, Finding, Report, Verdict
from ragauge.gates.rules import is_quality
from ragauge.metrics.names import short_name
from ragauge.reports import numbers
from ragauge.reports.numbers import count, counted, restriction

PLACES_SHOWN = 3
PER_QUESTION = "per question"  # what the restriction of a rule for each question begins with
CHANGES = {"no-regression": "beyond noise", "not-worse": "at worst"}
"""What a gate on a change compares with its bound: the part that chance does not explain, or the
worst end of the interval."""


def gate_word(gate: Verdict, language: str = "en") -> str:
    """A gate's verdict, in capitals where it stops the run."""
    word = wording(language).gate_verdicts[gate.verdict]
    return word if gate.holds else word.upper()


def gate_words(gate: Verdict, name: str) -> str:
    """A gate in a sentence: what it found, what it demands, and why it was not evaluated."""
    rest, bound, found = restriction(gate), numbers.bound(gate), gate.value
    if found is not None and rest.startswith(PER_QUESTION):
        holding = numbers.n_of(round(found * gate.n), gate.n)
        facts = f"{name} {bound} holds for {holding}"
    elif rest in CHANGES:
        change = f"{numbers.signed(found)} {numbers.signed_interval(gate.ci)}".rstrip()
        facts = f"change of {name} {CHANGES[rest]} is {change}, must be {bound}"
    else:
        value = f"{numbers.value_beside(found, gate.bound)} {numbers.interval(gate.ci)}".rstrip()
        facts = f"{name} is {value} over {count(gate.n)}, must be {bound}"
    note = gate_note(gate)
    return f"{gate_word(gate)}: {facts}{f' ({note})' if note else ''}"


def verdict_word(passed: bool | None, gates: Iterable[Verdict]) -> str:
    """PASS or FAIL; where nothing was demanded of the quality, that."""
    if passed is None:
        return f"No quality gate {'evaluated' if any(map(is_quality, gates)) else 'set'}"
    return "PASS" if passed else "FAIL"


def gate_counts(report: Report) -> str:
    """What the gates did: `1 of 3 gates failed, 1 not evaluated`; nothing without gates."""
    if not report.gates:
        return ""
    total = counted(len(report.gates), "gate")
    times = Counter(gate.verdict for gate in report.gates)
    if times["fail"]:
        words = f"{count(times['fail'])} of {total} failed"
    else:
        words = f"{count(times['pass'])} of {total} {'holds' if len(report.gates) == 1 else 'hold'}"
    others = {"not evaluated": times["not_evaluated"], "not applicable": times["not_applicable"]}
    return ", ".join([words, *(f"{count(n)} {name}" for name, n in others.items() if n)])


def how_to_gate(passed: bool | None, example: str) -> str:
    """How to set a quality gate, where there is none."""
    return "" if passed is not None else f"Set one with {example}; --require-gates demands one."


def gate_note(gate: Verdict) -> str:
    """What a gate has no column for: its restriction, its reason, that it may be absent."""
    optional = "optional" if gate.optional and gate.verdict == "not_evaluated" else ""
    return "; ".join(filter(None, (restriction(gate), optional, gate.reason)))


def short_names(ids: Iterable[str]) -> dict[str, str]:
    """Metric ids by the names to show: without the family, unless two would be the same.

    >>> list(short_names(["quality.errors", "quality.coverage", "labels.coverage"]).values())
    ['errors', 'quality.coverage', 'labels.coverage']
    """
    short = {id: short_name(id) for id in ids}
    times = Counter(short.values())
    return {id: name if times[name] == 1 else id for id, name in short.items()}


def metric_names(report: Report, *others: str) -> dict[str, str]:
    """The metrics of a report, also those of its gates, and others, by the names to show."""
    gated = (gate.metric for gate in report.gates)
    return short_names(dict.fromkeys((*report.metrics, *gated, *others)))


def findings_by_code(
    findings: Sequence[Finding], counts: Mapping[str, int]
) -> list[tuple[str, int, Sequence[Finding]]]:
    """Each code with its count and its first places; the most frequent code first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        (code, times, [one for one in findings if one.code == code][:PLACES_SHOWN])
        for code, times in ranked
    ]


def finding_text(finding: Finding) -> str:
    """The message with its place, once."""
    if not finding.where or finding.message.startswith(f"{finding.where}:"):
        return finding.message
    return f"{finding.where}: {finding.message}"


def identity_words(identity: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What makes a run comparable, a line each: names with dots for what is inside.

    >>> identity_words({"command": "score", "gold": {"sha256": "2f7d", "rows": 4}})
    [('command', 'score'), ('gold.rows', '4'), ('gold.sha256', '2f7d')]
    """
    found: list[tuple[str, str]] = []
    for name, value in sorted(identity.items()):
        if isinstance(value, Mapping):
            found += [(f"{name}.{inner}", told) for inner, told in identity_words(value)]
        else:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
            found.append((name, value if isinstance(value, str) else text))
    return found


Counted = tuple[str, str]  # `{n} sample`, `{n} samples`


class Signs(Struct, frozen=True, forbid_unknown_fields=True):
    """Punctuation, with its spaces: full-width in Chinese."""

    comma: str
    semicolon: str
    colon: str
    stop: str
    opening: str
    closing: str


class Wording(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language that writers need for any document."""

    html_lang: str
    signs: Signs
    passed: str
    failed: str
    of: str

    findings: str
    finding: str
    times: str
    first_places: str
    coverage: str
    run_details: str
    advice: str
    advice_about: str
    confirm: str
    change: str
    see: str
    next: str
    more: str
    and_more: str
    rest: str
    show_more: Counted
    in_json: str
    """Where what is left out of a table can be found."""
    json_has_them: str
    in_html: str
    all_about: str
    fraction: str
    note: str

    gates: str
    metric: str
    value: str
    interval: str
    interval_95: str
    scored: str
    bound: str
    verdict: str
    gate_verdicts: dict[Decision, str]

    def counted(self, number: int, forms: Counted) -> str:
        """
        >>> wording("en").counted(1, ("{n} sample", "{n} samples"))
        '1 sample'
        """
        return forms[number != 1].format(n=numbers.count(number))

    def n_of(self, n: int, of: int | str | None) -> str:
        """`14 of 18`, `14 of 18 samples`; the count alone where there is no total."""
        if of is None:
            return numbers.count(n)
        total = of if isinstance(of, str) else numbers.count(of)
        return self.of.format(n=numbers.count(n), of=total)

    def listed(self, parts: Iterable[str]) -> str:
        return self.signs.comma.join(filter(None, parts))

    def told(self, parts: Iterable[str]) -> str:
        """Parts of a sentence, without the empty ones."""
        return self.signs.semicolon.join(filter(None, parts))

    def beside(self, text: str) -> str:
        """The text in parentheses; nothing for nothing."""
        return f"{self.signs.opening}{text}{self.signs.closing}" if text else ""

    def sentence(self, text: str) -> str:
        """The text with a full stop.

        >>> wording("en").sentence("one of two failed"), wording("zh").sentence("没有指标")
        ('one of two failed.', '没有指标。')
        """
        return text if text.endswith((".", "!", "?", "。")) else f"{text}{self.signs.stop}"


class Phrases(Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sentences of one kind of report, next to the words that all have in its language.

    What is in braces is filled in.
    """

    phrases: dict[str, str]
    counts: dict[str, Counted] = {}
    names: dict[str, dict[str, str]] = {}
    """By what they name: the words for the values of a field."""

    def __call__(self, name: str, **values: str | int) -> str:
        """The phrase with its values; counts with their thousands.

        >>> phrases("catalogue", "en")("count", n=1200, causes=35)
        '1,200 entries; 35 of them are causes, which are ranked by evidence.'
        """
        texts = {
            key: numbers.count(value) if isinstance(value, int) else value
            for key, value in values.items()
        }
        return self.phrases[name].format_map(texts)

    def count(self, number: int, name: str) -> str:
        """`1 sample`, `38 samples`."""
        return self.counted(number, self.counts[name])

    def named(self, what: str, name: str) -> str:
        """The word for a name; the name itself where there is none: it may be a user's own."""
        return self.names[what].get(name, name.replace("_", " "))


@cache
def wording(language: str) -> Wording:
    return msgspec.convert(_read(language), Wording)


@cache
def phrases(kind: str, language: str) -> Phrases:
    return msgspec.convert(_read(language) | _read(f"{kind}.{language}"), Phrases)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("ragauge.reports") / "words" / f"{name}.toml").read_text("utf-8"))
