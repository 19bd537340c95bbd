"""The outcome of a large sweep, grown from a small one that the real runner judged.

To judge two million runs takes minutes of which a page that shows them learns nothing: every
hundredth question is judged, and the ninety-nine after it have its verdict, letters and answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from msgspec import structs

from benchmarks.generate import (
    ANSWERABLE_KINDS,
    UNANSWERABLE_KINDS,
    Corpus,
    Kind,
    Question,
    dialect_b,
    encode_utf8,
    gold_record,
    make_corpus,
    picker,
    write_lines,
)
from ragauge.contracts.gold import fingerprint
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.report import ROWS_KEPT, Measured, Outcome, Score, UnitRows
from ragauge.contracts.stability import OverQuestions, StabilityCoverage, StabilityReport
from ragauge.ingest.gold import read_gold
from ragauge.runners.stability import stability

JUDGED_EACH = 100
"""Questions that share the verdict of one."""
SEEDS = range(5)
JITTERS = ("none", "ws", "case", "punct")
"""With the seeds, the twenty runs of a question."""
FLIPS = {"jitter": 0.15, "seed": 0.15}
"""Shares of the questions that another jitter, or another seed, gives a wrong answer to."""


def large_sweep(gold: Path, folder: Path, asked: list[Question]) -> Outcome[StabilityReport]:
    """A sweep of every question in twenty runs. Intervals are those of the questions judged."""
    if len(asked) % JUDGED_EACH:
        raise ValueError(f"{len(asked):,} questions are no multiple of {JUDGED_EACH}")
    judged = asked[::JUDGED_EACH]
    small, runs = folder / "swept-gold.jsonl", folder / "swept.jsonl"
    write_lines(small, (encode_utf8(gold_record(question)) for question in judged))
    write_lines(runs, swept(judged))
    return _Grown(stability(small, runs), asked).outcome(gold)


def swept(questions: list[Question]) -> Iterator[str]:
    rng = Random("sweep")
    corpus = make_corpus(len(questions), seed=0)
    usual = picker(ANSWERABLE_KINDS, rng), picker(UNANSWERABLE_KINDS, rng)
    for question in questions:
        kind = usual[0]() if question.answerable else usual[1]()
        flips = rng.choices((*FLIPS, None), (*FLIPS.values(), 1 - sum(FLIPS.values())))[0]
        for seed in SEEDS:
            for jitter in JITTERS:
                varied = {"jitter": jitter == JITTERS[1], "seed": seed == SEEDS[-1]}
                wrong = flips is not None and varied[flips]
                yield run_line(question, _spoilt(kind) if wrong else kind, seed, jitter, corpus)


def _spoilt(kind: Kind) -> Kind:
    """Wrong where it was not, and right where it was."""
    return Kind(1, "refusal") if kind.says == "wrong" else Kind(1, "wrong", "other")


def run_line(question: Question, kind: Kind, seed: int, jitter: str, corpus: Corpus) -> str:
    trace = json.loads(dialect_b(0, question, kind, corpus, Random(f"{question.qid} {seed}")))
    varied = {"seed": seed, "jitter": jitter, "temperature": 0.0, "paraphrase": 0}
    run_id = f"{question.qid}#seed={seed};t=0;j={jitter};p=0"
    return encode_utf8(trace | varied | {"run_id": run_id, "question_sent": question.text})


class _Grown:
    """A small sweep as one of many more questions."""

    def __init__(self, small: Outcome[StabilityReport], asked: list[Question]) -> None:
        self._small, self._asked = small, asked

    def outcome(self, gold: Path) -> Outcome[StabilityReport]:
        questions = read_gold(str(gold))
        identity = self._small.identity | {"gold_sha256": fingerprint(questions)}
        return Outcome(
            report=structs.replace(self._report(), identity=identity),
            units=self._units(),
            gold=questions,
            record_rows=None,
            identity=identity,
            answers=self._answers,
        )

    def _report(self) -> StabilityReport:
        small = self._small.report
        shown = range(min(len(self._asked), ROWS_KEPT))
        details, cells = list(small.details.values()), list(small.cells.values())
        return structs.replace(
            small,
            metrics={id: _more(score) for id, score in small.metrics.items()},
            totals=_counts(small.totals),
            coverage=_times(small.coverage),
            factors={
                name: structs.replace(
                    one, pairs=one.pairs * JUDGED_EACH, differ=one.differ * JUDGED_EACH
                )
                for name, one in small.factors.items()
            },
            details={
                self._asked[at].qid: structs.replace(
                    details[at // JUDGED_EACH], question=self._asked[at].text
                )
                for at in shown
            },
            cells={self._asked[at].qid: cells[at // JUDGED_EACH] for at in shown},
            over_questions=_counted(small.over_questions),
        )

    def _units(self) -> UnitRows:
        small = self._small.units
        return UnitRows(
            ids=[question.qid for question in self._asked],
            labels=_each(small.labels),
            right=_each(small.right),
            details={name: _each(column) for name, column in small.details.items()},
            measured={id: _repeated(one) for id, one in small.measured.items()},
        )

    def _answers(self) -> Iterator[tuple[str, KeptAnswer]]:
        given: dict[str, list[KeptAnswer]] = {}
        for qid, answer in self._small.answers() if self._small.answers else ():
            given.setdefault(qid, []).append(answer)
        for at, question in enumerate(self._asked):
            for answer in given[self._asked[at - at % JUDGED_EACH].qid]:
                yield question.qid, _answer_to(question, answer)


def _answer_to(question: Question, answer: KeptAnswer) -> KeptAnswer:
    trace = structs.replace(
        answer.trace,
        qid=question.qid,
        q=question.text,
        question_sent=question.text,
        run_id=f"{question.qid}#{(answer.trace.run_id or '').partition('#')[2]}",
    )
    return structs.replace(answer, trace=trace)


def _each(column: Any) -> list[Any]:
    return [value for value in column for _ in range(JUDGED_EACH)]


def _repeated(measured: Measured) -> Measured:
    return structs.replace(
        measured,
        values=np.repeat(measured.values, JUDGED_EACH),
        counts=np.repeat(measured.counts, JUDGED_EACH, axis=0),
    )


def _more(score: Score) -> Score:
    n = score.n * JUDGED_EACH
    signature = score.signature.replace(f"|n:{score.n}", f"|n:{n}")
    return structs.replace(score, n=n, of=score.of * JUDGED_EACH, signature=signature)


def _times(coverage: StabilityCoverage) -> StabilityCoverage:
    return StabilityCoverage(**_counts(structs.asdict(coverage)))


def _counted(over: OverQuestions | None) -> OverQuestions | None:
    """Its counts grow, the numbers of prompts do not."""
    if over is None:
        return None
    return structs.replace(over, noops=_counts(over.noops), blamed=_counts(over.blamed))


def _counts(few: dict[str, int]) -> dict[str, int]:
    return {name: count * JUDGED_EACH for name, count in few.items()}
