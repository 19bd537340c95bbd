"""Vectors from any OpenAI-compatible embeddings endpoint, and vectors of any embedder, kept."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

from ragauge.contracts.embedder import Embedder
from ragauge.contracts.system import CallFailed
from ragauge.errors import UsageError
from ragauge.models.endpoint import Limits, ModelEndpoint, key_of
from ragauge.pipelines.threads import run_async

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


KEY = "RAGAUGE_EMBEDDER_KEY"
MOST_TEXTS = 64
MOST_BYTES = 64_000
"""A request holds so many texts and bytes at the most; a longer text goes by itself."""
PROBE = "dimension"


class EmbeddingFailed(UsageError):
    """An endpoint gave no vectors; `down` where it would give none of other texts either."""

    def __init__(self, problem: str, *, down: bool) -> None:
        super().__init__(problem)
        self.down = down


class _Vector(Struct):
    index: int
    embedding: list[float]


class _Vectors(Struct):
    data: list[_Vector]


class EndpointEmbedder:
    """Texts as the vectors that a model at an endpoint gives them, brought to length one."""

    def __init__(
        self, url: str, model: str, *, key_env: str | None = None, limits: Limits | None = None
    ) -> None:
        self._url, self._model = url, model
        self._key, self._limits = key_of(key_env, KEY), limits or Limits()
        self._dimension: int | None = None
        self._endpoint()  # what is wrong with the URL is said now

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._model}, {self._endpoint()!r})"

    @property
    def id(self) -> str:
        return f"endpoint:{self._model}:{self.dimension}"

    @property
    def place(self) -> str:
        """Whose vectors they are, known before one was asked for, and nothing that is secret."""
        return f"{self._endpoint().place}#{self._model}"

    @property
    def dimension(self) -> int:
        """How long the vectors are; the endpoint is asked for one where that is not yet known."""
        if self._dimension is None:
            (probe,) = run_async(self._vectors([PROBE]))
            self._dimension = len(probe)
        return self._dimension

    def expect(self, dimension: int) -> None:
        """Take the length of vectors from those that came before: it need not be asked for."""
        self._dimension = dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, each of length one; a text without content is all zeros.

        Raises EmbeddingFailed where the endpoint does not give them.
        """
        import numpy as np

        full = [at for at, text in enumerate(texts) if text.strip()]
        asked = sorted(full, key=lambda at: (len(texts[at]), at))
        found = run_async(self._vectors([_whole(texts[at]) for at in asked]))
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at, vector in zip(asked, found, strict=True):
            rows[at] = vector
        return rows

    async def _vectors(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        endpoint = self._endpoint()
        try:
            asking = [self._batch(endpoint, batch) for batch in batches(texts)]
            found = await asyncio.gather(*asking)
        except CallFailed as failed:
            raise EmbeddingFailed(
                f"embedder {self._model}: {failed}; look whether the endpoint runs and knows the "
                "model, or use the embedder ngram",
                down=failed.again,
            ) from None
        finally:
            await endpoint.close()
        return [vector for vectors in found for vector in vectors]

    async def _batch(
        self, endpoint: ModelEndpoint, texts: Sequence[str]
    ) -> list[NDArray[np.float64]]:
        body = {"model": self._model, "input": list(texts)}

        async def ask() -> list[NDArray[np.float64]]:
            return [self._checked(row) for row in _rows(await endpoint.send(body), len(texts))]

        spread = hashlib.sha256("\0".join(texts).encode()).hexdigest()
        return await endpoint.patiently(spread, ask)

    def _checked(self, row: list[float]) -> NDArray[np.float64]:
        """The vector with length one; raises CallFailed where it cannot be one of this model."""
        import numpy as np

        if not row:
            raise CallFailed("bad_reply", "a vector has no numbers")
        length = math.hypot(*row)
        if not math.isfinite(length):
            raise CallFailed("bad_reply", "a vector is too long for a number")
        if self._dimension is None:
            self._dimension = len(row)
        if len(row) != self._dimension:
            fact = f"a vector has {len(row)} numbers, and the first had {self._dimension}"
            raise CallFailed("bad_reply", fact)
        return np.array(row, dtype=np.float64) / (length or 1.0)

    def _endpoint(self) -> ModelEndpoint:
        """A fresh one for each use: connections belong to the loop they were made in."""
        return ModelEndpoint(self._url, "embeddings", key=self._key, limits=self._limits)


def batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in their order, so many together as a request may hold.

    >>> [len(batch) for batch in batches(["a"] * 70 + ["b" * 40_000] * 2)]
    [64, 7, 1]
    """
    start = size = 0
    for at, text in enumerate(texts):
        more = len(text.encode())
        if at > start and (at - start == MOST_TEXTS or size + more > MOST_BYTES):
            yield texts[start:at]
            start, size = at, 0
        size += more
    if start < len(texts):
        yield texts[start:]


def _rows(reply: Any, expected: int) -> list[list[float]]:
    """The vectors of a reply in the order of the texts; raises CallFailed."""
    try:
        found = msgspec.convert(reply, _Vectors).data
    except msgspec.ValidationError as error:
        fact = f"the reply is no list of embeddings: {error}"
        raise CallFailed("bad_reply", fact, again=True) from None
    by_index = {vector.index: vector.embedding for vector in found}
    if len(found) != expected or by_index.keys() != set(range(expected)):
        fact = f"{expected} texts were sent, and {len(found)} vectors came, or not one for each"
        raise CallFailed("bad_reply", fact, again=True)
    return [by_index[at] for at in range(expected)]


def _whole(text: str) -> str:
    """The text with halves of characters replaced: JSON takes whole ones only."""
    return text.encode("utf-8", "replace").decode("utf-8")


class KeptReplies(Protocol):
    """What keeps vectors: the store's replies do."""

    def get_all(self, keys: Iterable[str]) -> dict[str, bytes]: ...

    def put_all(self, replies: Mapping[str, bytes]) -> None: ...


MOST = 16_384
"""Vectors that are in memory: 64 MiB of a thousand dimensions."""


class CachingEmbedder:
    """Another embedder's vectors under its id; those that are known are read, not made.

    Those asked for last are in memory, and all of them are where `kept` keeps them. Of an endpoint
    the length of its vectors is kept there too: once all texts are known, nothing is asked for. It
    is for one thread at a time.
    """

    def __init__(
        self, embedder: Embedder, kept: KeptReplies | None = None, *, most: int = MOST
    ) -> None:
        if most < 1:
            raise ValueError(f"at least one vector must be kept, not {most}")
        self._embedder, self._kept, self._most = embedder, kept, most
        self._recent: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._name, self._length_key = "", None
        if kept is not None and isinstance(embedder, EndpointEmbedder):
            self._name = embedder.place
            self._length_key = _hashed(f"dimension\0{self._name}")
            length = kept.get_all([self._length_key]).get(self._length_key, b"")
            if length.isdigit():
                embedder.expect(int(length))
        elif kept is not None:
            self._name = embedder.id

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, as the other embedder gives it; each new text is asked for once."""
        import numpy as np

        by_key = {_hashed(f"embedding\0{self._name}\0{text}"): text for text in texts}
        known = {key: self._recent[key] for key in by_key if key in self._recent}
        if self._kept is not None and (unknown := sorted(by_key.keys() - known.keys())):
            known |= {
                key: np.frombuffer(content, "<f4")
                for key, content in self._kept.get_all(unknown).items()
                if len(content) == 4 * self.dimension
            }
        if new := [key for key in by_key if key not in known]:
            made = self._embedder.embed([by_key[key] for key in new]).astype("<f4")
            contents = {key: row.tobytes() for key, row in zip(new, made, strict=True)}
            known |= {key: np.frombuffer(content, "<f4") for key, content in contents.items()}
            if self._kept is not None:
                length = {self._length_key: b"%d" % self.dimension} if self._length_key else {}
                self._kept.put_all(contents | length)
        for key in by_key:
            self._recent[key] = known[key]
            self._recent.move_to_end(key)
        while len(self._recent) > self._most:
            self._recent.popitem(last=False)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        by_text = {text: known[key] for key, text in by_key.items()}
        for row, text in zip(rows, texts, strict=True):
            row[:] = by_text[text]
        return rows


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
