"""The report of `ragauge diagnose`: which scores are low, what causes it, and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from msgspec import structs

from ragauge.contracts.claims import AnswerAddress, ReferenceAddress
from ragauge.contracts.diagnosis import Cause, DiagnosisReport, MetricDiagnosis, Sample
from ragauge.diagnosis.words import words
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Cell, Column, Document, Facts, Section, Span, Text
from ragauge.reports.foreign import cut
from ragauge.reports.formats import github, junit
from ragauge.reports.kinds import diagnosis_words as phrases
from ragauge.reports.kinds.diagnosis_words import LOW, kept, lead, low_samples, named, worst
from ragauge.reports.numbers import count
from ragauge.reports.words import Wording, wording

_NAMES_BY_TONE: dict[doc.Tone, str] = {
    "good": "none grounded said",
    "warm": "warning possible misled_by_relevant misled_by_noise unused",
    "bad": "critical not_evaluable likely invented retriever_missed",
    "dim": "no_rule untested",
    "plain": "self_knowledge",
}
TONES = {name: tone for tone, those in _NAMES_BY_TONE.items() for name in those.split()}
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
    return _titled(report, list(_blocks(report, wording(report.language))))


def brief(report: DiagnosisReport) -> Document:
    """What fits on a screen: the verdict, the top causes, the low metrics, and how to see more."""
    say = wording(report.language)
    found, ranked, heads = lead(report), kept(report), say.diagnosis.heads
    likely = [one for one in ranked if one.standing == "likely"]
    first = likely[:BRIEF_CAUSES] or ([found.cause] if found.cause else [])
    also = [one.title for one in ranked if one.standing != "untested" and one not in first]
    causes = [block for one in first for block in _in_short(one, say)] or [Text(found.why)]
    if also and first:
        label = f"{say.diagnosis.also_possible}{say.signs.colon}"
        causes.append(Text([Span(label, "dim"), Span(say.told(also))]))
    blocks: list[Block] = [_verdict(report), Section(title=found.heading, blocks=causes)]
    metrics = _metrics(report, say)
    severe = [row for row in metrics.rows if row.cells[1].value in (*LOW, "not_evaluable")]
    if severe:
        low = {"rows": severe, "shown": BRIEF_METRICS, "everything": "--full", "below": False}
        blocks.append(structs.replace(metrics, **low))
    findings = say.listed(f"{code} {count(n)}" for code, n in sorted(report.finding_counts.items()))
    found_words = f"{say.findings.lower()}{say.signs.colon}{findings}" if findings else ""
    blocks.append(doc.Coverage(say.told((phrases.coverage_words(report), found_words))))
    standings = Counter(one.standing for one in report.causes)
    there = {
        heads.metrics: len(report.diagnoses),
        heads.causes: standings["likely"] + standings["possible"],
        heads.untested: standings["untested"],
        heads.ruled_out: standings["struck_out"],
        heads.worst: len(low_samples(report)),
    }
    left_out = say.listed(f"{name.lower()} {count(n)}" for name, n in there.items() if n)
    more = say.diagnosis.see_full.format(told=left_out)
    return _titled(report, [*blocks, doc.Steps([more, say.diagnosis.see_page])])


def _titled(report: DiagnosisReport, blocks: Sequence[Block]) -> Document:
    say = wording(report.language)
    kind, word = say.diagnosis.kind, phrases.verdict_words(report)[0]
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

    def low(one: MetricDiagnosis, sample: Sample) -> junit.Case:
        value = f"{one.metric} {numbers.value(sample.value)}"
        texts = dict(phrases.texts_of(sample, say))
        problem = junit.Problem(
            "skipped" if report.passed else "failure",
            say.told((value, phrases.symptoms_of(sample, report))),
            "sample",
            (
                *junit.facts(
                    texts | {say.diagnosis.retrieved: " ".join(sample.retrieved_ids or ())}
                ),
                *(f"{found.id}: {found.text}" for found in sample.contexts or ()),
                *junit.facts({say.diagnosis.heads.where: sample.where}),
            ),
        )
        return junit.Case(sample.id, problem, one.metric)

    yield junit.Suite("samples", [low(one, sample) for one, sample in worst(report)])


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
    severity = say.diagnosis.severities[one.severity]
    value = f"{severity}{say.signs.colon}{phrases.held_against(one)}"
    told = _about(report, one, severity if one.value is None else value, say)
    kind: Literal["failure", "error", "skipped"] = "failure"
    if report.passed or one.severity == "no_rule":
        kind = "skipped"
    elif one.severity == "not_evaluable":
        kind = "error"
    return junit.Problem(kind, told, one.severity, tuple(lines))


def _about(report: DiagnosisReport, one: MetricDiagnosis, value: str, say: Wording) -> str:
    """The value of a metric, how many samples are beyond its limits, and what else to know."""
    counts = phrases.counts_words(report, one, say)
    return say.told((value, counts, *phrases.notes_of(one, say)))


def notes(report: DiagnosisReport) -> Iterator[github.Notes]:
    """The verdict, the likeliest cause, the metrics that are not fine, the worst samples."""
    say, (word, why), found = wording(report.language), phrases.verdict_words(report), lead(report)
    title, colon = f"Ragauge {say.diagnosis.kind}", say.signs.colon
    more = say.more.format(n="{rest}")
    said = [f"{found.heading}{colon}{found.cause.title if found.cause else found.why}"]
    if found.cause:
        said.append(found.evidence)
        said.append(f"{found.turn}{colon}{found.step}" if found.step else "")
    yield github.Notes(
        [github.Note("notice", why, f"{title} {word}"), github.Note("notice", said, title)]
    )

    def metric(one: MetricDiagnosis) -> github.Note:
        value = "" if one.value is None else phrases.held_against(one)
        return github.Note(
            "warning" if report.passed else "error",
            _about(report, one, value, say),
            f"{say.diagnosis.severities[one.severity]} {one.metric}",
        )

    def low(one: MetricDiagnosis, sample: Sample) -> github.Note:
        value, texts = numbers.value(sample.value), phrases.texts_of(sample, say)
        said = [f"{label}{colon}{github.cut(text)}" for label, text in texts]
        if sample.symptoms or texts:
            said.insert(0, phrases.symptoms_of(sample, report))
        title = f"{one.metric} {value} {sample.id}"
        return github.Note("warning", said or value, title, sample.where)

    unfine = [one for one in report.diagnoses if one.severity not in ("none", "no_rule")]
    yield github.Notes([metric(one) for one in unfine], "metric", more=more)
    yield github.Notes([low(one, sample) for one, sample in worst(report)], "sample", more=more)


def _blocks(report: DiagnosisReport, say: Wording) -> Iterator[Block]:
    own, heads, found = say.diagnosis, say.diagnosis.heads, lead(report)
    yield _verdict(report)
    first = _in_short(found.cause, say, ("here", "cause-1")) if found.cause else [Text(found.why)]
    yield Section(title=found.heading, blocks=first, part="lead")
    if report.diagnoses:
        yield _metrics(report, say)
    yield from _causes(report, say)
    for make, title, none, part in (
        (_slices, heads.slices, own.no_slice, "slices"),
        (_symptoms, heads.symptoms, own.no_symptom, "symptoms"),
        (_addresses, heads.addresses, own.no_addresses, "addresses"),
        (_replay, heads.replay, own.no_replay, "replay"),
        (_samples, heads.worst, own.no_worst, "worst"),
    ):
        made = make(report, say)
        if made:
            yield made
        elif phrases.is_low(report):
            yield Section(title=title, blocks=[Text(none, "dim")], part=part)
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
        blocks=[doc.Points(report.unknown)] if report.unknown else [Text(own.no_unknown, "dim")],
        part="unknown",
    )
    yield doc.findings(report)
    yield doc.Coverage(phrases.coverage_words(report), report.identity)


def _verdict(report: DiagnosisReport) -> doc.Verdict:
    return doc.Verdict(*phrases.verdict_words(report), tone="good" if report.passed else "bad")


def _in_short(cause: Cause, say: Wording, to: doc.Target | None = None) -> list[Block]:
    """A cause with its best evidence and the first thing to change."""
    found = phrases.lead_of(cause, say)
    return [
        Text([Span(cause.title, "strong", to=to)]),
        Facts([("", found.evidence), (found.turn, found.step)]),
    ]


def _metrics(report: DiagnosisReport, say: Wording) -> doc.Table:
    own, heads = say.diagnosis, say.diagnosis.heads
    places = {cause.id: str(number) for number, cause in enumerate(kept(report), 1)}

    def is_low(one: MetricDiagnosis) -> bool:
        return one.severity in LOW

    def ci(one: MetricDiagnosis) -> tuple[float, float] | None:
        score = report.metrics.get(one.metric)
        return score.ci if score else None

    def beyond(times: int, one: MetricDiagnosis, judged: bool) -> Cell:
        """`18 (47.4 %)`; nothing for none."""
        return Cell(
            f"{count(times)} ({numbers.share(times, one.n)})" * (judged and times > 0), times
        )

    made = doc.table(
        report.diagnoses,
        {
            say.metric: lambda one: doc.names(
                one.metric, "strong" if is_low(one) else "", ("metric", one.metric)
            ),
            heads.severity: lambda one: Cell(
                own.severities[one.severity], one.severity, TONES[one.severity], badge=one.severity
            ),
            Column(say.value): lambda one: Cell(phrases.held_against(one), one.value),
            Column("", plot=True): lambda one: doc.plot(
                doc.Range(one.value, ci(one), one.limits.warning if one.limits else None)
            ),
            Column(heads.limits, spare=1): lambda one: Cell(
                phrases.limits_words(one.limits), tone="dim"
            ),
            Column(heads.valid, True, spare=3): lambda one: Cell(
                say.n_of(one.n, one.of), one.n, "dim"
            ),
            Column(heads.beyond_warning, True, spare=2): lambda one: beyond(
                one.beyond_warning, one, one.limits is not None
            ),
            Column(heads.beyond_critical, True, spare=4): lambda one: beyond(
                one.beyond_critical, one, phrases.is_graded(one)
            ),
            Column(say.interval_95, spare=5): lambda one: doc.interval(ci(one)),
            Column(heads.causes.lower(), spare=6): lambda one: doc.names(
                say.listed(places.get(id, id) for id in one.causes)
            ),
        },
        note=lambda one: say.told(phrases.notes_of(one, say)),
        strong=is_low,
        title=heads.metrics,
        part="diagnosed",
    )
    return doc.filled(made)


def _causes(report: DiagnosisReport, say: Wording) -> Iterator[Block]:
    heads, standings = say.diagnosis.heads, words(report.language).standing
    anchors: dict[str, doc.Target] = {
        id: ("here", f"sample-{number}") for number, id in enumerate(low_samples(report), 1)
    }
    tested: list[doc.Item] = []
    untested: list[doc.Item] = []
    numbered = {one.id: f"{number}. {one.title}" for number, one in enumerate(kept(report), 1)}
    for number, one in enumerate(kept(report), 1):
        item = doc.Item(
            name=str(number),
            badge=(one.standing, standings[one.standing], TONES[one.standing]),
            about=one.title,
            aside=phrases.explains_words(one, say),
            blocks=[Facts(list(_cause_facts(one, anchors, say)))],
            opened=number <= OPENED and one.standing != "untested",
            anchor=f"cause-{number}",
        )
        (untested if one.standing == "untested" else tested).append(item)
    if tested:
        title, about = heads.causes, heads.causes_about
        yield doc.Items(title=title, remark=about, items=tested, shown=CAUSES_SHOWN, part="causes")
    if untested:
        title, about = heads.untested, heads.untested_about
        items = doc.Items(title=title, remark=about, items=untested, part="causes")
        yield doc.on_pages(items, part="untested")
        reasons = [
            [Span(say.told(titles)), Span(f"{say.signs.colon}{why}", "dim")]
            for why, titles in _by_why(report, "untested", lambda one: numbered[one.id]).items()
        ]
        section = Section(title=title, remark=about, blocks=[doc.Points(reasons)])
        yield doc.Only(IN_SHORT, [section], part="untested")
    ruled_out = _by_why(report, "struck_out", lambda one: one.title)
    if ruled_out:
        reasons = [
            [Span(f"{why}{say.signs.colon}" if why else "", "dim"), Span(say.told(titles))]
            for why, titles in sorted(ruled_out.items(), key=lambda group: len(group[1]))
        ]
        n = count(sum(map(len, ruled_out.values())))
        yield Section(
            title=heads.ruled_out,
            remark=say.told((n, heads.ruled_out_about)),
            blocks=[doc.Points(reasons, "×")],
            part="ruled-out",
        )


def _by_why(
    report: DiagnosisReport, standing: str, called: Callable[[Cause], str]
) -> dict[str, list[str]]:
    """What the causes of a standing are called, by the reason that they share."""
    groups: dict[str, list[str]] = {}
    for one in report.causes:
        if one.standing == standing:
            groups.setdefault(one.why or "", []).append(called(one))
    return groups


def _cause_facts(
    one: Cause, anchors: Mapping[str, doc.Target], say: Wording
) -> Iterator[tuple[str, doc.Words]]:
    own = say.diagnosis

    def listed(given: Iterable[Span]) -> list[Span]:
        return [piece for span in given for piece in (span, Span(say.signs.comma))][:-1]

    yield own.means, one.means
    for speaks, label in (("for", own.supports), ("against", own.contradicts)):
        for found in one.evidence:
            if found.speaks == speaks:
                weight = say.beside(phrases.weight_words(found, say))
                yield label, [Span(found.text), Span(weight, "dim")]
    yield own.why, one.why or ""
    yield say.confirm, one.confirm
    for action in one.actions:
        knob = [Span(action.knob or "", "strong", foreign=True), Span(say.signs.colon)]
        price = (
            say.filled(own.costs, (action.costs or "").rstrip(".。")),
            say.filled(own.worsens, (action.worsens or "").rstrip(".。")),
        )
        do, costs = Span(action.do), Span(say.beside(say.told(price)), "dim")
        yield say.change, [*(knob if action.knob else []), do, costs]
    linked = {id: anchors.get(id, ("question", id)) for id in one.samples}
    yield say.see, listed(Span(id, foreign=True, to=to) for id, to in linked.items())
    yield own.heads.metrics, listed(Span(name, foreign=True) for name in one.metrics)
    yield own.heads.id, doc.theirs(one.id)


def _slices(report: DiagnosisReport, say: Wording) -> Block | None:
    heads, called = say.diagnosis.heads, words(report.language).slices
    if not report.slices:
        return None
    return doc.table(
        report.slices,
        {
            heads.slice: lambda one: doc.names(
                called.conditions(dict(sorted(one.conditions.items()))), "strong"
            ),
            Column(say.metric, spare=2): lambda one: doc.names(one.metric),
            Column(heads.samples, True, spare=3): lambda one: doc.count(one.n),
            heads.beyond: lambda one: Cell(say.n_of(one.beyond, one.beyond_all), one.beyond),
            say.value: lambda one: doc.number(one.value),
            Column(heads.elsewhere, True, spare=1): lambda one: doc.number(one.elsewhere),
            Column(heads.corrected_p, True, spare=4): lambda one: doc.number(
                one.p, f"< {LEAST_P}" if one.p < LEAST_P else None
            ),
        },
        note=lambda one: one.text,
        title=heads.slices,
        part="slices",
    )


def _symptoms(report: DiagnosisReport, say: Wording) -> Block | None:
    """The most frequent first; a sample may show several."""
    called, heads = words(report.language).symptoms, say.diagnosis.heads
    seen = [(name, times) for name, times in report.symptoms.items() if times]
    if not seen:
        return None
    most = max(times for _, times in seen)
    return doc.table(
        sorted(seen, key=lambda pair: (-pair[1], pair[0])),
        {
            heads.symptom: lambda pair: Cell(
                named(called, pair[0]), pair[0], foreign=pair[0] not in called
            ),
            heads.samples: lambda pair: doc.count(pair[1]),
            "": lambda pair: doc.plot(doc.Bar(pair[1] / most, "bad")),
        },
        title=heads.symptoms,
        remark=heads.symptoms_about,
        part="symptoms",
    )


def _addresses(report: DiagnosisReport, say: Wording) -> Block | None:
    """The claims of answers and of references by where they come from or were lost."""
    found, own, heads = report.addresses, say.diagnosis, say.diagnosis.heads
    if found is None:
        return None
    blocks: list[Block] = []
    for title, counts, order, sums, none in (
        (
            *(heads.of_answers, found.answer, get_args(AnswerAddress)),
            *(phrases.answer_sums(found.answer, say), own.no_answer_claims),
        ),
        (
            *(heads.of_references, found.reference, get_args(ReferenceAddress)),
            *(phrases.reference_sums(found.reference, say), own.no_reference_claims),
        ),
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
    return Section(title=heads.addresses, remark=judged, blocks=blocks, part="addresses")


def _replay(report: DiagnosisReport, say: Wording) -> Block | None:
    replay, heads, own = report.replay, say.diagnosis.heads, say.diagnosis
    if replay is None:
        return None
    called = words(report.language).interventions
    blocks: list[Block] = [Text([Span(phrases.replay_words(replay, say))])]
    if replay.interventions:
        interventions = doc.table(
            replay.interventions,
            {
                heads.intervention: lambda one: Cell(called[one.name].label),
                heads.asked: lambda one: doc.count(one.asked),
                Column(heads.effective, True, spare=1): lambda one: doc.count(one.effective),
                heads.repaired: lambda one: doc.count(one.repaired),
                Column("", plot=True): lambda one: doc.plot(
                    doc.Bar(one.repaired / one.asked, "good") if one.asked else None
                ),
                Column(heads.failed, True, spare=2): lambda one: doc.count(one.failed, "dim"),
                Column(heads.impossible, True, spare=3): lambda one: doc.count(
                    one.impossible, "dim"
                ),
            },
            note=lambda one: say.told(
                (
                    say.filled(own.not_made, one.reason),
                    say.filled(own.shown_in, " ".join(one.samples)),
                    called[one.name].repaired if one.samples else "",
                )
            ),
        )
        blocks.append(interventions)
    if replay.repaired_by:
        labels = {name: one.label for name, one in called.items()}
        repaired = doc.table(
            sorted(replay.repaired_by.items()),
            {
                heads.sample: lambda pair: doc.names(pair[0], "strong", ("question", pair[0])),
                heads.repaired_by: lambda pair: Cell(
                    say.listed(named(labels, one) for one in pair[1])
                ),
            },
            title=heads.repaired_by.capitalize(),
            shown=REPAIRED_SHOWN,
        )
        blocks.append(repaired)
    return Section(title=heads.replay, blocks=blocks, part="replay")


def _samples(report: DiagnosisReport, say: Wording) -> Block | None:
    heads = say.diagnosis.heads
    items = [
        doc.Item(
            name=sample.id,
            badge=("critical", numbers.value(sample.value), "bad"),
            about=cut(sample.question or "", LONGEST),
            blocks=list(_sample(report, sample, values, say)),
            to=("question", sample.id),
            anchor=f"sample-{number}",
        )
        for number, (sample, values) in enumerate(low_samples(report).values(), 1)
    ]
    if not items:
        return None
    return doc.Items(
        title=heads.worst,
        remark=heads.worst_about,
        items=items,
        shown=SAMPLES_SHOWN,
        folded=True,
        part="worst",
    )


def _sample(
    report: DiagnosisReport, sample: Sample, values: Mapping[str, float], say: Wording
) -> Iterator[Block]:
    own, contexts = say.diagnosis, sample.contexts or ()
    low = [f"{metric} {numbers.value(value)}" for metric, value in values.items()]
    texts = dict(phrases.texts_of(sample, say))
    texts.pop(own.question, None)
    yield Facts(
        [
            (own.heads.metrics.lower(), doc.theirs(say.listed(low))),
            (own.heads.symptom, phrases.symptoms_of(sample, report)),
            *((label, doc.theirs(cut(text, LONGEST))) for label, text in texts.items()),
            (own.retrieved, doc.theirs(" ".join(sample.retrieved_ids or ()))),
            (say.note, phrases.missing_words(sample, say)),
            (own.heads.where, doc.theirs(sample.where)),
        ]
    )

    def passages(most: int | None, longest: int) -> list[doc.Words]:
        return [
            [Span(one.id, "strong", foreign=True), Span("  "), *doc.theirs(cut(one.text, longest))]
            for one in contexts[:most]
        ]

    if contexts:
        left = len(contexts) - CONTEXTS_SHOWN
        more = [say.counted(left, own.more_contexts)] if left > 0 else []
        shown = doc.Points([*passages(CONTEXTS_SHOWN, LONGEST_CONTEXT), *more], "·")
        yield doc.Only(IN_SHORT, [shown])
        name, all = say.counted(len(contexts), own.contexts), doc.Points(passages(None, LONGEST))
        yield doc.on_pages(doc.Items(items=[doc.Item(name=name, blocks=[all])]))
