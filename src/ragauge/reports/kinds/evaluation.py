"""The report of `ragauge eval ner|types|linking|retrieval|qa|answers`: one task in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import structs

from ragauge.contracts.evaluation import (
    AnswerDetail,
    EntityDetail,
    EvalReport,
    LabelDetail,
    LinkDetail,
    LinkError,
    QueryRow,
    RankingDetail,
    Task,
)
from ragauge.contracts.report import Score
from ragauge.metrics.names import HEADLINES, VERDICT_NAMES, leading
from ragauge.metrics.worst_first import ranking, requested
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, gate_suite
from ragauge.reports.document import Block, Document
from ragauge.reports.kinds import evaluation_answers as answers
from ragauge.reports.kinds import evaluation_rankings as rankings
from ragauge.reports.kinds import evaluation_tables as tables
from ragauge.reports.phrasing import count

UNITS: dict[Task, str] = {
    "ner": "documents",
    "types": "items",
    "linking": "mentions",
    "retrieval": "queries",
    "qa": "questions",
    "answers": "answers",
}
SHOWN: dict[Task, tuple[str, ...]] = {
    "ner": (
        *("f1_strict", "precision_strict", "recall_strict", "f1_partial", "precision_partial"),
        *("recall_partial", "f1_strict_macro", "f1_partial_macro", "f1_strict_macro_doc"),
        *("f1_partial_macro_doc", "token_f1", "coverage"),
    ),
    "types": (
        *("accuracy", "accuracy_lenient", "macro_f1", "weighted_f1", "macro_f1_all"),
        *("category_accuracy", "category_gap", "hierarchical_f1", "coverage"),
    ),
    "linking": (
        *("hits@1", "hits@5", "hits@10", "mrr", "accuracy", "nil_f1", "strong_f1", "weak_f1"),
        *("hipe_f1@1", "hipe_f1@3", "hipe_f1@5", "consistency", "coverage"),
    ),
    "retrieval": (
        *("ndcg@10", "ndcg_exp@10", "p@10", "recall@10", "rr", "ap", "bpref", "judged@10"),
        *("unjudged@10", "coverage"),
    ),
}
"""The metrics that a terminal shows, in this order; for answers, it shows all chosen ones."""
COVERAGE_WORDS = {
    "in_kb": "in the knowledge base",
    "nil": "NIL",
    "missing": "without a prediction",
    "unknown": "predicted and not in gold",
    "no_relevant": "without a relevant document",
    "unlabelled": "without a gold label",
}
DEPTH = 10
"""A query fails that has nothing relevant up to this rank."""
LINES_SHOWN = 20


def document(report: EvalReport) -> Document:
    headline = HEADLINES[f"eval {report.task}"].first[0].partition(".")[2]
    hint = phrasing.how_to_gate(report.passed, f"--preset heritage or --gates '{headline}>=0.80'")
    about = answers.about(report.detail) if isinstance(report.detail, AnswerDetail) else ""
    left_out = ""
    if times := report.counts.get("no_relevant", 0):
        zero = report.identity.get("options", {}).get("no_rel") == "zero"
        how = "counted as 0" if zero else "left out of the means; --as trec_eval counts 0"
        left_out = f"{units(times, 'queries')} without a relevant document {how}"
    known = [id for id, one in report.metrics.items() if one.value is not None]
    meaning = [text for text in (left_out, hint) if text]
    short = leading(report.metrics, f"eval {report.task}")
    return Document(
        f"eval {report.task}",
        [
            doc.Verdict(*verdict_text(report), [about] if about else [], meaning),
            *body(report),
            *doc.glossary(known, metric_names(report), short=short),
            doc.coverage(coverage_text(report.counts), report.identity),
        ],
    )


def body(report: EvalReport) -> Iterator[Block]:
    """Everything between the verdict and the coverage, which a report on several tasks repeats."""
    yield from figures(report)
    match report.detail:
        case EntityDetail() as detail:
            yield from tables.of_entities(report, detail)
        case LabelDetail() as detail:
            yield from tables.of_labels(report, detail)
        case LinkDetail() as detail:
            yield from tables.of_links(report, detail)
        case RankingDetail() as detail:
            yield from rankings.of_rankings(report, detail)
        case AnswerDetail() as detail:
            yield from answers.of_answers(detail)
    for stratum, by in sorted(report.per_stratum.items()):
        yield doc.slices(
            stratum,
            by,
            metric_names(report),
            _ordered(report, {id for scores in by.values() for id in scores}),
            shown=tables.SHOWN,
            everything=tables.EVERYTHING,
        )
    if found := tables.errors_of(report):
        yield from tables.of_errors(found)
    if isinstance(report.detail, AnswerDetail):
        yield from answers.support(report.detail)
    if isinstance(report.detail, RankingDetail) and report.detail.queries:
        yield rankings.queries(report, report.detail)
    yield from doc.advice(report.advice)
    yield doc.findings(report)


def figures(report: EvalReport) -> Iterator[Block]:
    """The gates and the other metrics, then why some are absent."""
    shown_names, gated = metric_names(report), {gate.metric for gate in report.gates}
    yield from doc.gates(report.gates, report.metrics, shown_names)
    absent: dict[str, list[str]] = {}
    given: dict[str, Score] = {}
    for id in _ordered(report, report.metrics.keys() - gated):
        if report.metrics[id].value is not None:
            given[id] = report.metrics[id]
        else:
            reason = report.metrics[id].reason or "no reason is given"
            absent.setdefault(reason, []).append(shown_names[id])
    if given:
        table = doc.scores(given, shown_names, title="Other metrics" if gated else "Metrics")
        usual = sum(id in _first(report) for id in given) if report.task in SHOWN else 0
        yield structs.replace(table, shown=usual or None, everything=tables.EVERYTHING)
    # A reason such as the lack of a reference concerns many metrics, and is given once.
    remarks = [f"Absent: {', '.join(names)}: {reason}" for reason, names in absent.items()]
    if isinstance(report.detail, AnswerDetail):
        remarks += answers.remarks(report, report.detail)
    for remark in remarks:
        yield doc.Text(remark, "dim", part="metrics")


def _first(report: EvalReport) -> list[str]:
    """The ids of metrics that come first: those --measures names, then the usual ones."""
    command = f"eval {report.task}"
    family = HEADLINES[command].first[0].partition(".")[0]
    usual = [f"{family}.{name}" for name in SHOWN.get(report.task, ())]
    return [*requested(report), *(usual or leading(report.metrics, command))]


def _ordered(report: EvalReport, ids: Collection[str]) -> list[str]:
    """The usual metrics first, then the others by name, without the counts, which tables show."""
    others = sorted(id for id in ids if not id.endswith((".tp", ".fp", ".fn")))
    return [id for id in dict.fromkeys([*_first(report), *others]) if id in ids]


def verdict_text(report: EvalReport) -> tuple[str, str]:
    """PASS or FAIL, the headline numbers, and how the gates ended."""
    scored, unit = report.counts.get("scored"), UNITS[report.task]
    total = report.counts.get(unit) or max(
        (score.of for score in report.metrics.values()), default=0
    )
    usual = units(total, unit) if scored is None else f"{count(scored)} of {units(total, unit)}"
    headlines = dict(list(requested(report).items())[:2])
    if not headlines:
        first: Sequence[str] = HEADLINES[f"eval {report.task}"].first
        if isinstance(report.detail, AnswerDetail):
            there = [id for id, score in report.metrics.items() if score.value is not None]
            first = leading(there, f"eval {report.task}")[:4]
        headlines = {id: VERDICT_NAMES.get(id, id.partition(".")[2]) for id in first}
        if report.task == "answers" and "answers.token_recall" in headlines:
            headlines["answers.token_recall"] = "correctness (token recall)"
    by_units: dict[str, list[str]] = {}
    for id, name in headlines.items():
        if score := report.metrics.get(id):
            # Samples outside a metric's definition are no gap; those that lack a value are.
            gap = scored is not None and score.n < min(scored, score.of)
            over = f"{count(score.n)} of {units(score.of, unit)}" if gap else usual
            by_units.setdefault(over, []).append(f"{name} {phrasing.value(score.value)}")
    named = ", ".join(f"{', '.join(each)} over {over}" for over, each in by_units.items())
    word = phrasing.verdict_word(report.passed, report.gates)
    return word, doc.listed(named, phrasing.gate_counts(report) or "no gates", sep="; ")


def metric_names(report: EvalReport) -> dict[str, str]:
    sliced = (id for by in report.per_stratum.values() for row in by.values() for id in row)
    return phrasing.metric_names(report, *sliced)


def units(times: int, many: str) -> str:
    """
    >>> units(1, "queries"), units(2000, "errors")
    ('1 query', '2,000 errors')
    """
    one = f"{many[:-3]}y" if many.endswith("ies") else many.removesuffix("s")
    return phrasing.pluralize(times, one, many)


def coverage_text(coverage: Mapping[str, int]) -> str:
    """How much was evaluated, the largest count first; zero counts are left out.

    >>> coverage_text({"missing": 1, "documents": 120, "unknown": 0, "gold_entities": 655})
    '655 gold entities, 120 documents, 1 without a prediction'
    """
    parts = [
        units(times, COVERAGE_WORDS.get(name, name.replace("_", " ")))
        for name, times in phrasing.by_count(coverage)
    ]
    return ", ".join(parts) or "nothing was evaluated"


def table(report: EvalReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """A row for each type, label, query, wrong link or answer."""
    match report.detail:
        case EntityDetail() | LabelDetail() as detail:
            found, columns = report.per_type, tables.columns_of(report.per_type.values())
            first, order = "type", sorted(found)
            if isinstance(detail, LabelDetail):
                first, order = "label", tables.label_order(report, detail)
            return (first, *columns), ((type, *map(found[type].get, columns)) for type in order)
        case LinkDetail() as detail:
            fields = LinkError.__struct_fields__
            return fields, ([getattr(error, name) for name in fields] for error in detail.errors)
        case RankingDetail() as detail:
            fields = tuple(name for name in QueryRow.__struct_fields__ if name != "values")
            metrics = sorted({name for row in detail.queries for name in row.values})
            return (*fields, *metrics), (
                (*(getattr(row, name) for name in fields), *map(row.values.get, metrics))
                for row in detail.queries
            )
        case AnswerDetail() as detail:
            fields = ("id", "kind", "right", "question", "answer")
            metrics = sorted({id for one in detail.answers for id in one.values})
            short = [id.removeprefix(answers.FAMILY) for id in metrics]
            reasons = (f"{name}_reason" for name in short)
            return (*fields, *short, *reasons, "not_in_contexts"), (
                (
                    *(getattr(one, name) for name in fields),
                    *map(one.values.get, metrics),
                    *map(one.reasons.get, metrics),
                    ", ".join(one.unsupported) or None,
                )
                for one in detail.answers
            )


def cases(report: EvalReport, of: str = "") -> Iterator[Suite]:
    """A suite of gates, and one of what was evaluated; `of` names the task among several."""
    passed = report.passed is not False
    yield gate_suite(report.gates, of, passed=passed)
    match report.detail:
        case EntityDetail() as detail:
            what, found = "types", _types(report, detail)
        case LabelDetail() as detail:
            what, found = "labels", _labels(detail)
        case LinkDetail() as detail:
            # A report does not keep the mentions that were linked correctly.
            what, found = "mentions", map(_mention, detail.errors)
        case RankingDetail() as detail:
            what, found = "queries", _queries(report, detail)
        case AnswerDetail() as detail:
            what, found = "answers", _answers(detail)
    short = (structs.replace(one, lines=one.lines[:LINES_SHOWN]) for one in found)
    yield Suite(f"{what}{of}", short, what, decides=False, passed=passed)


def _types(report: EvalReport, detail: EntityDetail) -> Iterator[Case]:
    """A case for each type with its kept errors; a rate below 1 fails even without them."""
    found: dict[str, list[tables.Error]] = {type: [] for type in report.per_type}
    for error in detail.errors:
        found.setdefault(tables.type_of(error), []).append(error)
    for type, kept in sorted(found.items()):
        kinds = Counter(tables.title_of(error.kind) for error in kept)
        short = sorted(
            f"{tables.title_of(name)} {phrasing.value(value)}"
            for name, value in report.per_type.get(type, {}).items()
            if name in tables.RATES and value is not None and value < 1
        )
        times = [f"{each} {kind}" for kind, each in sorted(kinds.items())]
        yield Case(type, ", ".join([*short, *times]), list(map(_error_line, kept)))


def _mention(error: LinkError) -> Case:
    kind: Literal["error", "failure"] = "error" if error.kind == "missing" else "failure"
    return Case(tables.unit_of(error), tables.KINDS[error.kind], [_error_line(error)], kind)


def _error_line(error: tables.Error) -> str:
    facts = ", ".join(f"{name} {text}" for name, text in tables.facts_of(error).items())
    kind, text = tables.title_of(error.kind), doc.plain(tables.text_of(error))
    return f"{error.where}: {kind}: {text} ({facts})"


def _labels(detail: LabelDetail) -> Iterator[Case]:
    for row, (label, counts) in enumerate(zip(detail.labels, detail.matrix, strict=True)):
        lines = [
            f"for {one.predicted}: {one.count} ({' '.join(one.examples)})"
            for one in detail.confusions
            if one.gold == label
        ]
        total = sum(counts)
        wrong = phrasing.n_of(total - counts[row], total) if total > counts[row] else ""
        if total:
            yield Case(label, wrong and f"{wrong} taken for another label", lines)


def _queries(report: EvalReport, detail: RankingDetail) -> Iterator[Case]:
    by = ranking(report)
    for row in detail.queries:
        first, found = row.first_relevant, phrasing.n_of(row.relevant_retrieved, row.relevant)
        lines = [
            f"first relevant: {'none' if first is None else f'at rank {first}'}",
            f"found: {found}, of {count(row.retrieved)} retrieved",
        ]
        if by:
            lines.append(f"{by.title}: {phrasing.value(row.values.get(by.id))}")
        if not row.relevant:
            yield Case(row.query, "no relevant document is judged", kind="skipped")
        else:
            late = first is None or first > DEPTH
            yield Case(row.query, f"no relevant document up to rank {DEPTH}" * late, lines)


def _answers(detail: AnswerDetail) -> Iterator[Case]:
    """A case for each answer; the worst fail with their sentences, the others with reasons."""
    by, worst = answers.lowest_by(detail), {one.id: one for one in detail.worst}
    for one in detail.answers:
        shown = worst[one.id].sentences if by and one.id in worst else ()
        lines = []
        for each in shown:
            checked = answers.checked_sentence(each.support, each.support.text)
            if checked.level == answers.NONE:
                text = "".join(piece for piece, _ in checked.pieces)
                missing = f"; not in the contexts: {checked.missing}" if checked.missing else ""
                nearest = f"; nearest: {each.evidence.chunk}" if each.evidence else ""
                lines.append(f"{checked.level.mark} {checked.value} {text}{missing}{nearest}")
        if by and lines:
            value = phrasing.value(worst[one.id].values.get(by))
            of = f"{phrasing.n_of(len(lines), len(shown))} sentences not supported"
            yield Case(one.id, f"{by.removeprefix(answers.FAMILY)} {value}: {of}", lines)
        elif one.answer is None:
            yield Case(one.id, "no answer", kind="error")
        elif one.right is None:
            why = "nothing that was measured tells whether it is right"
            yield Case(one.id, why, kind="skipped")
        else:
            reasons = [
                f"{id.removeprefix(answers.FAMILY)} {phrasing.value(one.values.get(id))}: {reason}"
                for id, reason in sorted(one.reasons.items())
                if one.values.get(id) is not None
            ]
            yield Case(one.id, "" if one.right else "is not right", reasons)
