"""Numbers, gates, findings and other parts of any report as text.

Texts that exist in each language are data, a file per language. Sentences about causes and
evidence are part of the report; symptoms, standings and interventions get their names from
`ragauge.diagnosis.texts`.
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

ABSENT = "–"  # what is shown where there is no number; the reason is next to it
DECIMALS = 3
MOST_DECIMALS = 9


def value(number: float | None) -> str:
    """
    >>> value(0.91489), value(None), value(-0.0001)
    ('0.915', '–', '0.000')
    """
    return ABSENT if number is None else _fixed(number, DECIMALS)


def value_against(number: float | None, bound: float) -> str:
    """The value with as many decimals as it takes to distinguish it from its bound.

    >>> value_against(0.10004, 0.1), value_against(0.1, 0.1)
    ('0.10004', '0.100')
    """
    if number is None or abs(number - bound) < 10**-MOST_DECIMALS:
        return value(number)
    decimals = DECIMALS
    while decimals < MOST_DECIMALS and float(_fixed(number, decimals)) == bound:
        decimals += 1
    return _fixed(number, decimals)


def interval(ends: tuple[float, float] | None) -> str:
    """
    >>> interval((0.886, 0.93949))
    '[0.886, 0.939]'
    """
    return "" if ends is None else f"[{value(ends[0])}, {value(ends[1])}]"


def signed(number: float | None) -> str:
    """
    >>> signed(0.05), signed(-0.25), signed(0.0)
    ('+0.050', '-0.250', '0.000')
    """
    text = value(number)
    return f"+{text}" if number is not None and number > 0 and float(text) else text


def signed_interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"[{signed(ends[0])}, {signed(ends[1])}]"


def count(number: int) -> str:
    return f"{number:,}"


def pluralize(number: int, one: str, many: str | None = None) -> str:
    """
    >>> pluralize(1, "question"), pluralize(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def by_count(times: Mapping[str, int]) -> list[tuple[str, int]]:
    """Names with their counts, the most frequent first; zero counts are left out.

    >>> by_count({"b": 1, "zero": 0, "a": 1, "often": 12})
    [('often', 12), ('a', 1), ('b', 1)]
    """
    found = ((name, each) for name, each in times.items() if each)
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def n_of(n: int, of: int | None) -> str:
    """
    >>> n_of(47, 1080), n_of(47, None)
    ('47 of 1,080', '47')
    """
    return count(n) if of is None else f"{n:,} of {of:,}"


def percent(part: int, whole: int) -> str:
    """
    >>> percent(43, 80), percent(0, 0)
    ('53.8 %', '–')
    """
    return f"{100 * part / whole:.1f} %" if whole else ABSENT


def bound(verdict: Verdict) -> str:
    """The demand of a gate without its metric: `<= 0.10`, `= 0`, `>= 0.80 @95`."""
    return f"{verdict.op} {_bound(verdict.bound)}{confidence(verdict)}"


def confidence(verdict: Verdict) -> str:
    """` @95` where the rule is about the interval at that level, else nothing."""
    tail = _rule_tail(verdict)
    return " " + tail.split(" ")[0].rstrip("?") if tail.startswith("@") else ""


def restriction(verdict: Verdict) -> str:
    """The rest of the rule: `per question 3 of 4 where language=nl`."""
    tail = _rule_tail(verdict).removeprefix(confidence(verdict).strip()).removesuffix("?")
    return tail.strip()


def _rule_tail(verdict: Verdict) -> str:
    return verdict.rule.removeprefix(f"{verdict.metric}{verdict.op}{verdict.bound:.12g}")


def _bound(number: float) -> str:
    text = f"{number:.12g}"
    whole, dot, decimals = text.partition(".")
    return f"{whole}.{decimals:0<2}" if dot and "e" not in decimals else text


def _fixed(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


PLACES_SHOWN = 3
PER_QUESTION = "per question"  # how the restriction of a rule for each question begins
CHANGES = {"no-regression": "beyond noise", "not-worse": "at worst"}
"""What a gate on a change compares with its bound: the part of the change that chance does not
explain, or the worst end of its interval."""


def gate_word(gate: Verdict, language: str = "en") -> str:
    """A gate's verdict, in capitals where it stops the run."""
    word = wording(language).gate_verdicts[gate.verdict]
    return word if gate.holds else word.upper()


def gate_sentence(gate: Verdict, name: str) -> str:
    """A gate in a sentence: its value, its bound, and why it was not evaluated."""
    rest, demanded, found = restriction(gate), bound(gate), gate.value
    if found is not None and rest.startswith(PER_QUESTION):
        holding = n_of(round(found * gate.n), gate.n)
        facts = f"{name} {demanded} holds for {holding}"
    elif rest in CHANGES:
        change = f"{signed(found)} {signed_interval(gate.ci)}".rstrip()
        facts = f"change of {name} {CHANGES[rest]} is {change}, must be {demanded}"
    else:
        value = f"{value_against(found, gate.bound)} {interval(gate.ci)}".rstrip()
        facts = f"{name} is {value} over {count(gate.n)}, must be {demanded}"
    note = gate_note(gate)
    return f"{gate_word(gate)}: {facts}{f' ({note})' if note else ''}"


def verdict_word(passed: bool | None, gates: Iterable[Verdict]) -> str:
    """PASS or FAIL; without a gate on quality, that there is none."""
    if passed is None:
        return f"No quality gate {'evaluated' if any(map(is_quality, gates)) else 'set'}"
    return "PASS" if passed else "FAIL"


def gate_counts(report: Report) -> str:
    """How the gates ended: `1 of 3 gates failed, 1 not evaluated`; nothing without gates."""
    if not report.gates:
        return ""
    total = pluralize(len(report.gates), "gate")
    times = Counter(gate.verdict for gate in report.gates)
    if times["fail"]:
        first = f"{count(times['fail'])} of {total} failed"
    else:
        first = f"{count(times['pass'])} of {total} {'holds' if len(report.gates) == 1 else 'hold'}"
    others = {"not evaluated": times["not_evaluated"], "not applicable": times["not_applicable"]}
    return ", ".join([first, *(f"{count(n)} {name}" for name, n in others.items() if n)])


def how_to_gate(passed: bool | None, example: str) -> str:
    """How to set a quality gate, where there is none."""
    return "" if passed is not None else f"Set one with {example}; --require-gates demands one."


def gate_note(gate: Verdict) -> str:
    """What has no column in the table of gates: a gate's restriction, reason, and optionality."""
    optional = "optional" if gate.optional and gate.verdict == "not_evaluated" else ""
    return "; ".join(filter(None, (restriction(gate), optional, gate.reason)))


def short_names(ids: Iterable[str]) -> dict[str, str]:
    """The name to show for each metric id: without the family, unless two would be the same.

    >>> list(short_names(["quality.errors", "quality.coverage", "labels.coverage"]).values())
    ['errors', 'quality.coverage', 'labels.coverage']
    """
    short = {id: short_name(id) for id in ids}
    times = Counter(short.values())
    return {id: name if times[name] == 1 else id for id, name in short.items()}


def metric_names(report: Report, *others: str) -> dict[str, str]:
    """The name to show for each metric of a report, of its gates, and for the others."""
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


def identity_items(identity: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What makes a run comparable, as names and texts; nested names are joined by dots.

    >>> identity_items({"command": "score", "gold": {"sha256": "2f7d", "rows": 4}})
    [('command', 'score'), ('gold.rows', '4'), ('gold.sha256', '2f7d')]
    """
    found: list[tuple[str, str]] = []
    for name, value in sorted(identity.items()):
        if isinstance(value, Mapping):
            found += [
                (f"{name}.{inner}", inner_text) for inner, inner_text in identity_items(value)
            ]
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
    """The texts of one language that writers need for any document."""

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
    """Where to find what is left out of a table."""
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

    def pluralize(self, number: int, forms: Counted) -> str:
        """
        >>> wording("en").pluralize(1, ("{n} sample", "{n} samples"))
        '1 sample'
        """
        return forms[number != 1].format(n=count(number))

    def n_of(self, n: int, of: int | str | None) -> str:
        """`14 of 18`, `14 of 18 samples`; the count alone where there is no total."""
        if of is None:
            return count(n)
        total = of if isinstance(of, str) else count(of)
        return self.of.format(n=count(n), of=total)

    def listed(self, parts: Iterable[str]) -> str:
        return self.signs.comma.join(filter(None, parts))

    def clauses(self, parts: Iterable[str]) -> str:
        """Parts of a sentence, without the empty ones."""
        return self.signs.semicolon.join(filter(None, parts))

    def in_parentheses(self, text: str) -> str:
        """The text in parentheses; nothing for an empty text."""
        return f"{self.signs.opening}{text}{self.signs.closing}" if text else ""

    def sentence(self, text: str) -> str:
        """The text with a full stop.

        >>> wording("en").sentence("one of two failed"), wording("zh").sentence("没有指标")
        ('one of two failed.', '没有指标。')
        """
        return text if text.endswith((".", "!", "?", "。")) else f"{text}{self.signs.stop}"


class Phrases(Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sentences of one kind of report, in addition to the texts that all kinds share."""

    phrases: dict[str, str]
    counts: dict[str, Counted] = {}
    names: dict[str, dict[str, str]] = {}
    """For each field, the names of its values."""

    def __call__(self, name: str, **values: str | int) -> str:
        """The phrase with its values filled in; counts with separators for thousands.

        >>> phrases("catalogue", "en")("count", n=1200, causes=35)
        '1,200 entries; 35 of them are causes, which are ranked by evidence.'
        """
        texts = {
            key: count(value) if isinstance(value, int) else value for key, value in values.items()
        }
        return self.phrases[name].format_map(texts)

    def count(self, number: int, name: str) -> str:
        """`1 sample`, `38 samples`."""
        return self.pluralize(number, self.counts[name])

    def named(self, what: str, name: str) -> str:
        """The text for a name; without one, the name itself, which may be a user's own."""
        return self.names[what].get(name, name.replace("_", " "))


@cache
def wording(language: str) -> Wording:
    return msgspec.convert(_read(language), Wording)


@cache
def phrases(kind: str, language: str) -> Phrases:
    return msgspec.convert(_read(language) | _read(f"{kind}.{language}"), Phrases)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("ragauge.reports") / "words" / f"{name}.toml").read_text("utf-8"))
