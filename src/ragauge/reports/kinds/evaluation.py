"""The report of `ragauge eval ner|types|linking|retrieval|qa|answers`: one task in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

from msgspec import structs

from ragauge.contracts.evaluation import (
    AnswerDetail,
    AnswerScored,
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
from ragauge.contracts.verdict import Decision, Verdict
from ragauge.metrics.headlines import HEADLINES, WORDS, leading
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Block, Cell, Column, Document, Only, Table, names
from ragauge.reports.formats import junit
from ragauge.reports.kinds import evaluation_answers as answers
from ragauge.reports.kinds import evaluation_errors as errors
from ragauge.reports.kinds import evaluation_rankings as rankings
from ragauge.reports.kinds import evaluation_tables as tables
from ragauge.reports.numbers import count

UNITS: dict[Task, tuple[str, str]] = {
    "ner": ("document", "documents"),
    "types": ("item", "items"),
    "linking": ("mention", "mentions"),
    "retrieval": ("query", "queries"),
    "qa": ("question", "questions"),
    "answers": ("answer", "answers"),
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
        *("hipe_f1@1", "hipe_f1@3", "hipe_f1@5"),
        *("consistency", "coverage"),
    ),
    "retrieval": (
        *("ndcg@10", "ndcg_exp@10", "p@10", "recall@10", "rr", "ap", "bpref", "judged@10"),
        *("unjudged@10", "coverage"),
    ),
    "answers": (
        *("groundedness", "factual_correctness", "token_recall", "faithfulness"),
        *("number_agreement", "grounded", "lexical_faithfulness", "relevance", "containment"),
        *("token_f1", "factual_accuracy"),
    ),
    "qa": (
        *("token_recall", "containment", "faithfulness", "groundedness", "grounded"),
        *("lexical_faithfulness", "relevance", "token_f1", "factual_accuracy"),
    ),
}
"""The metrics that every reader sees, without their family, in the order of columns."""
EXAMPLES: dict[Task, str] = {
    "ner": "f1_strict>=0.85",
    "types": "accuracy>=0.80",
    "linking": "hits@1>=0.70",
    "retrieval": "ndcg@10>=0.60",
    "qa": "token_recall>=0.70",
    "answers": "groundedness>=0.70",
}
"""A gate that a newcomer would set first."""
PLAIN_COUNTS = (".tp", ".fp", ".fn")
"""How the ids of metrics end that are counts: the tables have them."""
UNDECIDED: dict[Decision, str] = {
    "not_evaluated": "not evaluated",
    "not_applicable": "not applicable",
}
COVERED = (
    *("tasks", "documents", "items", "mentions", "queries", "answers", "questions", "scored"),
    *("evaluated", "answered"),
)
"""The parts of the coverage that come first; the others follow, the most frequent first."""
COVERAGE_WORDS = {
    "in_kb": "in the knowledge base",
    "nil": "NIL",
    "missing": "without a prediction",
    "unknown": "predicted and not in gold",
    "no_relevant": "without a relevant document",
    "unlabelled": "without a gold label",
}
REQUESTED_NAMED = 2
"""Of the metrics that were requested by name, those that the verdict names."""
FEW = 5
"""A value over fewer units is chance: it is shown, and marked."""
DEPTH = 10
"""A query fails that has nothing relevant up to this rank."""
LINES_SHOWN = 20


def document(report: EvalReport) -> Document:
    hint = envelope.how_to_gate(
        report.passed, f"--preset heritage or --gates '{EXAMPLES[report.task]}'"
    )
    notes = answers.about(report.detail) if isinstance(report.detail, AnswerDetail) else ""
    meaning = [one for one in (_left_out(report), hint) if one]
    return Document(
        f"eval {report.task}",
        [
            doc.Verdict(*verdict_words(report), [notes] if notes else [], meaning),
            *body(report),
            *doc.glossary(
                {id: one for id, one in report.metrics.items() if one.value is not None},
                metric_names(report),
                short=leading(report.metrics, f"eval {report.task}"),
            ),
            doc.Coverage(coverage_words(report.coverage), report.identity),
        ],
    )


def body(report: EvalReport) -> Iterator[Block]:
    """All between the verdict and the coverage; a report on several tasks has it for each."""
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
            yield from answers.of_answers(report, detail)
    yield from strata(report)
    if found := errors.errors_of(report):
        yield from errors.blocks(found)
    if isinstance(report.detail, AnswerDetail):
        yield from answers.support(answers.checked(report.detail))
    if isinstance(report.detail, RankingDetail) and report.detail.queries:
        yield rankings.queries(report, report.detail)
    yield doc.Advices(report.advice)
    yield doc.findings(report)


def figures(report: EvalReport) -> Iterator[Block]:
    """The gates and the metrics; those that few readers need are below, to be opened."""
    shown_names = metric_names(report)
    yield from doc.gates(report.gates, report.metrics, shown_names)
    if isinstance(report.detail, AnswerDetail):
        yield from answers.metrics(report)
        return
    shown, others = ungated(report)
    if shown:
        yield doc.scores(shown, shown_names, title="Other metrics" if report.gates else "Metrics")
    if others:
        folded = structs.replace(doc.scores(others, shown_names, title="More metrics"), folded=True)
        yield Only(frozenset({"html", "markdown"}), [folded], part="metrics")
        more = numbers.counted(len(others), "more metric")
        yield doc.in_text(doc.Text(f"and {more}; {tables.EVERYTHING}", "dim"))


def verdict_words(report: EvalReport) -> tuple[str, str]:
    """PASS or FAIL, the headline numbers, and what the gates did."""
    scored, units = report.coverage.get("scored"), UNITS[report.task]
    total = report.coverage.get(units[1]) or max(
        (score.of for score in report.metrics.values()), default=0
    )
    usual = numbers.counted(total, *units)
    usual = usual if scored is None else f"{count(scored)} of {usual}"
    headlines: dict[str, str]
    if wanted := rankings.requested(report):
        headlines = dict(list(wanted.items())[:REQUESTED_NAMED])
    elif isinstance(report.detail, AnswerDetail):
        headlines = answers.headlines(report)
    else:
        headlines = {id: WORDS[id] for id in HEADLINES[f"eval {report.task}"].first}
    by_units: dict[str, list[str]] = {}
    for id, name in headlines.items():
        if score := report.metrics.get(id):
            # Samples outside a metric's definition are no gap; those that lack a value are.
            gap = scored is not None and score.n < min(scored, score.of)
            over = f"{count(score.n)} of {numbers.counted(score.of, *units)}" if gap else usual
            by_units.setdefault(over, []).append(f"{name} {numbers.value(score.value)}")
    named = ", ".join(f"{', '.join(each)} over {over}" for over, each in by_units.items())
    word = envelope.verdict_word(report.passed, report.gates)
    return word, "; ".join([*filter(None, [named]), gates_words(report.gates)])


def gates_words(gates: Sequence[Verdict]) -> str:
    """What the gates did: `1 of 3 gates failed, 1 not evaluated`."""
    if not gates:
        return "no gates"
    total = numbers.counted(len(gates), "gate")
    times = Counter(gate.verdict for gate in gates)
    if times["fail"]:
        words = [f"{count(times['fail'])} of {total} failed"]
    else:
        words = [f"{count(times['pass'])} of {total} {'holds' if len(gates) == 1 else 'hold'}"]
    words += [f"{count(times[one])} {said}" for one, said in UNDECIDED.items() if times[one]]
    return ", ".join(words)


def _left_out(report: EvalReport) -> str:
    """What queries without a relevant document count for, where there are any."""
    times = report.coverage.get("no_relevant")
    if report.task != "retrieval" or not times:
        return ""
    queries = numbers.counted(times, "query", "queries")
    options = report.identity.get("options")
    if isinstance(options, dict) and options.get("no_rel") == "zero":
        return f"{queries} without a relevant document counted as 0, as trec_eval does"
    return f"{queries} without a relevant document left out of the means; --as trec_eval counts 0"


def metric_names(report: EvalReport) -> dict[str, str]:
    sliced = (id for by in report.per_stratum.values() for row in by.values() for id in row)
    gated = (gate.metric for gate in report.gates)
    return envelope.short_names(dict.fromkeys(chain(report.metrics, gated, sliced)))


def ungated(report: EvalReport) -> tuple[dict[str, Score], dict[str, Score]]:
    """The metrics that no gate is on: those every reader sees, and the others by name."""
    gated = {gate.metric for gate in report.gates}
    family = next((id.partition(".")[0] for id in report.metrics), "")
    first = dict.fromkeys(
        [*rankings.requested(report), *(f"{family}.{name}" for name in SHOWN[report.task])]
    )
    free = {id for id in report.metrics if id not in gated and not id.endswith(PLAIN_COUNTS)}
    shown = [id for id in first if id in free]
    scores = report.metrics
    return {id: scores[id] for id in shown}, {id: scores[id] for id in sorted(free - set(shown))}


def strata(report: EvalReport) -> Iterator[Block]:
    """A table for each stratum; a terminal only counts the values over a few units."""
    for stratum, by in sorted(report.per_stratum.items()):
        if by:
            brief = _stratum(report, stratum, brief=True)
            yield Only(frozenset({"text", "markdown"}), [brief])
            yield doc.on_pages(_stratum(report, stratum, brief=False), part="slices")


def _stratum(report: EvalReport, stratum: str, *, brief: bool) -> Table:
    """The values of a stratum by the leading metrics, the most frequent first."""
    by, first, shown_names = report.per_stratum[stratum], SHOWN[report.task], metric_names(report)

    def rank(id: str) -> tuple[int, str]:
        name = id.partition(".")[2]
        return first.index(name) if name in first else len(first), id

    ids = sorted({id for scores in by.values() for id in scores}, key=rank)
    units = {value: max(one.of for one in scores.values()) for value, scores in by.items()}
    over = {
        value: [one.n for one in scores.values() if one.value is not None]
        for value, scores in by.items()
    }
    values = sorted(by, key=lambda value: (-units[value], value))
    many = [value for value in values if max(over[value], default=0) >= FEW]
    few = len(values) - len(many) if brief and many else 0
    rows = doc.rows(
        [
            names(value),
            _size(over[value], units[value]),
            *(_sliced(by[value].get(id)) for id in ids),
        ]
        for value in (many if few else values)
    )
    starred = any(cell.text.endswith("*") for row in rows for cell in row.cells[2:])
    left_out = f"and {numbers.counted(few, 'value')} over fewer than {FEW}" if few else ""
    star = f"* over fewer than {FEW}" if starred else ""
    return Table(
        title="By",
        about=stratum,
        columns=[
            Column("value"),
            Column("n", right=True, begins=True),
            *(Column(shown_names[id], right=True, begins=True, foreign=True) for id in ids),
        ],
        rows=rows,
        shown=tables.SHOWN,
        everything=tables.EVERYTHING,
        after="; ".join(filter(None, (left_out, star))),
        part="slices",
    )


def _size(over: Sequence[int], units: int) -> Cell:
    """Over how many units the numbers of a slice are, and how many it has."""
    least, most = min(over, default=0), max(over, default=0)
    n = f"{count(least)}–{count(most)}" if least < most else count(most)
    of = f" of {count(units)}" if most < units else ""
    return Cell(f"{n}{of}", most, "" if most else "dim")


def _sliced(score: Score | None) -> Cell:
    if score is None or score.value is None:
        return Cell(numbers.ABSENT, tone="dim")
    if score.n < FEW:
        return doc.number(score.value, f"{numbers.value(score.value)}*", "dim")
    return doc.number(score.value)


def coverage_words(coverage: Mapping[str, int]) -> str:
    """How much was evaluated, in one line; what is zero is left out.

    >>> coverage_words({"missing": 1, "documents": 120, "unknown": 0, "gold_entities": 655})
    '120 documents, 655 gold entities, 1 without a prediction'
    """

    def place(name: str) -> tuple[int, int, str]:
        first = COVERED.index(name) if name in COVERED else len(COVERED)
        return first, -coverage[name], name

    def words(name: str) -> str:
        said = COVERAGE_WORDS.get(name, name.replace("_", " "))
        if coverage[name] != 1 or not said.endswith("s"):
            return said
        return f"{said[:-3]}y" if said.endswith("ies") else said[:-1]

    ranked = sorted((name for name in coverage if coverage[name]), key=place)
    return ", ".join(f"{count(coverage[name])} {words(name)}" for name in ranked) or (
        "nothing was evaluated"
    )


def table(report: EvalReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """A row for each type, label, query, wrong link or answer."""
    match report.detail:
        case EntityDetail():
            return _by_type(report, "type", sorted(report.per_type))
        case LabelDetail() as detail:
            return _by_type(report, "label", tables.label_order(report, detail))
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


def _by_type(
    report: EvalReport, first: str, order: Sequence[str]
) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    columns = tables.columns_of(report.per_type.values())
    return (first, *columns), ((type, *map(report.per_type[type].get, columns)) for type in order)


def cases(report: EvalReport, of: str = "") -> Iterator[junit.Suite]:
    """A suite of gates, and one of what was evaluated; `of` names the task among several.

    The gates alone decide: in a run that passed, nothing turns CI red.
    """
    yield junit.Suite(f"gates{of}", map(junit.gate_case, report.gates), "gates")
    found: Iterator[junit.Case]
    match report.detail:
        case EntityDetail():
            what, found = "types", _types(report)
        case LabelDetail() as detail:
            what, found = "labels", _labels(detail)
        case LinkDetail():
            what, found = "mentions", _mentions(report)
        case RankingDetail() as detail:
            by = rankings.ranking(report)
            what, found = "queries", (_query(row, by) for row in detail.queries)
        case AnswerDetail() as detail:
            what, found = "answers", _answers(detail)
    passed = report.passed is not False
    yield junit.Suite(f"{what}{of}", (_softened(one, passed) for one in found), what)


def _softened(case: junit.Case, passed: bool) -> junit.Case:
    if case.problem is None or not passed:
        return case
    return junit.Case(
        case.name, junit.Problem("skipped", case.problem.message, lines=case.problem.lines)
    )


def _failed(
    name: str,
    message: str,
    lines: Sequence[str] = (),
    kind: Literal["failure", "error", "skipped"] = "failure",
) -> junit.Case:
    problem = junit.Problem(kind, message, lines=tuple(lines[:LINES_SHOWN])) if message else None
    return junit.Case(name, problem)


def _types(report: EvalReport) -> Iterator[junit.Case]:
    """Each type with the errors of it that are kept; a rate below 1 fails even without them."""
    found: dict[str, list[errors.Error]] = {type: [] for type in report.per_type}
    known = errors.errors_of(report)
    for error in known.errors if known else ():
        found.setdefault(errors.type_of(error), []).append(error)
    for type, kept in sorted(found.items()):
        kinds = Counter(errors.kind_word(error.kind) for error in kept)
        short = sorted(
            f"{tables.column_name(name)} {numbers.value(value)}"
            for name, value in report.per_type.get(type, {}).items()
            if tables.is_rate(name) and value is not None and value < 1
        )
        times = [f"{each} {kind}" for kind, each in sorted(kinds.items())]
        yield _failed(type, ", ".join([*short, *times]), list(map(_error_line, kept)))


def _error_line(error: errors.Error) -> str:
    facts = ", ".join(f"{name} {text}" for name, text in errors.facts_of(error).items())
    kind, text = errors.kind_word(error.kind), doc.plain(errors.text_of(error))
    return f"{error.where}: {kind}: {text} ({facts})"


def _labels(detail: LabelDetail) -> Iterator[junit.Case]:
    for row, label in enumerate(detail.labels):
        counts = detail.matrix[row]
        total = sum(counts)
        if not total:
            continue
        taken = [one for one in detail.confusions if one.gold == label]
        lines = [f"for {one.predicted}: {one.count} ({' '.join(one.examples)})" for one in taken]
        wrong = numbers.n_of(total - counts[row], total)
        yield _failed(
            label, f"{wrong} taken for another label" if counts[row] < total else "", lines
        )


def _mentions(report: EvalReport) -> Iterator[junit.Case]:
    """The mentions that were linked wrongly; of the others a report keeps no record."""
    found = errors.errors_of(report)
    for error in found.errors if found else ():
        kind: Literal["failure", "error"] = "error" if error.kind == "missing" else "failure"
        unit, message = errors.unit_of(error), errors.KINDS[error.kind]
        yield _failed(unit, message, [_error_line(error)], kind)


def _query(row: QueryRow, by: rankings.Ranking | None) -> junit.Case:
    if not row.relevant:
        return _failed(row.query, "no relevant document is judged", kind="skipped")
    if row.first_relevant is not None and row.first_relevant <= DEPTH:
        return junit.Case(row.query)
    found = numbers.n_of(row.relevant_retrieved, row.relevant)
    first = "none" if row.first_relevant is None else f"at rank {row.first_relevant}"
    value = [f"{by.title}: {numbers.value(rankings.value_of(row, by.name))}"] if by else []
    return _failed(
        row.query,
        f"no relevant document up to rank {DEPTH}",
        [
            f"first relevant: {first}",
            f"found: {found}, of {count(row.retrieved)} retrieved",
            *value,
        ],
    )


def _answers(detail: AnswerDetail) -> Iterator[junit.Case]:
    """A case for each answer; the worst fail with their sentences, the others with reasons."""
    checked = {one.shown.id: one for one in answers.checked(detail)}
    for one in detail.answers:
        worst = checked.get(one.id)
        bare = [each for each in worst.sentences if each.level == answers.NONE] if worst else []
        if worst and bare:
            of = numbers.n_of(len(bare), len(worst.sentences))
            message = f"{worst.by} {numbers.value(worst.value)}: {of} sentences not supported"
            yield _failed(one.id, message, list(map(_sentence_line, bare)))
        else:
            yield _scored(one)


def _sentence_line(one: answers.CheckedSentence) -> str:
    text = "".join(piece for piece, _ in one.pieces)
    nearest = f"; nearest: {one.evidence.chunk}" if one.evidence else ""
    missing = f"; not in the contexts: {one.missing_words}" if one.missing else ""
    return f"{one.level.mark} {one.value} {text}{missing}{nearest}"


def _scored(one: AnswerScored) -> junit.Case:
    if one.answer is None:
        return _failed(one.id, "no answer", kind="error")
    if one.right:
        return junit.Case(one.id)
    if one.right is None:
        return _failed(
            one.id, "nothing that was measured tells whether it is right", kind="skipped"
        )
    lines = [
        f"{id.removeprefix(answers.FAMILY)} {numbers.value(one.values.get(id))}: {reason}"
        for id, reason in sorted(one.reasons.items())
        if one.values.get(id) is not None
    ]
    return _failed(one.id, "is not right", lines)
