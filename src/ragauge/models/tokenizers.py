"""Tokenizers by name: those that are always there, and the files of others."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from ragauge.citations.offsets import TOKENIZERS, Tokenizer
from ragauge.errors import UsageError

FILE = "tokenizer.json"


def tokenizer_of(name: str) -> Tokenizer:
    """The tokenizer of that name: `whitespace`, `words`, or the path of a tokenizer.json.

    >>> tokenizer_of("words").id
    'words:v1'
    """
    if name in TOKENIZERS:
        return TOKENIZERS[name]
    place = Path(name).expanduser()
    file = place / FILE if place.is_dir() else place
    if not file.is_file():
        known = ", ".join(TOKENIZERS)
        raise UsageError(
            f'tokenizer "{name}" is not known; there are {known} and the path of a {FILE}'
        )
    return FileTokenizer(file)


class FileTokenizer:
    """The tokens of a Hugging Face tokenizer.json, without special ones and never cut off."""

    def __init__(self, file: Path) -> None:
        if find_spec("tokenizers") is None:
            raise UsageError(
                f"tokenizer {file}: tokenizers not installed; pip install 'ragauge[minilm]'"
            )
        from tokenizers import Tokenizer as Loaded

        try:
            content = file.read_bytes()
            self._tokenizer = Loaded.from_str(content.decode("utf-8"))
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from error
        except Exception as error:  # tokenizers raises nothing narrower
            raise UsageError(
                f"{file}: cannot be read as a tokenizer ({error}); "
                f"give the {FILE} that was saved with the model"
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._id = f"{FILE}:{hashlib.sha256(content).hexdigest()[:12]}"

    @property
    def id(self) -> str:
        """The hash of the file: another file, other tokens."""
        return self._id

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token begins and ends, in code points."""
        # Halves of characters become a sign each: the tokenizer takes whole ones only.
        whole = text.encode("utf-8", "replace").decode("utf-8")
        spans: list[tuple[int, int]] = self._tokenizer.encode(
            whole, add_special_tokens=False
        ).offsets
        return spans
