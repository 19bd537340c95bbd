"""Advice: the hypotheses that the data supports, the strongest first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct, structs

from ragauge.contracts.audit import OK, AuditedAnswer, AuditFacts, LambdaState
from ragauge.contracts.report import Advice, Score
from ragauge.contracts.score import QuestionRow
from ragauge.contracts.stability import FactorEffect, QuestionStability, Stability
from ragauge.contracts.trace_eval import Broken, TracedQuestion
from ragauge.diagnosis.catalogue import catalogue
from ragauge.gates.rules import known_rules, satisfies

SHOWN = 5
UNKNOWN = "unknown"
"""The catalogue's name for an unknown triage."""

MOST_OF = 0.6
"""A stratum is named if it has this fraction of the questions that went wrong …"""
LIFT = 1.5
"""… and that is this many times its fraction of all questions."""


def advise(
    questions: Sequence[QuestionRow],
    scores: Mapping[str, Score],
    strata: Mapping[str, Mapping[str, Any]],
    units: int | None = None,
) -> tuple[Advice, ...]:
    """Every hypothesis that a question supports, ranked by how many do; ties by id.

    `units` is the total number if the questions are only the first of them.
    """
    return advised("quality", questions, scores, strata, units)


class StabilityFacts(Struct, frozen=True, kw_only=True):
    """The facts of a question over its runs that catalogue entries can refer to."""

    qid: str
    answerable: bool
    verdict: Stability
    fails_acr: bool
    fails_cghc: bool
    fails_css: bool
    fails_ned50: bool
    fails_refusal: bool
    fails_scu_cons: bool
    factor: str | None
    """The factor that explains the variation."""
    context: str | None
    """Whether the retrieved ids can explain it."""


def stability_facts(qid: str, detail: QuestionStability) -> StabilityFacts:
    """The facts of a question's details that catalogue entries can refer to."""
    failed = {text.split(" ", 1)[0] for text in detail.failed}
    return StabilityFacts(
        qid=qid,
        answerable=detail.answerable,
        verdict=detail.verdict,
        fails_acr="acr" in failed,
        fails_cghc="cghc" in failed,
        fails_css=not failed.isdisjoint(("css", "css_all", "css_pairwise")),
        fails_ned50="ned50" in failed,
        fails_refusal=not failed.isdisjoint(("refusal_rate", "rcr")),
        fails_scu_cons="scu_cons" in failed,
        factor=detail.explained_by.factor if detail.explained_by else None,
        context=detail.retrieval,
    )


def advise_stability(
    questions: Sequence[StabilityFacts],
    strata: Mapping[str, Mapping[str, Any]],
    factors: Mapping[str, FactorEffect],
) -> tuple[Advice, ...]:
    """The hypotheses that a sweep's questions support, ranked as those of a score.

    Hypotheses about factors keep their places among the others, ordered by how often runs that
    differ only in the factor disagree. Chance comes first unless another factor disagrees more
    often: runs at two temperatures differ by chance as well.
    """
    ranked = list(advised("stability", questions, {}, strata))
    about = {one.id: one.when["factor"] for one in catalogue() if "factor" in one.when}

    def rate(advice: Advice) -> tuple[float, bool]:
        named = [name for name in about[advice.id] if name in factors]
        return max(factors[name].rate or 0.0 for name in named), "seed" in named

    places = [place for place, advice in enumerate(ranked) if advice.id in about]
    by_rate = sorted((ranked[place] for place in places), key=rate, reverse=True)
    for place, advice in zip(places, by_rate, strict=True):
        ranked[place] = advice
    return tuple(ranked)


