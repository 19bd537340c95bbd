"""JUnit XML for CI servers: a suite of gates, and one of what was evaluated, such as queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from msgspec import Struct

from ragauge.contracts.evaluation import (
    AnswerDetail,
    AnswerScored,
    EntityDetail,
    EvalReport,
    LabelDetail,
    LinkDetail,
    QueryRow,
    RankingDetail,
)
from ragauge.reports import numbers, testsuites
from ragauge.reports.evaluation import entities, links, support
from ragauge.reports.evaluation.errors import ToldError, kind_word
from ragauge.reports.evaluation.families import FAMILY
from ragauge.reports.evaluation.measures import Ranking, ranking, value_of
from ragauge.reports.evaluation.spans import plain
from ragauge.reports.evaluation.support import ToldAnswer, ToldSentence
from ragauge.reports.evaluation.tables import column_name, is_rate
from ragauge.reports.foreign import shown

LINES_SHOWN = 20
DEPTH = 10
"""A query fails that has nothing relevant up to this rank."""


class Case(Struct, frozen=True, kw_only=True):
    """A type, a label, a mention, a query or an answer: right where there is no message."""

    name: str
    message: str = ""
    lines: tuple[str, ...] = ()
    kind: str = "failure"


def render(report: EvalReport) -> str:
    """The XML document."""
    root = testsuites.document()
    add(root, report)
    return testsuites.written(root)


def add(root: ET.Element, report: EvalReport, of: str = "") -> None:
    """The suites of one evaluation; `of` names the task where there are several."""
    gates = testsuites.suite(root, f"gates{of}")
    for gate in report.gates:
        testsuites.add_gate(gates, gate)
    what, cases = _cases(report)
    suite = testsuites.suite(root, f"{what}{of}")
    for case in cases:
        _add_case(suite, what, case, report.passed is not False)


def _add_case(suite: ET.Element, what: str, case: Case, passed: bool) -> None:
    """A test case. The gates alone decide: in a run that passed, nothing turns CI red."""
    made = testsuites.case(suite, what, case.name)
    if not case.message:
        return
    kind = "skipped" if passed else case.kind
    found = ET.SubElement(made, kind, message=shown(case.message))
    found.text = "\n".join(shown(line) for line in case.lines)


def _cases(report: EvalReport) -> tuple[str, Iterator[Case]]:
    match report.detail:
        case EntityDetail() as detail:
            return "types", _types(report, detail)
        case LabelDetail() as detail:
            return "labels", _labels(detail)
        case LinkDetail() as detail:
            return "mentions", _mentions(detail)
        case RankingDetail() as detail:
            by = ranking(report)
            return "queries", (_query(row, by) for row in detail.queries)
        case AnswerDetail() as detail:
            return "answers", _answers(detail)


def _types(report: EvalReport, detail: EntityDetail) -> Iterator[Case]:
    """Each type with the errors of it that are kept; a rate below 1 fails even without them."""
    browser = entities.browser(detail)
    found: dict[str, list[ToldError]] = {type: [] for type in report.per_type}
    for error in browser.errors:
        found.setdefault(error.type, []).append(error)
    for type, errors in sorted(found.items()):
        kinds = Counter(kind_word(error.kind) for error in errors)
        short = [
            f"{column_name(name)} {numbers.value(value)}"
            for name, value in report.per_type.get(type, {}).items()
            if is_rate(name) and value is not None and value < 1
        ]
        told = [f"{times} {kind}" for kind, times in sorted(kinds.items())]
        lines = tuple(map(_line, errors[:LINES_SHOWN]))
        yield Case(name=type, message=", ".join([*sorted(short), *told]), lines=lines)


def _line(error: ToldError) -> str:
    facts = ", ".join(f"{name} {told}" for name, told in error.facts)
    return f"{error.where}: {kind_word(error.kind)}: {plain(error.pieces)} ({facts})"


def _labels(detail: LabelDetail) -> Iterator[Case]:
    for row, label in enumerate(detail.labels):
        counts = detail.matrix[row]
        total = sum(counts)
        if not total:
            continue
        taken = [one for one in detail.confusions if one.gold == label]
        lines = [f"for {one.predicted}: {one.count} ({' '.join(one.examples)})" for one in taken]
        wrong = numbers.n_of(total - counts[row], total)
        message = f"{wrong} taken for another label" if counts[row] < total else ""
        yield Case(name=label, message=message, lines=tuple(lines[:LINES_SHOWN]))


def _mentions(detail: LinkDetail) -> Iterator[Case]:
    """The mentions that were linked wrongly; of the others a report keeps no record."""
    browser = links.browser(detail)
    for error in browser.errors:
        kind = "error" if error.kind == "missing" else "failure"
        message = browser.kinds[error.kind]
        yield Case(name=error.name, message=message, lines=(_line(error),), kind=kind)


def _query(row: QueryRow, by: Ranking | None) -> Case:
    if not row.relevant:
        return Case(name=row.query, message="no relevant document is judged", kind="skipped")
    if row.first_relevant is not None and row.first_relevant <= DEPTH:
        return Case(name=row.query)
    found = numbers.n_of(row.relevant_retrieved, row.relevant)
    first = "none" if row.first_relevant is None else f"at rank {row.first_relevant}"
    return Case(
        name=row.query,
        message=f"no relevant document up to rank {DEPTH}",
        lines=(
            f"first relevant: {first}",
            f"found: {found}, of {numbers.count(row.retrieved)} retrieved",
            *([f"{by.title}: {numbers.value(value_of(row, by.name))}"] if by else []),
        ),
    )


def _answers(detail: AnswerDetail) -> Iterator[Case]:
    """A case an answer; the worst fail with their sentences, the others with their reasons."""
    told = {one.id: one for one in support.answers(detail)}
    for one in detail.answers:
        case = _answer(told[one.id]) if one.id in told else Case(name=one.id)
        yield case if case.message else _scored(one)


def _scored(one: AnswerScored) -> Case:
    if one.answer is None:
        return Case(name=one.id, message="no answer", kind="error")
    if one.right:
        return Case(name=one.id)
    if one.right is None:
        fact = "nothing that was measured tells whether it is right"
        return Case(name=one.id, message=fact, kind="skipped")
    lines = [
        f"{id.removeprefix(FAMILY)} {numbers.value(one.values.get(id))}: {reason}"
        for id, reason in sorted(one.reasons.items())
        if one.values.get(id) is not None
    ]
    return Case(name=one.id, message="is not right", lines=tuple(lines[:LINES_SHOWN]))


def _answer(one: ToldAnswer) -> Case:
    """An answer fails with a sentence that no context supports."""
    bare = [sentence for sentence in one.sentences if sentence.level == support.NONE]
    if not bare:
        return Case(name=one.id)
    told = numbers.n_of(len(bare), len(one.sentences))
    return Case(
        name=one.id,
        message=f"{one.by} {numbers.value(one.value)}: {told} sentences not supported",
        lines=tuple(map(_sentence, bare[:LINES_SHOWN])),
    )


def _sentence(one: ToldSentence) -> str:
    text = "".join(piece for piece, _ in one.pieces)
    nearest = f"; nearest: {one.evidence.chunk}" if one.evidence else ""
    missing = f"; not in the contexts: {one.missing_words}" if one.missing else ""
    return f"{one.level.mark} {one.value} {text}{missing}{nearest}"
