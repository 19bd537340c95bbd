"""The fixed words around the catalogue, by language; those of its entries come with them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from msgspec import Struct

from ragauge.contracts.diagnosis import Language
from ragauge.reports.words import Wording

_MODULES: dict[Language, str] = {"en": "english", "zh": "chinese"}


class Section(Struct, frozen=True):
    """A heading, and what is said below it before anything is listed."""

    title: str
    about: str


class Columns(Struct, frozen=True, kw_only=True):
    """The names of columns."""

    metric: str
    better: str
    warning: str
    critical: str
    limit: str
    entries: str
    symptom: str
    seen: str
    tolerated: str
    causes: str
    sign: str
    bits: str
    bits_if_not: str
    step: str
    knob: str
    costs: str
    worsens: str
    field: str
    needed: str
    meaning: str
    fact: str
    values: str


class OwnRules(Struct, frozen=True, kw_only=True):
    """How a user writes rules of his own."""

    section: Section
    entry: Section
    entry_fields: dict[str, tuple[bool, str]]
    """By field: whether it has to be there, and what it says."""
    threshold: Section
    threshold_fields: dict[str, tuple[bool, str]]
    facts: Section
    """What `when` may ask for."""
    symptom: str
    """What the values of `symptom` are."""
    stratum: tuple[str, str]
    """How a fact of the user's own is called, and what its values are."""
    example_title: str
    example: str

    def tables(self) -> list[tuple[Section, dict[str, tuple[bool, str]]]]:
        """The tables that a file may have, with their fields."""
        return [(self.entry, self.entry_fields), (self.threshold, self.threshold_fields)]


class Labels(Struct, frozen=True, kw_only=True):
    """All the words a form needs."""

    common: Wording
    """What reports say as well: punctuation, confirm, costs."""
    title: str
    about: str
    count: str
    """`{n} entries, {causes} of them causes`."""
    only: str
    """`{metrics}` alone are told of."""
    no_entry: str
    """Nothing is known of `{metrics}`."""
    columns: Columns
    judged: Section
    usual: Section
    contents: Section
    ranking: Section
    """How causes are ranked, a paragraph a line."""
    symptoms: Section
    families: dict[str, Section]
    other_family: str
    """The heading of entries that are not ours."""

    shows_in: str
    shows_as: str
    seen_in: str
    applies: str
    scores: str
    no_signs: str
    weighs: str
    """`{bits} bits`."""
    weighs_if_not: str
    needed: str
    yes: str
    no: str
    higher: str
    lower: str
    comma: str
    """What joins names."""
    alternatives: str
    """What joins the values of which any will do."""
    is_one_of: str
    """What stands between a fact and its values."""

    count_frame: tuple[str, ...]
    """What a sign's sentence begins with where it is counted, and what is left to cut then."""
    own: OwnRules

    def listed(self, names: Iterable[str]) -> str:
        return self.comma.join(names)

    def without_count(self, sentence: str) -> str:
        """What a sign says of a sample, without how many show it.

        >>> labels_of("en").without_count("{n} of {of} that went wrong: many passages were shown")
        'many passages were shown'
        """
        for part in self.count_frame:
            sentence = sentence.removeprefix(part)
        return sentence


def labels_of(language: Language) -> Labels:
    """The words of a language."""
    found: Labels = import_module(f"ragauge.reports.catalogue.{_MODULES[language]}").LABELS
    return found
