"""Citation support: which of the contexts that a sentence cites supports it, and which would.

As lexical groundedness it compares words and numbers, and no more: a context that says the same
in other words counts as one that does not support.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from ragauge.contracts.answers import (
    AnswerKind,
    CitationSupport,
    CitedChunk,
    CitingSentence,
    Context,
)
from ragauge.text.grounding.groundedness import NO_ANSWER, NO_CLAIM, NO_CONTEXT
from ragauge.text.grounding.markers import Marker, cited_in
from ragauge.text.grounding.model import Model, shipped
from ragauge.text.grounding.passages import Passages
from ragauge.text.grounding.supporter import Stretch, Support, Supporter
from ragauge.text.refusals.free import free_refusal

SUPPORTED = 0.5
"""From this score on a sentence counts as supported: as likely called so by people as not."""
PART = 0.1
"""A context that raises the score of the others by so much has a part of the sentence."""
MOST_TOGETHER = 50
"""Contexts cited for one sentence; of more, each supports it alone or not at all."""
NO_CITATION = "the answer cites nothing"

Target = int | str
"""What is cited: a context by its place, or a name that no context has."""


def citation_support(
    answer: str,
    contexts: Sequence[Context | str] | Passages,
    cited: Sequence[str] | None = None,
    question: str | None = None,
    *,
    kind: AnswerKind | None = None,
    numbered: bool = True,
    model: Model | None = None,
) -> CitationSupport:
    """For each sentence of an answer what it cites, and which of that supports it.

    A sentence cites by markers such as [2] or [p1#2]. What the answer cites as a whole, in a list
    of its own or as `cited`, counts for every sentence without a marker, unless a marker names it.
    With `numbered` off, numbers in brackets are no places among the contexts.

    >>> found = citation_support(
    ...     "It opened in 1808 [1]. Cuypers designed it [1].",
    ...     ["The museum opened in 1808.", "Cuypers designed the museum."],
    ... )
    >>> [(one.supported, one.elsewhere and one.elsewhere.chunk) for one in found.sentences]
    [(True, None), (False, '2')]
    """
    passages = contexts if isinstance(contexts, Passages) else Passages(contexts, question)
    names = passages.numbered if numbered else _ids(passages)
    known = cited_in(answer, names, numbered=numbered)
    marked = {name for one in known.markers for name in one.names}
    listed = [name for name in dict.fromkeys(cited or known.listed) if name not in marked]
    supporter = Supporter(known.plain, passages, kind, model)
    found = _Citations(answer, supporter, names, known.markers, listed)
    reason = _nothing_to_measure(answer, passages, found, marked or listed)
    return CitationSupport(
        sentences=() if reason in (NO_ANSWER, NO_CONTEXT) else found.sentences,
        listed=found.listed,
        threshold=SUPPORTED,
        model=(model or shipped()).id,
        reason=reason,
    )


def _nothing_to_measure(
    answer: str, passages: Passages, found: _Citations, cites: object
) -> str | None:
    if not answer.strip():
        return NO_ANSWER
    if not passages.lines:
        return NO_CONTEXT
    if not any(one.claims for one in found.sentences):
        return NO_CLAIM
    return None if cites else NO_CITATION


def _ids(passages: Passages) -> dict[str, int]:
    return {chunk.id: place for place, chunk in enumerate(passages.chunks)}


class _Citations:
    """The citations of one answer, held against its sentences."""

    def __init__(
        self,
        answer: str,
        supporter: Supporter,
        names: Mapping[str, int],
        markers: Sequence[Marker],
        listed: Sequence[str],
    ) -> None:
        self._answer, self._supporter, self._names = answer, supporter, names
        self._list = self._targets(listed)
        self._in_list = frozenset(self._list)
        own = _markers_of(answer, supporter.stretches, markers)
        self.sentences = tuple(map(self._sentence, supporter.stretches, own))
        self.listed = self._for_the_whole()

    def _targets(self, names: Iterable[str]) -> list[Target]:
        """The contexts that names stand for, each once."""
        return list(dict.fromkeys(self._names.get(name, name) for name in names))

    def _listed_for(self, one: Stretch) -> list[Target]:
        """What the list cites for a sentence: all, or in a very long answer what is near it."""
        if self._supporter.few(len(self._list)):
            return self._list
        return [chunk for chunk in self._supporter.near(one) if chunk in self._in_list]

    def _sentence(self, one: Stretch, markers: Sequence[Marker]) -> CitingSentence:
        start = min([one.start, *(marker.start for marker in markers)])
        end = max([one.end, *(marker.end for marker in markers)])
        marked = self._targets(name for marker in markers for name in marker.names)
        text, cited = self._answer[start:end], marked or self._listed_for(one)
        claims = self._supporter.claims(one) and (bool(marked) or not _abstains(text))
        score = self._together(one, cited) if claims else None
        supported = score is not None and score >= SUPPORTED
        return CitingSentence(
            text=text,
            start=start,
            end=end,
            claims=claims,
            cited=tuple(self._cited(one, target, cited, claims) for target in cited),
            marked=bool(marked),
            score=score,
            supported=supported,
            elsewhere=self._elsewhere(one, cited) if claims and not supported else None,
        )

    def _together(self, one: Stretch, cited: Sequence[Target]) -> float | None:
        """The score of a sentence against all that is cited: no less than that of one of them."""
        chunks = _known(cited)
        each = [self._supporter.support(one, (chunk,)).score for chunk in chunks]
        if len(chunks) > 1 and self._supporter.can_join(chunks):
            each.append(self._supporter.support(one, chunks).score)
        return max(each, default=None)

    def _cited(
        self, one: Stretch, target: Target, cited: Sequence[Target], claims: bool
    ) -> CitedChunk:
        """One citation of a sentence.

        It supports alone, or as a part without which the others no longer do, or do much less.
        """
        if isinstance(target, str) or not claims:
            return CitedChunk(chunk=self._id(target), score=None, supports=False)
        alone = self._supporter.support(one, (target,))
        supports = alone.score >= SUPPORTED or self._adds(one, target, cited)
        return self._held(target, alone, supports)

    def _adds(self, one: Stretch, target: Target, cited: Sequence[Target]) -> bool:
        """Whether a context has a part of what the cited ones support together."""
        if len(cited) > MOST_TOGETHER:
            return False
        whole = self._together(one, cited) or 0.0
        rest = self._together(one, [other for other in cited if other != target]) or 0.0
        return whole >= SUPPORTED and (rest < SUPPORTED or whole - rest >= PART)

    def _for_the_whole(self) -> tuple[CitedChunk, ...]:
        """The citations of the whole answer: each by the sentence that it supports best."""
        best: dict[str, CitedChunk] = {}
        for one in self.sentences:
            if one.claims and not one.marked:
                for chunk in one.cited:
                    known = best.setdefault(chunk.chunk, chunk)
                    if _rank(chunk) > _rank(known):
                        best[chunk.chunk] = chunk
        ids = map(self._id, self._list)
        return tuple(best.get(id) or CitedChunk(chunk=id, score=None, supports=False) for id in ids)

    def _elsewhere(self, one: Stretch, cited: Sequence[Target]) -> CitedChunk | None:
        """The context that supports a sentence best and is not cited for it."""
        others = [chunk for chunk in self._supporter.near(one) if chunk not in cited]
        found = [(chunk, self._supporter.support(one, (chunk,))) for chunk in others]
        chunk, best = max(
            found, key=lambda each: (each[1].score, -each[0]), default=(0, Support(0.0, None))
        )
        return self._held(chunk, best, supports=True) if best.score >= SUPPORTED else None

    def _held(self, chunk: int, found: Support, supports: bool) -> CitedChunk:
        return CitedChunk(
            chunk=self._id(chunk), score=found.score, supports=supports, evidence=found.evidence
        )

    def _id(self, target: Target) -> str:
        return target if isinstance(target, str) else self._supporter.id_of(target)


def _rank(chunk: CitedChunk) -> tuple[bool, float]:
    return chunk.supports, chunk.score or 0.0


def _known(targets: Iterable[Target]) -> tuple[int, ...]:
    return tuple(sorted(target for target in targets if isinstance(target, int)))


def _abstains(sentence: str) -> bool:
    """Whether a sentence says only what the contexts do not tell, for which there is no source."""
    return free_refusal(sentence).verdict == "refusal"


def _markers_of(
    answer: str, stretches: Sequence[Stretch], markers: Sequence[Marker]
) -> list[list[Marker]]:
    """The markers of each sentence.

    One between two sentences belongs to the one before it on its line, else to the next.
    """
    own: list[list[Marker]] = [[] for _ in stretches]
    starts = [one.start for one in stretches]
    for marker in markers:
        place = bisect_right(starts, marker.start) - 1
        behind = "" if place < 0 else answer[stretches[place].end : marker.start]
        if place < 0 or "\n" in behind:
            place = min(place + 1, len(stretches) - 1)
        if stretches:
            own[place].append(marker)
    return own
