"""The report of `ragauge audit`: which citations hold, what is wrong with the others, and where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AuditCoverage,
    AuditedAnswer,
    AuditFinding,
    AuditReport,
    CodeCount,
)
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.reports import document as doc
from ragauge.reports import envelope
from ragauge.reports.document import (
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Item,
    Items,
    Only,
    Span,
    Table,
    Text,
    names,
)
from ragauge.reports.foreign import shown
from ragauge.reports.formats import github, junit, sarif
from ragauge.reports.numbers import ABSENT, count, counted

Audited = AuditReport | TraceEvalReport

DEPTHS_ASK = {
    "marker": "every cited id was retrieved",
    "payload": "every payload is complete and consistent",
    "text": "the text is where the offsets say",
    "support": "the cited text supports what is said, by its words",
}
POINTER_HOLDS = frozenset(
    {
        "missing_score",
        "missing_k_pos",
        "missing_k_final",
        "cite_after_answer",
        "duplicate_citation",
        "bad_order",
    }
)
"""Codes that leave no doubt where a citation points: warnings, where the others are errors."""
PLACES_ON_A_PAGE = 25
ANSWERS_SHOWN, ANSWERS_ON_A_PAGE = 20, 200
"""A page with more would be slow to scroll."""
_QUOTED_OBJECT = re.compile(r'"(\{\\"(?:[^"\\]|\\.)*\})"')
_ESCAPED = re.compile(r'\\(["\\])')


def document(report: AuditReport) -> Document:
    return Document("audit", list(_blocks(report)))


def cases(report: AuditReport) -> Iterator[junit.Suite]:
    """A suite of gates and one of answers.

    The gates alone decide: in an audit that passed, no answer turns CI red.
    """
    yield junit.gate_suite(report.gates)
    times = Counter(map(_name, report.answers))
    found = _by_answer(report)
    yield junit.Suite(
        "answers",
        (
            junit.Case(
                _name(row) if times[_name(row)] == 1 else f"{_name(row)} ({row.where})",
                None
                if row.code == OK
                else _problem(row, found.get((row.where, row.qid), ()), report.passed),
            )
            for row in report.answers
        ),
    )


def _problem(row: AuditedAnswer, found: Sequence[AuditFinding], passed: bool) -> junit.Problem:
    more = row.findings - len(found)
    return junit.Problem(
        "skipped" if passed else "error" if row.kind == "error" else "failure",
        ", ".join(dict.fromkeys([row.code, *(finding.code for finding in found)])),
        row.code,
        (
            *junit.facts({"cited": ", ".join(row.cited), "where": row.where}),
            *(f"{finding.code}: {finding.message}" for finding in found),
            *([f"and {more} more"] if more > 0 else []),
        ),
    )


def notes(report: AuditReport) -> Iterator[github.Notes]:
    """The verdict, the gates that stop the run, and the answers that failed, on their lines."""
    word, words = verdict_words(report)
    yield github.Notes([github.Note("notice", words, f"Ragauge audit {word}")])
    yield github.stopping_gates(report.gates)
    kept = _by_answer(report)

    def note(row: AuditedAnswer) -> github.Note:
        found = kept.get((row.where, row.qid), ())
        lines = [github.cut(finding.message) for finding in found]
        lines += dict.fromkeys(f"→ {finding.tip}" for finding in found if finding.tip)
        where = row.where if sarif.line_of(row.where) else ""
        message = lines if any(lines) else row.code
        return github.Note("warning", message, f"{row.code} {_name(row)}", where)

    yield github.Notes(
        map(note, wrong_answers(report, github.SHOWN)), "answer", len(wrong_answers(report))
    )


def results(report: AuditReport) -> sarif.Run:
    """A rule for each code that occurs, a result for each place that is kept."""
    codes = {one.code: one for one in report.codes}
    others = sorted({*report.finding_counts, *(one.code for one in report.findings)} - {*codes})
    kept = Counter(finding.code for finding in report.findings)
    return sarif.Run(
        rules=[*map(_rule, report.codes), *map(_input_rule, others)],
        results=[_result(finding, codes.get(finding.code)) for finding in report.findings],
        properties={
            "pass": report.passed,
            "depth": report.depth,
            "answers": report.coverage.audited - report.coverage.refusals,
            "findings": {shown(code): times for code, times in report.finding_counts.items()},
            "notShown": {
                shown(code): times - kept[code]
                for code, times in report.finding_counts.items()
                if times > kept[code]
            },
        },
    )


def _rule(one: CodeCount) -> sarif.Rule:
    return sarif.Rule(
        id=one.code,
        level="warning" if one.code in POINTER_HOLDS else "error",
        summary=one.means,
        details=f"{one.means} Found at the depth {one.depth}: {DEPTHS_ASK[one.depth]}.",
        help=one.tip,
        properties={"depth": one.depth, "tags": ["citation", one.depth]},
    )


def _input_rule(code: str) -> sarif.Rule:
    words = f"{code.replace('_', ' ')}: not about a citation, but about what was read."
    return sarif.Rule(
        id=code,
        level="warning",
        summary=words,
        details=words,
        help="Read the message: it names the place and the fact.",
        properties={"tags": ["input"]},
    )


def _result(finding: AuditFinding, one: CodeCount | None) -> sarif.Result:
    """The message with its question; with the next step where it says more than the rule's."""
    words = finding.message if finding.qid is None else f"{finding.qid}: {finding.message}"
    own = finding.tip and (one is None or finding.tip != one.tip)
    about = finding.message if finding.qid is None else finding.qid
    return sarif.Result(
        rule=finding.code,
        message=f"{words} → {finding.tip}" if own else words,
        where=finding.where,
        same=(about, finding.code, finding.field, finding.segment, finding.item),
    )


