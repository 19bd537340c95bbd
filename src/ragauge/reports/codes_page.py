"""The codes of an audit as a page: `docs/reference/codes.md` is made by this."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.citations.codes import CODES, FIELD_TIPS, FIRST_MISSING, Code

INTRODUCTION = """# Codes of an audit

Generated from the table of codes by `make docs`. Below `ok` they rank as listed, the worst first:
the first that is found is the answer's code, and all that are found are told. `depth` is the first
that finds it. `ragauge audit --explain CODE` says the same on the command line, and
[how to audit](../how-to/audit.md) shows them at work.
"""


def page(codes: Sequence[Code] = CODES) -> str:
    """Every code on one Markdown page: the table, then what is said of missing fields."""
    ranked = ", ".join(f"`{field}`" for field in FIRST_MISSING)
    missing = [
        "## Missing fields",
        "",
        f"Among them {ranked} come first, in this order, then the others by name.",
        "",
        *_table(("field", "next step"), [(f"`{f}`", tip) for f, tip in FIELD_TIPS.items()]),
    ]
    return "\n".join([INTRODUCTION, codes_table(codes), "", *missing, ""])


def codes_table(codes: Sequence[Code] = CODES) -> str:
    """The codes as a Markdown table, each with the first depth that finds it.

    >>> print(codes_table(CODES[:1]))
    | code | depth | what it means | next step |
    |---|---|---|---|
    | `ok` | marker | Nothing was found at the depth that was asked for. | Nothing to do; a deeper \
check asks more. |
    """
    rows = [(f"`{one.code}`", one.depth, one.means, one.tip) for one in codes]
    return "\n".join(_table(("code", "depth", "what it means", "next step"), rows))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [_row(head), "|" + "---|" * len(head)]
    return [*lines, *(_row(cells) for cells in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
