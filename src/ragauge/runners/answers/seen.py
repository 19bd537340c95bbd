"""Labelled answers as the coefficients of groundedness see them: numbers, kind by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.finding import Finding
from ragauge.contracts.metric import Absent
from ragauge.ingest.fields import quoted
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.grounds import grounds_of
from ragauge.runners.answers.labelled import Labelled, LabelledRows
from ragauge.text.grounding.features import answer_features, read_answer
from ragauge.text.grounding.groundedness import NO_CLAIM, NO_CONTEXT
from ragauge.text.grounding.kinds import kind_of
from ragauge.text.grounding.model import shipped
from ragauge.text.grounding.passages import Passages
from ragauge.text.refusal import refusal_in, tokens

PASSAGES_KEPT = 512
Progress = Callable[[int, int], None]


class Read(Struct, frozen=True, kw_only=True):
    """A labelled answer as the coefficients see it."""

    labelled: Labelled
    kind: AnswerKind
    values: tuple[float, ...]


def read_as_seen(
    labelled: LabelledRows,
    kind: AnswerKind | None,
    unscored: Counter[str],
    progress: Progress | None,
) -> list[Read]:
    """The answers that can be measured; what cannot is counted, by why."""
    passages_of = lru_cache(PASSAGES_KEPT)(Passages)
    found = []
    for done, one in enumerate(labelled.rows, 1):
        seen = _seen(one, kind, passages_of)
        if isinstance(seen, Read):
            found.append(seen)
        else:
            unscored[seen] += 1
            fact = f"{quoted(one.row.id)}: {seen}"
            labelled.findings.add(Finding("unscored", one.row.where, fact))
        if progress is not None:
            progress(done, len(labelled.rows))
    return found


def _seen(
    one: Labelled, kind: AnswerKind | None, passages_of: Callable[..., Passages]
) -> Read | str:
    """An answer as the coefficients see it, or why they see nothing."""
    row, answer = one.row, one.row.answer or ""
    refused = refusal_in(answer, tokens()) != "none"
    grounds = grounds_of(AnswerFacts(row=row, refused=refused))
    if isinstance(grounds, Absent):
        return grounds.reason
    passages = passages_of(grounds, row.question)
    sentences = read_answer(answer, passages).sentences if passages.lines else []
    if not sentences:
        return NO_CLAIM if passages.lines else NO_CONTEXT
    told = kind or row.kind or kind_of(answer, passages)
    odds = shipped().kinds[told].sentence_odds(sentences)
    return Read(labelled=one, kind=told, values=tuple(answer_features(sentences, odds)))
