"""Gold links and predicted ones from any source, in any of the forms they come in.

A record is a mention with what it is linked to, or a document with its linked entities; rows of
neleval and TAC need no header, and rows that rank candidates of one mention become one record.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from ragauge.contracts.links import GoldLink, GoldLinks, MentionKey, PredictedLink
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import UsageError
from ragauge.ingest.fields import (
    STRATA,
    STRATUM,
    BadField,
    BadRecord,
    Columns,
    Field,
    Shape,
    anything,
    boolean,
    expected,
    mapping,
    mappings,
    number,
    quoted,
    squeezed,
    strata_of,
    text,
    whole,
)
from ragauge.ingest.heritage import MARKS, entry_of, misplaced
from ragauge.ingest.linked.link_fields import (
    GENERIC,
    GOLD_GENERIC,
    GOLD_NIL,
    NAMES_OF_BASE,
    PREDICTED_GENERIC,
    TABULAR,
    answer,
    gold_ids,
    has_gold_alone,
    id_is_link,
    says_link,
)
from ragauge.ingest.records import Placed, Records, Source, no_table, refuse_columns

FORMATS = ("json", "jsonl", "tsv", "csv", "neleval", "hipe")
DOCUMENT_IDS = ("doc_id", "doc", "document", "id")
DOCUMENTS = ("doc", "doc_id", "document")
MENTIONS = ("mention", "surface")
ENTITIES = ("entities", "spans", "annotations", "mentions", "ner_annotations")
SURFACES = ("mention", "surface", "text")
UNKNOWN_TEXT = "?"
"""Stands for the text of an entry that has none, as a prediction may."""
_WHOLE = re.compile(r"[0-9]+")
_TAC_PLACE = re.compile(r"(.+):([0-9]+)-([0-9]+)")
_RANKS = {"rank", "score"}
_NO_TEXTS = {"start", "end", "rank", "score", "nil", GOLD_NIL}
"""Fields whose cells stand for numbers, or for true and false."""
_KEYS = ("doc", "doc_id", "document", "start", "end", "mention", "context", "type", "strata")


def _ids(name: str, doc: str, *aliases: str) -> Field:
    return Field(name, anything, doc, aliases=aliases, many=True)


def _one(name: str, check: Callable[[Any, str], Any], doc: str, *aliases: str) -> Field:
    return Field(name, check, doc, aliases=aliases)


LINK = Shape(
    name="link",
    doc="A mention with what it is linked to, or a document with its linked entities.",
    fields=(
        _one("doc", anything, "The document it is in.", *DOCUMENTS[1:]),
        _one("start", whole, "Where it starts in the document, in characters."),
        _one("end", whole, "The first place after it."),
        _one("mention", text, "Its words.", *MENTIONS[1:]),
        _one("context", text, "The sentence it is in, which tells equal words apart."),
        _one("id", anything, "Its own id; of a row of a table with a place, what it is linked to."),
        _one("type", text, "What it is, such as a place."),
        Field(STRATA, mapping, "Values by stratum, to show scores by."),
        *(
            _ids(base, f"Its ids in {base}; the answer, where nothing else is.", *names[1:])
            for base, names in NAMES_OF_BASE.items()
        ),
        _ids("ids", "Its ids by knowledge base, or as a list.", *GENERIC),
        _ids("gold", "Of gold, what it is linked to.", *GOLD_GENERIC[1:]),
        *(
            _ids(
                f"gold_{base}",
                f"Of gold, its ids in {base}.",
                *(f"gold_{one}" for one in names[1:]),
            )
            for base, names in NAMES_OF_BASE.items()
        ),
        _one(GOLD_NIL, boolean, "Of gold, whether it is in no knowledge base."),
        _ids("prediction", "What is predicted: an id, or several.", *PREDICTED_GENERIC[1:]),
        *(
            _ids(
                f"predicted_{base}",
                f"The ids predicted for it in {base}.",
                *(f"{said}_{one}" for said in ("predicted", "pred") for one in names),
            )
            for base, names in NAMES_OF_BASE.items()
        ),
        _ids("candidates", "What is predicted, the best first: ids, or objects with id and score."),
        _one("nil", boolean, "Whether the prediction is NIL.", "is_nil_pred"),
        _one("score", number, "How sure the prediction is."),
        _one("rank", whole, "Of a row, the rank of its candidate."),
        _ids("entities", "Of a document, its linked entities.", *ENTITIES[1:]),
        _ids("text", "Of a document, its text."),
        _ids("tokens", "Of a document, its tokens; the entities' places count them."),
        *(_ids(mark, "Of a heritage entry.") for mark in MARKS if mark not in ENTITIES),
    ),
)


class LinkReading(Struct, frozen=True):
    """How links are read, and what was met on the way."""

    problems: list[str] = msgspec.field(default_factory=list)
    """What is wrong, each with its place."""
    findings: Findings = msgspec.field(default_factory=Findings)
    input_format: str | None = None
    """One of FORMATS; the content tells where it is None."""
    unread: list[str] = msgspec.field(default_factory=list)
    """The columns that no field reads."""
    bare: str | None = None
    """The knowledge base of ids that tell none by prefix or shape."""


Link = TypeVar("Link", GoldLink, PredictedLink)
Flat = tuple[str, dict[str, Any]]
"""The place of a mention, and its record."""


def name_of(source: Source, role: str) -> str:
    """What messages call a source."""
    return str(source) if isinstance(source, str | os.PathLike) else role


def read_gold_links(
    source: Source, reading: LinkReading, columns: Columns | None = None
) -> GoldLinks:
    """The gold mentions and their documents; what is wrong goes into the reading.

    A mention that is named twice is wrong: by its place, its id, or its words in one context.
    """
    documents: dict[str, dict[str, Any]] = {}
    records = _records_in(source, "gold", reading, columns)
    flat = _flat(records, reading, documents, gold=True)
    links = _numbered(_distinct(list(_read(flat, _gold, reading)), reading.problems))
    if not links and not documents and not reading.problems:
        fact = "holds no gold link; write one record a mention"
        reading.problems.append(f"{name_of(source, 'gold')}: {fact}")
    for link in links:
        if link.document is not None:
            documents.setdefault(link.document, {})
    return GoldLinks(links=tuple(links), documents=dict(sorted(documents.items())))


def read_predicted_links(
    source: Source, reading: LinkReading, columns: Columns | None = None
) -> list[PredictedLink]:
    """What was predicted, in the order it is written; what is wrong goes into the reading."""
    documents: dict[str, dict[str, Any]] = {}
    read = _records_in(source, "predicted", reading, columns)
    records = _grouped_rows(read, reading.problems)
    flat = _flat(records, reading, documents, gold=False)
    links = list(_read(flat, _predicted, reading))
    if not links and not documents and not reading.problems:
        fact = "holds no prediction; write one record a mention"
        reading.problems.append(f"{name_of(source, 'predicted')}: {fact}")
    return links


def _flat(
    records: Placed, reading: LinkReading, documents: dict[str, dict[str, Any]], *, gold: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record a mention; the documents that were searched for them are noted."""
    for place, record in records:
        try:
            fields = mapping(record, "record")
            if not is_document(fields):
                yield place, fields
                continue
            doc, mentions = mentions_of(fields, place, reading.findings, gold)
            if doc in documents:
                raise BadField("id", f"{quoted(doc)} is in the file already; keep one")
        except (BadField, BadRecord) as fault:
            reading.problems.extend(_told(place, fault))
            continue
        documents[doc] = fields.get("strata") or {}
        yield from mentions


