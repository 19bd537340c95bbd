"""The report of `ragauge diagnose`: which scores are low, what causes it, and what to change.

Its texts are in `words/diagnosis.*.toml`, the same for every format, in both languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import Cause, DiagnosisReport, MetricDiagnosis, Sample
from ragauge.diagnosis.texts import texts
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, fact_lines, gate_suite
from ragauge.reports.document import Block, Cell, Column, Document, Facts, Section, Span, Text
from ragauge.reports.phrasing import Phrases, count, phrases
from ragauge.text.visible import cut

_NAMES_BY_TONE: dict[doc.Tone, str] = {
    "good": "none grounded said",
    "warm": "warning possible misled_by_relevant misled_by_noise unused",
    "bad": "critical not_evaluable likely invented retriever_missed",
    "dim": "no_rule untested unjudged",
    "plain": "self_knowledge",
}
TONES = {name: tone for tone, those in _NAMES_BY_TONE.items() for name in those.split()}
"""Of severities, standings and addresses of claims."""
LOW = ("critical", "warning")
KINDS: dict[str, Literal["error", "skipped"]] = {"not_evaluable": "error", "no_rule": "skipped"}
"""The kind of test case for severities that are not failures."""
NAMED, BRIEF_METRICS = 3, 5  # low metrics in the verdict, and in a terminal without `--full`
EXACT_BELOW = 10  # from here on, numbers of answers are rounded
OPENED, CAUSES_SHOWN, CONTEXTS_SHOWN = 3, 50, 5
LONGEST, LONGEST_CONTEXT = 4_000, 300  # characters; the JSON report has all of them


def document(report: DiagnosisReport) -> Document:
    return Document(_own(report)("kind"), list(_blocks(report)), report.language)


def brief(report: DiagnosisReport) -> Document:
    """What fits on a screen: the verdict, the top cause, the low metrics, and how to see more."""
    own, full = _own(report), document(report)
    about = {"shown": BRIEF_METRICS, "everything": "--full", "below": False}
    severe = [one for one in report.diagnoses if one.severity not in ("none", "no_rule")]
    metrics = [structs.replace(_metrics(report, severe), **about)] if severe else []
    found = own.listed(f"{code} {count(n)}" for code, n in sorted(report.finding_counts.items()))
    findings = f"{own.findings.lower()}{own.signs.colon}{found}" if found else ""
    coverage = doc.coverage(own.clauses((_coverage(report), findings)), language=report.language)
    steps = doc.steps([own("see_more")], report.language)
    return structs.replace(full, blocks=[*full.part("verdict", "lead"), *metrics, coverage, *steps])


def _own(report: DiagnosisReport) -> Phrases:
    return phrases("diagnosis", report.language)


def table(report: DiagnosisReport) -> tuple[tuple[str, ...], Iterator[list[object]]]:
    """One row per sample and metric, with the names of the JSON report in either language."""
    columns = (
        *("metric", "severity", "id", "value", "symptoms", "causes", "question", "answer"),
        *("reference", "retrieved_ids", "contexts", "where"),
    )

    def row(one: MetricDiagnosis, sample: Sample) -> list[object]:
        texts = (f"{context.id}: {context.text}" for context in sample.contexts or ())
        causes = tuple(cause.id for cause in report.causes if sample.id in cause.samples)
        known = {"metric": one.metric, "severity": one.severity, "causes": causes}
        values = structs.asdict(sample) | known | {"contexts": "\n".join(texts) or None}
        return [values[column] for column in columns]

    return columns, (row(one, sample) for one, sample in _worst(report))


def cases(report: DiagnosisReport) -> Iterator[Suite]:
    """Gates, metrics, and the worst samples of each metric."""
    own, standings = _own(report), texts(report.language).standing

    def metric(one: MetricDiagnosis) -> Case:
        if one.severity == "none":
            return Case(one.metric)
        lines = []
        for number, cause in enumerate(remaining_causes(report), 1):
            if cause.id in one.causes:
                title = f"{cause.title}{own.in_parentheses(standings[cause.standing])}"
                do = [action.do for action in cause.actions[:1]]
                lines.append(f"{number}. {own.clauses((title, *do))}")
        severity = own.names["severities"][one.severity]
        value = "" if one.value is None else f"{own.signs.colon}{_held_against(one)}"
        return Case(
            one.metric,
            own.clauses((severity + value, *_about(report, one))),
            lines,
            KINDS.get(one.severity, "failure"),
            one.severity,
            title=f"{severity} {one.metric}",
        )

    def low(one: MetricDiagnosis, sample: Sample) -> Case:
        value = f"{one.metric} {phrasing.value(sample.value)}"
        texts = _texts(sample, own) | {own("retrieved"): " ".join(sample.retrieved_ids or ())}
        return Case(
            sample.id,
            own.clauses((value, _symptoms_of(sample, report))),
            [*fact_lines(texts), *(f"{found.id}: {found.text}" for found in sample.contexts or ())],
            type="sample",
            where=sample.where,
            group=one.metric,
            title=f"{value} {sample.id}",
        )

    yield gate_suite(report.gates)
    yield Suite("metrics", map(metric, report.diagnoses))
    yield Suite("samples", [low(one, sample) for one, sample in _worst(report)], decides=False)


def verdict_text(report: DiagnosisReport) -> tuple[str, str]:
    """The verdict in a word, and why: which metrics are low, and where one that passes is."""
    own, fail_on = _own(report), report.identity.get("fail_on")
    times = Counter(one.severity for one in report.diagnoses)
    low = [one for one in report.diagnoses if one.severity in LOW]
    of = own.count(len(report.diagnoses), "metrics")
    unjudged, unruled = (
        own(name, n=times[name]) if times[name] else "" for name in ("not_evaluable", "no_rule")
    )
    if low:
        first = [f"{one.metric} {own.names['severities'][one.severity]}" for one in low[:NAMED]]
        first += [own("others", n=len(low) - NAMED)] if len(low) > NAMED else []
        judged = own("low", n=len(low), of=of, names=own.listed(first))
    else:
        judged = own("fine", n=times["none"], of=of)
    parts = [judged, unjudged, unruled]
    if not low and not times["none"]:
        rest = own.clauses((unjudged, unruled)) or own("no_metrics")
        parts = [f"{own('nothing_judged')}{own.signs.colon}{rest}"]
    elif not report.passed and not times["critical"] and (fail_on != "warning" or not low):
        parts = [unjudged, judged, unruled]  # nothing but missing values fails the run
    if report.passed:
        if fail_on == "never" and (low or times["not_evaluable"] or not times["none"]):
            parts = [f"--fail-on never{own.signs.colon}{own.clauses(parts)}"]
        elif low and not times["critical"]:
            parts.insert(0, own("none_is_critical"))
        parts += [own("but", text=one.text) for one in report.slices[:1]]
    return own.passed if report.passed else own.failed, own.clauses(parts)


class Lead(Struct, frozen=True):
    """What comes directly below the verdict: the likeliest cause, or why there is none."""

    heading: str
    text: str
    cause: Cause | None = None
    facts: Sequence[tuple[str, str]] = ()
    """Its best evidence, and what to change first; or why it was not tested, and how to do so."""


def lead(report: DiagnosisReport) -> Lead:
    own, found, severities = (
        _own(report),
        remaining_causes(report),
        {one.severity for one in report.diagnoses},
    )
    low = not severities.isdisjoint(LOW)
    if found and (low or found[0].standing == "likely"):
        cause = found[0]
        turn, step = own.confirm, cause.confirm
        if cause.actions and cause.standing != "untested":
            action = cause.actions[0]
            turn = own("turn", knob=action.knob) if action.knob else own("do_first")
            step = action.do
        supporting = [one for one in cause.evidence if one.speaks == "for"]
        best = max(supporting, key=lambda one: one.bits).text if supporting else cause.means
        facts = [("", own.clauses((_explains(cause, own), cause.why or best))), (turn, step)]
        return Lead(own.names["leads"][cause.standing], cause.title, cause, facts)
    if not report.diagnoses:
        why = own("no_metrics")
    elif not low:
        why = own("none_is_low" if "none" in severities else "nothing_judged")
    elif report.causes:
        why = own("all_ruled_out", n=len(report.causes))
    else:
        why = own("none_goes_with")
    return Lead(own("no_cause"), why)


def _explains(one: Cause, own: Phrases) -> str:
    """How many of the answers that went wrong a cause explains; nothing if it was not tested."""
    if one.standing == "untested" and not one.explains:
        return ""
    name = "explains" if round(one.explains, 1) >= 1 else "explains_little"
    name = name if one.explains else "explains_nothing"
    n = one.explains if one.explains < EXACT_BELOW else round(one.explains)
    return own(name, n=f"{n:,.1f}".removesuffix(".0"), of=own.count(one.of, "answers"))


def _held_against(one: MetricDiagnosis) -> str:
    """`0.412 < 0.50` if it is beyond a threshold, else the value alone."""
    if one.value is None or one.threshold is None:
        return phrasing.value(one.value)
    value = phrasing.value_against(one.value, one.threshold)
    return f"{value} {_bounds(one.better, one.threshold)}"


def _bounds(better: str | None, *bounds: float | None) -> str:
    """`< 0.70 / 0.50`: the bounds of a warning and of a critical mean."""
    texts = [
        phrasing.ABSENT if one is None else f"{one:.2f}" if round(one, 2) == one else f"{one:.12g}"
        for one in bounds
    ]
    return f"{'>' if better == 'lower' else '<'} {' / '.join(texts)}"


def _about(report: DiagnosisReport, one: MetricDiagnosis) -> Iterator[str]:
    """`18 of 38 samples beyond warning, 15 beyond critical`, the interval, and remarks."""
    own, score = _own(report), report.metrics.get(one.metric)
    if one.limits and one.beyond_warning:
        of = own.n_of(one.beyond_warning, own.count(one.n, "samples"))
        both = own("n_beyond", n=of), own("n_beyond_critical", n=one.beyond_critical)
        graded = one.limits.critical is not None
        yield own.listed(both) if graded else own("n_beyond_bound", n=of)
    if one.limits and one.n and score and score.ci:
        yield f"95 % {phrasing.interval(score.ci)}"
    yield from _remarks(one, own)


def _remarks(one: MetricDiagnosis, own: Phrases) -> Iterator[str]:
    """Why a metric has no value or no rule, and what was found instead of values."""
    yield one.reason or ""
    if one.invalid:
        ranked = sorted(one.invalid.items(), key=lambda pair: (-pair[1], pair[0]))
        invalid = (f"{own.named('invalid', kind)} {count(times)}" for kind, times in ranked)
        yield own("invalid_are", values=own.listed(invalid))
    if one.better and one.limits is None:
        yield own(one.better)


def remaining_causes(report: DiagnosisReport) -> list[Cause]:
    """The causes that are not ruled out, in the report's order, which numbers them."""
    return [one for one in report.causes if one.standing != "struck_out"]


