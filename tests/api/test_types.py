"""The public surface as a type checker and an editor see it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ragauge
from ragauge import AuditOptions, ScoreOptions, score, sweep, trace_eval
from ragauge.errors import UsageError

HERE = Path(__file__).parent
USES, MISUSES = HERE / "uses.py", HERE / "misuses.py"


def test_mypy_accepts_every_use_and_finds_every_mistake() -> None:
    root = HERE.parents[1]
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-pretty"]
    done = subprocess.run(
        [*command, str(USES), str(MISUSES)],
        check=False,
        capture_output=True,
        text=True,
        cwd=root,
        env={"MYPYPATH": str(root / "src"), "PATH": ""},
    )
    found = re.findall(r"(\w+)\.py:(\d+): error: .*\[([\w-]+)\]", done.stdout)
    lines = enumerate(MISUSES.read_text().splitlines(), 1)
    wrong = [("misuses", str(n), line.split("  # ")[1]) for n, line in lines if "  # " in line]
    assert found == wrong, done.stdout + done.stderr
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(revealed) == USES.read_text().count("reveal_type(")
    assert not [one for one in revealed if one == "Any" or "-> Any" in one]
    assert "Outcome[ragauge.contracts.score.ScoreReport]" in revealed[1]


def test_every_public_name_is_used() -> None:
    used = {*re.findall(r"ragauge\.(\w+)", USES.read_text())}
    assert {*ragauge.__all__} <= used
    assert {*ragauge.__all__} <= {*dir(ragauge)}


def test_what_is_misspelt_is_named_with_what_is_near() -> None:
    with pytest.raises(UsageError, match='score: there is no option "gatez"; did you mean "gates"'):
        score("a", "b", gatez=3)
    with pytest.raises(UsageError, match='did you mean "timeout"'):
        sweep("a", print, "b", timeuot=3)
    with pytest.raises(UsageError, match="score: options: expected ScoreOptions, got AuditOptions"):
        score("a", "b", options=AuditOptions())


def test_options_are_used_again_and_keywords_go_before_them(answered: tuple[Path, Path]) -> None:
    options = ScoreOptions(gates="precision_cited>=0.5", refusal="exact")
    report = score(*answered, options=options).report
    assert report.passed and report.identity["options"]["refusal"] == "exact"
    stricter = score(*answered, options=options, gates="precision_cited<=0.1").report
    assert stricter.passed is False and stricter.identity["options"]["refusal"] == "exact"


def test_a_plain_function_is_swept_with_the_names_of_the_command(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"qid": "q1", "question": "Why was it built?", "answerable": false}\n')
    seen = []

    async def system(question: dict[str, object]) -> str:
        seen.append((question["seed"], question["jitter"]))
        return "not in context"

    options = {"seeds": (0, 1), "preset": "pr", "temperatures": [0.0], "rate": "500/s"}
    report = sweep(gold, system, tmp_path / "runs.jsonl", timeout=5, max_wait=1, **options)
    assert report.passed
    assert {seed for seed, _ in seen} == {0, 1}
    assert {"none", "ws"} <= {jitter for _, jitter in seen} <= {"none", "ws", "syn"}
    with pytest.raises(UsageError, match="it is called with one argument"):
        sweep(gold, lambda: "x", tmp_path / "other.jsonl")
    with pytest.raises(UsageError, match="expected a system or a function of a question, got int"):
        sweep(gold, 5, tmp_path / "other.jsonl")


def test_a_plain_function_is_evaluated_with_the_names_of_the_command(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    question = '{"qid": "q1", "question": "Why?", "answerable": false, "paraphrases": ["How?"]}'
    gold.write_text(question + "\n")
    seen = []

    def system(asked: dict[str, object]) -> str:
        seen.append((asked["q"], asked["seed"], asked["temperature"]))
        return "not in context"

    options = {"wordings": 1, "seeds": [7], "temperature": 0.5, "timeout": 5, "rate": "500/s"}
    done = trace_eval(gold, system, tmp_path / "runs.jsonl", concurrency=1, **options)
    assert done.swept.passed and done.outcome
    assert seen and {(seed, warmth) for _, seed, warmth in seen} == {(7, 0.5)}
    recipe = done.outcome.identity["options"]["recipe"]
    assert (recipe["wordings"], [*recipe["seeds"]], recipe["temperature"]) == (1, [7], 0.5)
