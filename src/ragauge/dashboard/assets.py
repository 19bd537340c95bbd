"""Styles and scripts: served under names that change with their content, or inlined in a file."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from msgspec import Struct

from ragauge.reports.templating import TEMPLATES

HERE = Path(__file__).parent

VENDOR, OWN = HERE / "vendor", HERE / "scripts"

STYLES = (
    TEMPLATES / "style.css",
    VENDOR / "uplot" / "uPlot.min.css",
    HERE / "templates" / "dashboard.css",
)
SCRIPTS = {
    "script": (OWN / "ragauge.js", OWN / "trouble.js"),
    "uplot": (VENDOR / "uplot" / "uPlot.iife.min.js",),
    "charts": (OWN / "drawing.js", OWN / "charts.js"),
    "htmx": (VENDOR / "htmx" / "htmx.min.js",),
}
"""By what they are called in a page, in the order they are loaded; files are joined to one."""


class Asset(Struct, frozen=True):
    """A file the pages ask for."""

    name: str
    kind: str
    content: bytes


def style() -> str:
    """The whole style sheet: the reports', that of the charts, and the dashboard's."""
    return "\n".join(path.read_text("utf-8") for path in STYLES)


def script(what: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in SCRIPTS[what])


def names() -> dict[str, str]:
    """The address of each file, by what it is."""
    return {what: f"/static/{one.name}" for what, one in _all().items()}


def asset(name: str) -> Asset | None:
    """The file of this name: one of a handful, so that no name leads anywhere else."""
    return next((one for one in _all().values() if one.name == name), None)


@cache
def _all() -> dict[str, Asset]:
    def named(stem: str, ending: str, kind: str, content: bytes) -> Asset:
        digest = hashlib.sha256(content).hexdigest()[:12]
        return Asset(f"{stem}.{digest}.{ending}", f"{kind}; charset=utf-8", content)

    found = {what: named(what, "js", "text/javascript", script(what).encode()) for what in SCRIPTS}
    return found | {"style": named("ragauge", "css", "text/css", style().encode())}
