"""How numbers are written, the same in every form."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.contracts.report import Verdict

ABSENT = "–"  # what is shown where there is no number; the reason is next to it
DECIMALS = 3
MOST_DECIMALS = 9


def value(number: float | None) -> str:
    """
    >>> value(0.91489), value(None), value(-0.0001)
    ('0.915', '–', '0.000')
    """
    return ABSENT if number is None else _fixed(number, DECIMALS)


def value_beside(number: float | None, bound: float) -> str:
    """The value with as many decimals as it takes to tell it from the bound it is held against.

    >>> value_beside(0.10004, 0.1), value_beside(0.1, 0.1)
    ('0.10004', '0.100')
    """
    if number is None or abs(number - bound) < 10**-MOST_DECIMALS:
        return value(number)
    decimals = DECIMALS
    while decimals < MOST_DECIMALS and float(_fixed(number, decimals)) == bound:
        decimals += 1
    return _fixed(number, decimals)


def interval(ends: tuple[float, float] | None) -> str:
    """
    >>> interval((0.886, 0.93949))
    '[0.886, 0.939]'
    """
    return "" if ends is None else f"[{value(ends[0])}, {value(ends[1])}]"


def signed(number: float | None) -> str:
    """
    >>> signed(0.05), signed(-0.25), signed(0.0)
    ('+0.050', '-0.250', '0.000')
    """
    text = value(number)
    return f"+{text}" if number is not None and number > 0 and float(text) else text


def signed_interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"[{signed(ends[0])}, {signed(ends[1])}]"


def count(number: int) -> str:
    return f"{number:,}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """
    >>> counted(1, "question"), counted(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def by_count(times: Mapping[str, int]) -> list[tuple[str, int]]:
    """The names that were counted, the most frequent first; what is zero is left out.

    >>> by_count({"b": 1, "zero": 0, "a": 1, "often": 12})
    [('often', 12), ('a', 1), ('b', 1)]
    """
    found = ((name, each) for name, each in times.items() if each)
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def n_of(n: int, of: int | None) -> str:
    """
    >>> n_of(47, 1080), n_of(47, None)
    ('47 of 1,080', '47')
    """
    return count(n) if of is None else f"{n:,} of {of:,}"


def share(part: int, whole: int) -> str:
    """
    >>> share(43, 80), share(0, 0)
    ('53.8 %', '–')
    """
    return f"{100 * part / whole:.1f} %" if whole else ABSENT


def bound(verdict: Verdict) -> str:
    """The demand of a gate without its metric: `<= 0.10`, `= 0`, `>= 0.80 @95`."""
    return f"{verdict.op} {_bound(verdict.bound)}{confidence(verdict)}"


def confidence(verdict: Verdict) -> str:
    """` @95` where the rule demands the interval at that level."""
    tail = _tail(verdict)
    return " " + tail.split(" ")[0].rstrip("?") if tail.startswith("@") else ""


def restriction(verdict: Verdict) -> str:
    """What else the rule says: `per question 3 of 4 where language=nl`."""
    tail = _tail(verdict).removeprefix(confidence(verdict).strip()).removesuffix("?")
    return tail.strip()


def _tail(verdict: Verdict) -> str:
    return verdict.rule.removeprefix(f"{verdict.metric}{verdict.op}{verdict.bound:.12g}")


def _bound(number: float) -> str:
    text = f"{number:.12g}"
    whole, dot, decimals = text.partition(".")
    return f"{whole}.{decimals:0<2}" if dot and "e" not in decimals else text


def _fixed(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text
