"""Gold and predictions as one knowledge base has them, where one of several is to decide."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ragauge.contracts.links import NIL_KB, Candidate, GoldLink, GoldLinks, PredictedLink
from ragauge.errors import UsageError


def gold_in(kb: str, gold: GoldLinks) -> GoldLinks:
    """Gold as one knowledge base has it: what has no id there is NIL."""
    known = sorted({name for link in gold.links for name in link.ids})
    if kb not in known:
        there = ", ".join(known) or "none"
        raise UsageError(f'kb "{kb}": no gold mention has an id there; there are {there}')
    links = tuple(structs.replace(link, ids=_only(kb, link)) for link in gold.links)
    return structs.replace(gold, links=links)


def _only(kb: str, link: GoldLink) -> dict[str, frozenset[str]]:
    return {name: ids for name, ids in link.ids.items() if name == kb}


def predicted_in(kb: str, predicted: Sequence[PredictedLink]) -> list[PredictedLink]:
    """Predictions with the candidates that have an id in one knowledge base, the others left out.

    What has none left, and did not say NIL, is an answer that is wrong.
    """
    return [_within(kb, said) for said in predicted]


def _within(kb: str, said: PredictedLink) -> PredictedLink:
    kept = tuple(one for candidate in said.candidates for one in _ids_in(kb, candidate))
    if kept == said.candidates:
        return said
    nil = said.nil if said.nil is not None or kept else False
    return structs.replace(said, candidates=kept, nil=nil)


def _ids_in(kb: str, candidate: Candidate) -> list[Candidate]:
    if candidate.kb == NIL_KB:
        return [candidate]
    there = [id for name, id in candidate.ids if name == kb]
    return [Candidate(there[0], kb, candidate.score, candidate.also)] if there else []
