"""The fixed words of the forms, by language.

Those of causes and evidence come in the report; symptoms, standings and interventions are called
what `ragauge.diagnosis.words` calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from msgspec import Struct

from ragauge.contracts.diagnosis import DiagnosisReport, Language, Severity
from ragauge.reports import numbers

_MODULES: dict[Language, str] = {"en": "english", "zh": "chinese"}


class Signs(Struct, frozen=True):
    """Punctuation: full-width in Chinese."""

    comma: str
    semicolon: str
    colon: str
    stop: str
    opening: str
    closing: str


class Heads(Struct, frozen=True, kw_only=True):
    """Headings, and the names of columns."""

    metrics: str
    causes: str
    causes_about: str
    untested: str
    untested_about: str
    struck_out: str
    struck_out_about: str
    slices: str
    symptoms: str
    symptoms_about: str
    addresses: str
    of_answers: str
    of_references: str
    replay: str
    worst: str
    worst_about: str
    gates: str
    gates_about: str
    other_metrics: str
    unknown: str
    findings: str
    coverage: str
    identity: str

    metric: str
    severity: str
    value: str
    interval: str
    limits: str
    valid: str
    invalid: str
    beyond: str
    beyond_warning: str
    beyond_critical: str
    slice: str
    samples: str
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
    bound: str
    verdict: str
    scored: str
    note: str
    where: str


class Labels(Struct, frozen=True, kw_only=True):
    """All the words a form needs; `{n}` and the like are filled in by `story`."""

    html_lang: str
    kind: str
    passed: str
    failed: str
    signs: Signs
    heads: Heads

    of: str
    """`{n} of {of}`."""
    metrics: tuple[str, str]
    """`1 metric`, `2 metrics`: one and many, as everything that is counted."""
    samples: tuple[str, str]
    answers: tuple[str, str]
    """What went wrong: of a sweep there are several for each sample."""
    questions: tuple[str, str]
    contexts: tuple[str, str]
    more_contexts: tuple[str, str]
    calls: tuple[str, str]
    others: tuple[str, str]
    """Those that are left out."""

    low: str
    fine: str
    nothing_judged: str
    none_is_critical: str
    but: str
    """What stands against a run that passes."""
    no_metrics: str
    not_evaluable: str
    no_rule: str

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
    all_struck_out: str
    only_untested: str
    none_goes_with: str

    severities: dict[Severity, str]
    addresses: dict[str, str]
    invalid: dict[str, str]
    coverage: dict[str, str]
    gate_verdicts: dict[str, str]

    beyond: str
    beyond_bound: str
    """Where a bound is all there is."""
    beyond_critical: str
    invalid_are: str
    goes_with: str
    higher_is_better: str
    lower_is_better: str
    elsewhere: str
    bits: str
    why: str
    confirm: str
    change: str
    costs: str
    worsens: str
    see: str

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
    ended: dict[str, str]
    system: str
    not_made: str
    shown_in: str
    no_worst: str
    question: str
    answer: str
    reference: str
    passages: str
    retrieved: str
    shown_above: str
    not_given: str
    nothing_retrieved: str
    empty: str
    no_unknown: str
    no_coverage: str
    more: str
    more_in_html: str
    more_in_json: str
    in_full: str

    def counted(self, number: int, forms: tuple[str, str]) -> str:
        """
        >>> labels_of("en").counted(1, labels_of("en").samples)
        '1 sample'
        """
        return forms[number != 1].format(n=numbers.count(number))

    def n_of(self, n: int, of: int | str) -> str:
        """`14 of 18`, `14 of 18 samples`."""
        whole = of if isinstance(of, str) else numbers.count(of)
        return self.of.format(n=numbers.count(n), of=whole)

    def listed(self, parts: Sequence[str]) -> str:
        return self.signs.comma.join(part for part in parts if part)

    def told(self, parts: Sequence[str]) -> str:
        """Parts of a sentence, those that are empty left out."""
        return self.signs.semicolon.join(part for part in parts if part)

    def beside(self, text: str) -> str:
        """The text in parentheses; nothing for nothing."""
        return f"{self.signs.opening}{text}{self.signs.closing}" if text else ""


def labels_of(language: Language) -> Labels:
    """The words of a language."""
    found: Labels = import_module(f"ragauge.reports.diagnosis.{_MODULES[language]}").LABELS
    return found


def title(report: DiagnosisReport) -> str:
    """What the page is called: `Ragauge diagnosis: FAIL`."""
    say = labels_of(report.language)
    word = say.passed if report.passed else say.failed
    return f"Ragauge {say.kind}{say.signs.colon}{word}"


def named(known: dict[str, str], name: str) -> str:
    """The word for a name; the name itself where there is none, for it may be a user's own.

    >>> named({"missed": "the retriever missed it"}, "home_made")
    'home made'
    """
    return known.get(name, name.replace("_", " "))
