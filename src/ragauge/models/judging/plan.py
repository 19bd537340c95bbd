"""The plan of calls: what the wanted metrics need to know of a row, each thing asked once.

All judged metrics of a row with five contexts take eight calls: one for the claims of answer and
reference, one a context for the verdicts on all of them and its use, one for what each text says
of the other's claims, one for questions to the answer. Fewer metrics take fewer calls.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.judge import JudgeCall
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.judged import DEFINITIONS, lacking
from ragauge.models.judging.prompt import REPLY_TOKENS, numbered, prompt, texts, verdicts
from ragauge.text.overlap import word_overlap
from ragauge.text.words import words

Part = Literal[
    "answer_in_chunks",
    "reference_in_chunks",
    "useful",
    "answer_in_reference",
    "reference_in_answer",
    "questions",
]
"""What can be asked: which claims stand in the contexts or in the other text, and the rest."""
PARTS: dict[str, frozenset[Part]] = {
    "faithfulness": frozenset({"answer_in_chunks"}),
    "self_knowledge": frozenset({"answer_in_chunks", "answer_in_reference"}),
    "hallucination": frozenset({"answer_in_chunks", "answer_in_reference"}),
    "noise_sensitivity": frozenset(
        {"answer_in_chunks", "answer_in_reference", "reference_in_chunks"}
    ),
    "noise_sensitivity_irrelevant": frozenset(
        {"answer_in_chunks", "answer_in_reference", "reference_in_chunks"}
    ),
    "claim_precision": frozenset({"answer_in_reference"}),
    "claim_recall": frozenset({"reference_in_answer"}),
    "factual_correctness": frozenset({"answer_in_reference", "reference_in_answer"}),
    "context_precision": frozenset({"useful"}),
    "context_recall": frozenset({"reference_in_chunks"}),
    "answer_relevancy": frozenset({"questions"}),
}
"""What each judged metric needs to be asked."""
QUESTIONS = 3
FEWEST_CLAIMS, MOST_CLAIMS = 4, 256
"""Where the number of claims is cut: for a bare "yes", and for a text of thousands of words."""
_OF_ANSWER: frozenset[Part] = frozenset({"answer_in_chunks", "answer_in_reference"})
_OF_REFERENCE: frozenset[Part] = frozenset({"reference_in_chunks", "reference_in_answer"})


class Plan(Struct, frozen=True, kw_only=True):
    """What is to be asked of one row."""

    row: AnswerRow
    parts: frozenset[Part]
    reference: str | None
    """The one whose claims count: of several the nearest, since each of them is enough."""
    refused: bool
    """The answer is known to be a refusal: it claims nothing, and that need not be asked."""
    seed: int

    @property
    def of_answer(self) -> bool:
        """The claims of the answer are to be extracted."""
        return bool(self.parts & _OF_ANSWER) and not self.refused

    @property
    def of_reference(self) -> bool:
        return bool(self.parts & _OF_REFERENCE)

    @property
    def passages(self) -> dict[str, int]:
        """The different texts among the contexts that are not blank, by their first rank."""
        ranks: dict[str, int] = {}
        for rank, context in enumerate(self.row.contexts or (), 1):
            if context.text.strip():
                ranks.setdefault(context.text, rank)
        return ranks


class Claimed(Struct, frozen=True):
    """The claims of both texts; None where they are not asked for, or not known."""

    answer: tuple[str, ...] | None
    reference: tuple[str, ...] | None


def plan_of(
    row: AnswerRow, wanted: Collection[str], *, refused: bool = False, seed: int = 0
) -> Plan:
    """What the wanted metrics need of this row; names of metrics that need no judge ask nothing."""
    facts = AnswerFacts(row=row, refused=refused)
    names = {
        definition.name
        for definition in DEFINITIONS
        if definition.name in wanted and not lacking(facts, definition.needs)
    }
    parts = frozenset().union(*(PARTS[name] for name in names))
    if refused:
        parts -= {"questions"}
    return Plan(row=row, parts=parts, reference=nearest(row), refused=refused, seed=seed)


def nearest(row: AnswerRow) -> str | None:
    """The reference that shares most words with the answer; of equal ones the last by letter.

    None where no reference has a word.
    """
    written = [text for text in row.references if words(text)]
    answer = row.answer or ""
    return max(written, key=lambda text: (word_overlap(text, answer).f, text), default=None)


def opening_calls(plan: Plan) -> dict[str, JudgeCall]:
    """What can be asked at once, by the name of the step: claims, and questions to the answer."""
    calls = {}
    if plan.of_answer or plan.of_reference:
        calls["claims"] = _claims_call(plan)
    if "questions" in plan.parts:
        # Without the question that was asked: it must be guessed from the answer alone.
        reply = {"questions": texts(QUESTIONS, QUESTIONS), "noncommittal": {"type": "boolean"}}
        material = {"answer": plan.row.answer}
        calls["questions"] = prompt("questions").call(material, reply, seed=plan.seed)
    return calls


def verdict_calls(plan: Plan, claimed: Claimed) -> dict[str, JudgeCall]:
    """What can be asked once the claims are known, by the name of the step."""
    calls = {}
    claims, useful = claims_for_chunks(plan, claimed), "useful" in plan.parts
    if claims or useful:
        for passage, rank in plan.passages.items():
            calls[f"chunk {rank}"] = _chunk_call(plan, passage, claims)
    answer, reference = claims_for_agreement(plan, claimed)
    if answer or reference:
        calls["agreement"] = _agreement_call(plan, answer, reference)
    return calls


def most_claims(text: str) -> int:
    """How many claims a text can make: a small model may not know when to stop.

    Even a list of single words makes no more claims than it has words; a text that has many makes
    far fewer.
    """
    return max(FEWEST_CLAIMS, min(len(words(text)), MOST_CLAIMS))


def claims_for_chunks(plan: Plan, claimed: Claimed) -> tuple[str, ...]:
    """The claims that are compared with each context; one that both texts make is asked once."""
    answer = claimed.answer if "answer_in_chunks" in plan.parts else None
    reference = claimed.reference if "reference_in_chunks" in plan.parts else None
    return tuple(dict.fromkeys([*(answer or ()), *(reference or ())]))


def claims_for_agreement(plan: Plan, claimed: Claimed) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The answer's claims to be compared with the references, and the reference's with the answer.

    An answer that claims nothing says nothing of the reference's claims: that is not asked.
    """
    answer = claimed.answer if "answer_in_reference" in plan.parts else None
    reference = claimed.reference if "reference_in_answer" in plan.parts else None
    silent = plan.refused or claimed.answer == ()
    return answer or (), () if silent else reference or ()


