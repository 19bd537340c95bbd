"""Every task a model can do, over heritage entries, in one report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.component_models import METHODS, Indexes
from ragauge.contracts.evaluation import EvalAllReport, EvalReport, Task
from ragauge.contracts.finding import Findings
from ragauge.contracts.score import Outcome
from ragauge.errors import RagaugeError, UsageError
from ragauge.gates.rules import parse_rules
from ragauge.ingest.answered.questions import read_questions
from ragauge.ingest.ranked.queries import read_strata
from ragauge.metrics.table import find
from ragauge.pipelines.callable import described, named_object
from ragauge.runners.answers.evaluate_qa import evaluate_qa
from ragauge.runners.answers.options import LEXICAL, AnswerOptions
from ragauge.runners.components.component_gold import ComponentGold, gold_of
from ragauge.runners.components.component_report import TaskResults, outcome_of_all
from ragauge.runners.components.component_runs import MARKS, Call, Progress, TaskRun, asked, planned
from ragauge.runners.components.evaluate_linking import evaluate_linking
from ragauge.runners.components.evaluate_ner import evaluate_ner
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from ragauge.runners.components.evaluate_types import evaluate_types
from ragauge.runners.components.evaluation import FAMILIES
from ragauge.runners.components.options import READS, EvalOptions, refuse_bad, rules_for
from ragauge.runners.options import takes

if TYPE_CHECKING:
    from ragauge.ingest.ranked.queries import QuerySource
    from ragauge.ingest.ranked.rankings import Given as Judgements
    from ragauge.runners.components.component_gold import Entries


TASKS: tuple[Task, ...] = ("ner", "types", "linking", "retrieval", "qa")
FAMILY_OF = {FAMILIES[task]: task for task in TASKS}


class AllOptions(EvalOptions, frozen=True, kw_only=True):
    """What an evaluation of all tasks can be asked."""

    tasks: tuple[Task, ...] = ()
    """Only these; all that the model can do, where none is named."""
    k: int = 20
    """How many documents are asked for."""
    labels: str | tuple[str, ...] | None = None
    crosswalk: Any = None
    embedder: str | None = None
    """What answers are compared with their questions by."""


@takes(AllOptions, "eval all", aliases={"task": "tasks"})
def evaluate_all(
    gold: Entries,
    model: Any,
    *,
    queries: QuerySource | None = None,
    qrels: Judgements | None = None,
    documents: Mapping[str, str] | None = None,
    progress: Progress | None = None,
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
    read = gold_of(gold, queries, qrels, options, findings)
    strata = _strata(read, options)
    results = TaskResults(rules=rules)
    plans = _plans(under_test, read, options, results)
    tick = _ticking(progress, sum(map(len, plans.values())))
    for task, calls in plans.items():
        try:
            if task == "retrieval" and documents is not None and isinstance(under_test, Indexes):
                under_test.index(documents)
            made = asked(task, under_test, calls, findings, tick)
            results.failed_calls += made.failed
            given = _given(task, options, strata[task])
            results.outcomes[task] = _evaluated(task, read, made, given)
        except (RagaugeError, _AllFailed) as error:
            results.failures[task] = str(error)
        except Exception as error:  # one task's fault is not the others'
            results.failures[task] = described(error)
    return outcome_of_all(name, read, results, findings, {"k": options.k})


class _AllFailed(Exception):
    """No call of a task brought an answer."""


def _own(task: Task, chosen: AllOptions) -> EvalOptions:
    """The options of one task: of the gates those about its metrics."""
    shared = {name: getattr(chosen, name) for name in EvalOptions.__struct_fields__}
    if chosen.gates:
        rules = parse_rules(chosen.gates, lambda name: find(name, *READS.values()))
        mine = [str(rule) for rule in rules if FAMILY_OF[rule.metric.partition(".")[0]] == task]
        shared["gates"] = ",".join(mine) or None
    # Answers are judged by the one judge that is always there.
    if task == "qa":
        return AnswerOptions(**shared, judge=LEXICAL, embedder=chosen.embedder)
    return EvalOptions(**shared)


def _given(task: Task, chosen: AllOptions, strata: set[str]) -> dict[str, Any]:
    """What a task's runner is given: a stratum that its units do not have is another task's."""
    own = _own(task, chosen)
    given = {name: getattr(own, name) for name in EvalOptions.__struct_fields__}
    given["by"] = tuple(name for name in own.by if name in strata)
    if task == "qa":
        given |= {"judge": LEXICAL, "embedder": chosen.embedder}
    if task == "types" and chosen.labels is not None:
        given["labels"] = chosen.labels
    if task == "linking" and chosen.crosswalk is not None:
        given["crosswalk"] = chosen.crosswalk
    return given


def _strata(gold: ComponentGold, chosen: AllOptions) -> dict[Task, set[str]]:
    """The strata that the units of each task have; raises UsageError for one that none has."""
    problems: list[str] = []
    table = read_strata(chosen.strata, problems) if chosen.strata else {}
    refuse_bad(problems, len(table), chosen)
    units: dict[Task, list[tuple[str, Mapping[str, Any]]]] = {
        task: [(one.entry.id, one.entry.strata) for one in gold.entries] for task in TASKS
    }
    units["retrieval"] = [(query.id, query.strata) for query in gold.queries]
    units["qa"] = [(row.id, row.strata) for row in _questions(gold)]
    found = {
        task: {name for id, own in some for name in (*own, *table.get(id, ()))}
        for task, some in units.items()
    }
    known = set[str]().union(*found.values())
    unknown = [name for name in chosen.by if name not in known]
    if unknown:
        there = f"there are {', '.join(sorted(known))}" if known else "the gold has none"
        raise UsageError(*(f"--by {name}: no such stratum; {there}" for name in unknown))
    return found


def _questions(gold: ComponentGold) -> Iterable[AnswerRow]:
    """The questions of the entries; what is wrong with one is told when the task is evaluated."""
    return read_questions(_records("qa", gold), []).values()


def _plans(
    model: Any, gold: ComponentGold, chosen: AllOptions, results: TaskResults
) -> dict[Task, list[Call]]:
    """The calls of each task that can be done; why the others cannot goes into the results."""
    plans: dict[Task, list[Call]] = {}
    for task in TASKS:
        reason = _unable(task, model, gold, chosen)
        if reason is not None:
            results.absent[task] = reason
            if chosen.tasks and task not in chosen.tasks:
                results.unasked.add(task)
        elif task == "retrieval" and gold.failure is not None:
            results.failures[task] = gold.failure
        else:
            plans[task] = planned(task, gold.entries, gold.queries, chosen.k)
    return plans


def _unable(task: Task, model: Any, gold: ComponentGold, chosen: AllOptions) -> str | None:
    if chosen.tasks and task not in chosen.tasks:
        return "it was not asked for"
    if not can(model, task):
        return f"the model has no method {METHODS[task]}"
    if task == "retrieval":
        absent = gold.judgements is None and gold.failure is None
        return "no judgements and queries were given" if absent else None
    if not any(one.has(MARKS[task]) for one in gold.entries):
        return f"no entry has {MARKS[task]}"
    return None


def _evaluated(
    task: Task, gold: ComponentGold, made: TaskRun, given: Mapping[str, Any]
) -> Outcome[EvalReport]:
    if made.failed and made.failed == made.calls:
        raise _AllFailed(f"all {made.calls:,} calls failed, the first at {made.first_error}")
    evaluators: dict[Task, Callable[..., Outcome[EvalReport]]] = {
        "ner": evaluate_ner,
        "types": evaluate_types,
        "linking": evaluate_linking,
        "retrieval": evaluate_retrieval,
        "qa": evaluate_qa,
    }
    return evaluators[task](_records(task, gold), made.predicted, **given)


def _records(task: Task, gold: ComponentGold) -> Sequence[Mapping[str, Any]]:
    if task == "retrieval":
        return gold.judgements or ()
    return [one.record for one in gold.entries if one.has(MARKS[task])]


def _ticking(progress: Progress | None, of: int) -> Callable[[], None]:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, of)

    return tick


_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]+)*")


def model_of(given: Any) -> tuple[str, Any]:
    """A model's name and the model; raises UsageError where it has none of the methods.

    A name is `module:object`, found from the current folder too, where a class makes one object;
    or a baseline: `spacy:PIPELINE`, `zero-shot:MODEL`, `wikidata:LANGUAGE` or `wikidata:URL`.
    """
    if isinstance(given, str):
        kind, colon, rest = given.partition(":")
        name, model = BASELINES[kind](rest) if colon and kind in BASELINES else _imported(given)
    else:
        name, model = f"{type(given).__module__}:{type(given).__qualname__}", given
    if not any(can(model, task) for task in METHODS):
        methods = ", ".join(METHODS.values())
        raise UsageError(f'"{name}" has none of the methods {methods}; a model has one at least')
    return name, model


def can(model: Any, task: Task) -> bool:
    """Whether a model has the method of a task."""
    return callable(getattr(model, METHODS[task], None))


def _imported(name: str) -> tuple[str, Any]:
    found = named_object(name, "model", "module:object")
    if not isinstance(found, type):
        return name, found
    try:
        return name, found()
    except Exception as error:
        raise UsageError(f'"{name}": making one failed: {described(error)}') from None


def _spacy(pipeline: str) -> tuple[str, Any]:
    from ragauge.models.baselines.spacy_entities import SpacyEntities

    if not pipeline:
        raise UsageError("--model spacy: names no pipeline; write such as spacy:nl_core_news_sm")
    return f"spacy:{pipeline}", SpacyEntities(pipeline)


def _zero_shot(model: str) -> tuple[str, Any]:
    from ragauge.models.baselines.zero_shot_types import ZeroShotTypes

    if not model:
        example = "zero-shot:MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
        raise UsageError(f"--model zero-shot: names no model; write such as {example}")
    return f"zero-shot:{model}", ZeroShotTypes(model)


def _wikidata(search: str) -> tuple[str, Any]:
    """A linker over Wikidata in a language, or over another search URL, which may give one."""
    from ragauge.models.baselines.search_links import WIKIDATA, SearchLinks

    if _LANGUAGE.fullmatch(search):
        return f"wikidata:{search}", SearchLinks(WIKIDATA, language=search)
    if "://" not in search:
        raise UsageError(
            "--model wikidata: names no search; write a language, such as wikidata:nl, or the URL "
            "of a search that answers wbsearchentities, such as wikidata:http://host/w/api.php"
        )
    linker = SearchLinks(search)
    return f"wikidata:{linker.url}", linker


BASELINES: dict[str, Callable[[str], tuple[str, Any]]] = {
    "spacy": _spacy,
    "zero-shot": _zero_shot,
    "wikidata": _wikidata,
}
"""What a name may begin with in place of a module."""
