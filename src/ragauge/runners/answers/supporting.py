"""What the sentence supporter says of answers and every metric finds in them, on many workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import structs

from ragauge.contracts.answers import AnswerKind, Context
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.engines.local import Progress, ordered
from ragauge.errors import InputRejected
from ragauge.grounding import Passages, groundedness
from ragauge.grounding.cited import citation_support
from ragauge.grounding.groundedness import sentence_scores
from ragauge.grounding.markers import cited_in
from ragauge.grounding.model import Model, model_from, shipped
from ragauge.grounding.passages import ENOUGH
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.groundedness import NO_CITATION
from ragauge.metrics.table import find
from ragauge.models.judging import lexical_claims

KEPT = 512
"""Sets of contexts that stay analysed: several answers are often about one source."""
LIKELY = 0.5
"""A sentence counts as supported from this chance on that people call it so."""
PIECE = 128
"""Rows that a worker takes at a time: it is what a progress bar moves by."""
Found = dict[str, Any]
"""Fields of an answer's facts."""
MANY = 2_000
"""Rows from which on further processes are worth their start."""


def model_of(calibration: AnswerCalibration | None) -> Model:
    """The coefficients that come with the package, or those fitted to the user's own labels.

    Raises InputRejected where they cannot be read.
    """
    if calibration is None:
        return shipped()
    own = calibration.coefficients
    try:
        model = shipped() if own is None else model_from(own)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fact = f"its coefficients cannot be read: {error}"
        raise InputRejected(f"--calibration: {fact}; make it with `ragauge calibrate`") from None
    kinds = {
        kind: structs.replace(one, threshold=calibration.thresholds.get(kind, one.threshold))
        for kind, one in model.kinds.items()
    }
    return structs.replace(model, kinds=kinds)


class Supporter:
    """What one worker does: it supports answers and measures them.

    Contexts that come back are analysed once. It looks metrics up by itself, for functions do not
    travel.
    """

    def __init__(self, needs: frozenset[str], model: Model, metrics: Iterable[str] = ()) -> None:
        self._needs, self._model = needs, model
        self._passages = lru_cache(KEPT)(Passages)
        self._metrics = [find(id, "answers") for id in metrics]

    def __call__(
        self, facts: Sequence[AnswerFacts]
    ) -> tuple[list[Found], list[list[Row | Absent]]]:
        # Only what was found goes back, not the rows; they are known there.
        found = [self.found(one) for one in facts]
        known = [structs.replace(one, **more) for one, more in zip(facts, found, strict=True)]
        # An answer at a time: what one metric reads of it, the next one remembers.
        rows = [[metric(one) for metric in self._metrics] for one in known]
        return found, [list(column) for column in zip(*rows, strict=True)]

    def found(self, facts: AnswerFacts) -> Found:
        """The fields of an answer's facts that somebody will read and it can tell."""
        row, model, found = facts.row, self._model, Found()
        asked = self._needs & {"groundedness", "citations"}
        if asked and row.answer is not None and row.contexts is not None:
            passages = self._passages(row.contexts, row.question)
            if "groundedness" in asked:
                found["groundedness"] = groundedness(
                    row.answer, passages, row.question, kind=row.kind, model=model
                )
            if "citations" in asked:
                # Which cited context supports which sentence; many answers cite nothing at all.
                told = cited_in(row.answer, passages.numbered)
                if row.cited is None and not told.markers and not told.listed:
                    found["missing"] = {**facts.missing, "citations": NO_CITATION.reason}
                else:
                    found["citations"] = citation_support(
                        row.answer, passages, row.cited, kind=row.kind, model=model
                    )
        if "lexical_claims" in self._needs:
            sentences = SentenceSupporter(model, row.kind or "qa", self._passages)
            found["lexical_claims"] = lexical_claims(row, sentences, refused=facts.refused)
        return found


class SentenceSupporter:
    """Whether a passage supports a claim, by the groundedness of the claim as one sentence."""

    def __init__(
        self,
        model: Model,
        kind: AnswerKind = "qa",
        passages: Callable[..., Passages] = Passages,
    ) -> None:
        self._model, self._kind, self._passages = model, kind, passages

    @property
    def id(self) -> str:
        return self._model.id

    def supports(self, claim: str, passage: str, enough: int = ENOUGH) -> bool:
        """Whether every sentence of the claim is likely supported; a blank one never is."""
        known = self._passages((Context("1", passage),))
        scores = sentence_scores(claim, known, self._kind, self._model, enough)
        return bool(scores) and min(scores) >= LIKELY

    def table(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[bool]]:
        """A line for each claim, with whether each passage supports it."""
        enough = ENOUGH // max(len(claims), 1)
        return [[self.supports(claim, passage, enough) for passage in passages] for claim in claims]


def measured_answers(
    facts: Sequence[AnswerFacts],
    needs: frozenset[str],
    model: Model,
    metrics: Mapping[str, Metric],
    workers: int,
    progress: Progress | None = None,
    many: int = MANY,
) -> tuple[list[AnswerFacts], dict[str, list[Row | Absent]]]:
    """The facts with what the sentence supporter says of them; by metric id, what it found.

    From `many` rows on they are spread over the workers.
    """
    known: list[AnswerFacts] = []
    rows: dict[str, list[Row | Absent]] = {id: [] for id in metrics}
    pieces = [facts[at : at + PIECE] for at in range(0, len(facts), PIECE)]
    used = workers if len(facts) >= many else 1
    made = ordered(Supporter, (needs, model, tuple(metrics)), pieces, used)
    for piece, (found, columns) in zip(pieces, made, strict=True):
        known += [structs.replace(one, **more) for one, more in zip(piece, found, strict=True)]
        for id, column in zip(metrics, columns, strict=True):
            rows[id] += column
        if progress is not None:
            progress(len(known), len(facts))
    return known, rows


def values_by_row(
    metrics: Mapping[str, Metric], rows: Mapping[str, Sequence[Row | Absent]]
) -> dict[str, list[float | None]]:
    """By metric the value of each row; None where it is absent."""
    found: dict[str, list[float | None]] = {}
    for id, column in rows.items():
        there = [row.counts for row in column if isinstance(row, Row)]
        counts = np.array(there, dtype=np.int64).reshape(len(there), len(metrics[id].columns))
        values = (v if np.isfinite(v) else None for v in metrics[id].finish(counts).tolist())
        found[id] = [None if isinstance(row, Absent) else next(values) for row in column]
    return found
