"""What `ragauge gold convert` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_parts import ConvertReport
from ragauge.reports.gold.page import finding_lines, told
from ragauge.reports.numbers import counted


def lines(report: ConvertReport) -> Iterator[str]:
    covered = report.coverage
    unanswerable = covered["gold"] - covered["answerable"]
    yield (
        f"{counted(covered['gold'], 'question')} from {report.read}: "
        f"{covered['answerable']:,} answerable, {unanswerable:,} unanswerable"
    )
    if report.extra:
        kept = ", ".join(f"{key} ({count:,})" for key, count in report.extra.items())
        yield told(f"carried along as they are: {kept}")
    yield from finding_lines(report)
    yield ""
    yield told(f"{report.file}: {covered['gold']:,}")
