"""A heritage dataset, counted: what a folder or a file of entries holds of each part.

The parts of a folder: entries.jsonl; ner/*.ann (BRAT, with the .txt beside) and ner/*.iob2;
typing.tsv; linking.json; qrels.txt; qa.json; metadata.json; annotators/*.tsv.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.entities import AnnotatedText
from ragauge.contracts.report import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.brat import read_brat
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.annotated.entity_records import ENTRY_IDS
from ragauge.ingest.annotated.iob import read_iob
from ragauge.ingest.fields import Field, Shape, quoted, refuse, text
from ragauge.ingest.heritage import (
    CUSTODIAN_TYPES,
    ENTITY_TYPES,
    custodian_types,
    misplaced,
    read_entries,
    unknown_types,
)
from ragauge.ingest.lines import read_whole
from ragauge.ingest.ranked.trec import read_trec
from ragauge.ingest.records import Records, Row, no_table
from ragauge.text.kb_ids import is_nil

ANSWER_TYPES = ("comparative", "factual", "relationship", "temporal")
LANGUAGES = ("de", "en", "fr", "nl")
GRADES = range(4)
MENTION_FINDINGS = {
    "broken_tags": "broken_iob2",
    "offsets_recounted": "misplaced_span",
    "unicode_form": "misplaced_span",
}
"""By what readers find, what it is to the plan."""
LINK_IDS = ("gold_wikidata", "gold_viaf", "gold_isil")
PART = Shape(name="record", fields=(), doc="A link, a question, or the metadata.", keeps=True)
TYPED = Shape(
    name="typed text",
    doc="A text with its type.",
    fields=(
        Field("text", text, "The text.", missing="missing"),
        Field("gold_type", text, "Its type.", missing="missing"),
    ),
)


class Dataset(Struct):
    """How much of each part there is; a part that nothing was found of is None."""

    ner: Counter[str] | None = None
    """Mentions by type."""
    typing: Counter[str] | None = None
    """Texts by type."""
    linked: int | None = None
    nil: int = 0
    """Of the linked mentions, those that are nowhere known."""
    judged: Counter[str] | None = None
    """Judgements by query."""
    qa: int | None = None
    metadata: dict[str, Any] | None = None
    annotators: tuple[str, ...] = ()
    """Their files."""
    files: int = 0


class _Reading:
    """A dataset while its files are read: findings and problems beside the counts."""

    def __init__(self) -> None:
        self.held = Dataset()
        self.findings: list[Finding] = []
        self.problems: list[str] = []

    def find(self, code: str, where: str, message: str) -> None:
        self.findings.append(Finding(code, where, message))


def read_dataset(path: Path) -> tuple[Dataset, list[Finding]]:
    """What a folder, or a file of heritage entries, holds; InputRejected with all that is wrong."""
    if not path.exists() and not path.is_symlink():
        raise UsageError(f"{path}: no such file or folder")
    reading = _Reading()
    if path.is_dir():
        for pattern, read in PARTS.items():
            for file in sorted(path.glob(pattern)):
                read(file, reading)
                reading.held.files += 1
    else:
        _entries(path, reading)
        reading.held.files = 1
    refuse(reading.problems)
    if not reading.held.files:
        raise UsageError(f"{path}: holds no part of the plan; it looks for {', '.join(PARTS)}")
    return reading.held, reading.findings


def _entries(file: Path, reading: _Reading) -> None:
    for entry in read_entries(str(file), reading.problems):
        reading.findings += [*misplaced(entry), *unknown_types(entry)]
        held = reading.held
        if entry.mentions:
            held.ner = (held.ner or Counter()) + Counter(one.type for one in entry.mentions)
        if entry.primary_type is not None:
            held.typing = (held.typing or Counter()) + Counter([entry.primary_type])
        if entry.links:
            held.linked = (held.linked or 0) + len(entry.links)
            held.nil += sum(_is_nil(ids, ENTRY_IDS) for ids in entry.links.values())
        if entry.pairs:
            held.qa = (held.qa or 0) + len(entry.pairs)
        for pair in entry.pairs:
            _check_answer_type(pair.answer_type, entry.id, reading)


def _is_nil(ids: dict[str, Any], names: tuple[str, ...]) -> bool:
    return all(is_nil(ids.get(name)) for name in names)


def _check_answer_type(kind: str | None, where: str, reading: _Reading) -> None:
    if kind not in ANSWER_TYPES:
        fact = "has no answer_type" if kind is None else f"answer_type {quoted(kind)}"
        reading.find("unknown_answer_type", where, f"{fact}; it is one of {_listed(ANSWER_TYPES)}")


class _Mentions(Reading):
    """A reading that counts entities by type, each as often as it is marked."""

    def __init__(self, dataset: _Reading) -> None:
        super().__init__(dataset.problems)
        self.dataset = dataset
        self.counts: Counter[str] = Counter()

    def keep(self, document: AnnotatedText, given: Sequence[Given]) -> None:
        for one in self.checked(document, given):
            self.counts[one.entity.type] += 1
            if one.entity.type not in ENTITY_TYPES:
                fact = f"type {quoted(one.entity.type)} is none of {_listed(ENTITY_TYPES)}"
                self.dataset.find("unknown_type", one.where, fact)

    def find(self, code: str, where: str, message: str) -> None:
        self.dataset.find(MENTION_FINDINGS.get(code, code), where, message)


def _ner(file: Path, reading: _Reading) -> None:
    mentions = _Mentions(reading)
    if file.suffix == ".ann":
        read_brat(file, mentions)
    else:
        read_iob(str(file), read_whole(str(file)), mentions, "iob2")
    reading.held.ner = (reading.held.ner or Counter()) + mentions.counts


def _typing(file: Path, reading: _Reading) -> None:
    counts: Counter[str] = Counter()
    for row in Records(str(file), TYPED, reading.problems).rows():
        kind = str(row["gold_type"] or "").strip()
        counts[kind] += 1
        if kind not in custodian_types([kind]):
            fact = f"gold_type {quoted(kind)} is none of {_listed(CUSTODIAN_TYPES)}"
            reading.find("unknown_type", row.place, fact)
    reading.held.typing = (reading.held.typing or Counter()) + counts


def _objects(file: Path, reading: _Reading) -> Iterator[Row]:
    return Records(str(file), PART, reading.problems, table=no_table).rows()


def _linking(file: Path, reading: _Reading) -> None:
    held = reading.held
    held.linked = held.linked or 0
    for row in _objects(file, reading):
        held.linked += 1
        held.nil += _is_nil(row.record, LINK_IDS)


def _qa(file: Path, reading: _Reading) -> None:
    reading.held.qa = reading.held.qa or 0
    for row in _objects(file, reading):
        reading.held.qa += 1
        kind = row.record.get("answer_type")
        _check_answer_type(kind if kind is None else str(kind), row.place, reading)


def _qrels(file: Path, reading: _Reading) -> None:
    """The judgements as an evaluation reads them; a pair that is judged twice counts once."""
    held = reading.held
    held.judged = held.judged or Counter()
    seen: set[tuple[str, str]] = set()
    rows = read_trec(str(file), read_whole(str(file)), "qrels", reading.problems)
    judgements = rows.frame.select("query", "document", "value").iter_rows()
    for row, (query, document, grade) in enumerate(judgements):
        if (query, document) in seen:
            fact = f"{quoted(document)} was judged for {quoted(query)} already; it counts once"
            reading.find("judged_twice", rows.where(row), fact)
            continue
        seen.add((query, document))
        held.judged[query] += 1
        if grade not in GRADES:
            fact = f"grade {grade} is not in 0 to {GRADES[-1]}"
            reading.find("grade_out_of_range", rows.where(row), fact)


def _metadata(file: Path, reading: _Reading) -> None:
    for row in _objects(file, reading):
        reading.held.metadata = row.record
        languages = row.record.get("languages")
        for name in languages if type(languages) is list else ():
            if name not in LANGUAGES:
                fact = f"language {quoted(str(name))} is none of {_listed(LANGUAGES)}"
                reading.find("unknown_language", str(file), fact)


def _annotator(file: Path, reading: _Reading) -> None:
    reading.held.annotators = (*reading.held.annotators, str(file))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)


PARTS: dict[str, Callable[[Path, _Reading], None]] = {
    "entries.jsonl": _entries,
    "ner/*.ann": _ner,
    "ner/*.iob2": _ner,
    "typing.tsv": _typing,
    "linking.json": _linking,
    "qrels.txt": _qrels,
    "qa.json": _qa,
    "metadata.json": _metadata,
    "annotators/*.tsv": _annotator,
}
"""Where each part is looked for, and what counts it."""
