"""Why a sentence, or an answer, is scored as it is: in words."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.answers import SentenceSupport
from ragauge.text.grounding.features import Sentence
from ragauge.text.grounding.passages import Passages
from ragauge.text.grounding.records import Slip

WELL = 0.85
"""A sentence of which so much stands in one place is supported in so many words."""
SHOWN = 5

_FAULTS = {
    "denied": "the record says no: {}",
    "untold": "the record tells nothing of {}",
    "untold_denied": "denied, though the record tells nothing of {}",
    "affirmed": "denied, though the record says yes: {}",
    "times": "no such time in the record: {}",
    "days": "every day, but the record has no {}",
}


def sentence_reason(one: Sentence, passages: Passages, missing: Sequence[str]) -> str | None:
    """What speaks against a sentence; None where nothing does."""
    found = one.aligned
    said = [_slip(slip) for slip in one.slips]
    if missing:
        said.append("not in the contexts: " + _listed(missing))
    weak = [
        passages.chunks[chunk].id
        for chunk in one.cited
        if found.by_chunk.get(chunk, 0.0) < found.in_window / 2
    ]
    if weak:
        said.append("cited but hardly supporting: " + _listed(weak))
    if found.window is None:
        said.append("no word of it stands in a context")
    elif found.in_window < WELL / 2:
        said.append(f"{_percent(found.in_window)} of its words stand together in a context")
    elif found.supported - found.in_window > 1 - WELL:
        said.append("its words stand in the contexts, but not together")
    if found.misbound_numbers:
        said.append("a number of it belongs to something else there")
    if found.misbound_names:
        said.append("a name of it stands elsewhere, and another in its place")
    if found.denial_differs and not one.slips and found.in_window >= WELL / 2:
        said.append("it denies where the context does not, or the other way round")
    return "; ".join(dict.fromkeys(said)) or None


def answer_reason(sentences: Sequence[SentenceSupport]) -> str | None:
    """What speaks most against an answer: what speaks against its least supported sentence."""
    if not sentences:
        return None
    worst = min(range(len(sentences)), key=lambda place: (sentences[place].score or 0.0, place))
    reason = sentences[worst].reason
    return reason and f"sentence {worst + 1} of {len(sentences)}: {reason}"


def _slip(slip: Slip) -> str:
    return _FAULTS[slip.fault].format(slip.field)


def _listed(words: Sequence[str]) -> str:
    kept = list(dict.fromkeys(words))
    more = f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    return ", ".join(kept[:SHOWN]) + more


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
