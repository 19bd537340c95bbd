"""What went wrong in a scored sample, according to its scores, claims and texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from msgspec import structs

from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.diagnosis import ScoreRow, Threshold
from ragauge.diagnosis.cases import Case, CaseBuilder
from ragauge.diagnosis.features import needed_ranks
from ragauge.diagnosis.limits import beyond, limits_of, plain_name
from ragauge.metrics.claims import (
    answer_addresses,
    in_contexts,
    reference_addresses,
    relevance,
)
from ragauge.refusals.predicate import is_refusal
from ragauge.text.words import words

MISSES = ("missed", "partly_missed")
_WRONG = ("factual_correctness", "semantic_similarity")
LOWERS: dict[str, tuple[str, ...]] = {
    "missed": ("context_recall", *_WRONG),
    "partly_missed": ("context_recall", *_WRONG),
    "found_late": ("context_precision",),
    "noisy": ("context_precision",),
    "invented": ("faithfulness",),
    "own_knowledge": ("faithfulness",),
    "misled_by_noise": ("noise_sensitivity", *_WRONG),
    "misread": ("noise_sensitivity", *_WRONG),
    "left_out": _WRONG,
    "padded": ("answer_relevancy", *_WRONG),
    "refused_with_evidence": ("answer_relevancy", *_WRONG),
}
"""The judged metrics that a symptom lowers: if they are fine, texts alone do not prove it."""
BY_CLAIMS = frozenset(
    {*MISSES, "found_late", "noisy", "invented", "own_knowledge", "misled_by_noise", "misread"}
) | {"left_out"}
LEADS_ASTRAY = frozenset(
    {"missed", "partly_missed", "invented", "own_knowledge", "misled_by_noise", "misread"}
)
LONG = 3.0
"""An answer is padded if it has this many times the words of its reference …"""
PADDED_WORDS = 40
"""… and at least this many words."""
SHORT = 0.5
MANY = 6
"""A context with this many passages has many."""
LONG_CONTEXT_WORDS = 1500


def scored_case(
    row: ScoreRow,
    claims: AnswerClaims | None,
    limits: Mapping[str, Threshold] | None = None,
    *,
    passed_over: bool = False,
) -> Case:
    """The row's symptoms and signs.

    A judge's scores have priority over text comparison; the claims show where an error comes from.
    """
    case = _Scored(row, claims, limits or {}).case()
    if not passed_over:
        return case
    # Its claims were not checked because its scores are among the better ones. Assuming that it
    # has no symptoms is cautious; otherwise the worst rows would represent all of them.
    return structs.replace(case, looked_for=case.looked_for | BY_CLAIMS)


class _Scored:
    """Checks one row."""

    def __init__(
        self, row: ScoreRow, claims: AnswerClaims | None, limits: Mapping[str, Threshold]
    ) -> None:
        self._row, self._case = row, CaseBuilder()
        self._low = _Low(row.values, limits)
        self._addresses = Counter(answer_addresses(claims)) if claims else Counter()
        self._wanted = Counter(reference_addresses(claims)) if claims else Counter()
        self._relevant = relevance(claims) if claims else None
        self._grounds = in_contexts(
            (claims.answer if claims else None) or (), claims.chunks if claims else None
        )
        self._answer_words = len(words(row.answer or ""))
        self._reference_words = len(words(row.reference or ""))
        self._refused = _refuses(row.answer, row.question)
        # A reference that refuses means the same as the field.
        self._unanswerable = row.answerable is False or _refuses(row.reference, row.question)

    def case(self) -> Case:
        row = self._row
        failed = None if row.answer is None else not row.answer.strip()
        self._case.symptom("call_failed", failed)
        missing = None
        if not self._unanswerable:
            missing = self._check_retrieval()
            self._check_order()
        if not failed and self._unanswerable:
            answered = None if row.answer is None else not self._refused
            self._case.symptom("answered_unanswerable", answered)
        elif not failed:
            shown = None if missing is None else self._refused and not missing
            self._case.symptom("refused_with_evidence", shown)
            if not self._refused:
                self._check_statements()
                self._check_answer(missing)
        if not failed:
            self._check_citations()
        case = self._case.case(row.id, row.id)
        # Symptoms whose judged metrics are known and not low.
        judged = {name: {*map(self._low, LOWERS.get(name, ()))} - {None} for name in case.symptoms}
        fine = {name for name, answered in judged.items() if answered == {False}}
        return structs.replace(case, symptoms=case.symptoms - fine)

    def _check_retrieval(self) -> bool | None:
        """Whether something that the answer needs was not retrieved; None if unknown."""
        judged, of = self._low("context_recall"), self._wanted.total() - self._wanted[None]
        by_ids = _fraction_found(self._row.gold_ids, self._row.retrieved_ids)
        # By claims if ids are missing: what the answer says was retrieved, however it is worded.
        by_claims = 1 - self._wanted["retriever_missed"] / of if of else None
        found = by_ids if by_ids is not None else by_claims
        missing = judged if judged is not None else None if found is None else found < 1
        self._case.sign("needed_missing", missing)
        if missing is None:
            return None
        none_found = found == 0 if found is not None else self._low.far("context_recall")
        self._case.symptom("missed", missing and none_found)
        self._case.symptom("partly_missed", missing and not none_found)
        needs = self._row.gold_ids or ()
        if needs or of:
            self._case.sign("needs_several", max(len(needs), of) > 1)
        return missing

    def _check_order(self) -> None:
        row, judged = self._row, self._low("context_precision")
        passages = row.contexts if row.retrieved_ids is None else row.retrieved_ids
        many = None if passages is None else len(passages)
        ranks = needed_ranks(row)
        if ranks is None and self._relevant is not None:
            ranks = [rank for rank, relevant in enumerate(self._relevant, 1) if relevant]
        if ranks is not None and many:
            first = min(ranks, default=None)
            if first is not None:
                self._case.symptom("found_late", first > 1)
                self._case.sign("noise_first", first > 1)
                self._case.sign("late_evidence", 3 * max(ranks) > 2 * many)
            useless = many - len(ranks)
            if judged is not None:  # nothing useful at all is no noise, but a miss
                self._case.symptom(
                    "noisy", judged and (bool(ranks) or not self._case.shows(MISSES))
                )
            else:
                self._case.symptom("noisy", bool(ranks) and 2 * useless > many)
        elif judged is not None:
            self._case.symptom("noisy", judged)
        if many is not None:
            self._case.sign("many_passages", many >= MANY)
        if row.contexts is not None:
            length = sum(len(words(context.text)) for context in row.contexts)
            self._case.sign("long_context", length >= LONG_CONTEXT_WORDS)

    def _check_statements(self) -> None:
        """Whether the answer says what no passage says, or what a wrong passage says."""
        unfaithful, misled = self._low("faithfulness"), self._low("noise_sensitivity")
        addresses = self._addresses
        if addresses.total() - addresses[None]:
            unsupported = addresses["invented"] + addresses["self_knowledge"] > 0
            bad = unsupported if unfaithful is None else unfaithful
            right_all = addresses["self_knowledge"] > 0 and not addresses["invented"]
            self._case.symptom("invented", bad and not right_all)
            self._case.symptom("own_knowledge", bad and right_all)
            wrong = self._is_wrong()
            noise, read = addresses["misled_by_noise"] > 0, addresses["misled_by_relevant"] > 0
            by_judge = misled and (noise or not read)  # the words only say which passage it was
            self._case.symptom(
                "misled_by_noise", noise and bool(wrong) if misled is None else by_judge
            )
            self._case.symptom("misread", read and not noise and bool(wrong or misled))
            self._case.sign("several_sources", sum(self._relevant or ()) > 1)
        else:
            known, true = self._grounds.known, self._grounds.true
            by_words = known > true if known else None
            self._case.symptom("invented", by_words if unfaithful is None else unfaithful)
            self._case.symptom("misled_by_noise", misled)

    def _is_wrong(self) -> bool | None:
        """Whether the answer lacks something in its reference; None if unknown.

        A judge's score has priority. Otherwise the claims of the reference decide, not those of
        the answer: an answer that says more than its reference is not wrong.
        """
        judged = self._low("factual_correctness")
        of = self._wanted.total() - self._wanted[None]
        if judged is not None or not of:
            return judged
        return self._wanted["said"] < of

    def _check_answer(self, missing: bool | None) -> None:
        """Whether the answer is about the question, and has what its reference has."""
        off, wrong = self._low("answer_relevancy"), self._low("factual_correctness")
        far = self._low("semantic_similarity")
        # An answer that was misled is off the question for that reason.
        self._case.symptom("off_question", off and not self._case.shows(LEADS_ASTRAY))
        if self._row.reference is not None and self._row.answer is not None:
            longer = self._answer_words >= max(LONG * self._reference_words, PADDED_WORDS)
            shorter = self._answer_words < SHORT * self._reference_words
            self._case.sign("longer", longer)
            self._case.sign("shorter", shorter)
            self._case.symptom("padded", longer and bool(off or far))
        unused, of = self._wanted["unused"], self._wanted.total() - self._wanted[None]
        low = self._is_wrong()
        if of:
            # If the answer says something wrong instead, that is the error, not the omission.
            addresses = self._addresses
            wrongly = (
                addresses["invented"]
                + addresses["misled_by_noise"]
                + addresses["misled_by_relevant"]
                > 0
            )
            omits = unused > 0 and not wrongly
            self._case.symptom("left_out", omits and low is not False)
        elif wrong is not None and missing is not None:
            faithful = self._low("faithfulness") is False
            self._case.symptom("misread", wrong and not missing and faithful)
        if far is not None and wrong is not None:
            self._case.symptom("reworded", far and not wrong)

    def _check_citations(self) -> None:
        row = self._row
        if row.cited is None or self._refused:
            return
        self._case.symptom("uncited", not row.cited)
        if row.gold_ids and row.cited:
            hit = not set(row.gold_ids).isdisjoint(row.cited)
            found = _fraction_found(row.gold_ids, row.retrieved_ids)
            self._case.symptom("cites_wrong", not hit and found != 0)


class _Low:
    """Whether a sample is beyond the warning threshold of a metric; None without a value."""

    def __init__(self, values: Mapping[str, float], limits: Mapping[str, Threshold]) -> None:
        # A judge's values come last, to override lexical ones.
        by_words_first = sorted(values, key=lambda name: ("lexical_" not in name, name))
        self._values = {plain_name(name): values[name] for name in by_words_first}
        own = {plain_name(name): one for name, one in limits.items()}
        self._limits = {name: own.get(name) or limits_of(name) for name in self._values}

    def __call__(self, metric: str) -> bool | None:
        return self._beyond(metric, critical=False)

    def far(self, metric: str) -> bool:
        """Beyond the critical threshold."""
        return bool(self._beyond(metric, critical=True))

    def _beyond(self, metric: str, *, critical: bool) -> bool | None:
        value, limits = self._values.get(metric), self._limits.get(metric)
        if value is None or limits is None:
            return None
        limit = limits.critical if critical and limits.critical is not None else limits.warning
        return beyond(value, limit, limits.better)


def _refuses(text: str | None, question: str | None) -> bool:
    return bool(text) and is_refusal(text or "", "free", question=question)


def _fraction_found(
    needed: Collection[str] | None, retrieved: Collection[str] | None
) -> float | None:
    """The fraction of the needed ids that were retrieved."""
    if not needed or retrieved is None:
        return None
    return len(set(needed).intersection(retrieved)) / len(set(needed))
