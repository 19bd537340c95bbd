"""The page of a question: one unit of a run, with all that is known of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from ragauge.contracts.citation import Offsets
from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalReport,
    LabelDetail,
    LinkDetail,
    RankingDetail,
)
from ragauge.contracts.gold import Gold, stratum_text
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.metric import Facts as AnswerFacts
from ragauge.contracts.stability import StabilityReport
from ragauge.dashboard import parts
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page, run_names
from ragauge.dashboard.pages.question_answer import (
    LAST,
    answer,
    claim_of,
    compared,
    findings,
    grouped,
    of_its_task,
    over_runs,
    plain,
    retrieved,
    side_by_side,
    support,
    traced_outcomes,
)
from ragauge.dashboard.pages.question_trace import Answer, reader_of, words
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import (
    SHORT,
    QuestionLinks,
    correct_means,
    list_fields,
    outcome,
    unit_query,
)
from ragauge.metrics.table import table
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Column, Facts, Inline, Section, Span, Text
from ragauge.reports.kinds.evaluation_rankings import queries
from ragauge.reports.kinds.evaluation_tables import errors_table, unit_of
from ragauge.reports.kinds.runs import when
from ragauge.reports.kinds.trace_eval import MEANINGS
from ragauge.text.canonical import composed
from ragauge.text.visible import cut

SHOWN_APART = frozenset(
    ("claim", "cited", "error", "explained_by", "failed", "cells", "triage", "question", "broken")
)
"""Details that have a place of their own on the page."""
UNKNOWN = "it does not apply to this one"
NOT_KEPT = "not kept in the summary"
MOST_ERRORS = 100
"""Errors of a unit that are shown."""
MENTION = re.compile(r":\d+–\d+$")
"""What the key of a mention has after its document."""
REPORTED = ("stability", "eval", "trace-eval")
"""Commands whose reports say more of a unit than its row does."""
COMPONENTS = (EntityDetail, LabelDetail, LinkDetail, RankingDetail)
"""Details of reports on components, whose units have no answer."""
POINTED_AT = {"target_section": "target", "anchor": "anchor", "decoy": "decoy"}
MOST = 50
"""Phrases, ids or wordings of gold that are shown of a list."""
MARKED = "words that only one of the two has are marked"
NO_TEXTS = (
    "The run was recorded without texts (--no-keep-texts): answers, chunks and documents are not "
    "here, only the values."
)


def page(material: Material, links: Links, query: Query) -> Page:
    """The unit that the address names, in one run."""
    pages, run, unit = material.pages, material.run(query.needed("run")), query.needed("unit")
    row = pages.unit(run, unit)
    if row is None:
        raise Missing(f'run {run.shown} has no unit "{unit[:80]}"')
    question_links, record = QuestionLinks(run, unit, links, list_fields(query)), run.record
    report = material.report(run) if record.command.startswith(REPORTED) else None
    held = pages.question(record.gold_sha256, unit) if record.gold_sha256 else None
    # What gold says of a component's unit is a hash: there is nothing to compare an answer with.
    gold = None if held and held.is_unit else held

    answered, reader = material.answered(run, unit), reader_of(run)
    answers = [Answer(kept, reader, gold) for kept in (answered.answers if answered else ())]
    left_out, outcomes = answered.left_out if answered else 0, traced_outcomes(report, unit)
    groups = grouped(answers, outcomes) if len(answers) > 1 else []
    is_sweep = bool(outcomes) or any(one.kept.cell is not None for one in answers[:1])
    shown = _chosen(answers, query, groups[0][0].place if groups and is_sweep else -1)
    place = answers.index(shown) if shown else None
    # What a correct answer says, each text once.
    given = [*shown.kept.references] if shown else []
    given += [gold.gold_answer or "", gold.gold_claim or ""] if gold else []
    references = list(dict.fromkeys(filter(None, given)))
    comparison, of_other = list[Block](), None
    if named := query.text("with"):
        comparison, of_other = _beside(
            material, material.run(named), question_links, gold, references
        )
    against = references[0] if references else plain(of_other) if of_other else ""
    traced = (shown.trace.q or shown.trace.question_sent) if shown else None
    question = gold.question if gold else traced or words(row.detail.get("question"))

    blocks = list(_header(material, question, row, question_links, query))
    total = f"{phrasing.count(len(answers))} answers"
    if groups:
        title = f"{'The last' if left_out else 'All'} {total} side by side"
        blocks.append(side_by_side(groups, question_links, place, title))
    own: list[Block] = []
    if left_out:
        earlier = f"{phrasing.pluralize(left_out, 'earlier answer')} not kept, for lack of room."
        own.append(Text(earlier, "soft"))
    left: list[Block] = []
    right: list[Block] = []
    if shown:
        if groups:
            run_id = doc.foreign(f"run {shown.trace.run_id}, " if shown.trace.run_id else "")
            own.append(Text([*run_id, Span("one of "), Span(total, to=("here", "side-by-side"))]))
        own += answer(shown, gold, question_links, against)
        supported, marks = support(shown, question, run, row, report)
        left = [*supported, *findings(shown)]
        right.append(
            Section(title="Retrieved", blocks=list(retrieved(shown, marks, question_links)))
        )
    elif answered is not None:
        own.append(Text("The run has no answer to it.", "soft"))
    elif not isinstance(getattr(of_its_task(report, unit)[0], "detail", None), COMPONENTS):
        claim, cited = row.detail.get("claim"), row.detail.get("cited")
        facts_kept: list[tuple[str, Inline]] = [
            ("claim", doc.foreign(str(claim) if claim else "")),
            ("cites", doc.foreign(", ".join(map(str, cited)) if cited else "")),
        ]
        own += [Text(NO_TEXTS, "soft"), Facts(facts_kept)]
    if of_other:
        inside = list(retrieved(of_other, {}, question_links))
        right.append(Section(title="Retrieved in the other run", blocks=inside))
    pair: list[Block] = []
    if own:
        pair.append(parts.section("Answer in this run" if comparison else "Answer", *own))
    pair += comparison
    if references or held:
        said = plain(shown) if shown else ""
        texts: list[Block] = [parts.text(text, compared(text, said)) for text in references[:MOST]]
        expected, more = _gold(held, answers, question_links) if held else ([], [])
        has_phrases = gold is not None and bool(gold.sought)
        green = has_phrases and "expected phrases are green"
        key = doc.listed(bool(references) and MARKED, green).capitalize()
        if key:
            texts.append(Text(f"{key}.", "soft"))
        nothing = Text("The run keeps only a hash of the gold.", "soft")
        pair.append(Section(title="Reference", blocks=[*texts, *expected] or [nothing]))
        inside = [Facts(more)]
        left.insert(0, Section(title="More from the gold set", folded=True, blocks=inside))
    both = [parts.section("", Section(title="", blocks=pair, part="pair"), *left)]
    both += [Section(title="", blocks=right)] if right else []
    is_scored = shown is not None and gold is not None and record.command == "score"
    facts = shown.facts if shown and is_scored else None
    over = pages.over_runs(unit, run, LAST)
    blocks += [
        Section(title="", blocks=both, part="split"),
        *errors(report, unit, row.right),
        *over_runs(over, question_links, claim_of(row) or (shown.said if shown else "")),
        Section(title="Values", blocks=[values(run, row, report, unit, facts, links)]),
    ]
    details = [
        (name, doc.foreign(words(value)))
        for name, value in sorted(row.detail.items())
        if name not in SHOWN_APART
    ]
    if details:
        blocks.append(Section(title="Other details", blocks=[Facts(details)]))
    crumbs = (
        ("Runs", links.runs()),
        (run_names(run), links.run(run.id)),
        ("Questions" if record.gold_sha256 else "Units", question_links.back),
        (unit, None),
    )
    name = f"{cut(unit, SHORT)} · {record.name}"
    return Page(title=name, here="runs", blocks=blocks, links=links, crumbs=crumbs)


def _header(
    material: Material, question: str, row: UnitRow, question_links: QuestionLinks, query: Query
) -> Iterator[Block]:
    """The question, how its answer ended, and the way to the next."""
    run, detail = question_links.run, row.detail
    said_of, _, tone = outcome(row)
    ended = [Span(said_of, tone, foreign=True)]
    ended += [
        Span(f" · {means}", "soft") for state, (means, _) in MEANINGS.items() if state == row.label
    ]
    for name in ("triage", "broken"):
        said = detail.get(name)
        if isinstance(said, str) and said.lower() != (row.label or "").lower():
            ended += [Span(" · "), Span(said, "soft", foreign=True)]
    if row.right is not None:
        ended.append(Span(f" · correct means: {correct_means(run.record.command)}", "soft"))
    id = cut(row.unit, SHORT)
    run_name = Span(run_names(run), foreign=True, href=question_links.links.run(run.id) or "")
    recorded = f" ({run.record.command}, {when(run.record.recorded_at)} UTC)"
    kind = "question " if question else "sample "
    eyebrow = [Span(kind), Span(id, foreign=True), Span(" in "), run_name, Span(recorded)]
    yield parts.header(doc.foreign(question or id), ended, eyebrow=eyebrow)
    if len(row.unit) > SHORT:
        yield Section(title="Full id", folded=True, blocks=[Text(doc.foreign(row.unit))])
    neighbours = material.pages.neighbours(run, row.unit, unit_query(query))
    ends = [
        (cut(one, SHORT // 2), question_links.links.question(run.id, one, **question_links.fields))
        if one
        else None
        for one in neighbours
    ]
    yield parts.served("neighbours", ends[0], question_links.back, ends[1])
    failed, explained = detail.get("failed"), detail.get("explained_by")
    facts: list[tuple[str, Inline]] = [
        ("fails", doc.foreign(", ".join(map(str, failed)) if failed else "")),
        ("explained by", doc.foreign(str(explained) if explained else "")),
    ]
    yield Facts(facts)


def _chosen(answers: Sequence[Answer], query: Query, usual: int) -> Answer | None:
    """The answer that is shown in full: the one that the address names, else the usual one."""
    number, run_id = query.number("answer"), query.exact("run_id")
    if run_id and answers:
        named = [one for one in answers if one.trace.run_id == run_id]
        if not named:
            raise Missing(f'this question has no answer of the run "{run_id[:80]}"')
        return named[0]
    if number > len(answers) > 0:
        raise BadAddress(f"answer: there are {len(answers):,}, and no number {number:,}")
    return answers[number - 1 if number else usual] if answers else None


def _beside(
    material: Material,
    other: Run,
    question_links: QuestionLinks,
    gold: Gold | None,
    references: Sequence[str],
) -> tuple[list[Block], Answer | None]:
    """The answer to the same unit in another run."""
    answers, row = (
        material.answers(other, question_links.unit),
        material.pages.unit(other, question_links.unit),
    )
    shown = Answer(answers[-1], reader_of(other), gold, "other-") if answers else None
    words, _, tone = outcome(row) if row else ("", "", "")
    name = Span(run_names(other), foreign=True, href=question_links.in_run(other.id) or "")
    blocks: list[Block] = [Text([name, Span(" "), Span(words, tone, foreign=True)])]
    if shown:
        blocks += answer(shown, gold, question_links, references[0] if references else "")
    elif row:
        claim = claim_of(row)
        blocks.append(Text("That run keeps no answer to it.", "soft"))
        blocks += [Text([Span("Its claim: "), *doc.foreign(claim)])] if claim else []
    else:
        blocks.append(Text("That run does not have it.", "soft"))
    return [Section(title="Answer in another run", blocks=blocks)], shown


def _gold(
    gold: Gold, answers: Sequence[Answer], question_links: QuestionLinks
) -> tuple[list[Block], list[tuple[str, Inline]]]:
    """What the gold set says that a correct answer has, and what else it says."""
    set_of = question_links.links.gold(question_links.run.record.gold_sha256 or "", q=gold.qid)
    strata = ((name, stratum_text(value)) for name, value in sorted(gold.strata.items()))
    slices = ", ".join(f"{name} {text}" for name, text in strata if text is not None)
    more: list[tuple[str, Inline]] = [
        ("strata", doc.foreign(slices)),
        ("gold set", [Span("this question in the gold set", href=set_of)] if set_of else ""),
    ]
    if gold.is_unit:
        return [], more

    def several(texts: Sequence[str], between: str = "; ") -> Inline:
        return doc.foreign(between.join(texts[:MOST]))

    refuses = Text("The question cannot be answered: a correct answer refuses.")
    expected: list[tuple[str, Inline]] = [
        ("must contain", several([f"“{text}”" for text in gold.gold_claim_substr], " or ")),
        ("must cite", several(gold.gold_citations, " or ")),
        ("must repeat", several(gold.constraints)),
    ]
    # A span without a revision is opened in the revision that was retrieved.
    revs: dict[str, str] = {}
    for chunk in (chunk for one in answers for chunk in one.chunks):
        if chunk.doc_id and chunk.rev:
            revs.setdefault(composed(chunk.doc_id), chunk.rev)
    for field, name in POINTED_AT.items():
        if span := getattr(gold, field):
            known = span.rev or revs.get(composed(span.doc_id))
            there = Offsets(span.start, span.end) if 0 <= span.start < span.end else None
            href = question_links.document(span.doc_id, known, there) if known else None
            where = f" {span.section_id}, characters {span.start}–{span.end}"
            link = Span(span.doc_id, foreign=True, href=href or "")
            more.append((name, [link, Span(where, "soft", foreign=True)]))
    more += [
        ("weight", "" if gold.weight is None else f"{gold.weight:g}"),
        ("paraphrases", several(gold.paraphrases, " / ")),
    ]
    return [*([] if gold.answerable else [refuses]), Facts(expected)], more


def values(
    run: Run, row: UnitRow, report: Any, unit: str, facts: AnswerFacts | None, links: Links
) -> doc.Table:
    """The metrics of the run in the order of their ids, those that do not apply with the reason.

    Where several tasks share a run, only those of the unit's own.
    """
    known = table()
    report, unit = of_its_task(report, unit)
    reasons: Mapping[str, str] | None = {}  # None where the report has others and not this unit
    if isinstance(report, StabilityReport):
        one = report.details.get(unit)
        reasons = one.reasons if one else None
    elif isinstance(report, EvalReport) and isinstance(report.detail, AnswerDetail):
        reasons = next((one.reasons for one in report.detail.answers if one.id == unit), None)
    families = {id.partition(".")[0] for id in row.values}
    every = sorted(run.record.metrics)

    def counts(id: str) -> Cell:
        metric, counts = known.get(id), row.counts.get(id, ())
        is_rate = metric is not None and metric.rate and len(counts) == 2
        return Cell(f"{counts[0]:,} of {counts[1]:,}" if is_rate else "", tone="dim")

    def meaning(id: str) -> Cell:
        summary = known[id].summary if id in known else ""
        better = f"{run.record.metrics[id].better.capitalize()} is better."
        return Cell(f"{summary} {better}".strip(), tone="dim")

    def reason(id: str) -> Cell:
        metric, given = known.get(id), reasons or {}
        why = given.get(id) or given.get(id.partition(".")[2], "")
        # A metric of another package is not called to make a page.
        is_own = metric is not None and metric.measure.__module__.startswith("ragauge.")
        if not why and metric and is_own and facts is not None and metric.reads == "facts":
            why = metric(facts).reason or ""
        if not why and row.values.get(id) is None:
            why = NOT_KEPT if reasons is None else UNKNOWN
        return doc.names(why, "dim")

    return doc.table(
        [id for id in every if id.partition(".")[0] in families] or every,
        {
            "metric": lambda one: Cell(one, foreign=True, href=links.history(one) or ""),
            Column("value", right=True): lambda one: doc.number(row.values.get(one)),
            Column("counts", right=True, spare=1): counts,
            Column("meaning", spare=2, prose=True): meaning,
            Column("reason", prose=True): reason,
        },
        below=False,
        name="values",
    )


def errors(report: Any, unit: str, right: bool | None) -> Iterator[Block]:
    """The errors about the unit, of those that the report keeps."""
    report, unit = of_its_task(report, unit)
    blocks: list[Block] = []
    match detail := report.detail if isinstance(report, EvalReport) else None:
        case LabelDetail():
            for pair in detail.confusions:
                if unit in pair.examples:
                    pair_words = f"{pair.predicted}; gold label: {pair.gold}"
                    blocks.append(Text([Span("Predicted label: "), *doc.foreign(pair_words)]))
        case RankingDetail():
            kept = tuple(one for one in detail.queries if one.query == unit)
            made = queries(report, structs.replace(detail, queries=kept))
            blocks += [structs.replace(made, title="", remark="")] if kept else []
        case EntityDetail() | LinkDetail():
            # A mention is the unit, or in the document that is: `doc:12–20`.
            found = [
                one
                for one in detail.errors
                if unit in (unit_of(one), MENTION.sub("", unit_of(one)))
            ][:MOST_ERRORS]
            blocks += [structs.replace(errors_table(found), title="")] if found else []
        case _:
            return
    if not blocks and (right is not True or isinstance(detail, RankingDetail)):
        blocks = [Text("The summary of the report has no details of this one.", "soft")]
    if blocks:
        title = "Ranking" if isinstance(detail, RankingDetail) else "Errors"
        yield Section(title=title, blocks=blocks)
