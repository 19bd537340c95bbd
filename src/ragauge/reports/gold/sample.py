"""What `ragauge gold sample` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_parts import SampleReport
from ragauge.reports.gold.page import finding_lines, table, told


def lines(report: SampleReport) -> Iterator[str]:
    covered = report.coverage
    yield told(
        f"{covered['sampled']:,} of {covered['gold']:,} {report.units}, {report.allocation} by "
        f"{', '.join(report.factors) or 'chance'} ({covered['cells']:,} cells), seed {report.seed}"
    )
    yield ""
    yield from table(_rows(report))
    yield ""
    yield _weights(report)
    yield from finding_lines(report)
    yield ""
    yield told(f"{report.file}: {covered['sampled']:,}")


def _rows(report: SampleReport) -> list[list[str]]:
    rows = [["", "all", "sample"]]
    rows.append([report.units, f"{report.coverage['gold']:,}", f"{report.coverage['sampled']:,}"])
    for factor, values in report.balance.items():
        rows += [[f"{factor} {value}", f"{a:,}", f"{b:,}"] for value, (a, b) in values.items()]
    return rows


def _weights(report: SampleReport) -> str:
    weights = [cell.weight for cell in report.cells if cell.weight is not None]
    spread = f"weights from {min(weights):.4g} to {max(weights):.4g}"
    return f"It stands for {report.weight_sum:,.6g} {report.units}; {spread}."
