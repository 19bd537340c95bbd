"""Lexical groundedness: an answer laid against its contexts, sentence by sentence."""

from ragauge.text.grounding.groundedness import groundedness
from ragauge.text.grounding.passages import Passages

__all__ = ["Passages", "groundedness"]
