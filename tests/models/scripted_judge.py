"""A judge in memory that finds claims and verdicts by plain text, and counts what it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.judge import JudgeCall, JudgeReply, Usage


def material(call: JudgeCall) -> dict[str, Any]:
    """What a call shows the judge."""
    return json.loads(call.user.rpartition("\n")[2])


def parts(text: str) -> list[str]:
    """Claims end with a full stop."""
    return [part.strip() for part in text.split(".") if part.strip()]


def supported(claims: list[dict[str, Any]], *texts: str) -> list[bool]:
    return [any(claim["claim"] in text for text in texts) for claim in claims]


def claims(shown: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{name}_claims": parts(shown[name]) for name in ("answer", "reference") if name in shown
    }


def chunk(shown: dict[str, Any]) -> dict[str, Any]:
    reply: dict[str, Any] = {}
    if "claims" in shown:
        reply["verdicts"] = supported(shown["claims"], shown["passage"])
    if "reference" in shown:
        reply["useful"] = any(part in shown["passage"] for part in parts(shown["reference"]))
    return reply


def agreement(shown: dict[str, Any]) -> dict[str, Any]:
    others = {"answer_claims": shown["references"], "reference_claims": [shown["answer"]]}
    return {name: supported(shown[name], *texts) for name, texts in others.items() if name in shown}


def questions(shown: dict[str, Any]) -> dict[str, Any]:
    answer = shown["answer"]
    asked = [f"What of {answer}?", f"Why {answer}?", f"Who knows {answer}?"]
    return {"questions": asked, "noncommittal": "do not know" in answer}


SCRIPT: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "claims": claims,
    "chunk": chunk,
    "agreement": agreement,
    "questions": questions,
}


@dataclass
class ScriptedJudge:
    """Says what the script has for a prompt; an exception in its place is raised."""

    script: dict[str, Any] = field(default_factory=dict)
    calls: list[JudgeCall] = field(default_factory=list)
    id: str = "scripted"

    async def ask(self, call: JudgeCall) -> JudgeReply:
        self.calls.append(call)
        name = call.prompt.partition("/")[0]
        said = self.script.get(name, SCRIPT.get(name))
        said = said(material(call)) if callable(said) else said
        if isinstance(said, Exception):
            raise said
        return JudgeReply(value=said, usage=Usage(calls=1))

    async def close(self) -> None: ...

    @property
    def prompts(self) -> list[str]:
        return [call.prompt.partition("/")[0] for call in self.calls]


PASSAGES = ("Ede is in Gelderland. It is old", "It is red", "Moss grows", "Rain falls", "It is wet")
ROW = AnswerRow(
    id="r1",
    question="Where is Ede, and what is it like?",
    answer="Ede is in Gelderland. It is red. It is big. It is tall.",
    contexts=tuple(Context(f"c{n}", text) for n, text in enumerate(PASSAGES, 1)),
    references=("Ede is in Gelderland. It is old. It is big. It is far.",),
)
