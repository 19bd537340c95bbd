"""BERT as its paper and weights say, in plain numpy and double precision: slow and obvious."""

from __future__ import annotations

import math

import numpy as np


def sentence_vector(weights, tokens, padding=0):
    """The mean-pooled vector of length one, with so many padding tokens that must not matter."""
    ids = [*tokens, *[0] * padding]
    seen = np.array([1.0] * len(tokens) + [0.0] * padding)
    hidden = _normalised(
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][[0] * len(ids)],
        weights,
        "embeddings.LayerNorm",
    )
    for number in range(6):
        hidden = _layer(hidden, seen, weights, f"encoder.layer.{number}")
    mean = (hidden * seen[:, None]).sum(axis=0) / seen.sum()
    return mean / np.sqrt((mean**2).sum())


def _layer(hidden, seen, weights, where):
    query, key, value = (
        _linear(hidden, weights, f"{where}.attention.self.{name}")
        for name in ("query", "key", "value")
    )
    mixed = np.zeros_like(hidden)
    for head in range(12):
        part = slice(32 * head, 32 * (head + 1))
        scores = query[:, part] @ key[:, part].T / math.sqrt(32)
        scores[:, seen == 0] = -np.inf
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed[:, part] = shares / shares.sum(axis=1, keepdims=True) @ value[:, part]
    out = _linear(mixed, weights, f"{where}.attention.output.dense")
    attended = _normalised(out + hidden, weights, f"{where}.attention.output.LayerNorm")
    wide = _linear(attended, weights, f"{where}.intermediate.dense")
    gelu = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
    narrow = _linear(gelu, weights, f"{where}.output.dense")
    return _normalised(narrow + attended, weights, f"{where}.output.LayerNorm")


def _linear(inputs, weights, where):
    return inputs @ weights[f"{where}.weight"].T + weights[f"{where}.bias"]


def _normalised(inputs, weights, where):
    centred = inputs - inputs.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    return centred / spread * weights[f"{where}.weight"] + weights[f"{where}.bias"]
