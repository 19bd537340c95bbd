"""The report of `ragauge compare`: two runs, metric by metric, and the questions that flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from ragauge.contracts.comparison import (
    Compared,
    ComparedRun,
    ComparedSlice,
    ComparisonCoverage,
    ComparisonReport,
    Flip,
    Outlook,
    Side,
    Way,
)
from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.verdict import Verdict as Gate
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.differences import Differing
from ragauge.reports.document import Block, Cell, Document, Range, Section, Span, Table, Tone
from ragauge.reports.formats import github, junit
from ragauge.reports.numbers import ABSENT, count, counted, signed, signed_interval, value

COMMIT_SHOWN = 8
NO_DIFFERENCE = "no difference seen"
NAMES: dict[Outlook, str] = {
    "worse": "worse",
    "better": "better",
    "not_worse": "not worse",
    "cannot_tell": "cannot tell",
    "not_comparable": "not comparable",
    "not_tested": "not tested",
}
"""The words of verdicts, what matters most first."""
ORDER = tuple(NAMES.values())
TONES: dict[str, Tone] = {"worse": "bad", "better": "good", "not worse": "good"}
CORRECTIONS = {
    "holm": "p adjusted by Holm, intervals unadjusted",
    "bh": "p adjusted by Benjamini and Hochberg, intervals unadjusted",
    "none": "p and intervals unadjusted",
}
SLICE_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
NOT_TESTED = "not tested: no verdict, p unadjusted; --metric all tests them"
TESTED = {"no-regression": "beyond noise", "not-worse": "at worst"}
"""What a gate compares with its bound: the part of the change that chance does not explain, or the
worst end of the interval."""
FLIPS: dict[Way, tuple[tuple[str, str, Tone], str]] = {
    "broken": (("stable_fail", "broken", "bad"), "correct before, incorrect after"),
    "mended": (("stable_pass", "fixed", "good"), "incorrect before, correct after"),
}
"""The badge of each way that a question can flip, and what it means."""
NEVER = 10_000_000
"""Nobody asks more questions than this."""
WIDEST = 0.02
"""Changes are drawn on a scale that is at least this wide, so that noise does not look big."""
TIMES = (1, 2, 4)
"""The multiples of n in the table of what can be detected."""
SLICES_SHOWN, SLICES_KEPT, FEW_SHOWN = 8, 60, 20
FLIPS_SHOWN, FLIPS_KEPT = 6, 100
"""In a terminal, and on a page: with more of each way it would be slow to scroll."""

LAST = ("statistic", "significant")
FIELDS = tuple(name for name in Compared.__struct_fields__ if name not in LAST)
COLUMNS = (
    *("stratum", "value", "metric"),
    *(column for name in FIELDS for column in (("low", "high") if name == "ci" else (name,))),
    "note",
    *LAST,
    "alpha",
)
"""The fields of a comparison in their order, with its interval as two columns, and how p and the
interval are corrected, which is different for slices. Columns that later versions added are last,
so that each keeps its place."""


def document(report: ComparisonReport) -> Document:
    return Document("comparison", list(_blocks(report)))


def table(report: ComparisonReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each metric, over all questions and in each slice."""
    return COLUMNS, [*metric_rows(report), *slice_rows(report)]


def metric_rows(report: ComparisonReport) -> list[list[object]]:
    """Each metric over all questions, under COLUMNS."""
    note = CORRECTIONS[report.correction]
    return [_row(report, None, None, id, one, note) for id, one in report.compared.items()]


def slice_rows(report: ComparisonReport) -> list[list[object]]:
    """Each metric in each slice, under COLUMNS."""
    note = slices_words(report)
    return [
        _row(report, one.stratum, one.value, one.metric, one.compared, note)
        for one in report.slices
    ]


def _row(
    report: ComparisonReport, stratum: str | None, of: str | None, id: str, one: Compared, note: str
) -> list[object]:
    row: list[object] = [stratum, of, id]
    for name in FIELDS:
        row += (one.ci or (None, None)) if name == "ci" else [getattr(one, name)]
    return [*row, note, *(getattr(one, name) for name in LAST), report.alpha]