def _read(
    records: Iterator[tuple[str, dict[str, Any]]],
    read: Callable[[dict[str, Any], str, LinkReading], Link],
    reading: LinkReading,
) -> Iterator[Link]:
    for place, record in records:
        try:
            yield read(record, place, reading)
        except (BadField, BadRecord) as fault:
            reading.problems.extend(_told(place, fault))


def _told(place: str, fault: BadField | BadRecord) -> list[str]:
    faults = fault.fields if isinstance(fault, BadRecord) else [fault]
    return [f"{place}: {one}" for one in faults]


def _gold(record: dict[str, Any], where: str, reading: LinkReading) -> GoldLink:
    about, ids, type_, strata = _all_read(
        partial(_about, record),
        partial(gold_ids, record, reading.bare),
        partial(_optional, record, "type"),
        partial(mapping, record.get(STRATA) or {}, STRATA),
    )
    return GoldLink(**about, ids=ids, type=type_, strata=strata, where=where)


def _predicted(record: dict[str, Any], where: str, reading: LinkReading) -> PredictedLink:
    about, said = _all_read(partial(_about, record), partial(answer, record, reading.bare))
    if has_gold_alone(record):
        fact = "nothing is predicted next to gold, which is taken for the prediction"
        reading.findings.add(Finding("gold_as_prediction", where, fact))
    return PredictedLink(**about, **structs.asdict(said), where=where)


