"""Vectors from any OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

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
