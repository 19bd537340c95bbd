"""The sets of human judgements that groundedness was fitted to, as rows of one shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.answers import AnswerKind

KINDS: dict[str, AnswerKind] = {"qa": "qa", "summary": "summary", "data2txt": "data_to_text"}
FAITHFUL = 3.0
"""MTRAG's annotators give 1 to 4; an answer is grounded where their mean is above this.

Chosen after trying nine cuts; the data card says how far they differ."""


class Judged(Struct, frozen=True, kw_only=True):
    """An answer with what people said of it."""

    id: str
    name: str
    """The set, such as `ragtruth-qa`."""
    source: str
    """What answers share: they are never split between fitting and testing."""
    writer: str | None
    """The model that wrote the answer, where the set tells."""
    kind: AnswerKind
    question: str
    answer: str
    contexts: tuple[str, ...]
    grounded: bool
    spans: tuple[tuple[int, int], ...] | None = None
    """Where people saw something unsupported; None where they were not asked for places."""


def judged_rows(folder: Path) -> list[Judged]:
    """Every row of the sets in the folder."""
    return [*ragtruth(folder), *mtrag(folder), *attribution(folder)]


def ragtruth(folder: Path) -> Iterator[Judged]:
    sources = {row["source_id"]: row for row in _lines(folder / "ragtruth/sources.jsonl")}
    for row in _lines(folder / "ragtruth/responses.jsonl"):
        source = sources[row["source_id"]]
        yield Judged(
            id=f"ragtruth-{row['id']}",
            name=f"ragtruth-{row['task']}",
            source=row["source_id"],
            writer=row["model"],
            kind=KINDS[row["task"]],
            question=source["question"],
            answer=row["answer"],
            contexts=tuple(source["contexts"]),
            grounded=not row["hallucinated"],
            spans=tuple((span["start"], span["end"]) for span in row["spans"]),
        )


def mtrag(folder: Path) -> Iterator[Judged]:
    tasks = {row["id"]: row for row in _lines(folder / "mtrag/human_eval_tasks.jsonl")}
    for row in _lines(folder / "mtrag/human_eval_responses.jsonl"):
        task, scores = tasks[row["task_id"]], row["human"]["faithfulness"]
        yield Judged(
            id=f"{row['task_id']}-{row['model']}",
            name="mtrag",
            source=row["task_id"],
            writer=row["model"],
            kind="qa",
            question=task["question"],
            answer=row["answer"],
            contexts=tuple(_text(context) for context in task["contexts"]),
            grounded=sum(scores) / len(scores) > FAITHFUL,
        )


def attribution(folder: Path) -> Iterator[Judged]:
    for row in _lines(folder / "attribution/claims.jsonl"):
        yield Judged(
            id=row["id"],
            name=row["src"],
            source=row["question"],
            writer=None,
            kind="qa",
            question=row["question"],
            answer=row["claim"],
            contexts=tuple(row["references"]),
            grounded=row["attributable"],
        )


def _text(context: Any) -> str:
    return context if isinstance(context, str) else str(context["text"])


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
