"""Findings about a sweep as a whole: seeds that do nothing, jitters that change nothing."""

from __future__ import annotations

from collections import Counter, defaultdict

from ragauge.contracts.gold import REFUSING, Gold, Refusal, Strength, fingerprint
from ragauge.contracts.report import Finding, Findings, Rule
from ragauge.contracts.run import SweepPlan
from ragauge.metrics.factors import effects, same_output
from ragauge.runners.plans import Plans
from ragauge.runners.question_stability import JudgedQuestion
from ragauge.stats.exact import ALPHA


class Outputs:
    """Whether answers, word for word, differ between runs that differ in one factor alone."""

    def __init__(self) -> None:
        self.pairs: Counter[str] = Counter()
        self.differ: Counter[str] = Counter()
        self.unscoped = 0
        """Runs that do not tell what they retrieved."""
        self.untold: list[str] = []
        """Questions without a single finished run."""
        self.alone: list[str] = []
        """Questions with one finished run: nothing could differ."""
        self.unplanned: dict[str, int] = {}
        """Questions with runs that no plan knows."""
        self.saved = 0
        self.own_words: dict[str, Counter[Refusal]] = {}
        """Questions with runs that refuse, or may refuse, in free words."""

    def add(self, one: JudgedQuestion) -> None:
        self.unscoped += one.unscoped
        for factor, effect in effects(one.unit.runs, same_output).items():
            self.pairs[factor] += effect.pairs
            self.differ[factor] += effect.differ
        self.saved += one.judged.saved
        refusals = Counter(run.refusal for run in one.unit.runs)
        if refusals["free"] or refusals["undetermined"]:
            self.own_words[one.gold.qid] = refusals
        if one.unplanned:
            self.unplanned[one.gold.qid] = one.unplanned
        if not one.unit.runs:
            self.untold.append(one.gold.qid)
        if len(one.unit.runs) == 1:
            self.alone.append(one.gold.qid)


def note_findings(
    findings: Findings,
    gold: list[Gold],
    outputs: Outputs,
    plans: Plans,
    rules: tuple[Rule, ...],
    strength: Strength,
) -> None:
    """Add what the report should say of the sweep as a whole."""
    _note_refusals(findings, outputs, strength)
    _note_seeds(findings, outputs)
    _note_runs(findings, outputs)
    if not plans:
        message = "no plan beside the runs: a run that was planned and never made cannot be seen"
        findings.add(Finding("no_plan", "sweep", message))
    for plan in plans.each:
        _note_plan(findings, gold, plan)
        if plan.adaptive and tuple(map(str, rules)) != plan.rules:
            message = "the sweep stopped early by other gates: runs may be missing for these"
            findings.add(Finding("other_gates", "sweep", message))
        if plan.adaptive and outputs.saved:
            message = f"{outputs.saved:,} runs saved; {promise(plan)}"
            findings.add(Finding("stopped_early", "sweep", message))
    if len({str(plan.system) for plan in plans.each}) > 1:
        message = "these journals are of different systems: their runs are scored as one's"
        findings.add(Finding("mixed_systems", "sweep", message))


def _note_runs(findings: Findings, outputs: Outputs) -> None:
    """Findings about runs and questions that cannot tell what they should."""
    if outputs.unscoped:
        message = (
            f"{outputs.unscoped} answers do not tell what was retrieved: whether their citations "
            "are in scope is not known, and the gold ids alone decide"
        )
        findings.add(Finding("scope_unknown", "sweep", message), outputs.unscoped)
    for qid, times in outputs.unplanned.items():
        message = f"{times} runs that no plan knows were left out"
        findings.add(Finding("unplanned_run", qid, message), times)
    for qid in outputs.untold:
        findings.add(Finding("no_finished_run", qid, "no run of this question brought an answer"))
    for qid in outputs.alone:
        findings.add(
            Finding("single_run", qid, "one run shows nothing about stability; it is not evaluated")
        )


def _note_refusals(findings: Findings, outputs: Outputs, strength: Strength) -> None:
    """Runs that refuse in free words: a sweep's numbers count them as --refusal says."""
    counts = "free" in REFUSING[strength]
    counted = "as refusals" if counts else "as answers; --refusal auto counts refusals"
    for qid, refusals in outputs.own_words.items():
        of = f"of {refusals.total()} runs"
        if refusals["free"]:
            message = f"{refusals['free']} {of} refuse in free words, counted {counted}"
            findings.add(Finding("free_refusal", qid, message), refusals["free"])
        if refusals["undetermined"]:
            message = (
                f"{refusals['undetermined']} {of} may refuse in free words, counted as answers"
            )
            findings.add(Finding("undetermined_refusal", qid, message), refusals["undetermined"])


def promise(plan: SweepPlan) -> str:
    """What an adaptive sweep promises of the verdicts it stopped early for."""
    if plan.adaptive == "exact":
        return "no verdict differs from the full grid's"
    return (
        f"a decision made early is wrong with a chance of at most {plan.alpha or ALPHA:.0%}; the "
        "other gates, and whether a question fails alike each time, are told from the runs made"
    )


def _note_seeds(findings: Findings, outputs: Outputs) -> None:
    if outputs.pairs["seed"] and not outputs.differ["seed"]:
        message = (
            "answers are the same for every seed: the system ignores seeds, or has nothing "
            "random; one seed would tell as much"
        )
        findings.add(Finding("seeds_do_nothing", "sweep", message))
    if outputs.differ["seed"] and not outputs.pairs["repeat"]:
        message = (
            "answers differ between seeds; whether the same seed gives the same answer again was "
            "not tried: --repeats 2 tells"
        )
        findings.add(Finding("seeds_untried", "sweep", message))
    if outputs.differ["repeat"]:
        times = f"{outputs.differ['repeat']} of {outputs.pairs['repeat']}"
        message = f"the same request, seed and all, gave different answers: {times} pairs of runs"
        findings.add(Finding("same_seed_differs", "sweep", message))


def _note_plan(findings: Findings, gold: list[Gold], plan: SweepPlan) -> None:
    if fingerprint(gold) != plan.parts.get("gold"):
        message = "the gold set is not the one that was swept: questions or answers changed since"
        findings.add(Finding("gold_changed", "sweep", message))
    noop: defaultdict[str, list[str]] = defaultdict(list)
    asked = len(plan.grid.jitters) * len(plan.grid.paraphrases)
    if plan.limit is not None:
        message = f"the sweep asked the first {plan.limit:,} of {len(gold):,} questions (--limit)"
        findings.add(Finding("limited", "sweep", message))
    for question in gold[: plan.limit]:
        planned = plan.questions.get(question.qid)
        if planned is None:
            message = "not in the sweep's plan: the gold set has changed since"
            findings.add(Finding("not_planned", question.qid, message))
            continue
        for jitter in planned.noop:
            noop[jitter].append(question.qid)
        if not planned.runs:
            message = "nothing was planned: none of the jitters asked for changes its wording"
            findings.add(Finding("nothing_planned", question.qid, message))
        elif planned.prompts < asked:
            message = f"{planned.prompts} distinct prompts of {asked} asked for"
            findings.add(Finding("fewer_prompts", question.qid, message))
    for jitter, qids in sorted(noop.items()):
        message = f"changes nothing on {len(qids)} of {len(gold)} questions and was not run there"
        findings.add(Finding("noop_jitter", jitter, message))
