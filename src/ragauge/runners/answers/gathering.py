"""The facts of all answers gathered, from whoever is asked: judge, supporter, embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.gold import REFUSING, Refusal
from ragauge.contracts.judge import ReplyCache, Usage
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.engines.local import Progress
from ragauge.ingest.calibration import AnswerCalibration, Calibrations
from ragauge.ingest.fields import quoted
from ragauge.metrics.answers import AnswerFacts
from ragauge.models.embedders import RememberedEmbedder, embedder
from ragauge.models.endpoint_embedder import EmbeddingFailed, KeptReplies, StoredEmbedder
from ragauge.models.judging import likened
from ragauge.runners.answers.asking import Announce, Judging
from ragauge.runners.answers.options import (
    DEFAULT_EMBEDDER,
    EMBEDDED,
    JUDGED,
    RELEVANCY,
    embeds,
    needs_of,
)
from ragauge.runners.answers.supporting import Supporting, measured_answers, model_of
from ragauge.text.canonical import composed
from ragauge.text.grounding.model import Model
from ragauge.text.refusal import refusal_in, refusal_in_free_words, tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TOLD = {
    "near": "dresses up the refusal token",
    "free": "refuses in its own words",
    "undetermined": "may refuse in its own words, or answer",
}
"""What is said of refusals that do not count as such."""
AT_A_TIME = 256
"""Answers whose texts are embedded together."""
EMPTY = "the embedder finds no content in a text"
FAILED = "the embedder failed"
"""How the reason begins where there is no vector."""


class Asking(Struct, frozen=True, kw_only=True):
    """What a caller brings along: where replies are kept, and whom to tell how it goes."""

    replies: ReplyCache | None = None
    """Replies of a judge by their call; without it they are known to this run alone."""
    vectors: KeptReplies | None = None
    """Vectors of an embedder by their text; without it they are known to this run alone."""
    calibrations: Calibrations | None = None
    """How far metrics agreed with people, by who makes their numbers."""
    announce: Announce | None = None
    """Told what a judge will take, before it is asked."""
    progress: Progress | None = None


class Gathered(Struct, frozen=True, kw_only=True):
    """Every fact that the metrics will read, and who told it."""

    facts: list[AnswerFacts]
    rows: dict[str, list[Row | Absent]]
    """By metric id, what it found in each answer."""
    judge: str | None
    usage: Usage | None
    embedder: str | None
    unfinished: str | None
    """Why some answers were not judged, though they were to be."""
    model: Model
    """The coefficients of groundedness."""


def gathered_facts(
    rows: Sequence[AnswerRow],
    options: AnswerOptions,
    metrics: Mapping[str, Metric],
    findings: Findings,
    asking: Asking,
    calibration: AnswerCalibration | None,
) -> Gathered:
    """The facts of each row, in the order of the rows."""
    needs = needs_of(metrics)
    model = model_of(calibration)  # what is wrong with it is told before a judge is paid
    chosen = heard_embedder(options.embedder, asking.vectors) if embeds(metrics) else None
    facts = facts_of(rows, options, findings)
    judge, usage, unfinished = options.judge, None, None
    if needs & JUDGED:
        judging = Judging.of(options, tuple(metrics))
        told = judging.asked(facts, findings, asking.replies, asking.announce, asking.progress)
        facts, judge, usage, unfinished = told.facts, told.judge, told.usage, told.unfinished
    if chosen is not None:
        facts = with_likeness(facts, chosen, needs)
        facts = _relevancy(facts, "claims", chosen, metrics)
    supporting = Supporting(needs=needs, calibration=calibration)
    facts, measured = measured_answers(facts, supporting, metrics, options.workers, asking.progress)
    if chosen is not None:
        facts = _relevancy(facts, "lexical_claims", chosen, metrics)
        # What compares questions is measured once these are compared: workers have no embedder.
        late = [id for id in RELEVANCY if RELEVANCY[id] == "lexical_claims" and id in metrics]
        measured |= {id: [metrics[id](one) for one in facts] for id in late}
        for failure in chosen.failures:
            findings.add(Finding("embedder_failed", chosen.id, failure))
    return Gathered(
        facts=facts,
        rows=measured,
        judge=judge,
        usage=usage,
        embedder=None if chosen is None else chosen.id,
        unfinished=unfinished,
        model=model,
    )


def _relevancy(
    facts: list[AnswerFacts], field: str, chosen: Embedder, metrics: Mapping[str, Metric]
) -> list[AnswerFacts]:
    """The facts with the likeness of the question to those that the answer would answer.

    Where the embedder fails they stay as they are: then nobody compared the questions.
    """
    if not any(id in metrics for id in RELEVANCY if RELEVANCY[id] == field):
        return facts
    asked = [(one.row.question, getattr(one, field)) for one in facts]
    try:
        compared = iter(likened([pair for pair in asked if pair[1] is not None], chosen))
    except EmbeddingFailed:
        return facts  # it is noted where the embedder is
    return [
        one if getattr(one, field) is None else structs.replace(one, **{field: next(compared)})
        for one in facts
    ]


class HeardEmbedder:
    """Another embedder; what it fails at is kept, and once it is down it is not asked again."""

    def __init__(self, embedder: Embedder, unheard_id: str) -> None:
        self._embedder, self._unheard_id = embedder, unheard_id
        self._heard = False
        self._down: EmbeddingFailed | None = None
        self.failures: list[str] = []

    @property
    def id(self) -> str:
        """The embedder's own; where it never gave a vector, what is known of it without one."""
        return self._unheard_id if self.failures and not self._heard else self._embedder.id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text; raises EmbeddingFailed."""
        if self._down is not None:
            raise self._down
        try:
            vectors = self._embedder.embed(texts)
        except EmbeddingFailed as failed:
            self._down = failed if failed.down else None
            self.failures.append(str(failed))
            raise
        self._heard = True
        return vectors


def heard_embedder(name: str | None, vectors: KeptReplies | None) -> HeardEmbedder:
    """The embedder of that name; what it costs to ask it for is kept where there is a place."""
    written = name or DEFAULT_EMBEDDER
    chosen = embedder(written)
    if vectors is not None and written != DEFAULT_EMBEDDER:  # n-grams are counted faster than read
        chosen = StoredEmbedder(chosen, vectors)
    return HeardEmbedder(RememberedEmbedder(chosen), f"endpoint:{written.partition('#')[2]}")


def facts_of(
    rows: Sequence[AnswerRow], options: AnswerOptions, findings: Findings
) -> list[AnswerFacts]:
    """What is known of each answer; a refusal that does not count as one is a finding."""
    known = tokens(tuple(map(composed, options.refusal_tokens)))
    facts = []
    for row in rows:
        refusal: Refusal = "none"
        if row.answer is not None:
            refusal = refusal_in(composed(row.answer), known)
            if refusal == "none":
                refusal = refusal_in_free_words(row.answer, row.question)
        refused = refusal in REFUSING[options.refusal]
        if not refused and refusal in TOLD:
            fact = f"{quoted(row.id)} {TOLD[refusal]}, and counts as an answer"
            findings.add(Finding(f"{refusal}_refusal", row.where, fact))
        own = row if options.kind is None else structs.replace(row, kind=options.kind)
        facts.append(AnswerFacts(row=own, refused=refused))
    return facts


def with_likeness(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> list[AnswerFacts]:
    """The facts with the cosines that are needed; a text that comes back is embedded once.

    Where the embedder fails they are missing, with the reason.
    """
    found: list[AnswerFacts] = []
    for at in range(0, len(facts), AT_A_TIME):
        some = facts[at : at + AT_A_TIME]
        try:
            found += _some(some, embedder, needs)
        except EmbeddingFailed as failed:
            missing = dict.fromkeys(EMBEDDED & needs, f"{FAILED}: {failed}")
            found += [structs.replace(one, missing={**one.missing, **missing}) for one in some]
    return found


def _some(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> list[AnswerFacts]:
    pairs = [_pairs(one.row, needs) for one in facts]
    texts = sorted({text for by in pairs for some in by.values() for pair in some for text in pair})
    place = {text: number for number, text in enumerate(texts)}
    vectors = embedder.embed(texts).astype(np.float64) if texts else np.zeros((0, 1))
    found = []
    for one, by in zip(facts, pairs, strict=True):
        cosines, missing = dict[str, float](), dict(one.missing)
        for name, some in by.items():
            both = [(vectors[place[left]], vectors[place[right]]) for left, right in some]
            known = [float(left @ right) for left, right in both if left.any() and right.any()]
            if known:
                cosines[name] = max(known)
            else:
                missing[name] = EMPTY
        found.append(structs.replace(one, **cosines, missing=missing))
    return found


def _pairs(row: AnswerRow, needs: frozenset[str]) -> dict[str, list[tuple[str, str]]]:
    """By fact, the answer with each text that it is compared with."""
    if row.answer is None:
        return {}
    others = {
        "similarity": row.references,
        "relevance": () if row.question is None else (row.question,),
    }
    return {
        name: [(row.answer, text) for text in texts]
        for name, texts in others.items()
        if name in needs and texts
    }
