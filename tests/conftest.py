"""Fixtures every room uses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # `benchmarks` and `tests` by name

from tests.profiles import load, register

register()

WHOLE = (
    *("cli", "components", "dashboard", "demo", "docs", "models", "pipelines", "plugin"),
    *("runners", "store"),
)
"""Folders that `make quick` leaves out: processes, servers, databases, models, other tools."""
REAL = {"browser", "opened", "place", "postgres", "postgres_server"}
"""Fixtures whose tests it leaves out, along with those that are marked slow."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="Unit tests and goldens, in a minute.")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.quick:
        load("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    here = Path(__file__).parent
    left_out = config.option.quick and collection_path in [here / name for name in WHOLE]
    return True if left_out else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.quick:
        return
    left_out = {
        item
        for item in items
        if item.get_closest_marker("slow") or REAL & {*getattr(item, "fixturenames", ())}
    }
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


GOLD = [
    {
        "qid": "q1",
        "q": "What is X?",
        "answerable": True,
        "gold_ids": ["p1#1"],
        "gold_claim": "X is a constrained mapping.",
    },
    {
        "qid": "q2",
        "q": "Explain Y.",
        "answerable": True,
        "gold_ids": ["p2#1"],
        "gold_claim": "Y is unrelated to X.",
    },
    {"qid": "q3", "q": "What is Z?", "answerable": False},
    {"qid": "q4", "q": "Summarize the external link.", "answerable": False},
]
ANSWERS = [
    "- claim: X is a constrained mapping.\n- citations: [p1#1]",
    "Y is unrelated to X.\ncitations: [p1#1]",
    "not in context",
    "Not in context.",
]


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The bundled gold set, and what the reference pipeline answers to it."""
    from ragauge.demo import GOLD as HERITAGE
    from ragauge.demo.pipeline import Pipeline
    from ragauge.demo.tour import write_traces

    traces = tmp_path_factory.mktemp("answered") / "traces.jsonl"
    write_traces(Pipeline.of(), HERITAGE, traces)
    return HERITAGE, traces


@pytest.fixture(scope="session")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `ragauge demo --into demo` left and `printed`; copy it to change it."""
    from tests.cli.command import ON_PATH, ragauge
    from tests.sharing import shared

    def tour(folder: Path) -> None:
        done = ragauge("demo", "--into", "demo", cwd=folder, COLUMNS="80", **ON_PATH)
        assert done.returncode == 0, done.stderr
        (folder / "printed").write_bytes(done.stdout)

    return shared(tmp_path_factory, "toured", tour)


@pytest.fixture
def parity(tmp_path: Path) -> tuple[Path, Path]:
    """The parity fixture of the brief: a qaset of four questions and their answers."""
    gold, traces = tmp_path / "qaset.json", tmp_path / "traces.jsonl"
    gold.write_text(json.dumps(GOLD))
    lines = [{"ts": 1, "q": g["q"], "answer": a} for g, a in zip(GOLD, ANSWERS, strict=True)]
    traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return gold, traces