def cases(report: ComparisonReport) -> Iterator[junit.Suite]:
    """A suite of gates and one of the questions that flipped.

    The gates alone decide: in a comparison that passed, no question turns CI red.
    """

    def gate_problem(gate: Gate) -> junit.Problem | None:
        kind = junit.gate_kind(gate)
        type = "" if kind == "skipped" else gate.verdict
        return junit.Problem(kind, gate_words(gate), type) if kind else None

    def problem(flip: Flip) -> junit.Problem | None:
        if flip.way == "mended":
            return None
        facts = {"question": flip.question}
        for when, side in (("before", flip.was), ("after", flip.now)):
            cited = " ".join(side.cited)
            facts |= {f"said {when}": side.claim, f"cited {when}": cited}
            facts |= {f"explained {when} by": side.why}
        message = f"broken: {flip.was.label} before, {flip.now.label} after"
        kind: Literal["failure", "skipped"] = "failure" if report.passed is False else "skipped"
        return junit.Problem(kind, message, "broken", junit.facts(facts))

    yield junit.Suite("gates", (junit.Case(one.rule, gate_problem(one)) for one in report.gates))
    yield junit.Suite("questions", (junit.Case(one.qid, problem(one)) for one in report.flips))


def notes(report: ComparisonReport) -> Iterator[github.Notes]:
    """The verdict, the gates that stop the run or what is worse, the questions that broke."""
    word, words = verdict_words(report)
    yield github.Notes([github.Note("notice", words, f"Ragauge comparison {word}")])
    yield github.Notes(
        [
            github.Note("error", gate_words(gate), f"gate {gate.rule}")
            for gate in report.gates
            if not gate.holds
        ],
        "gate",
    )
    worse = [] if report.gates else dict(by_verdict(report)).get("worse", [])
    yield github.Notes(
        [github.Note("warning", _worse(id, report.compared[id]), f"worse {id}") for id in worse]
    )
    yield github.Notes(
        [
            github.Note("warning", _flipped(flip), f"broken {flip.qid}")
            for flip in report.flips
            if flip.way == "broken"
        ],
        "question",
    )


def _worse(id: str, one: Compared) -> str:
    """
    `quality.precision_cited 0.900 -> 0.839, -0.061 [-0.101, -0.021], p<0.001`
    """
    change = f"{signed(one.change)} {signed_interval(one.ci)}".rstrip()
    p = p_value(one.p_adjusted).replace(" ", "")
    p = p if p.startswith("<") else f"={p}"
    return f"{id} {value(one.before)} -> {value(one.after)}, {change}, p{p}"


def _flipped(flip: Flip) -> list[str]:
    lines = [github.cut(flip.question or "")]
    for when, side in (("was", flip.was), ("now", flip.now)):
        said = f": {github.cut(side.claim)}" if side.claim else ""
        why = f" (explained by {github.cut(side.why)})" if side.why else ""
        lines.append(f"{when} {side.label or 'unlabelled'}{said}{why}")
    return lines