def _worst(report: DiagnosisReport) -> Iterator[tuple[MetricDiagnosis, Sample]]:
    """Each metric with each of its worst samples."""
    for one in report.diagnoses:
        for sample in one.worst:
            yield one, sample


def _low_samples(report: DiagnosisReport) -> dict[str, tuple[Sample, list[str]]]:
    """The worst samples by id, each once, with a text for each of its values."""
    found: dict[str, tuple[Sample, list[str]]] = {}
    for one, sample in _worst(report):
        _, values = found.setdefault(sample.id, (sample, []))
        values.append(f"{one.metric} {phrasing.value(sample.value)}")
    return found


def _symptoms_of(sample: Sample, report: DiagnosisReport) -> str:
    called = texts(report.language).symptoms
    named = (called.get(name, name.replace("_", " ")) for name in sample.symptoms)
    return _own(report).clauses(named)


def _texts(sample: Sample, own: Phrases) -> dict[str, str]:
    """The question, answer and reference, if there are any, by their labels."""
    texts = {"question": sample.question, "answer": sample.answer, "reference": sample.reference}
    return {own(name): text or own("empty") for name, text in texts.items() if text is not None}


def _coverage(report: DiagnosisReport) -> str:
    """How much was analysed: `samples 40, traces 80`; zero counts are left out."""
    own, counts = _own(report), dict(phrasing.identity_items(report.coverage))
    return own.listed(
        f"{own.named('coverage', name)} {counts[name]}"
        for name in dict.fromkeys((*own.names["coverage"], *counts))
        if counts.get(name, "0") != "0" and name != "unread_columns"  # which is a finding
    )


