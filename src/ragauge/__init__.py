"""Ragauge measures retrieval-augmented generation: right answers, citations and refusals.

from ragauge import score
outcome = score("gold.jsonl", ["traces.jsonl"], gates="precision_cited>=0.80")
"""

from __future__ import annotations

from typing import Any

__version__ = "0.2.0"

# Loaded on first use, so that `import ragauge` stays far below a tenth of a second. Editors and
# type checkers read __init__.pyi, which `make docs` writes from the functions themselves.
_LATE = {
    "score": "ragauge.runners.score",
    "ScoreOptions": "ragauge.contracts.options",
    "stability": "ragauge.runners.stability",
    "StabilityOptions": "ragauge.contracts.options",
    "sweep": "ragauge.runners.sweep",
    "SweepOptions": "ragauge.contracts.options",
    "open_history": "ragauge.store.history",
    "record": "ragauge.runners.recording",
    "compare": "ragauge.runners.compare",
    "audit": "ragauge.runners.audit",
    "AuditOptions": "ragauge.contracts.options",
    "trace_eval": "ragauge.runners.trace_eval",
    "TraceEvalOptions": "ragauge.contracts.options",
    "evaluate_ner": "ragauge.runners.components.evaluate_ner",
    "ner_values": "ragauge.runners.components.evaluate_ner",
    "evaluate_types": "ragauge.runners.components.evaluate_types",
    "types_values": "ragauge.runners.components.evaluate_types",
    "evaluate_linking": "ragauge.runners.components.evaluate_linking",
    "evaluate_retrieval": "ragauge.runners.components.evaluate_retrieval",
    "evaluate_qa": "ragauge.runners.answers.evaluate_qa",
    "evaluate_answers": "ragauge.runners.answers.evaluate_answers",
    "groundedness": "ragauge.grounding",
    "evaluate_all": "ragauge.runners.components.evaluate_all",
    "diagnose": "ragauge.runners.diagnosis.diagnose",
    "diagnose_traces": "ragauge.runners.diagnosis.diagnose",
    "diagnose_run": "ragauge.runners.diagnosis.diagnose",
    "CitationValidator": "ragauge.citations.validator",
    "Policy": "ragauge.citations.validator",
    "OffsetReading": "ragauge.citations.offsets",
    "FolderDocuments": "ragauge.store.documents",
    "Manifest": "ragauge.contracts.manifest",
    "read_manifest": "ragauge.ingest.manifest",
    "write_manifest": "ragauge.store.files",
    "project": "ragauge.citations.adapters",
    "project_all": "ragauge.citations.adapters",
    "prompt_contract": "ragauge.citations.prompt",
    "parse_answer": "ragauge.citations.answer",
    "constraint_lock": "ragauge.contracts.gold",
    "LogEntry": "ragauge.contracts.serving_log",
    "format_line": "ragauge.citations.log_line",
    "parse_line": "ragauge.citations.log_line",
    "metric": "ragauge.contracts.metric",
    "Row": "ragauge.contracts.metric",
    "Absent": "ragauge.contracts.metric",
    "NotApplicable": "ragauge.contracts.metric",
    "SCALE": "ragauge.contracts.metric",
    "Facts": "ragauge.contracts.metric",
    "RagaugeError": "ragauge.errors",
}

__all__ = [*_LATE]  # noqa: PLE0604 (the names are the keys of the table above)


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'ragauge' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
