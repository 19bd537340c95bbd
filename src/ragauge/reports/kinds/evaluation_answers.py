"""An evaluation of answers: metrics by family, agreement with people, and sentences by support."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from ragauge.contracts.answers import SentenceSupport
from ragauge.contracts.evaluation import (
    AnswerDetail,
    AnswerShown,
    BandCount,
    EvalReport,
    EvidenceText,
    HumanAgreement,
)
from ragauge.contracts.metric import Metric
from ragauge.errors import UsageError
from ragauge.metrics.headlines import HEADLINES, NEVER, WORDS
from ragauge.metrics.table import find
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import (
    Block,
    Cell,
    Column,
    Facts,
    Item,
    Items,
    Only,
    Row,
    Span,
    Table,
    Text,
    Tone,
    Words,
    names,
    number,
)
from ragauge.reports.foreign import cut
from ragauge.reports.kinds.evaluation_tables import counted, tally

FAMILY = "answers."
LEXICAL = "lexical_"
GROUNDED = ("groundedness", "grounded", "brief_faithfulness", "number_agreement", "date_agreement")
OVERLAP = (
    *("token_recall", "containment", "token_f1", "content_f1", "exact_match", "rouge1", "rouge2"),
    *("rougeL", "chrf", "edit_distance", "factual_accuracy"),
)
SIMILAR = ("semantic_similarity", "relevance")
CITED = ("citation_precision", "citation_recall", "misattributed")
JUDGED = (
    *("faithfulness", "answer_relevancy", "context_precision", "context_recall"),
    *("factual_correctness", "noise_sensitivity", "noise_sensitivity_irrelevant"),
    *("hallucination", "self_knowledge", "claim_precision", "claim_recall", "rubric"),
)
CHEAP = {
    "faithfulness": "groundedness",
    "answer_relevancy": "relevance",
    "factual_correctness": "token_f1",
    "claim_recall": "token_recall",
    "rubric": "token_recall",
}
"""The metric without a judge that measures the same; else the judged one's lexical counterpart."""
NAMED, OTHERS_NAMED = 4, 2
"""Metrics that the verdict names, and where none of the usual ones is measured."""
ABSENT_NAMED = 8
"""Of the metrics that are absent for one reason, those that are named."""
UNSUPPORTED_SHOWN = 12
KIND_WORDS = {"qa": "QA", "summary": "summary", "data_to_text": "data to text"}


def headlines(report: EvalReport) -> dict[str, str]:
    """What the verdict names, and its words: what leads and has a value."""
    there = [id for _, ids in families(report) for id in ids]
    known = [id for id in HEADLINES[f"eval {report.task}"].first if id in there][:NAMED]
    others = [id for id in there if id not in NEVER] or there
    words = {id: WORDS.get(id, id.removeprefix(FAMILY)) for id in known or others[:OTHERS_NAMED]}
    if report.task == "answers" and f"{FAMILY}token_recall" in words:
        words[f"{FAMILY}token_recall"] = "correctness (token recall)"
    return words


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
    made = [detail.groundedness or "", f"embedder {detail.embedder}" if detail.embedder else ""]
    judge = [f"judge {detail.judge}"] if detail.judge else []
    if judge and (usage := detail.usage):
        used = [
            numbers.counted(usage.calls, "call"),
            f"{numbers.counted(usage.cached, 'reply', 'replies')} from the cache",
            f"{numbers.count(usage.prompt_tokens)} tokens in",
            f"{numbers.count(usage.completion_tokens)} out",
            "no prices given" if usage.cost is None else f"cost {usage.cost:,.4f}",
        ]
        judge = [f"judge {detail.judge}: {', '.join(used)}"]
    parts = (kinds, apart, list(filter(None, made)), judge)
    return "; ".join(", ".join(part) for part in parts if part)


