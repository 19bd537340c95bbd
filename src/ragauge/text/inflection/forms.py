"""Forms that no rule gives: lists of them as tables, and what needs no rule."""

from __future__ import annotations

from collections.abc import Mapping

SHORTEST = 4
"""Letters of the shortest word that a rule is tried on."""


def forms_table(forms: str, apart: str) -> dict[str, str]:
    """Each form with the first of its group, groups being parted by `|`; words apart stay.

    >>> forms_table("see saw seen | mouse mice", "news")
    {'news': 'news', 'see': 'see', 'saw': 'see', 'seen': 'see', 'mouse': 'mouse', 'mice': 'mouse'}
    """
    table = {word: word for word in apart.split()}
    for group in forms.split("|"):
        first, *others = group.split()
        table.update(dict.fromkeys((first, *others), first))
    return table


def without_rule(word: str, table: Mapping[str, str]) -> str | None:
    """The stem of a word in the table, or too short for rules, or with no letters alone; else None.

    >>> [without_rule(word, {"mice": "mouse"}) for word in ("mice", "is", "a320s", "houses")]
    ['mouse', 'is', 'a320s', None]
    """
    known = table.get(word)
    if known is not None:
        return known
    return word if len(word) < SHORTEST or not word.isalpha() else None
