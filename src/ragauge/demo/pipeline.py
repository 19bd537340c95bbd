"""The guarded reference pipeline: it answers with citations or refuses, and errs on request."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo import DOCUMENTS
from ragauge.demo.answer import Extractive, Generator
from ragauge.demo.call import Call
from ragauge.demo.coverage import Weighed
from ragauge.demo.faults import Faults, fail, read_faults
from ragauge.demo.index import Index
from ragauge.demo.interventions import intervened, refuse_impossible
from ragauge.demo.knobs import Knobs, turned
from ragauge.demo.question import read_question
from ragauge.demo.reply import reply_of
from ragauge.demo.retrieval_faults import halved, noise, weakened, without
from ragauge.demo.retrieve import Candidate, Search, in_front, pooled, ranked
from ragauge.demo.weak_search import WeakSearch
from ragauge.errors import UsageError
from ragauge.models.embedders import embedder

KEPT = 1024
"""Questions whose retrieval is remembered: nothing of it depends on the seed."""
ANSWERERS = 8
"""Thresholds whose answers are remembered."""
WEAKENED = 4
"""Indexes whose weak search is kept."""
LONGEST_QUESTION = 4000
"""Characters: the work grows with the words, and no question needs more."""

Hop = Callable[..., Awaitable[Any]]
"""Calls a function with what follows it, here or in another thread."""


class Pipeline:
    """A system under test over a folder of Markdown documents; made by `Pipeline.of`.

    The same ask gets the same reply, but for `stage_ms`. It never sees a gold set.
    """

    def __init__(
        self, index: Index, documents: Path, knobs: Knobs, generate: Generator | None = None
    ) -> None:
        self.index, self.knobs = index, knobs
        self._documents, self._generate = documents, generate
        self._indexes = {knobs.embedder: index}
        self._indexing = threading.Lock()
        self._pool = lru_cache(KEPT)(self._pooled)
        self._rank = lru_cache(KEPT)(self._rank_whole)
        self._weighed = lru_cache(KEPT)(self._weigh)
        self._extractive = lru_cache(ANSWERERS)(Extractive)
        self._weak = lru_cache(WEAKENED)(WeakSearch)

    @classmethod
    def of(
        cls,
        documents: Path = DOCUMENTS,
        knobs: Knobs | None = None,
        generate: Generator | None = None,
    ) -> Pipeline:
        """The pipeline over a folder, ready to be asked; `generate` stands in for the answerer."""
        checked = _checked(knobs or Knobs())
        index = _index(documents, checked.embedder)
        refuse_impossible(checked, index)
        return cls(index, documents, checked, generate)

    @property
    def identity(self) -> dict[str, Any]:
        return {
            "kind": "demo",
            "index": self.index.manifest.hash,
            "embedding": self.index.manifest.embedding,
            "generator": (self._generate or Extractive(self.index)).identity,
            "knobs": msgspec.to_builtins(self.knobs),
        }

    async def ask(self, ask: Ask, hop: Hop | None = None) -> dict[str, Any]:
        """The reply; raises CallFailed.

        What would keep an event loop waiting goes through `hop`, such as `asyncio.to_thread`. A
        sweep needs none: a remembered question is answered sooner than a thread is found.
        """
        run = hop or _here
        call: Call = await run(self._retrieve, ask)
        begun = time.perf_counter()
        if delay_s := _delay_s(call):
            await asyncio.sleep(delay_s)
        if self._generate:
            answer = await self._generate.generate(*_to_answer(call))
        else:
            answer = await run(self._extract, call)
        return reply_of(call, answer, _ms_since(begun))

    def answer(self, ask: Ask) -> dict[str, Any]:
        """The same without an event loop, and so not from inside one."""
        if self._generate:
            return asyncio.run(self.ask(ask))
        call = self._retrieve(ask)
        begun = time.perf_counter()
        time.sleep(_delay_s(call))
        return reply_of(call, self._extract(call), _ms_since(begun))

    async def close(self) -> None:
        """Let go of what the generator holds."""
        if self._generate:
            await self._generate.close()

    def _retrieve(self, ask: Ask) -> Call:
        begun = time.perf_counter()
        refuse_overlong(ask.q)
        knobs = turned(self.knobs, ask.knobs)
        struck = _faults(knobs)
        fail(struck, ask)
        index = self._index_of(knobs.embedder)
        _refuse_impossible(knobs, index)
        search = weakened(msgspec.convert(knobs, Search, from_attributes=True), struck, ask)
        found = self._found(ask, search, struck)
        strange = noise(found, index, ask) if struck.strikes("noise_injected", ask) else []
        shown = intervened(in_front(strange, found, search), search, knobs, index)
        return Call(
            ask=ask,
            knobs=knobs,
            faults=struck,
            index=index,
            shown=shown,
            noise=frozenset(chunk.id for chunk in strange),
            retrieve_ms=_ms_since(begun),
        )

    def _found(self, ask: Ask, search: Search, struck: Faults) -> Sequence[Candidate]:
        """The few chunks that the search brings, best first."""
        pool = whole = self._pool(ask.q, search)
        if struck.strikes("unstable_retrieval", ask):
            pool = halved(pool, ask)
        if struck.strikes("paraphrase_sensitivity", ask):
            pool = without(pool, self._ranked(ask.q, search, pool))
        return self._rank(ask.q, search) if pool is whole else self._ranked(ask.q, search, pool)

    def _pooled(self, question: str, search: Search) -> Sequence[Candidate]:
        index = self._index_of(search.embedder)
        if search.weak:
            return self._weak(index).pooled(question, search)
        return pooled(question, index, search)

    def _rank_whole(self, question: str, search: Search) -> Sequence[Candidate]:
        return self._ranked(question, search, self._pool(question, search))

    def _ranked(
        self, question: str, search: Search, pool: Sequence[Candidate]
    ) -> Sequence[Candidate]:
        index = self._index_of(search.embedder)
        return ranked(pool, self._weighed(question), index, search)

    def _weigh(self, question: str) -> Weighed:
        lexicon = self.index.lexicon
        return Weighed(read_question(question, lexicon), lexicon)

    def _index_of(self, name: str) -> Index:
        if name not in self._indexes:
            with self._indexing:
                self._build_index(name)
        return self._indexes[name]

    def _build_index(self, name: str) -> None:
        """The index of another embedder, unless another thread has just built it."""
        if name not in self._indexes:
            try:
                self._indexes[name] = _index(self._documents, name)
            except UsageError as error:
                raise CallFailed("bad_request", f"knob embedder: {error}") from None

    def _extract(self, call: Call) -> dict[str, Any]:
        return self._extractive(call.index, call.knobs.threshold).answer(*_to_answer(call))


def refuse_overlong(question: str) -> None:
    """Raise CallFailed, kind `bad_request`, where a question is too long to be one."""
    if len(question) > LONGEST_QUESTION:
        fact = f"q has {len(question):,} characters; ask in at most {LONGEST_QUESTION:,}"
        raise CallFailed("bad_request", fact)


async def _here(work: Callable[..., Any], *given: Any) -> Any:
    return work(*given)


def _checked(knobs: Knobs) -> Knobs:
    try:
        checked = msgspec.convert(msgspec.to_builtins(knobs), Knobs)
    except msgspec.ValidationError as error:
        raise UsageError(f"knobs: {error}") from None
    read_faults(checked.faults)
    return checked


def _faults(knobs: Knobs) -> Faults:
    try:
        return read_faults(knobs.faults)
    except UsageError as error:
        raise CallFailed("bad_request", f"knob faults: {error}") from None


def _refuse_impossible(knobs: Knobs, index: Index) -> None:
    try:
        refuse_impossible(knobs, index)
    except UsageError as error:
        raise CallFailed("bad_request", str(error)) from None


def _index(documents: Path, name: str) -> Index:
    source = "heritage" if documents == DOCUMENTS else "documents"
    index = Index.of(documents, embedder(name), source)
    index.read()
    return index


def _to_answer(
    call: Call,
) -> tuple[str, list[tuple[str, str]], tuple[str, ...], int, float]:
    """What a generator is given."""
    chunks = [(one.chunk.id, one.chunk.text) for one in call.shown]
    return call.ask.q, chunks, call.knobs.constraints, call.ask.seed, call.ask.temperature


def _delay_s(call: Call) -> float:
    return call.knobs.delay_ms / 1000 if call.faults.strikes("slow", call.ask) else 0.0


def _ms_since(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)
