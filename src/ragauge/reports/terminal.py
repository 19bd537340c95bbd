"""A page for a terminal, and the sections that every kind of report has on it.

Foreign text reaches the screen only as `Text` made of `shown` words: never as markup, never
with an escape of its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Advice
from ragauge.reports import envelope, numbers
from ragauge.reports.foreign import shown
from ragauge.reports.words import wording

NARROWEST = 40
LONGEST, LONGEST_FINDING = 400, 4_000
"""Characters of a foreign text: nobody reads a longer one here. A finding may list metrics."""
MARGIN = 2
GAP = 2
ADVICE_IN_FULL = 5
_NEVER_FIRST = frozenset("，。；：！？、）》」』】”’…％,.;:!?)]}%")
_NEVER_LAST = frozenset("（《「『【“‘([{")

_EIGHTHS = " ▏▎▍▌▋▊▉"
_STYLES = {
    "PASS": "bold green",
    "FAIL": "bold red",
    "REGRESSED": "bold red",
    "OPEN": "bold yellow",
    "No quality gate set": "bold yellow",
    "No quality gate evaluated": "bold yellow",
    "NOT EVALUATED": "bold red",
    "not evaluated": "yellow",
    "pass": "green",
    "better": "green",
    "worse": "bold red",
}


class Page:
    """Lines of at most a width (at least 40 columns), in sections."""

    def __init__(self, color: bool, width: int, language: str = "en") -> None:
        self.say = wording(language)
        self.width = max(width, NARROWEST)
        self.indent = 0
        """Of everything, in columns: what belongs to an item of a list."""
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=self.width,
            color_system="standard" if color else None,
            force_terminal=color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},  # the caller decides on width and color, not the environment
        )

    def section(self, title: str, beside: Text | None = None) -> None:
        heading = words(title, "bold")
        self.line(Text())
        self.line(heading if beside is None else Text("  ").join((heading, beside)))

    def line(self, text: Text) -> None:
        """One line, cut where the page ends."""
        text = Text.assemble(" " * self.indent, text) if self.indent else text
        text.rstrip()
        text.truncate(self.width, overflow="ellipsis")
        self._console.print(text, no_wrap=True, overflow="ignore", crop=False)

    def paragraph(self, text: Text, indent: int = MARGIN, first: Text | None = None) -> None:
        """Wrapped lines, all indented; `first` stands in the indent of the first one."""
        start = Text(" " * indent) if first is None else first
        for line in self.wrapped(text, self.width - self.indent - indent):
            self.line(Text.assemble(start, line))
            start = Text(" " * indent)

    def wrapped(self, text: Text, width: int) -> list[Text]:
        """The text on lines of at most a width."""
        lines = list(text.divide(breaks(text.plain, width)))
        for line in lines:
            line.rstrip()
        return lines

    def table(
        self, rows: Sequence[Sequence[Text]], right: Iterable[int] = (), notes: Sequence[Text] = ()
    ) -> None:
        """Aligned rows, the widest column giving way where they do not fit; notes below rows."""
        right = frozenset(right)
        fitted = _fitted(widths(rows), self.width - self.indent - MARGIN)
        for row, note in zip(rows, notes or [Text()] * len(rows), strict=True):
            line = Text(" " * MARGIN)
            for place, (cell, width) in enumerate(zip(row, fitted, strict=True)):
                cell.truncate(width, overflow="ellipsis")
                cell.align("right" if place in right else "left", width)
                line.append_text(cell).append(" " * GAP)
            self.line(line)
            if note:
                self.paragraph(note, indent=2 * MARGIN)

    def text(self) -> str:
        return self._out.getvalue()


def breaks(text: str, width: int) -> Iterator[int]:
    """Where new lines begin, for lines of at most a width in columns.

    Between two wide characters a line may end anywhere, but it never begins with a comma nor ends
    with an opening bracket.

    >>> list(breaks("one two three", 8)), list(breaks("检索未命中，因此", 10))
    ([8], [4])
    """
    start, cells, chance = 0, 0, 0
    for place, char in enumerate(text):
        if place > start and _may_break(text[place - 1], char):
            chance = place
        wide = cell_len(char)
        while cells + wide > width and place > start and char != " ":
            start = chance if chance > start else place
            yield start
            cells = cell_len(text[start:place])
        cells += wide


def _may_break(before: str, after: str) -> bool:
    if before == " " or after == " ":
        return after != " "
    if after in _NEVER_FIRST or before in _NEVER_LAST:
        return False
    return cell_len(before) == 2 or cell_len(after) == 2


def widths(rows: Sequence[Sequence[Text]]) -> list[int]:
    """The width of each column of a table."""
    return [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]


def _fitted(widths: list[int], room: int) -> list[int]:
    """The widths, with the widest cut until all fit with their gaps."""
    fitted = list(widths)
    while sum(fitted) + GAP * (len(fitted) - 1) > room and max(fitted) > 1:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def words(text: str, style: str = "") -> Text:
    """Foreign text, on one line and of no more than a length."""
    return Text(shown(text, LONGEST), style)


def note(text: str | None) -> Text:
    return words(text or "", "dim")


def styled(word: str) -> Text:
    """A word of ours in the style it always has."""
    return Text(word, _STYLES.get(word, ""))


def labelled(label: str, text: str | Text, colon: str = ": ") -> Text:
    said = words(text) if isinstance(text, str) else text
    return Text.assemble((f"{shown(label, LONGEST)}{colon}", "dim"), said)


def bar(part: float, width: int) -> str:
    """A bar of blocks, in eighths of a column; what is there at all shows.

    >>> bar(1, 4), bar(0.53, 4), bar(0.0001, 4)
    ('████', '██▏', '▏')
    """
    whole, eighths = divmod(max(1, round(part * width * 8)), 8)
    return ("█" * whole + _EIGHTHS[eighths]).rstrip()


def ranged(
    value: float | None,
    ends: tuple[float, float] | None,
    width: int,
    zero: float | None = None,
) -> str:
    """A value between 0 and 1 as a dot, with its interval as a line; `zero` is where 0 is marked.

    >>> ranged(0.5, (0.25, 0.75), 13), ranged(0.25, (0.1, 0.3), 13, 0.5)
    ('   ├──●──┤   ', ' ├─●┤ ┊      ')
    """
    if value is None:
        return ""

    def place(number: float) -> int:
        return min(width - 1, max(0, round(number * (width - 1))))

    drawn = [" "] * width
    if zero is not None:
        drawn[place(zero)] = "┊"
    if ends is not None:
        low, high = place(ends[0]), place(ends[1])
        drawn[low : high + 1] = "─" * (high + 1 - low)
        drawn[low], drawn[high] = "├", "┤"
    drawn[place(value)] = "●"
    return "".join(drawn)


def advice(page: Page, given: Sequence[Advice]) -> None:
    if not given:
        return
    say = page.say
    page.section(say.advice, note(say.advice_about))
    for number, one in enumerate(given, 1):
        full = number <= ADVICE_IN_FULL
        mark = f"{number}. ".rjust(MARGIN + len(f"{len(given)}. "))
        page.paragraph(words(one.title, "bold"), len(mark), Text(mark))
        page.paragraph(words(one.evidence), len(mark))
        if full:
            page.paragraph(labelled(say.confirm, one.confirm, say.signs.colon), len(mark))
            page.paragraph(labelled(say.change, one.action, say.signs.colon), len(mark))
        if one.questions:
            asked = " ".join(one.questions)
            page.paragraph(labelled(say.see, asked, say.signs.colon), len(mark))


def findings(
    page: Page, found: Iterable[tuple[str, int, Sequence[Finding]]], everything: str = ""
) -> None:
    """Each code with its count and first places, as `envelope.findings_by_code` gives them."""
    found = list(found)
    if not found:
        return
    page.section(page.say.findings)
    for code, times, places in found:
        page.line(Text.assemble(" " * MARGIN, words(code, "bold"), f"  {numbers.count(times)}"))
        for place in places:
            text = shown(envelope.finding_text(place), LONGEST_FINDING)
            page.paragraph(Text(text, "dim"), 2 * MARGIN)
        if times > len(places) > 0:
            more = page.say.more.format(n=numbers.count(times - len(places)))
            more = f"{more}; {everything}" if everything else more
            page.line(Text(" " * 2 * MARGIN) + note(more))


def coverage(page: Page, told: str) -> None:
    title = Text(f"{page.say.coverage}  ", "bold")
    page.line(Text())
    page.paragraph(words(told), title.cell_len, title)
