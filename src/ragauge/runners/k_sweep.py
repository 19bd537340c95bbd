"""The k sweep: what retrieval would bring with fewer chunks, or from one of its legs alone.

Every value is taken run by run; a question's is the mean of its runs, and the set's the mean of
its questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from msgspec import structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Absent
from ragauge.contracts.score import Score
from ragauge.contracts.trace_eval import AtK
from ragauge.runners.audit_blocks import BlockAuditor
from ragauge.runners.auditing import Audited, Auditor
from ragauge.text.canonical import composed

NO_RETRIEVED = Absent("what was retrieved is unknown")
NO_GOLD_IDS = Absent("no gold citations")
NO_LEG = Absent("no chunk comes from this leg")
VALUES = ("coverage", "gold_recall", "deltaS")

Value = float | Absent


class KSweep:
    """The values at each cut-off, question by question, and the rows they come to."""

    def __init__(self, ks: Sequence[int], auditor: BlockAuditor, questions: int) -> None:
        self._ks, self._auditor, self._questions = sorted({*ks}), auditor, questions
        self._found: dict[tuple[str | None, int, str], list[Value]] = {}
        self._legs: set[str] = set()

    def add(self, question: Gold, runs: Sequence[Audited], auditor: Auditor) -> None:
        """Take the next question in, with its audited runs."""
        legs = {leg for run in runs for chunk in run.made.retrieved or () for leg in legs_of(chunk)}
        self._legs |= legs
        for leg in (None, *sorted(legs)):
            for k in self._ks:
                each = [self._values(question, run, auditor, leg, k) for run in runs]
                for name in ("chunks", *VALUES):
                    values = [values[name] for values in each]
                    known = [value for value in values if not isinstance(value, Absent)]
                    absent = next(iter(values), NO_RETRIEVED)
                    self._found.setdefault((leg, k, name), []).append(
                        fmean(known) if known else absent
                    )

    def rows(self) -> tuple[AtK, ...]:
        """All legs together first, then each leg; within them by k."""
        rows = []
        for leg in (None, *sorted(self._legs)):
            for k in self._ks:
                scores = {name: self._score(leg, k, name) for name in VALUES}
                chunks = self._score(leg, k, "chunks").value
                rows.append(AtK(k=k, leg=leg, chunks=chunks, **scores))
        return tuple(rows)

    def _score(self, leg: str | None, k: int, name: str) -> Score:
        values = self._found.get((leg, k, name), [])
        known = [value for value in values if not isinstance(value, Absent)]
        reasons = Counter(value.reason for value in values if isinstance(value, Absent))
        why = reasons.most_common(1)[0][0] if reasons else NO_LEG.reason
        return Score(
            value=fmean(known) if known else None,
            n=len(known),
            of=self._questions,
            reason=None if known else why,
        )

    def _values(
        self, question: Gold, run: Audited, auditor: Auditor, leg: str | None, k: int
    ) -> dict[str, Value]:
        if run.failure or run.made.retrieved is None:
            why = Absent(run.failure) if run.failure else NO_RETRIEVED
            return dict.fromkeys(("chunks", *VALUES), why)
        listed = run.made.retrieved
        chunks = [one for one in listed if leg is None or leg in legs_of(one)][:k]
        if leg is not None and not chunks:
            return dict.fromkeys(("chunks", *VALUES), NO_LEG)
        made = structs.replace(run.made, retrieved=chunks)
        wanted = {*map(composed, question.gold_citations)}
        ids = {*map(composed, made.retrieved_ids or ())}
        return {
            "chunks": len(chunks),
            "coverage": auditor.coverage(made, question),
            "gold_recall": len(wanted & ids) / len(wanted) if wanted else NO_GOLD_IDS,
            "deltaS": self._auditor.delta_s(made, question, auditor),
        }


def legs_of(chunk: Any) -> tuple[str, ...]:
    """The legs of hybrid retrieval that brought a chunk, as its payload names them.

    >>> legs_of({"id": "c1", "leg": "lexical"}), legs_of({"legs": ["lexical", "semantic"]})
    (('lexical',), ('lexical', 'semantic'))
    """
    told = chunk if isinstance(chunk, Mapping) else {}
    named = told.get("legs", told.get("leg"))
    listed = named if isinstance(named, list) else [named]
    return tuple(leg for leg in listed if isinstance(leg, str) and leg.strip())
