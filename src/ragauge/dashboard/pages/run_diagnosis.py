"""The diagnosis of a run: causes, evidence, slices; made in the background, once a language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragauge.contracts.diagnosis import DiagnosisReport, Language
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView, ToRun
from ragauge.dashboard.rendering import render
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.formats.html import written
from ragauge.reports.kinds.diagnosis import document
from ragauge.reports.words import wording

if TYPE_CHECKING:
    from markupsafe import Markup

LANGUAGES: tuple[Language, ...] = ("en", "zh")
NAMES = {"en": "English", "zh": "中文"}
TAB = "diagnosis"
LOOK_AGAIN_S = 2
HEAD = re.compile(r"<(/?)h1(?=[ >])")
LEFT_OUT = ("gates", "metrics", "coverage")
"""Parts that the overview of the run has."""


def view(opened: OpenedRun) -> TabView:
    """Why its numbers are low and what to change; while that is being found out, that it is."""
    language: Language = opened.asked.choice("lang", LANGUAGES) or "en"
    try:
        report = opened.material.jobs.get(
            ("diagnosis", opened.run.id, language), lambda: _made(opened, language)
        )
    except (UsageError, InputRejected) as error:
        return TabView(body=_body(opened, language, problem=str(error)))
    if report is None:
        return TabView(body=_body(opened, language), refresh_s=LOOK_AGAIN_S)
    return TabView(
        body=_body(opened, language, report),
        figures={"causes": lambda: _causes(report), "slices": lambda: _slices(report)},
    )


def _made(opened: OpenedRun, language: Language) -> DiagnosisReport:
    from ragauge.runners.diagnosis.diagnose import diagnose_run

    return diagnose_run(opened.material.history, opened.run, lang=language)


def _body(
    opened: OpenedRun, language: Language, report: DiagnosisReport | None = None, problem: str = ""
) -> Markup:
    return render(
        "run_diagnosis.html",
        body=_written(opened, report) if report else "",
        html_lang=wording(language).html_lang,
        problem=problem,
        report=report,
        language=language,
        languages=[
            (one, NAMES[one], opened.links.run(opened.run.id, TAB, lang=one)) for one in LANGUAGES
        ],
        units=opened.run.record.units,
        links=opened.links,
    )


def _written(opened: OpenedRun, report: DiagnosisReport) -> Markup:
    """The diagnosis, with its heading under that of the run, which the page already has."""
    from markupsafe import Markup

    made = document(report)
    body = written(
        [block for block in made.blocks if block.part not in LEFT_OUT],
        name=made.name,
        links=ToRun(opened),
        language=made.language,
    )
    return Markup(HEAD.sub(r"<\1h2", str(body)))  # foreign text has no `<`


def _causes(report: DiagnosisReport) -> Figures:
    rows = [
        (one.id, one.title, one.standing, one.explains, one.of, one.metrics, one.samples, one.why)
        for one in report.causes
    ]
    columns = ("cause", "title", "standing", "explains", "of", "metrics", "samples", "why")
    return Figures(columns, rows)


def _slices(report: DiagnosisReport) -> Figures:
    rows = [
        (
            one.metric,
            tuple(f"{name}={value}" for name, value in sorted(one.conditions.items())),
            one.n,
            one.beyond,
            one.value,
            one.elsewhere,
            one.p,
        )
        for one in report.slices
    ]
    columns = ("metric", "slice", "samples", "beyond", "value", "elsewhere", "p")
    return Figures(columns, rows)
