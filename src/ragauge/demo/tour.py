"""What `ragauge demo` does and shows: a healthy system, a fault, its cause, a verified fix."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from rich.text import Text

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.contracts.history import History, Run, RunFilter
from ragauge.contracts.report import Outcome
from ragauge.contracts.run import Grid
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import StabilityReport
from ragauge.contracts.system import Ask
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.ingest.gold import read_gold
from ragauge.reports.formats.text import Page, foreign_text, note, styled
from ragauge.reports.kinds import score as score_story
from ragauge.reports.kinds import stability as stability_story
from ragauge.reports.kinds.comparison import verdict_text
from ragauge.reports.kinds.diagnosis import lead
from ragauge.reports.kinds.stability import two_runs, variation_text
from ragauge.runners.audit import audit
from ragauge.runners.compare import compare
from ragauge.runners.diagnosis.diagnose import diagnose_traces
from ragauge.runners.plan import plan_path
from ragauge.runners.recording import record
from ragauge.runners.score import score
from ragauge.runners.stability import stability
from ragauge.runners.sweep import Watch, sweep
from ragauge.store.files import write_manifest, write_whole
from ragauge.store.history import open_history
from ragauge.text.language import language_of

FAULT, STRENGTH = "unstable_retrieval", 0.3
SWEEPS = {"healthy": "healthy.jsonl", "faulty": "runs.jsonl", "fixed": "fixed.jsonl"}
"""The sweeps of the demo: the tag of each in the history, and its file."""
GRID = Grid(seeds=(0, 1, 2), jitters=("none", "ws", "syn"))
BROKEN = ("invented_citations=1", "stale_payloads=1", "drifted_offsets=1")
"""Faults of citations, one for each depth of an audit, for the first questions of broken.jsonl."""
ACCEPTED = 0.05
"""The loss of stable questions below which the fix counts as not worse."""
HISTORY, REPORT = "history", "report.html"
OURS = {"made by": "ragauge demo"}
"""The label of the demo's runs: another demo replaces them, and no others."""
COLUMN, AGAINST = 13, 25
"""Where the verdicts begin."""


Watching = Callable[[], AbstractContextManager[Watch | None]]
"""Shows how far a sweep is."""


def tour(
    folder: Path,
    *,
    color: bool,
    width: int,
    watching: Watching,
    report: Callable[[History, Run], str] | None = None,
) -> str:
    """Run the demo in a folder; its story comes back. `report` makes a report to keep there."""
    pipeline = Pipeline.of()
    gold = folder / "gold.jsonl"
    shutil.copyfile(GOLD, gold)
    write_traces(pipeline, gold, folder / "traces.jsonl")
    scored = score(gold, folder / "traces.jsonl", preset="ship", keep_answers=True)
    swept = {tag: swept_as(tag, pipeline, gold, folder, watching) for tag in SWEEPS}
    found = diagnose_traces(folder / SWEEPS["faulty"], gold)
    _write_for_audits(pipeline, gold, folder)

    page = Page(color, width)
    manifest = pipeline.index.manifest
    page.paragraph(
        foreign_text(
            f"A small RAG system over {len(manifest.doc_revs)} documents about museums, archives "
            f"and libraries answers {len(read_gold(str(gold)))} questions. Everything runs offline."
        ),
        0,
    )
    _healthy(page, scored.report, swept["healthy"].report)
    _broken(page, swept["faulty"].report)
    _cause(page, found)
    with closing(open_history(str(folder / HISTORY))) as history:
        _recorded(history, folder, scored, swept)
        _verified(page, history)
        if report is not None:
            write_whole(folder / REPORT, report(history, history.find("faulty")).encode())
    return page.text()


def write_traces(pipeline: Pipeline, gold: Path, traces: Path) -> None:
    """One answer to each question, all faults off: what `ragauge score` is tried on."""
    lines = []
    for question in read_gold(str(gold)):
        knobs = {"constraints": list(question.constraints)} if question.constraints else {}
        reply = pipeline.answer(Ask(q=question.question, knobs=knobs))
        lines.append(json.dumps({"qid": question.qid, "q": question.question, **reply}))
    write_whole(traces, "".join(f"{line}\n" for line in lines).encode())


def swept_as(
    tag: str, pipeline: Pipeline, gold: Path, folder: Path, watching: Watching = nullcontext
) -> Outcome[StabilityReport]:
    """The stability of the pipeline over the demo's grid, with the fault where it is `faulty`."""
    runs = folder / SWEEPS[tag]
    for old in (runs, plan_path(runs)):
        old.unlink(missing_ok=True)  # of an earlier demo
    knobs = {"faults": [f"{FAULT}={STRENGTH}"]} if tag == "faulty" else {}
    with watching() as watch:
        swept = sweep(gold, pipeline, runs, watch, grid=GRID, knobs=knobs)
    if swept.ended == "interrupted":
        raise KeyboardInterrupt
    return stability(gold, runs)


