"""Mistakes that a type checker must find, each with the code of its error; nobody runs this."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ragauge

if TYPE_CHECKING:
    ragauge.score("a", "b", gatez=3)  # call-arg
    ragauge.score("a", "b", gates=3)  # arg-type
    ragauge.score("a")  # call-arg
    ragauge.score("a", "b", each="answer")  # arg-type
    ragauge.score("a", "b", options=ragauge.AuditOptions())  # arg-type
    ragauge.sweep("gold.jsonl", 5, "runs.jsonl")  # arg-type
    ragauge.sweep("gold.jsonl", print, "runs.jsonl", seeds="0,1")  # arg-type
    ragauge.evaluate_answers([{"answer": "x"}], judges="lexical")  # call-arg
    ragauge.audit("t.jsonl", depth="deep")  # arg-type
    no_such_field = ragauge.score("a", "b").raport  # attr-defined
    no_such_function = ragauge.skore  # attr-defined
    value: int = ragauge.score("a", "b")["precision_cited"].value  # assignment
