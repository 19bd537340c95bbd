"""What `ragauge gold split` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_parts import SplitReport
from ragauge.reports.gold.page import finding_lines, table, told


def lines(report: SplitReport) -> Iterator[str]:
    covered = report.coverage
    yield told(
        f"{covered['gold']:,} {report.units} in {len(report.parts)} parts by "
        f"{', '.join(report.factors) or 'chance'} ({covered['cells']:,} cells), seed {report.seed}"
    )
    yield ""
    yield from table(_rows(report))
    yield ""
    yield f"No value is more than {report.largest_deviation:.2f} {report.units} from its share."
    yield from finding_lines(report)
    yield ""
    for part in report.parts:
        yield told(f"{part.file}: {part.questions:,}")


def _rows(report: SplitReport) -> list[list[str]]:
    names = [part.name for part in report.parts]
    rows = [["", "all", *names]]
    sizes = [part.questions for part in report.parts]
    rows.append([report.units, *(f"{size:,}" for size in (sum(sizes), *sizes))])
    for factor, values in report.balance.items():
        for value, counts in values.items():
            each = [counts[name] for name in names]
            rows.append([f"{factor} {value}", *(f"{count:,}" for count in (sum(each), *each))])
    return rows
