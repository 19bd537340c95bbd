"""The command lines whose output is kept, by name."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from ragauge.cli.main import cli
from ragauge.cli.schema import NAMES

SCORE = "score gold.jsonl poor.jsonl --gates 'precision_cited>=0.9, over_refusal<=0.1'"
STABILITY = "stability few.jsonl flaky-runs.jsonl"
AUDIT = "audit broken.jsonl --manifest manifest.json --gold gold.jsonl"
NER = "eval ner ner.jsonl ner-found.jsonl --gates 'f1_strict>=0.9'"
ANSWERS = "eval answers answers.jsonl --gates 'groundedness>=0.5' --by model"
DIAGNOSE = "diagnose flaky-runs.jsonl --gold few.jsonl"
COMPARE = "compare before after --store store --gate no-regression"
TRACE_EVAL = "trace-eval few.jsonl --demo --out traced.jsonl --quiet"
DRIFT = "audit --drift older-manifest.json --manifest manifest.json"
SWEEP = "sweep few.jsonl --demo --seeds 0 --temperatures 0 --jitters none,syn --quiet"
LATENCY = "latency --http http://localhost/qa --gold few.jsonl --knobs knobs.json --requests 4"

FORMATS = {
    "score": (SCORE, "json markdown html csv junit github"),
    "stability": (STABILITY, "json markdown html csv junit github"),
    "audit": (AUDIT, "json markdown html junit github sarif"),
    "drift": (DRIFT, "json markdown"),
    "ner": (NER, "json markdown html csv junit"),
    "answers": (ANSWERS, "json markdown html csv junit"),
    "diagnose": (DIAGNOSE, "json markdown html junit"),
    "compare": (COMPARE, "json markdown html csv junit github"),
    "trace-eval": (TRACE_EVAL, "json markdown html junit"),
    "latency": (LATENCY, "json markdown csv"),
    "eval-all": ("eval all --demo --task types --task linking", "json markdown html junit"),
    "suite": ("run --store suite --fresh", "json markdown junit github"),
}
"""Commands kept in every format they have, and as text at two widths."""

ONCE = {
    "score-no-gate": "score gold.jsonl good.jsonl",
    "score-ship": "score gold.jsonl good.jsonl --preset ship",
    "score-exact": "score gold.jsonl poor.jsonl --refusal exact --each trace",
    "score-missing": "score gold.jsonl flaky-runs.jsonl",
    "stability-steady": "stability few.jsonl steady-runs.jsonl --profile reference",
    "types": "eval types types.tsv types-found.tsv --gates 'accuracy>=0.5'",
    "types-json": "eval types types.tsv types-found.tsv --format json",
    "types-html": "eval types types.tsv types-found.tsv --format html",
    "linking": "eval linking links.jsonl links-found.jsonl",
    "linking-json": "eval linking links.jsonl links-found.jsonl --format json",
    "linking-csv": "eval linking links.jsonl links-found.jsonl --format csv",
    "retrieval": "eval retrieval qrels.txt run.txt",
    "retrieval-json": "eval retrieval qrels.txt run.txt --baseline run2.txt --format json",
    "retrieval-baseline": "eval retrieval qrels.txt run.txt --baseline run2.txt",
    "qa": "eval qa gold.jsonl poor.jsonl --by question_type --metrics token_f1,containment",
    "retrieval-junit": "eval retrieval qrels.txt run.txt --gates 'rr>=0.9' --format junit",
    "qa-json": "eval qa few.jsonl poor.jsonl --format json",
    "answers-judge": "eval answers answers.jsonl --judge lexical --format json",
    "convert-iob2": "eval convert ner.jsonl converted.iob --to iob2",
    "audit-ranks": "audit few-good.jsonl --ranks few-broken.jsonl",
    "audit-one": "audit --one reply.json --retrieved retrieved.json",
    "audit-explain": "audit --explain cross_section_reuse",
    "trace-eval-k": "trace-eval few.jsonl --demo --out traced-k.jsonl --k 1,3 --quiet",
    "sweep": f"{SWEEP} --out swept.jsonl --restart",
    "sweep-json": f"{SWEEP} --out swept-json.jsonl --format json",
    "sweep-plan": "sweep few.jsonl --demo --out planned.jsonl --dry-run",
    "sweep-plan-json": "sweep few.jsonl --demo --out planned.jsonl --dry-run --format json",
    "diagnose-rows": "diagnose scores.jsonl",
    "diagnose-full": f"{DIAGNOSE} --full",
    "diagnose-chinese": f"{DIAGNOSE} --lang zh",
    "catalogue": "diagnose --catalogue --metrics faithfulness",
    "catalogue-chinese": "diagnose --catalogue --metrics faithfulness --lang zh",
    "consistency": "consistency scholar.jsonl auditor.jsonl",
    "consistency-json": "consistency scholar.jsonl auditor.jsonl --format json",
    "consistency-csv": "consistency scholar.jsonl auditor.jsonl --format csv",
    "consistency-markdown": "consistency scholar.jsonl auditor.jsonl --format markdown",
    "agreement": "gold agreement anna.jsonl ben.jsonl cleo.jsonl",
    "agreement-json": "gold agreement anna.jsonl ben.jsonl cleo.jsonl --format json",
    "calibrate-groundedness": "calibrate groundedness labelled.jsonl",
    "calibrate-groundedness-json": "calibrate groundedness labelled.jsonl --format json",
    "agreement-markdown": "gold agreement anna.jsonl ben.jsonl cleo.jsonl --format markdown",
    "calibrate-judge": "calibrate judge labelled.jsonl --judge lexical --store none",
    "calibrate-deltas": "calibrate deltas --demo",
    "calibrate-deltas-json": "calibrate deltas --demo --format json",
    "calibrate-deltas-markdown": "calibrate deltas --demo --format markdown",
    "gold-lint": "gold lint gold.jsonl",
    "gold-lint-json": "gold lint few.jsonl --format json",
    "gold-diff": "gold diff few.jsonl changed.jsonl",
    "gold-diff-json": "gold diff few.jsonl changed.jsonl --format json",
    "gold-convert": "gold convert few.jsonl few.csv --force",
    "gold-split": "gold split gold.jsonl --into split --force --by question_type",
    "gold-sample": "gold sample gold.jsonl --out sample.jsonl -n 20 --force --by question_type",
    "history": "history precision_cited --store store",
    "history-json": "history precision_cited --store store --format json",
    "history-csv": "history precision_cited --store store --format csv",
    "history-markdown": "history precision_cited --store store --format markdown",
    "runs-list": "runs list --store store",
    "runs-list-json": "runs list --store store --format json",
    "runs-show": "runs show after --store store",
    "runs-show-json": "runs show ner --store store --format json",
    "runs-identity": "runs show after --store store --identity",
    "runs-rescore": "runs rescore latest --store rescored --format markdown",
    "runs-gc": "runs gc --store store",
    "runs-tag-unknown": "runs tag nobody mine --store store",
    "report": "report after --store store --out - --rows 3 --whole 1",
    "runs-verify": "runs verify --store store",
    "metrics": "metrics",
    "metrics-json": "metrics --format json",
    "metrics-one": "metrics quality.precision_strict",
    "prompt": "prompt",
    "config": "config",
    "config-changes": "config --explain-changes",
    "init": "init --case http --into started --force",
    "completion": "completion bash",
    "unknown-verb": "scoer gold.jsonl good.jsonl",
    "unknown-gate": "score gold.jsonl good.jsonl --gates 'precison_cited>=0.9'",
    "gate-that-cannot-fail": "score gold.jsonl good.jsonl --gates 'over_refusal<=10'",
    "no-such-file": "score nowhere.jsonl good.jsonl",
    "bad-lines": "score gold.jsonl qrels.txt",
}
"""Commands kept once: as text, and as JSON where it is a report."""

WRITTEN = {
    "score-rows.parquet": f"{SCORE} --out score-rows.parquet",
    "stability-rows.parquet": f"{STABILITY} --out stability-rows.parquet",
    "ner-rows.jsonl": f"{NER} --out ner-rows.jsonl",
    "answers-rows.csv": f"{ANSWERS} --out answers-rows.csv",
    "latency-rows.jsonl": f"{LATENCY} --out latency-rows.jsonl",
    "audit.log": f"{AUDIT} --log audit.log",
    "swept-runs.jsonl": f"{SWEEP} --out swept-runs.jsonl --restart",
    "swept-runs.jsonl.plan.json": f"{SWEEP} --out swept-runs.jsonl",
    "threshold.json": "calibrate groundedness labelled.jsonl --out threshold.json",
}
"""Commands whose file is kept, under its name."""


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
    for words in verbs(cli):
        found[f"{'-'.join(['help', *words])}.txt"] = [*words, "--help"], 80 if words else 100
    for name in NAMES:
        found[f"schema-{name}.json"] = ["schema", name], 100
    return found


def verbs(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of every command, those of groups too."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from verbs(command.get_command(context, name), *words, name)  # type: ignore[arg-type]
