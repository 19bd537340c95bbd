"""The guarded reference pipeline: it answers with citations or refuses, and errs on request."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo import DOCUMENTS, answer_faults, citation_faults, payload_faults
from ragauge.demo.answer import REFUSAL, Extractive, Generator
from ragauge.demo.call import Answer, Call
from ragauge.demo.chunks import Chunk
from ragauge.demo.coverage import Weighed
from ragauge.demo.faults import Faults, fail, luck, read_faults
from ragauge.demo.index import Index
from ragauge.demo.knobs import Knobs, turned
from ragauge.demo.question import read_question
from ragauge.demo.retrieve import (
    PLACES,
    Candidate,
    Search,
    in_front,
    numbered,
    payload,
    placed,
    pooled,
    ranked,
)
from ragauge.errors import UsageError
from ragauge.models.embedders import embedder
from ragauge.models.ngram import NgramEmbedder
from ragauge.pipelines.threads import run_async

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
        """The same for a caller that does not wait in an event loop."""
        if self._generate:
            return run_async(self.ask(ask))
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


def intervened(
    found: Sequence[Candidate], search: Search, knobs: Knobs, index: Index
) -> Sequence[Candidate]:
    """The chunks that are shown: those put in, then `top_k` of the others that were found.

    Whatever else was found stays as it was, so that the change is the only one.
    """
    rest = _without(found, {*knobs.put_in, *knobs.take_out})[: search.top_k]
    chunks = [index.chunks[index.numbers[id]] for id in dict.fromkeys(knobs.put_in)]
    return in_front(chunks, rest, search)


def _without(found: Sequence[Candidate], ids: Collection[str]) -> Sequence[Candidate]:
    """The others; the places that are free are closed up."""
    gone = [one.k_pos for one in found if one.chunk.id in ids]
    if not gone:
        return found
    kept = [
        msgspec.structs.replace(one, k_pos=one.k_pos - sum(place < one.k_pos for place in gone))
        for one in found
        if one.chunk.id not in ids
    ]
    return numbered(kept)


def refuse_impossible(knobs: Knobs, index: Index) -> None:
    """Raise UsageError where a chunk that is nowhere is put in, or one is both put in and out."""
    unknown = [id for id in dict.fromkeys(knobs.put_in) if id not in index.numbers]
    both = [id for id in dict.fromkeys(knobs.put_in) if id in knobs.take_out]
    problems = []
    if unknown:
        fact = f"no chunk {', '.join(map(repr, unknown))}"
        problems.append(f'knob put_in: {fact}; ids are such as "{index.chunks[0].id}"')
    if both:
        named = ", ".join(map(repr, both))
        problems.append(f"knob take_out: {named} also in put_in; leave it in one of the two")
    if problems:
        raise UsageError(*problems)


Payloads = list[dict[str, Any]]
COPIED = ("section_id", "source_url", "offsets", "tokens")
"""What a model's citation repeats of the chunk, besides its id."""


class _Fault(Struct, frozen=True):
    """A fault of answers: what it strikes, and what it makes of it."""

    name: str
    strikes: Literal["answer", "refusal", "either"]
    spoilt: Callable[[Answer, Call], Answer]


_FAULTS = (
    _Fault("lax_refusal", "refusal", answer_faults.answered_anyway),
    _Fault("noise_injected", "answer", answer_faults.misled),
    _Fault("hot_sampling", "answer", answer_faults.gone_astray),
    _Fault("over_refusal", "answer", answer_faults.refused),
    _Fault("ungrounded_generation", "answer", answer_faults.ungrounded),
    _Fault("padded_answers", "answer", answer_faults.padded),
    _Fault("wrong_citations", "answer", citation_faults.miscited),
    _Fault("invented_citations", "answer", citation_faults.invented),
    _Fault("uncited", "answer", citation_faults.uncited),
    _Fault("chatty_refusals", "refusal", answer_faults.in_prose),
    _Fault("dropped_constraints", "either", answer_faults.unechoed),
)
"""In the order they strike, each what the ones before have left."""


def reply_of(call: Call, given: Mapping[str, Any], generate_ms: float) -> dict[str, Any]:
    """What is sent back for what a generator gave, gone wrong where a fault strikes."""
    retrieved = _retrieved(call)
    answer = _spoilt(dict(given), call)
    segments = _segments(answer.pop("segments", ()), answer, retrieved, call.index)
    if call.faults.strikes("mixed_sections", call.ask):
        answer, segments = _mixed(answer, segments, retrieved, call.index)
    return {
        "answer_json": answer,
        **({"segments": segments} if segments else {}),
        "retrieved_ids": [one.chunk.id for one in call.shown],
        "retrieved": retrieved,
        "stage_ms": {"retrieve": call.retrieve_ms, "generate": generate_ms},
    }


def _retrieved(call: Call) -> Payloads:
    """The payload of each chunk that was shown, with its text to compare."""
    made = [
        msgspec.to_builtins(payload(one, call.index)) | {"text": one.chunk.text}
        for one in call.shown
    ]
    if call.faults.strikes("stale_payloads", call.ask):
        made = payload_faults.stale(made)
    if call.faults.strikes("drifted_offsets", call.ask):
        made = payload_faults.drifted(made, call.ask)
    return made


def _spoilt(answer: Answer, call: Call) -> Answer:
    """The answer, gone wrong where a fault strikes it."""
    for fault in _FAULTS:
        kind = "refusal" if answer.get("claim") == REFUSAL else "answer"
        if fault.strikes in (kind, "either") and call.faults.strikes(fault.name, call.ask):
            answer = fault.spoilt(answer, call)
    return answer


