"""What a model returned, as the fields of a prediction record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from operator import index
from typing import Any, SupportsIndex

from ragauge.contracts.evaluation import Task
from ragauge.contracts.finding import Finding, Findings
from ragauge.ingest.fields import quoted
from ragauge.text.kb_ids import is_nil, kb_id, kb_name

MORE_THAN_K = "more_than_k"


class BadReply(Exception):
    """A model returned what the protocol does not have."""


def fields_of(task: Task, returned: Any, text: str) -> dict[str, Any]:
    """The fields of a prediction; raises BadReply with the fact. `text` is what it was asked of."""
    return _READERS[task](returned, text)


def _entities(returned: Any, text: str) -> dict[str, Any]:
    return {"entities": [_entity(one, text) for one in _listed(returned, "entities")]}


def _entity(given: Any, text: str) -> dict[str, Any]:
    start, end, kind = (_part(given, name) for name in ("start", "end", "type"))
    if not isinstance(start, SupportsIndex) or not isinstance(end, SupportsIndex):
        raise BadReply("an entity without start and end as whole numbers")
    start, end = index(start), index(end)
    if not isinstance(kind, str) or not kind:
        raise BadReply("an entity without a type")
    if not 0 <= start < end <= len(text):
        raise BadReply(f"an entity at {start}–{end} of a text of {len(text)} characters")
    return {"start": start, "end": end, "type": kind}


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
    return {"id": id, **_score(given), **({"source": _sources(source)} if source else {})}


def _sources(source: Any) -> list[str]:
    """Who brought a document: one, or several."""
    several = isinstance(source, list | tuple | set | frozenset)
    return sorted({str(one) for one in source}) if several else [str(source)]


def _answer(returned: Any, text: str) -> dict[str, Any]:
    """The answer's text, and its contexts where the model tells them."""
    answer = returned if isinstance(returned, str) else _part(returned, "answer")
    if not isinstance(answer, str):
        raise BadReply(f"{_kind(returned)} in place of an answer")
    contexts = None if isinstance(returned, str) else _part(returned, "contexts")
    if contexts is None:
        return {"answer": answer}
    found = [_context(one) for one in _listed(contexts, "contexts")]
    return {"answer": answer, "contexts": found}


def _context(given: Any) -> str | dict[str, Any]:
    if isinstance(given, str):
        return given
    words, id = _part(given, "text"), _part(given, "id")
    if not isinstance(words, str):
        raise BadReply("a context without a text")
    return {"text": words} if id is None else {"id": str(id), "text": words}


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
        findings.add(Finding(MORE_THAN_K, where, f"retrieve: {fact}"))
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
