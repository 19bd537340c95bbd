"""Results of promptfoo: an output for each test, prompt and provider, held against assertions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragauge.ingest.answered.shapes import (
    ANSWERS,
    CONTEXTS,
    CONVERSATIONS,
    QUESTIONS,
    REFERENCES,
)
from ragauge.ingest.scored.cells import Failed
from ragauge.ingest.scored.names import our_name
from ragauge.ingest.scored.samples import (
    OTHER_ANSWERS,
    OTHER_REFERENCES,
    TEXTS,
    Parts,
    sample_id,
)

OVERALL = "score"
"""What promptfoo makes of all assertions together."""
_WITH_REFERENCE = ("context-recall", "factuality", "similar", "model-graded-factuality")
_ERROR = 2
"""The failure reason of a test that was never judged; 1 is an assertion that does not hold."""
_LONGEST_LABEL = 40
_LIKE = {
    "question": QUESTIONS,
    "contexts": CONTEXTS,
    "ground_truth": (*REFERENCES, *OTHER_REFERENCES, "answer"),
}
"""Variables that tell a field, by the name we have for it."""


def is_promptfoo(record: Mapping[str, Any]) -> bool:
    tested = "vars" in record and ("response" in record or "promptIdx" in record)
    return tested or isinstance(record.get("gradingResult"), Mapping) or "namedScores" in record


def promptfoo_samples(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Parts]:
    """The samples of all results; one test asked of several providers is several samples."""
    providers = [_provider(row) for _, row in rows]
    prompts = [_prompt(row) for _, row in rows]
    asked = {"provider": providers, "prompt": prompts}
    several = {name: told for name, told in asked.items() if len(set(told)) > 1}
    samples = []
    for number, (place, row) in enumerate(rows):
        strata = {name: told[number] or "none" for name, told in several.items()}
        samples.append(_sample(place, row, strata))
    return samples


def _sample(place: str, row: Mapping[str, Any], strata: Mapping[str, str]) -> Parts:
    test = _object(row.get("testCase"))
    told = {
        **_object(test.get("metadata")),
        **_object(test.get("vars")),
        **_object(row.get("vars")),
    }
    fields = {name: value for name, value in told.items() if name in TEXTS}
    known = sample_id(fields)
    if known is None and isinstance(row.get("testIdx"), int):
        known = f"test {row['testIdx']}"
    return Parts(
        place=place,
        fields={**_found(row, fields), **_without_answers(fields), **_answer(row)},
        scores=_scores(row),
        others={name: value for name, value in told.items() if name not in TEXTS},
        id=None if known is None else " ".join((known, *strata.values())),
        strata=strata,
    )


def _scores(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What was measured, by assertion; a name that several have holds all their scores."""
    if _failed(row):
        error = row.get("error")
        return {OVERALL: [Failed(error if isinstance(error, str) else "")]}
    scores: dict[str, list[Any]] = {}
    named: set[str] = set()
    for part, assertion in _components(row):
        kind, metric = assertion.get("type"), assertion.get("metric")
        name = kind if isinstance(kind, str) and our_name(kind) else metric or kind
        if isinstance(metric, str):
            named.add(metric)
        if isinstance(name, str):
            scores.setdefault(name, []).append(_score(part))
    for name, value in _object(row.get("namedScores")).items():
        if name not in named:
            scores.setdefault(name, [value])
    scores.setdefault(OVERALL, [_overall(row)])
    return scores


def _overall(row: Mapping[str, Any]) -> Any:
    """What it makes of all; nothing where one of the graders failed, which it takes for a 0."""
    failed = [_score(part) for part in _parts(row) if isinstance(_score(part), Failed)]
    return failed[0] if failed else row.get("score")


def _score(part: Mapping[str, Any]) -> Any:
    if _object(part.get("metadata")).get("graderError"):
        return Failed(str(part.get("reason") or ""))
    return part.get("score", part.get("pass"))


def _failed(row: Mapping[str, Any]) -> bool:
    """Whether nothing was judged; `error` alone may tell of an assertion that does not hold."""
    if isinstance(row.get("failureReason"), int):
        return bool(row["failureReason"] == _ERROR)
    return bool(row.get("error")) and not row.get("gradingResult")


def _components(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each assertion's result that says which assertion it is of, with the assertion."""
    for part in _parts(row):
        if isinstance(part.get("assertion"), Mapping):
            yield part, part["assertion"]


def _parts(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = _object(row.get("gradingResult")).get("componentResults")
    return [one for one in parts if isinstance(one, Mapping)] if isinstance(parts, list) else []


def _answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """The output: its text, or the fields of an output that is an object with an answer."""
    response = row.get("response")
    output = response.get("output") if isinstance(response, Mapping) else response
    if output is None or _failed(row):
        return {"answer": None}
    if isinstance(output, Mapping) and any(name in output for name in (*ANSWERS, *OTHER_ANSWERS)):
        return {name: value for name, value in output.items() if name in TEXTS}
    written = output if isinstance(output, str) else msgspec.json.encode(output).decode()
    return {"answer": written}


def _without_answers(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Variables of the test; one that is called `answer` is what the test expects."""
    unlike = (*ANSWERS, *OTHER_ANSWERS, *CONVERSATIONS)
    kept = {name: one for name, one in fields.items() if name not in unlike}
    if fields.get("answer") and not any(fields.get(name) for name in _LIKE["ground_truth"][:-1]):
        kept["ground_truth"] = fields["answer"]
    return kept


def _found(row: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """What variables do not tell: the prompt as the question, contexts and reference as judged."""
    found: dict[str, Any] = {}
    prompt = row.get("prompt")
    found["question"] = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
    for part, assertion in _components(row):
        told = _object(part.get("metadata"))
        if told.get("context"):
            found.setdefault("contexts", told["context"])
        value = told.get("renderedAssertionValue") or assertion.get("value")
        if assertion.get("type") in _WITH_REFERENCE and _is_written_out(value):
            found.setdefault("ground_truth", value)
    return {name: one for name, one in found.items() if not _is_told(name, fields)}


def _is_told(name: str, fields: Mapping[str, Any]) -> bool:
    return any(fields.get(other) for other in _LIKE[name])


def _is_written_out(value: Any) -> bool:
    """Whether an assertion's value is a text, with nothing left to fill in."""
    return isinstance(value, str) and bool(value.strip()) and "{{" not in value


def _provider(row: Mapping[str, Any]) -> str | None:
    provider = row.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    return provider if isinstance(provider, str) and provider else None


def _prompt(row: Mapping[str, Any]) -> str | None:
    """A prompt's label, or its number where the label is the prompt itself."""
    place, prompt = row.get("promptIdx"), row.get("prompt")
    label = prompt.get("label") if isinstance(prompt, Mapping) else None
    if isinstance(label, str) and 0 < len(label) <= _LONGEST_LABEL:
        return label
    return f"prompt {place + 1}" if isinstance(place, int) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
