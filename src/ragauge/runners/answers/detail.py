"""What a report shows of answers: the worst of them beside their evidence, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, AnswerRow, SentenceSupport
from ragauge.contracts.evaluation import (
    AnswerScored,
    AnswerShown,
    BandCount,
    EvidenceText,
    ShownSentence,
)
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.metric import Absent, Row
from ragauge.contracts.score import ROWS_KEPT
from ragauge.metrics.answers import AnswerFacts
from ragauge.text.grounding.model import Model

WORST = 20
"""Answers that a report shows with their sentences."""
UNSUPPORTED = 50
"""Words and numbers without support that a report lists."""
AROUND = 80
"""Characters of a context that are shown on either side of the evidence."""


def worst_answers(
    facts: Sequence[AnswerFacts],
    values: Mapping[str, Sequence[float | None]],
    rows: Mapping[str, Sequence[Row | Absent]],
    by: str,
) -> tuple[AnswerShown, ...]:
    """The answers with the lowest value of a metric, ties by id."""
    column = values.get(by, ())
    told = [(value, facts[place].row.id, place) for place, value in _there(column)]
    return tuple(_shown(facts[place], values, rows, place) for *_, place in sorted(told)[:WORST])


def scored_answers(
    facts: Sequence[AnswerFacts],
    values: Mapping[str, Sequence[float | None]],
    rows: Mapping[str, Sequence[Row | Absent]],
    right: Sequence[bool | None],
) -> tuple[AnswerScored, ...]:
    """What each answer came to, in the order given, as many as a report keeps."""
    return tuple(
        AnswerScored(
            id=one.row.id,
            question=one.row.question,
            answer=one.row.answer,
            kind=_kind(one),
            right=right[place],
            values={id: column[place] for id, column in values.items()},
            reasons=_reasons(rows, place),
            unsupported=_unsupported(one),
        )
        for place, one in enumerate(facts[:ROWS_KEPT])
    )


def _kind(facts: AnswerFacts) -> AnswerKind | None:
    return facts.row.kind if facts.groundedness is None else facts.groundedness.kind


def _reasons(rows: Mapping[str, Sequence[Row | Absent]], place: int) -> dict[str, str]:
    told = {id: column[place].reason for id, column in rows.items()}
    return {id: reason for id, reason in told.items() if reason is not None}


def _unsupported(facts: AnswerFacts) -> tuple[str, ...]:
    found = facts.groundedness
    if found is None:
        return ()
    return tuple(dict.fromkeys((*found.unsupported_numbers, *found.unsupported_words)))


def _there(column: Sequence[float | None]) -> Iterable[tuple[int, float]]:
    return ((place, value) for place, value in enumerate(column) if value is not None)


def _shown(
    facts: AnswerFacts,
    values: Mapping[str, Sequence[float | None]],
    rows: Mapping[str, Sequence[Row | Absent]],
    place: int,
) -> AnswerShown:
    found = facts.groundedness
    return AnswerShown(
        id=facts.row.id,
        question=facts.row.question,
        answer=facts.row.answer,
        kind=_kind(facts),
        values={id: column[place] for id, column in values.items()},
        reasons=_reasons(rows, place),
        sentences=tuple(
            ShownSentence(support=one, evidence=_evidence(facts.row, one))
            for one in (() if found is None else found.sentences)
        ),
    )


def _evidence(row: AnswerRow, sentence: SentenceSupport) -> EvidenceText | None:
    span = sentence.evidence
    context = next((one for one in row.contexts or () if span and one.id == span.chunk), None)
    if span is None or context is None:
        return None
    text, start, end = context.text, span.start, span.end
    return EvidenceText(
        chunk=span.chunk,
        before=text[max(0, start - AROUND) : start],
        text=text[start:end],
        after=text[end : end + AROUND],
    )


def unsupported(facts: Sequence[AnswerFacts]) -> dict[str, int]:
    """Numbers and words that stand in no context, those of the most answers first."""
    met: Counter[str] = Counter()
    for one in facts:
        if one.groundedness is not None and not one.refused:
            found = one.groundedness
            met.update({*found.unsupported_numbers, *found.unsupported_words})
    ranked = sorted(met.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranked[:UNSUPPORTED])


def bands(facts: Sequence[AnswerFacts], model: Model) -> tuple[BandCount, ...]:
    """Every band of the kinds that were met, with how many answers have a score in it."""
    scored = [one.groundedness for one in facts if one.groundedness and not one.refused]
    met = Counter((found.kind, found.band) for found in scored if found.value is not None)
    return tuple(
        BandCount(kind=kind, answers=met[kind, band], band=band)
        for kind in ANSWER_KINDS
        if any(found.kind == kind and found.value is not None for found in scored)
        for band in model.kinds[kind].bands
    )


def note_assumed(facts: Sequence[AnswerFacts], findings: Findings) -> None:
    """A finding for each scored answer whose kind was assumed, because it has no question."""
    for one in facts:
        found = one.groundedness
        if found and found.assumed and found.value is not None and not one.refused:
            findings.add(Finding("kind_assumed", one.row.where, f"{one.row.id}: {found.assumed}"))


def kinds(facts: Sequence[AnswerFacts]) -> dict[str, int]:
    """How many answers there are of each kind, as far as it is known."""
    told = map(_kind, facts)
    return dict(sorted(Counter(kind for kind in told if kind is not None).items()))
