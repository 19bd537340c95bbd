"""GitHub Actions workflow commands, which annotate a run: the verdict, then what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.metrics.worst_first import some_of_each
from ragauge.reports.cases import Case, Suite, line_of
from ragauge.reports.document import (
    Block,
    Document,
    Facts,
    Section,
    Text,
    Verdict,
    in_format,
    plain,
)
from ragauge.reports.phrasing import wording
from ragauge.text.visible import shown

SHOWN = 10  # GitHub shows this many annotations of each level for a step, and drops the rest
LINES_SHOWN = 6  # of an annotation; JUnit and pages have the others
LONGEST = 300  # characters of a line


def render(document: Document, suites: Iterable[Suite], passed: bool | None) -> str:
    """One command a line: a notice with the verdict, and an annotation for each problem."""
    # Titles stay the same between versions, and the title of a score has never named its kind.
    title = "Ragauge" if document.name == "score" else f"Ragauge {document.name}"
    say, commands = wording(document.language), []
    covered = [block.remark for block in document.part("coverage") if isinstance(block, Section)]
    for block in document.blocks:
        if isinstance(block, Verdict):
            lines = [block.text, *block.notes, *block.meaning, *covered]
            commands.append(_notice(lines, f"{title} {block.word}"))
    if lead := list(_lines(document.part("lead"), say.signs.colon)):
        commands.append(_notice(lead, title))
    for suite in suites:
        level = "error" if suite.decides and passed is False and not suite.passed else "warning"
        wrong = [case for case in suite.cases if case.problem and case.kind != "skipped"]
        types = dict.fromkeys([*suite.worst, *(case.type for case in wrong)])
        groups = [[case for case in wrong if case.type == type] for type in types]
        commands += [_annotation(level, case) for case in some_of_each(groups, SHOWN)]
        if more := len(wrong[SHOWN:]):
            rest = f"{suite.name}{say.signs.colon}{say.more.format(n=more)}"
            commands.append(_notice([rest], "Ragauge"))
    return "".join(f"{line}\n" for line in commands)


def _lines(blocks: Iterable[Block], colon: str) -> Iterator[str]:
    """The texts of blocks, a line each."""
    for block in in_format(blocks, "github"):
        match block:
            case Section(title=title, blocks=inner):
                first, *others = _lines(inner, colon)
                yield from (f"{title}{colon}{first}", *others)
            case Text(text=text):
                yield plain(text)
            case Facts(facts=facts):
                for label, content in facts:
                    if text := plain(content):
                        yield f"{label}{colon}{text}" if label else text


def _notice(lines: Iterable[str], title: str) -> str:
    return command("notice", "\n".join(shown(line) for line in lines if line), title=shown(title))


def _annotation(level: str, case: Case) -> str:
    lines = [shown(line, LONGEST) for line in (case.problem, *case.lines[: LINES_SHOWN - 1])]
    path, line = line_of(case.where) or ("", "")
    place = {"file": shown(path), "line": str(line)}
    title = case.title or f"{case.type} {case.name}"
    return command(level, "\n".join(lines), **place, title=shown(title))


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
