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
    """How much of each part there is, and what is wrong; a part of which nothing was found is None.

    It is filled while the files are read.
    """

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
    findings: list[Finding] = []
    problems: list[str] = []

    def find(self, code: str, where: str, message: str) -> None:
        self.findings.append(Finding(code, where, message))


def read_dataset(path: Path) -> Dataset:
    """What a folder, or a file of heritage entries, holds; InputRejected with all that is wrong."""
    if not path.exists() and not path.is_symlink():
        raise UsageError(f"{path}: no such file or folder")
    held = Dataset()
    files: list[tuple[Path, Callable[[Path, Dataset], None]]] = [(path, _entries)]
    if path.is_dir():
        files = [
            (file, read) for pattern, read in PARTS.items() for file in sorted(path.glob(pattern))
        ]
    for file, read in files:
        read(file, held)
    held.files = len(files)
    refuse(held.problems)
    if not files:
        raise UsageError(f"{path}: holds no part of the plan; it looks for {', '.join(PARTS)}")
    return held


def _entries(file: Path, held: Dataset) -> None:
    for entry in read_entries(str(file), held.problems):
        held.findings += [*misplaced(entry), *unknown_types(entry)]
        if entry.mentions:
            held.ner = (held.ner or Counter()) + Counter(one.type for one in entry.mentions)
        if entry.primary_type is not None:
            held.typing = (held.typing or Counter()) + Counter([entry.primary_type])
        if entry.links:
            held.linked = (held.linked or 0) + len(entry.links)
            held.nil += sum(
                all(is_nil(ids.get(name)) for name in ENTRY_IDS) for ids in entry.links.values()
            )
        if entry.pairs:
            held.qa = (held.qa or 0) + len(entry.pairs)
        for pair in entry.pairs:
            _check_answer_type(pair.answer_type, entry.id, held)


def _check_answer_type(kind: str | None, where: str, held: Dataset) -> None:
    if kind not in ANSWER_TYPES:
        fact = "has no answer_type" if kind is None else f"answer_type {quoted(kind)}"
        held.find("unknown_answer_type", where, f"{fact}; it is one of {', '.join(ANSWER_TYPES)}")


class _Mentions(Reading):
    """A reading that counts entities by type, each as often as it is marked."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.problems)
        self.dataset = dataset
        self.counts: Counter[str] = Counter()

    def keep(self, document: AnnotatedText, given: Sequence[Given]) -> None:
        for one in self.checked(document, given):
            self.counts[one.entity.type] += 1
            if one.entity.type not in ENTITY_TYPES:
                fact = f"type {quoted(one.entity.type)} is none of {', '.join(ENTITY_TYPES)}"
                self.dataset.find("unknown_type", one.where, fact)

    def find(self, code: str, where: str, message: str) -> None:
        self.dataset.find(MENTION_FINDINGS.get(code, code), where, message)


def _ner(file: Path, held: Dataset) -> None:
    mentions = _Mentions(held)
    if file.suffix == ".ann":
        read_brat(file, mentions)
    else:
        read_iob(str(file), read_whole(str(file)), mentions, "iob2")
    held.ner = (held.ner or Counter()) + mentions.counts


def _typing(file: Path, held: Dataset) -> None:
    counts: Counter[str] = Counter()
    for row in Records(str(file), TYPED, held.problems).rows():
        kind = str(row["gold_type"] or "").strip()
        counts[kind] += 1
        if kind not in custodian_types([kind]):
            fact = f"gold_type {quoted(kind)} is none of {', '.join(CUSTODIAN_TYPES)}"
            held.find("unknown_type", row.place, fact)
    held.typing = (held.typing or Counter()) + counts


def _objects(file: Path, held: Dataset) -> Iterator[Row]:
    return Records(str(file), PART, held.problems, table=no_table).rows()


def _linking(file: Path, held: Dataset) -> None:
    held.linked = held.linked or 0
    for row in _objects(file, held):
        held.linked += 1
        held.nil += all(is_nil(row.record.get(name)) for name in LINK_IDS)


def _qa(file: Path, held: Dataset) -> None:
    held.qa = held.qa or 0
    for row in _objects(file, held):
        held.qa += 1
        kind = row.record.get("answer_type")
        _check_answer_type(kind if kind is None else str(kind), row.place, held)


def _qrels(file: Path, held: Dataset) -> None:
    """The judgements as an evaluation reads them; a pair that is judged twice counts once."""
    held.judged = held.judged or Counter()
    seen: set[tuple[str, str]] = set()
    rows = read_trec(str(file), read_whole(str(file)), "qrels", held.problems)
    judgements = rows.frame.select("query", "document", "value").iter_rows()
    for row, (query, document, grade) in enumerate(judgements):
        if (query, document) in seen:
            fact = f"{quoted(document)} was judged for {quoted(query)} already; it counts once"
            held.find("judged_twice", rows.where(row), fact)
            continue
        seen.add((query, document))
        held.judged[query] += 1
        if grade not in GRADES:
            fact = f"grade {grade} is not in 0 to {GRADES[-1]}"
            held.find("grade_out_of_range", rows.where(row), fact)


def _metadata(file: Path, held: Dataset) -> None:
    for row in _objects(file, held):
        held.metadata = row.record
        languages = row.record.get("languages")
        for name in languages if type(languages) is list else ():
            if name not in LANGUAGES:
                fact = f"language {quoted(str(name))} is none of {', '.join(LANGUAGES)}"
                held.find("unknown_language", str(file), fact)


def _annotator(file: Path, held: Dataset) -> None:
    held.annotators = (*held.annotators, str(file))


PARTS: dict[str, Callable[[Path, Dataset], None]] = {
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
