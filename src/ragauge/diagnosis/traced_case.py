"""What went wrong in a traced answer, given its gold question and the question's other runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import structs

from ragauge.diagnosis.cases import Case, CaseBuilder, ObservedTrace, retrieval_moves
from ragauge.diagnosis.scored_case import LONG, LONG_CONTEXT_WORDS, MANY, PADDED_WORDS, SHORT
from ragauge.metrics.claims import answer_addresses
from ragauge.stats.exact import fisher_log_p
from ragauge.text.words import words

STALE = frozenset({"mismatch_index_hash", "rev_mismatch"})
OFF = frozenset({"span_text_mismatch", "out_of_range", "bad_offsets"})
MIXED = frozenset({"cross_section_reuse"})
SLIPS = 2
"""Letters by which an id may differ from a retrieved one to count as a misspelling of it."""
HEATED = 3
"""Temperature is a cause if a symptom is this many times as frequent as at temperature 0 …"""
ALPHA = 0.05
FEWEST_EACH = 10
"""… with at least this many runs with and without it."""
SLOWER, SLOWER_MS = 10, 200
"""An answer is slow if it takes this many times the median, and this much longer …"""
FEWEST_TIMED = 10
"""… among at least this many timed answers."""
FEWEST = 3
"""Passages that are needed to call evidence late."""


def known_ids(runs: Iterable[ObservedTrace]) -> frozenset[str]:
    """Every id that was retrieved in any run or is in gold."""
    found: set[str] = set()
    for run in runs:
        found.update(run.retrieved or (), run.needed)
    return frozenset(found)


def traced_cases(runs: Sequence[Sequence[ObservedTrace]]) -> list[Case]:
    """A case for each trace; the runs of a question are next to each other."""
    known = known_ids(run for siblings in runs for run in siblings)
    every = [(run, siblings) for siblings in runs for run in siblings]
    token_used = any(run.facts.refusal == "exact" for run, _ in every)
    timed = [run.latency_ms for run, _ in every if run.latency_ms is not None]
    typical_ms = median(timed) if len(timed) >= FEWEST_TIMED else None
    cases = [
        _Traced(run, siblings, known, token_used, typical_ms).case() for run, siblings in every
    ]
    return with_temperature(cases, [run.variation.temperature > 0 for run, _ in every])


def with_temperature(cases: Sequence[Case], warm: Sequence[bool]) -> list[Case]:
    """The cases with the sign of sampling: their faults hardly occur at temperature 0.

    That takes runs with and without it: a single answer does not show whether it would have been
    correct at temperature 0. Faults at temperature 0 itself do not have the sign.
    """
    if min(sum(warm), len(warm) - sum(warm)) < FEWEST_EACH:
        return list(cases)
    # The symptoms that are more frequent in warm cases, several times and beyond chance.
    everywhere = Counter(name for case in cases for name in case.symptoms)
    hot_cases = [case for case, hot in zip(cases, warm, strict=True) if hot]
    n, of = len(hot_cases), len(cases)
    heated = frozenset(
        name
        for name, times in Counter(name for case in hot_cases for name in case.symptoms).items()
        if HEATED * (everywhere[name] - times) / (of - n) <= times / n
        and fisher_log_p(times, n, everywhere[name], of) < math.log(ALPHA)
    )
    return [
        structs.replace(
            case, signs={**case.signs, "right_when_cold": hot and bool(case.symptoms & heated)}
        )
        for case, hot in zip(cases, warm, strict=True)
    ]


class _Traced:
    """Checks one trace."""

    def __init__(
        self,
        run: ObservedTrace,
        siblings: Sequence[ObservedTrace],
        known: frozenset[str],
        token_used: bool,
        typical_ms: float | None,
    ) -> None:
        self._run, self._siblings, self._known = run, siblings, known
        self._token_used, self._typical_ms = token_used, typical_ms
        self._case = CaseBuilder()
        self._addresses = Counter(answer_addresses(run.claims)) if run.claims else Counter()

    def case(self) -> Case:
        run, seen = self._run, self._case
        facts = run.facts
        seen.symptom("call_failed", facts.status == "error")
        if facts.status == "ok":
            if run.latency_ms is not None and self._typical_ms is not None:
                slow_ms = max(SLOWER * self._typical_ms, self._typical_ms + SLOWER_MS)
                seen.symptom("slow", run.latency_ms > slow_ms)
            if facts.refusal in ("exact", "near", "free"):
                # Other words are a fault if they do not count as a refusal, or if the system is
                # known to have a token because it refuses with it elsewhere.
                fault = bool(facts.answered) or self._token_used
                seen.symptom("refusal_form", facts.refusal != "exact" and fault)
            self._check_passages()
            self._check_other_runs()
            if facts.answerable:
                self._check_answer()
            else:
                answers = bool(facts.answered) and facts.refusal in ("none", "undetermined")
                seen.symptom("answered_unanswerable", answers)
            if run.audited and (facts.cited or run.codes):
                seen.symptom("sections_mixed", not run.codes.isdisjoint(MIXED))
                if run.held_to_index:
                    seen.symptom("stale", not run.codes.isdisjoint(STALE))
                if run.held_to_text and facts.hit is not False:  # else the text is another's
                    seen.symptom("offsets_off", not run.codes.isdisjoint(OFF))
            seen.symptom("constraints_lost", None if run.echoed is None else not run.echoed)
        return seen.case(run.id, run.gold.qid)

    def _check_answer(self) -> None:
        run = self._run
        refuses = run.facts.refusal in ("exact", "near", "free") or not run.facts.answered
        wrong = run.right is False
        missing = None if run.found_all is None else not run.found_all
        if missing is not None:
            none_found = not run.found_some
            self._case.symptom("missed", wrong and missing and none_found)
            self._case.symptom("partly_missed", wrong and missing and not none_found)
            self._case.sign("needed_missing", missing)
            self._case.sign("needs_several", len(run.needed) > 1)
        if not refuses or missing is not None:
            self._case.symptom("refused_with_evidence", refuses and not missing)
        if not refuses:
            self._check_statements(missing)
            reference = run.gold.gold_claim or run.gold.gold_answer
            if reference and run.facts.claim:
                answer, wanted = len(words(run.facts.claim)), len(words(reference))
                longer = answer >= max(LONG * wanted, PADDED_WORDS)
                self._case.symptom("padded", longer)
                self._case.sign("longer", longer)
                self._case.sign("shorter", answer < SHORT * wanted)
            self._check_citations(missing)

    def _check_statements(self, missing: bool | None) -> None:
        """Where the wrong statement of an answer comes from, if its passages were retrieved."""
        contained = self._run.facts.contained
        addresses = self._addresses
        judged = addresses.total() - addresses[None] > 0
        if judged:
            self._case.symptom("invented", addresses["invented"] > 0)
            self._case.symptom(
                "own_knowledge", addresses["self_knowledge"] > 0 and contained is False
            )
        if contained is None or missing is not False:
            return
        unsupported = addresses["invented"] + addresses["self_knowledge"] > 0
        noise, read = addresses["misled_by_noise"] > 0, addresses["misled_by_relevant"] > 0
        if judged:
            self._case.symptom("misled_by_noise", not contained and noise)
            self._case.symptom("misread", not contained and read and not noise and not unsupported)
        explained = unsupported or noise or read
        self._case.symptom("left_out", not contained and not (judged and explained))
        sources = len(set(self._run.facts.cited))
        self._case.sign("several_sources", sources > 1)

    def _check_citations(self, missing: bool | None) -> None:
        facts = self._run.facts
        self._case.symptom("uncited", not facts.cited_count)
        self._case.sign("claim_right", facts.contained)
        if not facts.cited_count:
            return
        not_retrieved = [id for id in facts.cited if id not in (self._run.retrieved or facts.cited)]
        # No trace retrieved them, and each is a misspelling of an id that this trace retrieved.
        unknown = [
            id
            for id in not_retrieved
            if id not in self._known
            and any(_is_misspelt(id, known) for known in self._run.retrieved or ())
        ]
        if self._run.retrieved is not None:
            self._case.symptom("cites_unknown", bool(unknown))
        if facts.hit is not None and missing is not None:
            elsewhere = len(not_retrieved) > len(unknown)
            # A wrong claim that cites its own passage is not a fault of the ids.
            drifts = not facts.hit and not missing and not unknown and facts.contained is not False
            self._case.symptom("cites_wrong", elsewhere or drifts)

    def _check_passages(self) -> None:
        """The passages: whether they are too many, in what order, and how deep the search was."""
        run, seen = self._run, self._case
        ids = run.retrieved
        if ids is None:
            return
        seen.sign("many_passages", len(ids) >= MANY)
        if run.contexts is not None:
            length = sum(len(words(context.text)) for context in run.contexts)
            seen.sign("long_context", length >= LONG_CONTEXT_WORDS)
        # Whether the search found more than is shown, and whether a reranker chose from it.
        places = [one.k_pos for one in run.payloads if one.k_pos is not None]
        if places and len(places) >= len(ids):
            unscored = all(one.rerank_score is None for one in run.payloads)
            seen.sign("unranked", unscored)
            deeper = max(places) > len(places)
            if not unscored and (deeper or len(places) > 1):
                seen.sign("shallow_pool", not deeper)
        ranks = [rank for rank, id in enumerate(ids, 1) if id in run.needed]
        if not ranks:
            return
        foreign: frozenset[str] | None = None  # passages of documents that the gold does not name
        if len(run.payloads) >= len(ids):
            ours = {one.doc_id for one in run.payloads if one.snippet_id in run.needed}
            foreign = frozenset(one.snippet_id for one in run.payloads if one.doc_id not in ours)
        seen.symptom("found_late", min(ranks) > 1)
        seen.sign("noise_first", min(ranks) > 1)
        seen.sign("late_evidence", len(ids) >= FEWEST and 3 * max(ranks) > 2 * len(ids))
        if foreign is not None:
            seen.symptom("noisy", len(ids) > 1 and 2 * len(foreign) > len(ids))
            seen.sign("foreign_passages", bool(set(ids[: min(ranks)]) & foreign))
        lowered = [
            one.k_final > one.k_pos
            for one in run.payloads
            if one.snippet_id in run.needed and one.k_final is not None and one.k_pos is not None
        ]
        seen.sign("demoted", any(lowered) if lowered else None)

    def _check_other_runs(self) -> None:
        """Whether other wordings and other seeds of the same question found the evidence."""
        run, seen = self._run, self._case
        others = [other for other in self._siblings if other.id != run.id]
        wordings = [other for other in others if other.wording != run.wording]
        again = [other for other in others if other.wording == run.wording]
        seen.sign("found_in_other_wording", _any(other.found_all for other in wordings))
        seen.sign("found_under_other_seed", _any(other.found_all for other in again))
        seen.sign("retrieval_moves", retrieval_moves(self._siblings))
        seen.sign("rewritten", run.rewritten)
        seen.sign("passed_check", run.passed_check)


def _is_misspelt(id: str, known: str) -> bool:
    """
    >>> _is_misspelt("louvre#history-3", "louvre#history"), _is_misspelt("p9", "p1#4")
    (True, False)
    """
    from rapidfuzz.distance import Levenshtein

    cut = id.startswith(known) or (len(id) > SLIPS and known.startswith(id))
    return cut or Levenshtein.distance(id, known, score_cutoff=SLIPS) <= SLIPS


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [one for one in values if one is not None]
    return any(known) if known else None
