"""What an evaluation of answers can be asked, and which metrics that comes to."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from ragauge.contracts.evaluation import Task
from ragauge.contracts.metric import Metric
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Rule
from ragauge.errors import UsageError
from ragauge.gates.rules import parse_rules
from ragauge.metrics.overlap import KINDS
from ragauge.metrics.table import find, reading
from ragauge.models.endpoint import rate_per_s
from ragauge.models.judges.budget import Prices
from ragauge.runners.components.options import rules_for

LEXICAL = "lexical"
"""The judge that needs no endpoint."""
DEFAULT_EMBEDDER = "ngram"
COVERAGE = "answers.coverage"
JUDGED = {"claims", "rubric"}
"""Facts that an LLM judge is asked for."""
SUPPORTED = {"groundedness", "citations", "lexical_claims"}
"""Facts that the sentence supporter is asked for."""
EMBEDDED = {"similarity", "relevance"}
"""Facts that an embedder is asked for."""
RELEVANCY = {
    "answers.answer_relevancy": "claims",
    "answers.lexical_answer_relevancy": "lexical_claims",
}
"""Metrics whose claims an embedder compares with the question, and where these stand."""
OF_JUDGE = (
    *("judge_model", "judge_key_env", "budget", "prices", "rate", "concurrency", "timeout"),
    *("seed", "rubric"),
)
"""Options that mean something to an endpoint alone."""


def check_options(task: Task, options: AnswerOptions) -> None:
    """Raise UsageError with all that does not fit together."""
    rules_for(task, options)
    problems = list(_misfits(options, chosen_metrics(options)))
    if problems:
        raise UsageError(*problems)


def chosen_metrics(options: AnswerOptions) -> dict[str, Metric]:
    """The metrics to measure, by id; coverage is always among them."""
    known = reading("answers")
    if options.metrics:
        asked = [find(name, "answers") for name in options.metrics]
        found = {entry.id: entry for entry in (known[COVERAGE], *asked)}
    else:
        gated = {rule.metric for rule in own_rules(options)}
        found = {id: entry for id, entry in known.items() if _by_default(entry, options, gated)}
    if options.tokenizer != "unicode":
        # Of a ROUGE that says nothing of its tokens; any other metric stays as it is.
        asked = [
            find(f"{entry.id}(tokenizer={options.tokenizer})", "answers")
            if entry.name in KINDS
            else entry
            for entry in found.values()
        ]
        found = {entry.id: entry for entry in asked}
    return dict(sorted(found.items()))


def _by_default(entry: Metric, options: AnswerOptions, gated: Container[str]) -> bool:
    if entry.needs & JUDGED:
        return options.endpoint is not None
    if "lexical_claims" in entry.needs:
        return options.judge == LEXICAL or entry.id in gated
    return True


def own_rules(options: AnswerOptions) -> tuple[Rule, ...]:
    """The gates that the user wrote, without those of a preset."""
    own = options.gates
    return tuple(parse_rules(own, lambda name: find(name, "answers"))) if own else ()


def needs_of(metrics: Mapping[str, Metric]) -> frozenset[str]:
    """The facts that these metrics look at."""
    return frozenset[str]().union(*(entry.needs for entry in metrics.values()))


def embeds(metrics: Mapping[str, Metric]) -> bool:
    """Whether one of these metrics needs an embedder."""
    return bool(needs_of(metrics) & EMBEDDED) or any(id in metrics for id in RELEVANCY)


def _misfits(options: AnswerOptions, metrics: Mapping[str, Metric]) -> Iterator[str]:
    """What was asked for and would not be done."""
    needs = needs_of(metrics)
    if [*metrics] == [COVERAGE]:
        yield "--metrics coverage: it tells nothing of the answers; name another beside it"
    judged = [entry.name for entry in metrics.values() if entry.needs & JUDGED]
    if judged and options.endpoint is None:
        lexical = f"lexical_{judged[0]}"
        known = f", or ask for {lexical}" if f"answers.{lexical}" in reading("answers") else ""
        yield f"--metrics {','.join(judged)}: a judge is needed; give --judge URL{known}"
    if options.judge is not None and not needs & {*JUDGED, "lexical_claims"}:
        yield "--judge: none of the metrics asked for is judged; leave it out, or ask for one"
    if options.judge == LEXICAL and options.metrics and "lexical_claims" not in needs:
        yield "--judge lexical: its metrics are called lexical_…; ask for one of them"
    if options.endpoint is None:
        for name in OF_JUDGE:
            if getattr(options, name) is not None:
                yield f"--{name.replace('_', '-')}: belongs to --judge URL; give that too"
    else:
        yield from _faults_of_judge(options)
    if options.embedder is not None and not embeds(metrics):
        yield "--embedder: none of the metrics asked for embeds anything; leave it out"
    if options.kind is not None and not needs & SUPPORTED:
        yield "--kind: none of the metrics asked for looks at the kind of answer; leave it out"
    if options.calibration and not needs & {*SUPPORTED, *JUDGED}:
        yield "--calibration: none of the metrics asked for is calibrated; leave it out"
    if options.tokenizer != "unicode" and not any(options.tokenizer in id for id in metrics):
        yield "--tokenizer: no ROUGE is asked for; leave it out"


def _faults_of_judge(options: AnswerOptions) -> Iterator[str]:
    """What keeps an endpoint from being asked, before anything is read."""
    if not (options.endpoint or "").startswith(("http://", "https://")):
        yield f'--judge "{options.endpoint}": is neither lexical nor a URL, such as http://host/v1'
    if options.rubric is not None and "answers.rubric" not in chosen_metrics(options):
        yield "--rubric: the metric rubric is not asked for; leave it out"
    if options.rubric is not None and not options.rubric.strip():
        yield "--rubric: is empty; write what each mark from 1 to 5 is for"
    if options.judge_model is None:
        yield "--judge URL: which model? name it with --judge-model"
    try:
        prices = None if options.prices is None else read_prices(options.prices)
        _, cost = (None, None) if options.budget is None else read_budget(options.budget)
        if cost is not None and prices is None:
            yield "--budget cost=…: needs --prices IN,OUT of a million tokens"
        if options.rate is not None:
            rate_per_s(options.rate)
    except UsageError as error:
        yield from error.problems


def read_budget(text: str) -> tuple[int | None, float | None]:
    """Calls and cost at most.

    >>> read_budget("calls=100, cost=2.5"), read_budget("calls=7")
    ((100, 2.5), (7, None))
    """
    said: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in ("calls", "cost") or not equals or name in said:
            raise UsageError(f'--budget "{text}" cannot be read; write calls=100,cost=2.5')
        said[name] = value
    try:
        calls = int(said["calls"]) if "calls" in said else None
        cost = float(said["cost"]) if "cost" in said else None
    except ValueError:
        raise UsageError(f'--budget "{text}" cannot be read; write calls=100,cost=2.5') from None
    return calls, cost


def read_prices(text: str) -> Prices:
    """Prices of a million tokens, going in and coming out.

    >>> read_prices("0.15,0.60")
    Prices(prompt=0.15, completion=0.6)
    """
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
        raise UsageError(f'--prices "{text}" cannot be read; write IN,OUT, such as 0.15,0.60')
    return Prices(prompt=prompt, completion=completion)
