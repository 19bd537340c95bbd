"""The documentation says what is so: generated pages are fresh, and snippets run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate import generated
from tests.cli.command import ragauge

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)

DEMO = "ragauge demo --into demo > /dev/null"
"""How many pages begin: it runs once for all of them."""


def test_generated_pages_are_fresh():
    for path, text in generated().items():
        assert path.read_text("utf-8") == text, f"{path.name} is stale: run `make docs`"


def blocks_of(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text("utf-8"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.stem
)
def test_snippets_run(page, toured, tmp_path):
    """Commands run in order in one folder; what is printed below them is what they print."""
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for kind, text in blocks_of(page):
        if kind == "python":
            run([sys.executable, "-c", text], tmp_path)
        else:
            for command, expected in commands(text):
                if command == DEMO:
                    shutil.copytree(toured / "demo", tmp_path / "demo")
                    continue
                printed = shown(command, tmp_path)
                assert matches(printed, expected), f"{command}\n{printed}"


SHELL = re.compile(r"[|&;<>$`*?#~]")
"""What only a shell understands."""


def shown(command: str, folder: Path) -> str:
    """What a line of a page prints: `ragauge` alone in this process, anything else in a shell."""
    words, silent = command.removesuffix(" > /dev/null"), command.endswith(" > /dev/null")
    if not words.startswith("ragauge ") or SHELL.search(re.sub(r"'[^']*'", "", words)):
        return run(["bash", "-c", command], folder)
    done = ragauge(*shlex.split(words)[1:], cwd=folder, COLUMNS="100")
    assert done.returncode in (0, 1), f"{command}\n{done.stderr.decode()}"
    assert b"Traceback" not in done.stderr, done.stderr
    return "" if silent else done.stdout.decode()


def commands(text: str) -> list[tuple[str, str]]:
    """Each `$ command` with the output shown below it."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def run(command: list[str], folder: Path) -> str:
    binaries = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": binaries, "COLUMNS": "100"}
    where = shutil.which(command[0], path=binaries) or command[0]
    done = subprocess.run(
        [where, *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 1), f"{shlex.join(command)}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def matches(printed: str, expected: str) -> bool:
    """Whether the output is as shown; a line of `...` stands for any lines."""
    if not expected.strip():
        return True
    pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def test_the_files_of_the_readme_pass_its_recipe(tmp_path):
    text = (ROOT / "README.md").read_text("utf-8")
    gold, traces = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "gold.jsonl").write_text(gold)
    (tmp_path / "traces.jsonl").write_text(traces)
    printed = run(["ragauge", "score", "gold.jsonl", "traces.jsonl", "--preset", "ship"], tmp_path)
    assert printed.startswith("PASS")


def test_the_readme_says_of_other_tools_what_was_measured():
    measured = (ROOT / "benchmarks/RESULTS.md").read_text("utf-8")
    measured = measured.partition("## Next to other tools\n")[2].partition("\n## ")[0]
    said = (ROOT / "README.md").read_text("utf-8")
    said = said.partition("## Compared with other tools\n")[2].partition("\n## ")[0]
    rows = [line for line in said.splitlines() if line.startswith("|")]
    assert rows == [line for line in measured.splitlines() if line.startswith("|")] != []


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