def families(report: EvalReport) -> list[tuple[str, list[str]]]:
    """The metrics with a value, by what they are computed from; what leads the verdict first."""
    judge = report.detail.judge if isinstance(report.detail, AnswerDetail) else None
    by_model = judge not in (None, "lexical")
    grouped: list[tuple[str, Sequence[str]]] = [
        ("Groundedness", GROUNDED),
        ("Overlap with the reference", OVERLAP),
        ("Similarity", SIMILAR),
        ("Citations", CITED),
        (f"Judged by {judge}" if by_model else "Judged", JUDGED),
        ("Judged by words alone", [f"{LEXICAL}{name}" for name in JUDGED]),
        ("Answered at all", ["coverage"]),
    ]
    if report.task == "qa":
        grouped[:2] = grouped[1::-1]
    there = {id for id, score in report.metrics.items() if score.value is not None}
    found = [
        (title, [id for id in (f"{FAMILY}{name}" for name in each) if id in there])
        for title, each in grouped
    ]
    others = sorted(there - {id for _, ids in found for id in ids})
    return [(title, ids) for title, ids in (*found, ("Other", others)) if ids]


def metrics(report: EvalReport) -> Iterator[Block]:
    """The metrics with a row above each family, then why others are absent."""
    rows: list[Row] = []
    shown_names = {id: id.removeprefix(FAMILY) for id in report.metrics}
    head = doc.scores({}, shown_names, title="Metrics")
    for title, ids in families(report):
        # A judge has the name that somebody gave it.
        first = Cell(title, tone="strong", foreign=title.startswith("Judged by "))
        rows.append(Row((first, *[Cell("")] * (len(head.columns) - 1))))
        given = doc.scores({id: report.metrics[id] for id in ids}, shown_names, title="")
        for id, row in zip(ids, given.rows, strict=True):
            cells = [
                doc.plot(None) if cell.plot and not _from_0_to_1(id) else cell for cell in row.cells
            ]
            rows.append(Row(tuple(cells), "; ".join(_beside(report, id)), inner=True))
    remarks = [Text(remark, "dim", part="metrics") for remark in _remarks(report)]
    if rows:
        yield structs.replace(head, rows=rows)
        yield from remarks
    else:
        yield doc.Section(title="Metrics", blocks=remarks, part="metrics")


def _from_0_to_1(id: str) -> bool:
    """Whether a metric can be drawn on the scale of the others: the marks of a rubric cannot."""
    metric = _known(id)
    return metric is None or (metric.bounds[1] == 1 and metric.bounds[0] <= 0)


def _known(id: str) -> Metric | None:
    try:
        return find(id, "answers")
    except UsageError:  # a report outlives the plug-in that made its numbers
        return None


def is_pooled(id: str) -> bool:
    """Whether a total counts what is in the answers, so that one with more weighs more.

    >>> is_pooled("answers.number_agreement"), is_pooled("answers.token_f1")
    (True, False)
    >>> is_pooled("answers.containment")  # an answer has it or not
    False
    """
    metric = _known(id)
    return metric is not None and not metric.rate and metric.columns[0] != "value"


def _beside(report: EvalReport, id: str) -> Iterator[str]:
    """Notes on a value: the metric without a judge, counts of claims, how far people agree."""
    name = id.removeprefix(FAMILY)
    for twin in (CHEAP.get(name), f"{LEXICAL}{name}") if name in JUDGED else ():
        score = report.metrics.get(f"{FAMILY}{twin}")
        if score and score.value is not None:
            yield f"compare {twin} {numbers.value(score.value)}"
            break
    detail = report.detail
    if not isinstance(detail, AnswerDetail):
        return
    if name == "factual_accuracy" and detail.factual_claims:
        counts = (f"{numbers.count(n)} {verdict}" for verdict, n in detail.factual_claims.items())
        yield f"claims: {', '.join(counts)}"
    for one in detail.agreement:
        if one.metric in (id, name):
            yield f"people: {agreement_words(one)}"


