"""Words of reports that have a version in each language, kept as data: a file per language.

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

from ragauge.contracts.report import Decision
from ragauge.reports import numbers

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