def _all_read(*parts: Callable[[], Any]) -> list[Any]:
    """What each part reads; raises BadRecord with the faults of all."""
    read, faults = [], []
    for part in parts:
        try:
            read.append(part())
        except BadField as fault:
            faults.append(fault)
    if faults:
        raise BadRecord(faults)
    return read


def _about(record: Mapping[str, Any]) -> dict[str, Any]:
    """Which mention a record is about: its place or its id, else its words."""
    document = next((id for name in DOCUMENTS if (id := _name(record, name))), None)
    id = None if id_is_link(record) else _name(record, "id")
    mention = next((words for name in MENTIONS if (words := _optional(record, name))), "")
    start, end = _place(record)
    if start is not None and document is None and id is None:
        raise BadField("doc", "missing; a start and an end need their document")
    if document is not None and start is not None:
        key = MentionKey(document, start, end)
    elif id is not None:
        key = MentionKey(id)
    elif mention:
        key = MentionKey(mention if document is None else f"{document}: {mention}")
    else:
        raise BadField("mention", "missing; give doc, start and end, or an id, or the mention")
    context = _optional(record, "context")
    return {"key": key, "document": document, "id": id, "mention": mention, "context": context}


def _place(record: Mapping[str, Any]) -> tuple[int | None, int | None]:
    given = [name for name in ("start", "end") if record.get(name) is not None]
    if len(given) == 1:
        other = "end" if given == ["start"] else "start"
        raise BadField(other, f"missing, and there is a {given[0]}")
    if not given:
        return None, None
    start, end = whole(record["start"], "start"), whole(record["end"], "end")
    if not 0 <= start < end:
        raise BadField("end", f"{start}–{end} holds nothing; the end is the first place after")
    return start, end


def _name(record: Mapping[str, Any], field: str) -> str | None:
    """An id as text, which may be written as a number; None where it is empty or absent."""
    value = record.get(field)
    if value is None or type(value) is int:
        return None if value is None else str(value)
    if type(value) is not str:
        raise BadField(field, expected("text", value))
    return value.strip() or None


def _optional(record: Mapping[str, Any], field: str) -> str | None:
    value = record.get(field)
    return None if value is None else text(value, field) or None


def _distinct(links: list[GoldLink], problems: list[str]) -> list[GoldLink]:
    """Each mention once; the others are problems."""
    seen: dict[Any, GoldLink] = {}
    for link in links:
        own = link.key.start is not None or link.id is not None
        mark = link.key if own else (link.key, link.context)
        earlier = seen.setdefault(mark, link)
        if earlier is not link:
            remedy = "keep one" if own else "give each an id, or doc, start and end"
            fact = f"{quoted(str(link.key))} is at {earlier.where} already; {remedy}"
            problems.append(f"{link.where}: mention: {fact}")
    return list(seen.values())


