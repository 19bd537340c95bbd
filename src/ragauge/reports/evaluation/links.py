"""What an evaluation of links has of its own: ranks, NIL, knowledge bases and errors."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.evaluation import EvalReport, LinkDetail, LinkError
from ragauge.reports import numbers
from ragauge.reports.evaluation.errors import Browser, ToldError
from ragauge.reports.evaluation.spans import mention_in
from ragauge.reports.evaluation.tables import (
    Cell,
    Row,
    Table,
    counted,
    named,
    number,
    numeric,
    per_type,
    tally,
)

KINDS = {
    "wrong": "the right one is not among the candidates",
    "ranked_low": "the right one is among the candidates, but not first",
    "not_linked": "called NIL, though it is in the knowledge base",
    "should_be_nil": "linked, though it is in no knowledge base",
    "missing": "nothing was predicted for it",
}
RANKS = ("1", "2-5", "6-10", "beyond", "none")
RANK_WORDS = {"beyond": "beyond 10", "none": "not found"}
IDS_SHOWN = 5
ENDS = {
    "mentions": ("linking.mention_precision", "linking.mention_recall", "linking.mention_f1"),
    "strong": ("linking.strong_precision", "linking.strong_recall", "linking.strong_f1"),
    "weak": ("linking.weak_precision", "linking.weak_recall", "linking.weak_f1"),
    "NIL": ("linking.nil_precision", "linking.nil_recall", "linking.nil_f1"),
}
END_WORDS = {
    "mentions": "the mention was found, whatever its link",
    "strong": "the same place and the same id",
    "weak": "an overlap, and the same id",
    "NIL": "mentions of what is in no knowledge base",
}


def tables(report: EvalReport, detail: LinkDetail) -> Iterator[Table]:
    """The tables of the task, what matters most first."""
    yield _ranks(detail)
    if end_to_end := _end_to_end(report):
        yield end_to_end
    if report.per_type:
        yield per_type("Types", "", "type", report.per_type)
    if detail.kb_pairs:
        yield _pairs(report, detail)


def browser(detail: LinkDetail) -> Browser:
    return Browser(
        kinds=KINDS,
        counts=detail.error_counts,
        errors=tuple(map(_told, detail.errors)),
        predicted=False,
    )


def _told(error: LinkError) -> ToldError:
    facts = [("gold", _ids(error.gold) or "NIL"), ("predicted", _ids(error.predicted) or "nothing")]
    if error.rank is not None:
        facts.append(("at rank", numbers.count(error.rank)))
    return ToldError(
        kind=error.kind,
        name=error.key,
        facts=tuple(facts),
        pieces=mention_in(error.context, error.mention),
        type="",
        where=error.where,
    )


def _ids(ids: tuple[str, ...]) -> str:
    more = len(ids) - IDS_SHOWN
    return " ".join(ids[:IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _ranks(detail: LinkDetail) -> Table:
    known = [rank for rank in RANKS if rank in detail.ranks]
    known += sorted(set(detail.ranks) - set(known))
    times = [
        (Cell(RANK_WORDS.get(rank, rank.replace("-", " to "))), detail.ranks[rank])
        for rank in known
    ]
    told = [
        f"{numbers.counted(detail.in_kb, 'mention')} in the knowledge base",
        f"{numbers.count(detail.nil)} NIL",
        f"{numbers.count(detail.missing)} without a prediction",
    ]
    about = f"of the first right candidate; {', '.join(told)}"
    return tally("Ranks", ("rank", "mentions", "share"), times, about=about)


def _end_to_end(report: EvalReport) -> Table | None:
    rows = []
    for name, ids in ENDS.items():
        scores = [report.metrics.get(id) for id in ids]
        if any(score is not None for score in scores):
            cells = [number(score.value) if score else Cell("") for score in scores]
            reason = next((s.reason for s in scores if s and s.value is None and s.reason), None)
            note = END_WORDS[name] + (f": {reason}" if reason else "")
            f1 = scores[-1]
            rows.append(Row((Cell(name), *cells), share=f1.value if f1 else None, note=note))
    heads = ("", "P", "R", "F1")
    if not rows:
        return None
    return Table(
        title="NIL, and end to end",
        heads=heads,
        rows=tuple(rows),
        right=numeric(heads),
        bar="F1",
    )


def _pairs(report: EvalReport, detail: LinkDetail) -> Table:
    heads = ("pair", "in both", "comparable", "coverage", "agree", "agreement")
    ranked = sorted(detail.kb_pairs.items(), key=lambda pair: (-pair[1].comparable, pair[0]))
    rows = tuple(
        Row(
            (
                named(pair),
                counted(one.of),
                counted(one.comparable),
                Cell(numbers.share(one.comparable, one.of), tone="soft"),
                counted(one.agree),
                number(one.agreement),
            ),
            share=one.agreement,
        )
        for pair, one in ranked
    )
    covered = report.metrics.get("linking.consistency_coverage")
    told = f"; coverage {numbers.value(covered.value)}" if covered else ""
    return Table(
        title="Knowledge bases",
        about=f"whether the ids given to one entity in both of them go together{told}",
        heads=heads,
        rows=rows,
        right=numeric(heads),
        bar="agreement",
    )
