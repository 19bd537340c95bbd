"""What an evaluation of links shows beside its numbers: ranks, types, pairs and errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from ragauge.contracts.evaluation import ERRORS_KEPT, KbPair, LinkDetail, LinkError
from ragauge.contracts.links import GoldLink, LinkedMention, PredictedLink
from ragauge.metrics.link_facts import MentionPair

Case = tuple[MentionPair, LinkedMention]
"""A mention on both sides, and its facts."""
Kind = Literal["wrong", "ranked_low", "not_linked", "should_be_nil", "missing"]
SHOWN_CANDIDATES = 5
RANKS = {"1": (1, 1), "2-5": (2, 5), "6-10": (6, 10)}


def detail_of(cases: Sequence[Case]) -> LinkDetail:
    """The detail of a report, from all mentions in the order of their documents."""
    facts = [mention for _, mention in cases]
    counts: Counter[str] = Counter()
    errors: list[LinkError] = []
    for (gold, said), mention in cases:
        kind = error_kind(mention)
        if kind is None or gold is None:
            continue
        counts[kind] += 1
        if counts[kind] <= ERRORS_KEPT:
            errors.append(_error(kind, gold, said, mention))
    return LinkDetail(
        in_kb=sum(mention.in_kb for mention in facts),
        nil=sum(mention.nil for mention in facts),
        missing=sum(mention.in_gold and not mention.answered for mention in facts),
        ranks=_ranks(facts),
        kb_pairs=_kb_pairs(facts),
        error_counts=dict(sorted(counts.items())),
        errors=tuple(errors),
    )


def error_kind(mention: LinkedMention) -> Kind | None:
    """What is wrong with the answer to a gold mention; None where nothing is."""
    if not mention.in_gold or mention.right:
        return None
    if not mention.answered:
        return "missing"
    if mention.nil:
        return "should_be_nil"
    if not mention.linked:
        return "not_linked"
    return "wrong" if mention.rank is None else "ranked_low"


def types_of(cases: Sequence[Case]) -> dict[str, dict[str, float | None]]:
    """By type of mention, where gold tells: how many there are, how many are NIL, and scores."""
    by_type: dict[str, list[LinkedMention]] = {}
    for (gold, _), mention in cases:
        if gold is not None and gold.type is not None:
            by_type.setdefault(gold.type, []).append(mention)
    return {name: _scores(by_type[name]) for name in sorted(by_type)}


def _scores(mentions: Sequence[LinkedMention]) -> dict[str, float | None]:
    in_kb = [mention for mention in mentions if mention.in_kb]
    hits = sum(mention.rank == 1 for mention in in_kb)
    reciprocal = sum(1 / mention.rank for mention in in_kb if mention.rank)
    return {
        "hits@1": hits / len(in_kb) if in_kb else None,
        "mrr": reciprocal / len(in_kb) if in_kb else None,
        "accuracy": sum(mention.right for mention in mentions) / len(mentions),
        "n": len(mentions),
        "nil": len(mentions) - len(in_kb),
    }


def _ranks(facts: Sequence[LinkedMention]) -> dict[str, int]:
    found = dict.fromkeys((*RANKS, "beyond", "none"), 0)
    for mention in facts:
        if mention.in_kb:
            found[_rank_name(mention.rank)] += 1
    return found


def _rank_name(rank: int | None) -> str:
    if rank is None:
        return "none"
    return next((name for name, (low, high) in RANKS.items() if low <= rank <= high), "beyond")


def _kb_pairs(facts: Sequence[LinkedMention]) -> dict[str, KbPair]:
    of = Counter(pair for mention in facts for pair in mention.paired)
    told: dict[str, list[bool]] = {pair: [] for pair in sorted(of)}
    for mention in facts:
        for pair, agrees in mention.pairs.items():
            told[pair].append(agrees)
    return {pair: _kb_pair(of[pair], agreeing) for pair, agreeing in told.items()}


def _kb_pair(of: int, agreeing: Sequence[bool]) -> KbPair:
    comparable, agree = len(agreeing), sum(agreeing)
    agreement = agree / comparable if comparable else None
    return KbPair(of=of, comparable=comparable, agree=agree, agreement=agreement)


def _error(
    kind: Kind, gold: GoldLink, said: PredictedLink | None, mention: LinkedMention
) -> LinkError:
    ids = [id for kb in sorted(gold.ids) for id in sorted(gold.ids[kb])]
    return LinkError(
        kind=kind,
        key=str(gold.key),
        mention=gold.mention,
        gold=tuple(ids) or ("NIL",),
        predicted=_shown(said),
        rank=mention.rank,
        context=gold.context,
        where=said.where if said else gold.where,
    )


def _shown(said: PredictedLink | None) -> tuple[str, ...]:
    """The first candidates; NIL in front where that is the answer."""
    ranked = said.ranked if said else ()
    return tuple(candidate.id for candidate in ranked[:SHOWN_CANDIDATES])
