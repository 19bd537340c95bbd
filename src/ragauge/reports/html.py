"""The report as one HTML file that asks nobody for anything: no script, no font, no picture.

Each part of the page is a fragment made from the plain JSON report, so that a dashboard can
mount the same parts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.contracts.kinds import KINDS, SHOWN
from ragauge.contracts.report import Report
from ragauge.errors import UsageError
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Document, Target, Verdict
from ragauge.reports.foreign import readable

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


def page(report: Report) -> str:
    """The whole report as a file that works from disk, with nothing around it."""
    from markupsafe import Markup

    name = KINDS[type(report)].folder
    body = fragment(name, msgspec.to_builtins(report, order="sorted"))
    style = (TEMPLATES / "style.css").read_text("utf-8")
    frame = _environment().get_template("frame.html")
    made = frame.render(
        title=_title(name, report),
        body=body,
        style=Markup(style),  # ours
        policy=policy(style),
    )
    return made.rstrip("\n") + "\n"


def _title(name: str, report: Report) -> str:
    if isinstance(report, DiagnosisReport):
        from ragauge.reports.diagnosis.labels import title

        return title(report)
    return f"Ragauge {name.replace('_', '-')}: {envelope.verdict_word(report.passed, report.gates)}"


def fragment(name: str, report: dict[str, Any], **chosen: Any) -> Markup:
    """A part of the page, such as `verdict`, `gates`, `heatmap`, or `stability` for all of it.

    `report` is the JSON report. `question` wants to know which: `qid="q1"`.
    """
    kind = SHOWN.get(report.get("schema", ""))
    if kind is None or "html" not in kind.forms:
        raise UsageError(f'there is no view of a report with the schema "{report.get("schema")}"')
    return Fragments(msgspec.convert(report, kind.type)).part(name, **chosen)


class To(Protocol):
    """The way from a fragment to pages around it; None where there is none, and text stays text."""

    def question(self, qid: str) -> str | None: ...

    def metric(self, id: str) -> str | None:
        """To the questions that speak for a metric's value, or against it."""
        ...

    def to(self, target: Target) -> str | None: ...


class Nowhere:
    """A fragment that stands alone: as in a file."""

    def question(self, qid: str) -> None:
        return None

    def metric(self, id: str) -> None:
        return None

    def to(self, target: Target) -> None:
        return None


class Fragments:
    """The parts of a report that is at hand as a record, with links to what is around them."""

    def __init__(self, report: Report, to: To | None = None) -> None:
        from ragauge.reports.forms import DOCUMENTS

        self.kind = KINDS[type(report)].folder
        self._to = to or Nowhere()
        self.view: Any = None
        self.document: Document | None = None
        if self.kind in DOCUMENTS:
            module: Any = import_module(f"ragauge.reports.kinds.{self.kind}")
            self.document = module.document(report)
        else:
            self.view = import_module(f"ragauge.reports.{self.kind}.view").View(report)

    @property
    def words(self) -> str:
        """The sentence of the verdict."""
        if self.document is None:
            return str(self.view.headline[1])
        (verdict,) = self.document.part("verdict")
        return verdict.text if isinstance(verdict, Verdict) else ""

    @property
    def beside(self) -> str:
        """What is below the verdict."""
        if self.document is None:
            return str(getattr(self.view, "beside", ""))
        (verdict,) = self.document.part("verdict")
        return " ".join(verdict.notes) if isinstance(verdict, Verdict) else ""

    def part(self, name: str, **chosen: Any) -> Markup:
        """The part of this name; raises UsageError where a report of this kind has none."""
        from markupsafe import Markup

        if self.document is not None:
            from ragauge.reports.formats.html import written

            given = self.document.blocks if name == self.kind else self.document.part(name)
            return written(given, name=self.document.name, links=self._to)
        if name not in (self.kind, *self.view.parts):
            parts = ", ".join(self.view.parts)
            raise UsageError(f'a {self.kind} report has no part "{name}"; it has {parts}')
        template = _environment().get_template(f"{name}.html")
        context = self.view.chosen(**chosen)
        return Markup(template.render(view=self.view, to=self._to, **context))  # escaped as made


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
    made.globals["to"] = Nowhere()
    return made


def _spelled_out(value: Any) -> Any:
    """Every text on its way into the page: what is unseen is spelled out; escaping comes after.

    Nothing is shown for None.
    """
    from markupsafe import Markup

    if value is None:
        return ""
    return readable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
