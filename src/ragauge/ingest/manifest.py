"""The manifest of an index, by our names or by those seen in the wild."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ragauge.contracts.manifest import Manifest, bare_hash
from ragauge.errors import InputRejected
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    Check,
    expected,
    kind,
    mapping,
    quoted,
    text,
    whole,
)
from ragauge.ingest.lines import BadJson, decode, read_whole

ALIASES = {
    "embedding": ("embed_model", "embedding_model"),
    "text_preproc": ("analyzer",),
    "doc_revs": ("doc revs", "documents", "docs", "revs"),
    "hash": ("index_hash",),
}
EXAMPLE = '{"hash": "2f7d9a", "text_preproc": "lowercase", "doc_revs": {"handbook": "3b91f2a"}}'
NOTHING_TO_COMPARE = (
    "missing, as are text_preproc and doc_revs: there is nothing to compare citations with; "
    "add one of them"
)
EMPTY = "is empty; leave it out, or say what it is"


def read_manifest(name: str) -> Manifest:
    """The manifest a file holds; raises InputRejected with all that is wrong."""
    try:
        record = decode(read_whole(name))
        return manifest_of(record)
    except BadJson as fault:
        raise InputRejected(f"{name}: {fault}") from None
    except BadRecord as bad:
        raise InputRejected(*(f"{name}: {field}" for field in bad.fields)) from None


def manifest_of(record: Any) -> Manifest:
    """A manifest from its decoded fields; raises BadRecord with every one that is wrong.

    Of what Ragauge knows a null is as good as nothing; what it does not know goes to `extra`.
    """
    if type(record) is not dict:
        fact = f"expected an object such as {EXAMPLE}, got {kind(record)}"
        raise BadRecord([BadField("manifest", fact)])
    told = {key: value for key, value in record.items() if value is not None or key not in NAMES}
    faults: list[BadField] = []
    known: dict[str, Any] = {}
    for name, check in _CHECKS.items():
        names = [key for key in (name, *ALIASES.get(name, ())) if key in told]
        found = _checked({key: told.pop(key) for key in names}, check, faults)
        if found:
            (first, said), *others = found.items()
            known[name] = said
            faults += [
                BadField(key, f"says something else than {first}, and both mean {name}; keep one")
                for key, value in others
                if (bare_hash(value) != bare_hash(said) if name == "hash" else value != said)
            ]
    if not faults and known.keys().isdisjoint(("hash", "text_preproc", "doc_revs")):
        faults.append(BadField("hash", NOTHING_TO_COMPARE))
    if faults:
        raise BadRecord(faults)
    return Manifest(**known, extra=told)


def _checked(fields: dict[str, Any], check: Check, faults: list[BadField]) -> dict[str, Any]:
    """The fields that are as they should be, in order; the others become faults."""
    found = {}
    for key, value in fields.items():
        try:
            found[key] = check(value, key)
        except BadField as fault:
            faults.append(fault)
        except BadRecord as bad:
            faults += bad.fields
    return found


def _filled(value: Any, field: str) -> str:
    if not text(value, field).strip():
        raise BadField(field, EMPTY)
    return str(value)


def _hash(value: Any, field: str) -> str:
    if not bare_hash(_filled(value, field)).strip():
        raise BadField(field, f"{quoted(value)} names a store and no hash; add the hash")
    return str(value)


def _text_or_object(value: Any, field: str) -> str | dict[str, Any]:
    if type(value) not in (str, dict):
        raise BadField(field, expected("text or an object", value))
    if value == {}:
        raise BadField(field, EMPTY)
    return value if type(value) is dict else _filled(value, field)


def _count(value: Any, field: str) -> int:
    if whole(value, field) < 0:
        raise BadField(field, f"{value} is below zero")
    return int(value)


def _texts_by_name(value: Any, field: str) -> dict[str, str]:
    faults: list[BadField] = []
    for name, member in mapping(value, field).items():
        _checked({f"{field}[{quoted(name)}]": member}, _filled, faults)
        if not name.strip():
            faults.append(BadField(field, "one of its names is empty; name it, or leave it out"))
    if faults:
        raise BadRecord(faults)
    return dict(value)


def _revs(value: Any, field: str) -> dict[str, str]:
    """Revisions by document, from an object or from a list of {doc_id, rev}."""
    if type(value) not in (dict, list):
        raise BadField(field, expected("an object of revisions, or a list of {doc_id, rev}", value))
    if not value:
        raise BadField(field, "is empty; leave it out, or name the documents of the index")
    return _texts_by_name(value, field) if type(value) is dict else _listed_revs(value, field)


def _listed_revs(value: list[Any], field: str) -> dict[str, str]:
    faults: list[BadField] = []
    revs: dict[str, str] = {}
    for place, member in enumerate(value):
        try:
            doc_id, rev = _revision(member, f"{field}[{place}]")
            if revs.setdefault(doc_id, rev) != rev:
                fact = f"{quoted(doc_id)} has another one already; keep the one that was indexed"
                raise BadField(f"{field}[{place}].rev", fact)
        except BadField as fault:
            faults.append(fault)
    if faults:
        raise BadRecord(faults)
    return revs


def _revision(member: Any, field: str) -> tuple[str, str]:
    given = mapping(member, field)
    for name in ("doc_id", "rev"):
        if name not in given:
            raise BadField(f"{field}.{name}", "missing; write doc_id and rev")
    unknown = sorted(given.keys() - {"doc_id", "rev"})
    if unknown:
        raise BadField(field, f"{quoted(unknown[0])} is no part of it; write doc_id and rev alone")
    return _filled(given["doc_id"], f"{field}.doc_id"), _filled(given["rev"], f"{field}.rev")


_CHECKS: dict[str, Check] = {
    "index_type": _filled,
    "metric": _filled,
    "embedding": _text_or_object,
    "chunker": _text_or_object,
    "text_preproc": _text_or_object,
    "doc_revs": _revs,
    "chunks": _count,
    "source": _filled,
    "hash": _hash,
    "files": _texts_by_name,
}
NAMES = frozenset(chain(_CHECKS, *ALIASES.values()))
"""Every name a manifest's fields are read by."""