def _blocks(report: DiagnosisReport) -> Iterator[Block]:
    own, found = _own(report), lead(report)
    yield doc.Verdict(*verdict_text(report), tone="good" if report.passed else "bad")
    top: list[Block] = [Text(found.text)]
    if found.cause:
        others = [
            one
            for one in remaining_causes(report)
            if one != found.cause and one.standing != "untested"
        ]
        also = own.clauses(one.title for one in others)
        title = Span(found.text, "strong", to=("here", "cause-1"))
        top = [Text([title]), Facts(found.facts)]
        possible = Facts([(own("also_possible"), also)])
        top += [doc.Only(frozenset({"text"}), [possible])] if also else []
    yield Section(title=found.heading, blocks=top, part="lead")
    if report.diagnoses:
        yield _metrics(report, report.diagnoses)
    yield from _causes(report)
    yield from _faults(report)
    yield _samples(report)
    gated = {gate.metric: gate.metric for gate in report.gates}
    remark, language = own("gates_about"), report.language
    yield from doc.gates(report.gates, report.metrics, gated, remark=remark, language=language)
    if report.unknown:
        unknown = Facts([("", metric) for metric in report.unknown])
        yield Section(title=own("unknown"), blocks=[unknown])
    yield doc.findings(report)
    yield doc.coverage(_coverage(report), report.identity, report.language)


