"""Ways to go wrong on purpose, so that what measures the pipeline has something to find.

Whom a fault strikes is no matter of luck: the same question, seed and temperature meet it again,
in every process. `paraphrase_sensitivity` alone looks at the very wording, and not at the seed.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo.chance import chance
from ragauge.demo.retrieve import Candidate, placed
from ragauge.errors import UsageError
from ragauge.text.canonical import canonical

SHARE = 0.3
"""How many are struck where a fault does not say."""

FAULTS = {
    "unstable_retrieval": "Half of what was found is lost, another half for every seed.",
    "wrong_citations": "Cites the neighbour of the chunk that answers, or one never retrieved.",
    "invented_citations": "Cites an id that no chunk has, made up from the right one.",
    "stale_payloads": "What was retrieved says it is from an earlier index: its hash, a revision.",
    "drifted_offsets": "The offsets of what was retrieved are a few characters off.",
    "chatty_refusals": "Refuses in a sentence of its own instead of the agreed words.",
    "dropped_constraints": "Does not echo the locked sentences.",
    "paraphrase_sensitivity": "Some wordings of a question lose the chunks that answer it.",
    "slow": "Waits before it answers.",
    "failing": "Fails instead of answering.",
}

_PROSE = (
    "I am sorry, but I could not find anything about this in the documents I was given.",
    "The documents do not seem to say, so I would rather not guess.",
    "Unfortunately there is no information on that in the sources at hand.",
)


class Faults(Struct, frozen=True):
    """The share of calls each fault strikes, by its name."""

    shares: dict[str, float] = {}

    def strikes(self, fault: str, ask: Ask) -> bool:
        share = self.shares.get(fault, 0.0)
        return share > 0 and chance(fault, *_what(fault, ask)) < share


def read_faults(texts: Sequence[str]) -> Faults:
    """The faults of texts such as `slow` or `wrong_citations=0.3`; raises UsageError.

    >>> read_faults(["slow", "failing=0.05"])
    Faults(shares={'slow': 0.3, 'failing': 0.05})
    """
    shares: dict[str, float] = {}
    for text in texts:
        name, given, share = text.partition("=")
        if name not in FAULTS:
            raise UsageError(f'there is no fault "{name}"{_nearest(name)}')
        shares[name] = _share(text, share) if given else SHARE
    return Faults(shares)


def _share(text: str, share: str) -> float:
    try:
        value = float(share)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f'fault "{text}": the share is a number from 0 to 1, such as 0.3')
    return value


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name, FAULTS, n=1)
    return f'; did you mean "{near[0]}"?' if near else f"; there are {', '.join(FAULTS)}"


def _what(fault: str, ask: Ask) -> tuple[object, ...]:
    """What decides whether a fault strikes."""
    if fault == "paraphrase_sensitivity":
        return (ask.q,)
    return canonical(ask.q), ask.seed, f"{ask.temperature:g}"


def fail(faults: Faults, ask: Ask) -> None:
    """Raise CallFailed where the fault `failing` strikes."""
    if faults.strikes("failing", ask):
        raise CallFailed("failing", "the fault `failing` struck this call", again=True)


def halved(pool: Sequence[Candidate], ask: Ask) -> list[Candidate]:
    """Half of the pool, another half for every seed."""
    shuffled = sorted(
        pool,
        key=lambda one: (chance(one.chunk.id, *_what("unstable_retrieval", ask)), one.chunk.id),
    )
    kept = {one.chunk.id for one in shuffled[: -(-len(shuffled) // 2)]}
    return placed([one for one in pool if one.chunk.id in kept], "k_pos")


def without(pool: Sequence[Candidate], evidence: Sequence[Candidate]) -> list[Candidate]:
    """The pool without the chunks that would have been shown."""
    lost = {one.chunk.id for one in evidence}
    return placed([one for one in pool if one.chunk.id not in lost], "k_pos")


def miscited(
    answer: dict[str, Any], retrieved: Sequence[str], known: Sequence[str], ask: Ask
) -> dict[str, Any]:
    """The answer citing one wrong chunk: a neighbour of the right one, or one not retrieved.

    `known` are the ids of all chunks.
    """
    cited: Sequence[str] = answer.get("citations") or ()
    right = {id.partition("#")[0] for id in cited}
    beside = [id for id in known if id not in cited and id.partition("#")[0] in right]
    strange = [id for id in known if id not in cited and id not in retrieved]
    luck = chance("citation", *_what("wrong_citations", ask))
    wrong = (beside or strange) if luck < 0.5 else (strange or beside)
    return {**answer, "citations": [wrong[int(2 * luck % 1 * len(wrong))]] if wrong else []}


def invented(answer: dict[str, Any], known: Sequence[str], ask: Ask) -> dict[str, Any]:
    """The answer citing ids that look right and are nobody's. `known` are those of all chunks."""
    luck = chance("id", *_what("invented_citations", ask))
    cited: Sequence[str] = answer.get("citations") or ()
    return {**answer, "citations": [_nobodys(id, 2 + int(luck * 8), known) for id in cited]}


def _nobodys(id: str, number: int, known: Sequence[str]) -> str:
    """
    >>> _nobodys("louvre#history", 2, ["louvre#history", "louvre#history-2"])
    'louvre#history-3'
    """
    while f"{id}-{number}" in known:
        number += 1
    return f"{id}-{number}"


def stale(payloads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The payloads as an earlier index gave them, before the best document was revised."""
    if not payloads:
        return []
    revised = payloads[0]["doc_id"]
    return [
        {
            **one,
            "index_hash": _earlier(one["index_hash"]),
            "rev": _earlier(one["rev"]) if one["doc_id"] == revised else one["rev"],
        }
        for one in payloads
    ]


def _earlier(hash: str) -> str:
    """Another hash of the same length, always the same."""
    return hashlib.sha256(hash.encode()).hexdigest()[: len(hash)]


def drifted(payloads: Sequence[dict[str, Any]], ask: Ask) -> list[dict[str, Any]]:
    """The payloads with offsets of as many characters, a few too early."""
    luck = chance("offsets", *_what("drifted_offsets", ask))
    return [{**one, "offsets": _moved(one["offsets"], 1 + int(luck * 8))} for one in payloads]


def _moved(offsets: dict[str, Any], by: int) -> dict[str, Any]:
    """Earlier by so many characters; later where the text begins too soon for that."""
    step = -by if offsets["start"] >= by else by
    return {**offsets, "start": offsets["start"] + step, "end": offsets["end"] + step}


def in_prose(answer: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """The refusal as a sentence of its own."""
    luck = chance("prose", *_what("chatty_refusals", ask))
    return {**answer, "claim": _PROSE[int(luck * len(_PROSE))]}


def unechoed(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without the locked sentences."""
    return {**answer, "constraints_echo": []} if "constraints_echo" in answer else answer
