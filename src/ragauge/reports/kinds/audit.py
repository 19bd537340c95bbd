"""The report of `ragauge audit`: which citations hold, what is wrong with the others, and where."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AuditedAnswer,
    AuditFinding,
    AuditReport,
    CodeCount,
    DepthCount,
)
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.metrics.worst_first import wrong_answers
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, fact_lines, gate_suite
from ragauge.reports.document import Bar, Bars, Block, Cell, Column, Document, Span, Text
from ragauge.reports.formats import sarif
from ragauge.reports.phrasing import count, pluralize
from ragauge.text.visible import shown

Audited = AuditReport | TraceEvalReport

DEPTHS_ASK = {
    "marker": "every cited id was retrieved",
    "payload": "every payload is complete and consistent",
    "text": "the text is where the offsets say",
    "support": "the cited text supports what is said, by its words",
}
POINTER_HOLDS = frozenset(
    {"missing_score", "missing_k_pos", "missing_k_final"}
    | {"cite_after_answer", "duplicate_citation", "bad_order"}
)
"""Codes that do not affect where a citation points: warnings, while the others are errors."""
PLACES_ON_A_PAGE = 100
_QUOTED_OBJECT = re.compile(r'"(\{\\"(?:[^"\\]|\\.)*\})"')
_ESCAPED = re.compile(r'\\(["\\])')


def document(report: AuditReport) -> Document:
    return Document("audit", list(_blocks(report)))


def cases(report: AuditReport) -> Iterator[Suite]:
    kept: dict[tuple[str, str | None], list[AuditFinding]] = defaultdict(list)
    for finding in report.findings:
        kept[finding.where, finding.qid].append(finding)

    def case(row: AuditedAnswer) -> Case:
        name = row.where if row.qid is None else row.qid
        if row.code == OK:
            return Case(name, where=row.where)
        found = kept[row.where, row.qid]
        first, *others = [f"{one.code}: {one.message}" for one in found] or [row.code]
        if row.findings > len(found):
            others.append(f"and {count(row.findings - len(found))} more")
        tips = dict.fromkeys(f"→ {one.tip}" for one in found if one.tip)
        lines = [*others, *tips, *fact_lines({"cited": ", ".join(row.cited)})]
        kind: Literal["error", "failure"] = "error" if row.kind == "error" else "failure"
        return Case(name, first, lines, kind, row.code, row.where)

    yield gate_suite(report.gates)
    worst = [one.code for one in report.codes]
    yield Suite("answers", map(case, report.answers), decides=False, worst=worst)


def results(report: AuditReport) -> sarif.Run:
    """A rule for each code that occurs, a result for each place that is kept."""
    codes = {one.code: one for one in report.codes}
    kept = Counter(finding.code for finding in report.findings)
    rules = [
        sarif.Rule(
            id=one.code,
            level="warning" if one.code in POINTER_HOLDS else "error",
            summary=one.means,
            details=f"{one.means} Found at the depth {one.depth}: {DEPTHS_ASK[one.depth]}.",
            help=one.tip,
            properties={"depth": one.depth, "tags": ["citation", one.depth]},
        )
        for one in report.codes
    ]
    for code in sorted({*report.finding_counts, *kept} - {*codes}):
        summary = f"{code.replace('_', ' ')}: not about a citation, but about what was read."
        tip, tags = "Read the message: it names the place and the fact.", {"tags": ["input"]}
        rule = sarif.Rule(
            id=code, level="warning", summary=summary, details=summary, help=tip, properties=tags
        )
        rules.append(rule)

    def result(finding: AuditFinding) -> sarif.Result:
        """The message with its question, and with the next step if that differs from the rule's."""
        message = doc.listed(finding.qid, finding.message, sep=": ")
        one = codes.get(finding.code)
        own = finding.tip and (one is None or finding.tip != one.tip)
        about = finding.message if finding.qid is None else finding.qid
        return sarif.Result(
            rule=finding.code,
            message=f"{message} → {finding.tip}" if own else message,
            where=finding.where,
            same=(about, finding.code, finding.field, finding.segment, finding.item),
        )

    counts = report.finding_counts
    hidden = {shown(code): n - kept[code] for code, n in counts.items() if n > kept[code]}
    return sarif.Run(
        rules=rules,
        results=list(map(result, report.findings)),
        properties={
            "pass": report.passed,
            "depth": report.depth,
            "answers": report.coverage.audited - report.coverage.refusals,
            "findings": {shown(code): times for code, times in counts.items()},
            "notShown": hidden,
        },
    )