def _metrics(report: DiagnosisReport, given: Sequence[MetricDiagnosis]) -> doc.Table:
    own = _own(report)
    severities = own.names["severities"]
    places = {cause.id: str(number) for number, cause in enumerate(remaining_causes(report), 1)}
    ci = {id: score.ci for id, score in report.metrics.items()}

    def limits(one: MetricDiagnosis) -> Cell:
        rule = one.limits
        bounds = _bounds(rule.better, rule.warning, rule.critical) if rule else phrasing.ABSENT
        return Cell(bounds, tone="dim")

    columns: dict[str | Column, Callable[[MetricDiagnosis], Cell]] = {
        own.metric: lambda one: doc.names(one.metric, to=("metric", one.metric)),
        own("severity"): lambda one: Cell(
            severities[one.severity], one.severity, TONES[one.severity], badge=one.severity
        ),
        Column(own.value): lambda one: Cell(_held_against(one), one.value),
        Column("", plot=True): lambda one: doc.plot(
            doc.Range(one.value, ci.get(one.metric), one.limits.warning if one.limits else None)
        ),
        Column(own("limits"), spare=1): limits,
        Column(own("beyond_warning"), True, spare=2): lambda one: Cell(
            own.n_of(one.beyond_warning, one.n) if one.limits and one.n else "", one.beyond_warning
        ),
        Column(own("valid"), True, spare=3): lambda one: Cell(
            own.n_of(one.n, one.of), one.n, "dim"
        ),
        Column(own.interval_95, spare=5): lambda one: doc.interval(ci.get(one.metric)),
        Column(own("causes").lower(), spare=6): lambda one: doc.names(
            own.listed(places.get(id, id) for id in one.causes)
        ),
    }
    table = doc.table(
        given,
        columns,
        note=lambda one: own.clauses(_remarks(one, own)),
        strong=lambda one: one.severity in LOW,
        title=own("metrics"),
        part="diagnosed",
    )
    return doc.without_empty_columns(table)


