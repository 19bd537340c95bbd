"""The page of a question: one unit of a run, with all that is known of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.contracts.citation import Offsets
from ragauge.contracts.gold import Gold, Span, stratum_text
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.question_answer import ShownAnswer, shown_answer
from ragauge.dashboard.pages.question_report import (
    UnitValue,
    are_cut,
    details_of,
    errors_of,
    measured_by,
    values_of,
)
from ragauge.dashboard.pages.question_runs import (
    LAST,
    NAMED,
    Past,
    SideBySide,
    agreements_of,
    claim_of,
    past_of,
    past_table,
    run_table,
    side_by_side,
    traced_outcomes,
)
from ragauge.dashboard.pages.question_trace import Reader, Score, read_answer, reader_of
from ragauge.dashboard.rendering import render
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.dashboard.unit_list import SHORT, Ways, list_fields, unit_query
from ragauge.reports import document as doc
from ragauge.reports.document import Cell, Column, Table, names, number
from ragauge.reports.foreign import cut
from ragauge.reports.formats.html import written
from ragauge.text.canonical import composed

if TYPE_CHECKING:
    from markupsafe import Markup

REPORTED = ("stability", "eval", "trace-eval")
"""Commands whose reports say more of a unit than its row does."""


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The unit that the address names, in one run."""
    pages, run, unit = material.pages, material.run(asked.needed("run")), asked.needed("unit")
    row = pages.unit(run, unit)
    if row is None:
        raise Missing(f'run {run.shown} has no unit "{unit[:80]}"')
    ways = Ways(run, unit, links, list_fields(asked))
    report, reader = _report(material, run), reader_of(run)
    sha256 = run.record.gold_sha256
    held = None if sha256 is None else pages.question(sha256, unit)
    # What gold says of a component's unit is a hash: there is nothing to compare an answer with.
    gold = None if held and held.is_unit else held

    answered = material.answered(run, unit)
    answers = answered.answers if answered else []
    outcomes = traced_outcomes(report, unit)
    together = side_by_side(answers, gold, reader, outcomes) if len(answers) > 1 else None
    is_sweep = bool(outcomes) or any(one.cell is not None for one in answers[:1])
    kept = _chosen(answers, asked, together, is_sweep=is_sweep)
    place = None if kept is None else answers.index(kept)
    question = _question(gold, row, kept)
    measured = measured_by(run, row, report)
    shown = shown_answer(kept, gold, reader, question, "", measured) if kept else None
    beside = _beside(material, asked, ways, gold, question)
    claim = claim_of(row) or (shown.claim if shown else "")
    past = past_of(ways, pages.over_runs(unit, run, LAST))
    commands = dict.fromkeys(one.run.record.command for one in past)
    is_scored = kept is not None and gold is not None and run.record.command == "score"
    facts = read_answer(reader, gold, kept.trace).facts if kept and is_scored else None
    values = values_of(run, row, report, unit, facts)
    before, after = pages.beside(run, unit, unit_query(asked))

    told = sorted(held.strata.items()) if held else ()
    strata = [(name, stratum_text(value)) for name, value in told]

    def table(made: Table) -> Markup:
        return written([made], sorting=links.sorting)

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
        together=together,
        run_table=table(run_table(together, ways, place)) if together else None,
        place=place,
        left_out=answered.left_out if answered else 0,
        has_texts=answered is not None,
        shown=shown,
        beside=beside,
        other_doubt=doubt(beside[1]) if beside and beside[1] else "",
        gold=held,
        gold_set=links.gold(sha256 or "", q=held.qid) if held else None,
        gold_spans=_gold_spans(held, answers, ways) if held else (),
        strata=[(name, text) for name, text in strata if text is not None],
        most=MOST,
        errors=errors_of(report, unit),
        errors_cut=are_cut(report, unit, row.right),
        past=past,
        past_table=table(past_table(past, ways, claim)),
        meanings=[(command, right_means(command)) for command in commands],
        named=NAMED,
        values=len(values),
        value_table=table(_value_table(values, links)),
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
    return Page(
        title=f"{cut(unit, SHORT)} · {run.record.name}",
        here="runs",
        drawn=body,
        crumbs=(
            ("Runs", links.runs()),
            (run_names(run), links.run(run.id)),
            (ways.list_name, ways.back),
            (unit, None),
        ),
        data=figures,
    )


