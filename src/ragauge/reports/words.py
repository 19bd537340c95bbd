"""Words of reports that have a version in each language, kept as data: one file per language.

Sentences about causes and evidence are part of the report; symptoms, standings and interventions
have the names of `ragauge.diagnosis.words`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.diagnosis import Severity
from ragauge.contracts.verdict import Decision
from ragauge.reports import numbers

Counted = tuple[str, str]
"""`{n} sample`, `{n} samples`: one and many."""


class Signs(Struct, frozen=True, forbid_unknown_fields=True):
    """Punctuation, with its spaces: full-width in Chinese."""

    comma: str
    semicolon: str
    colon: str
    stop: str
    opening: str
    closing: str


class Heads(Struct, frozen=True, forbid_unknown_fields=True):
    """Headings of a diagnosis, remarks next to them, and the names of columns."""

    metrics: str
    causes: str
    causes_about: str
    untested: str
    untested_about: str
    ruled_out: str
    ruled_out_about: str
    slices: str
    symptoms: str
    symptoms_about: str
    addresses: str
    of_answers: str
    of_references: str
    replay: str
    worst: str
    worst_about: str
    gates_about: str
    unknown: str

    severity: str
    limits: str
    valid: str
    beyond: str
    beyond_warning: str
    beyond_critical: str
    slice: str
    samples: str
    claims: str
    elsewhere: str
    corrected_p: str
    intervention: str
    asked: str
    effective: str
    repaired: str
    failed: str
    impossible: str
    repaired_by: str
    sample: str
    symptom: str
    where: str
    id: str


class DiagnosisWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What a diagnosis says besides the sentences of its report."""

    kind: str
    heads: Heads

    metrics: Counted
    samples: Counted
    answers: Counted
    """What went wrong: of a sweep there are several for each sample."""
    questions: Counted
    contexts: Counted
    more_contexts: Counted
    calls: Counted

    low: str
    fine: str
    nothing_judged: str
    none_is_critical: str
    but: str
    no_metrics: str
    not_evaluable: str
    no_rule: str
    others: str
    """`{n} more`: low metrics that the verdict does not name."""

    lead_likely: str
    lead_possible: str
    lead_untested: str
    explains: str
    explains_little: str
    explains_nothing: str
    turn: str
    do_first: str
    no_cause: str
    none_is_low: str
    all_ruled_out: str
    none_goes_with: str
    also_possible: str

    severities: dict[Severity, str]
    addresses: dict[str, str]
    invalid: dict[str, str]
    coverage: dict[str, str]
    ended: dict[str, str]

    beyond: str
    beyond_bound: str
    """Where a bound is all there is."""
    beyond_critical: str
    invalid_are: str
    higher_is_better: str
    lower_is_better: str
    supports: str
    contradicts: str
    elsewhere: str
    bits: str
    means: str
    why: str
    costs: str
    worsens: str

    no_slice: str
    no_symptom: str
    no_addresses: str
    judged_by: str
    no_answer_claims: str
    no_reference_claims: str
    faithful: str
    wrong: str
    rates: str
    recalled: str
    reference_rates: str
    no_replay: str
    replayed: str
    resumed: str
    system: str
    not_made: str
    shown_in: str
    no_worst: str
    question: str
    answer: str
    reference: str
    passages: str
    retrieved: str
    not_given: str
    nothing_retrieved: str
    empty: str
    no_unknown: str
    no_coverage: str
    see_full: str
    see_page: str


class Wording(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language: those that writers need for any document, then those of kinds."""

    html_lang: str
    signs: Signs
    passed: str
    failed: str
    of: str
    """`{n} of {of}`."""

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
    """`and {n} more; {where}`."""
    rest: str
    """`{n} more`: what opens."""
    shown: str
    show_more: Counted
    in_json: str
    """Where what is left out of a table can be found."""
    json_has_them: str
    in_html: str
    all_about: str
    fraction: str
    note: str

    gates: str
    other_metrics: str
    metric: str
    meaning: str
    value: str
    interval: str
    interval_95: str
    scored: str
    bound: str
    verdict: str
    gate_verdicts: dict[Decision, str]

    diagnosis: DiagnosisWords

    def counted(self, number: int, forms: Counted) -> str:
        """
        >>> wording("en").counted(1, wording("en").diagnosis.samples)
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

    def filled(self, form: str, told: str | None) -> str:
        """A sentence with what it tells; nothing where there is nothing to tell."""
        return form.format(told=told) if told else ""

    def beside(self, text: str) -> str:
        """The text in parentheses; nothing for nothing."""
        return f"{self.signs.opening}{text}{self.signs.closing}" if text else ""

    def sentence(self, text: str) -> str:
        """The text with a full stop.

        >>> wording("en").sentence("one of two failed"), wording("zh").sentence("没有指标")
        ('one of two failed.', '没有指标。')
        """
        return text if text.endswith((".", "!", "?", "。")) else f"{text}{self.signs.stop}"


class Phrases(Struct, frozen=True, forbid_unknown_fields=True):
    """The sentences of one kind of report in one language; what is in braces is filled in."""

    say: Wording
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

    def counted(self, number: int, name: str) -> str:
        return self.say.counted(number, self.counts[name])

    def named(self, what: str, name: str) -> str:
        """The word for a name; the name itself where there is none: it may be a user's own."""
        return self.names[what].get(name, name.replace("_", " "))


@cache
def wording(language: str) -> Wording:
    return msgspec.convert(_read(language), Wording)


@cache
def phrases(kind: str, language: str) -> Phrases:
    return Phrases(wording(language), **_read(f"{kind}.{language}"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("ragauge.reports") / "words" / f"{name}.toml").read_text("utf-8"))
