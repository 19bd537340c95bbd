"""Advice: the hypotheses the data speaks for, the strongest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from msgspec import Struct

from ragauge.contracts.score import Advice, QuestionRow, Score
from ragauge.contracts.stability import FactorEffect, QuestionStability, Stability
from ragauge.diagnosis.catalogue import Entry, catalogue
from ragauge.gates.decide import satisfies
from ragauge.gates.rules import known_rules

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
    alike = _alike(questions, sorted({fact for entry in entries for fact in entry.when}))
    for entry in entries:
        kinds = [places for places in alike if _matches(entry, questions[places[0]])]
        speaking = [questions[place] for place in sorted(chain.from_iterable(kinds))]
        if speaking and all(_holds(text, scores) for text in entry.scores):
            found.append((entry, speaking))
    found.sort(key=lambda pair: (-len(pair[1]), pair[0].id))
    cut = units is not None and units > len(questions)
    among = f", among the first {len(questions):,} of {units:,}" if cut else ""
    return tuple(_advice(entry, rows, questions, strata, among) for entry, rows in found)


def _alike(questions: Sequence[Any], facts: Sequence[str]) -> list[list[int]]:
    """Places of questions that entries cannot tell apart: thousands come to a few kinds."""
    kinds: dict[Any, list[int]] = {}
    kind_of = attrgetter(*facts)
    for place, row in enumerate(questions):
        kinds.setdefault(kind_of(row), []).append(place)
    return list(kinds.values())


def _matches(entry: Entry, row: Any) -> bool:
    def value(fact: str) -> Any:
        found = getattr(row, fact)
        return UNKNOWN if found is None else found

    return all(value(fact) in wanted for fact, wanted in entry.when.items())


def _holds(text: str, scores: Mapping[str, Score]) -> bool:
    (rule,) = known_rules(text)
    score = scores.get(rule.metric)
    return score is not None and score.value is not None and satisfies(rule, score.value)


def _advice(
    entry: Entry,
    rows: Sequence[Any],
    questions: Sequence[Any],
    strata: Mapping[str, Mapping[str, Any]],
    among: str,
) -> Advice:
    qids = list(dict.fromkeys(row.qid for row in rows))
    # Only an answerable question can be over-refused: it is compared with its like.
    kinds = {row.answerable for row in rows}
    alike = [row.qid for row in questions if row.answerable in kinds]
    kind = " answerable" if kinds == {True} else " unanswerable" if kinds == {False} else ""
    where = concentration(qids, alike, strata, kind)
    evidence = entry.evidence.format(n=len(rows)) + among
    return Advice(
        id=entry.id,
        title=entry.title,
        evidence=f"{evidence}; {where}" if where else evidence,
        confirm=entry.confirm,
        action=entry.action,
        questions=tuple(qids[:SHOWN]),
        n=len(rows),
    )


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
    if len(qids) < 3:
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
