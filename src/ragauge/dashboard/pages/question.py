"""The page of a question: one unit of a run, with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.contracts.citation import Offsets
from ragauge.contracts.gold import Gold, stratum_text
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.dashboard import parts
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.question_answer import (
    ShownAnswer,
    answer,
    compared,
    findings,
    retrieved,
    shown_answer,
    support,
    text_block,
)
from ragauge.dashboard.pages.question_report import details_of, errors, values
from ragauge.dashboard.pages.question_runs import (
    LAST,
    agreements_of,
    claim_of,
    grouped,
    over_runs,
    side_by_side,
    traced_outcomes,
)
from ragauge.dashboard.pages.question_trace import Mark, reader_of
from ragauge.dashboard.rightness import outcome, right_means
from ragauge.dashboard.unit_list import SHORT, Ways, list_fields, unit_query
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Facts, Section, Span, Text, Words
from ragauge.reports.foreign import cut
from ragauge.reports.kinds.runs import when
from ragauge.text.canonical import composed

REPORTED = ("stability", "eval", "trace-eval")
"""Commands whose reports say more of a unit than its row does."""
POINTED_AT = {"target_section": "target", "anchor": "anchor", "decoy": "decoy"}
MOST = 50
"""Phrases, ids or wordings of gold that are shown of a list."""
NO_TEXTS = (
    "The run was recorded without texts (--no-keep-texts): answers, chunks and documents are not "
    "here, only the values."
)


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The unit that the address names, in one run."""
    pages, run, unit = material.pages, material.run(asked.needed("run")), asked.needed("unit")
    row = pages.unit(run, unit)
    if row is None:
        raise Missing(f'run {run.shown} has no unit "{unit[:80]}"')
    ways, record = Ways(run, unit, links, list_fields(asked)), run.record
    report = _report(material, run)
    held = pages.question(record.gold_sha256, unit) if record.gold_sha256 else None
    # What gold says of a component's unit is a hash: there is nothing to compare an answer with.
    gold = None if held and held.is_unit else held

    answered, reader = material.answered(run, unit), reader_of(run)
    answers, left_out = (answered.answers, answered.left_out) if answered else ([], 0)
    outcomes = traced_outcomes(report, unit)
    groups = grouped(answers, gold, reader, outcomes) if len(answers) > 1 else []
    is_sweep = bool(outcomes) or any(one.cell is not None for one in answers[:1])
    kept = _chosen(answers, asked, groups[0][0].place if groups and is_sweep else -1)
    place = None if kept is None else answers.index(kept)
    shown = shown_answer(kept, gold, reader) if kept else None
    references = _references(kept, gold)

    beside, other_text = list[Block](), ""
    if named := asked.text("with"):
        other, of_other = _beside(material, material.run(named), ways, gold, references)
        other_text, beside = (of_other.plain if of_other else ""), [other]
    against = next(iter(references.values()), other_text)
    question = _question(gold, row, kept)
    marks: dict[int, list[Mark]] = {}
    left: list[Block] = []
    if shown:
        support_blocks, marks = support(shown, question, run, row, report)
        left = [*support_blocks, *findings(shown, ways)]
        total = f"{numbers.count(len(answers))} answers"
        named_run = (
            [Span("run "), *doc.theirs(shown.trace.run_id), Span(", ")]
            if shown.trace.run_id
            else []
        )
        above = [Text([*named_run, Span("one of "), Span(total, to=("here", "side-by-side"))])]
        own: list[Block] = [*(above if groups else []), *answer(shown, gold, ways, against)]
    else:
        own = list(_without_texts(row, has_texts=answered is not None))
    if left_out:
        earlier = f"{numbers.counted(left_out, 'earlier answer')} not kept, for lack of room."
        own.insert(0, Text(earlier, "soft"))
    title = "Answer in this run" if beside else "Answer"
    pair: list[Block] = [Section(title=title, blocks=own), *beside]
    if references or held:
        texts: list[Block] = []
        for name, text in references.items():
            texts += [Text(name, "soft")] if len(references) > 1 else []
            texts.append(text_block(text, compared(shown.plain, text)[1] if shown else ()))
        expected, more = _gold(held, answers, ways) if held else ([], [])
        pair.append(Section(title="Reference", blocks=[*texts, *expected]))
        if more:
            left.insert(
                0, Section(title="More from the gold set", folded=True, blocks=[Facts(more)])
            )
    right: list[Block] = []
    if shown:
        right = [Section(title="Retrieved", blocks=list(retrieved(shown, marks, ways)))]
    if beside and of_other:
        inside = list(retrieved(of_other, {}, ways))
        right.append(Section(title="Retrieved in the other run", blocks=inside))
    is_scored = shown is not None and gold is not None and record.command == "score"
    facts = shown.read.facts if shown and is_scored else None
    blocks: list[Block] = list(_header(material, question, row, ways, asked))
    if groups:
        title = f"{'The last' if left_out else 'All'} {numbers.count(len(answers))} answers"
        blocks.append(side_by_side(groups, ways, place, f"{title} side by side"))
    both = [Section(title="", blocks=[Section(title="", blocks=pair, part="pair"), *left])]
    both += [Section(title="", blocks=right)] if right else []
    over = pages.over_runs(unit, run, LAST)
    made = values(run, row, report, unit, facts, links)
    others = len(record.metrics) - len(made.rows)
    remark = (
        f"{numbers.counted(others, 'metric')} of other tasks of the run left out" if others else ""
    )
    details = details_of(row)
    blocks += [
        Section(title="", blocks=both, part="split"),
        *errors(report, unit, row.right),
        *over_runs(over, ways, claim_of(row) or (shown.read.said if shown else "")),
        Section(title="Values", remark=remark, blocks=[made]),
    ]
    if details:
        known = [(name, doc.theirs(text)) for name, text in details]
        blocks.append(Section(title="Other details", blocks=[Facts(known)]))
    crumbs = (
        ("Runs", links.runs()),
        (run_names(run), links.run(run.id)),
        (ways.list_name, ways.back),
        (unit, None),
    )
    name = f"{cut(unit, SHORT)} · {record.name}"
    return Page(title=name, here="runs", blocks=blocks, links=links, crumbs=crumbs)