def advised(
    family: str,
    questions: Sequence[Any],
    scores: Mapping[str, Score],
    strata: Mapping[str, Mapping[str, Any]],
    units: int | None = None,
) -> tuple[Advice, ...]:
    """The advice of a family of the catalogue, ranked by how many questions support it.

    A question is a record with a `qid`, `answerable`, and the facts that the entries refer to.
    """
    found = []
    entries = [entry for entry in catalogue() if entry.family == family]
    # Questions with the same facts are checked once: thousands have a few kinds.
    alike: dict[Any, list[int]] = {}
    kind_of = attrgetter(*sorted({fact for entry in entries for fact in entry.when}))
    for place, row in enumerate(questions):
        alike.setdefault(kind_of(row), []).append(place)
    for entry in entries:
        speaking = []
        for places in alike.values():
            row = questions[places[0]]
            facts = {fact: getattr(row, fact) for fact in entry.when}
            if all(
                (UNKNOWN if facts[fact] is None else facts[fact]) in wanted
                for fact, wanted in entry.when.items()
            ):
                speaking += places
        if speaking and all(_holds(text, scores) for text in entry.scores):
            found.append((entry, [questions[place] for place in sorted(speaking)]))
    found.sort(key=lambda pair: (-len(pair[1]), pair[0].id))
    cut = units is not None and units > len(questions)
    among = f", among the first {len(questions):,} of {units:,}" if cut else ""
    advice = []
    for entry, rows in found:
        qids = list(dict.fromkeys(row.qid for row in rows))
        # Only an answerable question can be over-refused: it is compared with its like.
        kinds = {row.answerable for row in rows}
        like = [row.qid for row in questions if row.answerable in kinds]
        kind = " answerable" if kinds == {True} else " unanswerable" if kinds == {False} else ""
        where = concentration(qids, like, strata, kind)
        evidence = entry.evidence.format(n=len(rows)) + among
        advice.append(
            Advice(
                id=entry.id,
                title=entry.title,
                evidence=f"{evidence}; {where}" if where else evidence,
                confirm=entry.confirm,
                action=entry.action,
                questions=tuple(qids[:SHOWN]),
                n=len(rows),
            )
        )
    return tuple(advice)


def _holds(text: str, scores: Mapping[str, Score]) -> bool:
    (rule,) = known_rules(text)
    score = scores.get(rule.metric)
    return score is not None and score.value is not None and satisfies(rule, score.value)


def concentration(
    qids: Sequence[str],
    everyone: Sequence[str],
    strata: Mapping[str, Mapping[str, Any]],
    kind: str = "",
) -> str | None:
    """A sentence about the stratum that most of these questions share, if it is not just large.

    >>> strata = {str(n): {"language": "nl" if n < 4 else "en"} for n in range(12)}
    >>> concentration(["0", "1", "2"], list(strata), strata)
    '3 of 3 have language=nl (4 of 12 overall)'
    """
    if len(qids) < 3 or not any(strata.values()):
        return None
    here = Counter(pair for qid in qids for pair in strata.get(qid, {}).items())
    all_in = Counter(pair for qid in set(everyone) for pair in strata.get(qid, {}).items())
    total = len(set(everyone))
    candidates = [
        (times / all_in[pair], times, str(pair), pair)
        for pair, times in here.items()
        if times >= MOST_OF * len(qids) and times / len(qids) >= LIFT * all_in[pair] / total
    ]
    if not candidates:
        return None
    _, times, _, (key, value) = max(candidates)
    overall = f"{all_in[key, value]} of {total}{kind} overall"
    return f"{times} of {len(qids)} have {key}={value} ({overall})"


class Fault(Struct, frozen=True, kw_only=True):
    """One error of a unit for the catalogue's entries; None if it has none."""

    qid: str
    error: str | None
    answerable: bool | None = None
    """Always None: a unit of a component is not a question."""


def advise_component(
    family: str,
    units: Sequence[str],
    faults: Sequence[tuple[str, str]],
    strata: Mapping[str, Mapping[str, Any]],
    of: int,
) -> tuple[Advice, ...]:
    """The hypotheses that the faults of a component support, those with the most first.

    `units` may be the first of many; `of` is the total number.
    """
    known = set(units)
    facts = [Fault(qid=unit, error=None) for unit in units]
    facts += [Fault(qid=unit, error=error) for unit, error in faults if unit in known]
    found = advised(family, facts, {}, strata)
    if of == len(units):
        return found
    among = f", among the first {len(units):,} of {of:,}"
    return tuple(structs.replace(one, evidence=one.evidence + among) for one in found)


CODES = "traceability.does_not_hold"
"""The entry that refers to the codes, which come before any knob."""
NEAREST = "chunk"
"""The ΔS that is compared with a calibrated threshold: a single span, as in the calibration."""

