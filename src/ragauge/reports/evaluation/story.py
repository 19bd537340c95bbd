"""What the evaluation of any component tells; the forms only write it down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail, EvalReport, Task
from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Decision, Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.evaluation import answers, measures
from ragauge.reports.evaluation.tables import Cell, Row, Table, named, numeric
from ragauge.reports.numbers import count

UNITS: dict[Task, tuple[str, str]] = {
    "ner": ("document", "documents"),
    "types": ("item", "items"),
    "linking": ("mention", "mentions"),
    "retrieval": ("query", "queries"),
    "qa": ("question", "questions"),
    "answers": ("answer", "answers"),
}
HEADLINES: dict[Task, dict[str, str]] = {
    "ner": {"entities.f1_strict": "strict F1", "entities.f1_partial": "partial F1"},
    "types": {"labels.accuracy": "accuracy", "labels.macro_f1": "macro F1"},
    "linking": {"linking.hits@1": "Hits@1", "linking.mrr": "MRR", "linking.nil_f1": "NIL F1"},
    "retrieval": {"retrieval.ndcg@10": "nDCG@10", "retrieval.rr": "MRR"},
    **answers.HEADLINES,
}
"""What the verdict names, and how it is said."""
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
    **answers.SHOWN,
}
"""The metrics every reader sees, without their family; the others are for who opens them."""
COUNTS = (".tp", ".fp", ".fn")
"""How the ids of metrics end that are plain counts: the tables have them."""
UNDECIDED: dict[Decision, str] = {
    "not_evaluated": "not evaluated",
    "not_applicable": "not applicable",
}
COVERED = (
    *("tasks", "documents", "items", "mentions", "queries", "answers", "questions", "scored"),
    *("evaluated", "answered"),
)
"""What of the coverage is said first; the rest follows, the most frequent first."""
COVERAGE_WORDS = {
    "in_kb": "in the knowledge base",
    "nil": "NIL",
    "missing": "without a prediction",
    "unknown": "predicted and not in gold",
    "no_relevant": "without a relevant document",
    "unlabelled": "without a gold label",
}
ASKED_NAMED = 2
"""Of the metrics somebody asked for, those that the verdict names."""
FEW = 5
"""A value over fewer units is chance: it is shown, and marked."""


def verdict_words(report: EvalReport) -> tuple[str, str]:
    """PASS or FAIL, the headline numbers, and what the gates did."""
    scored, names = report.coverage.get("scored"), UNITS[report.task]
    total = numbers.counted(units(report), *names)
    usual = total if scored is None else f"{numbers.count(scored)} of {total}"
    told: dict[str, list[str]] = {}
    for id, name in _headlines(report).items():
        if score := report.metrics.get(id):
            # Samples outside a metric's definition are no gap; those that lack a value are.
            gap = scored is not None and score.n < min(scored, score.of)
            over = f"{numbers.count(score.n)} of {numbers.counted(score.of, *names)}"
            told.setdefault(over if gap else usual, []).append(
                f"{name} {numbers.value(score.value)}"
            )
    named = ", ".join(f"{', '.join(shown)} over {over}" for over, shown in told.items())
    word = envelope.verdict_word(report.passed, report.gates)
    return word, "; ".join([*filter(None, [named]), gates_words(report.gates)])


def _headlines(report: EvalReport) -> dict[str, str]:
    """What the verdict names: what was asked for by name, and else what every reader asks for."""
    if wanted := measures.asked(report):
        return dict(list(wanted.items())[:ASKED_NAMED])
    if isinstance(report.detail, AnswerDetail):
        return answers.headlines(report)
    return HEADLINES[report.task]


def about(report: EvalReport) -> str:
    """What is shown below the verdict."""
    example = f"--preset heritage or --gates '{EXAMPLES[report.task]}'"
    hint = envelope.how_to_gate(report.passed, example)
    about = answers.about(report.detail) if isinstance(report.detail, AnswerDetail) else ""
    return " ".join(filter(None, (hint, about or _counted_queries(report))))


def _counted_queries(report: EvalReport) -> str:
    """What queries without a relevant document count for, where there are any."""
    times = report.coverage.get("no_relevant")
    if report.task != "retrieval" or not times:
        return ""
    queries = numbers.counted(times, "query", "queries")
    options = report.identity.get("options")
    if isinstance(options, dict) and options.get("no_rel") == "zero":
        return f"counted as trec_eval: {queries} without a relevant document as 0"
    return f"{queries} without a relevant document left out of the means; --as trec_eval counts 0"


EXAMPLES: dict[Task, str] = {
    "ner": "f1_strict>=0.85",
    "types": "accuracy>=0.80",
    "linking": "hits@1>=0.70",
    "retrieval": "ndcg@10>=0.60",
    "qa": "token_recall>=0.70",
    "answers": "groundedness>=0.70",
}
"""A gate that a newcomer would set first."""


def units(report: EvalReport) -> int:
    """How many documents, items, mentions or queries the evaluation is about."""
    told = report.coverage.get(UNITS[report.task][1])
    return told or max((score.of for score in report.metrics.values()), default=0)


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


def metric_names(report: EvalReport) -> dict[str, str]:
    sliced = (id for by in report.per_stratum.values() for row in by.values() for id in row)
    gated = (gate.metric for gate in report.gates)
    return envelope.short_names(dict.fromkeys(chain(report.metrics, gated, sliced)))


def metrics_told(report: EvalReport) -> tuple[list[tuple[str, Score]], list[tuple[str, Score]]]:
    """The metrics that no gate speaks of: those every reader sees, and the others by name.

    None of answers: theirs are told by family.
    """
    if isinstance(report.detail, AnswerDetail):
        return [], []
    gated = {gate.metric for gate in report.gates}
    family = next((id.partition(".")[0] for id in report.metrics), "")
    usual = [f"{family}.{name}" for name in SHOWN[report.task]]
    first = dict.fromkeys([*measures.asked(report), *usual])
    free = {id for id in report.metrics if id not in gated and not id.endswith(COUNTS)}
    shown = [id for id in first if id in free]
    others = sorted(free - set(shown))
    scores = report.metrics
    return [(id, scores[id]) for id in shown], [(id, scores[id]) for id in others]


def metrics_title(report: EvalReport) -> str:
    return "Other metrics" if report.gates else "Metrics"


def strata(report: EvalReport, *, brief: bool = False) -> list[Table]:
    """A table for each stratum: its values, the most frequent first, by the headline metrics.

    In brief, values over a few units are only counted, unless there are no others.
    """
    names = metric_names(report)
    told = sorted(report.per_stratum.items())
    first = SHOWN[report.task]
    return [_stratum(name, by, names, first, brief=brief) for name, by in told if by]


def _stratum(
    stratum: str,
    by: Mapping[str, Mapping[str, Score]],
    names: Mapping[str, str],
    first: Sequence[str],
    *,
    brief: bool,
) -> Table:
    measured = {id for scores in by.values() for id in scores}
    ids = sorted(measured, key=lambda one: _rank(one, first))
    sizes = {value: _sizes(scores) for value, scores in by.items()}
    values = sorted(by, key=lambda value: (-sizes[value].units, value))
    many = [value for value in values if sizes[value].most >= FEW]
    few = len(values) - len(many) if brief and many else 0
    heads = ("value", "n", *(names[id] for id in ids))
    rows = tuple(
        Row((named(value), sizes[value].cell, *(_sliced(by[value].get(id)) for id in ids)))
        for value in (many if few else values)
    )
    starred = any(cell.text.endswith("*") for row in rows for cell in row.cells)
    return Table(
        title="By",
        name=stratum,
        heads=heads,
        rows=rows,
        right=numeric(heads),
        more="; ".join(filter(None, (_left_out(few), f"* over fewer than {FEW}" * starred))),
    )


class _Sizes(Struct, frozen=True):
    """How many units the numbers of a slice are over, and how many it has."""

    least: int
    most: int
    units: int

    @property
    def cell(self) -> Cell:
        n = count(self.most)
        if self.least < self.most:
            n = f"{count(self.least)}–{n}"
        of = f" of {count(self.units)}" if self.most < self.units else ""
        return Cell(f"{n}{of}", tone="" if self.most else "soft")


def _sizes(scores: Mapping[str, Score]) -> _Sizes:
    """What is absent is over nothing, and does not count."""
    over = [score.n for score in scores.values() if score.value is not None]
    units = max((score.of for score in scores.values()), default=0)
    return _Sizes(min(over, default=0), max(over, default=0), units)


def _left_out(few: int) -> str:
    return f"and {numbers.counted(few, 'value')} over fewer than {FEW}" if few else ""


def _rank(id: str, first: Sequence[str]) -> tuple[int, str]:
    """Where a metric stands among those that every reader sees."""
    name = id.partition(".")[2]
    return (first.index(name) if name in first else len(first), id)


def _sliced(score: Score | None) -> Cell:
    if score is None or score.value is None:
        return Cell(numbers.ABSENT, tone="soft")
    few = score.n < FEW
    return Cell(numbers.value(score.value) + ("*" if few else ""), tone="soft" if few else "")


def findings(report: EvalReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)


def coverage_words(coverage: Mapping[str, int]) -> str:
    """How much was evaluated, in one line; what is zero is not said.

    >>> coverage_words({"missing": 1, "documents": 120, "unknown": 0, "gold_entities": 655})
    '120 documents, 655 gold entities, 1 without a prediction'
    """

    def place(name: str) -> tuple[int, int, str]:
        first = COVERED.index(name) if name in COVERED else len(COVERED)
        return first, -coverage[name], name

    ranked = sorted((name for name in coverage if coverage[name]), key=place)
    told = [f"{count(coverage[name])} {_covered(name, coverage[name])}" for name in ranked]
    return ", ".join(told) or "nothing was evaluated"


def _covered(name: str, times: int) -> str:
    words = COVERAGE_WORDS.get(name, name.replace("_", " "))
    if times != 1 or not words.endswith("s"):
        return words
    return f"{words[:-3]}y" if words.endswith("ies") else words[:-1]
