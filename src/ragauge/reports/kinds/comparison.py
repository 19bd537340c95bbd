"""The report of `ragauge compare`: two runs, metric by metric, and the questions that flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec import structs

from ragauge.contracts.comparison import (
    Compared,
    ComparedRun,
    ComparedSlice,
    ComparisonReport,
    Flip,
    Outlook,
    Side,
    Way,
)
from ragauge.contracts.history import GitState
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, fact_lines, gate_suite
from ragauge.reports.document import Block, Cell, Column, Section, Table, Tone
from ragauge.reports.kinds.runs import DIFFERED, code, labels, recorded, run_cell
from ragauge.reports.phrasing import ABSENT, count, pluralize, signed, signed_interval, value
from ragauge.text.marks import Differing

NO_DIFFERENCE = "no difference seen"
OUTLOOKS: tuple[Outlook, ...] = (
    *("worse", "better", "not_worse", "cannot_tell", "not_comparable", "not_tested"),
)
"""Verdicts, the most important first."""
NAMES = {one: one.replace("_", " ") for one in OUTLOOKS}
ORDER = tuple(NAMES.values())
TONES: dict[str, Tone] = {"worse": "bad", "better": "good", "not worse": "good"}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg", "none": "none"}
NOT_TESTED = "not tested: no verdict, p unadjusted; --metric all tests them"
DETECTABLE = "smallest change that this many questions can show, with 80 % power"
FLIPS: dict[Way, tuple[tuple[str, str, Tone], str]] = {
    "broken": (("stable_fail", "broken", "bad"), "correct before, incorrect after"),
    "mended": (("stable_pass", "fixed", "good"), "incorrect before, correct after"),
}
"""The badge of each way that a question can flip, and what it means."""
NEVER = 10_000_000
"""A number of questions that no set has."""
WIDEST = 0.02
"""Changes are drawn on a scale that is at least this wide, so that noise does not look big."""
SLICES_SHOWN, SLICES_KEPT = 8, 60
FLIPS_SHOWN, FLIPS_KEPT = 6, 100
"""In a terminal, and on a page: with more of each way it would be slow to scroll."""

COLUMNS = (
    *("stratum", "value", "metric", "verdict", "better", "before", "after", "change"),
    *("low", "high", "p", "p_adjusted", "n", "n_zero", "method", "seed", "effect", "margin", "sd"),
    *("detectable", "needed", "tested", "reason", "note", "statistic", "significant", "alpha"),
)
"""The fields of a comparison, with its interval as two columns; the note says how p and the
interval are corrected, which is different for slices. New columns are last, so that each keeps its
place."""


def document(report: ComparisonReport) -> doc.Document:
    return doc.Document("comparison", list(_blocks(report)))


def table(report: ComparisonReport) -> tuple[tuple[str, ...], list[list[object]]]:
    """One row for each metric, over all questions and in each slice."""
    common, in_slices = correction_text(report.correction), _slices_text(report)
    rows: list[list[object]] = []
    for it in (*overall(report.compared), *report.slices):
        low, high = it.compared.ci or (None, None)
        fields = structs.asdict(it) | structs.asdict(it.compared)
        fields |= {"low": low, "high": high, "note": in_slices, "alpha": report.alpha}
        if not it.stratum:
            fields |= {"stratum": None, "value": None, "note": common}
        rows.append([fields[name] for name in COLUMNS])
    return COLUMNS, rows


def overall(compared: Mapping[str, Compared]) -> list[ComparedSlice]:
    """The metrics over all questions, as if they were a slice."""
    return [
        ComparedSlice(stratum="", value="", metric=id, compared=one) for id, one in compared.items()
    ]


def cases(report: ComparisonReport) -> Iterator[Suite]:
    """Gates, or metrics where there are none, and the questions that flipped."""

    def metric(id: str, word: str) -> Case:
        """`quality.precision_cited 0.900 -> 0.839, -0.061 [-0.101, -0.021], p<0.001`"""
        if word != "worse":
            return Case(id)
        one = report.compared[id]
        change = f"{signed(one.change)} {signed_interval(one.ci)}".rstrip()
        p = p_value(one.p_adjusted).replace(" ", "")
        text = f"{id} {value(one.before)} -> {value(one.after)}, {change}"
        return Case(id, f"{text}, p{'' if p[0] == '<' else '='}{p}", type=word)

    def question(flip: Flip) -> Case:
        if flip.way == "mended":
            return Case(flip.qid)
        was, now = flip.was, flip.now
        known = {
            "question": flip.question,
            "said before": was.claim,
            "said after": now.claim,
            "explained after by": now.why,
            "explained before by": was.why,
            "cited before": " ".join(was.cited),
            "cited after": " ".join(now.cited),
        }
        labels = [side.label or "unlabelled" for side in (was, now)]
        text = "broken: {} before, {} after".format(*labels)
        return Case(flip.qid, text, fact_lines(known), type="broken")

    yield gate_suite(report.gates)
    if not report.gates:
        found = by_verdict(report).items()
        metrics = (metric(id, word) for word, ids in found for id in ids)
        yield Suite("metrics", metrics, decides=False)
    yield Suite("questions", map(question, report.flips), decides=False)


def _blocks(report: ComparisonReport) -> Iterator[Block]:
    shown = phrasing.short_names(report.compared)
    verdict, text = verdict_text(report)
    tone = "" if verdict in ("PASS", "FAIL") else TONES.get(verdict.lower(), "soft")
    counts = [_count_text(report)] if report.gates else []
    yield doc.Verdict(verdict, text, meaning=counts, tone=tone)
    yield _runs(report)
    if report.compared:
        yield _metrics(report, shown)
    if report.gates:
        remark = (
            f"the value is the change {phrasing.CHANGES[phrasing.restriction(report.gates[0])]}"
        )
        # Their intervals are those of the metrics above, at the level of the comparison.
        gates = [structs.replace(gate, ci=None) for gate in report.gates]
        tables = doc.gates(gates, {}, shown, remark=remark, value=lambda one: signed(one.value))
        yield from map(doc.without_empty_columns, tables)
    yield from _slices(report, shown)
    for way, ((_, title, _), meaning) in FLIPS.items():
        if times := report.flip_counts.get(way, 0):
            kept = [flip for flip in report.flips if flip.way == way][:FLIPS_KEPT]
            yield doc.Items(
                title=f"{title.capitalize()}: {meaning}",
                remark=pluralize(times, "question"),
                items=flip_items(kept),
                shown=FLIPS_SHOWN,
                total=times,
                folded=True,
                part="flips",
            )
    yield doc.findings(report)
    yield from doc.glossary(report.compared, shown)
    covered = report.coverage
    text = doc.listed(
        f"{pluralize(covered.both, 'question')} in both runs",
        covered.only_before and f"{count(covered.only_before)} only before",
        covered.only_after and f"{count(covered.only_after)} only after",
        covered.changed_meaning and f"{count(covered.changed_meaning)} with another meaning",
    )
    yield doc.coverage(text, report.identity)


def verdict_text(report: ComparisonReport) -> tuple[str, str]:
    """The verdict in a word, and the reason for it."""
    if report.before is None:
        return "NO BASELINE", "there is no run to compare with yet"
    if report.gates:
        name, total = phrasing.restriction(report.gates[0]), pluralize(len(report.gates), "metric")
        times = Counter(gate.verdict for gate in report.gates)
        unknown, skipped = times["not_evaluated"], times["not_applicable"]
        if times["fail"]:
            text = f"fails for {count(times['fail'])} of {total}"
            text += f", {count(unknown)} not evaluated" if unknown else ""
        elif unknown:
            text = f"could not be evaluated for {count(unknown)} of {total}"
        elif skipped == len(report.gates):
            text = f"has nothing to judge: none of {total} applies"
        elif skipped:
            holding = count(len(report.gates) - skipped)
            text = f"holds for {holding} of {total}, {count(skipped)} not applicable"
        else:
            text = f"holds for {total}"
        return ("PASS" if report.passed else "FAIL"), f"{name} {text}"
    if report.passed is False:
        return "FAIL", "no metric is in both runs, and a gate needs one"
    groups = by_verdict(report)
    if "worse" in groups and "better" in groups:
        return "MIXED", _count_text(report)
    return next(iter(groups), "not comparable").upper(), _count_text(report)


def _count_text(report: ComparisonReport) -> str:
    """
    `1 of 12 metrics worse, 2 better, 9 cannot tell`
    """
    groups = by_verdict(report)
    if not groups:
        return "no metric is in both runs"
    (word, ids), *others = groups.items()
    first = f"{len(ids):,} of {pluralize(sum(map(len, groups.values())), 'metric')} {word}"
    return ", ".join([first, *(f"{len(ids):,} {word}" for word, ids in others)])


def by_verdict(report: ComparisonReport) -> dict[str, list[str]]:
    """The compared metrics by their verdicts, the most important first."""
    compared = report.compared.items()
    found = {word: [id for id, one in compared if NAMES[one.verdict] == word] for word in ORDER}
    return {word: ids for word, ids in found.items() if ids and word != NAMES["not_tested"]}


def _runs(report: ComparisonReport) -> Table:
    """What is known about each run, and the labels in which they differ."""

    def facts(run: ComparedRun | None, other: ComparedRun | None) -> dict[str, Cell]:
        if run is None:
            return {}
        git = GitState(commit=run.commit or "", branch=run.branch, dirty=run.dirty)
        own = dict(run.labels.items() - (other.labels.items() if other else set()))
        known = {
            "run": run_cell(run.id),
            "name": doc.names(run.name),
            "recorded": recorded(run.recorded_at),
            "commit": doc.names(code(git)),
            "tags": doc.names(", ".join(run.tags)),
            "labels": doc.names(", ".join(labels(own))),
        }
        return {name: cell for name, cell in known.items() if cell.text}

    before, after = facts(report.before, report.after), facts(report.after, report.before)
    return doc.table(
        after | before,
        {
            "": Cell,
            "before": lambda name: before.get(name, Cell(ABSENT)),
            "after": lambda name: after.get(name, Cell(ABSENT)),
        },
        title="Runs",
        remark=DIFFERED if any(run and run.dirty for run in (report.before, report.after)) else "",
        part="compared",
        name=None,
    )


def _metrics(report: ComparisonReport, shown: Mapping[str, str]) -> Section:
    """The metrics with a verdict, then the others; unchanged ones only by name."""
    judged = {id: one for id, one in report.compared.items() if one.verdict != "not_tested"}
    rows, unchanged = [], dict[str, list[str]]()
    for it in sorted(overall(report.compared), key=lambda it: it.metric not in judged):
        same = _is_same(it.compared)
        if it.metric not in judged and (same or it.compared.change is None):
            why = NO_DIFFERENCE if same else it.compared.reason or "nothing to compare"
            unchanged.setdefault(why, []).append(shown[it.metric])
        else:
            rows.append(it)
    tests = {one.method.partition(", ") for one in judged.values() if one.method}
    named = ", ".join(f"{test} ({how})" if how else test for test, _, how in sorted(tests))
    found = [
        f"{shown[id]} {value(one.detectable)}"
        for id, one in judged.items()
        if one.detectable is not None
    ]
    remarks = [
        doc.listed(named, correction_text(report.correction), sep="; ") if judged else "",
        f"{DETECTABLE}: {', '.join(found)}" if found else "",
        NOT_TESTED if len(judged) < len(report.compared) else "",
        *(f"{why}: {', '.join(names)}" for why, names in unchanged.items()),
    ]
    return Section(
        title="Metrics",
        remark="change from before to after, on the questions in both runs",
        blocks=[
            *([changes_of(report, rows, shown)] if rows else []),
            *(doc.Text(text, "dim") for text in remarks if text),
        ],
        part="metrics",
    )


def changes_of(
    report: ComparisonReport,
    given: Sequence[ComparedSlice],
    names: Mapping[str, str],
    **about: Any,
) -> Table:
    """Changes, drawn on one scale with 0 in the middle so that they can be compared."""
    slices = any(it.stratum for it in given)
    far = (abs(end) for it in given for end in (it.compared.change or 0, *(it.compared.ci or ())))
    reach = max([WIDEST, *far])
    # The intervals of slices hold for all slices at once, as far as p is corrected.
    joint = "joint " if slices and report.correction != "none" else ""

    def drawn(it: ComparedSlice) -> Cell:
        one = it.compared
        accepted = one.margin and (-one.margin if one.better == "higher" else one.margin)
        return doc.plot(doc.Range(one.change, one.ci, accepted, (-reach, reach)))

    def statistic(it: ComparedSlice) -> Cell:
        found = it.compared.statistic
        return doc.number(found, ABSENT if found is None else f"{found:.4g}", "dim")

    def p(it: ComparedSlice) -> Cell:
        found = it.compared.p if it.compared.verdict == "not_tested" else it.compared.p_adjusted
        return doc.number(found, p_value(found), "dim")

    def verdict(it: ComparedSlice) -> Cell:
        word = NAMES[it.compared.verdict]
        return Cell(word, ORDER.index(word), TONES.get(word, "dim"))

    def note(it: ComparedSlice) -> str:
        """What has no column: why there is no number, the margin, how many units would decide."""
        one, needed = it.compared, it.compared.needed or 0
        more = f"n = {count(needed)} would decide ({count(needed - one.n)} more)"
        never = f"it would take more than {count(NEVER)} to decide"
        return doc.listed(
            NO_DIFFERENCE if _is_same(one) else one.reason,
            one.verdict == "not_worse" and f"within the margin of {one.margin:g}",
            needed and (never if needed > NEVER else more),
            sep="; ",
        )

    columns: dict[str | Column, Callable[[ComparedSlice], Cell]] = {
        "value": lambda it: doc.names(it.value),
        "metric": lambda it: doc.names(
            names[it.metric], to=None if slices else ("metric", it.metric)
        ),
        Column("before", right=True, spare=5): lambda it: doc.number(it.compared.before),
        Column("after", right=True, spare=4): lambda it: doc.number(it.compared.after),
        Column("change", right=True): lambda it: doc.signed(
            it.compared.change, TONES.get(NAMES[it.compared.verdict], "")
        ),
        Column("", plot=True): drawn,
        Column(f"{joint}{100 * (1 - report.alpha):g} % interval", right=True, spare=1): (
            lambda it: doc.signed_interval(it.compared.ci)
        ),
        Column("statistic", right=True, spare=6): statistic,
        Column("p", right=True, spare=2): p,
        Column("n", right=True, spare=3): lambda it: doc.count(it.compared.n, "dim"),
        Column("verdict"): verdict,
    }
    found = doc.table(given, columns, note=None if slices else note, name=None, **about)
    return doc.without_empty_columns(found)


def _is_same(one: Compared) -> bool:
    """Whether units were compared and none differs."""
    return bool(one.n) and not one.differs and one.change is not None


def _slices(report: ComparisonReport, names: Mapping[str, str]) -> Iterator[Block]:
    """The strata in the order they were requested, each with its most certain differences first."""

    def by_certainty(cell: ComparedSlice) -> tuple[int, float, float, str, str]:
        one, rank = cell.compared, ORDER.index(NAMES[cell.compared.verdict])
        p = 1.0 if one.p_adjusted is None else one.p_adjusted
        return rank, p, -abs(one.change or 0.0), cell.value, cell.metric

    for stratum, grouped in groupby(report.slices, lambda one: one.stratum):
        cells = list(grouped)
        tested = [cell for cell in cells if cell.compared.method]
        moved = sorted((cell for cell in tested if cell.compared.change), key=by_certainty)
        values = {cell.value for cell in cells}
        few = len(values - {cell.value for cell in tested})
        changes = changes_of(
            report,
            moved[:SLICES_KEPT],
            names,
            shown=SLICES_SHOWN,
            total=len(tested),
            everything="they changed less or not at all, see --format json",
            below=False,
        )
        yield Section(
            title="By",
            about=stratum,
            remark=doc.listed(
                pluralize(len(values), "value"),
                few and f"{count(few)} with too few questions to test",
                "the most certain differences first" if moved else NO_DIFFERENCE,
                sep="; ",
            ),
            blocks=[changes] if moved else [],
            part="slices",
        )
    if report.slices:
        yield doc.Text(f"In slices, {_slices_text(report)}", "dim", part="slices")


def correction_text(correction: str) -> str:
    """How p and the intervals over all questions are corrected."""
    if correction == "none":
        return "p and intervals unadjusted"
    return f"p adjusted by {CORRECTIONS.get(correction, correction)}, intervals unadjusted"


def _slices_text(report: ComparisonReport) -> str:
    """How p and the intervals of slices are corrected: in different ways."""
    if report.correction == "none":
        return correction_text("none")
    return (
        f"p is adjusted by {CORRECTIONS[report.correction]} over all slices; the intervals are "
        "wider, to hold for all slices at once, so that one may hold 0 where p finds a "
        "difference: verdicts go by p"
    )


def flip_items(flips: Iterable[Flip], *, opened: int = 1) -> list[doc.Item]:
    """The questions with both answers next to each other, and marks where the answers differ."""
    differing = Differing()

    def card(time: str, side: Side, other: Side) -> doc.Card:
        cited = [(id, id not in other.cited) for id in side.cited]
        return doc.Card(
            [doc.Span(f"{time} "), *(doc.foreign(side.label) or [doc.Span(ABSENT)])],
            [
                ("said", doc.marked(differing(side.claim or "", other.claim or ""))),
                ("cited", doc.marked(cited, between=" ")),
                ("explained by", doc.foreign(side.why)),
            ],
        )

    return [
        doc.Item(
            name=flip.qid,
            badge=FLIPS[flip.way][0],
            about=flip.question or "",
            blocks=[doc.Cards([card("was", flip.was, flip.now), card("now", flip.now, flip.was)])],
            opened=place < opened,
            to=("question", flip.qid),
        )
        for place, flip in enumerate(flips)
    ]


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
