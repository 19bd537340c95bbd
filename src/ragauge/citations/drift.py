"""Index drift: two manifests compared, and what their differences do to citations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragauge.citations.payload import display_value
from ragauge.contracts.drift import (
    DIFFERENCES_KEPT,
    ComparedManifest,
    Difference,
    DriftCoverage,
    DriftReport,
)
from ragauge.contracts.manifest import Manifest, bare_hash
from ragauge.contracts.report import Finding, Findings
from ragauge.text.canonical import composed

FOLLOWS = {
    "index_type_changed": (
        "Other chunks may be found, in another order; what a citation points at stays.",
        "Run the gold set against the new index before it serves.",
    ),
    "metric_changed": (
        "Scores of the two indexes cannot be compared.",
        "Fit score thresholds anew, and run the gold set.",
    ),
    "embedding_changed": (
        "Scores and ΔS of the two indexes cannot be compared.",
        "Embed every chunk and the questions with one model, and calibrate anew.",
    ),
    "chunker_changed": (
        "Offsets and snippet ids of old citations no longer hold.",
        "Rebuild the index whole, and drop payloads that were kept from the old one.",
    ),
    "text_preproc_changed": (
        "Old payloads name another analyzer than questions are read with.",
        "Align the analyzer of the write and the read path, then rebuild the index.",
    ),
    "chunks_changed": (
        "There are more or fewer snippets: an old id may lead nowhere.",
        "See which documents or which chunker made the difference.",
    ),
    "source_changed": (
        "The addresses in old citations lead elsewhere.",
        "Redirect the old addresses, or write source_url anew.",
    ),
    "document_changed": (
        "Its old citations are stale: they point into the revision that was.",
        "Cite it anew, and keep the old revision frozen as long as old answers are checked.",
    ),
    "document_gone": (
        "Its old citations point at nothing that the index holds.",
        "Put it back, or take back the answers that rest on it.",
    ),
    "document_new": (
        "No old answer could rest on it.",
        "Add questions about it to the gold set.",
    ),
    "extra_changed": (
        "Ragauge does not know what this field does.",
        "Ask whoever builds the index whether citations depend on it.",
    ),
    "hash_changed": (
        "Every payload of the old index is refused as mismatch_index_hash.",
        "Restart what still reads the old index, and drop the payloads it kept.",
    ),
    "hash_changed_alone": (
        "Something changed that the manifests do not tell; old payloads are refused.",
        "Write into the manifest all that the hash is made from.",
    ),
    "hash_kept": (
        "The hash does not notice the change: stale payloads pass for those of the new index.",
        "Make the hash from all fields, as `Manifest.hashed` does, and rebuild.",
    ),
}
"""By code: what a difference does to citations of the index that was, and the next step."""

NOTHING_COMPARED = "nothing_compared"
NOT_ENOUGH_COMPARED = "not_enough_compared"
ENOUGH = (frozenset({"hash"}), frozenset({"text_preproc", "doc_revs"}))
"""Fields of which one set has to be compared before an index passes for the same."""
_FIELDS = (
    "index_type",
    "metric",
    "embedding",
    "chunker",
    "text_preproc",
    "source",
    "chunks",
    "doc_revs",
    "hash",
)
_PLAIN = tuple(name for name in _FIELDS if name not in ("doc_revs", "hash"))


def differences(was: Manifest, now: Manifest) -> tuple[Difference, ...]:
    """Everything in which two manifests differ: fields, then documents by id, the hash last.

    Only what both tell is compared; `coverage_of` says what that is. The hashes of saved files
    are left out: they prove that files belong together, not how an index was made.

    >>> [one] = differences(Manifest(chunker="v1:200"), Manifest(chunker="v1:400"))
    >>> one.code, one.was, one.now
    ('chunker_changed', 'v1:200', 'v1:400')
    """
    found: list[Difference] = []
    both = {*_told(was)} & {*_told(now)}
    for name in _PLAIN:
        if name in both:
            for field, one, other in _parts(name, getattr(was, name), getattr(now, name)):
                found.append(_difference(f"{name}_changed", field, one, other))
    for name in sorted(was.extra.keys() & now.extra.keys()):
        for field, one, other in _parts(name, was.extra[name], now.extra[name]):
            found.append(_difference("extra_changed", field, one, other))
    revs, others = _revs(was), _revs(now)
    if revs and others:
        same = revs.keys() & others.keys()
        documents = {
            "document_changed": [id for id in same if revs[id] != others[id]],
            "document_gone": revs.keys() - others.keys(),
            "document_new": others.keys() - revs.keys(),
        }
        for code, ids in documents.items():
            for id in sorted(ids):
                found.append(_difference(code, "doc_revs", revs.get(id), others.get(id), id))
    if was.hash and now.hash:
        if bare_hash(was.hash) != bare_hash(now.hash):
            code = "hash_changed" if found else "hash_changed_alone"
            found.append(_difference(code, "hash", was.hash, now.hash))
        elif found:
            found.append(_difference("hash_kept", "hash", was.hash, now.hash))
    return tuple(found)


def coverage_of(was: Manifest, now: Manifest) -> DriftCoverage:
    """Which fields could be compared, which only one manifest tells, and how many documents."""
    each = [_told(manifest) for manifest in (was, now)]
    both = [name for name in each[0] if name in each[1]]
    one = sorted({*each[0]} ^ {*each[1]})
    revs, others = _revs(was), _revs(now)
    documents = "doc_revs" in both
    return DriftCoverage(
        compared=tuple(both),
        untold=tuple(one),
        documents=len(revs.keys() | others.keys()) if documents else None,
        same=len(revs.items() & others.items()) if documents else None,
    )


def drift(
    was: Manifest, now: Manifest, was_name: str = "the old index", now_name: str = "the new index"
) -> DriftReport:
    """The comparison of two manifests as a report; it fails where too little was compared."""
    found, coverage = differences(was, now), coverage_of(was, now)
    findings = Findings()
    for one in found:
        findings.add(Finding(one.code, f"{now_name}: {place_of(one)}", message_of(one)))
    if not coverage.compared:
        fact = f"no field that {was_name} tells too; write both by the same build"
        findings.add(Finding(NOTHING_COMPARED, now_name, fact))
    elif not found and not any(fields <= {*coverage.compared} for fields in ENOUGH):
        fact = (
            f"no difference in what both tell ({', '.join(coverage.compared)}), but that is "
            "neither the hash nor text_preproc and doc_revs together; write both by the same build"
        )
        findings.add(Finding(NOT_ENOUGH_COMPARED, now_name, fact))
    return DriftReport(
        passed=not findings.counts,
        was=_compared(was, was_name),
        now=_compared(now, now_name),
        differences=found[:DIFFERENCES_KEPT],
        difference_count=len(found),
        findings=tuple(findings.kept()),
        finding_counts=dict(sorted(findings.counts.items())),
        coverage=coverage,
    )


def place_of(difference: Difference) -> str:
    """What differs, as a message names it.

    >>> place_of(Difference(code="document_new", field="doc_revs", doc_id="louvre",
    ...                     follows="", tip=""))
    'document louvre'
    """
    return difference.field if difference.doc_id is None else f"document {difference.doc_id}"


def message_of(difference: Difference) -> str:
    """What was and what is, in words, with what follows and the next step."""
    was, now = display_value(difference.was), display_value(difference.now)
    match difference.code:
        case "document_new":
            change = f"new, revision {now}"
        case "document_gone":
            change = f"gone, was revision {was}"
        case "hash_kept":
            change = f"still {now}, though other fields differ"
        case "hash_changed_alone":
            change = f"was {was}, is {now}, though nothing else that both tell differs"
        case _:
            was, now = ("absent" if value is None else value for value in (was, now))
            change = f"was {was}, is {now}"
    return f"{change}. {difference.follows} {difference.tip}"


def _parts(field: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """What differs in a field: inside objects, the part that does."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            yield from _parts(f"{field}.{key}", was.get(key), now.get(key))
    elif was != now:
        yield field, was, now


def _revs(manifest: Manifest) -> dict[str, str]:
    """The revisions by id in NFC; an id that stands there in both forms stays as it is written."""
    revs = manifest.doc_revs
    return {
        doc_id if composed(doc_id) in revs else composed(doc_id): rev
        for doc_id, rev in sorted(revs.items())
    }


def _difference(code: str, field: str, was: Any, now: Any, doc_id: str | None = None) -> Difference:
    follows, tip = FOLLOWS[code]
    return Difference(
        code=code, field=field, doc_id=doc_id, was=was, now=now, follows=follows, tip=tip
    )


def _told(manifest: Manifest) -> list[str]:
    named = [name for name in _FIELDS if getattr(manifest, name) not in (None, "", {})]
    return [*named, *sorted(manifest.extra)]


def _compared(manifest: Manifest, name: str) -> ComparedManifest:
    return ComparedManifest(
        name=name, hash=manifest.hash or None, documents=len(manifest.doc_revs) or None
    )
