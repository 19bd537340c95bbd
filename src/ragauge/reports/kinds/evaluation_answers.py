"""An evaluation of answers: metrics by family, agreement with people, and sentences by support."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from ragauge.contracts.answers import SentenceSupport
from ragauge.contracts.evaluation import AnswerDetail, AnswerShown, EvalReport
from ragauge.metrics.table import known
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Bar, Block, Cell, Span, Table, Tone, names, number
from ragauge.reports.kinds.evaluation_tables import EVERYTHING, PLOT
from ragauge.reports.phrasing import by_count, count, pluralize
from ragauge.text.marks import Marked, marked_words, quoted
from ragauge.text.visible import cut

FAMILY = "answers."
KIND_WORDS = {"qa": "QA", "summary": "summary", "data_to_text": "data to text"}


def about(detail: AnswerDetail) -> str:
    """What the answers are, and what they were measured with."""
    kinds = [f"{count(n)} {KIND_WORDS.get(kind, kind)}" for kind, n in by_count(detail.kinds)]
    claims = [f"{count(n)} {verdict}" for verdict, n in detail.factual_claims.items()]
    judge = f"judge {detail.judge}" if detail.judge else ""
    if judge and (usage := detail.usage):
        tokens = f"{count(usage.prompt_tokens)} tokens in, {count(usage.completion_tokens)} out"
        cost = usage.cost is not None and f"cost {usage.cost:,.4f}"
        calls = f"{pluralize(usage.calls, 'call')}, {count(usage.cached)} cached"
        judge = f"{judge}: {doc.listed(calls, tokens, cost)}"
    return doc.listed(
        ", ".join(kinds),
        f"claims: {', '.join(claims)}" if claims else "",
        detail.groundedness,
        detail.embedder and f"embedder {detail.embedder}",
        judge,
        sep="; ",
    )


def remarks(report: EvalReport, detail: AnswerDetail) -> Iterator[str]:
    """Remarks that some of the metrics need."""
    given = sorted(id for id, score in report.metrics.items() if score.value is not None)
    if pooled := [id.removeprefix(FAMILY) for id in given if is_pooled(id)]:
        together = "Over all numbers, citations or claims together, not a mean of answers"
        yield f"{together}: {', '.join(pooled)}"
    if detail.judge not in (None, "lexical") and not detail.agreement:
        yield "How far the judge agrees with people is not known; run `ragauge calibrate judge`"


def is_pooled(id: str) -> bool:
    """Whether a total counts items inside answers, so that longer answers weigh more.

    >>> is_pooled("answers.number_agreement"), is_pooled("answers.token_f1")
    (True, False)
    >>> is_pooled("answers.containment")  # an answer has it or not
    False
    """
    metric = known(id)
    return metric is not None and not metric.rate and metric.columns[0] != "value"


def of_answers(detail: AnswerDetail) -> Iterator[Table]:
    """Agreement with people, the meaning of scores, and what no context contains."""
    if detail.agreement:
        yield doc.table(
            detail.agreement,
            {
                "metric": lambda one: names(one.metric.removeprefix(FAMILY)),
                "AUROC": lambda one: number(one.auroc),
                "95 % interval": lambda one: doc.interval(one.auroc_ci),
                "balanced accuracy": lambda one: number(one.balanced_accuracy),
                "base rate": lambda one: number(one.base_rate),
                "κ": lambda one: number(one.kappa),
                "ECE": lambda one: number(one.ece),
                "answers": lambda one: doc.count(one.n),
            },
            note=lambda one: doc.listed(
                one.judge,
                one.threshold is not None and f"threshold {phrasing.value(one.threshold)}",
                one.labels,
            ),
            title="Agreement with people",
            remark="base rate: the fraction of answers that people called good",
            part="tables",
        )
    if detail.bands:
        yield doc.table(
            detail.bands,
            {
                "groundedness": lambda one: Cell(f"{one.band.low:.1f} to {one.band.high:.1f}"),
                "kind": lambda one: Cell(KIND_WORDS[one.kind]),
                "your answers": lambda one: doc.count(one.answers),
                "called grounded": lambda one: doc.percent(one.band.grounded, one.band.answers),
                "of labelled answers": lambda one: doc.count(one.band.answers),
            },
            title="What these scores meant to people",
            remark="human-labelled answers, each scored without its source: how many of those with "
            "such a score people called grounded",
            part="tables",
        )
    if ranked := by_count(detail.unsupported):
        yield doc.table(
            ranked,
            {
                "word": lambda pair: names(pair[0]),
                "answers": lambda pair: doc.count(pair[1]),
                PLOT: lambda pair: doc.plot(Bar(pair[1] / ranked[0][1])),
            },
            title="In no context",
            remark="numbers and words of answers that are in none of their contexts",
            shown=12,
            everything=EVERYTHING,
            part="tables",
        )


LONGEST_SENTENCE = 1_000
MISSING_NAMED = 12
"""Words and numbers of a sentence that are named, of those that no context has."""
LOWEST_BY = tuple(f"{FAMILY}{name}" for name in ("groundedness", "token_recall", "faithfulness"))
"""What answers are ranked by: the first that was measured."""
SHOWN = 3
"""Answers in a terminal, and those that are open on a page."""
AROUND = 80
"""Characters of a context on each side of the evidence."""


class Level(Struct, frozen=True):
    """How far a sentence is supported: a mark, words, and a class for styles."""

    mark: str
    words: str
    tone: Tone
    badge: str


LEVELS = FULL, PART, NONE, SILENT = (
    Level("✓", "supported", "good", "ok"),
    Level("~", "partly supported", "warm", "warned"),
    Level("✗", "not supported", "bad", "no_hit"),
    Level("·", "not scored", "dim", "other"),
)


def level_of(score: float | None) -> Level:
    """
    >>> level_of(0.9).words, level_of(0.41).mark, level_of(None).mark
    ('supported', '~', '·')
    """
    if score is None:
        return SILENT
    return FULL if score >= 0.7 else PART if score >= 0.4 else NONE


class CheckedSentence(Struct, frozen=True):
    """A sentence of an answer with its level; the words that no context has are marked."""

    level: Level
    value: str
    pieces: Marked
    missing: str
    """The words and numbers that no context has; of many the first."""


def checked_sentence(support: SentenceSupport, text: str) -> CheckedSentence:
    # Numbers first: a wrong number is easy to check.
    missing_words = list(dict.fromkeys([*support.unsupported_numbers, *support.unsupported_words]))
    more = len(missing_words) - MISSING_NAMED
    return CheckedSentence(
        level_of(support.score),
        "" if support.score is None else f"{support.score:.2f}",
        marked_words(cut(text.strip(), LONGEST_SENTENCE), missing_words),
        doc.listed(*missing_words[:MISSING_NAMED], more > 0 and f"{more} more"),
    )


def lowest_by(detail: AnswerDetail) -> str | None:
    """The metric that the report's answers are ranked by; None where none of them has it."""
    return next((id for id in LOWEST_BY if any(id in one.values for one in detail.worst)), None)