def _blocks(report: ComparisonReport) -> Iterator[Block]:
    shown = envelope.short_names(report.compared)
    word, words = verdict_words(report)
    yield doc.Verdict(
        word,
        words,
        meaning=[counts_words(report)] if report.gates else [],
        tone={"pass": "good", "fail": "bad", **TONES}.get(word.lower(), "soft"),
    )
    yield _runs(report)
    judged = _judged(report)
    if judged:
        inside: list[Block] = [_metrics(report, judged, shown)]
        tests = {one.method.partition(", ") for one in judged.values() if one.method}
        named = ", ".join(f"{test} ({how})" if how else test for test, _, how in sorted(tests))
        corrected = CORRECTIONS[report.correction]
        inside.append(doc.Text("; ".join(filter(None, (named, corrected))), "dim"))
        remark = "change from before to after, on the questions in both runs"
        yield Section(title="Metrics", remark=remark, blocks=inside, part="metrics")
    yield from _also_measured(report, shown)
    if report.gates:
        name = numbers.restriction(report.gates[0])
        heads = ("metric", TESTED[name], "must be", "verdict")
        yield Table(
            title=f"Gate {name}",
            remark=f"the change {TESTED[name]}",
            part="gates",
            columns=doc.columns(*heads, right=heads[1:2]),
            rows=[
                doc.Row(
                    (
                        doc.names(shown[gate.metric], to=("metric", gate.metric)),
                        doc.number(gate.value, signed(gate.value)),
                        Cell(numbers.bound(gate), gate.bound, foreign=True),
                        doc.gate_word(gate),
                    ),
                    gate.reason or "",
                    strong=not gate.holds,
                )
                for gate in report.gates
            ],
        )
    yield from _slices(report, shown)
    for way, ((_, title, _), remark) in FLIPS.items():
        if times := report.flip_counts.get(way, 0):
            kept = [flip for flip in report.flips if flip.way == way][:FLIPS_KEPT]
            yield Section(
                title=title.capitalize(),
                remark=f"{counted(times, 'question')}, {remark}",
                blocks=[doc.Items(items=flip_items(kept), shown=FLIPS_SHOWN, total=times)],
                part="flips",
                folded=True,
            )
    yield from _detectable(report, judged, shown)
    yield doc.findings(report)
    yield from doc.glossary(report.compared, shown)
    yield doc.Coverage(coverage_words(report.coverage), report.identity)


def verdict_words(report: ComparisonReport) -> tuple[str, str]:
    """The verdict in a word, and the reason for it."""
    if report.before is None:
        return "NO BASELINE", "there is no run to compare with yet"
    if report.gates:
        return ("PASS" if report.passed else "FAIL"), _gates_words(report.gates)
    if report.passed is False:
        return "FAIL", "no metric is in both runs, and a gate needs one"
    groups = dict(by_verdict(report))
    if "worse" in groups and "better" in groups:
        return "MIXED", counts_words(report)
    known = (word for word in ("worse", "better", "not worse", "cannot tell") if word in groups)
    return next(known, "not comparable").upper(), counts_words(report)


def _gates_words(gates: Sequence[Gate]) -> str:
    name, total = numbers.restriction(gates[0]), counted(len(gates), "metric")
    times = Counter(gate.verdict for gate in gates)
    unknown, skipped = times["not_evaluated"], times["not_applicable"]
    if times["fail"]:
        words = f"{name} fails for {count(times['fail'])} of {total}"
        return f"{words}, {count(unknown)} not evaluated" if unknown else words
    if unknown:
        return f"{name} could not be evaluated for {count(unknown)} of {total}"
    if skipped == len(gates):
        return f"{name} has nothing to judge: none of {total} applies"
    if skipped:
        holds = count(len(gates) - skipped)
        return f"{name} holds for {holds} of {total}, {count(skipped)} not applicable"
    return f"{name} holds for {total}"


def counts_words(report: ComparisonReport) -> str:
    """
    `1 of 12 metrics worse, 2 better, 9 cannot tell`
    """
    groups = by_verdict(report)
    if not groups:
        return "no metric is in both runs"
    (word, ids), *rest = groups
    total = counted(len(_judged(report)), "metric")
    others = (f"{count(len(ids))} {word}" for word, ids in rest)
    return ", ".join([f"{count(len(ids))} of {total} {word}", *others])


def by_verdict(report: ComparisonReport) -> list[tuple[str, list[str]]]:
    """The metrics with each verdict that occurs, what matters most first."""
    found: dict[str, list[str]] = {word: [] for word in ORDER}
    for id, one in _judged(report).items():
        found[NAMES[one.verdict]].append(id)
    return [(word, ids) for word, ids in found.items() if ids]


def _judged(report: ComparisonReport) -> dict[str, Compared]:
    """The metrics that the comparison is about."""
    return {id: one for id, one in report.compared.items() if one.verdict != "not_tested"}