def agreement_words(one: HumanAgreement) -> str:
    """AUROC with what it is worth at the threshold, and with the base rate.

    >>> agreement_words(HumanAgreement(metric="faithfulness", judge="m", n=412, sources=96,
    ...     base_rate=0.62, auroc=0.84, auroc_ci=(0.8, 0.88), balanced_accuracy=0.77,
    ...     kappa=0.55, ece=0.08, threshold=0.5, labels="labels.jsonl"))
    'AUROC 0.840 [0.800, 0.880], balanced accuracy 0.770, base rate 0.620, κ 0.550, ECE 0.080'
    """
    parts = (
        f"AUROC {numbers.value(one.auroc)} {numbers.interval(one.auroc_ci)}".strip(),
        f"balanced accuracy {numbers.value(one.balanced_accuracy)}",
        f"base rate {numbers.value(one.base_rate)}",
        f"κ {numbers.value(one.kappa)}",
        f"ECE {numbers.value(one.ece)}",
    )
    return ", ".join(parts)


def _remarks(report: EvalReport) -> Iterator[str]:
    """Which metrics are pooled, which are absent, and whether the judge is calibrated."""
    scores = sorted(report.metrics.items())
    there = [id for id, score in scores if score.value is not None]
    if pooled := [id.removeprefix(FAMILY) for id in there if is_pooled(id)]:
        counted_together = "Over all numbers, citations or claims together, not a mean of answers"
        yield f"{counted_together}: {', '.join(pooled)}"
    by_reason: dict[str, list[str]] = {}
    for id, score in scores:
        if score.value is None:
            by_reason.setdefault(score.reason or "no reason is given", []).append(id)
    # A reason such as the lack of a reference concerns many metrics, and is given once.
    for reason, ids in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        absent = [id.removeprefix(FAMILY) for id in ids[:ABSENT_NAMED]]
        more = [f"{len(ids) - ABSENT_NAMED} more"] if len(ids) > ABSENT_NAMED else []
        yield f"Absent: {', '.join([*absent, *more])}: {reason}"
    known = not isinstance(report.detail, AnswerDetail) or report.detail.agreement
    if not known and any(id.removeprefix(FAMILY) in JUDGED for id in there):
        yield "How far the judge agrees with people is not known; run `ragauge calibrate judge`"


def of_answers(report: EvalReport, detail: AnswerDetail) -> Iterator[Table]:
    """Agreement with people, what scores meant, and what no context has."""
    if detail.agreement:
        yield _agreement(detail.agreement)
    if detail.bands:
        yield _bands(detail.bands)
    if ranked := _by_count(detail.unsupported):
        made = tally(
            "In no context",
            ("word", "answers"),
            [(names(word), each) for word, each in ranked],
            remark="numbers and words of answers that are in none of their contexts",
        )
        yield structs.replace(made, shown=UNSUPPORTED_SHOWN)


def _agreement(found: tuple[HumanAgreement, ...]) -> Table:
    heads = ("AUROC", "95 % interval", "balanced accuracy", "base rate", "κ", "ECE", "answers")

    def note(one: HumanAgreement) -> str:
        threshold = f"threshold {numbers.value(one.threshold)}" if one.threshold is not None else ""
        return ", ".join(filter(None, (one.judge, threshold, one.labels)))

    return Table(
        title="Agreement with people",
        remark="base rate: the fraction of answers that people called good",
        columns=[
            Column("metric"),
            *(Column(one, right=True, begins=one in ("AUROC", "κ")) for one in (*heads, "sources")),
        ],
        rows=[
            Row(
                (
                    names(one.metric.removeprefix(FAMILY)),
                    number(one.auroc),
                    doc.interval(one.auroc_ci),
                    *map(number, (one.balanced_accuracy, one.base_rate, one.kappa, one.ece)),
                    counted(one.n),
                    counted(one.sources),
                ),
                note(one),
            )
            for one in sorted(found, key=lambda one: (one.metric, one.judge, one.labels))
        ],
        part="tables",
    )


