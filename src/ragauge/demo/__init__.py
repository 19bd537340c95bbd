"""The bundled heritage set: documents, a gold set over them, and a pipeline to measure."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

HERITAGE = Path(str(files("ragauge.demo"))) / "heritage"
DOCUMENTS = HERITAGE / "documents"
GOLD = HERITAGE / "gold.jsonl"
SMOKE = HERITAGE / "smoke.jsonl"
"""Questions a served pipeline must answer before it calls itself ready."""
