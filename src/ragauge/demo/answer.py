"""From retrieved chunks to an answer: the protocol, and the answerer that copies sentences out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from ragauge.contracts.gold import DEFAULT_TOKEN
from ragauge.demo.evidence import THRESHOLD, Evidence, Weighed, evidence
from ragauge.demo.faults import chance
from ragauge.demo.index import Index
from ragauge.demo.passages import Sentence
from ragauge.demo.question import Question, read_question
from ragauge.text.canonical import canonical

VERSION = 3
REFUSAL = DEFAULT_TOKEN
FEW = 3
"""A sentence with fewer new words than these says hardly more than the question."""
LED = 0.15
"""How long a title before the answer may be, as a share of it: a longer one is no small change."""
KEPT = 1024


class Generator(Protocol):
    """Whatever writes an answer from chunks: the extractive answerer, or a model behind a port."""

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its answers its own, without secrets."""

    async def generate(
        self,
        question: str,
        chunks: Sequence[tuple[str, str]],
        constraints: Sequence[str],
        seed: int,
        temperature: float,
    ) -> dict[str, Any]:
        """`answer_json`: claim, citations, and constraints_echo where there are constraints.

        Chunks are ids with their texts, best first. A refusal is the claim `not in context` with
        no citations. Beside these, `segments` where it is known which part of the claim rests on
        which chunk: `{text, snippet_id, quote}`, one for each citation. Raises CallFailed.
        """

    async def close(self) -> None:
        """Let go of connections."""


class Extractive:
    """Answers with sentences of the chunks, word for word, or refuses; see `evidence` for when.

    With a temperature the wording varies by seed, harmlessly: a title before it, a stop less. At
    0 the seed does nothing.
    """

    def __init__(self, index: Index, threshold: float = THRESHOLD) -> None:
        self._index, self._threshold = index, threshold
        self._found = lru_cache(KEPT)(self._find)

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "extractive", "version": VERSION}

    async def generate(
        self,
        question: str,
        chunks: Sequence[tuple[str, str]],
        constraints: Sequence[str],
        seed: int,
        temperature: float,
    ) -> dict[str, Any]:
        return self.answer(question, chunks, constraints, seed, temperature)

    def answer(
        self,
        question: str,
        chunks: Sequence[tuple[str, str]],
        constraints: Sequence[str],
        seed: int,
        temperature: float,
    ) -> dict[str, Any]:
        """The same without an event loop. The chunks have to be the index's own."""
        found = self._found(question, tuple(id for id, _ in chunks))
        echo = {"constraints_echo": list(constraints)} if constraints else {}
        if not found:
            return {"claim": REFUSAL, "citations": [], **echo}
        title, parts = found[0], [dict(part) for part in found[1]]
        luck = chance("wording", canonical(question), seed, f"{temperature:g}")
        form = int(luck * 3) if temperature > 0 else 0
        if form == 1:
            parts[-1]["text"] = parts[-1]["text"].removesuffix(".")
        elif form == 2 and len(title) <= len(parts[0]["text"]) * LED:
            parts[0]["text"] = f"{title}: {parts[0]['text']}"
        return {
            "claim": " ".join(part["text"] for part in parts),
            "citations": [part["snippet_id"] for part in parts],
            **echo,
            "segments": parts,
        }

    async def close(self) -> None:
        """Nothing is held but memory."""

    def _find(self, text: str, ids: tuple[str, ...]) -> tuple[str, list[dict[str, str]]] | None:
        """The title of the best document, and an answer's parts before they are worded."""
        question = read_question(text, self._index.lexicon)
        passages = [self._index.passages[self._index.numbers[id]] for id in ids]
        found = evidence(Weighed(question, self._index.lexicon), passages, self._threshold)
        if not found:
            return None
        by_chunk: dict[str, list[Evidence]] = {}
        for one in found:
            by_chunk.setdefault(one.passage.chunk.id, []).append(one)
        parts = []
        for id, same in by_chunk.items():  # what one chunk has to say, each sentence once
            chosen = [one.text for each in same for one in with_neighbours(question, each)]
            said = " ".join(dict.fromkeys(chosen))
            parts.append({"text": said, "snippet_id": id, "quote": same[0].sentence.text})
        return found[0].passage.chunk.title, parts


def with_neighbours(question: Question, one: Evidence) -> list[Sentence]:
    """The sentence, and the neighbours it is not understood without.

    Where anything may be the answer, a sentence about `it` brings the one before, and a sentence
    that hardly says more than the question the one after.
    """
    if question.wants != "anything":
        return [one.sentence]
    said = {*question.said, *question.light} | one.passage.heading
    bare = len(one.sentence.words - said) < FEW
    before = one.passage.before(one.sentence) if one.sentence.rests_on_last else None
    after = one.passage.after(one.sentence) if bare else None
    return [sentence for sentence in (before, one.sentence, after) if sentence]
