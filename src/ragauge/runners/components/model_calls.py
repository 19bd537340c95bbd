"""A model under test: found by its name, called for every unit of a task, its replies checked."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from numbers import Real
from operator import index
from typing import Any, SupportsIndex

from msgspec import Struct

from ragauge.contracts.component_models import METHODS
from ragauge.contracts.evaluation import Task
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.heritage import Entry
from ragauge.ingest.ranked.queries import Query
from ragauge.pipelines.callable import described, named_object
from ragauge.text.kb_ids import is_nil, kb_id, kb_name

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]+)*")


def model_of(given: Any) -> tuple[str, Any]:
    """A model's name and the model; raises UsageError where it has none of the methods.

    A name is `module:object`, found from the current folder too, where a class makes one object;
    or a baseline: `spacy:PIPELINE`, `zero-shot:MODEL`, `wikidata:LANGUAGE` or `wikidata:URL`.
    """
    if isinstance(given, str):
        kind, colon, rest = given.partition(":")
        if colon and kind in BASELINES:
            name, model = BASELINES[kind](rest)
        else:
            name, model = given, named_object(given, "model", "module:object")
            try:
                model = model() if isinstance(model, type) else model
            except Exception as error:
                raise UsageError(f'"{name}": making one failed: {described(error)}') from None
    else:
        name, model = f"{type(given).__module__}:{type(given).__qualname__}", given
    if not any(can(model, task) for task in METHODS):
        methods = ", ".join(METHODS.values())
        raise UsageError(f'"{name}" has none of the methods {methods}; a model has one at least')
    return name, model


def can(model: Any, task: Task) -> bool:
    """Whether a model has the method of a task."""
    return callable(getattr(model, METHODS[task], None))


def _spacy(pipeline: str) -> tuple[str, Any]:
    from ragauge.models.baselines.spacy_entities import SpacyEntities

    if not pipeline:
        raise UsageError("--model spacy: names no pipeline; write such as spacy:nl_core_news_sm")
    return f"spacy:{pipeline}", SpacyEntities(pipeline)


def _zero_shot(model: str) -> tuple[str, Any]:
    from ragauge.models.baselines.types import ZeroShotTypes

    if not model:
        example = "zero-shot:MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
        raise UsageError(f"--model zero-shot: names no model; write such as {example}")
    return f"zero-shot:{model}", ZeroShotTypes(model)


def _wikidata(search: str) -> tuple[str, Any]:
    """A linker over Wikidata in a language, or over another search URL, which may give one."""
    from ragauge.models.baselines.links import WIKIDATA, SearchLinks

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


MARKS: dict[Task, str] = {
    "ner": "ner_annotations",
    "types": "type_classification",
    "linking": "entity_linking",
    "qa": "qa_pairs",
}
"""The part of an entry that a task is measured with."""
Progress = Callable[[int, int], None]


class Call(Struct, frozen=True, kw_only=True):
    """One call of a model's method."""

    where: str
    """What it is about, as a finding names it."""
    arguments: tuple[Any, ...]
    unit: dict[str, Any]
    """The fields that join the prediction with gold."""


class EntryRecord(Struct, frozen=True):
    """A heritage entry as it was given, and as it was read."""

    record: Mapping[str, Any]
    entry: Entry

    def has(self, mark: str) -> bool:
        return self.record.get(mark) is not None


def planned(
    task: Task, entries: Sequence[EntryRecord], queries: Sequence[Query], k: int
) -> list[Call]:
    """The calls a task needs, in the order of the gold."""
    if task == "retrieval":
        return [
            Call(where=query.id, arguments=(query.words, k), unit={"query": query.id})
            for query in queries
        ]
    calls: list[Call] = []
    for one in entries:
        entry = one.entry
        if task == "linking":
            # A call for each place of a linked mention; one with the context where none is marked.
            for mention in entry.links:
                marked = [each for each in entry.mentions if each.text == mention]
                places: list[dict[str, Any]] = [
                    {"start": each.start, "end": each.end} for each in marked
                ]
                for place in places or [{"context": entry.text}]:
                    unit = {"doc": entry.id, "mention": mention, **place}
                    where, arguments = f"{entry.id}: {mention}", (mention, entry.text)
                    calls.append(Call(where=where, arguments=arguments, unit=unit))
        elif task == "qa":
            for number, pair in enumerate(entry.pairs, 1):
                unit = {"qid": f"{entry.id}#{number}", "question": pair.question}
                calls.append(Call(where=unit["qid"], arguments=(pair.question,), unit=unit))
        elif one.has(MARKS[task]):
            unit = {"id": entry.id, "text": entry.text}
            calls.append(Call(where=entry.id, arguments=(entry.text,), unit=unit))
    return calls


