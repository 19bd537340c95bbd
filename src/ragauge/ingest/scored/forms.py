"""The forms that score rows come in, told apart by what the rows hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.scored.deepeval import MEASURED, deepeval_sample, is_deepeval
from ragauge.ingest.scored.plain import plain_samples
from ragauge.ingest.scored.promptfoo import is_promptfoo, promptfoo_samples
from ragauge.ingest.scored.samples import Parts

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
    seen = _seen(list(rows))
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


def _seen(rows: Sequence[Mapping[str, Any]]) -> ScoreForm:
    if any(map(is_promptfoo, rows)):
        return "promptfoo"
    if any(map(is_deepeval, rows)):
        return "deepeval"
    return "ragas" if any(name in row for row in rows for name in _OF_RAGAS) else "rows"
