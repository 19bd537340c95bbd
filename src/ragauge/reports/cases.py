"""Test cases for CI: suites of cases, and what is wrong with each.

Each kind of report lists its cases once, in its function `cases`. JUnit has all of them, and
GitHub annotates those with a problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from ragauge.contracts.report import Verdict
from ragauge.reports import phrasing

STDIN = "stdin"


class Case(Struct, frozen=True):
    """A gate, a question, a metric: a success, unless it has a problem. Texts may be foreign."""

    name: str
    problem: str = ""  # what is wrong, in a sentence
    lines: Sequence[str] = ()  # details, the most informative first
    kind: Literal["failure", "error", "skipped"] = "failure"
    type: str = ""  # the problem in a word: a label, a code, a verdict
    where: str = ""  # its place, which distinguishes cases of the same name
    group: str = ""  # its `classname` in JUnit; that of its suite where it has none
    title: str = ""  # of its annotation; its type and its name where it has none


class Suite(Struct, frozen=True):
    name: str
    cases: Iterable[Case]
    group: str = ""  # the `classname` of its cases; its name where it has none
    decides: bool = True  # whether its problems fail the run, or only show what went wrong
    passed: bool = False  # whether its part of the run passed: one task of several
    worst: Sequence[str] = ()  # types of problems; some of each are annotated, these first


def gate_suite(gates: Iterable[Verdict], of: str = "", *, passed: bool = False) -> Suite:
    """The gates; `of` names the task among several."""

    def case(gate: Verdict) -> Case:
        if gate.verdict == "pass":
            return Case(gate.rule)
        text, title = phrasing.gate_sentence(gate, gate.metric), f"gate {gate.rule}"
        if gate.holds:
            return Case(gate.rule, text, kind="skipped", title=title)
        kind: Literal["failure", "error"] = "failure" if gate.verdict == "fail" else "error"
        return Case(gate.rule, text, kind=kind, type=gate.verdict, title=title)

    return Suite(f"gates{of}", map(case, gates), "gates", passed=passed)


def fact_lines(given: Mapping[str, str | None]) -> list[str]:
    """A line for each fact there is."""
    return [f"{fact}: {text}" for fact, text in given.items() if text]


def line_of(where: str) -> tuple[str, int] | None:
    """The file and line of `path:line`; None if it is not a place in a file.

    >>> line_of("runs/traces.jsonl:17"), line_of("stdin:17"), line_of("q3")
    (('runs/traces.jsonl', 17), None, None)
    """
    path, _, line = where.rpartition(":")
    known = path not in ("", STDIN) and line.isascii() and line.isdecimal() and int(line) > 0
    return (path, int(line)) if known else None
