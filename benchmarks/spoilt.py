"""Runs of the reference pipeline with faults switched on, as the diagnosis is tried on them.

A run asks a draw of questions in the wordings that the faultless pipeline gets right, under two
seeds and two temperatures; and along with them some others in wordings that it gets wrong without
any fault, because no real system is ever quite sound. Unselected, it asks whatever there is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragauge.citations.validator import Policy
from ragauge.contracts.gold import Gold
from ragauge.contracts.run import PlannedRun, Variation
from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.diagnosis.cases import Case, ObservedTrace
from ragauge.diagnosis.traced_case import traced_cases
from ragauge.ingest.gold import read_gold
from ragauge.metrics.facts import Reader, Reading
from ragauge.runners.audit_blocks import AuditSetup, BlockAudit, BlockAuditor
from ragauge.runners.diagnosis.traced import Observer, read_full

HANDBOOK = Path(__file__).parent / "handbook"
SOUND, UNSOUND = 44, 3
"""Questions of a run: those asked in wordings that go right without a fault, and those not."""
WORDINGS = 3
SEEDS, TEMPERATURES = 2, (0.0, 0.7)

CAUSES = {
    "unstable_retrieval": "cause.unstable_retrieval",
    "narrow_recall": "cause.pool_narrow",
    "no_rerank": "cause.no_reranking",
    "noise_injected": "cause.noise_gets_in",
    "paraphrase_sensitivity": "cause.wording_drift",
    "stale_payloads": "cause.stale_index",
    "drifted_offsets": "cause.offsets_drift",
    "mixed_sections": "cause.mixed_sections",
    "wrong_citations": "cause.wrong_ids",
    "invented_citations": "cause.invented_ids",
    "uncited": "cause.cites_nothing",
    "ungrounded_generation": "cause.ungrounded",
    "hot_sampling": "cause.sampling",
    "padded_answers": "cause.padded",
    "chatty_refusals": "cause.refusal_form",
    "over_refusal": "cause.refuses_with_evidence",
    "lax_refusal": "cause.answers_unanswerable",
    "dropped_constraints": "cause.constraints_dropped",
    "failing": "cause.calls_fail",
}
"""Each fault of the pipeline that spoils answers, and the cause that a diagnosis should name."""
NEVER_WHOLE = frozenset({"paraphrase_sensitivity"})
"""Where every wording loses its passage, the wording is not the cause any more."""


class Asked(NamedTuple):
    """A question with the numbers of the wordings it is asked in."""

    gold: Gold
    wordings: Sequence[int]


class Corpus:
    """Documents with a gold set, and the pipeline over them."""

    def __init__(self, name: str, documents: Path, gold: Path, *, selected: bool = True) -> None:
        self.name, self.documents = name, documents
        self.pipeline = Pipeline.of(documents)
        policy = Policy(depth="text", cite_first=False)
        manifest = self.pipeline.index.manifest
        self.auditor = BlockAuditor(
            AuditSetup(policy=policy, manifest=manifest, docs=str(documents))
        )
        self.observer = Observer(Reader(Reading()), indexed=True, documents=True)
        self._sound: list[Asked] = []
        self._unsound: list[Asked] = []
        for question in read_gold(str(gold)):
            if not selected:
                places = range(len(_wordings(question)))
                self._sound.append(Asked(question, list(places)[:WORDINGS]))
                continue
            right = [w for w, _ in enumerate(_wordings(question)) if self._is_right(question, w)]
            wrong = [w for w, _ in enumerate(_wordings(question)) if w not in right]
            if 0 in right:
                self._sound.append(Asked(question, right[:WORDINGS]))
            if wrong:
                self._unsound.append(Asked(question, wrong[:2]))

    @property
    def size(self) -> str:
        right, wrong = len(self._sound), len(self._unsound)
        return f"{right} questions answered correctly, {wrong} with a wording that is not"

    def drawn(self, draw: int) -> list[Asked]:
        """The questions of a run, those of the same draw always the same."""
        chance = random.Random(draw)
        sound = chance.sample(self._sound, min(SOUND, len(self._sound)))
        taken = {asked.gold.qid for asked in sound}
        others = [asked for asked in self._unsound if asked.gold.qid not in taken]
        return sound + chance.sample(others, min(UNSOUND, len(others)))

    def lines(self, faults: Sequence[str], draw: int) -> Iterator[tuple[Gold, list[bytes]]]:
        """Each question with its traces as a journal has them."""
        for question, wordings in self.drawn(draw):
            runs = [
                PlannedRun(question.qid, Variation(w, "none", heat, 10 * draw + seed), text)
                for w, text in enumerate(_wordings(question))
                if w in wordings
                for seed in range(SEEDS)
                for heat in TEMPERATURES
            ]
            yield question, [self._line(run, question, faults) for run in runs]

    def observed(self, faults: Sequence[str], draw: int) -> list[list[ObservedTrace]]:
        return [
            self.observed_lines(question, lines) for question, lines in self.lines(faults, draw)
        ]

    def observed_lines(self, question: Gold, lines: Sequence[bytes]) -> list[ObservedTrace]:
        key = self.observer.reader.key(question)
        read = [(number, read_full(line), None) for number, line in enumerate(lines, 1)]
        audited = self.auditor.audited(read, BlockAudit(""), None)
        return [self.observer.one(key, number, one) for number, one in audited]

    def cases(self, faults: Sequence[str], draw: int) -> list[Case]:
        return traced_cases(self.observed(faults, draw))

    def _line(self, run: PlannedRun, question: Gold, faults: Sequence[str]) -> bytes:
        vary = run.variation
        record: dict[str, Any] = {
            "qid": run.qid,
            "run_id": run.run_id,
            "seed": vary.seed,
            "temperature": vary.temperature,
            "jitter": vary.jitter,
            "paraphrase": vary.paraphrase,
            "question_sent": run.question_sent,
        }
        try:
            record |= {"status": "ok", **self.pipeline.answer(_ask(run, question, faults))}
        except CallFailed as failure:
            record |= {"status": "error", "error": str(failure)}
        return msgspec.json.encode(record)

    def _is_right(self, question: Gold, wording: int) -> bool:
        run = PlannedRun(question.qid, Variation(wording), _wordings(question)[wording])
        line = self._line(run, question, ())
        (seen,) = self.observed_lines(question, [line])
        return bool(seen.right)


def _wordings(question: Gold) -> list[str]:
    return [question.question, *question.paraphrases]


def _ask(run: PlannedRun, question: Gold, faults: Sequence[str]) -> Ask:
    knobs = {"faults": list(faults), "constraints": list(question.constraints)}
    vary = run.variation
    return Ask(q=run.question_sent, seed=vary.seed, temperature=vary.temperature, knobs=knobs)


def heritage(*, selected: bool = True) -> Corpus:
    """The bundled set, which the rules of the diagnosis were written with."""
    return Corpus("heritage", DOCUMENTS, GOLD, selected=selected)


def handbook(*, selected: bool = True) -> Corpus:
    """The set that nobody looked at while they were."""
    folder = HANDBOOK / "documents"
    return Corpus("handbook", folder, HANDBOOK / "gold.jsonl", selected=selected)
