"""The folder that golden commands run in: the demo's data, and small files of every other kind."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from tests.golden.running import NOW, run, steady

STAMP = 1_700_000_000
"""The time of every file: logs take it where a trace has none."""
TEXT = "The Rijksmuseum in Amsterdam opened in 1800; Willem Drost painted Batseba in 1654."
SPANS = [("GRP", 4, 15), ("TOP", 19, 28), ("TMP", 39, 43), ("AGT", 45, 57), ("WRK", 66, 73)]
FOUND = [("TOP", 4, 15), ("TOP", 19, 24), ("TMP", 39, 43), ("AGT", 45, 57), ("TMP", 77, 81)]
CONTEXTS = [
    "The museum opened in 1800. It moved to Amsterdam in 1808.",
    "Its tower has nine bells.",
]
ANSWERS = [
    ("a1", "It opened in 1800.", "In 1800."),
    ("a2", "It opened in 1801, near the old harbour.", "In 1800."),
    ("a3", "I don't know.", "In 1808."),
    ("a4", "The tower has nine bells. Napoleon rang them.", "Nine."),
    ("a5", "", "Nine."),
]


def build(folder: Path) -> None:
    """Fill the folder; the same bytes every time."""
    with steady():
        _traces(folder)
    _components(folder)
    _answers(folder)
    _labels(folder)
    _suite(folder)
    for path in folder.rglob("*"):
        os.utime(path, (STAMP, STAMP))
    _history(folder)


def _traces(folder: Path) -> None:
    from ragauge.demo import GOLD
    from ragauge.demo.pipeline import Pipeline
    from ragauge.store.files import write_manifest

    pipeline = Pipeline.of()
    text = GOLD.read_text("utf-8")
    (folder / "gold.jsonl").write_text(text)
    questions = [json.loads(line) for line in text.splitlines()]
    few = [*islice((q for q in questions if q["answerable"]), 9), questions[-1]]
    _lines(folder / "few.jsonl", few)
    _lines(folder / "changed.jsonl", [{**few[0], "gold_claim_substr": ["1809"]}, *few[2:]])
    for name, faults in (
        ("good", []),
        ("poor", ["wrong_citations=0.5", "over_refusal=0.3"]),
        ("broken", ["invented_citations=0.3", "stale_payloads=0.3", "drifted_offsets=0.5"]),
    ):
        traces = list(_asked(pipeline, questions, faults))
        _lines(folder / f"{name}.jsonl", traces)
        _lines(folder / f"few-{name}.jsonl", traces[:5])
    (folder / "reply.json").write_text(json.dumps(traces[1]["answer_json"]))
    (folder / "retrieved.json").write_text(json.dumps(traces[0]["retrieved"]))
    write_manifest(folder / "manifest.json", pipeline.index.manifest)
    older = json.loads((folder / "manifest.json").read_text())
    del older["doc_revs"]["louvre"], older["hash"]
    older |= {"chunker": "sections:v1:400", "chunks": 100}
    older["doc_revs"]["kbr"] = "000000000000"
    (folder / "older-manifest.json").write_text(json.dumps(older))
    faults = {"slow": ["slow=0.5"], "wrong": ["wrong_citations=0.5"]}
    knobs = {"base": {}, **{name: {"faults": one} for name, one in faults.items()}}
    (folder / "knobs.json").write_text(json.dumps(knobs))
    for name, faults in (("steady", "[]"), ("flaky", '["unstable_retrieval=0.4"]')):
        grid = ["--seeds", "0,1", "--temperatures", "0,0.7", "--jitters", "none,ws"]
        knobs = ["--knobs", f'{{"faults": {faults}}}', "--quiet"]
        run(["sweep", "few.jsonl", "--demo", "--out", f"{name}-runs.jsonl", *grid, *knobs], folder)


def _asked(pipeline: Any, questions: list[Any], faults: list[str]) -> Iterable[dict[str, Any]]:
    from ragauge.contracts.system import Ask

    for one in questions:
        reply = pipeline.answer(Ask(q=one["question"], knobs={"faults": faults}))
        yield {"qid": one["qid"], "q": one["question"], **reply}


def _components(folder: Path) -> None:
    gold = [{"id": f"d{n}", "text": TEXT, "entities": _spans(SPANS)} for n in range(3)]
    seen = [gold[0], *({**one, "entities": _spans(FOUND)} for one in gold[1:])]
    _lines(folder / "ner.jsonl", gold)
    _lines(folder / "ner-found.jsonl", seen)
    types = ("M", "L", "A", "G", "M", "M", "L")
    _table(folder / "types.tsv", ["id\tlabel", *(f"{n}\t{one}" for n, one in enumerate(types))])
    _table(folder / "types-found.tsv", ["id\tlabel", *(f"{n}\tM" for n in range(len(types)))])
    ids = {"Rijksmuseum": "Q190804", "Louvre": "Q19675", "Mauritshuis": "Q221092", "Atlantis": None}
    links = [
        {"id": str(n), "mention": name, "wikidata_id": id}
        for n, (name, id) in enumerate(ids.items())
    ]
    _lines(folder / "links.jsonl", links)
    found = [
        {"id": str(n), "mention": name, "candidates": ["Q6373", id] if n % 2 else [id]}
        for n, (name, id) in enumerate(ids.items())
    ]
    _lines(folder / "links-found.jsonl", found)
    relevant = {"which-museum": "b", "whose-archive": "e", "what-painting": "x", "which-year": "z"}
    _table(folder / "qrels.txt", [f"{query} 0 {id} 1" for query, id in relevant.items()])
    for name, order in (("run.txt", "abcdex"), ("run2.txt", "bexacd")):
        ranked = [(query, id, at) for query in relevant for at, id in enumerate(order, 1)]
        _table(folder / name, [f"{query} Q0 {id} {at} {9 - at} t" for query, id, at in ranked])


def _answers(folder: Path) -> None:
    rows = [
        {
            "id": id,
            "question": "When did it open?",
            "answer": answer,
            "contexts": CONTEXTS,
            "references": [reference],
            "strata": {"model": "small" if id < "a3" else "large"},
        }
        for id, answer, reference in ANSWERS
    ]
    _lines(folder / "answers.jsonl", rows)
    judged = [
        {
            "id": f"l{n}",
            "answer": "It opened in 1800."
            if n % 2
            else f"It closed in {1900 + n} for want of money.",
            "contexts": CONTEXTS,
            "question": "When did it open?",
            "label": bool(n % 2) != (n % 17 == 0),
            "group": f"g{n % 8}",
        }
        for n in range(64)
    ]
    _lines(folder / "labelled.jsonl", judged)
    scores = [
        {
            "sample_id": f"s{n}",
            "strata": {"country": "NL" if n % 2 else "BE"},
            "faithfulness": 0.2 if n % 2 else 0.9,
            "context_recall": 0.9,
        }
        for n in range(8)
    ]
    _lines(folder / "scores.jsonl", scores)


def _labels(folder: Path) -> None:
    given = {
        "scholar": "VALID VALID REJECT NOT_IN_CONTEXT VALID VALID ABSTAIN VALID",
        "auditor": "VALID REJECT REJECT NOT_IN_CONTEXT VALID VALID VALID VALID",
    }
    for name, labels in given.items():
        rows = [{"qid": f"q{n}", "label": label} for n, label in enumerate(labels.split())]
        _lines(folder / f"{name}.jsonl", rows)
    for name, types in {"anna": "MMLAMMLG", "ben": "MMLAMLLG", "cleo": "MMLAAMLG"}.items():
        _lines(folder / f"{name}.jsonl", [{"id": str(n), "label": t} for n, t in enumerate(types)])


def _suite(folder: Path) -> None:
    (folder / "ragauge.toml").write_text(
        """
