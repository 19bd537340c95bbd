"""The sentences of a diagnosis that are not in the catalogue, as data: a file per language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct, field

from ragauge.contracts.diagnosis import Language, Severity, Standing

DECIMALS = 3


class SignTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sign as evidence; in both sentences `{n}` of `{of}` samples show it, as in `Evidence`."""

    seen: str
    not_seen: str
    """Used if too few show it; those `{n}` are the exceptions."""


class Why(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a cause is ruled out, or cannot be tested."""

    no_symptom: str
    untested: str
    """`{what}` is one of `needs`."""
    struck_out: dict[str, str]
    """By the sign that the cause needs and that none of `{of}` shows."""


class Feature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A built-in feature that samples are sliced by: its name, and the names of its values."""

    name: str
    values: dict[str, str]


class SliceTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences about a slice of a low metric."""

    only: str
    """Used if nothing is beyond the threshold elsewhere."""
    mostly: str
    worse: str
    """Used if the threshold separates nothing, or there is none."""
    condition: str
    joiner: str = field(name="and")
    features: dict[str, Feature]

    def conditions(self, wanted: dict[str, str]) -> str:
        """A slice's conditions as text; unknown names and values are not translated.

        >>> texts("en").slices.conditions({"country": "NL", "first_relevant": "second_or_third"})
        'country=NL ∧ first relevant chunk=second or third'
        """
        parts = []
        for name, value in wanted.items():
            known = self.features.get(name) or Feature(name=name, values={})
            value_text = known.values.get(value, value)
            parts.append(fill(self.condition, name=known.name, value=value_text))
        return self.joiner.join(parts)


class InterventionTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change that a replay makes, and what it means if that repairs an answer."""

    label: str
    repaired: str


class ReplayTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a replay did not make a change, or why the change shows nothing."""

    no_question: str
    short_budget: str
    hidden: str
    stopped: str
    refused: str
    """`{what}` is `knob` or `temperature_0`, `{told}` what the system said."""
    refused_unchanged: str
    unanswered: str
    ignored: str
    knob: str
    temperature_0: str
    impossible: dict[str, str]
    """By the change: why it could be made for no question."""


class MetricTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a metric has no verdict."""

    no_valid_value: str
    too_few_values: str
    no_rule: str
    each: str
    """Used if a gate applies to every question and some fail it although the mean is fine."""


class DiagnosisTexts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All sentences of one language; `fill` fills in what is in braces."""

    elsewhere: str
    """Follows a sign's sentence: how many of the cases that went right show it."""
    shown: str
    """A symptom with how many samples show it."""
    count_frame: str
    count_ends: str
    """The start of a sign's sentence, and the end of the count in it."""
    symptoms: dict[str, str]
    signs: dict[str, SignTexts]
    why: Why
    needs: dict[str, str]
    """By a needed sign or a symptom: what the input would need to have for it."""
    unknown: dict[str, str]
    slices: SliceTexts
    severity: dict[Severity, str]
    standing: dict[Standing, str]
    interventions: dict[str, InterventionTexts]
    replay: ReplayTexts
    metrics: MetricTexts


@cache
def texts(language: Language) -> DiagnosisTexts:
    """The sentences of a language."""
    text = (files("ragauge.diagnosis") / "words" / f"{language}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), DiagnosisTexts)


def fill(template: str, **values: object) -> str:
    """The sentence with its values filled in, with numbers as in reports.

    >>> fill("{metric}: {value} in {n} of {of}", metric="rcr", value=-0.0001, n=14, of=1200)
    'rcr: 0.000 in 14 of 1,200'
    """
    texts = {}
    for name, value in values.items():
        texts[name] = f"{value:,}" if isinstance(value, int) else str(value)
        if isinstance(value, float):
            texts[name] = f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}"
    return template.format_map(texts)
