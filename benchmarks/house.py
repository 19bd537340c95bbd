"""The size of the code, and how far a reader walks through it: `make house`.

Files, lines and functions of `src`; private functions that are called once; small modules with one
importer; and for five calls the functions and files they enter and how deep they go.
"""

import ast
import re
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
SMALL = 150
"""Lines below which a module with one importer belongs inside it."""


class Size(NamedTuple):
    """What `src` holds."""

    files: int
    lines: int
    functions: int
    once: int
    """Private functions whose name occurs twice in their file: where they are made and called."""
    single: int
    """Small modules that one other module imports."""


class Walk(NamedTuple):
    """What a call enters of `src`."""

    functions: int
    files: int
    depth: int


def size(src: Path = SRC) -> Size:
    importers: defaultdict[str, set[str]] = defaultdict(set)
    modules: dict[str, int] = {}
    functions = once = 0
    for path in sorted(src.rglob("*.py")):
        text = path.read_text("utf-8")
        module = ".".join(path.relative_to(src).with_suffix("").parts)
        modules[module] = text.count("\n")
        named = Counter(re.findall(r"\b_\w+", text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions += 1
                private = node.name.startswith("_") and not node.name.startswith("__")
                once += private and named[node.name] == 2
            elif isinstance(node, ast.ImportFrom) and node.module:
                importers[node.module].add(module)
                for alias in node.names:
                    importers[f"{node.module}.{alias.name}"].add(module)
    single = [
        module
        for module, lines in modules.items()
        if lines < SMALL and len(importers[module]) == 1 and not module.endswith("__init__")
    ]
    return Size(len(modules), sum(modules.values()), functions, once, len(single))


def walked(call: Callable[[], Any]) -> Walk:
    """What a call enters, in all its threads."""
    entered: set[tuple[str, int, str]] = set()
    depths: defaultdict[int, int] = defaultdict(int)
    deepest = 0
    src = str(SRC)

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal deepest
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(src):
            return
        if code.co_name.startswith("<"):  # a module or a comprehension is no function
            return
        here = threading.get_ident()
        depths[here] += 1 if event == "call" else -1
        if event == "call":
            entered.add((code.co_filename, code.co_firstlineno, code.co_name))
            deepest = max(deepest, depths[here])

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Walk(len(entered), len({file for file, *_ in entered}), deepest)


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """The calls that are walked through, in the folder of the goldens."""
    from tests.golden import pages
    from tests.golden.running import run

    return {
        "`score gold traces`": lambda: run(["score", "gold.jsonl", "good.jsonl"], folder),
        "`stability gold runs`": lambda: run(
            ["stability", "few.jsonl", "flaky-runs.jsonl"], folder
        ),
        "`eval answers` (3 rows)": lambda: run(["eval", "answers", "three.jsonl"], folder),
        "`diagnose traces --gold`": lambda: run(
            ["diagnose", "good.jsonl", "--gold", "gold.jsonl"], folder
        ),
        "dashboard, one question page": lambda: pages.page(
            "/runs/after/question", {"unit": "h001"}, folder
        ),
    }


def main() -> None:
    from tests.golden.workspace import build

    now = size()
    print("| files | lines | functions | private, used once | small modules with one importer |")
    print("|---:|---:|---:|---:|---:|")
    share = f"{now.once:,} ({100 * now.once / now.functions:.0f} %)"
    print(f"| {now.files:,} | {now.lines:,} | {now.functions:,} | {share} | {now.single:,} |")
    print("\n| call | functions | files | depth |")
    print("|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        build(folder)
        answers = (folder / "answers.jsonl").read_text().splitlines(keepends=True)
        (folder / "three.jsonl").write_text("".join(answers[:3]))
        for name, call in calls(folder).items():
            call()  # what is only done once, such as imports, is no part of the walk
            found = walked(call)
            print(f"| {name} | {found.functions} | {found.files} | {found.depth} |")


if __name__ == "__main__":
    main()