def _numbered(links: list[GoldLink]) -> list[GoldLink]:
    """Links with a key each: the same words in another context are another mention."""
    found: list[GoldLink] = []
    met: dict[MentionKey, int] = {}
    for link in sorted(links, key=lambda link: (link.key.doc, link.context or "")):
        times = met[link.key] = met.get(link.key, 0) + 1
        again = times > 1 and link.key.start is None and link.id is None
        key = MentionKey(f"{link.key.doc} ({times})") if again else link.key
        found.append(structs.replace(link, key=key))
    return sorted(found, key=lambda link: (link.key.doc, link.key.start or 0, link.key.end or 0))


def _records_in(source: Source, name: str, reading: LinkReading, columns: Columns | None) -> Placed:
    """Each record with its place and its fields as we write them; faults go into the reading."""
    chosen = reading.input_format
    if chosen is not None and chosen not in FORMATS:
        raise UsageError(f'input format "{chosen}": links are read as {", ".join(FORMATS)}')

    def table(name: str, content: bytes, problems: list[str]) -> Placed:
        """Cells, with a header or as neleval and TAC write them: the first line tells."""
        if chosen in ("json", "jsonl", "hipe"):
            return no_table(name, content, problems)
        first = content.split(b"\n", 1)[0].decode(errors="replace").rstrip("\r").split("\t")
        bare = len(first) >= 3 and all(_WHOLE.fullmatch(cell) for cell in first[1:3])
        bare = bare or (len(first) >= 5 and bool(_TAC_PLACE.fullmatch(first[3])))
        bare = chosen == "neleval" or (chosen is None and bare)
        if bare:
            refuse_columns(name, "neleval", columns)
        return (_neleval if bare else records.headed)(name, content, problems)

    form = {"neleval": "tsv", "hipe": None}.get(chosen or "", chosen)
    records = Records(
        source, LINK, reading.problems, form=form, name=name, columns=columns, table=table
    )
    is_file = isinstance(source, str | os.PathLike)
    for place, record in records.objects():
        keys = tuple(record)
        names, has_strata = _named(keys)
        named = record if names == keys else dict(zip(names, record.values(), strict=True))
        if records.columns:
            row = records.row(place, record)
            named = {**named, **{field: row[field] for field in records.columns}}
        if "is_nil_pred" in named:
            named = {"nil": named["is_nil_pred"], **named}
        try:
            if not is_file:
                named = msgspec.to_builtins(named, enc_hook=_plain)
            if records.in_rows:
                if has_strata:
                    named = {**named, STRATA: strata_of(named, named.get(STRATA))}
                named = _row(named) if records.tabular else {**named, TABULAR: True}
        except BadField as fault:
            reading.problems.append(f"{place}: {fault}")
        except (TypeError, ValueError) as fault:
            reading.problems.append(f"{place}: record: {fault}")
        else:
            yield place, named
    records.refuse_missed()
    reading.unread.extend(records.note_unread(reading.findings))