def _bands(found: tuple[BandCount, ...]) -> Table:
    several = len({one.kind for one in found}) > 1

    def row(one: BandCount) -> list[Cell]:
        scores = f"{one.band.low:.1f} to {one.band.high:.1f}"
        share = f"{100 * one.band.share:.0f} %" if one.band.answers else numbers.ABSENT
        return [
            Cell(f"{KIND_WORDS[one.kind]}, {scores}" if several else scores),
            counted(one.answers),
            number(one.band.share if one.band.answers else None, share),
            counted(one.band.answers),
        ]

    heads = ("your answers", "called grounded", "of labelled answers")
    return Table(
        title="What these scores meant to people",
        remark="human-labelled answers, each scored without its source: how many of those with "
        "such a score people called grounded",
        columns=[Column("groundedness"), *(Column(one, right=True, begins=True) for one in heads)],
        rows=doc.rows(map(row, found)),
        part="tables",
    )


def _by_count(times: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(
        ((name, each) for name, each in times.items() if each), key=lambda pair: (-pair[1], pair[0])
    )


SUPPORTED, PARTLY = 0.7, 0.4
"""From where on a sentence is marked as supported, and as partly supported."""
LONGEST_EVIDENCE, LONGEST_SENTENCE = 320, 1_000
LONGEST_WORD = 20
"""What is longer without a space is not a word, but text in a script without spaces."""
MISSING_NAMED = 12
"""Words and numbers of a sentence that are named, of those that no context has."""
WORST_BY = tuple(f"{FAMILY}{name}" for name in ("groundedness", "token_recall", "faithfulness"))
"""What answers are the worst of: the first that was measured."""
IN_TEXT, SENTENCES_SHOWN, OPENED = 5, 6, 3
"""Answers and sentences of one answer in a terminal; answers that are open on a page."""
AROUND, AROUND_IN_TEXT = 160, 36
"""Characters of a context on each side of the evidence, on a page and in a terminal."""
_LETTER = r"[^\W_\u2e80-\U0010ffff]"
"""A letter or digit of a script that puts spaces between words: not Chinese or Japanese."""
_ENDS = tuple(".?!:;…)]”»\"'。！？：；）」』")

Marked = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it is marked."""


class Level(Struct, frozen=True):
    """How far a sentence is supported: a name for styles, a mark, and words."""

    name: str
    mark: str
    words: str
    tone: Tone
    badge: str


FULL = Level("full", "✓", "supported", "good", "ok")
PART = Level("part", "~", "partly supported", "warm", "warned")
NONE = Level("none", "✗", "not supported", "bad", "no_hit")
SILENT = Level("silent", "·", "not scored", "dim", "other")
LEVELS = (FULL, PART, NONE, SILENT)


class CheckedSentence(Struct, frozen=True, kw_only=True):
    """A sentence of an answer; the words that no context has are marked."""

    level: Level
    score: float | None
    pieces: Marked
    missing: tuple[str, ...]
    reason: str
    evidence: EvidenceText | None
    """The best there is; None where no context comes near."""

    @property
    def is_weak(self) -> bool:
        return self.level in (NONE, PART)

    @property
    def value(self) -> str:
        return "" if self.score is None else f"{self.score:.2f}"

    @property
    def missing_words(self) -> str:
        """The words and numbers that no context has; of many the first."""
        named = list(self.missing[:MISSING_NAMED])
        more = len(self.missing) - len(named)
        return ", ".join([*named, f"{more} more"] if more else named)


class CheckedAnswer(Struct, frozen=True, kw_only=True):
    """An answer with the metric that it is among the worst of, and its sentences."""

    shown: AnswerShown
    by: str
    sentences: tuple[CheckedSentence, ...]

    @property
    def value(self) -> float | None:
        return self.shown.values.get(f"{FAMILY}{self.by}")

    @property
    def is_weak(self) -> bool:
        """Whether there is something to see: a sentence hardly supported, or a bad value."""
        if not self.sentences:
            return level_of(self.value) != FULL
        return any(one.is_weak for one in self.sentences)

    def some(self, most: int) -> list[CheckedSentence]:
        """At most so many sentences in their order, the least supported of all."""
        scores = [2.0 if one.score is None else one.score for one in self.sentences]
        ranked = sorted(range(len(scores)), key=lambda place: (scores[place], place))
        return [self.sentences[place] for place in sorted(ranked[:most])]


def checked(detail: AnswerDetail) -> list[CheckedAnswer]:
    """The answers that a report keeps, the worst first; none where no metric ranks them."""
    by = next((id for id in WORST_BY if any(id in one.values for one in detail.worst)), None)
    if by is None:
        return []
    return [
        CheckedAnswer(
            shown=shown,
            by=by.removeprefix(FAMILY),
            sentences=tuple(
                checked_sentence(one.support, one.support.text, one.evidence)
                for one in shown.sentences
            ),
        )
        for shown in detail.worst
    ]


def checked_sentence(
    support: SentenceSupport, text: str, evidence: EvidenceText | None
) -> CheckedSentence:
    # Numbers first: a wrong one is seen at once.
    missing = tuple(dict.fromkeys([*support.unsupported_numbers, *support.unsupported_words]))
    pieces, room = [], LONGEST_SENTENCE
    for piece, marked in marked_words(text.strip(), missing):
        if room > 0:
            pieces.append((cut(piece, room), marked))
        room -= len(piece)
    return CheckedSentence(
        level=level_of(support.score),
        score=support.score,
        pieces=tuple(pieces),
        missing=missing,
        reason=support.reason or "",
        evidence=evidence,
    )


def level_of(score: float | None) -> Level:
    """
    >>> level_of(0.9).words, level_of(0.41).mark, level_of(None).mark
    ('supported', '~', '·')
    """
    if score is None:
        return SILENT
    return FULL if score >= SUPPORTED else PART if score >= PARTLY else NONE


def marked_words(text: str, words: Iterable[str]) -> Marked:
    """The text in pieces, with every occurrence of the words marked, in whatever case.

    >>> marked_words("Built in 1834, in Berlin.", ["1834", "berlin"])
    (('Built in ', False), ('1834', True), (', in ', False), ('Berlin', True), ('.', False))
    """
    wanted = sorted({word for word in words if word.strip()}, key=lambda word: (-len(word), word))
    if not wanted:
        return ((text, False),)

    def pattern(word: str) -> str:
        """The word where it is not a part of a longer one, in scripts with spaces."""
        start = f"(?<!{_LETTER})" if re.match(_LETTER, word[0]) else ""
        end = f"(?!{_LETTER})" if re.match(_LETTER, word[-1]) else ""
        return f"{start}{re.escape(word)}{end}"

    pieces = re.split(f"({'|'.join(map(pattern, wanted))})", text, flags=re.IGNORECASE)
    return tuple((piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece)


def quoted(evidence: EvidenceText, around: int) -> Marked:
    """The evidence, marked, with at most so many characters on each side of it."""
    before, after = " ".join(evidence.before.split()), " ".join(evidence.after.split())
    if len(before) > around:
        # What comes before the first space is half a word.
        kept = before[len(before) + 1 - around :]
        half, space, rest = kept.partition(" ")
        before = f"… {rest}" if space and len(half) < LONGEST_WORD else f"…{kept}"
    if len(after) > around:
        rest, space, half = after[: around - 1].rpartition(" ")
        after = f"{rest} …" if space and len(half) < LONGEST_WORD else cut(after, around)
    elif after and not after.endswith(_ENDS):
        after = f"{after}…"
    space_before = " " if before and evidence.before[-1:].isspace() else ""
    space_after = " " if after and evidence.after[:1].isspace() else ""
    pieces = (
        (f"{before}{space_before}", False),
        (cut(evidence.text, LONGEST_EVIDENCE), True),
        (f"{space_after}{after}", False),
    )
    return tuple(piece for piece in pieces if piece[0])


def support(found: Sequence[CheckedAnswer]) -> Iterator[Block]:
    """The least grounded answers, sentence by sentence; a terminal shows those with a problem."""
    if not found:
        return
    grounded = all(one.by == "groundedness" for one in found)
    title = "Least grounded answers" if grounded else f"Answers with the lowest {found[0].by}"
    parted = any(one.sentences for one in found)
    key = ", ".join(f"{level.mark} {level.words}" for level in LEVELS)
    weak = [one for one in found if one.is_weak]
    if weak:
        brief: Block = Items(
            title=title,
            remark=key if any(one.sentences for one in weak) else "",
            items=[_item(one, in_text=True) for one in weak],
            shown=IN_TEXT,
        )
    else:
        bound = numbers.value(SUPPORTED)
        fine = "every sentence of the answers in this report is supported"
        unparted = f"no answer in this report is below {bound}; sentences were not checked"
        brief = doc.Section(title=title, blocks=[Text(fine if parted else unparted, "dim")])
    yield Only(frozenset({"text", "markdown"}), [brief])
    nearest = f"each sentence with the part of the contexts that is closest to it: {key}"
    yield doc.on_pages(
        Items(
            title=title,
            remark=nearest if parted else "",
            items=[_item(one, opened=place < OPENED) for place, one in enumerate(found)],
            part="grounds",
        ),
        part="grounds",
    )


def _item(one: CheckedAnswer, *, in_text: bool = False, opened: bool = False) -> Item:
    shown, level = one.shown, level_of(one.value)
    blocks: list[Block] = []
    sentences = one.some(SENTENCES_SHOWN) if in_text else one.sentences
    for sentence in sentences:
        blocks.append(_facts(sentence, in_text))
    if left := len(one.sentences) - len(sentences):
        blocks.append(Text(f"and {numbers.counted(left, 'more sentence')}", "dim"))
    reason = shown.reasons.get(f"{FAMILY}{one.by}", "")
    if not one.sentences:
        blocks += [Text(doc.theirs(shown.answer))] if shown.answer else []
        if reason or not shown.answer:
            blocks.append(Text(doc.theirs(reason or "no answer"), "dim"))
    if not in_text and shown.values:
        blocks.append(
            Table(
                title="Metrics of this answer",
                columns=doc.columns("metric", "value", "reason", right=("value",)),
                rows=doc.rows(
                    [
                        names(id.removeprefix(FAMILY), to=("metric", id)),
                        number(value),
                        names(shown.reasons.get(id, ""), "dim"),
                    ]
                    for id, value in sorted(shown.values.items())
                ),
                folded=True,
            )
        )
    grounded = shown.values.get(f"{FAMILY}grounded")
    called = "" if grounded is None else "grounded" if grounded >= 1 else "not grounded"
    kind = KIND_WORDS.get(shown.kind or "", shown.kind or "")
    value = "" if one.value is None else f"{one.by} {numbers.value(one.value)}"
    return Item(
        name=shown.id,
        badge=(level.badge, value, level.tone),
        about=shown.question or "",
        aside=", ".join(filter(None, (called, kind))),
        blocks=blocks,
        opened=opened,
        to=("question", shown.id),
    )


def _facts(one: CheckedSentence, in_text: bool) -> Facts:
    """A sentence with its score, what no context has of it, and the evidence that is closest."""

    def spans(pieces: Marked, tone: Tone = "") -> list[Span]:
        return [
            Span(text, tone if marked else "", foreign=True, marked=marked)
            for text, marked in pieces
        ]

    facts: list[tuple[str, Words]] = [
        (f"{one.level.mark} {one.value}".strip(), spans(one.pieces, one.level.tone))
    ]
    if one.missing:
        facts.append(("↳ not in the contexts", doc.theirs(one.missing_words)))
    elif one.reason:
        facts.append(("↳ reason", doc.theirs(one.reason)))
    if one.evidence is not None and (one.is_weak or not in_text):
        around = AROUND_IN_TEXT if in_text else AROUND
        chunk = Span(f"{one.evidence.chunk} ", "strong", foreign=True)
        facts.append(("↳ closest", [chunk, *_in_brackets(spans(quoted(one.evidence, around)))]))
    return Facts(facts)


def _in_brackets(given: Iterable[Span]) -> Iterator[Span]:
    """The spans with brackets around what is marked, which shows without color."""
    for span in given:
        yield from (Span("["), span, Span("]")) if span.marked else (span,)
