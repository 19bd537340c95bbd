"""Every task a model can do, over heritage entries, in one report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct, field, structs

from ragauge import __version__
from ragauge.contracts.component_models import METHODS, Indexes
from ragauge.contracts.evaluation import (
    TASKS,
    EvalAllReport,
    EvalReport,
    SummaryNumber,
    Task,
    TaskFailure,
)
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.opt import takes
from ragauge.contracts.options import (
    AllOptions,
    AnswerOptions,
    EvalOptions,
    LinkingOptions,
    NerOptions,
    RetrievalOptions,
    TypesOptions,
)
from ragauge.contracts.report import (
    Decision,
    Finding,
    Findings,
    Measured,
    Outcome,
    Rule,
    UnitRows,
    Verdict,
)
from ragauge.errors import InputRejected, RagaugeError, UsageError
from ragauge.gates.presets import demanded_rules, undecided
from ragauge.gates.rules import parse_rules, passed
from ragauge.ingest.fields import Columns, expected, quoted, refuse, value_at
from ragauge.ingest.heritage import ENTRY, RECORD, entries_in, is_entry
from ragauge.ingest.questions import read_questions
from ragauge.ingest.ranked.queries import QUERY, Query, read_queries, read_strata
from ragauge.ingest.ranked.rankings import SHAPES, read_rankings
from ragauge.ingest.records import Records, Row, Source, columns_for, no_table
from ragauge.metrics.table import find
from ragauge.pipelines.callable import described
from ragauge.runners.answers.evaluate_qa import evaluate_qa
from ragauge.runners.answers.options import LEXICAL
from ragauge.runners.components.evaluate_linking import evaluate_linking
from ragauge.runners.components.evaluate_ner import evaluate_ner
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from ragauge.runners.components.evaluate_types import evaluate_types
from ragauge.runners.components.evaluation import (
    FAMILIES,
    add_findings,
    note_problems,
    refuse_unknown_strata,
)
from ragauge.runners.components.model_calls import (
    MARKS,
    Call,
    EntryRecord,
    Progress,
    asked,
    can,
    model_of,
    planned,
)
from ragauge.runners.components.options import READS, refuse_bad, rules_for
from ragauge.runners.evaluation import Evaluation

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


FAMILY_OF = {FAMILIES[task]: task for task in TASKS}
SUMMARY: dict[str, tuple[Task, str]] = {
    "ner_f1_strict": ("ner", "entities.f1_strict"),
    "ner_f1_partial": ("ner", "entities.f1_partial"),
    "type_classification_accuracy": ("types", "labels.accuracy"),
    "entity_linking_mrr": ("linking", "linking.mrr"),
    "entity_linking_hits@1": ("linking", "linking.hits@1"),
    "retrieval_ndcg@10": ("retrieval", "retrieval.ndcg@10"),
    "qa_faithfulness": ("qa", "answers.lexical_faithfulness"),
    "qa_relevance": ("qa", "answers.relevance"),
}
"""The numbers of the summary: the task each belongs to, and the metric it is."""


@takes(AllOptions, "eval all")
def evaluate_all(
    gold: Source,
    model: Any,
    *,
    queries: Source | None = None,
    qrels: Source | None = None,
    documents: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    columns: Columns | None = None,
    options: AllOptions,
) -> Outcome[EvalAllReport]:
    """The report on a model that is asked about every unit of the gold, task by task.

    `model` is an object with some of the methods of `contracts.component_models`, or names one as
    `module:object`. Retrieval needs `qrels` and `queries`; `documents` are handed to the model's
    `index`, where it has one. A call that raises is a finding and its unit counts as missing; a
    task that fails altogether is a failure, and the others go on.
    """
    rules = {task: rules_for(task, _own(task, options)) for task in TASKS}
    name, under_test = model_of(model)
    findings = Findings()
    files = {"queries": (queries, QUERY), "qrels": (qrels, SHAPES["qrels"])}
    shapes = {name: shape for name, (source, shape) in files.items() if source is not None}
    mapped = columns_for(columns, gold=ENTRY, **shapes)
    read = _gold_of(gold, queries, qrels, mapped, options, findings)
    strata = _strata(read, options)
    results = TaskResults(rules=rules)
    plans = _plans(under_test, read, options, results)
    evaluators: dict[Task, Callable[..., Outcome[EvalReport]]] = {
        "ner": evaluate_ner,
        "types": evaluate_types,
        "linking": evaluate_linking,
        "retrieval": evaluate_retrieval,
        "qa": evaluate_qa,
    }
    done, of = 0, sum(map(len, plans.values()))

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, of)

    for task, calls in plans.items():
        try:
            if task == "retrieval" and documents is not None and isinstance(under_test, Indexes):
                under_test.index(documents)
            predicted, errors = asked(task, under_test, calls, findings, tick)
            results.failed_calls += len(errors)
            if errors and len(errors) == len(calls):
                fact = f"all {len(calls):,} calls failed, the first at {errors[0]}"
                results.failures[task] = fact
                continue
            # A stratum that the units of a task do not have is another task's.
            by = tuple(name for name in options.by if name in strata[task])
            given: dict[str, Any] = {"options": structs.replace(_own(task, options), by=by)}
            if task == "linking":
                given["crosswalk"] = options.crosswalk
            results.outcomes[task] = evaluators[task](_records(task, read), predicted, **given)
        except RagaugeError as error:
            results.failures[task] = str(error)
        except Exception as error:  # one task's fault is not the others'
            results.failures[task] = described(error)
    return _outcome(name, read, results, findings, {"k": options.k})


def _own(task: Task, chosen: AllOptions) -> EvalOptions:
    """The options of one task: of the gates those about its metrics."""
    shared = {name: getattr(chosen, name) for name in EvalOptions.__struct_fields__}
    if chosen.gates:
        rules = parse_rules(chosen.gates, lambda name: find(name, *READS.values()))
        mine = [str(rule) for rule in rules if FAMILY_OF[rule.metric.partition(".")[0]] == task]
        shared["gates"] = ",".join(mine) or None
    if task == "qa":  # answers are judged by the one judge that is always there
        return AnswerOptions(**shared, judge=LEXICAL, embedder=chosen.embedder)
    if task == "types":
        return TypesOptions(**shared, labels=chosen.labels)
    kinds: dict[Task, type[EvalOptions]] = {
        "ner": NerOptions,
        "linking": LinkingOptions,
        "retrieval": RetrievalOptions,
    }
    return kinds[task](**shared)


def _strata(gold: ComponentGold, chosen: AllOptions) -> dict[Task, set[str]]:
    """The strata that the units of each task have; raises UsageError for one that none has."""
    problems: list[str] = []
    table = read_strata(chosen.strata, problems) if chosen.strata else {}
    refuse_bad(problems, len(table), chosen)
    units: dict[Task, list[tuple[str, Mapping[str, Any]]]] = {
        task: [(one.entry.id, one.entry.strata) for one in gold.entries] for task in TASKS
    }
    units["retrieval"] = [(query.id, query.strata) for query in gold.queries]
    # What is wrong with a question is reported when the task is evaluated.
    questions = read_questions(_records("qa", gold), []).values()
    units["qa"] = [(row.id, row.strata) for row in questions]
    found = {
        task: {name for id, own in some for name in (*own, *table.get(id, ()))}
        for task, some in units.items()
    }
    known = set[str]().union(*found.values())
    refuse_unknown_strata(chosen.by, known)
    return found


def _plans(
    model: Any, gold: ComponentGold, chosen: AllOptions, results: TaskResults
) -> dict[Task, list[Call]]:
    """The calls of each task that can be done; why the others cannot goes into the results."""
    plans: dict[Task, list[Call]] = {}
    for task in TASKS:
        judged = gold.judgements is not None or gold.failure is not None
        if chosen.tasks and task not in chosen.tasks:
            results.absent[task] = "it was not asked for"
            results.unasked.add(task)
        elif not can(model, task):
            results.absent[task] = f"the model has no method {METHODS[task]}"
        elif task == "retrieval" and not judged:
            results.absent[task] = "no judgements and queries were given"
        elif task == "retrieval" and gold.failure is not None:
            results.failures[task] = gold.failure
        elif task != "retrieval" and not _records(task, gold):
            results.absent[task] = f"no entry has {MARKS[task]}"
        else:
            plans[task] = planned(task, gold.entries, gold.queries, chosen.k)
    return plans


def _records(task: Task, gold: ComponentGold) -> Sequence[Mapping[str, Any]]:
    if task == "retrieval":
        return gold.judgements or ()
    return [one.record for one in gold.entries if one.has(MARKS[task])]


class ComponentGold(Struct, frozen=True, kw_only=True):
    """What the tasks are measured with."""

    entries: Sequence[EntryRecord]
    queries: Sequence[Query] = ()
    """Those that were judged, in the order of the judgements."""
    judgements: Sequence[dict[str, Any]] | None = None
    failure: str | None = None
    """Why there are no judgements, though some were given."""


def _gold_of(
    source: Source,
    queries: Source | None,
    qrels: Source | None,
    columns: Mapping[str, dict[str, str]],
    chosen: EvalOptions,
    findings: Findings,
) -> ComponentGold:
    """The entries, queries and judgements; raises InputRejected with what is wrong with entries.

    What is wrong with queries or judgements is retrieval's failure alone.
    """
    problems: list[str] = []
    records = Records(source, RECORD, problems, name="gold", table=no_table)
    mapped, missing = columns["gold"], {*columns["gold"]}

    def marked() -> Iterator[Row]:
        for row in records.rows():
            found = {field: value_at(row.record, path) for field, path in mapped.items()}
            found = {field: value for field, value in found.items() if value is not None}
            missing.difference_update(found)
            record = {**row.record, **found} if found else row.record
            if is_entry(record):
                yield structs.replace(row, record=record)
            else:
                fact = expected("a heritage entry", record)
                problems.append(f"{row.place}: record: {fact}")

    entries = [EntryRecord(row.record, entry) for row, entry in entries_in(marked(), problems)]
    refuse(
        [
            f"{records.name}: {field}: no entry has {quoted(mapped[field])}; {records.there()}"
            for field in sorted(missing)
        ]
    )
    refuse_bad(problems, len(entries), chosen)
    note_problems(problems, findings)
    if not entries:
        raise InputRejected("the gold holds no heritage entry; nothing can be evaluated")
    if (qrels is None) != (queries is None):
        lacking = "queries" if queries is None else "qrels"
        raise UsageError(f"retrieval needs qrels and queries; give --{lacking} too")
    if qrels is None or queries is None:
        return ComponentGold(entries=entries)
    faults: list[str] = []
    try:
        judged, judgements = _judged(qrels, queries, columns, faults, findings)
        refuse_bad(faults, len(judgements), chosen)
        note_problems(faults, findings)
    except InputRejected as error:
        return ComponentGold(entries=entries, failure=str(error))
    return ComponentGold(entries=entries, queries=judged, judgements=judgements)


def _judged(
    qrels: Source,
    source: Source,
    columns: Mapping[str, dict[str, str]],
    problems: list[str],
    findings: Findings,
) -> tuple[list[Query], list[dict[str, Any]]]:
    """The queries that were judged and can be asked, and the judgements with their strata."""
    known = read_queries(source, problems, columns["queries"])
    rows = read_rankings(qrels, "qrels", problems, columns=columns["qrels"]).frame
    judgements = [
        {"query": query, "document": document, "grade": grade, "strata": strata.strata}
        if (strata := known.get(query)) is not None
        else {"query": query, "document": document, "grade": grade}
        for query, document, grade in rows.select("query", "document", "value").iter_rows()
    ]
    judged = list(dict.fromkeys(row["query"] for row in judgements))
    for query in judged:
        if query not in known:
            fact = f"{quoted(query)} was judged, but nothing tells what it asks; it counts as empty"
            findings.add(Finding("unknown_query", query, fact))
    return [known[query] for query in judged if query in known], judgements


class TaskResults(Struct, kw_only=True):
    """What became of each task."""

    outcomes: dict[Task, Outcome[EvalReport]] = field(default_factory=dict)
    failures: dict[Task, str] = field(default_factory=dict)
    absent: dict[Task, str] = field(default_factory=dict)
    """Why a task was not begun."""
    unasked: set[Task] = field(default_factory=set)
    """Those of them that the user left out."""
    rules: dict[Task, tuple[Rule, ...]] = field(default_factory=dict)
    failed_calls: int = 0


def _outcome(
    model: str,
    gold: ComponentGold,
    results: TaskResults,
    findings: Findings,
    options: Mapping[str, Any],
) -> Outcome[EvalAllReport]:
    """The report of all tasks, with the rows it is made of; without one finished it fails."""
    reports = {task: outcome.report for task, outcome in results.outcomes.items()}
    decided = tuple(gate for report in reports.values() for gate in report.gates)
    gates = (*decided, *_undecided(results))
    failures = tuple(
        TaskFailure(task=task, error=results.failures[task])
        for task in TASKS
        if task in results.failures
    )
    for each in reports.values():
        add_findings(each.findings, each.finding_counts, findings)
    metrics = {id: one for each in reports.values() for id, one in each.metrics.items()}
    said = [one.record for one in gold.entries], gold.queries, gold.judgements
    identity = {
        "command": "eval all",
        "model": model,
        "ragauge": __version__,
        "gold_file_sha256": hashlib.sha256(msgspec.json.encode(said, order="sorted")).hexdigest(),
        "options": dict(options),
        "tasks": {task: report.identity for task, report in reports.items()},
        "metrics": {
            id: version
            for report in reports.values()
            for id, version in report.identity["metrics"].items()
        },
    }
    evaluation = Evaluation(given=metrics)
    report = evaluation.report(
        EvalAllReport,
        findings,
        identity,
        passed=passed(gates) if reports and not failures else False,
        model=model,
        summary={key: _number(key, results) for key in SUMMARY},
        gates=gates,
        tasks={str(task): report for task, report in reports.items()},
        failures=failures,
        coverage={
            "entries": len(gold.entries),
            "queries": len(gold.queries),
            "tasks": len(results.outcomes),
            "failed_tasks": len(results.failures),
            "failed_calls": results.failed_calls,
            "scored": sum(report.counts.get("scored", 0) for report in reports.values()),
            **{
                f"{task}.{key}": count
                for task, report in reports.items()
                for key, count in report.counts.items()
            },
        },
    )

    def answers() -> Iterator[tuple[str, KeptAnswer]]:
        """The answers of all tasks, under the ids that their units have here."""
        for task, outcome in results.outcomes.items():
            for unit, answer in outcome.answers() if outcome.answers else ():
                yield _unit_id(task, unit), answer

    units = _joined_units({task: outcome.units for task, outcome in results.outcomes.items()})
    return structs.replace(evaluation.outcome(report, answers=answers), units=units)


def _undecided(results: TaskResults) -> Iterator[Verdict]:
    """The gates of tasks that came to nothing: what was demanded of them was not shown to hold."""
    for task, rules in results.rules.items():
        if task in results.failures:
            for rule in rules:
                yield undecided(rule, "not_evaluated", f"the task failed: {results.failures[task]}")
        elif task in results.absent:
            verdict: Decision = "not_applicable" if task in results.unasked else "not_evaluated"
            for rule in demanded_rules(rules, task):
                yield undecided(rule, verdict, results.absent[task])


def _number(key: str, results: TaskResults) -> SummaryNumber:
    task, metric = SUMMARY[key]
    if task not in results.outcomes:
        reason = results.failures.get(task) or results.absent[task]
        return SummaryNumber(metric=metric, value=None, n=0, ci=None, reason=reason)
    one = results.outcomes[task].report.metrics[metric]
    return SummaryNumber(metric=metric, value=one.value, n=one.n, ci=one.ci, reason=one.reason)


def _unit_id(task: Task, id: str) -> str:
    """What a unit of one task is called among those of all.

    >>> _unit_id("qa", "q1")
    'qa/q1'
    """
    return f"{task}/{id}"


def _joined_units(tasks: Mapping[Task, UnitRows]) -> UnitRows:
    """The units of all tasks, one after the other, each under its task's name.

    A metric has no value for the units of another task, and they add nothing to its counts.
    """
    total = sum(len(rows.ids) for rows in tasks.values())
    measured: dict[str, Measured] = {}
    names = sorted({name for rows in tasks.values() for name in rows.details})
    details: dict[str, list[Any]] = {name: [] for name in names}
    start = 0
    for rows in tasks.values():
        count = len(rows.ids)
        for name in names:
            details[name] += rows.details.get(name, [None] * count)
        for id, one in rows.measured.items():
            values: Array = np.full(total, np.nan)
            counts: Array = np.zeros((total, one.counts.shape[1]), dtype=one.counts.dtype)
            values[start : start + count] = one.values
            counts[start : start + count] = one.counts
            measured[id] = structs.replace(one, values=values, counts=counts)
        start += count
    details["task"] = [task for task, rows in tasks.items() for _ in rows.ids]
    return UnitRows(
        ids=[_unit_id(task, id) for task, rows in tasks.items() for id in rows.ids],
        labels=[label for rows in tasks.values() for label in rows.labels],
        right=[right for rows in tasks.values() for right in rows.right],
        details=dict(sorted(details.items())),
        measured=measured,
    )
