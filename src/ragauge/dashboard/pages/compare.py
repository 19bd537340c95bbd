"""Compare: two runs next to each other, or the choice of two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import structs

from ragauge.contracts.comparison import ComparisonReport
from ragauge.contracts.history import Run
from ragauge.contracts.paging import RunQuery
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages import compare_questions
from ragauge.dashboard.pages.compare_choice import Choice, chosen
from ragauge.dashboard.pages.compare_questions import Questions
from ragauge.dashboard.rendering import render
from ragauge.errors import RagaugeError, UsageError

if TYPE_CHECKING:
    from markupsafe import Markup

FIELDS = {
    "`ragauge compare` with --allow ": "the address with allow=",
    "--margin ": "margin: ",
    "--slice ": "slices: ",
    "--metric ": "metrics: ",
}
"""Options of the command in the words of its refusals, and the fields that do the same."""
LAST_RUNS = 100
PAIRS = 12
MEANT = {"before": "to compare with", "after": "that is compared"}


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The comparison of the two runs an address names; a form where it does not name both."""
    before, after = asked.text("before"), asked.text("after")
    if not (before and after):
        return _form(material, links, asked)
    now = material.run(after)
    was = _baseline(material, before, now)
    choice = chosen(material, was, now, asked)
    try:
        report = material.jobs.get(choice.key, lambda: choice.made(material.history))
    except RagaugeError as error:
        return _refused(links, asked, choice, error)
    if report is None:
        return _computing(links, choice)
    if not asked.text("flip"):
        return shown(report, links, asked, choice)
    changed = compare_questions.changes(material, report, links, asked, choice)
    return shown(report, links, asked, choice, changed) if changed else _computing(links, choice)


def _baseline(material: Material, reference: str, now: Run) -> Run:
    """The run before; `green@main` and the like mean one of the same kind, recorded earlier."""
    try:
        return material.history.find(reference, like=now)
    except UsageError as error:
        raise Missing(*error.problems) from error


def shown(
    report: ComparisonReport,
    links: Links,
    asked: Asked,
    choice: Choice,
    questions: Questions | None = None,
) -> Page:
    """The blocks of the comparison's report, with the questions in pages that can be searched."""
    from ragauge.reports.formats.html import written
    from ragauge.reports.kinds.comparison import COLUMNS, document, metric_rows, slice_rows

    questions = questions or compare_questions.flips(report, links, asked)
    # The report's own flips are not shown here, and marking where answers differ takes time.
    told = document(structs.replace(report, flips=()))
    to = compare_questions.CompareLinks(report, links, asked)
    body = render(
        "compare.html",
        parts=lambda *names: written(told.part(*names), name=told.name, links=to),
        address=compare_questions.address_of(asked, links),
        choice=choice,
        links=links,
        questions=questions,
    )
    figures = {
        "metrics": lambda: Figures(COLUMNS, metric_rows(report)),
        "slices": lambda: Figures(COLUMNS, slice_rows(report)),
        questions.name: questions.figures,
    }
    return _page(links, choice, body, figures)


def _computing(links: Links, choice: Choice) -> Page:
    body = render("computing.html", words="Comparing the runs", choice=choice)
    return structs.replace(_page(links, choice, body, {}), refresh_s=1)


def _refused(links: Links, asked: Asked, choice: Choice, error: RagaugeError) -> Page:
    """Why the runs cannot be compared so, and what the address may allow."""
    allowed = asked.texts("allow")
    offers = [
        (what, compare_questions.address_of(asked, links)(allow=",".join([*allowed, what])))
        for what in ("gold", "versions")
        if f"--allow {what}" in str(error) and what not in allowed
    ]
    problems = [_in_fields(problem) for problem in error.problems]
    body = render("compare_refused.html", problems=problems, offers=offers, choice=choice)
    return _page(links, choice, body, {})


def _in_fields(problem: str) -> str:
    """What is said of the command, said of the address: what the one takes, the other does too."""
    for option, name in FIELDS.items():
        problem = problem.replace(option, name)
    return problem


def _page(
    links: Links, choice: Choice, body: Markup, figures: dict[str, Callable[[], Figures]]
) -> Page:
    was, now = choice.before, choice.after
    title = f"{was.record.name} {was.shown} and {now.shown}"
    crumbs = (("Runs", links.runs()), ("Compare", links.compare()), (title, None))
    return Page(title=f"Compare {title}", here="compare", drawn=body, crumbs=crumbs, data=figures)


def _form(material: Material, links: Links, asked: Asked) -> Page:
    """The last runs to choose from, and the pairs of one kind that follow each other."""
    runs = material.pages.runs(RunQuery(limit=LAST_RUNS)).rows
    body = render(
        "compare_form.html",
        runs=runs,
        pairs=[pair for pair, _ in zip(_pairs(runs), range(PAIRS), strict=False)],
        before=asked.text("before"),
        after=asked.text("after"),
        problems=_lacking(material, asked) if runs else [],
        links=links,
    )
    crumbs = (("Runs", links.runs()), ("Compare", None))
    return Page(title="Compare", here="compare", drawn=body, crumbs=crumbs)


def _lacking(material: Material, asked: Asked) -> list[str]:
    """What keeps an address that names one run only from a comparison; nothing of one with none."""
    given = {name: asked.text(name) for name in ("before", "after")}
    if not any(given.values()):
        return []
    found = []
    for name, reference in given.items():
        try:
            if not reference:
                found.append(f"{name}: is missing; choose the run {MEANT[name]}")
            else:
                material.run(reference)
        except Missing as error:
            found += [f"{name}: {problem}" for problem in error.problems]
    return found


def _pairs(runs: tuple[Run, ...]) -> Iterator[tuple[Run, Run]]:
    """Each run with the one before it of the same command and name, the newest first."""
    for place, after in enumerate(runs):
        kind = (after.record.command, after.record.name)
        for before in runs[place + 1 :]:
            if (before.record.command, before.record.name) == kind:
                yield before, after
                break