Turned = Literal["seed", "wording"]
"""What changes the order of the same chunks; the seed, if a single wording shows it."""


class TraceabilityFacts(Struct, frozen=True, kw_only=True):
    """The facts of a question over its audited runs that catalogue entries can refer to.

    None means unknown. An audit of single answers knows only a few of them.
    """

    qid: str
    answerable: bool | None = None
    holds: bool | None = None
    """No run has a finding."""
    matched: bool | None = None
    """Every answer whose match is known cites the gold."""
    found: bool | None = None
    """Something of the target section was retrieved."""
    near: bool | None = None
    """An answer holds and misses the gold, and its nearest chunk is within the calibrated ΔS."""
    decoy_nearer: bool | None = None
    retrieval: LambdaState | None = None
    answer: LambdaState | None = None
    broken: Broken | None = None
    turned: Turned | None = None
    demoted: bool | None = None
    """Reranking lowers nDCG, over the runs."""
    short: bool = False
    """It has too few wordings for the recipe."""
    fails_coverage: bool = False
    """The gate fails, and the question is beyond its bound; the same for the others."""
    fails_deltas: bool = False
    fails_reach: bool = False
    """Of the gates on how much of the gold is cited."""
    fails_span_precision: bool = False


def traceability_facts(
    question: TracedQuestion,
    runs: Sequence[AuditFacts],
    *,
    turned: Turned | None,
    short: bool,
    failed: Collection[str],
    threshold: float | None,
) -> TraceabilityFacts:
    """The facts of a question that catalogue entries can refer to.

    `failed` has the names of metrics whose gate fails with this question beyond the bound;
    `threshold` is the calibrated one, or None.
    """
    missed = _any([None if run.matched is None else not run.matched for run in runs])
    gains = [
        run.ndcg_after - run.ndcg_before
        for run in runs
        if run.ndcg_after is not None and run.ndcg_before is not None
    ]
    return TraceabilityFacts(
        qid=question.qid,
        answerable=question.answerable,
        holds=all(run.code == OK for run in runs) if runs else None,
        matched=None if missed is None else not missed,
        found=None if question.coverage is None else question.coverage > 0,
        near=_any([_near(run, threshold) for run in runs]),
        decoy_nearer=_any(
            [
                run.deltaS["decoy"] <= run.deltaS["anchor"]
                for run in runs
                if {"anchor", "decoy"} <= run.deltaS.keys()
            ]
        ),
        retrieval=question.retrieval,
        answer=question.answer,
        broken=question.broken,
        turned=turned,
        demoted=math.fsum(gains) < 0 if gains else None,
        short=short,
        fails_coverage="coverage" in failed,
        fails_deltas=not {"deltaS_chunk", "deltaS_context"}.isdisjoint(failed),
        fails_reach=not {"cited_coverage", "span_recall"}.isdisjoint(failed),
        fails_span_precision="span_precision" in failed,
    )


def advise_traceability(
    questions: Sequence[TraceabilityFacts],
    strata: Mapping[str, Mapping[str, Any]],
    *,
    codes_first: bool,
) -> tuple[Advice, ...]:
    """The hypotheses that a trace evaluation's questions support, ranked as those of a score.

    With `codes_first`, none of them is about a knob.
    """
    advice = advised("traceability", questions, {}, strata)
    return tuple(one for one in advice if one.id == CODES) if codes_first else advice


def advise_similarity(
    answers: Iterable[AuditedAnswer], threshold: float | None
) -> tuple[Advice, ...]:
    """The advice from the ΔS of answers that miss the gold, ranked by how many support it.

    Without a calibrated threshold it is not known what is near.
    """
    facts = [
        TraceabilityFacts(qid=answer.qid or answer.where, near=_near(answer, threshold))
        for answer in answers
    ]
    return advised("traceability", facts, {}, {})


def _near(one: AuditFacts | AuditedAnswer, threshold: float | None) -> bool | None:
    """Whether an answer that holds and misses the gold has a chunk within the threshold."""
    if threshold is None or one.matched is not False or one.code != OK or NEAREST not in one.deltaS:
        return None
    return one.deltaS[NEAREST] <= threshold


def _any(values: Sequence[bool | None]) -> bool | None:
    known = [one for one in values if one is not None]
    return any(known) if known else None
