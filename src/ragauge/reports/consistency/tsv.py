"""One row a disagreement, for tools that cut lines at tabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from ragauge.contracts.consistency import Disagreement
from ragauge.reports.consistency.story import COLUMNS, cells
from ragauge.reports.foreign import flat
from ragauge.reports.spreadsheet import cell


def written(disagreements: Iterable[Disagreement]) -> str:
    """The disagreements with a header line; a cell is one line without a tab, and no formula.

    A quotation mark is written as in CSV: what reads tables would take a lone one for the
    beginning of a cell that never ends.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell(flat(content or "")) for content in cells(one)] for one in disagreements)
    return out.getvalue()
