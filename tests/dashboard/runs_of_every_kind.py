"""A run of every kind that can be recorded, made by the real commands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.ingest.gold import read_gold
from tests.cli.command import ragauge
from tests.dashboard.demo_history import traces_of

TEXT = "The Rijksmuseum in Amsterdam opened in 1800; Willem Drost painted Batseba in 1654."
ENTITIES = {"GRP": (4, 15), "TOP": (19, 28), "TMP": (39, 43), "AGT": (45, 57), "WRK": (66, 73)}
TYPES = ("M", "L", "A", "G", "M", "M", "L")
MENTIONS = {"Rijksmuseum": "Q190804", "Louvre": "Q19675", "Mauritshuis": "Q221092", "Atlantis": ""}
QUERIES = {"which museum": "b", "whose archive": "e", "what painting": "x", "which year": "z"}


def lines(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


class Recorder:
    """Runs commands that record into one history; keeps the id of each run by a name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder / "store")

    def run(self, *arguments: object, name: str, label: str = "model=a") -> None:
        kept = ("--record", "--store", self.place, "--name", name, "--label", label, "--quiet")
        done = ragauge(*arguments, *kept, cwd=self.folder)
        assert done.returncode in (0, 1), done.stderr.decode()

    def all(self) -> Recorder:
        pipeline = Pipeline.of()
        good = traces_of(pipeline, self.folder / "good.jsonl", [])
        poor = traces_of(pipeline, self.folder / "poor.jsonl", ["wrong_citations=0.5"])
        gates = ("--gates", "precision_cited>=0.9, under_refusal<=0.02")
        self.run("score", GOLD, good, *gates, name="nightly")
        self.run("score", GOLD, poor, *gates, name="nightly", label="model=b")
        self._sweep()
        self._audit(pipeline)
        few = lines(self.folder / "few.jsonl", _some_gold(6))
        self.run("trace-eval", few, "--demo", "--out", self.folder / "traced.jsonl", name="traced")
        self._components(poor)
        self.run("eval", "all", "--demo", name="parts")
        return self

    def _sweep(self) -> None:
        few, runs = lines(self.folder / "swept.jsonl", _some_gold(12)), self.folder / "runs.jsonl"
        grid = ("--seeds", "0,1,2", "--knobs", '{"faults": ["unstable_retrieval=0.15"]}')
        done = ragauge("sweep", few, "--demo", "--out", runs, *grid, "--quiet", cwd=self.folder)
        assert done.returncode in (0, 1), done.stderr.decode()
        self.run("stability", few, runs, name="steady")

    def _audit(self, pipeline: Pipeline) -> None:
        drifted = traces_of(pipeline, self.folder / "drifted.jsonl", ["drifted_offsets=0.3"])
        self.run("audit", drifted, "--docs", DOCUMENTS, "--gold", GOLD, name="citations")

    def _components(self, answers: Path) -> None:
        folder = self.folder
        spans = [_span(type, start, end) for type, (start, end) in ENTITIES.items()]
        # One type taken for another, one span cut short, one missed, one made up.
        found = [
            spans[0] | {"type": "TOP"},
            _span("TOP", 19, 24),
            *spans[2:4],
            _span("TMP", 77, 81),
        ]
        gold = [{"id": f"d{n}", "text": TEXT, "entities": spans} for n in range(3)]
        seen = [{"id": f"d{n}", "text": TEXT, "entities": found if n else spans} for n in range(3)]
        self.run(
            "eval", "ner", lines(folder / "ner.jsonl", gold), lines(folder / "ner2.jsonl", seen),
            "--gates", "f1_strict>=0.9", name="ner",
        )  # fmt: skip
        typed = [("id", "gold_type"), *((str(n), type) for n, type in enumerate(TYPES))]
        taken = [("id", "predicted_type"), *((str(n), "M") for n in range(len(TYPES)))]
        for name, rows in (("types.tsv", typed), ("types2.tsv", taken)):
            (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows))
        self.run("eval", "types", folder / "types.tsv", folder / "types2.tsv", name="types")
        gold = [
            {"id": str(n), "mention": mention, "wikidata_id": id or None}
            for n, (mention, id) in enumerate(MENTIONS.items())
        ]
        seen = [
            {"id": str(n), "mention": mention, "candidates": ["Q6373", id] if n else [id]}
            for n, (mention, id) in enumerate(MENTIONS.items())
        ]
        self.run(
            "eval", "linking", lines(folder / "l.jsonl", gold), lines(folder / "l2.jsonl", seen),
            name="linking",
        )  # fmt: skip
        self._retrieval()
        self.run("eval", "qa", GOLD, answers, name="qa")
        rows = [
            {
                "id": name,
                "user_input": "When did it open?",
                "response": answer,
                "retrieved_contexts": ["The museum opened in 1800. It moved to Amsterdam in 1808."],
                "reference": "In 1800.",
            }
            for name, answer in (
                ("b", "It opened in 1801. It is old."),
                ("a", "It opened in 1800."),
            )
        ]
        self.run("eval", "answers", lines(folder / "answers.jsonl", rows), name="answers")

    def _retrieval(self) -> None:
        qrels = [f"{query.replace(' ', '-')} 0 {id} 1\n" for query, id in QUERIES.items()]
        ranks = [
            f"{query.replace(' ', '-')} Q0 {name} {rank} {9 - rank} t\n"
            for query in QUERIES
            for rank, name in enumerate("abcdex", 1)
        ]
        for name, rows in (("qrels.txt", qrels), ("run.txt", ranks)):
            (self.folder / name).write_text("".join(rows))
        files = (self.folder / "qrels.txt", self.folder / "run.txt")
        self.run("eval", "retrieval", *files, "--gates", "nDCG@10>=0.8", name="retrieval")


def _span(type: str, start: int, end: int) -> dict[str, Any]:
    return {"start": start, "end": end, "type": type, "text": TEXT[start:end]}


def _some_gold(most: int) -> list[dict[str, Any]]:
    with GOLD.open() as file:
        known = [json.loads(line) for line in file if line.strip()]
    assert len(known) == len(read_gold(str(GOLD)))
    return known[:most]
