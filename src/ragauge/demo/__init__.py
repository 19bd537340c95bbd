"""The bundled heritage set: documents, a gold set over them, and traces to score."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

HERITAGE = Path(str(files("ragauge.demo"))) / "heritage"
DOCUMENTS = HERITAGE / "documents"
GOLD = HERITAGE / "gold.jsonl"
TRACES = HERITAGE / "traces.jsonl"
