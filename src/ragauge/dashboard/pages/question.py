"""The page `question`: one unit of a run, with all that is known of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.question_answers import ShownAnswer, shown_answer
from ragauge.dashboard.pages.question_errors import are_cut, errors_of
from ragauge.dashboard.pages.question_gold import gold_view
from ragauge.dashboard.pages.question_history import LAST, claim_of, past_of
from ragauge.dashboard.pages.question_measured import measured_by
from ragauge.dashboard.pages.question_reading import Reader, read_answer, reader_of
from ragauge.dashboard.pages.question_runs import SideBySide, side_by_side
from ragauge.dashboard.pages.question_tables import (
    chunk_figures,
    history_figures,
    run_figures,
    value_figures,
)
from ragauge.dashboard.pages.question_traced import agreements_of, traced_outcomes
from ragauge.dashboard.pages.question_values import details_of, values_of
from ragauge.dashboard.pages.question_ways import SHORT, Ways
from ragauge.dashboard.rendering import render
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.dashboard.unit_list import list_fields, unit_query
from ragauge.reports.foreign import cut

REPORTED = ("stability", "eval", "trace-eval")
"""Commands whose reports say more of a unit than its row does."""


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The unit that the address names, in one run."""
    run, unit = material.run(asked.needed("run")), asked.needed("unit")
    row = material.pages.unit(run, unit)
    if row is None:
        raise Missing(f'run {run.shown} has no unit "{unit[:80]}"')
    answered = material.answered(run, unit)
    answers = answered.answers if answered else []
    asked_of, reader = _gold(material, run, unit), reader_of(run)
    # What gold says of a component's unit is a hash: nothing to hold an answer against.
    gold = None if asked_of and asked_of.is_unit else asked_of
    ways = Ways(run, unit, links, list_fields(asked))
    report = _report(material, run)
    outcomes = traced_outcomes(report, unit)
    together = side_by_side(answers, gold, reader, outcomes) if len(answers) > 1 else None
    is_sweep = bool(outcomes) or any(one.cell is not None for one in answers[:1])
    kept = _chosen(answers, asked, together, is_sweep=is_sweep)
    question = _question(gold, row, kept)
    measured = measured_by(run, row, report)
    shown = shown_answer(kept, gold, reader, question, "", measured) if kept else None
    facts = read_answer(reader, gold, kept.trace).facts if kept and gold else None
    values = values_of(run, row, report, unit, facts if run.record.command == "score" else None)
    claim = claim_of(row) or (shown.claim if shown else "")
    past = past_of(ways, claim, material.pages.over_runs(unit, run, LAST))
    beside = _beside(material, asked, ways, gold, question)
    before, after = material.pages.beside(run, unit, unit_query(asked))
    body = render(
        "question_page.html",
        run=run,
        run_name=run_names(run),
        row=row,
        doubt=doubt(row),
        means=right_means(run.record.command),
        agreements=agreements_of(row),
        question=question,
        before=ways.other(before),
        after=ways.other(after),
        gold=gold_view(asked_of, run, answers, ways) if asked_of else None,
        has_texts=answered is not None,
        left_out=answered.left_out if answered else 0,
        shown=shown,
        place=None if kept is None else answers.index(kept),
        together=together,
        beside=beside,
        other_doubt=doubt(beside[1]) if beside and beside[1] else "",
        past=past,
        values=values,
        errors=errors_of(report, unit),
        errors_cut=are_cut(report, unit, row.right),
        details=details_of(row),
        links=links,
        ways=ways,
    )
    figures: dict[str, Callable[[], Figures]] = {
        "values": lambda: value_figures(values),
        "history": lambda: history_figures(past),
    }
    if shown:
        figures["chunks"] = lambda: chunk_figures(shown)
    if together:
        figures["runs"] = lambda: run_figures(together)
    crumbs = (
        ("Runs", links.runs()),
        (run_names(run), links.run(run.id)),
        (ways.list_name, ways.back),
        (unit, None),
    )
    title = f"{cut(unit, SHORT)} · {run.record.name}"
    return Page(title=title, here="runs", body=body, crumbs=crumbs, figures=figures)


def _report(material: Material, run: Run) -> Any:
    return material.report(run) if run.record.command.startswith(REPORTED) else None


def _gold(material: Material, run: Run, unit: str) -> Gold | None:
    sha256 = run.record.gold_sha256
    return None if sha256 is None else material.pages.question(sha256, unit)


def _question(gold: Gold | None, row: UnitRow, kept: KeptAnswer | None) -> str | None:
    """What was asked, as far as anybody tells."""
    asked = row.detail.get("question")
    traced = (kept.trace.q or kept.trace.question_sent) if kept else None
    return gold.question if gold else traced or (asked if isinstance(asked, str) else None)


def _chosen(
    answers: Sequence[KeptAnswer], asked: Asked, together: SideBySide | None, *, is_sweep: bool
) -> KeptAnswer | None:
    """The answer that is shown whole: the one asked for, else the last; of a sweep a common one."""
    if not answers:
        return None
    if run_id := asked.exact("run_id"):
        found = next((one for one in answers if one.trace.run_id == run_id), None)
        if found is None:
            raise Missing(f'this question has no answer of the run "{run_id[:80]}"')
        return found
    if number := asked.number("answer"):
        if number > len(answers):
            raise BadAddress(f"answer: there are {len(answers):,}, and no number {number:,}")
        return answers[number - 1]
    if together and is_sweep:
        return answers[together.cards[0].first.place]
    return answers[-1]


def _beside(
    material: Material, asked: Asked, ways: Ways, gold: Gold | None, question: str | None
) -> tuple[Run, UnitRow | None, ShownAnswer | None] | None:
    """The same unit in the run that the address names for a comparison."""
    named = asked.text("with")
    if not named:
        return None
    other = material.run(named)
    answers = material.answers(other, ways.unit)
    reader: Reader = reader_of(other)
    kept, row = answers[-1] if answers else None, material.pages.unit(other, ways.unit)
    measured = measured_by(other, row, _report(material, other))
    shown = shown_answer(kept, gold, reader, question, "other-", measured) if kept else None
    return other, row, shown