def asked(
    task: Task, model: Any, calls: Sequence[Call], findings: Findings, tick: Callable[[], None]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The predictions of a model, and what went wrong: then a call is a finding without one."""
    method = getattr(model, METHODS[task])
    predicted: list[dict[str, Any]] = []
    errors: list[str] = []
    for call in calls:
        fact = None
        try:
            with redirect_stdout(sys.stderr):  # stdout is the report's
                returned = method(*call.arguments)
            fields = fields_of(task, returned, call.arguments[0])
            if task == "retrieval":
                fields = first_k(fields, call.arguments[1], call.where, findings)
            predicted.append({**call.unit, **fields})
        except BadReply as fault:
            fact = f"returned {fault}"
        except (Exception, SystemExit) as error:  # a model that exits is no reason to
            fact = described(error)
        if fact is not None:
            errors.append(f"{call.where}: {fact}")
            findings.add(Finding("model_error", call.where, f"{METHODS[task]}: {fact}"))
        tick()
    return predicted, errors


class BadReply(Exception):
    """A model returned what the protocol does not have."""


def fields_of(task: Task, returned: Any, text: str) -> dict[str, Any]:
    """The fields of a prediction; raises BadReply with the fact. `text` is what it was asked of."""
    return _READERS[task](returned, text)


def _entities(returned: Any, text: str) -> dict[str, Any]:
    found = []
    for given in _listed(returned, "entities"):
        start, end, kind = (_part(given, name) for name in ("start", "end", "type"))
        if not isinstance(start, SupportsIndex) or not isinstance(end, SupportsIndex):
            raise BadReply("an entity without start and end as whole numbers")
        start, end = index(start), index(end)
        if not isinstance(kind, str) or not kind:
            raise BadReply("an entity without a type")
        if not 0 <= start < end <= len(text):
            raise BadReply(f"an entity at {start}–{end} of a text of {len(text)} characters")
        found.append({"start": start, "end": end, "type": kind})
    return {"entities": found}


def _label(returned: Any, text: str) -> dict[str, Any]:
    if isinstance(returned, str):
        return {"label": returned}
    label = _part(returned, "label")
    if not isinstance(label, str):
        raise BadReply(f"{_kind(returned)} in place of a label")
    secondary = _part(returned, "secondary_types") or ()
    return {"label": label, "secondary_types": [str(one) for one in secondary]}


def _candidates(returned: Any, text: str) -> dict[str, Any]:
    """Candidates in order; None and an empty list say NIL."""
    if returned is None:
        return {"candidates": [], "nil": True}
    found = [_candidate(one) for one in _listed(returned, "candidates")]
    return {"candidates": found, "nil": not found}


def _candidate(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"id": _checked(given, None)}
    id, ids = _part(given, "id"), _part(given, "ids")
    if isinstance(ids, Mapping) and ids:
        # Ids by knowledge base tell more than one that may belong to any.
        found: dict[str, Any] = {
            "ids": {str(base): _checked(one, str(base)) for base, one in ids.items()}
        }
    elif isinstance(id, str | int):
        found = {"id": _checked(id, None)}
    else:
        raise BadReply("a candidate without an id")
    return found | _score(given)


def _checked(id: Any, base: str | None) -> str:
    """An id as text, if it can be one of its knowledge base; NIL takes up a rank of its own."""
    written = str(id)
    try:
        if not is_nil(written):
            kb_id(written, None if base is None else kb_name(base))
    except ValueError as fact:
        raise BadReply(f"the id {quoted(written)}, which {fact}") from None
    return written


def _documents(returned: Any, text: str) -> dict[str, Any]:
    """Documents in rank order; their scores only where every one has one."""
    found = [_document(one) for one in _listed(returned, "documents")]
    if not all("score" in one for one in found):
        found = [{name: one[name] for name in one if name != "score"} for one in found]
    return {"results": found}


def _document(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"id": given}
    id, source = _part(given, "id"), _part(given, "source")
    if not isinstance(id, str) or not id:
        raise BadReply("a document without an id")
    found = {"id": id, **_score(given)}
    if source:  # who brought the document: one, or several
        several = source if isinstance(source, list | tuple | set | frozenset) else [source]
        found["source"] = sorted({str(one) for one in several})
    return found


def _answer(returned: Any, text: str) -> dict[str, Any]:
    """The answer's text, and its contexts where the model tells them."""
    answer = returned if isinstance(returned, str) else _part(returned, "answer")
    if not isinstance(answer, str):
        raise BadReply(f"{_kind(returned)} in place of an answer")
    contexts = None if isinstance(returned, str) else _part(returned, "contexts")
    if contexts is None:
        return {"answer": answer}
    found: list[str | dict[str, Any]] = []
    for given in _listed(contexts, "contexts"):
        if isinstance(given, str):
            found.append(given)
            continue
        words, id = _part(given, "text"), _part(given, "id")
        if not isinstance(words, str):
            raise BadReply("a context without a text")
        found.append({"text": words} if id is None else {"id": str(id), "text": words})
    return {"answer": answer, "contexts": found}


def first_k(
    fields: Mapping[str, Any], k: int, where: str, findings: Findings
) -> dict[str, list[dict[str, Any]]]:
    """The results of a retrieval without the documents beyond the k that were asked for.

    Those are a finding. Where every result has a score, the scores say which come first.
    """
    results = fields["results"]
    ranked = results
    if all("score" in one for one in results):
        ranked = sorted(results, key=lambda one: (one["score"], one["id"]), reverse=True)
    documents = list(dict.fromkeys(one["id"] for one in ranked))
    if len(documents) > k:
        fact = f"returned {len(documents):,} documents for k = {k:,}; the first {k:,} count"
        findings.add(Finding("more_than_k", where, f"retrieve: {fact}"))
    near = set(documents[:k])
    return {"results": [one for one in results if one["id"] in near]}


def _score(given: Any) -> dict[str, float]:
    score = _part(given, "score")
    if score is None:
        return {}
    if not isinstance(score, Real) or not math.isfinite(score):
        raise BadReply("a score that is no finite number")
    return {"score": float(score)}


def _listed(returned: Any, what: str) -> Sequence[Any]:
    if isinstance(returned, str | bytes | Mapping) or not hasattr(returned, "__iter__"):
        raise BadReply(f"{_kind(returned)} in place of a list of {what}")
    return list(returned)


def _part(given: Any, name: str) -> Any:
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


_READERS: dict[Task, Callable[[Any, str], dict[str, Any]]] = {
    "ner": _entities,
    "types": _label,
    "linking": _candidates,
    "retrieval": _documents,
    "qa": _answer,
}
