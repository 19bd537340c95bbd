"""Ways to go wrong on purpose, so that what measures the pipeline has something to find.

Whom a fault strikes is no matter of luck: the same question, seed and temperature meet it again,
in every process. `paraphrase_sensitivity` alone looks at the very wording, and not at the seed.
The faults of how the pipeline is set up do not look at seed and temperature either, but at the
question alone: else they would come and go within a question, and look like `unstable_retrieval`.
`hot_sampling` never strikes at temperature 0.

What faults do to a search is in `pipeline`, to answers and payloads in `answer_faults`.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.text.canonical import canonical

_ALL = 2**64


def chance(*of: object) -> float:
    """A number from 0 up to 1 that is always the same for the same things.

    >>> chance("failing", "who", 3) == chance("failing", "who", 3) != chance("failing", "who", 4)
    True
    """
    text = "\\x1f".join(map(str, of)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / _ALL


SHARE = 0.3
"""How many are struck where a fault does not say."""
FAULTS = {
    "unstable_retrieval": "Half of what was found is lost, another half for every seed.",
    "narrow_recall": "A weak search fetches no more chunks than are shown, and fewer than top_k.",
    "no_rerank": "What a weak search finds is shown in its order, never reranked.",
    "noise_injected": "Chunks about other things stand first; half of the answers follow them.",
    "wrong_citations": "Cites the neighbour of the chunk that answers, or one never retrieved.",
    "invented_citations": "Cites an id that no chunk has, made up from the right one.",
    "mixed_sections": "One part of the answer cites chunks of two sections.",
    "uncited": "Answers without citations.",
    "stale_payloads": "What was retrieved says it is from an earlier index: its hash, a revision.",
    "drifted_offsets": "The offsets of what was retrieved are a few characters off.",
    "ungrounded_generation": "Says what no chunk does: another number or name, a tale of its own.",
    "padded_answers": "Adds sentences of the chunks that nobody asked for.",
    "hot_sampling": "Above temperature 0, takes another sentence than the right one, or refuses.",
    "over_refusal": "Refuses although it has the answer.",
    "lax_refusal": "Answers where it would refuse, with a sentence of the first chunk.",
    "chatty_refusals": "Refuses in a sentence of its own instead of the agreed words.",
    "dropped_constraints": "Does not echo the locked sentences.",
    "paraphrase_sensitivity": "Some wordings of a question lose the chunks that answer it.",
    "slow": "Waits before it answers.",
    "failing": "Fails instead of answering.",
}
SET_UP = frozenset({"narrow_recall", "no_rerank", "noise_injected"})
"""Faults of how the pipeline is set up: they know the question, and no seed or temperature."""


class Faults(Struct, frozen=True):
    """The share of calls each fault strikes, by its name."""

    shares: dict[str, float] = {}

    def strikes(self, fault: str, ask: Ask) -> bool:
        share = self.shares.get(fault, 0.0)
        if fault == "hot_sampling" and ask.temperature <= 0:
            return False
        return share > 0 and luck(fault, fault, ask) < share


def read_faults(texts: Sequence[str]) -> Faults:
    """The faults of texts such as `slow` or `wrong_citations=0.3`; raises UsageError.

    >>> read_faults(["slow", "failing=0.05"])
    Faults(shares={'slow': 0.3, 'failing': 0.05})
    """
    shares: dict[str, float] = {}
    for text in texts:
        name, given, share = text.partition("=")
        if name not in FAULTS:
            near = difflib.get_close_matches(name, FAULTS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(FAULTS)}"
            raise UsageError(f'there is no fault "{name}"; {hint}')
        try:
            shares[name] = float(share) if given else SHARE
        except ValueError:
            shares[name] = -1.0
        if not 0 <= shares[name] <= 1:
            raise UsageError(f'fault "{text}": the share is a number from 0 to 1, such as 0.3')
    return Faults(shares)


def luck(of: str, fault: str, ask: Ask) -> float:
    """A number from 0 up to 1 that is the same whenever the fault meets the same call."""
    if fault == "paraphrase_sensitivity":
        return chance(of, ask.q)
    if fault in SET_UP:
        return manner(of, ask)
    return chance(of, canonical(ask.q), ask.seed, f"{ask.temperature:g}")


def manner(of: str, ask: Ask) -> float:
    """A number from 0 up to 1 that is the same for every seed and temperature of a question.

    How a fault goes wrong is decided by it where an answer that changes with the seed would look
    like `hot_sampling`.
    """
    return chance(of, canonical(ask.q))


def fail(faults: Faults, ask: Ask) -> None:
    """Raise CallFailed where the fault `failing` strikes."""
    if faults.strikes("failing", ask):
        raise CallFailed("failing", "the fault `failing` struck this call", again=True)
