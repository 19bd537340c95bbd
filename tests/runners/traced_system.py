"""A small handbook, questions about it, and a system that answers from a script.

A run is written as what it cites and what it retrieves, best first: `a<ab` cites chunk a of a and
b, `-<ab` refuses, `<ab` answers without a citation, `a<?` does not tell what was retrieved, and
`!` fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.contracts.report import Outcome
from ragauge.contracts.system import Ask, CallFailed
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.runners.trace_eval import trace_eval

Change = Callable[[Ask, dict[str, Any]], Any]
"""What becomes of a reply on its way."""

SECTIONS = {
    "keys": "Keys are changed every 90 days, by two people. A lost key is reported the same day.",
    "doors": "Doors are locked at six in the evening. The porter has the list of those who stay.",
    "fire": "In a fire leave by the stairs. The meeting place is the square in front of the house.",
}
TEXT = "\n".join((*SECTIONS.values(), "Here the handbook ends."))
START = {name: TEXT.index(text) for name, text in SECTIONS.items()}
HALF = SECTIONS["keys"].index("A lost")
PLACES = {
    "a": ("keys", 0, HALF),
    "b": ("keys", HALF, len(SECTIONS["keys"])),
    "c": ("doors", 0, len(SECTIONS["doors"])),
    "d": ("fire", 0, len(SECTIONS["fire"])),
}
"""The chunks: the section, and where in it."""
REV = "3b91f2a"
MANIFEST = {"hash": "2f7d9a", "text_preproc": "lowercase", "doc_revs": {"handbook": REV}}
WORDINGS = 3
TARGET = {
    "doc_id": "handbook",
    "section_id": "keys",
    "start": START["keys"],
    "end": START["keys"] + len(SECTIONS["keys"]),
}


ALL_STATES = {
    "steady": ["a<ab"] * 6,
    "split": ["a<ab", "a<ab", "a<ab", "a<ab", "c<abc", "c<abc"],
    "drifting": ["a<ab", "a<ab", "a<ab", "c<abc", "d<abd", "-<ab"],
    "wild": ["a<ab", "b<ab", "c<abc", "d<abd", "-<ab", "<ab"],
    "lost": ["a<a", "a<a", "c<c", "c<c", "d<d", "d<d"],
    "failing": ["a<ab", "a<ab", "!", "a<ab", "a<ab", "a<ab"],
    "unknown": ["-<ab"] * 6,
}
"""What the six runs of a question come to, a question for each state of λ."""
LENIENT = {"retries": 0, "error_budget": "100%"}


def payload(chunk: str, k_final: int, among: str) -> dict[str, Any]:
    """The chunk's payload. Before reranking the chunks stood in the order of their letters."""
    section, start, end = PLACES[chunk]
    k_pos = sorted(among).index(chunk) + 1
    first = START[section]
    return {
        "doc_id": "handbook",
        "section_id": section,
        "snippet_id": chunk,
        "source_url": f"https://example.org/handbook#{section}",
        "offsets": {"start": first + start, "end": first + end, "unit": "char"},
        "tokens": 12,
        "index_hash": "faiss:2f7d9a",
        "embed_model": "bge-large-en-v1.5:mean",
        "analyzer": "lowercase",
        "rev": REV,
        "score_norm": 1 / k_pos,
        "rerank_score": 1 / k_final,
        "k_pos": k_pos,
        "k_final": k_final,
        "text": SECTIONS[section][start:end],
    }


def reply(run: str) -> dict[str, Any]:
    """What the system says in a run."""
    if run == "!":
        raise CallFailed("raised", "the model is away")
    cited, _, retrieved = run.partition("<")
    refuses = cited == "-"
    claim = "not in context" if refuses else "Every 90 days."
    answer: dict[str, Any] = {
        "answer_json": {"claim": claim, "citations": [] if refuses else [*cited]}
    }
    if retrieved != "?":
        answer["retrieved"] = [payload(one, at, retrieved) for at, one in enumerate(retrieved, 1)]
    return answer


class Scripted:
    """Says in each run of a question what the script has at its place: by wording, then by seed."""

    def __init__(self, script: Mapping[str, Sequence[str]], change: Change | None = None) -> None:
        self.identity = {"kind": "scripted"}
        self.asked: list[Ask] = []
        self._script, self._change = script, change or (lambda ask, said: said)

    async def ask(self, ask: Ask) -> Any:
        self.asked.append(ask)
        qid, _, wording = ask.q.removesuffix("?").partition(" in wording ")
        return self._change(ask, reply(self._script[qid][2 * int(wording) + ask.seed]))

    async def close(self) -> None:
        """Nothing is held open."""


def question(qid: str, **fields: Any) -> dict[str, Any]:
    """A gold question in three wordings, whose answer is in chunk a."""
    wordings = [f"{qid} in wording {number}?" for number in range(WORDINGS)]
    return {
        "qid": qid,
        "question": wordings[0],
        "answerable": True,
        "gold_claim": "Every 90 days.",
        "gold_citations": ["a"],
        "paraphrases": wordings[1:],
        "target_section": TARGET,
        **fields,
    }


def unanswerable(qid: str) -> dict[str, Any]:
    asked = question(qid)
    return {name: asked[name] for name in ("qid", "question", "paraphrases")} | {
        "answerable": False
    }


def write_gold(folder: Path, questions: Sequence[Mapping[str, Any]]) -> Path:
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in questions))
    return path


def write_handbook(folder: Path) -> tuple[Path, Path]:
    """The folder with the document, and the manifest of its index."""
    docs = folder / "docs"
    docs.mkdir()
    (docs / "handbook.md").write_text(TEXT)
    manifest = folder / "index.json"
    manifest.write_text(json.dumps(MANIFEST))
    return docs, manifest


def evaluated(
    folder: Path,
    script: Mapping[str, Sequence[str]],
    *,
    questions: Sequence[Mapping[str, Any]] | None = None,
    change: Change | None = None,
    out: str = "runs.jsonl",
    **options: Any,
) -> Outcome[TraceEvalReport]:
    """The outcome of a system that follows the script, over questions of the same names."""
    asked = questions or [
        unanswerable(qid) if qid == "unknown" else question(qid) for qid in script
    ]
    gold = write_gold(folder, asked)
    asking = LENIENT | options.pop("asking", {})
    system = Scripted(script, change)
    found = trace_eval(gold, system, folder / out, asking=asking, **options)
    assert found.outcome is not None, found.swept
    return found.outcome


def report_of(*arguments: Any, **options: Any) -> TraceEvalReport:
    return evaluated(*arguments, **options).report


def value(report: TraceEvalReport, name: str) -> float | None:
    return report.metrics[f"traceability.{name}"].value


def gates(report: TraceEvalReport) -> dict[str, str]:
    return {gate.metric.partition(".")[2]: gate.verdict for gate in report.gates}