def _runs(report: ComparisonReport) -> Table:
    """What is known of each run, and the labels in which they differ."""
    before, after = _run_facts(report.before), _run_facts(report.after)
    facts = [(Cell(name), before.get(name, ""), text) for name, text in after.items()]
    if report.before:
        was, now = report.before.labels, report.after.labels
        facts += [
            (doc.names(name), was.get(name, ""), now.get(name, ""))
            for name in sorted(was.keys() | now.keys())
            if was.get(name) != now.get(name)
        ]
    return Table(
        title="Runs",
        part="compared",
        columns=doc.columns("", "before", "after"),
        rows=doc.rows(
            [name, doc.names(was or ABSENT), doc.names(now or ABSENT)]
            for name, was, now in facts
            if was or now
        ),
    )


def _run_facts(run: ComparedRun | None) -> dict[str, str]:
    """A run in a few words; it is dirty where files differed from the commit."""
    if run is None:
        return {}
    commit = run.commit and run.commit[:COMMIT_SHOWN]
    return {
        "run": run.id[:ID_SHOWN],
        "name": run.name,
        "recorded": run.recorded_at[:16].replace("T", " "),
        "commit": " ".join(filter(None, (run.branch, commit, "dirty" if run.dirty else None))),
        "tags": ", ".join(run.tags),
    }


def _metrics(
    report: ComparisonReport, told: Mapping[str, Compared], shown: Mapping[str, str]
) -> Table:
    """A row for each metric; a verdict only where there is one."""
    return _changes(
        interval_title(report),
        ["metric"],
        [([doc.names(shown[id], to=("metric", id))], one) for id, one in told.items()],
        notes=[_note(one) for one in told.values()],
        judged=any(one.verdict != "not_tested" for one in told.values()),
    )


def _changes(
    interval: str,
    heads: Sequence[str],
    given: Sequence[tuple[Sequence[Cell], Compared]],
    *,
    notes: Sequence[str] = (),
    judged: bool = True,
    shown: int | None = None,
    total: int | None = None,
) -> Table:
    """Changes, drawn on one scale with 0 in the middle so that they can be compared."""
    far = (abs(end) for _, one in given for end in (one.change or 0.0, *(one.ci or ())))
    reach = max([WIDEST, *far])
    numeric = ("before", "after", "change", interval, "statistic", "p", "n")
    verdict = ["verdict"] if judged else []

    def cells(one: Compared) -> Iterator[Cell]:
        word = NAMES[one.verdict]
        accepted = one.margin and (-one.margin if one.better == "higher" else one.margin)
        p = one.p if one.verdict == "not_tested" else one.p_adjusted
        statistic = ABSENT if one.statistic is None else f"{one.statistic:.4g}"
        yield doc.number(one.before)
        yield doc.number(one.after)
        yield doc.number(one.change, signed(one.change), TONES.get(word, ""))
        yield doc.plot(Range(one.change, one.ci, accepted, (-reach, reach)))
        yield Cell(signed_interval(one.ci), one.ci, "dim")
        yield doc.number(one.statistic, statistic, "dim")
        yield doc.number(p, p_value(p), "dim")
        yield doc.count(one.n, "dim")
        if judged:
            yield Cell(word, ORDER.index(word), TONES.get(word, "dim"))

    return Table(
        columns=doc.columns(
            *(*heads, "before", "after", "change", "plot", *numeric[3:], *verdict),
            right=numeric,
            plots=["plot"],
            spare=["statistic", "before", "after", "n", "p", interval],
        ),
        rows=doc.rows(([*lead, *cells(one)] for lead, one in given), notes),
        shown=shown,
        total=total,
        everything="they changed less or not at all, see --format json",
        below=total is None,
    )


