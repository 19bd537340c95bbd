"""Calibrate groundedness: refitted to a user's labels, and held against them out of fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.answer_calibration import (
    AnswerCalibrationReport,
    Control,
    KindFit,
    LabelledScores,
)
from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind
from ragauge.contracts.finding import Finding
from ragauge.contracts.metric import Absent
from ragauge.contracts.score import Outcome
from ragauge.ingest.fields import quoted
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.grounds import grounds_of
from ragauge.runners.answers.agreement import Scored, controls, labelled_scores
from ragauge.runners.answers.calibrated_file import coefficients_text
from ragauge.runners.answers.calibration_report import Calibrating
from ragauge.runners.answers.labelled import Labelled, LabelledRows, read_labelled
from ragauge.runners.answers.refitting import SHIPPED, Examples, Refit, refit
from ragauge.text.grounding.features import answer_features, read_answer
from ragauge.text.grounding.groundedness import NO_CLAIM, NO_CONTEXT, kind_of
from ragauge.text.grounding.model import KindModel, Model, shipped
from ragauge.text.grounding.passages import Passages
from ragauge.text.refusal import refusal_in, tokens

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source


METRIC = "answers.groundedness"
DECISION = "answers.grounded"
LEXICAL = "lexical"
CALIBRATED = "calibrated"
HASH_SHOWN = 8
DIGITS = 6


def calibrate_groundedness(
    rows: Source,
    *,
    label: str | None = None,
    good: str | None = None,
    group: str | None = None,
    kind: AnswerKind | None = None,
    input_format: str | None = None,
    max_bad: str = "0",
    progress: Progress | None = None,
) -> Outcome[AnswerCalibrationReport]:
    """Groundedness before and after it is fitted to labels, and the coefficients that came of it.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    labelled = read_labelled(
        rows, label=label, good=good, group=group, input_format=input_format, max_bad=max_bad
    )
    unscored: Counter[str] = Counter()
    read = read_as_seen(labelled, kind, unscored, progress)
    return _outcome(labelled, read, unscored)


_NOTHING = Scored(
    name=SHIPPED, order=np.zeros(0), chances=np.zeros(0), said=np.zeros(0, bool), threshold=None
)


def _outcome(
    labelled: LabelledRows, read: Sequence[Read], unscored: Counter[str]
) -> Outcome[AnswerCalibrationReport]:
    """What the labels allow, kind by kind, and the report on it."""
    model, refits = shipped(), _refits(read, shipped())
    fitted = _fitted(model, refits, labelled.sha256)
    shown = _Shown(read, refits)
    scores = shown.scores()
    used = next((one for one in scores if one.used and one.kind is shown.whole), None)
    calibrating = Calibrating(
        task="groundedness",
        metric=METRIC,
        judge=fitted.id,
        labelled=labelled,
        scored=len(read),
        unscored=unscored,
    )
    return calibrating.outcome(
        used or labelled_scores(_NOTHING, [], None, used=True),
        scores=scores,
        controls=shown.controls(),
        too_few=_too_few(refits),
        agreement=(METRIC, DECISION),
        by=LEXICAL,
        kinds=[_kind_fit(name, one, read, model) for name, one in refits.items()],
        coefficients=coefficients_text(fitted) if _calibrated(refits) else None,
    )


def _refits(read: Sequence[Read], model: Model) -> dict[AnswerKind, Refit]:
    """What became of each kind that there is an answer of."""
    there = {one.kind for one in read}
    return {
        kind: refit(_examples(read, kind, model.kinds[kind]))
        for kind in ANSWER_KINDS
        if kind in there
    }


def _examples(read: Sequence[Read], kind: AnswerKind, model: KindModel) -> Examples:
    own = [one for one in read if one.kind == kind]
    return Examples(
        model=model,
        values=np.array([one.values for one in own]),
        good=np.array([one.labelled.good for one in own]),
        sources=[one.labelled.source for one in own],
    )


def _calibrated(refits: dict[AnswerKind, Refit]) -> bool:
    return any(one.done != "kept" for one in refits.values())


def _too_few(refits: dict[AnswerKind, Refit]) -> str | None:
    """Why nothing can be said of any kind; None where something can."""
    if not all(one.short for one in refits.values()):
        return None
    return "; ".join(f"{kind}: {one.reason}" for kind, one in refits.items()) or None


def _fitted(model: Model, refits: dict[AnswerKind, Refit], sha256: str) -> Model:
    """The shipped model, with what was fitted in its place."""
    if not _calibrated(refits):
        return model
    kinds = {
        kind: refits[kind].model if kind in refits else model.kinds[kind] for kind in model.kinds
    }
    return Model(version=f"{model.version}+{sha256[:HASH_SHOWN]}", kinds=kinds)


def _kind_fit(kind: AnswerKind, refit: Refit, read: Sequence[Read], model: Model) -> KindFit:
    own = [one.labelled for one in read if one.kind == kind]
    return KindFit(
        kind=kind,
        n=len(own),
        good=sum(one.good for one in own),
        sources=len({one.source for one in own}),
        done=refit.done,
        reason=refit.reason,
        gain=None if refit.gain is None else round(refit.gain, DIGITS),
        gain_ci=refit.gain_ci
        and (round(refit.gain_ci[0], DIGITS), round(refit.gain_ci[1], DIGITS)),
        threshold_before=model.kinds[kind].threshold,
        threshold=round(refit.model.threshold, DIGITS),
    )


class _Shown:
    """Scores of every kind, and of all kinds together where there are several."""

    def __init__(self, read: Sequence[Read], refits: dict[AnswerKind, Refit]) -> None:
        self._read, self._refits = read, refits
        self._of = np.array([one.kind for one in read])
        self._rows = [one.labelled for one in read]

    @property
    def whole(self) -> AnswerKind | None:
        """The kind that stands for all answers: the only one, or None for several."""
        return next(iter(self._refits)) if len(self._refits) == 1 else None

    def scores(self) -> list[LabelledScores]:
        shown = []
        if len(self._refits) > 1:
            before, after = self._together()
            shown += [
                labelled_scores(before, self._rows, None, used=False),
                labelled_scores(after, self._rows, None, used=True),
            ]
        for kind, one in self._refits.items():
            rows = [answer.labelled for answer in self._read if answer.kind == kind]
            shown += [
                labelled_scores(scored, rows, kind, used=name == one.used)
                for name, scored in one.scored.items()
            ]
        return shown

    def controls(self) -> list[Control]:
        found: list[Control] = []
        if len(self._refits) > 1:
            found += controls(self._together()[1].order, self._rows, None)
        for kind, one in self._refits.items():
            rows = [answer.labelled for answer in self._read if answer.kind == kind]
            found += controls(one.scored[one.used].order, rows, kind)
        return found

    def _together(self) -> tuple[Scored, Scored]:
        """Of all kinds, what is shipped and what is used from now on, in the order of the rows."""
        before = {kind: one.scored[SHIPPED] for kind, one in self._refits.items()}
        after = {kind: one.scored[one.used] for kind, one in self._refits.items()}
        return self._joined(SHIPPED, before), self._joined(CALIBRATED, after)

    def _joined(self, name: str, parts: dict[AnswerKind, Scored]) -> Scored:
        chances, said = np.zeros(len(self._read)), np.zeros(len(self._read), dtype=bool)
        for kind, one in parts.items():
            chances[self._of == kind], said[self._of == kind] = one.chances, one.said
        return Scored(name=name, order=chances, chances=chances, said=said, threshold=None)


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
