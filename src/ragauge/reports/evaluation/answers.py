"""What an evaluation of answers has of its own: what they are, whom people agree with, the cost."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from ragauge.contracts.evaluation import AnswerDetail, BandCount, EvalReport, HumanAgreement, Task
from ragauge.contracts.judge import Usage
from ragauge.reports import numbers
from ragauge.reports.evaluation.families import FAMILY, families
from ragauge.reports.evaluation.support import KIND_WORDS
from ragauge.reports.evaluation.tables import (
    Cell,
    Row,
    Table,
    counted,
    named,
    number,
    numeric,
    tally,
)

BY_STRATUM = (
    *("grounded", "lexical_faithfulness", "relevance", "containment", "token_f1"),
    "factual_accuracy",
)
WORDS = {"number_agreement": "number agreement", "token_recall": "token recall"}
_FIRST: dict[Task, tuple[str, ...]] = {
    "answers": ("groundedness", "faithfulness", "number_agreement", "token_recall"),
    "qa": ("token_recall", "containment", "faithfulness", "groundedness"),
}
HEADLINES = {
    task: {f"{FAMILY}{name}": WORDS.get(name, name) for name in names}
    for task, names in _FIRST.items()
}
"""By task, what the verdict names, where it is measured, and how it is said."""
SHOWN = {
    task: (*names, *(name for name in BY_STRATUM if name not in names))
    for task, names in _FIRST.items()
}
"""By task, what every reader sees, in the order of columns."""
OTHERS_NAMED = 2
"""Where none of these is measured, so many of what is."""
UNSUPPORTED_SHOWN = 12


def headlines(report: EvalReport) -> dict[str, str]:
    """What the verdict names, and how it is said: what has a value."""
    told = [one.id for family in families(report) for one in family.measures]
    usual = {id: name for id, name in HEADLINES[report.task].items() if id in told}
    return usual or {id: id.removeprefix(FAMILY) for id in told[:OTHERS_NAMED]}


def about(detail: AnswerDetail) -> str:
    """What the answers are, and what they were measured with."""
    kinds = [
        f"{numbers.count(times)} {KIND_WORDS.get(kind, kind)}"
        for kind, times in _by_count(detail.kinds)
    ]
    apart = [
        numbers.counted(times, word)
        for times, word in ((detail.refusals, "refusal"), (detail.errors, "error"))
        if times
    ]
    made = [detail.groundedness, detail.embedder and f"embedder {detail.embedder}"]
    judge = [_judge(detail.judge, detail.usage)] if detail.judge else []
    parts = (kinds, apart, [part for part in made if part], judge)
    return "; ".join(", ".join(part) for part in parts if part)


def _judge(judge: str, usage: Usage | None) -> str:
    """Who judged, and what it took."""
    if usage is None:
        return f"judge {judge}"
    told = [
        numbers.counted(usage.calls, "call"),
        f"{numbers.counted(usage.cached, 'reply', 'replies')} from the cache",
        f"{numbers.count(usage.prompt_tokens)} tokens in",
        f"{numbers.count(usage.completion_tokens)} out",
        "no prices given" if usage.cost is None else f"cost {usage.cost:,.4f}",
    ]
    return f"judge {judge}: {', '.join(told)}"


def tables(report: EvalReport, detail: AnswerDetail) -> Iterator[Table]:
    """The tables of the task, what matters most first."""
    if detail.agreement:
        yield _agreement(detail.agreement)
    if detail.bands:
        yield _bands(detail.bands)
    if detail.unsupported:
        yield _unsupported(detail)


def _agreement(found: tuple[HumanAgreement, ...]) -> Table:
    heads = (
        *("metric", "AUROC", "95 % interval", "balanced accuracy", "base rate", "κ", "ECE"),
        *("answers", "sources"),
    )
    rows = tuple(
        Row(
            (
                Cell(one.metric.removeprefix(FAMILY)),
                number(one.auroc),
                Cell(numbers.interval(one.auroc_ci), tone="soft"),
                number(one.balanced_accuracy),
                number(one.base_rate),
                number(one.kappa),
                number(one.ece),
                counted(one.n),
                counted(one.sources),
            ),
            note=_labels(one),
        )
        for one in sorted(found, key=lambda one: (one.metric, one.judge, one.labels))
    )
    return Table(
        title="Agreement with people",
        about="base rate: the share of answers that people called good",
        heads=heads,
        rows=rows,
        right=numeric(heads),
        breaks=frozenset({1, 5}),
    )


def _bands(found: tuple[BandCount, ...]) -> Table:
    heads = ("groundedness", "your answers", "called grounded", "of labelled answers")
    several = len({one.kind for one in found}) > 1
    rows = tuple(
        Row(
            (
                Cell(_range(one, several)),
                counted(one.answers),
                Cell(f"{100 * one.band.share:.0f} %" if one.band.answers else "–"),
                counted(one.band.answers),
            )
        )
        for one in found
    )
    return Table(
        title="What these scores meant to people",
        about="human-labelled answers, each scored without its source: of those with such a score, "
        "how many people called grounded",
        heads=heads,
        rows=rows,
        right=numeric(heads),
    )


def _range(one: BandCount, several: bool) -> str:
    scores = f"{one.band.low:.1f} to {one.band.high:.1f}"
    return f"{KIND_WORDS[one.kind]}, {scores}" if several else scores


def _labels(one: HumanAgreement) -> str:
    """Who judged, from which value on, and by whose labels."""
    threshold = f"threshold {numbers.value(one.threshold)}" if one.threshold is not None else ""
    return ", ".join(filter(None, (one.judge, threshold, one.labels)))


def _unsupported(detail: AnswerDetail) -> Table:
    """Numbers and words by the answers that have them, the most frequent first."""
    ranked = _by_count(detail.unsupported)
    times = [(named(word), each) for word, each in ranked[:UNSUPPORTED_SHOWN]]
    made = tally(
        "In no context",
        ("word", "answers"),
        times,
        about="numbers and words of answers that stand in none of their contexts",
    )
    left = len(ranked) - len(times)
    return structs.replace(made, more=f"and {numbers.count(left)} more" if left else "")


def _by_count(times: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(
        ((name, each) for name, each in times.items() if each), key=lambda pair: (-pair[1], pair[0])
    )
