"""Every public name as a typed program uses it; mypy --strict reads this file, nobody runs it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, reveal_type

import ragauge
from ragauge import Absent, Facts, Row

if TYPE_CHECKING:

    def ask(question: dict[str, Any]) -> str:
        return str(question["q"])

    scored = ragauge.score("gold.jsonl", ["a.jsonl", Path("b.jsonl")], gates="errors<=0", workers=2)
    again = ragauge.score("g", "t", options=ragauge.ScoreOptions(preset="ship"), out=Path("x"))
    number: float | None = scored["precision_cited"].value
    scored.assert_passed()
    page: str = scored.to_markdown() + scored.report.to_markdown()
    saved: Path = scored.save("x.html")
    rows: int = scored.to_polars().height + scored.report.to_polars().height
    frame = scored.to_pandas()
    labels: dict[str, int] = scored.report.labels

    steady = ragauge.stability("gold.jsonl", "runs.jsonl", min_stable=0.9)
    flaky: bool = steady.report.passed
    ragauge.stability("g", "r", options=ragauge.StabilityOptions(profile="reference"))

    swept = ragauge.sweep("gold.jsonl", ask, "runs.jsonl", seeds=(0, 1), preset="pr", timeout=5)
    done: int = swept.coverage.done
    ragauge.sweep("g", ask, Path("o"), jitters=["none"], options=ragauge.SweepOptions(retries=1))

    traced = ragauge.trace_eval("g", ask, "o", k=[5, 10], docs=Path("docs"))
    ragauge.trace_eval("g", ask, "o", options=ragauge.TraceEvalOptions(strict=True))
    if traced.outcome:
        traced.outcome.assert_passed()

    audited = ragauge.audit(["t.jsonl"], depth="text", docs=Path("docs"))
    ragauge.audit("t", options=ragauge.AuditOptions(depth="marker"))
    codes = [one.code for one in audited.report.codes]

    history = ragauge.open_history("runs", create=True)
    run = ragauge.record(scored, history, name="nightly", labels={"model": "small"})
    compared = ragauge.compare(history, "green", "latest", metrics=["precision_cited"], alpha=0.01)
    broken: int = compared.flip_counts.get("broken", 0)

    people = ragauge.evaluate_ner("gold.tsv", [{"doc": "d", "start": 0, "end": 1, "type": "P"}])
    values: dict[str, float | None] = ragauge.ner_values("gold.tsv", "predicted.tsv", level=1)
    ragauge.evaluate_types({"1": "M"}, {"1": "L"}, labels=["M", "L"])
    accuracy = ragauge.types_values({"1": "M"}, {"1": None})["labels.accuracy"]
    ragauge.evaluate_linking("g.jsonl", "p.jsonl", crosswalk="walk.tsv", k=(1, 5))
    ragauge.evaluate_retrieval({"q": {"d": 1}}, {"q": {"d": 0.5}}, baselines=["bm25.run"], rel=2)
    ragauge.evaluate_qa("gold.jsonl", "predicted.jsonl", judge="lexical")
    answers = ragauge.evaluate_answers([{"answer": "Yes."}], metrics=["groundedness"])
    per_row = [one.scores for one in answers.scores]
    everything = ragauge.evaluate_all("entries.jsonl", "module:model", tasks=["ner"], k=5)
    words = ragauge.groundedness("It opened.", ["The museum opened."]).unsupported_words

    why = ragauge.diagnose([{"faithfulness": 0.4}], ["faithfulness"], top=5, lang="zh")
    ragauge.diagnose_traces("t.jsonl", "g.jsonl", fail_on="warning")
    ragauge.diagnose_run(history, run, claims=False)
    causes = [cause.id for cause in why.causes]

    manifest: ragauge.Manifest = ragauge.read_manifest("index.json")
    ragauge.write_manifest("index.json", manifest)
    documents = ragauge.FolderDocuments(Path("docs"), manifest)
    offsets = ragauge.OffsetReading(chars_in="utf-16")
    policy = ragauge.Policy(depth="text", offsets=offsets)
    validator = ragauge.CitationValidator(manifest, policy, documents)
    is_fine: bool = validator({"answer": "x", "citations": []}, []).ok
    parsed = ragauge.parse_answer("x").citations
    cited = ragauge.project({"text": "x"}), ragauge.project_all([{"text": "x"}])
    prompt: str = ragauge.prompt_contract(segments=True) + ragauge.constraint_lock(["Not so."])
    entry = ragauge.LogEntry(ts=datetime.now(UTC), qid="q", seg=0)
    same: ragauge.LogEntry = ragauge.parse_line(ragauge.format_line(entry))

    @ragauge.metric(
        "mine.shouting", version=1, better="lower", bounds=(0, 1), unit="question", needs=["claim"]
    )
    def shouting(facts: Facts) -> Row | Absent:
        if not facts.claim:
            return ragauge.NotApplicable("-") if facts.answerable else ragauge.Absent("-")

        return ragauge.Row((int(facts.claim.isupper() * ragauge.SCALE), ragauge.SCALE))

    try:
        ragauge.Facts(answerable=True)
    except ragauge.RagaugeError as error:
        problems = error.problems

    reveal_type(ragauge.score)
    reveal_type(scored)
    reveal_type(scored.report)
    reveal_type(swept)
    reveal_type(answers.report)
    reveal_type(everything.report)
    reveal_type(why)
