"""The report of `ragauge diagnose`: which scores are low, what causes it, and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from msgspec import structs

from ragauge.contracts.claims import AnswerAddress, ReferenceAddress
from ragauge.contracts.diagnosis import (
    Cause,
    DiagnosisReport,
    MetricDiagnosis,
    Sample,
)
from ragauge.diagnosis.words import words
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import (
    Bar,
    Block,
    Cell,
    Document,
    Facts,
    Item,
    Items,
    Only,
    Points,
    Row,
    Section,
    Span,
    Table,
    Text,
    Tone,
    names,
    theirs,
)
from ragauge.reports.foreign import cut
from ragauge.reports.formats import github, junit
from ragauge.reports.kinds.diagnosis_words import (
    LOW,
    answer_sums,
    counts_words,
    coverage_words,
    explains_words,
    held_against,
    is_graded,
    is_low,
    kept,
    lead,
    lead_of,
    limits_words,
    low_samples,
    missing_words,
    named,
    notes_of,
    part_words,
    reference_sums,
    replay_words,
    symptoms_of,
    texts_of,
    verdict_words,
    weight_words,
    worst,
)
from ragauge.reports.numbers import count
from ragauge.reports.words import Wording, wording

TONES: dict[str, Tone] = {
    "critical": "bad",
    "warning": "warm",
    "none": "good",
    "not_evaluable": "bad",
    "no_rule": "dim",
    "likely": "bad",
    "possible": "warm",
    "untested": "dim",
    "grounded": "good",
    "self_knowledge": "plain",
    "misled_by_relevant": "warm",
    "misled_by_noise": "warm",
    "invented": "bad",
    "said": "good",
    "unused": "warm",
    "retriever_missed": "bad",
}
"""Of severities, standings and addresses of claims."""
UNJUDGED = "unjudged"
BRIEF_CAUSES, BRIEF_METRICS = 2, 5
"""What a terminal shows unless `--full` is given."""
OPENED, CAUSES_SHOWN, SAMPLES_SHOWN, REPAIRED_SHOWN, CONTEXTS_SHOWN = 3, 50, 30, 10, 3
LONGEST, LONGEST_CONTEXT = 4_000, 120
"""Characters of a text on a page, and of a passage elsewhere; the JSON report has all of it."""
LEAST_P = 0.001
IN_SHORT = frozenset({"text", "markdown"})
"""Formats without room for what a page lets the reader open."""
CSV_COLUMNS = (
    *("metric", "severity", "id", "value", "symptoms", "causes", "question", "answer"),
    *("reference", "retrieved_ids", "contexts", "where"),
)
"""Named as in the JSON report, in either language: a program may read them."""


def document(report: DiagnosisReport) -> Document:
    say = wording(report.language)
    return _titled(report, list(_blocks(report, say)))


def brief(report: DiagnosisReport) -> Document:
    """What fits on a screen: the verdict, the top causes, the low metrics, and how to see more."""
    say = wording(report.language)
    found, ranked = lead(report), kept(report)
    likely = [one for one in ranked if one.standing == "likely"]
    first = likely[:BRIEF_CAUSES] or ([found.cause] if found.cause else [])
    also = [one.title for one in ranked if one.standing != "untested" and one not in first]
    causes = [block for one in first for block in _in_short(one, say)]
    if also and first:
        label = f"{say.diagnosis.also_possible}{say.signs.colon}"
        causes.append(Text([Span(label, "dim"), Span(say.told(also))]))
    blocks: list[Block] = [
        _verdict(report),
        Section(title=found.heading, blocks=causes or [Text(found.why)]),
    ]
    metrics = _metrics(report, say)
    severe = [row for row in metrics.rows if row.cells[1].value in (*LOW, "not_evaluable")]
    if severe:
        blocks.append(
            structs.replace(
                metrics, rows=severe, shown=BRIEF_METRICS, everything="--full", below=False
            )
        )
    findings = say.listed(f"{code} {count(n)}" for code, n in sorted(report.finding_counts.items()))
    found_words = f"{say.findings.lower()}{say.signs.colon}{findings}" if findings else ""
    blocks.append(doc.Coverage(say.told((coverage_words(report), found_words))))
    more = say.diagnosis.see_full.format(told=_left_out(report, say))
    return _titled(report, [*blocks, doc.Steps([more, say.diagnosis.see_page])])


def _left_out(report: DiagnosisReport, say: Wording) -> str:
    """What there is besides: `metrics 21, causes 4, ruled out 11`."""
    heads, standings = say.diagnosis.heads, Counter(one.standing for one in report.causes)
    there = {
        heads.metrics: len(report.diagnoses),
        heads.causes: standings["likely"] + standings["possible"],
        heads.untested: standings["untested"],
        heads.ruled_out: standings["struck_out"],
        heads.worst: len(low_samples(report)),
    }
    return say.listed(f"{name.lower()} {count(n)}" for name, n in there.items() if n)


def _titled(report: DiagnosisReport, blocks: Sequence[Block]) -> Document:
    say = wording(report.language)
    kind, word = say.diagnosis.kind, verdict_words(report)[0]
    return Document(kind, blocks, report.language, f"Ragauge {kind}{say.signs.colon}{word}")


def table(report: DiagnosisReport) -> tuple[tuple[str, ...], Iterator[list[object]]]:
    """One row a sample and metric."""
    return CSV_COLUMNS, (
        [
            one.metric,
            one.severity,
            sample.id,
            sample.value,
            sample.symptoms,
            tuple(cause.id for cause in report.causes if sample.id in cause.samples),
            sample.question,
            sample.answer,
            sample.reference,
            sample.retrieved_ids,
            "\n".join(f"{context.id}: {context.text}" for context in sample.contexts or ()) or None,
            sample.where,
        ]
        for one, sample in worst(report)
    )


def cases(report: DiagnosisReport) -> Iterator[junit.Suite]:
    """A suite of gates, one of metrics, and one of the worst samples.

    The verdict decides: in a diagnosis that passed, nothing turns CI red.
    """
    say = wording(report.language)
    yield junit.gate_suite(report.gates)
    yield junit.Suite(
        "metrics", [junit.Case(one.metric, _problem(report, one, say)) for one in report.diagnoses]
    )
    yield junit.Suite(
        "samples",
        [
            junit.Case(
                sample.id,
                junit.Problem(
                    "skipped" if report.passed else "failure",
                    say.told(
                        (f"{one.metric} {numbers.value(sample.value)}", symptoms_of(sample, report))
                    ),
                    "sample",
                    (
                        *junit.facts(
                            dict(texts_of(sample, say))
                            | {say.diagnosis.retrieved: " ".join(sample.retrieved_ids or ())}
                        ),
                        *(f"{found.id}: {found.text}" for found in sample.contexts or ()),
                        *junit.facts({say.diagnosis.heads.where: sample.where}),
                    ),
                ),
                one.metric,
            )
            for one, sample in worst(report)
        ],
    )


def _problem(report: DiagnosisReport, one: MetricDiagnosis, say: Wording) -> junit.Problem | None:
    if one.severity == "none":
        return None
    standings = words(report.language).standing
    lines = []
    for number, cause in enumerate(kept(report), 1):
        if cause.id in one.causes:
            title = f"{cause.title}{say.beside(standings[cause.standing])}"
            do = [action.do for action in cause.actions[:1]]
            lines.append(f"{number}. {say.told((title, *do))}")
    value = "" if one.value is None else f"{say.signs.colon}{held_against(one)}"
    word = f"{say.diagnosis.severities[one.severity]}{value}"
    return junit.Problem(
        "skipped"
        if report.passed or one.severity == "no_rule"
        else "error"
        if one.severity == "not_evaluable"
        else "failure",
        say.told((word, counts_words(report, one, say), *notes_of(one, say))),
        one.severity,
        tuple(lines),
    )


def notes(report: DiagnosisReport) -> Iterator[github.Notes]:
    """The verdict, the likeliest cause, the metrics that are not fine, the worst samples."""
    say, (word, why), found = wording(report.language), verdict_words(report), lead(report)
    title, colon = f"Ragauge {say.diagnosis.kind}", say.signs.colon
    more = say.more.format(n="{rest}")
    said = [f"{found.heading}{colon}{found.cause.title if found.cause else found.why}"]
    if found.cause:
        said.append(found.evidence)
        said.append(f"{found.turn}{colon}{found.step}" if found.step else "")
    yield github.Notes(
        [github.Note("notice", why, f"{title} {word}"), github.Note("notice", said, title)]
    )
    yield github.Notes(
        [
            github.Note(
                "warning" if report.passed else "error",
                say.told(
                    (
                        "" if one.value is None else held_against(one),
                        counts_words(report, one, say),
                        *notes_of(one, say),
                    )
                ),
                f"{say.diagnosis.severities[one.severity]} {one.metric}",
            )
            for one in report.diagnoses
            if one.severity not in ("none", "no_rule")
        ],
        "metric",
        more=more,
    )
    yield github.Notes(
        [
            github.Note(
                "warning",
                [
                    symptoms_of(sample, report),
                    *(f"{label}{colon}{github.cut(text)}" for label, text in texts_of(sample, say)),
                ]
                if sample.symptoms or texts_of(sample, say)
                else numbers.value(sample.value),
                f"{one.metric} {numbers.value(sample.value)} {sample.id}",
                sample.where,
            )
            for one, sample in worst(report)
        ],
        "sample",
        more=more,
    )


def _blocks(report: DiagnosisReport, say: Wording) -> Iterator[Block]:
    own = say.diagnosis
    heads, found = own.heads, lead(report)
    yield _verdict(report)
    yield Section(
        title=found.heading,
        blocks=_in_short(found.cause, say, kept(report).index(found.cause) + 1)
        if found.cause
        else [Text(found.why)],
        part="lead",
    )
    if report.diagnoses:
        yield _metrics(report, say)
    yield from _causes(report, say)

    def or_none(found: list[Block], title: str, none: str, part: str) -> list[Block]:
        """A part; where it is empty and something is low, that it is empty."""
        empty = Section(title=title, blocks=[Text(none, "dim")], part=part)
        return found or ([empty] if is_low(report) else [])

    yield from or_none(_slices(report, say), heads.slices, own.no_slice, "slices")
    yield from or_none(_symptoms(report, say), heads.symptoms, own.no_symptom, "symptoms")
    yield from or_none(_addresses(report, say), heads.addresses, own.no_addresses, "addresses")
    yield from or_none(_replay(report, say), heads.replay, own.no_replay, "replay")
    yield from or_none(_samples(report, say), heads.worst, own.no_worst, "worst")
    yield from doc.gates(
        report.gates,
        report.metrics,
        {gate.metric: gate.metric for gate in report.gates},
        remark=heads.gates_about,
        language=report.language,
    )
    diagnosed = {one.metric for one in report.diagnoses}
    others = {id: score for id, score in sorted(report.metrics.items()) if id not in diagnosed}
    if others:
        yield doc.scores(
            others, {id: id for id in others}, title=say.other_metrics, language=report.language
        )
    yield Section(
        title=heads.unknown,
        blocks=[Points(report.unknown)] if report.unknown else [Text(own.no_unknown, "dim")],
        part="unknown",
    )
    yield doc.findings(report)
    yield doc.Coverage(coverage_words(report), report.identity)


def _verdict(report: DiagnosisReport) -> doc.Verdict:
    return doc.Verdict(*verdict_words(report), tone="good" if report.passed else "bad")


def _in_short(cause: Cause, say: Wording, number: int | None = None) -> list[Block]:
    """A cause with its best evidence and the first thing to change."""
    found = lead_of(cause, say)
    to: doc.Target | None = None if number is None else ("here", f"cause-{number}")
    return [
        Text([Span(cause.title, "strong", to=to)]),
        Facts([("", found.evidence), (found.turn, found.step)]),
    ]


def _metrics(report: DiagnosisReport, say: Wording) -> Table:
    own, heads = say.diagnosis, say.diagnosis.heads
    places = {cause.id: str(number) for number, cause in enumerate(kept(report), 1)}

    def row(one: MetricDiagnosis) -> Row:
        score = report.metrics.get(one.metric)
        ci, limits, low = score.ci if score else None, one.limits, one.severity in LOW
        return Row(
            (
                names(one.metric, "strong" if low else "", ("metric", one.metric)),
                Cell(
                    own.severities[one.severity],
                    one.severity,
                    TONES[one.severity],
                    badge=one.severity,
                ),
                Cell(held_against(one), one.value),
                doc.plot(doc.Range(one.value, ci, limits.warning if limits else None)),
                Cell(limits_words(limits), tone="dim"),
                Cell(say.n_of(one.n, one.of), one.n, "dim"),
                Cell(part_words(one.beyond_warning, one.n) if limits else "", one.beyond_warning),
                Cell(
                    part_words(one.beyond_critical, one.n) if is_graded(one) else "",
                    one.beyond_critical,
                ),
                doc.interval(ci),
                names(say.listed(places.get(id, id) for id in one.causes)),
            ),
            say.told(notes_of(one, say)),
            strong=low,
        )

    causes = heads.causes.lower()
    made = Table(
        title=heads.metrics,
        part="diagnosed",
        columns=doc.columns(
            *(say.metric, heads.severity, say.value, "plot", heads.limits, heads.valid),
            *(heads.beyond_warning, heads.beyond_critical, say.interval_95, causes),
            right=(heads.valid, heads.beyond_warning, heads.beyond_critical),
            plots=("plot",),
            spare=(
                *(causes, say.interval_95, heads.beyond_critical, heads.valid),
                *(heads.beyond_warning, heads.limits),
            ),
        ),
        rows=[row(one) for one in report.diagnoses],
    )
    return doc.filled(made)


def _causes(report: DiagnosisReport, say: Wording) -> Iterator[Block]:
    heads, standings = say.diagnosis.heads, words(report.language).standing
    anchors: dict[str, doc.Target] = {
        id: ("here", f"sample-{number}") for number, id in enumerate(low_samples(report), 1)
    }

    def item(number: int, one: Cause) -> Item:
        return Item(
            name=str(number),
            badge=(one.standing, standings[one.standing], TONES[one.standing]),
            about=one.title,
            aside=explains_words(one, say),
            blocks=[Facts(list(_cause_facts(one, anchors, say)))],
            opened=number <= OPENED and one.standing != "untested",
            anchor=f"cause-{number}",
        )

    numbered = list(enumerate(kept(report), 1))
    tested = [item(n, one) for n, one in numbered if one.standing != "untested"]
    untested = [(n, one) for n, one in numbered if one.standing == "untested"]
    ruled_out = [(n, one) for n, one in enumerate(report.causes) if one.standing == "struck_out"]
    if tested:
        yield Items(
            title=heads.causes,
            remark=heads.causes_about,
            items=tested,
            shown=CAUSES_SHOWN,
            part="causes",
        )
    if untested:
        title, about = heads.untested, heads.untested_about
        items = [item(n, one) for n, one in untested]
        yield doc.on_pages(
            Items(title=title, remark=about, items=items, part="causes"), part="untested"
        )
        reasons = [
            [
                Span(say.told(f"{n}. {one.title}" for n, one in alike)),
                Span(f"{say.signs.colon}{why}", "dim"),
            ]
            for why, alike in _by_why(untested).items()
        ]
        section = Section(title=title, remark=about, blocks=[Points(reasons)])
        yield Only(IN_SHORT, [section], "untested")
    if ruled_out:
        groups = sorted(_by_why(ruled_out).items(), key=lambda group: len(group[1]))
        reasons = [
            [
                Span(f"{why}{say.signs.colon}" if why else "", "dim"),
                Span(say.told(one.title for _, one in alike)),
            ]
            for why, alike in groups
        ]
        yield Section(
            title=heads.ruled_out,
            remark=say.told((count(len(ruled_out)), heads.ruled_out_about)),
            blocks=[Points(reasons, "×")],
            part="ruled-out",
        )


def _by_why(found: Sequence[tuple[int, Cause]]) -> dict[str, list[tuple[int, Cause]]]:
    """The causes that share a reason, with it."""
    groups: dict[str, list[tuple[int, Cause]]] = {}
    for number, one in found:
        groups.setdefault(one.why or "", []).append((number, one))
    return groups


def _cause_facts(
    one: Cause, anchors: Mapping[str, doc.Target], say: Wording
) -> Iterator[tuple[str, doc.Words]]:
    own = say.diagnosis
    yield own.means, one.means
    for speaks, label in (("for", own.supports), ("against", own.contradicts)):
        for found in one.evidence:
            if found.speaks == speaks:
                yield label, [Span(found.text), Span(say.beside(weight_words(found, say)), "dim")]
    yield own.why, one.why or ""
    yield say.confirm, one.confirm
    for action in one.actions:
        knob = [Span(action.knob or "", "strong", foreign=True), Span(say.signs.colon)]
        price = (
            own.costs.format(told=action.costs.rstrip(".。")) if action.costs else "",
            own.worsens.format(told=action.worsens.rstrip(".。")) if action.worsens else "",
        )
        do, costs = Span(action.do), Span(say.beside(say.told(price)), "dim")
        yield say.change, [*(knob if action.knob else []), do, costs]
    yield (
        say.see,
        _listed(
            (Span(id, foreign=True, to=anchors.get(id, ("question", id))) for id in one.samples),
            say,
        ),
    )
    yield own.heads.metrics, _listed((Span(name, foreign=True) for name in one.metrics), say)
    yield own.heads.id, theirs(one.id)


def _listed(given: Iterator[Span], say: Wording) -> list[Span]:
    return [piece for span in given for piece in (span, Span(say.signs.comma))][:-1]


def _slices(report: DiagnosisReport, say: Wording) -> list[Block]:
    heads, called = say.diagnosis.heads, words(report.language).slices
    if not report.slices:
        return []
    return [
        Table(
            title=heads.slices,
            part="slices",
            columns=doc.columns(
                *(heads.slice, say.metric, heads.samples, heads.beyond, say.value),
                *(heads.elsewhere, heads.corrected_p),
                right=(
                    *(heads.samples, heads.beyond, say.value),
                    *(heads.elsewhere, heads.corrected_p),
                ),
                spare=(heads.corrected_p, heads.samples, say.metric, heads.elsewhere),
            ),
            rows=doc.rows(
                (
                    (
                        names(called.conditions(dict(sorted(one.conditions.items()))), "strong"),
                        names(one.metric),
                        doc.count(one.n),
                        Cell(say.n_of(one.beyond, one.beyond_all), one.beyond),
                        doc.number(one.value),
                        doc.number(one.elsewhere),
                        doc.number(one.p, f"< {LEAST_P}" if one.p < LEAST_P else None),
                    )
                    for one in report.slices
                ),
                (one.text for one in report.slices),
            ),
        )
    ]


def _symptoms(report: DiagnosisReport, say: Wording) -> list[Block]:
    """The most frequent first; a sample may show several."""
    called, heads = words(report.language).symptoms, say.diagnosis.heads
    ranked = sorted(report.symptoms.items(), key=lambda pair: (-pair[1], pair[0]))
    if not any(report.symptoms.values()):
        return []
    return [
        Table(
            title=heads.symptoms,
            remark=heads.symptoms_about,
            part="symptoms",
            columns=doc.columns(
                heads.symptom, heads.samples, "plot", right=(heads.samples,), plots=("plot",)
            ),
            rows=doc.rows(
                (
                    Cell(named(called, name), name, foreign=name not in called),
                    doc.count(times),
                    doc.plot(Bar(times / ranked[0][1], "bad")),
                )
                for name, times in ranked
                if times
            ),
        )
    ]


def _addresses(report: DiagnosisReport, say: Wording) -> list[Block]:
    """The claims of answers and of references by where they come from or were lost."""
    found, own = report.addresses, say.diagnosis
    if found is None:
        return []
    blocks: list[Block] = []
    heads = own.heads
    answers = (found.answer, get_args(AnswerAddress), answer_sums(found.answer, say))
    references = (found.reference, get_args(ReferenceAddress), reference_sums(found.reference, say))
    for title, (counts, order, sums), none in (
        (heads.of_answers, answers, own.no_answer_claims),
        (heads.of_references, references, own.no_reference_claims),
    ):
        known = (*order, UNJUDGED)
        blocks.append(Text([Span(title, "strong")]))
        bars = [
            (
                name if name in known else UNJUDGED,
                named(own.addresses, name),
                counts[name],
                TONES.get(name, "dim"),
            )
            for name in (*known, *sorted(set(counts) - set(known)))
            if counts.get(name)
        ]
        if bars:
            blocks.append(doc.Bars(title="", heads=(heads.where, heads.claims), bars=bars))
        blocks.append(Facts([("", line) for line in (sums if bars else [none])]))
    of = say.counted(found.samples, own.samples)
    judged = own.judged_by.format(of=of, source=found.source)
    return [Section(title=heads.addresses, remark=judged, blocks=blocks, part="addresses")]


def _replay(report: DiagnosisReport, say: Wording) -> list[Block]:
    replay, heads, own = report.replay, say.diagnosis.heads, say.diagnosis
    if replay is None:
        return []
    called = words(report.language).interventions
    blocks: list[Block] = [Text([Span(replay_words(replay, say))])]
    if replay.interventions:
        counted = (heads.asked, heads.effective, heads.repaired, heads.failed, heads.impossible)
        blocks.append(
            Table(
                columns=doc.columns(
                    *(heads.intervention, *counted[:3], "plot", *counted[3:]),
                    right=counted,
                    plots=("plot",),
                    spare=(heads.impossible, heads.failed, heads.effective),
                ),
                rows=[
                    Row(
                        (
                            Cell(called[one.name].label),
                            doc.count(one.asked),
                            doc.count(one.effective),
                            doc.count(one.repaired),
                            doc.plot(Bar(one.repaired / one.asked, "good") if one.asked else None),
                            doc.count(one.failed, "dim"),
                            doc.count(one.impossible, "dim"),
                        ),
                        say.told(
                            (
                                own.not_made.format(told=one.reason) if one.reason else "",
                                own.shown_in.format(told=" ".join(one.samples))
                                if one.samples
                                else "",
                                called[one.name].repaired if one.samples else "",
                            )
                        ),
                    )
                    for one in replay.interventions
                ],
            )
        )
    if replay.repaired_by:
        labels = {name: one.label for name, one in called.items()}
        blocks.append(
            Table(
                title=heads.repaired_by.capitalize(),
                columns=doc.columns(heads.sample, heads.repaired_by),
                rows=doc.rows(
                    (
                        names(id, "strong", ("question", id)),
                        Cell(say.listed(named(labels, one) for one in by)),
                    )
                    for id, by in sorted(replay.repaired_by.items())
                ),
                shown=REPAIRED_SHOWN,
            )
        )
    return [Section(title=heads.replay, blocks=blocks, part="replay")]


def _samples(report: DiagnosisReport, say: Wording) -> list[Block]:
    own, low = say.diagnosis, low_samples(report)
    if not low:
        return []
    return [
        Items(
            title=own.heads.worst,
            remark=own.heads.worst_about,
            items=[
                Item(
                    name=sample.id,
                    badge=("critical", numbers.value(sample.value), "bad"),
                    about=cut(sample.question or "", LONGEST),
                    blocks=list(_sample(report, sample, values, say)),
                    to=("question", sample.id),
                    anchor=f"sample-{number}",
                )
                for number, (sample, values) in enumerate(low.values(), 1)
            ],
            shown=SAMPLES_SHOWN,
            folded=True,
            part="worst",
        )
    ]


def _sample(
    report: DiagnosisReport, sample: Sample, values: Mapping[str, float], say: Wording
) -> Iterator[Block]:
    own = say.diagnosis
    low = [f"{metric} {numbers.value(value)}" for metric, value in values.items()]
    contexts = [(found.id, found.text) for found in sample.contexts or ()]
    yield Facts(
        [
            (own.heads.metrics.lower(), theirs(say.listed(low))),
            (own.heads.symptom, symptoms_of(sample, report)),
            *(
                (label, theirs(cut(text, LONGEST)))
                for label, text in texts_of(sample, say)
                if label != own.question
            ),
            (own.retrieved, theirs(" ".join(sample.retrieved_ids or ()))),
            (say.note, missing_words(sample, say)),
            (own.heads.where, theirs(sample.where)),
        ]
    )
    if contexts:
        left = len(contexts) - CONTEXTS_SHOWN
        shown = [_context(id, cut(text, LONGEST_CONTEXT)) for id, text in contexts[:CONTEXTS_SHOWN]]
        more = [say.counted(left, own.more_contexts)] if left > 0 else []
        yield Only(IN_SHORT, [Points([*shown, *more], "·")])
        yield doc.on_pages(
            Items(
                items=[
                    Item(
                        name=say.counted(len(contexts), own.contexts),
                        blocks=[
                            Points([_context(id, cut(text, LONGEST)) for id, text in contexts])
                        ],
                    )
                ]
            )
        )


def _context(id: str, text: str) -> list[Span]:
    return [Span(id, "strong", foreign=True), Span("  "), Span(text, foreign=True)]