[datasets.mine]
gold = "few.jsonl"

[pipeline]
replay = "good.jsonl"

[tasks.quality]
kind = "score"
gates = ["precision_cited>=0.9", "over_refusal<=0.1"]

[tasks.strict]
kind = "score"
gates = ["claim_containment>=0.99"]
"""
    )


def _history(folder: Path) -> None:
    """Recorded runs of every kind, in `store`."""
    kept = ["--record", "--store", "store", "--quiet", "--name"]
    gates = ["--gates", "precision_cited>=0.9, over_refusal<=0.1"]
    recorded = {
        "first": ["score", "gold.jsonl", "good.jsonl", *gates],
        "before": ["score", "gold.jsonl", "good.jsonl", *gates],
        "after": ["score", "gold.jsonl", "poor.jsonl", *gates],
        "steady": ["stability", "few.jsonl", "steady-runs.jsonl"],
        "flaky": ["stability", "few.jsonl", "flaky-runs.jsonl"],
        "citations": ["audit", "broken.jsonl", "--manifest", "manifest.json"],
        "ner": ["eval", "ner", "ner.jsonl", "ner-found.jsonl"],
        "answers": ["eval", "answers", "answers.jsonl"],
    }
    for day, (tag, command) in enumerate(recorded.items(), 1):
        name = "nightly" if command[0] == "score" else tag
        run([*command, *kept, name], folder, now=NOW.replace(day=day))
        run(["runs", "tag", "latest", tag, "--store", "store"], folder)
    run(["score", "few.jsonl", "good.jsonl", "--record", "--store", "rescored", "--quiet"], folder)
    # A comparison that fails its gate marks the run, so it must not be a golden that does it first.
    run(["compare", "before", "after", "--store", "store", "--gate", "no-regression"], folder)


def _spans(spans: Iterable[tuple[str, int, int]]) -> list[dict[str, Any]]:
    return [{"type": type, "start": start, "end": end} for type, start, end in spans]


def _lines(path: Path, records: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _table(path: Path, rows: Iterable[str]) -> None:
    path.write_text("".join(f"{row}\n" for row in rows))
