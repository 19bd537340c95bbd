"""Questions to put to the pipeline with its faults, and what to look at in the replies."""

from __future__ import annotations

import json

from ragauge.contracts.system import Ask
from ragauge.demo import GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.text.canonical import phrases
from tests.demo.questions import ANSWERABLE, UNANSWERABLE

QUESTIONS = [*ANSWERABLE, *UNANSWERABLE]
CONSTRAINTS = ["Locked."]
REFUSAL = "not in context"
WORDINGS = {
    wording: question
    for question in map(json.loads, GOLD.read_text("utf-8").splitlines())
    for wording in (question["question"], *question.get("paraphrases", ()))
}
"""Every wording of the gold set, with its question."""


def reply(
    pipeline: Pipeline,
    question: str,
    *faults: str,
    seed: int = 0,
    temperature: float = 0.0,
    **knobs: object,
) -> dict:
    """The reply without its times."""
    turned = {"faults": list(faults), "constraints": CONSTRAINTS, "delay_ms": 0, **knobs}
    made = pipeline.answer(Ask(q=question, seed=seed, temperature=temperature, knobs=turned))
    del made["stage_ms"]
    return made


def is_refusal(made: dict) -> bool:
    return made["answer_json"]["claim"] == REFUSAL


def is_right(wording: str, made: dict) -> bool:
    """Whether the answer to a wording of the gold set holds the gold phrase."""
    sought = phrases(tuple(WORDINGS[wording].get("gold_claim_substr", ())), "unicode")
    return sought is not None and sought.found_in(made["answer_json"]["claim"])


def has_gold(wording: str, made: dict) -> bool:
    return set(WORDINGS[wording]["gold_citations"]) <= set(made["retrieved_ids"])


def rest(made: dict) -> dict:
    """The reply without what cites: its segments."""
    return {key: value for key, value in made.items() if key != "segments"}


def citations_in(made: dict) -> list[dict]:
    return [one for segment in made.get("segments", ()) for one in segment["citations"]]


def cited_in(made: dict) -> list[str]:
    return [one["snippet_id"] for one in citations_in(made)]


def quoted_in(made: dict) -> list[str]:
    return [one["quote"] for one in citations_in(made)]


def texts_in(made: dict) -> str:
    """All that was shown."""
    return "\n".join(one["text"] for one in made["retrieved"])