def _causes(report: DiagnosisReport) -> Iterator[Block]:
    own, standings = _own(report), texts(report.language).standing
    comma = own.signs.comma
    anchors: dict[str, doc.Target] = {
        id: ("here", f"sample-{number}") for number, id in enumerate(_low_samples(report), 1)
    }

    def facts(one: Cause) -> Iterator[tuple[str, doc.Inline]]:
        tested = one.standing != "untested"
        yield own("means"), one.means if tested else ""
        for found in sorted(one.evidence, key=lambda found: found.speaks == "against"):
            bits = own("bits", n=f"{found.bits:+.1f}") if found.bits else ""
            weight = own.in_parentheses(own.clauses((bits, found.sign)))
            yield own(found.speaks), [Span(found.text), Span(weight, "dim")]
        yield own("why"), one.why or ""
        yield own.confirm, one.confirm
        for action in one.actions if tested else ():
            knob = [Span(action.knob or "", "strong", foreign=True), Span(own.signs.colon)]
            prices = (("costs", action.costs), ("worsens", action.worsens))
            price = own.clauses(own(name, what=what.rstrip(".。")) for name, what in prices if what)
            do = [Span(action.do), Span(own.in_parentheses(price), "dim")]
            yield own.change, [*knob, *do] if action.knob else do
        samples = (
            Span(id, foreign=True, to=anchors.get(id, ("question", id))) for id in one.samples
        )
        yield own.see, doc.joined(samples, comma)
        yield own("metrics"), doc.joined((Span(id, foreign=True) for id in one.metrics), comma)
        yield own("id"), doc.foreign(one.id)

    items = [
        doc.Item(
            name=str(number),
            badge=(one.standing, standings[one.standing], TONES[one.standing]),
            about=one.title,
            aside=_explains(one, own),
            blocks=[Facts(list(facts(one)))],
            opened=number <= OPENED,
            anchor=f"cause-{number}",
        )
        for number, one in enumerate(remaining_causes(report), 1)
    ]
    title, remark = own("causes"), own("causes_about")
    yield doc.Items(title=title, remark=remark, items=items, shown=CAUSES_SHOWN, part="causes")
    ruled_out: dict[str, list[str]] = {}
    for one in report.causes:
        if one.standing == "struck_out":
            ruled_out.setdefault(one.why or "", []).append(one.title)
    if ruled_out:
        reasons = Facts([(why, own.clauses(titles)) for why, titles in ruled_out.items()])
        yield Section(title=own("ruled_out"), remark=own("ruled_out_about"), blocks=[reasons])