def _blocks(report: AuditReport) -> Iterator[Block]:
    coverage, wrong = report.coverage, len(wrong_answers(report))
    outcomes: list[tuple[str, str, int, doc.Tone]] = [
        ("ok", "hold", max(0, coverage.audited - coverage.refusals - wrong), "good"),
        ("refusal_ok", "refusals, which need no citation", coverage.refusals, "good"),
        ("no_hit", "do not hold", wrong, "bad"),
        ("error", "errors, not audited", coverage.errors, "bad"),
    ]
    yield doc.Verdict(*verdict_words(report))
    yield Bars(
        title="Traces", heads=("outcome", "traces"), bars=[one for one in outcomes if one[2]]
    )
    yield from doc.gates(report.gates, report.metrics, metric_names(report))
    yield codes(report)
    yield _depths(report)
    yield from _answers(report)
    yield from rest(report)
    yield doc.Coverage(coverage_words(coverage), report.identity)


def verdict_words(report: AuditReport) -> tuple[str, str]:
    """PASS or FAIL, and how many answers do not hold: the gates follow in a table."""
    return "PASS" if report.passed else "FAIL", _held(report)


def _held(report: AuditReport) -> str:
    coverage = report.coverage
    answers = coverage.audited - coverage.refusals
    if not answers:
        refusals = f", only {counted(coverage.refusals, 'refusal')}" if coverage.refusals else ""
        return f"no answer was audited{refusals}"
    wrong = len(wrong_answers(report))
    have = "has" if (wrong or answers) == 1 else "have"
    words = f"{count(wrong or answers)} of {counted(answers, 'answer')} {have} citations that"
    if not wrong:
        stopping = ", ".join(gate.metric for gate in report.gates if not gate.holds)
        words = f"{words} hold, at depth {report.depth}"
        return f"{words}; not so: {stopping}" if stopping else words
    # Answers that do not hold come first: one that holds shows that all of them are listed.
    listed = len(report.answers) >= answers or any(row.code == OK for row in report.answers)
    words = f"{'' if listed else 'at least '}{words} do not hold"
    if not report.passed:
        return words
    return f"{words}, and {'the gates allow it' if report.gates else 'no gate checks this'}"