@lru_cache(maxsize=4096)  # most records of a file have the same keys
def _named(keys: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The keys as we write them, and whether one is a stratum."""
    names = tuple(map(squeezed, keys))
    return names, any(name.startswith(STRATUM) for name in names)


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """A row of a table: cells without spaces around them, as what they stand for."""
    row: dict[str, Any] = {TABULAR: True}
    for field, value in record.items():
        cell = value.strip() if type(value) is str else value
        row[field] = _cell(cell, field) if field in _NO_TEXTS and type(cell) is str else cell
    return row


def _cell(cell: str, field: str) -> Any:
    """What a cell of a table stands for."""
    return LINK.by_name[field].read(cell.strip(), field, cell=True)


def _neleval(name: str, content: bytes, problems: list[str]) -> Placed:
    """Rows without a header: document, start, end (inclusive), then id, score and type in turn.

    A row of TAC's own form has eight cells, the fourth of them `document:start-end`.
    """
    for count, line in enumerate(content.split(b"\n"), 1):
        place = f"{name}:{count}"
        if not line.strip():
            continue
        try:
            cells = line.decode().rstrip().split("\t")
            tac = _TAC_PLACE.fullmatch(cells[3]) if len(cells) >= 5 else None
            yield place, _tac(cells, tac) if tac else _annotation(cells)
        except UnicodeDecodeError:
            problems.append(f"{place}: line: is not UTF-8 text; save the table as UTF-8")
        except BadField as fault:
            problems.append(f"{place}: {fault}")


def _annotation(cells: Sequence[str]) -> dict[str, Any]:
    if len(cells) < 3:
        raise BadField("cells", f"{len(cells)}, but there are document, start, end and id")
    doc, start, end, *rest = cells
    record: dict[str, Any] = {
        "doc": doc,
        "start": _cell(start, "start"),
        "end": _cell(end, "end") + 1,
    }
    if len(rest) > 3 and len(rest) % 3:
        raise BadField("cells", "after the end come id, score and type, all three for each id")
    answers = [rest[at : at + 3] for at in range(0, len(rest), 3)]
    if not answers:
        return record
    candidates = [_scored(answer) for answer in answers]
    record["type"] = answers[0][2] if len(answers[0]) > 2 else None
    if len(candidates) > 1:
        return {**record, "candidates": candidates}
    return {**record, "link": candidates[0]["id"], "score": candidates[0]["score"]}


def _scored(answer: Sequence[str]) -> dict[str, Any]:
    score = answer[1].strip() if len(answer) > 1 else ""
    return {"id": answer[0], "score": _cell(score, "score") if score else None}


def _tac(cells: Sequence[str], place: re.Match[str]) -> dict[str, Any]:
    _, _, mention, _, link, *rest = cells
    score = _cell(rest[2], "score") if len(rest) > 2 and rest[2].strip() else None
    return {
        "doc": place[1],
        "start": int(place[2]),
        "end": int(place[3]) + 1,
        "mention": mention,
        "link": link,
        "score": score,
        "type": rest[0] if rest else None,
    }


def _plain(value: Any) -> Any:
    """A value that JSON has no form for, such as a NumPy number, as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__} is no value of JSON")