def _faults(report: DiagnosisReport) -> Iterator[Block]:
    """Where it is worse, what went wrong, where claims come from, what a replay repaired."""
    own, called = _own(report), texts(report.language)
    changes = called.interventions
    if report.slices:
        yield doc.table(
            report.slices,
            {
                own("slice"): lambda one: doc.names(
                    called.slices.conditions(dict(sorted(one.conditions.items()))), "strong"
                ),
                Column(own.metric, spare=2): lambda one: doc.names(one.metric),
                Column(own("samples"), True, spare=3): lambda one: doc.count(one.n),
                own("beyond"): lambda one: Cell(own.n_of(one.beyond, one.beyond_all), one.beyond),
                own.value: lambda one: doc.number(one.value),
                Column(own("elsewhere"), True, spare=1): lambda one: doc.number(one.elsewhere),
            },
            note=lambda one: one.text,
            title=own("slices"),
        )
    if symptoms := sorted(report.symptoms.items(), key=lambda pair: (-pair[1], pair[0])):
        yield doc.table(
            symptoms,
            {
                own("symptom"): lambda pair: Cell(
                    called.symptoms.get(pair[0], pair[0]), foreign=pair[0] not in called.symptoms
                ),
                own("samples"): lambda pair: doc.count(pair[1]),
                "": lambda pair: doc.plot(doc.Bar(pair[1] / symptoms[0][1], "bad")),
            },
            title=own("symptoms"),
            remark=own("symptoms_about"),
        )
    if found := report.addresses:
        about = own("judged_by", of=own.count(found.samples, "samples"), source=found.source)
        for title, counts in (("of_answers", found.answer), ("of_references", found.reference)):
            bars = [
                (name, word, counts[name], TONES[name])
                for name, word in own.names["addresses"].items()
                if counts.get(name)
            ]
            drawn = doc.Bars(heads=(own("where"), own("claims"), own.fraction), bars=bars)
            if bars:
                yield Section(title=own(title), remark=about, blocks=[drawn], part="addresses")
    if replay := report.replay:
        sent = own("replayed", chosen=replay.chosen, of=own.count(replay.of, "questions"))
        ended = "" if replay.ended == "complete" else own.named("ended", replay.ended)
        yield doc.table(
            replay.interventions,
            {
                own("intervention"): lambda one: Cell(changes[one.name].label),
                own("sent"): lambda one: doc.count(one.asked),
                Column(own("effective"), True, spare=1): lambda one: doc.count(one.effective),
                own("repaired"): lambda one: doc.count(one.repaired),
                Column("", plot=True): lambda one: doc.plot(
                    doc.Bar(one.repaired / one.asked, "good") if one.asked else None
                ),
                Column(own("failed"), True, spare=2): lambda one: doc.count(one.failed, "dim"),
                Column(own("impossible"), True, spare=3): lambda one: doc.count(
                    one.impossible, "dim"
                ),
            },
            note=lambda one: own.clauses(
                (
                    one.reason or "",
                    changes[one.name].repaired if one.samples else "",
                    " ".join(one.samples),
                )
            ),
            title=own("replay"),
            remark=own.clauses((sent, own.count(replay.calls, "calls"), ended)),
        )


def _samples(report: DiagnosisReport) -> doc.Items:
    own, items = _own(report), []
    for number, (sample, low) in enumerate(_low_samples(report).values(), 1):
        ids = doc.foreign(" ".join(sample.retrieved_ids or ()))
        nothing = not sample.contexts and () in (sample.contexts, sample.retrieved_ids)
        facts: list[tuple[str, doc.Inline]] = [
            (own("metrics").lower(), doc.foreign(own.listed(low))),
            (own("symptom"), _symptoms_of(sample, report)),
            *(
                (label, doc.foreign(cut(text, LONGEST)))
                for label, text in _texts(sample, own).items()
                if label != own("question")  # which is what the sample is about
            ),
            (own("retrieved"), own("nothing") if nothing and not ids else ids),
            (own("where"), doc.foreign(sample.where)),
        ]
        passages = [
            [Span(f"{one.id} ", "strong", True), *doc.foreign(cut(one.text, LONGEST_CONTEXT))]
            for one in (sample.contexts or ())[:CONTEXTS_SHOWN]
        ]
        items.append(
            doc.Item(
                name=sample.id,
                badge=("critical", phrasing.value(sample.value), "bad"),
                about=cut(sample.question or "", LONGEST),
                blocks=[Facts(facts), Facts([("", passage) for passage in passages])],
                to=("question", sample.id),
                anchor=f"sample-{number}",
            )
        )
    title, remark = own("worst"), own("worst_about")
    return doc.Items(title=title, remark=remark, items=items, folded=True, part="worst")
