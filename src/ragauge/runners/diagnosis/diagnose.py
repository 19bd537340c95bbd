"""Diagnose: why is it low, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from ragauge.contracts.diagnosis import DiagnosisReport, Replay, ScoreRow
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import History, Run
from ragauge.contracts.opt import takes
from ragauge.contracts.options import DiagnoseOptions
from ragauge.contracts.run import ORIGINAL, Variation
from ragauge.diagnosis.cases import Case, Material, ObservedTrace
from ragauge.diagnosis.limits import limits_of
from ragauge.diagnosis.own_rules import OwnRules, read_own_rules
from ragauge.diagnosis.ranking import REPAIRED_BY
from ragauge.diagnosis.report import DiagnosisSettings, build_report, low_samples
from ragauge.engines.local import Progress, no_progress
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import Columns
from ragauge.ingest.gold import GOLD, read_gold
from ragauge.ingest.options import knob_names, read_knobs
from ragauge.ingest.records import Source, columns_for
from ragauge.ingest.scored.scored_file import read_scores
from ragauge.ingest.traces import TRACE, traces_of
from ragauge.runners.diagnosis.recorded import recorded_gold, recorded_material, with_a_rule
from ragauge.runners.diagnosis.replay_plan import Failing
from ragauge.runners.diagnosis.scored import scored_material
from ragauge.runners.diagnosis.traced import TraceInputs, traced_material

AGAIN = "again"
AskAgain = Callable[[Sequence[Failing]], Replay]
"""Asks the questions that went wrong again, with one thing changed at a time."""


@takes(DiagnoseOptions, "diagnose")
def diagnose(
    rows: Source,
    metrics: Sequence[str] | None = None,
    top: int = 3,
    *,
    ask_again: AskAgain | None = None,
    progress: Progress | None = None,
    columns: Columns | None = None,
    options: DiagnoseOptions,
) -> DiagnosisReport:
    """The diagnosis of score rows: a file, records or a frame; options as in DiagnoseOptions.

    `ask_again` replays what went wrong, where the pipeline is at hand. Raises UsageError or
    InputRejected with everything that is wrong.
    """
    own, how = _rules_and_options(metrics, top, options)
    file = read_scores(rows, form=options.form, max_bad=options.max_bad, columns=columns)
    material = scored_material(
        file, own.limits, lexical=options.claims, progress=progress or no_progress
    )
    return _report(material, how, ask_again, lambda: failing_rows(low_samples(material, how)))


@takes(DiagnoseOptions, "diagnose")
def diagnose_traces(
    traces: Source | Sequence[str | Path],
    gold: Source,
    metrics: Sequence[str] | None = None,
    top: int = 3,
    *,
    manifest: str | None = None,
    docs: str | None = None,
    ask_again: AskAgain | None = None,
    progress: Progress | None = None,
    columns: Columns | None = None,
    options: DiagnoseOptions,
) -> DiagnosisReport:
    """The diagnosis of traces against their gold set; a sweep shows the most causes.

    Unless asked for, metrics without a rule are left out.
    """
    own, how = _rules_and_options(metrics, top, options)
    against = TraceInputs(
        manifest=manifest,
        docs=docs,
        max_bad=options.max_bad,
        lexical=options.claims,
        refusal=options.refusal,
        refusal_tokens=options.refusal_tokens,
        inline=options.inline,
    )
    mapped = columns_for(columns, traces=TRACE, gold=GOLD)
    sources, questions = traces_of(traces, mapped["traces"]), read_gold(gold, mapped["gold"])
    material, runs = traced_material(sources, questions, against, progress or no_progress)
    material = with_limits(material, own)
    material = with_a_rule(material) if metrics is None else material
    return _report(material, how, ask_again, lambda: failing_runs(runs), alike(runs))


@takes(DiagnoseOptions, "diagnose")
def diagnose_run(
    history: History,
    run: Run,
    metrics: Sequence[str] | None = None,
    top: int = 3,
    *,
    ask_again: AskAgain | None = None,
    progress: Progress = no_progress,
    options: DiagnoseOptions,
) -> DiagnosisReport:
    """The diagnosis of a recorded run; unless asked for, metrics without a rule are left out."""
    own, how = _rules_and_options(metrics, top, options)
    # A recorded run was judged by its own gates, with the coverage they needed.
    how = structs.replace(how, min_coverage=0)
    material = with_limits(recorded_material(history, run, progress), own)
    material = with_a_rule(material) if metrics is None else material
    gold = {one.qid: one for one in recorded_gold(history, run)}
    return _report(material, how, ask_again, lambda: failing_rows(low_samples(material, how), gold))


def _report(
    material: Material,
    how: DiagnosisSettings,
    ask_again: AskAgain | None,
    failing: Callable[[], list[Failing]],
    speaks_for: Collection[str] | None = None,
) -> DiagnosisReport:
    """The report; raises InputRejected where nothing that was asked for has a value."""
    replay = ask_again(failing()) if ask_again else None
    if replay and material.cases is not None:
        material = structs.replace(material, cases=with_replay(material.cases, replay, speaks_for))
    report = build_report(material, how, replay)
    if all(one.severity == "not_evaluable" and one.value is None for one in report.diagnoses):
        names = ", ".join(one.metric for one in report.diagnoses) or "no metric at all"
        raise InputRejected(f"nothing to diagnose: no sample has a valid value of {names}")
    return report


def _rules_and_options(
    metrics: Sequence[str] | None, top: int, chosen: DiagnoseOptions
) -> tuple[OwnRules, DiagnosisSettings]:
    """The rules and the manner of a call; raises UsageError where they are not what they should."""
    if isinstance(metrics, str) or not all(isinstance(name, str) for name in metrics or ()):
        raise UsageError('metrics: expected a list of names, such as ["faithfulness"]')
    if not isinstance(top, int):
        raise UsageError(f"top: expected a number of samples, got {type(top).__name__}")
    if top < 0:
        raise UsageError(f"--top {top}: show none or more of the worst samples")
    own, given = own_rules(chosen.rules), chosen.knobs
    read = read_knobs(given) if isinstance(given, str) else given or {}
    knobs = knob_names(read, "--knobs" if isinstance(given, str) else "knobs")
    how = DiagnosisSettings(
        metrics=None if metrics is None else tuple(dict.fromkeys(metrics)),
        language=chosen.lang,
        top=top,
        fail_on=chosen.fail_on,
        min_coverage=chosen.min_coverage,
        knobs=knobs,
        entries=own.entries,
    )
    return own, how


def own_rules(file: str | None) -> OwnRules:
    """The rules of a user's file; raises UsageError with all that is wrong with it."""
    if file is None:
        return OwnRules()
    try:
        text = Path(file).read_text("utf-8")
    except OSError as error:
        raise UsageError(f"--rules {file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--rules {file}: is not UTF-8 text") from None
    rules, problems = read_own_rules(text)
    if problems:
        raise UsageError(*(f"{file}: {problem}" for problem in problems))
    return rules


