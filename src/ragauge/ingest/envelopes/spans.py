"""Spans of a trace, whatever recorded them, and the traces of ours that they tell of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from ragauge.ingest.envelopes.payloads import Document, Message, Text
from ragauge.text.citations import inline_markers

Kind = Literal["chain", "llm", "retriever", "reranker", "tool", "embedding", "other"]
NOT_CAPTURED = "the text of the answer was not captured"


class Span(Struct, kw_only=True):
    """What one span says, under one set of names; None where it does not say it."""

    trace: str
    id: str
    parent: str | None = None
    name: str = ""
    kind: Kind = "other"
    start_ms: float | None = None
    end_ms: float | None = None
    question: Text | None = None
    answer: Text | None = None
    documents: tuple[Document, ...] | None = None
    documents_path: str = ""
    sent: Sequence[Message] = ()
    """The conversation as it was sent to a model."""
    replied: Sequence[Message] = ()
    reference: str | None = None
    usage: dict[str, float] = {}
    """Tokens and cost of this span alone."""
    error: str | None = None
    conversation: str | None = None
    labels: dict[str, str] = {}
    captured: bool = True
    """Whether texts were recorded at all: instrumentations leave them out unless told otherwise."""


class Manifest(Struct, kw_only=True):
    """What became of a file: which field was taken from where, and what is missing."""

    envelope: str
    schema: str = ""
    version: str | None = None
    spans: int = 0
    traces: int = 0
    rows: int = 0
    taken: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    without: Counter[str] = field(default_factory=Counter)
    several_retrievers: int = 0
    several_roots: int = 0
    roots_missing: int = 0
    repeated_spans: int = 0
    looks_truncated: str | None = None

    def take(self, name: str, where: str) -> None:
        self.taken[name][where] += 1


def record_of(spans: Sequence[Span], manifest: Manifest) -> dict[str, Any]:
    """One trace of ours from the spans of one trace of theirs.

    The question and the answer are those of the root; where it has none, those of the model's
    first and last call. Contexts are those of the last retriever or reranker before the answer.
    """
    by_id = {one.id: one for one in spans}
    manifest.repeated_spans += len(spans) - len(by_id)
    ordered = sorted(by_id.values(), key=lambda one: (one.start_ms or 0.0, one.end_ms or 0.0))
    roots = [one for one in ordered if one.parent is None]
    if not roots:
        manifest.roots_missing += 1
        roots = [one for one in ordered if one.parent not in by_id] or ordered[:1]
    manifest.several_roots += len(roots) > 1
    root = next((one for one in roots if one.question or one.answer), roots[0])
    calls = [one for one in ordered if one.kind == "llm"]
    record: dict[str, Any] = {"run_id": root.trace}
    asked = _first("question", (root, *calls, *ordered))
    answering = _first("answer", (root, *reversed(calls), *reversed(ordered)))
    for name, found in (("question", asked), ("answer", answering)):
        if found is None:
            manifest.without[name] += 1
            continue
        span, text = found
        record[name] = text.text
        place = (
            "root" if span is root else "first LLM span" if name == "question" else "last LLM span"
        )
        manifest.take(name, f"{place} {text.path}".strip())
    _take_contexts(record, ordered, calls, manifest)
    _take_citations(record, answering, manifest)
    _take_measures(record, root, ordered, manifest)
    error = root.error or next((one.error for one in calls if one.error and not answering), None)
    if error:
        record |= {"status": "error", "error": error}
    elif answering is None and not all(one.captured for one in spans):
        record |= {"status": "error", "error": NOT_CAPTURED}
        manifest.without["text_not_captured"] += 1
    reference = next((one.reference for one in ordered if one.reference), None)
    if reference:
        record["reference"] = reference
    conversation = next((one.conversation for one in (root, *ordered) if one.conversation), None)
    labels = {name: value for one in (*calls, root) for name, value in one.labels.items()}
    if conversation:
        record["conversation"] = conversation
    if labels:
        record["labels"] = labels
    manifest.traces += 1
    manifest.rows += 1
    return record


def _first(name: str, spans: Iterable[Span]) -> tuple[Span, Text] | None:
    found = ((span, getattr(span, name)) for span in spans)
    return next(((span, text) for span, text in found if text is not None), None)


def _take_contexts(
    record: dict[str, Any], ordered: Sequence[Span], calls: Sequence[Span], manifest: Manifest
) -> None:
    """The passages of the last span that retrieved any before the model's last call."""
    retrieving = [one for one in ordered if one.documents is not None]
    if not retrieving:
        manifest.without["contexts"] += 1
        manifest.without["ids"] += 1
        return
    manifest.several_retrievers += len([one for one in retrieving if one.kind == "retriever"]) > 1
    last_call = calls[-1].start_ms if calls else None
    before = [
        one
        for one in retrieving
        if last_call is None or one.start_ms is None or one.start_ms <= last_call
    ]
    chosen = (before or retrieving)[-1]
    documents = chosen.documents or ()
    manifest.take("contexts", f"last {chosen.kind} span {chosen.documents_path}".strip())
    has_ids = bool(documents) and all(one.id is not None for one in documents)
    manifest.without["ids"] += not has_ids
    if has_ids:
        manifest.take("ids", "id of each document")
        record["retrieved_ids"] = [one.id for one in documents]
    if documents and all(one.text is None for one in documents):
        manifest.without["contexts"] += 1
        return
    record["retrieved"] = [
        {
            "id": one.id or str(place),
            **({} if one.text is None else {"text": one.text}),
            **({} if one.score is None else {"score": one.score}),
        }
        for place, one in enumerate(documents, 1)
    ]


def _take_citations(
    record: dict[str, Any], answering: tuple[Span, Text] | None, manifest: Manifest
) -> None:
    """What the answer cites: by its annotations, else by the markers in its text."""
    if answering is None:
        return
    span, text = answering
    annotated = [id for one in span.replied for id in one.citations]
    ids = tuple(one["id"] for one in record.get("retrieved", ())) or tuple(
        record.get("retrieved_ids", ())
    )
    marked = [id for id in inline_markers(text.text, ids) if id in ids]
    for cited, where in (
        (annotated, "annotations of the answer"),
        (marked, "markers in the answer"),
    ):
        if cited:
            record["citations"] = list(dict.fromkeys(cited))
            manifest.take("citations", where)
            return


def _take_measures(
    record: dict[str, Any], root: Span, ordered: Sequence[Span], manifest: Manifest
) -> None:
    if root.start_ms is not None and root.end_ms is not None:
        record["latency_ms"] = root.end_ms - root.start_ms
        manifest.take("latency", "end - start of the root")
    parents = {one.parent for one in ordered if one.usage}
    # A chain repeats what its calls used: only spans without a measured child are added up.
    leaves = [one for one in ordered if one.usage and one.id not in parents]
    usage: Counter[str] = Counter()
    for one in leaves:
        usage.update(one.usage)
    if usage:
        record["usage"] = dict(usage)
        manifest.take("usage", "sum over the spans that measure it")


def labelled(given: Mapping[str, Any]) -> dict[str, str]:
    """Labels with a value, as texts."""
    return {name: str(value) for name, value in given.items() if value not in (None, "")}
