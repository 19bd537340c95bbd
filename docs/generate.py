"""Writes the pages and the picture that are made from the code; a test fails when one is stale."""

import io
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ragauge.demo import GOLD, TRACES
from ragauge.gates.presets import PRESETS, preset
from ragauge.metrics.quality import METRICS
from ragauge.reports.forms import render
from ragauge.reports.metric_pages import page
from ragauge.runners.score import score

DOCS = Path(__file__).parent
WIDTH = 100
PICTURE_ENDS = "  3. "
"""The picture stops where the third piece of advice begins: it is a glance, not the report."""

# Only fonts that are installed: a picture in the repository fetches nothing.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: DejaVu Sans Mono, Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def generated() -> dict[Path, str]:
    """Every generated file and what it should hold."""
    return {
        DOCS / "reference" / "metrics.md": page(sorted(METRICS, key=lambda metric: metric.id)),
        DOCS / "reference" / "presets.md": presets_page(),
        DOCS / "images" / "report.svg": picture(),
    }


def presets_page() -> str:
    """Each preset and its gates."""
    rules = {name: "<br>".join(f"`{rule}`" for rule in preset(name)) for name in PRESETS}
    rows = [f"| `{name}` | {gates} |" for name, gates in rules.items()]
    head = ["# Presets", "", "Generated from the code by `make docs`.", ""]
    return "\n".join([*head, "| preset | gates |", "|---|---|", *rows, ""])


def picture() -> str:
    """The beginning of the demo's report, as a terminal shows it."""
    report = score(GOLD, [TRACES], preset="ship").report
    text = render(report, "text", color=True, width=WIDTH)
    shown = text[: text.index(PICTURE_ENDS)].rstrip()
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(shown))
    title = "ragauge score gold.jsonl traces.jsonl --preset ship"
    svg = console.export_svg(title=title, code_format=SVG, unique_id="report")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> None:
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