def metric_names(report: Audited) -> dict[str, str]:
    gated = (gate.metric for gate in report.gates)
    return envelope.short_names(dict.fromkeys((*report.metrics, *gated)))


def codes(report: Audited, remark: str = "the worst first") -> Items:
    """Each code that was found: what it means, the next step, and the first places."""
    places: dict[str, list[AuditFinding]] = {one.code: [] for one in report.codes}
    for finding in report.findings:
        if finding.code in places:
            places[finding.code].append(finding)
    return Items(
        title="Codes",
        remark=remark,
        part="codes",
        shown=len(report.codes),
        items=[
            Item(
                name=one.code,
                badge=(
                    "warned" if one.code in POINTER_HOLDS else "no_hit",
                    counted(one.answers, "answer"),
                    "warm" if one.code in POINTER_HOLDS else "bad",
                ),
                aside=f"{counted(one.findings, 'finding')}, depth {one.depth}",
                blocks=[
                    Text(one.means),
                    Text(f"→ {one.tip}", "plain"),
                    Only(
                        frozenset({"text", "markdown"}),
                        [_places(one, places[one.code][: envelope.PLACES_SHOWN])],
                    ),
                    doc.on_pages(_places(one, places[one.code][:PLACES_ON_A_PAGE])),
                ],
                opened=not place,
                to=("code", one.code),
            )
            for place, one in enumerate(report.codes)
        ],
    )


def _places(one: CodeCount, found: Sequence[AuditFinding]) -> Facts:
    lines: list[tuple[str, doc.Words]] = [("", _place(finding)) for finding in found]
    more = one.findings - len(found)
    return Facts([*lines, ("", f"and {count(more)} more")] if lines and more > 0 else lines)


def _place(finding: AuditFinding) -> list[Span]:
    """A finding in a line: its place, its question, and what was found."""
    made = []
    if finding.where and not finding.message.startswith(f"{finding.where}:"):
        made.append(Span(f"{finding.where} ", "dim", foreign=True))
    if finding.qid is not None:
        about: doc.Target = ("question", finding.qid)
        made.append(Span(f"{finding.qid} ", "strong", foreign=True, to=about))
    return [*made, Span(without_escapes(finding.message), foreign=True)]


def without_escapes(message: str) -> str:
    r"""What was found, with an object in quotation marks as the object that it is.

    >>> without_escapes(r'offsets: "{\"end\":7}", expected "{\"end\":9}"')
    'offsets: {"end":7}, expected {"end":9}'
    """
    return _QUOTED_OBJECT.sub(lambda found: _ESCAPED.sub(r"\1", found[1]), message)


def _depths(report: AuditReport) -> Table:
    def why(depth: str) -> str:
        if depth not in report.depths:
            return f"not checked; use --depth {depth}"
        return DEPTHS_ASK[depth] if report.depths[depth].checked else "nothing to check"

    def held(depth: str) -> tuple[int, int]:
        one = report.depths.get(depth)
        return (one.ok, one.checked) if one else (0, 0)

    def drawn(ok: int, checked: int) -> Cell:
        tone: doc.Tone = "good" if ok == checked else "warm"
        return doc.plot(Bar(ok / checked, tone) if checked else None)

    return doc.table(
        DEPTHS,
        {
            "depth": Cell,
            Column("check", spare=1): lambda depth: Cell(why(depth), tone="dim"),
            "answers": lambda depth: doc.n_of(*held(depth)),
            "fraction": lambda depth: doc.share(*held(depth)),
            Column("", plot=True): lambda depth: drawn(*held(depth)),
        },
        title="Depths",
        remark="how many answers hold in each",
        part="depths",
    )


