"""The sentences of a diagnosis besides those of the catalogue, kept as data: a file a language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct, field

from ragauge.contracts.diagnosis import Language, Severity, Standing

DECIMALS = 3


class SignWords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sign as evidence. In both sentences `{n}` samples of `{of}` show it, as in `Evidence`."""

    seen: str
    not_seen: str
    """Where too few show it; those `{n}` are the exceptions."""


class Why(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a cause is struck out, or cannot be told."""

    no_symptom: str
    untested: str
    """`{what}` is one of `needs`."""
    struck_out: dict[str, str]
    """By the sign that the cause needs, and that none of `{of}` shows."""


class Feature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What samples are sliced by without being asked: its name, and its values by theirs."""

    name: str
    values: dict[str, str]


class SliceWords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences of a slice of a metric that is low."""

    only: str
    """Nothing is beyond the threshold elsewhere."""
    mostly: str
    worse: str
    """The threshold parts nothing: all samples are beyond it, none is, or there is none."""
    condition: str
    joiner: str = field(name="and")
    features: dict[str, Feature]

    def conditions(self, wanted: dict[str, str]) -> str:
        """A slice's conditions in a row; what is nobody's word stands as it is.

        >>> words("en").slices.conditions({"country": "NL", "first_relevant": "second_or_third"})
        'country=NL ∧ first relevant chunk=second or third'
        """
        said = []
        for name, value in wanted.items():
            known = self.features.get(name) or Feature(name=name, values={})
            value_said = known.values.get(value, value)
            said.append(worded(self.condition, name=known.name, value=value_said))
        return self.joiner.join(said)


class InterventionWords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change that a replay makes, and what it means where that repairs an answer."""

    label: str
    repaired: str


class ReplayWords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a replay did not make a change, or why the change tells nothing."""

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


class MetricWords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why nothing is said of a metric."""

    no_valid_value: str
    too_few_values: str
    no_rule: str
    each: str
    """A gate asks it of every question, and some fail it though the mean is fine."""


class Words(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All sentences of one language; what stands in braces is for `worded` to fill in."""

    elsewhere: str
    """What is put after a sign's sentence: how many of those that went right show it."""
    shown: str
    """A symptom with how many show it."""
    count_frame: str
    count_ends: str
    """What a sign's sentence begins with, and ends its count with: its words alone are between."""
    symptoms: dict[str, str]
    signs: dict[str, SignWords]
    why: Why
    needs: dict[str, str]
    """By a needed sign, or a symptom: what the input would have to have to tell it."""
    unknown: dict[str, str]
    slices: SliceWords
    severity: dict[Severity, str]
    standing: dict[Standing, str]
    interventions: dict[str, InterventionWords]
    replay: ReplayWords
    metrics: MetricWords


@cache
def words(language: Language) -> Words:
    """The sentences of a language."""
    text = (files("ragauge.diagnosis") / "words" / f"{language}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Words)


def worded(template: str, **values: object) -> str:
    """The sentence with its values, numbers as reports write them.

    >>> worded("{metric}: {value} in {n} of {of}", metric="rcr", value=-0.0001, n=14, of=1200)
    'rcr: 0.000 in 14 of 1,200'
    """
    written = {}
    for name, value in values.items():
        written[name] = f"{value:,}" if isinstance(value, int) else str(value)
        if isinstance(value, float):
            written[name] = f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}"
    return template.format_map(written)