def _grouped_rows(records: Placed, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """Records, where rows that rank candidates of one mention have become one record.

    Such rows have a rank or a score; others stay as they are, and what repeats is a duplicate.
    """
    groups: dict[tuple[Any, ...], list[tuple[str, dict[str, Any]]]] = {}
    for place, record in records:
        ranked = type(record) is dict and TABULAR in record and _RANKS & record.keys()
        if ranked:
            groups.setdefault(_mention(record), []).append((place, record))
        else:
            yield place, record
    for rows in groups.values():
        yield rows[0][0], rows[0][1] if len(rows) == 1 else _merged(rows, problems)


def _mention(record: Mapping[str, Any]) -> tuple[Any, ...]:
    named = (*_KEYS[:-2], *(() if id_is_link(record) else ("id",)))
    return tuple(record.get(name) for name in named)


def _merged(rows: list[tuple[str, dict[str, Any]]], problems: list[str]) -> dict[str, Any]:
    ranks: dict[Any, str] = {}
    for place, row in rows:
        rank = row.get("rank")
        if rank is not None and rank in ranks:
            fact = f"{rank} is at {ranks[rank]} already for this mention; keep one"
            problems.append(f"{place}: rank: {fact}")
        ranks[rank] = place
    if all(row.get("rank") is not None for _, row in rows):
        rows = sorted(rows, key=lambda one: one[1]["rank"])
    first = rows[0][1]
    key = {name: first.get(name) for name in (*_KEYS, TABULAR) if name in first}
    if not id_is_link(first) and "id" in first:
        key["id"] = first["id"]
    links = [{name: row[name] for name in row if name not in key} for _, row in rows]
    return {**key, "candidates": links}


def is_document(record: Mapping[str, Any]) -> bool:
    """Whether a record holds the mentions of a whole document, and not one mention."""
    return "entity_linking" in record or _entities_field(record) is not None


def mentions_of(
    record: dict[str, Any], where: str, findings: Findings, gold: bool
) -> tuple[str, list[Flat]]:
    """A document's id and the records of its mentions; raises BadField or BadRecord.

    An entity that says nothing of a link is no gold; predicted, it was found and not linked.
    """
    if record.get("entity_linking") is not None:
        return _of_entry(record, where, findings)
    doc, mentions = _of_annotated(record)
    found: list[Flat] = []
    for field, flat in mentions:
        place = f"{where}: {field}"
        if says_link(flat) or id_is_link(flat):
            found.append((place, flat))
            continue
        fact = f"{quoted(flat['mention'])} says nothing of what it is linked to"
        findings.add(Finding("unlinked_entity", place, fact))
        if not gold:
            found.append((place, {**flat, "nil": False}))
    return doc, found


def _of_entry(record: dict[str, Any], where: str, findings: Findings) -> tuple[str, list[Flat]]:
    named = ("id", "text", "ner_annotations", "entity_linking", "strata")
    given = {name: record[name] for name in named if record.get(name) is not None}
    entry = entry_of({"text": UNKNOWN_TEXT, **given})
    if "text" in given:
        for finding in misplaced(entry):
            findings.add(Finding(finding.code, f"{where}: {finding.where}", finding.message))
    # A record for each place of a mention; one without a place where nobody marked any.
    context = None if entry.text == UNKNOWN_TEXT else entry.text
    found: list[Flat] = []
    for mention, ids in entry.links.items():
        place = f"{where}: entity_linking.{mention}"
        about = {"doc": entry.id, "mention": mention, "context": context, "strata": entry.strata}
        marked = [
            {"start": one.start, "end": one.end, "type": one.type}
            for one in entry.mentions
            if one.text == mention
        ]
        found += [(place, {**ids, **about, **one}) for one in marked or [{}]]
    return entry.id, found


def _of_annotated(record: dict[str, Any]) -> tuple[str, list[Flat]]:
    """A document's id, and each entity as the record of a mention."""
    field = _entities_field(record) or ENTITIES[0]
    ids = (record.get(name) for name in DOCUMENT_IDS)
    named = (str(id) for id in ids if type(id) is int or (type(id) is str and id.strip()))
    doc = next(named, None)
    if doc is None:
        raise BadField("doc_id", "missing; name the document")
    strata = mapping(record.get("strata") or {}, "strata")
    found: list[Flat] = []
    for count, entity in enumerate(mappings(record.get(field) or [], field)):
        name = f"{field}[{count}]"
        start, end = _entity_place(entity, name)
        own = mapping(entity.get("strata") or {}, f"{name}.strata")
        flat = {**entity, "doc": doc, "start": start, "end": end, "context": record.get("text")}
        flat["mention"] = _surface(record, entity, start, end)
        flat["strata"] = {**strata, **own}
        found.append((name, flat))
    return doc, found


def _entities_field(record: Mapping[str, Any]) -> str | None:
    return next((name for name in ENTITIES if type(record.get(name)) is list), None)


def _entity_place(entity: Mapping[str, Any], field: str) -> tuple[int, int]:
    """Start and end, half-open: two fields, or a pair."""
    pair = entity.get("span")
    if type(pair) is list and len(pair) == 2:
        return whole(pair[0], f"{field}.span[0]"), whole(pair[1], f"{field}.span[1]")
    for name in ("start", "end"):
        if entity.get(name) is None:
            raise BadField(f"{field}.{name}", "missing")
    return whole(entity["start"], f"{field}.start"), whole(entity["end"], f"{field}.end")


def _surface(record: Mapping[str, Any], entity: Mapping[str, Any], start: int, end: int) -> str:
    """The words of a mention: as the entity gives them, else from the text or its tokens.

    Where a document has tokens, places count them; they stay as they are written, because the
    prediction names the same.
    """
    for name in SURFACES:
        if type(entity.get(name)) is str:
            return text(entity[name], name)
    tokens, whole_text = record.get("tokens"), record.get("text")
    if type(tokens) is list and all(type(token) is str for token in tokens):
        return " ".join(tokens[start:end])
    return whole_text[start:end] if type(whole_text) is str else ""
