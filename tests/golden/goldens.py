"""All outputs that are kept: by the name of the file, and how each is made.

python -m tests.golden.goldens rewrites them (`make golden`); read the diff before you commit it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.api.surface import signatures
from tests.golden import pages
from tests.golden.commands import commands
from tests.golden.running import normalised, run
from tests.golden.workspace import build

EXPECTED = Path(__file__).with_name("expected")


def goldens() -> dict[str, Callable[[Path], str]]:
    """What makes each golden in a folder that `build` filled."""
    found: dict[str, Callable[[Path], str]] = {
        name: partial(printed, arguments, width) for name, (arguments, width) in commands().items()
    }
    for name, (address, query) in pages.PAGES.items():
        found[name] = partial(pages.page, address, query)
    found["database.sql"] = pages.schema
    found["signatures.txt"] = signatures
    return found


def printed(arguments: list[str], width: int, folder: Path) -> str:
    """The exit code of a command, what it printed, and its remarks."""
    done = run(arguments, folder, width=width)
    remarks = f"--- standard error\n{done.stderr.decode()}" if done.stderr else ""
    return f"exit {done.returncode}\n{done.stdout.decode()}{remarks}"


def made(make: Callable[[Path], str], folder: Path) -> str:
    return normalised(make(folder), folder)


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        build(folder)
        texts = {name: made(make, folder) for name, make in goldens().items()}
    for old in EXPECTED.iterdir():
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (EXPECTED / name).write_text(text, "utf-8", newline="")
    sys.stdout.write(f"{len(texts)} goldens in {EXPECTED.relative_to(Path.cwd())}\n")


if __name__ == "__main__":
    main()
