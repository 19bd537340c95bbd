"""Calibrate: whether an embedder's ΔS tells gold anchors from decoys, and the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ragauge import __version__
from ragauge.citations.deltas import ANCHOR, DECOY, PLACES, DeltaQuestion, deltas_of
from ragauge.contracts.calibration import (
    AUC,
    AUC_NEEDED,
    DEFAULT_FAIL,
    DEFAULT_WARN,
    PAIRS_NEEDED,
    SENSITIVITY,
    SPECIFICITY,
    THRESHOLD,
    CalibratedPair,
    CalibrationCoverage,
    CalibrationReport,
    Quartiles,
    Threshold,
)
from ragauge.contracts.documents import Documents
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.gold import Gold, Span, fingerprint
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Outcome, Rule, Score
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.gold import read_gold
from ragauge.ingest.records import Source
from ragauge.models.embedders import embedder as embedder_named
from ragauge.runners.evaluation import Evaluation, given_score, sha256_of
from ragauge.stats.bootstrap import DRAWS
from ragauge.stats.separation import auc, auc_interval, best_threshold, cut_at, threshold_range
from ragauge.store.documents import FolderDocuments

GATE = Rule(metric=AUC, op=">=", bound=AUC_NEEDED)
AT_THRESHOLD = (THRESHOLD, SENSITIVITY, SPECIFICITY)
SEED = 0
FITTED = "fitted"
DEFAULTS = {"default warn": DEFAULT_WARN, "default fail": DEFAULT_FAIL}
_HOW = {
    AUC: "ci:wilson-delong-clustered",
    THRESHOLD: f"youden|ci:percentile|draws:{DRAWS}|seed:{SEED}",
}
LENGTH_APART = 0.25
"""A decoy may be a quarter longer or shorter than its anchor: sentences are not cut to measure."""

Progress = Callable[[int, int], None]
"""Told how many questions are done, and of how many."""


def calibrate_deltas(
    gold: Source,
    *,
    embedder: str | Embedder,
    docs: str | Path,
    progress: Progress | None = None,
    columns: Columns | None = None,
) -> Outcome[CalibrationReport]:
    """Whether ΔS tells a gold set's anchors from its decoys, and the threshold that does it best.

    `docs` is the folder with the documents the spans point into. Raises UsageError or
    InputRejected with everything that is wrong.
    """
    questions = read_gold(gold, columns)
    documents = FolderDocuments(Path(docs))
    eye = embedder_named(embedder) if isinstance(embedder, str) else embedder
    found = Findings(questions.findings)
    pairs, marked = paired(questions, documents, found)
    for problem in documents.problems:
        found.add(Finding("unreadable_document", str(docs), problem))
    tell = (lambda done: progress(done, len(pairs))) if progress else None
    rows = []
    for (question, _), deltas in zip(
        pairs, deltas_of([asked for _, asked in pairs], eye, tell), strict=True
    ):
        values = deltas.values
        lacking = [name for name in (ANCHOR, DECOY) if name not in values]
        if lacking:
            found.add(Finding("nothing_read", question.qid, deltas.why[lacking[0]]))
            continue
        rows.append(
            CalibratedPair(
                qid=question.qid,
                question=question.question,
                anchor=values[ANCHOR],
                decoy=values[DECOY],
                gap=round(values[DECOY] - values[ANCHOR], PLACES),
            )
        )
    samples = {ANCHOR: [row.anchor for row in rows], DECOY: [row.decoy for row in rows]}
    anchors, decoys = samples.values()
    scores = _scores(anchors, decoys, len(questions), eye.id)
    fitted = scores[THRESHOLD]
    wanted = {} if fitted.value is None else {FITTED: fitted.value}
    cuts = {
        name: cut_at(value, anchors, decoys)
        for name, value in (wanted | DEFAULTS if rows else {}).items()
    }
    evaluation = Evaluation(given=scores, rules=(GATE,))
    texts = [(question.qid, asked.anchor, asked.decoy) for question, asked in pairs]
    report = evaluation.report(
        CalibrationReport,
        found,
        {
            "command": "calibrate deltas",
            "ragauge": __version__,
            "embedder": eye.id,
            "gate": str(GATE),
            "gold_sha256": fingerprint(questions),
            "texts_sha256": sha256_of(texts),
        },
        passed=evaluation.all_hold,
        embedder=eye.id,
        thresholds=tuple(
            Threshold(
                name=name,
                threshold=cut.threshold,
                ci=fitted.ci if name == FITTED else None,
                anchors=cut.low,
                decoys=cut.high,
                pairs=cut.pairs,
            )
            for name, cut in cuts.items()
        ),
        samples={name: _quartiles(sample) for name, sample in samples.items() if sample},
        pairs=tuple(sorted(rows, key=lambda row: (row.gap, row.qid))[:ROWS_KEPT]),
        coverage=CalibrationCoverage(
            gold=len(questions),
            pairs=len(rows),
            without=len(questions) - marked,
            unresolved=marked - len(pairs),
            unread=len(pairs) - len(rows),
        ),
    )
    return evaluation.outcome(report, gold=questions)


def _scores(anchors: list[float], decoys: list[float], of: int, embedder: str) -> dict[str, Score]:
    """The four metrics over the pairs, `of` so many questions."""
    n = len(anchors)

    def score(
        id: str,
        value: float | None,
        ci: tuple[float, float] | None = None,
        reason: str | None = None,
    ) -> Score:
        made = given_score(id, value, embedder, _HOW.get(id), n=n, of=of, ci=ci)
        return replace(made, reason=reason)

    if n < PAIRS_NEEDED:
        few = f"{n} pairs of an anchor and a decoy; {PAIRS_NEEDED} are the least that tell"
        return {id: score(id, None, reason=few) for id in (AUC, *AT_THRESHOLD)}
    separation = score(AUC, auc(anchors, decoys), auc_interval(anchors, decoys))
    threshold = best_threshold(anchors, decoys)
    if threshold is None:
        none = "no threshold does better than chance"
        return {AUC: separation} | {id: score(id, None, reason=none) for id in AT_THRESHOLD}
    cut = cut_at(threshold, anchors, decoys)
    wanders = threshold_range(anchors, decoys, seed=SEED)
    ci = wanders.ci and (_midpoint(wanders.ci[0]), _midpoint(wanders.ci[1]))
    return {
        AUC: separation,
        THRESHOLD: score(THRESHOLD, _midpoint(threshold), ci, wanders.reason),
        SENSITIVITY: score(SENSITIVITY, cut.sensitivity),
        SPECIFICITY: score(SPECIFICITY, cut.specificity),
    }


def _midpoint(value: float) -> float:
    """Half way between two values is one decimal longer than they are."""
    return round(value, PLACES + 1)


def _quartiles(sample: Sequence[float]) -> Quartiles:
    five = np.quantile(sample, (0, 0.25, 0.5, 0.75, 1)).tolist()
    lowest, q1, median, q3, highest = (round(value, PLACES) for value in five)
    return Quartiles(lowest=lowest, q1=q1, median=median, q3=q3, highest=highest)


def paired(
    questions: Sequence[Gold], documents: Documents, found: Findings
) -> tuple[list[tuple[Gold, DeltaQuestion]], int]:
    """The questions with their anchor and decoy, in the order of the set, and how many mark both.

    What is odd about a span becomes a finding.
    """
    pairs = []
    marked = 0
    for question in questions:
        if question.anchor is None or question.decoy is None:
            continue
        marked += 1
        anchor = _text(question, "anchor", question.anchor, documents, found)
        decoy = _text(question, "decoy", question.decoy, documents, found)
        if anchor is not None and decoy is not None:
            pairs.append(
                (question, DeltaQuestion(question=question.question, anchor=anchor, decoy=decoy))
            )
            for oddity in _oddities(question.anchor, question.decoy):
                found.add(Finding("odd_decoy", question.qid, oddity))
    return pairs, marked


def _text(
    question: Gold, name: str, span: Span, documents: Documents, found: Findings
) -> str | None:
    """The text of a span; None where it is not there, and that is a finding."""
    document = documents.find(span.doc_id, span.rev or "")
    if document is None:
        rev = f" of rev {quoted(span.rev)}" if span.rev else ""
        message = f"{name}: there is no document {quoted(span.doc_id)}{rev}; check --docs"
        found.add(Finding("missing_document", question.qid, message))
        return None
    if span.end > len(document.text):
        message = (
            f"{name}: ends at {span.end:,}, and {quoted(span.doc_id)} has "
            f"{len(document.text):,} characters; mark it again in this revision"
        )
        found.add(Finding("out_of_range", question.qid, message))
        return None
    if span.rev and not document.proven:
        message = (
            f"{name}: {quoted(span.doc_id)} is not proven to be rev {quoted(span.rev)}; "
            "its offsets may have moved"
        )
        found.add(Finding("unproven_revision", question.qid, message))
    return document.text[span.start : span.end]


def _oddities(anchor: Span, decoy: Span) -> Iterator[str]:
    """How a decoy is not as it should be: as long, in another section of the same document.

    One that differs in more than what it answers is told apart by that, and flatters the AUC.
    """
    if decoy.doc_id != anchor.doc_id:
        yield (
            f"the decoy stands in {quoted(decoy.doc_id)}, the anchor in {quoted(anchor.doc_id)}; "
            "take another section of the same document"
        )
    elif decoy.section_id == anchor.section_id:
        yield (
            f"the decoy stands in the anchor's section, {quoted(anchor.section_id)}, and may "
            "answer the question too; take another section"
        )
    there, here = decoy.end - decoy.start, anchor.end - anchor.start
    if abs(there - here) > LENGTH_APART * here:
        yield (
            f"the decoy has {there:,} characters, the anchor {here:,}; "
            "take one that is about as long"
        )