def _report(material: Material, run: Run) -> Any:
    return material.report(run) if run.record.command.startswith(REPORTED) else None


def _header(
    material: Material, question: str | None, row: UnitRow, ways: Ways, asked: Asked
) -> Iterator[Block]:
    """The question, how its answer ended, and the way to the next."""
    run, detail = ways.run, row.detail
    words, _, tone = outcome(row)
    ended = [Span(words, tone, foreign=True)]
    for name in ("triage", "broken"):
        said = detail.get(name)
        if isinstance(said, str) and said.lower() != (row.label or "").lower():
            ended += [Span(" · "), Span(said, "soft", foreign=True)]
    if row.right is not None:
        ended.append(Span(f" · correct means: {right_means(run.record.command)}", "soft"))
    id = cut(row.unit, SHORT)
    run_name = Span(run_names(run), foreign=True, href=ways.links.run(run.id) or "")
    told = f" ({run.record.command}, {when(run.record.recorded_at)} UTC)"
    kind = "question " if question else "unit "
    eyebrow = [Span(kind), Span(id, foreign=True), Span(" in "), run_name, Span(told)]
    agreements = agreements_of(row)
    over_its_runs = f"Over its runs: {agreements}." if agreements else ""
    yield parts.header(doc.theirs(question or id), ended, over_its_runs, eyebrow=eyebrow)
    if len(row.unit) > SHORT:
        yield Section(title="Full id", folded=True, blocks=[Text(doc.theirs(row.unit))])
    near = material.pages.beside(run, row.unit, unit_query(asked))
    ends = [(cut(one, SHORT // 2), ways.other(one)) if one else None for one in near]
    yield parts.macro("neighbours", ends[0], ways.back, ends[1], template="question.html")
    failed, explained = detail.get("failed"), detail.get("explained_by")
    facts: list[tuple[str, Words]] = [
        ("fails", doc.theirs(", ".join(map(str, failed)) if failed else "")),
        ("explained by", doc.theirs(str(explained) if explained else "")),
    ]
    yield Facts(facts)


def _question(gold: Gold | None, row: UnitRow, kept: KeptAnswer | None) -> str | None:
    """The question, as far as it is known."""
    given = row.detail.get("question")
    traced = (kept.trace.q or kept.trace.question_sent) if kept else None
    return gold.question if gold else traced or (given if isinstance(given, str) else None)


def _chosen(answers: Sequence[KeptAnswer], asked: Asked, usual: int) -> KeptAnswer | None:
    """The answer that is shown in full: the one that the address names, else the usual one."""
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
    return answers[usual]


def _references(kept: KeptAnswer | None, gold: Gold | None) -> dict[str, str]:
    """What a correct answer says, by what it is called, each text once."""
    given = {"reference answer": getattr(kept, "reference", None) or ""}
    if gold:
        given["gold answer"] = gold.gold_answer or ""
        given["gold claim"] = gold.gold_claim or ""
    texts = {text: name for name, text in reversed(given.items()) if text}
    return {name: text for text, name in reversed(texts.items())}


def _without_texts(row: UnitRow, *, has_texts: bool) -> Iterator[Block]:
    if has_texts:
        yield Text("The run has no answer to it.", "soft")
        return
    yield Text(NO_TEXTS, "soft")
    claim, cited = row.detail.get("claim"), row.detail.get("cited")
    yield Facts([
        ("claim", doc.theirs(str(claim) if claim else "")),
        ("cites", doc.theirs(", ".join(map(str, cited)) if cited else "")),
    ])  # fmt: skip


def _beside(
    material: Material, other: Run, ways: Ways, gold: Gold | None, references: Mapping[str, str]
) -> tuple[Section, ShownAnswer | None]:
    """The answer to the same unit in another run."""
    answers, row = material.answers(other, ways.unit), material.pages.unit(other, ways.unit)
    shown = shown_answer(answers[-1], gold, reader_of(other), "other-") if answers else None
    words, _, tone = outcome(row) if row else ("", "", "")
    name = Span(run_names(other), foreign=True, href=ways.in_run(other.id) or "")
    blocks: list[Block] = [Text([name, Span(" "), Span(words, tone, foreign=True)])]
    if shown:
        blocks += answer(shown, gold, ways, next(iter(references.values()), ""))
    elif row:
        claim = claim_of(row)
        blocks.append(Text("That run keeps no answer to it.", "soft"))
        blocks += [Text([Span("Its claim: "), *doc.theirs(claim)])] if claim else []
    else:
        blocks.append(Text("That run does not have it.", "soft"))
    return Section(title="Answer in another run", blocks=blocks), shown


def _gold(
    gold: Gold, answers: Sequence[KeptAnswer], ways: Ways
) -> tuple[list[Block], list[tuple[str, Words]]]:
    """What the gold set says that a correct answer has, and what else it says."""
    set_of = ways.links.gold(ways.run.record.gold_sha256 or "", q=gold.qid)
    strata = ((name, stratum_text(value)) for name, value in sorted(gold.strata.items()))
    slices = ", ".join(f"{name} {text}" for name, text in strata if text is not None)
    more: list[tuple[str, Words]] = [
        ("strata", doc.theirs(slices)),
        ("gold set", [Span("this question in the gold set", href=set_of)] if set_of else ""),
    ]
    if gold.is_unit:
        return [Text("The run keeps only a hash of the gold.", "soft")], more

    def several(texts: Sequence[str], between: str = "; ") -> Words:
        return doc.theirs(between.join(texts[:MOST]))

    refuses = Text("The question cannot be answered: a correct answer refuses.")
    expected: list[tuple[str, Words]] = [
        ("must contain", several([f"“{text}”" for text in gold.gold_claim_substr], " or ")),
        ("must cite", several(gold.gold_citations, " or ")),
        ("must repeat", several(gold.constraints)),
    ]
    # A span without a revision is opened in the revision that was retrieved.
    revs: dict[str, str] = {}
    for chunk in (chunk for one in answers for chunk in one.trace.retrieved or ()):
        doc_id, rev = chunk.get("doc_id"), chunk.get("rev")
        if isinstance(doc_id, str) and isinstance(rev, str) and rev:
            revs.setdefault(composed(doc_id), rev)
    for field, name in POINTED_AT.items():
        if span := getattr(gold, field):
            known = span.rev or revs.get(composed(span.doc_id))
            there = Offsets(span.start, span.end) if 0 <= span.start < span.end else None
            href = ways.document(span.doc_id, known, there) if known else None
            where = f" {span.section_id}, characters {span.start}–{span.end}"
            link = Span(span.doc_id, foreign=True, href=href or "")
            more.append((name, [link, Span(where, "soft", foreign=True)]))
    more += [
        ("weight", "" if gold.weight is None else f"{gold.weight:g}"),
        ("paraphrases", several(gold.paraphrases, " / ")),
    ]
    return [*([] if gold.answerable else [refuses]), Facts(expected)], more