def _claims_call(plan: Plan) -> JudgeCall:
    material: dict[str, Any] = {"question": plan.row.question} if plan.row.question else {}
    reply = {}
    if plan.of_answer:
        material["answer"] = plan.row.answer
        reply["answer_claims"] = texts(0, most_claims(plan.row.answer or ""))
    if plan.of_reference:
        material["reference"] = plan.reference
        reply["reference_claims"] = texts(0, most_claims(plan.reference or ""))
    # Claims repeat names, so that they can be longer than their text.
    characters = sum(len(material.get(text) or "") for text in ("answer", "reference"))
    tokens = max(REPLY_TOKENS, characters)
    return prompt("claims").call(material, reply, seed=plan.seed, max_tokens=tokens)


def _chunk_call(plan: Plan, passage: str, claims: tuple[str, ...]) -> JudgeCall:
    material: dict[str, Any] = {}
    reply: dict[str, dict[str, Any]] = {}
    if "useful" in plan.parts:
        material |= {"question": plan.row.question} if plan.row.question else {}
        material["reference"] = plan.reference
    material["passage"] = passage
    if claims:
        material["claims"], reply["verdicts"] = numbered(claims), verdicts(len(claims))
    if "useful" in plan.parts:
        reply["useful"] = {"type": "boolean"}
    return prompt("chunk").call(material, reply, seed=plan.seed)


def _agreement_call(plan: Plan, answer: tuple[str, ...], reference: tuple[str, ...]) -> JudgeCall:
    material: dict[str, Any] = {"question": plan.row.question} if plan.row.question else {}
    material |= {"answer": plan.row.answer, "references": list(plan.row.references)}
    reply = {}
    for name, claims in (("answer_claims", answer), ("reference_claims", reference)):
        if claims:
            material[name], reply[name] = numbered(claims), verdicts(len(claims))
    return prompt("agreement").call(material, reply, seed=plan.seed)
