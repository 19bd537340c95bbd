"""Answers from a language model: any OpenAI-compatible chat endpoint, held to a contract."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ragauge.contracts.gold import DEFAULT_TOKEN
from ragauge.contracts.system import Ask
from ragauge.pipelines.http import HttpSystem
from ragauge.pipelines.mapping import mapping_of
from ragauge.refusals.predicate import refusal_in, refusal_tokens
from ragauge.text.citations import id_of, split_ids

CONTRACT = f"""\
You answer questions from numbered passages, and from nothing else.
Reply with one JSON object and no other text:
{{"claim": "one sentence taken from the passages", "citations": ["id of each passage used"], \
"constraints_echo": ["each locked sentence, word for word"]}}
Choose the passage first, then write the claim it proves.
Cite only ids that stand in square brackets before a passage.
If the passages do not answer the question, reply with exactly: {DEFAULT_TOKEN}
"""

REFUSAL: dict[str, Any] = {"claim": DEFAULT_TOKEN, "citations": []}
OBJECTS_TRIED = 20

_OPENING = re.compile(r"\{")
_LENIENT = json.JSONDecoder(strict=False)


class ChatGenerator:
    """Asks a chat endpoint for the answer, and lets none through that breaks the contract."""

    def __init__(self, url: str, model: str, headers: Mapping[str, str] | None = None) -> None:
        self._model = model
        self._endpoint = HttpSystem(
            url, mapping=mapping_of(_shape(model), {}), headers=dict(headers or {})
        )

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "chat", "model": self._model, "endpoint": self._endpoint.identity}

    async def generate(
        self,
        question: str,
        chunks: Sequence[tuple[str, str]],
        constraints: Sequence[str],
        seed: int,
        temperature: float,
    ) -> dict[str, Any]:
        """The answer's fields: what the model claims and cites, or the exact refusal."""
        if not chunks:
            return dict(REFUSAL)
        asked = Ask(q=prompt(question, chunks, constraints), seed=seed, temperature=temperature)
        reply = await self._endpoint.ask(asked)
        return guarded(reply.get("answer"), [id for id, _ in chunks], constraints)

    async def close(self) -> None:
        await self._endpoint.close()


def prompt(question: str, chunks: Sequence[tuple[str, str]], constraints: Sequence[str]) -> str:
    """What the model is shown: the passages with their ids, the locked sentences, the question."""
    passages = "\n".join(f"[{id}] {text}" for id, text in chunks)
    locked = "".join(f"\nLocked sentence: {sentence}" for sentence in constraints)
    return f"Passages:\n{passages}\n{locked}\nQuestion: {question}"


def guarded(said: Any, shown: Sequence[str], constraints: Sequence[str]) -> dict[str, Any]:
    """The reply as an answer, or the refusal where it refuses or breaks the contract.

    What it echoes stays as it is in both.

    >>> guarded('{"claim": "In 1808.", "citations": ["r#1"]}', ["r#1"], [])
    {'claim': 'In 1808.', 'citations': ['r#1']}
    >>> guarded("It was in 1808, I believe.", ["r#1"], [])
    {'claim': 'not in context', 'citations': []}
    """
    text = said if isinstance(said, str) else ""
    reply = _object_in(text)
    claim, listed, echo = (reply.get(name) for name in ("claim", "citations", "constraints_echo"))
    if isinstance(listed, str):
        listed = split_ids(listed)
    # Each id once; what is no id stays, so that it is one that was not shown.
    ids = listed if isinstance(listed, list) else []
    cited = list(dict.fromkeys(id_of(one) or str(one) for one in ids))
    if not isinstance(echo, list) or not all(isinstance(one, str) for one in echo):
        echo = []
    echoed = {"constraints_echo": echo} if constraints or echo else {}
    if not isinstance(claim, str) or not claim.strip() or not set(cited) <= set(shown):
        return REFUSAL | echoed
    refuses = any(refusal_in(one, refusal_tokens()) != "none" for one in (text, claim))
    return (REFUSAL if refuses or not cited else {"claim": claim, "citations": cited}) | echoed


def _object_in(text: str) -> dict[str, Any]:
    """The object with a claim, alone, in a fence or among prose; {} where there is none."""
    for opening in islice(_OPENING.finditer(text), OBJECTS_TRIED):
        try:
            found, _ = _LENIENT.raw_decode(text, opening.start())
            msgspec.json.encode(found)
        except (ValueError, RecursionError):  # not JSON, or with half a character in it
            continue
        if "claim" in found:
            return dict(found)
    return {}


def _shape(model: str) -> dict[str, Any]:
    """The request and reply of a chat completion."""
    return {
        "request": {
            "model": model,
            "messages": [
                {"role": "system", "content": CONTRACT},
                {"role": "user", "content": "{q}"},
            ],
            "seed": "{seed}",
            "temperature": "{temperature}",
            "max_tokens": 300,
        },
        "response": {"answer": "$.choices[0].message.content"},
    }