def _segments(
    parts: Sequence[Mapping[str, str]],
    answer: Mapping[str, Any],
    retrieved: Payloads,
    index: Index,
) -> list[dict[str, Any]]:
    """The parts of the answer, each with the citation it rests on; [] where they are not known.

    An answer with another number of citations than parts rests on the first as a whole.
    """
    cited: Sequence[str] = answer.get("citations") or ()
    if not parts or not cited:
        return []
    if len(cited) != len(parts):
        parts = [{**parts[0], "text": answer["claim"]}]
    by_id = {one["snippet_id"]: one for one in retrieved}
    return [
        {"text": part["text"], "citations": [_citation(id, part, by_id, index)]}
        for id, part in zip(cited, parts, strict=False)
    ]


def _mixed(
    answer: Answer, segments: list[dict[str, Any]], retrieved: Payloads, index: Index
) -> tuple[Answer, list[dict[str, Any]]]:
    """The answer and its parts, the first of which cites a chunk of another section as well.

    As they were where no chunk of another section was shown.
    """
    listed: list[str] = answer.get("citations") or []
    first = segments[0]["citations"] if segments else []
    cited = [one["snippet_id"] for one in first] or listed
    other = citation_faults.of_another_section(cited, retrieved)
    if other is None:
        return answer, segments
    id = other["snippet_id"]
    quote = index.passages[index.numbers[id]].sentences[0].text
    citation = _citation(id, {"snippet_id": id, "quote": quote}, {id: other}, index)
    mixed = [{**part, "citations": [*first, citation]} for part in segments[:1]] + segments[1:]
    return {**answer, "citations": list(dict.fromkeys([*listed, id]))}, mixed


def _citation(
    id: str, part: Mapping[str, str], retrieved: Mapping[str, Any], index: Index
) -> dict[str, Any]:
    """The citation as a model writes it, copied from the chunk of that id.

    Of an id that no chunk has, the rest is that of the chunk which the part was taken from.
    """
    chunk = retrieved.get(id) or _not_shown(id, index) or retrieved[part["snippet_id"]]
    return {"snippet_id": id, **{name: chunk[name] for name in COPIED}, "quote": part["quote"]}


def _not_shown(id: str, index: Index) -> dict[str, Any] | None:
    """The payload of a chunk of the index that was not retrieved."""
    if id not in index.numbers:
        return None
    chunk = index.chunks[index.numbers[id]]
    made: dict[str, Any] = msgspec.to_builtins(
        payload(Candidate(chunk=chunk, score_raw=0.0, score_norm=0.0), index)
    )
    return made


FEWEST_NOISE = 2
"""Chunks that `noise_injected` puts in: these, or one more."""


def weakened(search: Search, faults: Faults, ask: Ask) -> Search:
    """The search as the faults of the set-up leave it.

    With `narrow_recall` half of `top_k` are fetched, and all of these are shown; so a greater
    `top_k` widens the pool. The scores of a weak search are not cut at a knee: where they fall
    tells nothing.
    """
    narrow, unranked = (faults.strikes(one, ask) for one in ("narrow_recall", "no_rerank"))
    if not narrow and not unranked:
        return search
    return msgspec.structs.replace(
        search,
        weak=True,
        knee=False,
        pool=min(search.pool, -(-search.top_k // 2)) if narrow else search.pool,
        rerank=search.rerank and not unranked,
    )


def halved(pool: Sequence[Candidate], ask: Ask) -> list[Candidate]:
    """Half of the pool, another half for every seed."""
    shuffled = sorted(
        pool, key=lambda one: (luck(one.chunk.id, "unstable_retrieval", ask), one.chunk.id)
    )
    kept = {one.chunk.id for one in shuffled[: -(-len(shuffled) // 2)]}
    return placed([one for one in pool if one.chunk.id in kept], "k_pos")


def without(pool: Sequence[Candidate], evidence: Sequence[Candidate]) -> list[Candidate]:
    """The pool without the chunks that would have been shown."""
    lost = {one.chunk.id for one in evidence}
    return placed([one for one in pool if one.chunk.id not in lost], "k_pos")


def noise(found: Sequence[Candidate], index: Index, ask: Ask) -> list[Chunk]:
    """Two or three chunks without a word of the question, of documents that were not found.

    Fewer, or none, where the documents have no more of them.
    """
    near = {one.chunk.doc_id for one in found}
    scores = index.lexical_scores(ask.q)
    strange = [
        chunk
        for chunk, score in zip(index.chunks, scores, strict=True)
        if score == 0 and chunk.doc_id not in near
    ]
    strange.sort(key=lambda chunk: (luck(chunk.id, "noise_injected", ask), chunk.id))
    return strange[: FEWEST_NOISE + int(2 * luck("how many", "noise_injected", ask))]


DIMENSION = 64
"""So few that n-grams which have nothing in common often share a place."""


class WeakSearch:
    """Compares a question with the first sentence of each chunk, and with nothing else of it.

    Whole chunks with their titles would be found too well, whatever is done to them after that.
    What is asked of the chunk's end is missed in every wording, so that it does not look like
    `paraphrase_sensitivity`.
    """

    def __init__(self, index: Index) -> None:
        self._chunks, self._embedder = index.chunks, NgramEmbedder(DIMENSION)
        firsts = [passage.sentences[0].text for passage in index.passages]
        self._vectors = self._embedder.embed(firsts)

    def pooled(self, text: str, search: Search) -> list[Candidate]:
        """As many chunks as the pool is for, best first, with their cosines for scores."""
        scores = self._vectors @ self._embedder.embed([text])[0]
        cosines = [round(min(1.0, float(score)), PLACES) for score in scores]
        found = [
            Candidate(chunk=chunk, score_raw=cosine, score_norm=cosine)
            for chunk, cosine in zip(self._chunks, cosines, strict=True)
            if cosine > 0
        ]
        return placed(found, "k_pos")[: search.pool]
