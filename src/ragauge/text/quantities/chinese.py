"""Chinese numbers: 一万二千, 二十, 百分之十二, 二〇二四."""

from __future__ import annotations

import re

_DIGITS = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6,
    "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_SIGNS = "零〇一二两兩三四五六七八九十百千万萬亿億"
CHINESE = re.compile(f"[{_SIGNS}][{_SIGNS}]{{0,39}}+")
PERCENT_BEFORE = "百分之"


def chinese_value(written: str) -> int | None:
    """The number that Chinese digits spell, None where they spell none.

    >>> [chinese_value(text) for text in ("一万二千", "二十", "两百零五", "二〇二四", "万")]
    [12000, 20, 205, 2024, None]
    """
    if len(written) > 1 and all(sign in _DIGITS for sign in written):
        return int("".join(str(_DIGITS[sign]) for sign in written))
    if all(sign in _LARGE for sign in written):
        return None
    total = group = digit = 0
    for sign in written:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif sign in _SMALL:
            group += (digit or 1) * _SMALL[sign]
            digit = 0
        else:
            total, group, digit = (total + group + digit) * _LARGE[sign], 0, 0
    return total + group + digit
