"""A model under evaluation: an object at hand, one imported by its name, or a named baseline."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ragauge.contracts.component_models import METHODS
from ragauge.contracts.evaluation import Task
from ragauge.errors import UsageError
from ragauge.pipelines.callable import described, named_object

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]+)*")


def model_of(given: Any) -> tuple[str, Any]:
    """A model's name and the model; raises UsageError where it has none of the methods.

    A name is `module:object`, found from the current folder too, where a class makes one object;
    or a baseline: `spacy:PIPELINE`, `zero-shot:MODEL`, `wikidata:LANGUAGE` or `wikidata:URL`.
    """
    if isinstance(given, str):
        kind, colon, rest = given.partition(":")
        name, model = BASELINES[kind](rest) if colon and kind in BASELINES else _imported(given)
    else:
        name, model = f"{type(given).__module__}:{type(given).__qualname__}", given
    if not any(can(model, task) for task in METHODS):
        methods = ", ".join(METHODS.values())
        raise UsageError(f'"{name}" has none of the methods {methods}; a model has one at least')
    return name, model


def can(model: Any, task: Task) -> bool:
    """Whether a model has the method of a task."""
    return callable(getattr(model, METHODS[task], None))


def _imported(name: str) -> tuple[str, Any]:
    found = named_object(name, "model", "module:object")
    if not isinstance(found, type):
        return name, found
    try:
        return name, found()
    except Exception as error:
        raise UsageError(f'"{name}": making one failed: {described(error)}') from None


def _spacy(pipeline: str) -> tuple[str, Any]:
    from ragauge.models.baselines.spacy_entities import SpacyEntities

    if not pipeline:
        raise UsageError("--model spacy: names no pipeline; write such as spacy:nl_core_news_sm")
    return f"spacy:{pipeline}", SpacyEntities(pipeline)


def _zero_shot(model: str) -> tuple[str, Any]:
    from ragauge.models.baselines.zero_shot_types import ZeroShotTypes

    if not model:
        example = "zero-shot:MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
        raise UsageError(f"--model zero-shot: names no model; write such as {example}")
    return f"zero-shot:{model}", ZeroShotTypes(model)


def _wikidata(search: str) -> tuple[str, Any]:
    """A linker over Wikidata in a language, or over another search URL, which may give one."""
    from ragauge.models.baselines.search_links import WIKIDATA, SearchLinks

    if _LANGUAGE.fullmatch(search):
        return f"wikidata:{search}", SearchLinks(WIKIDATA, language=search)
    if "://" not in search:
        raise UsageError(
            "--model wikidata: names no search; write a language, such as wikidata:nl, or the URL "
            "of a search that answers wbsearchentities, such as wikidata:http://host/w/api.php"
        )
    linker = SearchLinks(search)
    return f"wikidata:{linker.url}", linker


BASELINES: dict[str, Callable[[str], tuple[str, Any]]] = {
    "spacy": _spacy,
    "zero-shot": _zero_shot,
    "wikidata": _wikidata,
}
"""What a name may begin with in place of a module."""