def _value_table(values: Sequence[UnitValue], links: Links) -> Table:
    def meaning(one: UnitValue) -> Cell:
        return Cell(f"{one.meaning} {one.better.capitalize()} is better.".strip(), tone="dim")

    return doc.table(
        values,
        {
            "metric": lambda one: Cell(one.id, foreign=True, href=links.history(one.id) or ""),
            Column("value", right=True): lambda one: number(one.value),
            Column("counts", right=True, spare=1): lambda one: Cell(one.counts, tone="dim"),
            Column("means", spare=2, prose=True): meaning,
            Column("why", prose=True): lambda one: names(one.reason, "dim"),
        },
        below=False,
    )


def _report(material: Material, run: Run) -> Any:
    return material.report(run) if run.record.command.startswith(REPORTED) else None


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


SPANS = {"target_section": "target", "anchor": "anchor", "decoy": "decoy"}
MOST = 50
"""Phrases, ids or wordings of gold that are shown of a list."""


def _gold_spans(
    gold: Gold, answers: Sequence[KeptAnswer], ways: Ways
) -> list[tuple[str, Span, str | None]]:
    """The stretches of documents that the question points to, each with its name and address.

    One without a revision is opened in the revision that was retrieved.
    """
    revs: dict[str, str] = {}
    for answer in answers:
        for chunk in answer.trace.retrieved or ():
            doc_id, rev = chunk.get("doc_id"), chunk.get("rev")
            if isinstance(doc_id, str) and isinstance(rev, str) and rev:
                revs.setdefault(composed(doc_id), rev)
    found = []
    for field, name in SPANS.items():
        span: Span | None = getattr(gold, field)
        if span:
            known = span.rev or revs.get(composed(span.doc_id))
            place = Offsets(span.start, span.end) if 0 <= span.start < span.end else None
            href = ways.document(span.doc_id, known, place) if known else None
            found.append((name, span, href))
    return found


def value_figures(values: Sequence[UnitValue]) -> Figures:
    """The metrics of the unit."""
    rows = [(one.id, one.value, one.counts, one.reason) for one in values]
    return Figures(("metric", "value", "counts", "reason"), rows)


def chunk_figures(shown: ShownAnswer) -> Figures:
    """What was retrieved, a column for each score."""
    names = list(dict.fromkeys(score.name for one in shown.chunks for score in one.one.scores))
    head = ("rank", "k_pos", "k_final", "id", "doc_id", "rev", "start", "end", "gold", "cited")
    rows = []
    for chunk in shown.chunks:
        one, scores = chunk.one, {score.name: _figure(score) for score in chunk.one.scores}
        span = (one.offsets.start, one.offsets.end) if one.offsets else (None, None)
        known = (one.rank, one.k_pos, one.k_final, one.id, one.doc_id, one.rev, *span)
        rows.append((*known, one.gold, chunk.cited, *(scores.get(name) for name in names)))
    return Figures((*head, *names), rows)


def _figure(score: Score) -> float | str:
    """The score as the trace has it, not as it is rounded for the page."""
    return score.written if score.value is None else score.value


def run_figures(together: SideBySide) -> Figures:
    """The answers side by side, one a row."""
    head = ("run_id", "varied", "outcome", "asked", "said", "cited", "latency_ms")
    rows = []
    for one in together.runs:
        told = (one.run_id, one.varied, one.outcome, one.asked, one.said)
        rows.append((*told, " ".join(one.cited), one.latency_ms))
    return Figures(head, rows)


def history_figures(past: Sequence[Past]) -> Figures:
    """The unit in each of the last runs."""
    head = ("recorded_at", "run", "name", "label", "right", "claim", "cited")
    rows = []
    for one in past:
        known = (one.run.record.recorded_at, one.run.id, one.run.record.name)
        rows.append((*known, one.row.label, one.row.right, one.claim, " ".join(one.cited)))
    return Figures(head, rows)
