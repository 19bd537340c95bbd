"""The part of the demo about citations: one broken on purpose for each depth of the check."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.contracts.audit import AuditReport
    from ragauge.demo.pipeline import Pipeline

BROKEN = {
    "marker": "invented_citations=1",
    "payload": "stale_payloads=1",
    "text": "drifted_offsets=1",
}
"""The fault that each depth is there to catch."""
ASKS = {
    "marker": "was the cited id retrieved?",
    "payload": "is the payload whole, and of this index?",
    "text": "does the text stand at its offsets?",
}


def citations_of_a_tour(
    pipeline: Pipeline, gold: Path, folder: Path, *, color: bool, width: int
) -> str:
    """What an audit says of three answers whose citations were broken; all files in the folder."""
    from ragauge.runners.audit import audit
    from ragauge.store.manifests import write_manifest

    manifest, documents, broken = (
        folder / name for name in ("manifest.json", "documents", "broken.jsonl")
    )
    write_manifest(manifest, pipeline.index.manifest)
    _copy_documents(documents)
    struck = _write_broken(pipeline, gold, broken)
    report = audit(broken, manifest=manifest, docs=documents).report
    return _shown(report, struck, color=color, width=width)


def _copy_documents(folder: Path) -> None:
    from ragauge.demo import DOCUMENTS

    shutil.copytree(DOCUMENTS, folder, dirs_exist_ok=True)


def _write_broken(pipeline: Pipeline, gold: Path, traces: Path) -> dict[str, str]:
    """The question of each depth, answered with a citation broken as that depth would notice."""
    from ragauge.contracts.system import Ask
    from ragauge.ingest.gold import read_gold
    from ragauge.store.files import write_whole

    answerable = (one for one in read_gold(str(gold)) if one.answerable)
    struck = dict(zip(BROKEN, islice(answerable, len(BROKEN)), strict=True))
    lines = []
    for depth, question in struck.items():
        fault = BROKEN[depth]
        reply = pipeline.answer(Ask(q=question.question, knobs={"faults": [fault]}))
        lines.append(json.dumps({"qid": question.qid, "q": question.question, **reply}))
    write_whole(traces, "".join(f"{line}\n" for line in lines).encode())
    return {depth: question.qid for depth, question in struck.items()}


def _shown(report: AuditReport, struck: dict[str, str], *, color: bool, width: int) -> str:
    from rich.text import Text

    from ragauge.reports.terminal import Page, note, words

    page = Page(color, width)
    page.section(
        "Citations", note("three broken on purpose, one for each depth of the check, and caught")
    )
    rows, notes = [], []
    for depth, qid in struck.items():
        worst = next(answer.code for answer in report.answers if answer.qid == qid)
        found = next(one for one in report.findings if (one.qid, one.code) == (qid, worst))
        rows.append([words(depth, "bold"), note(ASKS[depth]), words(qid), words(worst)])
        notes.append(words(found.message))
    page.table(rows, notes=notes)
    page.line(Text())
    return page.text()
