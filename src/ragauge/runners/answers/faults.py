"""What went wrong in an answer, by the catalogue's word for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ragauge.metrics.answer_facts import AnswerFacts

Values = Mapping[str, float | None]
Fault = Callable[[Values], bool]
HALF = 0.5


def answer_faults(
    facts: Sequence[AnswerFacts], values: Mapping[str, Sequence[float | None]]
) -> list[tuple[str, str]]:
    """Each answer that went wrong, with the word for how; one may have several."""
    found = []
    for place, one in enumerate(facts):
        if one.row.answer is None:
            found.append((one.row.id, "no_answer"))
            continue
        told = {id.removeprefix("answers."): column[place] for id, column in values.items()}
        found += [(one.row.id, word) for word, holds in FAULTS.items() if holds(told)]
    return found


def _below(bound: float, *names: str) -> Fault:
    """Whether the first of these metrics that has a value is below the bound.

    A judge's word comes before that of the sentence supporter.
    """
    return lambda told: (value := _first(told, names)) is not None and value < bound


def _above(bound: float, *names: str) -> Fault:
    return lambda told: (value := _first(told, names)) is not None and value > bound


def _first(told: Values, names: Sequence[str]) -> float | None:
    return next((told[name] for name in names if told.get(name) is not None), None)


def _any(*faults: Fault) -> Fault:
    return lambda told: any(fault(told) for fault in faults)


def _judged(name: str) -> tuple[str, str]:
    return name, f"lexical_{name}"


FAULTS: dict[str, Fault] = {
    "ungrounded": _any(_below(1, "grounded"), _below(HALF, *_judged("faithfulness"))),
    "strange_number": _any(_below(1, "number_agreement"), _below(1, "date_agreement")),
    "off_reference": _below(HALF, "factual_correctness", "token_recall", "containment"),
    "off_question": _below(HALF, "answer_relevancy"),
    "not_retrieved": _below(HALF, *_judged("context_recall")),
    "useless_contexts": _below(HALF, *_judged("context_precision")),
    "misled": _any(
        _above(0, *_judged("noise_sensitivity")),
        _above(0, *_judged("noise_sensitivity_irrelevant")),
    ),
    "own_knowledge": _above(0, *_judged("self_knowledge")),
    "badly_cited": _any(_below(1, "citation_precision"), _above(0, "misattributed")),
}
"""By the catalogue's word, when the values of an answer speak for it."""