def _note(one: Compared) -> str:
    """What has no column: why there is no number, what was accepted, how many would decide."""
    parts = [NO_DIFFERENCE if _is_same(one) else one.reason]
    if one.verdict == "not_worse":
        parts.append(f"within the margin of {one.margin:g}")
    if one.needed is not None and one.needed > NEVER:
        parts.append(f"it would take more than {count(NEVER)} to decide")
    elif one.needed is not None:
        parts.append(f"n = {count(one.needed)} would decide ({count(one.needed - one.n)} more)")
    return "; ".join(filter(None, parts))


def _is_same(one: Compared) -> bool:
    """Whether units were compared, and not a single one differs."""
    return bool(one.n) and not one.differs and one.change is not None


def _also_measured(report: ComparisonReport, shown: Mapping[str, str]) -> Iterator[Section]:
    """The metrics without a verdict; those that did not change by name only."""
    moved: dict[str, Compared] = {}
    others: dict[str, list[str]] = {}
    for id, one in report.compared.items():
        if one.verdict == "not_tested" and _is_same(one):
            others.setdefault(NO_DIFFERENCE, []).append(shown[id])
        elif one.verdict == "not_tested" and one.change is None:
            others.setdefault(one.reason or "nothing to compare", []).append(shown[id])
        elif one.verdict == "not_tested":
            moved[id] = one
    if moved or others:
        inside: list[Block] = [_metrics(report, moved, shown)] if moved else []
        for why, ids in others.items():
            inside.append(doc.Text(f"{why}: {', '.join(ids)}", "dim"))
        yield Section(
            title="Also measured",
            remark=NOT_TESTED,
            blocks=inside,
            part="metrics",
            folded=True,
        )


def gate_words(gate: Gate) -> str:
    """What a gate demands and what it found, in a line."""
    name = numbers.restriction(gate)
    words = f"{gate.metric}: {name} wants {numbers.bound(gate)}"
    if gate.value is not None:
        words += f", {TESTED[name]} {signed(gate.value)}"
        words += f", interval {signed_interval(gate.ci)}" if gate.ci else ""
    return f"{words}; {gate.reason}" if gate.reason else words


def _slices(report: ComparisonReport, shown: Mapping[str, str]) -> Iterator[Section]:
    """The strata in the order they were requested, each with its most certain differences first."""
    grouped = groupby(report.slices, lambda one: one.stratum)
    strata = [(name, list(cells)) for name, cells in grouped]
    for place, (stratum, cells) in enumerate(strata, 1):
        tested = [cell for cell in cells if cell.compared.method]
        moved = sorted((cell for cell in tested if cell.compared.change), key=_surest)
        inside: list[Block] = []
        if moved:
            inside.append(
                _changes(
                    interval_title(report, slices=True),
                    ["value", "metric"],
                    [
                        ([doc.names(one.value), doc.names(shown[one.metric])], one.compared)
                        for one in moved[:SLICES_KEPT]
                    ],
                    shown=SLICES_SHOWN,
                    total=len(tested),
                )
            )
        elif tested:
            inside.append(doc.Text(f"{counted(len(tested), 'slice')} tested, none changed", "dim"))
        units: dict[str, int] = {}
        for cell in cells:
            units[cell.value] = max(units.get(cell.value, 0), cell.compared.n)
        values = counted(len(units), "value")
        if few := sorted(units.keys() - {cell.value for cell in tested}):
            spans = [Span("Too few to test: ", "dim")]
            for at, name in enumerate(few[:FEW_SHOWN]):
                spans += [Span(", " if at else ""), Span(name, foreign=True)]
                spans += [Span(f" ({count(units[name])})", "dim")]
            if len(few) > FEW_SHOWN:
                spans.append(Span(f" and {count(len(few) - FEW_SHOWN)} more", "dim"))
            inside.append(doc.Text(spans))
        if place == len(strata):
            inside.append(doc.Text(f"In slices, {slices_words(report)}", "dim"))
        yield Section(
            title="By",
            about=stratum,
            remark=f"{values}, the most certain differences first" if moved else values,
            blocks=inside,
            part="slices",
        )


