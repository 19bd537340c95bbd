"""Templates of pages: where they are, how text is escaped in them, and what a page may load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.reports import phrasing
from ragauge.text.visible import readable

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

FILTERS: tuple[Callable[..., Any], ...] = (
    *(phrasing.count, phrasing.pluralize, phrasing.percent, phrasing.value),
    phrasing.finding_text,
)
"""Numbers are written as in every form."""


def policy(style: str, *scripts: str) -> str:
    """The content security policy: this style sheet, these scripts, and nothing else."""
    style_src, *script_src = map(_source_hash, (style, *scripts))
    allowed = ["default-src 'none'", f"style-src {style_src}"]
    allowed += [f"script-src {' '.join(script_src)}"] if scripts else []
    return "; ".join([*allowed, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def _source_hash(content: str) -> str:
    """The policy's source for exactly this content."""
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def report_templates() -> Environment:
    """The templates of reports."""
    return environment(TEMPLATES)


def environment(*folders: Path) -> Environment:
    """Templates of these folders, searched in order; all foreign text is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_readable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter in FILTERS:
        templates.filters[filter.__name__] = filter
    return templates


def _readable(value: Any) -> Any:
    """A text for the page with invisible characters spelled out, before it is escaped.

    None is shown as nothing.
    """
    from markupsafe import Markup

    if value is None:
        return ""
    return readable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
