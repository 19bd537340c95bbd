"""A document as a comment in GitHub's Markdown.

Foreign text is in code spans, where GitHub does not turn it into a mention, link, reference, emoji
or HTML. Our own text is escaped as prose, because it can contain the name of a stratum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate
from typing import Any

from msgspec import Struct

from ragauge.reports import document as blocks
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Document, Table
from ragauge.reports.phrasing import ABSENT, Wording, count, wording
from ragauge.text.visible import cut, shown

WIDTH = 80  # of figures
SHOWN_MORE = 2.5  # how many times the rows of a terminal a comment shows
OPEN_ROWS, MOST_ROWS = 50, 200
"""Rows before a reader has to open the others, and all rows."""
LONGEST_COMMENT, LONGEST_TABLES = 60_000, (20_000, 8_000, 3_000, 1_000, 1)
"""Characters of a comment, of which GitHub refuses more than 65,536; and of a table or list in it:
the first length with which the comment is short enough."""
ROOM_FOR_ITEMS = 1.5
"""How many times as long as a table a list of items may be: few reports have both."""
LONGEST, LONGEST_ID, LONGEST_FINDING = 200, 80, 1_000
"""Characters of a foreign text; a finding may list metrics."""
LONGEST_SENTENCE = 1_000
"""Characters of our own text: a sentence, or a piece of one."""

_MARKS = re.compile(r"([\\`*_\[\]#~$])")
_LIST_MARK = re.compile(r"^(\d*)([-+.)])")
# GitHub links these after Markdown is rendered: a backslash does not prevent it, a zero-width
# space does.
_LINKED = re.compile(r"(?<=[@#])(?=\S)|(?=://)|(?<=www)(?=\.)|(?<=GH-)(?=\d)", re.IGNORECASE)
_BACKTICKS = re.compile("`+")
_CODE = re.compile("`([^`]+)`")


class Comment(Struct, frozen=True):
    """What a block is written for."""

    name: str
    say: Wording
    longest: int  # characters of a table or a list

    def sentence(self, text: str) -> str:
        """Prose with a capital and a full stop; a name such as `ngram:v1` is not capitalised."""
        if not text:
            return ""
        escaped = prose(cut(text, LONGEST_SENTENCE))
        first = escaped.partition(" ")[0].rstrip(",:;")
        begun = escaped[:1].upper() + escaped[1:] if first.replace("-", "").isalpha() else escaped
        return self.say.sentence(begun)

    def fitting(self, sizes: Iterable[int], room: float = 1.0) -> int:
        """How many rows or items there is room for; at least one."""
        return max(1, sum(size <= room * self.longest for size in accumulate(sizes)))

    def more(self, number: int, where: str = "") -> Iterator[str]:
        """A sentence with how many are left out, if any are."""
        if number > 0:
            where = where or self.say.json_has_them
            yield self.sentence(self.say.and_more.format(n=count(number), where=where))


def render(document: Document, *, page: bool = False) -> str:
    """The document, cut to the length of a comment, unless it is a page of its own."""
    say = wording(document.language)
    for longest in (10**9,) if page else LONGEST_TABLES:
        text = "\n\n".join(_written(document.blocks, Comment(document.name, say, longest))) + "\n"
        if len(text) <= LONGEST_COMMENT:
            break
    return text


def _written(given: Iterable[Block], to: Comment, level: str = "###") -> Iterator[str]:
    """The lines of the blocks; folded blocks are wrapped in details."""
    for block in blocks.in_format(given, "markdown"):
        if isinstance(block, blocks.Section):
            lines_written = _section(block, to, level)
        else:
            lines_written = WRITERS[type(block)](block, to)
        lines = [line for line in lines_written if line]
        if lines and isinstance(block, blocks.Titled) and block.folded:
            summary = " ".join(filter(None, (block.title, block.about)))
            if isinstance(block, Table | blocks.Items):
                summary += f"{to.say.signs.colon}{count(blocks.number_of(block))}"
            lines = [*details(summary, *lines)]
        yield from lines


def code(text: str | None, most: int = LONGEST) -> str:
    """Foreign text as a code span whose fence it cannot close; a dash where there is none.

    >>> code("a `b` @team")
    '``a `b` @team``'
    """
    flat = shown(text or "", most)
    if not flat:
        return ABSENT
    fence = _fence(flat, 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _fence(text: str, shortest: int) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(shortest, longest + 1)


def prose(text: str) -> str:
    """The text with everything escaped that Markdown, HTML or GitHub would interpret.

    Text in backticks is code.

    >>> prose("<b>*a|b*</b> `a_b`")
    '&lt;b&gt;\\\\*a&#124;b\\\\*&lt;/b&gt; `a_b`'
    """
    return _unlisted(_escaped_prose(text))


def _escaped_prose(text: str) -> str:
    """Prose for the middle of a line."""
    pieces = _CODE.split(shown(text))
    for at in range(0, len(pieces), 2):
        parted = escape(_LINKED.sub("\u200b", pieces[at]), quote=False)
        pieces[at] = _MARKS.sub(r"\\\1", parted).replace("|", "&#124;")
    pieces[1::2] = map(code, pieces[1::2])
    return "".join(pieces)


def _unlisted(line: str) -> str:
    """The line, escaped so that it does not begin a list."""
    return _LIST_MARK.sub(r"\1\\\2", line)


def inline_markdown(given: blocks.Inline) -> str:
    """A text with its tones: foreign spans are code, marked ones are bold."""
    if isinstance(given, str):
        return prose(cut(given, LONGEST_SENTENCE))
    line = ""
    for span in given:
        if not span.text.strip():
            line += span.text
            continue
        text = code(span.text) if span.foreign else _escaped_prose(cut(span.text, LONGEST_SENTENCE))
        # `shown` trims: the spaces between our text and foreign text are kept.
        lead = " " if span.text[:1].isspace() else ""
        trail = " " if span.text[-1:].isspace() and text else ""
        text = f"[{text}](#{span.to[1]})" if span.to and span.to[0] == "here" else text
        line += f"{lead}{f'**{text}**' if span.marked else text}{trail}"
    return _unlisted(line.strip())


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table, without its last column if that is empty."""
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    rule = ["--:" if place in {*right} else "---" for place in range(len(heads))]
    # GitHub undoes the escape of a pipe before it reads a code span.
    lines = ([cell.replace("|", r"\|") for cell in row[:width]] for row in (heads, rule, *rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def details(summary: str, *inside: str) -> Iterator[str]:
    """Lines that a reader has to open."""
    summary = escape(shown(summary))
    yield from (f"<details>\n<summary>{summary}</summary>", *inside, "</details>")


def _verdict(block: blocks.Verdict, to: Comment) -> Iterator[str]:
    title = f"## Ragauge {prose(to.name)}" if to.name else "## Ragauge"
    yield f"{title}{to.say.signs.colon}{block.word}" if block.word else title
    yield to.sentence(block.text)
    yield "\n".join(f"- {code(about)}" for about in block.notes)
    yield " ".join(map(to.sentence, block.meaning))


def _text(block: blocks.Text, to: Comment) -> Iterator[str]:
    yield to.sentence(block.text) if isinstance(block.text, str) else inline_markdown(block.text)


def _head(block: blocks.Titled, to: Comment, level: str = "###") -> Iterator[str]:
    about = code(block.about) if block.about else ""
    if block.title and not block.folded:  # what a reader opens has its title on it
        yield " ".join(filter(None, (level, prose(block.title), about)))
    yield to.sentence(block.remark)


def _section(block: blocks.Section, to: Comment, level: str) -> Iterator[str]:
    """A section in a section is one level below it."""
    yield f'<a id="{block.anchor}"></a>' if block.anchor else ""
    yield from _head(block, to, level)
    yield from _written(block.blocks, to, f"{level}#" if block.title else level)


def _table(block: Table, to: Comment) -> Iterator[str]:
    kept = [at for at, column in enumerate(block.columns) if not column.plot]
    columns = [block.columns[at] for at in kept]
    heads = [code(one.title) if one.foreign else prose(one.title) for one in columns]
    heads.append(to.say.note)
    right = [place for place, column in enumerate(columns) if column.right]
    most = MOST_ROWS if block.shown is None else int(block.shown * SHOWN_MORE)
    cells = [
        [*(_cell(row.cells[at]) for at in kept), code(blocks.plain(row.note)) if row.note else ""]
        for row in block.rows[:most]
    ]
    cells = cells[: to.fitting(sum(map(len, row)) for row in cells)]
    yield from _head(block, to)
    yield table(heads, cells[:OPEN_ROWS], right)
    if len(cells) > OPEN_ROWS:
        rest = table(heads, cells[OPEN_ROWS:], right)
        yield from details(to.say.rest.format(n=count(len(cells) - OPEN_ROWS)), rest)
    yield from to.more(blocks.number_of(block) - len(cells))
    yield to.sentence(block.after)


def _cell(cell: Cell) -> str:
    text = code(cell.text, LONGEST_ID) if cell.foreign and cell.text != ABSENT else cell.text
    return f"**{text}**" if cell.tone == "bad" and not cell.foreign and text else text


def _facts(block: blocks.Facts | blocks.Card, to: Comment) -> Iterator[str]:
    lines = [
        f"- {inline_markdown(label)}{to.say.signs.colon if label else ''}{inline_markdown(text)}"
        for label, text in block.facts
        if blocks.plain(text)
    ]
    fitting = to.fitting(map(len, lines))
    yield "\n".join(lines[:fitting])
    yield from to.more(len(lines) - fitting)


def _cards(block: blocks.Cards, to: Comment) -> Iterator[str]:
    for card in block.cards:
        yield inline_markdown(card.title)
        yield from _facts(card, to)


def _items(block: blocks.Items, to: Comment) -> Iterator[str]:
    if not block.items:
        return
    written = []
    for one in block.items[: int(block.shown * SHOWN_MORE)]:
        about = code(one.about) if one.about else ""
        parts = (code(one.name, LONGEST_ID), one.badge[1], about, prose(one.aside))
        written.append([f"#### {' '.join(filter(None, parts))}", *_written(one.blocks, to)])
    written = written[: to.fitting((sum(map(len, one)) for one in written), ROOM_FOR_ITEMS)]
    yield from _head(block, to)
    yield from (line for one in written for line in one)
    yield from to.more(blocks.number_of(block) - len(written), block.everything or to.say.in_html)


def _figure(block: blocks.Figure, to: Comment) -> Iterator[str]:
    text = "\n".join(blocks.plain(line).rstrip() for line in block.drawn(WIDTH))
    if text:
        yield from _head(block, to)
        yield f"{(fence := _fence(text, 3))}text\n{text}\n{fence}"


def _findings(block: blocks.Findings, to: Comment) -> Iterator[str]:
    rows = []
    for name, times, places in block.by_code:
        first = (code(phrasing.finding_text(place), LONGEST_FINDING) for place in places)
        rows.append([code(name), count(times), to.say.clauses(first)])
    if rows:
        yield f"### {to.say.findings}"
        yield table((to.say.finding, to.say.times, to.say.first_places), rows, right={1})


WRITERS: dict[type, Callable[[Any, Comment], Iterator[str]]] = {
    blocks.Verdict: _verdict,
    blocks.Text: _text,
    Table: _table,
    blocks.Facts: _facts,
    blocks.Cards: _cards,
    blocks.Items: _items,
    blocks.Figure: _figure,
    blocks.Findings: _findings,
}