def support(detail: AnswerDetail) -> Iterator[doc.Items]:
    """The answers with the lowest groundedness, sentence by sentence."""
    if by := lowest_by(detail):
        key = ", ".join(f"{level.mark} {level.words}" for level in LEVELS)
        yield doc.Items(
            title=f"Answers with the lowest {by.removeprefix(FAMILY)}",
            remark=key if any(one.sentences for one in detail.worst) else "",
            items=[_item(one, by, opened=at < SHOWN) for at, one in enumerate(detail.worst)],
            shown=SHOWN,
            part="grounds",
        )


def _item(one: AnswerShown, by: str, *, opened: bool) -> doc.Item:
    blocks: list[Block] = []
    for each in one.sentences:
        checked = checked_sentence(each.support, each.support.text)
        tone = checked.level.tone
        pieces = doc.marked(checked.pieces)
        sentence = [structs.replace(it, tone=tone) if it.marked else it for it in pieces]
        reason = doc.foreign("" if checked.missing else each.support.reason)
        closest = []
        if each.evidence:
            closest = [Span(f"{each.evidence.chunk} ", "strong", foreign=True)]
            for span in doc.marked(quoted(each.evidence, AROUND)):
                # Brackets show without color.
                closest += [Span("["), span, Span("]")] if span.marked else [span]
        facts: list[tuple[str, doc.Inline]] = [
            (f"{checked.level.mark} {checked.value}".strip(), sentence),
            ("↳ not in the contexts", doc.foreign(checked.missing)),
            ("↳ reason", reason),
            ("↳ closest", closest),
        ]
        blocks.append(doc.Facts(facts))
    if not one.sentences:
        texts = (one.answer, one.reasons.get(by, "" if one.answer else "no answer"))
        blocks += [doc.Text(doc.foreign(text), "dim") for text in texts if text]
    if one.values:
        table = doc.table(
            sorted(one.values.items()),
            {
                "metric": lambda pair: names(pair[0].removeprefix(FAMILY), to=("metric", pair[0])),
                "value": lambda pair: number(pair[1]),
                "reason": lambda pair: names(one.reasons.get(pair[0], ""), "dim"),
            },
            title="Metrics of this answer",
            folded=True,
        )
        blocks.append(doc.on_pages(table))
    value, grounded = one.values.get(by), one.values.get(f"{FAMILY}grounded")
    level = level_of(value)
    badge = "" if value is None else f"{by.removeprefix(FAMILY)} {phrasing.value(value)}"
    called = "" if grounded is None else "grounded" if grounded >= 1 else "not grounded"
    return doc.Item(
        name=one.id,
        badge=(level.badge, badge, level.tone),
        about=one.question or "",
        aside=doc.listed(called, one.kind and KIND_WORDS[one.kind]),
        blocks=blocks,
        opened=opened,
        to=("question", one.id),
    )