def wrong_answers(report: AuditReport, most: int | None = None) -> list[AuditedAnswer]:
    """The answers that do not hold; where only some are shown, some of each code."""
    wrong = [row for row in report.answers if row.code != OK]
    if most is None:
        return wrong
    ranks = {one.code: place for place, one in enumerate(report.codes)}
    ranked = sorted(wrong, key=lambda row: (ranks.get(row.code, len(ranks)), row.code))
    groups = [list(rows) for _, rows in groupby(ranked, key=lambda row: row.code)]
    return envelope.some_of_each(groups, most)


def _answers(report: AuditReport) -> Iterator[Only]:
    """A terminal shows the places of the codes instead."""
    wrong = wrong_answers(report, ANSWERS_ON_A_PAGE)
    if not wrong:
        return
    covered = any(row.coverage is not None for row in wrong)
    table = Table(
        title="Answers that do not hold",
        columns=doc.columns(
            *("question", "worst code", "findings", "cited"),
            *(("coverage", "where") if covered else ("where",)),
            right=("findings", "coverage"),
            spare=("where", "findings", "coverage"),
        ),
        rows=doc.rows(
            [
                names(row.qid or "", "strong", ("question", row.qid) if row.qid else None),
                Cell(
                    row.code,
                    foreign=True,
                    badge="warned" if row.code in POINTER_HOLDS else "no_hit",
                ),
                doc.count(row.findings, "dim"),
                names(" ".join(row.cited) or ABSENT),
                *([doc.number(row.coverage)] if covered else []),
                names(row.where, "dim"),
            ]
            for row in wrong
        ),
        shown=ANSWERS_SHOWN,
        total=len(wrong_answers(report)),
        folded=True,
    )
    yield Only(frozenset({"html", "markdown"}), [table])


def rest(report: Audited) -> Iterator[Block]:
    """What every report about citations ends with: advice, the other metrics and findings."""
    yield doc.Advices(report.advice)
    gated = {gate.metric for gate in report.gates}
    others = {id: score for id, score in report.metrics.items() if id not in gated}
    if others:
        title = "Other metrics" if report.gates else "Metrics"
        yield doc.scores(others, metric_names(report), title=title)
    known = {one.code for one in report.codes}
    counts = {code: times for code, times in report.finding_counts.items() if code not in known}
    yield doc.Findings(envelope.findings_by_code(report.findings, counts))
    yield from doc.glossary(report.metrics, metric_names(report))


def _by_answer(report: AuditReport) -> dict[tuple[str, str | None], list[AuditFinding]]:
    """The findings that are kept, by the place and the question of their answer."""
    found: dict[tuple[str, str | None], list[AuditFinding]] = {}
    for finding in report.findings:
        found.setdefault((finding.where, finding.qid), []).append(finding)
    return found


def _name(row: AuditedAnswer) -> str:
    return row.qid if row.qid is not None else row.where


def coverage_words(coverage: AuditCoverage) -> str:
    """How much was audited, in one line; what is zero is left out."""
    missing, compared = coverage.missing or 0, coverage.compared
    return doc.listed(
        f"{count(coverage.audited)} of {counted(coverage.traces, 'trace')} audited",
        counted(coverage.audited - coverage.refusals, "answer"),
        coverage.refusals and counted(coverage.refusals, "refusal"),
        counted(coverage.citations, "citation"),
        coverage.errors and counted(coverage.errors, "error"),
        missing
        and f"{count(missing)} of {counted(coverage.gold or 0, 'gold question')} without a trace",
        coverage.unknown and f"{count(coverage.unknown)} of unknown questions",
        coverage.rejected and counted(coverage.rejected, "rejected line"),
        coverage.gold is None and "no gold set to match against",
        "no manifest of the live index to compare with"
        if compared is None
        else f"compared with the live index: {', '.join(compared) or 'nothing'}",
    )
