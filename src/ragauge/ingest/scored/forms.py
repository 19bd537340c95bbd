"""The forms that score rows come in: plain rows, test cases of deepeval, results of promptfoo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answers import ANSWER_TEXT, CONTEXTS, QUESTION, REFERENCES, TURNS
from ragauge.ingest.fields import quoted
from ragauge.ingest.scored.columns import Failed, columns_seen, is_surely_metric, our_name
from ragauge.ingest.scored.samples import Parts, is_text, sample_id

UNNAMED = "Unnamed: "
"""How pandas calls a column without a title, which holds the numbers of rows."""
NESTED = ("scores", "metrics", "values")
"""Fields that hold scores of a sample by metric, whatever these are called."""

Row = Mapping[str, Any]


def plain_samples(rows: Sequence[tuple[str, Row]]) -> list[Parts]:
    """The samples of a table; which columns are scores is decided over all of them."""
    groups = list(dict.fromkeys(name for _, row in rows for name in row if _is_group(name, row)))
    columns = columns_seen(_undecided(row, groups) for _, row in rows)
    scores = [name for name, column in columns.items() if column.role == "score"]
    alone = len(groups) == 1
    samples = []
    for place, row in rows:
        rest = _undecided(row, groups)
        # Scores of a field that holds several have its name where two could be one.
        grouped = {
            str(metric) if alone and metric not in scores else f"{group}.{metric}": [value]
            for group in groups
            if isinstance(row.get(group), Mapping)
            for metric, value in row[group].items()
        }
        samples.append(
            Parts(
                place=place,
                fields={name: value for name, value in row.items() if is_text(name)},
                scores={**grouped, **{name: [rest[name]] for name in scores if name in rest}},
                others={name: value for name, value in rest.items() if name not in scores},
            )
        )
    return samples


def _is_group(name: str, row: Row) -> bool:
    """Whether a field holds scores by metric."""
    held = row[name]
    if is_text(name) or not isinstance(held, Mapping):
        return False
    return name in NESTED or any(is_surely_metric(str(metric)) for metric in held)


def _undecided(row: Row, groups: Sequence[str]) -> dict[str, Any]:
    """The columns of a row whose names do not tell what they are."""
    return {
        name: value
        for name, value in row.items()
        if name
        and not is_text(name)
        and not name.startswith(UNNAMED)
        and not (name in groups and isinstance(value, Mapping))
    }


MEASURED = ("metricsData", "metrics_data", "metricsMetadata", "metrics_metadata")
"""Where a test case keeps its metrics; the last two in old versions."""
_TOLD = ("metadata", "additional_metadata", "additionalMetadata")
_BOOKKEEPING = frozenset(
    (
        *(*MEASURED, *_TOLD, "name", "success", "order", "index", "conversational", "flaky"),
        *("runDuration", "evaluationCost", "tokenCost", "inputTokenCount", "outputTokenCount"),
        *("completionTime", "token_cost", "completion_time", "run_duration", "evaluation_cost"),
        *("trace", "traceStack"),
    )
)
"""Fields of a test case that tell of the run, not of the sample."""


def is_deepeval(record: Mapping[str, Any]) -> bool:
    return any(isinstance(record.get(name), list) for name in MEASURED)


def deepeval_sample(place: str, case: Mapping[str, Any]) -> Parts:
    """The sample of a test case; a metric that failed is there with its error."""
    scores: dict[str, list[Any]] = {}
    measured: list[Any] = next(
        (case[name] for name in MEASURED if isinstance(case.get(name), list)), []
    )
    for metric in measured:
        if isinstance(metric, Mapping):
            name = metric.get("name") or metric.get("metric")
            error: Any = metric.get("error")
            failed = isinstance(error, str) and error.strip()
            score = Failed(error) if failed else metric.get("score")
            scores.setdefault(str(name or "unnamed"), []).append(score)
    fields = {name: value for name, value in case.items() if is_text(name)}
    told: Mapping[str, Any] = next(
        (case[name] for name in _TOLD if isinstance(case.get(name), Mapping)), {}
    )
    beside = {name: value for name, value in case.items() if name not in _BOOKKEEPING}
    name = case.get("name")
    return Parts(
        place=place,
        fields={**{key: told[key] for key in told if is_text(key)}, **fields},
        scores=scores,
        others={name: one for name, one in {**beside, **told}.items() if not is_text(name)},
        id=sample_id(fields) or sample_id(told) or (name if isinstance(name, str) else None),
    )


OVERALL = "score"
"""What promptfoo makes of all assertions together."""
_WITH_REFERENCE = ("context-recall", "factuality", "similar", "model-graded-factuality")
_ERROR = 2
"""The failure reason of a test that was never judged; 1 is an assertion that does not hold."""
_LONGEST_LABEL = 40
_LIKE = {
    "question": QUESTION.names,
    "contexts": CONTEXTS.names,
    "ground_truth": (*REFERENCES.names, "answer"),
}
"""Variables that tell a field, by the name we have for it."""


def is_promptfoo(record: Mapping[str, Any]) -> bool:
    tested = "vars" in record and ("response" in record or "promptIdx" in record)
    return tested or isinstance(record.get("gradingResult"), Mapping) or "namedScores" in record


def promptfoo_samples(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Parts]:
    """The samples of all results; one test asked of several providers is several samples."""
    asked = {
        "provider": [_provider(row) for _, row in rows],
        "prompt": [_prompt(row) for _, row in rows],
    }
    several = {name: told for name, told in asked.items() if len(set(told)) > 1}
    samples = []
    for number, (place, row) in enumerate(rows):
        strata = {name: told[number] or "none" for name, told in several.items()}
        test = _object(row.get("testCase"))
        told = {
            **_object(test.get("metadata")),
            **_object(test.get("vars")),
            **_object(row.get("vars")),
        }
        fields = {name: value for name, value in told.items() if is_text(name)}
        known = sample_id(fields)
        if known is None and isinstance(row.get("testIdx"), int):
            known = f"test {row['testIdx']}"
        # Variables of the test; one that is called `answer` is what the test expects.
        unlike = (*ANSWER_TEXT.names, *TURNS.names)
        variables = {name: one for name, one in fields.items() if name not in unlike}
        references = _LIKE["ground_truth"][:-1]
        if fields.get("answer") and not any(fields.get(name) for name in references):
            variables["ground_truth"] = fields["answer"]
        samples.append(
            Parts(
                place=place,
                fields={**_found(row, fields), **variables, **_answer(row)},
                scores=_scores(row),
                others={name: value for name, value in told.items() if not is_text(name)},
                id=None if known is None else " ".join((known, *strata.values())),
                strata=strata,
            )
        )
    return samples


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
            scores.setdefault(name, []).append(_promptfoo_score(part))
    for name, value in _object(row.get("namedScores")).items():
        if name not in named:
            scores.setdefault(name, [value])
    # promptfoo takes a grader that failed for a 0: then there is no score of all together.
    failed = [one for one in map(_promptfoo_score, _parts(row)) if isinstance(one, Failed)]
    scores.setdefault(OVERALL, [failed[0] if failed else row.get("score")])
    return scores


def _promptfoo_score(part: Mapping[str, Any]) -> Any:
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
    if isinstance(output, Mapping) and any(name in output for name in ANSWER_TEXT.names):
        return {name: value for name, value in output.items() if is_text(name)}
    written = output if isinstance(output, str) else msgspec.json.encode(output).decode()
    return {"answer": written}


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
        written_out = isinstance(value, str) and value.strip() and "{{" not in value
        if assertion.get("type") in _WITH_REFERENCE and written_out:
            found.setdefault("ground_truth", value)
    return {
        name: one
        for name, one in found.items()
        if not any(fields.get(other) for other in _LIKE[name])
    }


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


ScoreForm = Literal["rows", "ragas", "deepeval", "promptfoo"]
"""`rows` is ours, and that of any tool that writes a column a metric."""
FORMS: tuple[ScoreForm, ...] = get_args(ScoreForm)
AUTO = "auto"
_OF_RAGAS = ("user_input", "retrieved_contexts")
_SIGNS: dict[ScoreForm, str] = {
    "deepeval": f"test cases with {MEASURED[0]}",
    "promptfoo": "results with gradingResult or namedScores",
}


def known_form(form: str) -> None:
    """Raises UsageError for a form that we do not read."""
    if form not in (AUTO, *FORMS):
        raise UsageError(f"form {quoted(form)} is none of {', '.join((AUTO, *FORMS))}")


def form_of(name: str, rows: Iterable[Mapping[str, Any]], asked: str) -> ScoreForm:
    """The form of a file's rows; raises InputRejected where it is not the one that was asked for.

    >>> form_of("a.json", [{"user_input": "When?", "faithfulness": 1.0}], "auto")
    'ragas'
    """
    rows = list(rows)
    if any(map(is_promptfoo, rows)):
        seen: ScoreForm = "promptfoo"
    elif any(map(is_deepeval, rows)):
        seen = "deepeval"
    else:
        seen = "ragas" if any(name in row for row in rows for name in _OF_RAGAS) else "rows"
    if asked == AUTO:
        return seen
    form = next(known for known in FORMS if known == asked)
    if form in _SIGNS and form != seen:
        fact = f"holds no {_SIGNS[form]}, as results of {form} do; it looks like form {seen}"
        raise InputRejected(f"{name}: {fact}; leave the form out")
    return form


def samples_in(form: ScoreForm, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Parts]:
    """The samples of rows of this form, in their order."""
    if form == "deepeval":
        return [deepeval_sample(place, row) for place, row in rows]
    return promptfoo_samples(rows) if form == "promptfoo" else plain_samples(rows)
