"""RESULTS.md, a section for each benchmark; running one replaces its own section."""

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import describe

RESULTS = Path(__file__).with_name("RESULTS.md")
INTRODUCTION = """# Benchmark results

Written by `make bench`: every figure is measured in one run on one machine, side by side with what
a user would pick instead. Ratios are what to look at; seconds are this machine's.
"""


def write_section(title: str, parts: Sequence[str]) -> None:
    """Put a section at the end, with the machine it was measured on; an older one goes."""
    section = "\n\n".join([f"## {title}", f"Machine: {describe()}", *parts]) + "\n"
    text = RESULTS.read_text("utf-8") if RESULTS.exists() else INTRODUCTION
    old = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    kept = old.sub("", text).rstrip()
    RESULTS.write_text(f"{kept}\n\n{section}", "utf-8")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; all but the first column are numbers and stand to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [header, rule, *rows])
