"""The report as one HTML file that asks nobody for anything: no script, no font, no picture.

Each part of the page is a fragment made from the plain JSON report, so that a dashboard can
mount the same parts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge.contracts.kinds import KINDS, SHOWN
from ragauge.contracts.report import Report
from ragauge.errors import UsageError
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Document, Links, NoLinks, Verdict
from ragauge.reports.foreign import readable
from ragauge.reports.forms import document_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"

FILTERS: tuple[Callable[..., str], ...] = (
    numbers.bound,
    numbers.count,
    numbers.counted,
    numbers.interval,
    numbers.n_of,
    numbers.share,
    numbers.signed,
    numbers.signed_interval,
    numbers.value,
    numbers.value_beside,
    envelope.finding_text,
)
"""Numbers are written as in every form."""


def fragment(name: str, report: dict[str, Any]) -> Markup:
    """A part of the page, such as `verdict`, `gates`, `heatmap`, or `stability` for all of it.

    `report` is the JSON report.
    """
    kind = SHOWN.get(report.get("schema", ""))
    if kind is None or "html" not in kind.forms:
        raise UsageError(f'there is no view of a report with the schema "{report.get("schema")}"')
    return Fragments(msgspec.convert(report, kind.type)).part(name)


class Fragments:
    """The parts of a report that is at hand as a record, with links to what is around them."""

    def __init__(self, report: Report, to: Links | None = None) -> None:
        self.kind = KINDS[type(report)].folder
        self.document: Document = document_of(report)
        self._to = to or NoLinks()
        (self._verdict,) = (one for one in self.document.blocks if isinstance(one, Verdict))

    @property
    def words(self) -> str:
        """The sentence of the verdict."""
        return self._verdict.text

    @property
    def beside(self) -> str:
        """What is below the verdict."""
        return " ".join((*self._verdict.notes, *self._verdict.meaning))

    def part(self, name: str) -> Markup:
        """The blocks of this name; all of them for the name of the kind."""
        from ragauge.reports.formats.html import written

        given = self.document.blocks if name == self.kind else self.document.part(name)
        return written(
            given, name=self.document.name, links=self._to, language=self.document.language
        )


def policy(style: str, *scripts: str) -> str:
    """The content security policy: this style sheet, these scripts, and nothing from anywhere."""
    allowed = {
        "default-src": "'none'",
        "style-src": _known_by(style),
        "script-src": " ".join(map(_known_by, scripts)),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    given = {name: source for name, source in allowed.items() if source}
    return "; ".join(f"{name} {source}" for name, source in given.items())


def _known_by(content: str) -> str:
    """The source of a policy that is this content and nothing else."""
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _environment() -> Environment:
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
    made.globals["to"] = NoLinks()
    return made


def _spelled_out(value: Any) -> Any:
    """Every text on its way into the page: what is unseen is spelled out; escaping comes after.

    Nothing is shown for None.
    """
    from markupsafe import Markup

    if value is None:
        return ""
    return readable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
