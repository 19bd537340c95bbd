"""The graph of all-MiniLM-L6-v2, drawn node by node from its published architecture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    pooled = _pooled(drawing, _encoded(drawing, _embedded(drawing)))
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
    active = _gelu(drawing, wide)
    out = drawing.linear(active, f"{where}.output.dense", f"{where}.narrow")
    total = drawing.add("Add", [out, hidden], f"{where}.total")
    return drawing.normalised(total, f"{where}.output.LayerNorm", f"{where}.normal")


def _gelu(drawing: _Drawing, x: str) -> str:
    """x · ½ (1 + erf(x / √2)): the exact form, not its tanh approximation."""
    shrunk = drawing.add("Mul", [x, "root"], f"{x}.shrunk")
    erf = drawing.add("Erf", [shrunk], f"{x}.erf")
    raised = drawing.add("Add", [erf, "one"], f"{x}.raised")
    gated = drawing.add("Mul", [x, raised], f"{x}.gated")
    return drawing.add("Mul", [gated, "half"], f"{x}.gelu")


def _pooled(drawing: _Drawing, hidden: str) -> str:
    return drawing.add("ReduceMean", [hidden], "pooled", axes=[1], keepdims=0)
