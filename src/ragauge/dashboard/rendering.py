"""Templates of the dashboard, over those of the reports: one look, one way to escape."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.reports.kinds.runs import when
from ragauge.reports.templating import TEMPLATES, environment

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

OWN = Path(__file__).parent / "templates"


def render(template: str, **context: Any) -> Markup:
    """A template with this context; all foreign text in it is escaped."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(**context))  # escaped as made


def drawn(macro: str, *given: Any, template: str = "cells.html") -> Markup:
    """A macro with what it is given; those of `cells.html` are what cells of tables show."""
    from markupsafe import Markup

    module: Any = _environment().get_template(template).module
    return Markup(getattr(module, macro)(*given))  # escaped as made


@cache
def _environment() -> Environment:
    made = environment(OWN, TEMPLATES)
    made.filters["when"] = when
    return made
