"""The catalogue in the form that its reader wants: `ragauge diagnose --catalogue`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from ragauge.contracts.diagnosis import Language
from ragauge.diagnosis.catalogue import Entry, Rule
from ragauge.errors import UsageError
from ragauge.reports.catalogue.story import told

Form = Literal["text", "json", "markdown"]
FORMS: tuple[Form, ...] = get_args(Form)


def catalogue_text(
    entries: Sequence[Entry],
    rules: Mapping[str, Rule],
    *,
    language: Language = "en",
    form: str = "text",
    metrics: Sequence[str] | None = None,
    color: bool = False,
    width: int = 100,
) -> str:
    """The entries, worded in `language`, with all that goes with them; only `text` has a width.

    `rules` are the evidence of causes by id. With `metrics` only what concerns these is told.
    """
    found = told(entries, rules, language, metrics)
    match form:
        case "json":
            from ragauge.reports import json

            return json.render(found)
        case "markdown":
            from ragauge.reports.catalogue import markdown

            return markdown.render(found)
        case "text":
            from ragauge.reports.catalogue import console

            return console.render(found, color=color, width=width)
    raise UsageError(f'the catalogue has no form "{form}"; it has {", ".join(FORMS)}')