def _surest(cell: ComparedSlice) -> tuple[int, float, float, str, str]:
    one = cell.compared
    p = 1.0 if one.p_adjusted is None else one.p_adjusted
    rank = ORDER.index(NAMES[one.verdict])
    return rank, p, -abs(one.change or 0.0), cell.value, cell.metric


def interval_title(report: ComparisonReport, *, slices: bool = False) -> str:
    """The level of the intervals; those of slices hold together, as far as p is corrected."""
    joint = "joint " if slices and report.correction != "none" else ""
    return f"{joint}{100 * (1 - report.alpha):g} % interval"


def slices_words(report: ComparisonReport) -> str:
    """How p and the intervals of slices are corrected, which is not in the same way."""
    name = SLICE_CORRECTIONS.get(report.correction)
    if name is None:
        return CORRECTIONS[report.correction]
    return (
        f"p is adjusted by {name} over all slices; the intervals are wider, to hold for all slices "
        "at once, so that one may hold 0 where p finds a difference: verdicts go by p"
    )


def flip_items(flips: Iterable[Flip], *, opened: int = 1) -> list[doc.Item]:
    """The questions with both answers next to each other, and marks where the answers differ."""
    marked = Differing()
    return [
        doc.Item(
            name=flip.qid,
            badge=FLIPS[flip.way][0],
            about=flip.question or "",
            blocks=[
                doc.Cards(
                    [
                        _card("was", flip.was, flip.now, marked),
                        _card("now", flip.now, flip.was, marked),
                    ]
                )
            ],
            opened=place < opened,
            to=("question", flip.qid),
        )
        for place, flip in enumerate(flips)
    ]


def _card(when: str, side: Side, other: Side, marked: Differing) -> doc.Card:
    said = marked(side.claim or "", other.claim or "")
    cited = [Span(id, foreign=True, marked=id not in other.cited) for id in side.cited]
    return doc.Card(
        [Span(f"{when} "), Span(side.label or ABSENT, foreign=bool(side.label))],
        [
            ("said", [Span(piece, foreign=True, marked=differs) for piece, differs in said]),
            ("cited", [span for id in cited for span in (id, Span(" "))][:-1]),
            ("explained by", doc.theirs(side.why)),
        ],
    )


def _detectable(
    report: ComparisonReport, judged: Mapping[str, Compared], shown: Mapping[str, str]
) -> Iterator[Section]:
    """The smallest difference that this many questions can show, and more of them."""
    from ragauge.stats.decision import level_of
    from ragauge.stats.power import smallest_seen

    tests = sum(one.tested for one in report.compared.values())
    heads = ["n", *("at n" if times == 1 else f"at {times} n" for times in TIMES)]
    rows = []
    for id, one in judged.items():
        if one.sd and one.differs:
            alpha = level_of(report.alpha, report.correction, tests + (not one.tested))
            seen = (
                smallest_seen(one.sd, times * one.n, flips=one.flips, alpha=alpha)
                for times in TIMES
            )
            rows.append([doc.names(shown[id]), doc.count(one.n, "dim"), *map(doc.number, seen)])
    if rows:
        yield Section(
            title="Smallest detectable change",
            remark="with 80 % power, for as many questions as now and for more",
            blocks=[Table(columns=doc.columns("metric", *heads, right=heads), rows=doc.rows(rows))],
            part="power",
            folded=True,
        )


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.0312), p_value(0.00004), p_value(1.0), p_value(None)
    ('0.031', '< 0.001', '1', '–')
    """
    if p is None:
        return ABSENT
    if p < 0.001:
        return "< 0.001"
    return "1" if p >= 0.9995 else f"{p:.3f}"


def coverage_words(coverage: ComparisonCoverage) -> str:
    """How much the two runs share, in one line; what is zero is not said."""
    parts = [
        f"{counted(coverage.both, 'question')} in both runs",
        coverage.only_before and f"{count(coverage.only_before)} only before",
        coverage.only_after and f"{count(coverage.only_after)} only after",
        coverage.changed_meaning and f"{count(coverage.changed_meaning)} with another meaning",
    ]
    return ", ".join(part for part in parts if part)
