"""The command lines whose output is kept, by name."""

from __future__ import annotations

import shlex

from ragauge.cli.main import VERBS
from ragauge.cli.schema import NAMES

SCORE = "score gold.jsonl poor.jsonl --gates 'precision_cited>=0.9, over_refusal<=0.1'"
STABILITY = "stability few.jsonl flaky-runs.jsonl"
AUDIT = "audit broken.jsonl --manifest manifest.json --gold gold.jsonl"
NER = "eval ner ner.jsonl ner-found.jsonl --gates 'f1_strict>=0.9'"
ANSWERS = "eval answers answers.jsonl --gates 'groundedness>=0.5' --by model"
DIAGNOSE = "diagnose flaky-runs.jsonl --gold few.jsonl"
COMPARE = "compare before after --store store --gate no-regression"
TRACE_EVAL = "trace-eval few.jsonl --demo --out traced.jsonl --quiet"

FORMATS = {
    "score": (SCORE, "json markdown html csv junit github"),
    "stability": (STABILITY, "json markdown html csv junit github"),
    "audit": (AUDIT, "json markdown html junit github sarif"),
    "ner": (NER, "json markdown html csv junit"),
    "answers": (ANSWERS, "json markdown html csv"),
    "diagnose": (DIAGNOSE, "json markdown html"),
    "compare": (COMPARE, "json markdown html csv github"),
    "trace-eval": (TRACE_EVAL, "json markdown html junit"),
}
"""Commands kept in every format they have, and as text at two widths."""

ONCE = {
    "score-no-gate": "score gold.jsonl good.jsonl",
    "score-ship": "score gold.jsonl good.jsonl --preset ship",
    "score-exact": "score gold.jsonl poor.jsonl --refusal exact --each trace",
    "score-missing": "score gold.jsonl few.jsonl",
    "stability-steady": "stability few.jsonl steady-runs.jsonl --profile reference",
    "types": "eval types types.tsv types-found.tsv --gates 'accuracy>=0.5'",
    "types-json": "eval types types.tsv types-found.tsv --format json",
    "linking": "eval linking links.jsonl links-found.jsonl",
    "linking-json": "eval linking links.jsonl links-found.jsonl --format json",
    "retrieval": "eval retrieval qrels.txt run.txt",
    "retrieval-json": "eval retrieval qrels.txt run.txt --baseline run2.txt --format json",
    "retrieval-baseline": "eval retrieval qrels.txt run.txt --baseline run2.txt",
    "qa": "eval qa gold.jsonl poor.jsonl --by question_type --metrics token_f1,containment",
    "qa-json": "eval qa few.jsonl poor.jsonl --format json",
    "answers-judge": "eval answers answers.jsonl --judge lexical --format json",
    "convert-iob2": "eval convert ner.jsonl converted.iob --to iob2",
    "diagnose-rows": "diagnose scores.jsonl",
    "diagnose-chinese": f"{DIAGNOSE} --lang zh",
    "consistency": "consistency scholar.jsonl auditor.jsonl",
    "consistency-json": "consistency scholar.jsonl auditor.jsonl --format json",
    "consistency-csv": "consistency scholar.jsonl auditor.jsonl --format csv",
    "agreement": "gold agreement anna.jsonl ben.jsonl cleo.jsonl",
    "agreement-json": "gold agreement anna.jsonl ben.jsonl cleo.jsonl --format json",
    "calibrate-groundedness": "calibrate groundedness labelled.jsonl",
    "calibrate-groundedness-json": "calibrate groundedness labelled.jsonl --format json",
    "calibrate-judge": "calibrate judge labelled.jsonl --judge lexical --store none",
    "calibrate-deltas": "calibrate deltas --demo",
    "calibrate-deltas-json": "calibrate deltas --demo --format json",
    "gold-lint": "gold lint gold.jsonl",
    "gold-lint-json": "gold lint few.jsonl --format json",
    "gold-diff": "gold diff few.jsonl changed.jsonl",
    "gold-diff-json": "gold diff few.jsonl changed.jsonl --format json",
    "gold-split": "gold split gold.jsonl --into split --by question_type",
    "gold-sample": "gold sample gold.jsonl --out sample.jsonl -n 20 --by question_type",
    "history": "history precision_cited --store store",
    "history-json": "history precision_cited --store store --format json",
    "history-csv": "history precision_cited --store store --format csv",
    "runs-list": "runs list --store store",
    "runs-list-json": "runs list --store store --format json",
    "runs-show": "runs show after --store store",
    "runs-verify": "runs verify --store store",
    "suite": "run --store suite-text",
    "suite-json": "run --store suite-json --format json",
    "suite-junit": "run --store suite-junit --format junit",
    "metrics": "metrics",
    "metrics-one": "metrics quality.precision_strict",
    "prompt": "prompt",
    "config": "config",
    "config-changes": "config --explain-changes",
    "unknown-verb": "scoer gold.jsonl good.jsonl",
    "unknown-gate": "score gold.jsonl good.jsonl --gates 'precison_cited>=0.9'",
    "gate-that-cannot-fail": "score gold.jsonl good.jsonl --gates 'over_refusal<=10'",
    "no-such-file": "score nowhere.jsonl good.jsonl",
    "bad-lines": "score gold.jsonl qrels.txt",
}
"""Commands kept once: as text, and as JSON where it is a report."""


def commands() -> dict[str, tuple[list[str], int]]:
    """Each command line and the width of its terminal, by the name of its golden file."""
    found: dict[str, tuple[list[str], int]] = {}
    for name, (line, forms) in FORMATS.items():
        found[f"{name}.txt"] = shlex.split(line), 100
        found[f"{name}-narrow.txt"] = shlex.split(line), 72
        for form in forms.split():
            found[f"{name}.{form}"] = [*shlex.split(line), "--format", form], 100
    for name, line in ONCE.items():
        found[f"{name}.txt"] = shlex.split(line), 100
    found["help.txt"] = ["--help"], 100
    for verb in VERBS:
        found[f"help-{verb}.txt"] = [verb, "--help"], 80
    for name in NAMES:
        found[f"schema-{name}.json"] = ["schema", name], 100
    return found
