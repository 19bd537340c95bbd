"""Lexical groundedness: an answer compared with its contexts, sentence by sentence."""

from ragauge.grounding.groundedness import groundedness
from ragauge.grounding.passages import Passages

__all__ = ["Passages", "groundedness"]
