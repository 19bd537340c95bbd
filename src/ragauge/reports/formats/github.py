"""GitHub Actions workflow commands, which annotate a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from ragauge.contracts.report import Verdict
from ragauge.reports import envelope, numbers
from ragauge.text.visible import shown

SHOWN = 10  # GitHub shows this many annotations of a kind for a step, and drops the rest in silence
LONGEST = 200  # characters of an answer in an annotation


class Note(Struct, frozen=True):
    """An annotation; all texts may be foreign, and lines of a message stay lines."""

    level: Literal["notice", "warning", "error"]
    message: Sequence[str] | str
    title: str = ""
    where: str = ""
    """`path:line`, where it has a place."""


class Notes(Struct, frozen=True):
    """Annotations of one kind, of which GitHub shows the first."""

    notes: Iterable[Note]
    one: str = ""  # what each is about, for the sentence that says how many there are
    total: int | None = None
    more: str = "{shown} of {total} that failed are annotated"


def render(given: Iterable[Notes]) -> str:
    """One command a line."""
    commands: list[str] = []
    for group in given:
        notes = list(group.notes)
        for one in notes[:SHOWN]:
            lines = [one.message] if isinstance(one.message, str) else one.message
            message = "\n".join(shown(line) for line in lines if line)
            path, _, line = one.where.rpartition(":")
            place = {"file": shown(path), "line": line} if path and line.isdecimal() else {}
            commands.append(command(one.level, message, **place, title=shown(one.title)))
        total = len(notes) if group.total is None else group.total
        if total > SHOWN and group.one:
            counted, rest = numbers.counted(total, group.one), numbers.count(total - SHOWN)
            message = group.more.format(shown=SHOWN, total=counted, rest=rest)
            commands.append(command("notice", message, title="Ragauge"))
    return "".join(f"{line}\n" for line in commands)


def command(kind: str, message: str, **properties: str) -> str:
    """A workflow command, escaped as the toolkit of GitHub does it.

    >>> command("warning", "50% of\\nthem", file="a,b:c.jsonl", line="3")
    '::warning file=a%2Cb%3Ac.jsonl,line=3::50%25 of%0Athem'
    """
    listed = ",".join(
        f"{name}={_escaped(value, ':,')}" for name, value in properties.items() if value
    )
    return f"::{kind}{' ' if listed else ''}{listed}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def cut(text: str) -> str:
    """An answer, as long as an annotation has room for."""
    return shown(text, LONGEST)


def stopping_gates(gates: Iterable[Verdict]) -> Notes:
    """An error for each gate that stops the run."""
    return Notes(
        [
            Note("error", envelope.gate_words(one, one.metric), f"gate {one.rule}")
            for one in gates
            if not one.holds
        ],
        "gate",
    )