def _blocks(report: AuditReport) -> Iterator[Block]:
    covered, wrong = report.coverage, len(wrong_answers(report))
    answers = covered.audited - covered.refusals
    outcomes: list[tuple[str, str, int, doc.Tone]] = [
        ("ok", "hold", max(0, answers - wrong), "good"),
        ("refusal_ok", "refusals, which need no citation", covered.refusals, "good"),
        ("no_hit", "do not hold", wrong, "bad"),
        ("error", "errors, not audited", covered.errors, "bad"),
    ]
    bars = [one for one in outcomes if one[2]]
    yield doc.Verdict(*verdict_text(report))
    yield Bars(title="Traces", heads=("outcome", "traces", "fraction"), bars=bars)
    yield from doc.gates(report.gates, report.metrics, phrasing.metric_names(report))
    yield codes(report)
    counts = {depth: report.depths.get(depth, DepthCount(checked=0, ok=0)) for depth in DEPTHS}

    def check(depth: str) -> Cell:
        if depth not in report.depths:
            return Cell(f"not checked; use --depth {depth}", tone="dim")
        text = DEPTHS_ASK[depth] if report.depths[depth].checked else "nothing to check"
        return Cell(text, tone="dim")

    yield doc.table(
        counts.items(),
        {
            "depth": lambda pair: Cell(pair[0]),
            Column("check", spare=1): lambda pair: check(pair[0]),
            "answers": lambda pair: doc.n_of(pair[1].ok, pair[1].checked),
            "fraction": lambda pair: doc.percent(pair[1].ok, pair[1].checked),
            Column("", plot=True): lambda pair: doc.plot(
                Bar(pair[1].ok / pair[1].checked) if pair[1].checked else None
            ),
        },
        title="Depths",
        remark="how many answers hold in each",
        part="depths",
    )
    yield from rest(report)
    compared = ", ".join(covered.compared or ())
    coverage = doc.listed(
        f"{count(covered.audited)} of {pluralize(covered.traces, 'trace')} audited",
        pluralize(answers, "answer"),
        covered.refusals and pluralize(covered.refusals, "refusal"),
        pluralize(covered.citations, "citation"),
        covered.errors and pluralize(covered.errors, "error"),
        covered.missing and f"{pluralize(covered.missing, 'gold question')} without a trace",
        covered.unknown and f"{count(covered.unknown)} of unknown questions",
        covered.rejected and pluralize(covered.rejected, "rejected line"),
        bool(compared) and f"compared with the live index: {compared}",
    )
    yield doc.coverage(coverage, report.identity)


def verdict_text(report: AuditReport) -> tuple[str, str]:
    """PASS or FAIL, and how many answers do not hold: the gates follow in a table."""
    word = "PASS" if report.passed else "FAIL"
    wrong, refusals = len(wrong_answers(report)), report.coverage.refusals
    answers = report.coverage.audited - refusals
    if not answers:
        only = f", only {pluralize(refusals, 'refusal')}" if refusals else ""
        return word, f"no answer was audited{only}"
    have = "has" if (wrong or answers) == 1 else "have"
    text = f"{count(wrong or answers)} of {pluralize(answers, 'answer')} {have} citations that"
    if not wrong:
        stopping = ", ".join(gate.metric for gate in report.gates if not gate.holds)
        text = f"{text} hold, at depth {report.depth}"
        return word, doc.listed(text, stopping and f"not so: {stopping}", sep="; ")
    # Answers that do not hold come first: one that holds shows that all of them are listed.
    listed = len(report.answers) >= answers or any(row.code == OK for row in report.answers)
    text = f"{'' if listed else 'at least '}{text} do not hold"
    allowed = "the gates allow it" if report.gates else "no gate checks this"
    return word, f"{text}, and {allowed}" if report.passed else text


def codes(report: Audited) -> doc.Items:
    """Each code that was found: what it means, the next step, and the first places."""

    def places(one: CodeCount, most: int) -> doc.Facts:
        found = [finding for finding in report.findings if finding.code == one.code][:most]
        lines: list[tuple[str, doc.Inline]] = [("", _place(finding)) for finding in found]
        more = f"and {count(one.findings - len(found))} more" if one.findings > len(found) else ""
        return doc.Facts([*lines, ("", more)] if found else [])

    return doc.Items(
        title="Codes",
        remark="the worst first",
        part="codes",
        shown=len(report.codes),
        items=[
            doc.Item(
                name=one.code,
                badge=(
                    "warned" if one.code in POINTER_HOLDS else "no_hit",
                    pluralize(one.answers, "answer"),
                    "warm" if one.code in POINTER_HOLDS else "bad",
                ),
                aside=f"{pluralize(one.findings, 'finding')}, depth {one.depth}",
                blocks=[
                    Text(one.means),
                    Text(f"→ {one.tip}", "plain"),
                    doc.Only(frozenset({"text", "markdown"}), [places(one, phrasing.PLACES_SHOWN)]),
                    doc.on_pages(places(one, PLACES_ON_A_PAGE)),
                ],
                opened=not at,
                to=("code", one.code),
            )
            for at, one in enumerate(report.codes)
        ],
    )


def _place(finding: AuditFinding) -> Sequence[Span]:
    """A finding in a line: its place, its question, and what was found."""
    given = finding.where and not finding.message.startswith(f"{finding.where}:")
    where = Span(f"{finding.where} " if given else "", "dim", foreign=True)
    about: doc.Target | None = ("question", finding.qid) if finding.qid else None
    question = Span(f"{finding.qid} " if finding.qid else "", "strong", foreign=True, to=about)
    # An object in quotation marks is shown as the object that it is.
    message = _QUOTED_OBJECT.sub(lambda it: _ESCAPED.sub(r"\1", it[1]), finding.message)
    return [one for one in (where, question, Span(message, foreign=True)) if one.text]


def rest(report: Audited) -> Iterator[Block]:
    """The end of every report about citations: advice, the other metrics and findings."""
    yield from doc.advice(report.advice)
    shown_names = phrasing.metric_names(report)
    yield from doc.other_scores(report, shown_names)
    known = {one.code for one in report.codes}
    counts = {code: times for code, times in report.finding_counts.items() if code not in known}
    yield doc.Findings(phrasing.findings_by_code(report.findings, counts))
    yield from doc.glossary(report.metrics, shown_names)