def with_limits(material: Material, own: OwnRules) -> Material:
    """The material with the user's thresholds in place of ours; what a gate said stays."""
    metrics = {
        name: structs.replace(one, limits=own.limits.get(name) or one.limits or limits_of(name))
        for name, one in material.metrics.items()
    }
    return structs.replace(material, metrics=metrics)


def _first_wrong(
    runs: Iterable[Sequence[ObservedTrace]],
) -> Iterator[tuple[ObservedTrace, Sequence[ObservedTrace]]]:
    """A wrong run of each question that has one, the first by its id, with its siblings."""
    for siblings in runs:
        wrong = [run for run in siblings if run.right is False]
        if wrong:
            yield min(wrong, key=lambda run: run.id), siblings


def failing_runs(runs: Iterable[Sequence[ObservedTrace]]) -> list[Failing]:
    """The first wrong run of each question that has one."""
    found = []
    for run, _ in _first_wrong(runs):
        wordings = (run.gold.question, *run.gold.paraphrases)
        place = run.variation.paraphrase
        known = wordings[place] if place < len(wordings) else wordings[ORIGINAL]
        found.append(
            Failing(
                id=run.gold.qid,
                gold=run.gold,
                question_sent=run.sent or known,
                variation=run.variation,
                retrieved_ids=run.retrieved,
            )
        )
    return found


def failing_rows(rows: Iterable[ScoreRow], gold: Mapping[str, Gold] | None = None) -> list[Failing]:
    """Samples beyond a threshold, with what their rows tell of the gold."""
    known, found = gold or {}, []
    for row in rows:
        if not row.question:
            continue
        question = known.get(row.id) or Gold(
            qid=row.id,
            question=row.question,
            answerable=row.answerable is not False,
            gold_claim=row.reference,  # the wording that a right answer has
            gold_citations=row.gold_ids or (),
            strata=dict(row.strata),
        )
        found.append(
            Failing(
                id=row.id,
                gold=question,
                question_sent=row.question,
                variation=Variation(),
                retrieved_ids=row.retrieved_ids,
            )
        )
    return found


def alike(runs: Iterable[Sequence[ObservedTrace]]) -> frozenset[str]:
    """Ids of the runs that a replayed one speaks for: of its wording and its temperature."""
    return frozenset(
        run.id
        for asked, siblings in _first_wrong(runs)
        for run in siblings
        if run.wording == asked.wording and run.variation.temperature == asked.variation.temperature
    )


def with_replay(
    cases: Sequence[Case], replay: Replay, only: Collection[str] | None = None
) -> list[Case]:
    """The cases with what a replay showed; where asking again was enough, it shows nothing.

    `only` are the ids of the cases that it speaks for; else it speaks for all of a sample.
    """
    found = []
    for case in cases:
        if only is not None and case.id not in only:
            found.append(case)
            continue
        tried, mended = replay.tried.get(case.sample, ()), replay.repaired_by.get(case.sample, ())
        signs = {
            f"{REPAIRED_BY}{change}": change in mended
            for change in tried
            if change != AGAIN and AGAIN not in mended and case.went_wrong
        }
        found.append(structs.replace(case, signs={**case.signs, **signs}) if signs else case)
    return found
