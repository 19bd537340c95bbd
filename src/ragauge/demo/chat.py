"""Answers from a language model: any OpenAI-compatible chat endpoint, held to a contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.system import Ask
from ragauge.pipelines.http import HttpSystem
from ragauge.pipelines.mapping import mapping_of
from ragauge.text.citations import take_apart
from ragauge.text.refusal import DEFAULT_TOKEN, refusal_in, tokens

CONTRACT = f"""\
You answer questions from numbered passages, and from nothing else.
Reply with one JSON object and no other text:
{{"claim": "one sentence taken from the passages", "citations": ["id of each passage used"], \
"constraints_echo": ["each locked sentence, word for word"]}}
Choose the passage first, then write the claim it proves.
Cite only ids that stand in square brackets before a passage.
If the passages do not answer the question, reply with exactly: {DEFAULT_TOKEN}
"""

REFUSAL = {"claim": DEFAULT_TOKEN, "citations": []}


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
    """The reply as an answer, or the refusal where it refuses or cites what it was not shown.

    >>> guarded('{"claim": "In 1808.", "citations": ["r#1"]}', ["r#1"], [])
    {'claim': 'In 1808.', 'citations': ['r#1']}
    >>> guarded("It was in 1808, I believe.", ["r#1"], [])
    {'claim': 'not in context', 'citations': []}
    """
    text = said if isinstance(said, str) else ""
    answer = take_apart(text)
    cited = list(answer.citations or ())
    refuses = refusal_in(text, tokens()) != "none" or refusal_in(answer.claim, tokens()) != "none"
    if refuses or not cited or not set(cited) <= set(shown):
        return dict(REFUSAL)
    echo = {"constraints_echo": [c for c in constraints if c in text]} if constraints else {}
    return {"claim": answer.claim, "citations": cited, **echo}


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
