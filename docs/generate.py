"""Writes the pages that are made from the code; a test fails when one is stale."""

from pathlib import Path

from ragauge.metrics.quality import METRICS
from ragauge.reports.metric_pages import page

DOCS = Path(__file__).parent


def generated() -> dict[Path, str]:
    """Every generated page and what it should hold."""
    metrics = sorted(METRICS, key=lambda metric: metric.id)
    return {DOCS / "reference" / "metrics.md": page(metrics)}


def main() -> None:
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
