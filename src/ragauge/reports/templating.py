"""Templates of pages: where they are, how text gets into them, and what a page may load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.reports import envelope
from ragauge.text.visible import readable

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

FILTERS: tuple[Callable[..., Any], ...] = (
    *(envelope.count, envelope.counted, envelope.share, envelope.value),
    envelope.finding_text,
)
"""Numbers are written as in every form."""


def policy(style: str, *scripts: str) -> str:
    """The content security policy: this style sheet, these scripts, and nothing from anywhere."""
    style_src, *script_src = map(_known_by, (style, *scripts))
    allowed = ["default-src 'none'", f"style-src {style_src}"]
    allowed += [f"script-src {' '.join(script_src)}"] if scripts else []
    return "; ".join([*allowed, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def _known_by(content: str) -> str:
    """The source of a policy that is this content and nothing else."""
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def own() -> Environment:
    """The templates of reports."""
    return environment(TEMPLATES)


def environment(*folders: Path) -> Environment:
    """Templates in these folders, the first that has one; all foreign text is made harmless."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled_out,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter in FILTERS:
        made.filters[filter.__name__] = filter
    return made


def _spelled_out(value: Any) -> Any:
    """Every text on its way into the page: what is unseen is spelled out; escaping comes after.

    Nothing is shown for None.
    """
    from markupsafe import Markup

    if value is None:
        return ""
    return readable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