def a_flake(report: StabilityReport) -> str | None:
    """The question whose outcome depends most on the seed, as the fault does; in English if any."""
    rates = {
        qid: (language_of(one.question) == "en", one.explained_by.rate, qid)
        for qid, one in report.details.items()
        if one.verdict == "flaky" and one.explained_by and one.explained_by.factor == "seed"
    }
    return max(rates, key=rates.__getitem__, default=None)


def _write_for_audits(pipeline: Pipeline, gold: Path, folder: Path) -> None:
    """The manifest, the documents, and answers with a citation broken at each depth of an audit."""
    write_manifest(folder / "manifest.json", pipeline.index.manifest)
    shutil.copytree(DOCUMENTS, folder / "documents", dirs_exist_ok=True)
    answerable = (one for one in read_gold(str(gold)) if one.answerable)
    lines = []
    for fault, question in zip(BROKEN, islice(answerable, len(BROKEN)), strict=True):
        reply = pipeline.answer(Ask(q=question.question, knobs={"faults": [fault]}))
        lines.append(json.dumps({"qid": question.qid, "q": question.question, **reply}))
    write_whole(folder / "broken.jsonl", "".join(f"{line}\n" for line in lines).encode())


def _recorded(
    history: History, folder: Path, scored: Outcome[Any], swept: dict[str, Outcome[Any]]
) -> None:
    """Keep the demo's runs in place of those of an earlier demo; the sweeps are tagged."""
    if earlier := [run.id for run in history.runs(RunFilter(labels=OURS))]:
        history.remove(earlier)
        history.gc()
    sources: dict[str, Any] = {"manifest": folder / "manifest.json", "docs": folder / "documents"}
    audited = audit(folder / "traces.jsonl", gold=folder / "gold.jsonl", **sources)
    broken = audit(folder / "broken.jsonl", **sources)
    others = {"traces": scored, "citations": audited, "broken citations": broken}
    for name, outcome in others.items():
        record(outcome, history, name=name, labels=OURS, folder=folder)
    for tag, outcome in swept.items():
        fault = {"fault": f"{FAULT}={STRENGTH}"} if tag == "faulty" else {}
        run = record(outcome, history, name="sweep", labels={**OURS, **fault}, folder=folder)
        history.tag(run.id, tag, move=True)


def _healthy(page: Page, scored: ScoreReport, swept: StabilityReport) -> None:
    page.section("1. The system is healthy")
    _verdict(page, "score", score_story.verdict_text(scored))
    _verdict(page, "stability", stability_story.verdict_text(swept))
    runs = f"{swept.coverage.runs:,} runs"
    page.paragraph(
        note(f"{runs}: each question with 3 seeds, 2 temperatures and up to 3 wordings"), COLUMN
    )


def _broken(page: Page, swept: StabilityReport) -> None:
    page.section("2. A fault is switched on", f"{FAULT}={STRENGTH}")
    page.paragraph(
        foreign_text(
            f"In {percent(STRENGTH)} of the calls the search loses half of the chunks that it "
            "found, a different half for each seed."
        )
    )
    _verdict(page, "stability", stability_story.verdict_text(swept))
    qid = a_flake(swept)
    if qid is None:
        return
    page.paragraph(foreign_text(f"For example {qid}: {swept.details[qid].question}"), COLUMN)
    for run in sorted(two_runs(swept.details[qid]), key=lambda run: run.cell != "+"):
        how = variation_text(run.variation, swept.columns)
        page.line(Text.assemble(" " * COLUMN, (f"{how}: ", "dim"), foreign_text(run.claim)))
    page.paragraph(note("`not in context` is how this system refuses."), COLUMN)


def _cause(page: Page, report: DiagnosisReport) -> None:
    found = lead(report)
    page.section("3. The diagnosis names the cause")
    if found.cause is None:
        page.paragraph(foreign_text(found.text))
        return
    cause = found.cause
    page.paragraph(Text.assemble(f"{found.heading}: ", foreign_text(cause.title, "bold")))
    page.paragraph(foreign_text(cause.means))
    page.paragraph(
        foreign_text("To fix it: " + " Or: ".join(action.do for action in cause.actions[:2]))
    )


def _verified(page: Page, history: History) -> None:
    page.section("4. The fault is switched off, and the fix is verified")
    for before in ("faulty", "healthy"):
        report = compare(history, before, "fixed", margins=(f"{ACCEPTED:g}",))
        stable = report.compared["stability.stable"]
        word = verdict_text(report)[0]
        good = Text(word, "bold green" if word in ("BETTER", "NOT WORSE") else "bold red")
        told = f"  stable: {percent(stable.before)} before, {percent(stable.after)} after"
        if stable.ci:
            low, high = (f"{100 * end:+.0f}" for end in stable.ci)
            told += f" (95 % interval of the change: {low} to {high} points)"
        first = Text(f"  fixed against {before}".ljust(AGAINST), "dim")
        page.paragraph(Text.assemble(good, told), AGAINST, first)


def percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.0f} %"


def _verdict(page: Page, what: str, told: tuple[str, str]) -> None:
    first = Text.assemble("  ", (what.ljust(COLUMN - 2), "dim"))
    page.paragraph(Text.assemble(styled(told[0]), "  ", told[1]), COLUMN, first)
