"""Ids of knowledge bases in one form, whether written as URIs, with prefixes or in any case."""

from __future__ import annotations

import re

KbId = tuple[str, str]
"""A knowledge base and an id in it, normalised."""
OTHER = "other"
"""The knowledge base of an id that shows none by its prefix or its shape."""
NAMES: dict[str, str] = {
    "wikidata": "wikidata",
    "wd": "wikidata",
    "qid": "wikidata",
    "viaf": "viaf",
    "isil": "isil",
    "ghcid": "ghcid",
    "dbpedia": "dbpedia",
    "dbr": "dbpedia",
    "wikipedia": "wikipedia",
    "geonames": "geonames",
    "gnd": "gnd",
    "isni": "isni",
}
"""Knowledge bases by their names and prefixes."""

_HOSTS = {
    "wikidata.org": "wikidata",
    "viaf.org": "viaf",
    "isil": "isil",
    "lobid.org": "isil",
    "dbpedia.org": "dbpedia",
    "wikipedia.org": "wikipedia",
    "geonames.org": "geonames",
    "d-nb.info": "gnd",
    "isni.org": "isni",
}
_NIL = re.compile(r"|nil[-_]?[0-9]*|none|null|-|_|--nme--", re.IGNORECASE)
_URI = re.compile(r"(?:https?:)?//([^/?#]+)/(.*)", re.IGNORECASE | re.DOTALL)
_PREFIXED = re.compile(r"([A-Za-z]+)\s*:\s*(\S.*)", re.DOTALL)
_WIKIDATA = re.compile(r"[QPL][0-9]+", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_GHCID = re.compile(r"[A-Z]{2}-[A-Z0-9]{1,3}-[A-Z0-9]{3}-[A-Z]-[A-Z0-9-]+", re.IGNORECASE)
_ISIL = re.compile(r"[A-Z]{2}-[A-Z0-9:/-]{1,11}", re.IGNORECASE)
_LAST_PART = re.compile(r"([^/]+)/?$")


def is_nil(written: object) -> bool:
    """Whether an id says that the entity is in no knowledge base; TAC numbers such clusters.

    >>> [is_nil(written) for written in (None, "", "NIL", "nil0042", " - ", "none", "Q1", 42)]
    [True, True, True, True, True, True, False, False]
    """
    return written is None or _NIL.fullmatch(str(written).strip()) is not None


def kb_id(written: str, kb: str | None = None, bare: str | None = None) -> KbId:
    """The knowledge base and the normalised id; ValueError with the fact if there is none.

    `kb` is the knowledge base that the field names, which a URI or a prefix must not contradict;
    `bare` is the one for ids whose shape shows none.

    >>> kb_id("https://viaf.org/viaf/123/"), kb_id("wd:q42"), kb_id("NL-AmRM")
    (('viaf', '123'), ('wikidata', 'Q42'), ('isil', 'NL-AMRM'))
    >>> kb_id("AmRM", "isil")
    ('isil', 'NL-AMRM')
    """
    if kb in (None, "wikidata") and _WIKIDATA.fullmatch(written):
        return "wikidata", written.upper()
    named, rest = _split_kb(" ".join(written.split()).strip("<>").strip())
    if kb and named and named != kb:
        raise ValueError(f"is an id of {named}, not of {kb}")
    base = kb or named or _by_shape(rest) or bare or OTHER
    return base, _normal(base, rest)


def names_kb(written: str) -> bool:
    """Whether an id shows by itself which knowledge base it names_kb to.

    >>> names_kb("Q1"), names_kb("m-17")
    (True, False)
    """
    named, rest = _split_kb(written.strip())
    return (named or _by_shape(rest)) is not None


def kb_name(written: str) -> str:
    """A knowledge base by its usual name; an unknown one in lower case.

    >>> kb_name("WD"), kb_name(" Atlas ")
    ('wikidata', 'atlas')
    """
    name = written.strip().lower()
    return NAMES.get(name, name)


def _split_kb(written: str) -> tuple[str | None, str]:
    """The knowledge base that a URI or a prefix names, and the id without them."""
    uri = _URI.fullmatch(written)
    if uri:
        host, path = uri[1].lower(), re.split(r"[?#]", uri[2], maxsplit=1)[0]
        known = next((name for part, name in _HOSTS.items() if f".{part}." in f".{host}."), None)
        last = _LAST_PART.search(path.removesuffix("/about.rdf"))
        if known and last:
            return known, last[1]
        return None, written
    prefixed = _PREFIXED.fullmatch(written)
    if prefixed and prefixed[1].lower() in NAMES:
        return NAMES[prefixed[1].lower()], prefixed[2]
    return None, written


def _by_shape(id: str) -> str | None:
    if _WIKIDATA.fullmatch(id):
        return "wikidata"
    if _GHCID.fullmatch(id):
        return "ghcid"
    if _ISIL.fullmatch(id):
        return "isil"
    return "viaf" if _DIGITS.fullmatch(id) else None


def _normal(kb: str, id: str) -> str:
    if not id:
        raise ValueError("is empty")
    if kb == "wikidata":
        if not _WIKIDATA.fullmatch(id):
            raise ValueError("is no Wikidata id, such as Q190804")
        return id.upper()
    if kb == "viaf":
        if not _DIGITS.fullmatch(id):
            raise ValueError("is no VIAF id, which has digits only")
        return id
    if kb == "isil":
        return _isil(id)
    if kb in ("dbpedia", "wikipedia"):
        return id.replace(" ", "_")
    return id.upper() if kb == "ghcid" else id


def _isil(id: str) -> str:
    """An ISIL in upper case, since case means nothing; one without a country is Dutch."""
    if " " in id:
        raise ValueError("is no ISIL, such as NL-AmRM")
    return id.upper() if "-" in id else f"NL-{id.upper()}"
