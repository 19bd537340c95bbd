"""Prompts: versioned files, filled once with material that is quoted as data.

A file has a name and a version, what the judge is told, and the message that brings the
material. Whatever a number depends on stands in the file: who changes a word raises the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from ragauge.contracts.judge import JudgeCall
from ragauge.models.judges.request import as_data

PROMPTS = "prompts"
REPLY_TOKENS = 2048
_FILE = re.compile(
    r"---\nname: (?P<name>\w+)\nversion: (?P<version>[1-9]\d*)\n---\n"
    r"(?P<system>.+?)\n(?:--- user ---\n(?P<user>.+)\n)?",
    re.DOTALL,
)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


class Prompt(Struct, frozen=True, kw_only=True):
    """One prompt file."""

    name: str
    version: int
    system: str
    user: str

    @property
    def id(self) -> str:
        return f"{self.name}/{self.version}"

    def call(
        self,
        material: Mapping[str, Any],
        reply: Mapping[str, dict[str, Any]],
        *,
        seed: int = 0,
        max_tokens: int = REPLY_TOKENS,
        **words: str,
    ) -> JudgeCall:
        """The call that shows this material and wants a reply of these fields, all of them.

        `words` are what the user may put into the instructions, such as a rubric.
        """
        filling = {**words, "material": as_data(material)}
        return JudgeCall(
            prompt=self.id,
            system=filled(self.system, filling),
            user=filled(self.user, filling),
            schema={
                "type": "object",
                "properties": dict(reply),
                "required": list(reply),
                "additionalProperties": False,
            },
            seed=seed,
            max_tokens=max_tokens,
        )


@cache
def prompt(name: str) -> Prompt:
    """The prompt of that name, as its file has it.

    >>> prompt("claims").id
    'claims/1'
    """
    text = (files("ragauge.models.judging") / PROMPTS / f"{name}.md").read_text("utf-8")
    return prompt_in(text)


def prompt_in(text: str) -> Prompt:
    """The prompt that a file's text is; ValueError where it has no name, version or text."""
    match = _FILE.fullmatch(text)
    if match is None:
        raise ValueError("a prompt begins with its name and version, and then has text")
    return Prompt(
        name=match["name"],
        version=int(match["version"]),
        system=match["system"],
        user=match["user"] or "",
    )


def filled(template: str, words: Mapping[str, str]) -> str:
    """The template with its places filled, once: places in what is filled in are plain text.

    >>> filled("{{a}}, {{b}}", {"a": "{{b}}", "b": "2"})
    '{{b}}, 2'
    """
    return _PLACE.sub(lambda place: words[place[1]], template)


def texts(least: int, most: int) -> dict[str, Any]:
    """The schema of a list of so many texts."""
    return {"type": "array", "items": {"type": "string"}, "minItems": least, "maxItems": most}


def verdicts(number: int) -> dict[str, Any]:
    """The schema of as many verdicts: one more or one less is a breach of it."""
    kind = {"type": "boolean"}
    return {"type": "array", "items": kind, "minItems": number, "maxItems": number}


def numbered(claims: tuple[str, ...]) -> list[dict[str, Any]]:
    """Claims as they stand in a call, so that verdicts can be lined up with them."""
    return [{"number": number, "claim": claim} for number, claim in enumerate(claims, 1)]
