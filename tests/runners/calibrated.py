"""Documents of two sections each, and a gold set whose anchors and decoys point into them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOWNS = (
    *("Amsterdam", "Bruges", "Cairo", "Delft", "Edam", "Florence", "Ghent"),
    *("Haarlem", "Istanbul", "Jena", "Kyoto", "Leiden", "Madrid", "Naples"),
)


def corpus(folder: Path, towns: int = len(TOWNS)) -> tuple[Path, Path]:
    """The gold file and the folder of documents."""
    docs = folder / "docs"
    docs.mkdir()
    rows = []
    for number, town in enumerate(TOWNS[:towns]):
        history = f"The museum of {town} was founded by a guild in {1700 + number}."
        care = f"Paper is kept cold and dry, in boxes, on steel shelf {number}."
        text = f"# {town}\n\n## history\n{history}\n\n## care\n{care}\n"
        (docs / f"{town.lower()}.md").write_text(text, encoding="utf-8")
        rows.append(
            {
                "qid": f"q{number:02}",
                "question": f"When was the museum of {town} founded?",
                "answerable": True,
                "gold_claim": f"{1700 + number}",
                "anchor": _span(town, "history", text, history),
                "decoy": _span(town, "care", text, care),
            }
        )
    gold = folder / "gold.jsonl"
    write(gold, rows)
    return gold, docs


def _span(town: str, section: str, text: str, part: str) -> dict[str, Any]:
    start = text.index(part)
    return {
        "doc_id": town.lower(),
        "section_id": section,
        "start": start,
        "end": start + len(part),
    }


def read(gold: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gold.read_text("utf-8").splitlines()]


def write(gold: Path, rows: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    gold.write_text(lines, encoding="utf-8")


def swap(gold: Path, count: int | None = None) -> None:
    """Let the first questions have their decoy for an anchor, and the other way round."""
    rows = read(gold)
    for row in rows[:count]:
        row["anchor"], row["decoy"] = row["decoy"], row["anchor"]
    write(gold, rows)
