"""The parts of a pull request comment, in GitHub's Markdown.

Foreign text stands in code spans: there GitHub makes no mention, link, reference, emoji or HTML
of it. Only the advice, whose words are ours but for the names of strata, is escaped as prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Advice
from ragauge.reports import envelope, numbers
from ragauge.reports.foreign import shown
from ragauge.reports.words import Wording, wording

LONGEST = 200
LONGEST_FINDING = 1_000
"""A finding may list metrics."""
LONGEST_ID = 80
"""GitHub refuses a comment of more than 65,536 characters: these keep the longest one below."""

_MARKS = re.compile(r"([\\`*_\[\]#~$])")
_LIST_MARK = re.compile(r"^(\d*)([-+.)])")
# GitHub links these in what Markdown made, where no backslash helps but a zero-width blank does.
_LINKED = re.compile(r"(?<=[@#])(?=\S)|(?=://)|(?<=www)(?=\.)|(?<=GH-)(?=\d)", re.IGNORECASE)
_BACKTICKS = re.compile("`+")
_CODE = re.compile("`([^`]+)`")


def code(text: str | None, most: int = LONGEST) -> str:
    """Foreign text as a code span whose fence it cannot close; a dash where there is none.

    >>> code("a `b` @team")
    '``a `b` @team``'
    """
    flat = shown(text or "", most)
    if not flat:
        return numbers.ABSENT
    fence = _fence(flat, 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def block(lines: Iterable[str]) -> str:
    """Lines as a code block whose fence they cannot close; each must be `shown` already."""
    text = "\n".join(lines)
    fence = _fence(text, 3)
    return f"{fence}text\n{text}\n{fence}"


def _fence(text: str, shortest: int) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(shortest, longest + 1)


def prose(text: str) -> str:
    """Words with everything escaped that Markdown, HTML or GitHub would read as more.

    What is in backticks is code.

    >>> prose("<b>*a|b*</b> `a_b`")
    '&lt;b&gt;\\\\*a&#124;b\\\\*&lt;/b&gt; `a_b`'
    """
    return unlisted(inline(text))


def inline(text: str) -> str:
    """Prose that does not begin a line."""
    pieces = _CODE.split(shown(text))
    for at in range(0, len(pieces), 2):
        parted = _LINKED.sub("\u200b", pieces[at])
        escaped = parted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        pieces[at] = _MARKS.sub(r"\\\1", escaped).replace("|", "&#124;")
    pieces[1::2] = map(code, pieces[1::2])
    return "".join(pieces)


def unlisted(line: str) -> str:
    """A line that does not begin a list."""
    return _LIST_MARK.sub(r"\1\\\2", line)


def sentence(text: str) -> str:
    """
    >>> sentence("one of two failed"), sentence("ngram:v1 failed")
    ('One of two failed.', 'ngram:v1 failed.')
    """
    made = begun(text)
    return made if made.endswith("。") else made.removesuffix(".") + "."


def begun(text: str) -> str:
    """The text with a capital; a name such as `ngram:v1` stays as it is."""
    first = text.partition(" ")[0].rstrip(",:;")
    return text[:1].upper() + text[1:] if first.replace("-", "").isalpha() else text


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table; a pipe in a cell is escaped, which GitHub undoes before it reads the code span."""
    right = frozenset(right)
    rule = ["--:" if place in right else "---" for place in range(len(heads))]
    return "\n".join(_row(row) for row in (heads, rule, *rows))


def without_empty(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = ()
) -> str:
    """A table whose last column is left out where no row has anything in it."""
    if any(row[-1] for row in rows):
        return table(heads, rows, right)
    return table(heads[:-1], [row[:-1] for row in rows], right)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def details(summary: str, *blocks: str) -> Iterator[str]:
    """Blocks a reader opens; the summary is ours."""
    yield f"<details>\n<summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def advice(given: Sequence[Advice], say: Wording | None = None) -> Iterator[str]:
    say = say or wording("en")
    if given:
        yield f"### {say.advice}"
        yield "\n".join(_one_advice(number, one, say) for number, one in enumerate(given, 1))


def _one_advice(number: int, one: Advice, say: Wording) -> str:
    lines, colon = [f"{number}. **{prose(one.title)}**"], say.signs.colon
    points = [prose(one.evidence), f"{say.confirm}{colon}{prose(one.confirm)}"]
    points.append(f"{say.change}{colon}{prose(one.action)}")
    if one.questions:
        points.append(f"{say.see}{colon}{' '.join(code(qid, LONGEST_ID) for qid in one.questions)}")
    indent = " " * len(f"{number}. ")
    return "\n".join(lines + [f"{indent}- {point}" for point in points])


def findings(
    found: Iterable[tuple[str, int, Sequence[Finding]]], say: Wording | None = None
) -> Iterator[str]:
    """Each code with its count and first places, as `envelope.findings_by_code` gives them."""
    say = say or wording("en")
    rows = [
        [
            code(name),
            numbers.count(times),
            say.told(code(envelope.finding_text(place), LONGEST_FINDING) for place in places),
        ]
        for name, times, places in found
    ]
    if rows:
        yield f"### {say.findings}"
        yield table((say.finding, say.times, say.first_places), rows, right={1})
