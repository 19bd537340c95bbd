"""What a report says to machines: suites of cases, and what is wrong with each.

A kind of report lists its cases once, in the function `cases`. The writers decide what becomes of
them: JUnit has all, and GitHub annotates those with a problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from ragauge.contracts.report import Verdict
from ragauge.reports import envelope

STDIN = "stdin"


class Case(Struct, frozen=True):
    """A gate, a question, a metric: a success, unless it has a problem. Texts may be foreign."""

    name: str
    problem: str = ""  # what is wrong, in a sentence
    lines: Sequence[str] = ()  # details, the most telling first
    kind: Literal["failure", "error", "skipped"] = "failure"
    type: str = ""  # the problem in a word: a label, a code, a verdict
    where: str = ""  # its place, which separates cases of the same name
    group: str = ""  # its `classname` in JUnit; that of its suite where it has none
    title: str = ""  # of its annotation; its type and its name where it has none


class Suite(Struct, frozen=True):
    name: str
    cases: Iterable[Case]
    group: str = ""  # the `classname` of its cases; its name where it has none
    decides: bool = True  # whether problems here fail a run; else they show what went wrong
    passed: bool = False  # whether the part of the run that it is about did: a task among several
    worst: Sequence[str] = ()  # types of problems; some of each are annotated, these first


def gate_suite(gates: Iterable[Verdict], of: str = "", *, passed: bool = False) -> Suite:
    """The gates; `of` names the task among several."""

    def case(gate: Verdict) -> Case:
        if gate.verdict == "pass":
            return Case(gate.rule)
        words, title = envelope.gate_words(gate, gate.metric), f"gate {gate.rule}"
        if gate.holds:
            return Case(gate.rule, words, kind="skipped", title=title)
        kind: Literal["failure", "error"] = "failure" if gate.verdict == "fail" else "error"
        return Case(gate.rule, words, kind=kind, type=gate.verdict, title=title)

    return Suite(f"gates{of}", map(case, gates), "gates", passed=passed)


def facts(given: Mapping[str, str | None]) -> list[str]:
    """A line for each fact there is."""
    return [f"{fact}: {text}" for fact, text in given.items() if text]


def line_of(where: str) -> tuple[str, int] | None:
    """The file and line of `path:line`; None where it is no place in a file.

    >>> line_of("runs/traces.jsonl:17"), line_of("stdin:17"), line_of("q3")
    (('runs/traces.jsonl', 17), None, None)
    """
    path, _, line = where.rpartition(":")
    known = path not in ("", STDIN) and line.isascii() and line.isdecimal() and int(line) > 0
    return (path, int(line)) if known else None
