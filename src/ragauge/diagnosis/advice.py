"""Advice: the hypotheses the data speaks for, the strongest first."""

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
"""How the catalogue calls a triage that could not be told."""

MOST_OF = 0.6
"""A stratum is named when it holds this share of the questions that went wrong …"""
LIFT = 1.5
"""… and its share there is this many times its share of all questions."""


def advise(
    questions: Sequence[QuestionRow],
    scores: Mapping[str, Score],
    strata: Mapping[str, Mapping[str, Any]],
    units: int | None = None,
) -> tuple[Advice, ...]:
    """Every hypothesis that some question speaks for, ranked by how many do; ties by id.

    `units` says how many there were in all, where the questions are only the first of them.
    """
    return advised("quality", questions, scores, strata, units)


class StabilityFacts(Struct, frozen=True, kw_only=True):
    """A question over its runs, as the catalogue asks for it."""

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
    """What the variation goes with."""
    context: str | None
    """Whether the retrieved ids can explain it."""


def stability_facts(qid: str, detail: QuestionStability) -> StabilityFacts:
    """What the catalogue may ask of a question's details."""
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
    """The hypotheses that a sweep's questions speak for, ranked as those of a score.

    Those about factors keep their places among the others, and follow each other by how often
    runs that differ in the factor alone disagree. Chance comes first where another factor does
    not disagree more often: runs at two temperatures differ by chance as well.
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
    """What a family of the catalogue says of these questions, ranked by how many speak for it.

    A question is a record with a `qid`, `answerable`, and the facts that the entries ask for.
    """
    found = []
    entries = [entry for entry in catalogue() if entry.family == family]
    # Questions that no entry can tell apart are looked at once: thousands come to a few kinds.
    alike: dict[Any, list[int]] = {}
    kind_of = attrgetter(*sorted({fact for entry in entries for fact in entry.when}))
    for place, row in enumerate(questions):
        alike.setdefault(kind_of(row), []).append(place)
    for entry in entries:
        speaking = []
        for places in alike.values():
            row = questions[places[0]]
            told = {fact: getattr(row, fact) for fact in entry.when}
            if all(
                (UNKNOWN if told[fact] is None else told[fact]) in wanted
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
    """The stratum most of these questions share, in words, where it is no mere chance of size.

    >>> strata = {str(n): {"language": "nl" if n < 4 else "en"} for n in range(12)}
    >>> concentration(["0", "1", "2"], list(strata), strata)
    '3 of 3 have language=nl (4 of all 12)'
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
    held = f"{all_in[key, value]} of all {total}{kind}"
    return f"{times} of {len(qids)} have {key}={value} ({held})"


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that went wrong in a unit, as the catalogue asks for it; None where nothing did."""

    qid: str
    error: str | None
    answerable: bool | None = None
    """A unit of a component is no question."""


def advise_component(
    family: str,
    units: Sequence[str],
    faults: Sequence[tuple[str, str]],
    strata: Mapping[str, Mapping[str, Any]],
    of: int,
) -> tuple[Advice, ...]:
    """The hypotheses that the faults of a component speak for, those with the most first.

    `units` may be the first of many: `of` says how many there are in all.
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
"""The entry that sends its reader to the codes, and so comes before every knob."""
NEAREST = "chunk"
"""The ΔS that a calibrated threshold is held against: a single span, as those it was fitted on."""

Turned = Literal["seed", "wording"]
"""What goes with another order of the same chunks; the seed, where one wording shows it."""


class TraceabilityFacts(Struct, frozen=True, kw_only=True):
    """A question over its audited runs, as the catalogue asks for it.

    None is what cannot be said. An audit tells of single answers, and so knows but a few of them.
    """

    qid: str
    answerable: bool | None = None
    holds: bool | None = None
    """Nothing was found in any run."""
    matched: bool | None = None
    """Every answer whose match can be told cites the gold."""
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
    """The gate fails, and the question is beyond its bound; so with the others."""
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
    """What the catalogue may ask of a question.

    `failed` are the names of metrics whose gate fails with this question beyond the bound;
    `threshold` is the calibrated one, None where nobody can say what is near.
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
    """The hypotheses that a trace evaluation's questions speak for, ranked as those of a score.

    Where codes come first, none of them is about a knob.
    """
    advice = advised("traceability", questions, {}, strata)
    return tuple(one for one in advice if one.id == CODES) if codes_first else advice


def advise_similarity(
    answers: Iterable[AuditedAnswer], threshold: float | None
) -> tuple[Advice, ...]:
    """What the ΔS of answers that miss the gold speaks for, ranked by how many do.

    Without a calibrated threshold nobody can say what is near.
    """
    told = [
        TraceabilityFacts(qid=answer.qid or answer.where, near=_near(answer, threshold))
        for answer in answers
    ]
    return advised("traceability", told, {}, {})


def _near(one: AuditFacts | AuditedAnswer, threshold: float | None) -> bool | None:
    """Whether an answer that holds and misses the gold had something near to go by."""
    if threshold is None or one.matched is not False or one.code != OK or NEAREST not in one.deltaS:
        return None
    return one.deltaS[NEAREST] <= threshold


def _any(told: Sequence[bool | None]) -> bool | None:
    known = [one for one in told if one is not None]
    return any(known) if known else None
